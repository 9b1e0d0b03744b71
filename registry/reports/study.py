"""Tables of studies: what was found with what it means, for people, and plain rows for programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from registry.errors import UnknownNameError
from registry.leaderboards.leaderboard import title
from registry.rendering.table import Column, Table, is_significant, number, p_value, text
from registry.reports.nbest import curves_table, pairs_table, tests_table, variation_table
from registry.studies.run import StudyResult
from registry.studies.study import Row


def study_table(result: StudyResult, shown: str | None = None) -> Table:
    """One table of a study, with its reading, signature and, for programs, the task in every row.

    Raises:
        UnknownNameError: The study has no table called `shown`.
    """
    tables = result.finding.tables
    name = shown or next(iter(tables))
    if name not in tables:
        raise UnknownNameError(f"table of {result.study.name}", name, tables)
    if (of_its_own := TABLES.get((result.study.name, name))) is not None:
        return of_its_own(result)
    place = {"task": result.task, "subject": result.subject}
    rows: list[Row] = [place | row for row in tables[name]]
    keys = tuple(tables[name][0]) if tables[name] else ()
    return Table(rows, tuple(_column(key, rows) for key in keys), f"{result.study.title} {result.subject}",
                 tuple(result.finding.reading), (*place, *keys), result.signature)


def _column(key: str, rows: list[Row]) -> Column:
    values = [row[key] for row in rows]
    numeric = any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    heading = "p" if key == "p_value" else key.replace("_", " ")
    return Column(key, heading, _p_value if key.startswith("p_") else _cell, right=numeric,
                  decided=is_significant if key == "significant" and not numeric else None)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if not isinstance(value, float):
        return text(value)
    return f"{value:.4f}" if abs(value) >= 0.1 else f"{value:.4g}"  # gains may be small numbers


def _p_value(value: Any) -> str:
    return "" if value is None else p_value(value)


def _effects(result: StudyResult) -> Table:
    rows = [dict(row) for row in result.finding.tables["effects"]]
    for at in result.finding.tables["infinite"]:
        rows[at["row"]][at["key"]] = at["sign"] * math.inf
    table = _of_board(rows, ("system_a", "system_b", "effect", "value", "low", "high", "p_value", "messages"))
    return replace(table, captions=tuple(result.finding.reading))


def _best(result: StudyResult) -> Table:
    table = _of_board(result.finding.tables["systems"],
                      ("system", "score", "may_be_best", "among_best", "low", "high", "rank_low", "rank_high",
                       "marginal_low", "marginal_high"))
    return replace(table, captions=tuple(result.finding.reading))


def _of_board(rows: list[Row], columns: tuple[str, ...]) -> Table:
    """One board's rows: in full for programs, in `columns` for people, who are told once what the board is."""
    return Table(rows, tuple(_board_column(key) for key in columns), title(rows[0]), keys=tuple(rows[0]))


def _board_column(key: str) -> Column:
    heading = "p" if key == "p_value" else key.replace("_", " ")
    if (write := _WRITTEN.get(key)) is not None:
        return Column(key, heading, write, right=key not in ("may_be_best", "among_best", "messages"))
    return Column(key, heading, lambda value: "" if value is None else str(value).replace("_", " "),
                  right=key.startswith(("rank", "marginal")))


def _number(value: float | None) -> str:
    """Write a number; odds can be infinite, and nothing stands where a number is undefined."""
    if value is not None and math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return "" if value is None else number(4)(value)


_WRITTEN: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("value", "low", "high", "score"), _number), "p_value": _p_value, "may_be_best": _cell,
    "among_best": _cell, "messages": str}
# The tables that have a form of their own, by their study and their name.
TABLES: dict[tuple[str, str], Callable[[StudyResult], Table]] = {
    ("effects", "effects"): _effects, ("best", "systems"): _best,
    ("ranking", "pairs"): pairs_table, ("ranking", "tests"): tests_table, ("ranking", "curves"): curves_table,
    ("ranking", "variation"): variation_table}
