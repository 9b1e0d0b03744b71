"""Lists of spans in each item's JSON, as annotation tools write them: which list is meant, and what in it is what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from registry.errors import counted
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Given, Guess, System
from registry.guessing.looks import DOCUMENTS, ENOUGH_DOCUMENTS, PLACES, TYPES, WORDS, Column, members_within
from registry.guessing.records import Records, records
from registry.readers import Document, Spans
from registry.readers.parsing.json_values import ABSENT, at_path
from registry.readers.tables import as_text

_GOLDS = re.compile(r"(?<![a-z])(gold|golds|truth|reference|labels?)(?![a-z])", re.I)
_ID = re.compile(r"(?i)(.*[_.-])?(id|ids|uid|key|item|name|doc|document|hash)|.*I[dD]")
_DEEPEST = 4  # objects within objects
_LOOKED_AT = 100  # items in which lists are looked for
_COMMON = 0.5  # the share of items that gold and system have in common at the least


@dataclass(frozen=True)
class _List:
    """A column with a list of spans in every row of a file, and where in a span its parts are."""

    document: Document
    of: Records
    column: str
    start: str
    end: str
    type: str

    @cached_property
    def spans(self) -> list[tuple[tuple[Any, ...], ...]]:
        """The spans of every row: start, end, type."""
        names = [name for name in (self.start, self.end, self.type) if name]
        return [tuple(sorted(tuple(at_path(span, name) for name in names) for span in at_path(row, self.column) or ()))
                for row in self.of.rows]

    @cached_property
    def is_inclusive(self) -> bool:
        """Whether a span ends where it begins: ends are then its last position."""
        return any(span[0] == span[1] for spans in self.spans for span in spans)

    def cells(self, name: str) -> Column:
        """What stands in another column, as text."""
        return Column([as_text(at_path(row, name)) or "" for row in self.of.rows])

    def reader(self, options: Mapping[str, Any]) -> Spans:
        """The reader of this list, with further options."""
        return Spans.build({**self.of.form, "spans": self.column, "start": self.start, "end": self.end,
                            "type": self.type, **options})


def span_lists(gold: Document, systems: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    """Guess lists of spans: of a file for the gold and one for each system, or, without systems, all of one file."""
    if not asked.allows("spans", "span"):
        return
    mine = _lists(gold, asked)
    if not systems:
        yield from _of_columns(mine)
        return
    for of_gold in mine:
        theirs = [_answering(of_gold, given.document, asked) for given in systems]
        found = [one for one in theirs if one is not None]
        if len(found) == len(systems):
            yield from _guesses(of_gold, list(zip([given.name for given in systems], found, strict=True)),
                                SURE if len(mine) == 1 else LIKELY)


def _of_columns(found: Sequence[_List]) -> Iterator[Guess]:
    """Guess that one list of each item is the gold, by its name, and each other one a system's."""
    golds = [one for one in found if _GOLDS.search(one.column)]
    if len(golds) == 1 and len(found) > 1:
        systems = [(one.column, one) for one in found if one is not golds[0]]
        for guess in _guesses(golds[0], systems, SURE):
            yield replace(guess, why=(*guess.why, "systems are the other lists of spans: "
                                                  + ", ".join(name for name, _ in systems)))


def _guesses(gold: _List, systems: Sequence[tuple[str, _List]], sure: int) -> Iterator[Guess]:
    """The guess with spans that share no position, and the one with such that may."""
    named = _items(gold, [one for _, one in systems])
    if named is None:
        return
    keys, why, of_items = named
    groups = next((name for name in gold.of.rows[0] if name.casefold() in DOCUMENTS and [name] != keys), None)
    attributes = [groups] if groups and ENOUGH_DOCUMENTS <= len(gold.cells(groups).values) < len(gold.of.rows) else []
    inclusive = any(one.is_inclusive for one in (gold, *(one for _, one in systems)))
    types = Counter(span[2] for spans in gold.spans for span in spans if gold.type)
    shown = ", ".join(name for name, _ in types.most_common(5)) + (" ..." if len(types) > 5 else "")
    told = [f"{gold.document.path}: {gold.of.written}", why,
            f"{counted(sum(map(len, gold.spans)), 'span')} ({shown or 'without types'}) in lists {gold.column!r}: from "
            f"{gold.start!r} to {gold.end!r}" + (", which is the last position itself" if inclusive else "")
            + (f", their types in {gold.type!r}" if gold.type else "")]
    told += [f"otherwise {name}: {one.of.written}, lists {one.column!r}" for name, one in systems
             if one.document != gold.document and (one.of.written, one.column) != (gold.of.written, gold.column)]
    told += [f"texts of {name} are not the gold's in {counted(n, 'item')}, so that positions may be of another text"
             for name, one in systems if (n := _unlike(gold, one, keys))]
    if attributes:
        told.append(f"column {groups!r} names {len(gold.cells(attributes[0]).values)} documents, whose items are not "
                    "independent: whole documents are swapped")
    for overlaps in ("reject", "allow"):
        options = {"item": keys, "inclusive": inclusive, "overlaps": overlaps}
        allowed = ["spans of an item overlap (overlaps = allow)"] if overlaps == "allow" else []
        yield Guess(gold.document, gold.reader({**options, "attributes": attributes}), tuple(
            System(name, one.document, one.reader(options)) for name, one in systems), (*told, *allowed),
            min(sure, of_items, LIKELY if allowed else SURE), f"spans are those of {gold.column!r}; {why}",
            cluster=next(iter(attributes), None),
            answer=f"--as spans --option spans={gold.column}" if sure < SURE else "--as spans --option item=[]")


def _items(gold: _List, systems: Sequence[_List]) -> tuple[list[str], str, int] | None:
    """The columns that name the items in all files, why, and how sure that is; None where nothing can.

    Identifiers come first; then texts that are the same line by line, and where nothing else is there, the order.
    """
    names = [name for name in _scalars(gold.of.rows[0]) if all(_has(one, name) for one in (gold, *systems))]
    keys = [name for name in names if gold.cells(name).is_key and not _is_text(gold.cells(name))
            and all(gold.cells(name).shared(one.cells(name)) > _COMMON for one in systems)]
    n = counted(len(gold.of.rows), "item")
    if keys:
        key = min(keys, key=lambda name: (_ID.fullmatch(name) is None, name.count(".")))
        return [key], f"items by {key!r}: {n}", SURE
    for name in (name for name in names if _is_text(gold.cells(name))):
        if all(one.cells(name).cells == gold.cells(name).cells for one in systems):
            return [], f"{n}, by their order: their {name!r} is the same in all files", SURE
        if gold.cells(name).is_key and all(gold.cells(name).shared(one.cells(name)) > _COMMON for one in systems):
            return [name], f"items by {name!r}: {n}", SURE
    if {len(one.of.rows) for one in systems} != {len(gold.of.rows)}:
        return None
    return [], f"{n}, by their order: no column names them in all files", OPEN


def _unlike(gold: _List, system: _List, keys: Sequence[str]) -> int:
    """In how many items the texts of both are not the same, where both have them in one column."""
    texts = next((name for name in _scalars(gold.of.rows[0]) if name not in keys and _is_text(gold.cells(name))
                  and _has(gold, name) and _has(system, name)), None)
    if texts is None or not keys:
        return 0
    right = dict(zip(gold.cells(keys[0]).cells, gold.cells(texts).cells, strict=True))
    theirs = dict(zip(system.cells(keys[0]).cells, system.cells(texts).cells, strict=True))
    return sum(text != right.get(key, text) for key, text in theirs.items())


def _lists(document: Document, asked: Asked) -> list[_List]:
    """The columns of a file that are lists of spans; where some have types, others are of tokens or the like."""
    if (found := records(document)) is None:
        return []
    read: list[_List] = []
    columns = list(dict.fromkeys(path for row in found.rows[:_LOOKED_AT] for path in _paths(row)))
    for column in columns:
        lists = [at_path(row, column) for row in found.rows]
        if not asked.names("spans", columns, column) or any(one is ABSENT for one in lists):
            continue
        spans = [span for one in lists if isinstance(one, list) for span in one]
        if spans and all(one is None or isinstance(one, list) for one in lists) and (parts := _parts(spans)):
            read.append(_List(document, found, column, *parts))
    return [one for one in read if one.type] or read


def _parts(spans: Sequence[Any]) -> tuple[str, str, str] | None:
    """Where in all of these are their starts, ends and types; None where they are no spans."""
    if all(isinstance(span, list) for span in spans):
        pair = {len(span) for span in spans} == {2}
        places = [("0", "1", "")] if pair else [("0", "1", "2"), ("1", "2", "0")]
        return next((one for one in places if _fit(spans, *one)), None)
    if not all(isinstance(span, Mapping) for span in spans):
        return None
    within = [prefix for name in ("", *spans[0]) for prefix in ([name] if not name or isinstance(
        spans[0][name], Mapping) else [])]
    for prefix in (f"{name}." if name else "" for name in within):
        for start, end in PLACES:
            for type_ in (*(f"{prefix}{name}{place}" for name in TYPES for place in ("", ".0")), ""):
                if _fit(spans, prefix + start, prefix + end, type_):
                    return prefix + start, prefix + end, type_
    return None


def _fit(spans: Sequence[Any], start: str, end: str, type_: str) -> bool:
    return all(type(at_path(span, name)) is int for span in spans for name in (start, end)) and (
        not type_ or all(isinstance(at_path(span, type_), str) and at_path(span, type_) for span in spans))


def _answering(gold: _List, document: Document, asked: Asked) -> _List | None:
    """A system's list: not one that repeats the gold's, and of several the one that is called as the gold's is.

    Of a system that says nothing it is the one that is called so.
    """
    found, of = _lists(document, asked), records(document)
    if not found and of is not None and all(at_path(row, gold.column) in ([], None) for row in of.rows):
        return replace(gold, document=document, of=of)
    if len(found) > 1:
        found = [one for one in found if one.spans != gold.spans] or found
    return next((one for one in found if one.column == gold.column), found[0] if len(found) == 1 else None)


def _paths(entry: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[str]:
    """The paths of an entry's lists of lists and objects, those in the only object of another list too."""
    for name, value in entry.items():
        path = f"{prefix}{name}"
        if isinstance(value, list) and all(isinstance(one, list | Mapping) for one in value):
            yield path
        only = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(only, Mapping) and depth < _DEEPEST and "." not in name:
            yield from _paths(only, f"{path}." if only is value else f"{path}.0.", depth + 1)


def _scalars(entry: Mapping[str, Any]) -> list[str]:
    """The paths of what is text or a whole number in an entry."""
    return [path for path, value in members_within(entry, _DEEPEST) if isinstance(value, str) or type(value) is int]


def _has(one: _List, name: str) -> bool:
    return all(as_text(at_path(row, name)) is not None for row in one.of.rows)


def _is_text(column: Column) -> bool:
    return 2 * sum(len(cell.split()) >= WORDS for cell in column.cells) >= len(column.cells)
