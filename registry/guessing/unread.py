"""Files that no reader takes, whose lines tell what they are: turns of speakers, events, JSON of its own, numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from shlex import quote
from typing import Any

from registry.errors import InputError
from registry.guessing.guess import OPEN
from registry.guessing.looks import TYPES, WORDS, is_number, is_other_number, tables, text_lines
from registry.guessing.records import members_of, records
from registry.guessing.tables.keys import called
from registry.readers import Document

REMEDY = ("score the items with the task's own program, and give one table of the scores: a row for each item, a "
          "column for each system")
_MATCHES = """jq -c 'select(.type == "match") | {id: .sample_id, correct: .data.correct}' FILE"""
_TIME = r"\d+\.\d+"
_LINES = (  # what all lines look like, and what it is
    (re.compile(rf"[A-Z]+(?:-[A-Z]+)? \S+ \d+ (?:{_TIME}|<NA>) (?:{_TIME}|<NA>)(?: \S+){{4,5}}"),
     "speakers' turns (RTTM)"),
    (re.compile(rf"\S+ [^\s.]+ {_TIME} {_TIME} \S+(?: [\d.]+)?"), "words in time (CTM)"),
    (re.compile(rf"\S+ \S+ \S+ {_TIME} {_TIME} .+"), "segments in time (STM)"),
    (re.compile(r"\S+: (?:ref|hyp)=\[.*\]"), "references and transcripts in turn (icefall)"),
    (re.compile(r"S .*|A -?\d+ -?\d+\|\|\|.*"), "corrections of sentences (M2)"),
    (re.compile(r"\S+ (?:ref|hyp|op|#csid) .*"), "alignments of words to references (Kaldi)"))
_FIRST = (  # what the first line looks like
    (re.compile(r"#begin document.*"), "coreferences (CoNLL 2012)"), (re.compile(r"%WER .*"), "reports of word errors"))
_BESIDE = re.compile(  # a deviation, an interval, marks of the best, a currency
    r"[$€£]\s*[\d.,]+|\*+[\d.]+\*+|[+-]?\d+(?:\.\d+)?\s*(?:±|\+/-|\(|\[|\*|†|[$€£]).*")
_SHOWN = 40  # characters of a name
_FEW, _MOST = 3, 8  # of what an object says of itself, of items there are more; and of what holds items
_SHOWN_NAMES = 3
_TIMES = ({"onset", "offset"}, {"start", "end"}, {"start_time", "end_time"})


def unread(gold: Document) -> InputError | None:
    """Say what a gold is that no reader takes, though some would seem to; None where nothing tells."""
    if gold.content.startswith(b'{"spec":') and b'"sample_id"' in gold.content:
        return gold.error("is a log of OpenAI's evals, with a line for each event; write the matches of each, as "
                          f"`{_MATCHES}` does, and name the files that come of it")
    if all(re.match(r"[STHDP]-\d+\t|\d{4}-|Generate ", line) for _, line in text_lines(gold) if line.strip()) and (
            b"\nH-" in gold.content):
        return gold.error("is what fairseq-generate prints; write the references as `grep ^T- FILE | sort -V | cut -f "
                          "2` does, and each system's text as `grep ^D- FILE | sort -V | cut -f 3`")
    what = _of_lines(gold) or _of_columns(gold) or _of_objects(gold)
    return None if what is None else gold.error(f"{what} are not read; {REMEDY}")


def _of_lines(gold: Document) -> str | None:
    lines = [" ".join(line.split()) for _, line in text_lines(gold) if line.strip() and not line.startswith(";;")]
    return next((what for first, what in _FIRST if lines and first.fullmatch(lines[0])), None) or next(
        (what for line, what in _LINES if lines and all(map(line.fullmatch, lines))), None)


def _of_columns(gold: Document) -> str | None:
    """Events, of which each item has several; not items that have a name, and times besides."""
    for table in tables(gold):
        places = {name.casefold(): n for n, name in enumerate(table.names)}
        for times in (times for times in _TIMES if times <= places.keys()):
            columns = [table.column(places[name]) for name in times]
            others = [table.column(n) for name, n in places.items() if name not in times]
            if all(column.is_numeric for column in columns) and not all(column.is_whole for column in columns) and (
                    not any(column.is_key for column in others)):
                return f"events in time, from {' to '.join(sorted(times, key=places.__getitem__))},"
    return None


def _of_objects(gold: Document) -> str | None:
    """Boxes in images, of which each has several, and which overlap rather than being the same."""
    found = records(gold)
    first = found.rows[0] if found is not None and found.rows else {}
    return "boxes in images (COCO)" if isinstance(first.get("bbox"), list) and "image_id" in first else None


def blanks(gold: Document) -> InputError | None:
    """Say where a gold of numbers has none on a line, as of items that nobody has judged."""
    lines = [line.strip() for _, line in text_lines(gold)]
    blank = [n for n, line in enumerate(lines, 1) if not line]
    if not blank or not any(lines) or not all(is_number(line) for line in lines if line):
        return None
    return gold.error(f"is blank, as {len(blank)} of {len(lines)} lines with a number each are: if these items have "
                      "none, take their lines out of the gold and of all systems", line=blank[0])


def nested(document: Document) -> InputError | None:
    """Say where the items of a file stand that is one object in JSON, below other names than theirs."""
    members = members_of(document) if document.content.lstrip()[:1] == b"{" else None
    if members is None or tables(document):
        return None
    named = dict(members)
    if named.keys() >= {"columns", "data"} and all(isinstance(one, list) for one in (named["columns"], named["data"])):
        return _as_pandas("its columns' names and rows apart", document)
    found = {str(name)[:_SHOWN]: entries for name, value in members if (entries := _entries(value))}
    if not 0 < len(found) <= _MOST:
        return None
    if all(name == str(n) for _, of in members for n, name in enumerate(of if isinstance(of, dict) else "?")):
        return _as_pandas("each column as an object of rows by their numbers", document)
    named_items = [value.keys() for value in named.values() if isinstance(value, dict)]
    if len(named_items) == len(members) > 1 and all(of == named_items[0] for of in named_items) and not any(
            isinstance(one, dict | list) for value in named.values() for one in value.values()):
        first = next(iter(found))
        return document.error(f"has an object of items for each of {', '.join(list(found)[:_SHOWN_NAMES])}, which seem "
                              "to be systems: write each to a file of its own, as "
                              f"`jq {quote(f'.{json.dumps(first)}')} FILE > {quote(f'{first}.json')}` does")
    largest = sorted(found, key=lambda name: -len(found[name]))
    plain = next((name for name in largest if all(map(_is_plain, found[name]))), None)
    write = "Write it so" if plain is None else f"Write it so, as `jq {quote(f'.{json.dumps(plain)}')} FILE` does"
    return document.error(f"its items stand within {' or '.join(map(repr, found))}, and JSON is read that has an "
                          "object for each item: on lines, in a list, or in one object by their names. "
                          f"{write}, or {REMEDY}")


def _as_pandas(what: str, document: Document) -> InputError:
    return InputError(f"has {what}, as pandas writes it; JSON is read that has an object for each item, as "
                      "to_json(orient='records') writes", path=document.path)


def answer_lists(gold: Document) -> InputError | None:
    """Say how items are written whose gold is a list of texts, or of objects with a text and perhaps a type."""
    found = records(gold)
    for row in () if found is None else found.rows:
        for name, value in row.items():
            answers = [_answer(one) for one in value] if isinstance(value, list) else []
            if answers and all(isinstance(one, str) and len(one.split()) >= WORDS for one in answers):
                of = quote(f".{json.dumps(name)} |= .[0]")
                return gold.error(f"each item has a list of texts in {name!r}: write one, as `jq -c {of} FILE` does "
                                  "with lines, or declare all in a manifest, whose format `texts` takes them as "
                                  f"references, text = \"{name}.0\" and references = [\"{name}.1\"]")
            if answers and None not in answers:
                item = next((text for text in row.values() if isinstance(text, str | int)), "ITEM")
                line = json.dumps({"item": str(item), "answers": answers[:1]}, ensure_ascii=False)
                return gold.error(f"each item has a list of answers in {name!r}, which are no spans, as they have no "
                                  f"start and end; of sets of answers write such lines, for the systems too: {line}, "
                                  "with no answer twice; they are read as `responses`")
    return None


def _answer(value: Any) -> Any:
    """An answer as readers of sets take it; None where it is none."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return None
    type_ = next((name for name in TYPES if isinstance(value.get(name), str)), None)
    key = next((name for name, one in value.items() if isinstance(one, str) and name != type_), None)
    return None if key is None else {"key": value[key], **({"type": value[type_]} if type_ else {})}


def _entries(value: Any) -> list[Any]:
    """What may be items within a member of an object: a list of objects, or many things by their names."""
    if isinstance(value, list):
        return value if all(isinstance(one, dict) for one in value) else []
    return list(value.values()) if isinstance(value, dict) and len(value) > _FEW else []


def _is_plain(entry: Any) -> bool:
    """Whether an item can be read as it is: a value, or an object of some."""
    values = list(entry.values()) if isinstance(entry, dict) else [entry, entry]
    return sum(isinstance(value, str | int | float) for value in values) > 1


def numbers_otherwise(document: Document) -> InputError | None:
    """Say that a file has numbers with a decimal comma, per cent, or something beside."""
    columns = [(f" in {called(table, n)}", column.cells) for table in tables(document) if table.sure > OPEN
               for n, column in enumerate(table.columns)]
    lines = [line for _, line in text_lines(document) if line.strip()]
    for where, cells in columns or [("", lines[1:])]:
        if (cell := next(filter(is_other_number, cells), None)) is not None and all(
                is_number(one) or is_other_number(one) for one in cells if one.strip()):
            return InputError(f"has numbers as {cell!r}{where}, and numbers are read with a decimal point and without "
                              "a sign of per cent; write them so", path=document.path)
        beside = [one for one in cells if _BESIDE.fullmatch(one)]
        if columns and 2 * len(beside) > len(cells):
            return InputError(f"has numbers as {beside[0][:_SHOWN]!r}{where}, with something before or behind them: "
                              "leave the numbers alone in these cells", path=document.path)
    return None
