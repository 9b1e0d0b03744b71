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

    `takes` is the kind of gold and answer values that it compares, `family` the shape of its statistics, `better` the
    direction of its score, `scorer` the program that tests compare it with, `extra` the optional dependencies that it
    needs, `libraries` the packages whose versions its scores depend on, `revision` a number that changes when what it
    computes changes, `unbounded` whether there is no worst value, `called` what people call it, with options in
    braces, and `decimals` how many of its scores papers print. `score_range` has the lowest and the highest possible
    score, infinite if there is no bound; intervals stay within it.
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
        """What people call it by some of its options, and which these are; empty where only its name says it."""
        told = [name for _, name, _, _ in Formatter().parse(self.called) if name]
        return self.called.format(**{name: getattr(self, name) for name in told}), told

    @property
    def title(self) -> str:
        """What people call it, with the options that are not as by default; else its canonical name."""
        words, told = self.words()
        if not words:
            return repr(self)
        words += f" of {', '.join(types)}" if (types := self.types()) else ""
        options = [f"{of.name}={written(value)}" for of in fields(self)
                   if of.name not in (*told, "type", "better") and (value := getattr(self, of.name)) != of.default]
        return words + (f" ({', '.join(options)})" if options else "")

    @property
    def original(self) -> Metric:
        """The metric by which it scores: itself, but where statistics of another one were recorded."""
        return self

    @property
    def filled(self) -> tuple[str, ...]:
        """The columns of its family that it fills; the others are 0."""
        return FAMILIES[self.family].columns

    @abstractmethod
    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give the family's columns for one item; no answer (None) counts as the worst one."""

    def needs(self) -> tuple[str, ...]:
        """What the metric asks for by name: golds, where an item can have several, or columns of statistics."""
        return ()

    def types(self) -> tuple[str, ...]:
        """The types of answers that alone count, where it does not take all: what its option `type` names."""
        type_ = getattr(self, "type", None)
        return () if type_ is None else (type_,)

    def check_gold(self, items: Sequence[Item]) -> None:
        """Refuse a gold that it cannot score.

        Raises:
            InputError: It cannot; names the item.
        """

    def named_labels(self) -> tuple[str, ...]:
        """The labels that its options name; a task whose gold has none of that name is refused."""
        return ()

    @property
    def has_worst(self) -> bool:
        """Whether an item without an answer can count as the worst one."""
        return not self.unbounded

    def uncountable(self, value: Any) -> str | None:  # noqa: ARG002
        """Say why the metric cannot count an answer's value, and what to do; None where it can."""
        return None

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Give the family's columns for many items, [items, columns]."""
        columns = FAMILIES[self.family].columns
        if not (self.takes_columns and isinstance(answers, JoinedColumns) and answers.is_numeric and (
                self.has_worst or answers.there.all())):
            rows = [self.statistics(item, answer) for item, answer in zip(items, answers, strict=True)]
            if wrong := set(map(len, rows)) - {len(columns)}:
                raise TypeError(f"statistics of {self.name} gave {min(wrong)} numbers; its family {self.family!r} has "
                                f"{len(columns)} columns: {', '.join(columns)}")
            return np.array(rows, dtype=np.float64).reshape(len(rows), len(columns))
        if (there := answers.there).all():
            return self.statistics_of_columns(items, answers)
        found = np.empty((len(items), len(columns)))
        found[~there] = [self.statistics(item, None) for item in compress(items, ~there)]
        found[there] = self.statistics_of_columns(list(compress(items, there)), answers.of(there))
        return found

    @property
    def takes_columns(self) -> bool:
        """Whether it computes `statistics_of_columns`."""
        return type(self).statistics_of_columns is not Metric.statistics_of_columns

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        """Give the family's columns for many items at once, [items, columns], all of which have an answer.

        What a metric does not compute so is computed by `statistics`, for one item after the other.
        """
        raise NotImplementedError

    def unanswered(self, item: Item) -> InputError:
        """Say that the metric has no worst value, where an item without an answer has to count as one."""
        set_ = "its option worst" if hasattr(self, "worst") else 'missing = "drop"'
        return InputError(f"has no answer, and {self.name} no worst value to count instead; set {set_}, or complete "
                          "the file", item=item.key)


class AdditiveMetric(Metric):
    """A metric whose score is a function of statistics summed over items."""

    @property
    def quotient(self) -> Quotient | None:
        """Where the score is one linear function of the sums over another: the whole-number coefficients of both."""
        return None

    @abstractmethod
    def score(self, sums: Floats) -> Floats:
        """Score summed statistics of shape [..., columns], over any leading axes; undefined is nan."""


class QuotientMetric(AdditiveMetric):
    """A metric that is one linear function of the sums divided by another, which exact tests require.

    Accuracy, precision, recall, F-beta, error rates and AER are such metrics. `coefficients` are the whole-number
    coefficients of the numerator and of the denominator, one for each column, where no option changes them; unless it
    is set, the family is `ratio`, and its first column is divided by the second.
    """

    family = "ratio"
    coefficients: ClassVar[Quotient] = ((1, 0), (0, 1))

    @property
    def quotient(self) -> Quotient:
        return self.coefficients

    def score(self, sums: Floats) -> Floats:
        """Divide; 0 / 0 is nan."""
        over, under = (sums @ np.array(side, dtype=np.float64) for side in self.quotient)
        return share(over, under)


def needed_module(name: str, metric: Metric) -> Any:
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
    """A metric whose scores are those of the user, who can declare their range: `low` and `high`, None if unbounded."""

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
    """Refuse a weight of recall that no F-score has."""
    if not 0 <= beta <= 1000:
        raise InputError(f"option 'beta' of {name} is {beta!r}; expected a number from 0 to 1000")
