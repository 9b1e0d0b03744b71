"""Leaderboards as papers print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.leaderboards.leaderboard import Leaderboard
from registry.rendering.latex import environment, escape
from registry.rendering.table import number
from registry.reports.boards import rank_ranges, ruled
from registry.reports.columns import board_heading, interval, shown_fields
from registry.significance.ranks import name_group

_NAMED = 26  # systems that a letter each still tells apart at a glance


def latex_board(board: Leaderboard) -> str:
    """A leaderboard in LaTeX.

    A rule parts the clusters, the best score (or scores) is bold, and the superscripts of a score name the systems
    that it beats significantly, as long as a letter names each. Footnotes stand below the table.
    """
    named = len(board.standings) <= _NAMED and bool(board.decisions)
    columns = shown_fields(board, "latex")
    headings = [""] * named + [escape(board_heading(of, board, "latex")) for of in columns]
    # Scores are on the left, because superscripts of different lengths follow them.
    spec = "l" * named + "".join("r" if of.right and of.name != "score" else "l" for of in columns)
    caption = [escape(f"{board.title}."), *map(escape, board.sentences)]
    caption += ["Superscripts name the systems that a score is significantly better than."] if named else []
    return environment(spec, headings, ruled(board.clusters, _rows(board, [of.name for of in columns], named=named)),
                       " ".join(caption), board.signature, list(map(escape, board.footnotes)))


def _rows(board: Leaderboard, columns: Sequence[str], *, named: bool) -> Iterator[str]:
    best = next((of.score for of in board.standings if of.rank == 1), None)
    for n, (of, left) in enumerate(zip(board.standings, rank_ranges(board), strict=True)):
        score = number(board.decimals)(of.score).replace("-", "$-$")
        score = rf"\textbf{{{score}}}" if best is not None and of.score == best else score
        beaten = "".join(name_group(worse) for worse in board.beaten[n]) if named else ""
        row = {"rank": "--" if of.rank is None else str(of.rank), "range": left.replace("-", "--"),
               "system": escape(of.shown) + "*" * of.late, "team": escape(of.team),
               "score": score + (rf"\textsuperscript{{{beaten}}}" if beaten else ""),
               "interval": _short(interval(of.ci_low, of.ci_high, board.decimals))}
        yield " & ".join([*([name_group(n)] if named else []), *(row[column] for column in columns)]) + r" \\"


def _short(written: str) -> str:
    """An interval as a column of a paper has room for it; where an end is below 0 a dash would be taken for a minus."""
    return written.replace("-", "$-$") if "-" in written else written.replace(" to ", "--")
