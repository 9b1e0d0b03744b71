"""Warnings about the pairs of a leaderboard, and how much evidence they need.

A rule looks at one pair at a time. Of the 45 pairs of ten systems some look unusual by chance, so a rule that errs for
few pairs would warn about most leaderboards. Evidence is therefore a standard score. A leaderboard has a warning if its
largest score exceeds the largest one of so many exchangeable systems in 90 % of test sets; a pair has a note if its own
score exceeds that of two systems. `python -m tests.validity.hits` measures how often both happen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.matrix import Matrix

CHANCE = 0.1  # of a warning about exchangeable systems
_FOR_TWO = NormalDist().inv_cdf(1 - CHANCE / 2)
_REACH, _POINTS = 9.0, 1_001  # standard deviations and points of the integral: errors below 1e-12


class SystemPairs(NamedTuple):
    """Pairs of systems that rules of warnings look at.

    Attributes:
        matrix: By unit.
        a: The first systems of the pairs, [pairs].
        b: The second systems, [pairs].
    """

    matrix: Matrix
    a: Ints
    b: Ints

    @classmethod
    def every(cls, matrix: Matrix) -> SystemPairs:
        """All pairs of the systems of a matrix."""
        return cls(matrix, *np.triu_indices(matrix.statistics.shape[1], 1))


class Caution(NamedTuple):
    """A warning about pairs.

    Attributes:
        where: The pairs that match the rule, [pairs].
        said: The text of the warning.
        scores: Standard scores of the evidence, about normal if the systems of a pair are exchangeable, [pairs]; inf if
            a pair needs no further evidence, None if the rule needs none.
    """

    where: Flags
    said: str
    scores: Floats | None = None

    @property
    def noted(self) -> Flags:
        """The pairs that get a note, whatever other pairs there are, [pairs]."""
        return self.where if self.scores is None else self.where & (self.scores >= _FOR_TWO)

    def is_chance(self, n_systems: int) -> bool:
        """Return True if some pair is noted, and so many exchangeable systems explain that by chance."""
        if self.scores is None or not self.noted.any():
            return False
        return range_tail(float(self.scores[self.where].max()), n_systems) > CHANCE


def range_tail(score: float, n_systems: int) -> float:
    """Return the probability that the largest standard score of all pairs reaches `score` by chance.

    The scores of pairs are differences of independent normal values of the systems, over the root of two, so that the
    largest one has the distribution of the studentized range with known variance (Tukey 1953).
    """
    from scipy.special import ndtr

    if math.isinf(score):
        return 0.0
    width = math.sqrt(2) * score
    low = np.linspace(-_REACH - width, _REACH, _POINTS)  # the smallest of the values
    density = np.exp(-low**2 / 2) / math.sqrt(2 * math.pi)
    within = density * (ndtr(low + width) - ndtr(low)) ** (n_systems - 1)
    return float(1 - n_systems * within.sum() * (low[1] - low[0]))


def in_pairs(n: int, pairs: int, said: str) -> str:
    """Return a warning with the number of pairs that have it.

    >>> in_pairs(2, 6, "swaps understate the error")
    'in 2 of 6 pairs swaps understate the error'
    """
    if n == pairs:
        return f"in {'the one pair' if pairs == 1 else f'all {pairs:,} pairs'} {said}"
    return f"in {n:,} of {pairs:,} pairs {said}"


def board_warnings(cautions: Iterable[Caution], n_systems: int, said: str = "") -> list[str]:
    """Return the warnings about a leaderboard, with the number of pairs that have each.

    Args:
        cautions: Of all pairs of the leaderboard.
        n_systems: How many systems the leaderboard has.
        said: The text to use instead of that of the cautions.
    """
    return [in_pairs(n, len(caution.where), said or caution.said) for caution in cautions
            if not caution.is_chance(n_systems) and (n := int(np.count_nonzero(caution.noted)))]


def chance_notes(cautions: Iterable[Caution], n_systems: int) -> list[str]:
    """Return the notes of pairs that are no warning about a leaderboard of so many systems."""
    return [caution.said for caution in cautions if caution.is_chance(n_systems)]
