"""Thresholds against what is known: a z-test, quantiles by hand, and the bootstrap's own decisions."""

import itertools

import numpy as np
import pytest
from scipy import stats

from registry.errors import InputError
from registry.significance import Bootstrap, Settings, StatisticMatrix
from registry.studies.gains import Gains, measure_gains
from registry.studies.threshold import (
    MANY,
    estimate_by_fit,
    find_interval,
    find_percentile,
    resample_estimate,
    resample_systems,
    select_borderline,
    select_near,
    select_resampled,
)
from tests.significance.matrices import in_steps

CRITICAL = stats.norm.isf(0.05)
OVERSHOOT = stats.norm.isf(0.041) / CRITICAL  # 1.057: the 95th percentile of p spread evenly from 0.04 to 0.06


def z_tested(systems=60, error=0.3, seed=0):
    """All pairs of systems by a z-test whose standard error is the same for all."""
    scores = np.sort(np.random.default_rng(seed).normal(0, 1, systems))
    worse, better = np.array(list(itertools.combinations(range(systems), 2))).T
    gain = scores[better] - scores[worse]
    return Gains(better, worse, gain, stats.norm.sf(gain / error), np.full(len(gain), CRITICAL * error))


def means(items=400, systems=40, seed=1):
    """Systems whose items score independently, so that all differences have the same true error."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(rng.normal(0, 0.1, systems), 1, (items, systems))
    return StatisticMatrix(in_steps(scores), lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)))


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_of_a_z_test_lies_as_far_above_the_critical_difference_as_it_must(seed):
    gains = z_tested(seed=seed)
    some = select_borderline(gains, 0.05, 0.2)
    low, high = find_interval(resample_estimate(some, find_percentile, resample_systems(60, 1)), 0.95)
    assert low <= OVERSHOOT * CRITICAL * 0.3 <= high
    assert high < stats.norm.isf(0.04) * 0.3  # no borderline pair gains more
    assert round(OVERSHOOT, 3) == 1.057


@pytest.mark.parametrize(("systems", "error", "held"), [(22, 0.6, range(24)), (70, 0.3, range(34, 41))])
def test_intervals_of_the_rule_are_too_low_where_few_pairs_are_at_the_border(systems, error, held):
    """Of 40 z-tests with some 13 pairs there, and with some 75: how many hold what the rule gives of very many."""
    wanted, drawn, found = OVERSHOOT * CRITICAL * error, resample_systems(systems, 1)[:300], []
    for seed in range(40):
        some = select_borderline(z_tested(systems, error, seed), 0.05, 0.2)
        assert (len(some.p) < MANY) == (systems == 22)
        low, high = find_interval(resample_estimate(some, find_percentile, drawn), 0.95)
        found.append(low <= wanted <= high)
    assert sum(found) in held


def test_the_fit_gives_the_critical_difference_itself_where_all_pairs_have_the_same():
    gains = z_tested()
    assert estimate_by_fit(select_near(gains)) == pytest.approx(CRITICAL * 0.3, rel=1e-12)
    low, high = find_interval(resample_estimate(select_near(gains), estimate_by_fit, resample_systems(60, 1)), 0.95)
    assert (low, high) == pytest.approx((CRITICAL * 0.3, CRITICAL * 0.3), rel=1e-9)


def test_the_fit_follows_gains_that_rise_with_the_ratio():
    """Critical gains of 2 r^0.5 are 2 where the ratio r is 1, and gains are 2 r^1.5."""
    ratio = np.array([0.3, 0.5, 0.8, 1.5, 3.0])
    of = np.zeros(5, dtype=int)
    assert estimate_by_fit(Gains(of, of, 2 * ratio**1.5, ratio, 2 * ratio**0.5)) == pytest.approx(2)


def test_thresholds_of_the_bootstrap_agree_with_theory():
    """As a z-test with the true error of a difference, sqrt(2 / items)."""
    gains = measure_gains(means(), Settings(resamples=2000, seed=3), 0.05)
    systems, true = resample_systems(40, 1), CRITICAL * np.sqrt(2 / 400)
    low, high = find_interval(resample_estimate(select_borderline(gains, 0.05, 0.2), find_percentile, systems), 0.95)
    assert low <= OVERSHOOT * true <= high
    assert np.median(gains.critical) == pytest.approx(true, rel=0.02)


def test_p_values_are_those_of_the_one_sided_bootstrap_and_critical_gains_decide_alike():
    matrix = means(items=50, systems=6)
    gains = measure_gains(matrix, Settings(resamples=999, seed=3), 0.1)
    assert len(gains.p) == 15
    assert (matrix.scores()[gains.better] > matrix.scores()[gains.worse]).all()
    for a, b, gain, p in zip(gains.better, gains.worse, gains.gain, gains.p, strict=True):
        (alone,) = Bootstrap().run(matrix, [(int(a), int(b))], Settings("greater", 999, 3))
        assert (alone.difference, alone.p_value) == (gain, p)
    assert ((gains.gain >= gains.critical) == (gains.p <= 0.1)).all()
    assert 0 < (gains.p <= 0.1).sum() < 15


def test_the_order_of_systems_changes_no_gain_and_no_threshold():
    matrix, order = means(items=60, systems=8), [3, 7, 0, 5, 1, 6, 2, 4]
    settings = Settings(resamples=500, seed=3)
    one, other = measure_gains(matrix, settings, 0.05), measure_gains(matrix.select_systems(order), settings, 0.05)
    by_pair = [{(names[a], names[b]): (gain, p, critical) for a, b, gain, p, critical in zip(
        of.better, of.worse, of.gain, of.p, of.critical, strict=True)}
        for of, names in ((one, range(8)), (other, order))]
    assert by_pair[0] == by_pair[1]
    assert estimate_by_fit(select_near(one)) == pytest.approx(estimate_by_fit(select_near(other)), rel=1e-12)


def test_gains_are_positive_where_lower_is_better():
    scores = np.random.default_rng(2).normal([1, 2, 3], 1, (30, 3))
    matrix = StatisticMatrix(scores[:, :, None], lambda sums: sums[..., 0] / 30, lower_is_better=True)
    gains = measure_gains(matrix, Settings(resamples=99), 0.05)
    assert sorted(zip(gains.better.tolist(), gains.worse.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_a_system_that_is_drawn_twice_brings_its_pairs_twice():
    gains = Gains(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.0, 2.0, 3.0]), np.zeros(3), np.ones(3))
    assert select_resampled(gains, np.array([2, 1, 0])).gain.tolist() == [1, 1]
    assert select_resampled(gains, np.array([1, 0, 2])).gain.tolist() == [2, 2]
    assert select_resampled(gains, np.array([3, 0, 0])).gain.tolist() == []
    drawn = resample_systems(3, 7)
    assert (drawn.sum(axis=1) == 3).all()
    found = resample_estimate(gains, find_percentile, drawn)
    assert 0.05 < np.isnan(found).mean() < 0.2  # one system alone in 1 of 9 draws
    assert not np.isfinite(find_interval(found, 0.95)).any()


def test_a_metric_that_the_bootstrap_does_not_take_is_refused():
    matrix = StatisticMatrix(np.zeros((3, 2, 2)), lambda sums: sums[..., 0], unequal=True)
    with pytest.raises(InputError, match="same items"):
        measure_gains(matrix, Settings(resamples=9), 0.05)
