"""Clopper and Pearson's interval, against its definition, Evert's example and statsmodels."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from registry.significance.distributions import clopper_pearson


def test_evert_2004_section_3_2():
    """200 true positives among 500 accepted: 35.7 % to 44.4 %, as R's binom.test(200, 500)."""
    assert clopper_pearson(200, 500) == (pytest.approx(0.356761, abs=5e-7), pytest.approx(0.444428, abs=5e-7))


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_limits_are_those_of_statsmodels_and_of_the_binomial_test(confidence):
    hits, trials = (grid.ravel() for grid in np.meshgrid([0, 1, 3, 17, 20], [20, 21, 300]))
    low, high = clopper_pearson(hits, trials, confidence)
    for k, n, from_, to in zip(hits, trials, low, high, strict=True):
        assert (from_, to) == pytest.approx(proportion_confint(k, n, 1 - confidence, "beta"), abs=1e-12)
        if k:
            assert stats.binom.sf(k - 1, n, from_) == pytest.approx((1 - confidence) / 2)
        if k < n:
            assert stats.binom.cdf(k, n, to) == pytest.approx((1 - confidence) / 2)


def test_of_no_trial_nothing_is_known():
    assert clopper_pearson([0, 0], [0, 4])[0].tolist() == [0, 0]
    assert clopper_pearson(0, 0)[1] == 1
