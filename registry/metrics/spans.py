"""Metrics of typed spans: exact match of start, end and type, summed over all items (micro-averaged)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from registry.items import Answer, Item
from registry.metrics.base import QuotientMetric, check_beta


@dataclass(frozen=True, repr=False)
class _SpanMetric(QuotientMetric):
    """What the three share; `type` restricts them to spans of that type."""

    takes: ClassVar[str] = "span"
    family: ClassVar[str] = "prf"
    citation: ClassVar[str] = "Tjong Kim Sang and De Meulder 2003, section 2"

    type: str | None = None

    def types(self) -> tuple[str, ...]:
        """The one type, if it is restricted."""
        return () if self.type is None else (self.type,)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (spans that are right, spans of the answer, spans of the gold)."""
        gold = {s for s in item.gold.spans if self.type in (None, s.type)}
        found = set() if answer is None else {s for s in answer.value.spans if self.type in (None, s.type)}
        return (len(gold & found), len(found), len(gold))


@dataclass(frozen=True, repr=False)
class SpanP(_SpanMetric):
    """Precision: the share of a system's spans that the gold has; undefined where the system has none."""

    name: ClassVar[str] = "SpanP"

    @property
    def quotient(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """True positives over predicted."""
        return (1, 0, 0), (0, 1, 0)


@dataclass(frozen=True, repr=False)
class SpanR(_SpanMetric):
    """Recall: the share of the gold's spans that the system has."""

    name: ClassVar[str] = "SpanR"

    @property
    def quotient(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """True positives over gold."""
        return (1, 0, 0), (0, 0, 1)


@dataclass(frozen=True, repr=False)
class SpanF(_SpanMetric):
    """F-beta: the harmonic mean of precision and recall, recall weighted by beta squared, from 0 to 1."""

    name: ClassVar[str] = "SpanF"
    citation: ClassVar[str] = "van Rijsbergen 1979, chapter 7"

    beta: float = 1.0

    def __post_init__(self) -> None:
        check_beta(self.beta, self.name)

    @property
    def quotient(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(1 + beta^2) true positives over predicted + beta^2 gold, in whole numbers."""
        square = Fraction(repr(self.beta)) ** 2  # of the decimal that was written
        p, q = square.numerator, square.denominator
        return (p + q, 0, 0), (0, q, p)
