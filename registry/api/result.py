"""What is asked of a registry, and its answer: rows, arrays and data frames.

Arrays need nothing beside the program itself; data frames need the package that they are of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from registry.api.reading import Reading
from registry.errors import RegistryError, counted
from registry.query.question import Query
from registry.query.sql import BATCH, Row, batches, columns_of, count_of, execute, translating
from registry.rendering.render import Shown
from registry.rendering.table import Column, Table, text

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_SHOWN = 20  # rows
_LONGEST = 120  # characters of a cell


class Result(Shown):
    """What a query finds: rows to iterate over as tuples, arrays, or data frames.

    Rows, arrays and frames are taken at each use, of what the registry holds then; inside of `with` all uses see one
    state. A terminal or notebook shows the first rows, and how many there are. Columns of the same name are numbered.

    Attributes:
        columns: Their names.
    """

    def __init__(self, reading: Reading, query: Query) -> None:
        self._reading, self._query = reading, query
        self._counted: int | None = None
        with reading.cursor() as cursor:
            self.columns: list[str] = columns_of(cursor, query)

    def _take(self, fetch: Callable[[Any], Any], *packages: str) -> Any:
        if lacking := [package for package in packages if find_spec(package) is None]:
            raise RegistryError(f"this needs {' and '.join(lacking)}: pip install 'evalregistry[frames]'")
        with self._reading.cursor() as cursor:
            execute(cursor, self._query)
            with translating(self._query):
                return fetch(cursor)

    def __iter__(self) -> Iterator[Row]:
        """The rows; inside of `with` as they are computed, else all are taken first."""
        if not self._reading.streams:
            rows: list[Row] = self._take(lambda cursor: cursor.fetchall())
            self._counted = len(rows)
            return iter(rows)
        found = self._stream()
        first = next(found, [])
        self._counted = None if len(first) == BATCH else len(first)
        return chain(first, chain.from_iterable(found))

    def _stream(self) -> Iterator[list[Row]]:
        with self._reading.cursor() as cursor:
            execute(cursor, self._query)
            yield from batches(cursor, self._query)

    def __len__(self) -> int:
        """How many there were when they were last looked at: `list` asks too, after it has begun to iterate."""
        if self._counted is None:
            with self._reading.cursor() as cursor:
                self._counted = count_of(cursor, self._query)
        return self._counted

    @property
    def _table(self) -> Table:
        with self._reading.cursor() as cursor:
            execute(cursor, self._query)
            with translating(self._query):
                rows = cursor.fetchmany(_SHOWN + 1)
            total = len(rows) if len(rows) <= _SHOWN else count_of(cursor, self._query)
        self._counted = total
        shown = [dict(zip(self.columns, row, strict=True)) for row in rows[:_SHOWN]]
        columns = [Column(name, name, _cell, right=all(isinstance(row[name], int | float | None) for row in shown))
                   for name in self.columns]
        more = f"{_SHOWN} of " if total > _SHOWN else ""
        return Table(shown, columns, captions=(f"{more}{counted(total, 'row')}",))

    def numpy(self) -> dict[str, NDArray[Any]]:
        """The columns as arrays, [rows] each; NULL is nan among floats, and masked in columns of other types."""
        columns = self._take(lambda cursor: cursor.fetchnumpy())
        return {name: column.filled(np.nan) if np.ma.isMaskedArray(column) and column.dtype.kind == "f" else column
                for name, column in columns.items()}

    def arrow(self) -> pyarrow.Table:
        """A pyarrow table.

        Raises:
            RegistryError: pyarrow is not installed.
        """
        return self._take(lambda cursor: cursor.to_arrow_table(), "pyarrow")

    def pandas(self) -> pandas.DataFrame:
        """A pandas data frame.

        Raises:
            RegistryError: pandas is not installed.
        """
        return self._take(lambda cursor: cursor.df(), "pandas")

    def polars(self) -> polars.DataFrame:
        """A polars data frame.

        Raises:
            RegistryError: polars, or pyarrow through which it gets the columns, is not installed.
        """
        return self._take(lambda cursor: cursor.pl(), "polars", "pyarrow")


def _cell(value: Any) -> str:
    """A value as people see it: floats rounded to six digits, long texts clipped."""
    if isinstance(value, bytes):
        return counted(len(value), "byte")
    written = f"{value:.6g}" if isinstance(value, float) else text(value)
    return written if len(written) <= _LONGEST else written[:_LONGEST - 1] + "…"
