"""The catalog: tasks, test sets, gold, teams, systems, submissions and metrics.

Each table has a frozen dataclass for its rows: `TaskRow` is a row of the table `task`. The fields of the dataclass are
the columns that the program reads.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, dataclass_transform

from sqlalchemy import Column, Connection, Select, Table, bindparam, func, select, text

from registry.errors import InputError, MismatchError, UnknownNameError
from registry.store import models
from registry.store.embargoes import find_left_out, require_scores
from registry.store.rows import insert, insert_many


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class CatalogRow:
    """Base class of typed table rows: `TaskRow`, for example, is a row of `task`.

    A subclass sets `table` and declares the columns that it reads as annotated fields. It becomes a frozen dataclass
    without a decorator. With `class X(CatalogRow, whole=True)`, it gets a field for every column of the table; columns
    without annotation have the type `Any`.
    """

    table: ClassVar[Table]

    def __init_subclass__(cls, *, whole: bool = False) -> None:
        if whole:
            cls.__annotations__ |= {column.name: "Any" for column in cls.table.columns
                                    if column.name not in cls.__annotations__}
        dataclass(frozen=True)(cls)

    @classmethod
    def columns(cls) -> list[Column[Any]]:
        """Return the table columns that are fields of this class."""
        return [cls.table.c[field.name] for field in fields(cls) if field.name in cls.table.c]

    @classmethod
    @cache
    def query(cls, *names: str) -> Select[Any]:
        """Return a SELECT by column values: `query("name")` ends in WHERE name = ?.

        The query is cached, because SQLAlchemy needs much time to build it.
        """
        return select(*cls.columns()).where(*(cls.table.c[name] == bindparam(name) for name in names))

    @classmethod
    def from_values(cls, values: Sequence[Any]) -> Self:
        """Make a row from its field values, in the order of the fields."""
        return cls(*values)


class TaskRow(CatalogRow):
    """A task, with its manifest as JSON in a normalized form."""

    table = models.task
    task_id: int
    slug: str
    title: str
    version: str
    manifest: str
    manifest_digest: str
    seed: int
    anonymous_until: datetime | None = None
    blind_until: datetime | None = None
    salt: str | None = None


class TestSetRow(CatalogRow):
    """A test set, with the id of the current version of its gold."""

    table = models.test_set
    test_set_id: int
    name: str
    cluster_attribute: str | None
    gold_revision_id: int


class GoldRevisionRow(CatalogRow):
    """One version of the gold of a test set: its digest and the reader of its files."""

    table = models.gold_revision
    gold_revision_id: int
    digest: str
    reader: str


class SubmissionRow(CatalogRow, whole=True):
    """A submission: the output of one version of a system for one test set."""

    table = models.submission
    submission_id: int
    test_set_id: int
    system_id: int
    track_id: int | None
    version: str
    kind: str
    reader: str
    missing: str
    withdrawn: bool
    late: bool
    attributes: str
    digest: str
    declared: str | None


class NamedSubmission(SubmissionRow):
    """A submission, with the names of its system, its team and its test set."""

    system: str
    team: str
    test_set: str

    @property
    def named(self) -> str:
        """Name `team/system@version`, which is unique in a test set."""
        return f"{self.team}/{self.system}@{self.version}"

    @property
    def full_name(self) -> str:
        """Name `test_set/team/system@version`, which is unique in a task."""
        return f"{self.test_set}/{self.named}"


class SubmissionSourceRow(CatalogRow):
    """A submitted file: its digest and its name. Each run of a submission has a file."""

    table = models.submission_source
    source_digest: str
    name: str


class SubmittedFiles(NamedTuple):
    """The submitted files of a submission, one per run, with their reader."""

    reader: str
    files: tuple[SubmissionSourceRow, ...]


class ScoringRow(CatalogRow):
    """The scoring of a submission with one version of the gold.

    The field `missing` is the policy for items without an answer. A submission can have several scorings: one for each
    version of the gold and policy.
    """

    table = models.scoring
    scoring_id: int
    submission_id: int
    gold_revision_id: int
    missing: str


class ScoreRow(CatalogRow):
    """Facts about a stored score of a submission by a metric, without the score.

    Attributes:
        scoring_id: Id of the scoring: the submission, scored with one version of the gold.
        n_items: Number of scored items.
        digest: Digest of the statistics from which the score was computed.
        step: Unit in which the statistics are summed exactly, such as 0.1.
    """

    table = models.score
    scoring_id: int
    n_items: int
    digest: str
    step: float


class ComparisonRow(CatalogRow):
    """A comparison: the test results of one leaderboard, as stored by one command."""

    table = models.comparison
    comparison_id: int
    sequence: int
    signature: str


class StudyRow(CatalogRow):
    """A stored study (an analysis beyond leaderboards), with its result as JSON."""

    table = models.study
    study: str
    subject: str
    result: str
    signature: str


class PairRequestRow(CatalogRow):
    """Settings of a significance test of two systems, such as metric, test and seed.

    The result of the test depends only on these settings and on the statistics of the two systems.
    """

    table = models.pair_request
    metric: str
    test: str
    alternative: str
    resamples: int
    seed: int
    interval: str
    confidence: float
    runs: str


class DeclaredMetric(NamedTuple):
    """A metric that a task declares; `alias` is its name in the task's manifest."""

    alias: str
    is_primary: bool
    metric_id: int
    name: str
    family: str
    better: str


class Member(NamedTuple):
    """A submission that can appear on leaderboards, with its scoring and its names."""

    name: str
    track: str | None
    team: str
    system: str
    version: str
    kind: str
    late: bool
    missing: str
    scoring_id: int
    submission_id: int
    track_id: int | None

    @property
    def submission(self) -> str:
        """The name `team/system@version`."""
        return f"{self.team}/{self.system}@{self.version}"


RowType = TypeVar("RowType", bound=CatalogRow)


def tasks(connection: Connection, slug: str | None = None) -> list[TaskRow]:
    """Return all tasks, or only the task with the id `slug`.

    From a public file (a copy of a registry without hidden data), only tasks with public scores are returned.

    Raises:
        UnknownNameError: No task has this id.
        InputError: The registry has no task.
        HiddenError: The file is public and does not contain the scores of this task, or of any task.
    """
    require_scores(connection, slug)
    query = select(*TaskRow.columns()).order_by(models.task.c.task_id)
    rows = [TaskRow.from_values(row) for row in connection.execute(query)]
    if slug is None:
        if not rows:
            raise InputError("the registry has no task yet; add one by `registry run MANIFEST`")
        blind = find_left_out(connection).blind
        return [row for row in rows if row.slug not in blind]
    if slug not in [row.slug for row in rows]:
        raise UnknownNameError("task", slug, [row.slug for row in rows])
    return [row for row in rows if row.slug == slug]


def find(connection: Connection, kind: type[RowType], **values: Any) -> RowType | None:
    """Return the row with the given column values; None if there is no such row.

    For example, `find(connection, TaskRow, slug="ner")` returns the row of the task `ner`.
    """
    row = connection.execute(kind.query(*values), values).one_or_none()
    return None if row is None else kind.from_values(row)


def get(connection: Connection, kind: type[RowType], **values: Any) -> RowType:
    """Return the row with the given column values, like `find`; the row must exist."""
    return kind.from_values(connection.execute(kind.query(*values), values).one())


def find_or_insert(connection: Connection, table: Table, key: dict[str, Any], **others: Any) -> int:
    """Return the id of the row with some key values; insert the row if it is new.

    Args:
        connection: Connection to the registry.
        table: Table of the row.
        key: Values of columns that identify the row, by name.
        others: Values of the other columns, for a new row.
    """
    if (row := connection.execute(select(table).filter_by(**key)).one_or_none()) is not None:
        return int(row[0])
    return insert(connection, table, **key, **others)


def set_values(connection: Connection, table: Table, row_id: int, **values: Any) -> None:
    """Change the given columns of one row, as in `set_values(..., withdrawn=True)`.

    The columns must not be part of a key.
    """
    (column, *_) = table.columns
    connection.execute(table.update().where(column == row_id).values(**values))


def test_sets(connection: Connection, task_id: int) -> list[TestSetRow]:
    """Return the test sets that a task declares, in the order of its manifest."""
    table = models.test_set
    query = select(*TestSetRow.columns()).where(table.c.task_id == task_id, table.c.is_declared)
    return [TestSetRow.from_values(row) for row in connection.execute(query.order_by(table.c.position))]


def declare_test_sets(connection: Connection, task_id: int, declared: Sequence[tuple[str, str | None]]) -> None:
    """Store the test sets that a task declares in its manifest.

    Args:
        connection: Connection to the registry.
        task_id: Id of the task.
        declared: Name and cluster attribute of each test set, in the order of the manifest.
    """
    _update_declared(connection, models.test_set, "name", task_id, {
        name: {"position": n, "cluster_attribute": cluster} for n, (name, cluster) in enumerate(declared)},
        gold_revision_id=None)


def _update_declared(connection: Connection, table: Table, key: str, task_id: int,
                     declared: Mapping[str, dict[str, Any]], **defaults: Any) -> bool:
    """Change the rows of a table so that they agree with the manifest of a task.

    New rows are inserted, and changed rows updated. Rows that the manifest no longer contains get `is_declared` =
    FALSE.

    Args:
        connection: Connection to the registry.
        table: Table of the rows, such as `test_set`.
        key: Column that identifies a row within a task, such as `name`.
        task_id: Id of the task.
        declared: Column values of each declared row, by the value of the key column.
        defaults: Other column values, which only new rows get.

    Returns:
        True if anything changed.
    """
    stored = {row[key]: row for row in connection.execute(
        select(table).where(table.c.task_id == task_id)).mappings()}
    is_changed = False
    for name, row in stored.items():
        values = declared[name] | {"is_declared": True} if name in declared else {"is_declared": False}
        if any(row[k] != v for k, v in values.items()):
            connection.execute(table.update().where(table.c.task_id == task_id, table.c[key] == name).values(**values))
            is_changed = True
    new = [{"task_id": task_id, key: name, **values, "is_declared": True, **defaults}
           for name, values in declared.items() if name not in stored]
    insert_many(connection, table, new)
    return is_changed or bool(new)


def gold_sources(connection: Connection, gold_revision_id: int, reader: str) -> dict[str, str]:
    """Return the digests of the gold files that a reader has read.

    Returns:
        The digests, by the role of the file: `gold`, or another role that the file format uses.
    """
    table = models.gold_source
    query = select(table).where(table.c.gold_revision_id == gold_revision_id, table.c.reader == reader)
    return {row.role: row.source_digest for row in connection.execute(query)}


def item_ids(connection: Connection, gold_revision_id: int) -> tuple[int, int]:
    """Return the first item id of a version of the gold, and its number of items.

    The item ids of a version of the gold are consecutive.

    Raises:
        MismatchError: The file is public and does not contain the items.
    """
    query = select(func.min(models.item.c.item_id), func.count()).where(
        models.item.c.gold_revision_id == gold_revision_id)
    first, count = connection.execute(query).one()
    if first is None:
        raise MismatchError("the gold, the items and their statistics are not public; use the private registry, for "
                            "`page`, `site` and `serve` with --private")
    return int(first), int(count)


def item_keys(connection: Connection, gold_revision_id: int) -> list[str]:
    """Return the keys of the items in one version of the gold, in its order."""
    table = models.item
    query = select(table.c.key).where(table.c.gold_revision_id == gold_revision_id).order_by(table.c.position)
    return list(connection.execute(query).scalars())


def item_attribute(connection: Connection, gold_revision_id: int, name: str) -> dict[int, str]:
    """Return the value of one attribute, such as genre, for each item that has it.

    Returns:
        The values, by item id.
    """
    table = models.item_attribute
    query = select(table.c.item_id, table.c.value).where(
        table.c.gold_revision_id == gold_revision_id, table.c.name == name)
    return {row.item_id: row.value for row in connection.execute(query)}


def gold_names(connection: Connection, gold_revision_id: int, name: Literal["type", "key"]) -> set[str]:
    """Return the distinct types, such as `PER`, or the distinct keys of gold answers.

    Args:
        connection: Connection to the registry.
        gold_revision_id: Id of the version of the gold.
        name: `type` or `key`, a column of the table `answer`.
    """
    table = models.answer
    query = select(table.c[name]).distinct().where(table.c.gold_revision_id == gold_revision_id, table.c.in_gold)
    return set(connection.execute(query).scalars())


def submissions(connection: Connection, task_id: int) -> list[NamedSubmission]:
    """Return all submissions to a task, including old versions, oldest first."""
    test_set = models.test_set
    query = _select_submissions(*NamedSubmission.columns(), models.system.c.name.label("system"),
                                models.team.c.name.label("team"), test_set.c.name.label("test_set"))
    query = query.join(test_set, test_set.c.test_set_id == models.submission.c.test_set_id)
    return [NamedSubmission.from_values(row) for row in connection.execute(query.where(test_set.c.task_id == task_id))]


def _select_submissions(*columns: Any) -> Select[Any]:
    s, system, team = models.submission, models.system, models.team
    return select(*columns).join_from(s, system, s.c.system_id == system.c.system_id).join(
        team, team.c.team_id == system.c.team_id).order_by(s.c.submission_id)


def tracks(connection: Connection, task_id: int) -> set[str]:
    """Return the names of the tracks (groups of submissions) of a task."""
    return set(connection.execute(select(models.track.c.name).where(models.track.c.task_id == task_id)).scalars())


def replicate_factors(connection: Connection, submission_ids: Sequence[int]) -> dict[int, tuple[dict[str, str], ...]]:
    """Return how the runs of submissions differ, for example in their random seeds.

    Returns:
        By submission id, the factors of each run: `{7: ({"seed": "1"}, {"seed": "2"})}`. Submissions without factors
            are absent.
    """
    table = models.replicate_factor
    query = select(table).where(table.c.submission_id.in_(list(submission_ids)))
    levels: dict[int, dict[int, dict[str, str]]] = {}
    for submission_id, replicate, factor, level in connection.execute(query.order_by(*table.c)):
        levels.setdefault(submission_id, {}).setdefault(replicate, {})[factor] = level
    return {submission_id: tuple(runs.values()) for submission_id, runs in levels.items()}


def load_submitted_files(connection: Connection, submission_ids: Sequence[int]) -> dict[int, SubmittedFiles]:
    """Return the submitted files and their reader, by submission id."""
    s, source = models.submission, models.submission_source
    ids = list(submission_ids)
    files: dict[int, list[SubmissionSourceRow]] = {submission_id: [] for submission_id in ids}
    query = select(source.c.submission_id, *SubmissionSourceRow.columns()).where(source.c.submission_id.in_(ids))
    for submission_id, *file in connection.execute(query.order_by(source.c.submission_id, source.c.replicate)):
        files[submission_id].append(SubmissionSourceRow.from_values(file))
    readers = connection.execute(select(s.c.submission_id, s.c.reader).where(s.c.submission_id.in_(ids)))
    return {submission_id: SubmittedFiles(reader, tuple(files[submission_id])) for submission_id, reader in readers}


def load_ranked(connection: Connection, test_set_id: int) -> list[Member]:
    """Return the submissions to a test set that can appear on its leaderboards.

    The result contains the latest versions that are not withdrawn and that are scored with the current gold.
    """
    query = text(f"""
        SELECT {', '.join(Member._fields)} FROM ranked_submission
        WHERE test_set_id = :test_set AND scoring_id IS NOT NULL ORDER BY submission_id""")  # noqa: S608
    return [Member._make(row) for row in connection.execute(query, {"test_set": test_set_id})]


def all_versions(connection: Connection, test_set_id: int) -> list[tuple[Member, bool]]:
    """Return all submissions to a test set, oldest first, including old versions.

    Returns:
        Pairs of a submission and a flag that is true if the submission is withdrawn. The `scoring_id` of a submission
        that was not scored with the current gold is None.
    """
    query = text("""
        SELECT task.slug || '/' || test_set.name || '/' || team.name || '/' || system.name || '@' || s.version AS name,
            track.name AS track, team.name AS team, system.name AS system, s.version, s.kind, s.late, s.missing,
            scoring.scoring_id, s.submission_id, s.track_id, s.withdrawn
        FROM submission AS s JOIN test_set USING (test_set_id) JOIN task USING (task_id) JOIN system USING (system_id)
        JOIN team USING (team_id) LEFT JOIN track ON track.track_id = s.track_id
        LEFT JOIN scoring ON scoring.submission_id = s.submission_id
            AND scoring.gold_revision_id = test_set.gold_revision_id AND scoring.missing = s.missing
        WHERE test_set_id = :test_set ORDER BY s.submission_id""")
    return [(Member._make(member), is_withdrawn)
            for *member, is_withdrawn in connection.execute(query, {"test_set": test_set_id})]


def current_names(connection: Connection, task: str) -> set[str]:
    """Return the names of the current submissions to a task, scored or not.

    A submission is current if it is the latest version of its system and not withdrawn. A name has the form
    `task/test_set/team/system@version`.
    """
    query = text("SELECT name FROM ranked_submission WHERE task = :task")
    return set(connection.execute(query, {"task": task}).scalars())


def task_metrics(connection: Connection, task_id: int) -> list[DeclaredMetric]:
    """Return the metrics that a task declares, in the order of the manifest."""
    t, m = models.task_metric, models.metric
    query = (
        select(t.c.alias, t.c.is_primary, m).join(m, m.c.metric_id == t.c.metric_id)
        .where(t.c.task_id == task_id, t.c.is_declared).order_by(t.c.position)
    )
    return [DeclaredMetric._make(row) for row in connection.execute(query)]


def primary_metric(connection: Connection, task_id: int) -> DeclaredMetric:
    """Return the metric that decides the ranking of a task."""
    return next(metric for metric in task_metrics(connection, task_id) if metric.is_primary)


def primary_aliases(connection: Connection) -> dict[int, str]:
    """Return the name (alias) of the primary metric of each task, by task id."""
    t = models.task_metric.c
    rows = connection.execute(select(t.task_id, t.alias).where(t.is_declared, t.is_primary))
    return dict(map(tuple, rows))


def submission_attributes(connection: Connection, submission_ids: Sequence[int]) -> dict[int, dict[str, str]]:
    """Return team, kind and declared attributes of submissions, by submission id.

    For example `{7: {"team": "aspen", "kind": "primary", "parameters": "7000000"}}`.
    """
    s = models.submission
    query = _select_submissions(s.c.submission_id, models.team.c.name.label("team"), s.c.kind, s.c.attributes).where(
        s.c.submission_id.in_(list(submission_ids)))
    return {row.submission_id: {"team": row.team, "kind": row.kind} | {
        name: str(value) for name, value in json.loads(row.attributes).items()} for row in connection.execute(query)}


def load_missing_answers(connection: Connection, submission_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Return counts of the items that submissions did not answer, by submission id.

    A count has the parameters of the message `missing-answers`, and the number of the run, from 1.
    """
    query = text("""
        SELECT submission_id, replicate, parameters FROM submission_message
        WHERE code = 'missing-answers' AND submission_id IN :ids ORDER BY submission_id, replicate, parameters
        """).bindparams(bindparam("ids", expanding=True))
    counts: dict[int, list[dict[str, Any]]] = {}
    for row in connection.execute(query, {"ids": list(submission_ids)}):
        counts.setdefault(row.submission_id, []).append(
            {"run": (row.replicate or 0) + 1, "column": None, **json.loads(row.parameters)})
    return counts


def declare_metrics(connection: Connection, task_id: int, declared: Sequence[tuple[str, int, bool]]) -> bool:
    """Store the metrics that a task declares; return True if anything changed.

    Args:
        connection: Connection to the registry.
        task_id: Id of the task.
        declared: For each metric: its alias, its id, and whether it is the primary metric.
    """
    return _update_declared(connection, models.task_metric, "alias", task_id, {
        alias: {"metric_id": metric, "position": n, "is_primary": primary}
        for n, (alias, metric, primary) in enumerate(declared)})


def scores(connection: Connection, metric_id: int, scoring_ids: Sequence[int]) -> dict[int, ScoreRow]:
    """Return facts about the stored scores of submissions by one metric.

    Args:
        connection: Connection to the registry.
        metric_id: Id of the metric.
        scoring_ids: Ids of scorings: submissions that were scored with one version of the gold.

    Returns:
        By scoring id, a `ScoreRow` with the number of items and the digest of the statistics, but without the score.
    """
    table = models.score
    query = select(*ScoreRow.columns()).where(
        table.c.metric_id == metric_id, table.c.scoring_id.in_(list(scoring_ids)))
    return {row.scoring_id: ScoreRow.from_values(row) for row in connection.execute(query)}


def score_values(connection: Connection, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], float | None]:
    """Return the values of stored scores, by scoring id and metric id.

    A scoring is a submission that was scored with one version of the gold.

    Args:
        connection: Connection to the registry.
        keys: The two ids of each score. The result may contain scores of the same scorings by other metrics.
    """
    table = models.score.c
    query = select(table.scoring_id, table.metric_id, table.value).where(
        table.scoring_id.in_({scoring_id for scoring_id, _ in keys}))
    return {(row.scoring_id, row.metric_id): row.value for row in connection.execute(query)} if keys else {}
