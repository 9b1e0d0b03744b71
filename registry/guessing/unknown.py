"""What is said where nothing is known by the files: what they seem to be, and what would be read instead."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from shlex import quote
from statistics import mean
from typing import get_args

from registry.errors import InputError
from registry.guessing.files import Files
from registry.guessing.formats.marked import find_fault, unlike
from registry.guessing.guess import OPEN, Asked, Given
from registry.guessing.looks import PAIRED, WORDS, Table, even_mark, is_json, is_number, tables, text_lines
from registry.guessing.records import readable, records
from registry.guessing.tables.keyed import graded, matched, unmatched
from registry.guessing.tables.keys import called, is_id
from registry.guessing.tables.long import APART, system_column
from registry.guessing.tables.values import several
from registry.guessing.unread import REMEDY, answer_lists, blanks, nested, numbers_otherwise
from registry.guessing.unread_text import (
    beside_text,
    lists_of_texts,
    numbers_of_tokens,
    several_references,
    unnamed_references,
)
from registry.readers import Document
from registry.readers.parsing.delimited import Separator, Written, read_cells

_MEASURES = {"num_ret", "num_rel", "map"}  # of trec_eval, always
_CLASSES = 2  # columns of probabilities at least
_SHOWN = 40  # characters of a cell
_FEW = 3  # columns in a message
_MOST = 0.9  # the share of lines that are as lines should be
_PAIR = 2  # columns: items and an answer to each, or a label and a number


def unknown(given: Files, asked: Asked) -> InputError:
    """Say that nothing is known by these files, and what may help."""
    documents = (given.gold, *(system.document for system in given.systems))
    if given.systems and (fault := find_fault(given.gold, given.systems, asked)) is not None:
        return fault
    repeats = _rows(given.gold, given.systems) if given.systems and all(
        any(map(_repeated_id, tables(document))) for document in documents) else None
    if (texts := several_references(given.gold, given.systems) or repeats or _texts(given)) is not None:
        return texts
    for of_file in (lists_of_texts, _mark, _colons, _markup, nested, _broken, _row_names, numbers_otherwise):
        if (found := next((error for document in documents if (error := of_file(document)) is not None), None)):
            return found
    if any(one.document.path == given.gold.path for one in given.systems):
        return twice(given.gold.path)
    of_all: tuple[Callable[[Document, Sequence[Given]], InputError | None], ...] = (
        lambda gold, _: answer_lists(gold), lambda gold, _: blanks(gold), beside_text, numbers_of_tokens, _measures,
        graded, _many, unlike, _labelled,
        _together, _lists, _stacked, _rows, unmatched, _bare)
    for finder in of_all if given.systems else ():
        if (found := finder(given.gold, given.systems)) is not None:
            return found
    if not given.systems and (unnamed := unnamed_references(given.gold)) is not None:
        return unnamed
    if not given.systems and (ways := tables(given.gold)) and all(not one.header or one.sure == OPEN for one in ways):
        return InputError("is one table whose first line names no columns, and of a table of all systems these names "
                          "are what they are called: give it such a line, as item,gold,SYSTEM,SYSTEM; or, if this is "
                          "the gold, name the systems' files after it", path=given.gold.path)
    what = "these files" if given.systems else "this file alone; if it is the gold, name the systems' files after it"
    what += f", with values that {asked.metric} compares" if asked.metric else ""
    return InputError(f"no format is known by {what}; name it with --as (`registry list readers`, `registry list "
                      f"importers`) and its options with --option. Or {REMEDY}", path=given.gold.path)


def twice(path: str) -> InputError:
    """Say that the gold is given as a system too, and has no answers."""
    return InputError("is the gold, and given as a system too; name it once, unless it has labels or numbers of a "
                      "system in a column beside the gold, which all systems repeat", path=path)


def _mark(document: Document) -> InputError | None:
    mark = "" if _has_objects(document) else even_mark(line for _, line in text_lines(document))
    return InputError(f"its columns seem to have {mark!r} between them, which no reader takes; write tabs, as "
                      f"`tr {quote(mark)} '\\t' < FILE` does", path=document.path) if mark == "|" else None


def _colons(document: Document) -> InputError | None:
    """Say that columns have two colons between them, as MovieLens has."""
    lines = [] if _has_objects(document) else [line for _, line in text_lines(document) if line.strip()]
    return InputError("its columns seem to have '::' between them, which no reader takes; write tabs, as "
                      "`sed 's/::/\\t/g' FILE` does", path=document.path) if len(lines) > 1 and {
                          line.count("::") for line in lines} in ({1}, {2}, {3}, {4}) else None


def _labelled(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that the gold's lines have a label before or after a text, and the systems' ones that label alone, or first.

    A number may stand behind it, of how sure they are.
    """
    right, *found = ([line.split() for _, line in text_lines(document) if line.strip()]
                     for document in (gold, *(one.document for one in systems)))
    if _has_objects(gold) or not right or mean(map(len, right)) < WORDS or not all(
            len(lines) == len(right) and max(map(len, lines)) <= _PAIR for lines in found):
        return None
    for field, at in (("1", 0), ("NF", -1)):
        labels = {words[at] for words in right}
        if 2 * len(labels) <= len(right) and all(
                sum(words[0] in labels for words in lines) >= _MOST * len(lines) for lines in found):
            return gold.error(f"its lines have a text and, at the {'end' if at else 'beginning'}, the label that the "
                              f"systems' lines have: leave the label alone on each line, as `awk '{{print ${field}}}' "
                              "FILE` does, and of the systems' as `awk '{print $1}' FILE`")
    return None


def _markup(document: Document) -> InputError | None:
    return InputError("is XML that no reader knows: write each item's name and its label on a line, with a tab between "
                      "them", path=document.path) if document.content.lstrip().startswith(b"<?xml") else None


def _row_names(document: Document) -> InputError | None:
    """Say that a first line has a name less than there are columns, as where R writes the names of rows."""
    if _has_objects(document):
        return None
    for separator in get_args(Separator):
        try:
            rows = [cells for _, cells in read_cells(readable(document), Written(separator))]
        except InputError:
            continue
        widths = {len(cells) for cells in rows[1:]}
        if len(rows) > _FEW and widths == {len(rows[0]) + 1} and len(rows[0]) > 1 and not any(map(is_number, rows[0])):
            return InputError("its first line names a column less than there are, as R's write.table() does; write "
                              "row.names=FALSE, quote=FALSE there, or take the first column out", path=document.path,
                              line=1)
    return None


def _stacked(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that a file has the answers of several systems below each other."""
    keys = [column for table in tables(gold) for column in table.columns if column.is_key]
    for given in systems:
        for table in (one for one in tables(given.document) if one.header):
            if any(2 * len(one.values & other.values) > len(one.values) and 2 * len(other.values) <= len(other.cells)
                   for one, other in product(keys, table.columns)) and (system := system_column(table)) is not None:
                return InputError(f"has several rows for each item, one of each system by {called(table, system)}: "
                                  f"{APART}", path=given.document.path)
    return None


def _has_objects(document: Document) -> bool:
    return document.content.lstrip()[:1] == b"{" or is_json(document)


def _broken(document: Document) -> InputError | None:
    """Say where a cell of CSV goes on in the next line: of a file that is called so, or has as many commas in lines."""
    if _has_objects(document) or tables(document) or b'"' not in document.content:
        return None
    commas = Counter(line.count(",") for _, line in text_lines(document) if line.strip())
    if not document.path.endswith((".csv", ".tsv")) and 2 * max(
            (times for n, times in commas.items() if n), default=0) <= commas.total():
        return None
    try:
        for _ in read_cells(readable(document), Written("comma")):
            pass
    except InputError as error:
        return InputError(f"{error.message}; write it in JSON Lines, as pandas' to_json(orient='records', lines=True) "
                          "does, or leave a column of such texts out", path=error.path, line=error.line)
    return None


def _texts(given: Files) -> InputError | None:
    """Say that texts in JSON need names that all files share, or none, where they stand in the same order."""
    names = [[table.names[n] for table in tables(one)[:1] if "syntax" in table.form for n in range(len(table.names))
              if not is_number(table.rows[0][n]) and mean(len(cell.split()) for cell in table.column(n).cells) >= WORDS]
             for one in (given.gold, *(system.document for system in given.systems))]
    if not given.systems or not all(names):
        return None
    each = "" if tables(given.gold)[0].form["syntax"] == "jsonl" else ".[] | "
    of = quote(f"{each}{{text: .{json.dumps(names[0][0])}}}")
    return InputError(f"texts stand under {' and '.join(map(repr, names[0][:_FEW]))}, and nothing beside them names "
                      "the same items in all files: write such names in all of them, or, where all are in the same "
                      f"order, the text alone, as `jq -c {of} FILE` does", path=given.gold.path)


def _rows(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that items, by a column that is called as what names them, have several rows each, with no order of them."""
    for document in (gold, *(one.document for one in systems)):
        for table in tables(document):
            if (name := _repeated_id(table)) is not None:
                return document.error(
                    f"column {name!r} names several rows by each item: write in all files a column that tells these "
                    "apart; or, if they are runs or samples of a system, one table of all systems with columns of "
                    "item, system, run and score, and say --as long")
    return None


def _repeated_id(table: Table) -> str | None:
    """Return the name of the first column that is called as an identifier and names several rows by some value."""
    return next((name for n, name in enumerate(table.names) if table.header and is_id(name)
                 and 1 < len(table.column(n).values) < len(table.column(n).cells)), None)


def _measures(gold: Document, _: Sequence[Given]) -> InputError | None:
    rows = [line.split() for _, line in text_lines(gold) if line.strip()]
    if not {row[0] for row in rows} >= _MEASURES:
        return None
    return gold.error("has trec_eval's measures of each query; name the judgments, and then the runs, which are "
                      "measured here. Or give one table of one measure: a row for each query, a column for each system")


def _many(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that systems give several labels to an item, and the gold one."""
    for table, key, found in matched(gold, systems):
        for n, one in product(range(len(table.names)), found) if len(table.names) <= PAIRED else ():
            for m in range(len(one.table.names)):
                cell = several(table.column(n).values, one.table.column(m).cells)
                if cell is not None and n != key and m not in one.keys:
                    return InputError(
                        f"{called(one.table, m)} has several labels in a cell, as {cell[:_SHOWN]!r}, of which "
                        f"{gold.path} has one for each item: leave the first for accuracy, or give one table of "
                        "scores, 1 where the right label is among those that count: a row for each item, a column for "
                        "each system", path=one.given.document.path)
    return None


def probabilities(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that systems give each class a probability, and nothing else."""
    for _, _, found in matched(gold, systems):
        table, keys = found[0].table, found[0].keys
        columns = [column for n, column in enumerate(table.columns) if n not in keys]
        if len(columns) >= _CLASSES and all(column.is_numeric for column in columns) and not all(
                column.is_whole for column in columns) and all(0.99 < sum(map(float, cells)) < 1.01 for cells in zip(
                    *(column.cells for column in columns), strict=True)):
            return found[0].given.document.error(
                f"its {len(columns)} columns make 1 in each row, as probabilities of classes do: write the label that "
                "has the highest one, and as the gold each item's label")
    return None


def _lists(_: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that a system's answers are lists or objects."""
    other = next((one.document for one in systems if not tables(one.document) and (
        found := records(one.document)) is not None and any(
            isinstance(value, list | dict) for value in found.rows[0].values())), None)
    return None if other is None else InputError(
        'has lists or objects in JSON: sets of answers are read as {"item": "a", "answers": ["x", "y"]} on each line, '
        'of gold and systems (--as responses), and rankings as {"query": {"document": 0.5}}, with judgments of the '
        f"same form (--as trec). Or {REMEDY}", path=other.path)


def _together(gold: Document, systems: Sequence[Given]) -> InputError | None:  # noqa: ARG001
    """Say that no column names the items, where the first two or three do together."""
    for table in sorted(tables(gold), key=lambda one: -one.sure)[:1]:
        if any(column.is_nearly_key for column in table.columns):
            return None
        for names in _naming(table):
            return gold.error(f"no column names the items, which {', '.join(names[:-1])} and {names[-1]} do together, "
                              "and not all systems' files have such: write both there too. Or, if several people have "
                              "labelled each item, leave one label of it, as most have it; if these are runs of "
                              "systems, join all files into one with a column 'system', and say --as long")
        if len(table.names) == _PAIR and len(set(map(tuple, table.rows))) == len(table.rows):
            return gold.error(f"its items stand on several lines each, by {called(table, 0)}: write a set of answers "
                              'as an object on each line, {"item": "a", "answers": ["x", "y"]} (--as responses), or, '
                              "if answers have scores, judgments and runs as TREC has them (--as trec)")
    return None


def _naming(table: Table) -> Iterator[list[str]]:
    """The columns that name rows together, beside one of labels."""
    width = len(table.names)
    for names in ([0, 1], [0, 1, 2], *([0, n] for n in range(2, width))):
        others = [table.column(n) for n in range(width) if n not in names]
        if max(names) < width and any(not column.is_numeric or column.values <= {"0", "1", "0.0", "1.0"} for column in
                                      others) and len({tuple(row[n] for n in names) for row in table.rows
                                                       if len(row) == width}) == len(table.rows):
            yield [called(table, n) for n in names]


def _bare(gold: Document, systems: Sequence[Given]) -> InputError | None:
    """Say that lines have several values each, and no name."""
    if gold.content.lstrip()[:1] in (b"{", b"[") or any(
            column.is_nearly_key for table in tables(gold) for column in table.columns):
        return None
    widths = {(len(table.names), len(table.rows)) for document in (gold, *(one.document for one in systems))
              for table in tables(document) if table.sure > OPEN}
    if len(widths) != 1 or next(iter(widths))[0] != _PAIR:
        return None
    return gold.error("no column names the items: where lines stand in the same order in all files, leave one column, "
                      "the label or the number")
