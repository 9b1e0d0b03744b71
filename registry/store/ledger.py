"""An in-memory table of the submissions of one task.

Each SQL statement takes about a millisecond, even if the statement does little. The ledger therefore loads all
submissions once, finds them in memory, and collects new rows. A thousand new submissions need as many statements as a
single one.
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

_MAX_WAITING = 2**20  # rows in memory; more rows are written immediately

Name = tuple[str, str, str]  # team, system and version; they identify a submission to a test set


class Ledger:
    """All submissions to one task in memory, for fast search and insertion.

    New rows are collected; `write` stores them in the database.
    """

    def __init__(self, connection: Connection, task_id: int) -> None:
        self._connection, self._task_id = connection, task_id
        self._waiting: defaultdict[Table, list[dict[str, Any]]] = defaultdict(list)
        self._columns: defaultdict[Table, list[Columns]] = defaultdict(list)
        self._rows_in_columns = 0
        self._next: dict[Table, int] = {}
        self._ids: dict[tuple[Table, int, str], int] = {}  # ids of tracks, teams and systems, by table, owner and name
        self._known: dict[tuple[int, Name], NamedSubmission] = {}
        self._same: defaultdict[tuple[int, str], list[NamedSubmission]] = defaultdict(list)  # by test set and digest
        self._sources: defaultdict[int, list[str]] = defaultdict(list)
        self._scorings: set[tuple[int, int, str]] = set()
        self._load()

    def _load(self) -> None:
        connection, task_id = self._connection, self._task_id
        in_task = models.team.c.task_id == task_id
        for row in connection.execute(select(models.track).where(models.track.c.task_id == task_id)):
            self._ids[models.track, task_id, row.name] = row.track_id
        for row in connection.execute(select(models.team).where(in_task)):
            self._ids[models.team, task_id, row.name] = row.team_id
        for row in connection.execute(select(models.system).join(
                models.team, models.team.c.team_id == models.system.c.team_id).where(in_task)):
            self._ids[models.system, row.team_id, row.name] = row.system_id
        for submission in catalog.submissions(connection, task_id):
            self._remember(submission)
        ids = [submission.submission_id for submission in self._known.values()]
        source, scoring = models.submission_source, models.scoring
        for row in connection.execute(select(source).where(source.c.submission_id.in_(ids)).order_by(
                source.c.submission_id, source.c.replicate)) if ids else ():
            self._sources[row.submission_id].append(row.source_digest)
        for row in connection.execute(select(scoring).where(scoring.c.submission_id.in_(ids))) if ids else ():
            self._scorings.add((row.submission_id, row.gold_revision_id, row.missing))

    def _remember(self, row: NamedSubmission) -> None:
        self._known[row.test_set_id, (row.team, row.system, row.version)] = row
        self._same[row.test_set_id, row.digest].append(row)

    @property
    def submissions(self) -> list[NamedSubmission]:
        """All submissions to the task, oldest first."""
        return list(self._known.values())

    @property
    def names(self) -> dict[str, set[str]]:
        """Names of the systems of each team, by team name."""
        names = defaultdict[str, set[str]](set)
        for row in self._known.values():
            names[row.team].add(row.system)
        return dict(names)

    def has_team(self, name: str) -> bool:
        """Return True if the task has a team of this name."""
        return (models.team, self._task_id, name) in self._ids

    def track_id(self, name: str) -> int:
        """Return the id of the track `name`; add the track if it is new."""
        return self._find_or_add(models.track, {"task_id": self._task_id}, name)

    def find(self, test_set_id: int, name: Name) -> NamedSubmission | None:
        """Return a submission by team, system and version; None if it does not exist."""
        return self._known.get((test_set_id, name))

    def sources(self, submission_id: int) -> list[str]:
        """Return the digests of the submitted files of a submission, one file per run."""
        return self._sources[submission_id]

    def has_scoring(self, submission_id: int, gold_revision_id: int, missing: str) -> bool:
        """Return True if a submission was already scored with one version of the gold.

        Args:
            submission_id: Id of the submission.
            gold_revision_id: Id of the version of the gold.
            missing: Policy for missing answers; scores with another policy do not count.
        """
        return (submission_id, gold_revision_id, missing) in self._scorings

    def same_answers(self, submission: NamedSubmission) -> str | None:
        """Return another system's submission with exactly the same answers.

        Returns:
            The name of the first such submission, `team/system@version`; None if there is none.
        """
        return next((row.named for row in self._same[submission.test_set_id, submission.digest]
                     if row.system_id != submission.system_id), None)

    def add(self, test_set: TestSetRow, name: Name, sources: Sequence[tuple[str, str]],
            **values: Any) -> NamedSubmission:
        """Add a submission, and its team and system if they are new.

        Args:
            test_set: Test set of the submission.
            name: Team, system and version.
            sources: Digest and name of the file of each run.
            values: Other columns of the table `submission`.
        """
        team, system, version = name
        team_id = self._find_or_add(models.team, {"task_id": self._task_id}, team, pseudonym=None)
        system_id = self._find_or_add(models.system, {"team_id": team_id}, system, pseudonym=None)
        values |= {"test_set_id": test_set.test_set_id, "system_id": system_id, "version": version}
        values["submission_id"] = self._insert(models.submission, **values)
        row = NamedSubmission(**{column.name: values[column.name] for column in NamedSubmission.columns()},
                              system=system, team=team, test_set=test_set.name)
        self._remember(row)
        for replicate, (digest, file) in enumerate(sources):
            self._sources[row.submission_id].append(digest)
            self._waiting[models.submission_source].append({
                "submission_id": row.submission_id, "replicate": replicate, "source_digest": digest, "name": file})
        return row

    def add_scoring(self, submission_id: int, gold_revision_id: int, missing: str, **values: int) -> int:
        """Record that a submission is scored with one version of the gold.

        Args:
            submission_id: Id of the submission.
            gold_revision_id: Id of the version of the gold.
            missing: Policy for missing answers.
            values: Other columns of the table `scoring`.

        Returns:
            Id of the new row in the table `scoring`.
        """
        self._scorings.add((submission_id, gold_revision_id, missing))
        return self._insert(models.scoring, submission_id=submission_id, gold_revision_id=gold_revision_id,
                            missing=missing, **values)

    def add_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows to a table; the rows contain all columns, including their ids.

        If the table has no id column, the rows have no ids.
        """
        self._waiting[table] += map(dict, rows)

    def add_columns(self, table: Table, columns: Columns, n_rows: int) -> None:
        """Add rows to a table, given as columns.

        Args:
            table: The table.
            columns: An array of values, or one value for all rows, by name of the column.
            n_rows: Number of rows.
        """
        if n_rows:
            self._columns[table].append({name: np.full(n_rows, column) if np.isscalar(column) else column
                                         for name, column in columns.items()})
            self._rows_in_columns += n_rows
        if self._rows_in_columns > _MAX_WAITING:
            self._write_columns()

    def reserve(self, table: Table, n: int) -> int:
        """Reserve `n` consecutive ids in a table for new rows, and return the first id."""
        first = self._next.get(table) or next_id(self._connection, table)
        self._next[table] = first + n
        return first

    def write(self) -> None:
        """Store all added rows in the database."""
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

    def _find_or_add(self, table: Table, owner: dict[str, int], name: str, **columns: None) -> int:
        """Return the id of a track, team or system; add a row if it is new.

        Args:
            table: Table of the track, team or system.
            owner: Column that refers to the owner, with its value: `{"task_id": 1}`, or `{"team_id": 3}` for a system.
            name: Name of the track, team or system.
            columns: Other columns of a new row.
        """
        (owner_id,) = owner.values()
        if (row_id := self._ids.get((table, owner_id, name))) is None:
            row_id = self._ids[table, owner_id, name] = self._insert(table, **owner, name=name, **columns)
        return row_id

    def _insert(self, table: Table, **values: Any) -> int:
        row_id = self.reserve(table, 1)
        (id_column, *_) = table.columns
        self._waiting[table].append({id_column.name: row_id, **values})
        return row_id
