"""Leaderboards, pairs and wide boards as LaTeX tables that go into a paper unchanged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from registry.boards.leaderboard import Leaderboard, Ranks, Standing
from registry.errors import counted
from registry.rendering.latex import (
    LatexColumn,
    LatexTable,
    escape_latex,
    escape_name,
    escape_paragraph,
    format_p_value,
    format_signature,
    make_label,
    remove_commands,
    render_latex_table,
)
from registry.rendering.table import make_number_format
from registry.reports.boards import WideBoard, WideColumn, find_cluster_starts, format_rank_ranges, make_pair_table
from registry.reports.columns import make_heading, select_fields, shows_letters

if TYPE_CHECKING:
    from registry.studies.suites import MacroAverage

_MOST_SUPERSCRIPTS = 8  # of systems; the superscripts of more are hard to read
_REQUIRED = ("system", "score", "interval")  # columns that a board keeps although all of their cells are equal
_RANGES: dict[Ranks, str] = {
    "range": "Range: ranks that significant differences do not rule out.",
    "neighbour": "Neighbours: ranks up to the nearest systems that differ significantly.",
    "simultaneous": "Simultaneous: ranks that hold for all systems together.",
    "bootstrap": "Resampled: the most frequent ranks in resamples."}


def render_latex_board(board: Leaderboard) -> str:
    """Render a leaderboard as LaTeX.

    Rules separate clusters, and the best scores are bold. On a board of up to 8 systems, a capital letter names each
    system, and the superscripts of a score are the letters of all significantly worse systems. Larger boards have the
    letters of groups instead.
    """
    has_superscripts = len(board.standings) <= _MOST_SUPERSCRIPTS and any(board.beaten_places)
    rows = list(_make_rows(board, has_superscripts=has_superscripts))
    # Scores are on the left, because superscripts of different lengths follow them.
    columns = {"letter": LatexColumn("")} if has_superscripts else {}
    columns |= {field.name: LatexColumn(_escape_heading(field.name, make_heading(field, board, "latex")),
                                        field.right and not (has_superscripts and field.name == "score"),
                                        is_name=field.name in ("system", "team"))
                for field in select_fields(board, "latex")}
    if not has_superscripts and shows_letters(board):
        columns["letters"] = LatexColumn("Group")
    if len(rows) > 1:
        columns = {name: column for name, column in columns.items()
                   if name in _REQUIRED or len({row[name] for row in rows}) > 1}
    rules = find_cluster_starts(board.clusters)
    ranges = [_RANGES[board.ranks]] if "range" in columns else []
    marks = _explain_marks(board, has_superscripts=has_superscripts, has_groups="letters" in columns,
                           has_rules=bool(rules), has_deviations="run_sd" in columns)
    return render_latex_table(LatexTable(
        list(columns.values()), [[row[name] for name in columns] for row in rows],
        " ".join([_describe_board(board), *marks]), _make_board_label(board), _make_board_notes(board, *ranges), rules))


def _make_board_label(board: Leaderboard, *more: str) -> str:
    return make_label(board.task, board.test_set, board.track, board.facet, board.metric, *more)


def _make_board_notes(board: Leaderboard, *sentences: str) -> list[str]:
    late = ["* came late."] if any(standing.late for standing in board.standings) else []
    result = [board.result] if len(board.standings) == 2 else []
    return _make_notes([*result, *sentences, *map(remove_commands, board.findings), *late], board.signature)


def _make_notes(sentences: Sequence[str], signature: str = "") -> list[str]:
    text = " ".join(escape_paragraph(sentence) for sentence in sentences if sentence)
    return list(filter(None, [text, format_signature(signature) if signature else ""]))


def _describe_board(board: Leaderboard) -> str:
    comparison, title, label = board.comparison, board.metric_title, board.metric_label
    metric = title if title.startswith(label) else f"{title} ({label})"
    direction = " (lower is better)" if board.better == "lower" else ""
    clusters = f" in {counted(comparison.n_units, 'cluster')}" if comparison.unit == "cluster" else ""
    test_set = "test set" if board.test_set == "test" else f"test set {board.test_set}"
    place = ", ".join(filter(None, (board.task_title or board.task, test_set, board.track and f"track {board.track}",
                                    board.facet)))
    runs = {standing.runs for standing in board.standings}
    each = f" ({min(runs)} runs each)" if len(runs) == 1 < min(runs) else ""
    return escape_paragraph(f"{place}: {metric}{direction} of {counted(len(board.standings), 'system')}{each} on "
                            f"{counted(comparison.n_items, comparison.item_noun)}{clusters}.")


def _explain_marks(board: Leaderboard, *, has_superscripts: bool, has_groups: bool, has_rules: bool,
                   has_deviations: bool) -> Iterator[str]:
    if len(board.standings) > 1:
        yield f"Bold: best score{' of the ranked systems' if board.has_unranked_best else ''}."
    if has_superscripts:
        yield "Superscripts: letters of the significantly worse systems."
    if has_groups:
        yield "Systems that share a letter (Group) do not differ significantly."
    if has_rules:
        yield "Rules separate clusters."
    if has_deviations:
        yield "SD of runs: standard deviation of the scores of a system's runs."


def _make_rows(board: Leaderboard, *, has_superscripts: bool) -> Iterator[dict[str, str]]:
    best = next((standing.score for standing in board.standings if standing.rank == 1), None)
    intervals = _format_intervals([(standing.ci_low, standing.ci_high) for standing in board.standings],
                                  board.decimals)
    worse = board.beaten_places if has_superscripts else [()] * len(board.standings)
    for n, (standing, ranks) in enumerate(zip(board.standings, format_rank_ranges(board), strict=True)):
        score = _format_score(standing.score, board.decimals)
        if best is not None and standing.score == best and len(board.standings) > 1:
            score = rf"\textbf{{{score}}}"
        superscript = rf"\textsuperscript{{{_join_letters(worse[n])}}}" if worse[n] else ""
        yield {"letter": _name_row(n), "rank": "--" if standing.rank is None else str(standing.rank),
               "range": ranks.replace("-", "--"), "system": _format_name(standing, standing.display_name),
               "team": escape_name(standing.team), "score": score + superscript, "interval": intervals[n],
               "letters": escape_latex(standing.letters), "runs": f"{standing.runs:,}",
               "run_sd": "--" if standing.run_sd is None else _format_score(standing.run_sd, board.decimals)}


def _escape_heading(name: str, heading: str) -> str:
    """Escape a heading; only headings with names of metrics can have several lines."""
    return escape_paragraph(heading) if name == "score" else escape_latex(heading).replace(" ", "~")


def _format_name(standing: Standing, name: str) -> str:
    return escape_name(name) + "*" * standing.late


def _format_score(score: float | None, decimals: int) -> str:
    return make_number_format(decimals)(score).replace("-", "$-$")


def _name_row(n: int) -> str:
    return chr(ord("A") + n)


def _join_letters(places: Sequence[int]) -> str:
    """Return the letters of rows, such as `BD--H`.

    >>> _join_letters([1, 3, 4]), _join_letters([1, 3, 4, 5])
    ('BDE', 'BD--F')
    """
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return "".join(f"{_name_row(run[0])}--{_name_row(run[-1])}" if len(run) > 2 else "".join(map(_name_row, run))
                   for run in runs)


def _format_intervals(intervals: Sequence[tuple[float | None, float | None]], decimals: int) -> list[str]:
    """Format confidence intervals with equal decimals and without leading zeros.

    Most intervals need this number of decimals to show two digits of their width. No end is rounded to 0, unless
    `decimals` do not suffice.

    >>> _format_intervals([(0.9460, 0.9692), (0.4764, 0.5757)], 4), _format_intervals([(-0.0123, 0.2)], 4)
    (['.946--.969', '.476--.576'], ['{[}$-$.01, .20{]}'])
    >>> _format_intervals([(0.004, 0.2)], 4)
    ['.004--.200']
    """
    widths = [high - low for low, high in intervals if low is not None and high is not None and high > low]
    if widths:
        least = 1 - math.floor(math.log10(median(widths) / 2))
        ends = [end for pair in intervals for end in pair if end]
        decimals = next((n for n in range(max(least, 0), decimals) if all(round(end, n) for end in ends)), decimals)
    has_negative = any(end is not None and end < 0 for ends in intervals for end in ends)
    is_fraction = all(end is None or abs(end) <= 1 for ends in intervals for end in ends)

    def format_end(end: float | None) -> str:
        if end is None or not math.isfinite(end):
            return "?"
        text = f"{end:.{decimals}f}"
        text = text.replace("0.", ".", 1) if is_fraction and text.removeprefix("-").startswith("0.") else text
        return text.replace("-", "$-$")

    return ["" if low is None and high is None else f"{{[}}{format_end(low)}, {format_end(high)}{{]}}" if has_negative
            else f"{format_end(low)}--{format_end(high)}" for low, high in intervals]


def render_wmt(board: Leaderboard) -> str:
    """Render a leaderboard as LaTeX in the style of the WMT findings.

    The table has rank ranges, scores and systems.
    """
    board = replace(board, ranks="range")  # the definition of the findings
    rows = [[ranks.replace("-", "--"), _format_score(standing.score, 3), _format_name(standing, standing.display_name)]
            for standing, ranks in zip(board.standings, format_rank_ranges(board), strict=True)]
    columns = [LatexColumn("Rank"), LatexColumn(escape_paragraph(board.metric_label)),
               LatexColumn("System", is_name=True)]
    caption = (f"{_describe_board(board)} Rules separate clusters; ranks are those that significant wins and losses do "
               "not rule out.")
    return render_latex_table(LatexTable(columns, rows, caption, _make_board_label(board),
                                         _make_board_notes(board), find_cluster_starts(board.clusters)))


_PAIRS = ("shown_a", "shown_b", "score_a", "score_b", "difference", "interval")  # columns of pairs that are kept


def render_latex_pairs(board: Leaderboard) -> str:
    """Render the pairs of a leaderboard as LaTeX.

    The adjusted p-values of significant pairs are bold.
    """
    table, decisions = make_pair_table(board), list(board.decisions)
    decisive = "shown_p_adjusted" if any(column.key == "shown_p_adjusted" for column in table.columns) else "shown_p"
    columns: list[LatexColumn] = []
    cells: list[list[str]] = []
    for column in table.columns:
        if column.key == "verdict":
            continue
        values = [column.write(row[column.key]) for row in table.rows]
        if column.key == "interval":
            values = _format_intervals([(row["ci_low"], row["ci_high"]) for row in table.rows], board.decimals)
        elif column.key in ("shown_p", "shown_p_adjusted"):
            values = [_make_bold(value) if column.key == decisive and decision.significant else value
                      for value, decision in zip(map(format_p_value, values), decisions, strict=True)]
        elif column.right:
            values = [escape_latex(value).replace("-", "$-$") for value in values]
        else:
            values = list(map(escape_name, values))
        cells.append(values)
        heading = "p" if column.heading == "p" else column.heading[:1].upper() + column.heading[1:]
        columns.append(LatexColumn(_escape_heading(column.key, heading).replace("~-~", "$-$"), column.right,
                                   is_name=column.key in ("shown_a", "shown_b"),
                                   is_required=column.key in (*_PAIRS, decisive)))
    rows = [list(row) for row in zip(*cells, strict=True)]
    adjusted = "adjusted p" if decisive == "shown_p_adjusted" else "p"
    caption = (f"{_describe_board(board)} Bold: significant differences ({adjusted} at most "
               f"{board.comparison.alpha:g}). Discordant: {board.comparison.unit}s in which the results of the two "
               "systems differ.")
    return render_latex_table(LatexTable(columns, rows, caption, _make_board_label(board, "pairs"),
                                         _make_board_notes(board)).drop_constant_columns())


def _make_bold(p_value: str) -> str:
    return rf"\boldmath{p_value}\unboldmath" if "$" in p_value else rf"\textbf{{{p_value}}}"


def render_latex_wide(board: WideBoard, past: str = "") -> str:
    """Render a wide board as LaTeX.

    The best score of each column is bold. Scores are underlined if no system is significantly better.

    Args:
        board: The wide board.
        past: A sentence about the past date whose results the board shows; empty if the results are current.
    """
    columns = [LatexColumn("System", is_name=True)]
    cells = [[_format_name(standing, name)
              for name, (_, standing) in zip(board.display_names, board.rows, strict=True)]]
    if any(standing.team != standing.system for _, standing in board.rows):
        columns.append(LatexColumn("Team", is_name=True))
        cells.append([escape_name(standing.team) for _, standing in board.rows])
    for column in board.columns:
        columns.append(LatexColumn(escape_paragraph(column.title), right=True, is_required=True))
        cells.append(_make_wide_cells(board, column))
        if column.board is None:
            averages = [column.cells.get(name) for name, _ in board.rows]
            intervals = _format_intervals([(None, None) if cell is None else (cell.ci_low, cell.ci_high)
                                           for cell in averages], column.decimals)
            if any(intervals):
                columns.append(LatexColumn(r"95~\%~CI", right=True, is_required=True))
                cells.append(intervals)
    rows = [list(row) for row in zip(*cells, strict=True)]
    task_title = next((column.board.task_title for column in board.columns if column.board is not None), "")
    title = (task_title or board.task) + board.title.removeprefix(board.task)
    caption = escape_paragraph(f"{title}: {_describe_columns(board)}. Bold: best score of a column; underlined: "
                               "no other system is significantly better.")
    return render_latex_table(LatexTable(columns, rows, caption, make_label(board.task, board.track, "all"),
                                         _make_wide_notes(board, past)).drop_constant_columns())


def _make_wide_cells(board: WideBoard, column: WideColumn) -> list[str]:
    scores = [None if cell is None else cell.score for cell in (column.cells.get(name) for name, _ in board.rows)]
    defined = [score for score in scores if score is not None]
    best = (min if column.better == "lower" else max)(defined, default=None)
    cells = []
    for (name, _), score in zip(board.rows, scores, strict=True):
        cell: Standing | MacroAverage | None = column.cells.get(name)
        text = "--" if cell is None else _format_score(score, column.decimals)
        text = rf"\textbf{{{text}}}" if score is not None and score == best else text
        may_be_best = column.ranks.get(name, "").partition("-")[0] == "1"
        cells.append(rf"\underline{{{text}}}" if may_be_best else text)
    return cells


def _describe_columns(board: WideBoard) -> str:
    sizes = {column.board.test_set: column.board.comparison.n_items for column in board.columns
             if column.board is not None and column.board.facet is None}
    sets = ", ".join(f"{name} ({counted(n, 'item')})" for name, n in sizes.items())
    return f"scores of {counted(len(board.rows), 'system')}" + (
        f" on test set{'s' * (len(sizes) > 1)} {sets}" if sizes else "")


def _make_wide_notes(board: WideBoard, past: str) -> list[str]:
    """Return the notes of a wide board: tests of columns, messages and signatures.

    Fields that all signatures have in common are printed once.
    """
    bases: dict[str, list[str]] = {}
    for column in board.columns:
        bases.setdefault(column.basis, []).append(column.title)
    tests = [f"{', '.join(titles) if len(bases) > 1 else 'Each column'}: {basis}." for basis, titles in bases.items()]
    boards = [column.board for column in board.columns if column.board is not None]
    footnotes = dict.fromkeys(footnote for part in boards for footnote in part.footnote_findings)
    late = ["* came late."] if any(standing.late for _, standing in board.rows) else []
    several = [f"{board.families}."] if len(board.columns) > 1 else []
    signatures = [part.signature.split("|") for part in boards]
    common = [field for field in signatures[0] if all(field in fields for fields in signatures)]
    own = ["|".join(field for field in fields if field not in common) for fields in signatures]
    lines = [format_signature("|".join(common)), *map(format_signature, filter(None, own))]
    return [*_make_notes([*filter(None, [past]), *tests, *several, *late, *footnotes]), "; ".join(filter(None, lines))]
