"""Tables of studies: what was found with what it means, for people, and plain rows for programs."""

from __future__ import annotations

from typing import Any

from registry.errors import UnknownNameError
from registry.rendering.table import Column, Table, p_value, text
from registry.studies.run import StudyResult
from registry.studies.study import Row


def study_table(conducted: StudyResult, shown: str | None = None) -> Table:
    """One table of a study, with its reading, signature and, for programs, the task in every row.

    Raises:
        UnknownNameError: The study has no table called `shown`.
    """
    tables = conducted.finding.tables
    name = shown or next(iter(tables))
    if name not in tables:
        raise UnknownNameError(f"table of {conducted.study.name}", name, tables)
    place = {"task": conducted.task, "subject": conducted.subject}
    rows: list[Row] = [place | row for row in tables[name]]
    keys = tuple(tables[name][0]) if tables[name] else ()
    return Table(rows, tuple(_column(key, rows) for key in keys), f"{conducted.study.title} {conducted.subject}",
                 tuple(conducted.finding.reading), (*place, *keys), conducted.signature)


def _column(key: str, rows: list[Row]) -> Column:
    values = [row[key] for row in rows]
    numeric = any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    heading = "p" if key == "p_value" else key.replace("_", " ")
    return Column(key, heading, _p_value if key.startswith("p_") else _cell, right=numeric)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if not isinstance(value, float):
        return text(value)
    return f"{value:.4f}" if abs(value) >= 0.1 else f"{value:.4g}"  # gains may be small numbers


def _p_value(value: Any) -> str:
    return "" if value is None else p_value(value)
