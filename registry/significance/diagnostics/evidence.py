"""The evidence for warnings about pairs of systems, and about whole leaderboards.

A rule checks one pair at a time. Some of the 45 pairs of ten systems look unusual by chance, so a rule with few errors
per pair would still warn about most leaderboards. So the evidence of a rule is a standard score. A pair has a warning
if its score exceeds the score that two exchangeable systems have in 90 % of test sets. A leaderboard has a warning if
its largest score exceeds the largest score of the same number of exchangeable systems in 90 % of test sets. `python -m
tests.validity.hits` measures how often this happens.
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

CHANCE = 0.1  # probability of a warning about exchangeable systems
_FOR_TWO = NormalDist().inv_cdf(1 - CHANCE / 2)
_REACH, _POINTS = 9.0, 1_001  # standard deviations and points of the integral: errors below 1e-12


class SystemPairs(NamedTuple):
    """Statistics of systems, and the pairs of systems that are checked for warnings.

    Attributes:
        matrix: Statistics of all systems, with units (items or clusters) as rows.
        a: Indices of the first systems, [pairs].
        b: Indices of the second systems, [pairs].
    """

    matrix: Matrix
    a: Ints
    b: Ints

    @classmethod
    def every(cls, matrix: Matrix) -> SystemPairs:
        """Return all pairs of systems."""
        return cls(matrix, *np.triu_indices(matrix.statistics.shape[1], 1))


class PairWarning(NamedTuple):
    """A warning about some pairs of systems, with the evidence for it.

    The score of a pair is nearly standard normal if the two systems are exchangeable. A large score shows that they are
    not, and that the warning is justified.

    Attributes:
        where: True for the pairs to which the warning applies, [pairs].
        message: The message.
        scores: Scores, [pairs]; infinite for a pair whose warning is certain. None if the warnings of all pairs are
            certain.
    """

    where: Flags
    message: Message
    scores: Floats | None = None

    @property
    def has_evidence(self) -> Flags:
        """True for the pairs with sufficient evidence for the warning, [pairs].

        Each pair is judged on its own, as if it were the only one.
        """
        return self.where if self.scores is None else self.where & (self.scores >= _FOR_TWO)

    def is_chance(self, n_systems: int) -> bool:
        """Return True if the warnings about pairs of systems can be due to chance.

        Among the many pairs of a leaderboard some look unusual by chance. So the largest standard score is compared
        with the largest one that the same number of exchangeable systems would have.
        """
        if self.scores is None or not self.has_evidence.any():
            return False
        return range_tail(float(self.scores[self.where].max()), n_systems) > CHANCE


def range_tail(score: float, n_systems: int) -> float:
    """Return the p-value of the largest standard score of all pairs of systems.

    If all systems are exchangeable, the standard score of a pair is the difference of two independent normal values,
    one per system, divided by the root of two. So the largest score has the distribution of the studentized range with
    known variance (Tukey 1953).

    Args:
        score: The largest standard score.
        n_systems: Number of systems; every two of them are a pair.
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
    """Convert warnings about pairs of systems to messages about a whole leaderboard.

    Each message has the number of affected pairs. Warnings that can be due to chance are omitted, because some of many
    pairs always look unusual.

    Args:
        warnings: Warnings about all pairs of systems.
        n_systems: Number of systems on the leaderboard.
        message: Message that replaces the messages of the warnings.
    """
    return [on_board(message or warning.message, n, len(warning.where)) for warning in warnings
            if not warning.is_chance(n_systems) and (n := int(np.count_nonzero(warning.has_evidence)))]


def chance_codes(warnings: Iterable[PairWarning], n_systems: int) -> list[str]:
    """Return the codes of warnings that can be due to chance.

    Among the many pairs of a leaderboard some look unusual by chance. `board_warnings` omits such warnings.
    """
    return [warning.message.code for warning in warnings if warning.is_chance(n_systems)]
