"""Tables of leaderboards, pairs, macro-averages and Ladders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from registry.boards.averages import describe_average, describe_tests
from registry.boards.leaderboard import (
    DECIMALS,
    SHARED_KEYS,
    Leaderboard,
    Ranks,
    Standing,
    make_board_title,
    make_display_names,
)
from registry.boards.results import format_pair_p_values
from registry.boards.submissions import Ladder, LadderRow
from registry.errors import counted, listed
from registry.metric_names import metric_decimals
from registry.rendering.table import (
    Column,
    Row,
    Table,
    format_interval,
    format_text,
    make_number_format,
)
from registry.reports.columns import (
    BOARD_KEYS,
    PAIR_KEYS,
    STANDING_KEYS,
    make_board_columns,
    make_pair_columns,
)

if TYPE_CHECKING:
    from registry.studies.suites import MacroAverage, MacroBoard


def make_board_table(board: Leaderboard) -> Table:
    """Return a leaderboard as a table with one row per system, best first.

    A row has the values that JSON and CSV export (`BOARD_KEYS`), and displayed texts, such as `2-3` for a rank range.
    """
    rows = [board.shared_values | {key: getattr(standing, key) for key in STANDING_KEYS} | {
        "warnings": board.warnings, "shown": standing.display_name + "*" * standing.late, "range": ranks,
        "in_cluster": cluster, "interval": format_interval(standing.ci_low, standing.ci_high, board.decimals)}
        for standing, ranks, cluster in zip(board.standings, format_rank_ranges(board), board.clusters, strict=True)]
    late = ("* came late.",) if any(standing.late for standing in board.standings) else ()
    return Table(rows, make_board_columns(board), board.title, (*board.captions, *late), BOARD_KEYS, board.signature,
                 board.notes)


def make_pair_table(board: Leaderboard) -> Table:
    """Return a table with one row for every pair of systems on a leaderboard.

    In each row, `system_a` is the better system. JSON and CSV export the keys `PAIR_KEYS`.
    """
    pairs = [decision.row for decision in board.decisions]
    rows = _add_display_values(pairs, make_display_names(pairs, "_a"), make_display_names(pairs, "_b"), board.decimals)
    columns = make_pair_columns(rows, board.decimals, board.better, board.comparison.confidence)
    return Table(rows, columns, board.title, board.captions, PAIR_KEYS, board.signature, board.notes)


def _add_display_values(pairs: Sequence[Row], names_a: Sequence[str], names_b: Sequence[str],
                        decimals: int) -> list[Row]:
    """Add displayed texts to the rows of a table of pairs.

    The new columns are the names of both systems (`shown_a`, `shown_b`), the `interval` of the difference, the p-value
    (`shown_p`), the adjusted one (`shown_p_adjusted`) and the `verdict`.

    Args:
        pairs: The rows.
        names_a: Name of the first system in each row.
        names_b: Name of the second system in each row.
        decimals: Decimals of the interval.
    """
    p_values = map(format_pair_p_values, pairs)
    return [{**row, "shown_a": a, "shown_b": b, "interval": format_interval(row["ci_low"], row["ci_high"], decimals),
             "shown_p": p, "shown_p_adjusted": p_adjusted, "verdict": "A better" if row["significant"] else "undecided"}
            for row, a, b, (p, p_adjusted) in zip(pairs, names_a, names_b, p_values, strict=True)]


def format_rank_ranges(board: Leaderboard) -> list[str]:
    """Return the ranks that each system on a leaderboard can have, as text.

    Example: ["1", "2-3", "2-3", "-"]. The data do not rule out these ranks. The dash is a system without a rank.
    """
    return ["-" if ranks is None else _format_range(*ranks) for ranks in board.rank_ranges]


def format_rank_range(board: Leaderboard, standing: Standing) -> str:
    """Return the rank range of one system as text, such as `2-3`.

    Args:
        board: The leaderboard.
        standing: The system's entry on the leaderboard, one of `board.standings`.
    """
    return next(ranks for ranks, other in zip(format_rank_ranges(board), board.standings, strict=True)
                if other is standing)


def _format_range(low: int, high: int | None) -> str:
    return str(low) if low == high else f"{low}-{high}"


def find_cluster_starts(clusters: Iterable[int | None]) -> list[int]:
    """Return the places of systems that begin a new cluster, except the first one."""
    previous, starts = None, list[int]()
    for n, cluster in enumerate(clusters):
        if previous is not None and cluster not in (None, previous):
            starts.append(n)
        previous = cluster or previous
    return starts


def make_ladder_table(ladder: Ladder) -> Table:
    """Return the table of a Ladder, a leaderboard that hides most scores.

    A Ladder (Blum and Hardt 2015) releases the score of a submission only if it clearly beats the last released score.
    The table lists the submissions with a released score.
    """
    key = {name: getattr(ladder, name, None) for name in SHARED_KEYS if name != "signature"}
    columns = [Column("rank", "rank", format_text, right=True), Column("system", "system"), Column("team", "team"),
               Column("score", "shown", make_number_format(ladder.decimals), right=True)]
    last = "" if ladder.shown is None else f"; the last one is {ladder.shown:.{ladder.decimals}f}"
    caption = (f"Shown are the {len(ladder.rows)} of {counted(ladder.submitted, 'submission')} that were better than "
               f"the last one shown by more than {ladder.step:g}, with their scores rounded to that{last} (the Ladder; "
               "Blum and Hardt 2015); all other scores are hidden.")
    return Table([key | row._asdict() | {"step": ladder.step} for row in ladder.rows], columns,
                 make_board_title(key, ladder.declared_title), (caption,), (*key, *LadderRow._fields, "step"))


# A macro-average has several test sets, and neither submissions nor a signature.
_NOT_IN_MACRO = {"test_set", "facet", "signature", "submission_a", "submission_b", "statistic", "resolved"}
MACRO_PAIR_KEYS = tuple(name for key in PAIR_KEYS if key not in _NOT_IN_MACRO
                        for name in ((key, "test_sets") if key == "metric_name" else (key,)))
_RANK_SOURCES: dict[Ranks, str] = {
    "range": "significant differences", "cluster": "clusters", "neighbour": "the nearest systems that differ",
    "simultaneous": "simultaneous tests of all differences", "bootstrap": "resamples"}
CELL_KEYS = ("score", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "cluster")  # in JSON and CSV

_MOST_COLUMNS = 8  # in a sentence


@dataclass(frozen=True)
class WideColumn:
    """Column of a wide board: one leaderboard, or averages over test sets.

    A wide board is a table with one row per system and several columns of scores.

    Attributes:
        name: The unique name in JSON and CSV.
        title: The displayed title.
        better: Whether `higher` or `lower` scores are better.
        board: The leaderboard; None for averages.
        cells: The result of each system, by the name `team/system`. A result has a score, an interval and ranks.
        ranks: The rank range of each ranked system as text, by the name `team/system`.
        basis: A description of the tests; for averages also of the test sets.
        decimals: The number of decimals of displayed scores.
    """

    name: str
    title: str
    better: str
    board: Leaderboard | None
    cells: Mapping[str, Standing | MacroAverage]
    ranks: Mapping[str, str]
    basis: str
    decimals: int = DECIMALS

    def format_note(self, name: str) -> str:
        """Return the text that follows a system's score, such as its rank range `(2-3)`.

        Averages over test sets are also followed by their confidence interval.

        Args:
            name: The system, as `team/system`.
        """
        cell = None if self.board else self.cells.get(name)
        ends = format_interval(get_cell_value(cell, "ci_low"), get_cell_value(cell, "ci_high"), self.decimals)
        return " ".join(filter(None, (f"({self.ranks[name]})" if name in self.ranks else "", ends)))

    def format_score(self, cell: Standing | MacroAverage | None) -> str:
        """Return the score of one cell as text; `n/a` if it is undefined."""
        return make_number_format(self.decimals)(get_cell_value(cell, "score"))


@dataclass(frozen=True)
class WideBoard:
    """Table with the scores of all leaderboards of one track, one row per system.

    Attributes:
        task, track: The task and the track.
        columns: The leaderboards, and averages over test sets.
        rows: One tuple per system: its name `team/system`, and its result on one of the leaderboards. Rows are sorted
            by the first column: best first, undefined scores last.
    """

    task: str
    track: str | None
    columns: tuple[WideColumn, ...]
    rows: tuple[tuple[str, Standing], ...]

    @property
    def title(self) -> str:
        """Name of the task, and of the track if there is one."""
        return self.task + ("" if self.track is None else f", track {self.track}")

    @property
    def display_names(self) -> list[str]:
        """Displayed names of the systems, one per row.

        A name includes the team only if several teams use the same name.
        """
        return make_display_names([{"system": standing.system, "submission": standing.submission}
                                   for _, standing in self.rows])

    @property
    def notes(self) -> list[str]:
        """Sentences below the board.

        The first sentence ends with a colon, after which the descriptions of the columns (`basis`) belong.
        """
        return [*self._explanations, *self.footnotes]

    @property
    def findings(self) -> list[str]:
        """Sentences below the board, without advice on what to do.

        Readers of published results cannot follow such advice.
        """
        return [*self._explanations, *self._list_footnotes(lambda board: board.footnote_findings)]

    @property
    def _explanations(self) -> list[str]:
        ranks = {column.board.ranks for column in self.columns if column.board is not None}
        sources = " and ".join(_RANK_SOURCES[convention] for convention in sorted(ranks))
        averages = "" if ranks <= {"range"} or all(column.board for column in self.columns) else (
            f", of averages {_RANK_SOURCES['range']}")
        notes = [f"Rows are in the order of {self.columns[0].title}. In parentheses the ranks that {sources} leave "
                 f"open{averages}. {self.families}:"]
        late = ["* came late."] if any(standing.late for _, standing in self.rows) else []
        return [*notes, *late]

    @property
    def families(self) -> str:
        """Which columns are corrected together, as a sentence without a full stop."""
        boards = [column.board for column in self.columns if column.board is not None]
        if all(board.comparison.correction == "none" for board in boards):
            return "P-values are not corrected, neither within a column nor for the number of columns"
        together = [column.title for column in self.columns
                    if column.board is not None and column.board.comparison.shares_family]
        if not together:
            return "P-values are corrected within each column, and not for the number of columns"
        is_all = len(together) == len(self.columns) > 1
        names = "all columns" if is_all else listed(together, _MOST_COLUMNS)
        partners = "with those of boards that are not in this table" if len(together) == 1 else "together"
        others = "" if len(together) == len(self.columns) else "; each other column is corrected by itself"
        return f"The p-values of {names} are corrected {partners}{others}"

    @property
    def footnotes(self) -> list[str]:
        """Footnotes of the leaderboards, each once.

        If there are several test sets, a footnote begins with the name of its test set. Footnotes of leaderboards of
        facets (parts of a test set) are left out if other leaderboards exist.
        """
        return self._list_footnotes(lambda board: board.footnotes)

    def _list_footnotes(self, get_footnotes: Callable[[Leaderboard], Sequence[str]]) -> list[str]:
        boards = [column.board for column in self.columns if column.board is not None]
        has_several = len({board.test_set for board in boards}) > 1
        boards = [board for board in boards if board.facet is None] or boards
        return list(dict.fromkeys(f"{board.test_set}: {footnote}" if has_several else footnote
                                  for board in boards for footnote in get_footnotes(board)))


def make_wide_boards(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard], primary: str) -> list[WideBoard]:
    """Place the leaderboards of a task side by side, in one wide table per track.

    A wide table has one row per system and one column per leaderboard. Columns by the primary metric come first.
    Averages over test sets precede the leaderboards by the same metric.
    """
    tracks = list(dict.fromkeys(board.track for board in boards))
    boards = sorted(boards, key=lambda board: board.metric != primary)
    return [_make_wide_board([board for board in boards if board.track == track],
                             [average for average in averages if average.track == track]) for track in tracks]


def make_wide_table(board: WideBoard, past: str = "") -> Table:
    """Convert a wide board (several leaderboards side by side) to a table.

    Args:
        board: The wide board.
        past: A sentence about the past date whose results the board shows; empty if the results are current.
    """
    rows = [{"task": board.task, "track": board.track, "system": standing.system, "team": standing.team,
             "kind": standing.kind, "shown": display_name + ("*" if standing.late else "")}
            | _make_cells(board.columns, name)
            for display_name, (name, standing) in zip(board.display_names, board.rows, strict=True)]
    keys = ["task", "track", "system", "team", "kind"]
    keys += [_make_key(column, key) for column in board.columns for key in CELL_KEYS]
    teams = [Column("team", "team")] if any(standing.team != standing.system for _, standing in board.rows) else []
    columns = [Column("shown", "system"), *teams,
               *(Column(f"{column.name} shown", column.title, right=True) for column in board.columns)]
    families, *notes = board.notes
    bases = (f"{column.title}: {column.basis}" + (f"; {column.board.signature}" if column.board else "")
             for column in board.columns)
    return Table(rows, columns, board.title, [*filter(None, [past]), families, *bases, *notes], keys)


def make_macro_pair_table(board: MacroBoard, past: str = "") -> Table:
    """Return a table that compares systems by their mean score over test sets.

    The table has one row per pair of systems. If the pairs were not tested, the caption states the reason.

    Args:
        board: The mean scores of the systems by one metric, with the tests of all pairs.
        past: A sentence about the past date whose results the table shows; empty if the results are current.
    """
    decimals = metric_decimals(board.metric_name) if board.decimals is None else board.decimals
    names_a, names_b = ([row[side] for row in board.pairs] for side in ("system_a", "system_b"))
    rows = _add_display_values(board.pairs, names_a, names_b, decimals)
    track = f", track {board.track}" if board.track else ""
    return Table(rows, make_pair_columns(rows, decimals, board.better), f"{board.task}{track}: macro {board.metric}",
                 (*filter(None, [past]), *describe_average(board)), MACRO_PAIR_KEYS, board.signature)


def _make_wide_board(boards: Sequence[Leaderboard], averages: Sequence[MacroBoard]) -> WideBoard:
    has_test_sets = len({board.test_set for board in boards}) > 1
    columns = []
    for metric in dict.fromkeys(board.metric for board in boards):
        metric_boards = [board for board in boards if board.metric == metric]
        columns += [_make_macro_column(average, metric_boards[0]) for average in averages
                    if average.metric == metric and average.averages]
        columns += [_make_column(board, has_test_sets=has_test_sets) for board in metric_boards]
    systems: dict[str, Standing] = {}
    for board in boards:
        for standing in board.standings:
            systems.setdefault(f"{standing.team}/{standing.system}", standing)

    def get_sort_key(name: str) -> tuple[bool, float]:
        score = get_cell_value(columns[0].cells.get(name), "score")
        return score is None, 0 if score is None else score if columns[0].better == "lower" else -score

    return WideBoard(boards[0].task, boards[0].track, tuple(columns),
                     tuple((name, systems[name]) for name in sorted(systems, key=get_sort_key)))


def _make_column(board: Leaderboard, *, has_test_sets: bool) -> WideColumn:
    name, title = (" ".join(filter(None, (board.test_set if has_test_sets else None, board.facet, metric)))
                   for metric in (board.metric, board.metric_label))
    comparison = board.comparison
    names = [f"{standing.team}/{standing.system}" for standing in board.standings]
    ranks = {name: text for name, text, places in zip(names, format_rank_ranges(board), board.rank_ranges, strict=True)
             if places}
    return WideColumn(name, title, board.better, board, dict(zip(names, board.standings, strict=True)), ranks,
                      describe_tests(comparison.correction, comparison.family_size, comparison.test), board.decimals)


def _make_macro_column(board: MacroBoard, example: Leaderboard) -> WideColumn:
    """Make the column of mean scores over test sets in a table of leaderboards.

    Args:
        board: The mean scores of the systems by one metric.
        example: Any leaderboard by the same metric, which has the metric's title and decimals.
    """
    return WideColumn(
        f"macro {board.metric}", f"average {example.metric_label}", board.better, None,
        {average.system: average for average in board.averages},
        {average.system: _format_range(average.rank_low, average.rank_high) for average in board.averages
         if average.rank_low is not None},
        f"{' '.join(describe_average(board))} {board.signature}", example.decimals)


def get_cell_value(cell: Standing | MacroAverage | None, name: str) -> Any:
    """Return a value of one cell of a wide table, such as its `score` or `rank_low`.

    Args:
        cell: The cell, which has the result of a system on one leaderboard; None gives None.
        name: The name of the value, one of `CELL_KEYS`.
    """
    value = getattr(cell, name, None)
    return None if isinstance(value, float) and math.isnan(value) else value


def _make_cells(columns: Sequence[WideColumn], name: str) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for column in columns:
        cell = column.cells.get(name)
        cells |= {_make_key(column, key): get_cell_value(cell, key) for key in CELL_KEYS}
        text = " ".join(filter(None, (column.format_score(cell), column.format_note(name))))
        cells[f"{column.name} shown"] = format_text(None) if cell is None else text
    return cells


def _make_key(column: WideColumn, key: str) -> str:
    return column.name if key == "score" else f"{column.name} {key}"
