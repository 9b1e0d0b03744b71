"""The tables of all pairs, against those of the view, which SQL counts pair by pair."""

import pytest

from registry.evaluation.comparing.contingency import count_pair_contingencies
from registry.store import catalog
from registry.store.database import Database
from tests.conftest import ROOT


def compared(registry):
    """Compare every test set's tables with the view's; gives the number of pairs."""
    with Database("registry.duckdb").reading() as connection:
        found = {}
        for task in catalog.tasks(connection):
            for test_set in catalog.test_sets(connection, task.task_id):
                counted = count_pair_contingencies(connection, test_set.test_set_id)
                t = counted.tables
                for i, a in enumerate(counted.runs):
                    for j, b in enumerate(counted.runs):
                        found[a, b] = [int(m[i, j]) for m in (t.both_correct, t.only_a_correct, t.only_b_correct,
                                                              t.both_incorrect)]
    rows = registry("query", """
        SELECT a.name AS a, b.name AS b, t.* FROM pair_contingency AS t
        JOIN ranked_submission AS a ON a.submission_id = submission_a
        JOIN ranked_submission AS b ON b.submission_id = submission_b""", "--format", "json").json
    for row in rows:
        assert found[(row["a"], row["replicate_a"]), (row["b"], row["replicate_b"])] == [
            row[name] for name in ("both_correct", "only_a_correct", "only_b_correct", "both_incorrect")]
    return len(rows)


@pytest.mark.parametrize(("samples", "pairs"), [
    (["stance"], 6 * 5), (["entities", "stance", "relations"], 6 * 5 + 8 * 7 + 2)])
def test_samples(registry, scored, samples, pairs):
    scored(ROOT / "sample_data" / samples[0] / "task.toml")
    for name in samples[1:]:
        registry("run", ROOT / "sample_data" / name / "task.toml")
    assert compared(registry) == pairs


def test_runs(registry, scored, task):
    """Two runs of r against b and c, and these against each other."""
    a, b = task.systems.pop("a"), task.systems["b"]
    task.runs = {"r": {"1": a, "2": b}}
    scored(task)
    assert compared(registry) == 2 * (2 + 2 + 1)


def test_a_system_that_is_never_right(registry, scored, task):
    task.systems["z"] = dict.fromkeys(task.gold, "unheard")
    task.submission = {"options": {"columns": ["item", "label"], "unknown": "accept"}}
    scored(task)
    assert compared(registry) == 4 * 3


def test_a_test_set_without_submissions(registry, task):
    task.systems = {}
    registry("apply", task.write())
    with Database("registry.duckdb").reading() as connection:
        found = count_pair_contingencies(connection, 1)
    assert (found.runs, found.tables.both_correct.shape) == ([], (0, 0))
