"""Tests against a margin: exact against all samples, and their errors at the margin."""

import math

import numpy as np
import pytest
from scipy.stats import multinomial

from registry.significance import COEFFICIENTS, PairMatrix, Settings
from registry.significance.base import Observed
from registry.significance.distributions import tango_statistic
from registry.significance.margins import (
    MIN_UNITS,
    MarginTests,
    betting_p_value,
    compare_with_margin,
    compute_error,
    compute_gains,
    count_needed_units,
    exact_p_value,
)
from registry.significance.matrix import StatisticMatrix


def samples(n):
    """All numbers of units that only A, and only B, gets right."""
    return np.array([(a, b) for b in range(n + 1) for a in range(n - b + 1)])


def probabilities(n, q, margin):
    """The probability of each sample if only B is right with probability q, and only A with q - margin."""
    cells = samples(n)
    p = max(0.0, q - margin)
    return multinomial.pmf(np.column_stack([cells, n - cells.sum(axis=1)]), n, [p, q, max(0.0, 1 - p - q)])


@pytest.mark.parametrize(("only_a", "only_b", "n", "margin"), [
    (5, 2, 20, 0.0), (3, 3, 20, 0.1), (2, 6, 25, 0.05), (0, 0, 25, 0.1), (10, 3, 25, -0.1), (20, 0, 20, 0.05)])
def test_the_exact_p_value_is_the_largest_sum_over_all_samples(only_a, only_b, n, margin):
    cells = samples(n)
    is_extreme = tango_statistic(*cells.T, n, -margin) >= tango_statistic(only_a, only_b, n, -margin) - 1e-9
    largest = max(probabilities(n, q, margin)[is_extreme].sum()
                  for q in np.linspace(max(0, margin), (1 + margin) / 2, 2001))
    assert exact_p_value(only_a, only_b, n, margin) == pytest.approx(largest, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_the_exact_test_errs_in_at_most_alpha_for_every_rate(margin):
    n, alpha = 22, 0.05
    passes = np.array([exact_p_value(a, b, n, margin) <= alpha for a, b in samples(n)])
    sizes = [probabilities(n, q, margin)[passes].sum() for q in np.linspace(margin, (1 + margin) / 2, 501)]
    assert max(sizes) <= alpha
    assert max(sizes) > 0.03  # and not by passing nothing


@pytest.mark.parametrize(("margin", "p"), [(1, 0.0), (-1, 1.0)])
def test_no_difference_exceeds_1(margin, p):
    assert exact_p_value(0, 5, 10, margin) == p


def matrix_of(values, **settings):
    """A matrix of two systems with sums of scores, [units, 2], and one denominator per unit."""
    statistics = np.stack([values, np.ones_like(values)], axis=-1)
    return StatisticMatrix(statistics, lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)), **settings)


def compare(matrix, margin, resamples=999):
    return compare_with_margin(Observed.compare(matrix, [(0, 1)])[0], margin, Settings(resamples=resamples, seed=1))


def test_the_kind_of_scores_chooses_the_test():
    rng = np.random.default_rng(1)
    right = (rng.random((200, 2)) < 0.7).astype(float)
    exact = compare(matrix_of(right, score_range=(0, 1)), 0.05)
    only_a, only_b = int((right[:, 0] > right[:, 1]).sum()), int((right[:, 1] > right[:, 0]).sum())
    assert (exact.method, exact.p_inferior) == ("exact", exact_p_value(only_a, only_b, 200, 0.05))
    assert exact.p_non_inferior == exact_p_value(only_b, only_a, 200, -0.05)
    grades = rng.integers(0, 5, (200, 2)).astype(float)
    assert compare(matrix_of(grades, score_range=(0, 4)), 0.1).method == "bounded"
    assert compare(matrix_of(grades), 0.1).method == "bootstrap-t"
    assert compare(matrix_of(grades[:MIN_UNITS - 1]), 0.1) is None
    constant = np.stack([grades[:, 0], grades[:, 0] + 1], axis=1)
    assert compare(matrix_of(constant), 0.1).p_non_inferior == 1, "a constant difference has no standard error"
    correlated = PairMatrix(np.stack([grades, grades[:, ::-1]], axis=-1), coefficient=COEFFICIENTS["pearson"])
    assert compare(correlated, 0.1) is None, "a correlation is not a function of sums over units"


@pytest.mark.parametrize("kind", ["exact", "bounded", "bootstrap-t"])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_ends_of_intervals_have_the_level_as_p_value(kind, level):
    rng = np.random.default_rng(3)
    values = (rng.random((120, 2)) < (0.6, 0.7)).astype(float) if kind == "exact" else rng.beta(2, 2, (120, 2))
    matrix = matrix_of(values, **({} if kind == "bootstrap-t" else {"score_range": (0, 1)}))
    tests = MarginTests.choose(Observed.compare(matrix, [(0, 1)])[0], Settings(resamples=9999, seed=1))
    assert tests.method == kind
    low, high = tests.find_interval(level, tests.compare(0.03))
    assert low < tests.observed.difference < high
    assert tests.p_inferior(-low) == pytest.approx(level, rel=0.05)
    assert tests.p_non_inferior(-high) == pytest.approx(level, rel=0.05)
    for margin in (-low, -high, -low + 0.01, -high - 0.01):
        test = tests.compare(margin)
        inside = tests.find_interval(level, test)
        assert (inside[0] > -margin) == (test.p_inferior <= level), "the interval agrees with the tests at any margin"
        assert (inside[1] < -margin) == (test.p_non_inferior <= level)


def test_a_constant_difference_has_no_interval():
    grades = np.random.default_rng(1).integers(0, 5, (200, 1)).astype(float)
    matrix = matrix_of(np.hstack([grades, grades + 1]))
    tests = MarginTests.choose(Observed.compare(matrix, [(0, 1)])[0], Settings(resamples=999, seed=1))
    assert tests.find_interval(0.05, tests.compare(0.1)) == (-math.inf, math.inf)


def test_directions_are_those_of_the_metric():
    rng = np.random.default_rng(2)
    errors = rng.integers(0, 5, (300, 2)).astype(float)
    errors[:, 0] += rng.random(300) < 0.5  # A has more errors
    result = compare(matrix_of(errors, lower_is_better=True), 0.1)
    assert result.difference < -0.1
    assert result.p_inferior > 0.9 > 0.1 > result.p_non_inferior


@pytest.mark.parametrize("margin", [0.002, 0.005, 0.01])
def test_losses_that_are_in_no_unit_are_not_ruled_out(margin):
    """A loses all in a share of the units, so that it is worse by the margin; a test set may have no such unit."""
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 6, 200)
    hits = np.stack([rng.binomial(sizes, 0.8)] * 2, axis=1)
    hits[:6, 0], hits[6:12, 0] = 0, sizes[6:12]  # small differences, which cancel out
    hits[:6, 1], hits[6:12, 1] = 1, sizes[6:12] - 1
    statistics = np.stack([hits, np.repeat(sizes[:, None], 2, axis=1)], axis=-1).astype(float)
    matrix = StatisticMatrix(statistics, lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)))
    share = margin / (hits[:, 1].sum() / sizes.sum())
    result = compare(matrix, margin)
    assert result.difference == pytest.approx(0)
    assert result.p_inferior >= (1 - share) ** 200


@pytest.mark.simulation
@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_the_betting_test_errs_rarely_for_skewed_differences(margin):
    """Rare large losses hide in small samples: A loses 0.5 with probability q, and gains a little else."""
    rng = np.random.default_rng(3)
    q = 0.02
    gain = (0.5 * q - margin) / (1 - q)  # the mean is -margin
    errors = [betting_p_value(np.where(rng.random(100) < q, -0.5, gain), margin) <= 0.05 for _ in range(2000)]
    assert np.mean(errors) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.simulation
def test_the_bootstrap_t_errs_in_about_alpha_at_the_margin():
    rng = np.random.default_rng(4)
    errors = []
    for _ in range(400):
        sizes = rng.integers(1, 6, 150)
        values = np.stack([rng.binomial(sizes, share) for share in (0.65, 0.70)], axis=1).astype(float)
        statistics = np.stack([values, np.repeat(sizes[:, None], 2, axis=1)], axis=-1).astype(float)
        matrix = StatisticMatrix(statistics, lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)))
        errors.append(compare(matrix, 0.05, 399).p_inferior <= 0.05)
    assert 0.02 <= np.mean(errors) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def stratified(rng, sizes, means):
    """A matrix of two systems, whose score is the mean of the means of several strata."""
    strata = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(np.array(means)[strata], 1)[:, None] + rng.normal(0, 0.5, (len(strata), 2))
    statistics = np.zeros((len(strata), 2, 2 * len(sizes)))
    rows = np.arange(len(strata))
    statistics[rows, :, 2 * strata], statistics[rows, :, 2 * strata + 1] = values, 1
    return values, StatisticMatrix(
        statistics, lambda sums: np.mean(sums[..., ::2] / sums[..., 1::2], axis=-1), strata=strata)


def test_the_error_of_an_average_adds_the_variances_of_its_strata():
    sizes = [40, 200]
    values, matrix = stratified(np.random.default_rng(5), sizes, [0, 3])
    observed = Observed.compare(matrix, [(0, 1)])[0]
    parts = np.split(values[:, 0] - values[:, 1], np.cumsum(sizes)[:-1])
    expected = math.sqrt(sum(np.var(part, ddof=1) / len(part) for part in parts)) / len(sizes)
    assert compute_error(compute_gains(observed), matrix.strata) == pytest.approx(expected)


@pytest.mark.simulation
def test_the_bootstrap_t_of_an_average_errs_in_about_alpha_at_the_margin():
    rng = np.random.default_rng(6)
    margin, errors = 0.1, []
    for _ in range(400):
        _, matrix = stratified(rng, [150, 450], [0, 3])
        matrix.statistics[:, 0, ::2] -= margin * matrix.statistics[:, 0, 1::2]
        errors.append(compare(matrix, margin, 299).p_inferior <= 0.05)
    assert 0.02 <= np.mean(errors) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_a_stratum_of_one_unit_has_no_error():
    _, matrix = stratified(np.random.default_rng(7), [1, 60], [0, 3])
    assert compare(matrix, 0.1) is None


@pytest.mark.slow
def test_the_needed_units_of_the_exact_test_give_a_power_of_80_percent():
    """The power is the sum over all samples of which a p-value is significant; it falls with the statistic."""
    margin, discordant = 0.1, 0.2
    numbers = np.arange(1000)
    better = np.stack([numbers < 150, (numbers >= 150) & (numbers < 200)], axis=1).astype(float)
    observed = Observed.compare(matrix_of(better, score_range=(0, 1)), [(0, 1)])[0]
    needed = count_needed_units(observed, margin, 0.0, 0.05, "exact")
    cells = samples(needed)
    order = np.argsort(-tango_statistic(*cells.T, needed, -margin), kind="stable")
    low, high = 0, len(cells)
    while low < high:
        middle = (low + high) // 2
        is_significant = exact_p_value(*cells[order[middle]].tolist(), needed, margin) <= 0.05
        low, high = (middle + 1, high) if is_significant else (low, middle)
    chances = multinomial.pmf(np.column_stack([cells, needed - cells.sum(axis=1)]), needed,
                              [discordant / 2, discordant / 2, 1 - discordant])
    assert 0.75 <= chances[order[:low]].sum() <= 0.88


@pytest.mark.simulation
@pytest.mark.parametrize(("values", "probabilities"), [
    ([-0.5, -0.25, 0, 0.25, 0.5], [0.05, 0.2, 0.5, 0.2, 0.05]),
    ([-0.5, 0, 0.5], [0.02, 0.96, 0.02]),
])
def test_the_needed_units_of_the_betting_test_give_a_power_of_80_percent(values, probabilities):
    """The differences of units have the mean 0; the observed sample, with another mean, must not matter."""
    rng, margin = np.random.default_rng(8), 0.05

    def draw(n):
        difference = rng.choice(values, n, p=probabilities)
        return matrix_of(np.stack([np.maximum(difference, 0), np.maximum(-difference, 0)], axis=1), score_range=(0, 1))

    observed = Observed.compare(draw(2000), [(0, 1)])[0]
    needed = count_needed_units(observed, margin, 0.0, 0.05, "bounded")
    passes = [compare(draw(needed), margin).p_inferior <= 0.05 for _ in range(300)]
    assert 0.65 <= np.mean(passes) <= 0.95
    assert count_needed_units(observed, margin, margin, 0.05, "bounded") < needed
    assert count_needed_units(observed, margin, -margin, 0.05, "bounded") is None
