"""Two systems whose rated items overlap: a published example, scipy's tests at both limits, and degenerate samples."""

import math

import numpy as np
import pytest
from scipy import stats

from registry.significance.joint.overlap import compare_overlapping, compare_paired, compare_unpaired
from registry.significance.joint.ratings import Ratings

# Derrick, Toher and White 2017, "How to compare the means of two samples that include paired observations and
# independent observations", Quantitative Methods for Psychology 13(2). Scores: a alone, a and b in pairs, b alone.
PUBLISHED = ((20, 21, 16, 18, 14, 12, 14, 17), (14, 15, 18, 20, 11, 19, 14, 15), (15, 10, 15, 17, 13, 19, 12, 13),
             (10, 16, 18, 16, 15, 14, 13, 10))


def arrange(a_alone, a_shared, b_shared, b_alone):
    """Ratings of systems 0 and 1 by one annotator."""
    items = np.arange(len(a_alone) + len(a_shared) + len(b_alone))
    of_a, of_b = items[:len(a_alone) + len(a_shared)], items[len(a_alone):]
    item, n = np.concatenate([of_a, of_b]), len(of_a)
    score = np.concatenate([a_alone, a_shared, b_shared, b_alone]).astype(float)
    return Ratings(np.where(np.arange(len(item)) < n, 0, 1), item, np.zeros(len(item), dtype=int), score)


def p_of(result, alternative="two-sided"):
    return math.exp(result.compute_log_p(alternative))


def test_the_published_example():
    """p = .026, as the authors and their R package print; degrees by hand: 7 + 23 / 32 * 16."""
    result = compare_overlapping(arrange(*PUBLISHED), 0, 1, pooled=True)
    assert result.difference == 16.125 - 14.125
    assert (result.n_shared, result.n_first, result.n_second) == (8, 8, 8)
    assert result.degrees == 18.5
    assert round(p_of(result), 3) == 0.026


@pytest.mark.parametrize("pooled", [True, False])
def test_the_formulas_of_the_article(pooled):
    """Equations of Derrick, Russ, Toher and White 2017, written out, for samples of unequal sizes and variances."""
    rng = np.random.default_rng(3)
    shared = rng.multivariate_normal([0, 0.5], [[1, 1.2], [1.2, 4]], size=9)
    parts = rng.normal(size=5), shared[:, 0], shared[:, 1], rng.normal(0.5, 2, size=12)
    x, y = np.concatenate(parts[:2]), np.concatenate(parts[2:])
    n1, n2, nc, alone = len(x), len(y), 9, 17
    r, s1, s2 = np.corrcoef(*parts[1:3])[0, 1], x.std(ddof=1), y.std(ddof=1)
    if pooled:
        sp = math.sqrt(((n1 - 1) * s1**2 + (n2 - 1) * s2**2) / (n1 + n2 - 2))
        error = sp * math.sqrt(1 / n1 + 1 / n2 - 2 * r * nc / (n1 * n2))
        degrees = (nc - 1) + (alone + nc - 1) / (alone + 2 * nc) * alone
    else:
        error = math.sqrt(s1**2 / n1 + s2**2 / n2 - 2 * r * s1 * s2 * nc / (n1 * n2))
        gamma = (s1**2 / n1 + s2**2 / n2)**2 / ((s1**2 / n1)**2 / (n1 - 1) + (s2**2 / n2)**2 / (n2 - 1))
        degrees = (nc - 1) + (gamma - nc + 1) / (alone + 2 * nc) * alone
    result = compare_overlapping(arrange(*parts), 0, 1, pooled=pooled)
    assert (result.difference, result.error, result.degrees) == pytest.approx((x.mean() - y.mean(), error, degrees))
    assert p_of(result) == pytest.approx(2 * stats.t.sf(abs(result.difference) / error, degrees))
    assert p_of(result, "less") == pytest.approx(stats.t.cdf(result.difference / error, degrees))
    low, high = result.compute_interval(0.9)
    assert (low, high) == pytest.approx(stats.t.interval(0.9, degrees, result.difference, error))


@pytest.mark.parametrize("pooled", [True, False])
def test_without_shared_items_it_is_the_test_of_independent_samples(pooled):
    a, b = PUBLISHED[0], PUBLISHED[3][:5]
    expected = stats.ttest_ind(a, b, equal_var=pooled)
    result = compare_overlapping(arrange(a, (), (), b), 0, 1, pooled=pooled)
    assert (p_of(result), result.degrees) == pytest.approx((expected.pvalue, expected.df))


def test_with_all_items_shared_it_is_the_paired_test():
    a, b = PUBLISHED[1:3]
    expected = stats.ttest_rel(a, b)
    for result in (compare_overlapping(arrange((), a, b, ()), 0, 1), compare_paired(arrange(*PUBLISHED), 0, 1)):
        assert (p_of(result), result.degrees) == pytest.approx((expected.pvalue, expected.df))


def test_unpaired_is_welchs_test_of_all_items():
    expected = stats.ttest_ind(np.concatenate(PUBLISHED[:2]), np.concatenate(PUBLISHED[2:]), equal_var=False)
    result = compare_unpaired(arrange(*PUBLISHED), 0, 1)
    assert (p_of(result), result.degrees) == pytest.approx((expected.pvalue, expected.df))


def test_several_ratings_of_an_item_or_document_are_averaged_first():
    """Weighted, and of the chosen unit; system 2 does not matter."""
    system, item, annotator = (np.array(column) for column in zip(
        *[(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1), (0, 2, 0), (1, 2, 0), (2, 1, 0)], strict=True))
    score, weight = np.array([1.0, 4, 2, 3, 3, 5, 9, 7]), np.array([2.0, 1, 1, 1, 1, 1, 1, 1])
    a, b = [2, 2, 5], [3, 3, 9]
    assert compare_paired(Ratings(system, item, annotator, score, weight), 0, 1).error == pytest.approx(
        stats.ttest_rel(a, b).statistic**-1 * (3 - 5))
    documents = np.array([0, 0, 1])[item]
    result = compare_paired(Ratings(system, item, annotator, score, weight, documents), 0, 1)
    assert (result.difference, result.n_shared) == ((2 - 3 + 5 - 9) / 2, 2)


@pytest.mark.parametrize("compare", [compare_paired, compare_unpaired, compare_overlapping])
def test_degenerate_samples(compare):
    """Equal systems have p = 1; constant differences and too few items have no error, and no p-value."""
    assert compare(arrange((), (1, 2, 4), (1, 2, 4), ()), 0, 1).compute_log_p() == 0
    few = compare(arrange((), (1,), (2,), ()), 0, 1)
    assert math.isnan(few.error)
    assert math.isnan(few.compute_log_p())
    constant = compare(arrange((), (0.1, 0.1, 0.1), (0.3, 0.3, 0.3), ()), 0, 1)
    assert not constant.error > 0
    assert math.isnan(constant.compute_log_p())


def test_a_constant_gain_has_no_error():
    gains = arrange((), (0.1, 0.2, 0.7), (0.4, 0.5, 1.0), ())
    assert compare_paired(gains, 0, 1).error == 0
    assert compare_overlapping(gains, 0, 1).error == 0
    assert compare_overlapping(gains, 0, 1, pooled=True).error == 0


def test_one_shared_item_does_not_determine_a_correlation():
    assert math.isnan(compare_overlapping(arrange((1, 2, 4), (3,), (4,), (2, 6)), 0, 1).error)
    assert math.isnan(compare_paired(arrange((1, 2), (), (), (3, 4)), 0, 1).difference)
