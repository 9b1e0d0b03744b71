"""Tables and keys of a manifest, as pydantic models.

The package `evaluation` checks later that the names of metrics and tests exist.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, create_model, model_validator

from registry.errors import suggest
from registry.manifest.fields import (
    DRAWS,
    NAMES_PARTICIPANT,
    USUAL_TESTS,
    Address,
    ContradictionsError,
    Day,
    Decimals,
    Heading,
    Kind,
    Licence,
    Limit,
    Line,
    Missing,
    Moment,
    Name,
    Options,
    Package,
    Resamples,
    Slug,
    Until,
    check_attribute,
    check_facet,
    check_family,
    check_resamples,
    check_system,
    is_active,
    make_validator,
    to_whole,
)
from registry.manifest.naming import make_metric_id
from registry.manifest.patterns import list_captures
from registry.missing import MissingPolicy
from registry.submission_fields import declarable_texts


class Table(BaseModel):
    """Base class of the tables in a manifest.

    Unknown keys are errors, and values cannot be changed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if contradictions := list(self._find_contradictions()):
            raise ContradictionsError(contradictions)
        return self

    def _find_contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield a key and a message for each key that contradicts another key."""
        return iter(())


class Task(Table):
    """Table `[task]` of a manifest: the task's name, and facts such as organisers."""

    id: Slug
    title: str = ""
    version: Slug = "1"
    deadline: Moment | None = None
    description: str = ""
    url: Address | None = None
    licence: Licence | None = None
    organisers: list[Name] = []
    contact: str | None = None
    citation: str | None = None
    date: Day | None = None
    cost_unit: Heading | None = None
    plugins: list[Package] = []

    @property
    def summary(self) -> str:
        """Organisers, date, licence and address in one line; empty if none is declared."""
        return "; ".join(filter(None, (", ".join(self.organisers), self.date, self.licence, self.url)))


class SystemFacts(Table):
    """Properties of a system that reports show, such as its paper and its size.

    These properties are stored as attributes of the submission, so they are hidden and deleted together with it.
    """

    description: Line | None = None
    paper: Address | None = None
    code: Address | None = None
    licence: Licence | None = None
    size: Annotated[float, make_validator("the model's number of parameters, such as 7e9",
                                          lambda n: 0 < n < math.inf), AfterValidator(to_whole)] | None = None
    cost: Annotated[float, make_validator("a finite number from 0", lambda n: 0 <= n < math.inf),
                    AfterValidator(to_whole)] | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Declared properties of the system, by key."""
        return {name: value for name in FACTS if (value := getattr(self, name)) is not None}


FACTS = tuple(SystemFacts.model_fields)


class Reference(Table):
    """Further gold file of a test set, such as a second reference translation."""

    name: Slug
    path: str


class TestSet(Table):
    """Table `[[test_set]]` of a manifest: a gold file and its format.

    If the gold is not available, `items` names a file that lists the items.
    """

    __test__ = False  # not a pytest class

    name: Slug
    gold: str | None = None
    items: str | None = None
    format: str
    options: Options = {}
    cluster: Name | None = None
    facets: list[Annotated[Name, AfterValidator(check_facet)]] = []
    references: list[Reference] = []
    attributes: str | None = None
    source: str | None = None
    deadline: Moment | None = None
    metrics: Annotated[list[Slug], Field(min_length=1)] | None = None

    def _find_contradictions(self) -> Iterator[tuple[str, str]]:
        names = ["gold", "source", *(reference.name for reference in self.references)]
        if duplicates := {name for name in names if names.count(name) > 1}:
            yield "references", (f"two references have the name {min(duplicates)!r} ('gold' is the gold file, 'source' "
                                 "is the source text); rename one")
        if (self.gold is None) == (self.items is None):
            yield "", "set either gold (the file of gold annotations) or items (a file of items without gold)"
        if self.items is not None and (self.references or self.attributes or self.source):
            yield "items", "cannot be combined with references, attributes or source; remove these keys"


class Submission(Table):
    """Table `[submission]` of a manifest: defaults for all `[[submit]]` tables.

    The defaults of `format` and `options` are those of the gold file.
    """

    format: str | None = None
    options: Options = {}
    missing: Missing = MissingPolicy.REJECT
    tokens: Literal["reject", "warn"] = "reject"
    track: Name | None = None
    limit: Limit | None = None
    limit_per_day: Limit | None = None


class MetricSpec(Table):
    """Table `[[metric]]` of a manifest: a metric with options.

    The key `id` is the metric's name in commands and files; `title` is the name in displayed tables. The default id is
    the column of scores in the metric's options, or else the name.
    """

    id: Slug
    name: str
    options: Options = {}
    primary: bool = False
    title: Heading | None = None
    decimals: Decimals | None = None

    @model_validator(mode="before")
    @classmethod
    def _set_default_id(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            return value
        options = value.get("options")
        column = options.get("column") if isinstance(options, dict) else None
        return {"id": make_metric_id(column if isinstance(column, str) else value["name"]), **value}

    def _find_contradictions(self) -> Iterator[tuple[str, str]]:
        if "column" in self.options and "better" not in self.options:
            yield "options", (f"column {self.options['column']!r} needs a direction; add better = \"lower\" or "
                              "better = \"higher\"")


class Significance(Table):
    """Table `[significance]` of a manifest: settings of the tests of system pairs."""

    test: str = USUAL_TESTS["fixed"]
    resamples: Annotated[int | Literal["auto"], PlainValidator(check_resamples)] = DRAWS
    seed: Annotated[int, make_validator("a whole number from 0 to 2^63 - 1", lambda n: 0 <= n < 2**63)] | None = None
    unit: Literal["item", "cluster", "response", "judgment"] | None = None
    alpha: Annotated[float, make_validator("a number above 0 and below 1", lambda level: 0 < level < 1)] = 0.05
    alternative: Literal["two-sided", "greater"] = "two-sided"
    candidate: Annotated[str, AfterValidator(check_system)] | None = None
    correction: str = "holm"
    interval: Literal["dual", "percentile", "basic", "bca"] = "dual"
    confidence: Annotated[float, make_validator("a number above 0 and at most 1 - 1e-9",
                                                 lambda level: 0 < level <= 1 - 1e-9)] = 0.95
    strata: Name | None = None
    margin: Annotated[float, make_validator("a finite number above 0",
                                             lambda width: 0 < width < math.inf)] | None = None
    overall: str | None = None
    resolve: Resamples | None = None
    precision: Annotated[float, make_validator("a number above 0 and below 1",
                                                lambda error: 0 < error < 1)] | None = None
    runs: Literal["fixed", "random"] = "fixed"
    family: Annotated[str | list[str], PlainValidator(check_family)] = "board"

    @model_validator(mode="before")
    @classmethod
    def _set_default_test(cls, value: Any) -> Any:
        is_random = isinstance(value, dict) and value.get("runs") == "random"
        return {"test": USUAL_TESTS["random"], **value} if is_random else value

    @property
    def draws(self) -> int:
        """Number of resamples; with "auto", the number with which a comparison begins."""
        return DRAWS if self.resamples == "auto" else self.resamples

    def _find_contradictions(self) -> Iterator[tuple[str, str]]:
        if self.runs == "random" and self.interval == "bca":
            yield "", ("interval 'bca' does not support runs = 'random'; set interval to 'dual', 'percentile' or "
                       "'basic'")
        if self.family != "board" and self.correction == "shaffer":
            yield "", "correction 'shaffer' works only with family = 'board'; set this family, or correction = 'holm'"
        if self.family == "board" and self.correction == "gatekeeping":
            yield "", ("correction 'gatekeeping' needs several boards; set family = 'task', or list metrics or boards "
                       "in family")
        if self.candidate is not None and self.alternative == "two-sided":
            yield "candidate", "needs one-sided tests; set alternative = 'greater', or remove candidate"


if TYPE_CHECKING:
    SubmissionTexts = SystemFacts
else:  # a key for each text that is a column of submissions
    SubmissionTexts = create_model("SubmissionTexts", __base__=SystemFacts, **dict.fromkeys(
        declarable_texts("participant", "organiser"), (Line | None, None)))


class Submit(SubmissionTexts):
    """Table `[[submit]]` of a manifest: a submission's file, or a pattern for many.

    In a pattern such as `{team}/{system}.tsv`, names in braces match parts of the path.
    """

    file: str
    system: Name | None = None
    team: Name | None = None
    version: Name | None = None
    test_set: str | None = None
    kind: Kind = "primary"
    withdrawn: bool = False
    late: bool = False
    reason: Line | None = None
    attributes: dict[str, Annotated[Any, AfterValidator(check_attribute)]] = {}
    format: str | None = None
    options: Options = {}
    missing: Missing | None = None
    tokens: Literal["reject", "warn"] | None = None
    track: Name | None = None
    exclude: list[str] = []
    exclude_systems: list[str] = []

    @property
    def is_pattern(self) -> bool:
        """True if `file` contains braces, so that it may match several files."""
        return bool(list_captures(self.file))

    def list_captures(self, key: str) -> tuple[str, ...]:
        """Return the names in braces in the value of a key.

        Example: ("team", "run") if the value is `"{team}-{run}"`. Without a pattern in `file`, the result is empty.
        """
        value = getattr(self, key)
        return tuple(list_captures(value)) if self.is_pattern and value is not None else ()

    @property
    def all_attributes(self) -> dict[str, Any]:
        """Declared attributes, and properties of the system such as its paper."""
        return self.attributes | self.facts

    def _find_contradictions(self) -> Iterator[tuple[str, str]]:
        for name in sorted(self.facts.keys() & self.attributes.keys()):
            yield f"attributes.{name}", f"has the same name as the key {name}; remove the attribute"
        for key in ("exclude", "exclude_systems"):
            if getattr(self, key) and not self.is_pattern:
                yield key, (f"needs a file pattern, but {self.file!r} has no field in braces; add one such as "
                            f"{{team}}, or remove {key}")


class Board(Table):
    """Table `[board]` of a manifest: settings of leaderboards, and embargoes.

    An embargo hides names or scores until a time; if its value is true, until a command ends it.
    """

    rank_baselines: bool = True
    rank_late: bool = True
    ranks: Literal["range", "cluster", "neighbour", "simultaneous", "bootstrap"] = "range"
    anonymous: Until = False
    hidden: Until = False
    release: Literal["scores", "ladder"] = "scores"
    step: Annotated[float, make_validator("a number above 0", lambda step: step > 0)] | None = None

    def _find_contradictions(self) -> Iterator[tuple[str, str]]:
        if (self.release == "ladder") == (self.step is None):
            yield "step", ("works only with release = 'ladder'; remove it" if self.step is not None else
                           "is missing, but release = 'ladder' needs it; set the smallest improvement that the board "
                           "shows")


class Release(Table):
    """Table `[release]` of a manifest: which data `registry release` may publish.

    Without the gold, no data about single items are published.
    """

    gold: bool = True


class FileSettings(NamedTuple):
    """Settings for reading a submission's file, including all defaults."""

    format: str
    options: Options
    missing: MissingPolicy
    tokens: str
    track: str | None


class Manifest(Table):
    """Manifest of a task: its test sets, metrics, rules and submissions."""

    manifest: Annotated[int, make_validator("1, the version of this format", lambda version: version == 1)]
    task: Task
    test_set: Annotated[list[TestSet], Field(min_length=1)]
    submission: Submission = Submission()
    metric: Annotated[list[MetricSpec], Field(min_length=1)]
    significance: Significance = Significance()
    submit: list[Submit] = []
    board: Board = Board()
    release: Release = Release()

    def _find_contradictions(self) -> Iterator[tuple[str, str]]:
        for table, names in (("test_set", [t.name for t in self.test_set]), ("metric", [m.id for m in self.metric])):
            for name in sorted({n for n in names if names.count(n) > 1}):
                yield table, f"two [[{table}]] tables have the name {name!r}; rename one"
        if sum(m.primary for m in self.metric) > 1:
            yield "metric", "more than one [[metric]] has primary = true; keep it for one metric"
        ids = [m.id for m in self.metric]
        for n, t in enumerate(self.test_set):
            for id_ in t.metrics or ():
                if id_ not in ids:
                    yield f"test_set[{n}].metrics", (f"contains {id_!r}, but no [[metric]] has this id; "
                                                     + suggest(id_, ids))
                elif t.metrics is not None and t.metrics.count(id_) > 1:
                    yield f"test_set[{n}].metrics", f"contains {id_!r} twice; remove one"
        if unused := [id_ for id_ in ids if not any(t.metrics is None or id_ in t.metrics for t in self.test_set)]:
            yield "metric", f"no test set has {unused[0]!r} in its metrics; add it to one, or remove this [[metric]]"
        known = [t.name for t in self.test_set]
        for n, s in enumerate(self.submit):
            if s.test_set is not None and not s.list_captures("test_set") and s.test_set not in known:
                yield f"submit[{n}].test_set", f"is {s.test_set!r}, but no [[test_set]] has this name; " + suggest(
                    s.test_set, known)
        if self.significance.unit == "cluster" and (bare := [t.name for t in self.test_set if t.cluster is None]):
            yield "significance.unit", (f"is 'cluster', but test set {bare[0]!r} has no cluster; set its key cluster, "
                                        "or remove unit")
        if fault := self.find_family_fault(self.significance.family):
            yield "significance.family", fault
        if self.significance.candidate is not None and is_active(self.board.anonymous):
            yield "significance.candidate", NAMES_PARTICIPANT

    def find_family_fault(self, family: str | list[str]) -> str:
        """Check that all metrics and leaderboards in a declared family exist.

        A family is a set of pairs whose p-values are corrected together.

        Args:
            family: Names of metrics and leaderboards (such as `"test, f1"`), or "board" or "task".

        Returns:
            The error message; empty if all names exist.
        """
        test_sets, metrics = [t.name for t in self.test_set], [m.id for m in self.metric]
        for name in family if isinstance(family, list) else ():
            test_set, _, metric = name.removeprefix(f"{self.task.id}/").partition(", ")
            if name not in metrics and (test_set not in test_sets or metric.rpartition(", ")[2] not in metrics):
                board = f"{test_sets[0]}, {metrics[0]}"
                return (f"contains {name!r}, which is neither a metric nor a board such as {board!r}; "
                        + suggest(name, metrics))
        return ""

    @property
    def primary(self) -> MetricSpec:
        """Metric that sorts leaderboards: the one with `primary = true`, else the first."""
        return next((m for m in self.metric if m.primary), self.metric[0])

    def deadline(self, test_set: str) -> datetime | None:
        """Return the deadline of submissions to a test set; None if there is none."""
        return self.get_test_set(test_set).deadline or self.task.deadline

    def get_test_set(self, name: str) -> TestSet:
        """Return the test set with a name, which must exist."""
        return next(t for t in self.test_set if t.name == name)

    def get_metrics(self, test_set: str) -> list[MetricSpec]:
        """Return the metrics that score the systems of a test set."""
        ids = self.get_test_set(test_set).metrics
        return [m for m in self.metric if ids is None or m.id in ids]

    def get_file_settings(self, test_set: TestSet, submit: Submit) -> FileSettings:
        """Return the settings for reading a submission's file.

        The `[[submit]]` table takes precedence over `[submission]`, which takes precedence over the test set. Options
        are merged if the format is the same.

        Args:
            test_set: The test set of the submission.
            submit: The `[[submit]]` table of the submission.
        """
        format_, options = test_set.format, dict(test_set.options)
        for layer in (self.submission, submit):
            if layer.format is not None and layer.format != format_:
                format_, options = layer.format, {}
            options |= layer.options
        return FileSettings(
            format_, options,
            missing=submit.missing or self.submission.missing,
            tokens=submit.tokens or self.submission.tokens,
            track=submit.track or self.submission.track,
        )
