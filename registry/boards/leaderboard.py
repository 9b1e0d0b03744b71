"""A leaderboard as immutable data.

The data are the settings of the comparison, the results of the systems, the test results of the pairs (decisions), the
methods of the confidence intervals, and messages. Renderers use only these data.
"""

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
from registry.manifest import decode_manifest
from registry.messages import NO_MESSAGES, Message, Messages, Severity, sentence
from registry.metric_names import is_redundant_id, metric_decimals, metric_label, metric_title, worst_score
from registry.rendering.table import NUMBERS
from registry.significance import TESTS, PredictionPowered, Wald
from registry.values import parse


class Comparison(NamedTuple):
    """Settings, size and overall test of the comparison that made a leaderboard.

    The overall test has the null hypothesis that all systems are equally good. Its values `overall`, `statistic`,
    `degrees` and `p_value` are None if it was not requested.
    """

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

    @property
    def item_noun(self) -> str:
        """Word for an item: `judgment` if the items are votes or ratings."""
        return self.unit if self.unit == "judgment" else "item"

    @property
    def shares_family(self) -> bool:
        """True if p-values are corrected together with those of other leaderboards."""
        return self.family_size > math.comb(self.n_systems, 2)


@dataclass(frozen=True)
class PairDecision:
    """Result of the significance test of two systems, A and B.

    Attributes:
        a, b: The positions of A and B on the leaderboard, from 0. On a leaderboard, A is the better system.
        significant: True if A and B differ significantly.
        row: The difference, positive if A is better, and the p-values. On a leaderboard, the row has all `PAIR_KEYS`
            (reports/columns.py).
    """

    a: int = field(compare=False)
    b: int = field(compare=False)
    significant: bool
    row: Mapping[str, Any]

    @property
    def difference(self) -> float | None:
        """Difference in score of two systems, A - B or, if lower is better, B - A; positive if A is better."""
        return self.row["difference"]  # type: ignore[no-any-return]

    @property
    def p_value(self) -> float | None:
        """P-value of the test, before the correction for multiple comparisons."""
        return self.row["p_value"]  # type: ignore[no-any-return]

    @property
    def p_adjusted(self) -> float | None:
        """P-value of the test, after the correction for multiple comparisons."""
        return self.row["p_adjusted"]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Decisions(Sequence[PairDecision]):
    """Results of the significance tests of all pairs of systems.

    Results are stored as columns. Iteration and indexing return a `PairDecision` for each pair.

    Attributes:
        a, b: The positions of systems A and B on the leaderboard, from 0, [pairs].
        columns: Values that differ between pairs, by their key in a row. Each column is [pairs], and masks NULL.
        common: Values that are the same for all pairs, by their key in a row.
        systems: Values of the system at each position. In a row, their keys end in `_a` or `_b`.
    """

    a: Ints
    b: Ints
    columns: Mapping[str, NDArray[Any]]
    common: Mapping[str, Any] = field(default_factory=dict)
    systems: Sequence[Mapping[str, Any]] = ()

    @property
    def significant(self) -> Flags:
        """For each pair, True if the two systems differ significantly, [pairs]."""
        return self.columns["significant"].astype(bool)

    def numbers(self, key: str) -> Floats:
        """Return one value of each pair, such as the p-value, as floats.

        Args:
            key: The name of the column.

        Returns:
            The values, [pairs]; NULL becomes nan.
        """
        return np.ma.filled(self.columns[key].astype(np.float64), np.nan)

    def __len__(self) -> int:
        return len(self.a)

    @overload
    def __getitem__(self, n: int) -> PairDecision: ...
    @overload
    def __getitem__(self, n: slice) -> Decisions: ...
    def __getitem__(self, n: int | slice) -> PairDecision | Decisions:
        if isinstance(n, slice):
            return self.select(np.arange(len(self))[n])
        return next(iter(self.select(np.arange(len(self))[[n]])))

    def __iter__(self) -> Iterator[PairDecision]:
        columns = {key: column.tolist() for key, column in self.columns.items()}  # turns masked values into None
        for n, (a, b) in enumerate(zip(self.a.tolist(), self.b.tolist(), strict=True)):
            sides = {f"{key}_{side}": value for side, place in (("a", a), ("b", b))
                     for key, value in (self.systems[place] if self.systems else {}).items()}
            row = {**self.common, **sides, **{key: column[n] for key, column in columns.items()}}
            yield PairDecision(a, b, row["significant"], row)

    def select(self, pairs: NDArray[Any]) -> Decisions:
        """Return only some of the pairs.

        Args:
            pairs: Indices of the pairs, or a Boolean mask.
        """
        return Decisions(self.a[pairs], self.b[pairs], {key: column[pairs] for key, column in self.columns.items()},
                         self.common, self.systems)


class IntervalMethod(NamedTuple):
    """Method of confidence intervals.

    Attributes:
        plural: The intervals in words, in the plural.
        citation: Sources of the method; empty if it has none.
    """

    plural: str
    citation: str = ""


INTERVAL_METHODS = {
    "wilson": IntervalMethod("Wilson score intervals", "Wilson 1927"),
    "share": IntervalMethod("Wilson score intervals with the effective sample size",
                            "Wilson 1927; Korn and Graubard 1998"),
    "proportional": IntervalMethod("score intervals with a variance proportional to the score"),
    "student": IntervalMethod("Student's t intervals", "Student 1908"),
    "fisher": IntervalMethod("Student's t intervals for Fisher's z", "Fisher 1921"),
    "bonett-price": IntervalMethod("Bonett-Price intervals", "Bonett and Price 2012"),
    "mover": IntervalMethod("MOVER intervals, computed from the intervals and the correlation of both scores",
                            "Newcombe 1998; Zou and Donner 2008"),
    "judged": IntervalMethod("prediction-powered t intervals", "Angelopoulos et al. 2023"),
    "crossed": IntervalMethod("Student's t intervals with the variances of items and runs", "Banerjee 1961"),
    "percentiles": IntervalMethod("percentiles of {resamples:,} bootstrap resamples", "Efron and Tibshirani 1993"),
    "wald": IntervalMethod("Wald t intervals with errors that allow for dependent judgments",
                           "Cameron, Gelbach and Miller 2011"),
    "test": IntervalMethod("obtained from the same test"),
}


class Intervals(NamedTuple):
    """Descriptions of how a leaderboard's confidence intervals were computed.

    Attributes:
        score_methods: The methods of the intervals of scores; empty if there are none, or no method is recorded.
        difference_methods: The methods of the intervals of differences; empty in the same cases.
        messages: Messages if intervals are absent, may have too low a coverage, or contradict p-values.
    """

    score_methods: tuple[IntervalMethod, ...] = ()
    difference_methods: tuple[IntervalMethod, ...] = ()
    messages: tuple[Message, ...] = ()

    def statements(self, comparison: Comparison) -> tuple[str | Message, ...]:
        """Return sentences and messages about the confidence intervals of a leaderboard."""
        scores, differences = (" or ".join(method.plural for method in methods)
                               for methods in (self.score_methods, self.difference_methods))
        if not scores and not differences:
            return self.messages
        units = counted(comparison.n_items, "item") if comparison.unit == "response" else counted(
            comparison.n_units, comparison.unit)
        sentences = [f"The {100 * comparison.confidence:g} % confidence intervals are over {units}."]
        parts = {"scores and differences": scores} if scores == differences else {
            "scores": scores, "differences": differences}
        sentences += [f"Those of {values} are {methods}." for values, methods in parts.items() if methods]
        if differences and comparison.family_size > 1:
            sentences.append("Intervals of differences are not corrected for the number of pairs.")
        return (" ".join(sentences), *self.messages)


NO_INTERVALS = Intervals()


def describe_intervals(comparison: Comparison, request: str, *, has_scores: bool) -> Intervals:
    """Return in words how the confidence intervals of a leaderboard are computed.

    Args:
        comparison: The settings of the comparison.
        request: The recorded request of the comparison as JSON, with the interval methods that need no resampling.
        has_scores: True if some score has an interval.
    """
    closed_forms: dict[str, Any] = json.loads(request)["intervals"]
    test = parse("test", TESTS, comparison.test)
    scores, differences = (closed_forms.get(key, ()) for key in ("scores", "differences"))
    if not scores:
        has_errors = isinstance(test, PredictionPowered) and test.variant != "bootstrap"
        scores = ("wald" if isinstance(test, Wald) else "judged" if has_errors else "percentiles",)
    if not differences and "no_differences" not in closed_forms:
        differences = ("wald" if isinstance(test, Wald) else "test",)
    values = {"resamples": comparison.resamples, "test": test.name}

    def get_methods(names: Sequence[str]) -> tuple[IntervalMethod, ...]:
        return tuple(IntervalMethod(*(text.format(**values) for text in INTERVAL_METHODS[name])) for name in names)

    return Intervals(get_methods(scores if has_scores else ()),
                     get_methods(differences if comparison.n_systems > 1 else ()),
                     tuple(_list_interval_messages(comparison, closed_forms)))


def _list_interval_messages(comparison: Comparison, closed_forms: Mapping[str, Any]) -> Iterator[Message]:
    size = {"units": comparison.n_units, "unit": comparison.unit}
    if n_even := closed_forms.get("n_even"):
        yield Message("uneven-units-intervals", {**size, "even": n_even})
    if n := closed_forms.get("n_skewed"):
        yield Message("skewed-intervals", {"scores": n})
    if n := closed_forms.get("n_error_free"):
        percent = 100 * -math.log(1 - comparison.confidence) / max(comparison.n_units, 1)
        yield Message("error-free-scores", {"scores": n, **size, "percent": percent,
                                            "confidence": comparison.confidence})
    if reason := closed_forms.get("no_scores"):
        yield Message("no-score-intervals", {"reason": reason})
    if comparison.n_systems > 1 and (reason := closed_forms.get("no_differences")):
        yield Message("no-difference-intervals", {"reason": reason})
    if n := closed_forms.get("n_contrary"):
        yield Message("interval-contradicts", {"pairs": n})


Ranks = Literal["range", "cluster", "neighbour", "simultaneous", "bootstrap"]
DECIMALS: int = NUMBERS["decimals"]  # decimals of scores for people, unless the task declares others


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Result of one system in a comparison: its score, rank, wins and losses.

    Attributes:
        rank: The rank by the score at full precision, such as 1, 2, 2, 4. None for baselines and late submissions that
            are not ranked.
        rank_low, rank_high: The first and the last rank that significant differences do not rule out.
        cluster: The number of the cluster. A new cluster begins where every system above beats every system below.
        system, team: The names of the system and the team.
        display_name: The name of the system in tables, with the team or the version if the name alone is ambiguous.
        submission: The name of the submission, `team/system@version`.
        score: The score; None if it is undefined.
        kind: The kind of the submission: `primary`, `contrastive` or `baseline`. This and the following fields have
            their defaults in the states of `registry.boards.states`.
        ci_low, ci_high: The ends of the score's confidence interval.
        runs, run_sd: The number of runs, and the standard deviation of their scores.
        wins, losses: The number of significant differences in the system's favour, and against the system.
        late: True if the submission came late.
        letters: Compact letter display: systems that share a letter do not differ significantly. Empty without a rank.
        neighbour_low, neighbour_high: The first and the last rank between the nearest system above and the nearest
            system below that differ significantly.
        simultaneous_low, simultaneous_high: The first and the last rank of a range that is valid for all systems
            simultaneously (`registry.significance.rank_sets`); None if these ranks were not resampled.
        bootstrap_low, bootstrap_high: The first and the last rank that most resamples give the system; None if ranks
            were not resampled.
        share_best: The share of resamples in which the system is the best.
        frequencies: The share of resamples in which the system has each rank, from rank 1 on.
        messages: Messages about the submission.
        attributes: Attributes of the system that the submission declares; empty if names are hidden.
    """

    rank: int | None
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    system: str
    display_name: str
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
        """The version of the submission."""
        return self.submission.removeprefix(f"{self.team}/{self.system}@")


@dataclass(frozen=True)
class Leaderboard:
    """Scores, ranks and tests of the systems on one test set, by one metric.

    Attributes:
        task, test_set, track, facet, metric: The parts of the leaderboard's key; `metric` is the metric's alias.
        metric_name: The metric with its options.
        better: Whether `higher` or `lower` scores are better.
        comparison: Settings and size of the comparison.
        standings: The results of the systems, best first. Undefined scores are last. Unranked systems are in the order
            of scores too.
        decisions: The test results of all pairs.
        groups: The largest groups in which no two ranked systems differ significantly. A group has the places of its
            systems in the standings. Empty if there are too many groups.
        statements: Sentences about the comparison, and messages about its limits.
        signature: One line that identifies gold, metric, test and family.
        ranks: The kind of rank ranges to show.
        outdated: Messages about the reasons why the board is out of date.
        rank_warnings: Warnings about the simultaneous ranks.
        rank_resamples: Number of the resamples that give the rank ranges, and their seed; None if ranks are not
            resampled.
        declared_title: The title of the metric in tables, if the task declares one.
        decimals: Number of decimals of scores and differences in tables. Ranks and decisions use full precision.
        task_title: The title of the task; empty if it declares none.
        about: A summary of the task, in one line.
        intervals: The methods of the confidence intervals.
        direction: A sentence that names the pairs that are tested one-sided, and the reason.
        result: The result in one sentence; empty if no two ranked systems are compared.
        details: Sentences after the result: about the two systems of a board, or the past date of the board.
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
    rank_resamples: tuple[int, int] | None = None
    declared_title: str | None = None
    decimals: int = DECIMALS
    task_title: str = ""
    about: str = ""
    intervals: Intervals = NO_INTERVALS
    direction: str = ""
    result: str = ""
    details: tuple[str, ...] = ()

    @property
    def key(self) -> LeaderboardKey:
        """Task, test set, track, facet and metric, which identify the leaderboard."""
        return LeaderboardKey(self.task, self.test_set, self.track, self.facet, self.metric)

    @property
    def shared_values(self) -> dict[str, Any]:
        """Values that are equal in all rows of the leaderboard, by name.

        The names are `SHARED_KEYS`, such as `task`.
        """
        return {key: getattr(self, key) for key in SHARED_KEYS}

    @property
    def title(self) -> str:
        """The title of the leaderboard, with the metric, and its direction if lower scores are better."""
        direction = " (lower is better)" if self.better == "lower" else ""
        return make_board_title(self.shared_values, self.declared_title) + direction

    @property
    def metric_title(self) -> str:
        """The title of the metric in tables."""
        return self.declared_title or metric_title(self.metric_name)

    @property
    def metric_label(self) -> str:
        """Heading of the column of scores: a short name of the metric."""
        return metric_label(self.metric, self.metric_name, self.declared_title)

    @property
    def has_unranked_best(self) -> bool:
        """True if a system without a rank has a better score than all ranked systems."""
        ranked = [n for n, standing in enumerate(self.standings) if standing.rank == 1]
        return any(standing.rank is None and standing.score != self.standings[ranked[0]].score
                   for standing in self.standings[:ranked[0]]) if ranked else False

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences about the leaderboard: the result, then the tests and their limits.

        For a leaderboard of two systems, details about their difference follow the result.
        """
        return tuple(filter(None, (self.result, *self.details, *map(sentence, self.statements))))

    @property
    def captions(self) -> tuple[str, ...]:
        """The most important sentences: the result of the leaderboard, and the test.

        For a leaderboard of two systems, details about their difference are included.
        """
        return tuple(filter(None, (self.result, *self.details, *map(sentence, self.statements[:1]))))

    @property
    def notes(self) -> tuple[str, ...]:
        """Less important sentences about the board, for the lines below a table.

        Warnings come first, then other messages, then the methods.
        """
        messages = [statement for statement in self.statements[1:] if isinstance(statement, Message)]
        methods = [statement for statement in self.statements[1:] if isinstance(statement, str)]
        ranked = [*((message.severity, message.sentence) for message in messages), *self._footnotes]
        return (*(text for severity, text in ranked if severity != "info"),
                *(text for severity, text in ranked if severity == "info"), *methods)

    @property
    def warnings(self) -> Messages:
        """All messages about the comparison, the ranks and the submissions."""
        return Messages((*(statement for statement in self.statements if isinstance(statement, Message)),
                         *self.outdated, *self.rank_warnings, *self._score_messages, *self._submission_messages))

    @property
    def footnotes(self) -> tuple[str, ...]:
        """Messages about ranks, scores and submissions, as text."""
        return tuple(text for _, text in self._footnotes)

    @property
    def _footnotes(self) -> list[tuple[Severity, str]]:
        ranks = [(warning.severity, f"Simultaneous ranks: {warning}.") for warning in self.rank_warnings]
        others = ((message.severity, message.sentence)
                  for message in (*self._score_messages, *self._submission_messages))
        return [*((message.severity, message.sentence) for message in self.outdated), *ranks, *others]

    @property
    def findings(self) -> tuple[str, ...]:
        """All statements and messages as sentences, without advice on what to do.

        Readers of published results cannot follow such advice.
        """
        statements = (statement if isinstance(statement, str) else statement.finding for statement in self.statements)
        return (*statements, *self.footnote_findings)

    @property
    def footnote_findings(self) -> tuple[str, ...]:
        """Messages about ranks, scores and submissions, without advice on what to do."""
        return (*(message.finding for message in self.outdated),
                *(f"Simultaneous ranks: {warning.finding}" for warning in self.rank_warnings),
                *(message.finding for message in (*self._score_messages, *self._submission_messages)))

    @property
    def _submission_messages(self) -> tuple[Message, ...]:
        names: dict[Message, list[str]] = {}
        for standing in self.standings:
            for message in standing.messages:
                names.setdefault(message, []).append(standing.display_name)
        scope = {} if self.facet is None else {"in_whole_test_set": True}  # they concern all items of a test set
        return tuple(message.with_parameters(submissions=systems, **scope) for message, systems in names.items())

    @property
    def _score_messages(self) -> tuple[Message, ...]:
        """Messages if all systems have the worst score, or if different ranks have equal scores after rounding."""
        worst = worst_score(self.metric_name)
        if worst is not None and self.standings and all(standing.score == worst for standing in self.standings):
            return (Message("worst-scores", {"score": worst}),)
        ranked = [standing for standing in self.standings if standing.score is not None and standing.rank is not None]
        groups = [list(group) for _, group in groupby(
            ranked, lambda standing: f"{standing.score:.{self.decimals}f}")]
        equal = [[standing.display_name for standing in group] for group in groups
                 if len({standing.rank for standing in group}) > 1]
        if not equal:
            return ()
        systems = ", ".join(equal[0]) if len(equal) == 1 else counted(sum(map(len, equal)), "system")
        return (Message("equal-as-shown", {"systems": systems}),)

    @property
    def has_teams(self) -> bool:
        """True if some system and its team have different names."""
        return any(standing.team != standing.system for standing in self.standings)

    @cached_property
    def rank_ranges(self) -> tuple[tuple[int, int] | None, ...]:
        """First and last rank that each system can have; None for unranked systems.

        Ranges come from the significance tests or from resamples, as the attribute `ranks` says.
        """
        if self.ranks == "cluster":
            clusters = [standing.cluster for standing in self.standings if standing.cluster is not None]
            ends = np.cumsum(np.bincount(np.array(clusters, dtype=np.int64), minlength=1))
            return tuple(None if standing.cluster is None else
                         (int(ends[standing.cluster - 1]) + 1, int(ends[standing.cluster]))
                         for standing in self.standings)
        low, high = _ENDS[self.ranks]
        return tuple(None if getattr(standing, low) is None else (getattr(standing, low), getattr(standing, high))
                     for standing in self.standings)

    @cached_property
    def clusters(self) -> tuple[int | None, ...]:
        """Number of the cluster of each system; None for unranked systems.

        A cluster is a set of adjacent systems that are better than all systems below it. If the rank ranges come from
        resamples, a new cluster begins where the worst possible rank of the systems above is better than the best
        possible rank of the systems below. Otherwise it begins where every system above is significantly better than
        every system below.
        """
        stored = tuple(standing.cluster for standing in self.standings)
        ranked = [n for n, places in enumerate(self.rank_ranges) if places is not None]
        if self.ranks not in ("simultaneous", "bootstrap") or not ranked:
            return stored
        low, high = (np.array([self.rank_ranges[n] or (0, 0) for n in ranked])[:, end] for end in (0, 1))
        begins = np.maximum.accumulate(high)[:-1] < np.minimum.accumulate(low[::-1])[::-1][1:]
        clusters: dict[int, int] = dict(zip(ranked, np.cumsum([1, *begins]).tolist(), strict=True))
        return tuple(clusters.get(n) for n in range(len(stored)))

    @cached_property
    def beaten_places(self) -> tuple[tuple[int, ...], ...]:
        """For each system, the positions of the systems that it beats significantly.

        Positions on the leaderboard count from 0.
        """
        wins = np.zeros((len(self.standings),) * 2, dtype=bool)
        significant = self.decisions.select(self.decisions.significant)
        wins[significant.a, significant.b] = True
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in wins)


# The fields of a standing with the ends of its rank range, by kind of range. Ranges of `cluster` are counted instead.
_ENDS: dict[Ranks, tuple[str, str]] = {
    "range": ("rank_low", "rank_high"), "neighbour": ("neighbour_low", "neighbour_high"),
    "simultaneous": ("simultaneous_low", "simultaneous_high"), "bootstrap": ("bootstrap_low", "bootstrap_high")}
SHARED_KEYS = (*LeaderboardKey._fields, "metric_name", "signature")


def make_board_title(board: Mapping[str, Any], declared_title: str | None = None) -> str:
    """Return the title of a leaderboard, such as `task/test, track open: F1`.

    Args:
        board: The values that all rows of the leaderboard share, by name, such as `task`.
        declared_title: The metric's title that the task declares. If it is None, the title of the leaderboard has the
            metric's alias and its usual title, unless the two say the same.
    """
    track = f"track {board['track']}" if board["track"] else None
    alias, metric = board["metric"], declared_title or metric_title(board["metric_name"])
    is_alone = declared_title or is_redundant_id(alias, board["metric_name"], metric)
    return ", ".join(filter(None, (f"{board['task']}/{board['test_set']}", track, board["facet"]))) + (
        f": {metric}" if is_alone else f": {alias} = {metric}")


def get_metric_display(manifest: str, metric: str, metric_name: str) -> dict[str, Any]:
    """Return the title of a metric, and the number of decimals of its scores.

    Args:
        manifest: The stored manifest of the task, which can declare both values.
        metric: The alias of the metric.
        metric_name: The metric with its options. It has default decimals.
    """
    declared = next((section for section in decode_manifest(manifest).metric if section.id == metric), None)
    title, decimals = (None, None) if declared is None else (declared.title, declared.decimals)
    return {"declared_title": title, "decimals": metric_decimals(metric_name) if decimals is None else decimals}


def make_display_names(rows: Sequence[Mapping[str, Any]], side: str = "") -> list[str]:
    """Return names of systems that are short but not ambiguous.

    A name includes the team if several teams have a system of this name, and the version if it is not 1.

    Args:
        rows: Rows with `system` and `submission`. Rows of pairs have `system_a`, `system_b` and so on.
        side: `_a` or `_b` to name the first or the second systems of pairs; empty if the rows are not pairs.
    """
    sides = (side,) if not side else ("_a", "_b")
    counts = Counter(name for name, _ in {(row[f"system{suffix}"], row[f"submission{suffix}"].rpartition("@")[0])
                                          for row in rows for suffix in sides})
    names = []
    for row in rows:
        system = row[f"system{side}"]
        full_name, separator, version = row[f"submission{side}"].rpartition("@")
        names.append((system if counts[system] == 1 else full_name) + ("" if version == "1" else separator + version))
    return names
