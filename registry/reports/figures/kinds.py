"""Kinds of figures that show a leaderboard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from registry.errors import InputError
from registry.reports.figures.drawing import Look, parse_look

if TYPE_CHECKING:
    from registry.boards.leaderboard import Leaderboard

Kind = Literal["scores", "pairs", "gains", "groups", "ranks"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def make_look(kind: Kind, **given: Any) -> Look:
    """Return the size and style of a figure of a leaderboard from a user's options.

    Args:
        kind: The kind of the figure, such as `scores` or `pairs`.
        given: The options of the user, such as width, font size and limits.

    Raises:
        InputError: An argument is not valid, or the kind of the figure has no axis for the given `limits`.
    """
    if given.get("limits") is not None and kind not in ("scores", "gains"):
        raise InputError("limits apply only to figures of scores and gains")
    return parse_look(**given)


def draw(board: Leaderboard, kind: Kind, path: Path, look: Look, marked: tuple[str, Mapping[str, str]]) -> None:
    """Draw a figure of a leaderboard into a file.

    Args:
        board: The leaderboard.
        kind: The kind of the figure, such as `scores` or `pairs`.
        path: The file to write.
        look: The size and the style of the figure.
        marked: The name of an attribute, and its value for each submission. Figures of the kind `gains` mark pairs of
            systems with the same value; other figures ignore the attribute.
    """
    # Imported here, because printing help needs no numpy.
    from registry.reports.figures.boards import draw_gains, draw_groups, draw_pairs, draw_ranks, draw_scores

    if kind == "gains":
        draw_gains(board, path, *marked, look)
    else:
        draw = {"scores": draw_scores, "pairs": draw_pairs, "groups": draw_groups, "ranks": draw_ranks}[kind]
        draw(board, path, look)
