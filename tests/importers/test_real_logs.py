"""Logs that Inspect and the LM Evaluation Harness wrote themselves: scores are theirs, p-values scipy's.

`make.py` in `inspect_logs` (inspect_ai 0.3.285, `mockllm`) and `lm_eval_dummy_logs` (lm_eval 0.4.13, `dummy`) writes
them; `make interchange` does all of this with the newest versions.
"""

import json

import pytest

from registry.errors import InputError
from registry.importers import IMPORTERS
from registry.importers.inspect import Archive
from registry.readers import Document
from tests.importers import scores
from tests.interchange.against_scipy import LOGS, differing, of_inspect, of_lm_eval

INSPECT, DUMMY = LOGS / "inspect_logs", LOGS / "lm_eval_dummy_logs"


def held(registry, task, tests, own):
    """Compare by each test: what scipy says otherwise, and the number of pairs that it was asked about."""
    wrong, n = [], 0
    for test in tests:
        registry("compare", task, "--test", test)
        found, of = differing(registry("pairs", task, "--format", "json").json, own)
        wrong, n = wrong + found, n + of
    return wrong, n


def means(own):
    """What the mean over a model's samples is, as `scores` gives it."""
    return sorted((test_set, *model.split("/"), pytest.approx(sum(items.values()) / len(items), rel=1e-9))
                  for test_set, models in own.items() for model, items in models.items())


def test_inspect_s_logs_of_both_kinds_have_its_scores_and_scipy_s_p_values(registry):
    """With samples that failed, three epochs, and a scorer that gives two values."""
    own = of_inspect(INSPECT)
    told = registry("import", "inspect", INSPECT, "--task", "i", "--option", "missing=drop").stderr
    assert "the epochs of 'twice.match' are imported as runs, but the log also combines them by 'max'" in told
    assert told.count("warning") == 2  # the other one is of the sample that failed
    assert "several test sets belong to one benchmark, such as 'marks'" in told
    assert scores(registry) == means(own)
    assert held(registry, "i", ("permutation", "wilcoxon"), own) == ([], 11)


def test_a_reducer_of_epochs_is_taken_from_the_log(registry):
    registry("import", "inspect", INSPECT, "--task", "i", "--option", "reducer=max", "--option", "tasks=twice")
    reported = {}
    for file in INSPECT.glob("*_twice_*.eval"):
        header = Archive(Document.load(file)).load_json("header.json")
        by = {score["reducer"]: score["metrics"]["accuracy"]["value"] for score in header["results"]["scores"]}
        reported[header["eval"]["model"].partition("/")[2]] = by["max"]
    assert {row[2]: row[3] for row in scores(registry)} == reported
    with pytest.raises(InputError, match="the log does not combine epochs by 'median'"):
        IMPORTERS["inspect"](reducer="median", tasks=("twice",)).read(INSPECT)


def test_the_harness_s_own_dummy_model_has_its_scores_and_scipy_s_p_values(registry):
    own = of_lm_eval(DUMMY)
    told = registry("import", "lm-eval", DUMMY, "--task", "d", "--option", "metrics=acc").stderr
    assert "Is one system better than another over all 4 test sets? `registry study macro-average d --show" in told
    assert "the harness averages the tasks of sized, even, nested; add --option group=" in told
    assert scores(registry) == means(own)
    assert held(registry, "d", ("permutation", "mcnemar", "wilcoxon"), own) == ([], 11)


@pytest.mark.parametrize("group", ["even", "nested"])
def test_a_group_has_the_score_that_the_harness_gives_it(registry, group):
    """Weighted by size it is the mean of one test set, else the average over the tasks; also of groups in it."""
    reported = {}
    for file in DUMMY.glob("*/results_*.json"):
        results = json.loads(file.read_text())
        reported[results["model_name"]] = pytest.approx(results["groups"][group]["acc,none"])
    registry("import", "lm-eval", DUMMY, "--task", "g", "--option", f"group={group}")
    command = ("study", "macro-average", "g") if group == "even" else ("run", "g/task.toml")
    rows = registry(*command, "--format", "json").json
    named = "system" if group == "even" else "submission"
    assert {row[named].partition("@")[0]: row["score"] for row in rows} == reported
