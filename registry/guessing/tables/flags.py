"""Labels of which an item may have several: a column of 0 and 1 for each, called alike in the gold and all systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.errors import listed
from registry.guessing.guess import OPEN, SURE, Asked, Given, Guess, System
from registry.guessing.looks import Table, tables
from registry.guessing.tables.keys import Matched, called, match, may_name
from registry.readers import READERS, Document, Reader

_FLAGS = frozenset(("0", "1", "0.0", "1.0", "true", "false"))
_ENOUGH = 3  # columns that are labels for sure: two may be two tasks
_SHOWN = 5  # labels in a message


@dataclass(frozen=True)
class _Flags(Matched):
    """A file's table, the column that names its items (none: rows do), and those of the labels by their names."""

    labels: dict[str, int]

    @property
    def multilabel(self) -> Reader:
        """The reader of such a file."""
        names = list(self.table.names)
        if not self.table.header:
            for name, n in (*self.labels.items(), *(("item", n) for n in self.keys)):
                names[n] = name
        columns = {} if self.table.header else {"columns": names}
        return READERS["multilabel"].build({
            **self.table.form, **columns, "item": [names[n] for n in self.keys], "labels": list(self.labels)})


def flags(gold: Document, systems: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    """Guess labels of which an item may have several.

    Raises:
        InputError: Systems say how probable each label is, not which an item has.
    """
    if not asked.allows("multilabel", "answer") or "label" in asked.options:  # one alone is meant
        return
    for table in sorted(tables(gold), key=lambda one: -one.sure):
        labels = _labels(table)
        if len(labels) < 2 or (len(labels) < _ENOUGH and asked.kind is None) or table.sure == OPEN:
            continue
        keys: list[tuple[int, ...]] = [
            (n,) for n, column in enumerate(table.columns) if column.is_key and may_name(table, n)]
        for key in keys or [()]:
            of_gold = _Flags(Given("", gold), table, key, labels)
            found = [one for given in systems if (one := _like(of_gold, given)) is not None]
            if len(found) == len(systems) and not _repeat(of_gold, found):
                _check(found)
                yield _guess(of_gold, found)
                return


def _named(table: Table) -> dict[str, int]:
    """The columns by their names, made-up ones where they have none."""
    return {name if table.header else f"label{n + 1}": n for n, name in enumerate(table.names)}


def _labels(table: Table) -> dict[str, int]:
    """The columns of 0 and 1, by their names."""
    found = {name: n for name, n in _named(table).items() if _is_flags(table, n)}
    are_numbers = any(table.column(n).is_numeric for n in found.values())  # then true and false are of something else
    return {name: n for name, n in found.items() if table.column(n).is_numeric == are_numbers}


def _like(gold: _Flags, given: Given) -> _Flags | None:
    """A system's table with numbers in columns that are called as the gold's labels, or without names stand there."""
    files = [match(gold.table, gold.keys[0], given)] if gold.keys else [
        Matched(given, table, ()) for table in tables(given.document)]
    for table, keys in ((one.table, one.keys) for one in files if one is not None):
        names = _named(table)
        is_alike = table.header == gold.table.header and (table.header or len(table.names) == len(gold.table.names))
        if is_alike and gold.labels.keys() <= names.keys() and {*keys}.isdisjoint((columns := {
                name: names[name] for name in gold.labels}).values()) and all(
                    table.column(n).is_mostly_numeric or _is_flags(table, n) for n in columns.values()):
            return _Flags(given, table, keys, columns)
    return None


def _is_flags(table: Table, n: int) -> bool:
    return {cell.casefold() for cell in table.column(n).values} <= _FLAGS


def _repeat(gold: _Flags, systems: Sequence[_Flags]) -> bool:
    """Whether all systems have some column as the gold has it: it describes items then, and is no answer."""
    return any(all(one.of_items(one.labels[name]) == gold.of_items(n) for one in systems)
               for name, n in gold.labels.items() if len(gold.table.column(n).values) > 1)


def _check(systems: Sequence[_Flags]) -> None:
    for one in systems:
        for name, n in one.labels.items():
            if one.table.column(n).is_numeric and not _is_flags(one.table, n):
                raise one.given.document.error(
                    f"the gold has 1 and 0 for each of {len(one.labels)} labels, and this has numbers, as of how "
                    f"probable they are, as in {called(one.table, n)}: write 1 for the labels that an item is given, "
                    f"0 for others ({name!r} from 0.5 on, say)")


def _guess(gold: _Flags, systems: Sequence[_Flags]) -> Guess:
    return Guess(gold.given.document, gold.multilabel, tuple(
        System(one.given.name, one.given.document, one.multilabel) for one in systems), (
        *gold.told,
        f"{len(gold.labels)} labels of which an item may have several, a column of 0 and 1 for each: "
        f"{listed(list(gold.labels), _SHOWN)}"),
        SURE, "labels of which an item may have several")
