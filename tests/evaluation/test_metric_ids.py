"""Metrics by the names that people write, in manifests and on the command line."""

import pytest
from sklearn import metrics as sklearn

import registry as package

NAMES = {"Weighted F1": "Weighted-F1", "macro-F1": "macro-F1", "micro_f1": "micro_f1"}
EXTRA = "".join(f'[[metric]]\nname = "{name}"\n' for name in NAMES)


@pytest.fixture
def done(registry, task):
    """Run a task with a label that only one system uses."""
    task.extra, task.submission = EXTRA, {"options": {"columns": ["item", "label"], "unknown": "accept"}}
    task.systems["d"] = task.systems["b"] | {"i1": "maybe", "i4": "maybe"}
    task.write()
    return registry("run", task.manifest, "--format", "json").json


def test_a_manifest_takes_common_names(done, task):
    def score(system, average):
        gold, labels = [[*answers.values()] for answers in (task.gold, task.systems[system])]
        return sklearn.f1_score(gold, labels, average=average, zero_division=0)

    expected = {"Weighted-F1": "weighted", "macro-F1": "macro", "micro_f1": "micro"}
    assert {row["metric"] for row in done} == {"acc", *NAMES.values()}
    for row in done:
        if row["metric"] in expected:
            assert row["score"] == pytest.approx(score(row["system"], expected[row["metric"]]))


@pytest.mark.parametrize(("name", "alias"), [
    ("Macro-averaged F1", "macro-F1"), ("F1 (weighted)", "Weighted-F1"), ("micro-F1", "micro_f1"),
    ("exact match", "acc"), ("F1", None)])
def test_options_take_common_names(done, registry, name, alias):
    """F1 can be three of the metrics: the error lists their ids."""
    for command in ("board", "pairs", "compare", "study power small"):
        found = registry(*command.split(), "--metric", name, "--format", "json", exit_code=0 if alias else 3)
        if alias is None:
            assert f"the metric '{name}' is ambiguous; write Weighted-F1 or macro-F1 or micro_f1" in found.stderr
        elif "study" not in command:
            assert {row["metric"] for row in found.json} == {alias}
    if alias is not None:
        assert set(package.open("registry.duckdb").leaderboard("small", metric=name).numpy()["metric"]) == {alias}


@pytest.mark.parametrize(("name", "heading"), [
    ("EM", "EM = accuracy"), ("acc", "acc = accuracy"), ("macro-F1", "macro-F1"), ("Accuracy", "accuracy"),
    ("weighted-F1", "weighted-F1"), ("F1 of no", "F1 of no"), ("LabelF(beta=2)", "macro-F2")])
def test_the_heading_is_the_name_that_the_user_wrote(name, heading, registry, task):
    task.documents = {}
    task.write()
    board = package.evaluate(task.gold, task.systems, metric=name)
    assert repr(board).splitlines()[0] == f"evaluation/test: {heading}"
    files = ("--gold", task.folder / "gold.tsv", task.folder / "systems")
    assert f"quick/test: {heading}\n" in registry("quick", *files, "--item", "1", "--label", "2", "--metric", name,
                                                             "--format", "table").stdout
