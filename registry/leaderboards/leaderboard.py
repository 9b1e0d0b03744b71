"""A leaderboard as the store has it, frozen: what every renderer draws from, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import numpy as np

from registry.errors import counted
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.leaderboards.comparison import Comparison
from registry.leaderboards.decisions import Decisions
from registry.leaderboards.intervals import NO_INTERVALS, Intervals
from registry.manifest import stored_manifest
from registry.messages import NO_MESSAGES, Message, Messages, sentence
from registry.metric_names import metric_decimals, metric_label, metric_title, says_no_more
from registry.rendering.table import NUMBERS

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
        runs, run_deviation: How many runs it has, and the standard deviation of the score between them.
        wins, losses: Significant differences in its favour and against it.
        late: Whether the submission came late.
        letters: Two systems that share one are not told apart (compact letter display); empty where not ranked.
        neighbour_low, neighbour_high: The places up to the nearest system that differs.
        simultaneous_low, simultaneous_high: The places that are left open for all systems at once, where these were
            drawn (`registry.significance.rank_sets`).
        frequent_low, frequent_high: The places that most resamples give it, where they were drawn, and
        first: In what share of them it is the best; `frequencies`: in what share it has each place.
        remarks: Messages about the submission.
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
    run_deviation: float | None = None
    wins: int = 0
    losses: int = 0
    late: bool = False
    letters: str = ""
    neighbour_low: int | None = None
    neighbour_high: int | None = None
    simultaneous_low: int | None = None
    simultaneous_high: int | None = None
    frequent_low: int | None = None
    frequent_high: int | None = None
    first: float | None = None
    frequencies: tuple[float, ...] = ()
    remarks: Messages = NO_MESSAGES
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
        alike: The largest groups of ranked systems of which no two are told apart, by places in the standings; none
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
    alike: tuple[tuple[int, ...], ...]
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
            for message in of.remarks:
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
    "simultaneous": ("simultaneous_low", "simultaneous_high"), "bootstrap": ("frequent_low", "frequent_high")}
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
