"""The pairs of macro-averages as a table."""

from __future__ import annotations

from typing import Any

from registry.leaderboards.sentences import are_significant
from registry.rendering.table import Table
from registry.reports.boards import pair_columns
from registry.reports.wide import family
from registry.studies.macro_average import MacroBoard, MacroPair

KEYS = (
    "task", "track", "metric", "metric_name", "test_sets", "system_a", "system_b", "score_a", "score_b", "difference",
    "ci_low", "ci_high", "p_value", "p_adjusted", "significant", "method", "test", "alternative", "correction",
    "family_size", "unit", "n_units", "n_discordant", "resamples", "seed", "log10_p", "p_low", "p_high", "note",
    "same_team",
)
_OF_RESULT = ("difference", "ci_low", "ci_high", "p_value", "method", "n_units", "n_discordant", "resamples", "log10_p",
              "p_low", "p_high", "note")


def macro_pair_table(board: MacroBoard) -> Table:
    """The pairs of a metric's macro-averages, the better system first; why there are none where they are untested."""
    rows = [_row(board, pair) for pair in board.pairs]
    track = f", track {board.track}" if board.track else ""
    asked = board.request.significance
    won = sum(pair.significant for pair in board.pairs)
    said = f"Pairs are not tested: {board.untested}." if board.untested else (
        f"{are_significant(won, len(rows))} at {asked.alpha:g}; "
        f"{family(asked.correction, len(rows), asked.test)} of units within each of the test sets "
        f"{', '.join(board.test_sets)}.")
    return Table(rows, pair_columns(rows), f"{board.task}{track}: macro {board.metric}", (said,), KEYS)


def _row(board: MacroBoard, pair: MacroPair) -> dict[str, Any]:
    a, b, asked = board.averages[pair.a], board.averages[pair.b], board.request.significance
    drawn = pair.result.resamples is not None
    return {key: getattr(pair.result, key) for key in _OF_RESULT} | {
        "task": board.task, "track": board.track, "metric": board.metric, "metric_name": board.metric_name,
        "test_sets": " ".join(board.test_sets), "system_a": a.system, "system_b": b.system, "score_a": a.score,
        "score_b": b.score, "p_adjusted": pair.p_adjusted, "significant": pair.significant, "test": asked.test,
        "alternative": asked.alternative, "correction": asked.correction, "family_size": len(board.pairs),
        "unit": asked.unit, "seed": asked.seed if drawn else None, "same_team": a.team == b.team,
        "shown_a": a.system, "shown_b": b.system}
