"""The best systems of a leaderboard, compared with the other ranked systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from registry.boards.leaderboard import Leaderboard


@dataclass(frozen=True)
class Lead:
    """The systems of rank 1 on a leaderboard, and how many others they beat.

    Attributes:
        best: The places of the systems of rank 1, from 0; empty if no ranked system has a score.
        n_beaten: The number of other ranked systems that are significantly worse than all of `best`.
        n_others: The number of ranked systems besides `best`.
    """

    best: tuple[int, ...]
    n_beaten: int
    n_others: int

    def __str__(self) -> str:
        """Return in a few words how many systems the best ones beat, such as `3 of 7`."""
        if not self.best or not self.n_others:
            return "–"
        if self.n_beaten < self.n_others:
            return f"{self.n_beaten or 'none'} of {self.n_others}"
        return f"all {self.n_others}" if self.n_others > 1 else "the other system"


def find_lead(board: Leaderboard) -> Lead:
    """Return the best systems of a leaderboard."""
    ranked = {n for n, standing in enumerate(board.standings) if standing.rank is not None}
    best = {n for n in ranked if board.standings[n].rank == 1 and board.standings[n].score is not None}
    others = ranked - best
    beaten = others.intersection(*(board.beaten_places[n] for n in best)) if best else set[int]()
    return Lead(tuple(sorted(best)), len(beaten), len(others))


def list_names(names: Sequence[str], most: int) -> str:
    """Return names in words, with the number of names beyond `most`.

    >>> [list_names(names, 2) for names in (["a"], ["a", "b"], ["a", "b", "c"])]
    ['a', 'a and b', 'a, b and 1 more']
    """
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
