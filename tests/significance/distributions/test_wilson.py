"""Wilson's interval against statsmodels and R's binom, and how often it covers, by all outcomes."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from registry.significance.distributions import wilson, wilson_of_counts


def test_it_is_statsmodels_s():
    hits = np.arange(31)
    low, high = wilson(hits / 30, 30, stats.norm.ppf(0.975))
    assert np.stack([low, high]) == pytest.approx(np.stack(proportion_confint(hits, 30, method="wilson")), abs=1e-12)


def test_few_failures_are_poisson_s():
    """Brown, Cai and DasGupta 2001: the lower end of x successes is half the quantile of chi-squared of 2 x, over n."""
    low, high = wilson_of_counts([1, 2, 3, 4, 97], 100, 0.95)
    assert low[:3] == pytest.approx(stats.chi2.ppf(0.05, [2, 4, 6]) / 200)
    assert high[4] == pytest.approx(1 - stats.chi2.ppf(0.05, 6) / 200)
    assert low[3] == pytest.approx(wilson(0.04, 100, stats.norm.ppf(0.975))[0], rel=1e-14)


@pytest.mark.parametrize(("trials", "least"), [(10, 0.919), (20, 0.926), (50, 0.927), (100, 0.927), (1000, 0.931)])
def test_it_covers_at_the_worst_rate(trials, least):
    """Wilson's own has 0.84 at 20 and 50 trials."""
    rates, hits = np.linspace(0.002, 0.998, 1993), np.arange(trials + 1)
    low, high = wilson_of_counts(hits, trials, 0.95)
    covered = (low[:, None] <= rates) & (rates <= high[:, None])
    coverage = (stats.binom.pmf(hits[:, None], trials, rates) * covered).sum(axis=0)
    assert coverage.min() >= least
    assert coverage.mean() == pytest.approx(0.956, abs=0.007)
