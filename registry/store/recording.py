"""What is written to one database, recorded to be written to another of the same content.

Statements that went by SQLAlchemy are kept with their values in the order in which they were executed: in memory or,
where they are large, in an unnamed temporary file.
"""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from tempfile import SpooledTemporaryFile
from typing import Any

from sqlalchemy import Connection, event

from registry.errors import RegistryError
from registry.store.rows import arrays_of, with_arrays

_IN_MEMORY = 2**24  # bytes
_READS = ("SELECT", "FROM", "WITH", "SET", "EXPLAIN", "PRAGMA", "SHOW", "DESCRIBE")  # first words


class Recording:
    """What a connection writes from now on."""

    def __init__(self, connection: Connection) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (open as long as the recording)
        self.statements = 0
        event.listen(connection, "before_cursor_execute", self._record)

    def _record(self, connection: Connection, cursor: object, statement: str, parameters: Any,  # noqa: ARG002
                context: object, executemany: bool) -> None:  # noqa: ARG002
        if not statement.lstrip().upper().startswith(_READS):
            try:
                pickle.dump((statement, parameters, arrays_of(connection)), self._file, protocol=5)
            except OSError as error:
                raise RegistryError(f"what is to be written cannot be kept in a temporary file: {error.strerror}; set "
                                    "TMPDIR to a folder with more room") from None
            self.statements += 1

    def write_to(self, connection: Connection) -> None:
        """Write the same to another database, whose content must be what that of the first was in the beginning."""
        self._file.seek(0)
        for _ in range(self.statements):
            statement, parameters, arrays = pickle.load(self._file)  # noqa: S301  (its own)
            with with_arrays(connection, arrays) if arrays else nullcontext():
                connection.exec_driver_sql(statement, parameters or None)

    def close(self) -> None:
        """Forget it all."""
        self._file.close()
