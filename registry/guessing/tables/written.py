"""Tables whose rows are items with a text: what each system wrote, held against a reference of the gold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from shlex import quote
from typing import NamedTuple

from registry.errors import InputError, counted
from registry.guessing.guess import OPEN, SURE, Asked, Given, Guess, options_of
from registry.guessing.looks import Table, single, tables
from registry.guessing.tables.keyed import by_keys, is_header_of_all
from registry.guessing.tables.keys import Matched, called, is_cost, is_id
from registry.guessing.tables.prose import (
    has_text_above,
    is_answer,
    is_given,
    is_reference,
    is_source,
    is_text,
    metric_of,
    repeats,
    texts_of,
)
from registry.guessing.tables.roles import passed, reading, roles_of
from registry.readers import Document, Texts

_SAME = 0.5  # the share of texts that are the gold's, above which they may as well be right or wrong
_EITHER = "--as texts"  # and no labels
_ASIDE = frozenset(("comment", "comments", "explanation", "notes", "reason", "title", "topic"))  # of no system


class _Read(NamedTuple):
    """The gold's column and the systems' ones, and whether it is clear that these are meant, unless others are."""

    right: int
    own: list[tuple[Matched, int]]
    is_meant: bool


def written(gold: Document, everyone: Sequence[Given] | None, systems: Sequence[Given],
            asked: Asked) -> Iterator[Guess]:
    """Guess texts of items: a column of the gold's, and one of each system's own, by a key or in the same order.

    Where no file is called the gold, `everyone` has all files as systems'.
    """
    if not asked.allows("texts", "segment"):
        return
    for at, matched in _placed(gold, systems, asked):
        table, found = at.table, [*_of_all(at, matched, everyone, asked)]
        if not _is_system(at, matched) and not any(one.is_meant or is_reference(table.names[one.right])
                                                   for one in found):
            found += _apart(at, matched, asked)
        rights, owns = {one.right for one in found}, {tuple(n for _, n in one.own) for one in found}
        if len(found) != len(rights) and (not table.header or len(found) != len(owns)):
            continue  # one option cannot say which are meant
        for one in found:
            of, n = (table, one.right) if len(rights) == len(found) else (one.own[0][0].table, one.own[0][1])
            yield _guess(at, one, f"--option {quote(f'text={of.names[n]}')}" if table.header else "",
                         is_rival=len(found) > 1)


def beside_texts(found: Sequence[Guess], prose: Sequence[Guess]) -> list[Guess]:
    """Other guesses without those of texts as labels, which no system has to the letter, and of what texts cost."""
    columns = {of.text for one in prose if one.answer != _EITHER
               for of in (one.reader, *(system.reader for system in one.systems)) if isinstance(of, Texts)}
    are_costs = any(system.document.path == one.gold.path or is_answer(getattr(system.reader, "text", ""))
                    for one in prose for system in one.systems)
    return [one for one in found if getattr(one.reader, "label", None) not in columns and not (are_costs and all(
        is_cost(getattr(system.reader, "score", "")) for system in one.systems))]


def are_references(guess: Guess) -> bool:
    """Whether texts are surely meant, by what the gold's column is called, whatever labels stand beside them."""
    return guess.sure == SURE and isinstance(guess.reader, Texts) and is_reference(guess.reader.text)


def _placed(gold: Document, systems: Sequence[Given], asked: Asked) -> list[tuple[Matched, list[Matched]]]:
    """What names items: a key; else texts that all files repeat in the same order, or which systems were given."""
    found = [(at, matched) for at, matched in by_keys(gold, systems, asked)
             if not is_header_of_all(one.table for one in (at, *matched))
             and not any(has_text_above(one.table) for one in (at, *matched))]
    by_name = [(at, matched) for at, matched in found if not any(is_text(at.table.column(n)) for n in at.keys)]
    by_text = [(at, matched) for at, matched in found
               if not any(is_reference(at.table.names[n]) or is_answer(at.table.names[n]) for n in at.keys)]
    return by_name or ([] if asked.options.get("item") else _in_order(gold, systems, asked)) or by_text


def _in_order(gold: Document, systems: Sequence[Given], asked: Asked) -> list[tuple[Matched, list[Matched]]]:
    """Files of as many rows, which repeat a text in the same order, or have one text in each row and no more."""
    rows = [next((one for one in chain(tables(document), single(document)) if one.header), None)
            for document in (gold, *(given.document for given in systems))]
    whole = [one for one in rows if one is not None and not has_text_above(one)]
    if len(whole) < len(rows) or len({len(one.rows) for one in whole}) > 1:
        return []
    at, *matched = (Matched(given, one, ()) for given, one in zip((Given("", gold), *systems), whole, strict=True))
    texts = [texts_of(one, (), asked) for one in whole]
    is_repeated = any(all(_is_in(at, n, one) for one in matched) for n in texts[0])
    return [(at, matched)] if is_repeated or all(
        len([n for n in of if not is_given(one.names[n])] or of) == 1
        for one, of in zip(whole, texts, strict=True)) else []


def _is_in(at: Matched, n: int, one: Matched) -> bool:
    """Whether a system's file has this column of the gold, under its name, with its texts."""
    name = at.table.names[n]
    return name in one.table.names and repeats(at, n, one, one.table.names.index(name))


def _is_system(at: Matched, matched: Sequence[Matched]) -> bool:
    """Whether the gold's file is named as a system's too."""
    return any(one.path == at.path for one in matched)


def _of_all(at: Matched, matched: Sequence[Matched], everyone: Sequence[Given] | None, asked: Asked) -> Iterator[_Read]:
    """Readings by which all files repeat the gold in a column, and are systems': each has a text of its own beside."""
    if everyone is not None:
        matched = [replace(one, given=given) for given, one in zip(everyone, (at, *matched), strict=True)]
    elif not _is_system(at, matched):
        return
    names, said = at.table.names, asked.options.get("text")
    texts = texts_of(at.table, at.keys, asked)
    same = [n for n in texts if all(_is_in(at, n, one) for one in matched)]
    own = [names[n] for n in texts if n not in same and not is_given(names[n])
           and all(names[n] in one.table.names for one in matched)]
    own = [name for name in own or [names[n] for n in same] if is_answer(name)] or own
    same = [n for n in same if names[n] not in own]
    if own and everyone is not None and not _is_system(at, matched[1:]):
        _check_references(at, [n for n in texts if n not in same], own, matched)
    right = [n for n in same if names[n] == said] or [n for n in same if is_reference(names[n])] or [
        n for n in same if not is_given(names[n])]
    if said in own:
        own = [said] if any(is_reference(names[n]) for n in right) else []
    for n in right:
        for name in own:
            yield _Read(n, [(one, one.table.names.index(name)) for one in matched], len(right) * len(own) == 1 and (
                said in (names[n], name) or is_reference(names[n]) or is_answer(name)))


def _check_references(at: Matched, columns: Sequence[int], own: Sequence[str], matched: Sequence[Matched]) -> None:
    """See that what all files call references is the same in them, where each has answers beside.

    Raises:
        InputError: It is not, for some item.
    """
    for n in (n for n in columns if is_reference(at.table.names[n]) and not all(map(is_reference, own))):
        right, name = at.of_items(n), at.table.names[n]
        for one in (one for one in matched if name in one.table.names):
            for key, text in one.pairs(one.table.names.index(name)):
                if right.get(key, text) != text:
                    raise InputError(f"{name!r} differs from that of {at.path}: all files need the same references, "
                                     "or one file of them before the systems' ones", path=one.path, item=key)


def _apart(at: Matched, matched: Sequence[Matched], asked: Asked) -> Iterator[_Read]:
    """Readings by which the gold's file has the references, and systems' ones what these wrote."""
    names, said = at.table.names, asked.options.get("text")
    texts = texts_of(at.table, at.keys, asked)
    same = [n for n in range(len(names)) if n not in at.keys and all(_is_in(at, n, one) for one in matched)]
    right = [n for n in texts if names[n] == said] or [n for n in texts if is_reference(names[n])] or [
        n for n in texts if n not in same and not is_given(names[n])] or [
        n for n in texts if not is_given(names[n])] or texts
    for n in right:
        for own in _own(at, matched, asked):
            others = [m for m in range(len(names)) if m not in (*at.keys, *same, n)]
            yield _Read(n, list(zip(matched, own, strict=True)), said in (names[n], matched[0].table.names[own[0]]) or (
                at.table.header and is_reference(names[n])) or (not is_answer(names[n]) and all(
                    _tells_nothing(at.table, m) for m in others)))


def _tells_nothing(table: Table, n: int) -> bool:
    """Whether a column is no other gold: what systems were given, names of something, or one value alone."""
    return is_given(table.names[n]) or (table.header and (
        is_id(table.names[n]) or len(table.column(n).values) == 1))


def _own(at: Matched, matched: Sequence[Matched], asked: Asked) -> list[tuple[int, ...]]:
    """The columns of text that are called alike in all systems, else the only one of each.

    What all systems repeat of the gold, or have in common, is no answer.
    """
    texts = [texts_of(one.table, one.keys, asked) for one in matched]
    names = dict.fromkeys(one.table.names[n] for one, of in zip(matched, texts, strict=True) for n in of)
    shared = {name: tuple(one.table.names.index(name) for one in matched) for name in names
              if all(name in one.table.names for one in matched)}  # of some systems all may be the same
    own = {name: columns for name, columns in shared.items() if not all(
        _is_copy(at, one, n) for one, n in zip(matched, columns, strict=True)) and not _is_common(matched, columns)}
    if own:
        said = asked.options.get("text")
        return [own[name] for name in own if name == said] or [own[name] for name in own if is_answer(name)] or [
            own[name] for name in own if not is_given(name) and not is_reference(name)] or list(own.values())
    alone = [[n for n in of if not is_given(one.table.names[n])] or of for one, of in zip(matched, (
        [n for n in of if not _is_copy(at, one, n)] for one, of in zip(matched, texts, strict=True)), strict=True)]
    return [tuple(of[0] for of in alone)] if all(len(of) == 1 for of in alone) else []


def _is_copy(at: Matched, one: Matched, n: int) -> bool:
    """Whether a system's column repeats one of the gold's, and is not that one itself."""
    return any(repeats(at, m, one, n) for m in range(len(at.table.names)) if m not in at.keys and (
        m != n or one.path != at.path))


def _is_common(matched: Sequence[Matched], columns: Sequence[int]) -> bool:
    """Whether all of several systems have the same there: that tells of the items."""
    found = [one.of_items(n) for one, n in zip(matched, columns, strict=True)]
    return len(found) > 1 and all(of == found[0] for of in found)


def _source(table: Table, columns: Sequence[int]) -> dict[str, int]:
    """The option by which readers know the source of all items, where a column is called so."""
    source = next((n for n in columns if is_source(table.names[n])), None)
    return {} if source is None or not all(map(str.strip, table.column(source).cells)) else {"source": source}


def _guess(at: Matched, read: _Read, said: str, *, is_rival: bool) -> Guess:
    """What a reading makes of the files; open where texts may be right or wrong as labels are, or others meant."""
    table, (n, columns, is_meant) = at.table, read
    systems = tuple(one.system("texts", {"text": m}) for one, m in columns)
    source = _source(table, [m for m in range(len(table.names)) if m not in (*at.keys, n)])
    reader = at.reader("texts", {"text": n, **source})
    means = (f"texts, the gold's in {called(table, n)}, the systems' in "
             f"{', '.join(dict.fromkeys(called(one.table, m) for one, m in columns))}")
    right = at.of_items(n).items()
    is_same = any(len(right & one.pairs(m)) > _SAME * len(right) for one, m in columns)
    is_sure = is_meant and not is_rival and not is_same
    sure = min(table.sure, *(one.table.sure for one, _ in columns)) if is_sure else OPEN
    answer = said if said and (is_rival or not is_same) else _EITHER
    if not table.header and is_rival:
        answer = f"--option {quote('columns=' + json.dumps(options_of(reader)['columns']))}"
    form, items = at.told
    if not at.keys:
        items = (f"no column names the items: {counted(len(table.rows), 'item')}, in the gold's order in all files, as "
                 "resemblance says")
    why = (form, items, means, *(f"{called(table, m)} is what they were given" for m in source.values()))
    return Guess(at.given.document, reader, systems, why, sure, means, metric_of(table, n),
                 answer="" if sure else answer)


def written_wide(document: Document, asked: Asked) -> Iterator[Guess]:
    """Guess one table of all systems' texts: a column for each of them beside one that is called the reference."""
    if not asked.allows("texts", "segment"):
        return
    for table in tables(document):
        called_so = {n for n, name in enumerate(table.names) if is_reference(name) or name == asked.options.get("text")}
        if not table.header or table.sure == OPEN or not called_so:
            continue
        roles = roles_of(document, table, asked)
        texts = texts_of(table, roles.keys, replace(asked, options={}))
        right = [n for n in texts if n in called_so]
        right = [n for n in right if table.names[n] == asked.options.get("text")] or right
        others = [n for n in texts if n not in called_so and not is_given(table.names[n])
                  and table.names[n].casefold() not in _ASIDE]
        names = [table.names[n] for n in others]
        source = _source(table, texts)
        for n in right if len(others) > 1 else ():
            reader = roles.reader("texts", {"text": n, **source})
            systems = tuple(roles.of_column(m).system("texts", {"text": m}) for m in others)
            left = [m for m in range(len(table.names)) if m not in (*roles.keys, n, *others, *source.values())]
            means = f"texts: the reference in {called(table, n)}"
            why = (*reading(roles, names), means, *passed(table, left))
            yield Guess(document, reader, systems, why, table.sure if len(right) == 1 else OPEN, means,
                        metric_of(table, n),
                        answer="" if len(right) == 1 else f"--option {quote(f'text={table.names[n]}')}")
