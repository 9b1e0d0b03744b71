"""Input and output of tests of two systems: settings, pairs and results.

Results of up to half a million pairs are stored as columns. A test computes `Tails`. `PairResults` combines the tails
with the observed pairs. Methods and messages are stored once, and each pair refers to them by number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, Literal, Self, TypeVar, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from registry.arrays import Flags, Floats, Ints
from registry.messages import NO_MESSAGES, Message, Messages
from registry.parallel.execution import Execution
from registry.significance.matrix import Matrix, Range, columns_of, count_shared, count_unshared

_AT_ONCE = 2**16  # values that are compared in one step
_SPARSE = 16  # if there are this many times more pairs of systems than requested pairs, count each pair separately


def count_discordant(matrix: Matrix, a: Ints, b: Ints) -> Ints:
    """Count, for each pair of systems, the units in which their statistics differ.

    A unit is an item or a cluster of items.

    Args:
        matrix: Statistics of all systems, with units (items or clusters) as rows.
        a: Indices of the first systems of the pairs, [pairs].
        b: Indices of the second systems, [pairs].

    Returns:
        One count per pair, [pairs].
    """
    statistics, units = matrix.statistics, matrix.units
    columns = columns_of(statistics).reshape(*statistics.shape[1:], -1)
    varying = [n for n in range(statistics.shape[2])
               if any((columns[block, n] != columns[0, n]).any() for block in _blocks(columns[:, n]))]
    is_sufficient = len(varying) == 1 and matrix.quotient is not None and matrix.quotient[0][varying[0]]
    if is_sufficient and statistics.shape[1] ** 2 < _SPARSE * len(a) and matrix.both_higher is not None:
        return np.add(*count_unshared(matrix.both_higher, a, b))  # systems differ if and only if their numerators do
    codes = _encode([columns[:, n] for n in varying])
    counts = np.zeros(len(a), dtype=np.int64)
    for n, (first, second) in enumerate(zip(a.tolist(), b.tolist(), strict=True) if codes else ()):
        differ = codes[0][first] != codes[0][second]
        for column in codes[1:]:
            differ |= column[first] != column[second]
        counts[n] = np.count_nonzero(differ) if units is None else len(np.unique(units[differ]))
    return counts


def _encode(columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Combine columns of whole numbers into one, to compare two systems faster.

    The combined numbers of two systems are equal if and only if all combined columns are equal. Columns with other
    numbers are returned unchanged.

    Args:
        columns: One array per statistic, [systems, items].
    """
    codes: list[NDArray[Any]] = []
    groups: list[list[tuple[NDArray[Any], int, int]]] = []  # each column with its least value and its number of values
    combinations = 2**63
    for column in columns:
        least, largest = float(column.min()), float(column.max())
        is_whole = column.dtype.kind in "iu" or all(
            (column[block] == np.rint(column[block])).all() for block in _blocks(column))
        if not is_whole or largest - least >= 2**53:
            codes.append(column)
            continue
        digits = int(largest - least) + 1
        if combinations * digits >= 2**63:
            groups.append([])
            combinations = 1
        combinations *= digits
        groups[-1].append((column, int(least), digits))
    for group in groups:
        packed = np.empty(group[0][0].shape, np.min_scalar_type(math.prod(digits for *_, digits in group) - 1))
        for block in _blocks(packed):
            code = np.zeros(packed[block].shape, dtype=np.int64)
            for column, least, digits in group:
                code = code * digits + (column[block].astype(np.int64) - least)
            packed[block] = code
        codes.append(packed)
    return codes


def _blocks(column: NDArray[Any]) -> Iterator[slice]:
    step = max(1, _AT_ONCE // max(1, column.shape[1]))
    return (slice(start, start + step) for start in range(0, len(column), step))


Alternative = Literal["two-sided", "greater", "less"]
Interval = Literal["dual", "percentile", "basic", "bca"]
Unit = Literal["response", "item", "cluster", "judgment"]
Method = Literal["exact", "ideal", "monte-carlo", "asymptotic", "bound"]
Pair = tuple[int, int]
Pairs = Sequence[Pair] | Ints  # as an array [pairs, 2]

METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Settings:
    """Settings of a significance test of systems A and B.

    Attributes:
        alternative: `greater` means that A is better.
        resamples: Number of random resamples or permutations.
        seed: Seed of the random number generator.
        interval: Kind of bootstrap interval; `dual` excludes 0 if and only if the test is significant at 1 -
            confidence.
        confidence: Confidence level of intervals.
        execution: Threads, processes and memory. They do not change the results.
        family: Number of pairs that share the time for exact p-values. If the pairs need too much time, the p-values of
            expensive pairs are simulated.
    """

    alternative: Alternative = "two-sided"
    resamples: int = 100_000
    seed: int = 0
    interval: Interval = "dual"
    confidence: float = 0.95
    execution: Execution = field(default=Execution(), compare=False)
    family: int = 1


Difference = TypeVar("Difference", Floats, int, float, Fraction)

# the alternative that corresponds to each alternative if systems A and B are exchanged
FLIPPED: dict[Alternative, Alternative] = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def extremity(difference: Difference, alternative: Alternative) -> Difference:
    """Return how strongly a difference contradicts the null hypothesis.

    The result is |difference| for the alternative `two-sided`, the difference for `greater`, and -difference for
    `less`.
    """
    if alternative == "two-sided":
        return abs(difference)
    return difference if alternative == "greater" else -difference


def difference_range(score_range: Range) -> Range:
    """Return the lowest and highest difference of two scores: (0, 1) -> (-1, 1)."""
    width = score_range[1] - score_range[0]
    return -width, width


@dataclass(frozen=True, slots=True)
class PairResult:
    """Result of a significance test of two systems, A and B.

    Attributes:
        difference: Difference of the scores, positive if A is better.
        p_value: p-value for the alternative hypothesis; nan if the test is undefined.
        log10_p: Decimal logarithm of the p-value. It is finite even if the p-value underflows to 0.
        method: Method that computed the p-value.
        n_units: Number of tested units, such as items or clusters of items.
        n_discordant: Number of units in which the statistics of the two systems differ.
        p_low, p_high: 95 % Clopper-Pearson interval of a Monte-Carlo p-value.
        ci_low, ci_high: Confidence interval of the difference.
        resamples: Number of resamples or permutations of a Monte-Carlo p-value; None for other methods.
        statistic: Test statistic without its sign, if papers usually report it: |t|, |z|, chi-squared, the smaller sum
            of ranks, the smaller U.
        favours: 1 if the evidence of the test favours A, -1 if it favours B, 0 if it favours neither. A test of single
            units can favour the system with the worse score.
        messages: Warnings, and the reasons why a value is nan.
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
    """p-value of one pair of systems, before it is combined with the difference.

    `PairResults.make` adds the difference of the scores. Attributes that are not listed here have the same meaning as
    in `PairResult`.

    Attributes:
        log_p: Natural logarithm of the p-value.
        coins: n if the p-value is a multiple of 2^-n, such as that of a sign test of n items; otherwise 0.
        p: The p-value if it is exact to the last digit; nan if the p-value is exp(`log_p`).
        favours: Positive if the evidence favours the first system, negative if the second one; nan if the difference of
            the scores decides.
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
    """Two systems with the observed difference of their scores.

    Attributes:
        matrix: Statistics of all systems, with units (items or clusters) as rows.
        pair: Indices of the two systems.
        difference: Difference of the two scores, positive if the first system is better.
        n_discordant: Number of items or clusters in which the statistics of the two systems differ.
    """

    matrix: Matrix
    pair: Pair
    difference: float
    n_discordant: int

    @classmethod
    def compare(cls, matrix: Matrix, pairs: Pairs) -> ObservedPairs:
        """Compute the score differences of pairs of systems, before they are tested.

        Args:
            matrix: Statistics of all systems, with units (items or clusters) as rows.
            pairs: Indices of the two systems of each pair.
        """
        a, b = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        scores = matrix.observed
        return ObservedPairs(matrix, a, b, matrix.difference(scores[a], scores[b]), count_discordant(matrix, a, b))

    @property
    def is_mean(self) -> bool:
        """True if each of the two scores is the mean of the scores of items or clusters."""
        return self.matrix.select_systems(self.pair).is_mean

    @property
    def a(self) -> Floats:
        """Statistics of the first system, one row per item or cluster."""
        return self.matrix.statistics[:, self.pair[0]]

    @property
    def b(self) -> Floats:
        """Statistics of the second system, one row per item or cluster."""
        return self.matrix.statistics[:, self.pair[1]]


@dataclass(frozen=True, eq=False)
class ObservedPairs(Sequence[Observed]):
    """Pairs of systems with the observed differences of their scores.

    This is a sequence of `Observed` that stores the values of all pairs in arrays.

    Attributes:
        matrix: Statistics of all systems, with units (items or clusters) as rows.
        a, b: Indices of the first and of the second systems, [pairs].
        difference: Differences of the scores, positive if the first system is better, [pairs].
        n_discordant: Numbers of items or clusters in which the statistics of the two systems differ, [pairs].
    """

    matrix: Matrix
    a: Ints
    b: Ints
    difference: Floats
    n_discordant: Ints

    def __len__(self) -> int:
        return len(self.a)

    @overload
    def __getitem__(self, at: int) -> Observed: ...
    @overload
    def __getitem__(self, at: slice | NDArray[Any]) -> ObservedPairs: ...
    def __getitem__(self, at: int | slice | NDArray[Any]) -> Observed | ObservedPairs:
        """Return one pair for an integer, several for a slice, index array or mask."""
        if isinstance(at, slice | np.ndarray):
            return ObservedPairs(self.matrix, self.a[at], self.b[at], self.difference[at], self.n_discordant[at])
        pair = int(self.a[at]), int(self.b[at])
        return Observed(self.matrix, pair, float(self.difference[at]), int(self.n_discordant[at]))

    @property
    def alone(self) -> ObservedPairs:
        """A copy of these pairs without the data of systems that are in no pair."""
        systems, places = np.unique(np.stack([self.a, self.b]), return_inverse=True)
        if len(systems) == self.matrix.statistics.shape[1]:
            return self
        a, b = places.reshape(2, -1)
        return replace(self, matrix=self.matrix.select_systems(systems.tolist()), a=a, b=b)

    @property
    def n_units(self) -> Ints:
        """Number of tested units of each pair, [pairs].

        A unit is an item or a cluster. If the test compares single answers, it is an answer that at least one of the
        two systems gives.
        """
        if self.matrix.answers_to is None:
            return np.full(len(self), self.matrix.n_units)
        both = count_shared(self.matrix.statistics[:, :, 1] != 0)
        return both[self.b, self.b] + count_unshared(both, self.a, self.b)[0]


Places = slice | NDArray[Any]  # also a mask

# columns that are not float64
_TYPES: dict[str, Any] = {"method": np.uint8, "resamples": np.int64, "messages": np.int32, "coins": np.int64}
NOT_DRAWN = -1  # stored number of resamples if nothing was simulated
_COUNTED = 1000  # largest number of coins for which 2^-coins does not underflow


@dataclass(frozen=True, eq=False)
class _Columns:
    """Values of many pairs of systems: arrays with one value per pair.

    To save memory, methods and messages are stored once, and each pair has their indices.

    Attributes:
        method: Index of each pair's method in `METHODS`.
        resamples: Numbers of resamples; -1 if nothing was simulated.
        messages: Index of each pair's message in `different`.
        different: The distinct messages; the first one is empty.
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
        return len(self.method)

    def select(self, places: Places) -> Self:
        """Return the values of some pairs.

        Args:
            places: A slice, an index array or a mask that selects the pairs.
        """
        chosen: dict[str, Any] = {name: column[places] for name, column in self.columns().items()}
        return replace(self, **chosen)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by the names of their attributes."""
        return {column.name: getattr(self, column.name) for column in fields(self) if column.name != "different"}

    def row(self, n: int) -> dict[str, Any]:
        """Return the values of the pair with index `n`, by the names of their attributes.

        The result has the method and the messages themselves, not their indices.
        """
        values = {name: column[n].item() for name, column in self.columns().items()}
        values |= {name: math.nan for name, value in values.items() if math.isnan(value)}  # one nan object
        return values | {"method": METHODS[values["method"]], "messages": self.different[values["messages"]],
                         "resamples": None if values["resamples"] == NOT_DRAWN else values["resamples"]}

    def with_message(self, where: Flags, message: Message) -> Self:
        """Return a copy in which some pairs have one more message.

        Args:
            where: True for the pairs that get the message, [pairs].
            message: The new message. It comes before the other messages of a pair.
        """
        changed = np.unique(self.messages[where])
        different = [*self.different, *(Messages((message, *self.different[n])) for n in changed.tolist())]
        numbers = self.messages.copy()
        numbers[where] = len(self.different) + np.searchsorted(changed, self.messages[where])
        return replace(self, messages=numbers, different=tuple(different))


@dataclass(frozen=True, eq=False)
class Tails(_Columns):
    """p-values of many pairs of systems, as a test computes them.

    There is one array per attribute of `Tail`, with one value per pair.
    """

    log_p: Floats
    p: Floats
    coins: Ints
    favours: Floats

    @classmethod
    def collect(cls, tails: Sequence[Tail]) -> Tails:
        """Convert a list of p-values of single pairs to arrays."""
        different = {NO_MESSAGES: 0}
        names = [field_.name for field_ in fields(cls) if field_.name != "different"]
        values = {name: [getattr(tail, name) for tail in tails] for name in names} | {
            "method": [METHODS.index(tail.method) for tail in tails],
            "resamples": [NOT_DRAWN if tail.resamples is None else tail.resamples for tail in tails],
            "messages": [different.setdefault(tail.messages, len(different)) for tail in tails]}
        columns = {name: np.array(column, dtype=_TYPES.get(name, np.float64)) for name, column in values.items()}
        return cls(**columns, different=tuple(different))

    @classmethod
    def make(cls, log_p: Floats, method: Method, *, resamples: int = NOT_DRAWN, messages: Messages = NO_MESSAGES,
             **columns: ArrayLike) -> Tails:
        """Collect the p-values of pairs that were computed by the same method.

        Args:
            log_p: Natural logarithms of the p-values, [pairs].
            method: Method of all pairs.
            resamples: Number of resamples of all pairs.
            messages: Messages of all pairs.
            columns: Values of other attributes of `Tail`: one value for all pairs, or one per pair.
        """
        defaults = {column.name: math.nan for column in fields(cls)} | {
            "log_p": log_p, "method": METHODS.index(method), "resamples": resamples, "messages": int(bool(messages)),
            "coins": 0} | columns
        del defaults["different"]
        full = {name: np.broadcast_to(np.asarray(value, dtype=_TYPES.get(name, np.float64)), log_p.shape)
                for name, value in defaults.items()}
        return cls(**full, different=(NO_MESSAGES, messages) if messages else (NO_MESSAGES,))

    @classmethod
    def join(cls, n: int, parts: Iterable[tuple[Places, Tails]]) -> Tails:
        """Join the p-values of several groups of pairs into one object.

        Args:
            n: Number of all pairs.
            parts: For each group, the indices of its pairs and their p-values.
        """
        different = {NO_MESSAGES: 0}
        columns = {name: column.copy() for name, column in cls.make(np.full(n, math.nan), "exact").columns().items()}
        for places, tails in parts:
            numbers = np.array([different.setdefault(messages, len(different)) for messages in tails.different],
                               dtype=np.int32)
            for name, column in tails.columns().items():
                columns[name][places] = numbers[column] if name == "messages" else column
        return cls(**columns, different=tuple(different))

    def probabilities(self) -> tuple[Floats, Floats]:
        """Return the p-values and their decimal logarithms, [pairs] each.

        The p-value of a permutation test can be a count divided by 2^n, the number of all permutations of n items. Such
        a p-value is rounded to a multiple of 2^-n, to remove the rounding error of its last digits.
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
    """Results of significance tests of many pairs of systems.

    This is a sequence of `PairResult` that stores the values of all pairs in arrays. Equality treats nan as equal to
    nan.
    """

    difference: Floats
    p_value: Floats
    log10_p: Floats
    n_units: Ints
    n_discordant: Ints
    favours: NDArray[np.int8]

    @classmethod
    def make(cls, observed: ObservedPairs, tails: Tails) -> PairResults:
        """Combine the differences of pairs with the p-values of the same pairs."""
        p_value, log10_p = tails.probabilities()
        evidence = np.where(np.isnan(tails.favours), observed.difference, tails.favours)
        favours = (evidence > 0).astype(np.int8) - (evidence < 0)
        columns = {name: np.ascontiguousarray(column) for name, column in tails.columns().items()
                if name not in ("log_p", "p", "coins")}
        bounds = difference_range(observed.matrix.score_range)
        for name in ("ci_low", "ci_high"):  # an infinite end belongs to a one-sided interval
            columns[name] = np.where(np.isinf(columns[name]), columns[name], np.clip(columns[name], *bounds))
        results = cls(**columns | {"favours": favours}, different=tails.different, difference=observed.difference,
                    p_value=p_value, log10_p=log10_p, n_units=observed.n_units, n_discordant=observed.n_discordant)
        return results.with_message(favours * observed.difference < 0, Message("worse-system-favoured"))

    @overload
    def __getitem__(self, at: int) -> PairResult: ...
    @overload
    def __getitem__(self, at: Places) -> PairResults: ...
    def __getitem__(self, at: int | Places) -> PairResult | PairResults:
        """Return one result for an integer, several for a slice, index array or mask."""
        return self.select(at) if isinstance(at, slice | np.ndarray) else PairResult(**self.row(at))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairResults) or len(self) != len(other):
            return False
        own_messages, other_messages = ([results.different[n] for n in results.messages.tolist()]
                                        for results in (self, other))
        return own_messages == other_messages and all(
            np.array_equal(column, other.columns()[name], equal_nan=True)
            for name, column in self.columns().items() if name != "messages")
