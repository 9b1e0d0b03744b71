"""Kinds of figures that show a leaderboard."""

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
    """Return the size and the style of a figure of one kind.

    Args:
        kind: The kind of the figure.
        given: The arguments of `look_of`.

    Raises:
        InputError: An argument is not valid, or `limits` are given for a kind without such a scale.
    """
    if given.get("limits") is not None and kind not in ("scores", "gains"):
        raise InputError("limits apply only to figures of scores and gains")
    return look_of(**given)


def draw(board: Leaderboard, kind: Kind, path: Path, look: Look, marked: tuple[str, Mapping[str, str]]) -> None:
    """Draw a figure of a leaderboard.

    Args:
        board: The leaderboard.
        kind: The kind of the figure.
        path: The file to write.
        look: The size and the style of the figure.
        marked: An attribute, and its value for each submission. Only `gains` uses the attribute: pairs with equal
            values have another mark.
    """
    # Imported here, because printing help needs no numpy.
    from registry.reports.figures.boards import draw_gains, draw_groups, draw_pairs, draw_ranks, draw_scores

    if kind == "gains":
        draw_gains(board, path, *marked, look)
    else:
        draw = {"scores": draw_scores, "pairs": draw_pairs, "groups": draw_groups, "ranks": draw_ranks}[kind]
        draw(board, path, look)
