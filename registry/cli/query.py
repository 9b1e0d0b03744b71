"""The command that answers SQL."""

from __future__ import annotations

from typing import Annotated

import typer

from registry.cli.console import show
from registry.cli.options import Db, OutputFormat, database


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT or EXPLAIN.")],
    db: Db = None,
    format_: OutputFormat = None,
) -> None:
    """Answer one SELECT over the registry's tables and views; it can change and reach nothing."""
    from registry.reports.table import Table
    from registry.store.query import query as run_query

    found = run_query(database(db), sql)
    keys = found.columns if len(set(found.columns)) == len(found.columns) else [
        f"{name}_{n}" if found.columns.count(name) > 1 else name for n, name in enumerate(found.columns, 1)]
    show([Table([dict(zip(keys, row, strict=True)) for row in found.rows], keys=keys)], format_)
