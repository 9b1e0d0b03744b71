"""What is written to one database, recorded to be written to another of the same content.

Statements that went by SQLAlchemy are kept with their values in the order in which they were executed: in memory or,
where they are large, in an unnamed temporary file. Many pairs are only kept, and written to the first database too when
something reads them there: most commands never do, and they are dear to write twice.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from contextlib import nullcontext
from tempfile import SpooledTemporaryFile
from typing import Any

from numpy.typing import NDArray
from sqlalchemy import Connection, event

from registry.errors import RegistryError
from registry.store.rows import RECORDING, arrays_of, with_arrays
from registry.store.views import resting_on

_IN_MEMORY = 2**24  # bytes
_READS = ("SELECT", "FROM", "WITH", "SET", "EXPLAIN", "PRAGMA", "SHOW", "DESCRIBE")  # first words
_POSTPONED = ("pair_result", "pair_interval", "comparison_pair")
_MANY = 20_000  # rows
_WORD = re.compile(r"\w+")

Arrays = Mapping[str, NDArray[Any]]


class Recording:
    """What a connection writes from now on."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (open as long as the recording)
        self._postponed: list[int] = []  # where in the file
        self._is_on = True
        self.statements = 0
        event.listen(connection, "before_cursor_execute", self._record)
        connection.info[RECORDING] = self

    @property
    def has_postponed(self) -> bool:
        """Whether not all that is recorded was written to the connection."""
        return bool(self._postponed)

    def postpones(self, table: str, statement: str, arrays: Arrays) -> bool:
        """Keep an insert without executing it, where it is one that waits until its rows are read."""
        if not self._is_on or table not in _POSTPONED or len(next(iter(arrays.values()))) < _MANY:
            return False
        self._postponed.append(self._file.tell())
        self._keep(statement, None, arrays)
        return True

    def before(self, statement: str) -> None:
        """Execute what waits, where a statement reads of it."""
        if self._postponed and not resting_on(_POSTPONED).isdisjoint(_WORD.findall(statement)):
            self._is_on, end = False, self._file.tell()
            for at in self._postponed:
                self._file.seek(at)
                self._execute(self._connection)
            self._file.seek(end)
            self._postponed.clear()
            self._is_on = True

    def _record(self, connection: Connection, cursor: object, statement: str, parameters: Any,  # noqa: ARG002
                context: object, executemany: bool) -> None:  # noqa: ARG002
        if not self._is_on:
            return
        arrays = arrays_of(connection)
        if not arrays:  # else it reads these alone
            self.before(statement)
        if not statement.lstrip().upper().startswith(_READS):
            self._keep(statement, parameters, arrays)

    def _keep(self, statement: str, parameters: Any, arrays: Arrays) -> None:
        try:
            pickle.dump((statement, parameters, arrays), self._file, protocol=5)
        except OSError as error:
            raise RegistryError(f"what is to be written cannot be kept in a temporary file: {error.strerror}; set "
                                "TMPDIR to a folder with more room") from None
        self.statements += 1

    def _execute(self, connection: Connection) -> None:
        """Execute the next statement of the file."""
        statement, parameters, arrays = pickle.load(self._file)  # noqa: S301  (its own)
        with with_arrays(connection, arrays) if arrays else nullcontext():
            connection.exec_driver_sql(statement, parameters or None)

    def write_to(self, connection: Connection) -> None:
        """Write the same to another database, whose content must be what that of the first was in the beginning."""
        self._file.seek(0)
        for _ in range(self.statements):
            self._execute(connection)

    def close(self) -> None:
        """Forget it all."""
        self._connection.info.pop(RECORDING, None)
        self._file.close()
