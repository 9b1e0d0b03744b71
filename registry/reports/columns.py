"""The columns of leaderboards and of pairs, each listed once.

`BOARD` and `PAIRS` list every column by its JSON name: heading, explanation, JSON type, and how people see its values.
`SHOWN` says which of them a form shows, in which order and when. Terminal, Markdown, LaTeX, CSV, JSON, the JSON Schema,
the page and `docs/columns.md` follow from these. The page's script receives names and headings as data.
"""

from __future__ import annotations

import math
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
    format_p_value,
    format_percent,
    format_text,
    is_significant,
    make_number_format,
)
from registry.significance.base import Alternative

if TYPE_CHECKING:
    from registry.query.schema import Thing

Json = dict[str, Any]
Form = Literal["terminal", "latex", "page"]  # Markdown shows the columns of the terminal
Style = Literal["text", "score", "deviation", "percent", "p", "yes", "same"]


@dataclass(frozen=True)
class Field:
    """A column of leaderboards or pairs.

    Attributes:
        name: Its JSON name, which never changes, in every form that programs read, in the page's data and its script.
        heading: The heading for people. A column with an empty one is only for programs.
        about: What it is. Empty if the database says so, in the comment of the column of the view.
        type: Its JSON type. Empty if the view has it.
        nullable: Whether it may be null.
        limits: Further keywords of its JSON Schema.
        style: How people see its values.
        right: Whether people see it on the right, as numbers are.
        is_derived: Whether people see it and programs do not.
        display: The key of the value that people see in a row, if it is not the value itself.
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
    Field("p_adjusted", "adjusted p", nullable=True, limits=_SHARE, style="p", right=True),
    Field("significant", "significant", style="yes"),
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
    Field("interval", "CI", "confidence interval of the difference", right=True, is_derived=True))

BOARD_KEYS = tuple(one.name for one in BOARD if not one.is_derived)
STANDING_KEYS = tuple(one.name for one in BOARD if not (one in _SHARED or one.is_derived or one.name == "warnings"))
PAIR_KEYS = tuple(one.name for one in PAIRS if not one.is_derived)
_BOARD = {one.name: one for one in BOARD}
_PAIRS = {one.name: one for one in PAIRS}
_RANGES: dict[Ranks, str] = {"range": "range", "cluster": "cluster", "neighbour": "neighbours",
                             "simultaneous": "simultaneous", "bootstrap": "resampled"}
_MOST_LETTERS = 24  # a row of more letters is unreadable


def shows_letters(board: Leaderboard) -> bool:
    """Return whether people see letters.

    Letters would contradict ranks that do not rest on all decisions, and nobody can read a row of very many.
    """
    longest = max((len(of.letters or "") for of in board.standings), default=0)
    return bool(board.decisions) and board.ranks in ("range", "cluster") and longest <= _MOST_LETTERS


def _always(_: object) -> bool:
    return True


def _has_ranges(board: Leaderboard) -> bool:
    return board.ranks != "cluster"


def _has_intervals(board: Leaderboard) -> bool:
    return any(interval(of.ci_low, of.ci_high, 0) for of in board.standings)


def _has_runs(board: Leaderboard) -> bool:
    return any(of.runs > 1 for of in board.standings)


def _has_teams(board: Leaderboard) -> bool:
    return board.has_teams


def _differs(name: str) -> Callable[[Leaderboard], bool]:
    return lambda board: len({getattr(of, name) for of in board.standings}) > 1


# The columns of leaderboards that each form shows, in its order, and when. The page has names, scores and ranks first,
# because a narrow screen shows these.
SHOWN: dict[Form, dict[str, Callable[[Leaderboard], bool]]] = {
    "terminal": {
        "rank": _always, "range": _has_ranges, "share_best": lambda board: board.ranks == "bootstrap",
        "cluster": _always, "system": _always, "team": _has_teams, "kind": _always, "score": _always,
        "interval": _has_intervals, "letters": shows_letters, "runs": _has_runs, "run_sd": _has_runs},
    "latex": {
        "rank": _always, "range": _has_ranges, "system": _always, "team": _has_teams, "score": _always,
        "interval": _has_intervals},
    "page": {
        "rank": _always, "system": _always, "score": _always, "range": _has_ranges, "interval": _always,
        "share_best": _differs("share_best"), "cluster": _always, "letters": shows_letters,
        "wins": lambda board: bool(board.decisions), "team": _has_teams, "kind": _differs("kind"), "runs": _has_runs,
        "run_sd": _has_runs},
}
# The columns of pairs that people see, in their order, and when, by the rows.
_PAIRS_SHOWN: dict[str, Callable[[Sequence[Row]], bool]] = {
    **dict.fromkeys(("system_a", "system_b", "score_a", "score_b", "difference"), _always),
    "interval": lambda rows: any(row["interval"] for row in rows),
    **dict.fromkeys(("n_discordant", "p_value", "p_adjusted", "method"), _always),
    "alternative": lambda rows: any(row["alternative"] != "two-sided" for row in rows),
    "significant": _always,
    "same_team": lambda rows: any(row["same_team"] for row in rows),
}


def shown_fields(board: Leaderboard, form: Form) -> list[Field]:
    """Return the columns that a form shows of a leaderboard."""
    return [_BOARD[name] for name, is_shown in SHOWN[form].items() if is_shown(board)]


def board_heading(shown: Field, board: Leaderboard, form: Form) -> str:
    """Return a column's heading, which can depend on the leaderboard."""
    if shown.name == "score" and form != "terminal":
        return board.metric_label
    if shown.name == "interval":
        if not _has_intervals(board):
            return "on one scale"
        return f"{100 * board.comparison.confidence:g} % {shown.heading}"
    heading = _RANGES[board.ranks] if shown.name == "range" else shown.heading
    return heading.capitalize() if form == "latex" else heading


def page_headings(board: Leaderboard) -> dict[str, str]:
    """Return the headings of the page that are a leaderboard's own, by name."""
    headings = {of.name: board_heading(of, board, "page") for of in shown_fields(board, "page")}
    return {name: heading for name, heading in headings.items() if heading != _BOARD[name].heading}


def page_columns() -> Json:
    """Return headings and alignment of all columns, as the page's script reads them."""
    # The page's differences are to one system, so their sides are not A and B.
    pairs = _PAIRS | {"difference": replace(_PAIRS["difference"], heading="difference")}
    return {name: {key: {"heading": one.heading, "right": one.right} for key, one in fields.items() if one.heading}
            for name, fields in (("board", _BOARD), ("pairs", pairs))}


def board_columns(board: Leaderboard) -> list[Column]:
    """Return the columns that people see of a leaderboard; the first cluster stands out."""
    several = len(set(board.clusters) - {None}) > 1
    return [_column(of, board.decimals, board_heading(of, board, "terminal"),
                    _is_first if several and of.name in ("cluster", "system") else None)
            for of in shown_fields(board, "terminal")]


def pair_columns(rows: Sequence[Row], decimals: int) -> list[Column]:
    """Return the columns that people see of pairs; significant ones stand out."""
    return [_column(_PAIRS[name], decimals, _PAIRS[name].heading,
                    is_significant if name in ("p_adjusted", "significant") else None)
            for name, is_shown in _PAIRS_SHOWN.items() if is_shown(rows)]


def _column(shown: Field, decimals: int, heading: str, decided: Callable[[Row], bool | None] | None) -> Column:
    write: dict[Style, Callable[[Any], str]] = {
        "text": format_text, "score": make_number_format(decimals), "p": format_p_value,
        "deviation": lambda value: format_text(None) if value is None else make_number_format(decimals)(value),
        "percent": lambda share: format_text(None) if share is None else format_percent(share),
        "yes": lambda value: "yes" if value else "", "same": lambda value: "same" if value else ""}
    return Column(shown.display or shown.name, heading, write[shown.style], right=shown.right, emphasis=decided)


def _is_first(row: Row) -> bool | None:
    """Return True in the first cluster, and None elsewhere."""
    return True if row["in_cluster"] == 1 else None


def interval(low: float | None, high: float | None, digits: int) -> str:
    """Write an interval, with an open end as a dash; nothing if it has no end."""
    ends = [None if end is None or not math.isfinite(end) else f"{end:.{digits}f}" for end in (low, high)]
    return "" if ends == [None, None] else " to ".join(end or "-" for end in ends)


_TYPES = {"VARCHAR": "string", "DOUBLE": "number", "BIGINT": "integer", "INTEGER": "integer", "SMALLINT": "integer",
          "BOOLEAN": "boolean"}


def board_schema(things: Sequence[Thing]) -> Json:
    """Return the JSON Schema of `board --format json`; `things` are the views of any registry of this version."""
    return _schema(things, "leaderboard", BOARD, "Leaderboards: a row for every board and system, best first")


def pairs_schema(things: Sequence[Thing]) -> Json:
    """Return the JSON Schema of `pairs --format json`; `things` are the views of any registry of this version."""
    return _schema(things, "pairwise", PAIRS, "Every pair of systems on every leaderboard")


def _schema(things: Sequence[Thing], view: str, fields: Sequence[Field], title: str) -> Json:
    properties = {one.name: _property(one, about, type_) for one, about, type_ in described(things, view, fields)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "type": "array",
            "items": {"type": "object", "additionalProperties": False, "required": list(properties),
                      "properties": properties}}


def described(things: Sequence[Thing], view: str, fields: Sequence[Field]) -> Iterator[tuple[Field, str, str]]:
    """Yield the columns that programs read, each with its explanation and its JSON type."""
    stored = {column.name: column for thing in things if thing.name == view for column in thing.columns}
    for one in fields:
        if not one.is_derived:
            about, type_ = one.about or stored[one.name].comment, one.type or _TYPES[stored[one.name].type]
            yield one, about.replace("NULL", "null"), type_


def _property(one: Field, about: str, type_: str) -> Json:
    heading = {"title": one.heading} if one.heading else {}
    return {**heading, "description": about, "type": [type_, "null"] if one.nullable else type_, **one.limits}
