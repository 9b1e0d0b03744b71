"""The manifest's tables and keys. What a key's name must resolve to (a metric, a test) is checked by `evaluation`."""

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
    braces,
    check_attribute,
    check_family,
    check_resamples,
    check_system,
    is_active,
    no_equals,
    number,
    whole,
)
from registry.missing import MissingPolicy
from registry.submission_fields import declarable_texts


class Table(BaseModel):
    """A table of the manifest: frozen, without other keys than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if found := list(self._contradictions()):
            raise ContradictionsError(found)
        return self

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        """Say at which keys, within the table, and how what it declares does not go together."""
        return iter(())


class Task(Table):
    """`[task]`: what the shared task is called, and what its boards and releases say of it to whoever finds them."""

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
    def said(self) -> str:
        """Who held it, when, and where to read on, on one line; empty where nothing of it is declared."""
        return "; ".join(filter(None, (", ".join(self.organisers), self.date, self.licence, self.url)))


class SystemFacts(Table):
    """What is known of a system, in the form in which it can be shown: addresses as links, numbers on an axis.

    It is kept among the attributes of a submission, so that it is hidden, redacted and forgotten as these are.
    """

    description: Line | None = None
    paper: Address | None = None
    code: Address | None = None
    licence: Licence | None = None
    size: Annotated[float, number("its number of parameters, above 0, such as 7e9", lambda n: 0 < n < math.inf),
                    AfterValidator(whole)] | None = None
    cost: Annotated[float, number("a finite number from 0", lambda n: 0 <= n < math.inf),
                    AfterValidator(whole)] | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Those that are given, by their names."""
        return {name: value for name in FACTS if (value := getattr(self, name)) is not None}


FACTS = tuple(SystemFacts.model_fields)


class Reference(Table):
    """One of `references`: a named further gold file."""

    name: Slug
    path: str


class TestSet(Table):
    """`[[test_set]]`: the gold annotations, or just the list of items to answer, and how they are read."""

    __test__ = False  # not a pytest class

    name: Slug
    gold: str | None = None
    items: str | None = None
    format: str
    options: Options = {}
    cluster: Name | None = None
    facets: list[Annotated[Name, AfterValidator(no_equals)]] = []
    references: list[Reference] = []
    attributes: str | None = None
    source: str | None = None
    deadline: Moment | None = None

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        names = ["gold", "source", *(reference.name for reference in self.references)]
        if twice := {n for n in names if names.count(n) > 1}:
            yield "references", (f"two references are called {min(twice)!r} ('gold' is the gold itself, 'source' what "
                                 "was translated); rename one")
        if (self.gold is None) == (self.items is None):
            yield "", "declare one of gold, the file of the gold annotations, and items, a list without them"
        if self.items is not None and (self.references or self.attributes or self.source):
            yield "items", "stand for the gold and all its files; leave references, attributes and source out"


class Submission(Table):
    """`[submission]`: defaults for every `[[submit]]`; format and options default to the gold's."""

    format: str | None = None
    options: Options = {}
    missing: Missing = MissingPolicy.REJECT
    tokens: Literal["reject", "warn"] = "reject"
    track: Name | None = None
    limit: Limit | None = None
    limit_per_day: Limit | None = None


class MetricSpec(Table):
    """`[[metric]]`: a metric by name and options, called `id` in commands and files, and `title` before people."""

    id: Slug
    name: str
    options: Options = {}
    primary: bool = False
    title: Heading | None = None
    decimals: Decimals | None = None

    @model_validator(mode="before")
    @classmethod
    def _id_defaults_to_name(cls, value: Any) -> Any:
        return {"id": value["name"], **value} if isinstance(value, dict) and "name" in value else value


class Significance(Table):
    """`[significance]`: which test on which pairs, and how the family is corrected."""

    test: str = USUAL_TESTS["fixed"]
    resamples: Annotated[int | Literal["auto"], PlainValidator(check_resamples)] = DRAWS
    seed: Annotated[int, number("a whole number from 0 to 2^63 - 1", lambda n: 0 <= n < 2**63)] | None = None
    unit: Literal["item", "cluster", "response"] | None = None
    alpha: Annotated[float, number("a number above 0 and below 1", lambda level: 0 < level < 1)] = 0.05
    alternative: Literal["two-sided", "greater"] = "two-sided"
    candidate: Annotated[str, AfterValidator(check_system)] | None = None
    correction: str = "holm"
    interval: Literal["dual", "percentile", "basic", "bca"] = "dual"
    confidence: Annotated[float, number("a number above 0 and at most 1 - 1e-9",
                                         lambda level: 0 < level <= 1 - 1e-9)] = 0.95
    strata: Name | None = None
    margin: Annotated[float, number("a finite number above 0", lambda width: 0 < width < math.inf)] | None = None
    overall: str | None = None
    resolve: Resamples | None = None
    precision: Annotated[float, number("a number above 0 and below 1", lambda error: 0 < error < 1)] | None = None
    runs: Literal["fixed", "random"] = "fixed"
    family: Annotated[str | list[str], PlainValidator(check_family)] = "board"

    @model_validator(mode="before")
    @classmethod
    def _test_is_usual(cls, value: Any) -> Any:
        is_random = isinstance(value, dict) and value.get("runs") == "random"
        return {"test": USUAL_TESTS["random"], **value} if is_random else value

    @property
    def draws(self) -> int:
        """How many draws pairs get at first; under "auto" at the least."""
        return DRAWS if self.resamples == "auto" else self.resamples

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        if self.runs == "random" and self.interval == "bca":
            yield "", "interval 'bca' does not go with runs = 'random'; take dual, percentile or basic"
        if self.family != "board" and self.correction == "shaffer":
            yield "", "correction 'shaffer' takes the pairs of one board as a family; take holm, or family = 'board'"
        if self.family == "board" and self.correction == "gatekeeping":
            yield "", "correction 'gatekeeping' goes from board to board; take family = 'task', or name metrics"
        if self.candidate is not None and self.alternative == "two-sided":
            yield "candidate", "needs alternative = 'greater', for one-sided tests; set it, or leave candidate out"


if TYPE_CHECKING:
    SubmissionTexts = SystemFacts
else:  # with a key for each text that is a column of its own
    SubmissionTexts = create_model("SubmissionTexts", __base__=SystemFacts, **dict.fromkeys(
        declarable_texts("participant", "organiser"), (Line | None, None)))


class Submit(SubmissionTexts):
    """`[[submit]]`: one file, or a pattern whose braces capture names from many (and runs of one submission)."""

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

    @property
    def is_pattern(self) -> bool:
        """Whether `file` has braces, and so names as many files as match."""
        return bool(braces(self.file))

    def composed(self, key: str) -> tuple[str, ...]:
        """The captures of the pattern that the value of a key is composed of: `("team", "run")` of `"{team}-{run}"`."""
        value = getattr(self, key)
        return tuple(braces(value)) if self.is_pattern and value is not None else ()

    @property
    def known(self) -> dict[str, Any]:
        """All that is known of the system: its attributes, and the facts among them."""
        return self.attributes | self.facts

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        for name in sorted(self.facts.keys() & self.attributes.keys()):
            yield f"attributes.{name}", f"is given by the key {name} too; keep that one"
        if self.exclude and not self.is_pattern:
            yield "exclude", (f"leaves files out of a pattern, and {self.file!r} is none; add braces, or leave exclude "
                              "out")


class Board(Table):
    """`[board]`: how leaderboards are drawn, and what of them is hidden until when: true is until a command says so."""

    rank_baselines: bool = True
    rank_late: bool = True
    ranks: Literal["range", "cluster", "neighbour", "simultaneous", "bootstrap"] = "range"
    anonymous: Until = False
    hidden: Until = False
    release: Literal["scores", "ladder"] = "scores"
    step: Annotated[float, number("a number above 0", lambda step: step > 0)] | None = None

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        if (self.release == "ladder") == (self.step is None):
            yield "step", ("is that of release = 'ladder'; leave it out" if self.step is not None else
                           "is needed with release = 'ladder': by how much a score must be better to be shown")


class Release(Table):
    """`[release]`: what `registry release` may publish; without the gold nothing that tells of single items."""

    gold: bool = True


class Reading(NamedTuple):
    """How one submission file is read, after all defaults."""

    format: str
    options: Options
    missing: MissingPolicy
    tokens: str
    track: str | None


class Manifest(Table):
    """The whole file."""

    manifest: Annotated[int, number("1, the version of this format", lambda version: version == 1)]
    task: Task
    test_set: Annotated[list[TestSet], Field(min_length=1)]
    submission: Submission = Submission()
    metric: Annotated[list[MetricSpec], Field(min_length=1)]
    significance: Significance = Significance()
    submit: list[Submit] = []
    board: Board = Board()
    release: Release = Release()

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        for what, names in (("test_set", [t.name for t in self.test_set]), ("metric", [m.id for m in self.metric])):
            for name in sorted({n for n in names if names.count(n) > 1}):
                yield what, f"two [[{what}]] are called {name!r}; give each a name of its own"
        if sum(m.primary for m in self.metric) > 1:
            yield "metric", "more than one [[metric]] is primary; mark one"
        known = [t.name for t in self.test_set]
        for n, s in enumerate(self.submit):
            if s.test_set is not None and not s.composed("test_set") and s.test_set not in known:
                yield f"submit[{n}].test_set", f"is {s.test_set!r}, which no [[test_set]] is called; " + suggest(
                    s.test_set, known)
        if self.significance.unit == "cluster" and (bare := [t.name for t in self.test_set if t.cluster is None]):
            yield "significance.unit", f"is 'cluster', but test set {bare[0]!r} declares no cluster"
        if wrong := self.wrong_in_family(self.significance.family):
            yield "significance.family", wrong
        if self.significance.candidate is not None and is_active(self.board.anonymous):
            yield "significance.candidate", NAMES_PARTICIPANT

    def wrong_in_family(self, family: str | list[str]) -> str:
        """Say what in a family can be neither a metric nor a board, `"test, f1"`; empty where all may be."""
        test_sets, metrics = [t.name for t in self.test_set], [m.id for m in self.metric]
        for name in family if isinstance(family, list) else ():
            test_set, _, metric = name.removeprefix(f"{self.task.id}/").partition(", ")
            if name not in metrics and (test_set not in test_sets or metric.rpartition(", ")[2] not in metrics):
                board = f"{test_sets[0]}, {metrics[0]}"
                return (f"has {name!r}, which is neither a metric nor a board such as {board!r}; "
                        + suggest(name, metrics))
        return ""

    @property
    def primary(self) -> MetricSpec:
        """The metric that boards sort by: the one marked so, else the first."""
        return next((m for m in self.metric if m.primary), self.metric[0])

    def deadline(self, test_set: str) -> datetime | None:
        """Until when submissions to a test set are in time; None: for ever."""
        return self.test_set_named(test_set).deadline or self.task.deadline

    def test_set_named(self, name: str) -> TestSet:
        """Find a test set by a name that is known to be there."""
        return next(t for t in self.test_set if t.name == name)

    def reading(self, test_set: TestSet, submit: Submit) -> Reading:
        """Resolve how a submission file is read: its own keys, else `[submission]`'s, else the gold's.

        Options are merged key by key as long as the format stays the same.
        """
        format_, options = test_set.format, dict(test_set.options)
        for layer in (self.submission, submit):
            if layer.format is not None and layer.format != format_:
                format_, options = layer.format, {}
            options |= layer.options
        return Reading(
            format_, options,
            missing=submit.missing or self.submission.missing,
            tokens=submit.tokens or self.submission.tokens,
            track=submit.track or self.submission.track,
        )
