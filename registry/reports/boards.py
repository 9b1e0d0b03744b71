"""Leaderboards and their pairs as tables: one by one, side by side, macro-averages, and Ladders."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from registry.boards.leaderboard import (
    DECIMALS,
    SHARED_KEYS,
    Leaderboard,
    Ranks,
    Standing,
    make_board_title,
    make_display_names,
)
from registry.boards.statements import count_significant
from registry.boards.submissions import Ladder, LadderRow
from registry.errors import counted
from registry.metric_names import metric_decimals
from registry.rendering.table import Column, Row, Table, format_p_value, format_text, make_number_format
from registry.reports.columns import (
    BOARD_KEYS,
    PAIR_KEYS,
    STANDING_KEYS,
    format_interval,
    make_board_columns,
    make_pair_columns,
)
from registry.significance import CORRECTIONS

if TYPE_CHECKING:
    from registry.studies.suites import MacroAverage, MacroBoard


def board_table(board: Leaderboard) -> Table:
    """Return a leaderboard, with rows of `BOARD_KEYS`."""
    rows = [board.shared_values | {key: getattr(of, key) for key in STANDING_KEYS} | {
        "warnings": board.warnings,
        "shown": of.display_name + "*" * of.late, "range": left, "in_cluster": cluster,
        "interval": format_interval(of.ci_low, of.ci_high, board.decimals)}
        for of, left, cluster in zip(board.standings, rank_ranges(board), board.clusters, strict=True)]
    late = ("* came late.",) if any(of.late for of in board.standings) else ()
    return Table(rows, make_board_columns(board), board.title, (*board.sentences, *late, *board.footnotes), BOARD_KEYS,
                 board.signature)


def pair_table(board: Leaderboard) -> Table:
    """Return the pairs of a leaderboard, with rows of `PAIR_KEYS`; the better system is `system_a`."""
    pairs = [decision.row for decision in board.decisions]
    rows = displayed_pairs(pairs, make_display_names(pairs, "_a"), make_display_names(pairs, "_b"), board.decimals)
    return Table(rows, make_pair_columns(rows, board.decimals), board.title, board.sentences, PAIR_KEYS,
                 board.signature)


def displayed_pairs(pairs: Sequence[Row], names_a: Sequence[str], names_b: Sequence[str], decimals: int) -> list[Row]:
    """Add to rows of pairs the values that people see."""
    return [{**row, "shown_a": a, "shown_b": b, "interval": format_interval(row["ci_low"], row["ci_high"], decimals),
             "shown_p": format_p_value(row["p_value"], row["log10_p"])}
            for row, a, b in zip(pairs, names_a, names_b, strict=True)]


def rank_ranges(board: Leaderboard) -> list[str]:
    """The places that the convention of a board's ranks leaves open for each system, for people."""
    return ["-" if places is None else places_left(*places) for places in board.rank_ranges]


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
    columns = [Column("rank", "rank", format_text, right=True), Column("system", "system"), Column("team", "team"),
               Column("score", "shown", make_number_format(ladder.decimals), right=True)]
    last = "" if ladder.shown is None else f"; the last one is {ladder.shown:.{ladder.decimals}f}"
    said = (f"Shown are the {len(ladder.rows)} of {counted(ladder.submitted, 'submission')} that were better than the "
            f"last one shown by more than {ladder.step:g}, with their scores rounded to that{last} (the Ladder; "
            "Blum and Hardt 2015); all else is hidden.")
    return Table([of | row._asdict() | {"step": ladder.step} for row in ladder.rows], columns,
                 make_board_title(of, ladder.declared_title), (said,), (*of, *LadderRow._fields, "step"))


# A macro-average is of several test sets, and has neither a submission nor a signature of its own.
_NOT_OF_MACRO = {"test_set", "facet", "signature", "submission_a", "submission_b", "statistic", "resolved"}
MACRO_PAIR_KEYS = tuple(of for key in PAIR_KEYS if key not in _NOT_OF_MACRO
                        for of in ((key, "test_sets") if key == "metric_name" else (key,)))
_LEFT_BY: dict[Ranks, str] = {
    "range": "significant differences", "cluster": "clusters", "neighbour": "the nearest systems that differ",
    "simultaneous": "simultaneous tests of all differences", "bootstrap": "resamples"}
PARTS = ("score", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "cluster")  # of a cell, for programs


@dataclass(frozen=True)
class WideColumn:
    """One leaderboard, or a macro-average.

    Attributes:
        name: What programs call it, as no other column.
        title: What people call it.
        better: Which way scores are better.
        board: The leaderboard; None for a macro-average.
        cells: What each system has, by its name `team/system`.
        left: The ranks that are left open for each, for people; none where it has no rank.
        said: What it rests on.
        decimals: How many of its scores people see.
    """

    name: str
    title: str
    better: str
    board: Leaderboard | None
    cells: Mapping[str, Standing | MacroAverage]
    left: Mapping[str, str]
    said: str
    decimals: int = DECIMALS

    def beside(self, name: str) -> str:
        """What stands beside a system's score, for people: the ranks left open, and the interval of an average."""
        cell = None if self.board else self.cells.get(name)
        ends = format_interval(part(cell, "ci_low"), part(cell, "ci_high"), self.decimals)
        return " ".join(filter(None, (f"({self.left[name]})" if name in self.left else "", ends)))

    def printed(self, cell: Standing | MacroAverage | None) -> str:
        """A score for people."""
        return make_number_format(self.decimals)(part(cell, "score"))


@dataclass(frozen=True)
class WideBoard:
    """All leaderboards of one track of a task; `rows` are best first by the first column, undefined last.

    `rows` have a system's name `team/system`, and how it stands on one of the leaderboards.
    """

    task: str
    track: str | None
    columns: tuple[WideColumn, ...]
    rows: tuple[tuple[str, Standing], ...]

    @property
    def title(self) -> str:
        """Which one it is."""
        return self.task + ("" if self.track is None else f", track {self.track}")

    @property
    def shown(self) -> list[str]:
        """The systems' names for people."""
        return make_display_names([{"system": of.system, "submission": of.submission} for _, of in self.rows])

    @property
    def notes(self) -> list[str]:
        """What is said of all columns before what each rests on, and after it."""
        ranks = {column.board.ranks for column in self.columns if column.board is not None}
        left = " and ".join(_LEFT_BY[of] for of in sorted(ranks))
        averages = "" if ranks <= {"range"} or all(column.board for column in self.columns) else (
            f", of averages {_LEFT_BY['range']}")
        notes = [f"Rows are in the order of {self.columns[0].title}. In parentheses the ranks that {left} leave open"
                 f"{averages}. Every column is a family of its own, and nothing is corrected for their number:"]
        return [*notes, *(["* came late."] if any(of.late for _, of in self.rows) else []), *self.footnotes]

    @property
    def footnotes(self) -> list[str]:
        """What is remarkable about submissions, each told once, with the test set where there are several."""
        boards = [column.board for column in self.columns if column.board is not None]
        several = len({board.test_set for board in boards}) > 1
        whole = [board for board in boards if board.facet is None] or boards
        return list(dict.fromkeys(f"{board.test_set}: {footnote}" if several else footnote
                                  for board in whole for footnote in board.footnotes))


def wide_boards(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard], primary: str) -> list[WideBoard]:
    """Put the leaderboards of a task side by side, a board for each track.

    Those by the primary metric come first, as rows are in their order; macro-averages come before what they average.
    """
    tracks = list(dict.fromkeys(board.track for board in boards))
    ordered = sorted(boards, key=lambda board: board.metric != primary)
    return [_wide([board for board in ordered if board.track == track],
                  [average for average in averages if average.track == track]) for track in tracks]


def wide_table(board: WideBoard, past: str = "") -> Table:
    """A wide board: a score in each cell, behind it the ranks left open, and of a macro-average the interval.

    `past` says as of when, where it is not of today.
    """
    rows = [{"task": board.task, "track": board.track, "system": of.system, "team": of.team, "kind": of.kind,
             "shown": shown + ("*" if of.late else "")} | _cells(board.columns, name)
            for shown, (name, of) in zip(board.shown, board.rows, strict=True)]
    keys = ["task", "track", "system", "team", "kind"]
    keys += [_key(column, part) for column in board.columns for part in PARTS]
    teams = [Column("team", "team")] if any(of.team != of.system for _, of in board.rows) else []
    columns = [Column("shown", "system"), *teams,
               *(Column(f"{column.name} shown", column.title, right=True) for column in board.columns)]
    families, *more = board.notes
    said = (f"{of.title}: {of.said}" + (f"; {of.board.signature}" if of.board else "") for of in board.columns)
    return Table(rows, columns, board.title, [*filter(None, [past]), families, *said, *more], keys)


def macro_pair_table(board: MacroBoard, past: str = "") -> Table:
    """The pairs of a metric's macro-averages, the better system first; why there are none where they are untested.

    `past` says as of when, where it is not of today.
    """
    decimals = metric_decimals(board.metric_name)
    names_a, names_b = ([row[side] for row in board.pairs] for side in ("system_a", "system_b"))
    rows = displayed_pairs(board.pairs, names_a, names_b, decimals)
    track = f", track {board.track}" if board.track else ""
    won = sum(row["significant"] for row in rows)
    said = f"Pairs are not tested: {board.untested}." if board.untested else (
        f"{count_significant(won, len(rows))} at {board.alpha:g}; "
        f"{family(board.correction, len(rows), board.test)} of units within each of the test sets "
        f"{', '.join(board.test_sets)}.")
    return Table(rows, make_pair_columns(rows, decimals), f"{board.task}{track}: macro {board.metric}",
                 (*filter(None, [past]), said), MACRO_PAIR_KEYS)


def _wide(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard]) -> WideBoard:
    several = len({board.test_set for board in boards}) > 1
    columns = []
    for metric in dict.fromkeys(board.metric for board in boards):
        alike = next(board for board in boards if board.metric == metric)
        columns += [_macro(average, alike) for average in averages if average.metric == metric and average.averages]
        columns += [_column(board, several=several) for board in boards if board.metric == metric]
    systems: dict[str, Standing] = {}
    for board in boards:
        for of in board.standings:
            systems.setdefault(f"{of.team}/{of.system}", of)

    def key(name: str) -> tuple[bool, float]:
        score = part(columns[0].cells.get(name), "score")
        return score is None, 0 if score is None else score if columns[0].better == "lower" else -score

    return WideBoard(boards[0].task, boards[0].track, tuple(columns),
                     tuple((name, systems[name]) for name in sorted(systems, key=key)))


def _column(board: Leaderboard, *, several: bool) -> WideColumn:
    name, title = (" ".join(filter(None, (board.test_set if several else None, board.facet, metric)))
                   for metric in (board.metric, board.metric_label))
    settings = board.comparison
    names = [f"{of.team}/{of.system}" for of in board.standings]
    left = {name: left for name, left, of in zip(names, rank_ranges(board), board.rank_ranges, strict=True) if of}
    return WideColumn(name, title, board.better, board, dict(zip(names, board.standings, strict=True)), left,
                      family(settings.correction, settings.family_size, settings.test), board.decimals)


def _macro(board: MacroBoard, alike: Leaderboard) -> WideColumn:
    """The column of a metric's averages; `alike` is a leaderboard by the same metric."""
    tested = f"not tested: {board.untested}" if board.untested else family(
        board.correction, len(board.pairs), f"{board.test} of units within each")
    return WideColumn(
        f"macro {board.metric}", f"macro {alike.metric_label}", board.better, None,
        {of.system: of for of in board.averages},
        {of.system: places_left(of.rank_low, of.rank_high) for of in board.averages if of.rank_low is not None},
        f"the mean over the test sets {', '.join(board.test_sets)}, for systems that took part in all of them, with "
        f"percentile intervals of units resampled within each; {tested}", alike.decimals)


def family(correction: str, pairs: int, test: str) -> str:
    """How the p-values of a family of pairs are corrected, and by what they are tested."""
    corrected = "not corrected" if correction == "none" else CORRECTIONS[correction].title
    return f"{corrected} over {counted(pairs, 'pair')}, {test}"


def part(cell: Standing | MacroAverage | None, name: str) -> Any:
    """A part of a cell by its name in `PARTS`; None where there is none, or where it is undefined."""
    value = getattr(cell, name, None)
    return None if isinstance(value, float) and math.isnan(value) else value


def _cells(columns: Sequence[WideColumn], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in columns:
        cell = column.cells.get(name)
        found |= {_key(column, key): part(cell, key) for key in PARTS}
        shown = " ".join(filter(None, (column.printed(cell), column.beside(name))))
        found[f"{column.name} shown"] = format_text(None) if cell is None else shown
    return found


def _key(column: WideColumn, key: str) -> str:
    return column.name if key == "score" else f"{column.name} {key}"
