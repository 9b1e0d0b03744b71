"""Metrics of columns of statistics that add up over items, whose names the user gives.

The user writes down the formula over the sums, or they are what another metric counts in another registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from importlib import import_module
from typing import Literal

import numpy as np

from registry.arrays import Floats
from registry.columns import JoinedColumns, StatisticColumns
from registry.errors import InputError, suggest
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.metrics.base import AdditiveMetric, DeclaredRange, Metric, Quotient
from registry.metrics.confusion import ConfusionMetric
from registry.metrics.formula import Expression, parse_formula
from registry.values import parse

MOST = len(FAMILIES["additive"].columns)


class NamedStatistics(AdditiveMetric):
    """What metrics of named columns share: statistics that the reader found, in the order of the names."""

    takes = "statistic"
    family = "additive"
    terse = True

    @property
    def filled(self) -> tuple[str, ...]:
        return FAMILIES[self.family].columns[:len(self.needs())]

    def without_answer(self, item: Item) -> tuple[float, ...]:
        """Give a number for each name where an item has no answer; what is not known refuses it."""
        raise self.unanswered(item)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give the statistics that are named, then zeros."""
        names = self.needs()
        if answer is not None:
            known = item.gold | answer.value
            if lacking := [name for name in names if name not in known]:
                raise InputError(f"has no statistic {lacking[0]!r}; {suggest(lacking[0], known)}", item=item.key)
            values = tuple(known[name] for name in names)
        else:
            values = self.without_answer(item)
        return (*values, *(0.0,) * (len(FAMILIES[self.family].columns) - len(values)))

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        """The same of all items at once."""
        columns = answers.answers
        found = np.zeros((len(items), len(FAMILIES[self.family].columns)))
        for n, name in enumerate(self.needs()):
            if isinstance(columns, StatisticColumns) and name in columns.names:
                found[:, n] = answers.values[:, columns.names.index(name)]
            elif all(name in item.gold for item in items):
                found[:, n] = [item.gold[name] for item in items]
            else:  # of which an error tells
                return np.array([self.statistics(item, answer) for item, answer in zip(items, answers, strict=True)])
        return found


class Formula(DeclaredRange, NamedStatistics):
    """A score by a formula over sums, such as `2*tp / (pred + gold)`; its names are columns of the statistics.

    There are + - * / ^, parentheses, numbers, and the functions sqrt, log (natural), exp, abs, min and max. Its range
    is that of the formula, which `low` and `high` declare, so that intervals stay within; where it is undefined, so is
    the score. `better` says which scores are the better ones, `worst` what an item without an answer counts: a number
    for each name, in the order of their first places.
    """

    called = "{formula}"
    citation = "that of the formula"

    formula: str = field(kw_only=True)
    better: Literal["higher", "lower"] = "higher"  # type: ignore[misc]  # an option here
    worst: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.needs()
        if not names:
            raise InputError(f"formula {self.formula!r} has no name of a statistic")
        if len(names) > MOST:
            raise InputError(f"the formula has {len(names)} names; {MOST} are the most")
        if self.worst is not None and len(self.worst) != len(names):
            raise InputError(f"option 'worst' of Formula needs a number for each of {', '.join(names)}, in this order")

    @cached_property
    def expression(self) -> Expression:
        """The formula, read."""
        return parse_formula(self.formula)

    def needs(self) -> tuple[str, ...]:
        """The names in the formula, in the order of their first place."""
        return self.expression.names

    @cached_property
    def quotient(self) -> Quotient | None:
        if (found := self.expression.quotient()) is None:
            return None
        over, under = ((*side, *(0,) * (MOST - len(side))) for side in found)
        return over, under

    @property
    def has_worst(self) -> bool:
        return self.worst is not None

    def without_answer(self, item: Item) -> tuple[float, ...]:
        """The numbers of the option `worst`."""
        return super().without_answer(item) if self.worst is None else self.worst

    def score(self, sums: Floats) -> Floats:
        """Compute the formula; undefined is nan."""
        with np.errstate(all="ignore"):
            scores = self.expression.value({name: sums[..., n] for n, name in enumerate(self.needs())})
        return np.where(np.isfinite(scores), scores, np.nan)


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
        object.__setattr__(self, "score_range", self.original.score_range)

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

    def score(self, sums: Floats) -> Floats:
        """Score as the other metric does."""
        return self.original.score(sums)
