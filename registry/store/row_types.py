"""The rows of the catalog as frozen values, a type for each table or view: `TaskRow` is a row of table `task`.

Fields are the columns that the program reads; what each one is stands in `comments.toml` and in the views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

from sqlalchemy import Column, Table

from registry.store import models


class CatalogRow:
    """A row of `table`."""

    __slots__ = ()
    table: ClassVar[Table]

    def __init__(self, *columns: Any) -> None:
        raise NotImplementedError

    @classmethod
    def columns(cls) -> list[Column[Any]]:
        """The columns of the table that are its fields."""
        return [cls.table.c[field.name] for field in fields(cls) if field.name in cls.table.c]  # type: ignore[arg-type]

    @classmethod
    def of(cls, values: Sequence[Any]) -> Self:
        """Make one of the values of all fields, in their order."""
        return cls(*values)


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class TestSetRow(CatalogRow):
    """A test set; it has a gold revision, save while its first gold is being brought in."""

    table = models.test_set
    test_set_id: int
    name: str
    cluster_attribute: str | None
    gold_revision_id: int


@dataclass(frozen=True, slots=True)
class GoldRevisionRow(CatalogRow):
    """One revision of a test set's gold."""

    table = models.gold_revision
    gold_revision_id: int
    digest: str
    reader: str


@dataclass(frozen=True, slots=True)
class SubmissionRow(CatalogRow):
    """A version of a system, submitted to a test set."""

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


@dataclass(frozen=True, slots=True)
class NamedSubmission(SubmissionRow):
    """A submission with the names of its system, team and test set."""

    system: str
    team: str
    test_set: str


@dataclass(frozen=True, slots=True)
class SubmissionSourceRow(CatalogRow):
    """The file of one run of a submission."""

    table = models.submission_source
    source_digest: str
    name: str


class Submitted(NamedTuple):
    """What was submitted: how it is read, and the file of each run."""

    reader: str
    files: tuple[SubmissionSourceRow, ...]


@dataclass(frozen=True, slots=True)
class ScoringRow(CatalogRow):
    """A submission's answers joined with one revision of the gold, under one policy for missing items."""

    table = models.scoring
    scoring_id: int
    submission_id: int
    gold_revision_id: int
    missing: str


@dataclass(frozen=True, slots=True)
class ScoreRow(CatalogRow):
    """A scoring's score by one metric: what it rests on."""

    table = models.score
    scoring_id: int
    n_items: int
    digest: str
    step: float


@dataclass(frozen=True, slots=True)
class ComparisonRow(CatalogRow):
    """One snapshot of a family of systems."""

    table = models.comparison
    comparison_id: int
    sequence: int
    signature: str


@dataclass(frozen=True, slots=True)
class StudyRow(CatalogRow):
    """A study that was made, its result as JSON."""

    table = models.study
    study: str
    subject: str
    result: str
    signature: str


class PairResultRow(NamedTuple):
    """The raw result of a test of two systems, in its canonical direction; a tuple, as there may be half a million."""

    pair_result_id: int
    digest: str
    method: str
    difference: float | None
    p_value: float | None
    p_low: float | None
    p_high: float | None
    favours: int


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
    missing: str
    scoring_id: int
    submission_id: int
    track_id: int | None


class Obsolete(NamedTuple):
    """A comparison that a board shows although it is not asked for any more."""

    comparison_id: int
    digest: str
    signature: str
    metric: str
