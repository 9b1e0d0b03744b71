"""Leaderboards and pair tables from the store, as data with fixed keys and as tables for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, text

from registry.errors import counted
from registry.reports.table import Column, Table, number, p_value
from registry.reports.table import text as plain
from registry.significance import CORRECTIONS, TESTS
from registry.values import parse

BOARD_KEYS = (
    "task", "test_set", "track", "facet", "metric", "metric_name", "signature", "rank", "rank_low", "rank_high",
    "cluster", "system", "team", "kind", "submission", "score", "ci_low", "ci_high", "runs", "run_deviation",
)
PAIR_KEYS = (
    "task", "test_set", "track", "facet", "metric", "metric_name", "signature", "system_a", "system_b",
    "submission_a", "submission_b", "score_a", "score_b", "difference", "ci_low", "ci_high", "p_value", "p_adjusted",
    "significant", "method", "test", "alternative", "correction", "family_size", "unit", "n_units", "n_discordant",
    "resamples", "seed", "log10_p", "p_low", "p_high", "statistic", "resolved", "note",
)
_PLACE = ("task", "test_set", "track", "facet", "metric", "metric_name", "signature")


def boards(connection: Connection, task: str | None = None, metric: str | None = None) -> list[Table]:
    """Every leaderboard (of one task, by one metric), each a table with the rows of `BOARD_KEYS`."""
    columns = (
        Column("rank", "rank", plain, right=True), Column("range", "range", right=True),
        Column("cluster", "cluster", plain, right=True), Column("shown", "system"), Column("team", "team"),
        Column("kind", "kind"), Column("score", "score", number(4), right=True),
    )
    of_runs = (Column("runs", "runs", plain, right=True),
               Column("run_deviation", "deviation", lambda value: "-" if value is None else f"{value:.4f}", right=True))
    return [
        _table([row | {"range": _range(row), "shown": shown} for row, shown in zip(rows, _shown(rows), strict=True)],
               columns + of_runs if any(row["runs"] > 1 for row in rows) else columns, connection, BOARD_KEYS)
        for rows in _grouped(connection, "leaderboard", BOARD_KEYS, task, metric)
    ]


def pair_tables(connection: Connection, task: str | None = None, metric: str | None = None) -> list[Table]:
    """Every table of pairs, each with the rows of `PAIR_KEYS`; the better system is `system_a`."""
    columns = (
        Column("shown_a", "system A"), Column("shown_b", "system B"), Column("score_a", "A", number(4), right=True),
        Column("score_b", "B", number(4), right=True), Column("difference", "A - B", number(4), right=True),
        Column("n_discordant", "differing", plain, right=True), Column("p_value", "p", p_value, right=True),
        Column("p_adjusted", "adjusted p", p_value, right=True), Column("method", "method"),
        Column("significant", "significant", lambda yes: "yes" if yes else ""),
    )
    return [
        _table([row | {"shown_a": a, "shown_b": b} for row, a, b in zip(
            rows, _shown(rows, "_a"), _shown(rows, "_b"), strict=True)], columns, connection, PAIR_KEYS)
        for rows in _grouped(connection, "pairwise", PAIR_KEYS, task, metric)
    ]


def _table(rows: list[dict[str, Any]], columns: tuple[Column, ...], connection: Connection,
           keys: tuple[str, ...]) -> Table:
    """One board or its pairs; a column of intervals stands last of the numbers where there are any."""
    rows = [row | {"interval": _interval(row)} for row in rows]
    if any(row["interval"] for row in rows):
        at = max(n for n, column in enumerate(columns) if column.key in ("score", "difference")) + 1
        columns = (*columns[:at], Column("interval", "interval", right=True), *columns[at:])
    return Table(rows, columns, title(rows[0]), _say(connection, rows[0]), keys, rows[0]["signature"])


def stale(connection: Connection, task: str | None = None) -> list[str]:
    """Say which boards lack a submission that takes part by now, or show one that no longer does."""
    found = connection.execute(text("""
        WITH shown AS (
            SELECT DISTINCT l.task, l.test_set, l.track, s.submission_id, l.gold_revision_id
            FROM latest_comparison AS l JOIN standing AS s USING (comparison_id)
        ),
        taking_part AS (
            SELECT task, test_set, track, submission_id, gold_revision_id FROM ranked_submission
        )
        SELECT DISTINCT task, test_set FROM (
            (FROM shown EXCEPT FROM taking_part) UNION ALL (FROM taking_part EXCEPT FROM shown)
        ) WHERE :task IS NULL OR task = :task
        ORDER BY ALL"""), {"task": task})
    return [f"{row.task}/{row.test_set}: submissions or gold have changed since the last comparison; `registry score` "
            "and `registry compare` bring the board up to date" for row in found]


def _grouped(connection: Connection, view: str, keys: Sequence[str], task: str | None,
             metric: str | None) -> list[list[dict[str, Any]]]:
    chosen = ", ".join(keys)
    found = connection.execute(
        text(f"SELECT {chosen} FROM {view} WHERE (:task IS NULL OR task = :task) "  # noqa: S608
             "AND (:metric IS NULL OR metric = :metric)"), {"task": task, "metric": metric})
    rows = [dict(row._mapping) for row in found]
    return [list(group) for _, group in groupby(rows, key=lambda row: [row[k] for k in _PLACE])]


def title(row: dict[str, Any]) -> str:
    """Say which board it is."""
    place = [f"{row['task']}/{row['test_set']}"]
    place += [f"track {row['track']}"] if row["track"] else []
    place += [row["facet"]] if row["facet"] else []
    return f"{', '.join(place)}: {row['metric']}" + (
        "" if row["metric"].lower() == row["metric_name"].lower() else f" = {row['metric_name']}")


def _interval(row: dict[str, Any]) -> str:
    """The interval for people, an open end as a dash; nothing where there is none."""
    ends = [None if end is None or not math.isfinite(end) else f"{end:.4f}" for end in (row["ci_low"], row["ci_high"])]
    return "" if ends == [None, None] else " to ".join(end or "-" for end in ends)


def _shown(rows: list[dict[str, Any]], side: str = "") -> list[str]:
    """The systems' names for people, with team or version where a name alone leaves them open."""
    sides = (side,) if not side else ("_a", "_b")
    named = {(row[f"system{s}"], row[f"submission{s}"]) for row in rows for s in sides}
    names = [name for name, _ in named]
    return [row[f"system{side}"] if names.count(row[f"system{side}"]) == 1 and row[f"submission{side}"].endswith("@1")
            else row[f"submission{side}"] for row in rows]


def _range(row: dict[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return "-" if low is None else str(low) if low == high else f"{low}-{high}"


def _say(connection: Connection, shown: dict[str, Any]) -> tuple[str, ...]:
    """Say in plain sentences what the comparison supports."""
    row = connection.execute(text("""
        WITH decided AS (
            SELECT comparison_id, count_if(is_significant) AS won, count_if(NOT is_resolved) AS open
            FROM comparison_pair GROUP BY comparison_id
        ),
        stood AS (SELECT comparison_id, list(runs ORDER BY runs DESC) AS most_runs FROM standing GROUP BY comparison_id)
        SELECT l.*, stood.most_runs, decided.won, decided.open, o.test AS overall, o.statistic, o.degrees, o.p_value
        FROM latest_comparison AS l
        JOIN stood USING (comparison_id)
        LEFT JOIN decided USING (comparison_id)
        LEFT JOIN overall_result AS o USING (comparison_id)
        WHERE signature = :signature"""), {"signature": shown["signature"]}).one()
    if row.n_systems == 1:
        return ("One system: there is nothing to compare.",)
    correction = CORRECTIONS[row.correction]
    corrected = "uncorrected" if row.correction == "none" else f"after {correction.title}"
    level = "a false discovery rate of " if correction.controls == "false discovery rate" else ""
    sided = "" if row.alternative == "two-sided" else f", one-sided ({row.alternative})"
    one_sided = sided or parse("test", TESTS, row.test).is_one_sided
    sure = "" if correction.controls == "family-wise error" and not one_sided else "; rank ranges are descriptive"
    units = counted(row.n_units, row.unit)
    if row.runs == "random":
        units = "whole runs" if row.test == "permutation" else f"{units} and runs"
    differences = f"{counted(row.family_size, 'difference')} {'is' if 1 in (row.won, row.family_size) else 'are'}"
    said = [f"{row.won} of {differences} significant at {level}{row.alpha:g} {corrected} ({row.test} "
            f"over {units}{sided}){sure}."]
    if row.overall is not None:
        said.append(f"All systems at once: {row.overall} {row.statistic:.2f} with "
                    f"{counted(row.degrees, 'degree')} of freedom, p = {p_value(row.p_value)}.")
    if row.open:
        said.append(f"{row.open} of these decisions {'hangs' if row.open == 1 else 'hang'} on Monte-Carlo error: draw "
                    "more with --resamples or --resolve.")
    least = 2.0 ** ((not sided) - row.n_units)
    if row.runs == "random":
        most, second = row.most_runs[:2]
        units = f"{most} and {second} runs"
        least = (2 if not sided and most == second else 1) / math.comb(most + second, most)
    first_by_all = row.correction in ("holm", "bonferroni", "shaffer")  # the others can reject all pairs together
    needed = row.alpha / (row.family_size if first_by_all else 1)
    if row.test == "permutation" and least > needed:
        said.append(f"With {units} no p-value can be below {least:g}, so no difference can be "
                    f"significant here; that says nothing about the systems.")
    return tuple(said)
