"""What tests of two systems take and return: settings, observed pairs and results.

Half a million pairs are stored as columns. A test computes `Tails`, which become `PairResults` together with the
observed pairs. Methods and messages are stored once and referred to by number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Self, TypeVar, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from registry.arrays import Flags, Floats, Ints
from registry.messages import NO_MESSAGES, Message, Messages
from registry.parallel.execution import Execution
from registry.significance.matrix import Matrix, Range, columns_of, count_shared, count_unshared

_AT_ONCE = 2**16  # numbers of several systems that are looked at together
_SPARSE = 16  # times as many pairs of systems as are asked for: counting each by itself is less work


def discordant(matrix: Matrix, a: Ints, b: Ints) -> Ints:
    """The number of units in which the statistics of systems `a` and `b` differ, [pairs]; the matrix is by unit."""
    statistics, units = matrix.statistics, matrix.units
    columns = columns_of(statistics).reshape(*statistics.shape[1:], -1)
    varying = [n for n in range(statistics.shape[2])
               if any((columns[some, n] != columns[0, n]).any() for some in _some(columns[:, n]))]
    tells = len(varying) == 1 and matrix.quotient is not None and matrix.quotient[0][varying[0]]
    if tells and statistics.shape[1] ** 2 < _SPARSE * len(a) and matrix.both_higher is not None:
        only_a, only_b = count_unshared(matrix.both_higher, a, b)  # systems differ just where their numerators do
        return only_a + only_b
    codes = _codes([columns[:, n] for n in varying])
    counts = np.zeros(len(a), dtype=np.int64)
    for n, (first, second) in enumerate(zip(a.tolist(), b.tolist(), strict=True) if codes else ()):
        differ = codes[0][first] != codes[0][second]
        for column in codes[1:]:
            differ |= column[first] != column[second]
        counts[n] = np.count_nonzero(differ) if units is None else len(np.unique(units[differ]))
    return counts


def _codes(columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Arrays [systems, units] that differ just where one of the columns does, from columns [systems, units].

    Ints columns are packed into one as its digits, in as few bytes as it needs: all of them are read for every pair.
    """
    codes: list[NDArray[Any]] = []
    packed: list[_Digits] = []
    for digits in map(_Digits.of, columns):
        if not digits.number:
            codes.append(digits.column)
        elif math.prod(of.number for of in packed) * digits.number < 2**63:
            packed.append(digits)
        else:
            codes.append(_packed(packed))
            packed = [digits]
    return [*codes, _packed(packed)] if packed else codes


class _Digits(NamedTuple):
    """A column of whole numbers as digits: the largest of two values and not, or how much more than the least.

    Attributes:
        column: [systems, units].
        least: The least number.
        is_mark: Whether there are but two.
        number: How many digits there are; 0 for a column that is not whole, or too wide.
    """

    column: NDArray[Any]
    least: float
    is_mark: bool
    number: int

    @classmethod
    def of(cls, column: NDArray[Any]) -> _Digits:
        least, largest = float(column.min()), float(column.max())
        if all(((column[some] == least) | (column[some] == largest)).all() for some in _some(column)):
            return cls(column, least, True, 2)
        whole = column.dtype.kind in "iu" or all(
            (column[some] == np.rint(column[some])).all() for some in _some(column))
        return cls(column, least, False, int(largest - least) + 1 if whole and largest - least < 2**53 else 0)

    def of_systems(self, some: slice) -> Ints:
        """The digits of some systems, [systems, units]."""
        if self.is_mark:
            return np.asarray(self.column[some] != self.least, dtype=np.int64)
        return np.asarray(self.column[some], dtype=np.int64) - int(self.least)


def _packed(columns: Sequence[_Digits]) -> NDArray[Any]:
    numbers = [of.number for of in columns]
    codes = np.empty(columns[0].column.shape, np.min_scalar_type(math.prod(numbers) - 1))
    for some in _some(codes):
        code = columns[0].of_systems(some)
        for of in columns[1:]:
            code = code * of.number + of.of_systems(some)
        codes[some] = code
    return codes


def _some(column: NDArray[Any]) -> Iterator[slice]:
    """The systems of a column [systems, units], as many at a time as memory is spared for."""
    step = max(1, _AT_ONCE // max(1, column.shape[1]))
    return (slice(at, at + step) for at in range(0, len(column), step))


Alternative = Literal["two-sided", "greater", "less"]
Interval = Literal["dual", "percentile", "basic", "bca"]
Unit = Literal["response", "item", "cluster"]
Method = Literal["exact", "ideal", "monte-carlo", "asymptotic", "bound"]
Pair = tuple[int, int]
Pairs = Sequence[Pair] | Ints  # as an array [pairs, 2]

METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Settings:
    """The settings of a test.

    Attributes:
        alternative: `greater` means that A is better.
        resamples: The number of random draws.
        seed: The seed of the draws.
        interval: The bootstrap's interval; `dual` excludes 0 just when the test is significant at 1 - confidence.
        confidence: The confidence level of intervals.
        execution: Threads, processes and memory, which change no number.
        family: How many pairs share what exact p-values may cost; those for which its share is too little are drawn.
    """

    alternative: Alternative = "two-sided"
    resamples: int = 100_000
    seed: int = 0
    interval: Interval = "dual"
    confidence: float = 0.95
    execution: Execution = field(default=Execution(), compare=False)
    family: int = 1


Difference = TypeVar("Difference", Floats, int, float, Fraction)

# the alternative after the two systems have changed places
FLIPPED: dict[Alternative, Alternative] = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def extremity(difference: Difference, alternative: Alternative) -> Difference:
    """How extreme a difference is under the alternative: the larger, the stronger the evidence against the null."""
    if alternative == "two-sided":
        return abs(difference)
    return difference if alternative == "greater" else -difference


def difference_range(score_range: Range) -> Range:
    """Return the lowest and the highest difference of two scores within a range."""
    width = score_range[1] - score_range[0]
    return -width, width


@dataclass(frozen=True, slots=True)
class PairResult:
    """The result of a test of one pair (A, B).

    Attributes:
        difference: The difference of the scores, positive where A is better.
        p_value: The p-value of the alternative; nan where the test is undefined.
        log10_p: Its decimal logarithm, also where the p-value itself underflows.
        method: How the p-value is computed.
        n_units: The number of items or clusters.
        n_discordant: The number of units whose statistics differ.
        p_low, p_high: The 95 % Clopper-Pearson interval of a Monte-Carlo p-value.
        ci_low, ci_high: The interval of the difference.
        resamples: The number of draws of a Monte-Carlo p-value; None for others.
        statistic: The test statistic, without its sign, where it is customary to report it: |t|, |z|, chi-squared, the
            smaller sum of ranks, the smaller U.
        favours: 1 where the evidence of the test favours A, -1 for B, 0 for neither. Tests of single units can favour
            the system with the worse score.
        messages: Why a value is nan, and other messages.
    """

    difference: float
    p_value: float
    log10_p: float
    method: Method
    n_units: int
    n_discordant: int
    p_low: float = math.nan
    p_high: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    resamples: int | None = None
    statistic: float = math.nan
    favours: int = 0
    messages: Messages = NO_MESSAGES


@dataclass(frozen=True, slots=True)
class Tail:
    """The tail probability that a test computes for a pair; other attributes are those of `PairResult`.

    Attributes:
        log_p: The natural logarithm of the p-value.
        coins: Where the p-value counts outcomes of fair coins, their number: it is a multiple of 2^-`coins`. 0: it
            does not.
        p: The p-value itself, where it is known to the last digit; nan: it is exp(`log_p`).
        favours: A number with the sign of the evidence; nan: that of the difference.
    """

    log_p: float
    method: Method
    p_low: float = math.nan
    p_high: float = math.nan
    resamples: int | None = None
    coins: int = 0
    p: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    statistic: float = math.nan
    favours: float = math.nan
    messages: Messages = NO_MESSAGES


@dataclass(frozen=True, slots=True)
class Observed:
    """A pair as observed in all units of a matrix, which is by unit."""

    matrix: Matrix
    pair: Pair
    difference: float
    n_discordant: int

    @classmethod
    def of(cls, matrix: Matrix, pairs: Pairs) -> ObservedPairs:
        """Observe pairs of a matrix that is by unit."""
        a, b = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        scores = matrix.observed
        return ObservedPairs(matrix, a, b, matrix.difference(scores[a], scores[b]), discordant(matrix, a, b))

    @property
    def is_mean(self) -> bool:
        """Whether the scores of the pair are means of unit scores, whatever other systems' are."""
        return self.matrix.of_systems(self.pair).is_mean

    @property
    def a(self) -> Floats:
        """The statistics of the first system, [units, columns]."""
        return self.matrix.statistics[:, self.pair[0]]

    @property
    def b(self) -> Floats:
        """The statistics of the second system, [units, columns]."""
        return self.matrix.statistics[:, self.pair[1]]


@dataclass(frozen=True, eq=False)
class ObservedPairs(Sequence[Observed]):
    """Pairs as observed in all units of a matrix, as columns: one becomes an `Observed` only where it is asked for.

    Attributes:
        matrix: The matrix, which is by unit.
        a, b: The first and the second systems, [pairs].
        difference: The differences of their scores, [pairs].
        n_discordant: The numbers of units whose statistics differ, [pairs].
    """

    matrix: Matrix
    a: Ints
    b: Ints
    difference: Floats
    n_discordant: Ints

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.a)

    @overload
    def __getitem__(self, at: int) -> Observed: ...
    @overload
    def __getitem__(self, at: slice | NDArray[Any]) -> ObservedPairs: ...
    def __getitem__(self, at: int | slice | NDArray[Any]) -> Observed | ObservedPairs:
        """One pair, or those at a slice, at places, or where a mask is true."""
        if isinstance(at, slice | np.ndarray):
            return ObservedPairs(self.matrix, self.a[at], self.b[at], self.difference[at], self.n_discordant[at])
        pair = int(self.a[at]), int(self.b[at])
        return Observed(self.matrix, pair, float(self.difference[at]), int(self.n_discordant[at]))

    @property
    def alone(self) -> ObservedPairs:
        """The same pairs in a matrix of no other systems."""
        systems, places = np.unique(np.stack([self.a, self.b]), return_inverse=True)
        if len(systems) == self.matrix.statistics.shape[1]:
            return self
        a, b = places.reshape(2, -1)
        return replace(self, matrix=self.matrix.of_systems(systems.tolist()), a=a, b=b)

    @property
    def n_units(self) -> Ints:
        """The number of units of each pair; of answers only those that one of its two systems gives."""
        if self.matrix.answers_to is None:
            return np.full(len(self), self.matrix.n_units)
        both = count_shared(self.matrix.statistics[:, :, 1] != 0)
        return both[self.b, self.b] + count_unshared(both, self.a, self.b)[0]


Places = slice | NDArray[Any]  # also a mask

NOT_DRAWN = -1  # in the place of the number of draws
# others are float64
_TYPES: dict[str, Any] = {"method": np.uint8, "resamples": np.int64, "messages": np.int32, "coins": np.int64}
_COUNTED = 1000  # coins up to which 2^-coins does not underflow


@dataclass(frozen=True, eq=False)
class _Columns:
    """Columns of one length, [pairs] each, some of which are numbers of names.

    Attributes:
        method: The places of the methods in `METHODS`.
        resamples: The numbers of draws; -1 where there are none.
        messages: The places of the messages in `different`.
        different: The different messages, of which the first is empty.
    """

    method: NDArray[np.uint8]
    resamples: Ints
    p_low: Floats
    p_high: Floats
    ci_low: Floats
    ci_high: Floats
    statistic: Floats
    messages: NDArray[np.int32]
    different: tuple[Messages, ...] = field(default=(NO_MESSAGES,), kw_only=True)

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.method)

    def at(self, places: Places) -> Self:
        """The columns of some pairs: at a slice, at places, or where a mask is true."""
        chosen: dict[str, Any] = {name: column[places] for name, column in self.columns().items()}
        return replace(self, **chosen)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns by name."""
        return {of.name: getattr(self, of.name) for of in fields(self) if of.name != "different"}

    def row(self, n: int) -> dict[str, Any]:
        """The values of one pair, with its names."""
        values = {name: column[n].item() for name, column in self.columns().items()}
        values |= {name: math.nan for name, value in values.items() if math.isnan(value)}  # one nan, equal to itself
        return values | {"method": METHODS[values["method"]], "messages": self.different[values["messages"]],
                         "resamples": None if values["resamples"] == NOT_DRAWN else values["resamples"]}

    def with_message(self, where: Flags, message: Message) -> Self:
        """Return the same with a message, before the others, for the pairs of a mask."""
        changed = np.unique(self.messages[where])
        different = [*self.different, *(Messages((message, *self.different[n])) for n in changed.tolist())]
        numbers = self.messages.copy()
        numbers[where] = len(self.different) + np.searchsorted(changed, self.messages[where])
        return replace(self, messages=numbers, different=tuple(different))


@dataclass(frozen=True, eq=False)
class Tails(_Columns):
    """The tails of many pairs; attributes are those of `Tail`."""

    log_p: Floats
    p: Floats
    coins: Ints
    favours: Floats

    @classmethod
    def of(cls, tails: Sequence[Tail]) -> Tails:
        """Make columns of single tails."""
        different = {NO_MESSAGES: 0}
        names = [of.name for of in fields(cls) if of.name != "different"]
        values = {name: [getattr(tail, name) for tail in tails] for name in names} | {
            "method": [METHODS.index(tail.method) for tail in tails],
            "resamples": [NOT_DRAWN if tail.resamples is None else tail.resamples for tail in tails],
            "messages": [different.setdefault(tail.messages, len(different)) for tail in tails]}
        columns = {name: np.array(column, dtype=_TYPES.get(name, np.float64)) for name, column in values.items()}
        return cls(**columns, different=tuple(different))

    @classmethod
    def made(cls, log_p: Floats, method: Method, *, resamples: int = NOT_DRAWN, messages: Messages = NO_MESSAGES,
             **columns: ArrayLike) -> Tails:
        """Tails that all came about in one way.

        Args:
            log_p: [pairs].
            method: Of all of them.
            resamples: The number of draws.
            messages: Of all of them.
            columns: Other attributes, of each or of all.
        """
        usual = {of.name: math.nan for of in fields(cls)} | {
            "log_p": log_p, "method": METHODS.index(method), "resamples": resamples, "messages": int(bool(messages)),
            "coins": 0} | columns
        del usual["different"]
        full = {name: np.broadcast_to(np.asarray(value, dtype=_TYPES.get(name, np.float64)), log_p.shape)
                for name, value in usual.items()}
        return cls(**full, different=(NO_MESSAGES, messages) if messages else (NO_MESSAGES,))

    @classmethod
    def joined(cls, n: int, parts: Iterable[tuple[Places, Tails]]) -> Tails:
        """The tails of `n` pairs from those of parts, each with the places that its tails have."""
        different = {NO_MESSAGES: 0}
        columns = {name: column.copy() for name, column in cls.made(np.full(n, math.nan), "exact").columns().items()}
        for places, tails in parts:
            numbers = np.array([different.setdefault(some, len(different)) for some in tails.different], dtype=np.int32)
            for name, column in tails.columns().items():
                columns[name][places] = numbers[column] if name == "messages" else column
        return cls(**columns, different=tuple(different))

    def probabilities(self) -> tuple[Floats, Floats]:
        """The p-values and their decimal logarithms.

        Where a p-value counts outcomes of coins it is a whole number of these, so its last digits can be put right.
        """
        p = np.where(np.isnan(self.p), np.exp(self.log_p), self.p)
        log10_p = self.log_p / math.log(10)
        coins = np.where(self.coins <= _COUNTED, self.coins, 0).astype(np.int32)
        counted = np.ldexp(np.where(np.isnan(p), 0, p), coins)
        right = (coins > 0) & (counted > 0) & (counted < 2**36)
        whole = np.ldexp(np.rint(counted), -coins)
        with np.errstate(divide="ignore"):
            return np.where(right, whole, p), np.where(right & (whole > 0), np.log10(whole), log10_p)


@dataclass(frozen=True, eq=False)
class PairResults(_Columns, Sequence[PairResult]):
    """The results of many pairs as columns; attributes are those of `PairResult`.

    Two are equal where all values are, nan and nan among them.
    """

    difference: Floats
    p_value: Floats
    log10_p: Floats
    n_units: Ints
    n_discordant: Ints
    favours: NDArray[np.int8]

    @classmethod
    def made(cls, observed: ObservedPairs, tails: Tails) -> PairResults:
        """The results of pairs as observed, whose tails are in their order."""
        p_value, log10_p = tails.probabilities()
        evidence = np.where(np.isnan(tails.favours), observed.difference, tails.favours)
        favours = (evidence > 0).astype(np.int8) - (evidence < 0)
        kept = {name: np.ascontiguousarray(column) for name, column in tails.columns().items()
                if name not in ("log_p", "p", "coins")}
        bounds = difference_range(observed.matrix.score_range)
        for name in ("ci_low", "ci_high"):  # an infinite end belongs to a one-sided interval
            kept[name] = np.where(np.isinf(kept[name]), kept[name], np.clip(kept[name], *bounds))
        found = cls(**kept | {"favours": favours}, different=tails.different, difference=observed.difference,
                    p_value=p_value, log10_p=log10_p, n_units=observed.n_units, n_discordant=observed.n_discordant)
        return found.with_message(favours * observed.difference < 0, Message("worse-system-favoured"))

    @overload
    def __getitem__(self, at: int) -> PairResult: ...
    @overload
    def __getitem__(self, at: Places) -> PairResults: ...
    def __getitem__(self, at: int | Places) -> PairResult | PairResults:
        """One result, or the columns of some."""
        return self.at(at) if isinstance(at, slice | np.ndarray) else PairResult(**self.row(at))

    def __eq__(self, other: object) -> bool:
        """Whether all values are equal."""
        if not isinstance(other, PairResults) or len(self) != len(other):
            return False
        ours, theirs = ([one.different[n] for n in one.messages.tolist()] for one in (self, other))
        return ours == theirs and all(
            np.array_equal(column, other.columns()[name], equal_nan=True)
            for name, column in self.columns().items() if name != "messages")
