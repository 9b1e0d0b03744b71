"""When the file is open: for the moment of a question, or as long as several are to be answered from one state."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from sqlalchemy import Connection

from registry.store.database import Database
from registry.store.rows import driver_of


class Reading:
    """A registry's file, opened for each question unless it is held."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: Connection | None = None
        self._depth = 0
        self._stack = ExitStack()
        self._cursors: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def streams(self) -> bool:
        """Whether rows can be computed as they are asked for: the file has to stay open."""
        return self._held is not None and self._database.moment is None

    def hold(self) -> None:
        """Keep the file open, until `release` was called as often."""
        if self._held is None:
            self._held = self._stack.enter_context(self._database.querying())
        self._depth += 1

    def release(self) -> None:
        """Close the file after the last `release`; rows that were not taken are lost."""
        self._depth -= 1
        if self._depth:
            return
        self._held = None
        for cursor in list(self._cursors):  # each would keep the file open
            cursor.close()
        self._stack.close()

    @contextmanager
    def holding(self) -> Iterator[Connection]:
        """A connection to one state, until the block ends."""
        self.hold()
        try:
            assert self._held is not None
            yield self._held
        finally:
            self.release()

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """A connection of DuckDB's own for one question; several can be asked at a time."""
        if self._held is None or self._database.moment is not None:  # turned back, which no other connection is
            with self._database.querying() as connection:
                yield driver_of(connection)
            return
        cursor = driver_of(self._held).duplicate()
        self._cursors.add(cursor)
        try:
            yield cursor
        finally:
            cursor.close()
