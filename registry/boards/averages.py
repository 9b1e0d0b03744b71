"""Averages over test sets as a leaderboard, which figures can show like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from registry.boards.leaderboard import Decisions, Leaderboard, Standing, make_display_names
from registry.boards.results import describe_result
from registry.errors import counted
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
    decisions = Decisions(a, b, {key: _make_column([row[key] for row in averages.pairs])
                                 for key in (averages.pairs[0] if averages.pairs else {"significant": None})})
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
    basis = f"Scores are {describe_average(averages)}."
    return replace(board, result=describe_result(board) if averages.pairs else "", details=(basis,))


def describe_average(averages: MacroBoard) -> str:
    """Describe averages over test sets, their intervals and their tests, as part of a sentence."""
    tests = f"not tested: {averages.untested}" if averages.untested else describe_tests(
        averages.correction, len(averages.pairs), f"{averages.test} of units within each")
    return (f"the mean over the test sets {', '.join(averages.test_sets)}, for systems that took part in all of them, "
            f"with percentile intervals of units resampled within each; {tests}")


def describe_tests(correction: str, n_pairs: int, test: str) -> str:
    """Describe the correction and the test of a leaderboard, as part of a sentence."""
    corrected = "not corrected" if correction == "none" else CORRECTIONS[correction].title
    return f"{corrected} over {counted(n_pairs, 'pair')}, {test}"


def _make_column(values: Sequence[object]) -> np.ma.MaskedArray[tuple[int], np.dtype[np.object_]]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return np.ma.MaskedArray(column, [value is None for value in values])
