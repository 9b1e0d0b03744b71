"""Statistics that another registry counted, scored as its metric scores them."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from importlib import import_module

from registry.arrays import Floats
from registry.errors import InputError
from registry.items import Item
from registry.metrics.additive import NamedStatistics
from registry.metrics.base import AdditiveMetric, Metric, Quotient
from registry.metrics.confusion import ConfusionMetric
from registry.values import parse


class Recorded(NamedStatistics):
    """The score of another metric, of statistics that were counted before; its range is that of the metric.

    `of` is the other metric with its options, such as `"SpanF(beta=1)"`; `columns` are the columns that hold what it
    counts, in the order of its family. Measures by class and correlations rest on labels and numbers instead.
    """

    citation = "that of the metric"
    has_worst = False

    of: str = field(kw_only=True)
    columns: tuple[str, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        counted = self.original.filled
        if len(self.columns) != len(counted):
            raise InputError(f"option 'columns' of Recorded needs a column for each of {', '.join(counted)}, which "
                             f"{self.of} counts")
        object.__setattr__(self, "family", self.original.family)
        object.__setattr__(self, "better", self.original.better)

    @cached_property
    def original(self) -> AdditiveMetric:
        known: dict[str, type[Metric]] = import_module("registry.metrics").METRICS  # which imports this module
        found = parse("metric", known, self.of)
        if not isinstance(found, AdditiveMetric) or isinstance(found, ConfusionMetric | Recorded):
            raise InputError(f"option 'of' of Recorded is {self.of!r}, whose statistics do not add up")
        return found

    @property
    def title(self) -> str:
        return self.original.title

    def needs(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    @property
    def quotient(self) -> Quotient | None:
        return self.original.quotient

    def without_answer(self, item: Item) -> tuple[float, ...]:
        """Refuse the item: what it would count is not known."""
        raise self.unanswered(item)

    def score(self, sums: Floats) -> Floats:
        """Score as the other metric does."""
        return self.original.score(sums)
