"""Precision, recall and F-beta of sets of answers, summed over all items (micro-averaged): what their metrics share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence, Set
from fractions import Fraction
from typing import Any

from registry.arrays import Flags, Floats
from registry.items import Answer, Item
from registry.metrics.base import FScore, Quotient, QuotientMetric


class MatchMetric(QuotientMetric):
    """What the three share; `type` restricts them to answers of that type."""

    family = "prf"

    type: str | None = None

    @abstractmethod
    def members(self, value: Any) -> Set[Hashable]:
        """The answers in a gold or answer value that count; those that are equal match."""

    def acceptance(self, names: Sequence[tuple[str, str, str]], given: Flags,  # noqa: ARG002
                   scores: Floats) -> Flags:  # noqa: ARG002
        """Say which of their answers systems stand by, [answers, systems]: all of them.

        Args:
            names: Item, key and type of every answer in the whole test set that counts.
            given: Who gives it, [answers, systems].
            scores: By whom with which score, [answers, systems].
        """
        return given

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (correct answers, answers of the system, answers of the gold)."""
        gold = self.members(item.gold)
        found: Set[Hashable] = frozenset() if answer is None else self.members(answer.value)
        return (len(gold & found), len(found), len(gold))


class Precision(MatchMetric):
    """The share of a system's answers that the gold has; undefined where the system has none."""

    called = "precision"
    coefficients = ((1, 0, 0), (0, 1, 0))  # true positives over predicted


class Recall(MatchMetric):
    """The share of the gold's answers that the system has."""

    called = "recall"
    coefficients = ((1, 0, 0), (0, 0, 1))  # true positives over gold


class FBeta(FScore, MatchMetric):
    """The harmonic mean of precision and recall, recall weighted by beta squared, from 0 to 1."""

    called = "F{beta:g}"

    @property
    def quotient(self) -> Quotient:
        """(1 + beta^2) true positives over predicted + beta^2 gold, in whole numbers."""
        p, q = (Fraction(repr(self.beta)) ** 2).as_integer_ratio()  # of the decimal that was written
        return (p + q, 0, 0), (0, q, p)
