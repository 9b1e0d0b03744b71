"""Averages over test sets as a leaderboard, which figures can show like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from registry.boards.leaderboard import Decisions, Leaderboard, Standing, make_display_names
from registry.errors import counted
from registry.significance.ranks import assign_letters, find_groups
from registry.studies.suites import MacroBoard


def make_average_leaderboard(averages: MacroBoard, boards: Sequence[Leaderboard]) -> Leaderboard:
    """Return the averages of one metric and track as a leaderboard.

    Args:
        averages: The averages.
        boards: The leaderboards of the test sets by this metric. The first one has the titles and the confidence.
    """
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
    differs = np.zeros((len(places), len(places)), dtype=bool)
    differs[a, b] = differs[b, a] = decisions.significant
    groups = find_groups(differs[np.ix_(ranked, ranked)])
    letters = dict(zip(ranked, assign_letters(groups, len(ranked)) if averages.pairs else [""] * len(ranked),
                       strict=True))
    standings = tuple(
        Standing(rank=average.rank, rank_low=average.rank_low, rank_high=average.rank_high, cluster=average.cluster,
                 system=system.system, display_name=name, team=system.team, submission=f"{average.system}@1",
                 kind=system.kind, late=system.late, score=average.score, ci_low=average.ci_low,
                 ci_high=average.ci_high, letters=letters.get(place, ""))
        for place, (average, system, name) in enumerate(zip(averages.averages, systems, names, strict=True)))
    comparison = example.comparison._replace(
        test=averages.test, correction=averages.correction, alpha=averages.alpha, n_systems=len(standings),
        family_size=len(averages.pairs))
    title = f"{example.metric_label}, average of {counted(len(averages.test_sets), 'test set')}"
    return replace(example, test_set="average", facet=None, comparison=comparison, standings=standings, ranks="range",
                   decisions=decisions, groups=tuple(tuple(ranked[n] for n in group) for group in groups),
                   statements=(), outdated=(), rank_warnings=(), declared_title=title, signature="", result="",
                   details=())


def _make_column(values: Sequence[object]) -> np.ma.MaskedArray[tuple[int], np.dtype[np.object_]]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return np.ma.MaskedArray(column, [value is None for value in values])
