"""Tables whose rows are items: a key in one column of the gold is found again in one of every system's file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from shlex import quote

from registry.errors import InputError, counted, listed
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Given, Guess, System
from registry.guessing.looks import DOCUMENTS, ENOUGH_DOCUMENTS, Table, is_number, tables
from registry.guessing.tables.answering import BESIDE, NAMED, SAME, Pairing, pairings
from registry.guessing.tables.keys import Matched, called, counts, is_id, match, matches, may_name, naming
from registry.guessing.tables.values import Kind, kinds, renamed
from registry.readers import Document

_WIDE, _KEYS = 50, 100  # columns of a table of fewer rows, which is rather one torn line; keys that are tried
_LABELS = 2  # of a decision
_SHOWN = 40  # characters of a key
_COLUMNS = 3  # between which blanks stand, where it is clear that they are some
_OF_ONE = frozenset((  # what columns of one system are called, in one of their words
    "answer", "answers", "label", "labels", "output", "pred", "predicted", "prediction", "predictions", "preds",
    "response", "score", "scores", "y"))
_ENOUGH = 3  # columns that are systems for sure: of two, one may describe items
VALUE = {"labels": ("label", "label"), "scores": ("gold", "score")}  # what a gold's and a system's column are called


def keyed(gold: Document, systems: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    """Guess labels or numbers of items that are known by a key.

    Raises:
        InputError: Some items have no label or number in the gold, and it has no other column of them.
    """
    if not any(asked.allows(name, gives) for name, gives in (("labels", "label"), ("scores", "score"))):
        return
    found, blank = False, list[tuple[int, InputError]]()
    for right, matched in by_keys(gold, systems, asked):
        table = right.table
        if asked.options.get("header") is not False and (
                is_header_of_all(one.table for one in (right, *matched))
                or all(table.header and _begins_otherwise(right, one) for one in matched)):
            continue
        for guess, of in _valued(right, matched, asked):
            if of.blank:
                blank.append((table.sure, _blank(right, of)))
            elif of.beside is None or table.names[of.beside].casefold() not in NAMED or not table.header:
                # else the column that is called as the gold's is meant, though it has nothing for some
                found = True
                yield guess
    if blank and not found:
        raise max(blank, key=lambda one: one[0])[1]


def by_keys(gold: Document, systems: Sequence[Given], asked: Asked) -> Iterator[tuple[Matched, list[Matched]]]:
    """The columns of the gold that name items in all systems as well: one, or several together where there is none."""
    of_gold = Given("", gold)
    columns = [(table, n) for table in tables(gold)
               if len(table.rows) > 1 and len(table.names) <= max(_WIDE, len(table.rows))
               for n, name in enumerate(table.names)
               if asked.names("item", table.names, name) and ("item" in asked.options or may_name(table, n))]
    keys = [(table, n) for table, n in columns if table.column(n).is_key]
    if all(table.sure == OPEN for table, _ in keys):  # else an item that stands twice would be told as no key at all
        keys += [(table, n) for table, n in columns if table.column(n).is_nearly_key and not table.column(n).is_key]
    is_found = is_nearly = False
    for table, key in keys[:_KEYS]:
        of_all = [match(table, key, given) for given in systems]
        if None not in of_all:
            is_nearly |= not table.column(key).is_key
            is_found |= table.column(key).is_key and not counts(table.column(key))  # which may number each file's rows
            yield Matched(of_gold, table, (key,)), [one for one in of_all if one is not None]
    for table in () if is_found else tables(gold):
        for places in naming(table, nearly=is_nearly):
            options = [matches(table, places, given) for given in systems]
            for n in range(max(map(len, options)) if all(options) else 0):
                yield Matched(of_gold, table, places), [of[min(n, len(of) - 1)] for of in options]


def _begins_otherwise(gold: Matched, one: Matched) -> bool:
    """Whether a system's first line is no item, where it is read without a header: then it has one, with a gap."""
    return not one.table.header and one.items.cells[0] not in gold.items.values


def _blank(gold: Matched, of: Pairing) -> InputError:
    """Say that items have no gold."""
    return InputError(f"{called(gold.table, of.value)} has nothing in {of.blank} of {len(gold.table.rows)} rows: if "
                      "these items have no label or number, take their rows out, here and in the systems' files",
                      path=gold.path)


def unmatched(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say in which system no column has most of the keys of any column of the gold, if that is a table."""
    columns = [(table, n) for table in tables(gold) for n, column in enumerate(table.columns) if column.is_nearly_key]
    other = next((given for given in systems if columns and all(
        match(table, n, given) is None for table, n in columns)), None)
    if other is None:
        return None
    return InputError(f"no column of it has most of the items of {gold.path}, which seems to be a table, "
                      f"{tables(gold)[0].written}{_unlike(columns, tables(other.document))}", path=other.document.path)


def _unlike(columns: Sequence[tuple[Table, int]], theirs: Sequence[Table]) -> str:
    """Say how few of a gold's items a file has, or how differently they are called."""
    others = [column for table in theirs for n, column in enumerate(table.columns) if table.sure > OPEN
              and may_name(table, n)]
    keys, own = max(((table.column(n).values, other.values) for table, n in columns for other in others
                     if table.sure > OPEN and may_name(table, n)), key=lambda one: len(one[0] & one[1]),
                    default=(frozenset(), frozenset()))
    if keys & own:
        return f": {len(keys & own)} of {len(keys)}" + (
            "; take the others out of the gold if they are not asked for" if own <= keys else "")
    named = [next((column.cells[0][:_SHOWN] for one in sorted(of, key=lambda table: -table.sure)
                   for n, column in enumerate(one.columns) if column.is_nearly_key and may_name(one, n)), None)
             for of in (theirs, [table for table, _ in columns])]
    if None in named:
        return ""
    return f"; its first is {named[0]!r}, the gold's {named[1]!r}"


def matched(gold: Document, systems: Sequence[Given]) -> Iterator[tuple[Table, int, list[Matched]]]:
    """The columns of the gold whose keys all systems have, and theirs; of one row alone each would name it."""
    for table in sorted((one for one in tables(gold) if len(one.rows) > 1), key=lambda one: -one.sure):
        for key in (n for n, column in enumerate(table.columns) if systems and column.is_key):
            found = [one for given in systems if (one := match(table, key, given)) is not None]
            if len(found) == len(systems):
                yield table, key, found


def graded(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that the gold has one of two labels where all systems have numbers, as of how sure they are."""
    for table, _, found in matched(gold, systems):
        if not all(any(column.is_numeric for n, column in enumerate(one.table.columns) if n not in one.keys)
                   for one in found):
            continue
        for n, column in enumerate(table.columns):
            values = sorted(column.values)
            if len(values) == _LABELS and not any(map(is_number, values)):
                return gold.error(
                    f"{called(table, n)} has two labels, {' and '.join(values)}, and the systems have numbers, as of "
                    "how sure they are: for rank correlation write 1 for the label of which more is more, 0 for the "
                    "other, and say --as scores; or write the labels that systems decide for")
    return None


def is_header_of_all(read: Iterable[Table]) -> bool:
    """Whether tables read without a header surely have one, all of them: as an item it would be a class of its own."""
    return all(table.sure == OPEN and not table.header for table in read)


def _valued(gold: Matched, matched: Sequence[Matched], asked: Asked) -> Iterator[tuple[Guess, Pairing]]:
    """Guess which columns have the values, and what they are."""
    table, found = gold.table, pairings(gold, matched, asked)
    said = {"gold", "label"} & asked.options.keys()
    repeated = {one.value for one in found if one.note == BESIDE}
    rivals = [one for one in found if one.note != SAME and not one.blank and not (
        table.header and is_id(table.names[one.value]))]
    are_rivals = len({one.value for one in rivals if one.sure == SURE}) > 1
    for of, columns in _readings(found, matched):
        is_same = of.note == SAME and of.value not in repeated and not said  # what describes items, say
        if is_same and len(gold.keys) > 1:
            continue
        for kind in kinds(table.column(of.value).cells, [one.table.column(n).cells for one, n in columns], asked):
            guess = _guess(gold, of.value, columns, kind)
            if of.note == BESIDE:
                places = dict.fromkeys(called(one.table, n) for one, n in columns)
                guess = replace(guess, why=(*guess.why, f"the systems repeat it, and have their own in "
                                                        f"{', '.join(places)}"))
            is_same |= not said and table.header and is_id(table.names[of.value])  # or what names them
            if is_same or of.sure == OPEN:
                guess = replace(guess, sure=OPEN, answer=f"--as {kind.format}" if is_same else _said(guess, table))
            notes = [of.note] * bool(of.note) + [f"not those in {called(table, n)}, which is refused as it has nothing "
                                                 "for some items" for n in (of.beside,) if n is not None]
            is_rival = of in rivals and (are_rivals or sum(one.value == of.value for one in rivals) > 1)
            if is_rival and guess.sure == kind.sure == LIKELY and table.sure == SURE:  # labels, numbers: open as well
                guess = replace(guess, sure=SURE)
            yield replace(guess, sure=min(guess.sure, of.sure), means=", ".join((guess.means, *notes)),
                          is_rival=is_rival, repeated=of.note == SAME and bool(repeated)), of


def _readings(found: Sequence[Pairing], matched: Sequence[Matched]) -> Iterator[
        tuple[Pairing, list[tuple[Matched, int]]]]:
    """Give pairings with the systems' columns; where one file has several columns of labels, all as a system each."""
    done: set[int] = set()
    for of in found:
        same = [one for one in found if one.value == of.value and not one.note and not of.note]
        if len(matched) > 1 or len(same) < _ENOUGH or not _are_systems(matched[0], [one.columns[0] for one in same]):
            yield of, list(zip(matched, of.columns, strict=True))
        elif of.value not in done:
            done.add(of.value)
            (file,) = matched
            yield replace(of, sure=SURE), [(file.of_column(n), n) for n in (one.columns[0] for one in same)]


def _are_systems(file: Matched, columns: Sequence[int]) -> bool:
    """Whether columns are called as systems may be: by words that neither all have nor one system's columns."""
    words = [frozenset(re.findall("[a-z]+|[0-9]+", file.table.names[n].casefold())) for n in columns]
    own = [of - frozenset.intersection(*words) for of in words]
    decimals = [column.is_mostly_numeric and not column.is_whole for column in map(file.table.column, columns)]
    return file.table.header and all(of and not of & _OF_ONE for of in own) and not any(
        decimals)  # of which one may say how sure another is


def _said(guess: Guess, table: Table) -> str:
    """The options that say which column has the gold."""
    option, _ = VALUE[guess.reader.name]
    name = option if table.header else "columns"
    value = getattr(guess.reader, name)
    return f"--option {quote(f'{name}={value if table.header else json.dumps(value)}')}"


def _guess(gold: Matched, value: int, matched: Sequence[tuple[Matched, int]], kind: Kind) -> Guess:
    table, keys, (written, items) = gold.table, gold.keys, gold.told
    of_gold, of_system = VALUE[kind.format]
    right = table.column(value).values
    systems = tuple(one.system(kind.format, {of_system: column}, renamed(
        kind.format, right, one.table.column(column).values)) for one, column in matched)
    agree = sum(one.items.values == gold.items.values for one, _ in matched)
    why = [written, f"{items}; {agree} of {len(matched)} systems have them all",
           f"{kind.format} in {called(table, value)}: {kind.why}", *_differing(table, [one for one, _ in matched]),
           *told_renamed(systems)]
    if len(matched) > len({one.path for one, _ in matched}):
        why.append(f"a column for each of {counted(len(matched), 'system')} in {matched[0][0].path}")
    groups = next((n for n, name in enumerate(table.names) if n not in (*keys[-1:], value)
                   and name.casefold() in DOCUMENTS), None)
    attributes: tuple[str, ...] = ()
    if groups is not None and ENOUGH_DOCUMENTS <= (n_documents := len(table.column(groups).values)) < len(table.rows):
        attributes = (table.names[groups],)
        why.append(f"{called(table, groups)} names {n_documents} documents, whose items are not independent: whole "
                   "documents are swapped")
    reader = gold.reader(kind.format, {of_gold: value}, attributes)
    is_header = table.header and any(not one.has_item(" ".join(table.names[n] for n in keys)) for one, _ in matched)
    sure = SURE if is_header else min(one.sure for one in (table, *(one.table for one, _ in matched))
                                      if one.header == table.header)
    if not table.header and table.form.get("separator") == "whitespace" and len(table.names) > _COLUMNS:
        sure = min(sure, LIKELY)  # sentences may have equally many words
    return Guess(gold.given.document, reader, systems, tuple(why), min(sure, kind.sure), kind.means, kind.metric,
                 attributes[0] if attributes else None, f"--as {kind.format}" if kind.sure < SURE else "")


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
        yield f"otherwise {listed(same, 3)}: {form[0]}, {'a' if form[1] else 'no'} header"
