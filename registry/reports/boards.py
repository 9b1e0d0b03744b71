"""Leaderboards, their pairs, and Ladders as tables: data with fixed keys for programs, columns for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from registry.errors import counted
from registry.leaderboards.ladders import Ladder, LadderRow
from registry.leaderboards.leaderboard import SHARED_KEYS, Leaderboard, Standing, shown_names, title
from registry.rendering.table import Column, Row, Table, number, p_value, text
from registry.reports.columns import BOARD_KEYS, PAIR_KEYS, STANDING_KEYS, board_columns, interval, pair_columns


def board_table(board: Leaderboard) -> Table:
    """Return a leaderboard, with rows of `BOARD_KEYS`."""
    rows = [board.shared | {key: getattr(of, key) for key in STANDING_KEYS} | {
        "warnings": board.warnings,
        "shown": of.shown + "*" * of.late, "range": left, "in_cluster": cluster,
        "interval": interval(of.ci_low, of.ci_high, board.decimals)}
        for of, left, cluster in zip(board.standings, rank_ranges(board), board.clusters, strict=True)]
    late = ("* came late.",) if any(of.late for of in board.standings) else ()
    return Table(rows, board_columns(board), board.title, (*board.sentences, *late, *board.footnotes), BOARD_KEYS,
                 board.signature)


def pair_table(board: Leaderboard) -> Table:
    """Return the pairs of a leaderboard, with rows of `PAIR_KEYS`; the better system is `system_a`."""
    pairs = [decision.row for decision in board.decisions]
    rows = displayed_pairs(pairs, shown_names(pairs, "_a"), shown_names(pairs, "_b"), board.decimals)
    return Table(rows, pair_columns(rows, board.decimals), board.title, board.sentences, PAIR_KEYS, board.signature)


def displayed_pairs(pairs: Sequence[Row], names_a: Sequence[str], names_b: Sequence[str], decimals: int) -> list[Row]:
    """Add to rows of pairs the values that people see."""
    return [{**row, "shown_a": a, "shown_b": b, "interval": interval(row["ci_low"], row["ci_high"], decimals),
             "shown_p": p_value(row["p_value"], row["log10_p"])}
            for row, a, b in zip(pairs, names_a, names_b, strict=True)]


def rank_ranges(board: Leaderboard) -> list[str]:
    """The places that the convention of a board's ranks leaves open for each system, for people."""
    return ["-" if places is None else places_left(*places) for places in board.open_places]


def rank_range(board: Leaderboard, of: Standing) -> str:
    """The places that are left open for one of the board's systems, for people."""
    return next(left for left, other in zip(rank_ranges(board), board.standings, strict=True) if other is of)


def places_left(low: int, high: int | None) -> str:
    """Places from one to another, for people."""
    return str(low) if low == high else f"{low}-{high}"


def ruled(clusters: Iterable[int | None], rows: Iterable[str]) -> list[str]:
    """The LaTeX rows of systems, best first, with a rule wherever a new cluster begins."""
    before, found = None, list[str]()
    for cluster, row in zip(clusters, rows, strict=True):
        if before is not None and cluster not in (None, before):
            found.append(r"\midrule")
        before = cluster or before
        found.append(row)
    return found


def ladder_table(ladder: Ladder) -> Table:
    """A Ladder: the submissions that raised the score that it shows, and to what."""
    of = {key: getattr(ladder, key, None) for key in SHARED_KEYS if key != "signature"}
    columns = [Column("rank", "rank", text, right=True), Column("system", "system"), Column("team", "team"),
               Column("score", "shown", number(ladder.decimals), right=True)]
    last = "" if ladder.shown is None else f"; the last one is {ladder.shown:.{ladder.decimals}f}"
    said = (f"Shown are the {len(ladder.rows)} of {counted(ladder.submitted, 'submission')} that were better than the "
            f"last one shown by more than {ladder.step:g}, with their scores rounded to that{last} (the Ladder; "
            "Blum and Hardt 2015); all else is hidden.")
    return Table([of | row._asdict() | {"step": ladder.step} for row in ladder.rows], columns,
                 title(of, ladder.declared_title), (said,), (*of, *LadderRow._fields, "step"))
