"""Files that nearly are texts: references beside sources, several of an item, lists, numbers in place of words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from shlex import quote

from registry.errors import InputError
from registry.guessing.formats.texts import are_decimals
from registry.guessing.guess import Given
from registry.guessing.looks import WORDS, tables, text_lines
from registry.guessing.records import members_of, records
from registry.guessing.tables.keys import is_id
from registry.guessing.tables.prose import is_given, is_reference, is_text
from registry.guessing.words import n_words
from registry.readers import Document

_LOOKED_AT = 200  # lines
_PAIR = 2  # columns at least
_COLUMNS = 8  # of an object that has a list for each
_CLASSES = 1000  # at the most, as of images


def beside_text(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say which column of a gold has the references, where systems have a segment on each line and nothing else."""
    rows = [line.split("\t") for _, line in text_lines(gold) if line.strip()]
    width = len(rows[0]) if rows else 0
    found = [[line for _, line in text_lines(given.document)] for given in systems]
    if width < _PAIR or {len(row) for row in rows} != {width} or not all(
            len(lines) == len(rows) and not any("\t" in line for line in lines) for lines in found):
        return None
    shared = Counter({n: sum(len({*row[n].split()} & {*line.split()}) for lines in found for row, line in zip(
        rows[:_LOOKED_AT], lines, strict=False)) for n in range(width)})
    (of, words), = shared.most_common(1)
    if words < WORDS * len(found) * min(len(rows), _LOOKED_AT) / 2:
        return None
    return gold.error(f"the systems' lines are text like its column {of + 1} of {width}, which alone is to be the "
                      f"reference: write that, as `cut -f {of + 1} FILE` does")


def numbers_of_tokens(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say how numbers of tokens are written, of which each line has those of its text."""
    for document in (gold, *(given.document for given in systems)):
        lines = [line for _, line in text_lines(document) if line.strip()]
        widths = {len(line.split()) for line in lines}
        if len(widths) == 1 and _PAIR <= max(widths) <= _CLASSES and are_decimals(lines):
            return InputError(f"has {max(widths)} numbers on each line, as of how sure a system is of as many classes: "
                              "write the label that has the highest one", path=document.path)
        if lines and are_decimals(lines) and sum(len(line.split()) for line in lines) > _PAIR * len(lines):
            return InputError("has several numbers on each line. Log-probabilities of tokens are read (--as logprobs "
                              '--option base=e) from lines such as {"item": "1", "logprobs": [-2.5, -0.1]}, and the '
                              'gold from such as {"item": "1"}, with --option syntax=jsonl; of other numbers give one '
                              "for each item", path=document.path)
    return None


def lists_of_texts(document: Document) -> InputError | None:
    """Say how a file is written that is a list of texts in JSON, or an object with lists of texts or of items."""
    members = members_of(document) or []
    if members and all(name is None and isinstance(value, str) for name, value in members):
        return InputError("is a list of texts: write an object on a line for each, in the same order in all files, as "
                          "`jq -c '.[] | {text: .}' FILE` does", path=document.path)
    lists = {name: value for name, value in members if name is not None and isinstance(value, list) and len(value) > 1}
    items = [name for name, value in lists.items() if all(isinstance(one, dict) for one in value)]
    if len(items) == 1 and not tables(document):
        return None  # it is said by others, of which items these may be
    if len(items) == 1:
        return InputError(f"is one object, whose items stand in its list {items[0]!r}: write these alone, as `jq "
                          f"{quote(f'.{json.dumps(items[0])}')} FILE` does", path=document.path)
    texts = [name for name, value in lists.items() if all(isinstance(one, str) for one in value)
             and sum(map(n_words, value)) >= WORDS * len(value)]
    if texts and len(members) <= _COLUMNS and len({len(lists[name]) for name in texts}) == 1:
        names = [json.dumps(name) for name in texts]
        of = quote(f"[{', '.join(f'.{name}' for name in names)}] | transpose[] | {{"
                   + ", ".join(f"{name}: .[{n}]" for n, name in enumerate(names)) + "}")
        return InputError(f"is one object with a list for each column, {' and '.join(map(repr, texts))}: write an "
                          f"object on a line for each item, as `jq -c {of} FILE` does", path=document.path)
    return None


def unnamed_references(document: Document) -> InputError | None:
    """Say that one table of texts needs a column that is called as references are."""
    for table in (one for one in tables(document) if one.header):
        texts = [name for n, name in enumerate(table.names) if is_text(table.column(n)) and not is_given(name)]
        if len(texts) > _PAIR and not any(map(is_reference, texts)):
            return InputError(f"has texts in columns {', '.join(map(repr, texts[:_COLUMNS]))}, none of which is called "
                              "as references are; say which has them, --option text=COLUMN, or call it 'reference'",
                              path=document.path)
    return None


def several_references(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say how references are written of which items have several, in rows of their own, as COCO's captions."""
    for table in tables(gold)[:1] if records(gold) is not None else ():
        texts = [name for n, name in enumerate(table.names) if is_text(table.column(n))]
        for n, name in enumerate(table.names):
            keys = table.column(n).values
            if texts and is_id(name) and 1 < len(keys) < len(table.rows) and systems and all(
                    any(one.header and name in one.names and one.column(one.names.index(name)).is_key
                        for one in tables(given.document)) for given in systems):
                named, text = json.dumps(name), json.dumps(texts[0])
                slurped = "-sc" if table.form.get("syntax") == "jsonl" else "-c"
                of = quote(f"group_by(.{named})[] | {{{named}: .[0].{named}, refs: map(.{text})}}")
                return gold.error(f"names several texts by each {name!r}, as items have with several references: write "
                                  f"these in a list, as `jq {slurped} {of} FILE` does, and declare them in a manifest, "
                                  'whose format `texts` takes them by text = "refs.0" and references = ["refs.1"]')
    return None
