"""Scores that are not of today: listed with the cause, computed anew, and said of boards until they are compared.

`changed` stands for a new release: the metric has another revision, and where it is to, it scores otherwise.
"""

import pytest

from registry.metrics import Accuracy, QuotientMetric
from registry.store.database import Database
from tests.evaluation.verifying.test_tampering import faults


@pytest.fixture
def changed(monkeypatch):
    """Change the revision of accuracy, and perhaps what it computes."""
    def change(**methods):
        monkeypatch.setattr(Accuracy, "revision", 2)
        for name, method in methods.items():
            monkeypatch.setattr(Accuracy, name, method)

    return change


def stale(registry, *options):
    return registry("score", "--stale", "--format", "json", *options).json


def half(self, sums):
    return QuotientMetric.score(self, sums) / 2


def test_nothing_is_stale_after_a_run(registry, scored, task):
    scored(task)
    assert stale(registry) == []
    assert "computed the scores" not in registry("board", "--format", "md").stdout


def test_code_that_gives_the_same_changes_nothing_but_who_computed_it(registry, scored, task, changed):
    scored(task)
    before = registry("board", "--format", "json").json
    changed()
    found = stale(registry, "--dry-run")
    assert [(row["submission"], row["metric"], row["before"]) for row in found] == [
        ("a/a@1", "acc", 5 / 6), ("b/b@1", "acc", 1 / 2), ("c/c@1", "acc", 1 / 2)]
    assert all(row["why"].startswith("its revision was 1, and is 2") for row in found)
    said = registry("board", "--format", "md")
    assert "small/test: another version of the code computed the scores by acc" in said.stderr
    assert "Another version of the code computed the scores by acc (its revision was 1, and is 2)" in said.stdout
    assert faults("registry.duckdb") == []  # though the code is other code, it gives the same
    assert len(stale(registry)) == 3
    assert stale(registry) == []
    after = registry("board", "--format", "json")
    assert (after.json, after.stderr) == (before, "")
    assert "pairs: 0 tested" not in registry("compare").stderr  # nothing to compare either


@pytest.mark.parametrize("methods", [
    {"score": half},  # of the same statistics
    {"statistics_of_columns": QuotientMetric.statistics_of_columns,  # one item after the other
     "statistics": lambda self, item, answer: (float(answer is not None and answer.value == "yes"), 1.0)}])
def test_code_that_gives_something_else_replaces_scores_and_the_log_tells(registry, scored, task, changed, methods):
    scored(task)
    first = registry("board", "--format", "json").json
    changed(**methods)
    (fault, *_) = verified = faults("registry.duckdb")
    assert {fault.kind for fault in verified} == {"stale"}, verified
    assert "run `registry score --stale` to compute it again" in fault.message
    found = stale(registry)
    told = registry("board", "--format", "md")
    assert "scores by acc have changed since the last comparison" in told.stderr
    assert "Scores by acc have changed since the last comparison" in told.stdout
    registry("compare")
    second = registry("board", "--format", "json")
    assert second.stderr == ""
    assert second.json[0]["signature"] != first[0]["signature"]
    assert {row["submission"]: row["score"] for row in second.json} == {
        row["submission"]: row["after"] for row in found}
    assert faults("registry.duckdb") == []
    with Database("registry.duckdb").writing() as connection:
        connection.exec_driver_sql("UPDATE standing SET score = 0.99 WHERE comparison_id = 1 AND position = 0")
    (fault,) = faults("registry.duckdb")
    assert "recomputed its scores, and the digest of its results does not match the log" in fault.message


def test_a_revised_gold_and_scores_of_unrecorded_code(registry, scored, task):
    scored(task)
    with Database("registry.duckdb").writing() as connection:  # as a purge blanks an entry
        connection.exec_driver_sql("UPDATE event SET details = '{}' WHERE action = 'score'")
    assert {row["why"] for row in stale(registry, "--dry-run")} == {
        "the log does not name the code with which evalregistry 0.1.0 computed it"}
    assert registry("board").stderr == ""  # which is no reason to doubt it
    task.gold["i5"] = {"yes": "no", "no": "yes"}[task.gold["i5"]]
    task.version = "2"
    registry("apply", task.write())
    found = stale(registry)
    assert {row["why"] for row in found} == {"last scored by gold revision 1"}
    assert (found[0]["submission"], found[0]["before"], found[0]["after"]) == ("a/a@1", 5 / 6, 1.0)
