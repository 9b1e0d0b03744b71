"""Bootstrap of correlations: resamples by hand, theory, intervals of all kinds, scipy."""

import math
from unittest import mock

import numpy as np
import pytest
from scipy import stats

from registry.significance import Bootstrap, Settings
from registry.significance import correlations as correlated
from registry.significance.correlations import SPEARMAN, resample_correlations
from registry.significance.resampling import draws
from registry.significance.resampling.scores import share_resamples
from tests.significance.pair_matrices import coefficients, noisy, pair_matrix, reference


@coefficients
@pytest.mark.parametrize("clusters", [None, 20])
@pytest.mark.parametrize("strata", [None, 3])
def test_resamples_are_those_of_other_metrics(coefficient, clusters, strata):
    x, y = noisy(6, n=40, systems=3)
    units = None if clusters is None else np.arange(40) % clusters
    of_units = None if strata is None else np.arange(clusters or 40) % strata
    of_items = of_units if units is None or of_units is None else of_units[units]
    m = pair_matrix(x, y, coefficient, units=units, strata=of_items)
    sums = draws.sum_resamples(np.eye(m.n_units)[:, None, :], Settings(resamples=300, seed=7), lambda s: s, of_units)
    counts = np.concatenate(list(sums))[:, 0].astype(int)
    counts = counts if units is None else counts[:, units]
    found = np.concatenate(list(resample_correlations(m, Settings(resamples=300, seed=7))))
    assert found.shape == (300, 3)
    for n in (0, 255, 256, 299):
        expected = [reference(coefficient, np.repeat(column, counts[n]), np.repeat(y, counts[n])) for column in x.T]
        np.testing.assert_allclose(found[n], expected, atol=1e-12)


def test_the_bootstrap_has_the_standard_error_of_theory():
    """Of r in normal samples, (1 - r^2) / sqrt(n); of rho without correlation, 1 / sqrt(n - 1)."""
    x, y = noisy(7, n=1000, worst=1.0)
    scores = np.concatenate(list(resample_correlations(pair_matrix(x, y), Settings(resamples=4000, seed=1))))
    r = pair_matrix(x, y).scores()
    np.testing.assert_allclose(scores.std(axis=0), (1 - r**2) / math.sqrt(1000), rtol=0.1)
    nothing = pair_matrix(np.random.default_rng(1).normal(size=(1000, 1)), y, SPEARMAN)
    scores = np.concatenate(list(resample_correlations(nothing, Settings(resamples=4000, seed=1))))
    assert scores.std() == pytest.approx(1 / math.sqrt(999), rel=0.1)


def test_shared_resamples_are_not_sent_with_the_work():
    """They are large, and what draws them need not be picklable."""
    execution = mock.Mock()
    m = share_resamples(pair_matrix(*noisy(12, systems=3), SPEARMAN), Settings(resamples=100))
    correlated.swap_differences(m, [(0, 1)], Settings(resamples=100, execution=execution), np.abs)
    assert execution.map.call_args.args[0].args[0].resampled is None


@coefficients
def test_bootstrap_intervals(coefficient):
    """Of all kinds: about d +- 1.96 of the resamples' deviation for many items, and dual to the test."""
    m = pair_matrix(*noisy(13, n=400, worst=0.7), coefficient)
    scores = np.concatenate(list(resample_correlations(m, Settings(resamples=2000))))
    deviation = (scores[:, 0] - scores[:, 1]).std()
    for interval in ("dual", "percentile", "basic", "bca"):
        found = Bootstrap().run(m, [(0, 1)], Settings(resamples=2000, interval=interval))[0]
        reach = 1.96 * deviation
        assert found.ci_low == pytest.approx(found.difference - reach, abs=0.5 * deviation)
        assert found.ci_high == pytest.approx(found.difference + reach, abs=0.5 * deviation)
    for alpha in (0.01, 0.2, 0.6):
        found = Bootstrap().run(m, [(0, 1)], Settings(resamples=999, confidence=1 - alpha))[0]
        assert (found.ci_low > 0 or found.ci_high < 0) == (found.p_value <= alpha)
    low, high = Bootstrap().score_intervals(m, Settings(resamples=2000))[0]
    assert (low, high) == tuple(np.quantile(scores[:, 0], (0.025, 0.975)))


def test_bca_agrees_with_scipy():
    x, y = noisy(14, n=60, worst=0.8)
    m = pair_matrix(x, y)

    def difference(a, b, gold, axis=-1):
        return stats.pearsonr(a, gold, axis=axis).statistic - stats.pearsonr(b, gold, axis=axis).statistic

    found = Bootstrap().run(m, [(0, 1)], Settings(resamples=20_000, interval="bca"))[0]
    reference = stats.bootstrap((x[:, 0], x[:, 1], y), difference, paired=True, n_resamples=20_000, method="BCa",
                                rng=np.random.default_rng(2)).confidence_interval
    width = found.ci_high - found.ci_low
    assert abs(found.ci_low - reference.low) < 0.03 * width
    assert abs(found.ci_high - reference.high) < 0.03 * width
