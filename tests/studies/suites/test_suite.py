"""Ranks over a suite of test sets, about these sets and about others."""

import numpy as np
import pytest
from scipy import stats

from registry.errors import InputError, UnknownNameError
from registry.messages import Message
from registry.studies.suites import Suite
from tests.label_tasks import second_test_set
from tests.studies.suites.coverage import missed, suite
from tests.studies.unstored import case_of, means
from tests.validity.unlike_populations import rare_class


def case_of_scores(*boards):
    case = case_of(*map(means, boards), resamples=199)
    for board in case.boards:
        board.scores = board.matrix.scores()
    return case


def test_what_holds_on_these_sets_need_not_on_others():
    """One system is clearly better on two of three large sets, and worse on the third."""
    rng = np.random.default_rng(1)
    boards = [(rng.random((400, 2)) < quality).astype(float) for quality in ((0.9, 0.5), (0.9, 0.5), (0.5, 0.6))]
    finding = Suite().run(case_of_scores(*boards))
    first, second = finding.tables["systems"]
    differences = [(board[:, 0] - board[:, 1]).mean() for board in boards]
    assert first["score"] - second["score"] == pytest.approx(np.mean(differences))
    assert (first["items_low"], first["items_high"], second["items_low"]) == (1, 1, 2)
    assert stats.ttest_1samp(differences, 0).pvalue > 0.05
    assert (first["sets_low"], first["sets_high"], second["sets_may_be_best"]) == (1, 2, True)
    assert finding.reading[0].startswith("On these 3 test sets, with other items, 1 of 1 pair differs significantly")
    assert "t-tests with 2 degrees of freedom" in finding.reading[1]


def test_weights_are_of_the_average():
    boards = [np.array([[1.0, 0.0], [1, 1]] * 20), np.array([[0.0, 1.0], [0, 1]] * 20)]
    finding = Suite(weight=("set0=3",)).run(case_of_scores(*boards))
    assert [row["score"] for row in finding.tables["systems"]] == pytest.approx([3 / 4, (3 / 2 + 1) / 4])
    assert finding.tables["systems"][0]["sets_low"] is None
    assert [row["weight"] for row in finding.tables["test_sets"]] == [3, 1]


def test_a_rare_class_on_one_set_is_told_of():
    rng = np.random.default_rng(1)
    matrices = [rare_class(200, rare, ((0.8, 0.7, 0.5),) * 2).sample(rng, 1).matrix for rare in (60, 4)]
    case = case_of(*matrices, resamples=100)
    for board in case.boards:
        board.scores = board.matrix.scores()
    (warning,) = Suite().run(case).warnings
    assert warning == Message("rare-class", {"test_sets": ["set1"]})


@pytest.mark.parametrize(("weight", "error"), [("dev=2", UnknownNameError), ("set0=none", InputError),
                                               ("set0=-1", InputError)])
def test_weights_that_are_wrong_are_refused(weight, error):
    with pytest.raises(error):
        Suite(weight=(weight,)).run(suite(np.random.default_rng(1), (30, 30), 0))


def test_a_suite_of_a_task(task, registry, scored):
    task.documents, task.extra = {}, second_test_set("dev.tsv", 'file = "dev/{system}.tsv"')
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('{system}.tsv"', '{system}.tsv"\ntest_set = "test"', 1))
    (task.folder / "dev").mkdir()
    for name in ("../dev", "a", "b"):
        (task.folder / "dev" / f"{name}.tsv").write_text("x\tyes\ny\tno\n")
    scored(manifest)
    rows = registry("study", "suite", "small", "--weight", "dev=2", "--format", "json").json
    assert {row["system"] for row in rows} == {"a/a", "b/b"}
    asked = registry("study", "suite", "small", "--weight", "deb=2", exit_code=3)
    assert "dev" in asked.stderr


@pytest.mark.simulation
def test_ranks_hold():
    items, sets = missed((50,) * 5, 0.3, 60)
    assert items > 0.15, "these sets are no sample of sets that ranks with other items speak of"
    assert sets <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
