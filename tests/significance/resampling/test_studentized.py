"""The studentized permutation test and the bootstrap-t, by their definition over all swaps and all resamples."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings

from registry.significance import Bootstrap, Execution, Permutation, Settings, StatisticMatrix
from tests.significance.matrices import alternatives, matrix, own_denominators, permuted, uneven

EXTREMITY = {"two-sided": abs, "greater": lambda t: t, "less": lambda t: -t}


def statistic(units):
    """The difference of two quotients, over the root of the summed squares of the units' influences on it."""
    (n_a, d_a), (n_b, d_b) = np.asarray(units, dtype=float).transpose(1, 2, 0)
    if not d_a.sum() or not d_b.sum():
        return math.nan, math.nan
    f, g = n_a.sum() / d_a.sum(), n_b.sum() / d_b.sum()
    influence = (n_a - f * d_a) / d_a.sum() - (n_b - g * d_b) / d_b.sum()
    error = math.sqrt((influence**2).sum())
    return f - g, error if error > 1e-9 else 0.0


def divided(difference, error):
    if math.isnan(difference) or (abs(difference) < 1e-14 and not error):
        return difference if math.isnan(difference) else 0.0
    return difference / error if error else math.copysign(math.inf, difference)


def as_extreme(t, bar):
    return not t < bar - 1e-9 * abs(bar) if math.isfinite(bar) else not t < bar


@given(own_denominators, alternatives)
@settings(deadline=None)
def test_every_swap_of_few_units(units, alternative):
    (found,) = Permutation(studentized=True).run(matrix(units), [(0, 1)], Settings(alternative))
    if not found.n_discordant:
        assert found.p_value == 1
        return
    turn = EXTREMITY[alternative]
    bar = turn(divided(*statistic(units)))
    swapped = [[unit[::-1] if swap else unit for unit, swap in zip(units, swaps, strict=True)]
               for swaps in itertools.product((0, 1), repeat=len(units))]
    expected = np.mean([as_extreme(turn(divided(*statistic(s))), bar) for s in swapped])
    assert found.method == "exact"
    assert found.p_value == pytest.approx(expected, abs=1e-12)


def test_a_mean_is_ranked_by_its_studentized_difference_as_by_itself():
    """Swaps leave the sum of squares as it is, so the two tests are one."""
    rows = [[[a, 1], [b, 1]] for a, b in np.random.default_rng(2).integers(0, 5, (14, 2))]
    for alternative in EXTREMITY:
        plain, studentized = (test.run(matrix(rows), [(0, 1)], Settings(alternative))[0]
                              for test in (Permutation(), Permutation(studentized=True)))
        assert plain.p_value == studentized.p_value


def test_drawn_swaps_agree_with_the_mirror_pair_and_with_more_memory():
    m = matrix(uneven(5, units=60, systems=4))
    pairs, options = [(0, 1), (2, 3), (1, 0)], Settings(resamples=4000, seed=3)
    first = Permutation(studentized=True).run(m, pairs, options)
    assert first[0].method == "monte-carlo"
    assert first[0].p_value == first[2].p_value
    small = replace(options, execution=Execution(memory=1, workers=1))
    assert Permutation(studentized=True).run(m, pairs, small) == first
    assert Permutation(studentized=True).run(m, pairs[1:2], options) == first[1:2]


@pytest.mark.slow
@given(own_denominators, alternatives)
@example([[[0, 1], [0, 4]], [[0, 2], [4, 4]], [[1, 3], [3, 4]]], "two-sided")  # the last alone gives the difference
@settings(max_examples=15, deadline=None)
def test_bootstrap_t_agrees_with_all_resamples(units, alternative):
    units = units[:5]
    difference, error = statistic(units)
    assume(len(units) > 1 and error > 0)
    (found,) = Bootstrap("studentized").run(matrix(units), [(0, 1)], Settings(alternative, 4000))
    turn, bar = EXTREMITY[alternative], EXTREMITY[alternative](difference / error)
    drawn = []
    for chosen in itertools.product(range(len(units)), repeat=len(units)):
        d, e = statistic([units[n] for n in chosen])
        drawn.append(as_extreme(turn(divided(d - difference, e)), bar))
    expected = np.mean(drawn)
    deviation = math.sqrt(max(expected * (1 - expected), 1e-4) / 4000)
    assert abs(found.p_value - (4000 * expected + 1) / 4001) < 6 * deviation
    assert found.statistic == pytest.approx(abs(difference / error))


@pytest.mark.parametrize("alternative", list(EXTREMITY))
def test_the_interval_of_the_bootstrap_t_leaves_out_0_just_when_it_is_significant(alternative):
    m = matrix(uneven(11, units=40, systems=3))
    for pair in itertools.permutations(range(3), 2):
        for alpha in (0.01, 0.05, 0.2, 0.5, 0.731):
            (found,) = Bootstrap("studentized").run(
                m, [pair], Settings(alternative, 999, confidence=1 - alpha))
            assert (found.ci_low > 0 or found.ci_high < 0) == (found.p_value <= alpha)


def test_the_error_is_that_of_many_resamples():
    """The linearized standard error against the deviation of the resampled difference, of 400 units."""
    m = matrix(uneven(8, units=400, systems=2))
    (found,) = Bootstrap("studentized").run(m, [(0, 1)], Settings(resamples=2000))
    (plain,) = Bootstrap().run(replace(m, quotient=None), [(0, 1)], Settings(resamples=20_000, interval="percentile"))
    assert abs(found.difference) / found.statistic == pytest.approx((plain.ci_high - plain.ci_low) / 2 / 1.96, rel=0.05)


def test_berg_kirkpatrick_counts_gains_more_than_twice_as_large():
    """Figure 1 of the paper over all resamples of 5 units: p = s / b, whichever system is named first."""
    units = [[[2, 3], [1, 3]], [[0, 2], [1, 2]], [[3, 3], [0, 3]], [[1, 4], [1, 4]], [[2, 2], [1, 2]]]
    a, b = np.array(units, dtype=float).transpose(1, 0, 2)
    d = a.sum(axis=0)[0] / a.sum(axis=0)[1] - b.sum(axis=0)[0] / b.sum(axis=0)[1]
    more = []
    for chosen in itertools.product(range(5), repeat=5):
        (n, m), (k, l) = a[list(chosen)].sum(axis=0), b[list(chosen)].sum(axis=0)  # noqa: E741
        more.append(n / m - k / l > 2 * d + 1e-12)
    for pair in ((0, 1), (1, 0)):
        for alternative in EXTREMITY:
            (found,) = Bootstrap("berg-kirkpatrick-2012").run(matrix(units), [pair], Settings(alternative, 20_000))
            assert found.p_value == pytest.approx(np.mean(more), abs=5 * math.sqrt(0.25 / 20_000))
            assert found.p_value * 20_000 == pytest.approx(round(found.p_value * 20_000))
    sure = matrix([[[1, 1], [n == 0, 1]] for n in range(60)])
    (found,) = Bootstrap("berg-kirkpatrick-2012").run(sure, [(0, 1)], Settings(resamples=500))
    assert math.isnan(found.p_value)  # no resample has twice a gain of 59 / 60


def test_scores_that_are_no_quotients_are_refused():
    m = StatisticMatrix(np.ones((3, 2, 2)), lambda sums: sums[..., 0])
    for test in (Permutation(studentized=True), Bootstrap("studentized")):
        with pytest.raises(ValueError, match="quotient"):
            test.run(m, [(0, 1)], Settings())


def test_the_interval_is_in_units_of_the_score():
    """F1 = 2 tp / (predicted + gold): the 2 belongs to the interval, as it does to the plain bootstrap's."""
    rng = np.random.default_rng(4)
    gold = rng.poisson(2, (500, 1)).repeat(2, axis=1)
    hits = rng.binomial(gold, (0.7, 0.6))
    statistics = np.stack([hits, hits + rng.poisson(0.5, hits.shape), gold], axis=-1).astype(float)
    for quotient in (((2, 0, 0), (0, 1, 1)), ((100, 0, 0), (0, 1, 1)), ((3, 0, 0), (0, 6, 6))):
        over, under = (np.array(side) for side in quotient)
        m = StatisticMatrix(statistics, lambda s, o=over, u=under: (s @ o) / (s @ u), quotient=quotient)
        (studentized,), (plain,) = (test.run(m, [(0, 1)], Settings(resamples=4000)) for test in (
            Bootstrap("studentized"), Bootstrap()))
        assert plain.ci_high - plain.ci_low == pytest.approx(studentized.ci_high - studentized.ci_low, rel=0.1)
        assert (studentized.ci_low + studentized.ci_high) / 2 == pytest.approx(plain.difference)


def test_no_error_to_divide_by():
    constant = [[[1, 1], [0, 1]]] * 20
    (found,) = Bootstrap("studentized").run(matrix(constant), [(0, 1)], Settings(resamples=200))
    assert math.isnan(found.p_value)
    assert "constant-difference" in found.messages.codes
    assert permuted(matrix(constant)).p_value == 2**-19
    (swapped,) = Permutation(studentized=True).run(matrix(constant), [(0, 1)], Settings(resamples=200))
    assert swapped.p_value == 1 / 201


@pytest.mark.parametrize("shares", [((2, 3), (1, 10)), ((2, 3), (7, 11)), ((7, 11), (1, 3))])
def test_no_error_where_rounding_leaves_some(shares):
    """Every unit has its system's score, 2/3 say, which no float is: the error is 0 on paper."""
    for n in (3, 30, 100):
        constant = matrix([[[k * over, k * under] for over, under in shares] for k in range(1, n + 1)])
        (found,) = Bootstrap("studentized").run(constant, [(0, 1)], Settings(resamples=200))
        assert math.isnan(found.p_value)
        assert "constant-difference" in found.messages.codes


def test_resamples_of_one_unit_have_no_error():
    """Of two units every other resample takes one twice: infinitely many errors away, on both sides of 0."""
    for units in ([[[2, 17], [1, 11]], [[2, 6], [10, 9]]], [[[13, 11], [5, 7]], [[14, 12], [10, 7]]]):
        (found,) = Bootstrap("studentized").run(matrix(units), [(0, 1)], Settings(resamples=200))
        assert (found.ci_low, found.ci_high) == (-math.inf, math.inf)


def test_no_error_where_the_rounding_of_many_units_adds_up():
    fractions = np.round(np.array([49.7, 11.3]) * 2**30) / 2**30  # whose squares floats do not hold
    units = np.stack([np.broadcast_to(fractions, (40_000, 2)), np.ones((40_000, 2))], axis=-1)
    (found,) = Bootstrap("studentized").run(matrix(units), [(0, 1)], Settings(resamples=100))
    assert math.isnan(found.p_value)
