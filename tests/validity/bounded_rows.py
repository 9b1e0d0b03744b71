"""Rows of the test `bounded`: its level on skewed populations, and its power beside other tests."""

import numpy as np

from registry.significance import Bootstrap, Bounded, MatchedT, Permutation
from tests.validity.bands import finds, valid
from tests.validity.examinations import PValues
from tests.validity.populations import over_one, ratio
from tests.validity.row import Row, slug

_UNITS = (20, 50, 200, 1000)


def paired(name, units, draw_differences, gain=0.0):
    """Scores from 0 to 1: one half, and one half with an added difference of a unit, whose mean is the gain."""
    def draw(rng, runs):
        differences = draw_differences(rng, (runs, units)) + gain
        scores = np.stack([0.5 + differences / 2, 0.5 - differences / 2], axis=-1)
        return over_one(np.clip(scores, 0, 1), 9)

    return ratio(f"{name}, {units} items", (0.5 + gain / 2, 0.5 - gain / 2), draw, score_range=(0, 1))


def losses(size, share):
    """A loss of some size in a share of the units, made up for by small gains in the others."""
    def draw(rng, shape):
        return np.where(rng.random(shape) < share, -size, size * share / (1 - share))

    return draw


def beta(a, b):
    """Beta differences around their mean."""
    return lambda rng, shape: rng.beta(a, b, shape) - a / (a + b)


def mostly_tied(rng, shape):
    """Differences of 1, -1 or 0, in 2 % of the units each and in all others."""
    drawn = rng.random(shape)
    return np.where(drawn < 0.02, 1.0, np.where(drawn < 0.04, -1.0, 0.0))


def normal(rng, shape):
    """Normal differences with a deviation of 0.2."""
    return np.clip(rng.normal(0, 0.2, shape), -0.9, 0.9)


SKEWED = {
    "losses-20th": ("a loss of 0.95 in 1 of 20", losses(0.95, 0.05)),
    "losses-50th": ("a loss of 0.98 in 1 of 50", losses(0.98, 0.02)),
    "losses-100th": ("a loss of 0.99 in 1 of 100", losses(0.99, 0.01)),
    "losses-5th": ("a loss of 0.8 in 1 of 5", losses(0.8, 0.2)),
    "beta": ("beta(0.2, 1.8) differences", beta(0.2, 1.8)),
    "mostly-tied": ("differences in 4 % of units", mostly_tied),
}


def bounded_rows():
    """All of them."""
    for name, (words, draw) in SKEWED.items():
        for units in _UNITS:
            quick = 100 if units == 50 and name in ("losses-20th", "beta") else 0
            yield Row(f"bounded-{name}-{units}", paired(words, units, draw), PValues(Bounded()), valid(), 2000, quick)
    for units in (50, 200, 1000):
        population = paired("normal differences of 3 errors", units, normal, 0.6 / np.sqrt(units))
        for test, floor in ((Bounded(), 0.05 if units == 50 else 0.5), (MatchedT(), 0.8), (Permutation(), 0.8),
                            (Bootstrap("studentized"), 0.75)):
            yield Row(f"bounded-power-{units}-{slug(test)}", population, PValues(test), finds(floor), 2000, 0)
