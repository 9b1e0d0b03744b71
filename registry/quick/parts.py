"""Parts of files: the rows of one system, run or test set as a separate file. Also sets of labels.

A part consists of unchanged lines of the whole file (JSON Lines for JSON and Parquet files), so the same kind of reader
can read it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from registry.column_names import columns_of
from registry.errors import counted
from registry.quick.plan import Asked, Given, Part, Plan, QuestionError, with_options
from registry.quick.tables import Table, json_objects, read_table, text_lines
from registry.readers import Document, Reader

MOST_GROUPS = 50  # maximum number of test sets or systems in one table


def take_rows(table: Table, rows: Sequence[int], name: str) -> Part:
    """Return some rows of a table as a file; rows of JSON and Parquet files become JSON Lines."""
    document = table.document
    if "syntax" in table.form:
        objects = json_objects(document, table)
        lines = [json.dumps(objects[n], ensure_ascii=False, default=str) for n in rows]
    else:
        whole = text_lines(document)
        ends = [*(line - 1 for line in table.lines[1:]), len(whole)]
        lines = whole[:table.lines[0] - 1]
        for n in rows:
            lines += whole[table.lines[n] - 1:ends[n]]
    return make_part(document, lines, name)


def make_part(document: Document, lines: Sequence[str], name: str) -> Part:
    """Make a new part of the file that has only the given lines."""
    content = "".join(f"{line}\n" for line in lines).encode()
    return Part(f"{document.path} ({name})", content, name=document.name, whole=document)


def group_rows(table: Table, column: str) -> dict[str, list[int]]:
    """Group the rows by the value of a column; values are in the order of their first rows."""
    groups: dict[str, list[int]] = {}
    for n, cell in enumerate(table.cells(column)):
        groups.setdefault(cell.strip(), []).append(n)
    if "" in groups or len(groups) > MOST_GROUPS:
        blank = f"is empty in {counted(len(groups.get('', ())), 'row')}"
        raise table.document.error(f"column {column!r} " + (blank if "" in groups else (
            f"has {len(groups)} values, and at most {MOST_GROUPS} groups are read")))
    return groups


def system_column(table: Table, asked: Asked) -> str | None:
    """Return the column of systems, if the table has one row per item and system; otherwise None."""
    if "system" in asked.options:
        name = str(asked.options["system"])
        return name if name in table.names and len({*table.cells(name)}) > 1 else None
    names = columns_of(table.names, "system") if table.header else []
    return next((name for name in names if 2 <= len({*table.cells(name)}) <= len(table.rows) / 2), None)


def split_systems(systems: Sequence[Given], asked: Asked) -> list[Given]:
    """Split files with the answers of several systems into one part per system."""
    split: list[Given] = []
    for given in systems:
        table = read_table(given.document, asked.options)
        column = None if table is None else system_column(table, asked)
        if table is None or column is None:
            split.append(given)
            continue
        prefix = f"{given.name}." if len(systems) > 1 else ""
        split += [Given(prefix + value, take_rows(table, rows, f"{column} {value}"))
                  for value, rows in group_rows(table, column).items()]
    return split


def split_runs(documents: Sequence[Given], items: Sequence[Sequence[str]], asked: Asked) -> list[Given]:
    """Split files with several runs of a system into one part per run, by the column of runs.

    Args:
        documents: The systems' files.
        items: The columns that may name the items of each file.
        asked: The user's options.

    Raises:
        QuestionError: A file has several runs, and `--runs` is not given.
    """
    split: list[Given] = []
    for given, keys in zip(documents, items, strict=True):
        table = read_table(given.document, asked.options)
        column = None if table is None else run_column(table, keys, asked)
        if table is None or column is None:
            split.append(given)
            continue
        if asked.runs is None:
            raise QuestionError(
                f"column {column!r} numbers runs: items occur once in each of {len({*table.cells(column)})} runs. Add "
                "one of these options:", {
                    "--runs fixed": "average the runs; results hold for these runs",
                    "--runs random": "average the runs; results hold for other runs too"}, given.document.path)
        split += [Given(f"{given.name}.run{n}", take_rows(table, rows, f"{column} {value}"))
                  for n, (value, rows) in enumerate(group_rows(table, column).items(), 1)]
    return split


def run_column(table: Table, items: Sequence[str], asked: Asked) -> str | None:
    """Return the column of runs, if every item occurs once per run; otherwise None."""
    items = [name for name in items if name in table.names]
    keys = [*(items if asked.item else items[:1]), *([asked.by] if asked.by in table.names else [])]
    if not table.header or not items or any(table.is_unique([name, *keys]) for name in items):
        return None
    names = [name for name in table.names if name == asked.options.get("run")] or columns_of(table.names, "run")
    return next((name for name in names if name not in items and table.is_unique([*keys, name])), None)


def split_plan(plan: Plan, column: str, asked: Asked) -> dict[str, Plan]:
    """Split a plan into one plan for each value of a column of the gold, or of the only table.

    Raises:
        InputError: A file is not a table, or the column does not exist.
    """
    gold = _table(plan.gold, asked)
    if column not in gold.names:
        raise gold.document.error(f"--by {column}: no such column; columns: {gold.shown()}")
    keys = gold.keys(_key_columns(plan.reader, gold))
    plans: dict[str, Plan] = {}
    for value, rows in group_rows(gold, column).items():
        name = f"{column} {value}"
        known = {keys[n] for n in rows}
        parts = {plan.gold.path: take_rows(gold, rows, name)}
        for system in plan.systems:
            if system.document.path not in parts:
                table = _table(system.document, asked)
                own_keys = table.keys(_key_columns(system.reader, table))
                own_rows = [n for n, cell in enumerate(table.cells(column)) if cell.strip() == value] if (
                    column in table.names) else [n for n, key in enumerate(own_keys) if key in known]
                parts[system.document.path] = take_rows(table, own_rows, name)
        plans[value] = replace(plan, gold=parts[plan.gold.path], reader=as_part_reader(plan.reader), systems=tuple(
            replace(system, document=parts[system.document.path], reader=as_part_reader(system.reader))
            for system in plan.systems))
    return plans


def _table(document: Document, asked: Asked) -> Table:
    table = read_table(document, asked.options)
    if table is None:
        raise document.error("--by divides the rows of tables, and this file is no table")
    return table


def as_part_reader(reader: Reader) -> Reader:
    """Return the reader for parts of a file; parts of JSON and Parquet files are JSON Lines."""
    is_other = getattr(reader, "syntax", "delimited") in ("json", "parquet")
    return with_options(reader, {"syntax": "jsonl"}) if is_other else reader


def _key_columns(reader: Reader, table: Table) -> list[str]:
    """Return the columns of a table from which its reader makes the names of items."""
    item = getattr(reader, "item", ())
    names = [*getattr(reader, "within", ()), *([item] if isinstance(item, str) and item else item)]
    columns = table.names if table.header else getattr(reader, "columns", ())
    return [table.names[columns.index(name)] for name in names]


def write_sets(table: Table, keys: Sequence[str], column: str, mark: str | None) -> Part:
    """Convert a column of sets of labels to a file for the reader `responses`.

    Args:
        table: The table.
        keys: The name of the item in each row.
        column: The column of sets.
        mark: The separator of labels in text; None if blanks separate them.
    """
    values = table.nested.get(column)
    cells = [split_set(cell, mark or " ") for cell in table.cells(column)] if values is None else [
        [str(label) for label in value or ()] for value in values]
    return make_part(table.document, [json.dumps({"item": key, "answers": list(dict.fromkeys(labels))},
                                                 ensure_ascii=False) for key, labels in zip(keys, cells, strict=True)],
                     "sets")


def split_set(cell: str, mark: str) -> list[str]:
    """Return the labels of a set that is written as text.

    >>> split_set("anger|joy", "|"), split_set("['anger', 'joy']", ","), split_set("[]", ",")
    (['anger', 'joy'], ['anger', 'joy'], [])
    """
    text = cell.strip().strip("[](){}")
    labels = text.split() if mark == " " else text.split(mark)
    return [label for part in labels if (label := part.strip(" \t'\""))]


def find_mark(gold: set[str], answers: set[str]) -> str | None:
    """Return the separator of labels, if values are sets of labels written as text; None if they are single labels.

    A separator is accepted if labels occur in several sets. A blank is accepted only if two sets differ only in the
    order of their labels.
    """
    values = gold | answers
    for mark in "|;,+/":
        parts = {value: split_set(value, mark) for value in values}
        counts = Counter(label for labels in parts.values() for label in {*labels})
        several = [labels for labels in parts.values() if len(labels) > 1]
        members = {label for labels in several for label in labels}
        if len(several) > 1 and 2 * sum(counts[label] > 1 for label in members) > len(members):
            return mark
    orders: dict[tuple[str, ...], set[str]] = {}
    for value in values:
        orders.setdefault(tuple(sorted(split_set(value, " "))), set()).add(value)
    return " " if any(len(same) > 1 and len(labels) > 1 for labels, same in orders.items()) else None
