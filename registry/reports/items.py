"""Tables of items: lists of those to look at, and one with all answers to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from registry.leaderboards.items import ItemView
from registry.rendering.table import Column, Table, number
from registry.rendering.table import text as plain

_FRACTIONS = ("differing", "mean", "deviation", "worst", "best", "score")
_COUNTS = ("answers", "support", "runs")


def item_list(rows: Sequence[dict[str, Any]]) -> Table:
    """Items to look at, in the order of the rows."""
    return Table(rows, tuple(map(_column, rows[0])) if rows else (), keys=tuple(rows[0]) if rows else ("item",))


def item_table(shown: ItemView) -> Table:
    """One item: the gold and below it every run of every submission, side by side."""
    place = {"task": shown.task, "test_set": shown.test_set, "item": shown.item, "metric": shown.metric}
    judged = ["right", "correct", "wrong", "missed"]
    of_text = any(output.text is not None for output in shown.outputs)
    answer, others = (["text"], judged) if of_text else (judged, ["text"])
    rows = [place | {key: value for key, value in asdict(output).items() if key not in ("track", "scores", *others)}
            for output in shown.outputs]
    several = any(output.replicate for output in shown.outputs)
    keys = ["source", "team", "system", *(["replicate"] if several else []), "score", *answer]
    return Table(rows, tuple(map(_column, keys)), f"{shown.task}/{shown.test_set} item {shown.item}",
                 [shown.text] if shown.text is not None else (), tuple(rows[0]))


def _column(key: str) -> Column:
    if key in _FRACTIONS:
        return Column(key, key, lambda value: "" if value is None else number(4)(value), right=True)
    if key in _COUNTS:
        return Column(key, key, plain, right=True)
    if key == "right":
        return Column(key, key, lambda right: "" if right is None else "yes" if right else "no")
    return Column(key, "run" if key == "replicate" else key.replace("_", " "), _written)


def _written(value: Any) -> str:
    """A text, or a list of texts; nothing where there is none."""
    return "" if value is None else ", ".join(value) if isinstance(value, list | tuple) else str(value)
