"""The catalog: tasks, test sets, gold revisions, teams, systems, submissions and metrics.

Rows are frozen values, a type for each table or view: `TaskRow` is a row of table `task`. Fields are the columns that
the program reads.
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
    """A row of `table`; a subclass is a frozen dataclass of its columns, undecorated.

    A subclass that is defined with `whole=True` also has the columns that it does not name.
    """

    table: ClassVar[Table]

    def __init_subclass__(cls, *, whole: bool = False) -> None:
        if whole:
            cls.__annotations__ |= {column.name: "Any" for column in cls.table.columns
                                    if column.name not in cls.__annotations__}
        dataclass(frozen=True)(cls)

    @classmethod
    def columns(cls) -> list[Column[Any]]:
        """The columns of the table that are its fields."""
        return [cls.table.c[field.name] for field in fields(cls) if field.name in cls.table.c]

    @classmethod
    @cache
    def query(cls, *names: str) -> Select[Any]:
        """The query for the rows with given values of these columns; to make it takes as long as to answer it."""
        return select(*cls.columns()).where(*(cls.table.c[name] == bindparam(name) for name in names))

    @classmethod
    def of(cls, values: Sequence[Any]) -> Self:
        """Make one of the values of all fields, in their order."""
        return cls(*values)


class TaskRow(CatalogRow):
    """A task, with its manifest as normalized JSON."""

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
    """A test set; it has a gold revision, save while its first gold is being brought in."""

    table = models.test_set
    test_set_id: int
    name: str
    cluster_attribute: str | None
    gold_revision_id: int


class GoldRevisionRow(CatalogRow):
    """One revision of a test set's gold."""

    table = models.gold_revision
    gold_revision_id: int
    digest: str
    reader: str


class SubmissionRow(CatalogRow, whole=True):
    """A version of a system, submitted to a test set; facts that no code reads are columns without a type here."""

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
    """A submission with the names of its system, team and test set."""

    system: str
    team: str
    test_set: str

    @property
    def named(self) -> str:
        """`team/system@version`, the name within a test set."""
        return f"{self.team}/{self.system}@{self.version}"

    @property
    def full_name(self) -> str:
        """`test_set/team/system@version`, the name within a task."""
        return f"{self.test_set}/{self.named}"


class SubmissionSourceRow(CatalogRow):
    """The file of one run of a submission."""

    table = models.submission_source
    source_digest: str
    name: str


class Submitted(NamedTuple):
    """What was submitted: how it is read, and the file of each run."""

    reader: str
    files: tuple[SubmissionSourceRow, ...]


class ScoringRow(CatalogRow):
    """A submission's answers joined with one revision of the gold, under one policy for missing items."""

    table = models.scoring
    scoring_id: int
    submission_id: int
    gold_revision_id: int
    missing: str


class ScoreRow(CatalogRow):
    """A scoring's score by one metric: what it rests on."""

    table = models.score
    scoring_id: int
    n_items: int
    digest: str
    step: float


class ComparisonRow(CatalogRow):
    """One snapshot of a family of systems."""

    table = models.comparison
    comparison_id: int
    sequence: int
    signature: str


class StudyRow(CatalogRow):
    """A study that was made, its result as JSON."""

    table = models.study
    study: str
    subject: str
    result: str
    signature: str


class PairRequestRow(CatalogRow):
    """What was asked of pairs of systems: all but their statistics that the results of one test depend on."""

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
    """A metric as a task declares it, by an alias."""

    alias: str
    is_primary: bool
    metric_id: int
    name: str
    family: str
    better: str


class Member(NamedTuple):
    """A submission that takes part, as in the view `ranked_submission`, and fits the gold."""

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


RowType = TypeVar("RowType", bound=CatalogRow)


def tasks(connection: Connection, slug: str | None = None) -> list[TaskRow]:
    """Return the tasks, or the one called `slug`; of a public file those whose scores it has.

    Raises:
        UnknownNameError: No task is called so.
        InputError: There is no task at all.
        HiddenError: A public file leaves out its scores, or those of all tasks.
    """
    require_scores(connection, slug)
    found = [TaskRow.of(row) for row in connection.execute(select(*TaskRow.columns()).order_by(models.task.c.task_id))]
    if slug is None:
        if not found:
            raise InputError("the registry holds no task yet; `registry run MANIFEST` adds one")
        blind = find_left_out(connection).blind
        return [row for row in found if row.slug not in blind]
    if slug not in [row.slug for row in found]:
        raise UnknownNameError("task", slug, [row.slug for row in found])
    return [row for row in found if row.slug == slug]


def find(connection: Connection, kind: type[RowType], **values: Any) -> RowType | None:
    """The one row of that type with these values, or None."""
    row = connection.execute(kind.query(*values), values).one_or_none()
    return None if row is None else kind.of(row)


def get(connection: Connection, kind: type[RowType], **values: Any) -> RowType:
    """The one row of that type with these values, which is known to be there."""
    return kind.of(connection.execute(kind.query(*values), values).one())


def find_or_insert(connection: Connection, table: Table, key: dict[str, Any], **others: Any) -> int:
    """The id of the row with the unique `key`, inserted with the `others` if it is not there."""
    if (row := connection.execute(select(table).filter_by(**key)).one_or_none()) is not None:
        return int(row[0])
    return insert(connection, table, **key, **others)


def set_values(connection: Connection, table: Table, row_id: int, **values: Any) -> None:
    """Change columns (none of them part of a key) of the row with this id."""
    (column, *_) = table.columns
    connection.execute(table.update().where(column == row_id).values(**values))


def test_sets(connection: Connection, task_id: int) -> list[TestSetRow]:
    """The test sets that a task declares, in its order."""
    table = models.test_set
    query = select(*TestSetRow.columns()).where(table.c.task_id == task_id, table.c.is_declared)
    return [TestSetRow.of(row) for row in connection.execute(query.order_by(table.c.position))]


def declare_test_sets(connection: Connection, task_id: int, declared: Sequence[tuple[str, str | None]]) -> None:
    """Make these (name, cluster attribute) the task's test sets, in this order."""
    _declare(connection, models.test_set, "name", task_id, {
        name: {"position": n, "cluster_attribute": cluster} for n, (name, cluster) in enumerate(declared)},
        gold_revision_id=None)


def _declare(connection: Connection, table: Table, key: str, task_id: int, wanted: Mapping[str, dict[str, Any]],
             **of_new: Any) -> bool:
    """Make the rows with the `wanted` values of the column `key` those that a task declares; none is removed.

    Says whether anything changed; `of_new` are further values of new rows.
    """
    known = {row._mapping[key]: row._mapping
             for row in connection.execute(select(table).where(table.c.task_id == task_id))}
    changed = False
    for name, row in known.items():
        values = wanted[name] | {"is_declared": True} if name in wanted else {"is_declared": False}
        if any(row[k] != v for k, v in values.items()):
            connection.execute(table.update().where(table.c.task_id == task_id, table.c[key] == name).values(**values))
            changed = True
    new = [{"task_id": task_id, key: name, **values, "is_declared": True, **of_new}
           for name, values in wanted.items() if name not in known]
    insert_many(connection, table, new)
    return changed or bool(new)


def gold_sources(connection: Connection, gold_revision_id: int, reader: str) -> dict[str, str]:
    """The digests of the gold files that were read by `reader` and gave this revision, by role."""
    table = models.gold_source
    query = select(table).where(table.c.gold_revision_id == gold_revision_id, table.c.reader == reader)
    return {row.role: row.source_digest for row in connection.execute(query)}


def item_ids(connection: Connection, gold_revision_id: int) -> tuple[int, int]:
    """The first item id of a gold revision and how many items it has; the ids have no gap.

    Raises:
        MismatchError: It has none: a public file withholds them.
    """
    query = select(func.min(models.item.c.item_id), func.count()).where(
        models.item.c.gold_revision_id == gold_revision_id)
    first, count = connection.execute(query).one()
    if first is None:
        raise MismatchError("the gold is withheld, and with it the items and their statistics; read the registry's own "
                            "file, if you have it")
    return int(first), int(count)


def item_keys(connection: Connection, gold_revision_id: int) -> list[str]:
    """The keys of a gold revision's items in its order."""
    table = models.item
    query = select(table.c.key).where(table.c.gold_revision_id == gold_revision_id).order_by(table.c.position)
    return list(connection.execute(query).scalars())


def item_attribute(connection: Connection, gold_revision_id: int, name: str) -> dict[int, str]:
    """The values of one attribute by item id."""
    table = models.item_attribute
    query = select(table.c.item_id, table.c.value).where(
        table.c.gold_revision_id == gold_revision_id, table.c.name == name)
    return {row.item_id: row.value for row in connection.execute(query)}


def gold_names(connection: Connection, gold_revision_id: int, name: Literal["type", "key"]) -> set[str]:
    """The types or the keys of a gold revision's answers."""
    table = models.answer
    query = select(table.c[name]).distinct().where(table.c.gold_revision_id == gold_revision_id, table.c.in_gold)
    return set(connection.execute(query).scalars())


def submissions(connection: Connection, task_id: int) -> list[NamedSubmission]:
    """Every submission to a task, with the names of its team, system and test set."""
    test_set = models.test_set
    query = _submitted(*NamedSubmission.columns(), models.system.c.name.label("system"),
                       models.team.c.name.label("team"), test_set.c.name.label("test_set"))
    query = query.join(test_set, test_set.c.test_set_id == models.submission.c.test_set_id)
    return [NamedSubmission.of(row) for row in connection.execute(query.where(test_set.c.task_id == task_id))]


def _submitted(*columns: Any) -> Select[Any]:
    """Select columns of submissions, their systems and teams."""
    s, system, team = models.submission, models.system, models.team
    return select(*columns).join_from(s, system, s.c.system_id == system.c.system_id).join(
        team, team.c.team_id == system.c.team_id).order_by(s.c.submission_id)


def tracks(connection: Connection, task_id: int) -> set[str]:
    """The names of a task's tracks."""
    return set(connection.execute(select(models.track.c.name).where(models.track.c.task_id == task_id)).scalars())


def replicate_factors(connection: Connection, submission_ids: Sequence[int]) -> dict[int, tuple[dict[str, str], ...]]:
    """What tells the runs of submissions apart, by submission and in the order of the runs; not of those without."""
    of = models.replicate_factor.c
    query = select(models.replicate_factor).where(of.submission_id.in_(list(submission_ids)))
    found: dict[int, dict[int, dict[str, str]]] = {}
    for submission_id, replicate, factor, level in connection.execute(query.order_by(*of)):
        found.setdefault(submission_id, {}).setdefault(replicate, {})[factor] = level
    return {submission_id: tuple(runs.values()) for submission_id, runs in found.items()}


def submitted(connection: Connection, submission_ids: Sequence[int]) -> dict[int, Submitted]:
    """What was submitted, by submission."""
    s, of = models.submission, models.submission_source
    wanted = list(submission_ids)
    files: dict[int, list[SubmissionSourceRow]] = {submission_id: [] for submission_id in wanted}
    query = select(of.c.submission_id, *SubmissionSourceRow.columns()).where(of.c.submission_id.in_(wanted))
    for submission_id, *file in connection.execute(query.order_by(of.c.submission_id, of.c.replicate)):
        files[submission_id].append(SubmissionSourceRow.of(file))
    readers = connection.execute(select(s.c.submission_id, s.c.reader).where(s.c.submission_id.in_(wanted)))
    return {submission_id: Submitted(reader, tuple(files[submission_id])) for submission_id, reader in readers}


def ranked(connection: Connection, test_set_id: int) -> list[Member]:
    """The submissions that take part on a test set: those in the view `ranked_submission` that fit the gold."""
    query = text(f"""
        SELECT {', '.join(Member._fields)} FROM ranked_submission
        WHERE test_set_id = :test_set AND scoring_id IS NOT NULL ORDER BY submission_id""")  # noqa: S608
    return [Member._make(row) for row in connection.execute(query, {"test_set": test_set_id})]


def all_versions(connection: Connection, test_set_id: int) -> list[tuple[Member, bool]]:
    """All versions that were submitted to a test set, in the order of time, and whether each is withdrawn.

    Those that do not fit the gold as it is now have no `scoring_id`.
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
    return [(Member._make(of), is_withdrawn)
            for *of, is_withdrawn in connection.execute(query, {"test_set": test_set_id})]


def taking_part(connection: Connection, task: str) -> set[str]:
    """The full names of a task's latest submissions that are not withdrawn, whether they fit the gold or not."""
    query = text("SELECT name FROM ranked_submission WHERE task = :task")
    return set(connection.execute(query, {"task": task}).scalars())


def check_metric(connection: Connection, found: Sequence[TaskRow], alias: str | None) -> None:
    """Refuse the id of a metric that none of the `found` tasks declares.

    Raises:
        UnknownNameError: No metric is called so.
    """
    if alias is None:
        return
    known = sorted({m.alias for row in found for m in task_metrics(connection, row.task_id)})
    if alias not in known:
        raise UnknownNameError("metric", alias, known)


def task_metrics(connection: Connection, task_id: int) -> list[DeclaredMetric]:
    """The metrics that a task declares, in its order."""
    t, m = models.task_metric, models.metric
    query = (
        select(t.c.alias, t.c.is_primary, m).join(m, m.c.metric_id == t.c.metric_id)
        .where(t.c.task_id == task_id, t.c.is_declared).order_by(t.c.position)
    )
    return [DeclaredMetric._make(row) for row in connection.execute(query)]


def primary_metric(connection: Connection, task_id: int) -> DeclaredMetric:
    """The metric that the task counts most; every task has one."""
    return next(metric for metric in task_metrics(connection, task_id) if metric.is_primary)


def primary_aliases(connection: Connection) -> dict[int, str]:
    """The alias of the metric that each task counts most, by the tasks' ids."""
    t = models.task_metric.c
    rows = connection.execute(select(t.task_id, t.alias).where(t.is_declared, t.is_primary))
    return dict(map(tuple, rows))


def submission_attributes(connection: Connection, submission_ids: Sequence[int]) -> dict[int, dict[str, str]]:
    """Of submissions: their team, their kind, and what the manifest declares."""
    s = models.submission
    query = _submitted(s.c.submission_id, models.team.c.name.label("team"), s.c.kind, s.c.attributes).where(
        s.c.submission_id.in_(list(submission_ids)))
    return {row.submission_id: {"team": row.team, "kind": row.kind} | {
        name: str(value) for name, value in json.loads(row.attributes).items()} for row in connection.execute(query)}


def declare_metrics(connection: Connection, task_id: int, declared: Sequence[tuple[str, int, bool]]) -> bool:
    """Make (alias, metric id, is primary) the task's metrics, in this order; says whether anything changed."""
    return _declare(connection, models.task_metric, "alias", task_id, {
        alias: {"metric_id": metric, "position": n, "is_primary": primary}
        for n, (alias, metric, primary) in enumerate(declared)})


def scores(connection: Connection, metric_id: int, scoring_ids: Sequence[int]) -> dict[int, ScoreRow]:
    """Return the stored scores of a metric, by scoring."""
    table = models.score
    query = select(*ScoreRow.columns()).where(
        table.c.metric_id == metric_id, table.c.scoring_id.in_(list(scoring_ids)))
    return {row.scoring_id: ScoreRow.of(row) for row in connection.execute(query)}


def score_values(connection: Connection, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], float | None]:
    """Scores by scoring and metric, where they are there."""
    table = models.score.c
    query = select(table.scoring_id, table.metric_id, table.value).where(
        table.scoring_id.in_({scoring_id for scoring_id, _ in keys}))
    return {(row.scoring_id, row.metric_id): row.value for row in connection.execute(query)} if keys else {}
