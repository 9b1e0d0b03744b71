"""Tables whose columns are called as a reader's options are: a judge's and people's scores, or spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.guessing.guess import OPEN, SURE, Asked, Given, Guess, System
from registry.guessing.looks import PLACES, TYPES, Table, tables
from registry.guessing.tables.keys import Matched
from registry.readers import READERS, Document

_DRAWN = "people's items were drawn by chance, all alike; else --option drawn=probability"


def named(gold: Document, systems: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    """Guess a judge's ratings, or spans, by what columns are called."""
    for table in tables(gold):
        theirs = [next(((given, one) for one in tables(given.document) if one.header), None) for given in systems]
        found = [one for one in theirs if one is not None]
        if not table.header or len(found) < len(systems):
            continue
        if asked.allows("judged", "judged") and all({"judge", "human"} <= set(one.names) for _, one in found):
            yield _judged(gold, table, found, asked)
        if asked.allows("spans", "span"):
            yield from _spans(gold, table, found)


def _judged(gold: Document, table: Table, systems: Sequence[tuple[Given, Table]], asked: Asked) -> Guess:
    item = next((n for n, column in enumerate(table.columns) if column.is_key), 0)
    options = {"item": [table.names[item]], "drawn": asked.options.get("drawn", "random")}
    return Guess(gold, READERS["judged"].build({**table.form, **options}), tuple(
        System(given.name, given.document, READERS["judged"].build({**one.form, **options}))
        for given, one in systems), (
        *Matched(Given("", gold), table, (item,)).told,
        "a judge's scores in column 'judge' of each system, people's of some items in column 'human'"),
        SURE if "drawn" in asked.options else OPEN, _DRAWN, answer="--as judged --option drawn=random")


def _spans(gold: Document, table: Table, systems: Sequence[tuple[Given, Table]]) -> Iterator[Guess]:
    parts = [_parts(one) for one in (table, *(one for _, one in systems))]
    if None in parts:
        return
    mine, *theirs = [one for one in parts if one is not None]
    items = [name for name in table.names if all(name in one.names for _, one in systems)
             and not any(name in (*one.values(), "score", "text") for one in (mine, *theirs))]
    if not items:
        return
    item = {"item": items[:1]}
    yield Guess(gold, READERS["spans"].build({**table.form, **item, **mine}), tuple(
        System(given.name, given.document, READERS["spans"].build({**one.form, **item, **options}))
        for (given, one), options in zip(systems, theirs, strict=True)), (
        f"{gold.path}: {table.written}; {table.why}",
        f"a span in each row: from column {mine['start']!r} to {mine['end']!r}, its type in column {mine['type']!r}, "
        f"its item in {items[0]!r}"),
        SURE if len(items) == 1 else OPEN, f"items are named by column {items[0]!r}",
        answer=f"--as spans --option item={items[0]}")


def _parts(table: Table) -> dict[str, str] | None:
    """Which columns have the starts, ends and types of spans; None where none are called so."""
    places = next((pair for pair in PLACES if set(pair) <= set(table.names)), None)
    type_ = next((name for name in TYPES if name in table.names), None)
    return None if places is None or type_ is None else {"start": places[0], "end": places[1], "type": type_}
