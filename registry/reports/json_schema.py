"""The JSON Schemas of `board --format json` and `pairs --format json`: what programs can rely on.

Types and descriptions of what the database has are those of its views; the rest is of the leaderboard alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from registry.evaluation.comparing.directions import OBSERVED
from registry.leaderboards.leaderboard import PAIR_KEYS
from registry.manifest.fields import Kind
from registry.query.schema import Thing
from registry.reports.boards import BOARD_KEYS
from registry.significance.base import Alternative

_TYPES = {"VARCHAR": "string", "DOUBLE": "number", "BIGINT": "integer", "INTEGER": "integer", "SMALLINT": "integer",
          "BOOLEAN": "boolean"}
_OF_REPORTS = {
    "same_team": ("boolean", "whether both systems are of one team"),
    "late": ("boolean", "whether the submission came late"),
    "letters": ("string", "compact letter display: two systems that share a letter are not told apart; empty where "
                          "there are no ranks, no pairs, or too many letters"),
    "neighbour_low": ("integer", "one place below the nearest system above that beats it"),
    "neighbour_high": ("integer", "one place above the nearest system below that it beats"),
    "simultaneous_low": ("integer", "1 + the number of systems that are significantly better, for all systems at once; "
                                    "NULL unless these ranks were resampled"),
    "simultaneous_high": ("integer", "the number of systems less that of significantly worse ones"),
    "frequent_low": ("integer", "the best place that all but half of 1 - confidence of the resamples give it; NULL "
                                "unless ranks were resampled"),
    "frequent_high": ("integer", "the worst such place"),
    "first": ("number", "the share of resamples in which it is the best"),
    "remarks": ("array", "what is remarkable about the submission, a sentence each: labels unknown to the gold, items "
                         "without an answer, the same answers as another system, ..."),
}
_MAY_BE_NULL = {
    "track", "facet", "rank", "rank_low", "rank_high", "cluster", "score", "score_a", "score_b", "ci_low", "ci_high",
    "run_deviation", "neighbour_low", "neighbour_high", "simultaneous_low", "simultaneous_high", "frequent_low",
    "frequent_high", "first", "difference",
    "p_value", "p_adjusted", "log10_p", "p_low", "p_high", "resamples", "seed", "statistic", "resolved",
}
_SHARES = ("p_value", "p_adjusted", "p_low", "p_high", "first")
_FROM_1 = ("rank", "rank_low", "rank_high", "cluster", "neighbour_low", "neighbour_high", "simultaneous_low",
           "simultaneous_high", "frequent_low", "frequent_high", "runs", "family_size", "n_units")
_FROM_0 = ("wins", "losses", "n_discordant", "run_deviation")
_LIMITS: dict[str, dict[str, Any]] = {
    **{key: {"minimum": 0, "maximum": 1} for key in _SHARES}, **{key: {"minimum": 1} for key in _FROM_1},
    **{key: {"minimum": 0} for key in _FROM_0},
    "remarks": {"items": {"type": "string"}},
    "kind": {"enum": list(get_args(Kind))}, "alternative": {"enum": [*get_args(Alternative), OBSERVED]},
}


def board_schema(things: Sequence[Thing]) -> dict[str, Any]:
    """Of `board --format json`, from what any registry of this version holds."""
    return _schema(things, "leaderboard", BOARD_KEYS, "Leaderboards: a row for every board and system, best first")


def pairs_schema(things: Sequence[Thing]) -> dict[str, Any]:
    """Of `pairs --format json`, from what any registry of this version holds."""
    return _schema(things, "pairwise", PAIR_KEYS, "Every pair of systems on every leaderboard")


def _schema(things: Sequence[Thing], view: str, keys: Sequence[str], title: str) -> dict[str, Any]:
    (thing,) = [thing for thing in things if thing.name == view]
    known = _OF_REPORTS | {column.name: (_TYPES[column.type], column.comment) for column in thing.columns}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "type": "array",
        "items": {
            "type": "object", "additionalProperties": False, "required": list(keys),
            "properties": {key: _property(key, *known[key]) for key in keys},
        },
    }


def _property(key: str, type_: str, about: str) -> dict[str, Any]:
    return {"description": about.replace("NULL", "null"),
            "type": [type_, "null"] if key in _MAY_BE_NULL else type_, **_LIMITS.get(key, {})}
