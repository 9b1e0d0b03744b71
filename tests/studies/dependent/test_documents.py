"""Dependence of items: documents whose items all say the same count once."""

import pytest

COPIES, DOCUMENTS = 5, 20


@pytest.fixture
def copied(task, registry, scored):
    """20 documents of 5 items that are all alike; a is right on 5 documents more than b, and never wrong alone."""
    names = [(f"d{n:02}", f"d{n:02}-{copy}") for n in range(DOCUMENTS) for copy in range(COPIES)]
    task.gold = {item: "yes" for _, item in names}
    task.documents = {item: document for document, item in names}
    task.systems = {"a": dict(task.gold), "b": {i: "no" if d < "d05" else "yes" for d, i in names},
                    "c": {i: "no" if d < "d10" else "yes" for d, i in names}}
    scored(task)
    return lambda *asked: registry("study", "dependence", "small", "--format", "json", *asked).json


def test_documents_count_once(copied):
    """By item p = 2 2^-25; by document it is 2 2^-5, as if there were no copies, and no longer significant."""
    found = {(r["system_a"], r["system_b"]): r for r in copied()}
    lost = found["a", "b"]
    n = COPIES * DOCUMENTS
    assert lost["intra_cluster_correlation"] == pytest.approx(1)
    assert lost["design_effect"] == pytest.approx(COPIES * (n - 1) / (n - COPIES))
    assert lost["p_items"] == pytest.approx(2 * 2 * 2**-25)  # twice the raw one: the middle of three, after Holm
    assert lost["p_clusters"] == pytest.approx(2 * 2 * 2**-5)
    assert lost["changes"] == "lost"
    kept = found["a", "c"]  # ten documents
    assert (kept["p_clusters"], kept["changes"]) == (pytest.approx(3 * 2 * 2**-10), "")
    (summary,) = copied("--show", "summary")
    assert (summary["items"], summary["clusters"], summary["pairs"]) == (n, DOCUMENTS, 3)
    assert (summary["significant_by_items"], summary["significant_by_clusters"], summary["lost"],
            summary["gained"]) == (3, 1, 2, 0)


def test_documents_in_which_gains_cancel_out(task, registry, scored):
    """In every document each of two systems gets another item right, so documents tell them apart in nothing."""
    task.systems = {name: {item: label if n % 2 == odd else {"yes": "no", "no": "yes"}[label]
                           for n, (item, label) in enumerate(task.gold.items())} for odd, name in enumerate("ab")}
    scored(task)
    (row,) = registry("study", "dependence", "small", "--format", "json").json
    assert (row["design_effect"], row["p_clusters"]) == (0, 1)
    assert "cancel out" in registry("study", "dependence", "small", "--format", "table").stdout


def test_every_metric_has_its_own(task, registry, scored):
    task.extra = '[[metric]]\nname = "BalancedAccuracy"'
    scored(task)
    asked = ("study", "dependence", "small", "--show", "summary", "--format", "json")
    assert {row["metric"] for row in registry(*asked).json} == {"acc", "BalancedAccuracy"}
    assert {row["metric"] for row in registry(*asked, "--metric", "acc").json} == {"acc"}


def test_what_has_no_clusters_is_told(task, registry, scored):
    scored(task)
    refused = registry("study", "dependence", "small", "--test", "mcnemar", exit_code=3).stderr
    assert "mcnemar does not support clusters" in refused
    task.documents, task.version = {}, "2"
    registry("run", task.write(), "--db", "other.duckdb")
    assert "declares no cluster" in registry("study", "dependence", "small", "--db", "other.duckdb", exit_code=3).stderr
