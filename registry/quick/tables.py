"""Reading of files as tables: separators, headers and JSON are recognised automatically.

DuckDB's `sniff_csv` is not suitable. If a file has no header, it interprets the first line of text as names of columns,
and it does not support comments or columns that are separated by several blanks (docs/quick.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_args

from registry.column_names import USUAL, find_columns, has_role, normalize
from registry.errors import InputError
from registry.metrics.texts import UNDIVIDED
from registry.readers import Document
from registry.readers.parsing.delimited import MARKS, Separator, TextFormat, read_cells
from registry.readers.parsing.fast_tables import MAGIC, NUMBER, read_parquet_rows
from registry.readers.parsing.json_values import parse_object, read_json_members
from registry.readers.parsing.measures import COLUMNS, read_measures
from registry.readers.tables import to_text

MOST_COLUMNS = 20_000
EVEN = 0.95  # minimum share of lines with the usual number of cells; readers report the other lines
WORDS = 3  # minimum mean number of words in texts; labels have fewer
DISTINCT = 0.5  # values are texts, not labels, if more than this share of them are distinct
_DEPTH = 3  # maximum depth of nested objects in a row whose members become columns
_FEW = 3  # a single object with at most so many members is one item; with more, each member is an item
_BLANK_NUMBERS = frozenset(("", "-", "?", "na", "n/a", "nan", "none", "null"))
_NUMBER = re.compile(NUMBER)
_UNUSUAL_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*(e[+-]?\d+)? ?%?", re.IGNORECASE)
_IR_MEASURE = re.compile(  # of trec_eval (ndcg_cut_10) and ir_measures (nDCG(dcg='exp-log2')@10)
    r"(num_(q|ret|rel|rel_ret|nonrel_judged_ret)|(gm_)?map(_cut_\d+)?|Rprec(_mult_[\d.]+)?|bpref|gm_bpref|recip_rank|"
    r"iprec_at_recall_[\d.]+|11pt_avg|P_\d+|relative_P_\d+|recall_\d+|infAP|ndcg(_rel|_cut_\d+)?|Rndcg|G|binG|utility|"
    r"success_\d+|set_(P|relative_P|recall|map|F)(_[\d.]+)?|runid|relstring(_\d+)?|"
    r"(AP|P|R|RR|nDCG|nERR\d*|ERR|RBP|Rprec|Bpref|Judged|IPrec|Success|SetP|SetR|SetF|SetAP|NumRet|NumRel|NumQ|infAP|"
    r"INST|INSQ|BPM|SDCG|RPrec|Compat|Accuracy|alpha_nDCG|ERR_IA|nERR_IA|P_IA|AP_IA|NRBP|nNRBP|StRecall|NERR\d*|ALL|ANY)"
    r"(\([^()]*\))?(@[\d.]+)?)")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Table:
    """Rows and columns of a file, as text.

    Attributes:
        document: The file.
        names: Names of the columns; their numbers from 1 if the file has no header.
        rows: Cells as text; missing cells are empty.
        lines: The line number of each row; in JSON and Parquet files, the number of the row.
        form: Options with which a reader reads this layout, such as the separator, except `header`.
        header: True if the columns have names; None if it is unclear whether the first line names them.
        names_items: True if the file is one JSON object whose keys are the items. The column `item` has these keys.
        nested: The values of JSON columns that contain lists; None for a row without a list.
    """

    document: Document
    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]
    form: Mapping[str, Any]
    header: bool | None
    names_items: bool = False
    nested: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    _cells: dict[str, list[str]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_lines(self) -> bool:
        """True if every line is a single value."""
        return len(self.names) == 1 and "syntax" not in self.form

    @property
    def is_measures(self) -> bool:
        """True if the file has rows of measure, item and value."""
        return self.form.get("syntax") == "trec_eval"

    def cells(self, name: str) -> list[str]:
        """Return the cells of a column."""
        if name not in self._cells:
            n = self.names.index(name)
            self._cells[name] = [row[n] if n < len(row) else "" for row in self.rows]
        return self._cells[name]

    def column(self, wanted: str) -> str | None:
        """Return the column that the user means by a name; None if there is none.

        If the file has no header, the user names a column by its number from 1.
        """
        if wanted in self.names:
            return wanted
        return None if self.header is not False or not wanted.isdigit() or not (
            0 < int(wanted) <= len(self.names)) else self.names[int(wanted) - 1]

    def keys(self, columns: Sequence[str]) -> list[str]:
        """Name the item of each row: the cells of some columns, joined by blanks.

        Without columns, the names are the row numbers from 1.
        """
        if not columns:
            return [str(n) for n in range(1, len(self.rows) + 1)]
        return [" ".join(cells) for cells in zip(*map(self.cells, columns), strict=True)]

    def is_unique(self, columns: Sequence[str]) -> bool:
        """Return True if no two rows have the same cells in the given columns."""
        return len({*zip(*map(self.cells, columns), strict=True)}) == len(self.rows)

    @cached_property
    def layout(self) -> str:
        """Description of the layout: `2 columns with tabs between them, a header`."""
        syntax = self.form.get("syntax", "")
        if syntax:
            return {"jsonl": "JSON Lines", "json": "JSON", "parquet": "Parquet",
                    "trec_eval": "rows of measure, item and value"}[syntax]
        if self.is_lines:
            return "a value on each line"
        between = "blanks" if self.form["separator"] == "whitespace" else f"{self.form['separator']}s"
        return f"{len(self.names)} columns with {between} between them, " + (
            "a header" if self.header else "no header")

    def preview(self, names: Sequence[str] | None = None) -> str:
        """Describe columns by their first cells, such as `id='d1'`, for messages.

        Args:
            names: The columns to describe; None: all. At most ten are described.
        """
        first = self.rows[0] if self.rows else ()
        shown = [f"{name if name.strip() else repr(name)}={cell[:20]!r}"
                 for name, cell in zip(self.names, first, strict=False) if names is None or name in names]
        return ", ".join(shown[:10]) + (f" and {len(shown) - 10} more" if len(shown) > 10 else "")


def is_number(text: str) -> bool:
    """Return True if a cell is a number that the readers of tables accept."""
    return _NUMBER.fullmatch(text.strip()) is not None


def are_numbers(cells: Sequence[str]) -> bool:
    """Return True if all cells are numbers, except empty ones and marks such as `NA`."""
    filled = {cell for cell in cells if cell.strip().casefold() not in _BLANK_NUMBERS}
    return bool(filled) and all(map(is_number, filled))


def refuse_unusual_numbers(table: Table, names: Sequence[str]) -> None:
    """Check that numbers have no decimal commas, percent or thousands signs.

    Args:
        table: The table.
        names: The columns to check.

    Raises:
        InputError: A column has such numbers; the message contains a command that converts the file.
    """
    for name in names:
        cells = [cell.strip() for cell in table.cells(name) if cell.strip().casefold() not in _BLANK_NUMBERS]
        if not cells or are_numbers(cells) or not all(map(_UNUSUAL_NUMBER.fullmatch, cells)):
            continue
        marks, change = ("percent signs", "s/%//g") if any("%" in cell for cell in cells) else (
            "commas", "s/,//g") if all(re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", cell) for cell in cells
                                       if "," in cell) else ("decimal commas", r"s/\([0-9]\),\([0-9]\)/\1.\2/g")
        if marks == "commas" and table.form.get("separator") == "comma":
            change = r"""s/"\([^"]*\),\([^"]*\)"/\1\2/g"""
        path = table.document.path
        raise table.document.error(f"column {name!r} has numbers with {marks}, such as {cells[0]!r}; write plain "
                                   f"numbers: sed '{change}' {path} > {path}.new")


def are_truths(cells: Sequence[str]) -> bool:
    """Return True if all cells are `true` or `false`."""
    return bool(cells) and {cell.strip().casefold() for cell in cells} <= {"true", "false"}


def are_texts(cells: Sequence[str]) -> bool:
    """Return True if cells are probably texts instead of labels.

    Most texts are distinct, and they have at least three words on average.
    """
    filled = [cell for cell in cells if cell.strip()]
    return len({*filled}) > DISTINCT * len(filled) > 0 and sum(map(count_words, filled)) >= WORDS * len(filled)


def count_words(text: str) -> int:
    """Estimate the number of words in a text.

    In scripts without blanks between words, two characters count as one word.

    >>> [count_words(text) for text in ("It rains again.", "今天又下雨了。", "体育", "")]
    [3, 4, 1, 0]
    """
    if text.isascii():
        return len(text.split())
    return len(UNDIVIDED.sub(" ", text).split()) + len(UNDIVIDED.findall(text)) // 2


def read_lines(document: Document) -> list[str]:
    """Return the lines of a text file, without a byte-order mark.

    The list is empty for a Parquet file.
    """
    key = ("quick", "lines")
    if key not in document.cache:
        document.cache[key] = [] if document.content.startswith(MAGIC) else [
            line for _, line in remove_mark(document).lines()]
    lines: list[str] = document.cache[key]
    return lines


def remove_mark(document: Document) -> Document:
    """Return the file without a byte-order mark at its start."""
    return document.with_options(repair_option(document).get("repair", ()))


def repair_option(document: Document) -> dict[str, Any]:
    """Return the reader option that removes a byte-order mark; {} without a mark."""
    return {"repair": ("bom",)} if document.content.startswith(_BOM) else {}


def read_table(document: Document, options: Mapping[str, Any]) -> Table | None:
    """Read a file as a table; return None if it has another format.

    Args:
        document: The file.
        options: The user's options; only `separator`, `header`, `syntax` and `comment` are used.

    Raises:
        InputError: The file is not text, or is invalid in the format that its name or the options specify.
    """
    key = ("quick", "table", repr([options.get(name) for name in ("separator", "header", "syntax", "comment")]))
    if key not in document.cache:
        document.cache[key] = _read_table(document, options)
    table: Table | None = document.cache[key]
    return table


def _read_table(document: Document, options: Mapping[str, Any]) -> Table | None:
    if document.content.startswith(MAGIC):
        rows = list(read_parquet_rows(document))
        return _objects(document, rows, {"syntax": "parquet"})
    lines = read_lines(document)
    first = next((line.lstrip() for line in lines if line.strip()), "")
    if options.get("syntax") in ("json", "jsonl") or first.startswith(("{", "[")):
        return _read_json(document)
    if not first or first.startswith("<?xml"):
        return None
    measures = _read_measures(document, options, lines)
    return _read_delimited(document, options, lines) if measures is None else measures


def _read_measures(document: Document, options: Mapping[str, Any], lines: Sequence[str]) -> Table | None:
    """Read rows of measure, item and value as a table with a column for each measure.

    trec_eval and ir_measures print such rows for each query. The result is None for other files.
    """
    rows = [line.split() for line in lines if line.strip()]
    if not rows or {*map(len, rows)} != {3} or options.get("syntax") not in (None, "trec_eval"):
        return None
    names = list(zip(*rows, strict=True))
    order = next((order for place, order in enumerate((COLUMNS, ("item", "measure", "value"))) if (
        options.get("syntax") and place == 0) or _are_measures(names[place])), None)
    if order is None:
        return None
    if {*names[order.index("item")]} == {"all"}:
        raise document.error("the file has only averages over all queries; write the values of each query with "
                             "trec_eval -q or ir_measures -q")
    form = {"syntax": "trec_eval", "separator": "whitespace", **repair_option(document),
            **({} if order == COLUMNS else {"columns": list(order)})}
    entries = list(read_measures(remove_mark(document), TextFormat("whitespace", None), order))
    table = _objects(document, entries, form)
    return table and replace(table, names_items=True)


def _are_measures(names: Sequence[str]) -> bool:
    """Return True if most of the distinct names are measures of trec_eval or ir_measures."""
    distinct = {*names}
    return 2 * sum(_IR_MEASURE.fullmatch(name) is not None for name in distinct) > len(distinct)


def _read_json(document: Document) -> Table | None:
    """Read JSON as a table; None if the file is not JSON or has no items.

    The file has one object per line, a list of objects, or one object whose members are the items.
    """
    plain, form = remove_mark(document), repair_option(document)
    try:
        lines = [(n, parse_object(line, document.path, n)) for n, line in plain.lines() if line.strip()]
    except InputError:
        lines = []
    if len(lines) > 1 or (lines and len(lines[0][1]) <= _FEW and not any(
            isinstance(value, dict | list) for value in lines[0][1].values())):
        return _objects(document, lines, {"syntax": "jsonl", **form})
    members = read_json_parts(document)
    if members is None or not members or _is_nested(members):
        return None
    is_list = members[0][1] is None
    rows = [(n, value if name is None else {**(value if isinstance(value, dict) else {"value": value}), "item": name})
            for n, name, value in members if name is not None or isinstance(value, dict)]
    if len(rows) < len(members):
        return None
    return _objects(document, rows, {"syntax": "json", **form}, names_items=not is_list)


def read_json_parts(document: Document) -> list[tuple[int, str | None, Any]] | None:
    """Return line, name and value of each member of a JSON list or object.

    The result is None for other files. The name is None for members of a list.
    """
    try:
        return list(read_json_members(remove_mark(document)))
    except InputError:
        return None


def read_json_objects(document: Document, table: Table) -> list[Mapping[str, Any]]:
    """Return the rows of a JSON or Parquet file as objects, with nested values."""
    if table.form["syntax"] == "parquet":
        return [row for _, row in read_parquet_rows(document)]
    if table.form["syntax"] == "trec_eval":
        order = table.form.get("columns", COLUMNS)
        return [row for _, row in read_measures(remove_mark(document), TextFormat("whitespace", None), order)]
    if table.form["syntax"] == "jsonl":
        return [parse_object(line, document.path, n) for n, line in enumerate(read_lines(document), 1) if line.strip()]
    return [value if name is None else {**(value if isinstance(value, dict) else {"value": value}), "item": name}
            for _, name, value in read_json_parts(document) or ()]


def _is_nested(members: Sequence[tuple[int, str | None, Any]]) -> bool:
    """Return True if a JSON object does not map items to values, but has other parts.

    An example of another part is `config`.

    Args:
        members: The line, name and value of each member of the object.
    """
    values = [value for _, name, value in members if name is not None]
    objects = [value for value in values if isinstance(value, dict)]
    if any(isinstance(value, list) and value and isinstance(value[0], dict) for value in values):
        return True
    shared = Counter(key for value in objects for key in value)
    return bool(objects) and (len(objects) < len(values) or max(shared.values(), default=0) < len(objects)
                              or len(values) <= _FEW or len(shared) > len(values) + 20)


def _objects(document: Document, rows: Sequence[tuple[int, dict[str, Any]]], form: Mapping[str, Any], *,
             names_items: bool = False) -> Table | None:
    flat = [dict(_members(row, _DEPTH)) for _, row in rows]
    for name in [name for name, value in (flat[0] if flat else {}).items() if isinstance(value, list)]:
        if all(_is_one_number(row.get(name)) for row in flat):
            flat = [{**row, f"{name}.0": row[name][0]} for row in flat]
    lists = dict.fromkeys(name for row in flat for name, value in row.items() if isinstance(value, list))
    nested = {name: [row.get(name) for row in flat] for name in lists}
    names = dict.fromkeys(name for row in flat for name, value in row.items()
                          if value is not None and not isinstance(value, list))
    if not names or len(names) > MOST_COLUMNS:
        return None
    cells = [[_cell(row.get(name)) for name in names] for row in flat]
    return Table(document, tuple(names), cells, [line for line, _ in rows], form, header=True,
                 names_items=names_items, nested=nested)


def _is_one_number(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], int | float)


def _members(entry: Mapping[str, Any], depth: int, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in entry.items():
        if not isinstance(value, Mapping):
            yield path + name, value
        elif depth > 1 and "." not in name:
            yield from _members(value, depth - 1, f"{path}{name}.")


def _cell(value: Any) -> str:
    return "" if value is None or isinstance(value, list) else to_text(value) or repr(value)


def _read_delimited(document: Document, options: Mapping[str, Any], lines: Sequence[str]) -> Table | None:
    """Read a text file as a table, and find out its separator.

    The separator gives all rows the same number of cells. If there is none, every line is one value. The result is None
    if the user names a separator that does not fit.

    Args:
        document: The file.
        options: The user's options.
        lines: The lines of the file.
    """
    comment = options["comment"] or None if "comment" in options else _find_comment(lines)
    requested = options.get("separator")
    separators: Sequence[Separator] = (requested,) if requested else get_args(Separator)
    wants_cells = document.path.removesuffix(".gz").endswith((".csv", ".tsv")) and not requested
    first_error: InputError | None = None
    nearly: tuple[list[tuple[int, list[str]]], int, dict[str, Any]] | None = None
    for separator in separators:
        if MARKS[separator] not in "\n".join(lines) and not requested:
            continue
        form = {"separator": separator, **({"comment": comment} if comment else {}), **repair_option(document)}
        try:
            numbered = [(n, cells) for n, cells in read_cells(remove_mark(document), TextFormat(separator, comment))
                        if any(map(str.strip, cells))]
        except InputError as error:
            first_error = first_error or (error if wants_cells or requested else None)
            continue
        rows = [cells for _, cells in numbered]
        widths = Counter(map(len, rows))
        (width, times), = widths.most_common(1) if rows else [(0, 0)]
        if not 2 <= width <= MOST_COLUMNS or times < EVEN * len(rows):
            continue
        if separator == "whitespace" and not requested and _are_sentences(rows, widths):
            continue
        if times == len(rows):
            return _make_table(document, numbered, width, form, options)
        nearly = nearly or (numbered, width, form)
    if nearly is not None:
        return _make_table(document, *nearly, options)
    if first_error is not None:
        raise first_error
    if (requested and requested != "tab") or find_even_mark(lines):
        return None
    values = [(n, [line.strip()]) for n, line in enumerate(lines, 1)]
    while values and not values[-1][1][0]:
        values.pop()
    return _make_table(document, values, 1, {"separator": "tab", **repair_option(document)}, options)


def find_even_mark(lines: Sequence[str]) -> str:
    """Return `|` or `::` if it separates the same number of columns in all lines.

    Readers do not support these separators. The text is empty if there is no such separator.
    """
    filled = [line for line in lines if line.strip()]
    return next((mark for mark in ("|", "::") if len({line.count(mark) for line in filled}) == 1 < len(filled)
                 and mark in filled[0]), "")


def _find_comment(lines: Sequence[str]) -> str | None:
    """Return `#` if the first lines of a file are comments; None otherwise.

    No later line may begin with `#`, and a single first line must not look like a header or row.
    """
    leading = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if not leading or leading == len(lines) or any(line.startswith("#") for line in lines[leading:]):
        return None
    width = len(lines[leading].split())
    last = lines[leading - 1].lstrip("# ").split()
    is_row = leading == 1 and len(last) == width and not (last and normalize(last[0]) in USUAL)
    return None if is_row else "#"


def _are_sentences(rows: Sequence[Sequence[str]], widths: Counter[int]) -> bool:
    if len(widths) > 1:
        return True
    columns = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else []
    return not any(all(map(is_number, column)) for column in columns) and not (
        len(columns) == 2 and 2 * len({*columns[1]}) < len(columns[1]))


def _make_table(document: Document, numbered: Sequence[tuple[int, list[str]]], width: int, form: Mapping[str, Any],
                 options: Mapping[str, Any]) -> Table | None:
    if not numbered:
        return None
    rows = [cells for _, cells in numbered]
    requested = options.get("header")
    header = requested if isinstance(requested, bool) else has_header(rows)
    first = rows[0]
    if header is not False and (len(first) != width or len({*first}) < width):
        if header:
            raise document.error("the first line has an empty or repeated column name; correct the names, or add "
                                 "--option header=false if the line is an item", numbered[0][0])
        header = False
    begin = 1 if header is not False else 0
    names = tuple(first) if begin else tuple(str(n + 1) for n in range(width))
    return Table(document, names, rows[begin:], [n for n, _ in numbered[begin:]], form, header)


def has_header(rows: Sequence[Sequence[str]]) -> bool | None:
    """Decide whether the first row of a table names the columns.

    Evidence for a header is a word above numbers, or usual names such as `id` that occur in no other row. A row with a
    number is no header. The result is None if the case is unclear.
    """
    first, rest = rows[0], rows[1:]
    columns = [[row[n] for row in rest if n < len(row)] for n in range(len(first))]
    if not all(map(str.strip, first[1:])) or len({*first}) < len(first) or not rest:
        return False if rest else None
    if any(are_numbers(column) and not is_number(cell) for cell, column in zip(first, columns, strict=True)):
        return True
    if any(map(is_number, first)):
        return False
    occurs = any(cell in column for cell, column in zip(first, columns, strict=True))
    is_usual = any(normalize(cell) in USUAL and cell.strip() and len(cell.split()) <= WORDS for cell in first)
    if is_usual and not occurs:
        return True
    if occurs:
        return False
    if any(not _has_digit(cell) and all(map(_has_digit, column)) for cell, column in zip(first, columns, strict=True)):
        return True
    return False if all(len({*column}) == len(column) for column in columns) and len(first) == 1 else None


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


def find_index_column(table: Table) -> str | None:
    """Return the first column if it has no name; otherwise None.

    Files of pandas have such a column, the index of the data frame.
    """
    return table.names[0] if table.header and table.names and not table.names[0].strip() else None


def find_item_columns(table: Table) -> list[str]:
    """Return the columns with usual names of items, such as `id`.

    The most usual name comes first.
    """
    if table.names_items:
        return ["item"]
    index = find_index_column(table)
    usual = [name for name in find_columns(table.names, "item") if not has_role(name, "run")]
    return [*usual, *([index] if index is not None else [])]
