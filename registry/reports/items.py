"""Tables of items: lists of those to look at, and one with all answers to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.boards.items import ItemView, Known, SystemOutput
from registry.rendering.table import Column, Table, make_number_format
from registry.rendering.table import format_text as plain

_FRACTIONS = ("mean_differing", "mean", "sd", "worst", "best", "score")
_COUNTS = ("answers", "support", "runs")


def item_list(rows: Sequence[dict[str, Any]]) -> Table:
    """Items to look at, in the order of the rows."""
    return Table(rows, tuple(map(_column, rows[0])) if rows else (), keys=tuple(rows[0]) if rows else ("item",))


def item_table(shown: ItemView) -> Table:
    """One item: the gold and below it every run of every submission, side by side."""
    place = {"task": shown.task, "test_set": shown.test_set, "item": shown.item, "metric": shown.metric}
    rows = [place | {"source": of.source, "team": of.team, "system": of.system, "replicate": of.replicate,
                     "score": of.score} | _response(shown, of) for of in shown.outputs]
    several = any(output.replicate for output in shown.outputs)
    keys = [key for key in rows[0] if key not in place and (several or key != "replicate")]
    return Table(rows, tuple(map(_column, keys)), f"{shown.task}/{shown.test_set} item {shown.item}",
                 [shown.text] if shown.text is not None else (), tuple(rows[0]))


def _response(shown: ItemView, of: SystemOutput) -> dict[str, Any]:
    """What somebody says: a text, numbers, or answers that are in the gold or not."""
    if shown.kind == "text":
        return {"text": of.text}
    if shown.kind == "number":
        return {"text": None if of.numbers is None else ", ".join(
            f"{name} {number:.6g}".strip() for name, number in of.numbers.items())}
    correct, wrong, missed = ([_answer(shown, one) for one in part]
                              for part in (shown.correct(of), shown.wrong(of), shown.missed(of)))
    right = None if of.system is None else not (wrong or missed)
    return {"right": right, "correct": correct, "wrong": wrong, "missed": missed}


def _answer(shown: ItemView, answer: Known) -> str:
    """An answer with its type and, where it is a span, its words."""
    parts = [answer.type, answer.key] if answer.type else [answer.key]
    if shown.kind == "span" and shown.tokens:
        start, _, end = answer.key.partition("-")
        parts.append(f"'{' '.join(shown.tokens[int(start) - 1:int(end)])}'")
    return " ".join(parts)


def _column(key: str) -> Column:
    if key in _FRACTIONS:
        return Column(key, key, lambda value: "" if value is None else make_number_format(4)(value), right=True)
    if key in _COUNTS:
        return Column(key, key, plain, right=True)
    if key == "right":
        return Column(key, key, lambda right: "" if right is None else "yes" if right else "no")
    return Column(key, "run" if key == "replicate" else key.replace("_", " "), _written)


def _written(value: Any) -> str:
    """A text, or a list of texts; nothing where there is none."""
    return "" if value is None else ", ".join(value) if isinstance(value, list | tuple) else str(value)
