"""Metrics of typed spans: exact match of start, end and type, summed over all items (micro-averaged)."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Any

from registry.metrics.matches import FBeta, MatchMetric, Precision, Recall


class _SpanMetric(MatchMetric):
    """What the three share."""

    takes = "span"
    citation = "Tjong Kim Sang and De Meulder 2003, section 2"

    def members(self, value: Any) -> Set[Hashable]:
        return {span for span in value.spans if self.type in (None, span.type)}


class SpanP(_SpanMetric, Precision):
    """Precision: the share of a system's spans that the gold has; undefined where the system has none."""


class SpanR(_SpanMetric, Recall):
    """Recall: the share of the gold's spans that the system has."""


class SpanF(_SpanMetric, FBeta):
    """F-beta: the harmonic mean of precision and recall, recall weighted by beta squared, from 0 to 1."""

    citation = "van Rijsbergen 1979, chapter 7"
