"""Permutation of correlations, and both tests alike: every swap of small sets, draws by hand, invariances."""

import itertools
import math
import pickle
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.significance import TESTS, Bootstrap, Execution, Permutation, Settings, StatisticMatrix
from registry.significance import correlations as correlated
from registry.significance.correlations import COEFFICIENTS, SPEARMAN, resample_correlations
from registry.significance.effects import measure_design_effect
from registry.significance.multiple import adjust_min_p, draw_differences
from registry.significance.pairwise import permutation
from registry.significance.pairwise.williams import Williams
from registry.significance.resampling import draws
from tests.significance.pair_matrices import coefficients, noisy, pair_matrix, pairs, reference

ALTERNATIVES = {"two-sided": abs, "greater": lambda d: d, "less": lambda d: -d}


def run(m, pair=(0, 1), **options):
    return Permutation().run(m, [pair], Settings(**options))[0]


def swapped(m, taken):
    """The differences of systems 0 and 1 by hand, for units that are `taken` [draws, units]."""
    a, b = m.standardize((0, 1))
    items = taken if m.units is None else taken[:, m.units]
    known = {}  # what one system has after a swap the other has after its opposite

    def score(x):
        if (values := x.tobytes()) not in known:
            known[values] = reference(m.coefficient, x, m.y)
        return known[values]

    return np.subtract(*([score(np.where(row, *sides)) for row in items] for sides in ((b, a), (a, b))))


def enumerated(m, alternative):
    """The p-value over all swaps of units; an undefined difference is extreme."""
    every = np.array(list(itertools.product((0, 1), repeat=m.n_units)))
    reached = np.array([ALTERNATIVES[alternative](d) for d in swapped(m, every)])
    return float(np.mean(~(reached < reached[0] - 1e-10)))


@pytest.mark.slow
@coefficients
@settings(max_examples=25)
@given(case=pairs().filter(lambda c: len(c[2]) < 8), alternative=st.sampled_from(list(ALTERNATIVES)))
def test_few_items_are_swapped_in_every_way(coefficient, case, alternative):
    a, b, y, _ = case
    m = pair_matrix(np.stack([a, b], axis=1), y, coefficient)
    found = run(m, alternative=alternative)
    assert found.method == "exact"
    assert found.p_value == (enumerated(m, alternative) if (a != b).any() else 1)


@pytest.mark.slow
@coefficients
def test_monte_carlo_agrees_with_all_swaps(coefficient):
    for seed in range(4):
        x, y = noisy(seed, n=9)
        m = pair_matrix(np.round(x), np.round(y), coefficient)
        expected = enumerated(m, "two-sided")
        with mock.patch.object(permutation, "ENUMERATED", 0):
            found = run(m, resamples=4000)
        assert (found.method, found.resamples) == ("monte-carlo", 4000)
        deviation = math.sqrt(max(expected * (1 - expected), 1e-4) / 4000)
        assert abs(found.p_value - (4000 * expected + 1) / 4001) < 6 * deviation


@coefficients
@pytest.mark.parametrize("clusters", [None, 20])
def test_swaps_are_those_of_other_metrics(coefficient, clusters):
    """300 draws, beyond the first block; the bits are read off the sums of an identity matrix."""
    x, y = noisy(5, n=40)
    units = None if clusters is None else np.arange(40) % clusters
    m = pair_matrix(x, y, coefficient, units=units)
    sums = draws.sum_permutations(np.eye(m.n_units)[:, None, :], Settings(resamples=300, seed=7), lambda s: s)
    taken = np.concatenate(list(sums))[:, 0].astype(int)
    expected = swapped(m, taken)
    found = run(m, resamples=300, seed=7)
    extremes = np.count_nonzero(np.abs(expected) >= abs(found.difference) - 1e-10)
    assert found.p_value == (extremes + 1) / 301
    drawn = correlated.swap_differences(m, [(0, 1)], Settings(resamples=300, seed=7), lambda d: d)
    np.testing.assert_allclose(np.concatenate(list(drawn))[:, 0], expected, atol=1e-12)


def test_many_normal_items_give_what_williams_gives():
    """Two systems with equal noise are exchangeable, and both tests right: their p-values agree in every sample."""
    for seed in range(5):
        m = pair_matrix(*noisy(seed, n=4000, worst=0.6))
        williams = Williams().run(m, [(0, 1)], Settings())[0]
        assert run(m, resamples=5000).p_value == pytest.approx(williams.p_value, abs=0.03)


@pytest.mark.thorough
@pytest.mark.simulation
@coefficients
def test_the_size_under_the_null(coefficient):
    """Systems with equal noise: 4 standard errors of the shares among 200 samples of 20 items; p has steps of 1/256."""
    p = np.array([run(pair_matrix(*noisy(seed, n=20, worst=0.6), coefficient), resamples=255).p_value
                  for seed in range(1000, 1200)])
    for level in (0.05, 0.2, 0.5):
        assert abs(np.mean(p <= level) - level) < 4 * math.sqrt(level * (1 - level) / 200)


def test_swaps_that_leave_a_correlation_undefined_count_as_extreme():
    """Predictions 0 1 and 1 0: of 4 swaps, two leave each system with one value, and two give 2 and -2."""
    for coefficient in COEFFICIENTS.values():
        m = pair_matrix([[0, 1], [1, 0]], [0, 1], coefficient)
        assert run(m, alternative="greater").p_value == 3 / 4
        assert run(m, alternative="two-sided").p_value == 1
        with mock.patch.object(permutation, "ENUMERATED", 0):
            assert run(m, alternative="greater", resamples=4000).p_value == pytest.approx(3 / 4, abs=0.03)


def test_systems_that_are_one_on_another_scale_have_p_1():
    x, y = noisy(8, n=50)
    share = np.round(x[:, :1], 3)
    per_cent = np.round(100 * share, 1)
    for alternative in ALTERNATIVES:
        found = run(pair_matrix(np.concatenate([share, per_cent], axis=1), y), alternative=alternative)
        assert (found.p_value, found.method, found.n_discordant) == (1.0, "exact", 50)
        monotone = pair_matrix(np.concatenate([share, np.exp(share)], axis=1), y, SPEARMAN)
        assert run(monotone, alternative=alternative).p_value == 1.0
        for other in (x[:, :1], 3 * x[:, :1] - 1):
            found = run(pair_matrix(np.concatenate([x[:, :1], other], axis=1), y), alternative=alternative)
            assert (found.p_value, found.method) == (1.0, "exact")


def test_nearly_uncorrelated_systems_tie_with_themselves():
    """Both correlations are rounding, below which no difference counts: every swap of 17 items ties at least once."""
    y = np.array([*range(1, 10), *range(-9, 0)], dtype=float)
    x = np.stack([np.abs(y), y**2], axis=1)
    m = pair_matrix(x, y)
    assert np.abs(m.scores()).max() < 1e-15
    assert run(m, resamples=500).p_value == 1


def test_the_direction_of_the_metric_and_of_the_pair():
    x, y = noisy(9)
    m, lower = pair_matrix(x, y), pair_matrix(x, y, lower_is_better=True)
    options = {"resamples": 2000, "seed": 3}
    greater, less = (run(m, alternative=side, **options).p_value for side in ("greater", "less"))
    assert greater < 0.05 < less
    assert run(m, (1, 0), alternative="less", **options).p_value == greater
    assert run(lower, alternative="less", **options).p_value == greater
    assert run(lower, **options).difference == -run(m, **options).difference


@coefficients
def test_nothing_depends_on_blocks_systems_or_threads(coefficient, monkeypatch):
    """Neither p-values nor resampled scores, to the last bit."""
    x, y = noisy(10, n=50, systems=4)
    m, some = pair_matrix(x, y, coefficient), pair_matrix(x[:, [1, 2]], y, coefficient)

    def everything(m, pairs, workers):
        options = Settings(resamples=700, execution=Execution(workers=workers))
        found = Permutation().run(m, pairs, options)
        return repr(list(found)), np.concatenate(list(resample_correlations(m, options)))

    results, scores = everything(m, [(0, 1), (2, 3), (1, 2)], None)
    one, two = everything(some, [(0, 1)], None)
    assert one[1:-1] in results
    assert np.array_equal(two, scores[:, [1, 2]])
    monkeypatch.setattr(correlated, "_CELLS", 1000)
    monkeypatch.setattr(correlated, "_TOGETHER", draws.BLOCK)
    again, same = everything(pickle.loads(pickle.dumps(m)), [(0, 1), (2, 3), (1, 2)], 1)
    assert again == results
    assert np.array_equal(same, scores)


@coefficients
@pytest.mark.parametrize("units", [None, np.arange(30) // 3])
def test_jackknife_leaves_out_a_unit_at_a_time(coefficient, units):
    x, y = noisy(11, n=30)
    m = pair_matrix(x, y, coefficient, units=units)
    of = np.arange(30) if units is None else units
    expected = [[reference(coefficient, column[of != unit], y[of != unit]) for column in x.T]
                for unit in range(m.n_units)]
    np.testing.assert_allclose(m.jackknife(), expected, atol=1e-12)


def test_a_matrix_of_pairs_has_no_sums():
    x, y = noisy(12, systems=3)
    m = pair_matrix(x, y, SPEARMAN, units=np.arange(60) // 2)
    assert m.by_unit is m
    assert (m.n_units, m.select_systems([2, 0]).coefficient) == (30, SPEARMAN)
    np.testing.assert_array_equal(m.select_systems([2, 0]).scores(), m.scores()[[2, 0]])
    assert not isinstance(m, StatisticMatrix)
    assert not hasattr(m, "score")


def test_clusters_are_the_units():
    """20 clusters of two copies of an item: twice as many items tell no more than the 20."""
    x, y = noisy(15, n=20)
    x[0, 1] = x[0, 0]
    m = pair_matrix(np.repeat(x, 2, axis=0), np.repeat(y, 2), units=np.repeat(np.arange(20), 2))
    for test in (Permutation(), Bootstrap()):
        found, alone = (test.run(m, [(0, 1)], Settings(resamples=500))[0] for m in (m, pair_matrix(x, y)))
        assert found.p_value == alone.p_value
        assert (found.n_units, found.n_discordant) == (20, 19)
    assert measure_design_effect(m, (0, 1)).design_effect == pytest.approx(2 * 39 / 38, rel=0.05)


def test_tests_of_sums_refuse_correlations():
    m = pair_matrix(*noisy(16))
    for name, test in TESTS.items():
        if name not in ("permutation", "bootstrap", "williams", "steiger"):
            assert test().refusal(m).startswith(f"{name} does not support correlations")
    random = replace(m, runs=(np.zeros((60, 2, 2)), np.zeros((60, 3, 2))))
    assert Permutation().refusal(random).startswith("correlations do not support random runs")


@coefficients
def test_step_down_rests_on_the_same_swaps(coefficient):
    m = pair_matrix(*noisy(17, n=30, systems=4), coefficient)
    pairs = list(itertools.combinations(range(4), 2))
    options = Settings(resamples=400, seed=2)
    raw = [r.p_value for r in Permutation().run(m, pairs, options)]
    found = adjust_min_p(draw_differences(m, pairs, options, "permutation"))
    np.testing.assert_allclose(found.raw, raw, rtol=1e-12)
    assert (found.adjusted >= found.raw).all()
