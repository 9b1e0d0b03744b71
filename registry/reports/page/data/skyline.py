"""A leaderboard as a small chart: a dot for each system, best first, on its interval; all as paths of an SVG.

It holds numbers alone, and no name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.boards.leaderboard import Leaderboard
from registry.rendering.table import number

WIDTH, HEIGHT = 300, 84
MOST = 60  # systems of a board that are drawn
_LEFT, _TOP, _BOTTOM = 52, 8, 8
_APART = 18  # pixels from one system to the next, at most
_SEVERAL = 5  # values from which on there are outliers


@dataclass(frozen=True)
class Skyline:
    """What is drawn, as the data of SVG paths.

    Attributes:
        first, others: Dots of the systems to which the first place is open, and of the others.
        spans: Intervals.
        beyond: Arrows of systems that are below the scale.
        top, bottom: The ends of the scale, the better one first; empty where all scores are the same.
        n: How many systems are drawn.
    """

    first: str
    others: str
    spans: str
    beyond: str
    top: str
    bottom: str
    n: int


def skyline(board: Leaderboard) -> Skyline:
    """Draw the best systems of a leaderboard that have a score."""
    shown = [n for n, of in enumerate(board.standings) if of.score is not None][:MOST]
    rows = [(float(of.score or 0), of.ci_low, of.ci_high) for n in shown for of in [board.standings[n]]]
    sign = -1 if board.better == "lower" else 1  # the better scores are above
    low, high = _scale(rows, sign)
    step = min(_APART, (WIDTH - _LEFT - 8) / max(1, len(shown)))

    def y(value: float) -> str:
        share = (min(high, max(low, value)) - low) / (high - low) if high > low else 0.5
        return f"{HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * (share if sign > 0 else 1 - share):.1f}"

    paths: dict[str, list[str]] = {"first": [], "others": [], "spans": [], "beyond": []}
    for place, (n, (score, least, most)) in enumerate(zip(shown, rows, strict=True)):
        x, open_to = f"{_LEFT + step * (place + 0.5):.1f}", board.open_places[n]
        if low <= score <= high:
            paths["first" if open_to is not None and open_to[0] == 1 else "others"].append(f"M{x} {y(score)}h0")
            if least is not None or most is not None:
                paths["spans"].append(f"M{x} {y(low if least is None else least)}V{y(high if most is None else most)}")
        else:
            paths["beyond"].append(f"M{x} {HEIGHT - 1}l-3 -5h6z")
    ends = (high, low) if sign > 0 else (low, high)
    top, bottom = map(number(_digits(low, high)), ends) if high > low else ("", "")
    return Skyline(**{name: "".join(parts) for name, parts in paths.items()}, top=top, bottom=bottom, n=len(shown))


def _scale(rows: Sequence[tuple[float, float | None, float | None]], sign: int) -> tuple[float, float]:
    """The ends of the scale, which outliers among the worse scores do not rule; as on the task's page (scale.js).

    The best scores are what a reader comes for, and always on it.
    """
    values = np.array([end for score, low, high in rows for end in (
        score, score if low is None else low, score if high is None else high)])
    if not len(values):
        return 0.0, 0.0
    whole = float(values.min()), float(values.max())
    if len(rows) < _SEVERAL:
        return whole
    lower, upper = np.quantile(values, (0.25, 0.75))
    reach = 1.5 * (upper - lower) or np.inf
    inside = values[values >= lower - reach] if sign > 0 else values[values <= upper + reach]
    inner = float(inside.min()), float(inside.max())
    return inner if whole[1] - whole[0] > 1.5 * (inner[1] - inner[0]) else whole


def _digits(low: float, high: float) -> int:
    return int(min(6, max(2, 1 - np.floor(np.log10(high - low)))))
