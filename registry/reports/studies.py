"""Tables of the results of studies, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from registry.boards.leaderboard import make_board_title
from registry.errors import UnknownNameError
from registry.rendering.table import (
    Column,
    Table,
    format_interval,
    format_p_value,
    format_text,
    is_significant,
    make_number_format,
)
from registry.rendering.table import format_text as plain
from registry.studies.ranking import NBest
from registry.studies.run import StudyResult
from registry.studies.study import Row

_MOST_KEYS = 3  # columns that a split table repeats
_format_share = make_number_format(4)


def _right(key: str, heading: str, write: Callable[[Any], str] = plain) -> Column:
    return Column(key, heading, write, right=True)


_SYSTEMS = Column("system_a", "system A"), Column("system_b", "system B")
_SYSTEM_COLUMNS = {column.key: column for column in (Column("system", "system"), *_SYSTEMS)}
_PAIR = ("task", "test_set", "system_a", "system_b", "submission_a", "submission_b")
PAIRS = (*_SYSTEMS, _right("differs_up_to", "differ up to n"), _right("significant", "significant"),
         _right("cut_offs", "of"), Column("significant_at", "at n"), Column("favours", "for"))
PAIR_KEYS = (*_PAIR, "differs_up_to", "significant", "cut_offs", "significant_at", "favours")
TESTS = (*_SYSTEMS, _right("n", "n"), _right("only_a", "only A"), _right("right_a", "right"),
         _right("only_b", "only B"), _right("right_b", "right"), _right("p_value", "p", format_p_value),
         Column("significant", "significant", lambda yes: "yes" if yes else "", emphasis=is_significant))
TEST_KEYS = (*_PAIR, "n", "only_a", "right_a", "only_b", "right_b", "p_value", "log10_p", "significant", "test", "rule")
CURVES = (Column("system", "system"), _right("n", "n"), _right("accepted", "accepted"), _right("right", "right"),
          _right("precision", "precision", _format_share), _right("ci_low", "from", _format_share),
          _right("ci_high", "to", _format_share), _right("recall", "recall", _format_share))
VARIATION = (
    Column("system", "system"), _right("repetitions", "repetitions"),
    _right("accepted", "accepted", make_number_format(1)),
    _right("precision", "precision", _format_share), _right("deviation", "deviation", _format_share),
    _right("expected", "expected", _format_share), _right("p_variance", "p", format_p_value),
    _right("outside", "outside"),
    _right("p_outside", "p", format_p_value))


def pairs_table(result: StudyResult) -> Table:
    """Return the comparisons of n-best lists, with one row per pair of systems.

    A row has the list sizes n at which the precision of both systems differs significantly, and the largest n up to
    which all differences are significant.
    """
    return _make_nbest_table(result, "pairs", PAIRS, PAIR_KEYS, _describe_tests(result))


def tests_table(result: StudyResult) -> Table:
    """Return the tests of n-best lists, one row per pair of systems and list size.

    The n-best list of a system has the n candidates with the highest scores. A row has the p-value of Fisher's test. It
    also has, for each of the two systems, how many candidates only its list contains, and how many of these are
    correct.
    """
    return _make_nbest_table(result, "tests", TESTS, TEST_KEYS, _describe_tests(result))


def curves_table(result: StudyResult) -> Table:
    """Return precision and recall of n-best lists, one row per system and list size.

    The precision has a Clopper-Pearson confidence interval.
    """
    study = _require_n_best(result)
    return _make_nbest_table(result, "curves", CURVES, (), f"{100 * study.confidence:g} % Clopper-Pearson intervals; "
                  f"ties: {study.ties}.")


def variation_table(result: StudyResult) -> Table:
    """Return how much the precision of each system varies over repetitions.

    There is one row per system, with the observed standard deviation and the one that a binomial model expects.
    """
    study = _require_n_best(result)
    caption = (
        f"Accepted by a threshold: {study.accept} per repetition on average. Expected is the binomial deviation, the p "
        f"beside it chi-squared; outside are {100 * study.confidence:g} % intervals that leave out the average.")
    return Table(result.finding.tables["variation"], VARIATION,
                 f"{result.subject}: precision over {study.repetition}", (caption,))


def _require_n_best(result: StudyResult) -> NBest:
    assert isinstance(result.study, NBest)
    return result.study


def _describe_tests(result: StudyResult) -> str:
    study, sizes = _require_n_best(result), sorted({row["n"] for row in result.finding.tables["curves"]})
    return (f"Fisher's test of D1 and D2, two-sided by point probabilities, at {len(sizes)} n from {sizes[0]} to "
            f"{sizes[-1]}, each at {study.alpha:g} (not corrected for their number); ties: {study.ties}.")


def _make_nbest_table(result: StudyResult, name: str, columns: Sequence[Column], keys: Sequence[str],
                      caption: str) -> Table:
    (counts,) = result.finding.tables["candidates"]
    title = (f"{result.subject}: {counts['right']} of {counts['candidates']} candidates are right, baseline "
             f"{100 * counts['baseline']:.2f} %")
    return Table(result.finding.tables[name], columns, title, (caption,), keys)


def study_table(result: StudyResult, shown: str | None = None) -> Table:
    """Return one result table of a study.

    Unless the table has a special format, its captions interpret the result, and its last line is the signature.

    Args:
        result: The result of the study.
        shown: The name of the table; None: the first table.

    Raises:
        UnknownNameError: The study has no table with this name.
    """
    tables = result.finding.tables
    name = shown or next(iter(tables))
    if name not in tables:
        raise UnknownNameError(f"table of {result.study.name}", name, tables)
    if (make_table := TABLES.get((result.study.name, name))) is not None:
        return make_table(result)
    place = {"task": result.task, "subject": result.subject}
    rows: list[Row] = [place | row for row in tables[name]]
    keys = tuple(tables[name][0]) if tables[name] else ()
    identity = _find_identity(tables[name])
    columns = tuple(replace(_make_column(key, rows), is_key=key in identity) for key in keys)
    return Table(rows, columns, f"{result.study.title} {result.subject}",
                 tuple(result.finding.reading), (*place, *keys), result.signature)


def _find_identity(rows: Sequence[Row]) -> list[str]:
    """Return the first columns of a table, as many as distinguish its rows; empty if many columns are needed."""
    for n in range(1, _MOST_KEYS + 1):
        if len({tuple(row.values())[:n] for row in rows}) == len(rows):
            return list(rows[0])[:n] if rows else []
    return []


def _make_column(key: str, rows: list[Row]) -> Column:
    values = [row[key] for row in rows]
    numeric = any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    heading = "p" if key == "p_value" else key.replace("_", " ")
    return Column(key, heading, _format_p_value if key.startswith("p_") else _format_cell, right=numeric,
                  emphasis=is_significant if key == "significant" and not numeric else None)


def _format_cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if not isinstance(value, float):
        return format_text(value)
    return f"{value:.4f}" if abs(value) >= 0.1 else f"{value:.4g}"  # gains may be small numbers


def _format_p_value(value: Any) -> str:
    return "" if value is None else format_p_value(value)


def _make_effects_table(result: StudyResult) -> Table:
    rows = [dict(row) for row in result.finding.tables["effects"]]
    for cell in result.finding.tables["infinite"]:
        rows[cell["row"]][cell["key"]] = cell["sign"] * math.inf
    table = _make_board_table(rows, ("system_a", "system_b", "effect", "value", "low", "high", "p_value", "messages"))
    return replace(table, title=f"{result.study.title} {table.title}", captions=tuple(result.finding.reading))


def _make_best_table(result: StudyResult) -> Table:
    table = _make_board_table(result.finding.tables["systems"],
                              ("system", "score", "may_be_best", "among_best", "low", "high", "rank_low", "rank_high",
                               "marginal_low", "marginal_high"))
    return replace(table, title=f"{result.study.title} {table.title}", captions=tuple(result.finding.reading))


def _make_board_table(rows: list[Row], columns: tuple[str, ...]) -> Table:
    """Return rows about one leaderboard as a table; its title names the leaderboard.

    JSON and CSV export all keys of a row; only `columns` are displayed.
    """
    return Table(rows, tuple(map(_make_board_column, columns)), make_board_title(rows[0]), keys=tuple(rows[0]))


def _make_board_column(key: str) -> Column:
    if key.startswith("system"):
        return _SYSTEM_COLUMNS[key]
    heading = "p" if key == "p_value" else key.replace("_", " ")
    if (write := _FORMATS.get(key)) is not None:
        return Column(key, heading, write, right=key not in ("may_be_best", "among_best", "messages"))
    return Column(key, heading, lambda value: "" if value is None else str(value).replace("_", " "),
                  right=key.startswith(("rank", "marginal")))


def _format_number(value: float | None) -> str:
    if value is not None and math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return "" if value is None else _format_share(value)


_FORMATS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("value", "low", "high", "score"), _format_number), "p_value": _format_p_value,
    **dict.fromkeys(("may_be_best", "among_best"), lambda value: "yes" if value else "no"), "messages": str}


def _make_gate_table(result: StudyResult) -> Table:
    """Return the criteria of a gate as a table; columns of details are not displayed.

    The p-value of a loss is displayed if a criterion fails, or if no criterion can pass.
    """
    (summary,) = result.finding.tables["gate"]
    confidence = f"{100 * summary['confidence']:.4g} % CI"
    rows = [row | {"interval": _format_gate_interval(row)} for row in result.finding.tables["criteria"]]
    can_pass = any(row["p_value"] is not None for row in rows)
    favours_lower = any(row["difference"] * (row["candidate"] - row["base"]) < 0 for row in rows
                        if row["difference"] is not None)
    columns = [Column("metric", "metric", is_name=True), Column("test_set", "test set", is_name=True),
               Column("track", "track", format_text, is_name=True), Column("verdict", "verdict"),
               Column("against", "against", is_name=True), replace(_make_column("base", rows), optional=2),
               replace(_make_column("candidate", rows), optional=2),
               replace(_make_column("difference", rows), heading="better by" if favours_lower else "difference"),
               Column("interval", confidence, optional=1), replace(_make_column("margin", rows), optional=1),
               Column("test", "test", optional=3),
               _make_column("p_value", rows), replace(_make_column("p_loss", rows), heading="p (worse)")]
    is_shown = {"against": len({row["against"] for row in rows}) > 1,
                "p_loss": not can_pass or any(row["verdict"] == "fail" for row in rows)}
    names = f"{result.task}: {result.study.candidate} instead of {result.study.base}"  # type: ignore[attr-defined]
    return Table(rows, [column for column in columns if is_shown.get(column.key, True)
                        and any(row[column.key] is not None for row in rows)],
                 names, tuple(result.finding.reading), tuple(result.finding.tables["criteria"][0]), result.signature)


def _format_gate_interval(row: Row) -> str | None:
    ends = ["-∞" if row["ci_low"] is None else f"{row['ci_low']:.4g}",
            "∞" if row["ci_high"] is None else f"{row['ci_high']:.4g}"]
    return None if row["ci_low"] is row["ci_high"] is None else " to ".join(ends)


def _make_facets_table(result: StudyResult) -> Table:
    """Return the differences in facets and in the rest of the items; people see no columns of details."""
    rows = result.finding.tables["facets"]
    keys = tuple(rows[0])
    rows = [row | {"ci": format_interval(row["in_facet_low"], row["in_facet_high"], 4),
                   "simultaneous_ci": format_interval(row["low"], row["high"], 4)} for row in rows]
    columns = {column.key: column for column in (
        *_SYSTEMS, Column("value", rows[0]["attribute"], is_name=True), _right("units", "units"),
        _right("in_facet", "in facet", _format_number), _right("ci", "CI"),
        _right("in_rest", "in rest", _format_number), _right("facet_minus_rest", "facet minus rest", _format_number),
        _right("simultaneous_ci", "simultaneous CI"), _right("p_adjusted", "adjusted p", _format_p_value),
        Column("reason", "no interval, because", optional=1))}
    if len({(row["system_a"], row["system_b"]) for row in rows}) == 1:
        del columns["system_a"], columns["system_b"]
    if not any(row["reason"] for row in rows):
        del columns["reason"]
    place = {"task": result.task, "subject": result.subject}
    pair = "" if "system_a" in columns else f": how much better {rows[0]['system_a']} is than {rows[0]['system_b']}"
    return Table([place | row for row in rows], tuple(columns.values()), f"{result.subject}{pair}",
                 tuple(result.finding.reading), (*place, *keys), result.signature)


def _make_metrics_table(result: StudyResult) -> Table:
    """Return the agreement of metrics with people; the title is the answer, and people see no column twice."""
    rows, (answer, *explanation) = result.finding.tables["metrics"], result.finding.reading
    measure = result.study.measure.replace("-", "_")  # type: ignore[attr-defined]
    others = [key for key in list(rows[0])[8:] if key != measure]
    columns = [Column("metric", "metric", is_name=True), _right("rank", "rank"), _right("rank_low", "from"),
               _right("rank_high", "to"), Column("group", "group"),
               _right("agreement", measure.replace("_", " "), _format_number),
               _right("behind_best", "behind best", _format_number), _right("p_best", "adjusted p", _format_p_value),
               *(replace(_right(key, key.replace("_", " "), _format_number), optional=n)
                 for n, key in enumerate(others, 1))]
    place = {"task": result.task, "subject": result.subject}
    return Table([place | row for row in rows], columns, f"{result.subject}: {answer}", tuple(explanation),
                 (*place, *rows[0]), result.signature)


# Functions for tables with a special format, by the names of the study and the table.
TABLES: dict[tuple[str, str], Callable[[StudyResult], Table]] = {
    ("gate", "criteria"): _make_gate_table, ("facets", "facets"): _make_facets_table,
    ("metrics", "metrics"): _make_metrics_table,
    ("effects", "effects"): _make_effects_table, ("best", "systems"): _make_best_table,
    ("ranking", "pairs"): pairs_table, ("ranking", "tests"): tests_table, ("ranking", "curves"): curves_table,
    ("ranking", "variation"): variation_table}
