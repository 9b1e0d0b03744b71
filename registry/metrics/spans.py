"""Metrics of typed spans, summed over all items: exact matches, partial credit, and the schemes of entity scorers.

Entity scorers pair spans one to one (SemEval-2013 task 9.1: Segura-Bedmar, Martínez and Herrero-Zazo 2013). Equal spans
are paired first. Then each other span of the system, in text order, takes an unpaired gold span that overlaps it:

- `exact`: a span with the same boundaries; it is correct whatever its type.
- `ent_type`: of the spans of its type, the one with the nearest boundaries, which is correct. If none has its type, it
  takes the first span of another type, which is incorrect. This is nervaluate's definition.
- `fuzzy`: the first span; correct if the types are equal. This is HIPE's definition (Ehrmann et al. 2020).
- partial: a span with the same boundaries is correct; otherwise the first one is half correct, whatever the types.

If no two spans of a side overlap, as in tagged text, the pairs equal those of nervaluate and of HIPE's scorer. If they
do overlap, those programs let an earlier span take the partner of a later, equal one.

`SpanOverlap*` need no pairs. With credit `share`, a span is correct by its share of positions in spans of its type on
the other side (Johansson and Moschitti 2010, section 3; SemEval-2020 task 11). With `any`, it is wholly correct if it
shares one position with a span of its type (Breck, Choi and Cardie 2007). Precision and recall have different
numerators, so this F is not one quotient of sums.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import field
from fractions import Fraction
from itertools import accumulate
from typing import Literal

import numpy as np

from registry.arrays import Floats, share
from registry.families import FAMILIES
from registry.items import Answer, Item, Span, Tagged
from registry.metrics.base import AdditiveMetric, FScore, Quotient, QuotientMetric
from registry.metrics.sets import FBeta, MatchMetric, Precision, Recall
from registry.values import TERSE

Match = Literal["strict", "exact", "ent_type", "fuzzy"]

Spans = Set[Span]


def count_same_boundaries(gold: Spans, found: Spans) -> int:
    """Count spans with the boundaries of a gold span."""
    return (_count_boundaries(gold) & _count_boundaries(found)).total()


def count_right_by_type(gold: Spans, found: Spans) -> int:
    """Count spans paired with a gold span of their type (`ent_type`)."""
    return _count_right(gold, found, _choose_nearest)


def count_right_by_first(gold: Spans, found: Spans) -> int:
    """Count spans paired with the first overlapping gold span, if it has their type (`fuzzy`)."""
    return _count_right(gold, found, _choose_first)


def count_overlapping(gold: Spans, found: Spans) -> int:
    """Count spans that overlap a gold span but have the boundaries of none."""
    both = _count_boundaries(gold) & _count_boundaries(found)
    return sum(1 for _ in _pair_spans(_remove_boundaries(gold, both), _remove_boundaries(found, both), _choose_first))


def _count_right(gold: Spans, found: Spans, choose: Callable[[Span, list[Span]], int]) -> int:
    equal = gold & found
    return len(equal) + sum(one.type == other.type for one, other in _pair_spans(gold - equal, found - equal, choose))


def _count_boundaries(spans: Spans) -> Counter[tuple[int, int]]:
    return Counter((span.start, span.end) for span in spans)


def _remove_boundaries(spans: Spans, taken: Counter[tuple[int, int]]) -> Spans:
    """Remove as many spans of each boundaries as `taken` says."""
    left = taken.copy()
    kept = set()
    for span in spans:
        if left[span.start, span.end]:
            left[span.start, span.end] -= 1
        else:
            kept.add(span)
    return kept


def _choose_first(span: Span, near: list[Span]) -> int:  # noqa: ARG001
    return 0


def _choose_nearest(span: Span, near: list[Span]) -> int:
    """Return the index of the nearest span of the same type, or else 0."""
    apart = [(other.type != span.type, abs(other.start - span.start) + abs(other.end - span.end)
              if other.type == span.type else 0) for other in near]
    return apart.index(min(apart))


def _pair_spans(gold: Spans, found: Spans, choose: Callable[[Span, list[Span]], int]) -> Iterator[tuple[Span, Span]]:
    """Yield each system span with the chosen one of the unpaired gold spans that overlap it."""
    others = sorted(gold)
    starts = [other.start for other in others]
    ends = list(accumulate((other.end for other in others), max))  # the last one of any up to there
    taken: set[int] = set()
    for span in sorted(found):
        reach = range(bisect_right(ends, span.start), bisect_left(starts, span.end))
        near = [n for n in reach if n not in taken and others[n].end > span.start]
        if near:
            chosen = near[choose(span, [others[n] for n in near])]
            taken.add(chosen)
            yield span, others[chosen]


_RIGHT = {"exact": count_same_boundaries, "ent_type": count_right_by_type, "fuzzy": count_right_by_first}
_UNUSED = (0,) * (len(FAMILIES["additive"].columns) - 4)


class _SpanMetric(MatchMetric):
    """What the three share; of spans of their `type`, `match` says which are right.

    Attributes:
        match: `strict` asks for the gold's boundaries and type, `exact` for its boundaries, `ent_type` and `fuzzy` for
            its type and a shared position, one to one; see `registry.metrics.spans`.
    """

    takes = "span"
    scorer = "nervaluate (strict, exact, ent_type); HIPE's definition (fuzzy)"
    citation = "Tjong Kim Sang and De Meulder 2003, section 2; Segura-Bedmar et al. 2013; Ehrmann et al. 2020"

    match: Match = field(default="strict", metadata=TERSE)

    def members(self, value: Tagged) -> Set[Span]:
        return _select_type(value, self.type)

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
        gold = _select_type(item.gold, self.type)
        found = frozenset() if answer is None else _select_type(answer.value, self.type)
        right = count_same_boundaries(gold, found)
        return (right, count_overlapping(gold, found), len(found), len(gold), *_UNUSED)


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


def _select_type(value: Tagged, type_: str | None) -> Set[Span]:
    return {span for span in value.spans if type_ in (None, span.type)}


_WIDTH = len(FAMILIES["additive"].columns)


class _OverlapMetric(AdditiveMetric):
    """What the three share; `type` restricts them to spans of that type."""

    takes = "span"
    citation = "Johansson and Moschitti 2010; Breck, Choi and Cardie 2007"

    credit: Literal["share", "any"] = "share"
    type: str | None = None

    def credits(self, item: Item, answer: Answer | None) -> tuple[float, int, float, int]:
        """Return credit and number of the system's spans, then of the gold's."""
        gold = self._select(item.gold.spans)
        found = [] if answer is None else self._select(answer.value.spans)
        return self._sum_credit(found, gold), len(found), self._sum_credit(gold, found), len(gold)

    def _select(self, spans: Iterable[Span]) -> list[Span]:
        return sorted(span for span in spans if self.type in (None, span.type))

    def _sum_credit(self, spans: list[Span], others: list[Span]) -> float:
        covers = {type_: _make_cover([other for other in others if other.type == type_])
                  for type_ in {other.type for other in (*spans, *others)}}
        shared = [covers[span.type](span.end) - covers[span.type](span.start) for span in spans]
        if self.credit == "any":
            return sum(n > 0 for n in shared)
        return sum(n / (span.end - span.start) for n, span in zip(shared, spans, strict=True))


def _make_cover(spans: list[Span]) -> Callable[[int], int]:
    """Return a function that counts covered positions below a position.

    They are kept as intervals, since spans may be very long.
    """
    starts: list[int] = []
    ends: list[int] = []
    for span in spans:
        if ends and span.start <= ends[-1]:
            ends[-1] = max(ends[-1], span.end)
        else:
            starts.append(span.start)
            ends.append(span.end)
    lengths = (end - start for start, end in zip(starts, ends, strict=True))
    before = [0, *accumulate(lengths)]  # how many positions lie in the intervals before each

    def below(position: int) -> int:
        n = bisect_left(starts, position)  # intervals that start below
        return before[n] - max(0, ends[n - 1] - position) if n else 0

    return below


class SpanOverlapP(QuotientMetric, _OverlapMetric):
    """Precision with partial credit, from 0 to 1; undefined where the system has no span."""

    called = "precision with partial credit"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (credit of the system's spans, the system's spans)."""
        return self.credits(item, answer)[:2]


class SpanOverlapR(QuotientMetric, _OverlapMetric):
    """Recall with partial credit, from 0 to 1."""

    called = "recall with partial credit"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (credit of the gold's spans, the gold's spans)."""
        return self.credits(item, answer)[2:]


class SpanOverlapF(FScore, _OverlapMetric):
    """The harmonic mean of both, recall weighted by beta squared, from 0 to 1."""

    called = "F{beta:g} with partial credit"
    family = "additive"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (credit of the system's spans, their number, credit of the gold's spans, their number), then zeros."""
        return (*self.credits(item, answer), *(0,) * (_WIDTH - 4))

    def score(self, sums: Floats) -> Floats:
        """Combine precision and recall: 0 if a side has no span or none overlaps, nan if neither has spans."""
        precision, recall = (share(sums[..., n], sums[..., n + 1], 0.0) for n in (0, 2))
        square = self.beta**2
        scores = share((1 + square) * precision * recall, square * precision + recall, 0.0)
        return np.where((sums[..., 1] == 0) & (sums[..., 3] == 0), np.nan, scores)
