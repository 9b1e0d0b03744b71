"""Drawn systems: rates, correlations and hardness as declared, and tests of them as power predicts."""

import math

import numpy as np
import pytest
from scipy import stats

from registry.errors import InputError
from registry.significance.pairwise.matched import log_sign_p
from registry.significance.power import ExactMcNemar, compute_discordance, draw_correct, solve_latent_correlation

RATES = np.array([0.85, 0.7, 0.5])


def alike(correlation, systems=3):
    """The same correlation of every two systems."""
    return np.full((systems, systems), correlation)


@pytest.mark.parametrize(("first", "second", "correlation"), [(0.8, 0.6, 0.4), (0.5, 0.5, -0.6), (0.95, 0.9, 0.1)])
def test_latent_correlations_give_the_ones_that_are_asked_for(first, second, correlation):
    rho = solve_latent_correlation(first, second, correlation)
    both = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf(stats.norm.ppf([first, second]))
    spread = math.sqrt(first * (1 - first) * second * (1 - second))
    assert (both - first * second) / spread == pytest.approx(correlation, abs=1e-6)


@pytest.mark.parametrize(("first", "second", "correlation"), [(0.5, 0.5, 1 - 2e-9), (0.8, 0.79, 0.9697802)])
def test_correlations_next_to_the_largest_one_are_refused_as_those_beyond(first, second, correlation):
    """0.79 and 0.8 are right together in 0.79 of the items at most: r up to 0.79 (1 - 0.8) / 0.162923 = 0.96978."""
    with pytest.raises(InputError, match="have a correlation between"):
        solve_latent_correlation(first, second, correlation)


def test_at_equal_rates_of_a_half_it_is_sheppard_s():
    """1/4 + arcsin(rho) / (2 pi) of the items are right for both, so r = 2 arcsin(rho) / pi (Sheppard 1899)."""
    assert solve_latent_correlation(0.5, 0.5, 0.3) == pytest.approx(math.sin(0.3 * math.pi / 2), abs=1e-10)


def test_rates_and_correlations_are_as_declared():
    """Within four standard errors of 100 000 items."""
    right = draw_correct(RATES, alike(0.35), np.arange(100_000.0), 1)
    assert right.mean(axis=0) == pytest.approx(RATES, abs=4 * 0.5 / math.sqrt(100_000))
    assert np.corrcoef(right.T)[np.triu_indices(3, 1)] == pytest.approx([0.35] * 3, abs=4 / math.sqrt(100_000))


def test_every_pair_has_its_own_correlation():
    """Within four standard errors of 100 000 items."""
    wanted = np.array([[1, 0.6, 0.1], [0.6, 1, 0.3], [0.1, 0.3, 1]])
    right = draw_correct(RATES, wanted, np.arange(100_000.0), 1)
    assert right.mean(axis=0) == pytest.approx(RATES, abs=4 * 0.5 / math.sqrt(100_000))
    upper = np.triu_indices(3, 1)
    assert np.corrcoef(right.T)[upper] == pytest.approx(wanted[upper], abs=4 / math.sqrt(100_000))


def test_items_that_are_drawn_are_as_hard_as_they_happen_to_be():
    """Scores of test sets of items drawn from given ones deviate as those of independent items do.

    Within four standard errors of 1000 test sets. On the same items they deviate by less, as luck is then only the
    systems'.
    """
    rng = np.random.default_rng(1)
    ease = rng.random(400)

    def deviation(drawn):
        return np.std([draw_correct(RATES, alike(0.4), ease, seed, rng.integers(0, 400, 400) if drawn else None)
                       .mean(axis=0) for seed in range(1000)], axis=0)

    binomial = np.sqrt(RATES * (1 - RATES) / 400)
    assert deviation(True) == pytest.approx(binomial, rel=4 / math.sqrt(2000))
    assert (deviation(False) < 0.8 * binomial).all()


def test_items_are_as_hard_as_the_given_ones():
    """Easier items are got right by more systems; among equals, ties do not lean to either end."""
    ease = np.repeat([3.0, 1.0, 2.0], 2000)
    right = draw_correct(RATES, alike(0.35), ease, 2)
    shares = [right[ease == value].mean() for value in (1, 2, 3)]
    assert shares[0] + 0.2 < shares[1] < shares[2] - 0.15
    tied = draw_correct(RATES, alike(0.35), np.zeros(6000), 3)
    assert tied[:3000].mean() == pytest.approx(tied[3000:].mean(), abs=0.03)


def test_a_seed_draws_the_same():
    one, other = (draw_correct(RATES, alike(0.2), np.arange(50.0), seed) for seed in (1, 2))
    assert (one == draw_correct(RATES, alike(0.2), np.arange(50.0), 1)).all()
    assert (one != other).any()


@pytest.mark.parametrize(("rates", "correlation", "said"), [
    ((0.9, 0.3), 0.8, "have a correlation between"),
    ((0.5, 0.5, 0.5), -0.7, "cannot have these correlations together")])
def test_what_cannot_be(rates, correlation, said):
    with pytest.raises(InputError, match=said):
        draw_correct(np.array(rates), alike(correlation), np.zeros(10), 1)


def test_two_systems_that_go_with_a_third_go_with_each_other():
    """Among rates of a half, 0.9 with each of two leaves their latent correlation above 2 sin(0.45 pi)^2 - 1 > 0.9."""
    correlations = np.array([[1, 0.9, 0.9], [0.9, 1, 0.5], [0.9, 0.5, 1]])
    with pytest.raises(InputError, match="cannot have these correlations together"):
        draw_correct(np.full(3, 0.5), correlations, np.zeros(10), 1)


@pytest.mark.simulation
@pytest.mark.parametrize(("rates", "correlation", "n"), [((0.8, 0.75), 0.5, 500), ((0.7, 0.6), 0.2, 200)])
def test_power_predicts_how_often_tests_of_them_reject(rates, correlation, n):
    """3000 test sets, tested by exact McNemar; the band is 2 points and three standard errors."""
    counts = []
    for seed in range(3000):
        a, b = draw_correct(np.array(rates), alike(correlation, 2), np.zeros(n), seed).T
        counts.append((np.count_nonzero(a & ~b), np.count_nonzero(b & ~a)))
    rejected = (log_sign_p(*np.array(counts).T, "two-sided") <= math.log(0.05)).mean()
    predicted = ExactMcNemar(0.05, compute_discordance(*rates, correlation)).compute_power(rates[0] - rates[1], n).power
    assert predicted == pytest.approx(rejected, abs=0.02 + 3 * 0.5 / math.sqrt(3000))
