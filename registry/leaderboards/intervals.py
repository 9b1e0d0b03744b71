"""By what methods the intervals of a leaderboard are made, as people say it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from registry.errors import counted
from registry.leaderboards.comparison import Comparison
from registry.significance import TESTS, PredictionPowered
from registry.values import parse


class Intervals(NamedTuple):
    """The intervals of a leaderboard.

    Attributes:
        scores, differences: By what they are made; empty where there are none, or nothing is known.
        lacking: Why scores or differences have none, in sentences, and which may cover too seldom.
    """

    scores: str = ""
    differences: str = ""
    lacking: tuple[str, ...] = ()

    def sentence(self, of: Comparison) -> tuple[str, ...]:
        """What stands below the board."""
        parts = [f"of {what} {by}" for what, by in (("scores", self.scores), ("differences", self.differences)) if by]
        uncorrected = ", not corrected for the number of pairs" if self.differences and of.family_size > 1 else ""
        units = counted(of.n_items, "item") if of.unit == "response" else counted(of.n_units, of.unit)
        level = f"{100 * of.confidence:g} %"
        said = (f"Intervals of {level} over {units}: {', '.join(parts)}{uncorrected}.",) if parts else ()
        return (*said, *self.lacking)


NO_INTERVALS = Intervals()


def intervals_of(of: Comparison, request: str | None, *, scores: bool) -> Intervals:
    """By what the intervals of a comparison are made.

    Args:
        of: The comparison.
        request: What was asked of it, with the methods in closed form, as JSON.
        scores: Whether some score has an interval.
    """
    asked: dict[str, Any] | None = json.loads(request or "{}").get("intervals")
    closed = asked or {}
    test = parse("test", TESTS, of.test)
    of_scores = _written(closed.get("scores", ()))
    if scores and not of_scores:
        by_error = isinstance(test, PredictionPowered) and test.variant != "bootstrap"
        of_scores = "by their own errors" if by_error else f"percentiles of {of.resamples:,} resamples"
    differences = _written(closed.get("differences", ()))
    if asked is not None and not differences and "no_differences" not in closed:
        differences = f"those of the test {test.name}"
    lacking = [f"{what} have no intervals: {reason}." for what, key in (
        ("Scores", "no_scores"), ("Differences", "no_differences")) if (reason := closed.get(key))]
    if n := closed.get("n_skewed", 0):
        lacking.insert(0, f"What units add is too skewed, or comes of too few of them, for the intervals of "
                          f"{counted(n, 'score')}, which may hold in less than 93 %: take more units.")
    if n_even := closed.get("n_even"):
        lacking.insert(0, f"{of.n_units} {of.unit}s tell no more of some system than {n_even:.1f} of equal weight: "
                          "intervals may hold in less than 93 %, and of few in far less.")
    return Intervals(of_scores if scores else "", differences if of.n_systems > 1 else "",
                     tuple(lacking if of.n_systems > 1 else lacking[:1]))


def _written(methods: Sequence[str]) -> str:
    """Methods in words."""
    words = {"wilson": "Wilson's", "share": "Wilson's for their errors", "student": "Student's for their errors",
             "fisher": "Student's of Fisher's z", "bonett-price": "Bonett and Price's", "judged": "by their own errors",
             "crossed": "by what items and runs add to their errors"}
    return " or ".join(words[method] for method in methods)
