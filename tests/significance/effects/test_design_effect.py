"""Intra-cluster correlation and design effect: theory, published numbers, scipy, the jackknife, degenerate input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.significance import StatisticMatrix
from registry.significance.effects import measure_design_effect, measure_design_effects
from registry.significance.intervals import influences
from tests.significance.matrices import ACCURACY, F1, f1, in_steps, of_spans, quotient


def of_gains(gains, clusters):
    """The mean of item scores, which are the gains for A and 0 for B."""
    a = np.stack([gains, np.ones(len(gains))], axis=-1)
    return StatisticMatrix(np.stack([a, a * (0, 1)], axis=1).astype(float), quotient, units=np.asarray(clusters),
                           quotient=ACCURACY)


def jackknife(m, units):
    """The variance of the difference of scores, by leaving out each unit in turn."""
    n = int(units.max()) + 1
    left_out = []
    for unit in range(n):
        scores = m.score(m.statistics[units != unit].sum(axis=0))
        left_out.append(scores[0] - scores[1])
    return (n - 1) * np.var(left_out)


def test_published_correlation():
    """Six targets rated four times: ICC(1,1) = 0.17, mean squares 11.24 and 6.26 (Shrout and Fleiss 1979, table 3)."""
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    found = measure_design_effect(of_gains(ratings.ravel(), np.repeat(np.arange(6), 4)), (0, 1))
    assert (found.n_items, found.n_clusters) == (24, 6)
    assert found.intra_cluster_correlation == pytest.approx(0.17, abs=0.005)
    assert found.intra_cluster_correlation == pytest.approx((11.24 - 6.26) / (11.24 + 3 * 6.26), abs=5e-4)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-4, 4)), min_size=3, max_size=30))
def test_correlation_of_unequal_clusters_is_that_of_scipys_analysis_of_variance(items):
    names, clusters = np.unique([c for c, _ in items], return_inverse=True)
    gains = np.array([g for _, g in items], dtype=float)
    found = measure_design_effect(of_gains(gains, clusters), (0, 1))
    groups = [gains[clusters == c] for c in range(len(names))]
    sizes, n, k = np.array([len(g) for g in groups]), len(gains), len(groups)
    if k < 2 or n == k or np.ptp(gains) == 0:
        assert math.isnan(found.intra_cluster_correlation)
        return
    if all(np.ptp(g) == 0 for g in groups):
        expected = 1.0
    else:
        f, typical = stats.f_oneway(*groups).statistic, (n - (sizes**2).sum() / n) / (k - 1)
        expected = (f - 1) / (f - 1 + typical)
    assert found.intra_cluster_correlation == pytest.approx(expected, rel=1e-9, abs=1e-9)
    centred = gains - gains.mean()
    by_cluster = sum(centred[clusters == c].sum() ** 2 for c in range(k)) * k / (k - 1)
    assert found.design_effect == pytest.approx(by_cluster / (n * np.var(gains, ddof=1)), rel=1e-9)


def test_correlation_of_any_score_is_that_of_its_jackknife():
    m = of_spans(np.random.default_rng(4), np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3]), known=False)
    without = [m.score(np.delete(m.statistics, item, axis=0).sum(axis=0)) for item in range(11)]
    left_out, sizes = np.array([a - b for a, b in without]), np.bincount(m.units)
    f, typical = stats.f_oneway(*(left_out[m.units == c] for c in range(4))).statistic, (11 - (sizes**2).sum() / 11) / 3
    found = measure_design_effect(m, (0, 1))
    assert found.intra_cluster_correlation == pytest.approx((f - 1) / (f - 1 + typical), rel=1e-9)


@pytest.mark.parametrize("known", [True, False])
def test_independent_items_have_no_design_effect(known):
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(1500), rng.integers(1, 9, 1500))
    m = of_spans(rng, np.arange(len(clusters)), known=known)
    found = measure_design_effect(StatisticMatrix(m.statistics, m.score, units=clusters, quotient=m.quotient), (0, 1))
    assert found.intra_cluster_correlation == pytest.approx(0, abs=0.04)  # 4 standard errors: sqrt(2 / (n m)) = 0.009
    assert found.design_effect == pytest.approx(1, abs=0.2)  # that of a variance of 1500 is sqrt(2 / 1500) and more


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("copies", [2, 5])
def test_copies_of_an_item_tell_nothing_new(copies, known):
    rng = np.random.default_rng(copies)
    single = of_spans(rng, np.arange(80), known=known)
    m = StatisticMatrix(np.repeat(single.statistics, copies, axis=0), f1, units=np.repeat(np.arange(80), copies),
                        quotient=single.quotient)
    found, n = measure_design_effect(m, (0, 1)), 80 * copies
    assert found.intra_cluster_correlation == pytest.approx(1, rel=1e-9)
    assert found.design_effect == pytest.approx(copies * (n - 1) / (n - copies), rel=1e-9)


def test_design_effect_is_that_of_the_jackknife_over_clusters():
    rng = np.random.default_rng(6)
    equal = of_gains(rng.normal(0, 1, 240) + np.repeat(rng.normal(0, 1, 60), 4), np.repeat(np.arange(60), 4))
    found = measure_design_effect(equal, (0, 1))  # a mean of clusters of one size is linear, so the two are the same
    expected = jackknife(equal, equal.units) / jackknife(equal, np.arange(240))
    assert found.design_effect == pytest.approx(expected, rel=1e-9)
    m = of_spans(rng, np.repeat(np.arange(200), rng.integers(1, 12, 200)))
    expected = jackknife(m, m.units) / jackknife(m, np.arange(len(m.units)))
    assert expected > 2
    for quotient_ in (F1, None):
        same = StatisticMatrix(m.statistics, m.score, units=m.units, quotient=quotient_)
        assert measure_design_effect(same, (0, 1)).design_effect == pytest.approx(expected, rel=0.02)


def test_design_effect_reads_as_that_of_the_correlation():
    """Kish: 1 + (m' - 1) ICC, where the effect of a cluster does not depend on its size."""
    rng = np.random.default_rng(9)
    clusters = np.repeat(np.arange(3000), rng.integers(1, 10, 3000))
    effect = rng.normal(0, math.sqrt(0.3), 3000)
    gains = effect[clusters] + rng.normal(0, math.sqrt(0.7), len(clusters))
    found = measure_design_effect(of_gains(gains, clusters), (0, 1))
    sizes = np.bincount(clusters)
    assert found.intra_cluster_correlation == pytest.approx(0.3, abs=0.04)
    assert found.design_effect == pytest.approx(1 + ((sizes**2).sum() / sizes.sum() - 1) * 0.3, rel=0.1)


def test_what_is_shared_by_both_systems_does_not_cluster():
    """Hard documents are hard for both: scores cluster, their difference does not."""
    rng = np.random.default_rng(10)
    clusters = np.repeat(np.arange(800), 5)
    hard = rng.random(800)[clusters]
    scores = np.stack([rng.random(4000) < hard, rng.random(4000) < hard, np.ones(4000) > 2], axis=1).astype(float)
    m = StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=-1), quotient, units=clusters, quotient=ACCURACY)
    assert measure_design_effect(m, (0, 2)).intra_cluster_correlation > 0.25  # var(U) / var(coin) = (1/12) / (1/4)
    assert measure_design_effect(m, (0, 1)).intra_cluster_correlation == pytest.approx(0, abs=0.04)


@given(st.permutations(range(12)))
def test_order_and_names_do_not_count(order):
    rng = np.random.default_rng(0)
    m = of_spans(rng, np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 4]))
    order = np.array(order)
    names = np.array([3, 0, 4, 1, 2])
    other = StatisticMatrix(m.statistics[order], m.score, units=names[m.units[order]], quotient=F1)
    one, two = measure_design_effect(m, (0, 1)), measure_design_effect(other, (1, 0))
    assert (one.intra_cluster_correlation, one.design_effect) == pytest.approx(
        (two.intra_cluster_correlation, two.design_effect), rel=1e-9)


def test_items_of_their_own():
    m = of_spans(np.random.default_rng(3), np.arange(30))
    for units in (None, m.units):
        found = measure_design_effect(StatisticMatrix(m.statistics, m.score, units=units, quotient=F1), (0, 1))
        assert (found.n_items, found.n_clusters) == (30, 30)
        assert found.design_effect == pytest.approx(1, rel=1e-12)
        assert math.isnan(found.intra_cluster_correlation)
        assert found.messages


def test_what_cannot_be_measured_is_said():
    clusters = np.array([0, 0, 1, 1])
    m = of_spans(np.random.default_rng(3), clusters)
    constant = np.array([[0.3, 0.2], [0.2, 0.1], [0.9, 0.8], [0.6, 0.5]])  # in floats not quite
    constant = StatisticMatrix(in_steps(constant, 1), quotient, units=clusters, quotient=ACCURACY)
    cases = {
        "constant-difference": [(m, (0, 0)), (StatisticMatrix(m.statistics, f1, units=clusters), (1, 1)),
                               (constant, (0, 1))],
        "one-cluster": [(StatisticMatrix(m.statistics, f1, units=clusters * 0, quotient=F1), (0, 1)),
                         (StatisticMatrix(m.statistics[:0], f1, units=clusters[:0], quotient=F1), (0, 1))],
        "score-undefined": [(StatisticMatrix(m.statistics * 0, f1, units=clusters, quotient=q), (0, 1))
                            for q in (F1, None)],
    }
    for reason, matrices in cases.items():
        for bad, pair in matrices:
            found = measure_design_effect(bad, pair)
            assert math.isnan(found.design_effect)
            assert math.isnan(found.intra_cluster_correlation)
            assert reason in found.messages.codes


@pytest.mark.parametrize("known", [True, False])
def test_those_of_all_pairs_at_once_are_those_of_each(known):
    """Also of a system that differs from another one in a single item of 600."""
    rng = np.random.default_rng(12)
    clusters = np.repeat(np.arange(100), rng.integers(1, 12, 100))
    statistics = np.concatenate([of_spans(rng, clusters).statistics for _ in range(3)], axis=1)
    statistics = np.concatenate([statistics, statistics[:, :1]], axis=1)
    statistics[7, 6, 1] += 1
    m = StatisticMatrix(statistics, f1, units=clusters, quotient=F1 if known else None)
    found = measure_design_effects(influences(StatisticMatrix(statistics, f1, quotient=m.quotient)), clusters)
    for a in range(7):
        for b in range(a):
            assert found[a, b] == pytest.approx(measure_design_effect(m, (a, b)).design_effect, rel=1e-6)
    np.testing.assert_allclose(found, found.T)
    assert np.isnan(np.diag(found)).all()


def test_those_of_all_pairs_are_undefined_where_one_is():
    """Of systems that differ by the same in each item; of one cluster; of a score that is undefined."""
    a = np.random.default_rng(3).integers(0, 5, 40).astype(float)
    scores = np.stack([a, a, a + 0.1, a[::-1]], axis=1)
    influence = scores - scores.mean(axis=0)
    found = measure_design_effects(influence, np.repeat(np.arange(10), 4))
    assert np.isnan(found[:3, :3]).all()
    assert not np.isnan(found[3, :3]).any()
    assert np.isnan(measure_design_effects(influence, np.zeros(40, dtype=np.int64))).all()
    influence[:, 3] = np.nan
    assert np.isnan(measure_design_effects(influence, np.repeat(np.arange(10), 4))).all()
