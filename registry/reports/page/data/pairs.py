"""Pairs of the systems of leaderboards, rounded; those of a large one are packed, as in the files beside its page."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from registry.arrays import Floats, Ints
from registry.leaderboards.decisions import Decisions
from registry.leaderboards.leaderboard import Leaderboard
from registry.reports.page.data.columns import Json, as_column, precise, rounded

PAIRS = 20_000  # on a page, as far as they are not of neighbours; boards by the first metrics come first
NEIGHBOURS = 10  # places on either side of a system up to which its pairs are always there

_P_VALUES, _DIFFERENCES = ("p_value", "p_adjusted"), ("difference", "ci_low", "ci_high")
_FACTS = ("method", "resolved", "messages")
COLUMNS = (*_P_VALUES, *_DIFFERENCES, "n_discordant", *_FACTS)
_DIGITS = 4  # significant ones of p-values

_NONE = 2**24 - 1
_ZERO = 2**23  # the code of 0 where numbers can be negative
_TINY, _SCALE = 1e-250, 60  # p-values below are times a power of ten that no double holds
_POWERS = np.array([float(f"1e{n}") for n in range(300)])


def reaches(boards: Sequence[Leaderboard]) -> list[int | None]:
    """How many places apart the systems of a pair on the page are at most, for each board; None: it has all pairs."""
    left, found = PAIRS, list[int | None]()
    for board in boards:
        n = len(board.standings)
        reach = n if len(board.decisions) <= left else max(NEIGHBOURS, left // n)
        left = max(0, left - int(np.count_nonzero(_apart(board.decisions) <= reach)))
        found.append(reach if reach < n else None)
    return found


def pairs_data(decisions: Decisions, n: int, reach: int | None, decimals: int) -> Json:
    """The pairs of `n` systems as columns, with how far apart they are at most; all of them without a `reach`.

    `a` and `b` are there where some of these were not tested; else pairs are (0, 1), (0, 2), ..., (1, 2), ... Those of
    a board that is not large have differences for its `decimals`.
    """
    near, far = _near(decisions, reach), min(reach or n, n - 1)
    all_of_them = n * far - far * (far + 1) // 2
    tested = {"a": near.a.tolist(), "b": near.b.tolist()} if len(near) < all_of_them else {}
    return {"reach": reach} | tested | (packed_columns(near) if reach else _columns(near, decimals))


def packed_columns(pairs: Decisions) -> Json:
    """Columns by their names, as `opened.js` reads them."""
    return ({name: packed_p_values(pairs.numbers(name)) for name in _P_VALUES}
            | {name: packed_decimals(pairs.numbers(name)) for name in (*_DIFFERENCES, "n_discordant")}
            | {name: packed_values(_facts(pairs, name)) for name in _FACTS}
            | {"significant": _significant(pairs)})


def _columns(pairs: Decisions, decimals: int) -> Json:
    p_values = {name: as_column(rounded(value, _DIGITS) for value in pairs.columns[name].tolist())
                for name in _P_VALUES}
    differences = {name: as_column(precise(value, decimals) for value in pairs.columns[name].tolist())
                   for name in _DIFFERENCES}
    facts = {name: as_column(_facts(pairs, name)) for name in ("n_discordant", *_FACTS)}
    return differences | p_values | facts | {"significant": _significant(pairs)}


def _facts(pairs: Decisions, name: str) -> list[Any]:
    """Return a column as the page shows it: messages as text."""
    column: list[Any] = pairs.columns[name].tolist()
    if name != "messages":
        return column
    texts = {messages: str(messages) for messages in set(column)}
    return [texts[messages] for messages in column]


def _significant(pairs: Decisions) -> str:
    """A digit for each pair: 1 where it is significant, else 0."""
    return (pairs.significant + np.uint8(ord("0"))).tobytes().decode()


def _near(decisions: Decisions, reach: int | None) -> Decisions:
    """The pairs of systems up to so many places apart, or all, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    near = np.flatnonzero(_apart(decisions) <= (len(decisions) if reach is None else reach))
    return decisions.chosen(near[np.lexsort((decisions.b[near], decisions.a[near]))])


def _apart(decisions: Decisions) -> Ints:
    """How many places apart the systems of each pair are."""
    apart: Ints = np.abs(decisions.a - decisions.b)
    return apart


def packed_p_values(p: Floats) -> str:
    """P-values of four digits: ten thousand times the exponent of ten that divides these, and the digits."""
    tiny = p < _TINY
    scaled = np.where(tiny, p * 10.0**_SCALE, p)
    with np.errstate(divide="ignore"):
        exponent = 3 - np.floor(np.nan_to_num(np.log10(scaled), nan=0.0, neginf=0.0)).astype(np.int64)
    digits = np.rint(scaled * _POWERS[exponent])
    carried = digits == 10_000
    exponent -= carried
    return _packed(np.where(carried, 1000, digits) + 10_000.0 * (exponent + _SCALE * tiny))


def packed_decimals(values: Floats) -> dict[str, Any] | None:
    """Numbers as whole ones of a power of ten; none where all are undefined."""
    known = np.where(np.isfinite(values), values, np.nan)
    if np.isnan(known).all():
        return None
    largest = np.nanmax(np.abs(known))
    decimals = min(300, math.floor(math.log10(_ZERO - 2) - math.log10(largest))) if largest else 0
    return {"decimals": decimals, "codes": _packed(np.rint(known * 10.0**decimals) + _ZERO)}


def packed_values(values: Sequence[Any]) -> dict[str, Any]:
    """Values of which few differ."""
    known = {value: code for code, value in enumerate(dict.fromkeys(values))}
    codes = np.array([known[value] for value in values], dtype=np.float64)
    return {"of": list(known), "codes": _packed(codes) if len(known) > 1 else None}


def _packed(codes: Floats) -> str:
    """Numbers of 24 bits, each as four characters of base64; the largest stands for what is undefined."""
    whole = np.where(np.isnan(codes), _NONE, codes).astype(">u4")
    return base64.b64encode(whole.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()).decode()
