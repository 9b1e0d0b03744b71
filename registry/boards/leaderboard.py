"""A leaderboard as frozen data: comparison, systems, decisions, intervals, messages. Renderers read nothing else."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints
from registry.errors import counted
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.manifest import stored_manifest
from registry.messages import NO_MESSAGES, Message, Messages, sentence
from registry.metric_names import metric_decimals, metric_label, metric_title, says_no_more
from registry.rendering.table import NUMBERS
from registry.significance import TESTS, PredictionPowered
from registry.values import parse


class Comparison(NamedTuple):
    """The settings of the comparison behind a leaderboard and its size, with the test of all systems at once if any."""

    comparison_id: int
    better: str
    test: str
    alternative: str
    unit: str
    runs: str
    alpha: float
    correction: str
    resamples: int
    seed: int
    confidence: float
    n_items: int
    n_units: int
    n_systems: int
    family_size: int
    signature: str
    overall: str | None
    statistic: float | None
    degrees: int | None
    p_value: float | None
    cluster: str | None = None  # the attribute that groups items; None if the test set declares none


Places = Ints


@dataclass(frozen=True)
class PairDecision:
    """What was decided of two systems.

    Attributes:
        a, b: Their places in the standings; on a leaderboard A is the better one.
        significant: Whether they differ significantly.
        row: The difference, A less B, and the p-values; on a leaderboard all `PAIR_KEYS` (reports/columns.py).
    """

    a: int = field(compare=False)
    b: int = field(compare=False)
    significant: bool
    row: Mapping[str, Any]

    @property
    def difference(self) -> float | None:
        """How much better A is."""
        return self.row["difference"]  # type: ignore[no-any-return]

    @property
    def p_value(self) -> float | None:
        """The raw p-value."""
        return self.row["p_value"]  # type: ignore[no-any-return]

    @property
    def p_adjusted(self) -> float | None:
        """The p-value corrected for the family."""
        return self.row["p_adjusted"]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Decisions(Sequence[PairDecision]):
    """The decisions of a leaderboard; a single one is made of its columns when it is asked for.

    Attributes:
        a, b: The places of the systems in the standings, [pairs].
        columns: What differs from pair to pair, by the keys of rows, [pairs] each; masked where it is NULL.
        common: What all pairs have in common.
        systems: What a row says of the system at each place, by keys that end with `_a` and `_b` there.
    """

    a: Places
    b: Places
    columns: Mapping[str, NDArray[Any]]
    common: Mapping[str, Any] = field(default_factory=dict)
    systems: Sequence[Mapping[str, Any]] = ()

    @property
    def significant(self) -> Flags:
        """Whether the two differ significantly, [pairs]."""
        return self.columns["significant"].astype(bool)

    def numbers(self, key: str) -> Floats:
        """A column of numbers, [pairs]; nan where it is NULL."""
        return np.ma.filled(self.columns[key].astype(np.float64), np.nan)

    def __len__(self) -> int:
        return len(self.a)

    @overload
    def __getitem__(self, n: int) -> PairDecision: ...
    @overload
    def __getitem__(self, n: slice) -> Decisions: ...
    def __getitem__(self, n: int | slice) -> PairDecision | Decisions:
        if isinstance(n, slice):
            return self.chosen(np.arange(len(self))[n])
        return next(iter(self.chosen(np.arange(len(self))[[n]])))

    def __iter__(self) -> Iterator[PairDecision]:
        columns = {key: column.tolist() for key, column in self.columns.items()}  # what is masked is None
        for n, (a, b) in enumerate(zip(self.a.tolist(), self.b.tolist(), strict=True)):
            row = {**self.common, **{f"{key}_{side}": value for side, at in (("a", a), ("b", b))
                                     for key, value in (self.systems[at] if self.systems else {}).items()},
                   **{key: column[n] for key, column in columns.items()}}
            yield PairDecision(a, b, row["significant"], row)

    def chosen(self, which: NDArray[Any]) -> Decisions:
        """Some of them, by their numbers or by a mask."""
        return Decisions(self.a[which], self.b[which], {key: column[which] for key, column in self.columns.items()},
                         self.common, self.systems)


_WORDS = {
    "wilson": "Wilson score interval",
    "share": "Wilson score interval with the effective sample size",
    "proportional": "score interval with a variance proportional to the score",
    "student": "Student's t with the standard errors",
    "fisher": "Student's t for Fisher's z",
    "bonett-price": "Bonett-Price interval",
    "mover": "interval from both score intervals and their correlation (MOVER)",
    "judged": "Student's t with the standard errors",
    "crossed": "Student's t with the variances of items and runs",
}


class Intervals(NamedTuple):
    """The intervals of a leaderboard.

    Attributes:
        scores, differences: Their methods in words; empty if there are none, or nothing is recorded.
        messages: Why intervals are absent, which may cover too seldom, which contradict p-values.
    """

    scores: str = ""
    differences: str = ""
    messages: tuple[Message, ...] = ()

    def statements(self, of: Comparison) -> tuple[str | Message, ...]:
        """Return the sentences and messages below the board."""
        parts = [f"{by} for {what}" for what, by in (("scores", self.scores), ("differences", self.differences)) if by]
        uncorrected = "; not corrected for the number of pairs" if self.differences and of.family_size > 1 else ""
        units = counted(of.n_items, "item") if of.unit == "response" else counted(of.n_units, of.unit)
        level = f"{100 * of.confidence:g} %"
        said = (f"{level} confidence intervals over {units}: {', '.join(parts)}{uncorrected}.",) if parts else ()
        return (*said, *self.messages)


NO_INTERVALS = Intervals()


def intervals_of(of: Comparison, request: str, *, scores: bool) -> Intervals:
    """Return the methods of the intervals of a comparison, with messages.

    Args:
        of: The comparison.
        request: Its recorded request, with the methods in closed form, as JSON.
        scores: True if some score has an interval.
    """
    closed: dict[str, Any] = json.loads(request)["intervals"]
    test = parse("test", TESTS, of.test)
    of_scores = _in_words(closed.get("scores", ()))
    if scores and not of_scores:
        by_error = isinstance(test, PredictionPowered) and test.variant != "bootstrap"
        of_scores = _WORDS["judged"] if by_error else f"percentiles of {of.resamples:,} resamples"
    differences = _in_words(closed.get("differences", ()))
    if not differences and "no_differences" not in closed:
        differences = f"interval of the test {test.name}"
    return Intervals(of_scores if scores else "", differences if of.n_systems > 1 else "", tuple(_messages(of, closed)))


def _messages(of: Comparison, closed: Mapping[str, Any]) -> Iterator[Message]:
    if n_even := closed.get("n_even"):
        yield Message("uneven-units-intervals", {"units": of.n_units, "unit": of.unit, "even": n_even})
    if n := closed.get("n_skewed"):
        yield Message("skewed-intervals", {"scores": n})
    if n := closed.get("n_error_free"):
        percent = 100 * -math.log(1 - of.confidence) / max(of.n_units, 1)
        yield Message("error-free-scores", {"scores": n, "units": of.n_units, "unit": of.unit, "percent": percent,
                                            "confidence": of.confidence})
    if reason := closed.get("no_scores"):
        yield Message("no-score-intervals", {"reason": reason})
    if of.n_systems > 1 and (reason := closed.get("no_differences")):
        yield Message("no-difference-intervals", {"reason": reason})
    if n := closed.get("n_contrary"):
        yield Message("interval-contradicts", {"pairs": n})


def _in_words(methods: Sequence[str]) -> str:
    return " or ".join(_WORDS[method] for method in methods)


Ranks = Literal["range", "cluster", "neighbour", "simultaneous", "bootstrap"]
DECIMALS: int = NUMBERS["decimals"]  # of scores that people see, unless the task says otherwise


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How one system stands in a comparison; what is not asked for of one of the past has its default.

    Attributes:
        rank: 1, 2, 2, 4 by the score at full precision; None for baselines and late ones that have none.
        rank_low, rank_high: The places that the significant differences leave open.
        cluster: A new one begins where every system above beats every system below.
        shown: The system's name for people, with team or version where a name alone leaves it open.
        submission: `team/system@version`.
        score: None where it is undefined.
        runs, run_sd: How many runs it has, and the standard deviation of the score between them.
        wins, losses: Significant differences in its favour and against it.
        late: Whether the submission came late.
        letters: Two systems that share one are not told apart (compact letter display); empty where not ranked.
        neighbour_low, neighbour_high: The places up to the nearest system that differs.
        simultaneous_low, simultaneous_high: The places that are left open for all systems at once, where these were
            drawn (`registry.significance.rank_sets`).
        bootstrap_low, bootstrap_high: The places that most resamples give it, where they were drawn, and
        share_best: Share of resamples in which it is the best; `frequencies`: share in which it has each place.
        messages: Messages about the submission.
        attributes: What is declared of the system; nothing where names are hidden, since it may tell who it is.
    """

    rank: int | None
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    system: str
    shown: str
    team: str
    submission: str
    score: float | None
    kind: str = ""
    ci_low: float | None = None
    ci_high: float | None = None
    runs: int = 1
    run_sd: float | None = None
    wins: int = 0
    losses: int = 0
    late: bool = False
    letters: str = ""
    neighbour_low: int | None = None
    neighbour_high: int | None = None
    simultaneous_low: int | None = None
    simultaneous_high: int | None = None
    bootstrap_low: int | None = None
    bootstrap_high: int | None = None
    share_best: float | None = None
    frequencies: tuple[float, ...] = ()
    messages: Messages = NO_MESSAGES
    attributes: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def version(self) -> str:
        """Of the system, as submitted."""
        return self.submission.removeprefix(f"{self.team}/{self.system}@")


@dataclass(frozen=True)
class Leaderboard:
    """One leaderboard.

    Attributes:
        task, test_set, track, facet, metric: Where it is; the metric's alias.
        metric_name: The metric with its options; `better`: the direction of its scores.
        comparison: The settings of its tests.
        standings: Best first, undefined scores last; baselines that are not ranked stand where their score is.
        decisions: Every pair that was tested.
        groups: The largest groups of ranked systems of which no two are told apart, by places in the standings; none
            where they are too many.
        statements: What the comparison supports, as sentences, and what limits that, as messages.
        signature: One line that identifies gold, test and family.
        ranks: The convention of the ranks that people see.
        outdated: Why it is not of today.
        rank_warnings: Warnings of its simultaneous ranks.
        declared_title: What the task calls the metric before people, if it says so.
        decimals: How many of scores and their differences people see; ranks and decisions rest on all.
        about: What the task says of itself, on one line.
        intervals: By what its intervals are made.
        direction: Which pairs are tested one-sided, and why.
    """

    task: str
    test_set: str
    track: str | None
    facet: str | None
    metric: str
    metric_name: str
    better: str
    comparison: Comparison
    standings: tuple[Standing, ...]
    decisions: Decisions
    groups: tuple[tuple[int, ...], ...]
    statements: tuple[str | Message, ...]
    signature: str
    ranks: Ranks = "range"
    outdated: tuple[Message, ...] = ()
    rank_warnings: tuple[Message, ...] = ()
    declared_title: str | None = None
    decimals: int = DECIMALS
    about: str = ""
    intervals: Intervals = NO_INTERVALS
    direction: str = ""

    @property
    def key(self) -> LeaderboardKey:
        """What tells it from all others."""
        return LeaderboardKey(self.task, self.test_set, self.track, self.facet, self.metric)

    @property
    def shared(self) -> dict[str, Any]:
        """What its rows have in common."""
        return {key: getattr(self, key) for key in SHARED_KEYS}

    @property
    def title(self) -> str:
        """Which one it is, and by what it ranks."""
        return title(self.shared, self.declared_title)

    @property
    def metric_title(self) -> str:
        """What people call the metric."""
        return self.declared_title or metric_title(self.metric_name)

    @property
    def metric_label(self) -> str:
        """What stands above its scores."""
        return metric_label(self.metric, self.metric_name, self.declared_title)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The statements as text."""
        return tuple(map(sentence, self.statements))

    @property
    def warnings(self) -> Messages:
        """All messages about the board: of its comparison, its ranks and its submissions."""
        return Messages((*(one for one in self.statements if isinstance(one, Message)), *self.outdated,
                         *self.rank_warnings, *self._equal_as_shown, *self._of_submissions))

    @property
    def footnotes(self) -> tuple[str, ...]:
        """The messages that are not about the comparison, as text: why it is outdated, of its ranks and submissions."""
        of_ranks = tuple(f"Simultaneous ranks: {warning}." for warning in self.rank_warnings)
        return (*(message.sentence for message in self.outdated), *of_ranks,
                *(message.sentence for message in (*self._equal_as_shown, *self._of_submissions)))

    @property
    def _of_submissions(self) -> tuple[Message, ...]:
        """The messages about submissions, each once with the names that it is about."""
        about: dict[Message, list[str]] = {}
        for of in self.standings:
            for message in of.messages:
                about.setdefault(message, []).append(of.shown)
        whole = {} if self.facet is None else {"in_whole_test_set": True}  # they count in all items of a test set
        return tuple(message.with_parameters(submissions=names, **whole) for message, names in about.items())

    @property
    def _equal_as_shown(self) -> tuple[Message, ...]:
        """A message if systems with different ranks have the same score as people see it."""
        ranked = [of for of in self.standings if of.score is not None and of.rank is not None]
        groups = [list(group) for _, group in groupby(ranked, lambda of: f"{of.score:.{self.decimals}f}")]
        parted = [[of.shown for of in group] for group in groups if len({of.rank for of in group}) > 1]
        if len(parted) == 1:
            return (Message("equal-as-shown", {"systems": ", ".join(parted[0])}),)
        return (Message("equal-as-shown", {"systems": counted(sum(map(len, parted)), "system")}),) if parted else ()

    @property
    def teams(self) -> bool:
        """Whether some system's team is not called as the system is, so that teams are worth a column."""
        return any(of.team != of.system for of in self.standings)

    @cached_property
    def open_places(self) -> tuple[tuple[int, int] | None, ...]:
        """The places that its convention of ranks leaves open for each system, first and last; None without a rank."""
        if self.ranks == "cluster":
            known = np.array([of.cluster for of in self.standings if of.cluster is not None], dtype=np.int64)
            ends = np.cumsum(np.bincount(known, minlength=1))
            return tuple(None if of.cluster is None else (int(ends[of.cluster - 1]) + 1, int(ends[of.cluster]))
                         for of in self.standings)
        low, high = _ENDS[self.ranks]
        return tuple(None if getattr(of, low) is None else (getattr(of, low), getattr(of, high))
                     for of in self.standings)

    @cached_property
    def clusters(self) -> tuple[int | None, ...]:
        """The clusters that people see, which never part what the places leave open.

        Ranks of decisions have the clusters of these; where ranks are drawn, a new one begins where no place above is
        open to a system below, and none below to a system above.
        """
        stored = tuple(of.cluster for of in self.standings)
        ranked = [n for n, places in enumerate(self.open_places) if places is not None]
        if self.ranks not in ("simultaneous", "bootstrap") or not ranked:
            return stored
        low, high = (np.array([self.open_places[n] or (0, 0) for n in ranked])[:, end] for end in (0, 1))
        begins = np.maximum.accumulate(high)[:-1] < np.minimum.accumulate(low[::-1])[::-1][1:]
        found: dict[int, int] = dict(zip(ranked, np.cumsum([1, *begins]).tolist(), strict=True))
        return tuple(found.get(n) for n in range(len(stored)))

    @cached_property
    def beaten(self) -> tuple[tuple[int, ...], ...]:
        """Whom the system at each place of the standings beats significantly, by their places."""
        wins = np.zeros((len(self.standings),) * 2, dtype=bool)
        won = self.decisions.chosen(self.decisions.significant)
        wins[won.a, won.b] = True
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in wins)


_ENDS: dict[Ranks, tuple[str, str]] = {  # the fields of a standing that have the places, but for clusters
    "range": ("rank_low", "rank_high"), "neighbour": ("neighbour_low", "neighbour_high"),
    "simultaneous": ("simultaneous_low", "simultaneous_high"), "bootstrap": ("bootstrap_low", "bootstrap_high")}
SHARED_KEYS = (*LeaderboardKey._fields, "metric_name", "signature")


def title(board: Mapping[str, Any], declared: str | None = None) -> str:
    """Which board it is, and by what it ranks, from its `SHARED_KEYS` and the metric's title if the task has one.

    Beside the title of a metric that has no other than its usual one stands its id, where that says something else.
    """
    track = f"track {board['track']}" if board["track"] else None
    name, metric = board["metric"], declared or metric_title(board["metric_name"])
    alone = declared or says_no_more(name, board["metric_name"], metric)
    return ", ".join(filter(None, (f"{board['task']}/{board['test_set']}", track, board["facet"]))) + (
        f": {metric}" if alone else f": {name} = {metric}")


def metric_form(manifest: str, metric: str, metric_name: str) -> dict[str, Any]:
    """How people see a metric of a task, by the names of `Leaderboard`: as its stored manifest says, else as usual."""
    declared = next((of for of in stored_manifest(manifest).metric if of.id == metric), None)
    title, decimals = (None, None) if declared is None else (declared.title, declared.decimals)
    return {"declared_title": title, "decimals": metric_decimals(metric_name) if decimals is None else decimals}


def shown_names(rows: Sequence[Mapping[str, Any]], side: str = "") -> list[str]:
    """The systems' names for people, with the team where several have one, and with every version but the first."""
    sides = (side,) if not side else ("_a", "_b")
    names = Counter(name for name, _ in {(row[f"system{s}"], row[f"submission{s}"].rpartition("@")[0])
                                         for row in rows for s in sides})

    def shown(system: str, submission: str) -> str:
        full, at, version = submission.rpartition("@")
        return (system if names[system] == 1 else full) + ("" if version == "1" else at + version)

    return [shown(row[f"system{side}"], row[f"submission{side}"]) for row in rows]
