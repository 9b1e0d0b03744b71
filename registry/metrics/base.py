"""Base classes of metrics.

A metric computes statistics from items and answers, and a score from sums of statistics over items.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import field, fields
from importlib import import_module
from itertools import compress
from math import inf
from string import Formatter
from typing import Any, ClassVar, Literal

import numpy as np

from registry.arrays import Floats, share
from registry.columns import JoinedColumns
from registry.errors import InputError
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.values import Value, format_option

Quotient = tuple[tuple[int, ...], tuple[int, ...]]
FROM_ZERO = (0.0, inf)  # range of a score that is at least 0
UNBOUNDED = (-inf, inf)


class Metric(Value):
    """Base class of metrics; a metric is an immutable object with options.

    A metric computes numbers (statistics) from each item's gold value and answer, and a score from the numbers of all
    items.

    Attributes:
        takes: Kind of the gold values and answer values that the metric compares, such as `label` or `span`.
        family: Name of the statistics family, which defines the columns of statistics.
        better: Direction of the score: `higher` or `lower` scores are better.
        citation: Publications that define the metric. A source of one option follows its value, as in
            `match=fuzzy: Ehrmann et al. 2020`.
        scorer: Other program with which our tests compare the metric.
        extra: Extra of this package (`pip install evalregistry[EXTRA]`) that installs optional dependencies.
        libraries: Packages whose versions may change the scores.
        revision: Number that increases when a new version of the metric gives other results.
        unbounded: True if the metric has no worst value.
        called: Usual name, which may contain options in braces, such as `F{beta:g}`.
        decimals: Number of decimals that papers print.
        column: Column of the scores that the metric uses, if files have several; None for the first.
        score_range: Lowest and highest possible score, which also limit confidence intervals; may be infinite.
    """

    takes: ClassVar[str]
    family: ClassVar[str]
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    citation: ClassVar[str]
    scorer: ClassVar[str] = ""
    extra: ClassVar[str] = ""
    libraries: ClassVar[tuple[str, ...]] = ()
    revision: ClassVar[int] = 1
    unbounded: ClassVar[bool] = False
    called: ClassVar[str] = ""
    decimals: ClassVar[int] = 4
    column: ClassVar[str | None] = None
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def format_name(self) -> tuple[str, Collection[str]]:
        """Return the usual name, such as `F1`, and the options whose values it contains.

        For example, `("F1", ["beta"])`. The name is empty if the metric has no usual name.
        """
        shown = [name for _, name, _, _ in Formatter().parse(self.called) if name]
        return self.called.format(**{name: getattr(self, name) for name in shown}), shown

    @property
    def title(self) -> str:
        """Name for leaderboards: the usual name with all options that are not defaults.

        If the metric has no usual name, the title is its `repr`.
        """
        words, _ = self.format_name()
        if not words:
            return repr(self)
        words += f" of {', '.join(types)}" if (types := self.types()) else ""
        options = [f"{name}={value}" for name, value in self.shown_options]
        return words + (f" ({', '.join(options)})" if options else "")

    @property
    def shown_options(self) -> list[tuple[str, str]]:
        """Name and value of the options that are neither defaults nor in the usual name."""
        _, shown = self.format_name()
        return [(option.name, format_option(value)) for option in fields(self)
                if option.name not in (*shown, "type", "better")
                and (value := getattr(self, option.name)) != option.default]

    @property
    def signature(self) -> str:
        """All options as the scorer prints them for papers, without its version; empty if it prints none."""
        return ""

    @property
    def original(self) -> Metric:
        """The metric whose score this metric computes: usually the metric itself.

        For `Recorded`, which uses stored statistics, it is the metric that has computed the statistics.
        """
        return self

    @property
    def used_columns(self) -> tuple[str, ...]:
        """Names of the columns of statistics that the metric uses.

        Other columns of its statistics family are always 0.
        """
        return FAMILIES[self.family].columns

    @abstractmethod
    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the numbers (statistics) of one item, from which the score is computed.

        For example, accuracy returns (1, 1) for a correct and (0, 1) for an incorrect label. If `answer` is None, the
        numbers are those of the worst answer.
        """

    def needs(self) -> tuple[str, ...]:
        """Return the names of gold data or references that the metric requires."""
        return ()

    def types(self) -> tuple[str, ...]:
        """Return the types of answers that the metric counts, such as ("PER",).

        The result is empty if it counts all types.
        """
        type_ = getattr(self, "type", None)
        return () if type_ is None else (type_,)

    def check_gold(self, items: Sequence[Item]) -> None:
        """Check that the metric can score items with these gold values.

        By default there is nothing to check.

        Raises:
            InputError: The metric cannot score an item, such as one with a blank reference.
        """

    def list_option_labels(self) -> tuple[str, ...]:
        """Return the labels that the metric's options name; the gold must contain each."""
        return ()

    @property
    def has_worst(self) -> bool:
        """True if the metric can count a missing answer as the worst answer."""
        return not self.unbounded

    def uncountable(self, value: Any) -> str | None:  # noqa: ARG002
        """Return a message for the user if the metric cannot score an answer; else None."""
        return None

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Compute the numbers per item from which the score is computed, for many items.

        Args:
            items: Items with their gold values.
            answers: Answer to each item; None if there is none.

        Returns:
            Statistics, [items, columns].
        """
        columns = FAMILIES[self.family].columns
        if not (self.takes_columns and isinstance(answers, JoinedColumns) and answers.is_numeric and (
                self.has_worst or answers.has_answer.all())):
            rows = [self.statistics(item, answer) for item, answer in zip(items, answers, strict=True)]
            if wrong := set(map(len, rows)) - {len(columns)}:
                raise TypeError(f"statistics of {self.name} gave {min(wrong)} numbers; its family {self.family!r} has "
                                f"{len(columns)} columns: {', '.join(columns)}")
            return np.array(rows, dtype=np.float64).reshape(len(rows), len(columns))
        if (is_present := answers.has_answer).all():
            return self.statistics_of_columns(items, answers)
        statistics = np.empty((len(items), len(columns)))
        statistics[~is_present] = [self.statistics(item, None) for item in compress(items, ~is_present)]
        statistics[is_present] = self.statistics_of_columns(
            list(compress(items, is_present)), answers.select(is_present))
        return statistics

    @property
    def takes_columns(self) -> bool:
        """True if the metric has a fast method for many answers: `statistics_of_columns`."""
        return type(self).statistics_of_columns is not Metric.statistics_of_columns

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        """Compute the numbers per item from answers that are stored in arrays.

        Metrics may override this fast alternative to `statistics`.

        Args:
            items: Items with their gold values.
            answers: Answers as NumPy columns; all items must have an answer.

        Returns:
            Statistics, [items, columns].
        """
        raise NotImplementedError

    def make_unanswered_error(self, item: Item) -> InputError:
        """Make the error that an item has no answer.

        Metrics without a worst value raise it.
        """
        set_ = "its option worst" if hasattr(self, "worst") else 'missing = "drop"'
        return InputError(f"it has no answer, and {self.name} has no worst value that could count instead; add the "
                          f"answer, or set {set_}", item=item.key)


class AdditiveMetric(Metric):
    """Base class of metrics whose score is a function of sums over items."""

    @property
    def quotient(self) -> Quotient | None:
        """Weights of a score that divides one weighted sum of statistics by another.

        Weights are whole numbers: a tuple for the numerator and one for the denominator. For example, precision is
        `((1, 0, 0), (0, 1, 0))` if the statistics are correct, predicted and gold answers. None if the score has
        another form.
        """
        return None

    @abstractmethod
    def score(self, sums: Floats) -> Floats:
        """Compute scores from statistics that were summed over items.

        Args:
            sums: Sums of statistics, [..., columns]; one row per system or resample.

        Returns:
            Scores, [...]; NaN if a score is undefined.
        """


class QuotientMetric(AdditiveMetric):
    """Base class of metrics that divide one weighted sum of statistics by another.

    Accuracy, precision, recall, F-beta, error rates and AER have this form. Exact tests require it.

    Attributes:
        coefficients: Weights of the statistics in numerator and denominator, as whole numbers. The default,
            `((1, 0), (0, 1))`, divides the sum of the first statistic by the sum of the second. A metric whose options
            change the weights overrides `quotient` instead.
    """

    family = "ratio"
    coefficients: ClassVar[Quotient] = ((1, 0), (0, 1))

    @property
    def quotient(self) -> Quotient:
        return self.coefficients

    def score(self, sums: Floats) -> Floats:
        numerator, denominator = (sums @ np.array(side, dtype=np.float64) for side in self.quotient)
        return share(numerator, denominator)


def import_extra(name: str, metric: Metric) -> Any:
    """Import a module of an optional dependency that a metric needs.

    Args:
        name: Name of the module.
        metric: The metric, for the error.

    Raises:
        InputError: The module is not installed; the error names the command that installs it.
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise InputError(f"{metric.name} needs the package {package}; run pip install 'evalregistry[{metric.extra}]'"
                         ) from None


class DeclaredRange(Metric):
    """Base class of metrics whose range of scores the user can declare.

    Attributes:
        low: Lowest possible score; None if there is no limit.
        high: Highest possible score; None if there is no limit.
    """

    low: float | None = field(default=None, kw_only=True)
    high: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.score_range
        if not low < high:
            raise InputError(f"options of {self.name}: 'low' is {low:g}, but 'high' is {high:g}; set 'low' below "
                             "'high'")

    @property
    def score_range(self) -> tuple[float, float]:  # type: ignore[override]  # depends on options here
        return -inf if self.low is None else self.low, inf if self.high is None else self.high


class FScore(Metric):
    """Base class of F-scores.

    Attributes:
        beta: Weight of recall; recall counts beta squared times as much as precision.
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.beta, self.name)


def check_beta(beta: float, name: str) -> None:
    """Check that the weight of recall is a number from 0 to 1000.

    Args:
        beta: Weight of recall.
        name: Name of the metric, for the error.

    Raises:
        InputError: It is another number.
    """
    if not 0 <= beta <= 1000:
        raise InputError(f"option 'beta' of {name} is {beta!r}; expected a number from 0 to 1000")
