"""The items to look at: their golds, and each different response with who gives it.

What a test set's items have in common stands once: what kind of thing responses are, the metrics, and who answers. An
item's answers are columns, those of the gold first; a set of answers is told by what it adds to the gold's and by what
it lacks of them, which is little where systems are good.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from registry.boards.items import ItemView, SystemOutput
from registry.reports.page.data.columns import Json, as_column, embedded, rounded

ITEM_BYTES = 160_000  # of items to look at, shared by the test sets
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # that number an item's responses
SHOWN = 6  # numbers of a response that has many


def items_data(items: Sequence[ItemView]) -> Iterator[tuple[str, Json]]:
    """For every test set the metrics, who answers, and as many of its items as there is room for.

    All items of a test set are answered by the same runs, in one order.
    """
    test_sets = list(dict.fromkeys(view.test_set for view in items))
    for test_set in test_sets:
        views = [view for view in items if view.test_set == test_set]
        first, room = views[0], ITEM_BYTES // len(test_sets)
        runs = [output for output in first.outputs if output.system is not None]
        metrics = list(dict.fromkeys(metric for run in runs for metric in run.scores))
        kept = []
        for view in views:
            written = _item(view, metrics)
            if (size := len(embedded(written).encode())) <= room:
                kept.append(written)
                room -= size
        yield test_set, {"kind": first.kind, "metrics": metrics, "names": _names(runs),
                         "tracks": as_column(run.track for run in runs), "teams": as_column(run.team for run in runs),
                         "systems": as_column(run.system for run in runs), "items": kept,
                         "left_out": len(views) - len(kept)}


def _names(runs: Sequence[SystemOutput]) -> list[str]:
    """The names of runs that people see: with the team where two have systems of that name, and the run's number."""
    teams = defaultdict[str | None, set[str | None]](set)
    for run in runs:
        teams[run.system].add(run.team)
    shown = [str(run.system) if len(teams[run.system]) == 1 else f"{run.team}/{run.system}" for run in runs]
    several = {(run.team, run.system) for run in runs if run.replicate}
    return [f"{name} (run {run.replicate})" if (run.team, run.system) in several else name
            for name, run in zip(shown, runs, strict=True)]


def _item(view: ItemView, metrics: Sequence[str]) -> Json:
    """An item: what it consists of, its golds, and each different response with its scores and who gives it."""
    places, responses, by = dict[str, int](), list[tuple[Any, list[float | None]]](), list[int]()
    for output in view.outputs:
        if output.system is None:
            continue
        response = _said(view, output), [rounded(output.scores[metric], 6) for metric in metrics]
        by.append(places.setdefault(json.dumps(response), len(places)))
        responses += [response] if by[-1] == len(responses) else []
    golds = [[of.source, _said(view, of)] for of in view.outputs if of.system is None] if view.kind in (
        "text", "number") else []
    return {"item": view.item, "place": view.place, "facets": list(view.facets), "tokens": list(view.tokens),
            "answers": _answers(view), "gold": golds, "said": [said for said, _ in responses],
            "scores": [as_column(of[n] for _, of in responses) for n in range(len(metrics))],
            "by": "".join(DIGITS[n] for n in by) if len(responses) <= len(DIGITS) else by}


def _answers(view: ItemView) -> Json:
    """The answers that are known of an item: how many the gold is sure of, how many it has, and what they are."""
    known = view.known
    keys: Json = {"key": [one.key for one in known]}
    if view.kind in ("span", "alignment"):  # two numbers, counted from 1
        ends = [one.key.split("-") for one in known]
        keys = {"first": [int(first) for first, _ in ends], "last": [int(last) for _, last in ends]}
    elif view.kind == "tree":
        arcs = [one.key.split(">") for one in known]
        keys = {"head": [_word(head) for head, _ in arcs], "word": [_word(word) for _, word in arcs]}
    more = {"relevance": as_column(one.relevance for one in known)} if view.kind == "ranking" else {}
    types = list(dict.fromkeys(one.type for one in known))
    return {"sure": sum(one.in_gold and not one.possible for one in known), "gold": sum(one.in_gold for one in known),
            **keys, "types": types, "type": as_column(types.index(one.type) for one in known), **more}


def _word(number: str) -> int | str:
    """A word by its number in the gold; `?` and `+1` are words that the gold does not have."""
    return int(number) if number.isdecimal() else number


def _said(view: ItemView, of: SystemOutput) -> Any:
    """A text; names and numbers; a ranking's first documents, how many it has and how many are right; or a set's parts.

    These are the answers that the gold is not sure of, and those that it is sure of and that are not there. A tree has
    one arc for each word, so that what takes the place of another arc says that this one is not there.
    """
    if view.kind == "text":
        return of.text
    if view.kind == "number":
        return None if of.numbers is None else [
            [name, rounded(of.numbers[name], 6)] for name in list(of.numbers)[:SHOWN]]
    said = of.said or ()
    if view.kind == "ranking":
        return [list(said), of.returned, of.found]
    sure = sum(one.in_gold and not one.possible for one in view.known)
    added, lacking = [n for n in said if n >= sure], sorted(set(range(sure)).difference(said))
    if view.kind == "tree":
        replaced = {view.known[n].key.partition(">")[2] for n in added}
        lacking = [n for n in lacking if view.known[n].key.partition(">")[2] not in replaced]
    return [added, lacking]
