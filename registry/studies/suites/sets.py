"""Several test sets as one matrix, of the systems that took part in all, and what speaks against the tests of several.

Each set has columns of its own, so any average of their scores is a score like others, a function of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from registry.arrays import Floats
from registry.evaluation.comparing.board_statistics import Board
from registry.messages import Message
from registry.significance import StatisticMatrix
from registry.significance.matrix import Matrix, Score, additive


@dataclass(frozen=True)
class AveragedScore:
    """Scores from sums [..., columns of all test sets], whose own columns end at `ends`; no weights are equal ones."""

    scores: tuple[Score, ...]
    ends: tuple[int, ...]
    weights: tuple[float, ...] | None = None

    def __call__(self, sums: Floats) -> Floats:
        """Average the scores of the sets."""
        parts = np.split(sums, self.ends[:-1], axis=-1)
        scores = [score(part) for score, part in zip(self.scores, parts, strict=True)]
        averages: Floats = (np.mean(scores, axis=0) if self.weights is None else
                            np.average(scores, axis=0, weights=self.weights))
        return averages


def in_all(boards: Sequence[Board]) -> list[list[int]]:
    """The places on every board of the systems that are on all, in the order of `team/system`: versions may differ."""
    at = [{f"{member.team}/{member.system}": n for n, member in enumerate(board.members)} for board in boards]
    names = sorted(name for name in at[0] if all(name in others for others in at))
    return [[of_board[name] for name in names] for of_board in at]


def stacked(boards: Sequence[Board], places: Sequence[Sequence[int]],
            weights: tuple[float, ...] | None = None) -> StatisticMatrix:
    """The units of all test sets as one matrix, of the systems at these places of every board."""
    matrices = [board.matrix.by_unit.of_systems(of_board) for board, of_board in zip(boards, places, strict=True)]
    ends = np.cumsum([matrix.statistics.shape[2] for matrix in matrices]).tolist()
    rows = np.cumsum([len(matrix.statistics) for matrix in matrices]).tolist()
    together = np.zeros((rows[-1], len(places[0]), ends[-1]))
    for matrix, row, end in zip(matrices, rows, ends, strict=True):
        n, _, width = matrix.statistics.shape
        together[row - n:row, :, end - width:end] = matrix.statistics[:]
    score = AveragedScore(tuple(additive(matrix).score for matrix in matrices), tuple(ends), weights)
    return StatisticMatrix(together, score, lower_is_better=matrices[0].lower_is_better)


def doubts_of_sets(boards: Sequence[Board], names: Sequence[str],
                   doubts: Callable[[Matrix], Iterable[Message]]) -> list[Message]:
    """List the warnings of boards, with the test sets that each is about unless it is about all.

    Args:
        boards: Of several test sets.
        names: The names of the test sets.
        doubts: Returns the warnings about a board's matrix, by unit.
    """
    found: dict[Message, list[str]] = {}
    for name, board in zip(names, boards, strict=True):
        for warning in doubts(board.matrix.by_unit):
            found.setdefault(warning, []).append(name)
    return [warning if len(of) == len(names) else warning.with_parameters(test_sets=of)
            for warning, of in found.items()]
