"""Metrics of numbers per item: means, errors, correlations and log-probabilities.

The module `significance.correlations` computes correlations. `JudgedMean` corrects the mean score of an automatic judge
by human scores of some items. The corrected mean is the mean human score plus b times the difference between two means
of the judge: over all items, and over the items with a human score (regression estimator; Cochran 1977, chapter 7). The
slope b with the smallest error gives the prediction-powered mean with power tuning (PPI++; Angelopoulos, Duchi and
Zrnic 2023); its lambda is b times the share of items without a human score. Slope and score are functions of sums, so
that each resample recomputes both.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import field, fields
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from registry.arrays import Floats, share
from registry.columns import JoinedColumns
from registry.errors import InputError
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.judged import COLUMNS, estimate_mean, make_columns
from registry.metrics.base import FROM_ZERO, UNBOUNDED, AdditiveMetric, DeclaredRange, Metric, QuotientMetric
from registry.values import format_option

Number = TypeVar("Number", float, Floats)


class Mean(DeclaredRange, QuotientMetric):
    """Mean of the items' scores.

    Attributes:
        low: Lowest possible score; None if there is no limit.
        high: Highest possible score; None if there is no limit.
        better: Direction of scores: `higher` or `lower` scores are better.
        worst: Score that an item without an answer gets; no score may be worse. None if such an item is an error.
        column: Column of the scores in the files of systems, if a task has metrics of several columns. None for the
            column that the reader's option `score` names.
    """

    called = "mean score"
    takes = "score"
    citation = "that of the scores"
    terse = True

    better: Literal["higher", "lower"] = "higher"  # type: ignore[misc]  # an option here
    worst: float | None = None
    column: str | None = field(default=None, kw_only=True)  # type: ignore[misc]  # an option here

    def format_name(self) -> tuple[str, Collection[str]]:
        return super().format_name() if self.column is None else (f"mean of {self.column}", ["column"])

    @property
    def has_worst(self) -> bool:
        return self.worst is not None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return two numbers for one item: its score, and 1.

        The mean is the sum of the first numbers over the sum of the second.
        """
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

    def name_with_worst(self) -> str:
        """Return the canonical name with a place for the option worst, such as `Mean(better=lower, worst=NUMBER)`."""
        options = {f.name: format_option(value) for f in fields(self) if (value := getattr(self, f.name)) != f.default}
        shown = ", ".join(f"{name}={value}" for name, value in (options | {"worst": "NUMBER"}).items())
        return f"{self.name}({shown})"

    def make_unanswered_error(self, item: Item) -> InputError:
        error = super().make_unanswered_error(item)
        return InputError(f"{error.message} to the worst possible score: {self.name_with_worst()}", item=item.key)

    def _is_in_range(self, value: Any) -> Any:
        low, high = self.score_range
        if self.worst is not None:
            low, high = (low, min(high, self.worst)) if self.better == "lower" else (max(low, self.worst), high)
        return (low <= value) & (value <= high)

    def _describe_outside(self, value: float, item: Item) -> InputError:
        low, high = self.score_range
        if low <= value <= high and self.worst is not None:
            return InputError(f"worst = {self.worst:g} is better than the observed score {value:g}; set it to the "
                              f"worst possible score: {self.name_with_worst()}", item=item.key)
        return InputError(f"score {value:g} is outside the declared range, {low:g} to {high:g}; correct the score, or "
                          "the options 'low' and 'high' of Mean", item=item.key)


class _ErrorMetric(AdditiveMetric):
    """Base class of metrics that average an error over items; lower is better."""

    takes = "score"
    family = "ratio"
    better = "lower"
    unbounded = True
    score_range = FROM_ZERO

    def needs(self) -> tuple[str, ...]:
        return ("gold",)

    @abstractmethod
    def loss(self, error: Number) -> Number:
        """Return the loss of an error, such as its absolute value or its square.

        Args:
            error: The system's number minus the gold number, for one item or an array of items.
        """

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return two numbers for one item: the loss, such as the squared error; and 1.

        The mean loss is the sum of the first numbers over the sum of the second.
        """
        if answer is None:
            raise self.make_unanswered_error(item)
        return (self.loss(answer.value - item.gold), 1)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        golds = np.array([item.gold for item in items], dtype=np.float64)
        return np.stack([self.loss(answers.values - golds), np.ones(len(answers))], axis=1)


class MAE(_ErrorMetric, QuotientMetric):
    """Mean absolute error, at least 0; lower is better."""

    called = "mean absolute error"
    citation = "Willmott and Matsuura 2005"

    def loss(self, error: Number) -> Number:
        return abs(error)


class RMSE(_ErrorMetric):
    """Root mean squared error, at least 0; lower is better."""

    called = "root mean squared error"
    citation = "Willmott and Matsuura 2005"

    def loss(self, error: Number) -> Number:
        return error * error

    def score(self, sums: Floats) -> Floats:
        """Compute the root of the mean squared error from sums over items.

        The result is NaN if there is no item.

        Args:
            sums: Sum of squared errors, and number of items, [..., 2].
        """
        return np.asarray(np.sqrt(share(sums[..., 0], sums[..., 1])), dtype=np.float64)


class CorrelationMetric(Metric):
    """Base class of correlations between the system's numbers and the gold numbers.

    A correlation is computed from all pairs of numbers, not from sums of statistics.

    Attributes:
        coefficient: Name of the correlation coefficient: `pearson`, `spearman` or `kendall`.
    """

    takes = "score"
    family = "pair"
    unbounded = True
    score_range = (-1.0, 1.0)
    coefficient: ClassVar[str]

    def needs(self) -> tuple[str, ...]:
        return ("gold",)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return two numbers for one item: the system's number and the gold number.

        Raises:
            InputError: The item has no answer. Other metrics count it as the worst possible answer, but for a
                correlation no number is the worst.
        """
        if answer is None:
            raise self.make_unanswered_error(item)
        return (answer.value, item.gold)


class Pearson(CorrelationMetric):
    """Pearson's r, from -1 to 1; undefined if all numbers of one side are equal."""

    called = "Pearson's r"
    coefficient = "pearson"
    citation = "Pearson 1896"
    scorer = "scipy (pearsonr)"


class Spearman(CorrelationMetric):
    """Spearman's rho, from -1 to 1: Pearson's r of the ranks.

    Tied values have the mean of their ranks.
    """

    called = "Spearman's rho"
    coefficient = "spearman"
    citation = "Spearman 1904"
    scorer = "scipy (spearmanr)"


class Kendall(CorrelationMetric):
    """Kendall's tau-b, from -1 to 1.

    The coefficient is the number of concordant minus discordant pairs, corrected for ties on both sides.
    """

    called = "Kendall's tau-b"
    coefficient = "kendall"
    citation = "Kendall 1945"
    scorer = "scipy (kendalltau)"


_EMPTY = (0.0,) * (16 - len(COLUMNS))


class JudgedMean(AdditiveMetric):
    """Mean human score, estimated from a judge's scores of all items.

    The judge is an automatic scorer, such as a language model. Human scores of some items correct the mean.

    Attributes:
        slope: Weight b in: mean human score + b * (judge's mean over all items - judge's mean over items with a human
            score). 0 ignores the judge; None selects the weight with the smallest error.
        better: Direction of scores: `higher` or `lower` scores are better.
    """

    called = "mean of people's scores, estimated with a judge"
    takes = "judged"
    family = "additive"
    citation = "Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023 (PPI++); Cochran 1977, chapter 7"
    scorer = "ppi-python"
    unbounded = True
    score_range = UNBOUNDED
    used_columns = FAMILIES["additive"].columns[:len(COLUMNS)]

    better: Literal["higher", "lower"] = "higher"  # type: ignore[misc]  # an option here
    slope: float | None = None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the numbers of one item that the estimate of the mean needs.

        For example, the first number is the judge's score. Zeros are appended up to 16 numbers, the width of the
        database table.

        Raises:
            InputError: The item has no answer, or its human score is missing although it was certain to be sampled.
        """
        if answer is None:
            raise self.make_unanswered_error(item)
        if item.gold == 1 and "human" not in answer.value:
            raise InputError("it has no human score, although its sampling probability is 1; add the score",
                             item=item.key)
        w = 1.0 if item.gold is None else 1 / item.gold
        a, human = 1.0 if item.gold is None else w - 1, answer.value.get("human")
        return (*make_columns(answer.value["judge"], human or 0.0, w * (human is not None), a), *_EMPTY)

    def score(self, sums: Floats) -> Floats:
        return estimate_mean(sums, self.slope)


class Perplexity(AdditiveMetric):
    """Perplexity: exp of the negative log-probability per token; lower is better.

    The lowest value is 1. Perplexities are comparable only between models that divide texts into the same tokens;
    `BitsPerCharacter` is comparable between all models.
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
        """Return an item's negative log-probability in nats, and its number of tokens."""
        if answer is None:
            raise self.make_unanswered_error(item)
        total, tokens = answer.value
        return (-total, tokens)

    def score(self, sums: Floats) -> Floats:
        """Compute perplexity, exp(nats / tokens), from sums over items.

        The result is NaN if there is no token, or if it is too large for a float.

        Args:
            sums: Sums of negative log-probabilities in nats, and of tokens, [..., 2].
        """
        with np.errstate(over="ignore"):
            scores = np.exp(share(sums[..., 0], sums[..., 1]))
        return np.where(np.isfinite(scores), scores, np.nan)


class BitsPerCharacter(QuotientMetric):
    """Negative log-probability of texts in bits per character; lower is better.

    The lowest value is 0.
    """

    called = "bits per character"
    takes = "logprob"
    better = "lower"
    unbounded = True
    score_range = FROM_ZERO
    citation = "Shannon 1951; Graves 2013"

    def needs(self) -> tuple[str, ...]:
        return ("text",)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the negative log-probability of a text in bits, and its length."""
        if answer is None:
            raise self.make_unanswered_error(item)
        return (-answer.value[0] / math.log(2), item.gold)
