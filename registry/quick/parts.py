"""Parts of files: the rows of one system, run or test set as a separate file. Also sets of labels.

A part consists of unchanged lines of the whole file (JSON Lines for JSON and Parquet files), so the same kind of reader
can read it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.column_names import find_columns
from registry.errors import counted, suggest
from registry.quick.plan import Part, Plan, QuestionError, Request, SystemFile, with_options
from registry.quick.tables import Table, read_json_objects, read_json_parts, read_lines, read_table
from registry.readers import Document, Reader

_DEEPEST = 3  # maximum number of dots in the path of rows
MOST_GROUPS = 50  # maximum number of test sets or systems in one table


def take_rows(table: Table, rows: Sequence[int], name: str) -> Part:
    """Copy some rows of a table to a new file.

    Rows of JSON and Parquet files become JSON Lines. Other rows are copied without changes, with the header.

    Args:
        table: The table.
        rows: The indices of the rows.
        name: The name of the new file in messages.
    """
    document = table.document
    if "syntax" in table.form:
        objects = read_json_objects(document, table)
        lines = [json.dumps(objects[n], ensure_ascii=False, default=str) for n in rows]
    else:
        whole = read_lines(document)
        ends = [*(line - 1 for line in table.lines[1:]), len(whole)]
        lines = whole[:table.lines[0] - 1]
        for n in rows:
            lines += whole[table.lines[n] - 1:ends[n]]
    return make_part(document, lines, name)


def make_part(document: Document, lines: Sequence[str], name: str) -> Part:
    """Make a file from some lines of the user's file.

    Args:
        document: The user's file.
        lines: The lines.
        name: The name of the part in messages.
    """
    content = "".join(f"{line}\n" for line in lines).encode()
    return Part(f"{document.path} ({name})", content, name=document.name, whole=document)


def find_row_paths(document: Document) -> dict[str, int]:
    """Return the paths of parts of a JSON object that may be rows of items, with their numbers of rows.

    Such a part is a list of objects, or an object whose members are numbers or objects: `{"detail": {"q1": 0.5, ...}}`.
    """
    parts = read_json_parts(document) or []
    paths: dict[str, int] = {}
    pending = [(name, value) for _, name, value in parts if name is not None and "." not in name]
    for path, value in pending:
        members = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
        are_numbers = isinstance(value, Mapping) and all(isinstance(member, int | float) for member in members)
        are_objects = all(isinstance(member, Mapping) for member in members) and bool(
            isinstance(value, list) or (members and set.intersection(*map(set, members))))
        if len(members) > 1 and (are_numbers or are_objects):
            paths[path] = len(members)
        elif isinstance(value, Mapping) and path.count(".") < _DEEPEST:
            pending += [(f"{path}.{name}", member) for name, member in value.items() if "." not in name]
    return paths


def extract_rows(document: Document, path: str) -> Document:
    """Convert the part of a JSON object at a path to a file with a row for each item.

    Args:
        document: The file.
        path: The path, such as `results.details`.

    Raises:
        InputError: The file is no JSON object, or has no rows at the path.
    """
    paths = find_row_paths(document)
    if path not in paths:
        raise document.error(f"the file has no rows at {path!r}; {suggest(path, paths)}")
    value: Any = {name: member for _, name, member in read_json_parts(document) or ()}
    for name in path.split("."):
        value = value[name]
    rows = value if isinstance(value, list) else [
        {**(member if isinstance(member, Mapping) else {"score": member}), "item": name}
        for name, member in value.items()]
    return make_part(document, [json.dumps(row, ensure_ascii=False) for row in rows], path)


def group_rows(table: Table, column: str) -> dict[str, list[int]]:
    """Group the rows of a table by the value in a column.

    Returns:
        The indices of the rows of each value, in the order of the first rows.

    Raises:
        InputError: The column has an empty cell, or too many different values.
    """
    groups: dict[str, list[int]] = {}
    for n, cell in enumerate(table.cells(column)):
        groups.setdefault(cell.strip(), []).append(n)
    if "" in groups or len(groups) > MOST_GROUPS:
        blank = f"is empty in {counted(len(groups.get('', ())), 'row')}"
        raise table.document.error(f"column {column!r} " + (blank if "" in groups else (
            f"has {len(groups)} values; at most {MOST_GROUPS} groups are allowed")))
    return groups


def find_system_column(table: Table, request: Request) -> str | None:
    """Return the column with the system of each row; None if there is none.

    Such a column exists if a table has one row per item and system.
    """
    if "system" in request.options:
        name = str(request.options["system"])
        return name if name in table.names and len({*table.cells(name)}) > 1 else None
    names = find_columns(table.names, "system") if table.header else []
    return next((name for name in names if 2 <= len({*table.cells(name)}) <= len(table.rows) / 2), None)


def split_systems(systems: Sequence[SystemFile], request: Request) -> list[SystemFile]:
    """Split files with the answers of several systems into one file per system.

    Other files stay unchanged.
    """
    split: list[SystemFile] = []
    for file in systems:
        table = read_table(file.document, request.options)
        column = None if table is None else find_system_column(table, request)
        if table is None or column is None:
            split.append(file)
            continue
        prefix = f"{file.name}." if len(systems) > 1 else ""
        split += [SystemFile(prefix + value, take_rows(table, rows, f"{column} {value}"))
                  for value, rows in group_rows(table, column).items()]
    return split


def split_runs(documents: Sequence[SystemFile], items: Sequence[Sequence[str]], request: Request) -> list[SystemFile]:
    """Split files that contain several runs of a system into one file per run.

    Args:
        documents: The files of the systems.
        items: The columns that may identify the items, for each file.
        request: The options of the user.

    Raises:
        QuestionError: A file has several runs, and `--runs` is not given.
    """
    split: list[SystemFile] = []
    for file, keys in zip(documents, items, strict=True):
        table = read_table(file.document, request.options)
        column = None if table is None else find_run_column(table, keys, request)
        if table is None or column is None:
            split.append(file)
            continue
        if request.runs is None:
            raise QuestionError(
                f"column {column!r} seems to number runs, because each item occurs once in each of "
                f"{len({*table.cells(column)})} runs. Add one of these options:", {
                    "--runs fixed": "average the runs; results hold for these runs only",
                    "--runs random": "average the runs; results hold for other runs too"}, file.document.path)
        split += [SystemFile(f"{file.name}.run{n}", take_rows(table, rows, f"{column} {value}"))
                  for n, (value, rows) in enumerate(group_rows(table, column).items(), 1)]
    return split


def find_run_column(table: Table, items: Sequence[str], request: Request) -> str | None:
    """Return the column that numbers the runs; None if there is none.

    Every item must occur once per run.

    Args:
        table: The table.
        items: The columns that may identify the items.
        request: The options of the user.
    """
    items = [name for name in items if name in table.names]
    keys = [*(items if request.item else items[:1]), *([request.by] if request.by in table.names else [])]
    if not table.header or not items or any(table.is_unique([name, *keys]) for name in items):
        return None
    names = [name for name in table.names if name == request.options.get("run")] or find_columns(table.names, "run")
    return next((name for name in names if name not in items and table.is_unique([*keys, name])), None)


def split_plan(plan: Plan, column: str, request: Request) -> dict[str, Plan]:
    """Split a test set into several by the values of a column, such as the language.

    Args:
        plan: The files of the test set, with their readers.
        column: The column, which the gold (or the only table) must have.
        request: The options of the user.

    Returns:
        The files and readers of each new test set, by the value of the column.

    Raises:
        InputError: A file is not a table, or the column does not exist.
    """
    gold = _require_table(plan.gold, request)
    if column not in gold.names:
        raise gold.document.error(f"--by {column}: no such column; columns: {gold.preview()}")
    keys = gold.keys(_find_key_columns(plan.reader, gold))
    plans: dict[str, Plan] = {}
    for value, rows in group_rows(gold, column).items():
        name = f"{column} {value}"
        group_keys = {keys[n] for n in rows}
        parts = {plan.gold.path: take_rows(gold, rows, name)}
        for system in plan.systems:
            if system.document.path not in parts:
                table = _require_table(system.document, request)
                own_keys = table.keys(_find_key_columns(system.reader, table))
                own_rows = [n for n, cell in enumerate(table.cells(column)) if cell.strip() == value] if (
                    column in table.names) else [n for n, key in enumerate(own_keys) if key in group_keys]
                parts[system.document.path] = take_rows(table, own_rows, name)
        plans[value] = replace(plan, gold=parts[plan.gold.path], reader=as_part_reader(plan.reader), systems=tuple(
            replace(system, document=parts[system.document.path], reader=as_part_reader(system.reader))
            for system in plan.systems))
    return plans


def _require_table(document: Document, request: Request) -> Table:
    table = read_table(document, request.options)
    if table is None:
        raise document.error("--by divides the rows of a table, but this file is not a table; remove --by")
    return table


def as_part_reader(reader: Reader) -> Reader:
    """Adapt a reader to a file that has only some rows of the user's file.

    Such a file is in JSON Lines if the user's file is JSON or Parquet.
    """
    is_other = getattr(reader, "syntax", "delimited") in ("json", "parquet", "trec_eval")
    return with_options(reader, {"syntax": "jsonl", "columns": []}) if is_other else reader


def _find_key_columns(reader: Reader, table: Table) -> list[str]:
    """Return the columns of a table that together name an item."""
    item = getattr(reader, "item", ())
    names = [*getattr(reader, "within", ()), *([item] if isinstance(item, str) and item else item)]
    columns = table.names if table.header else getattr(reader, "columns", ())
    return [table.names[columns.index(name)] for name in names]


def write_sets(table: Table, keys: Sequence[str], column: str, mark: str | None) -> Part:
    """Convert a column of label sets to a JSON file for the reader `responses`.

    Args:
        table: The table.
        keys: The name of the item in each row.
        column: The column of sets.
        mark: The separator of labels in a cell; None: blanks.
    """
    values = table.nested.get(column)
    cells = [split_set(cell, mark or " ") for cell in table.cells(column)] if values is None else [
        [str(label) for label in value or ()] for value in values]
    return make_part(table.document, [json.dumps({"item": key, "answers": list(dict.fromkeys(labels))},
                                                 ensure_ascii=False) for key, labels in zip(keys, cells, strict=True)],
                     "sets")


def split_set(cell: str, mark: str) -> list[str]:
    """Split the text of a set into its labels.

    >>> split_set("anger|joy", "|"), split_set("['anger', 'joy']", ","), split_set("[]", ",")
    (['anger', 'joy'], ['anger', 'joy'], [])
    """
    text = cell.strip().strip("[](){}")
    labels = text.split() if mark == " " else text.split(mark)
    return [label for part in labels if (label := part.strip(" \t'\""))]


def find_mark(gold: set[str], answers: set[str]) -> str | None:
    """Find the separator of labels if values are sets, such as `anger|joy`; or None.

    A character is a separator if most of the labels that it separates occur in several values. A blank is one if two
    values differ only in the order of their words.

    Args:
        gold: The different gold values.
        answers: The different answers.
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
