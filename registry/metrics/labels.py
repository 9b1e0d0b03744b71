"""Metrics of one label per item."""

from __future__ import annotations

from registry.items import Answer, Item
from registry.metrics.base import QuotientMetric


class Accuracy(QuotientMetric):
    """The share of items with the gold label, from 0 to 1; an item without an answer counts as wrong."""

    takes = "label"
    citation = "Manning, Raghavan and Schütze 2008, section 13.6"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (1 if the label is the gold's, 1)."""
        return (int(answer is not None and answer.value == item.gold), 1)
