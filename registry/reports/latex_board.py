"""Leaderboards as papers print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.leaderboards.leaderboard import Leaderboard
from registry.rendering.latex import environment, escape
from registry.rendering.table import number
from registry.reports.boards import HEADINGS, interval, rank_ranges, ruled
from registry.significance.ranks import name_group

_NAMED = 26  # systems that a letter each still tells apart at a glance


def latex_board(board: Leaderboard) -> str:
    """A leaderboard in LaTeX.

    A rule parts the clusters, the best score (or scores) is bold, and the superscripts of a score name the systems
    that it beats significantly, as long as a letter names each. Footnotes stand below the table.
    """
    named = len(board.standings) <= _NAMED and bool(board.decisions)
    intervals = [_short(interval(of.ci_low, of.ci_high, board.decimals)) for of in board.standings]
    ranges = [] if board.ranks == "cluster" else [HEADINGS[board.ranks].capitalize()]
    headings = [*([""] if named else []), "Rank", *ranges, "System", *(["Team"] if board.teams else []),
                escape(board.metric_label), *(["Interval"] if any(intervals) else [])]
    spec = "l" * named + "r" * (1 + len(ranges)) + "l" * (2 + board.teams) + "r" * any(intervals)
    caption = [escape(f"{board.title}."), *map(escape, board.sentences)]
    caption += ["Superscripts name the systems that a score is significantly better than."] if named else []
    return environment(spec, headings, ruled(board.clusters, _rows(board, intervals, named=named)),
                       " ".join(caption), board.signature, list(map(escape, board.footnotes)))


def _rows(board: Leaderboard, intervals: Sequence[str], *, named: bool) -> Iterator[str]:
    best = next((of.score for of in board.standings if of.rank == 1), None)
    for n, (of, left) in enumerate(zip(board.standings, rank_ranges(board), strict=True)):
        row = [name_group(n)] if named else []
        row += ["--" if of.rank is None else str(of.rank)]
        row += [] if board.ranks == "cluster" else [left.replace("-", "--")]
        row += [escape(of.shown) + ("*" if of.late else ""), *([escape(of.team)] if board.teams else [])]
        written = number(board.decimals)(of.score).replace("-", "$-$")
        written = rf"\textbf{{{written}}}" if best is not None and of.score == best else written
        beaten = "".join(name_group(worse) for worse in board.beaten[n]) if named else ""
        row += [written + (rf"\textsuperscript{{{beaten}}}" if beaten else "")]
        row += [intervals[n]] if any(intervals) else []
        yield " & ".join(row) + r" \\"


def _short(written: str) -> str:
    """An interval as a column of a paper has room for it; where an end is below 0 a dash would be taken for a minus."""
    return written.replace("-", "$-$") if "-" in written else written.replace(" to ", "--")
