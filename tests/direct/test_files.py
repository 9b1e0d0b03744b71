"""`registry.evaluate` reads files as `registry quick` does."""

import random
from pathlib import Path

import pytest
from sklearn import metrics as sklearn

import registry as package
from registry.errors import InputError

LABELS = ["a", "b", "c"]


@pytest.fixture
def labels(tmp_path, monkeypatch):
    """Write a gold and two systems; return the labels of each file."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    gold = [rng.choice(LABELS) for _ in range(60)]
    values = {"gold": gold} | {name: [label if rng.random() < share else rng.choice(LABELS) for label in gold]
                               for name, share in (("x", 0.8), ("y", 0.5))}
    Path("systems").mkdir()
    for name, column in values.items():
        lines = "".join(f"i{n}\t{label}\n" for n, label in enumerate(column))
        Path("gold.tsv" if name == "gold" else f"systems/{name}.tsv").write_text(f"item\tlabel\n{lines}")
    return values


@pytest.mark.parametrize("systems", [
    "systems", Path("systems"), "systems/{system}.tsv", "systems/*.tsv", ["systems/x.tsv", Path("systems/y.tsv")],
    {"x": "systems/x.tsv", "y": "systems/y.tsv"}], ids=str)
def test_files_folders_and_patterns_are_read(systems, labels):
    board = package.evaluate(Path("gold.tsv"), systems, metric="weighted F1")
    assert board.scores == pytest.approx({
        name: sklearn.f1_score(labels["gold"], labels[name], average="weighted") for name in "xy"})
    values = package.evaluate(labels["gold"], {name: labels[name] for name in "xy"}, metric="weighted F1")
    assert board.pairs["x", "y"] == values.pairs["x", "y"]


def test_boards_of_files_are_those_of_the_command(registry, labels):
    rows = registry("quick", "--gold", "gold.tsv", "systems", "--format", "json").json
    board = package.evaluate("gold.tsv", "systems")
    assert [(row["system"], row["score"], row["ci_low"]) for row in rows] == [
        (row["system"], row["score"], row["ci_low"]) for row in board._table.rows]
    assert board.messages[0] == ("info: read as item='item', label='label', options={'separator': 'tab', "
                                 "'header': True}, metric='Accuracy'")
    assert registry("run", board.to_task("kept"), "--format", "json").json[0]["score"] == rows[0]["score"]


def test_names_of_systems_and_settings_are_those_of_the_caller(labels):
    board = package.evaluate("gold.tsv", {"lab/big": "systems/x.tsv", "small": "systems/y.tsv"}, test="sign",
                             alternative="greater", candidate="small")
    assert set(board.systems) == {"lab/big", "small"}
    assert board.pairs["lab/big", "small"].difference == pytest.approx(
        sum(a == b for a, b in zip(labels["gold"], labels["x"], strict=True)) / 60
        - sum(a == b for a, b in zip(labels["gold"], labels["y"], strict=True)) / 60)
    assert "test:sign" in board.signature


def test_scores_of_items_need_no_gold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, step in (("p", 1), ("q", 2)):
        Path(f"{name}.csv").write_text("id,score\n" + "".join(f"{n},{n * step}\n" for n in range(10)))
    with pytest.raises(InputError, match="are higher or lower scores better"):
        package.evaluate(None, ["p.csv", "q.csv"])
    assert package.evaluate(None, ["p.csv", "q.csv"], options={"better": "higher"}).scores == {"q": 9.0, "p": 4.5}


@pytest.mark.parametrize(("gold", "systems", "options", "message"), [
    ("gold.tsv", "systems", {"label": "lable"}, "gold.tsv: the file has no column 'lable'; columns: "),
    ("gold.tsv", "systems", {"clusters": [1]}, "clusters= needs values of the items"),
    ("gold.tsv", "systems", {"metric": "F1"}, "'F1' of labels is ambiguous; write 'macro-F1', "),
    ("gold.tsv", "systems", {"tset": "sign"}, "unknown setting 'tset'; did you mean 'test'"),
    ("absent.tsv", "systems", {}, "absent.tsv: gold=: no such file; check the path"),
    ("gold.tsv", ["absent.tsv"], {}, "absent.tsv: "),
    (["a"], [Path("systems/x.tsv")], {}, "the systems are files, but the gold has values; pass the path"),
    (Path("gold.tsv"), {"x": ["a"]}, {}, "the gold is a file (gold.tsv), but the systems have values"),
    (["a"], {"x": ["a"]}, {"item": "id"}, "item= describes files, but gold and systems are values; remove it")])
def test_errors_name_arguments(gold, systems, options, message, labels):
    with pytest.raises(InputError) as raised:
        package.evaluate(gold, systems, **options)
    assert message in str(raised.value)
    assert "--" not in str(raised.value)


def test_questions_list_arguments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gold.tsv").write_text("a\tyes\tx\nb\tno\ty\nc\tyes\tz\n")
    Path("s.tsv").write_text("a\tyes\nb\tno\nc\tno\n")
    with pytest.raises(InputError, match="item='1'; item='3'; in_order=True; label='1'; label='2'; label='3'"):
        package.evaluate("gold.tsv", ["s.tsv"])
    assert package.evaluate("gold.tsv", ["s.tsv"], item="1", label="2").scores == {"s": pytest.approx(2 / 3)}
