"""Step-down adjustment from joint draws: the closure it abbreviates, the tests whose draws it takes, and its error."""

import itertools
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from registry.parallel.execution import Execution
from registry.significance import Bootstrap, Permutation, Settings, StatisticMatrix
from registry.significance.multiple import (
    Draws,
    adjust,
    adjust_max_t,
    adjust_min_p,
    draw_differences,
    estimate_draw_bytes,
)
from registry.significance.pairwise import permutation

BOTH = pytest.mark.parametrize("method", [adjust_min_p, adjust_max_t])
ALTERNATIVES = ("two-sided", "greater", "less")


def draws(observed, drawn, *, block=3):
    """Draws of whole numbers, [draws][pairs], in blocks."""
    drawn = np.array(drawn, dtype=float)
    return Draws(np.array(observed, dtype=float), [drawn[at:at + block] for at in range(0, len(drawn), block)],
                 len(drawn), np.zeros(len(observed)))


@st.composite
def small(draw):
    """Observed extremities [pairs] and draws [draws][pairs] of them; no pair's draws are all the same and below."""
    pairs = draw(st.integers(1, 4))
    rows = st.lists(st.integers(0, 6), min_size=pairs, max_size=pairs)
    observed, drawn = draw(rows), draw(st.lists(rows, min_size=3, max_size=9))
    assume(all(len(set(column)) > 1 or column[0] >= bar for bar, column in zip(observed, zip(*drawn, strict=True),
                                                                             strict=True)))
    return observed, drawn


def closed(labellings, pair):
    """Test every set of pairs that holds this one by its most extreme statistic; the largest p-value (the closure).

    `labellings` are the comparable statistics [labellings][pairs], the larger the more extreme, the observed ones
    first.
    """
    pairs = range(len(labellings[0]))
    worst = Fraction(0)
    for size in range(1, len(pairs) + 1):
        for some in itertools.combinations(pairs, size):
            if pair in some:
                tops = [max(row[n] for n in some) for row in labellings]
                worst = max(worst, Fraction(sum(top >= tops[0] for top in tops), len(tops)))
    return float(worst)


@pytest.mark.slow
@given(small())
def test_min_p_is_the_closure_of_the_smallest_p_value(case):
    observed, drawn = case
    labellings = [observed, *drawn]
    less_p = [[-sum(other[n] >= row[n] for other in labellings) for n in range(len(observed))] for row in labellings]
    found = adjust_min_p(draws(observed, drawn))
    assert found.raw.tolist() == [-n / len(labellings) for n in less_p[0]]
    assert found.adjusted.tolist() == [closed(less_p, n) for n in range(len(observed))]


@given(small())
def test_max_t_is_the_closure_of_the_largest_studentized_difference(case):
    """Squares of what is studentized are compared as fractions: x^2 / (the mean square of the draws)."""
    observed, drawn = case
    squares = [Fraction(sum(row[n]**2 for row in drawn), len(drawn)) or Fraction(1) for n in range(len(observed))]
    t = [[row[n]**2 / squares[n] for n in range(len(observed))] for row in [observed, *drawn]]
    found = adjust_max_t(draws(observed, drawn))
    assert found.raw.tolist() == [closed([[row[n]] for row in t], 0) for n in range(len(observed))]
    assert found.adjusted.tolist() == [closed(t, n) for n in range(len(observed))]


def test_min_p_by_hand():
    """Of five labellings, pair 1 has the p-values 2 5 4 3 1 (fifths), pair 2 has 3 2 5 4 1: their minima are 2 2 4 3 1.

    Three of the minima do not exceed 2, the p-value of pair 1; three p-values of pair 2 alone do not exceed 3.
    """
    found = adjust_min_p(draws([50, 25], [[10, 30], [20, 10], [30, 20], [60, 60]]))
    assert found.raw.tolist() == [2 / 5, 3 / 5]
    assert found.adjusted.tolist() == [3 / 5, 3 / 5]
    assert adjust(found.raw, "holm").tolist() == [4 / 5, 4 / 5]


def test_max_t_by_hand():
    """Mean squares 25/4 and 625 give 2 and 1.4 observed, draws of 1.2 1.6 0 0 and 0 0 1.2 1.6: no maximum reaches 2.

    The largest raw differences would be 3 4 30 40, so that the noisy pair went first, and the other could not be below.
    """
    found = adjust_max_t(draws([5, 35], [[3, 0], [4, 0], [0, 30], [0, 40]]))
    assert found.raw.tolist() == [1 / 5, 2 / 5]
    assert found.adjusted.tolist() == [1 / 5, 2 / 5]


@pytest.mark.slow
@given(small())
def test_min_p_lies_between_the_raw_p_values_and_holm(case):
    found = adjust_min_p(draws(*case))
    assert (found.adjusted >= found.raw).all()
    assert (found.adjusted <= adjust(found.raw, "holm") + 1e-12).all()


@pytest.mark.slow
@BOTH
@given(case=small(), units=st.lists(st.integers(1, 30), min_size=2, max_size=4))
def test_copies_of_a_pair_cost_nothing_in_whatever_unit(method, case, units):
    observed, drawn = (np.array(part) for part in case)
    units = np.array(units) / 7
    found = method(draws(observed[0] * units, drawn[:, :1] * units))
    np.testing.assert_array_equal(found.adjusted, found.raw)


@pytest.mark.slow
@given(small())
@example(([2, 2, 2], [[1, 2, 2], [2, 1, 0], [0, 0, 1]]))  # what one pair has observed, another has in a draw
def test_the_scale_of_a_pair_does_not_matter(case):
    """To min-P no increasing function of a pair's extremity does, to max-T no factor; the raw maximum would obey it."""
    observed, drawn = (np.array(part) for part in case)
    factors = np.array([1, 1 / 7, 1000 / 3, 30])[:len(observed)]
    for method in (adjust_min_p, adjust_max_t):
        np.testing.assert_array_equal(
            method(draws(observed * factors, drawn * factors)).adjusted, method(draws(observed, drawn)).adjusted)
    np.testing.assert_array_equal(
        adjust_min_p(draws(observed**3 + observed, drawn**3 + drawn)).adjusted,
        adjust_min_p(draws(observed, drawn)).adjusted)


@pytest.mark.slow
@BOTH
@given(case=small(), block=st.integers(1, 9), rng=st.randoms(use_true_random=False))
def test_blocks_and_the_order_of_pairs_do_not_matter(method, case, block, rng):
    observed, drawn = (np.array(part) for part in case)
    order = list(range(len(observed)))
    rng.shuffle(order)
    there, here = method(draws(observed[order], drawn[:, order], block=block)), method(draws(observed, drawn))
    np.testing.assert_array_equal(there.raw, here.raw[order])
    np.testing.assert_array_equal(there.adjusted, here.adjusted[order])


@BOTH
def test_a_pair_that_never_differs_has_p_1_and_costs_nothing(method):
    rng = np.random.default_rng(0)
    drawn = abs(rng.normal(size=(99, 2)))
    alone = method(draws([2.5, 2.0], drawn))
    found = method(draws([2.5, 0, 2.0], np.insert(drawn, 1, 0, axis=1)))
    assert found.raw[1] == found.adjusted[1] == 1
    np.testing.assert_array_equal(found.adjusted[[0, 2]], alone.adjusted)


@BOTH
def test_an_undefined_pair_is_nan_and_counts_as_one_that_rejects_nothing(method):
    """Its draws are there, so that others are held against them, just as if its own difference were the least."""
    drawn = np.random.default_rng(1).normal(size=(99, 3))
    found, as_if = method(draws([np.nan, 2.4, -1.9], drawn)), method(draws([-9, 2.4, -1.9], drawn))
    assert np.isnan([found.raw[0], found.adjusted[0]]).all()
    np.testing.assert_array_equal(found.adjusted[1:], as_if.adjusted[1:])
    assert (found.adjusted[1:] > method(draws([2.4, -1.9], drawn[:, 1:])).adjusted).any()


@BOTH
def test_an_undefined_draw_is_more_extreme_than_any(method):
    drawn = [[1.0], [np.nan], [2.0], [0.5]]
    assert method(draws([100], drawn)).raw.tolist() == method(draws([100], drawn)).adjusted.tolist() == [2 / 5]


@BOTH
def test_draws_of_one_point_decide_nothing(method):
    """A bootstrap of a constant difference: every resample moves by nothing but rounding."""
    rng = np.random.default_rng(2)
    drawn = np.column_stack([np.full(50, 1e-17), abs(rng.normal(size=50))])
    found = method(Draws(np.array([0.3, 1.7]), [drawn], 50, np.full(2, 1e-12)))
    assert np.isnan([found.raw[0], found.adjusted[0]]).all()
    assert found.adjusted[1] == found.raw[1] == (1 + (drawn[:, 1] >= 1.7).sum()) / 51


@BOTH
def test_ties_hold_within_the_tolerance(method):
    noisy = [[0.3 - 1e-16], [0.1], [0.2], [0.3 - 1e-9]]
    found = method(Draws(np.array([0.1 + 0.2]), [np.array(noisy)], 4, np.array([1e-12])))
    assert found.raw.tolist() == [2 / 5]


def test_draws_tie_within_rounding_also_where_single_precision_takes_them_apart():
    """1 + 2^-24 lies between two numbers of single precision: a last digit more, and it goes to the upper one."""
    edge = 1 + 2.0**-24
    drawn = np.array([[edge, 1], [edge + 2.0**-52, 2], [0.1, 3], [0.2, 4]])
    assert len({np.float32(value) for value in drawn[:2, 0]}) == 2
    found = adjust_min_p(Draws(np.array([0.0, 9.0]), [drawn], 4, np.full(2, 1e-12)))
    assert found.adjusted.tolist() == [1, 1 / 5]  # no draw of the first pair is above all others


@BOTH
def test_no_pairs(method):
    assert method(draws([], np.empty((5, 0)))).adjusted.size == 0


def f_score(sums):
    """A score that is no quotient to the tests, so that they draw; undefined where there is nothing."""
    under = sums[..., 1] + sums[..., 2]
    return np.sqrt(np.divide(sums[..., 0], under, out=np.full(under.shape, np.nan), where=under != 0))


def spans(seed, *, items=40, systems=4, empty=0, **options):
    """A matrix of random spans; where most items are empty, some resamples have none at all."""
    rng = np.random.default_rng(seed)
    gold, predicted = rng.integers(0, 3, (items, 1)), rng.integers(0, 3, (items, systems))
    hits = rng.binomial(np.minimum(gold, predicted), 0.7)
    statistics = np.stack([hits, predicted, np.broadcast_to(gold, hits.shape)], axis=-1).astype(float)
    statistics[:empty] = 0
    return StatisticMatrix(statistics, f_score, **options)


@pytest.mark.parametrize(("kind", "test"), [("permutation", Permutation), ("bootstrap", Bootstrap)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("options", [
    {}, {"lower_is_better": True}, {"empty": 36}, {"items": 90, "units": np.arange(90) % 30}])
def test_raw_p_values_are_those_of_the_test(kind, test, alternative, options):
    m = spans(3, **options)
    pairs = list(itertools.permutations(range(4), 2))
    settings = Settings(alternative, resamples=700, seed=5)
    with mock.patch.object(permutation, "ENUMERATED", 0):  # draw also where few units differ
        expected = [result.p_value for result in test().run(m, pairs, settings)]
    for method in (adjust_min_p, adjust_max_t):
        found = method(draw_differences(m, pairs, settings, kind))
        np.testing.assert_array_equal(found.raw, expected)
        assert (found.adjusted >= found.raw).all()
    assert len(set(expected)) > 2


@pytest.mark.parametrize("kind", ["permutation", "bootstrap"])
def test_systems_that_are_equal_or_undefined(kind):
    """Systems 0 and 1 are the same; 2 has predicted nothing, and is scored on what it has predicted."""
    statistics = spans(4, systems=3).statistics.copy()
    statistics[:, 1] = statistics[:, 0]
    statistics[:, 2] = 0
    matrix = StatisticMatrix(statistics, f_score)
    found = adjust_min_p(draw_differences(matrix, [(0, 1), (0, 2)], Settings(resamples=300), kind))
    assert found.adjusted[0] == 1
    assert np.isnan(found.adjusted[1])


def test_workers_change_nothing():
    m, pairs = spans(6), list(itertools.combinations(range(4), 2))
    for kind, method in itertools.product(("permutation", "bootstrap"), (adjust_min_p, adjust_max_t)):
        found = [
            method(draw_differences(m, pairs, Settings(resamples=600, execution=Execution(workers)), kind)).adjusted
            for workers in (1, 3)]
        np.testing.assert_array_equal(*found)


@BOTH
def test_memory_is_what_is_said(method):
    """The kept draws, and some rows and a block beside them."""
    rng = np.random.default_rng(7)
    blocks = (abs(rng.normal(size=(100, 300))) for _ in range(50))
    given_ = Draws(rng.normal(size=300), blocks, 5000, np.zeros(300), Execution(workers=1))
    assert estimate_draw_bytes(300, 5000) == 4 * 300 * 5001
    tracemalloc.start()
    method(given_)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert estimate_draw_bytes(300, 5000) <= peak < 1.4 * estimate_draw_bytes(300, 5000)


def mean(sums):
    return sums[..., 0] / sums[..., 1]


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["permutation", "bootstrap"])
@pytest.mark.parametrize("better", [0.0, 3.0])
def test_family_wise_error(kind, better):
    """Four systems of unlike noise, or three and one far better: a true null is rejected in about 1 of 10 trials.

    300 trials at alpha = 0.1 have a standard deviation of 0.017: within 3.5 of them, [0.04, 0.16]. Holm's own rate is
    the lower one, as the pairs are dependent.
    """
    rng = np.random.default_rng(8)
    pairs = list(itertools.combinations(range(4), 2))
    null = [n for n, pair in enumerate(pairs) if not better or 3 not in pair]
    wrong = {"min_p": 0, "max_t": 0, "holm": 0}
    trials = 300
    for trial in range(trials):
        scores = rng.normal(size=(60, 4)) * [1, 1, 2, 5] + rng.normal(size=(60, 1)) + [0, 0, 0, better * 5]
        m = StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=-1), mean)
        settings = Settings(resamples=199, seed=trial, execution=Execution(workers=1))
        joint = draw_differences(m, pairs, settings, kind)
        joint = replace(joint, blocks=list(joint.blocks))  # for both
        by_p, by_t = adjust_min_p(joint), adjust_max_t(joint)
        for name, adjusted in (("min_p", by_p.adjusted), ("max_t", by_t.adjusted), ("holm", adjust(by_p.raw, "holm"))):
            wrong[name] += (adjusted[null] <= 0.1).any()
    assert 0.04 <= wrong["min_p"] / trials <= 0.16
    assert 0.04 <= wrong["max_t"] / trials <= 0.16
    assert wrong["holm"] <= wrong["min_p"]
