"""Partial credit for spans: precision, recall and F of spans that need only overlap, summed over all items.

Two definitions, neither of which has to choose which span is meant by which:

- `share`: a span of the system is right to the share of its positions (tokens, characters) that lie in gold spans of
  its type, and a gold span is found to the share of its own that lie in the system's (Johansson and Moschitti 2010,
  "Syntactic and semantic structure for opinion expression detection", section 3; SemEval-2020 task 11).
- `any`: a span is right, or found, as a whole where it shares a position with one of its type (Breck, Choi and Cardie
  2007, "Identifying expressions of opinion in context").

Precision and recall have numerators of their own, so that F is no quotient of two sums.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Literal

import numpy as np

from registry.arrays import Floats, share
from registry.families import FAMILIES
from registry.items import Answer, Item, Span
from registry.metrics.base import AdditiveMetric, FScore, QuotientMetric

_WIDTH = len(FAMILIES["additive"].columns)


class _OverlapMetric(AdditiveMetric):
    """What the three share; `type` restricts them to spans of that type."""

    takes = "span"
    citation = "Johansson and Moschitti 2010; Breck, Choi and Cardie 2007"

    credit: Literal["share", "any"] = "share"
    type: str | None = None

    def credits(self, item: Item, answer: Answer | None) -> tuple[float, int, float, int]:
        """Give the credit of the system's spans, their number, the credit of the gold's, and theirs."""
        gold = self._counted(item.gold.spans)
        found = [] if answer is None else self._counted(answer.value.spans)
        return self._credit(found, gold), len(found), self._credit(gold, found), len(gold)

    def _counted(self, spans: Iterable[Span]) -> list[Span]:
        return sorted(span for span in spans if self.type in (None, span.type))

    def _credit(self, spans: list[Span], others: list[Span]) -> float:
        covers = {type_: _cover([other for other in others if other.type == type_])
                  for type_ in {other.type for other in (*spans, *others)}}
        shared = [covers[span.type](span.end) - covers[span.type](span.start) for span in spans]
        if self.credit == "any":
            return sum(n > 0 for n in shared)
        return sum(n / (span.end - span.start) for n, span in zip(shared, spans, strict=True))


def _cover(spans: list[Span]) -> Callable[[int], int]:
    """Counts how many positions below one lie in any of some spans, which come in order.

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
        """Combine precision and recall; 0 where one side has no span, or none overlaps, nan where neither has any."""
        precision, recall = (share(sums[..., n], sums[..., n + 1], 0.0) for n in (0, 2))
        square = self.beta**2
        scores = share((1 + square) * precision * recall, square * precision + recall, 0.0)
        return np.where((sums[..., 1] == 0) & (sums[..., 3] == 0), np.nan, scores)
