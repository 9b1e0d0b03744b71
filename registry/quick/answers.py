"""Roles of columns, if the gold and the systems are in tables or in files with one value per line.

A column has a role, such as the name of the item, or the label, number or text to compare. Roles come from options, or
else from usual names (`registry.column_names`). The values of a column decide whether they are labels, numbers or texts
only if one of these is possible. Otherwise the role is unclear, and one message asks for all unclear roles.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from registry.column_names import find_columns, has_role, is_measure, is_size, normalize
from registry.errors import InputError, listed
from registry.metrics import BLEU, CER, WER, Metric, Spearman
from registry.metrics.texts import choose_tokenizer
from registry.quick.checks import (
    ask_about_absent_labels,
    ask_about_codes,
    ask_about_groups,
    ask_about_other_column,
    ask_about_sets,
    ask_about_span_rows,
    group_options,
    refuse_marks,
    refuse_other_gold,
    refuse_other_order,
    refuse_probabilities,
    refuse_summary,
)
from registry.quick.formats import ENOUGH_DOCUMENTS
from registry.quick.parts import split_runs, split_systems, write_sets
from registry.quick.plan import (
    OPTION,
    Kind,
    Plan,
    QuestionError,
    Questions,
    Request,
    System,
    SystemFile,
    option,
    reader_option,
    with_options,
)
from registry.quick.tables import (
    DISTINCT,
    Table,
    are_numbers,
    are_texts,
    are_truths,
    find_index_column,
    find_item_columns,
    is_number,
    read_lines,
    read_table,
    refuse_unusual_numbers,
    repair_option,
)
from registry.readers import READERS, Document, Lines, Reader, Responses

_READERS: dict[Kind, str] = {"label": "labels", "score": "scores", "segment": "texts"}
_VALUE: dict[str, tuple[str, str]] = {"labels": ("label", "label"), "scores": ("gold", "score"),
                                      "texts": ("text", "text")}
_KINDS: dict[str, Kind] = {"labels": "label", "scores": "score", "texts": "segment", "lines": "segment"}
_FEW = 10  # rows; in shorter tables, distinct values may be labels
_MOST = 0.5  # two columns are copies if they agree in this share of rows
_PARTS = 4  # maximum number of suggestions for the columns that name an item


def plan_answers(gold: Document, systems: Sequence[SystemFile], request: Request) -> Plan | None:
    """Find out how to read gold and system files that are tables or plain lines.

    Args:
        gold: The gold file.
        systems: The files of the systems.
        request: The options of the user.

    Returns:
        The columns of items, gold and answers; None if a file has another format.

    Raises:
        QuestionError: The purpose of a column is unclear, so the user must name it.
        InputError: A column that the user names does not exist, or a file is invalid.
    """
    if request.kind == "lines":
        return plan_lines(gold, systems)
    systems = split_systems(systems, request)
    tables = read_all([gold, *(file.document for file in systems)], request)
    if tables is None or (request.kind is not None and request.kind not in _KINDS):
        return None
    if request.kind is None and request.value is None and all(
            {"judge", "human"} <= {*map(str.casefold, table.names)} for table in tables[1:]):
        raise QuestionError("the files have a judge's scores of all items, and people's scores of some items. How were "
                            "these items chosen? Add one of these options:", {
            "--as judged --option drawn=random": "people's items were drawn at random",
            "--as judged --option drawn=probability": "the gold has the probability of each item"}, gold.path)
    item_columns = [request.item or find_item_columns(table) for table in tables]
    runs = split_runs([SystemFile("gold", gold), *systems], item_columns, request)
    if len(runs) > len(tables):
        gold, systems = runs[0].document, [file for file in runs if not file.name.startswith("gold")]
        tables = read_all([gold, *(file.document for file in systems)], request) or []
    gold_table, *system_tables = tables
    if request.kind is None and request.value is None:
        ask_about_span_rows(gold_table)
    questions = Questions()
    items, own_items = _choose_all_items(gold_table, system_tables, request, questions)
    value, kind, columns = _choose_values(gold_table, system_tables, items, own_items, request, questions)
    ask_about_groups(gold_table, items, request, questions)
    if kind == "score" and value is not None:
        ask_about_codes(gold_table.cells(value), request, questions)
    shown = [gold_table.preview(), *(f"of {table.document.path}: {table.preview()}" for table in system_tables[:1]
                              if table.names != gold_table.names)]
    questions.raise_if_any(gold.path, "; ".join(shown))
    assert value is not None
    assert kind is not None
    for table, keys in [(gold_table, items), *zip(system_tables, own_items, strict=True)]:
        refuse_summary(table, keys)
    sources = list(zip(systems, system_tables, own_items, columns, strict=True))
    if value in gold_table.nested:
        return plan_tables(gold_table, items, value, kind, sources, request)
    refuse_other_gold(gold_table, items, value, list(zip(system_tables, own_items, columns, strict=True)))
    answers = [table.cells(column) for table, column in zip(system_tables, columns, strict=True)]
    if kind == "label" and request.kind is None and request.value is None:
        ask_about_absent_labels(gold_table, value, answers)
    if kind == "segment":
        if request.kind is None and request.value is None:
            ask_about_other_column(gold_table, items, value, columns[0], answers)
        refuse_marks([gold, *(file.document for file in systems)], [gold_table.cells(value), *answers], request)
        if gold_table.is_lines and all(table.is_lines for table in system_tables):
            return plan_lines(gold, systems)
    return plan_tables(gold_table, items, value, kind, sources, request)


def read_all(documents: Sequence[Document], request: Request) -> list[Table] | None:
    """Read several files as tables; return None if one file is not a table.

    If it is unclear whether a file has a header, the other files help to decide.

    Raises:
        QuestionError: It is unclear whether the first lines name the columns.
        InputError: Numbers have decimal commas or percent signs.
    """
    read = [read_table(document, request.options) for document in documents]
    tables = [table for table in read if table is not None]
    if len(tables) < len(read):
        return None
    tables = [table if table.header is not None else _decide_header(table, tables, request) for table in tables]
    for table in tables:
        if request.value is None or request.value[0] == "score":
            refuse_unusual_numbers(table, [name for name in table.names if not has_role(name, "item") and (
                request.value is None or name in request.value[1])])
    return tables


def _decide_header(table: Table, tables: Sequence[Table], request: Request) -> Table:
    """Decide whether the first line of a table names the columns, and read it again.

    The tables of the other files help to decide.

    Args:
        table: A table for which this is unclear.
        tables: The tables of all files.
        request: The options of the user.

    Raises:
        QuestionError: It is still unclear whether the first line names the columns.
    """
    rest = [other for other in tables if other is not table]
    first = list(table.names)

    def read(*, header: bool) -> Table:
        again = read_table(table.document, {**request.options, "header": header})
        assert again is not None
        return again

    if len(first) == 1:
        lengths = [len(other.rows) + (other.header is None) for other in rest]
        if any(length == len(table.rows) for length in lengths):
            return read(header=True)
        if any(other.header is not None or list(other.names) != first for other in rest):
            return read(header=False)
    if any(first[0] in cells for other in rest for cells in map(other.cells, other.names)):
        return read(header=False)
    opening = [list(other.names if other.header is None else other.rows[0]) for other in rest
               if other.header is not True]
    if any(row[0] == first[0] and row != first for row in opening):
        return read(header=False)
    if opening and all(row[0] != first[0] for row in opening):
        return read(header=True)
    raise QuestionError(f"does the first line name the columns ({', '.join(first)[:60]})? Add one of these options:", {
        "--option header=true": "it names the columns", "--option header=false": "it is an item"}, table.document.path)


def _choose_all_items(gold: Table, system_tables: Sequence[Table], request: Request,
                      questions: Questions) -> tuple[list[str], list[list[str]]]:
    """Choose the columns that identify the items, in the gold and in all systems.

    The lists are empty if the files have no names of items. Rows are then matched by position.

    Args:
        gold: The table of the gold.
        system_tables: The tables of the systems.
        request: The options of the user.
        questions: Collects a question to the user if the columns are unclear.
    """
    none = [list[str]() for _ in system_tables]
    if request.in_order:
        for table in system_tables:
            refuse_other_order(gold, table)
        return [], none
    if request.item:
        columns = [require_column(gold, name) for name in request.item]
        return columns, [_choose_same_items(table, gold, columns, request, questions) for table in system_tables]
    are_lines = all(table.is_lines for table in system_tables)
    if are_lines or (gold.is_lines and not any(map(find_item_columns, system_tables))):
        if not are_lines:
            questions.add("the gold has no column of item names", {
                "--in-order": "all files have the same items in the same order"})
        return [], none
    items = _first_of_two(gold, request) or choose_items(
        gold, request, questions, [table for table in system_tables if not table.is_lines])
    return items, [_choose_same_items(table, gold, items, request, questions)
                   for table in system_tables] if items else none


def _first_of_two(table: Table, request: Request) -> list[str]:
    if table.header or len(table.names) != 2:
        return []
    named = [] if request.value is None else [table.column(name) for name in request.value[1]]
    return [name for name in table.names if name not in named][:1] if table.is_unique(table.names[:1]) or named else []


def choose_items(table: Table, request: Request, questions: Questions, system_tables: Sequence[Table] = (), *,
                 system: Sequence[str] = ()) -> list[str]:
    """Choose the columns that identify the item of a row, by usual column names.

    If no or several choices are possible, the user is asked later, and the result is empty.

    Args:
        table: The table. Without a header, the first of two columns names the items.
        request: The options of the user.
        questions: Collects the question.
        system_tables: Tables of systems, which must have the same items.
        system: Columns that distinguish several rows of one item, such as the system and the run.
    """
    varying = [*system, *([request.by] if request.by in table.names else [])]
    usual = [name for name in find_item_columns(table) if name not in varying] if table.header else []
    if not table.header and len(table.names) == 2:
        usual = [table.names[0]]
    alone = [name for name in usual if table.is_unique([name, *varying])]
    runs = [name for name in find_columns(table.names, "run") if name not in varying and len({*table.cells(name)}) > 1]
    if alone:
        if (repeated := _find_repeated_item(table, runs, varying)) is not None:
            questions.add(f"values of column {repeated[0]!r} occur in several rows, which column {repeated[1]!r} "
                          "numbers", {
                option("--item", alone[0]): "these rows are different items",
                f"{option('--item', repeated[0])} --runs fixed": "these rows are runs of one item: average them"})
        return alone[:1]
    parts = [name for name in (*find_columns(table.names, "part"), *find_columns(table.names, "group"), *request.pool)
             if name in table.names and name not in (*varying, *runs)]
    weak = [name for name in usual if len(usual) > 1 and normalize(name) in ("sample", "sample_id", "sample_idx", "no",
                                                                              "nr", "number", "idx")]
    for size in (2, 3):
        candidates = [columns for columns in combinations(dict.fromkeys([*parts, *usual]), size)
                 if any(name in usual for name in columns) and not any(name in weak for name in columns)
                 and not any(len(group_options(name)) == 1 for name in columns)
                 and (any(name in parts for name in columns) or not _are_crossed(table, columns))
                 and table.is_unique([*columns, *varying])]
        if len(candidates) == 1:
            return list(candidates[0])
        if candidates:
            break
    if usual:
        _ask_about_repeated(table, usual[0], varying, questions, weak, is_alone=not system and not system_tables)
        return []
    answers: dict[str, str] = {}
    free = [name for name in table.names[:8] if name not in varying and not has_role(
        name, "system", "run", "group", "meta", "score", "gold", "label") and not (
        are_numbers(table.cells(name)) and any("." in cell for cell in table.cells(name)))]
    for columns_ in (*((name,) for name in free), *combinations(free, 2)):
        if len(answers) < _PARTS and table.is_unique([*columns_, *varying]) and (len(columns_) == 1 or not any(
                table.is_unique([name, *varying]) for name in columns_)):
            answers[" ".join(option("--item", name) for name in columns_)] = "a different value in every row"
    if not varying and all(len(system_table.rows) == len(table.rows) for system_table in system_tables):
        answers["--in-order"] = "all files have the same items in the same order"
    question = "no column has a usual name for items" if table.header else "no header names the columns"
    questions.add(question, answers or {"--item COLUMN": "repeat the option for several columns"})
    return []


def _are_crossed(table: Table, columns: Sequence[str]) -> bool:
    """Return True if all combinations of the columns' values occur in a table.

    Columns such as metric and run are crossed. Such columns do not name the items.
    """
    return len({*zip(*map(table.cells, columns), strict=True)}) == math.prod(
        len({*table.cells(name)}) for name in columns)


def _ask_about_repeated(table: Table, item: str, varying: Sequence[str], questions: Questions, weak: Sequence[str], *,
                        is_alone: bool) -> None:
    """Ask the user why the same item occurs in several rows.

    Possible reasons are several systems, runs or test sets, or further columns that belong to the item's name.

    Args:
        table: The table.
        item: The column that usually names items.
        varying: Columns that are known to distinguish rows of an item, such as the system.
        questions: Collects the question.
        weak: Columns that number either samples of an item or items.
        is_alone: True if the table is the only file, so that it may contain all systems.
    """
    answers: dict[str, str] = {}
    is_long = bool(varying)
    for name in table.names:
        cells = table.cells(name)
        is_decimal = are_numbers(cells) and any("." in cell for cell in cells)
        if name in (item, *varying) or is_decimal or has_role(name, "score", "gold", "label", "answer") or is_measure(
                name) or not table.is_unique([item, name, *varying]):
            continue
        average = {f"--option run={name} --runs fixed": "average them for each system and item"} if is_long else {}
        if has_role(name, "group"):
            return  # `ask_about_groups` asks
        if has_role(name, "run"):
            answers |= average or {option("--by", name): "a board for each run"}
        elif has_role(name, "part"):
            answers |= group_options(name)
        elif has_role(name, "system"):
            answers |= {f"--option system={name}": "this column names the systems"} if is_alone else {
                option("--by", name): "a board for each of its values"}
        elif has_role(name, "meta"):
            answers |= {**average, option("--by", name): "a board for each of its values"}
        elif 2 * len({*cells}) <= len(cells) or name in weak:
            answers |= {f"{option('--item', item)} {option('--item', name)}": "these rows are different items" + (
                ", not runs of one item" * (name in weak))}
            answers |= {f"--option system={name}": "this column names the systems"} if is_alone else average
            answers[option("--by", name)] = "a board for each of its values"
    questions.add(f"values of column {item!r} occur in several rows{_describe_repeated(table, [item, *varying])}" + (
        "" if answers else "; remove rows that repeat an item, or name other columns"),
        answers or {"--item COLUMN": "repeat the option for several columns"})


def _find_repeated_item(table: Table, runs: Sequence[str], varying: Sequence[str]) -> tuple[str, str] | None:
    """Find a column that identifies the items in a table of several runs.

    If the table also has a column that numbers the runs, each pair of item and run must have at most one row, and most
    pairs must have one.

    Args:
        table: The table.
        runs: The columns that may number runs.
        varying: Columns that are known to distinguish rows of an item, such as the system.

    Returns:
        The column of items and the column of runs; None if there are no such columns.
    """
    for run in runs:
        for name in table.names:
            if name != run and name not in varying and has_role(name, "item", "given") and not (
                    table.is_unique([name, *varying])) and table.is_unique([name, run, *varying]) and (
                    len(table.rows) >= _MOST * len({*table.cells(name)}) * len({*table.cells(run)})):
                return name, run
    return None


def _describe_repeated(table: Table, columns: Sequence[str]) -> str:
    """Describe the first item that occurs twice.

    The result is a text such as ` ('d3' is in lines 9 and 14)`, or an empty text if no item occurs twice.

    Args:
        table: The table.
        columns: The columns that identify the item.
    """
    seen: dict[str, int] = {}
    for key, line in zip(table.keys(columns), table.lines, strict=True):
        if key in seen:
            return f" ({key!r} is in lines {seen[key]} and {line})"
        seen[key] = line
    return ""


def _choose_same_items(table: Table, gold: Table, columns: Sequence[str], request: Request,
                       questions: Questions) -> list[str]:
    """Choose the columns that identify the items in a system's table.

    The first possible choice counts: the columns that the user names, columns with the same names as in the gold, or
    columns with usual names such as `id`.

    Args:
        table: The table of the system.
        gold: The table of the gold.
        columns: The columns that identify the items in the gold.
        request: The options of the user.
        questions: Collects a question if the columns are unclear; the result is then empty.
    """
    named = [column for name in request.item if (column := table.column(name)) is not None]
    if len(named) == len(columns) > 0:
        return named
    if table.header is not False or gold.header is False:
        same = [name for name in columns if name in table.names]
        if len(same) == len(columns):
            return same
    if len(columns) == 1:
        usual = find_item_columns(table) if table.header else _first_of_two(table, request)
        usual = [name for name in usual if table.is_unique([name])] or usual
        if usual:
            return usual[:1]
        shared = {*gold.keys(columns)}
        if table.header is False and not table.is_lines and 2 * len(shared & {*table.cells(table.names[0])}) > len(
                table.rows):
            return [table.names[0]]
    questions.add("no column has the name of the gold's item column", {
        "--item COLUMN": "a column of item names that all files have; if there is none, rename the column"},
        (table.document.path, table.preview()))
    return []


def require_column(table: Table, name: str) -> str:
    """Return the column that the user names, or numbers if the table has no header.

    Raises:
        InputError: The table has no such column.
    """
    if (column := table.column(name)) is None:
        raise table.document.error(f"the file has no column {name!r}; columns: {table.preview()}")
    return column


def _choose_values(gold: Table, system_tables: Sequence[Table], items: list[str], own_items: list[list[str]],
                   request: Request, questions: Questions) -> tuple[str | None, Kind | None, list[str]]:
    """Choose the columns with gold values and with the answers of each system.

    Args:
        gold: The table of the gold.
        system_tables: The tables of the systems.
        items: The columns that identify the items in the gold.
        own_items: The columns that identify the items in each system's table.
        request: The options of the user.
        questions: Collects questions about unclear columns.

    Returns:
        The column of the gold, the kind of values (`label`, `score` or `segment`), and the column of each system. If
            this is unclear, the kind is None or the list of columns is empty.
    """
    kinds = find_possible_kinds(request)
    if not kinds and (request.sets is not None or _find_label_lists(gold)):
        kinds = ["label"]
    if not kinds:
        if len(request.metrics) > 1:
            raise InputError(f"no kind of values fits --metric {' and --metric '.join(request.metrics)}; run the "
                             "command once for each")
        raise InputError(f"--metric {request.metrics[0]} needs other values than labels, numbers or texts; name the "
                         "reader of these values with --as (`registry list readers`)")
    value = _choose_gold_value(gold, items, system_tables, own_items, request, kinds, questions)
    if value is None:
        return None, None, []
    if value in gold.nested:
        lists = [value if value in table.nested else next(iter(_find_label_lists(table)), None)
                 for table in system_tables]
        return value, "label", [require_list(table, name) for table, name in zip(system_tables, lists, strict=True)]
    named = request.list_answer_columns(value)
    for name in named:
        if not any(table.column(name) for table in system_tables):
            require_column(system_tables[0], name)
    likely = [_choose_system_value(table, gold, value, keys, items, request, None) for table, keys in zip(
        system_tables, own_items, strict=True)]
    answers = [[cell for name in ([column] if column else table.names) if name not in keys
                for cell in table.cells(name)]
               for table, column, keys in zip(system_tables, likely, own_items, strict=True)]
    names = [value] * bool(gold.header) + [column for table, column in zip(system_tables, likely, strict=True)
                                            if column and table.header]
    for table in system_tables:
        refuse_probabilities(gold.cells(value), table)
    kind = choose_kind(gold.cells(value), answers, names, kinds, request, questions, columns=(
        value, next((column for column in likely if column), None)))
    if kind is None:
        return value, None, []
    columns = [column or _choose_system_value(table, gold, value, keys, items, request, kind)
           for column, table, keys in zip(likely, system_tables, own_items, strict=True)]
    for table, keys, column in zip(system_tables, own_items, columns, strict=True):
        if column is None:
            candidates = [name for name in table.names if name not in keys]
            questions.add("which column has the system's answers?", {
                " ".join(option(OPTION[kind], column) for column in (value, *named, name)): "" for name in candidates},
                (table.document.path, table.preview(candidates)))
            return value, kind, []
    return value, kind, [column for column in columns if column is not None]


def _find_label_lists(table: Table) -> list[str]:
    return [name for name, values in table.nested.items() if all(
        isinstance(label, str | int) for value in values for label in (value or ()))]


def require_list(table: Table, name: str | None) -> str:
    """Check that a file has a column with lists of labels, and return its name.

    Raises:
        InputError: The name is None: the file has no such column.
    """
    if name is None:
        raise table.document.error("the gold has a list of labels for each item, but this file does not; write a list")
    return name


def find_possible_kinds(request: Request) -> list[Kind]:
    """Return the kinds of values that the user's options allow.

    A kind is `label`, `score` or `segment`.
    """
    if request.value is not None:
        return [request.value[0]]
    if request.kind in _KINDS:
        return [_KINDS[request.kind]]
    kinds: tuple[Kind, ...] = ("label", "score", "segment")
    return [kind for kind in kinds if request.may_compare(kind)]


def _choose_gold_value(table: Table, items: Sequence[str], system_tables: Sequence[Table],
                       own_items: Sequence[Sequence[str]], request: Request, kinds: Sequence[Kind],
                       questions: Questions) -> str | None:
    """Choose the column with the gold values.

    If it is unclear, the user is asked later, and the result is None.

    Args:
        table: The table of the gold.
        items: The columns that identify the items.
        system_tables: The tables of the systems.
        own_items: The columns that identify the items in each system's table.
        request: The options of the user.
        kinds: The possible kinds of values: `label`, `score` or `segment`.
        questions: Collects the question.
    """
    rest = [name for name in table.names if name not in items and not (
        name == find_index_column(table) and len(table.names) > 2)]
    if request.gold in rest:
        return request.gold
    if request.value is not None:
        names = request.value[1]
        column = table.column(names[0])
        if column is not None:
            return column
        if len(names) > 1 or not any(system_table.column(names[0]) for system_table in system_tables):
            return require_column(table, names[0])
    if table.header and len(rest) > 1:
        shared = _find_shared_column(table, rest, items, system_tables, own_items)
        if shared is not None and {*find_columns(rest, "gold")} <= {shared}:
            return shared
        texts = find_columns(rest, "text")
        usual = list(dict.fromkeys([*find_columns(rest, "gold"), *find_columns(rest, "label")]))
        tiers = [usual, find_columns(rest, "score"), texts]
        if list(kinds) == ["segment"]:
            tiers = [[name for name in usual if not has_role(name, "label")], texts]
        elif list(kinds) == ["score"]:
            tiers = [find_columns(rest, "gold"), find_columns(rest, "score"), usual]
        chosen = next((tier for tier in tiers if tier), [])
        answer_names = {name for system_table in system_tables for name in find_columns(system_table.names, "answer")}
        if len(chosen) > 1:
            chosen = [name for name in chosen if name not in answer_names or not has_role(name, "answer")] or chosen
        if len(chosen) == 1:
            return chosen[0]
        rest = chosen or rest
    if len(rest) == 1:
        return rest[0]
    if not rest and len(lists := _find_label_lists(table)) == 1:
        return lists[0]
    if not rest:
        raise table.document.error(f"the gold has no column of labels, numbers or texts; columns: {table.preview()}")
    answers = {option(OPTION[kind], name): "" for name in rest for kind in _filter_kinds(table.cells(name), kinds)}
    if len(rest) > 1 and all({*map(str.casefold, table.cells(name))} <= {"0", "1", "true", "false"} for name in rest):
        answers |= {"--as multilabel": "all columns: an item may have several labels"}
    questions.add("which column of the gold has the correct labels, numbers or texts?", answers)
    return None


def _find_shared_column(gold: Table, names: Sequence[str], items: Sequence[str], system_tables: Sequence[Table],
                        own_items: Sequence[Sequence[str]]) -> str | None:
    """Return the column in which all systems have answers, because the gold has a column of the same name.

    Columns that systems copy from the gold, such as the text of an item, have no answers. The result is None if several
    columns are possible, or if a system has a column with a usual name for answers, such as `prediction`.

    Args:
        gold: The table of the gold.
        names: The columns of the gold that may have the gold values.
        items: The columns that identify the items in the gold.
        system_tables: The tables of the systems.
        own_items: The columns that identify the items in each system's table.
    """
    sources = list(zip(system_tables, own_items, strict=True))
    own = [[name for name in table.names if name not in keys and not _names_run(table, name)]
           for table, keys in sources]
    shared = [name for name in names if all(table.header and name in rest for table, rest in zip(
        system_tables, own, strict=True))]
    if any(name not in shared for rest in own for name in find_columns(rest, "answer")):
        return None
    if any(len(rest) > 1 for rest in own):
        shared = [name for name in shared if not has_role(name, "given", "text") and not all(
            _is_copy(table, keys, gold, items, name) for table, keys in sources)]
    return shared[0] if len(shared) == 1 else None


def _names_run(table: Table, name: str) -> bool:
    """Return True if a column has the name of the system or run, which is the same in all rows."""
    return len({*table.cells(name)}) == 1 and has_role(name, "system", "run")


def _filter_kinds(cells: Sequence[str], kinds: Sequence[Kind]) -> list[Kind]:
    """Return the kinds of values that cells probably have: label, score or segment.

    If none of `kinds` is likely, all are returned.
    """
    filled = [cell for cell in cells if cell.strip()]
    if are_numbers(filled):
        possible: list[Kind] = ["label", "score"] if all("." not in cell for cell in filled) else ["score"]
    elif 2 * len({*filled}) > len(filled) and len(filled) > _FEW:
        possible = ["label", "segment"]
    else:
        possible = ["label"]
    return [kind for kind in possible if kind in kinds] or list(kinds)


def _choose_system_value(table: Table, gold: Table, value: str, items: Sequence[str], gold_items: Sequence[str],
                         request: Request, kind: Kind | None) -> str | None:
    """Choose the column with the answers of a system; return None if it is unclear.

    The first of these columns is chosen: the column that the user names, the only column, a column with a usual name
    such as `prediction`, the column with the same name as in the gold, or a column with a usual name for the kind of
    values.

    Args:
        table: The table of the system.
        gold: The table of the gold.
        value: The gold's column of values.
        items: The columns that identify the items in the system's table.
        gold_items: The columns that identify the items in the gold.
        request: The options of the user.
        kind: The kind of values; None if it is not known yet.
    """
    repeats_gold = table.document.path == gold.document.path or request.gold == value  # as rows of one table do
    rest = [name for name in table.names if name not in items and not (repeats_gold and name == value)
            and not _names_run(table, name)]
    if request.value is not None:
        names = request.value[1]
        column = next((column for name in names[1:] or names if (column := table.column(name)) in rest), None)
        if column is not None:
            return column
    if len(rest) == 1:
        return rest[0]
    if not rest and not repeats_gold:
        lists = (f"; column {next(iter(table.nested))!r} has lists, but must have one label or text for each item"
                 if table.nested else "")
        raise table.document.error(f"the file has no column of answers; columns: {table.preview()}{lists}")
    if not rest:
        raise table.document.error("this file is named both as the gold and as a system, but has no column of the "
                                   "system's answers; name it once")
    if not table.header:
        if gold.header is False and value in rest and len(table.names) == len(gold.names):
            return value
        return None
    answers = [name for name in find_columns(rest, "answer") if name != value] or list(find_columns(rest, "answer"))
    if len(answers) > 1 and kind is not None:
        answers = [name for name in answers if has_role(name, _get_role(kind))] or answers
    if answers and value in rest and answers != [value] and not _is_copy(table, items, gold, gold_items, value):
        return None
    if answers:
        return answers[0] if len(answers) == 1 else None
    if value in rest:
        return value
    folded = [name for name in rest if normalize(name) == normalize(value)]
    if len(folded) == 1:
        return folded[0]
    usual = find_columns(rest, "label" if kind is None else _get_role(kind))
    return usual[0] if len(usual) == 1 else None


def _is_copy(table: Table, items: Sequence[str], gold: Table, gold_items: Sequence[str], column: str) -> bool:
    golds = dict(zip(gold.keys(gold_items), gold.cells(column), strict=True))
    rows = list(zip(table.keys(items), table.cells(column), strict=True))
    n_same = sum(golds.get(key, cell) == cell for key, cell in rows)
    are_distinct = len({*golds.values()}) > DISTINCT * len(golds)
    return n_same == len(rows) or (are_distinct and n_same > _MOST * len(rows))


def _get_role(kind: Kind) -> Any:
    return "text" if kind == "segment" else kind


def choose_kind(gold: Sequence[str], answers: Sequence[Sequence[str]], names: Sequence[str], kinds: Sequence[Kind],
                request: Request, questions: Questions, *, columns: tuple[str, str | None]) -> Kind | None:
    """Decide whether values are labels, numbers (scores) or texts.

    If this is unclear, the user is asked later, and the result is None.

    Args:
        gold: The gold values.
        answers: The answers of each system.
        names: The names of the columns; empty if the files have no header.
        kinds: The kinds that the user's options allow: `label`, `score`, `segment`.
        request: The options of the user.
        questions: Collects the question.
        columns: The column of the gold and of the first system, which the question suggests as options.
    """
    value, find_system_column = columns
    both = [value, find_system_column] if find_system_column and find_system_column != value else [value]
    if request.sets is not None:
        return "label"
    if len(kinds) == 1:
        return None if kinds == ["label"] and ask_about_sets(gold, answers, both, request, questions) else kinds[0]
    filled = [cell for cell in gold if cell.strip()]
    values = {*filled}
    answered = {cell.strip() for cells in answers for cell in cells if cell.strip()}
    calls = {kind: any(has_role(name, _get_role(kind)) for name in names) for kind in _READERS}
    means: dict[Kind, str]
    if are_numbers(filled):
        whole = all(float(cell).is_integer() for cell in values if is_number(cell))
        are_decimals = any(is_number(cell) and not float(cell).is_integer() for cell in answered)
        if not whole or (are_decimals and len(values) > 2):
            return _if_open("score", kinds)
        if len(values) <= 2 and not are_decimals:
            return _if_open("label", kinds)
        if len(values) > 2 and calls["label"] != calls["score"]:
            return _if_open("label" if calls["label"] else "score", kinds)
        means = {"label": "labels: accuracy", "score": "numbers: rank correlation"}
        question = ("the gold has two labels, but systems have numbers such as probabilities; write the predicted "
                    "label into the systems' files, or use the correlation" if are_decimals else
                    f"values such as {listed(sorted(values), 3)} can be labels or numbers")
    elif are_truths(filled):
        return _if_open("label", kinds)
    else:
        are_distinct = len(values) > DISTINCT * len(filled) and len(filled) > _FEW
        texts = are_texts(filled)
        if texts and calls["segment"] and not calls["label"]:
            return _if_open("segment", kinds)
        if texts and not names and all(map(are_texts, answers)):
            return _if_open("segment", kinds)
        quoted = all(cell.strip().startswith('"') and is_number(cell.strip().strip('"')) for cell in values)
        numbers = [cell for cell in filled if is_number(cell)]
        if not texts and "label" in kinds and ask_about_sets(gold, answers, both, request, questions):
            return None
        if not are_distinct and not quoted and len(numbers) < 0.9 * len(filled):
            common = {value.casefold() for value in values} & {cell.casefold() for cell in answered}
            if common or not answered or not all(map(is_number, answered)):
                return _if_open("label", kinds)
        elif are_distinct and calls["label"] and not calls["segment"] and not texts:
            return _if_open("label", kinds)
        means = {"label": "labels: correct if equal to the gold", "segment": "texts: BLEU, or another --metric"}
        question = f"values such as {listed(sorted(values)[:2], 2)} can be labels or texts"
        if not are_distinct:
            means = {"label": "labels: correct if equal to the gold", "score": "numbers"}
            question = f"values such as {listed(sorted(values)[:3], 3)} may not be labels"
    answers_: dict[str, str] = {}
    for kind, meaning in means.items():
        if kind in kinds:
            answers_[" ".join(option(OPTION[kind], name) for name in both)] = meaning
    questions.add(question, answers_)
    return None


def _if_open(kind: Kind, kinds: Sequence[Kind]) -> Kind:
    return kind if kind in kinds else kinds[0]


def plan_lines(gold: Document, systems: Sequence[SystemFile]) -> Plan:
    """Make the plan for reading plain text files: line n belongs to item n."""
    read = tuple(System(file.name, file.document, Lines.build(repair_option(file.document))) for file in systems)
    return Plan(gold, Lines.build(repair_option(gold)), read, ("--as lines",), choose_text_metric(read_lines(gold), ()))


def choose_text_metric(texts: Sequence[str], names: Sequence[str]) -> Metric | None:
    """Choose the metric for texts by their script; None if the default is suitable.

    Texts without blanks between words need another tokenizer of BLEU. Columns called `transcript` are scored by WER, or
    by CER in such scripts.

    Args:
        texts: The gold texts.
        names: The names of the columns with texts.
    """
    tokenizer = choose_tokenizer(texts)
    if any(normalize(name) in ("transcript", "transcription") for name in names):
        return WER() if tokenizer is None else CER()
    return None if tokenizer is None else BLEU(tokenize=tokenizer)


def make_reader(table: Table, kind: str, items: Sequence[str], values: Mapping[str, str], *,
              attributes: Sequence[str] = (), options: Mapping[str, Any] | None = None) -> Reader:
    """Make the reader that reads a file in the layout of a table.

    Args:
        table: The table.
        kind: The name of the reader, such as `labels`.
        items: The columns that identify an item.
        values: The columns of values, by the option of the reader that names them, such as {"label": "prediction"}.
        attributes: Columns that are attributes of items, such as the document.
        options: The user's options; options that the reader does not have are ignored.
    """
    form: dict[str, Any] = {**table.form}
    if kind == "candidates":
        form = {"separator": table.form.get("separator", "tab")}
    names = {name: name for name in table.names}
    if table.header is False:
        names = {name: f"column{name}" for name in table.names}
        names |= {name: role for role, name in values.items()}
        if len(items) == 1:
            names[items[0]] = "item"
        form["columns"] = [names[name] for name in table.names]
    elif kind == "labels" and "syntax" not in table.form:
        form["header"] = True
    form |= {role: names[name] for role, name in values.items()}
    keys = [names[name] for name in items]
    form["item"] = keys[-1] if kind == "labels" and keys else "" if kind == "labels" else keys
    if kind == "labels" and len(keys) > 1:
        form["within"] = keys[:-1]
    unread = [name for name in table.names if name not in (*items, *values.values())]
    if (attributes and kind != "labels") or (kind == "labels" and not all(
            "".join((name, *table.cells(name))).isprintable() for name in unread)):
        form["attributes"] = [names[name] for name in attributes]
    reader = READERS[kind].build(form)
    extra = {name: value for name, value in (options or {}).items() if name not in ("header", "syntax", "separator",
                                                                                  "better")}
    return with_options(reader, extra)


def plan_tables(gold: Table, items: list[str], value: str, kind: Kind,
          systems: Sequence[tuple[SystemFile, Table, list[str], str]], request: Request) -> Plan:
    """Make the plan for reading all tables from the columns that were chosen.

    Args:
        gold: The table of the gold.
        items: The columns that identify the items.
        value: The column of gold values.
        kind: The kind of values: `label`, `score` or `segment`.
        systems: For each system its file, its table, the columns that identify the items, and the column of answers.
        request: The options of the user.
    """
    if request.sets is not None or value in gold.nested:
        return _plan_sets(gold, items, value, systems, request)
    format_ = _READERS[kind]
    gold_option, answer_option = _VALUE[format_]
    documents = [name for name in find_columns(gold.names, "document") if name not in (*items[-1:], value)
                 and ENOUGH_DOCUMENTS <= len({*gold.cells(name)}) < len(gold.rows)][:1]
    sources = [name for name in gold.names if normalize(name) in ("source", "src") and all(
        map(str.strip, gold.cells(name)))][:1] if kind == "segment" and gold.header else []
    values = {gold_option: value, **({"source": sources[0]} if sources else {})}
    reader = make_reader(gold, format_, items, values, attributes=documents, options=request.options)
    known = {*gold.cells(value)}
    read: list[System] = []
    notes: list[str] = []
    for file, table, keys, column in systems:
        renamed = match_number_labels(known, {*table.cells(column)}) if kind == "label" else {}
        own_options = {**({"rename": renamed} if renamed else {}), **request.options}
        read.append(System(file.name, file.document, make_reader(table, format_, keys, {answer_option: column},
                                                                 options=own_options)))
        if renamed:
            notes.append(f"labels of {file.name}: " + ", ".join(f"{old} is {new}" for old, new in renamed.items()))
        if table.layout != gold.layout and table.document.path != gold.document.path:
            notes.append(f"{file.name}: {table.layout}")
    metric: Metric | None = Spearman() if kind == "score" else None
    if kind == "segment":
        metric = choose_text_metric(gold.cells(value), [value, *(column for *_, column in systems)])
    if documents:
        notes.append(f"column {documents[0]!r} has {len({*gold.cells(documents[0])})} documents; tests use documents "
                     "as units, because items of one document are not independent")
    roles = [option("--item", name) for name in items] or ["--in-order"]
    columns = {column for *_, column in systems}
    roles.append(option(OPTION[kind], value))
    if named := request.list_answer_columns(value):
        roles += [option(OPTION[kind], name) for name in named]
    elif len(columns) == 1 and columns != {value}:
        roles.append(option(OPTION[kind], next(iter(columns))))
    form = make_layout_options([gold, *(table for _, table, *_ in systems)])
    return Plan(gold.document, reader, tuple(read), (*roles, *form), metric, next(iter(documents), None),
                tuple(_join_notes(notes)))


def _plan_sets(gold: Table, items: list[str], value: str,
               systems: Sequence[tuple[SystemFile, Table, list[str], str]], request: Request) -> Plan:
    """Make the plan for reading tables with sets of labels, such as `anger|joy`.

    The sets are converted to JSON files, because no reader reads sets in tables.

    Args:
        gold: The table of the gold.
        items: The columns that identify the items.
        value: The column of gold values.
        systems: For each system its file, its table, the columns that identify the items, and the column of answers.
        request: The options of the user.
    """
    columns = dict.fromkeys([value, *(column for *_, column in systems)])
    mark = request.sets
    if mark is not None and not any(mark in cell for table, name in ((gold, value), *(
            (table, column) for _, table, _, column in systems)) for cell in table.cells(name)):
        raise gold.document.error(f"--sets {mark}: no label contains {mark!r}; columns: {gold.preview()}")
    roles = [option("--item", name) for name in items] or ["--in-order"]
    roles += [option("--label", name) for name in columns if name in gold.names][:2]
    roles += [option("--sets", request.sets)] if request.sets is not None else []
    return Plan(write_sets(gold, gold.keys(items), value, request.sets), Responses(), tuple(
        System(file.name, write_sets(table, table.keys(keys), column, request.sets), Responses())
        for file, table, keys, column in systems), tuple(roles), notes=("each item has a set of labels, so the order "
                                                                        "of labels does not count",))


def make_layout_options(tables: Sequence[Table]) -> list[str]:
    """Return the options for separator and header that all tables have in common.

    If tables differ, and for JSON and Parquet files, the list is empty.
    """
    forms = [{**table.form, "header": bool(table.header)} for table in tables]
    if any(form != forms[0] for form in forms) or "syntax" in forms[0]:
        return []
    return [reader_option(name, forms[0][name]) for name in ("separator", "header")]


def _join_notes(notes: Sequence[str]) -> list[str]:
    names: dict[str, list[str]] = {}
    for note in notes:
        name, _, text = note.partition(": ")
        names.setdefault(text, []).append(name)
    return [f"{listed(systems, 3)}: {text}" for text, systems in names.items()]


def match_number_labels(gold: set[str], answers: set[str]) -> dict[str, str]:
    """Find labels such as 1.0 that are the same number as a gold label such as 1.

    The result maps such labels to the gold labels. It is empty if some of the labels are no whole numbers.

    >>> match_number_labels({"1", "0"}, {"1.0", "0"}), match_number_labels({"1", "0"}, {"1.0", "0.5"})
    ({'1.0': '1'}, {})
    """
    known = {re.sub(r"\.0*$", "", value): value for value in gold if is_number(value)}
    numbers = sorted(cell for cell in answers - gold if is_number(cell))
    if len(known) < sum(map(is_number, gold)) or not all(float(cell).is_integer() for cell in numbers):
        return {}
    return {cell: known[plain] for cell in numbers if (plain := re.sub(r"\.0*$", "", cell)) in known}


def is_answer_column(name: str, items: Sequence[str]) -> bool:
    """Return True if a column may have the answers of a system, by its name.

    Columns with names such as `id`, `run` or `size` have none, and neither have the columns that identify the items.
    """
    return bool(name.strip()) and name not in items and not is_size(name) and not has_role(
        name, "item", "given", "part", "run", "system")
