"""A leaderboard as the store has it, frozen: what every renderer draws from, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from registry.evaluation import declared_request
from registry.evaluation.boards import board_name
from registry.evaluation.effects import rank_distributions
from registry.evaluation.resolve import resolve_stored
from registry.metrics import METRICS
from registry.reports.remarks import footnotes, remarks_of
from registry.reports.sentences import sentences, separable
from registry.significance.letters import alike_groups, letters
from registry.significance.ranking import frequent_ranks, neighbour_ranges
from registry.store.catalog import AnyRow
from registry.values import parse

Ranks = Literal["range", "cluster", "neighbour", "bootstrap"]
Frequencies = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Standing:
    """One system on a leaderboard.

    Attributes:
        rank: 1, 2, 2, 4 by the score at full precision; None for baselines that are not ranked.
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
        frequent_low, frequent_high: The places that most resamples give it, where they were drawn, and
        first: In what share of them it is the best; `frequencies`: in what share it has each place.
        remarks: What is remarkable about the submission, in sentences without their subject.
    """

    rank: int | None
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    system: str
    shown: str
    team: str
    kind: str
    submission: str
    score: float | None
    ci_low: float | None
    ci_high: float | None
    runs: int
    run_deviation: float | None
    wins: int
    losses: int
    late: bool
    letters: str = ""
    neighbour_low: int | None = None
    neighbour_high: int | None = None
    frequent_low: int | None = None
    frequent_high: int | None = None
    first: float | None = None
    frequencies: tuple[float, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """One pair of a leaderboard: `a` and `b` are places in its standings, `a` the better one; `row` is all of it."""

    a: int
    b: int
    significant: bool
    row: Mapping[str, Any]

    @property
    def difference(self) -> float | None:
        """How much better A is."""
        return self.row["difference"]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Leaderboard:
    """One leaderboard.

    Attributes:
        task, test_set, track, facet, metric: Where it is; the metric's alias.
        metric_name: The metric with its options; `better`: the direction of its scores.
        comparison: The settings of its tests, a row of `latest_comparison`.
        standings: Best first, undefined scores last; baselines that are not ranked stand where their score is.
        decisions: Every pair that was tested.
        alike: The largest groups of ranked systems of which no two are told apart, by places in the standings; none
            where they are too many.
        sentences: What can and what cannot be said.
        signature: One line that identifies gold, test and family.
        ranks: The convention of the ranks that people see.
    """

    task: str
    test_set: str
    track: str | None
    facet: str | None
    metric: str
    metric_name: str
    better: str
    comparison: AnyRow
    standings: tuple[Standing, ...]
    decisions: tuple[Decision, ...]
    alike: tuple[tuple[int, ...], ...]
    sentences: tuple[str, ...]
    signature: str
    ranks: Ranks = "range"

    @property
    def place(self) -> dict[str, Any]:
        """What its rows have in common."""
        return {key: getattr(self, key) for key in PLACE}

    @property
    def title(self) -> str:
        """Which one it is, and by what it ranks."""
        return title(self.place)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """What is remarkable about its submissions."""
        return footnotes([(of.shown, of.remarks) for of in self.standings])

    @property
    def teams(self) -> bool:
        """Whether some system's team is not called as the system is, so that teams are worth a column."""
        return any(of.team != of.system for of in self.standings)

    @cached_property
    def beaten(self) -> tuple[tuple[int, ...], ...]:
        """Whom the system at each place of the standings beats significantly, by their places."""
        won = [list[int]() for _ in self.standings]
        for decision in self.decisions:
            if decision.significant:
                won[decision.a].append(decision.b)
        return tuple(tuple(sorted(worse)) for worse in won)


PLACE = ("task", "test_set", "track", "facet", "metric", "metric_name", "signature")
_STORED_OF_PAIRS = (
    *PLACE, "system_a", "system_b", "submission_a", "submission_b", "score_a", "score_b", "difference", "ci_low",
    "ci_high", "p_value", "p_adjusted", "significant", "method", "test", "alternative", "correction", "family_size",
    "unit", "n_units", "n_discordant", "resamples", "seed", "log10_p", "p_low", "p_high", "statistic", "resolved",
    "note",
)
PAIR_KEYS = (*_STORED_OF_PAIRS, "same_team")


def leaderboards(connection: Connection, task: str, metric: str | None = None, ranks: Ranks = "range",
                 frequencies: Frequencies | None = None) -> list[Leaderboard]:
    """Every leaderboard of a task (by one metric).

    Args:
        connection: To the store.
        task: The task's id.
        metric: A metric's alias; None: by all.
        ranks: The convention of the ranks that people see.
        frequencies: How often every submission has every place in resamples, by the board's and its own name.
    """
    chosen = {"task": task, "metric": metric}
    where = "WHERE task = :task AND (:metric IS NULL OR metric = :metric)"
    rows = _grouped(connection, f"SELECT * FROM leaderboard {where}", chosen)  # noqa: S608 - a join loses its order
    late = set(connection.execute(text("SELECT submission_id FROM submission WHERE late")).scalars())
    remarks = remarks_of(connection, task)
    for row in chain.from_iterable(rows.values()):
        row["late"] = row["submission_id"] in late
        row["remarks"] = remarks.get(row["submission_id"], ())
    pairs = _grouped(connection, f"SELECT {', '.join(_STORED_OF_PAIRS)} FROM pairwise {where}", chosen)  # noqa: S608
    found = connection.execute(text(f"SELECT * FROM latest_comparison {where}"), chosen)  # noqa: S608
    settings = {row.signature: row for row in found}
    return [_leaderboard(settings[signature], standings, pairs.get(signature, []), sentences(connection, signature),
                         ranks, frequencies or {}) for signature, standings in rows.items()]


def declared_leaderboards(connection: Connection, task_row: AnyRow, metric: str | None = None,
                          ranks: Ranks | None = None) -> list[Leaderboard]:
    """Every leaderboard of a task (by one metric), with the ranks that it declares unless others are asked for."""
    chosen = ranks or resolve_stored(task_row.manifest, task_row.slug).manifest.board.ranks
    frequencies = None
    if chosen == "bootstrap":
        request = declared_request(task_row, metrics=None if metric is None else (metric,))
        frequencies = rank_distributions(connection, task_row, request)
    return leaderboards(connection, task_row.slug, metric, chosen, frequencies)


def title(place: Mapping[str, Any]) -> str:
    """Which board is at a place, and by what it ranks."""
    track = f"track {place['track']}" if place["track"] else None
    metric = parse("metric", METRICS, place["metric_name"]).title
    named = _plain(place["metric"]) == _plain(metric)
    return ", ".join(filter(None, (f"{place['task']}/{place['test_set']}", track, place["facet"]))) + (
        f": {place['metric']}" + ("" if named else f" = {metric}"))


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _grouped(connection: Connection, query: str, chosen: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    rows = [dict(row._mapping) for row in connection.execute(text(query), chosen)]
    return {signature: list(group) for signature, group in groupby(rows, key=lambda row: row["signature"])}


def _leaderboard(settings: AnyRow, rows: Sequence[dict[str, Any]], pairs: Sequence[dict[str, Any]],
                 said: tuple[str, ...], ranks: Ranks, frequencies: Frequencies) -> Leaderboard:
    """One leaderboard from its rows, best first, and its pairs."""
    at = {row["submission"]: n for n, row in enumerate(rows)}
    decisions = tuple(_decision(at[pair["submission_a"]], at[pair["submission_b"]], rows, pair) for pair in pairs)
    wins = np.zeros((len(rows), len(rows)), dtype=bool)
    for decision in decisions:
        wins[decision.a, decision.b] = decision.significant
    ranked = [n for n, row in enumerate(rows) if row["rank"] is not None]
    among = wins[np.ix_(ranked, ranked)]
    differ = among | among.T
    groups = alike_groups(differ)
    marks = letters(groups, len(ranked)) if decisions else [""] * len(ranked)
    low, high = neighbour_ranges(among)
    more: dict[int, dict[str, Any]] = {
        n: {"letters": mark, "neighbour_low": int(a), "neighbour_high": int(b)}
        for n, mark, a, b in zip(ranked, marks, low, high, strict=True)}
    name = board_name(*(rows[0][key] for key in PLACE[:5]))
    drawn = [frequencies.get(f"{name}: {row['task']}/{row['test_set']}/{row['submission']}") for row in rows]
    for n, of_system in enumerate(drawn):
        if of_system is not None:
            ((first,), (last,)) = frequent_ranks(of_system[None], settings.confidence)
            more.setdefault(n, {}).update(frequent_low=int(first), frequent_high=int(last),
                                          first=float(of_system[0]), frequencies=tuple(map(float, of_system)))
    fields = [key for key in Standing.__dataclass_fields__ if key in rows[0]]
    standings = tuple(Standing(shown=shown, **{key: row[key] for key in fields}, **more.get(n, {}))
                      for n, (row, shown) in enumerate(zip(rows, shown_names(rows), strict=True)))
    if len(ranked) > 1:
        names, places = [standings[n].shown for n in ranked], [rows[n]["rank"] for n in ranked]
        said = (said[0], separable(names, places, differ, groups, settings), *said[1:])
    alike = tuple(tuple(ranked[n] for n in group) for group in groups)
    return Leaderboard(**{key: rows[0][key] for key in PLACE}, better=settings.better, comparison=settings,
                       standings=standings, decisions=decisions, alike=alike, sentences=said, ranks=ranks)


def _decision(a: int, b: int, rows: Sequence[dict[str, Any]], pair: dict[str, Any]) -> Decision:
    """What was decided of the systems in rows `a` and `b`."""
    return Decision(a, b, pair["significant"], {**pair, "same_team": rows[a]["team"] == rows[b]["team"]})


def shown_names(rows: Sequence[Mapping[str, Any]], side: str = "") -> list[str]:
    """The systems' names for people, with the team where several have one, and with every version but the first."""
    sides = (side,) if not side else ("_a", "_b")
    names = [name for name, _ in {(row[f"system{s}"], row[f"submission{s}"].rpartition("@")[0])
                                  for row in rows for s in sides}]

    def shown(system: str, submission: str) -> str:
        full, at, version = submission.rpartition("@")
        return (system if names.count(system) == 1 else full) + ("" if version == "1" else at + version)

    return [shown(row[f"system{side}"], row[f"submission{side}"]) for row in rows]
