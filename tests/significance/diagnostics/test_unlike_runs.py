"""Runs that vary more than others' or lie far from them: told by formulas that leave a run out, and noted at pairs."""

import numpy as np
import pytest
from scipy import stats

from registry.significance import Permutation, Settings
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.samples import find_outlying_runs, find_uneven_runs
from tests.validity.run_hits import board


def told(matrix, a=0, b=1):
    return [bool(warning.where[0]) for warning in find_uneven_runs(SystemPairs(matrix, np.array([a]), np.array([b])))]


@pytest.mark.parametrize(("few", "many", "is_told"), [
    # variances 0.49 and 0.001: 0.49 / 3 + 0.001 / 10 is 8 times what swaps have, and F is 490
    ((0.0, 0.7, 1.4), np.linspace(0.45, 0.55, 10), True),
    ((0.48, 0.5, 0.52), np.linspace(0.0, 1.0, 10), False),  # the few vary less: swaps overstate the error
    ((0.0, 0.7, 1.4), (0.5, 0.51, 0.49), False),  # as many of each
    # variances 0.04 and 0.0122: F of 3.3 with 2 and 9 degrees is as large by chance in 8.4 %; of 2.9 in 10.7 %
    ((0.3, 0.5, 0.7), np.linspace(0.3355, 0.6645, 10), True),
    ((0.3, 0.5, 0.7), np.linspace(0.325, 0.675, 10), False),
])
def test_fewer_runs_that_vary_more(few, many, is_told):
    ratio = np.var(few, ddof=1) / np.var(many, ddof=1)
    by_chance = stats.f.sf(ratio, len(few) - 1, len(many) - 1)
    assert is_told == (len(few) < len(many) and by_chance < 0.1)
    matrix = board(0.03 + np.array(few), many)  # lest they are equal
    assert told(matrix) == told(matrix, 1, 0) == [is_told]
    (found,) = Permutation().run(matrix, [(0, 1)], Settings())
    assert ("uneven-runs" in found.messages.codes) == is_told
    assert "smallest-p-value" in found.messages.codes


def test_a_run_far_from_all_others_is_that_without_which_it_would_not_be_foreseen():
    """By t-tests of one run against what the others predict, over all runs and over those of its system."""
    rng, found = np.random.default_rng(4), []
    for _ in range(150):
        scores = [rng.normal(n, 1, 6) for n in range(3)]
        scores[1][2] += rng.uniform(0, 25)

        def is_far(of, at, scores=scores):
            rest = np.delete(of, at)
            gap = abs(of[at] - rest.mean()) / np.sqrt(1 + 1 / len(rest))
            others = [rest if other is of else other for other in scores]
            pooled = np.sqrt(sum(((o - o.mean()) ** 2).sum() for o in others) / (17 - 3))
            return gap / rest.std(ddof=1) > 6 and 18 * 2 * stats.t.sf(gap / pooled, 17 - 3) < 0.01

        far = sum(any(is_far(of, at) for at in range(6)) for of in scores)
        said = find_outlying_runs(board(*(np.round(of, 6) for of in scores)))
        assert (said is None) == (far == 0)
        assert said is None or said.parameters == {"systems": far, "of_systems": 3}
        found.append(far)
    assert 30 < sum(found) < 120
