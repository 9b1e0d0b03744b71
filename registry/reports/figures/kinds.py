"""The figures of a leaderboard by their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from registry.errors import InputError
from registry.reports.figures.drawing import Look, look_of

if TYPE_CHECKING:
    from registry.boards.leaderboard import Leaderboard

Kind = Literal["scores", "pairs", "gains", "groups", "ranks"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def look_for(kind: Kind, **given: Any) -> Look:
    """How a figure of a kind is set; see `look_of`.

    Raises:
        InputError: There is no such size, or the kind has no scale that limits could be of.
    """
    if given.get("limits") is not None and kind not in ("scores", "gains"):
        raise InputError("limits are those of scores and gains alone")
    return look_of(**given)


def draw(board: Leaderboard, kind: Kind, path: Path, look: Look, marked: tuple[str, Mapping[str, str]]) -> None:
    """Draw a leaderboard; where there are `marked` pairs, these share an attribute, given with its values."""
    # Imported here, because printing help needs no numpy.
    from registry.reports.figures.boards import draw_gains, draw_groups, draw_pairs, draw_ranks, draw_scores

    if kind == "gains":
        draw_gains(board, path, *marked, look)
    else:
        draw = {"scores": draw_scores, "pairs": draw_pairs, "groups": draw_groups, "ranks": draw_ranks}[kind]
        draw(board, path, look)
