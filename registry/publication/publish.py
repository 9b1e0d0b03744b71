"""Writing a public file: a new registry with the public data of a private one."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from registry.errors import InputError, RegistryError, UnknownNameError
from registry.evaluation.resolve import resolve
from registry.files import new_file
from registry.identity import digest
from registry.manifest import read_manifest, stored_form, stored_manifest
from registry.metrics.confusion import NO_LABEL
from registry.publication.log import public_log
from registry.publication.tables import REFERENCES, SCOPE, TABLES, PublicTable
from registry.publication.totals import sum_statistics
from registry.store import models
from registry.store.database import Database
from registry.store.embargoes import find_hidden, is_public
from registry.store.files import Reach
from registry.store.log import entries, now
from registry.store.rows import driver_of, insert_many, quoted
from registry.store.sources import fetch, is_kept
from registry.version import __version__

_PUBLIC = "public_file"  # the attached database that is written


def publish(database: Database, output: Path, tasks: Sequence[str] = (), *, sources: bool = False,
            at: datetime | None = None) -> None:
    """Write a new registry with the public data of another one, and nothing else.

    Args:
        database: The registry's own file.
        output: The new file; there must be none of that name.
        tasks: The ids of the tasks to publish; all if none is named.
        sources: Whether to include the files of gold and submissions that are public. The view `item_text` needs them.
        at: The file has what is public at this time, in UTC; None: now.

    Raises:
        UnknownNameError: There is no such task.
        InputError: The registry is a public file itself, or there is a file at `output`.
        StoreError: The file cannot be written.
    """
    at = at or now()
    with new_file(output) as path:
        public = Database(path, named=output)
        public.create()
        with database.reading(reach=Reach(folders=[path.parent])) as connection:
            if is_public(connection):
                raise InputError("this is a public file already; publish the registry that it was made of",
                                 path=database.named)
            _choose(connection, tasks, at, with_sources=sources)
            _copy(connection, path, at, of_some_tasks=bool(tasks))
            manifests = list(_past_manifests(connection))
            log = public_log(connection, {row["digest"] for row in manifests})
            totals = list(sum_statistics(connection))
        with public.writing() as connection:
            insert_many(connection, models.event, log)
            insert_many(connection, models.statistic_total, totals)
            insert_many(connection, models.source, [row | {"created_at": at} for row in manifests])
            insert_many(connection, models.publication, [
                {"published_at": at, "has_sources": sources, "program": f"evalregistry {__version__}"}])
            _declare_plain_ranks(connection)


@contextmanager
def publish_temporarily(database: Database, *, sources: bool = False) -> Iterator[Database]:
    """Yield a temporary public file of a registry, or the database itself if it is a public file."""
    with database.reading() as connection:
        is_published = is_public(connection)
    if is_published:
        yield database
        return
    with tempfile.TemporaryDirectory(prefix="registry-") as folder:
        path = Path(folder) / "public.duckdb"
        publish(database, path, sources=sources)
        yield Database(path, named=database.named)


def _choose(connection: Connection, tasks: Sequence[str], at: datetime, *, with_sources: bool) -> None:
    """Make the temporary tables of the rows that are published."""
    rows = connection.execute(models.task.select().order_by(models.task.c.task_id)).all()
    known = [row.slug for row in rows]
    for slug in tasks:
        if slug not in known:
            raise UnknownNameError("task", slug, known)
    hidden = find_hidden(connection, at)
    driver = driver_of(connection)
    driver.execute("CREATE TEMP TABLE public_task (task_id INTEGER, slug VARCHAR, is_anonymous BOOLEAN, "
                   "is_blind BOOLEAN, has_gold BOOLEAN)")
    for row in rows:
        if not tasks or row.slug in tasks:
            driver.execute("INSERT INTO public_task VALUES (?, ?, ?, ?, ?)", [
                row.task_id, row.slug, row.slug in hidden.anonymous, row.slug in hidden.blind,
                stored_manifest(row.manifest).release.gold])
    for name, select in SCOPE.items():
        values = {"sources": with_sources} if "$sources" in select else None
        driver.execute(f"CREATE TEMP TABLE {name} AS {select}", values)


def _copy(connection: Connection, path: Path, at: datetime, *, of_some_tasks: bool) -> None:
    """Copy the rows and columns that are published into the file at `path`."""
    driver = driver_of(connection)
    driver.execute(f"ATTACH {quoted(path)} AS {_PUBLIC} (READ_WRITE)")
    # The order in which rows are stored is that of hidden names, or depends on tasks that are not published.
    is_sorted = of_some_tasks or connection.exec_driver_sql("SELECT bool_or(is_anonymous) FROM public_task").scalar()
    for name, table in TABLES.items():
        if table.order:
            stored = table.changed.get(f"{name}_id", f"t.{name}_id")
            driver.execute(f"CREATE TEMP TABLE number_{name} AS SELECT {stored} AS old, "  # noqa: S608
                           f"CAST(row_number() OVER (ORDER BY {table.order}) AS INTEGER) AS new "
                           f"FROM {table.rows} WHERE {table.where}")
    for name, table in TABLES.items():
        columns, rows = _columns(name, table)
        statement = (f'INSERT INTO {_PUBLIC}.main."{name}" ({", ".join(columns)}) '  # noqa: S608
                     f'SELECT {", ".join(columns.values())} FROM {rows}{" ORDER BY ALL" if is_sorted else ""}')
        driver.execute(statement, {"at": at} if "$at" in statement else None)
    connection.commit()
    driver.execute(f"CHECKPOINT {_PUBLIC}")
    driver.execute(f"DETACH {_PUBLIC}")
    connection.commit()  # lets go of the file


def _columns(name: str, table: PublicTable) -> tuple[dict[str, str], str]:
    """Return the SQL of each published column of a table, and the SQL after FROM."""
    columns, rows = dict[str, str](), table.rows
    for column in models.metadata.tables[name].columns.keys():  # noqa: SIM118
        value = table.changed.get(column, f't."{column}"')
        owner = REFERENCES.get(column, column.removesuffix("_id"))
        if owner != column and owner in TABLES:
            rows += f" LEFT JOIN number_{owner} AS new_{column} ON new_{column}.old = {value}"
            value = f"coalesce(new_{column}.new, {NO_LABEL})" if owner == "label" else f"new_{column}.new"
        elif column not in (*table.changed, *table.kept.split()):
            raise AssertionError(f"registry/publication/tables.py does not say whether {name}.{column} is published")
        columns[f'"{column}"'] = value
    return columns, f"{rows} WHERE {table.where}"


def _past_manifests(connection: Connection) -> Iterator[dict[str, Any]]:
    """Yield the normal forms of a task's manifests, by which past boards are read.

    A manifest of before the task was anonymous may name a participant as its candidate, and is not published.
    """
    is_anonymous = dict(map(tuple, connection.exec_driver_sql("SELECT slug, is_anonymous FROM public_task").all()))
    given = set[str]()
    for entry in entries(connection, "task"):
        stored, normalized = entry.details.get("manifest"), entry.details.get("normalized")
        if entry.subject not in is_anonymous or normalized in given or not normalized:
            continue
        if is_kept(connection, normalized):
            content = fetch(connection, normalized)
        elif stored and is_kept(connection, stored):
            try:
                manifest = read_manifest(fetch(connection, stored), Path(entry.subject))
                content = resolve(manifest, Path(entry.subject)).stored.encode()
            except RegistryError:  # this version of the program refuses it
                continue
        else:
            continue
        candidate = json.loads(content).get("significance", {}).get("candidate")
        if digest(content) == normalized and not (is_anonymous[entry.subject] and candidate):
            given.add(normalized)
            yield {"digest": normalized, "name": f"normalized manifest of {entry.subject}", "n_bytes": len(content),
                   "content": zlib.compress(content)}


def _declare_plain_ranks(connection: Connection) -> None:
    """Replace resampled ranks by rank ranges in tasks without gold: resampling needs the statistics of items."""
    table = models.task
    for row in connection.execute(table.select()).all():
        manifest = stored_manifest(row.manifest)
        if not manifest.release.gold and manifest.board.ranks in ("bootstrap", "simultaneous"):
            plain = manifest.model_copy(update={"board": manifest.board.model_copy(update={"ranks": "range"})})
            stored = stored_form(plain)
            connection.execute(table.update().where(table.c.task_id == row.task_id).values(
                manifest=stored, manifest_digest=digest(stored.encode())))
