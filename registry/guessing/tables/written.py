"""Tables whose rows are items with a text: what each system wrote, held against a reference of the gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote
from statistics import mean

from registry.errors import counted
from registry.guessing.guess import OPEN, Asked, Given, Guess, System
from registry.guessing.looks import WORDS, Column, Table, single, tables
from registry.guessing.tables.keyed import by_keys, is_header_of_all, table_reader
from registry.guessing.tables.keys import Matched, called, together
from registry.guessing.tables.roles import passed, reading, roles_of
from registry.readers import Document

_REFERENCES = frozenset(("gold", "gold_text", "ref", "reference", "reference_text", "target", "target_text"))
_SOURCES = frozenset(("source", "source_text", "src"))
_GIVEN = _SOURCES | {"article", "context", "document", "input", "instruction", "passage", "prompt", "question"}
_SAME = 0.5  # the share of texts that are the gold's, above which they may as well be right or wrong

At = tuple[Document, Table, tuple[int, ...]]


def written(gold: Document, systems: Sequence[Given], named_as: Sequence[Given] | None,
            asked: Asked) -> Iterator[Guess]:
    """Guess texts of items that are known by a key: a column of text of the gold, and one of each system's own.

    Where no file is called the gold and all repeat its texts, they all are systems', which are then `named_as`.
    """
    if not asked.allows("texts", "segment"):
        return
    found = [(table, keys, matched) for table, keys, matched in by_keys(gold, systems, asked)
             if not is_header_of_all(table, [one.table for one in matched])
             and not any(_has_text_above(one) for one in (table, *(one.table for one in matched)))]
    named = [one for one in found if not any(_is_text(one[0].column(n)) for n in one[1])]
    for table, keys, matched in named or found:
        texts = _texts(table, keys, asked)
        right = _right(table, texts)
        everyone = list(matched)
        if named_as is not None and any(all(_has_gold((gold, table, keys), n, one) for one in matched) for n in right):
            everyone = [replace(one, given=given) for one, given in zip(
                (Matched(named_as[0], table, keys), *matched), named_as, strict=True)]
        own = _own((gold, table, keys), everyone, asked)
        are_rivals = len(right) * len(own) > 1
        if are_rivals and (not table.header or (min(len(right), len(own)) > 1 and "text" not in asked.options)):
            continue  # one option cannot say which are meant
        for n in right:
            for columns in own:
                yield _guess((gold, table, keys), n, list(zip(everyone, columns, strict=True)),
                             is_rival=are_rivals)
    if not found:
        yield from _in_order(gold, systems, asked)


def _in_order(gold: Document, systems: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    """Guess one text in each row of all files, and no name of it: rows are in the gold's order."""
    rows = [next((one for one in tables(document) or single(document) if one.header), None)
            for document in (gold, *(given.document for given in systems))]
    whole = [one for one in rows if one is not None]
    texts = [_right(one, _texts(one, (), asked)) for one in whole]
    if len(whole) == len(rows) and all(len(of) == 1 for of in texts) and len({len(one.rows) for one in whole}) == 1:
        matched = [Matched(given, one, ()) for given, one in zip(systems, whole[1:], strict=True)]
        columns = [(one, n) for one, (n,) in zip(matched, texts[1:], strict=True)]
        yield _guess((gold, whole[0], ()), texts[0][0], columns)


def written_wide(document: Document, asked: Asked) -> Iterator[Guess]:
    """Guess one table of all systems' texts: a column for each of them beside one that is called the reference."""
    if not asked.allows("texts", "segment"):
        return
    for table in tables(document):
        called_so = {n for n, name in enumerate(table.names)
                     if name.casefold() in _REFERENCES or name == asked.options.get("text")}
        if not table.header or table.sure == OPEN or not called_so:
            continue
        roles = roles_of(table, asked)
        texts = _texts(table, roles.keys, replace(asked, options={}))
        right = [n for n in texts if n in called_so]
        others = [n for n in texts if n not in right and table.names[n].casefold() not in _GIVEN]
        if len(right) == 1 and len(others) > 1:
            names = [table.names[n] for n in others]
            source = _source(table, texts)
            reader = table_reader("texts", table, roles.keys, {"text": right[0], **source})
            systems = tuple(System(of, document, table_reader("texts", table, roles.keys, {"text": n}))
                            for of, n in zip(names, others, strict=True))
            left = [n for n in range(len(table.names))
                    if n not in (*roles.keys, *right, *others, *source.values())]
            why = (*reading(document, table, roles, names), f"texts: the reference in {called(table, right[0])}",
                   *passed(table, left))
            yield Guess(document, reader, systems, why, table.sure, "texts of systems in columns")


def _texts(table: Table, keys: Sequence[int], asked: Asked) -> list[int]:
    """The columns of text, of which an option may name one; where texts are asked for, any of words."""
    columns = [(n, table.column(n)) for n, name in enumerate(table.names)
               if n not in keys and asked.names("text", table.names, name)]
    found = [n for n, column in columns if _is_text(column)]
    if found or (asked.kind is None and asked.metric is None):
        return found
    return [n for n, column in columns if any(map(str.strip, column.values)) and not column.is_numeric]


def _right(table: Table, texts: Sequence[int]) -> list[int]:
    """The columns of text that may be the gold's: those that are called so, else all but what systems were given."""
    return [n for n in texts if table.names[n].casefold() in _REFERENCES] or _unless_given(table, texts)


def _is_meant(table: Table, keys: Sequence[int], n: int) -> bool:
    """Whether the gold's column is called a reference, or there is no other than names and what systems were given."""
    others = [table.names[m].casefold() for m in range(len(table.names)) if m not in (*keys, n)]
    return table.names[n].casefold() in _REFERENCES or _GIVEN.issuperset(others)


def _unless_given(table: Table, texts: Sequence[int]) -> list[int]:
    return [n for n in texts if table.names[n].casefold() not in _GIVEN] or list(texts)


def _has_gold(at: At, n: int, one: Matched) -> bool:
    """Whether a system's file has the gold's column, under its name, with its texts."""
    name = at[1].names[n]
    return name in one.table.names and _repeats(at, n, one, one.table.names.index(name))


def _own(at: At, matched: Sequence[Matched], asked: Asked) -> list[tuple[int, ...]]:
    """The columns of text that are called alike in all systems, else the only one of each.

    What all systems repeat of the gold, or have in common, is no answer.
    """
    texts = [_texts(one.table, one.keys, asked) for one in matched]
    places = [{one.table.names[n]: n for n in of} for one, of in zip(matched, texts, strict=True)]
    shared = {name: tuple(of[name] for of in places) for name in places[0] if all(name in of for of in places)}
    own = [name for name, columns in shared.items() if not all(
        _is_copy(at, one, n) for one, n in zip(matched, columns, strict=True)) and not _is_common(matched, columns)]
    if own:
        return [shared[name] for name in own if name.casefold() not in _GIVEN] or [shared[name] for name in own]
    alone = [_unless_given(one.table, [n for n in of if not _is_copy(at, one, n)])
             for one, of in zip(matched, texts, strict=True)]
    return [tuple(of[0] for of in alone)] if all(len(of) == 1 for of in alone) else []


def _is_copy(at: At, one: Matched, n: int) -> bool:
    """Whether a system's column repeats one of the gold's, and is not that one itself."""
    gold, table, keys = at
    return any(_repeats(at, m, one, n) for m in range(len(table.names)) if m not in keys and (
        m != n or one.given.document.path != gold.path))


def _is_common(matched: Sequence[Matched], columns: Sequence[int]) -> bool:
    """Whether all of several systems have the same there: that tells of the items."""
    found = [dict(_named(one.table, one.keys, n)) for one, n in zip(matched, columns, strict=True)]
    return len(found) > 1 and all(of == found[0] for of in found)


def _has_text_above(table: Table) -> bool:
    """Whether what would be a column's name is a text itself."""
    return table.header and any(_is_text(table.column(n)) and len(name.split()) >= WORDS
                                for n, name in enumerate(table.names))


def _is_text(column: Column) -> bool:
    """Whether cells are mostly different ones of several words."""
    filled = [cell for cell in column.cells if cell.strip()]
    return 2 * len({*filled}) > len(filled) > 0 and mean(len(cell.split()) for cell in filled) >= WORDS


def _repeats(at: At, value: int, one: Matched, n: int) -> bool:
    """Whether a system's column has the gold's texts, of the items that it has."""
    _, table, keys = at
    right = dict(_named(table, keys, value))
    return all(right.get(key, cell) == cell for key, cell in _named(one.table, one.keys, n))


def _source(table: Table, texts: Sequence[int]) -> dict[str, int]:
    """The option by which readers know the source of all items, where a column is called so."""
    source = next((n for n in texts if table.names[n].casefold() in _SOURCES), None)
    return {} if source is None or not all(map(str.strip, table.column(source).cells)) else {"source": source}


def _guess(at: At, n: int, columns: Sequence[tuple[Matched, int]], *, is_rival: bool = False) -> Guess:
    gold, table, keys = at
    given = tuple(System(one.given.name, one.given.document, table_reader("texts", one.table, one.keys, {"text": m}))
                  for one, m in columns)
    source = _source(table, [m for m in range(len(table.names)) if m not in (*keys, n)])
    of_systems = ", ".join(dict.fromkeys(called(one.table, m) for one, m in columns))
    means = f"texts, the gold's in {called(table, n)}, the systems' in {of_systems}"
    right = {*_named(table, keys, n)}
    is_same = any(len(right.intersection(_named(one.table, one.keys, m))) > _SAME * len(right) for one, m in columns)
    is_sure = not is_rival and not is_same and _is_meant(table, keys, n)
    sure = min(table.sure, *(one.table.sure for one, _ in columns)) if is_sure else OPEN
    answer = f"--option {quote(f'text={table.names[n]}')}" if is_rival else "--as texts"
    n_items = counted(len(table.rows), "item")
    why = (f"{gold.path}: {table.written}; {table.why}",
           f"items by {' and '.join(called(table, key) for key in keys)}: {n_items}" if keys else
           f"no column names the items: {n_items}, in the gold's order in all files, as resemblance says",
           means, *(f"{called(table, m)} is what they were given" for m in source.values()))
    return Guess(gold, table_reader("texts", table, keys, {"text": n, **source}), given, why, sure, means,
                 answer="" if sure else answer)


def _named(table: Table, keys: Sequence[int], n: int) -> Iterator[tuple[str, str]]:
    """The texts of a column with the names of their rows, or their numbers."""
    cells = together(table, keys).cells if keys else map(str, range(len(table.rows)))
    return zip(cells, table.column(n).cells, strict=True)
