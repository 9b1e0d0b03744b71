"""The score of the best of many submissions, plain and corrected for its having been chosen; and why to doubt it."""

from __future__ import annotations

from collections.abc import Iterator

from registry.evaluation.comparing.board_statistics import Board
from registry.messages import Message
from registry.significance.rank_sets import Influences, winner_of
from registry.studies.study import Row

_MANY_UNITS = 200  # of about equal weight, from which on the winner's interval was seen to hold (docs/studies.md)
_SKEWED = 0.015  # the squared skewness over the units from which on it is not: some 50 units that are wrong


def winner_rows(board: Board, alpha: float) -> tuple[list[Row], list[Message]]:
    """The best one's score with both intervals, and why to doubt them."""
    influences = Influences.of(board.matrix)
    found = winner_of(influences, alpha)
    if found is None:
        return [], []
    sign = -1 if board.matrix.lower_is_better else 1
    low, high = sorted((sign * found.low, sign * found.high))
    corrected_low, corrected_high = sorted((sign * found.corrected_low, sign * found.corrected_high))
    member = board.members[found.system]
    row: Row = {"system": member.system, "submission": member.name, "of": len(board.members),
                "score": sign * found.score, "error": found.error, "low": low, "high": high,
                "corrected": sign * found.corrected, "corrected_low": corrected_low, "corrected_high": corrected_high}
    return [row], [*_doubts_of_winner(influences, found.system)]


def _doubts_of_winner(influences: Influences, best: int) -> Iterator[Message]:
    """Where the best one's error is not known well enough, as it is of few units, or of a system that hardly ever errs.

    A score that is high by luck has a small error then, and its interval is too short where the truth is.
    """
    if influences.n_units < _MANY_UNITS:
        yield Message("winner-few-units", {"units": influences.n_units, "least": _MANY_UNITS})
    of = influences.of_units[:, best]
    if (of**3).sum() < 0 and (of**3).sum() ** 2 > _SKEWED * (of**2).sum() ** 3:
        yield Message("winner-skewed")


def said_of_winner(winner: list[Row]) -> Iterator[str]:
    """The best one's score with both intervals, in a sentence."""
    for row in winner:
        yield (f"{row['submission']} has the best score of {row['of']}, {row['score']:.4f} ({row['low']:.4f} to "
               f"{row['high']:.4f}); corrected for that choice, {row['corrected']:.4f} ({row['corrected_low']:.4f} to "
               f"{row['corrected_high']:.4f}), unless submissions were chosen by the scores of earlier ones.")
