"""How the numbers of a leaderboard came about, as the methods section of a paper says it."""

from __future__ import annotations

import math

from registry.errors import counted
from registry.leaderboards.directions import takes_observed
from registry.leaderboards.leaderboard import Leaderboard, Ranks
from registry.leaderboards.sentences import tested_over
from registry.messages import sentence
from registry.metrics import METRICS
from registry.significance import CORRECTIONS, TESTS
from registry.values import parse

_RANKS: dict[Ranks, str] = {
    "range": "The ranks that are left open for a system go from its significant losses + 1 to the number of systems "
             "less its significant wins.",
    "cluster": "A new cluster begins where every system above beats every system below.",
    "neighbour": "The ranks that are left open for a system end at the nearest systems above and below that differ "
                 "significantly.",
    "simultaneous": "The ranks that are left open for all systems at once are bounded by the largest studentized "
                    "difference over all pairs in resamples, step-down (Mogstad, Romano, Shaikh and Wilhelm 2024), at "
                    "{level:g} %.",
    "bootstrap": "The ranks that are left open for a system are those that all but {rest:g} % of the resamples give "
                 "it.",
}


def methods(board: Leaderboard) -> str:
    """Say by what systems are scored, compared and ranked, with the sources of the methods."""
    by = board.comparison
    metric = parse("metric", METRICS, board.metric_name)
    clusters = f" in {counted(by.n_units, 'cluster')}" if by.unit == "cluster" else ""
    facet = f" with {board.facet}" if board.facet else ""
    exact, called = board.metric_name, board.metric_title.partition(" (")[0]
    name = exact if exact.lower().startswith(called.lower()) else f"{called}, {exact}"
    said = [f"Systems are scored by {name} ({metric.citation}) on the {counted(by.n_items, 'item')}{facet}"
            f"{clusters} of test set {board.test_set}; {board.better} is better."]
    if not board.decisions:
        return said[0]
    said += [_tests(board), _correction(board), _RANKS[board.ranks].format(
        rest=100 * (1 - by.confidence), level=100 * (1 - by.alpha))]
    said += map(sentence, board.intervals.statements(by))
    return " ".join(said)


def _tests(board: Leaderboard) -> str:
    by = board.comparison
    test = parse("test", TESTS, by.test)
    ways = sorted({method for method in board.decisions.columns["method"].tolist() if method})
    drawn = f", {by.resamples:,} draws with seed {by.seed}" if "monte-carlo" in ways else ""
    units = tested_over(by, f"{by.unit}s")
    sided = ("two-sided" if not board.direction else "one-sided in the observed direction" if takes_observed(by) else
             "one-sided where a direction was declared")
    return (f"The {counted(len(board.decisions), 'pair')} of {counted(by.n_systems, 'system')} are compared by the "
            f"test {by.test} ({test.citation}; {', '.join(ways)}{drawn}) over {units}, {sided}. "
            f"{board.direction}{' ' if board.direction else ''}The null hypothesis of each: {test.null}.")


def _correction(board: Leaderboard) -> str:
    by = board.comparison
    correction = CORRECTIONS[by.correction]
    if by.correction == "none":
        return f"p-values are not corrected; a difference is called significant where p is at most {by.alpha:g}."
    together = by.family_size > math.comb(by.n_systems, 2)
    family = f"the family of {by.family_size:,} pairs of several boards" if together else "this family"
    where = f" where {correction.assumes}" if correction.instead else ""
    return (f"p-values are adjusted for {family} by {correction.title} ({correction.citation}), which controls the "
            f"{correction.controls}{where}; a difference is called significant where the adjusted p is at most "
            f"{by.alpha:g}.")
