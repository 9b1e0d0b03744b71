"""A judge's rare errors: told where so few were seen that their sum is far from normal, and something hangs on it."""

import numpy as np
import pytest

from registry.evaluation.matrices import Counts, build_matrix
from registry.judged import make_columns
from registry.metrics import JudgedMean
from registry.significance import PredictionPowered, Settings
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.judges import find_rare_errors

ITEMS = 2000


def judged(looked, wrong, *, slope=None, size=1.0, units=None):
    """Two systems that people take for equal; the judge errs by `size` in so many of the items that were looked at."""
    rng = np.random.default_rng(len(str(looked)))
    human = rng.integers(2, size=(ITEMS, 2)).astype(float)
    judge = human.copy()
    judge[:wrong, 0] += size
    w = (np.arange(ITEMS) < looked).astype(float)
    both = np.stack([np.stack(make_columns(judge[:, n], human[:, n], w, np.ones(ITEMS)), axis=1)
                     for n in (0, 1)], axis=1)
    return build_matrix(JudgedMean(slope=slope), Counts.from_statistics(np.pad(both, ((0, 0), (0, 0), (0, 3)))), units)


@pytest.mark.parametrize(("looked", "wrong", "told"), [
    (60, 0, True), (60, 4, True),  # 1 / sqrt(4 + 3) is a skewness of 0.38, a little less with what all items add
    (60, 6, True),
    (200, 4, False), (200, 20, False),  # of 23 it is 0.21
    (1900, 4, False),  # four errors move the difference by 0.001, and 2,000 judged items by 0.016
    (ITEMS, 4, False),  # nothing is left to the judge
])
def test_few_errors_are_told_where_something_hangs_on_them(looked, wrong, told):
    matrix = judged(looked, wrong)
    assert find_rare_errors(SystemPairs.every(matrix)).where.tolist() == [told]
    (found,) = PredictionPowered().run(matrix, [(0, 1)], Settings())
    assert ("few-judge-errors" in found.messages.codes) == told


def test_without_the_judge_nothing_hangs_on_its_errors_and_their_unit_does_not_count():
    assert not find_rare_errors(SystemPairs.every(judged(60, 2, slope=0.0))).where.any()
    assert find_rare_errors(SystemPairs.every(judged(60, 2, slope=1.0))).where.all()
    clusters = np.arange(ITEMS) // 4  # the errors of four items are one of their cluster
    assert find_rare_errors(SystemPairs.every(judged(200, 24, slope=1.0, units=clusters))).where.all()
    assert not find_rare_errors(SystemPairs.every(judged(200, 24, slope=1.0))).where.any()
