"""The command that answers SQL."""

from __future__ import annotations

from itertools import count
from typing import Annotated

import typer

from registry.cli.console import show
from registry.cli.options import Db, OutputFormat, database


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT or EXPLAIN.")],
    db: Db = None,
    format_: OutputFormat = None,
) -> None:
    """Answer one SELECT over the registry's tables and views.

    It can change and reach nothing.
    """
    from registry.reports.table import Table
    from registry.store.query import query as run_query

    found = run_query(database(db), sql)
    keys: list[str] = []
    for name in found.columns:  # a name that stands twice is numbered
        unused = (f"{name}_{n}" for n in count(2))
        keys.append(name if name not in keys else next(key for key in unused if key not in keys + found.columns))
    show([Table([dict(zip(keys, row, strict=True)) for row in found.rows], keys=keys)], format_)
