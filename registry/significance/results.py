"""Results of many pairs as columns, which half a million pairs need; one becomes an object only where it is looked at.

A test gives `Tails`, and with what was observed they become `PairResults`. Methods and messages, of which there are few
different ones, are stored once, and columns hold their numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from registry.arrays import Flags, Floats, Ints
from registry.messages import NO_MESSAGES, Message, Messages
from registry.significance.base import METHODS, Method, ObservedPairs, PairResult, Tail, difference_range

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
