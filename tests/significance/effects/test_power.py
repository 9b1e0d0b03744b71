"""Power, type S and type M errors: closed forms, other programs, and tests of simulated test sets."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from registry.significance import Bootstrap, McNemar, Permutation, Settings, StatisticMatrix
from registry.significance.pairwise.matched import log_sign_p
from registry.significance.power import BootstrapDesign, ExactMcNemar, MatchedTDesign, compute_discordance
from tests.significance.matrices import F1, f1, matrix


def brute_mcnemar(n, only_a, only_b, alpha):
    """Every table of a right alone, b right alone, neither."""
    power = wrong = size = 0.0
    for i in range(n + 1):
        for j in range(n + 1 - i):
            if stats.binomtest(i, i + j).pvalue <= alpha if i + j else False:
                p = stats.multinomial.pmf([i, j, n - i - j], n, [only_a, only_b, 1 - only_a - only_b])
                power, wrong, size = power + p, wrong + p * (i < j), size + p * abs(i - j) / n
    return power, wrong / power, size / power / (only_a - only_b)


@pytest.mark.parametrize(("n", "only_a", "only_b", "alpha"), [(12, 0.5, 0.2, 0.05), (30, 0.2, 0.15, 0.2)])
def test_mcnemar_counts_every_table(n, only_a, only_b, alpha):
    found = ExactMcNemar(alpha, only_a + only_b).compute_power(only_a - only_b, n)
    assert (found.power, found.wrong_sign, found.exaggeration) == pytest.approx(
        brute_mcnemar(n, only_a, only_b, alpha), rel=1e-9)


def test_t_is_that_of_statsmodels():
    design = MatchedTDesign(0.05, 2.0)
    assert design.compute_power(1.0, 10).power == pytest.approx(TTestPower().power(0.5, 10, 0.05), abs=1e-8)
    assert design.find_detectable(10, 0.8) == pytest.approx(2 * TTestPower().solve_power(None, 10, 0.05, 0.8), rel=1e-4)
    assert design.find_units(1.0, 0.8) == math.ceil(TTestPower().solve_power(0.5, None, 0.05, 0.8))


def test_gelman_and_carlin_s_example():
    """Beauty and sex ratio: an effect of 0.1 with a standard error of 3.28 has power 0.05, type S 0.46, type M 77.

    Gelman and Carlin 2014 ("Design calculations", 1000s of degrees of freedom).
    """
    n = 10**6
    found = MatchedTDesign(0.05, 3.28 * math.sqrt(n)).compute_power(0.1, n)
    assert (round(found.power, 2), round(found.wrong_sign, 2), round(found.exaggeration)) == (0.05, 0.46, 77)


def simulated(reject, difference):
    """The rejection rate of test sets, type S and type M, with four standard errors of the rate."""
    rejected, gains = reject
    rate = rejected.mean()
    return rate, (gains[rejected] < 0).mean(), np.abs(gains[rejected]).mean() / difference, 4 * np.sqrt(
        rate * (1 - rate) / len(rejected))


@pytest.mark.simulation
@pytest.mark.parametrize("difference", [0.02, 0.06])
def test_of_right_and_wrong_the_predicted_rate_is_that_of_simulated_tests(difference):
    """20 000 test sets of 300 items, tested by McNemar's exact test as `compare` does."""
    rng, n, apart = np.random.default_rng(1), 300, 0.2
    a, b, _ = rng.multinomial(n, [(apart + difference) / 2, (apart - difference) / 2, 1 - apart], 20_000).T
    rate, wrong, size, error = simulated((log_sign_p(a, b, "two-sided") <= math.log(0.05), (a - b) / n), difference)
    found = ExactMcNemar(0.05, apart).compute_power(difference, n)
    assert found.power == pytest.approx(rate, abs=error)
    assert abs(found.power - rate) < 0.02
    assert found.wrong_sign == pytest.approx(wrong, abs=0.01)
    assert found.exaggeration == pytest.approx(size, rel=0.03)


def spans(rng, n, easier=0.0):
    """Two systems' spans in n items that are easy or hard for both; the first finds more by `easier`."""
    gold, ease = rng.poisson(3, n) + 1, rng.beta(4, 2, n)
    systems = []
    for more in (easier, 0.0):
        hits = rng.binomial(gold, np.clip(ease + more, 0, 1))
        systems.append(np.stack([hits, hits + rng.poisson(1, n), gold], axis=-1))
    return StatisticMatrix(np.stack(systems, axis=1).astype(float), f1, quotient=F1)


@pytest.mark.simulation
def test_of_f1_the_predicted_rate_is_that_of_simulated_tests():
    """From one board of 4000 items, what 500 test sets of 200 show, whose truth is that of 10^6 items.

    Tested by the paired bootstrap of 400 resamples, which 50 test sets share; the band is 2 points and four standard
    errors of 500 tests.
    """
    rng = np.random.default_rng(2)
    board, truth = spans(rng, 4000, 0.04), spans(rng, 10**6, 0.04).scores()
    difference = float(truth[0] - truth[1])
    scores = board.score(np.stack([board.statistics[rng.integers(0, 4000, 4000)].sum(axis=0) for _ in range(4000)]))
    moves = scores @ [1, -1] - board.scores() @ [1, -1]
    found = BootstrapDesign(0.05, moves, 4000).compute_power(difference, 200)
    pairs, rejected = [(n, n + 1) for n in range(0, 100, 2)], []
    for seed in range(10):
        sets = np.concatenate([spans(rng, 200, 0.04).statistics for _ in pairs], axis=1)
        tested = Bootstrap().run(StatisticMatrix(sets, f1, quotient=F1), pairs, Settings(resamples=400, seed=seed))
        rejected += [result.p_value <= 0.05 for result in tested]
    assert 0.2 < np.mean(rejected) < 0.8  # where the rate tells most
    assert found.power == pytest.approx(np.mean(rejected), abs=0.02 + 4 * 0.5 / math.sqrt(500))


def test_draws_that_are_normal_have_the_power_of_t():
    rng, exact = np.random.default_rng(3), MatchedTDesign(0.05, 1.0)
    drawn = BootstrapDesign(0.05, rng.normal(0, 1 / math.sqrt(2000), 200_000), 2000)
    for difference, units in ((0.05, 2000), (0.05, 500), (0.1, 2000)):
        one, other = drawn.compute_power(difference, units), exact.compute_power(difference, units)
        assert (one.power, one.exaggeration) == (
            pytest.approx(other.power, abs=0.006), pytest.approx(other.exaggeration, rel=0.01))
    assert drawn.find_detectable(2000, 0.8) == pytest.approx(exact.find_detectable(2000, 0.8), rel=0.01)
    assert drawn.find_units(0.05, 0.8) == pytest.approx(exact.find_units(0.05, 0.8), rel=0.02)


@pytest.mark.parametrize("design", [ExactMcNemar(0.05, 0.2), MatchedTDesign(0.05, 0.5), BootstrapDesign(
    0.05, np.random.default_rng(4).normal(0, 0.03, 10_000), 100)], ids=["mcnemar", "t", "drawn"])
def test_what_is_detectable_and_needed_has_the_power(design):
    difference = design.find_detectable(150, 0.8)
    assert design.compute_power(difference, 150).power == pytest.approx(0.8, abs=0.002)
    assert design.compute_power(0.9 * difference, 150).power < 0.8
    needed = design.find_units(difference / 2, 0.8)
    enough, too_few = (design.compute_power(difference / 2, n).power for n in (needed, needed - 1))
    assert enough >= 0.8 > too_few
    assert design.find_units(0.0, 0.8) is None


def test_no_power_at_all():
    assert math.isnan(ExactMcNemar(0.05, 0.5).find_detectable(4, 0.8))  # 2 2^-4 is above 0.05
    none = ExactMcNemar(0.05, 0.5).compute_power(0.3, 4)
    assert none.power == 0
    assert math.isnan(none.exaggeration)
    assert MatchedTDesign(0.05, 1.0).compute_power(0.5, 1).power == 0
    assert ExactMcNemar(0.05, 0.2).find_units(1.5, 0.8) is None


def test_discordance_of_rates():
    """By hand: rates of 0.8 and 0.7; independent 0.8 0.3 + 0.2 0.7; one contains the other: 0.1."""
    assert compute_discordance(0.8, 0.7, 0) == pytest.approx(0.38)
    most = (0.7 - 0.56) / math.sqrt(0.8 * 0.2 * 0.7 * 0.3)
    assert compute_discordance(0.8, 0.7, most) == pytest.approx(0.1)
    with pytest.raises(ValueError, match=f"to {most:.2f}"):
        compute_discordance(0.8, 0.7, 0.9)


def test_mcnemar_is_permutation_there():
    """So that the design says of the default test what it says of McNemar's."""
    rng = np.random.default_rng(5)
    right = rng.integers(0, 2, (60, 2)).astype(float)
    m = matrix(np.stack([right, np.ones_like(right)], axis=-1))
    (one,), (other,) = (test.run(m, [(0, 1)], Settings()) for test in (McNemar(), Permutation()))
    assert one.p_value == pytest.approx(other.p_value, rel=1e-12)
