"""What each source adds to the error of a difference: textbook formulas, another program, simulated truth."""

import itertools

import numpy as np
import pytest

from registry.significance.crossed import CrossedPair, compute_log_p
from tests.significance.crossed.mixed_model import MIXED_MODEL, SCORES


def of_one(table, factors=1):
    """A system against one whose scores are all 0, on the same levels of every factor."""
    return CrossedPair((table, np.zeros_like(table)), (True,) * factors)


def test_components_are_those_of_the_analysis_of_variance_and_of_a_mixed_model():
    n, m = SCORES.shape
    of_items, of_runs = SCORES.mean(axis=1), SCORES.mean(axis=0)
    residual = SCORES - of_items[:, None] - of_runs + SCORES.mean()
    squares = m * of_items.var(ddof=1), n * of_runs.var(ddof=1), (residual**2).sum() / ((n - 1) * (m - 1))
    expected = (squares[0] - squares[2]) / m, (squares[1] - squares[2]) / n, squares[2]
    found = {of.axes: of for of in of_one(SCORES).components()}
    components = [found[axes].squared * size for axes, size in (((0,), n), ((1,), m), ((0, 1), n * m))]
    assert components == pytest.approx(expected, rel=1e-12)
    assert components == pytest.approx(MIXED_MODEL, abs=1e-4)
    assert [of.degrees for of in found.values()] == [n - 1, m - 1, (n - 1) * (m - 1)]


def test_a_component_that_is_zero_but_for_rounding_is_zero():
    """One of six answers is wrong: the mean squares of items, runs and their interaction are all 1/6."""
    scores = np.array([[0.0, 1], [1, 1], [1, 1]])
    found = CrossedPair((scores - scores.mean(), np.zeros_like(scores)), (False,)).components()
    assert [(of.axes, of.squared) for of in found if of.squared] == [((0, 1), pytest.approx(1 / 36, rel=1e-12))]


@pytest.mark.parametrize("shared", [(False, True), (True, True), (False, False)])
def test_components_of_three_factors_add_up_to_the_squared_error(shared):
    """Of 600 tables with known effects of items, seeds, prompts and all their interactions."""
    rng = np.random.default_rng(4)
    sizes, deviations = (5, 3, 2), {(0,): 1.0, (1,): 0.7, (2,): 0.9, (0, 1): 0.8, (0, 2): 0.6, (1, 2): 0.5,
                                    (0, 1, 2): 1.0}
    is_shared = (True, *shared)

    def effect(axes, side):
        shape = [size if axis in axes else 1 for axis, size in enumerate(sizes)]
        return deviations[axes] * (side + 1) * rng.standard_normal(shape)

    errors, found, most = [], {}, []
    for _ in range(600):
        pair = CrossedPair(tuple(sum(effect(axes, side) for axes in deviations) for side in (0, 1)), shared)
        errors.append(pair.tables[0].mean() - pair.tables[1].mean())
        for of in pair.components():
            found.setdefault((of.axes, of.side), []).append(of.squared)
        most.append(sum(of.squared for of in pair.bounds((0, 1, 2))))
    true = {}
    for axes, side in itertools.product(deviations, (0, 1)):
        own = None if all(is_shared[axis] for axis in axes) else side
        size = np.prod([sizes[axis] for axis in axes])
        true[axes, own] = true.get((axes, own), 0) + (deviations[axes] * (side + 1))**2 / size
    for key, values in found.items():
        assert np.mean(values) == pytest.approx(true[key], abs=5 * np.std(values) / 600**0.5), key
    assert sum(true.values()) == pytest.approx(np.var(errors), rel=0.25)
    assert np.mean(most) > 0.9 * sum(true.values())


@pytest.mark.simulation
@pytest.mark.parametrize(("prompts", "own"), [(2, 0.0), (5, 0.5)])
def test_the_level_is_kept_over_items_runs_and_prompts(prompts, own):
    """Two systems that differ by no more than what items, prompts and runs (and `own`, both at once) do to either.

    Of 600 sets, 5 % and four standard errors. Over items alone, many are significant.
    """
    rng = np.random.default_rng(prompts)

    def drawn():
        return (rng.normal(size=(30, 1, 1)) + 0.5 * rng.normal(size=(1, 1, prompts))
                + own * rng.normal(size=(30, 1, prompts)) + 0.3 * rng.normal(size=(1, 3, 1))
                + rng.normal(size=(30, 3, prompts)))

    pairs = [CrossedPair((drawn(), drawn()), (False, True)) for _ in range(600)]
    difference = np.array([a.mean() - b.mean() for a, b in (pair.tables for pair in pairs)])

    def rejected(over):
        bounds = [pair.bounds(over) for pair in pairs]
        squared, degrees = (np.array([[getattr(of, name) for of in found] for found in bounds], dtype=float)
                            for name in ("squared", "degrees"))
        return np.mean(np.exp(compute_log_p(difference, squared, degrees, "two-sided")) <= 0.05)

    assert rejected((0, 1, 2)) <= 0.05 + 4 * (0.05 * 0.95 / 600)**0.5
    assert rejected((0,)) > 0.1


def test_what_is_not_random_adds_nothing():
    """Over items alone the error is that of the averages over runs; over runs alone that of their averages."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(8, 3)), rng.normal(size=(8, 4))
    pair = CrossedPair((a, b), (False,))
    (items,) = pair.bounds((0,))
    assert items.squared == pytest.approx((a.mean(axis=1) - b.mean(axis=1)).var(ddof=1) / 8)
    assert [of.squared for of in pair.bounds((1,))] == pytest.approx(
        [a.mean(axis=0).var(ddof=1) / 3, b.mean(axis=0).var(ddof=1) / 4])
    assert [of.degrees for of in pair.bounds((0, 1))] == [2, 3, 7]
