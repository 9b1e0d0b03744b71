"""A task in one go: its boards are those of `registry run`, and a temporary one leaves nothing behind."""

import tempfile

import pytest

from registry import pipeline as module
from registry.errors import InputError
from registry.manifest.folder import TaskFolder
from registry.parallel.execution import Execution
from registry.pipeline import TaskPlace, evaluate_task
from registry.reports.boards import make_board_table
from registry.reports.columns import BOARD_KEYS
from registry.store.database import Database
from registry.store.log import Journal

GOLD = "".join(f"i{n}\t{'yes' if n % 2 else 'no'}\n" for n in range(12))
TABLES = {
    "test_set": [{"name": "test", "gold": "gold.tsv", "format": "labels"}], "metric": [{"name": "Accuracy"}],
    "significance": {"seed": 1}, "submit": [{"file": "{system}.a"}]}
MADE = TaskFolder(TABLES, {"gold.tsv": GOLD.encode(), "x.a": GOLD.replace("yes", "no").encode(),
                           "y.a": GOLD.encode()}, {}, copies={"y.a": "mine/y.txt", "x.a": "mine/x.txt"})


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where temporary files are, to see what is left of them."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def brought_up(made=MADE, keep=None):
    told = []
    return evaluate_task(made, "small", Journal("run", {}), Execution(1), told.append, keep), told


def test_boards_are_those_of_a_run(registry, temporary, tmp_path):
    """So are those of its manifest, run by the command; and files are told by the names that users gave them."""
    done, told = brought_up()
    assert [*temporary.iterdir()] == []
    assert ("warning: mine/y.txt: has the gold's own answer for each of 12 items; check that the file is the output of "
            "a system") in told
    kept = TaskPlace(tmp_path / "kept", Database(tmp_path / "kept.duckdb"))
    again, _ = brought_up(keep=kept)
    rows = registry("run", tmp_path / "kept" / "task.toml", "--db", tmp_path / "r.duckdb", "--format", "json").json
    shown = registry("board", "--db", tmp_path / "kept.duckdb", "--format", "json").json
    for boards in (done.boards, again.boards):
        (board,) = boards
        (named,) = (dict(zip(BOARD_KEYS, (row[key] for key in BOARD_KEYS), strict=True)) for row in rows[:1])
        assert [of.score for of in board.standings] == [1, 0.5]
        assert [decision.p_adjusted for decision in board.decisions] == [2 / 2**6]
        assert make_board_table(board).signature == named["signature"]
    assert shown == rows


def test_nothing_is_left_where_it_is_interrupted(temporary, tmp_path, monkeypatch):
    def interrupted(*_):
        assert [*temporary.rglob("*.toml")] or [*tmp_path.rglob("kept/task.toml")]
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "score", interrupted)
    for keep in (None, TaskPlace(tmp_path / "kept", Database(tmp_path / "kept.duckdb"))):
        with pytest.raises(KeyboardInterrupt):
            brought_up(keep=keep)
    assert [*tmp_path.rglob("[!.]*")] == [temporary]


def test_what_is_wrong_is_told_of_the_users_file(temporary):
    wrong = TaskFolder(TABLES, {**MADE.files, "x.a": b"i0\tno\n"}, {}, copies=MADE.copies)
    with pytest.raises(InputError, match=r"mine/x.txt: .*no answer"):
        brought_up(wrong)
    assert [*temporary.iterdir()] == []
