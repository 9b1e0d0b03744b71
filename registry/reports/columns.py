"""Columns of leaderboards and pairs: headings, explanations, types, formats.

`BOARD` and `PAIRS` list all columns by their JSON names. `SHOWN` lists the columns of each form, in their order. The
terminal, Markdown, LaTeX, CSV, JSON, the JSON Schema, the page with its tooltips, tables of differences and
`docs/columns.md` use these lists. The page's script receives headings and explanations as data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from registry.boards.leaderboard import Leaderboard, Ranks
from registry.evaluation.comparing.directions import OBSERVED
from registry.manifest.fields import Kind
from registry.messages import Severity
from registry.rendering.table import (
    Column,
    Row,
    format_interval,
    format_percent,
    format_text,
    is_significant,
    make_number_format,
)
from registry.significance.base import Alternative

if TYPE_CHECKING:
    from registry.query.schema import Relation

Json = dict[str, Any]
Form = Literal["terminal", "latex", "page"]  # Markdown shows the columns of the terminal
Style = Literal["text", "score", "deviation", "percent", "same"]


@dataclass(frozen=True)
class Field:
    """Definition of one column of the tables of leaderboards or pairs.

    Attributes:
        name: The name in JSON, CSV and the page's script. It never changes.
        heading: The displayed heading. Empty: only JSON and CSV have the column.
        about: The explanation. Empty: the comment of the column in the database view.
        type: The JSON type. Empty: derived from the type in the database view.
        nullable: True if a value may be null.
        limits: Further keywords of the JSON Schema.
        style: The format of displayed values.
        right: True if values are aligned on the right, as numbers are.
        is_derived: True if the column is only displayed; JSON and CSV do not have it.
        display: The key of the displayed text in a row. Empty: format the value `name`.
    """

    name: str
    heading: str = ""
    about: str = ""
    type: str = ""
    nullable: bool = False
    limits: Mapping[str, Any] = field(default_factory=dict)
    style: Style = "text"
    right: bool = False
    is_derived: bool = False
    display: str = ""


MESSAGE: Json = {
    "type": "object", "additionalProperties": False, "required": ["code", "severity", "parameters", "text"],
    "properties": {"code": {"type": "string"}, "severity": {"enum": list(get_args(Severity))},
                   "parameters": {"type": "object"}, "text": {"type": "string"}}}
_SHARE, _FROM_0, _FROM_1 = {"minimum": 0, "maximum": 1}, {"minimum": 0}, {"minimum": 1}
_PLACES = (
    ("neighbour_low", "one place below the nearest system above that beats it"),
    ("neighbour_high", "one place above the nearest system below that it beats"),
    ("simultaneous_low", "1 + the number of systems that are significantly better, for all systems at once; "
                         "NULL unless these ranks were resampled"),
    ("simultaneous_high", "the number of systems less that of significantly worse ones"),
    ("bootstrap_low", "the best place that all but half of 1 - confidence of the resamples give it; NULL unless ranks "
                     "were resampled"),
    ("bootstrap_high", "the worst such place"))
_SHARED = (
    Field("task"), Field("test_set", "test set"), Field("track", "track", nullable=True),
    Field("facet", "facet", nullable=True), Field("metric", "metric"), Field("metric_name"), Field("signature"))

BOARD = (
    *_SHARED,
    Field("rank", "rank", nullable=True, limits=_FROM_1, right=True),
    Field("rank_low", nullable=True, limits=_FROM_1),
    Field("rank_high", nullable=True, limits=_FROM_1),
    Field("cluster", "cluster", nullable=True, limits=_FROM_1, right=True, display="in_cluster"),
    Field("system", "system", display="shown"),
    Field("team", "team"),
    Field("kind", "kind", limits={"enum": list(get_args(Kind))}),
    Field("submission"),
    Field("score", "score", nullable=True, style="score", right=True),
    Field("ci_low", nullable=True),
    Field("ci_high", nullable=True),
    Field("runs", "runs", limits=_FROM_1, right=True),
    Field("run_sd", "SD of runs", nullable=True, limits=_FROM_0, style="deviation", right=True),
    Field("wins", "wins, undecided, losses", limits=_FROM_0),
    Field("losses", limits=_FROM_0),
    Field("late", about="whether the submission came late", type="boolean"),
    Field("letters", "group", "compact letter display: systems that share a letter do not differ significantly; empty "
          "if the board has no ranks, no pairs, or too many letters", "string"),
    *(Field(name, about=about, type="integer", nullable=True, limits=_FROM_1) for name, about in _PLACES),
    Field("share_best", "best", "share of resamples in which the system is the best", "number", nullable=True,
          limits=_SHARE, style="percent", right=True),
    Field("messages", about="messages about the submission: labels unknown to the gold, items without an answer, the "
          "same answers as another system, ...", type="array", limits={"items": MESSAGE}),
    Field("warnings", about="messages about the board, the same for each of its systems", type="array",
          limits={"items": MESSAGE}),
    Field("range", "range", "ranks that the data do not rule out, by the board's kind of rank range", right=True,
          is_derived=True),
    Field("interval", "CI", "confidence interval of the score", right=True, is_derived=True))

PAIRS = (
    *_SHARED,
    Field("system_a", "system A", display="shown_a"),
    Field("system_b", "system B", display="shown_b"),
    Field("submission_a"),
    Field("submission_b"),
    Field("score_a", "A", nullable=True, style="score", right=True),
    Field("score_b", "B", nullable=True, style="score", right=True),
    Field("difference", "A - B", nullable=True, style="score", right=True),
    Field("ci_low", nullable=True),
    Field("ci_high", nullable=True),
    Field("p_value", "p", nullable=True, limits=_SHARE, right=True, display="shown_p"),
    Field("p_adjusted", "adjusted p", nullable=True, limits=_SHARE, right=True, display="shown_p_adjusted"),
    Field("significant", "significant"),
    Field("method", "method"),
    Field("test"),
    Field("alternative", "alternative", limits={"enum": [*get_args(Alternative), OBSERVED]}),
    Field("correction"),
    Field("family_size", limits=_FROM_1),
    Field("unit"),
    Field("n_units", limits=_FROM_1),
    Field("n_discordant", "discordant", limits=_FROM_0, right=True),
    Field("resamples", nullable=True),
    Field("seed", nullable=True),
    Field("log10_p", nullable=True),
    Field("p_low", nullable=True, limits=_SHARE),
    Field("p_high", nullable=True, limits=_SHARE),
    Field("statistic", nullable=True),
    Field("resolved", nullable=True),
    Field("messages", "messages", "why a number is missing, or what limits it", "array", limits={"items": MESSAGE}),
    Field("same_team", "team", "whether both systems are of one team", "boolean", style="same"),
    Field("interval", "CI", "confidence interval of the difference", right=True, is_derived=True),
    Field("verdict", "verdict", "`A better` if the difference is significant, otherwise `undecided`", is_derived=True))

BOARD_KEYS = tuple(column.name for column in BOARD if not column.is_derived)
STANDING_KEYS = tuple(column.name for column in BOARD
                      if not (column in _SHARED or column.is_derived or column.name == "warnings"))
PAIR_KEYS = tuple(column.name for column in PAIRS if not column.is_derived)
_BOARD = {column.name: column for column in BOARD}
_PAIRS = {column.name: column for column in PAIRS}
_RANGES: dict[Ranks, str] = {"range": "range", "cluster": "cluster", "neighbour": "neighbours",
                             "simultaneous": "simultaneous", "bootstrap": "resampled"}
_MOST_LETTERS = 24  # nobody can read a row of more letters


def shows_letters(board: Leaderboard) -> bool:
    """Return True if a leaderboard shows letters for groups of similar systems.

    Systems that share a letter do not differ significantly. Letters are hidden if ranks and decisions use different
    tests, because letters could then contradict the ranks. They are also hidden if a system has too many letters, if
    there are so many groups that no system has letters, or if there are only two systems.
    """
    longest = max((len(standing.letters or "") for standing in board.standings), default=0)
    return _is_large(board) and bool(board.decisions) and board.ranks in ("range", "cluster") and (
        0 < longest <= _MOST_LETTERS)


def _always(_: object) -> bool:
    return True


def _has_ranges(board: Leaderboard) -> bool:
    return _is_large(board) and board.ranks != "cluster"


def _has_clusters(board: Leaderboard) -> bool:
    return _is_large(board) and len(set(board.clusters) - {None}) > 1


def _is_large(board: Leaderboard) -> bool:
    return len(board.standings) > 2  # for two systems, one sentence has the result


def _has_intervals(board: Leaderboard) -> bool:
    return any(format_interval(standing.ci_low, standing.ci_high, 0) for standing in board.standings)


def _has_runs(board: Leaderboard) -> bool:
    return any(standing.runs > 1 for standing in board.standings)


def _has_teams(board: Leaderboard) -> bool:
    return board.has_teams


def _differs(name: str) -> Callable[[Leaderboard], bool]:
    return lambda board: len({getattr(standing, name) for standing in board.standings}) > 1


def _are_corrected(rows: Sequence[Row]) -> bool:
    return any(row["p_adjusted"] != row["p_value"] for row in rows)


# The columns of leaderboards in each form, in their order, with their conditions. The page begins with names, scores
# and ranks, because a narrow screen shows only the first columns.
SHOWN: dict[Form, dict[str, Callable[[Leaderboard], bool]]] = {
    "terminal": {
        "rank": _always, "range": _has_ranges, "share_best": lambda board: board.ranks == "bootstrap",
        "cluster": _has_clusters, "system": _always, "team": _has_teams, "kind": _differs("kind"), "score": _always,
        "interval": _has_intervals, "letters": shows_letters, "runs": _has_runs, "run_sd": _has_runs},
    "latex": {
        "rank": _always, "range": _has_ranges, "system": _always, "team": _has_teams, "score": _always,
        "interval": _has_intervals, "runs": _has_runs, "run_sd": _has_runs},
    "page": {
        "rank": _always, "system": _always, "score": _always, "range": _has_ranges, "interval": _always,
        "share_best": _differs("share_best"), "cluster": _has_clusters, "letters": shows_letters,
        "wins": lambda board: bool(board.decisions), "team": _has_teams, "kind": _differs("kind"), "runs": _has_runs,
        "run_sd": _has_runs},
}
# The columns that a narrow terminal leaves out, those with the highest number first.
_OPTIONAL_BOARD = {"cluster": 8, "kind": 7, "team": 6, "run_sd": 5, "runs": 4, "share_best": 3, "letters": 2,
                   "range": 1}
_OPTIONAL_PAIRS = {"method": 6, "same_team": 5, "score_a": 4, "score_b": 4, "n_discordant": 3, "p_value": 2,
                   "alternative": 1}
_NAMES = ("system", "team", "system_a", "system_b")
# The columns of pairs that people see, in their order, with their conditions.
_PAIRS_SHOWN: dict[str, Callable[[Sequence[Row]], bool]] = {
    **dict.fromkeys(("system_a", "system_b", "difference"), _always),
    "interval": lambda rows: any(row["interval"] for row in rows),
    "p_adjusted": _are_corrected,
    **dict.fromkeys(("p_value", "verdict", "score_a", "score_b", "n_discordant", "method"), _always),
    "alternative": lambda rows: any(row["alternative"] != "two-sided" for row in rows),
    "same_team": lambda rows: any(row["same_team"] for row in rows),
}


def select_fields(board: Leaderboard, form: Form) -> list[Field]:
    """Return the displayed columns of a leaderboard, in their order.

    Columns without information are left out, such as `team` if no team differs from its system.

    Args:
        board: The leaderboard.
        form: The output: `terminal`, `latex` or `page` (HTML).
    """
    return [_BOARD[name] for name, is_shown in SHOWN[form].items() if is_shown(board)]


def make_heading(column: Field, board: Leaderboard, form: Form) -> str:
    """Return the displayed heading of a column, such as `95 % CI`.

    The heading can depend on the leaderboard, for example on its confidence level.

    Args:
        column: The column.
        board: The leaderboard.
        form: The output: `terminal`, `latex` or `page` (HTML).
    """
    if column.name == "score" and form != "terminal":
        return board.metric_label
    if column.name == "interval":
        if not _has_intervals(board):
            return "on one scale"
        return f"{100 * board.comparison.confidence:g} % {column.heading}"
    heading = _RANGES[board.ranks] if column.name == "range" else column.heading
    return heading[:1].upper() + heading[1:] if form == "latex" else heading


def make_page_headings(board: Leaderboard) -> dict[str, str]:
    """Return the headings of a leaderboard's HTML table that are not the defaults.

    Example: {"score": "BLEU", "interval": "95 % CI"}.
    """
    headings = {column.name: make_heading(column, board, "page") for column in select_fields(board, "page")}
    return {name: heading for name, heading in headings.items() if heading != _BOARD[name].heading}


def make_page_columns() -> Json:
    """Return heading, tooltip and alignment of all columns for the HTML page.

    The result has two parts: `board` and `pairs`. Each part maps the name of a column to its settings.
    """
    # The page shows differences from one system, so the heading cannot be A - B.
    pairs = _PAIRS | {"difference": replace(_PAIRS["difference"], heading="difference")}
    return {view: {name: {"heading": column.heading, "about": column.about, "right": column.right}
                   for name, column in columns.items() if column.heading}
            for view, columns in (("board", _BOARD), ("pairs", pairs))}


def make_board_columns(board: Leaderboard) -> list[Column]:
    """Return the columns of a leaderboard in the terminal.

    If there are several clusters, the systems of the first cluster are highlighted.
    """
    has_clusters = len(set(board.clusters) - {None}) > 1
    return [_make_column(column, board.decimals, make_heading(column, board, "terminal"), _OPTIONAL_BOARD,
                         _is_in_first_cluster if has_clusters and column.name in ("cluster", "system") else None)
            for column in select_fields(board, "terminal")]


def make_pair_columns(rows: Sequence[Row], decimals: int, better: str, confidence: float | None = None) -> list[Column]:
    """Return the displayed columns of a table of pairs, with verdicts highlighted.

    Columns without information are left out, such as `interval` if no row has one.

    Args:
        rows: The rows of the table.
        decimals: The number of decimals of scores and differences.
        better: Whether `higher` or `lower` scores are better; if lower, the difference is B - A.
        confidence: The confidence of the intervals, for the heading.
    """
    optional = _OPTIONAL_PAIRS if _are_corrected(rows) else {**_OPTIONAL_PAIRS, "p_value": 0}
    headings = {"interval": _PAIRS["interval"].heading if confidence is None else
                f"{100 * confidence:g} % {_PAIRS['interval'].heading}"}
    if better == "lower":
        headings["difference"] = "A better by"
    return [_make_column(_PAIRS[name], decimals, headings.get(name, _PAIRS[name].heading), optional,
                         is_significant if name == "verdict" else None)
            for name, is_shown in _PAIRS_SHOWN.items() if is_shown(rows)]


def make_text_columns(view: Literal["board", "pairs"], names: Sequence[str]) -> list[Column]:
    """Return columns with the usual headings, for rows whose values are already text.

    Args:
        view: `board` or `pairs`, the table that defines the headings.
        names: The names of the columns.
    """
    columns = _BOARD if view == "board" else _PAIRS
    return [Column(name, columns[name].heading, right=columns[name].right) for name in names]


def _make_column(column: Field, decimals: int, heading: str, optional: Mapping[str, int],
                 emphasis: Callable[[Row], bool | None] | None) -> Column:
    format_score = make_number_format(decimals)
    write: dict[Style, Callable[[Any], str]] = {
        "text": format_text, "score": format_score,
        "deviation": lambda value: format_text(None) if value is None else format_score(value),
        "percent": lambda share: format_text(None) if share is None else format_percent(share),
        "same": lambda value: "same" if value else ""}
    return Column(column.display or column.name, heading, write[column.style], right=column.right, emphasis=emphasis,
                  is_name=column.name in _NAMES,
                  optional=optional.get(column.name, 0))


def _is_in_first_cluster(row: Row) -> bool | None:
    return True if row["in_cluster"] == 1 else None


_TYPES = {"VARCHAR": "string", "DOUBLE": "number", "BIGINT": "integer", "INTEGER": "integer", "SMALLINT": "integer",
          "BOOLEAN": "boolean"}


def make_board_schema(relations: Sequence[Relation]) -> Json:
    """Return the JSON Schema of the output of `registry board --format json`.

    Args:
        relations: The database views with their columns; their comments explain the columns.
    """
    return _make_schema(relations, "leaderboard", BOARD, "Leaderboards: a row for every board and system, best first")


def make_pairs_schema(relations: Sequence[Relation]) -> Json:
    """Return the JSON Schema of the output of `registry pairs --format json`.

    Args:
        relations: The database views with their columns; their comments explain the columns.
    """
    return _make_schema(relations, "pairwise", PAIRS, "Every pair of systems on every leaderboard")


def _make_schema(relations: Sequence[Relation], view: str, columns: Sequence[Field], title: str) -> Json:
    properties = {}
    for column, about, type_ in describe_fields(relations, view, columns):
        heading = {"title": column.heading} if column.heading else {}
        properties[column.name] = {**heading, "description": about,
                                   "type": [type_, "null"] if column.nullable else type_, **column.limits}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "type": "array",
            "items": {"type": "object", "additionalProperties": False, "required": list(properties),
                      "properties": properties}}


def describe_fields(relations: Sequence[Relation], view: str,
                    columns: Sequence[Field]) -> Iterator[tuple[Field, str, str]]:
    """Yield name, explanation and JSON type of each column of the JSON output.

    A column without an explanation or a type gets it from the database view. Columns that JSON does not have are
    skipped.

    Args:
        relations: The database views with their columns.
        view: The name of the view that has these columns.
        columns: The definitions of the columns.
    """
    stored = {column.name: column for relation in relations if relation.name == view for column in relation.columns}
    for column in columns:
        if not column.is_derived:
            about = column.about or stored[column.name].comment
            yield column, about.replace("NULL", "null"), column.type or _TYPES[stored[column.name].type]
