"""A leaderboard's pairs as columns are the rows of the view `pairwise`, which are joined in SQL."""

import duckdb
import pytest

from registry.boards.load import load_stored_boards, make_leaderboards
from registry.messages import Messages
from registry.reports.columns import PAIR_KEYS
from registry.store.database import Database
from tests.conftest import ROOT


@pytest.mark.parametrize("asked", [
    [], ["--test", "bootstrap", "--resamples", "200", "--alternative", "greater", "--candidate"],
    ["--test", "bootstrap(variant=berg-kirkpatrick-2012)", "--resamples", "200"],
    ["--test", "bootstrap", "--correction", "max-t", "--resamples", "200"]])
@pytest.mark.parametrize(("task", "candidate"), [("entities", "aspen-xl"), ("collocations", "t-score")])
def test_rows_are_those_of_the_view(registry, scored, tmp_path, task, candidate, asked):
    scored(ROOT / "sample_data" / task / "task.toml")
    registry("compare", *asked, *([candidate] if asked[-1:] == ["--candidate"] else []))
    path = tmp_path / "registry.duckdb"
    keys = [key for key in PAIR_KEYS if key != "same_team"]
    with duckdb.connect(str(path), read_only=True) as connection:
        expected = connection.execute(f"SELECT {', '.join(keys)} FROM pairwise").fetchall()
    with Database(path).reading() as connection:
        boards = make_leaderboards(load_stored_boards(connection, [task])[task])
    pairs = [decision for board in boards for decision in board.decisions]
    messages = keys.index("messages")
    expected = [(*row[:messages], Messages.load(row[messages]), *row[messages + 1:]) for row in expected]
    assert [tuple(of.row[key] for key in keys) for of in pairs] == expected
    assert {tuple(of.row) for of in pairs} == {tuple(pairs[0].row)}
    assert set(pairs[0].row) == set(PAIR_KEYS)
    for board in boards:
        for of in board.decisions:
            a, b = board.standings[of.a], board.standings[of.b]
            assert (a.submission, b.submission) == (of.row["submission_a"], of.row["submission_b"])
            assert of.row["same_team"] == (a.team == b.team)


def test_single_ones_and_some(registry, scored, tmp_path):
    scored(ROOT / "sample_data" / "entities" / "task.toml")
    with Database(tmp_path / "registry.duckdb").reading() as connection:
        decisions = make_leaderboards(load_stored_boards(connection, ["entities"])["entities"])[0].decisions
    every = list(decisions)
    assert len(every) == len(decisions) > 3
    assert [decisions[n] for n in range(len(decisions))] == every
    assert list(decisions[1:3]) == every[1:3]
    assert decisions[-1] == every[-1]
    assert list(decisions.select(decisions.significant)) == [of for of in every if of.significant]
    with pytest.raises(IndexError):
        decisions[len(decisions)]
