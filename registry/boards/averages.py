"""Averages over test sets as a leaderboard, which figures can show like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from registry.boards.leaderboard import Decisions, Leaderboard, Standing, make_display_names
from registry.boards.results import describe_result
from registry.boards.statements import count_significant
from registry.errors import counted
from registry.messages import Message
from registry.significance import CORRECTIONS
from registry.significance.ranks import assign_letters, find_groups

if TYPE_CHECKING:
    from registry.studies.suites import MacroBoard


def make_average_leaderboard(averages: MacroBoard, boards: Sequence[Leaderboard]) -> Leaderboard:
    """Return the averages of one metric and track as a leaderboard.

    Args:
        averages: The averages.
        boards: Leaderboards of the task. Those of whole test sets by this metric and track have the names of systems;
            the first of them also has the titles and the confidence.
    """
    boards = [board for board in boards if board.facet is None and (board.metric, board.track) == (
        averages.metric, averages.track)]
    example = boards[0]
    known = {f"{standing.team}/{standing.system}": standing for board in boards for standing in board.standings}
    systems = [known[average.system] for average in averages.averages]
    names = make_display_names([{"system": of.system, "submission": f"{of.team}/{of.system}@1"} for of in systems])
    places = {average.system: place for place, average in enumerate(averages.averages)}
    a, b = (np.array([places[row[side]] for row in averages.pairs], dtype=np.int64)
            for side in ("system_a", "system_b"))
    rows = [{**row, "test_set": "average", "facet": None, "signature": averages.signature, "statistic": None,
             "resolved": None} | {f"system_{side}": known[row[f"system_{side}"]].system for side in "ab"}
            | {f"submission_{side}": f"{row[f'system_{side}']}@1" for side in "ab"} for row in averages.pairs]
    decisions = Decisions(a, b, {key: _make_column([row[key] for row in rows])
                                 for key in (rows[0] if rows else {"significant": None})})
    ranked = [place for place, average in enumerate(averages.averages) if average.rank is not None]
    wins = np.zeros((len(places), len(places)), dtype=bool)
    wins[a, b] = decisions.significant
    differs = wins | wins.T
    groups = find_groups(differs[np.ix_(ranked, ranked)])
    letters = dict(zip(ranked, assign_letters(groups, len(ranked)) if averages.pairs else [""] * len(ranked),
                       strict=True))
    standings = tuple(
        Standing(rank=average.rank, rank_low=average.rank_low, rank_high=average.rank_high, cluster=average.cluster,
                 system=system.system, display_name=name, team=system.team, submission=f"{average.system}@1",
                 kind=system.kind, late=system.late, score=average.score, ci_low=average.ci_low,
                 ci_high=average.ci_high, letters=letters.get(place, ""), wins=int(wins[place].sum()),
                 losses=int(wins[:, place].sum()))
        for place, (average, system, name) in enumerate(zip(averages.averages, systems, names, strict=True)))
    comparison = example.comparison._replace(
        test=averages.test, correction=averages.correction, alpha=averages.alpha, n_systems=len(standings),
        family_size=len(averages.pairs))
    title = f"{example.metric_label}, average of {counted(len(averages.test_sets), 'test set')}"
    board = replace(example, test_set="average", facet=None, comparison=comparison, standings=standings, ranks="range",
                    decisions=decisions, groups=tuple(tuple(ranked[n] for n in group) for group in groups),
                    statements=(), outdated=(), rank_warnings=(), declared_title=title, signature=averages.signature,
                    result="", details=())
    return replace(board, result=describe_result(board) if averages.pairs else "", details=describe_average(averages))


def describe_average(averages: MacroBoard) -> tuple[str, ...]:
    """Describe averages over test sets, their tests and their confidence intervals in sentences."""
    intervals = f"{100 * averages.confidence:g} % confidence intervals: {averages.intervals}"
    n_pairs = len(averages.pairs)
    return tuple(filter(None, (
        f"Scores are averages over the test sets {', '.join(averages.test_sets)}, which have equal weights.",
        describe_average_tests(averages),
        f"{intervals}{'; not corrected for the number of pairs' if n_pairs > 1 else ''}." if averages.intervals else "",
        str(Message("interval-contradicts", {"pairs": n})) if (n := _count_contrary(averages)) else "")))


def describe_average_tests(averages: MacroBoard) -> str:
    """Return a sentence about the tests of averages over test sets; it says how many differences are significant."""
    if averages.untested:
        return f"Averages are not tested: {averages.untested}."
    n_pairs = len(averages.pairs)
    if not n_pairs:
        return ""
    level = f"at {100 * averages.alpha:g} %"
    units = averages.pairs[0]["unit"].replace(" and ", "s and ")
    test = f"{averages.test} of {units}s within each test set"
    if n_pairs == 1:
        return f"Tested {level}: {test}."
    correction = " without correction" if averages.correction == "none" else (
        f" after {CORRECTIONS[averages.correction].title}")
    n_significant = sum(row["significant"] for row in averages.pairs)
    return f"{count_significant(n_significant, n_pairs)} {level}{correction} ({test})."


def _count_contrary(averages: MacroBoard) -> int:
    """Count pairs whose interval and two-sided, uncorrected p-value disagree on a difference of 0."""
    return sum((row["ci_low"] > 0 or row["ci_high"] < 0) != (row["p_value"] <= 1 - averages.confidence)
               for row in averages.pairs if row["alternative"] == "two-sided"
               and None not in (row["ci_low"], row["ci_high"], row["p_value"]))


def describe_tests(correction: str, n_pairs: int, test: str) -> str:
    """Describe the correction and the test of a leaderboard, as part of a sentence."""
    corrected = "not corrected" if correction == "none" else CORRECTIONS[correction].title
    return f"{corrected} over {counted(n_pairs, 'pair')}, {test}"


def _make_column(values: Sequence[object]) -> np.ma.MaskedArray[tuple[int], np.dtype[np.object_]]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return np.ma.MaskedArray(column, [value is None for value in values])
