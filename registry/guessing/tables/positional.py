"""A label or number on every line, in the order of the gold's items: nothing but the line's number says whose it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from registry.errors import counted
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Given, Guess
from registry.guessing.looks import PAIRED, WORDS, Table, even_mark, header, is_number, single, tables, text_lines
from registry.guessing.records import mended
from registry.guessing.tables.keyed import VALUE, is_header_of_all, told_renamed
from registry.guessing.tables.keys import Matched, called, counts, is_id, is_sorted, may_name, naming
from registry.guessing.tables.values import Kind, kinds, renamed
from registry.guessing.words import n_words
from registry.readers import Document

_FEW = 10  # lines; of fewer nothing tells labels from words


@dataclass(frozen=True)
class _Rows:
    """Lines as a table: of one column, or the gold's with keys; and which column has the values.

    `open_ended` values are mostly different ones: words rather than labels. Of a table without keys only values
    `of_labels` are taken: of several columns of numbers any may be meant.
    """

    table: Table
    column: int
    open_ended: bool = False
    of_labels: bool = False

    @property
    def sure(self) -> int:
        """How sure it can be that this is meant."""
        return min(self.table.sure, LIKELY) if self.open_ended else self.table.sure

    @property
    def is_text(self) -> bool:
        """Whether the values are sentences rather than labels."""
        return self.open_ended and mean(map(n_words, self.cells)) >= WORDS

    @property
    def is_worded(self) -> bool:
        """Whether most lines have several words, and hardly one is as another: an item's name, say, and its label."""
        several = sum(len(cell.split()) > 1 or cell != cell.strip() for cell in self.cells)  # one of two may be blank
        return self.open_ended and 2 * several >= len(self.cells)

    @property
    def cells(self) -> list[str]:
        """The values, a blank one where a line is."""
        return self.table.column(self.column).cells


def positional(gold: Document, systems: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    """Guess labels or numbers of systems whose lines stand in the gold's order."""
    if not any(asked.allows(name, gives) for name, gives in (("labels", "label"), ("scores", "score"))):
        return
    bare = [list(_lines(given.document)) for given in systems]
    nameless = [found or _nameless(given.document) for found, given in zip(bare, systems, strict=True)]
    numbered = [found if bare_ else list(_numbered(given.document)) or found for bare_, found, given in zip(
        bare, nameless, systems, strict=True)]
    mine = [*((right, numbered) for right in _lines(gold)), *(
        (_Rows(table, n), nameless) for table in tables(gold)
        for n, name in _named(table) if asked.names("label", table.names, name)
        and not (table.column(n).is_whole and table.column(n).is_key))]  # which names items
    guesses: list[tuple[_Rows, Guess]] = []
    for right, theirs in mine:
        fitting = [_fitting(right, found) for found in theirs]
        chosen = [one for one in fitting if one is not None]
        if len(chosen) < len(systems):
            continue
        if asked.options.get("header") is not False and is_header_of_all(one.table for one in (right, *chosen)):
            continue
        if all(one.of_labels and one.cells == right.cells for one in chosen):
            continue  # what all systems have as the gold has it is no answer
        answers = [[cell for cell in one.cells if cell.strip()] for one in chosen]
        said = asked.kind is not None or asked.metric is not None
        if not said and (right.is_text or not all(_answers(right.cells, cells) for cells in answers)):
            continue
        of_labels = any(one.of_labels for one in chosen)
        guesses += [(right, _guess(gold, right, list(zip(systems, chosen, strict=True)), kind))
                    for kind in kinds(right.cells, answers, asked) if kind.format == "labels" or not of_labels]
    for right, guess in guesses:  # of any column that lines may go with
        are_rivals = any(other.table is right.table and other.column != right.column for other, _ in guesses)
        is_likely = are_rivals and guess.sure == LIKELY and right.sure == SURE  # and decides nothing between columns
        yield replace(guess, sure=SURE if is_likely else guess.sure, is_rival=are_rivals)


def _guess(gold: Document, right: _Rows, systems: Sequence[tuple[Given, _Rows]], kind: Kind) -> Guess:
    of_gold, of_system = VALUE[kind.format]
    read = tuple(Matched(given, rows.table, ()).system(kind.format, {of_system: rows.column}, renamed(
        kind.format, {*right.cells}, {*rows.cells})) for given, rows in systems)
    file = Matched(Given("", gold), right.table, ())
    why = (file.told[0], f"{kind.format} in {called(right.table, right.column)}: {kind.why}",
           f"{_ordered([rows for _, rows in systems])}: taken to be in the gold's order, "
           f"{counted(len(right.cells), 'item')}", *told_renamed(read))
    sure = min(kind.sure, right.sure, *(rows.sure for _, rows in systems), OPEN if right.is_worded else SURE)
    return Guess(gold, file.reader(kind.format, {of_gold: right.column}), read, why, sure, kind.means, kind.metric,
                 answer=f"--as {kind.format}" if kind.sure < SURE or right.is_worded else "")


def _ordered(systems: Sequence[_Rows]) -> str:
    """Say what stands on the systems' lines."""
    rows = next((one for one in systems if len(one.table.names) > 1), None)
    if rows is None:
        return "the systems have a value on each line and no key"
    place = called(rows.table, rows.column)
    return f"the systems have their own in {place}, and no names of items" if rows.of_labels else (
        f"the systems number their lines, and have a value in {place}")


def _numbered(document: Document) -> Iterator[_Rows]:
    """A file of rows that one column numbers in their order, and of whose others one alone is not the same in all."""
    for table in tables(document):
        columns = dict(enumerate(table.columns))
        counting = [n for n, column in columns.items() if counts(column) and is_sorted(column)]
        varied = [n for n, column in columns.items() if len(column.values) > 1 and n not in counting]
        if len(counting) == len(varied) == 1:
            yield _Rows(table, varied[0])


def _named(table: Table) -> list[tuple[int, str]]:
    """The columns that can be meant, which have a name where others have."""
    return [(n, name) for n, name in enumerate(table.names) if (name or not table.header)
            and len(table.names) <= PAIRED]


def _nameless(document: Document) -> list[_Rows]:
    """The columns of a table none of which names its rows, but for numbers of them in their order."""
    found: list[_Rows] = []
    for table in tables(document) or single(document):
        columns = {n: table.column(n) for n, _ in _named(table)}
        others = {n: column for n, column in columns.items() if not (counts(column) and is_sorted(column))}
        if any(column.is_nearly_key and may_name(table, n) for n, column in others.items()) or any(
                True for _ in naming(table)) or _has_items(table):
            return []
        found += (_Rows(table, n, of_labels=True) for n in others)
    return found


def _has_items(table: Table) -> bool:
    """Whether a column is called as one that names items, of which each then has several rows."""
    return table.header and any(is_id(name) and len(table.column(n).values) > 1 for n, name in enumerate(table.names)
                                if not counts(table.column(n)))


def _fitting(right: _Rows, found: Sequence[_Rows]) -> _Rows | None:
    """Return the likely way to read a system's lines that has as many as the gold; else the surest one.

    None where it is a table, and not one of its columns alone has as many values of the gold's.
    """
    if found and all(len(one.table.names) == 1 for one in found):
        return max(found, key=lambda one: (
            len(one.cells) == len(right.cells) and (one.sure > OPEN or right.sure == OPEN), one.sure))
    fitting = [one for one in found if len(one.cells) == len(right.cells) and _answers(right.cells, one.cells)]
    surest = [one for one in fitting if one.sure == max(other.sure for other in fitting)]
    return surest[0] if len(surest) == 1 else None


def _answers(right: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether a system's values may be answers to the gold's."""
    values = {cell.casefold() for cell in right}
    numeric = all(map(is_number, values)) and all(map(is_number, cells))
    return bool(cells) and (numeric or 2 * sum(cell.casefold() in values for cell in cells) > len(cells))


def _lines(document: Document) -> Iterator[_Rows]:
    """A file as a column of one: with its first line as a value, and as the column's name."""
    lines = [line for _, line in text_lines(document)]
    filled = [[line.strip()] for line in lines if line.strip()]
    if not filled or even_mark(lines) or lines[0].startswith(("{", "[", "<")) or any("\t" in line for line in lines):
        return
    form = {"separator": "tab", **mended(document)}
    sure, why = header(filled)
    open_ended = len(filled) >= _FEW and 2 * len(set(map(tuple, filled))) > len(filled)
    for is_header, certain in ((True, sure), (False, {SURE: OPEN, LIKELY: LIKELY, OPEN: SURE}[sure])):
        if is_header and (not lines[0].strip() or len(filled) < 2):
            continue
        name, cells = (lines[0], lines[1:]) if is_header else ("value", lines)
        told = why if is_header or certain < SURE else f"no header: {why}"
        yield _Rows(Table((name,), [[line] for line in cells], form, is_header, certain, told, "a value on each line"),
                    0, open_ended)
