"""Access to a registry from Python; the file is open only during a call or a `with` block."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from registry.errors import RegistryError, counted
from registry.evaluation.metric_ids import choose_alias
from registry.query.request import Query
from registry.query.sql import BATCH, Row, count_rows, describe_columns, execute, fetch_batches, translate_errors
from registry.rendering.render import TableDisplay
from registry.rendering.table import Column, Table
from registry.rendering.table import format_text as text_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
import weakref
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self, overload

from sqlalchemy import Connection, select, text

from registry.errors import UnknownNameError
from registry.evaluation.comparing.contingency import PairContingencies, count_pair_contingencies
from registry.evaluation.past import PastDatabase
from registry.manifest import decode_manifest
from registry.metric_names import metric_title
from registry.publication.publish import publish_temporarily
from registry.rendering.table import format_text as written
from registry.store import catalog, models
from registry.store.catalog import TaskRow
from registry.store.database import Database
from registry.store.rows import get_driver

_SHOWN = 20  # rows of a result that are displayed
_LONGEST = 120  # characters of a displayed value


class Result(TableDisplay):
    """The result of a query, which can be read as tuples, arrays or data frames.

    Each conversion or iteration runs the query again on the current state of the registry. Inside `with registry:`, all
    conversions read the same state. Terminals and notebooks show the first rows and the number of rows. If columns have
    the same name, they are numbered.

    Attributes:
        columns: The names of the columns.
    """

    def __init__(self, reading: Reading, query: Query) -> None:
        self._reading, self._query = reading, query
        self._counted: int | None = None
        with reading.cursor() as cursor:
            self.columns: list[str] = describe_columns(cursor, query)

    def _take(self, fetch: Callable[[Any], Any], *packages: str) -> Any:
        if lacking := [package for package in packages if find_spec(package) is None]:
            raise RegistryError(f"this needs {' and '.join(lacking)}: pip install 'evalregistry[frames]'")
        with self._reading.cursor() as cursor:
            execute(cursor, self._query)
            with translate_errors(self._query):
                return fetch(cursor)

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows as tuples.

        Inside `with registry:`, rows are computed during the iteration; otherwise all rows are fetched first.
        """
        if not self._reading.streams:
            rows: list[Row] = self._take(lambda cursor: cursor.fetchall())
            self._counted = len(rows)
            return iter(rows)
        blocks = self._stream()
        first = next(blocks, [])
        self._counted = None if len(first) == BATCH else len(first)
        return chain(first, chain.from_iterable(blocks))

    def _stream(self) -> Iterator[list[Row]]:
        with self._reading.cursor() as cursor:
            execute(cursor, self._query)
            yield from fetch_batches(cursor, self._query)

    def __len__(self) -> int:
        """Return the number of rows.

        Unless all rows were already read, this runs a query that counts them.
        """
        if self._counted is None:
            with self._reading.cursor() as cursor:
                self._counted = count_rows(cursor, self._query)
        return self._counted

    @property
    def _table(self) -> Table:
        with self._reading.cursor() as cursor:
            execute(cursor, self._query)
            with translate_errors(self._query):
                rows = cursor.fetchmany(_SHOWN + 1)
            total = len(rows) if len(rows) <= _SHOWN else count_rows(cursor, self._query)
        self._counted = total
        shown = [dict(zip(self.columns, row, strict=True)) for row in rows[:_SHOWN]]
        columns = [Column(name, name, _format_cell,
                          right=all(isinstance(row[name], int | float | None) for row in shown))
                   for name in self.columns]
        more = f"{_SHOWN} of " if total > _SHOWN else ""
        return Table(shown, columns, captions=(f"{more}{counted(total, 'row')}",))

    def numpy(self) -> dict[str, NDArray[Any]]:
        """Return the columns as NumPy arrays, by name, [rows].

        NULL is nan in columns of floats, and masked in others.
        """
        columns = self._take(lambda cursor: cursor.fetchnumpy())
        return {name: column.filled(np.nan) if np.ma.isMaskedArray(column) and column.dtype.kind == "f" else column
                for name, column in columns.items()}

    def arrow(self) -> pyarrow.Table:
        """Return the result as a pyarrow table.

        Raises:
            RegistryError: pyarrow is not installed.
        """
        return self._take(_fetch_arrow, "pyarrow")

    def pandas(self) -> pandas.DataFrame:
        """Return the result as a pandas data frame.

        Raises:
            RegistryError: pandas is not installed.
        """
        return self._take(lambda cursor: cursor.df(), "pandas")

    def polars(self) -> polars.DataFrame:
        """Return the result as a polars data frame.

        Raises:
            RegistryError: polars or pyarrow is not installed; polars reads the columns from pyarrow.
        """
        import polars

        return polars.DataFrame(self._take(_fetch_arrow, "polars", "pyarrow"))


def _fetch_arrow(cursor: Any) -> pyarrow.Table:
    with warnings.catch_warnings():  # DuckDB 2 warns that it copies the rows once more
        warnings.filterwarnings("ignore", message="Arrow output on a DB-API result", category=UserWarning)
        return cursor.to_arrow_table()


def _format_cell(value: Any) -> str:
    if isinstance(value, bytes):
        return counted(len(value), "byte")
    written = f"{value:.6g}" if isinstance(value, float) else text_of(value)
    return written if len(written) <= _LONGEST else written[:_LONGEST - 1] + "…"


class Reading:
    """Access to a registry file for several queries.

    The file is opened for each query, or it stays open between `hold` and `release`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: Connection | None = None
        self._depth = 0
        self._stack = ExitStack()
        self._cursors: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def streams(self) -> bool:
        """True if rows can be fetched one by one, because the file stays open."""
        return self._held is not None and self._database.moment is None

    def hold(self) -> None:
        """Keep the registry file open.

        Each call needs one call of `release`; the last one closes the file.
        """
        if self._held is None:
            self._held = self._stack.enter_context(self._database.querying())
        self._depth += 1

    def release(self) -> None:
        """Undo one call of `hold`; close the registry file if no other call is left.

        Results that were not fetched yet then become invalid.
        """
        self._depth -= 1
        if self._depth:
            return
        self._held = None
        for cursor in list(self._cursors):  # each would keep the file open
            cursor.close()
        self._stack.close()

    @contextmanager
    def holding(self) -> Iterator[Connection]:
        """Keep the registry file open during a `with` block.

        All queries in the block read the same state of the registry.

        Yields:
            A connection.
        """
        self.hold()
        try:
            assert self._held is not None
            yield self._held
        finally:
            self.release()

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """Yield a DuckDB connection for one query.

        Several connections can run queries at the same time.
        """
        if self._held is None or self._database.moment is not None:  # other connections do not show the past state
            with self._database.querying() as connection:
                yield get_driver(connection)
            return
        cursor = get_driver(self._held).duplicate()
        self._cursors.add(cursor)
        try:
            yield cursor
        finally:
            cursor.close()


_SETS = text("""
    SELECT test_set.name, coalesce(any_value(gold.n_items), 0) AS items, count(ranked.submission_id) AS submissions
    FROM test_set
    LEFT JOIN gold_revision AS gold ON gold.gold_revision_id = test_set.gold_revision_id
    LEFT JOIN ranked_submission AS ranked ON ranked.test_set_id = test_set.test_set_id
    WHERE test_set.task_id = :task AND test_set.is_declared
    GROUP BY test_set.name, test_set.position ORDER BY test_set.position, test_set.name""")


@dataclass(frozen=True)
class TestSet:
    """A test set, with its numbers of items and of ranked submissions."""

    name: str
    items: int
    submissions: int


@dataclass(frozen=True)
class TaskMetric:
    """A metric of a task.

    Attributes:
        id: The id of the metric in the task.
        name: The canonical name with its options.
        title: The usual name.
        better: `higher` or `lower`, whichever scores are better.
        is_primary: True if leaderboards use this metric by default.
    """

    id: str
    name: str
    title: str
    better: str
    is_primary: bool


@dataclass(frozen=True)
class Task:
    """A task with its title, version, test sets and metrics."""

    id: str
    title: str
    version: str
    test_sets: tuple[TestSet, ...]
    metrics: tuple[TaskMetric, ...]


class Tasks(TableDisplay, Sequence[Task]):
    """Sequence of all tasks, the oldest first.

    A task id is an index, too: `tasks["ner"]`.
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tuple(tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    @overload
    def __getitem__(self, index: int | str) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Task, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Task | tuple[Task, ...]:
        if not isinstance(index, str):
            return self._tasks[index]
        tasks_by_id = {task.id: task for task in self}
        if index not in tasks_by_id:
            raise UnknownNameError("task", index, tasks_by_id)
        return tasks_by_id[index]

    @property
    def _table(self) -> Table:
        rows = [{"id": task.id, "title": task.title, "version": task.version,
                 "test_sets": ", ".join(test_set.name for test_set in task.test_sets),
                 "items": sum(test_set.items for test_set in task.test_sets),
                 "submissions": sum(test_set.submissions for test_set in task.test_sets),
                 "metrics": ", ".join(metric.title for metric in task.metrics)} for task in self]
        return Table(rows, [Column(key, key.replace("_", " "), written, right=key in ("items", "submissions"))
                            for key in ("id", "title", "version", "test_sets", "items", "submissions", "metrics")])


def tasks(connection: Connection) -> Tasks:
    """Load all tasks of a registry, with their test sets and metrics."""
    rows = connection.execute(select(*TaskRow.columns()).order_by(models.task.c.task_id))
    return Tasks([_task(connection, TaskRow.from_values(row)) for row in rows.all()])


def _task(connection: Connection, row: TaskRow) -> Task:
    titles = {metric.id: metric.title for metric in decode_manifest(row.manifest).metric}
    return Task(
        row.slug, row.title, row.version,
        tuple(TestSet(*values) for values in connection.execute(_SETS, {"task": row.task_id})),
        tuple(TaskMetric(metric.alias, metric.name, titles.get(metric.alias) or metric_title(metric.name),
                         metric.better, metric.is_primary)
              for metric in catalog.task_metrics(connection, row.task_id)))


class Registry:
    """Read access to a registry file: tasks, scores, leaderboards and SQL queries.

    Reading does not block writers. Each method reads the current state of the registry. A `with` block keeps the file
    open, so that all methods in the block read the same state. With `at`, methods read the state at that time. With
    `public`, methods read only public data; these are copied into a temporary file when the object is created.
    """

    def __init__(self, path: str | Path, *, at: str | None = None, public: bool = False) -> None:
        database = Database(path)
        if public:
            self._published = ExitStack()
            database = self._published.enter_context(publish_temporarily(database, sources=True))
            weakref.finalize(self, self._published.close)
        if at is not None:
            database = PastDatabase(database.path, at, partial(warnings.warn, stacklevel=2), named=database.named)
        self._reading = Reading(database)
        with self._reading.holding():  # an unreadable file is an error now, not at first use
            pass

    def __enter__(self) -> Self:
        self._reading.hold()
        return self

    def __exit__(self, *_: object) -> None:
        self._reading.release()

    def tasks(self) -> Tasks:
        """Return all tasks with their test sets and metrics.

        Tasks whose scores are hidden are included.
        """
        with self._reading.holding() as connection:
            return tasks(connection)

    def query(self, sql: str, /, **parameters: Any) -> Result:
        """Run one SELECT or EXPLAIN statement in SQL, and return its result.

        `$name` in the SQL is replaced by the parameter `name`.

        Raises:
            QueryError: The SQL is another statement, or DuckDB refuses it; `excerpt` shows the place of the problem.
            MemoryError: The query needs more memory than DuckDB's limit.
        """
        return Result(self._reading, Query(sql, {
            name: value.item() if isinstance(value, np.generic) else value for name, value in parameters.items()}))

    def scores(self, task: str | None = None, **where: Any) -> Result:
        """Return the score of every submission by every metric.

        Scores are available before systems are compared. The columns are those of the SQL view `submission_score`.

        Args:
            task: Only rows of this task.
            where: Only rows with these values of columns, such as `metric="span_f1"`.

        Raises:
            UnknownNameError: There is no such task, metric or column.
        """
        return self._select("submission_score", task, where)

    def leaderboard(self, task: str | None = None, **where: Any) -> Result:
        """Return the leaderboards: ranks, rank ranges, clusters and scores of systems.

        The columns are those of the SQL view `leaderboard`.

        Args:
            task: Only rows of this task.
            where: Only rows with these values of columns, such as `metric="span_f1"`.

        Raises:
            UnknownNameError: There is no such task, metric or column.
        """
        return self._select("leaderboard", task, where)

    def pairs(self, task: str | None = None, **where: Any) -> Result:
        """Return every pair of compared systems once, with its p-values.

        The columns are those of the SQL view `pairwise`. The view `pair` has every pair twice, once for each system:
        `query("FROM pair WHERE system = $of", of="a")`.

        Args:
            task: Only rows of this task.
            where: Only rows with these values of columns, such as `metric="span_f1"`.

        Raises:
            UnknownNameError: There is no such task, metric or column.
        """
        return self._select("pairwise", task, where)

    def difference_region(self, a: str, b: str) -> Result:
        """Return the answers that only one of two submissions gives.

        The SQL macro `difference_region` computes the result (Evert 2004, section 3.2).

        Args:
            a: A submission, as `task/test_set/team/system`; add `@version` for a version that is not ranked.
            b: The other submission.

        Raises:
            QueryError: A name is unknown or ambiguous.
        """
        return self.query("SELECT * FROM difference_region($a, $b)", a=a, b=b)

    def contingencies(self, task: str, test_set: str | None = None) -> PairContingencies:
        """Return the 2x2 contingency tables of all pairs of ranked submissions.

        A table has the numbers of items that both, only one or neither of two submissions get correct. Use this method
        instead of the view `pair_contingency` if there are many submissions.

        Args:
            task: The task.
            test_set: A test set of the task; optional if the task has only one.

        Raises:
            UnknownNameError: There is no such task or test set.
            MismatchError: The metric does not score items as correct or incorrect; BLEU, for example, does not.
        """
        with self._reading.holding() as connection:
            (task_row,) = catalog.tasks(connection, task)
            test_set_ids = {row.name: row.test_set_id for row in catalog.test_sets(connection, task_row.task_id)}
            name = next(iter(test_set_ids)) if test_set is None and len(test_set_ids) == 1 else test_set
            if name not in test_set_ids:
                raise UnknownNameError(f"test set of {task}", str(name), test_set_ids)
            return count_pair_contingencies(connection, test_set_ids[name])

    def _select(self, view: str, task: str | None, where: dict[str, Any]) -> Result:
        with self._reading.holding() as connection:
            described = get_driver(connection).execute(f"SELECT * FROM {view} LIMIT 0").description  # noqa: S608
            columns = [column[0] for column in described]
            for name in where:
                if name not in columns:
                    raise UnknownNameError(f"column of {view}", name, columns)
            tasks = catalog.tasks(connection, task)
            if "metric" in where:
                where = {**where, "metric": choose_alias(connection, tasks, where["metric"])}
            values = where if task is None else {"task": task, **where}
            conditions = " AND ".join(f"{name} IS NOT DISTINCT FROM ${name}" for name in values)
            return self.query(f"SELECT * FROM {view}" + (f" WHERE {conditions}" if values else ""),  # noqa: S608
                              **values)
