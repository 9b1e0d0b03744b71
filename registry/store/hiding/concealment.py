"""What readers do not get to see: who takes part while a task is anonymous, and scores in a blind phase.

Both are decided here alone, below everything that shows anything. A connection for reading gets temporary tables that
bear the names of those with names or scores in them, and in these what is hidden is replaced or left out. SQL that says
`team` then means the temporary table, in the program's own queries, in its views and macros, and in what users ask. So
no report can forget to hide anything; only one that names the file itself (`registry.main.team`) would go around, which
SQL of users may not (`registry.query.sql`).

A baseline keeps its name: its team is hidden only if it has something else on the board.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import HiddenError
from registry.store import models
from registry.store.hiding.shadows import shadows
from registry.store.log.journal import now
from registry.store.rows import driver_of

SAID = datetime.max
_KEY = "concealed"


@dataclass(frozen=True)
class Concealed:
    """What is hidden at a moment.

    Attributes:
        anonymous: The tasks without names, by id, with the number of each in the database.
        blind: Those without scores, by id, with the time until then.
        numbers: The numbers of these.
        asks: Whether SQL of users will be answered, which could read the bytes of files too.
    """

    anonymous: dict[str, int]
    blind: dict[str, datetime]
    numbers: tuple[int, ...]
    asks: bool = False

    def __bool__(self) -> bool:
        return bool(self.anonymous or self.blind)

    @property
    def told(self) -> list[str]:
        """A sentence for each task whose scores are hidden."""
        return [f"{slug}: scores and ranks are hidden {until_told(until)}; `registry --organiser` shows them"
                for slug, until in self.blind.items()]


NOTHING = Concealed({}, {}, ())
_DEADLINES = select(*(models.task.c[name] for name in ("task_id", "slug", "anonymous_until", "blind_until"))).order_by(
    models.task.c.task_id)


def concealed(connection: Connection, at: datetime | None = None) -> Concealed:
    """What is hidden now, or `at` another time in UTC."""
    at = at or now()
    rows = connection.execute(_DEADLINES).all()
    blind = [row for row in rows if row.blind_until is not None and row.blind_until > at]
    return Concealed({row.slug: row.task_id for row in rows
                      if row.anonymous_until is not None and row.anonymous_until > at},
                     {row.slug: row.blind_until for row in blind}, tuple(row.task_id for row in blind))


def hidden_until(connection: Connection) -> datetime | None:
    """When, if nothing is written before, something that is hidden will be shown; None where nothing is hidden."""
    task = models.task.c
    rows = connection.execute(select(task.anonymous_until, task.blind_until)).all()
    return min((until for row in rows for until in row if until is not None and until > now()), default=None)


def conceal(connection: Connection, *, asks: bool = False) -> None:
    """Hide from a connection what is hidden now.

    Args:
        connection: For reading.
        asks: Whether SQL of users will be answered, which could read the bytes of files too.
    """
    if found := concealed(connection):
        connection.info[_KEY] = replace(found, asks=asks)
        _make(driver_of(connection), connection.info[_KEY])


@contextmanager
def concealing(connection: Connection) -> Iterator[None]:
    """Hide from a connection that also writes what is hidden now, until the end of the block."""
    conceal(connection)
    try:
        yield
    finally:
        found: Concealed = connection.info.pop(_KEY, NOTHING)
        made = _statements(driver_of(connection), found) if found else []
        for name, statement in reversed(made):
            kind = statement.partition(f" {name} AS ")[0].rpartition(" ")[2]
            driver_of(connection).execute(f"DROP {kind} temp.{name}")  # which is nothing that a command writes


def concealed_of(connection: Connection) -> Concealed:
    """What is hidden from a connection."""
    found: Concealed = connection.info.get(_KEY, NOTHING)
    return found


def hidden_scorings(driver: Any) -> set[int]:
    """The scorings of blind phases, whose answers one of DuckDB's own connections does not get to see."""
    if not driver.execute("SELECT 1 FROM duckdb_tables() WHERE temporary AND table_name = 'secret_scoring'").fetchall():
        return set()
    return {scoring_id for (scoring_id,) in driver.execute("SELECT scoring_id FROM temp.secret_scoring").fetchall()}


def another(connection: Connection) -> Any:
    """Another of DuckDB's own connections to the same database, from which as much is hidden."""
    driver = driver_of(connection).duplicate()
    if found := concealed_of(connection):
        _make(driver, found)
    return driver


def require_scores(connection: Connection, task: str | None) -> None:
    """Refuse to look for scores of a task, or of all of them, that are hidden from the connection.

    Raises:
        HiddenError: They are.
    """
    found = concealed_of(connection)
    if task is None:
        everything = set(connection.execute(select(models.task.c.slug)).scalars())
        if everything and everything <= found.blind.keys():
            raise HiddenError("; ".join(found.told))
    elif task in found.blind:
        raise HiddenError(next(told for told in found.told if told.startswith(f"{task}: ")))


def until_told(until: datetime) -> str:
    """Say until when, in words.

    >>> until_told(datetime(2026, 12, 1, 12)), until_told(SAID)
    ('until 2026-12-01 12:00 UTC', 'until its organisers say otherwise')
    """
    return "until its organisers say otherwise" if until.year == SAID.year else f"until {until:%Y-%m-%d %H:%M} UTC"


def _make(driver: Any, found: Concealed) -> None:
    for _, statement in _statements(driver, found):
        driver.execute(statement)


def _statements(driver: Any, found: Concealed) -> list[tuple[str, str]]:
    ((name,),) = driver.execute("SELECT current_database()").fetchall()
    file = '"' + name.replace('"', '""') + '"'
    before = driver.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    return shadows(f"{file}.main", list(found.anonymous.values()), list(found.numbers), asks=found.asks,
                   before={table for (table,) in before})
