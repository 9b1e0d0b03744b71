"""The submissions of a task: what the catalog holds of them, read once, and what is new, written together.

A statement takes about a millisecond, however little it does. So what is brought in is looked up here and waits here,
and a thousand submissions take as many statements as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table, select

from registry.store import catalog, models
from registry.store.catalog import NamedSubmission, TestSetRow
from registry.store.rows import Columns, insert_bulk, insert_many, next_id

_MOST = 2**20  # rows of columns that wait in memory

Name = tuple[str, str, str]  # of a submission to a test set: team, system, version


class Ledger:
    """The submissions of one task, and what belongs to them; what is added is in the database after `write`."""

    def __init__(self, connection: Connection, task_id: int) -> None:
        self._connection, self._task_id = connection, task_id
        self._waiting: defaultdict[Table, list[dict[str, Any]]] = defaultdict(list)
        self._columns: defaultdict[Table, list[Columns]] = defaultdict(list)
        self._rows_in_columns = 0
        self._next: dict[Table, int] = {}
        self._ids: dict[tuple[Table, int, str], int] = {}  # of tracks, teams and systems, by what they belong to
        self._known: dict[tuple[int, Name], NamedSubmission] = {}
        self._same: defaultdict[tuple[int, str], list[NamedSubmission]] = defaultdict(list)  # by test set and digest
        self._sources: defaultdict[int, list[str]] = defaultdict(list)
        self._scorings: set[tuple[int, int, str]] = set()
        self._read()

    def _read(self) -> None:
        connection, task_id = self._connection, self._task_id
        of_task = models.team.c.task_id == task_id
        for row in connection.execute(select(models.track).where(models.track.c.task_id == task_id)):
            self._ids[models.track, task_id, row.name] = row.track_id
        for row in connection.execute(select(models.team).where(of_task)):
            self._ids[models.team, task_id, row.name] = row.team_id
        for row in connection.execute(select(models.system).join(
                models.team, models.team.c.team_id == models.system.c.team_id).where(of_task)):
            self._ids[models.system, row.team_id, row.name] = row.system_id
        for there in catalog.submissions(connection, task_id):
            self._note(there)
        ids = [submission.submission_id for submission in self._known.values()]
        source, scoring = models.submission_source, models.scoring
        for row in connection.execute(select(source).where(source.c.submission_id.in_(ids)).order_by(
                source.c.submission_id, source.c.replicate)) if ids else ():
            self._sources[row.submission_id].append(row.source_digest)
        for row in connection.execute(select(scoring).where(scoring.c.submission_id.in_(ids))) if ids else ():
            self._scorings.add((row.submission_id, row.gold_revision_id, row.missing))

    def _note(self, row: NamedSubmission) -> None:
        self._known[row.test_set_id, (row.team, row.system, row.version)] = row
        self._same[row.test_set_id, row.digest].append(row)

    @property
    def submissions(self) -> list[NamedSubmission]:
        """All submissions to the task, in the order of time."""
        return list(self._known.values())

    @property
    def names(self) -> dict[str, set[str]]:
        """The names of all teams, each with the names of its systems."""
        names = defaultdict[str, set[str]](set)
        for row in self._known.values():
            names[row.team].add(row.system)
        return dict(names)

    def has_team(self, name: str) -> bool:
        """Whether there is a team of that name."""
        return (models.team, self._task_id, name) in self._ids

    def track_id(self, name: str) -> int:
        """The id of a track, new if need be."""
        return self._id(models.track, {"task_id": self._task_id}, name)

    def find(self, test_set_id: int, name: Name) -> NamedSubmission | None:
        """The submission of that name, or None."""
        return self._known.get((test_set_id, name))

    def sources(self, submission_id: int) -> list[str]:
        """The digests of the files of a submission's runs."""
        return self._sources[submission_id]

    def has_scoring(self, submission_id: int, gold_revision_id: int, missing: str) -> bool:
        """Whether a submission was joined with a revision of the gold under a policy."""
        return (submission_id, gold_revision_id, missing) in self._scorings

    def same_answers(self, submission: NamedSubmission) -> str | None:
        """The name (`team/system@version`) of the first submission of another system that has the same answers."""
        return next((row.named for row in self._same[submission.test_set_id, submission.digest]
                     if row.system_id != submission.system_id), None)

    def add(self, test_set: TestSetRow, name: Name, sources: Sequence[tuple[str, str]],
            **values: Any) -> NamedSubmission:
        """Add a submission, its runs read from `sources` (digest and name each)."""
        team, system, version = name
        team_id = self._id(models.team, {"task_id": self._task_id}, team, pseudonym=None)
        system_id = self._id(models.system, {"team_id": team_id}, system, pseudonym=None)
        values |= {"test_set_id": test_set.test_set_id, "system_id": system_id, "version": version}
        values["submission_id"] = self._insert(models.submission, **values)
        row = NamedSubmission(**{column.name: values[column.name] for column in NamedSubmission.columns()},
                              system=system, team=team, test_set=test_set.name)
        self._note(row)
        for replicate, (digest, file) in enumerate(sources):
            self._sources[row.submission_id].append(digest)
            self._waiting[models.submission_source].append({
                "submission_id": row.submission_id, "replicate": replicate, "source_digest": digest, "name": file})
        return row

    def add_scoring(self, submission_id: int, gold_revision_id: int, missing: str, **values: int) -> int:
        """Add a submission as it is joined with a revision of the gold; gives the scoring's id."""
        self._scorings.add((submission_id, gold_revision_id, missing))
        return self._insert(models.scoring, submission_id=submission_id, gold_revision_id=gold_revision_id,
                            missing=missing, **values)

    def add_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows to a table that has no ids."""
        self._waiting[table] += map(dict, rows)

    def add_columns(self, table: Table, columns: Columns, n_rows: int) -> None:
        """Add so many rows to a table, given as `insert_bulk` takes them."""
        if n_rows:
            self._columns[table].append({name: np.full(n_rows, column) if np.isscalar(column) else column
                                         for name, column in columns.items()})
            self._rows_in_columns += n_rows
        if self._rows_in_columns > _MOST:
            self._write_columns()

    def reserve(self, table: Table, n: int) -> int:
        """Give the first of `n` new ids of a table, all of them free."""
        first = self._next.get(table) or next_id(self._connection, table)
        self._next[table] = first + n
        return first

    def write(self) -> None:
        """Write everything that waits."""
        for table, rows in self._waiting.items():
            insert_many(self._connection, table, rows)
        self._waiting.clear()
        self._write_columns()

    def _write_columns(self) -> None:
        for table, parts in self._columns.items():
            insert_bulk(self._connection, table, {
                name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        self._columns.clear()
        self._rows_in_columns = 0

    def _id(self, table: Table, of: dict[str, int], name: str, **others: None) -> int:
        (owner,) = of.values()
        if (known := self._ids.get((table, owner, name))) is None:
            known = self._ids[table, owner, name] = self._insert(table, **of, name=name, **others)
        return known

    def _insert(self, table: Table, **values: Any) -> int:
        allocated = self.reserve(table, 1)
        (column, *_) = table.columns
        self._waiting[table].append({column.name: allocated, **values})
        return allocated
