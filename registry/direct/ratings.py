"""Ratings of annotators from files, data frames and dictionaries.

A long table has a row for each item and annotator, a wide one a row for each item and a column for each annotator.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from registry.arrays import Ints
from registry.column_names import ROLES, find_columns, normalize
from registry.direct.columns import is_missing, read_column
from registry.errors import InputError, UnknownNameError, counted, listed
from registry.quick.plan import QuestionError, option, reader_option
from registry.quick.tables import Table, find_item_columns, is_number, read_table
from registry.readers import Document
from registry.significance.agreement import Level, Ratings

_MARKS = frozenset(("na", "n/a", "nan", "none", "null", "-", "?"))  # usual marks of missing values
_NUMBERED = re.compile(r"(?P<word>[a-z_]+?)_?(\d+|[a-z])")
_LEVELS = {"nominal": "numbers are names of categories", "ordinal": "numbers are ranks, such as grades",
           "interval": "differences of numbers count, such as 1 to 5 stars",
           "ratio": "quotients of numbers count, such as durations; 0 is none"}
_MOST_LISTED = 5


@dataclass(frozen=True)
class RatingOptions:
    """Columns and values of a table of ratings, as the user gave them.

    Attributes:
        item: The columns that identify an item.
        annotator, value: The columns of annotators and values in a long table.
        annotators: The columns of annotators in a wide table.
        level: The level of measurement.
        order: Categories of texts in ascending order.
        missing: Values that mean that there is no rating.
        cluster: The column of groups of dependent items, such as documents.
        options: Options of the format, such as `separator`.
    """

    item: tuple[str, ...] = ()
    annotator: str | None = None
    value: str | None = None
    annotators: tuple[str, ...] = ()
    level: Level | None = None
    order: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    cluster: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


class Rating(NamedTuple):
    """One value of an annotator, with its line."""

    item: str
    annotator: str
    value: str
    line: int


@dataclass(frozen=True)
class NamedRatings:
    """Ratings with the names of items, annotators and categories.

    Attributes:
        ratings: The ratings as arrays.
        annotators, categories: The names.
        read_as: The options that the table was read with.
        notes: Sentences about values that look like missing ones.
    """

    ratings: Ratings
    annotators: tuple[str, ...]
    categories: tuple[str, ...]
    read_as: str
    notes: tuple[str, ...]


def read_ratings(data: Any, options: RatingOptions) -> NamedRatings:
    """Read ratings from the path of a file, a data frame or a dictionary of columns.

    Raises:
        InputError: The data cannot be read, a column or the level is unclear, or an annotator rated an item twice.
    """
    table = _load_table(data, options)
    _check_columns(table, options)
    annotators = _find_annotator_columns(table, options)
    keys, rows, read_as = _read_wide(table, annotators, options) if annotators else _read_long(table, options)
    rows = [row for row in rows if row.value and row.value not in options.missing]
    if not rows:
        raise table.document.error("there is no rating in this table; name the columns of the values")
    level, categories, codes = _find_categories(table.document, rows, options)
    values = [float(name) for name in categories] if level in ("interval", "ratio") else range(len(categories))
    # Sorted, so that intervals do not depend on the order of rows.
    item_numbers = {key: n for n, key in enumerate(sorted(set(keys)))}
    numbers = {name: n for n, name in enumerate(annotators or sorted({row.annotator for row in rows}))}
    ratings = Ratings(
        np.array([item_numbers[row.item] for row in rows]), np.array([numbers[row.annotator] for row in rows]),
        np.array([codes[row.value] for row in rows]), np.array(values, dtype=np.float64), level, len(item_numbers),
        len(numbers), None if options.cluster is None else _number_clusters(table, options.cluster, keys))
    read_as += option(" --level", level) + (option(" --order", ",".join(options.order)) if options.order else "")
    marks = Counter(row.value for row in rows if row.value.casefold() in _MARKS)
    notes = [f"{value!r} counts as a value of {counted(n, 'rating')}; {option('--missing', value)} treats it as missing"
             for value, n in marks.items()]
    return NamedRatings(ratings, tuple(numbers), tuple(categories), read_as, tuple(notes))


def _load_table(data: Any, options: RatingOptions) -> Table:
    if isinstance(data, str | Path):
        document = Document.load(data)
        table = read_table(document, {"header": True, **options.options})
        if table is None or not table.rows:
            raise document.error("this is no table with columns; write CSV, TSV, JSON Lines or Parquet")
        return table
    columns = _list_columns(data)
    cells = [[_to_text(value) for value in column] for column in columns.values()]
    rows = list(zip(*cells, strict=True))
    return Table(Document("data", b""), tuple(columns), rows, range(1, len(rows) + 1), {}, header=True)


def _list_columns(data: Any) -> dict[str, list[Any]]:
    """Return the columns of a data frame or dictionary as lists of the same length.

    If the columns of a dictionary are dictionaries or Series, their keys are the items.

    Raises:
        InputError: The data have another type, or columns of different lengths.
    """
    names = list(data) if isinstance(data, Mapping) else list(getattr(data, "columns", ()))
    if not names:
        raise InputError("expected the path of a file, a data frame with columns, or a dictionary such as "
                         "{'ann': ['yes', 'no'], 'bob': ['yes', 'yes']}")
    columns = {str(name): read_column(data[name], f"column {name!r}") for name in names}
    if isinstance(data, Mapping) and all(column.keys is not None for column in columns.values()):
        keys = sorted({key for column in columns.values() for key in column.item_keys}, key=str)
        found = [dict(zip(column.item_keys, column.values, strict=True)) for column in columns.values()]
        return {name: [values.get(key) for key in keys] for name, values in zip(columns, found, strict=True)}
    sizes = {name: len(column.values) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise InputError("columns have different numbers of values: " + listed([
            f"{name!r} has {n:,}" for name, n in sizes.items()], _MOST_LISTED))
    return {name: list(column.values) for name, column in columns.items()}


def _to_text(value: Any) -> str:
    if is_missing(value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _check_columns(table: Table, options: RatingOptions) -> None:
    """Check that the named columns exist.

    Raises:
        InputError: A column does not exist, or options contradict each other.
    """
    if options.annotators and (options.annotator or options.value):
        raise InputError("--annotators is for tables with a column for each annotator; leave out --annotator and "
                         "--value")
    for name in filter(None, (*options.item, options.annotator, options.value, *options.annotators, options.cluster)):
        if name not in table.names:
            raise UnknownNameError("column", name, table.names, path=table.document.path)
    if len(set(options.annotators)) < len(options.annotators):
        raise InputError("--annotators names a column twice; name each column once")


def _find_annotator_columns(table: Table, options: RatingOptions) -> tuple[str, ...]:
    """Return the columns of annotators in a wide table; empty for a long table.

    Columns such as `annotator_1` and `annotator_2` have usual names.
    """
    if options.annotators or options.annotator or options.value:
        return options.annotators
    if find_columns(table.names, "annotator"):
        return ()
    numbered = [name for name in table.names if (match := _NUMBERED.fullmatch(normalize(name))) and (
        match["word"] in ROLES["annotator"] or match["word"] in ("ann", "anno"))]
    if len(numbered) < 2:
        others = [name for name in table.names if name not in (
            *options.item, *find_item_columns(table), options.cluster)]
        raise QuestionError("no column has a usual name of annotators. Add one of these options:", {
            "--annotator COLUMN": "the table has a row for each item and annotator",
            option("--annotators", ",".join(others)): "the table has a column for each annotator; name these"},
            table.document.path)
    return tuple(numbered)


def _read_wide(table: Table, annotators: Sequence[str],
               options: RatingOptions) -> tuple[list[str], list[Rating], str]:
    """Return the item of each row, the ratings, and the options of a wide table."""
    keys = table.keys(options.item)
    _refuse_repeated(table, keys)
    rows = [Rating(key, annotator, value.strip(), line) for annotator in annotators
            for key, value, line in zip(keys, table.cells(annotator), table.lines, strict=True)]
    parts = [*(option("--item", name) for name in options.item), option("--annotators", ",".join(annotators))]
    return keys, rows, _format_options(parts, options)


def _refuse_repeated(table: Table, keys: Sequence[str]) -> None:
    lines: dict[str, int] = {}
    for key, line in zip(keys, table.lines, strict=True):
        if key in lines:
            raise table.document.error(f"item {key!r} occurs twice (first in line {lines[key]}); remove one line, or "
                                       "repeat --item if several columns identify an item", line)
        lines[key] = line


def _read_long(table: Table, options: RatingOptions) -> tuple[list[str], list[Rating], str]:
    """Return the item of each row, the ratings, and the options of a long table."""
    annotator = options.annotator or _choose_column(table, "annotator", find_columns(table.names, "annotator"))
    others = [name for name in table.names if name != annotator and name not in options.item]
    value = options.value or _choose_column(table, "value", find_columns(others, "rating"))
    items = list(options.item) or [name for name in find_item_columns(table) if name not in (annotator, value)][:1]
    if not items:
        items = [_choose_column(table, "item", [])]
    if not options.item and not table.is_unique([*items, annotator]):
        systems = [name for name in find_columns(table.names, "system") if name not in (annotator, value, *items)]
        items += [name for name in systems[:1] if table.is_unique([*items, name, annotator])]
    keys = table.keys(items)
    rows = [Rating(key, name.strip(), text.strip(), line) for key, name, text, line in zip(
        keys, table.cells(annotator), table.cells(value), table.lines, strict=True)]
    first: dict[tuple[str, str], int] = {}
    for row in rows:
        if not row.annotator:
            raise table.document.error(f"the annotator of item {row.item!r} is missing; add a name", row.line)
        if (line := first.setdefault((row.item, row.annotator), row.line)) != row.line:
            raise table.document.error(f"annotator {row.annotator!r} rated item {row.item!r} twice (first in line "
                                       f"{line}); remove one line, or repeat --item if several columns identify an "
                                       "item", row.line)
    parts = [*(option("--item", name) for name in items), option("--annotator", annotator), option("--value", value)]
    return keys, rows, _format_options(parts, options)


def _choose_column(table: Table, role: str, names: Sequence[str]) -> str:
    """Return the only column of a role.

    Raises:
        QuestionError: There are several columns with usual names, or none.
    """
    if len(names) == 1:
        return names[0]
    problem = "several columns may be" if names else "no column has a usual name of"
    raise QuestionError(f"{problem} the {role}. Add one of these options:", {
        option(f"--{role}", name): "" for name in names or table.names}, table.document.path)


def _format_options(parts: Sequence[str], options: RatingOptions) -> str:
    return " ".join([*parts, *(option("--missing", value) for value in options.missing),
                     *([] if options.cluster is None else [option("--cluster", options.cluster)]),
                     *(reader_option(name, value) for name, value in options.options.items())])


def _find_categories(document: Document, rows: Sequence[Rating],
                     options: RatingOptions) -> tuple[Level, list[str], dict[str, int]]:
    """Return the level of measurement, the categories in ascending order, and the number of each value's category.

    Raises:
        InputError: A value does not fit the level, or the level is unclear.
    """
    texts = dict.fromkeys(row.value for row in rows)
    level = options.level or ("ordinal" if options.order else None)
    if options.order:
        if level != "ordinal":
            raise InputError(f"--order is for --level ordinal, not {level}; leave out one of them")
        return level, list(options.order), _number_ordered(document, rows, options.order)
    # Numbers are compared as such, because pandas writes 1 as 1.0 in a column with missing values.
    numbers = sorted({float(text) for text in texts}) if all(map(_is_finite, texts)) else []
    if level is None and len(numbers) > 2:
        raise QuestionError("values are numbers, so the level of measurement is unclear. Add one of these options:", {
            option("--level", name): meaning for name, meaning in _LEVELS.items()}, document.path)
    if numbers:
        places = {number: n for n, number in enumerate(numbers)}
        return level or "nominal", list(map(_to_text, numbers)), {text: places[float(text)] for text in texts}
    if level in (None, "nominal"):
        return "nominal", sorted(texts), {text: n for n, text in enumerate(sorted(texts))}
    row = next(row for row in rows if not _is_finite(row.value))
    remedy = f"--missing {row.value} treats it as missing" if row.value.casefold() in _MARKS else (
        "name the categories with --order LOW,...,HIGH" if level == "ordinal" else "use --level nominal")
    raise document.error(f"{row.value!r} is no number, which --level {level} needs; {remedy}", row.line, row.item)


def _is_finite(text: str) -> bool:
    return is_number(text) and math.isfinite(float(text))


def _number_ordered(document: Document, rows: Iterable[Rating], order: Sequence[str]) -> dict[str, int]:
    numbers = {text: n for n, text in enumerate(order)}
    if len(numbers) < len(order):
        raise InputError("--order names a category twice; name each category once")
    for row in rows:
        if row.value not in numbers:
            raise document.error(f"the value {row.value!r} is not in --order {','.join(order)}; add it there, or "
                                 "correct the value", row.line, row.item)
    return numbers


def _number_clusters(table: Table, column: str, keys: Sequence[str]) -> Ints:
    """Return the number of the cluster of each item, in the sorted order of the items.

    Args:
        table: The table.
        column: The column of clusters.
        keys: The item of each row.

    Raises:
        InputError: An item is in two clusters.
    """
    clusters: dict[str, str] = {}
    for key, cluster, line in zip(keys, table.cells(column), table.lines, strict=True):
        if clusters.setdefault(key, cluster) != cluster:
            raise table.document.error(f"item {key!r} is in two clusters, {clusters[key]!r} and {cluster!r}; correct "
                                       f"the column {column!r}", line)
    return np.unique([clusters[key] for key in sorted(clusters)], return_inverse=True)[1]
