"""Metrics of typed spans: exact matches, partial credit, and entity scorers.

Counts are summed over all items. The definitions of entity scorers pair spans of the system and the gold one to one
(SemEval-2013 task 9.1: Segura-Bedmar, Martínez and Herrero-Zazo 2013). Equal spans are paired first. Then each other
span of the system, in text order, is paired with an overlapping gold span:

- `exact`: with a span that has the same boundaries. The pair is correct, whatever the types.
- `ent_type`: with the span of the same type that has the nearest boundaries. The pair is correct. If no span has the
  same type, with the first span of another type; the pair is incorrect. This is nervaluate's definition.
- `fuzzy`: with the first span. The pair is correct if the types are equal. This is HIPE's definition (Ehrmann et al.
  2020).
- partial: with a span that has the same boundaries, which is correct; otherwise with the first span, which is half
  correct. Types do not count.

In tagged text the spans of one side do not overlap. The pairs then equal those of nervaluate and of HIPE's scorer. If
spans of one side overlap, those programs may pair an earlier span with the gold span that equals a later one.

`SpanOverlap*` need no pairs. With credit `share`, a span earns the share of its positions that are in spans of the same
type on the other side (Johansson and Moschitti 2010, section 3; SemEval-2020 task 11). With credit `any`, a span is
correct if it shares one position with a span of the same type (Breck, Choi and Cardie 2007). Precision and recall have
different numerators, so that this F-score is not one quotient of sums.
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


def count_same_boundaries(gold: Spans, system: Spans) -> int:
    """Count the system's spans that have the same start and end as a gold span.

    Types may differ. Each gold span matches at most one span of the system.
    """
    return (_count_boundaries(gold) & _count_boundaries(system)).total()


def count_correct_by_type(gold: Spans, system: Spans) -> int:
    """Count the system's spans that are paired with a gold span of the same type.

    Each span is in at most one pair. A system span is paired with an equal gold span, or else with the nearest
    overlapping one of the same type, or else with the first overlapping one.
    """
    return _count_correct(gold, system, _choose_nearest)


def count_correct_by_first(gold: Spans, system: Spans) -> int:
    """Count the system's spans that are paired with a gold span of the same type.

    Each span is in at most one pair. A system span is paired with an equal gold span, or else with the first
    overlapping one.
    """
    return _count_correct(gold, system, _choose_first)


def count_overlapping(gold: Spans, system: Spans) -> int:
    """Count pairs of a system and a gold span that overlap but have other boundaries.

    Each span is in at most one pair. Spans with the same start and end are paired first, and do not count.
    """
    common = _count_boundaries(gold) & _count_boundaries(system)
    other_gold, other_system = _remove_boundaries(gold, common), _remove_boundaries(system, common)
    return sum(1 for _ in _pair_spans(other_gold, other_system, _choose_first))


def _count_correct(gold: Spans, system: Spans, choose: Callable[[Span, list[Span]], int]) -> int:
    equal = gold & system
    pairs = _pair_spans(gold - equal, system - equal, choose)
    return len(equal) + sum(span.type == partner.type for span, partner in pairs)


def _count_boundaries(spans: Spans) -> Counter[tuple[int, int]]:
    return Counter((span.start, span.end) for span in spans)


def _remove_boundaries(spans: Spans, removed: Counter[tuple[int, int]]) -> Spans:
    """Remove spans with certain boundaries.

    Args:
        spans: The spans.
        removed: Maps (start, end) to the number of spans to remove.
    """
    remaining = removed.copy()
    others = set()
    for span in spans:
        if remaining[span.start, span.end]:
            remaining[span.start, span.end] -= 1
        else:
            others.add(span)
    return others


def _choose_first(span: Span, candidates: list[Span]) -> int:  # noqa: ARG001
    return 0


def _choose_nearest(span: Span, candidates: list[Span]) -> int:
    """Return the index of the nearest candidate that has the same type as a span.

    The distance is the distance of the starts plus that of the ends. The result is 0 if no candidate has the same type.
    """
    distances = [(other.type != span.type, abs(other.start - span.start) + abs(other.end - span.end)
              if other.type == span.type else 0) for other in candidates]
    return distances.index(min(distances))


def _pair_spans(gold: Spans, system: Spans, choose: Callable[[Span, list[Span]], int]) -> Iterator[tuple[Span, Span]]:
    """Assign to each span of the system an overlapping gold span, if one is left.

    Spans are processed in the order of the text. Each gold span is assigned at most once.

    Args:
        gold: Spans of the gold.
        system: Spans of the system.
        choose: Function that receives a system span and the list of overlapping gold spans that are left, and returns
            the index of the selected gold span.
    """
    gold_spans = sorted(gold)
    starts = [other.start for other in gold_spans]
    ends = list(accumulate((other.end for other in gold_spans), max))  # last end of all spans so far
    paired: set[int] = set()
    for span in sorted(system):
        reach = range(bisect_right(ends, span.start), bisect_left(starts, span.end))
        candidates = [n for n in reach if n not in paired and gold_spans[n].end > span.start]
        if candidates:
            chosen = candidates[choose(span, [gold_spans[n] for n in candidates])]
            paired.add(chosen)
            yield span, gold_spans[chosen]


_COUNT_CORRECT = {"exact": count_same_boundaries, "ent_type": count_correct_by_type, "fuzzy": count_correct_by_first}
_UNUSED = (0,) * (len(FAMILIES["additive"].columns) - 4)


class _SpanMetric(MatchMetric):
    """Base class of precision, recall and F-score of spans.

    Attributes:
        match: Condition of a correct span. `strict`: equal boundaries and type. `exact`: equal boundaries. `ent_type`
            and `fuzzy`: equal type and overlap; a gold span matches at most one system span. If several spans overlap,
            `ent_type` chooses the nearest span of the same type, and `fuzzy` the first span.
    """

    takes = "span"
    scorer = "nervaluate (strict, exact, ent_type); HIPE's definition (fuzzy)"
    citation = ("Tjong Kim Sang and De Meulder 2003, section 2; match=exact or ent_type: Segura-Bedmar et al. 2013; "
                "match=fuzzy: Ehrmann et al. 2020")

    match: Match = field(default="strict", metadata=TERSE)

    def members(self, value: Tagged) -> Set[Span]:
        return _select_type(value, self.type)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Count the correct spans, the system's spans and the gold spans of one item."""
        if self.match == "strict":
            return super().statistics(item, answer)
        gold = self.members(item.gold)
        system = frozenset() if answer is None else self.members(answer.value)
        return (_COUNT_CORRECT[self.match](gold, system), len(system), len(gold))


class SpanP(_SpanMetric, Precision):
    """Precision: share of the system's spans that are correct.

    Precision is undefined if the system has no span.
    """


class SpanR(_SpanMetric, Recall):
    """Recall: share of the gold's spans that the system has."""


class SpanF(_SpanMetric, FBeta):
    """F-beta: weighted harmonic mean of precision and recall, from 0 to 1.

    Recall is weighted by beta squared.
    """

    citation = ("van Rijsbergen 1979, chapter 7; match=exact or ent_type: Segura-Bedmar et al. 2013; "
                "match=fuzzy: Ehrmann et al. 2020")


class _PartialMetric(QuotientMetric):
    """Base class of precision, recall and F-score with half credit for overlap.

    Each span is paired with at most one span of the other side. It counts 1 if both have equal boundaries, and 1/2 if
    they only overlap. Types do not matter. Both cases are counted separately, so that all statistics are whole numbers,
    which exact tests require.

    Attributes:
        type: Type of the spans that count, on both sides; None for all types.
    """

    takes = "span"
    family = "additive"
    scorer = "nervaluate (partial)"
    citation = "Segura-Bedmar et al. 2013"

    type: str | None = None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Count the pairs of spans and the spans of one item.

        Returns:
            The number of pairs with equal boundaries, of other overlapping pairs, of the system's spans, and of the
                gold's spans; followed by zeros to fill the columns of a table.
        """
        gold = _select_type(item.gold, self.type)
        system = frozenset() if answer is None else _select_type(answer.value, self.type)
        correct = count_same_boundaries(gold, system)
        return (correct, count_overlapping(gold, system), len(system), len(gold), *_UNUSED)


class SpanPartialP(_PartialMetric):
    """Precision with half credit for overlap, from 0 to 1.

    A system's span counts 1 if it is paired with a gold span of equal boundaries, and 1/2 if it is paired with one that
    it only overlaps. Precision is undefined if the system has no span.
    """

    called = "precision with half credit for overlap"
    coefficients = ((2, 1, 0, 0, *_UNUSED), (0, 0, 2, 0, *_UNUSED))


class SpanPartialR(_PartialMetric):
    """Recall with half credit for overlap, from 0 to 1.

    A gold span counts 1 if it is paired with a system's span of equal boundaries, and 1/2 if it is paired with one that
    it only overlaps.
    """

    called = "recall with half credit for overlap"
    coefficients = ((2, 1, 0, 0, *_UNUSED), (0, 0, 0, 2, *_UNUSED))


class SpanPartialF(FScore, _PartialMetric):
    """Harmonic mean of precision and recall with half credit for overlap.

    A span counts 1 if it is paired with a span of equal boundaries on the other side, and 1/2 if it is paired with one
    that it only overlaps. The score is from 0 to 1. Recall is weighted by beta squared.
    """

    called = "F{beta:g} with half credit for overlap"

    @property
    def quotient(self) -> Quotient:
        """Weights of the counts in numerator and denominator, as whole numbers.

        The score is (1 + beta^2) * (correct + overlapping / 2) / (system + beta^2 * gold).
        """
        p, q = (Fraction(repr(self.beta)) ** 2).as_integer_ratio()  # of the decimal that was written
        return (2 * (p + q), p + q, 0, 0, *_UNUSED), (0, 0, 2 * q, 2 * p, *_UNUSED)


def _select_type(value: Tagged, type_: str | None) -> Set[Span]:
    return {span for span in value.spans if type_ in (None, span.type)}


_WIDTH = len(FAMILIES["additive"].columns)


class _OverlapMetric(AdditiveMetric):
    """Base class of precision, recall and F-score with partial credit for overlap.

    Attributes:
        credit: Credit of a span: the `share` of its positions that are covered on the other side, or 1 for `any`
            overlap.
        type: Type of the spans that count; None for all types.
    """

    takes = "span"
    citation = "Johansson and Moschitti 2010; Breck, Choi and Cardie 2007"

    credit: Literal["share", "any"] = "share"
    type: str | None = None

    def sum_credits(self, item: Item, answer: Answer | None) -> tuple[float, int, float, int]:
        """Sum the credits of the spans of one item, separately for system and gold.

        The credit of a span is the share of its positions that spans of the same type on the other side cover. With the
        option `credit = "any"` it is 1 if they cover any position.

        Returns:
            The total credit of the system's spans, their number, the total credit of the gold's spans, and their
                number.
        """
        gold = self._select(item.gold.spans)
        system = [] if answer is None else self._select(answer.value.spans)
        return self._sum_credit(system, gold), len(system), self._sum_credit(gold, system), len(gold)

    def _select(self, spans: Iterable[Span]) -> list[Span]:
        return sorted(span for span in spans if self.type in (None, span.type))

    def _sum_credit(self, spans: list[Span], counterparts: list[Span]) -> float:
        covers = {type_: _make_cover([other for other in counterparts if other.type == type_])
                  for type_ in {other.type for other in (*spans, *counterparts)}}
        shared = [covers[span.type](span.end) - covers[span.type](span.start) for span in spans]
        if self.credit == "any":
            return sum(n > 0 for n in shared)
        return sum(n / (span.end - span.start) for n, span in zip(shared, spans, strict=True))


def _make_cover(spans: list[Span]) -> Callable[[int], int]:
    """Make a function that counts the positions below n that are inside spans.

    Positions in several spans count once. The function stores intervals, because spans may be very long.

    Args:
        spans: Spans, sorted by their start.
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
    preceding = [0, *accumulate(lengths)]  # positions in the intervals before each interval

    def below(position: int) -> int:
        n = bisect_left(starts, position)  # intervals that start below
        return preceding[n] - max(0, ends[n - 1] - position) if n else 0

    return below


class SpanOverlapP(QuotientMetric, _OverlapMetric):
    """Precision with partial credit, from 0 to 1.

    By default, the credit of a system's span is the share of its length that gold spans of the same type cover.
    Precision is undefined if the system has no span.
    """

    called = "precision with partial credit"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the total credit of the system's spans in one item, and their number."""
        return self.sum_credits(item, answer)[:2]


class SpanOverlapR(QuotientMetric, _OverlapMetric):
    """Recall with partial credit, from 0 to 1.

    By default, the credit of a gold span is the share of its length that the system's spans of the same type cover.
    """

    called = "recall with partial credit"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the total credit of the gold's spans in one item, and their number."""
        return self.sum_credits(item, answer)[2:]


class SpanOverlapF(FScore, _OverlapMetric):
    """Harmonic mean of precision and recall with partial credit, from 0 to 1.

    By default, the credit of a system's span is the share of its length that gold spans of the same type cover, and
    vice versa for gold spans. Recall is weighted by beta squared.
    """

    called = "F{beta:g} with partial credit"
    family = "additive"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the credits and the numbers of the spans of one item.

        Returns:
            Credit and number of the system's spans, credit and number of the gold's spans; followed by zeros to fill
                the columns of a table.
        """
        return (*self.sum_credits(item, answer), *(0,) * (_WIDTH - 4))

    def score(self, sums: Floats) -> Floats:
        """Compute F-scores from credits and numbers of spans that are summed over items.

        The score is 0 if only one side has spans or none overlaps, and NaN if neither side has spans.

        Args:
            sums: Credit and number of the system's spans, then of the gold's spans, [..., columns].
        """
        precision, recall = (share(sums[..., n], sums[..., n + 1], 0.0) for n in (0, 2))
        square = self.beta**2
        scores = share((1 + square) * precision * recall, square * precision + recall, 0.0)
        return np.where((sums[..., 1] == 0) & (sums[..., 3] == 0), np.nan, scores)
