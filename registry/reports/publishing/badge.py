"""A badge for READMEs and web pages: where a system stands on a board, as a small SVG that needs nothing else."""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape

from registry.boards.leaderboard import Leaderboard, Standing
from registry.reports.boards import rank_range

_LONGEST = 60  # characters of a side
_WIDTH, _PADDING, _HEIGHT = 7, 8, 20  # pixels of a character, beside a text, and of the whole

_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="{said}">
<title>{title}</title>
<rect width="{width}" height="{height}" rx="3" fill="#334"/>
<path d="M{left} 0h{fill}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="#06a"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{padding}" y="14" textLength="{left_text}" lengthAdjust="spacingAndGlyphs">{of}</text>
<text x="{right}" y="14" textLength="{right_text}" lengthAdjust="spacingAndGlyphs">{stands}</text>
</g>
</svg>
"""


def badge(board: Leaderboard, standing: Standing, name: str) -> str:
    """Draw where a system stands: the places that significant differences leave open, by the board's convention.

    Args:
        board: The leaderboard.
        standing: The system, one of its standings.
        name: What the task is called.
    """
    n = sum(of.rank is not None for of in board.standings)
    if standing.rank is None:
        stands = "not ranked"
    elif board.ranks == "cluster":
        stands = f"cluster {standing.cluster} of {max(of.cluster or 0 for of in board.standings)}"
    else:
        stands = f"rank {rank_range(board, standing)} of {n}"
    of, stands = _text(name), _text(stands)
    left, right = (_width(text) + 2 * _PADDING for text in (of, stands))
    said = _text(f"{of}: {stands}")
    return _SVG.format(
        width=left + right, height=_HEIGHT, left=left, fill=right - 3, padding=_PADDING, left_text=left - 2 * _PADDING,
        right=left + _PADDING, right_text=right - 2 * _PADDING, said=_xml(said), of=_xml(of), stands=_xml(stands),
        title=_xml(f"{_text(standing.shown)}: {stands} ({_text(board.title)})"))


def _text(text: str) -> str:
    """What can be seen of a text, on one line, cut where it is long."""
    seen = "".join(c for c in " ".join(text.split()) if not unicodedata.category(c).startswith("C"))
    return seen if len(seen) <= _LONGEST else f"{seen[:_LONGEST - 1]}…"


def _width(text: str) -> int:
    return _WIDTH * sum(2 if unicodedata.east_asian_width(c) in "FW" else 1 for c in text)


def _xml(text: str) -> str:
    return escape(text, {'"': "&quot;"})
