"""The rows of the catalog as frozen values, a type for each table or view: `TaskRow` is a row of table `task`.

Fields are the columns that the program reads; what each one is stands in `comments.toml` and in the views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, dataclass_transform

from sqlalchemy import Column, Select, Table, bindparam, select

from registry.store import models


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
