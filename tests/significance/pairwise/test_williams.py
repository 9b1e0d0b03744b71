"""Williams' t and Steiger's z: published figures, exact arithmetic, the size under the null, degenerate input."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from registry.significance import Settings
from registry.significance.correlations import KENDALL, SPEARMAN
from registry.significance.pairwise.williams import Steiger, Williams
from tests.significance.pair_matrices import noisy, pair_matrix

TESTS = pytest.mark.parametrize("test", [Williams(), Steiger()], ids=lambda t: t.name)


def run(test, m, pair=(0, 1), **options):
    return test.run(m, [pair], Settings(**options))[0]


def statistic(test, *correlations, n):
    return float(test.statistic(*(np.array(r) for r in correlations), n))


def test_the_published_example_of_depcor():
    """Silver, Hittner and May 2006: r = .3 and .4 with the same variable, .5 with each other, n = 100."""
    t, z = (statistic(test, 0.3, 0.4, 0.5, n=100) for test in (Williams(), Steiger()))
    assert t == pytest.approx(-1.0767, abs=5e-5)
    assert 2 * stats.t.sf(abs(t), 97) == pytest.approx(0.2843, abs=5e-5)
    assert z == pytest.approx(-1.0718, abs=5e-5)
    assert 2 * stats.norm.sf(abs(z)) == pytest.approx(0.2838, abs=5e-5)


def test_case_a_of_steiger_1980():
    """Printed as -.8913, from a covariance that is rounded to two digits: hence 0.003."""
    assert statistic(Steiger(), 0.4, 0.5, 0.1, n=103) == pytest.approx(-0.8913, abs=0.003)


def test_williams_agrees_with_psych():
    """R's psych::r.test as nlpstats (Deutsch et al. 2021) records it: of numpy's seed 12, by absolute correlations."""
    legacy = np.random.RandomState(12)
    first = [legacy.random_sample((9, 5)).ravel() for _ in range(3)]
    second = [stats.rankdata(legacy.random_sample((9, 5)).mean(axis=1)) for _ in range(3)]
    for (x, y, gold), expected in ((first, 0.2716978), (second, 1 - 0.4658712)):
        r = np.abs([np.corrcoef(*sides)[0, 1] for sides in ((x, gold), (y, gold), (x, y))])
        t = statistic(Williams(), *r, n=len(gold))
        assert stats.t.sf(t, len(gold) - 3) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("case", [("0.3", "0.4", "0.5", 100), ("0.9", "0.85", "0.97", 8), ("-0.2", "0.6", "0.1", 30)])
def test_williams_in_fractions(case):
    """T2 squared is rational: equation 7 of Steiger 1980, with the determinant expanded along its first row."""
    (a, b, ab), n = map(Fraction, case[:3]), case[3]
    determinant = (1 - ab * ab) - a * (a - b * ab) + b * (a * ab - b)
    square = (a - b) ** 2 * (n - 1) * (1 + ab) / (
        2 * Fraction(n - 1, n - 3) * determinant + ((a + b) / 2) ** 2 * (1 - ab) ** 3)
    found = statistic(Williams(), float(a), float(b), float(ab), n=n)
    assert found == pytest.approx(math.copysign(math.sqrt(square), a - b), rel=1e-12)


@pytest.mark.simulation
@TESTS
@pytest.mark.parametrize(("r", "r_ab"), [(0.0, 0.0), (0.5, 0.3), (0.8, 0.7)])
@pytest.mark.parametrize(("n", "low"), [(15, 0.040), (60, 0.044)])
def test_the_size_under_the_null(test, r, r_ab, n, low):
    """Two-sided at 5 % of 20,000 trivariate normal samples: 4 standard errors are 0.6 %; few items are conservative."""
    rng = np.random.default_rng(n)
    root = np.linalg.cholesky([[1, r, r], [r, 1, r_ab], [r, r_ab, 1]])
    sample = rng.normal(size=(20_000, n, 3)) @ root.T
    sample -= sample.mean(axis=1, keepdims=True)
    products = np.einsum("sni,snj->sij", sample, sample)
    scale = np.sqrt(np.einsum("sii->si", products))
    correlations = products / scale[:, :, None] / scale[:, None, :]
    found = test.statistic(correlations[:, 0, 1], correlations[:, 0, 2], correlations[:, 1, 2], n)
    critical = stats.t.isf(0.025, n - 3) if isinstance(test, Williams) else stats.norm.isf(0.025)
    assert low < (np.abs(found) > critical).mean() < 0.056


@pytest.mark.simulation
@TESTS
@pytest.mark.parametrize(("noise", "low", "high"), [(2, 0.045, 0.065), (0.6, 0.07, 0.10)])
def test_the_size_with_ranks_is_what_the_note_says(test, noise, low, high):
    """Rho of .43 and of .84 in 4000 samples of 100 items: 3 standard errors are about 1 %."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=(4000, 100))
    sides = [stats.rankdata(v, axis=1) for v in (y + noise * rng.normal(size=y.shape) for _ in range(2))]
    a, b, gold = (stats.zscore(v, axis=1) for v in (*sides, stats.rankdata(y, axis=1)))
    found = test.statistic(*((p * q).mean(axis=1) for p, q in ((a, gold), (b, gold), (a, b))), 100)
    critical = stats.t.isf(0.025, 97) if isinstance(test, Williams) else stats.norm.isf(0.025)
    assert low < (np.abs(found) > critical).mean() < high


@TESTS
def test_a_pair_is_tested_by_its_three_correlations(test):
    x, y = noisy(1)
    found = run(test, pair_matrix(x, y))
    r = [stats.pearsonr(*sides).statistic for sides in ((x[:, 0], y), (x[:, 1], y), (x[:, 0], x[:, 1]))]
    expected = statistic(test, *r, n=60)
    tail = stats.t(57) if isinstance(test, Williams) else stats.norm
    assert found.difference == pytest.approx(r[0] - r[1], rel=1e-12)
    assert found.statistic == pytest.approx(abs(expected), rel=1e-10)
    assert found.p_value == pytest.approx(2 * tail.sf(abs(expected)), rel=1e-10)
    assert (found.method, found.n_units, found.messages) == ("asymptotic", 60, ())


@TESTS
def test_alternatives_and_direction(test):
    x, y = noisy(2)
    greater, less = (run(test, pair_matrix(x, y), alternative=side).p_value for side in ("greater", "less"))
    assert greater + less == pytest.approx(1, rel=1e-12)
    assert greater < 0.5
    assert run(test, pair_matrix(x, y), (1, 0), alternative="less").p_value == greater
    assert run(test, pair_matrix(x, y, lower_is_better=True), alternative="less").p_value == greater


@TESTS
def test_ranks_are_tested_with_a_note_and_tau_is_refused(test):
    x, y = noisy(3)
    found = run(test, pair_matrix(x, y, SPEARMAN))
    ranks = np.apply_along_axis(stats.rankdata, 0, x)
    assert found.p_value == pytest.approx(run(test, pair_matrix(ranks, stats.rankdata(y))).p_value, rel=1e-10)
    assert found.messages.codes == ("approximate-for-ranks",)
    with pytest.raises(ValueError, match=f"{test.name} supports only Pearson's and Spearman's correlations"):
        run(test, pair_matrix(x, y, KENDALL))


@TESTS
def test_degenerate_correlations(test):
    x, y = noisy(4, n=20)
    a = x[:, 0]
    identical, linear = (run(test, pair_matrix(np.stack([a, other], axis=1), y)) for other in (a, 100 * a - 3))
    assert (identical.p_value, linear.p_value) == (1.0, 1.0)
    for perfect in (y, -y, -a):
        found = run(test, pair_matrix(np.stack([a, perfect], axis=1), y))
        assert math.isnan(found.p_value)
        assert found.messages.codes == ("perfect-correlation",)
    assert run(test, pair_matrix(x[:3], y[:3])).messages.codes == ("needs-items",)
    assert run(test, pair_matrix(np.stack([a, np.ones(20)], axis=1), y)).messages.codes == ("score-undefined",)


def test_williams_is_undefined_where_gold_and_predictions_cancel():
    """Gold is a - b of uncorrelated predictions: the correlations are opposite, and nothing is left to chance."""
    a, b = np.array([1, 1, -1, -1] * 5), np.array([1, -1, 1, -1] * 5)
    found = run(Williams(), pair_matrix(np.stack([a, b], axis=1), a - b))
    assert math.isnan(found.p_value)
    assert found.messages.codes == ("gold-is-sum",)
