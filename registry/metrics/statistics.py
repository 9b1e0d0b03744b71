"""Metrics of named statistics: a formula, or the stored counts of a metric.

The statistics are summed over items. A small parser, never `eval`, reads formulas. The grammar is:

    sum     = product (("+" | "-") product)*
    product = sign (("*" | "/") sign)*
    sign    = "-" sign | power
    power   = atom ("^" sign)?
    atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"

The module recognizes a formula that equals one linear function of the sums divided by another, also if the formula is
written in another form, such as `1 - a/b`. Exact tests need this form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from importlib import import_module
from typing import Any, Literal

import numpy as np

from registry.arrays import Floats
from registry.columns import JoinedColumns, StatisticColumns
from registry.errors import InputError, suggest
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.metrics.base import AdditiveMetric, DeclaredRange, Metric, Quotient
from registry.metrics.confusion import ConfusionMetric
from registry.values import parse

LONGEST = 400  # characters
DEEPEST = 50  # expressions within another


_TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
                    r"|(?P<mark>[-+*/^(),]))")
_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "^": np.power,
    "/": lambda dividend, divisor: np.divide(dividend, np.where(divisor == 0, np.nan, divisor)),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "log": np.log, "exp": np.exp, "abs": np.abs,
    "min": lambda *values: reduce(np.minimum, values), "max": lambda *values: reduce(np.maximum, values),
}
_ONE = ("sqrt", "log", "exp", "abs")  # functions of one argument


@dataclass(frozen=True)
class Expression:
    """Node in the syntax tree of a formula: number, name, operator or function.

    Attributes:
        symbol: The number or name, or the operator or function that is applied to `parts`.
        parts: Operands or arguments; empty for numbers and names.
    """

    symbol: str | Fraction
    parts: tuple[Expression, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of statistics in the formula, in the order of first occurrence."""
        if isinstance(self.symbol, str) and not self.parts:
            return (self.symbol,)
        return tuple(dict.fromkeys(name for part in self.parts for name in part.names))

    def compute(self, sums: Mapping[str, Floats]) -> Floats:
        """Evaluate the formula for sums of statistics; NaN or infinite if undefined.

        Args:
            sums: Maps the name of each statistic to an array of its sums; all arrays have the same shape.
        """
        if isinstance(self.symbol, Fraction):
            return np.array(float(self.symbol))
        if not self.parts:
            return sums[self.symbol]
        function = _OPERATORS.get(self.symbol) or FUNCTIONS[self.symbol]
        arguments = [part.compute(sums) for part in self.parts]
        if self.symbol == "^" and isinstance(exponent := self.parts[1].symbol, Fraction) and exponent == 2:
            return np.square(arguments[0])
        return np.asarray(function(*arguments), dtype=np.float64)

    def quotient(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Write the formula as a quotient of two weighted sums, if it is one.

        For example, `2*tp / (pred + gold)` gives `((2, 0, 0), (0, 1, 1))`.

        Returns:
            Whole-number weights of numerator and denominator, in the order of `names`; None if the formula has another
                form.
        """
        if (ratio := _to_ratio(self)) is None or "" in ratio[0] or "" in ratio[1] or not ratio[1]:
            return None
        sides = [[side.get(name, Fraction(0)) for name in self.names] for side in ratio]
        if any(weight < 0 for weight in sides[1]):
            return None  # the denominator could be 0 or negative even if all statistics are positive
        common = math.lcm(*(weight.denominator for side in sides for weight in side))
        largest = math.gcd(*(int(weight * common) for side in sides for weight in side))
        numerator, denominator = (tuple(int(weight * common) // largest for weight in side) for side in sides)
        return None if max(map(abs, (*numerator, *denominator))) >= 2**31 else (numerator, denominator)


def parse_formula(text: str) -> Expression:
    """Parse a formula such as `2*tp / (pred + gold)` into a syntax tree.

    Raises:
        InputError: The formula is not valid; the error names the position.
    """
    return _Parser(text).parse()


class _Parser:
    """Recursive-descent parser of one formula."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.kind, self.token, self.next = "", "", 0
        if len(text) > LONGEST:
            raise InputError(f"the formula has {len(text)} characters; at most {LONGEST} are allowed")
        self._step()

    def parse(self) -> Expression:
        expression = self._parse_sum()
        if self.kind != "end":
            raise self._fail("expected an operator")
        return expression

    def _step(self) -> None:
        """Move to the next token of the formula, and store its kind, text and position."""
        self.at = self.next + len(self.text[self.next:]) - len(self.text[self.next:].lstrip())
        match = _TOKEN.match(self.text, self.next)
        if match is None:
            self.kind, self.token = "end", ""
            if self.text[self.next:].strip():
                raise self._fail("unexpected character")
            return
        self.kind, self.token, self.next = str(match.lastgroup), match.group().strip(), match.end()

    def _fail(self, message: str) -> InputError:
        shown = f" ({self.text[self.at:self.at + 20]!r})" if self.at < len(self.text) else " (the end)"
        return InputError(f"formula {self.text[:60]!r}, character {self.at + 1}{shown}: {message}")

    def _take(self, mark: str) -> bool:
        if is_next := (self.kind, self.token) == ("mark", mark):
            self._step()
        return is_next

    def _parse_chain(self, operators: str, part: Callable[[], Expression]) -> Expression:
        expression = part()
        while self.kind == "mark" and self.token in operators:
            operator = self.token
            self._step()
            expression = Expression(operator, (expression, part()))
        return expression

    def _parse_sum(self) -> Expression:
        return self._parse_chain("+-", self._parse_product)

    def _parse_product(self) -> Expression:
        return self._parse_chain("*/", self._parse_sign)

    def _parse_sign(self) -> Expression:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._fail(f"expressions are nested more than {DEEPEST} levels deep; simplify the formula")
        if self._take("-"):
            expression = Expression("*", (Expression(Fraction(-1)), self._parse_sign()))
        else:
            expression = self._parse_power()
        self.depth -= 1
        return expression

    def _parse_power(self) -> Expression:
        base = self._parse_atom()
        return Expression("^", (base, self._parse_sign())) if self._take("^") else base

    def _parse_atom(self) -> Expression:
        if self.kind == "number":
            number = self._parse_number()
            self._step()
            return Expression(number)
        if self.kind == "name":
            return self._parse_name()
        if self._take("("):
            expression = self._parse_sum()
            self._require_close()
            return expression
        raise self._fail("expected a number, a name or '('")

    def _parse_number(self) -> Fraction:
        if not self.token.isascii() or len(self.token) > 30 or not 0 <= (size := float(self.token)) < 1e30 or (
                0 < size < 1e-30):
            raise self._fail("the number is not between 1e-30 and 1e30")
        return Fraction(self.token)

    def _parse_name(self) -> Expression:
        name, position = self.token, self.at
        self._step()
        if not self._take("("):
            return Expression(name)
        parts = [self._parse_sum()]
        while self._take(","):
            parts.append(self._parse_sum())
        self._require_close()
        if name not in FUNCTIONS or (len(parts) == 1) != (name in _ONE):
            self.at = position
            raise self._fail(f"{name} needs {'one argument' if name in _ONE else 'two or more arguments'}"
                             if name in FUNCTIONS
                             else f"unknown function {name!r}; {suggest(name, FUNCTIONS)}")
        return Expression(name, tuple(parts))

    def _require_close(self) -> None:
        if not self._take(")"):
            raise self._fail("expected ')'")


Linear = dict[str, Fraction]  # nonzero weights by name; "" is the constant


def _to_ratio(expression: Expression) -> tuple[Linear, Linear] | None:
    """Write a formula as a quotient of two weighted sums, if it is one.

    For example, `1 - a/b` becomes `({"b": 1, "a": -1}, {"b": 1})`.

    Returns:
        Weights of numerator and denominator by name (the constant has the name ""); None if the formula has another
            form.
    """
    symbol, parts = expression.symbol, expression.parts
    if not parts:
        numerator = _make_constant(symbol) if isinstance(symbol, Fraction) else {symbol: Fraction(1)}
        return numerator, _make_constant(1)
    if isinstance(symbol, Fraction) or symbol not in _OPERATORS:
        return None
    if (a := _to_ratio(parts[0])) is None or (b := _to_ratio(parts[1])) is None:
        return None
    if symbol == "^":
        (base, base_divisor), (power, power_divisor) = a, b
        exponent = power.get("", Fraction(0))
        value = base.get("", Fraction(0))
        bits = value.numerator.bit_length() + value.denominator.bit_length()
        if not (base.keys() | power.keys() <= {""} and base_divisor == power_divisor == _make_constant(1)
                and exponent.denominator == 1 and 0 <= exponent <= 1000 // bits):
            return None
        return _make_constant(value ** int(exponent)), _make_constant(1)
    if symbol in ("+", "-"):
        sign = Fraction(1 if symbol == "+" else -1)
        if a[1] == b[1]:
            return _add(a[0], b[0], sign), a[1]
        crossed = _multiply(a[0], b[1]), _multiply(b[0], a[1]), _multiply(a[1], b[1])
        return None if None in crossed else (_add(crossed[0] or {}, crossed[1] or {}, sign), crossed[2] or {})
    if symbol == "/" and not b[1].keys() <= {""}:
        return None  # a / b * b must not be simplified, because it is undefined if b is 0
    upper, lower = (b if symbol == "*" else (b[1], b[0]))
    product, divisor = _multiply(a[0], upper), _multiply(a[1], lower)
    return None if product is None or not divisor else (product, divisor)


def _make_constant(value: Fraction | int) -> Linear:
    return {"": Fraction(value)} if value else {}


def _add(a: Linear, b: Linear, sign: Fraction) -> Linear:
    total = {name: a.get(name, Fraction(0)) + sign * b.get(name, Fraction(0)) for name in (*a, *b)}
    return {name: weight for name, weight in total.items() if weight}


def _multiply(a: Linear, b: Linear) -> Linear | None:
    """Multiply two weighted sums, such as `2 * (1 - a)`.

    A weighted sum is a dict of weights: `1 - a` is `{"": 1, "a": -1}`. The result is None if neither sum is constant.
    """
    if not b.keys() <= {""}:
        a, b = b, a
    if not b.keys() <= {""}:
        return None
    factor = b.get("", Fraction(0))
    return {name: weight * factor for name, weight in a.items()} if factor else {}


MOST = len(FAMILIES["additive"].columns)


class NamedStatistics(AdditiveMetric):
    """Base class of metrics that are computed from named numbers in the input files."""

    takes = "statistic"
    family = "additive"
    terse = True

    @property
    def used_columns(self) -> tuple[str, ...]:
        return FAMILIES[self.family].columns[:len(self.needs())]

    def without_answer(self, item: Item) -> tuple[float, ...]:
        """Return the numbers that count for an item without an answer.

        Raises:
            InputError: The metric declares no such numbers (option `worst`).
        """
        raise self.make_unanswered_error(item)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        names = self.needs()
        if answer is not None:
            known = item.gold | answer.value
            if lacking := [name for name in names if name not in known]:
                raise InputError(f"it has no statistic {lacking[0]!r}; {suggest(lacking[0], known)}", item=item.key)
            values = tuple(known[name] for name in names)
        else:
            values = self.without_answer(item)
        return (*values, *(0.0,) * (len(FAMILIES[self.family].columns) - len(values)))

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        columns = answers.answers
        statistics = np.zeros((len(items), len(FAMILIES[self.family].columns)))
        for n, name in enumerate(self.needs()):
            if isinstance(columns, StatisticColumns) and name in columns.names:
                statistics[:, n] = answers.values[:, columns.names.index(name)]
            elif all(name in item.gold for item in items):
                statistics[:, n] = [item.gold[name] for item in items]
            else:  # `statistics` raises the error
                return np.array([self.statistics(item, answer) for item, answer in zip(items, answers, strict=True)])
        return statistics


class Formula(DeclaredRange, NamedStatistics):
    """Score by a formula over sums of statistics, such as `2*tp / (pred + gold)`.

    Names in the formula are columns of the statistics. A formula may contain + - * / ^, parentheses, numbers, and the
    functions sqrt, log (natural), exp, abs, min and max. If the formula is undefined, the score is undefined.

    Attributes:
        formula: The formula.
        better: Direction of scores: `higher` or `lower` scores are better.
        worst: Statistics of an item without an answer: a number for each name, in the order of first occurrence. None
            if such an item is an error.
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
            raise InputError(f"formula {self.formula!r} contains no statistic; name at least one")
        if len(names) > MOST:
            raise InputError(f"the formula has {len(names)} names; at most {MOST} are allowed")
        if self.worst is not None and len(self.worst) != len(names):
            raise InputError(f"option 'worst' of Formula needs one number for each statistic, in this order: "
                             f"{', '.join(names)}")

    @cached_property
    def expression(self) -> Expression:
        """Syntax tree of the formula."""
        return parse_formula(self.formula)

    def needs(self) -> tuple[str, ...]:
        return self.expression.names

    @cached_property
    def quotient(self) -> Quotient | None:
        if (ratio := self.expression.quotient()) is None:
            return None
        numerator, denominator = ((*side, *(0,) * (MOST - len(side))) for side in ratio)
        return numerator, denominator

    @property
    def has_worst(self) -> bool:
        return self.worst is not None

    def without_answer(self, item: Item) -> tuple[float, ...]:
        return super().without_answer(item) if self.worst is None else self.worst

    def score(self, sums: Floats) -> Floats:
        with np.errstate(all="ignore"):
            scores = self.expression.compute({name: sums[..., n] for n, name in enumerate(self.needs())})
        return np.where(np.isfinite(scores), scores, np.nan)


class Recorded(NamedStatistics):
    """Score of another metric, computed from stored statistics.

    The other metric cannot be a measure over classes or a correlation, whose statistics do not add up over items.

    Attributes:
        of: The other metric with its options, such as `"SpanF(beta=1)"`.
        columns: Names of the columns with the statistics of the other metric, in its own order.
    """

    citation = "that of the metric"
    has_worst = False

    of: str = field(kw_only=True)
    columns: tuple[str, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        counted = self.original.used_columns
        if len(self.columns) != len(counted):
            raise InputError(f"option 'columns' of Recorded needs one column for each statistic of {self.of}: "
                             f"{', '.join(counted)}")
        object.__setattr__(self, "family", self.original.family)
        object.__setattr__(self, "better", self.original.better)
        object.__setattr__(self, "score_range", self.original.score_range)

    @cached_property
    def original(self) -> AdditiveMetric:
        # Imported late, because the package imports this module.
        metrics: dict[str, type[Metric]] = import_module("registry.metrics").METRICS
        metric = parse("metric", metrics, self.of)
        if not isinstance(metric, AdditiveMetric) or isinstance(metric, ConfusionMetric | Recorded):
            raise InputError(f"option 'of' of Recorded is {self.of!r}, but the statistics of this metric cannot be "
                             "summed over items; name another metric")
        return metric

    @property
    def title(self) -> str:
        return self.original.title

    def needs(self) -> tuple[str, ...]:
        return self.columns

    @property
    def quotient(self) -> Quotient | None:
        return self.original.quotient

    def score(self, sums: Floats) -> Floats:
        return self.original.score(sums)
