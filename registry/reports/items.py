"""Tables of items: lists of interesting items, and all answers to one item."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import Any

from registry.boards.items import ItemView, KnownAnswer, SystemOutput
from registry.rendering.table import Column, Table, format_text, make_number_format

_FRACTIONS = ("mean_differing", "mean", "sd", "worst", "best", "score")
_COUNTS = ("answers", "support", "runs")


def make_item_list(rows: Sequence[dict[str, Any]]) -> Table:
    """Return a table of test items, such as the items with the worst scores.

    There is one row per item. The keys of the first row become the columns.
    """
    columns = tuple(starmap(_make_column, rows[0].items())) if rows else ()
    return Table(rows, columns, keys=tuple(rows[0]) if rows else ("item",))


def make_item_table(view: ItemView) -> Table:
    """Return a table of the gold and all answers to one item, one row per run."""
    place = {"task": view.task, "test_set": view.test_set, "item": view.item, "metric": view.metric}
    rows = [place | {"source": output.source, "team": output.team, "system": output.system,
                     "replicate": output.replicate, "score": output.score} | _make_response(view, output)
            for output in view.outputs]
    has_several_runs = any(output.replicate for output in view.outputs)
    keys = [key for key in rows[0] if key not in place and (has_several_runs or key != "replicate")]
    return Table(rows, tuple(map(_make_column, keys)), f"{view.task}/{view.test_set} item {view.item}",
                 [view.text] if view.text is not None else (), tuple(rows[0]))


def _make_response(view: ItemView, output: SystemOutput) -> dict[str, Any]:
    """Return the cells that show the answer of one system (or the gold) to an item.

    A text or number is one cell. Other answers, such as spans, are listed in three cells: `correct`,
    `incorrect` and `missed`.
    """
    if view.kind == "text":
        return {"text": output.text}
    if view.kind == "number":
        return {"text": None if output.numbers is None else ", ".join(
            f"{name} {number:.6g}".strip() for name, number in output.numbers.items())}
    correct, incorrect, missed = ([_format_answer(view, answer) for answer in answers] for answers in (
        view.select_correct(output), view.select_incorrect(output), view.select_missing(output)))
    all_correct = None if output.system is None else not (incorrect or missed)
    return {"all_correct": all_correct, "correct": correct, "incorrect": incorrect, "missed": missed}


def _format_answer(view: ItemView, answer: KnownAnswer) -> str:
    """Return a label or span as text, such as `PER 3-4 'Ada Lovelace'`."""
    parts = [answer.type, answer.key] if answer.type else [answer.key]
    if view.kind == "span" and view.tokens:
        start, _, end = answer.key.partition("-")
        parts.append(f"'{' '.join(view.tokens[int(start) - 1:int(end)])}'")
    return " ".join(parts)


def _make_column(key: str, value: Any = None) -> Column:
    if key in _FRACTIONS:
        return Column(key, key, lambda value: "" if value is None else make_number_format(4)(value), right=True)
    if isinstance(value, float):  # the score of the system that the column is named after
        return Column(key, key, make_number_format(4), right=True)
    if key in _COUNTS:
        return Column(key, key, format_text, right=True)
    if key == "all_correct":
        return Column(key, "all correct", lambda answer: "" if answer is None else "yes" if answer else "no")
    return Column(key, "run" if key == "replicate" else key.replace("_", " "), _format_texts)


def _format_texts(value: Any) -> str:
    return "" if value is None else ", ".join(value) if isinstance(value, list | tuple) else str(value)
