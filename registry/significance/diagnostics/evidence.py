"""Warnings about the pairs of a leaderboard, and how much evidence they need.

A rule looks at one pair at a time. Of the 45 pairs of ten systems some look unusual by chance, so a rule that errs for
few pairs would warn about most leaderboards. Evidence is therefore a standard score. A leaderboard has a warning if its
largest score exceeds the largest one of so many exchangeable systems in 90 % of test sets; a pair has a message if its
own score exceeds that of two systems. `python -m tests.validity.hits` measures how often both happen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.messages import Message, on_board
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


class PairWarning(NamedTuple):
    """A warning about pairs.

    Attributes:
        where: The pairs that match the rule, [pairs].
        message: The message.
        scores: Standard scores of the evidence, about normal if the systems of a pair are exchangeable, [pairs]; inf if
            a pair needs no further evidence, None if the rule needs none.
    """

    where: Flags
    message: Message
    scores: Floats | None = None

    @property
    def has_evidence(self) -> Flags:
        """The pairs that get the message, whatever other pairs exist, [pairs]."""
        return self.where if self.scores is None else self.where & (self.scores >= _FOR_TWO)

    def is_chance(self, n_systems: int) -> bool:
        """Return True if some pair has the message, and so many exchangeable systems explain that by chance."""
        if self.scores is None or not self.has_evidence.any():
            return False
        return range_tail(float(self.scores[self.where].max()), n_systems) > CHANCE


def range_tail(score: float, n_systems: int) -> float:
    """Return the probability that the largest standard score of all pairs reaches `score` by chance.

    The scores of pairs are differences of independent normal values of the systems, divided by the root of two. So the
    largest one has the distribution of the studentized range with known variance (Tukey 1953).
    """
    from scipy.special import ndtr

    if math.isinf(score):
        return 0.0
    width = math.sqrt(2) * score
    low = np.linspace(-_REACH - width, _REACH, _POINTS)  # the smallest of the values
    density = np.exp(-low**2 / 2) / math.sqrt(2 * math.pi)
    mass = density * (ndtr(low + width) - ndtr(low)) ** (n_systems - 1)
    return float(1 - n_systems * mass.sum() * (low[1] - low[0]))


def board_warnings(warnings: Iterable[PairWarning], n_systems: int, message: Message | None = None) -> list[Message]:
    """Return the warnings about a leaderboard, with the number of pairs that have each.

    Args:
        warnings: Of all pairs of the leaderboard.
        n_systems: How many systems the leaderboard has.
        message: The message to use instead of the ones of the warnings.
    """
    return [on_board(message or warning.message, n, len(warning.where)) for warning in warnings
            if not warning.is_chance(n_systems) and (n := int(np.count_nonzero(warning.has_evidence)))]


def chance_codes(warnings: Iterable[PairWarning], n_systems: int) -> list[str]:
    """Return the codes of messages of pairs that are no warning about a leaderboard of so many systems."""
    return [warning.message.code for warning in warnings if warning.is_chance(n_systems)]
