"""The base of every metric: from items and answers to statistics, and from sums of statistics to a score."""

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
from registry.values import Value, written

Quotient = tuple[tuple[int, ...], tuple[int, ...]]
FROM_ZERO = (0.0, inf)  # range of a score that is 0 at the least
UNBOUNDED = (-inf, inf)


class Metric(Value):
    """A metric with its options.

    Attributes:
        takes: Kind of gold and answer values.
        family: Family of its statistics.
        better: Direction of its score.
        citation: Reference of its definition.
        scorer: Program with which tests compare it.
        extra: Extra of this package with its optional dependencies.
        libraries: Packages whose versions may change its scores.
        revision: Number that changes when its results change.
        unbounded: True if it has no worst value.
        called: Usual name, with options in braces.
        decimals: Number of decimals that papers print.
        score_range: Lowest and highest possible score, infinite if unbounded; limits of intervals.
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
    score_range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def words(self) -> tuple[str, Collection[str]]:
        """Return its usual name, formatted with options, and these options; empty if it has only its class name."""
        shown = [name for _, name, _, _ in Formatter().parse(self.called) if name]
        return self.called.format(**{name: getattr(self, name) for name in shown}), shown

    @property
    def title(self) -> str:
        """Usual name with the options that differ from their defaults; else the canonical name."""
        words, shown = self.words()
        if not words:
            return repr(self)
        words += f" of {', '.join(types)}" if (types := self.types()) else ""
        options = [f"{option.name}={written(value)}" for option in fields(self)
                   if option.name not in (*shown, "type", "better")
                   and (value := getattr(self, option.name)) != option.default]
        return words + (f" ({', '.join(options)})" if options else "")

    @property
    def original(self) -> Metric:
        """Metric that computes the score: itself, unless statistics of another one were recorded."""
        return self

    @property
    def filled(self) -> tuple[str, ...]:
        """Columns of the family that are not always 0."""
        return FAMILIES[self.family].columns

    @abstractmethod
    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the family's columns for one item; no answer (None) counts as the worst answer."""

    def needs(self) -> tuple[str, ...]:
        """Return required names: golds, if an item can have several, or columns of statistics."""
        return ()

    def types(self) -> tuple[str, ...]:
        """Return the answer types that the option `type` selects; empty for all."""
        type_ = getattr(self, "type", None)
        return () if type_ is None else (type_,)

    def check_gold(self, items: Sequence[Item]) -> None:
        """Check the gold.

        Raises:
            InputError: It cannot score an item; names the item.
        """

    def list_option_labels(self) -> tuple[str, ...]:
        """Return labels that options name; a task whose gold lacks one is refused."""
        return ()

    @property
    def has_worst(self) -> bool:
        """True if an item without an answer can count as the worst answer."""
        return not self.unbounded

    def uncountable(self, value: Any) -> str | None:  # noqa: ARG002
        """Return a fault and remedy if an answer's value cannot be counted; otherwise None."""
        return None

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return the family's columns for many items, [items, columns]."""
        columns = FAMILIES[self.family].columns
        if not (self.takes_columns and isinstance(answers, JoinedColumns) and answers.is_numeric and (
                self.has_worst or answers.there.all())):
            rows = [self.statistics(item, answer) for item, answer in zip(items, answers, strict=True)]
            if wrong := set(map(len, rows)) - {len(columns)}:
                raise TypeError(f"statistics of {self.name} gave {min(wrong)} numbers; its family {self.family!r} has "
                                f"{len(columns)} columns: {', '.join(columns)}")
            return np.array(rows, dtype=np.float64).reshape(len(rows), len(columns))
        if (is_present := answers.there).all():
            return self.statistics_of_columns(items, answers)
        statistics = np.empty((len(items), len(columns)))
        statistics[~is_present] = [self.statistics(item, None) for item in compress(items, ~is_present)]
        statistics[is_present] = self.statistics_of_columns(list(compress(items, is_present)), answers.of(is_present))
        return statistics

    @property
    def takes_columns(self) -> bool:
        """True if it has `statistics_of_columns`."""
        return type(self).statistics_of_columns is not Metric.statistics_of_columns

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        """Return the family's columns for many items that all have an answer, [items, columns].

        If a metric does not override it, `statistics` computes them item by item.
        """
        raise NotImplementedError

    def make_unanswered_error(self, item: Item) -> InputError:
        """Return the error for an item without an answer, if there is no worst value."""
        set_ = "its option worst" if hasattr(self, "worst") else 'missing = "drop"'
        return InputError(f"has no answer, and {self.name} no worst value to count instead; set {set_}, or complete "
                          "the file", item=item.key)


class AdditiveMetric(Metric):
    """A metric whose score is a function of statistics summed over items."""

    @property
    def quotient(self) -> Quotient | None:
        """Whole-number coefficients of numerator and denominator, if the score is a quotient of linear functions."""
        return None

    @abstractmethod
    def score(self, sums: Floats) -> Floats:
        """Score summed statistics of shape [..., columns], over any leading axes; undefined is nan."""


class QuotientMetric(AdditiveMetric):
    """A metric that is one linear function of the sums divided by another, which exact tests require.

    Accuracy, precision, recall, F-beta, error rates and AER are such metrics.

    Attributes:
        coefficients: Whole-number coefficients of numerator and denominator, one for each column, if no option changes
            them. By default the first column of the family `ratio` is divided by the second.
    """

    family = "ratio"
    coefficients: ClassVar[Quotient] = ((1, 0), (0, 1))

    @property
    def quotient(self) -> Quotient:
        """Whole-number coefficients of numerator and denominator, if the score is a quotient of linear functions."""
        return self.coefficients

    def score(self, sums: Floats) -> Floats:
        numerator, denominator = (sums @ np.array(side, dtype=np.float64) for side in self.quotient)
        return share(numerator, denominator)


def import_extra(name: str, metric: Metric) -> Any:
    """Import an optional dependency of a metric.

    Raises:
        InputError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise InputError(f"{metric.name} needs {package}: pip install 'evalregistry[{metric.extra}]'") from None


class DeclaredRange(Metric):
    """A metric of scores whose range the user can declare by `low` and `high`; None if unbounded."""

    low: float | None = field(default=None, kw_only=True)
    high: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.score_range
        if not low < high:
            raise InputError(f"option 'low' of {self.name} is {low:g}, and 'high' is {high:g}; expected a lower one")

    @property
    def score_range(self) -> tuple[float, float]:  # type: ignore[override]  # depends on options here
        return -inf if self.low is None else self.low, inf if self.high is None else self.high


class FScore(Metric):
    """A metric that weighs recall by the square of `beta`."""

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.beta, self.name)


def check_beta(beta: float, name: str) -> None:
    """Refuse a recall weight outside the range of F-scores."""
    if not 0 <= beta <= 1000:
        raise InputError(f"option 'beta' of {name} is {beta!r}; expected a number from 0 to 1000")
