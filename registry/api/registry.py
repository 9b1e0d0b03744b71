"""A registry from Python: the same views and macros as in SQL.

reg = registry.open("registry.duckdb")
board = reg.leaderboard("entities").pandas()
only_one = reg.difference_region("entities/test/Aspen/aspen-s", "entities/test/Birch/birch-crf")
per_type = reg.query("SELECT type, count(*) AS n FROM answer WHERE in_gold = $gold GROUP BY type", gold=True)
"""

from __future__ import annotations

import warnings
import weakref
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from registry.api.reading import Reading
from registry.api.result import Result
from registry.api.tasks import Tasks, tasks
from registry.errors import UnknownNameError
from registry.evaluation.comparing.contingency import PairContingencies, pair_contingencies
from registry.evaluation.past import PastDatabase
from registry.publication.publish import publish_temporarily
from registry.query.question import Query
from registry.store import catalog
from registry.store.database import Database
from registry.store.rows import driver_of


class Registry:
    """A registry for reading, which keeps nobody from writing.

    Every question is answered from what the registry holds then. `with` keeps the file open, so that all questions of
    the block are answered from one state.

    With `at`, all methods see it as it stood at that moment. With `public` they see what `registry publish` would
    publish when the object is made.
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
        with self._reading.holding():  # what cannot be read is told now
            pass

    def __enter__(self) -> Self:
        self._reading.hold()
        return self

    def __exit__(self, *_: object) -> None:
        self._reading.release()

    def tasks(self) -> Tasks:
        """Every task, with its test sets and metrics; also those whose scores are hidden."""
        with self._reading.holding() as connection:
            return tasks(connection)

    def query(self, sql: str, /, **parameters: Any) -> Result:
        """Answer one SELECT or EXPLAIN, in which `$name` stands for the parameter `name`.

        Raises:
            QueryError: It is something else, or DuckDB refuses it; `excerpt` shows the place.
            MemoryError: It needs more memory than DuckDB may take.
        """
        return Result(self._reading, Query(sql, {
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
        """The view `pairwise`: every pair once with its p-values. Arguments and errors as of `scores`.

        The view `pair` has every pair from both sides: `query("FROM pair WHERE system = $of", of="a")`.
        """
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
            MismatchError: The items are neither correct nor incorrect, as those of BLEU or graded scores.
        """
        with self._reading.holding() as connection:
            (task_row,) = catalog.tasks(connection, task)
            known = {row.name: row.test_set_id for row in catalog.test_sets(connection, task_row.task_id)}
            name = next(iter(known)) if test_set is None and len(known) == 1 else test_set
            if name not in known:
                raise UnknownNameError(f"test set of {task}", str(name), known)
            return pair_contingencies(connection, known[name])

    def _select(self, view: str, task: str | None, where: dict[str, Any]) -> Result:
        with self._reading.holding() as connection:
            described = driver_of(connection).execute(f"SELECT * FROM {view} LIMIT 0").description  # noqa: S608
            columns = [column[0] for column in described]
            for name in where:
                if name not in columns:
                    raise UnknownNameError(f"column of {view}", name, columns)
            catalog.check_metric(connection, catalog.tasks(connection, task), where.get("metric"))
            wanted = where if task is None else {"task": task, **where}
            conditions = " AND ".join(f"{name} IS NOT DISTINCT FROM ${name}" for name in wanted)
            return self.query(f"SELECT * FROM {view}" + (f" WHERE {conditions}" if wanted else ""),  # noqa: S608
                              **wanted)
