"""Leaderboards in full precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from registry.identity import digest_lines
from registry.leaderboards.leaderboard import Leaderboard, Standing
from registry.rendering.table import number
from registry.reports.boards import rank_ranges
from registry.reports.columns import STANDING_KEYS, interval, page_headings, shown_fields
from registry.reports.latex_board import latex_board
from registry.reports.methods import methods
from registry.reports.page.data.columns import Json, as_column
from registry.reports.page.data.pairs import pairs_data

LATEX = 1000  # systems up to which a board is there in LaTeX


def board_key(board: Leaderboard) -> str:
    """What tells a board from other states of it: its family, and the order of its systems."""
    return digest_lines([board.signature, *(of.submission for of in board.standings)])[-16:]


def board_data(board: Leaderboard, reach: int | None) -> Json:
    """A board with the pairs of systems up to so many places apart, or all."""
    by, n = board.comparison, len(board.standings)
    standings = {key: as_column(_value(of, key) for of in board.standings) for key in (*STANDING_KEYS, "shown")} | {
        # What people see, as all other forms write it, so that nothing is rounded in another way.
        "range": as_column(rank_ranges(board)), "in_cluster": as_column(board.clusters),
        "printed": as_column(number(board.decimals)(of.score) for of in board.standings),
        "interval": as_column(interval(of.ci_low, of.ci_high, board.decimals) for of in board.standings)}
    return board.shared | {
        "title": board.title, "metric_label": board.metric_label, "decimals": board.decimals, "better": board.better,
        "alpha": by.alpha, "confidence": by.confidence,
        "corrected": by.correction != "none", "unit": by.unit,
        "n": n, "columns": [of.name for of in shown_fields(board, "page")], "headings": page_headings(board),
        "standings": standings, "numbers": _numbers(board), "open": as_column(_open(board)),
        "n_pairs": len(board.decisions),
        "pairs": pairs_data(board.decisions, n, reach, board.decimals) if board.decisions else None,
        "sentences": (*board.sentences, *board.footnotes), "methods": methods(board),
        "latex": latex_board(board) if n <= LATEX else None,
    }


def _value(of: Standing, key: str) -> Any:
    return list(map(str, of.remarks)) if key == "remarks" else getattr(of, key)


def _numbers(board: Leaderboard) -> Json:
    """The attributes that are numbers wherever they are there, and differ: what a score can be weighed against."""
    declared = [of.attributes for of in board.standings]
    columns = {name: [_number(of.get(name)) for of in declared] for name in dict.fromkeys(
        name for of in declared for name in of)}
    return {name: values for name, values in columns.items()
            if len(set(values) - {None}) > 1 and all((value is None) == (name not in of) for value, of in zip(
                values, declared, strict=True))}


def _number(value: Any) -> float | None:
    """A finite number, also one that was given as text."""
    try:
        found = math.nan if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _open(board: Leaderboard) -> list[int]:
    """With how many others every system was compared without a significant difference."""
    decisions, n = board.decisions.chosen(~board.decisions.significant), len(board.standings)
    found: list[int] = (np.bincount(decisions.a, minlength=n) + np.bincount(decisions.b, minlength=n)).tolist()
    return found
