"""Metrics of numbers per item: means, errors, correlations, log-probabilities, and means corrected by human scores.

`significance.correlations` computes correlations. `JudgedMean` corrects the mean score of an automatic
judge by human scores of some items: with a slope b, it is the mean human score plus b times the difference between the
judge's mean over all items and over the judged ones (regression estimator; Cochran 1977, chapter 7). The slope with the
least error gives the prediction-powered mean with power tuning (PPI++; Angelopoulos, Duchi and Zrnic 2023); its lambda
is b times the share of items without a human score. Slope and score are functions of sums, so resamples recompute both.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from registry.arrays import Floats, share
from registry.columns import JoinedColumns
from registry.errors import InputError
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.judged import COLUMNS, columns, corrected
from registry.metrics.base import FROM_ZERO, UNBOUNDED, AdditiveMetric, DeclaredRange, Metric, QuotientMetric

Number = TypeVar("Number", float, Floats)


class Mean(DeclaredRange, QuotientMetric):
    """The mean of the items' scores, whose range `low` and `high` declare.

    Attributes:
        better: Whether `higher` or `lower` scores are better.
        worst: Score of an item without a score.
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
            raise self.make_unanswered_error(item)
        if not self._is_in_range(value):
            raise self._describe_outside(value, item)
        return (value, 1)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        if len(outside := np.flatnonzero(~self._is_in_range(answers.values))):
            raise self._describe_outside(answers.values[outside[0]], items[outside[0]])
        return np.stack([answers.values, np.ones(len(answers))], axis=1)


    def _is_in_range(self, value: Any) -> Any:
        low, high = self.score_range
        return (low <= value) & (value <= high)

    def _describe_outside(self, value: float, item: Item) -> InputError:
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
        return ("gold",)

    @abstractmethod
    def loss(self, error: Number) -> Number:
        """Return the loss of one item or of many."""

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (loss, 1)."""
        if answer is None:
            raise self.make_unanswered_error(item)
        return (self.loss(answer.value - item.gold), 1)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        golds = np.array([item.gold for item in items], dtype=np.float64)
        return np.stack([self.loss(answers.values - golds), np.ones(len(answers))], axis=1)


class MAE(_ErrorMetric, QuotientMetric):
    """Mean absolute error, from 0 up; lower is better."""

    called = "mean absolute error"
    citation = "Willmott and Matsuura 2005"

    def loss(self, error: Number) -> Number:
        return abs(error)


class RMSE(_ErrorMetric):
    """Root of the mean squared error, from 0; lower is better. An item's statistic is its squared error."""

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
        return ("gold",)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (the system's number, the gold's); an item without one has no worst one."""
        if answer is None:
            raise self.make_unanswered_error(item)
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
    """Kendall's tau-b, from -1 to 1: concordant minus discordant pairs, corrected for ties on both sides."""

    called = "Kendall's tau-b"
    coefficient = "kendall"
    citation = "Kendall 1945"
    scorer = "scipy (kendalltau)"


_EMPTY = (0.0,) * (16 - len(COLUMNS))


class JudgedMean(AdditiveMetric):
    """The mean of people's scores, estimated from a judge's scores of all items and people's of some.

    `slope` is how much of the judge's mean is taken: 0 leaves people's scores alone, 1 is the difference estimator, and
    without it the slope with the least error is taken. `better` says which scores are the better ones.
    """

    called = "mean of people's scores, estimated with a judge"
    takes = "judged"
    family = "additive"
    citation = "Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023 (PPI++); Cochran 1977, chapter 7"
    scorer = "ppi-python"
    unbounded = True
    score_range = UNBOUNDED
    filled = FAMILIES["additive"].columns[:len(COLUMNS)]

    better: Literal["higher", "lower"] = "higher"  # type: ignore[misc]  # an option here
    slope: float | None = None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the item's terms of the sums in `registry.judged.COLUMNS`, then zeros."""
        if answer is None:
            raise self.make_unanswered_error(item)
        if item.gold == 1 and "human" not in answer.value:
            raise InputError("was to be looked at by people with probability 1, and there is no score by them",
                             item=item.key)
        w = 1.0 if item.gold is None else 1 / item.gold
        a, human = 1.0 if item.gold is None else w - 1, answer.value.get("human")
        return (*columns(answer.value["judge"], human or 0.0, w * (human is not None), a), *_EMPTY)

    def score(self, sums: Floats) -> Floats:
        return corrected(sums, self.slope)


class Perplexity(AdditiveMetric):
    """Perplexity, exp of the mean negative log-probability of a token, from 1 up; lower is better.

    It compares models that cut texts into the same tokens; `BitsPerCharacter` any. Of one item the nats per token are
    kept.
    """

    called = "perplexity"
    decimals = 2
    takes = "logprob"
    family = "ratio"
    better = "lower"
    unbounded = True
    score_range = (1.0, math.inf)
    citation = "Jelinek et al. 1977"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (nats, tokens)."""
        if answer is None:
            raise self.make_unanswered_error(item)
        total, tokens = answer.value
        return (-total, tokens)

    def score(self, sums: Floats) -> Floats:
        """Exp of nats over tokens; without any token, or beyond the largest number, nan."""
        with np.errstate(over="ignore"):
            scores = np.exp(share(sums[..., 0], sums[..., 1]))
        return np.where(np.isfinite(scores), scores, np.nan)


class BitsPerCharacter(QuotientMetric):
    """Negative log-probability of the texts in bits over their characters, from 0 up; lower is better."""

    called = "bits per character"
    takes = "logprob"
    better = "lower"
    unbounded = True
    score_range = FROM_ZERO
    citation = "Shannon 1951; Graves 2013"

    def needs(self) -> tuple[str, ...]:
        return ("text",)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (bits, characters)."""
        if answer is None:
            raise self.make_unanswered_error(item)
        return (-answer.value[0] / math.log(2), item.gold)
