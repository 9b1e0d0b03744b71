"""Effect sizes: published figures, the binomial test, theory, exact coverage, degenerate input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.messages import Messages
from registry.significance.distributions import tango_interval
from registry.significance.effects import measure_counts
from tests.significance.effects.observed_effects import by_name, of_counts, of_scores
from tests.significance.matrices import matrix, of_labels


def test_standardized_difference_covers():
    """Of normal gains with d_z = 0.4, 95 % of the intervals hold it."""
    rng, covered, runs = np.random.default_rng(11), 0, 600
    for gains in rng.normal(0.4, 1, (runs, 12)):
        e = by_name(of_scores(gains, np.zeros(12)))["standardized_difference"]
        covered += e.low <= 0.4 <= e.high
        assert e.value == pytest.approx(gains.mean() / gains.std(ddof=1))
    assert covered / runs == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / runs))


def test_signs_follow_the_better_system():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 6, (2, 40))
    plain, swapped, lower = (by_name(of_scores(a, b)), by_name(of_scores(b, a)),
                             by_name(of_scores(a, b, lower_is_better=True)))
    assert swapped == lower
    for name, mirror in {"standardized_difference": lambda x: -x, "odds_ratio": lambda x: 1 / x,
                         "probability_of_superiority": lambda x: 1 - x}.items():
        found = plain[name].value, plain[name].low, plain[name].high
        other = swapped[name].value, swapped[name].high, swapped[name].low
        assert [mirror(x) for x in found] == pytest.approx(other, rel=1e-9)


@given(st.integers(0, 30), st.integers(0, 30))
def test_odds_ratio_is_that_of_the_binomial_test(only_a, only_b):
    found = by_name(of_counts(only_a, only_b, only_a + only_b + 3))["odds_ratio"]
    if not only_a + only_b:
        assert math.isnan(found.value)
        assert (found.low, found.high) == (0, math.inf)
        assert found.messages
        return
    exact = stats.binomtest(only_a, only_a + only_b).proportion_ci(0.95, "exact")
    odds = [p / (1 - p) if p < 1 else math.inf for p in (only_a / (only_a + only_b), exact.low, exact.high)]
    assert (found.value, found.low, found.high) == pytest.approx(odds, rel=1e-9)


def test_proportions_are_for_units_that_are_right_or_wrong():
    found = by_name(of_counts(1, 7, 21))["proportion_difference"]
    assert (found.value, found.low, found.high) == pytest.approx((-6 / 21, -0.5172, -0.0260), abs=5e-5)
    lower = by_name(of_counts(1, 7, 21, lower_is_better=True))["proportion_difference"]
    assert (lower.value, lower.low, lower.high) == pytest.approx((6 / 21, 0.0260, 0.5172), abs=5e-5)
    assert "proportion_difference" not in by_name(of_scores([1, 2, 0], [1, 1, 1]))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_superiority_counts_ties_half(units):
    found = by_name(of_scores(*np.array(units, dtype=float).T))["probability_of_superiority"]
    assert found.value == pytest.approx(np.mean([(a > b) + (a == b) / 2 for a, b in units]), rel=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.simulation
@pytest.mark.parametrize(("better", "worse"), [(0.25, 0.25), (0.4, 0.1), (0.05, 0.15), (0.6, 0.35), (0.02, 0.02)])
def test_coverage_of_superiority_is_near_its_level(better, worse):
    """Exact, by enumeration of the multinomial of 40 units; 93 to 99.5 %, the more the rarer discordant units are."""
    n, covered = 40, 0.0
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            p = stats.multinomial.pmf([wins, losses, n - wins - losses], n, [better, worse, 1 - better - worse])
            if p > 1e-7:
                low, high = tango_interval(wins, losses, n, 0.95)
                covered += p * ((1 + low) / 2 <= (1 + better - worse) / 2 <= (1 + high) / 2)
    assert 0.93 <= covered <= 0.995
    assert covered < 0.97 or better + worse < 0.1


def test_identical_systems_have_no_effect():
    found = by_name(of_labels([(1, 1), (0, 0), (1, 1)]))
    assert (found["standardized_difference"].value, found["proportion_difference"].value) == (0, 0)
    assert found["probability_of_superiority"].value == 0.5
    assert found["probability_of_superiority"].low < 0.5 < found["probability_of_superiority"].high
    assert math.isnan(found["odds_ratio"].value)
    assert all(found[name].messages for name in ("standardized_difference", "odds_ratio"))


def test_constant_and_single_gains_have_no_standardized_difference():
    for m in (of_scores([0.5, 0.3, 0.9], [0.4, 0.2, 0.8]), of_scores([2], [1])):
        found = by_name(m)["standardized_difference"]
        assert math.isnan(found.value)
        assert math.isnan(found.low)
        assert "constant-difference" in found.messages.codes


def test_undefined_units_are_left_out():
    rows = [[[1, 1], [0, 1]], [[0, 0], [1, 1]], [[1, 1], [1, 1]]]
    found = by_name(matrix(rows))
    assert found["proportion_difference"].value == 1 / 2
    assert found["probability_of_superiority"].messages == Messages.make("units-left-out", units=1)
    assert "effect-of-units" in found["proportion_difference"].messages.codes
    assert "effect-of-units" in found["standardized_difference"].messages.codes
    nothing = by_name(matrix([[[0, 0], [1, 1]]]))
    assert all(math.isnan(e.value) and e.messages for e in nothing.values())


def test_effects_of_many_pairs_are_those_of_each():
    """Tables with empty cells, and no units at all, among them."""
    only_a, only_b = (side.ravel() for side in np.meshgrid(np.arange(9), np.arange(9)))
    n = only_a + only_b + only_a % 3 * 7
    together = measure_counts(only_a, only_b, n, 0.9)
    for name, columns in together.items():
        for at, table in enumerate(zip(only_a, only_b, n, strict=True)):
            alone = measure_counts(*map(np.array, table), 0.9)[name]
            assert [float(column[at]) for column in columns] == pytest.approx(
                [float(number) for number in alone], rel=1e-15, nan_ok=True)
