"""Read access from Python: the same views and macros as in SQL, results as arrays and data frames.

    with registry.open("registry.duckdb") as reg:
        board = reg.leaderboard("entities").pandas()
        only_one = reg.difference_region("entities/test/Aspen/aspen-s", "entities/test/Birch/birch-crf")
        per_type = reg.query("SELECT type, count(*) AS n FROM answer WHERE in_gold = $gold GROUP BY type", gold=True)

Arrays need nothing beside the program itself; data frames need the package that they are of.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.errors import RegistryError, UnknownNameError
from registry.evaluation.comparing.contingency import PairContingencies, pair_contingencies
from registry.evaluation.past import PastDatabase
from registry.query.question import Query
from registry.query.sql import Row, batches, execute, translating
from registry.store import catalog
from registry.store.database import Database
from registry.store.hiding.concealment import another
from registry.store.rows import driver_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Registry", "Result"]


class Result:
    """What a query finds: rows to iterate over as tuples, arrays, or data frames.

    The first use takes the rows as they are computed; every further one runs the query again. Columns of the same name
    are numbered in arrays and data frames.
    """

    def __init__(self, new_cursor: Callable[[], Any], query: Query) -> None:
        self._new_cursor, self._query = new_cursor, query
        self._unused = self._run()
        self.columns: list[str] = [column[0] for column in self._unused.description]

    def _run(self) -> Any:
        return execute(self._new_cursor(), self._query)

    def _take(self, fetch: Callable[[Any], Any], *packages: str) -> Any:
        if lacking := [package for package in packages if find_spec(package) is None]:
            raise RegistryError(f"this needs {' and '.join(lacking)}: pip install 'evalregistry[frames]'")
        cursor, self._unused = self._unused or self._run(), None
        with translating(self._query):
            return fetch(cursor)

    def __iter__(self) -> Iterator[Row]:
        cursor, self._unused = self._unused or self._run(), None
        return chain.from_iterable(batches(cursor, self._query))

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


class Registry:
    """A registry opened for reading. While it is open no other process can write to it; `close` it, or use `with`.

    Names in anonymous tasks are pseudonyms, and scores in blind phases are left out, but for an `organiser`. With `at`,
    all methods see it as it stood at that moment.
    """

    def __init__(self, path: str | Path, *, at: str | None = None, organiser: bool = False) -> None:
        self._stack = ExitStack()
        self._database = Database(path, organiser=organiser) if at is None else PastDatabase(
            path, at, partial(warnings.warn, stacklevel=2), organiser=organiser)
        self._opened: Connection | None = self._stack.enter_context(self._database.querying())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let others write again."""
        self._opened = None
        self._stack.close()

    def query(self, sql: str, /, **parameters: Any) -> Result:
        """Answer one SELECT or EXPLAIN, in which `$name` stands for the parameter `name`.

        Raises:
            QueryError: It is something else, or DuckDB refuses it; `excerpt` shows the place.
            MemoryError: It needs more memory than DuckDB may take.
        """
        return Result(self._cursor, Query(sql, {
            name: value.item() if isinstance(value, np.generic) else value for name, value in parameters.items()}))

    def scores(self, task: str | None = None, **where: Any) -> Result:
        """The view `submission_score`: every submission's score by every metric, compared or not.

        Args:
            task: Only of this task.
            where: Values that columns of the view must have: `metric="span_f1"`.

        Raises:
            UnknownNameError: There is no such task, metric or column.
        """
        return self._select("submission_score", task, where)

    def leaderboard(self, task: str | None = None, **where: Any) -> Result:
        """The view `leaderboard`: ranks, rank ranges, clusters and scores. Arguments and errors as of `scores`."""
        return self._select("leaderboard", task, where)

    def pairs(self, task: str | None = None, **where: Any) -> Result:
        """The view `pairwise`: every pair with its p-values. Arguments and errors as of `scores`."""
        return self._select("pairwise", task, where)

    def difference_region(self, a: str, b: str) -> Result:
        """The macro `difference_region`: the answers that only one of two submissions gives (Evert 2004, section 3.2).

        Args:
            a: A submission, `task/test_set/team/system`, with `@version` where it is not the one that takes part.
            b: Another one.

        Raises:
            QueryError: A name is unknown or ambiguous.
        """
        return self.query("SELECT * FROM difference_region($a, $b)", a=a, b=b)

    def contingencies(self, task: str, test_set: str | None = None) -> PairContingencies:
        """The 2x2 tables of all pairs of submissions that take part, as arrays: `pair_contingency` at any size.

        Args:
            task: The task.
            test_set: One of its test sets; it need not be named where there is one.

        Raises:
            UnknownNameError: There is no such task or test set.
        """
        connection = self._connection
        (task_row,) = catalog.tasks(connection, task)
        known = {row.name: row.test_set_id for row in catalog.test_sets(connection, task_row.task_id)}
        name = next(iter(known)) if test_set is None and len(known) == 1 else test_set
        if name not in known:
            raise UnknownNameError(f"test set of {task}", str(name), known)
        return pair_contingencies(connection, known[name])

    def _select(self, view: str, task: str | None, where: dict[str, Any]) -> Result:
        driver = driver_of(self._connection)
        columns = [column[0] for column in driver.execute(f"SELECT * FROM {view} LIMIT 0").description]  # noqa: S608
        for name in where:
            if name not in columns:
                raise UnknownNameError(f"column of {view}", name, columns)
        catalog.check_metric(self._connection, catalog.tasks(self._connection, task), where.get("metric"))
        wanted = where if task is None else {"task": task, **where}
        conditions = " AND ".join(f"{name} IS NOT DISTINCT FROM ${name}" for name in wanted)
        return self.query(f"SELECT * FROM {view}" + (f" WHERE {conditions}" if wanted else ""), **wanted)  # noqa: S608

    @property
    def _connection(self) -> Connection:
        if self._opened is None:
            raise RegistryError("this registry is closed; open it again")
        return self._opened

    def _cursor(self) -> Any:
        """A connection of its own for every result, since several are read at a time."""
        if self._connection and self._database.moment is None:
            return another(self._connection)
        return driver_of(self._stack.enter_context(self._database.querying()))  # turned back too
