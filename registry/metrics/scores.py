"""Metrics of one number per item that somebody else computed: its mean, and how it goes with the right number.

Errors are averaged; correlations are scored by `significance.correlations.coefficients`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from registry.arrays import Floats, share
from registry.columns import JoinedColumns
from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.base import FROM_ZERO, AdditiveMetric, DeclaredRange, Metric, QuotientMetric

Number = TypeVar("Number", float, Floats)


class Mean(DeclaredRange, QuotientMetric):
    """The mean of the items' scores; `better` says which are the better ones, `worst` what an item without one counts.

    Its range is that of the scores: `low` and `high` declare it, and intervals stay within.
    """

    called = "mean score"
    takes = "score"
    citation = "that of the scores"
    terse = True

    better: Literal["higher", "lower"] = "higher"  # type: ignore[misc]  # an option here
    worst: float | None = None

    @property
    def has_worst(self) -> bool:
        return self.worst is not None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (score, 1)."""
        value = self.worst if answer is None else answer.value
        if value is None:
            raise self.unanswered(item)
        if not self._is_in_range(value):
            raise self._outside(value, item)
        return (value, 1)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        """The scores beside ones."""
        if len(outside := np.flatnonzero(~self._is_in_range(answers.values))):
            raise self._outside(answers.values[outside[0]], items[outside[0]])
        return np.stack([answers.values, np.ones(len(answers))], axis=1)


    def _is_in_range(self, value: Any) -> Any:
        low, high = self.score_range
        return (low <= value) & (value <= high)

    def _outside(self, value: float, item: Item) -> InputError:
        low, high = self.score_range
        return InputError(f"score {value:g} is outside of the declared range, {low:g} to {high:g}; correct the score, "
                          "or the options 'low' and 'high' of Mean", item=item.key)


class _ErrorMetric(AdditiveMetric):
    """What both share: the loss of an item, averaged; lower is better, 0 is best."""

    takes = "score"
    family = "ratio"
    better = "lower"
    unbounded = True
    score_range = FROM_ZERO

    def needs(self) -> tuple[str, ...]:
        """The right numbers."""
        return ("gold",)

    @abstractmethod
    def loss(self, error: Number) -> Number:
        """What an error counts, or each of many."""

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (loss, 1)."""
        if answer is None:
            raise self.unanswered(item)
        return (self.loss(answer.value - item.gold), 1)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        """The losses beside ones."""
        golds = np.array([item.gold for item in items], dtype=np.float64)
        return np.stack([self.loss(answers.values - golds), np.ones(len(answers))], axis=1)


class MAE(_ErrorMetric, QuotientMetric):
    """Mean absolute error, from 0 up; lower is better."""

    called = "mean absolute error"
    citation = "Willmott and Matsuura 2005"

    def loss(self, error: Number) -> Number:
        return abs(error)


class RMSE(_ErrorMetric):
    """Root of the mean squared error, from 0 up; lower is better. Of one item it is kept as the squared error."""

    called = "root mean squared error"
    citation = "Willmott and Matsuura 2005"

    def loss(self, error: Number) -> Number:
        return error * error

    def score(self, sums: Floats) -> Floats:
        """The root of squared errors over items; of none nan."""
        return np.asarray(np.sqrt(share(sums[..., 0], sums[..., 1])), dtype=np.float64)


class CorrelationMetric(Metric):
    """What all share: pairs of numbers are scored, and not sums.

    `coefficient` is the name of the one that scores them.
    """

    takes = "score"
    family = "pair"
    unbounded = True
    score_range = (-1.0, 1.0)
    coefficient: ClassVar[str]

    def needs(self) -> tuple[str, ...]:
        """The right numbers."""
        return ("gold",)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (the system's number, the gold's); an item without one has no worst one."""
        if answer is None:
            raise self.unanswered(item)
        return (answer.value, item.gold)


class Pearson(CorrelationMetric):
    """Pearson's r, from -1 to 1; undefined where either side has no spread."""

    called = "Pearson's r"
    coefficient = "pearson"
    citation = "Pearson 1896"
    scorer = "scipy (pearsonr)"


class Spearman(CorrelationMetric):
    """Spearman's rho, from -1 to 1: Pearson's r of the ranks, tied values having the mean of theirs."""

    called = "Spearman's rho"
    coefficient = "spearman"
    citation = "Spearman 1904"
    scorer = "scipy (spearmanr)"


class Kendall(CorrelationMetric):
    """Kendall's tau-b, from -1 to 1: concordant less discordant pairs, over those that are tied on neither side."""

    called = "Kendall's tau-b"
    coefficient = "kendall"
    citation = "Kendall 1945"
    scorer = "scipy (kendalltau)"
