"""Leaderboards, their pairs, and Ladders as tables: data with fixed keys for programs, columns for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from registry.errors import counted
from registry.leaderboards.ladders import Ladder, LadderRow
from registry.leaderboards.leaderboard import PAIR_KEYS, SHARED_KEYS, Leaderboard, Ranks, Standing, shown_names, title
from registry.rendering.table import Column, Row, Table, is_significant, number, p_value
from registry.rendering.table import text as plain

_READABLE = 24  # characters of letters in a row

BOARD_KEYS = (
    *SHARED_KEYS, "rank", "rank_low", "rank_high", "cluster", "system", "team", "kind", "submission", "score", "ci_low",
    "ci_high", "runs", "run_deviation", "wins", "losses", "late", "letters", "neighbour_low", "neighbour_high",
    "simultaneous_low", "simultaneous_high", "frequent_low", "frequent_high", "first", "remarks",
    "warnings",
)
STANDING_KEYS = tuple(key for key in BOARD_KEYS if key not in (*SHARED_KEYS, "warnings"))
HEADINGS: dict[Ranks, str] = {"range": "range", "cluster": "cluster", "neighbour": "neighbours",
                              "simultaneous": "simultaneous", "bootstrap": "resampled"}


def board_table(board: Leaderboard) -> Table:
    """A leaderboard with the rows of `BOARD_KEYS`."""
    ranks = board.ranks
    rows = [board.shared | {key: getattr(of, key) for key in STANDING_KEYS} | {
        "warnings": board.warnings,
        "shown": of.shown + "*" * of.late, "range": left, "in_cluster": cluster,
        "interval": interval(of.ci_low, of.ci_high, board.decimals)}
        for of, left, cluster in zip(board.standings, rank_ranges(board), board.clusters, strict=True)]
    columns = [Column("rank", "rank", plain, right=True)]
    columns += [] if ranks == "cluster" else [Column("range", HEADINGS[ranks], right=True)]
    if ranks == "bootstrap":
        columns.append(Column(
            "first", "first", lambda share: "-" if share is None else f"{100 * share:.1f} %", right=True))
    first = _is_first if len(set(board.clusters) - {None}) > 1 else None
    columns += [Column("in_cluster", "cluster", plain, right=True, decided=first),
                Column("shown", "system", decided=first)]
    columns += [Column("team", "team")] if board.teams else []
    columns += [Column("kind", "kind"), Column("score", "score", number(board.decimals), right=True)]
    columns += [Column("interval", "interval", right=True)] if any(row["interval"] for row in rows) else []
    columns += [Column("letters", "alike")] if shows_letters(board) else []
    if any(of.runs > 1 for of in board.standings):
        columns += [Column("runs", "runs", plain, right=True),
                    Column("run_deviation", "deviation",
                           lambda v: "-" if v is None else number(board.decimals)(v), right=True)]
    captions = board.sentences
    captions += ("* came late.",) if any(of.late for of in board.standings) else ()
    captions += board.footnotes
    return Table(rows, columns, board.title, captions, BOARD_KEYS, board.signature)


def pair_table(board: Leaderboard) -> Table:
    """The pairs of a leaderboard with the rows of `PAIR_KEYS`; the better system is `system_a`."""
    pairs = [decision.row for decision in board.decisions]
    rows = [{**row, "shown_a": a, "shown_b": b}
            for row, a, b in zip(pairs, shown_names(pairs, "_a"), shown_names(pairs, "_b"), strict=True)]
    return Table(rows, pair_columns(rows, board.decimals), board.title, board.sentences, PAIR_KEYS, board.signature)


def pair_columns(rows: Sequence[dict[str, Any]], decimals: int) -> list[Column]:
    """What people see of pairs; completes their rows by it."""
    for row in rows:
        row |= {"interval": interval(row["ci_low"], row["ci_high"], decimals),
                "shown_p": p_value(row["p_value"], row["log10_p"])}
    return [
        Column("shown_a", "system A"), Column("shown_b", "system B"),
        *(Column(key, heading, number(decimals), right=True)
          for key, heading in (("score_a", "A"), ("score_b", "B"), ("difference", "A - B"))),
        *([Column("interval", "interval", right=True)] if any(row["interval"] for row in rows) else []),
        Column("n_discordant", "differing", plain, right=True), Column("shown_p", "p", right=True),
        Column("p_adjusted", "adjusted p", p_value, right=True, decided=is_significant), Column("method", "method"),
        *([Column("alternative", "alternative")] if any(row["alternative"] != "two-sided" for row in rows) else []),
        Column("significant", "significant", lambda yes: "yes" if yes else "", decided=is_significant),
        *([Column("same_team", "team", lambda same: "same" if same else "")] if any(
            row["same_team"] for row in rows) else []),
    ]


def _is_first(row: Row) -> bool | None:
    """Whether a system is in the first cluster; of others it says nothing."""
    return True if row["in_cluster"] == 1 else None


def shows_letters(board: Leaderboard) -> bool:
    """Whether people see who shares a letter.

    Ranks that do not rest on all decisions would contradict letters, and a row with very many of them says nothing.
    """
    longest = max((len(of.letters or "") for of in board.standings), default=0)
    return bool(board.decisions) and board.ranks in ("range", "cluster") and longest <= _READABLE


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


def interval(low: float | None, high: float | None, digits: int) -> str:
    """An interval for people, an open end as a dash; nothing where there is none."""
    ends = [None if end is None or not math.isfinite(end) else f"{end:.{digits}f}" for end in (low, high)]
    return "" if ends == [None, None] else " to ".join(end or "-" for end in ends)


def ladder_table(ladder: Ladder) -> Table:
    """A Ladder: the submissions that raised the score that it shows, and to what."""
    of = {key: getattr(ladder, key, None) for key in SHARED_KEYS if key != "signature"}
    columns = [Column("rank", "rank", plain, right=True), Column("system", "system"), Column("team", "team"),
               Column("score", "shown", number(ladder.decimals), right=True)]
    last = "" if ladder.shown is None else f"; the last one is {ladder.shown:.{ladder.decimals}f}"
    said = (f"Shown are the {len(ladder.rows)} of {counted(ladder.submitted, 'submission')} that were better than the "
            f"last one shown by more than {ladder.step:g}, with their scores rounded to that{last} (the Ladder; "
            "Blum and Hardt 2015); all else is hidden.")
    return Table([of | row._asdict() | {"step": ladder.step} for row in ladder.rows], columns,
                 title(of, ladder.declared_title), (said,), (*of, *LadderRow._fields, "step"))
