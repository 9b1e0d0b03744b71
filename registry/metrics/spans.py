"""Metrics of typed spans, summed over all items (micro-averaged): exact matches, and entity scorers' other schemes."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import field
from fractions import Fraction
from typing import Literal

from registry.families import FAMILIES
from registry.items import Answer, Item, Span, Tagged
from registry.metrics.base import FScore, Quotient, QuotientMetric
from registry.metrics.boundaries import overlapping, right_by_first, right_by_type, same_boundaries
from registry.metrics.matches import FBeta, MatchMetric, Precision, Recall
from registry.values import TERSE

Match = Literal["strict", "exact", "ent_type", "fuzzy"]

_RIGHT = {"exact": same_boundaries, "ent_type": right_by_type, "fuzzy": right_by_first}
_UNUSED = (0,) * (len(FAMILIES["additive"].columns) - 4)


class _SpanMetric(MatchMetric):
    """What the three share; of spans of their `type`, `match` says which are right.

    Attributes:
        match: `strict` asks for the gold's boundaries and type, `exact` for its boundaries, `ent_type` and `fuzzy` for
            its type and a shared position, one to one; see `registry.metrics.boundaries`.
    """

    takes = "span"
    scorer = "nervaluate (strict, exact, ent_type); HIPE's definition (fuzzy)"
    citation = "Tjong Kim Sang and De Meulder 2003, section 2; Segura-Bedmar et al. 2013; Ehrmann et al. 2020"

    match: Match = field(default="strict", metadata=TERSE)

    def members(self, value: Tagged) -> Set[Span]:
        return _of_type(value, self.type)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (right spans, spans of the system, spans of the gold)."""
        if self.match == "strict":
            return super().statistics(item, answer)
        gold = self.members(item.gold)
        found = frozenset() if answer is None else self.members(answer.value)
        return (_RIGHT[self.match](gold, found), len(found), len(gold))


class SpanP(_SpanMetric, Precision):
    """Precision: the share of a system's spans that the gold has; undefined where the system has none."""


class SpanR(_SpanMetric, Recall):
    """Recall: the share of the gold's spans that the system has."""


class SpanF(_SpanMetric, FBeta):
    """F-beta: the harmonic mean of precision and recall, recall weighted by beta squared, from 0 to 1."""

    citation = "van Rijsbergen 1979, chapter 7; Segura-Bedmar et al. 2013; Ehrmann et al. 2020"


class _PartialMetric(QuotientMetric):
    """What the three share: a span with the boundaries of one of the gold's is right, one that overlaps one half right.

    Types make no difference, but `type` restricts both sides to spans of that type. What is right and what is half
    right are counted apart, so that all statistics are whole numbers: credit lies on the lattice of halves, and exact
    tests count in these.
    """

    takes = "span"
    family = "additive"
    scorer = "nervaluate (partial)"
    citation = "Segura-Bedmar et al. 2013"

    type: str | None = None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (right spans, half right ones, spans of the system, spans of the gold), then zeros."""
        gold = _of_type(item.gold, self.type)
        found = frozenset() if answer is None else _of_type(answer.value, self.type)
        right = same_boundaries(gold, found)
        return (right, overlapping(gold, found), len(found), len(gold), *_UNUSED)


class SpanPartialP(_PartialMetric):
    """Precision with half credit for overlap, from 0 to 1; undefined where the system has no span."""

    called = "precision with half credit for overlap"
    coefficients = ((2, 1, 0, 0, *_UNUSED), (0, 0, 2, 0, *_UNUSED))


class SpanPartialR(_PartialMetric):
    """Recall with half credit for overlap, from 0 to 1."""

    called = "recall with half credit for overlap"
    coefficients = ((2, 1, 0, 0, *_UNUSED), (0, 0, 0, 2, *_UNUSED))


class SpanPartialF(FScore, _PartialMetric):
    """The harmonic mean of both, recall weighted by beta squared, from 0 to 1."""

    called = "F{beta:g} with half credit for overlap"

    @property
    def quotient(self) -> Quotient:
        """(1 + beta^2) (right + half right / 2) over predicted + beta^2 gold, in whole numbers."""
        p, q = (Fraction(repr(self.beta)) ** 2).as_integer_ratio()  # of the decimal that was written
        return (2 * (p + q), p + q, 0, 0, *_UNUSED), (0, 0, 2 * q, 2 * p, *_UNUSED)


def _of_type(value: Tagged, type_: str | None) -> Set[Span]:
    return {span for span in value.spans if type_ in (None, span.type)}
