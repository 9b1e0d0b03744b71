"""Tables of what stands beside the p-values of a board."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from registry.leaderboards.leaderboard import title
from registry.rendering.table import Column, Table, number, p_value

_NUMBERS = ("value", "low", "high", "score")


def effect_table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> Table:
    """One board's rows: in full for programs, in `columns` for people, who are told once what the board is."""
    return Table(list(rows), tuple(_column(key) for key in columns), title(rows[0]), keys=tuple(rows[0]))


def _number(value: float) -> str:
    """Write a number; odds can be infinite, and nothing stands where a number is undefined."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return "" if math.isnan(value) else number(4)(value)


def _column(key: str) -> Column:
    heading = key.replace("_", " ")
    if key in _NUMBERS:
        return Column(key, heading, _number, right=True)
    if key == "p_value":
        return Column(key, "p", lambda p: "" if p is None or math.isnan(p) else p_value(p), right=True)
    if key == "may_be_best":
        return Column(key, heading, lambda yes: "yes" if yes else "")
    return Column(key, heading, lambda value: "" if value is None else str(value).replace("_", " "),
                  right=key.startswith("rank"))
