"""The methods of a leaderboard's intervals, and what limits these, in words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from registry.errors import counted
from registry.leaderboards.comparison import Comparison
from registry.messages import Message
from registry.significance import TESTS, PredictionPowered
from registry.values import parse

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
