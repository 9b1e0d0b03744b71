"""Tables whose rows are items: a key in one column of the gold is found again in one of every system's file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from registry.errors import InputError, counted
from registry.evaluation.ingest.mistakes.headers import COLUMNS
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Given, Guess, System
from registry.guessing.looks import Table, is_number, tables
from registry.guessing.tables.values import Kind, kinds, renamed
from registry.readers import READERS, Document, Reader

COMMON = 0.5  # the share of keys that gold and system have in common at the least; what lacks is told by reading
DOCUMENTS = frozenset(("document", "doc", "doc_id", "docid", "document_id"))
_SAME, _BESIDE = "the same as the gold's", "not the gold's"
_PLACES = frozenset(("begin", "end", "offset", "onset", "start"))  # in a text or in time: several items may have them
_ID = re.compile(r"^(?:id|idx|uid|qid)$|[_. -]id$|[a-z]I[dD]$|[A-Z]_?ID$")
_WIDE, _KEYS = 50, 100  # columns of a table of fewer rows, which is rather one torn line; keys that are tried
_LABELS = 2  # of a decision
_SHOWN = 40  # characters of a key
_COLUMNS = 3  # between which blanks stand, where it is clear that they are some
ENOUGH = 10  # documents: of fewer, whole ones can hardly be tested
VALUE = {"labels": ("label", "label"), "scores": ("gold", "score")}  # what a gold's and a system's column are called


@dataclass(frozen=True)
class Matched:
    """A system's table, and which of its columns has the keys."""

    given: Given
    table: Table
    key: int

    def has_item(self, key: str) -> bool:
        """Whether an item has this key, or the first line would have it if it were no header."""
        return key in self.table.column(self.key).values or (self.table.header and self.table.names[self.key] == key)

    def aligned(self, keys: Sequence[str], n: int) -> list[str]:
        """The cells of a column in the order of the gold's keys, as far as these are there."""
        found = dict(zip(self.table.column(self.key).cells, self.table.column(n).cells, strict=True))
        return [found[key] for key in keys if key in found]


def keyed(gold: Document, systems: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    """Guess labels or numbers of items that are known by a key."""
    if not any(asked.allows(name, gives) for name, gives in (("labels", "label"), ("scores", "score"))):
        return
    columns = [(table, n) for table in tables(gold) if len(table.names) <= max(_WIDE, len(table.rows))
               for n, name in enumerate(table.names)
               if asked.names("item", table.names, name) and ("item" in asked.options or may_name(table, n))]
    keys = [(table, n) for table, n in columns if table.column(n).is_key]
    if all(table.sure == OPEN for table, _ in keys):  # else an item that stands twice would be told as no key at all
        keys += [(table, n) for table, n in columns if table.column(n).is_nearly_key and not table.column(n).is_key]
    for table, key in keys[:_KEYS]:
        found = [one for given in systems if (one := _match(table, key, given)) is not None]
        if len(found) == len(systems) and (asked.options.get("header") is False or not is_header_of_all(
                table, [one.table for one in found])):
            yield from _valued(gold, table, key, found, asked)


def may_name(table: Table, n: int) -> bool:
    """Whether a column may name items: one of decimals or places does not, unless it is the first or called so."""
    name, column = table.names[n].casefold(), table.column(n)
    is_named = name in COLUMNS if table.header else n == 0
    return is_named or (name not in _PLACES and (column.is_whole or not column.is_numeric))


def is_id(name: str) -> bool:
    """Whether a column is called as one of identifiers is."""
    return _ID.search(name) is not None


def unmatched(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say in which system no column has most of the keys of any column of the gold, if that is a table."""
    columns = [(table, n) for table in tables(gold) for n in range(len(table.names)) if table.column(n).is_nearly_key]
    other = next((given for given in systems if columns and all(
        _match(table, n, given) is None for table, n in columns)), None)
    if other is None:
        return None
    return InputError(f"no column of it has most of the items of {gold.path}, which seems to be a table, "
                      f"{tables(gold)[0].written}{_unlike(columns, tables(other.document))}", path=other.document.path)


def _unlike(columns: Sequence[tuple[Table, int]], theirs: Sequence[Table]) -> str:
    """Say how few of a gold's items a file has, or how differently they are called."""
    others = [table.column(n) for table in theirs for n in range(len(table.names)) if table.sure > OPEN
              and may_name(table, n)]
    keys, own = max(((table.column(n).values, other.values) for table, n in columns for other in others
                     if table.sure > OPEN and may_name(table, n)), key=lambda one: len(one[0] & one[1]),
                    default=(frozenset(), frozenset()))
    if keys & own:
        return f": {len(keys & own)} of {len(keys)}" + (
            "; take the others out of the gold if they are not asked for" if own <= keys else "")
    named = [next((one.column(n).cells[0][:_SHOWN] for one in sorted(of, key=lambda table: -table.sure)
                   for n in range(len(one.names)) if one.column(n).is_nearly_key and may_name(one, n)), None)
             for of in (theirs, [table for table, _ in columns])]
    if None in named:
        return ""
    return f"; its first is {named[0]!r}, the gold's {named[1]!r}"


def matched(gold: Document, systems: Sequence[Given]) -> Iterator[tuple[Table, int, list[Matched]]]:
    """The columns of the gold whose keys all systems have, and theirs."""
    for table in sorted(tables(gold), key=lambda one: -one.sure):
        for key in range(len(table.names)) if systems else ():
            found = [one for given in systems if (one := _match(table, key, given)) is not None]
            if table.column(key).is_key and len(found) == len(systems):
                yield table, key, found


def graded(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that the gold has one of two labels where all systems have numbers, as of how sure they are."""
    for table, _, found in matched(gold, systems):
        if not all(any(one.table.column(n).is_numeric for n in range(len(one.table.names)) if n != one.key)
                   for one in found):
            continue
        for n in range(len(table.names)):
            values = sorted(table.column(n).values)
            if len(values) == _LABELS and not any(map(is_number, values)):
                return InputError(
                    f"{called(table, n)} has two labels, {' and '.join(values)}, and the systems have numbers, as of "
                    "how sure they are: for rank correlation write 1 for the label of which more is more, 0 for the "
                    "other, and say --as scores; or write the labels that systems decide for", path=gold.path)
    return None


def is_header_of_all(gold: Table, systems: Sequence[Table]) -> bool:
    """Whether tables read without a header surely have one, all of them: as an item it would be a class of its own."""
    return all(table.sure == OPEN and not table.header for table in (gold, *systems))


def _match(gold: Table, key: int, given: Given) -> Matched | None:
    """The column of a system's file that has most of the keys; of equals that of a table written as the gold's is."""
    best, most, keys = None, COMMON, gold.column(key).values

    def unlike(table: Table) -> int:
        names = table.form.keys() | gold.form.keys()
        return sum([table.header != gold.header, *(table.form.get(name) != gold.form.get(name) for name in names)])

    for table in sorted(tables(given.document), key=unlike):
        for n in range(len(table.names)):
            column = table.column(n)
            share = len(keys & column.values) / max(len(keys), len(column.values), 1)
            if column.is_nearly_key and (share > most or (share == most and best is None)):
                best, most = Matched(given, table, n), share
    return best


def _valued(gold: Document, table: Table, key: int, matched: Sequence[Matched], asked: Asked) -> Iterator[Guess]:
    """Guess which columns have the values, and what they are."""
    keys = table.column(key).cells
    has_answers = any(one.given.document.path == gold.path for one in matched)
    candidates: list[tuple[str, int, list[int]]] = []
    for n, name in enumerate(table.names):
        if n == key or not asked.names("label", table.names, name) or not asked.names("gold", table.names, name):
            continue
        right = dict(zip(keys, table.column(n).cells, strict=True))
        columns = [column for one in matched if (column := _answering(right, (table, key, n), one, asked)) is not None]
        if len(columns) == len(matched):
            is_copied = all(one.aligned(keys, column) == list(right.values())
                            for one, column in zip(matched, columns, strict=True))
            if not has_answers:
                candidates.append((_SAME if is_copied else "", n, columns))
            others = [_beside(right, one, column, asked) for one, column in zip(matched, columns, strict=True)]
            if is_copied and (answering := [n for n in others if n is not None])[:1] and len(answering) == len(others):
                candidates.append((_BESIDE, n, answering))
    said = {"gold", "label"} & asked.options.keys() or table.form.get("separator") == "whitespace"  # or words of text
    tell = any(not note for note, _, _ in candidates)  # where others do, copies of all tell nothing
    for note, n, columns in [one for one in candidates if not (tell and one[0] == _SAME)]:
        answers = [one.table.column(column).cells for one, column in zip(matched, columns, strict=True)]
        for kind in kinds(table.column(n).cells, answers, asked):
            guess = _guess((gold, table, key, n), list(zip(matched, columns, strict=True)), kind)
            if note == _BESIDE:
                places = dict.fromkeys(called(one.table, column) for one, column in zip(matched, columns, strict=True))
                guess = replace(guess, why=(*guess.why, f"the systems repeat it, and have their own in "
                                                        f"{', '.join(places)}"))
            elif not said and ((table.header and is_id(table.names[n])) or (note and all(
                    other == _SAME for other, _, _ in candidates))):  # what names or describes items, say
                guess = replace(guess, sure=OPEN, answer=f"--as {kind.format}")
            guess = replace(guess, repeated=note == _SAME and any(other == _BESIDE for other, _, _ in candidates))
            yield replace(guess, means=f"{guess.means}, {note}") if note else guess


def _answering(right: dict[str, str], of: tuple[Table, int, int], one: Matched, asked: Asked) -> int | None:
    """Which column of a system answers the gold's, of a table, with keys and values; None where nothing tells."""
    table, key, value = of
    others = [n for n, called in enumerate(one.table.names) if n != one.key
              and asked.names("label", one.table.names, called) and asked.names("score", one.table.names, called)]
    if len(others) <= 1:
        return others[0] if others else None
    names, name = table.names, table.names[value]
    values = set(right.values())
    numeric = all(map(is_number, values))
    fitting = [n for n in others if one.table.column(n).values & values or (numeric and one.table.column(n).is_numeric)]
    if one.table.header and (called := [n for n in fitting if one.table.names[n] == name] or [
            n for n in fitting if one.table.names[n].casefold() == name.casefold()]):
        return called[0]
    are_alike = not (one.table.header or table.header) and len(names) == len(one.table.names) and one.key == key
    if are_alike and value in fitting and one.table.form["separator"] != "whitespace":
        return value
    if len(fitting) > 1:
        cells = {n: one.aligned(list(right), n) for n in fitting}
        copies = [n for n in fitting if cells[n] == list(right.values())]
        if len(copies) == 1 and 2 * len(values) <= len(right):
            return copies[0]  # what stands beside it is looked at then
        likely = [n for n in fitting if 2 * sum(cell in values for cell in cells[n]) > len(cells[n])]
        fitting = [n for n in likely if not one.table.header or one.table.names[n] not in names] or likely or fitting
    return fitting[0] if len(fitting) == 1 else None


def _beside(right: dict[str, str], one: Matched, copied: int, asked: Asked) -> int | None:
    """The one column with the gold's values beside that which repeats the gold; None where there is none."""
    values = set(right.values())
    cells = {n: one.aligned(list(right), n) for n, called in enumerate(one.table.names) if n not in (one.key, copied)
             and asked.names("label", one.table.names, called) and asked.names("score", one.table.names, called)}
    found = [n for n in cells if 2 * sum(cell in values for cell in cells[n]) > len(cells[n])]
    return found[0] if len(found) == 1 else None


def _guess(at: tuple[Document, Table, int, int], matched: Sequence[tuple[Matched, int]], kind: Kind) -> Guess:
    gold, table, key, value = at
    of_gold, of_system = VALUE[kind.format]
    right = table.column(value).values
    systems = tuple(System(one.given.name, one.given.document, table_reader(
        kind.format, one.table, (one.key,), {of_system: column},
        options=renamed(kind.format, right, one.table.column(column).values))) for one, column in matched)
    agree = sum(one.table.column(one.key).values == table.column(key).values for one, _ in matched)
    why = [f"{gold.path}: {table.written}; {table.why}",
           f"items by {called(table, key)}: {counted(len(table.rows), 'item')}; {agree} of {len(matched)} systems have "
           "them all",
           f"{kind.format} in {called(table, value)}: {kind.why}", *_differing(table, [one for one, _ in matched]),
           *told_renamed(systems)]
    groups = next((n for n, name in enumerate(table.names) if n not in (key, value)
                   and name.casefold() in DOCUMENTS), None)
    attributes: tuple[str, ...] = ()
    if groups is not None and ENOUGH <= (n_documents := len(table.column(groups).values)) < len(table.rows):
        attributes = (table.names[groups],)
        why.append(f"{called(table, groups)} names {n_documents} documents, whose items are not independent: whole "
                   "documents are swapped")
    reader = table_reader(kind.format, table, (key,), {of_gold: value}, attributes)
    is_header = table.header and any(not one.has_item(table.names[key]) for one, _ in matched)
    sure = SURE if is_header else min(one.sure for one in (table, *(one.table for one, _ in matched))
                                      if one.header == table.header)
    if not table.header and table.form.get("separator") == "whitespace" and len(table.names) > _COLUMNS:
        sure = min(sure, LIKELY)  # sentences may have equally many words
    return Guess(gold, reader, systems, tuple(why), min(sure, kind.sure), kind.means, kind.metric,
                 attributes[0] if attributes else None, f"--as {kind.format}" if kind.sure < SURE else "")


def called(table: Table, n: int) -> str:
    """What people call a column: its name, or its place."""
    return f"column {table.names[n]!r}" if table.header else f"column {n + 1} of {len(table.names)}"


def told_renamed(systems: Sequence[System]) -> Iterator[str]:
    """Say which systems write the gold's labels as other numbers."""
    for system in systems:
        if same := dict(getattr(system.reader, "rename", ())):
            shown = ", ".join(f"{cell} is the gold's {label}" for cell, label in same.items())
            yield f"labels of {system.name}: {shown}"


def _differing(table: Table, matched: Sequence[Matched]) -> Iterator[str]:
    """Say which systems are written otherwise than the gold."""
    plain = {name: value for name, value in table.form.items() if name != "comment"}
    others = [one for one in matched if one.table.header != table.header or {
        name: value for name, value in one.table.form.items() if name != "comment"} != plain]
    for form in dict.fromkeys((one.table.written, one.table.header) for one in others):
        same = [one.given.name for one in others if (one.table.written, one.table.header) == form]
        shown = ", ".join(same[:3]) + (f" and {len(same) - 3} more" if len(same) > 3 else "")
        yield f"otherwise {shown}: {form[0]}, {'a' if form[1] else 'no'} header"


def table_reader(format_: str, table: Table, keys: Sequence[int], values: dict[str, int],
                 attributes: Sequence[str] = (), options: Mapping[str, Any] = MappingProxyType({})) -> Reader:
    """The reader of a table: which of its columns have the keys, and by the reader's option each value."""
    options = {**table.form, **options}
    names = list(table.names)
    if not table.header:
        for option, n in values.items():
            names[n] = option
        if len(keys) == 1:
            names[keys[0]] = "item"
        options["columns"] = names
    elif format_ == "labels" and "syntax" not in table.form:
        options["header"] = True
    options |= {option: names[n] for option, n in values.items()}
    options["item"] = "".join(names[n] for n in keys[:1]) if format_ == "labels" else [names[n] for n in keys]
    others = [n for n in range(len(names)) if n not in (*keys, *values.values())]
    if (attributes and format_ != "labels") or (  # which takes all other columns for such, and refuses what is unseen
            format_ == "labels" and not all("".join((names[n], *table.column(n).cells)).isprintable() for n in others)):
        options["attributes"] = list(attributes)
    return READERS[format_].build(options)
