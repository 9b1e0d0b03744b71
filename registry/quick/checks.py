"""Checks for tables that would give a wrong leaderboard, such as rows of means, or codes for missing scores.

Each check either asks the user and suggests options, or refuses the file and names a remedy.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import combinations, pairwise

from registry.column_names import Role, has_role, is_measure, normalize
from registry.errors import InputError, counted, listed
from registry.quick.formats import PLACES, TYPES
from registry.quick.parts import find_mark
from registry.quick.plan import QuestionError, Questions, Request, option, reader_option
from registry.quick.tables import DISTINCT, Table, are_numbers, are_truths, find_item_columns, is_number, read_table
from registry.readers import Document
from registry.readers.judgments import OUTCOMES, fold_outcome

_FEW = 10  # rows; in shorter tables, a score may equal the mean by chance
_MOST = 0.5  # two columns are copies if they agree in this share of rows
_SCALE = 3  # scores of one metric differ by at most this factor between systems
_NO_LABEL = re.compile(r"[-_?*.]+|n/?a|nan|none|null|-1|-?9{2,4}", re.IGNORECASE)
_SUMMARY = re.compile(r"((micro|macro|weighted)\W?)?(all|average|avg|mean|median|overall|sum|total|sd"
                      r"|std\W?(dev|deviation)?|\d+ ?(quantile|%))", re.IGNORECASE)
_METRICS = frozenset(("metric", "metric_name", "measure", "criterion", "aspect", "dimension"))
_NO_SYSTEM: tuple[Role, ...] = ("meta", "gold", "label", "score", "text", "group", "other")
_MARKS = (  # marks that metrics would count as words: pattern, description, smallest share of lines
    (re.compile(r"^\s*<[a-z]+>"), "tags such as <t>", 0.5),
    (re.compile(r"\{ [^{}/]* / [^{}]*\}"), "alternatives in braces (the notation of sclite)", 0.0),
    (re.compile(r"\(%[a-z]+\)"), "optional words such as (%hesitation) (the notation of sclite)", 0.0))
_NAME = re.compile(r"[\d_()-]")


def ask_about_groups(table: Table, items: Sequence[str], request: Request, questions: Questions) -> None:
    """Ask the user about a column such as `task` that divides the rows into groups.

    Each group can have its own leaderboard, or all rows share one. Columns that an option already names are left out.

    Args:
        table: The table.
        items: The columns that identify the items.
        request: The options of the user.
        questions: Collects the question.

    Raises:
        InputError: `--pool` names a column that does not exist.
    """
    if absent := [name for name in request.pool if name not in table.names]:
        raise table.document.error(f"--pool {absent[0]}: no such column; columns: {table.preview()}")
    for name in table.names if table.header else ():
        is_group = has_role(name, "group") or (len(items) > 1 and name in items and normalize(name) in (
            "category", "domain", "lang", "language"))
        values = Counter(cell.strip() for cell in table.cells(name) if cell.strip())
        is_named = name == request.by or name in (*request.pool, *request.item, *request.options.values())
        if not is_group or is_named or not 2 <= len(values) <= len(table.rows) / 2:
            continue
        shown = listed([f"{value!r} in {counted(n, 'row')}" for value, n in values.items()], 3)
        questions.add(f"column {name!r} divides the rows into groups ({shown}); are they separate boards?",
                      group_options(name))


def group_options(name: str) -> dict[str, str]:
    """Return the options that decide whether groups of rows are separate boards.

    `--by` makes one leaderboard for each group, `--pool` makes one leaderboard of all rows. Rows of different metrics
    cannot be pooled.
    """
    options = {option("--by", name): "a board for each of its values"}
    return options if normalize(name) in _METRICS else {
        **options, option("--pool", name): "one board of all rows"}


def choose_systems(table: Table, columns: Sequence[str], request: Request, questions: Questions, *,
                   has_one_scale: bool = True) -> list[str]:
    """Choose the columns that have the scores or answers of systems.

    If the user names no columns, all are chosen. If some columns do not look like systems, a question to the user is
    collected.

    Args:
        table: A table of all systems.
        columns: The columns that may be systems.
        request: The options of the user.
        questions: Collects the question.
        has_one_scale: True if the scores of all systems must have the same scale; False if they only rank items.

    Raises:
        InputError: `--system` matches no column.
    """
    if request.system:
        for pattern in request.system:
            if not any(fnmatchcase(name, pattern) or name == pattern for name in table.names):
                raise table.document.error(f"--system {pattern}: no such column; columns: {table.preview()}")
        return [name for name in table.names if any(
            fnmatchcase(name, pattern) or name == pattern for pattern in request.system)]
    reasons = _find_odd_names(table, columns)
    if has_one_scale:
        reasons |= _find_odd_scales(table, [name for name in columns if name not in reasons])
    if reasons:
        likely = [name for name in columns if name not in reasons]
        shown = listed([f"{name!r} ({reason})" for name, reason in reasons.items()], 3)
        questions.add(f"which columns are systems? Perhaps not {shown}; repeat --system for each column of a system", {
            " ".join(option("--system", name) for name in names): meaning for names, meaning in (
                (likely, "without it" if len(reasons) == 1 else "without these"), (columns, "all columns"))
            if names})
    return list(columns)


def _get_numbers(table: Table, name: str) -> list[float]:
    return [float(cell) for cell in table.cells(name) if is_number(cell)] if are_numbers(table.cells(name)) else []


def _find_odd_names(table: Table, columns: Sequence[str]) -> dict[str, str]:
    """Find columns that are probably not systems by their names or contents.

    For example, a column that numbers the rows is not a system.

    Returns:
        For each such column, the reason.
    """
    reasons: dict[str, str] = {}
    for name in columns:
        plain = re.sub(r"_?\d+$", "", normalize(name))
        values = _get_numbers(table, name)
        if (has_role(plain, *_NO_SYSTEM) and not has_role(plain, "answer")) or has_role(
                plain.rpartition("_")[2], "meta") or has_role(plain.partition("_")[0], "meta"):
            reasons[name] = "the name is not one of a system"
        elif _SUMMARY.fullmatch(name) or (is_measure(name) and len(columns) > 1):
            reasons[name] = "the name is one of a summary or a measure"
        elif len(values) > _FEW and all(b - a == 1 for a, b in pairwise(values)):
            reasons[name] = "it counts the rows"
    return reasons


def _find_odd_scales(table: Table, columns: Sequence[str]) -> dict[str, str]:
    """Find columns whose numbers have another scale than the other columns.

    Returns:
        For each such column, the reason, such as `values such as 87, and others have 0 and 1`.
    """
    reasons: dict[str, str] = {}
    code = _find_code([number for name in columns for number in _get_numbers(table, name)])
    numbers = {name: values for name in columns if (values := [
        number for number in _get_numbers(table, name) if number != code])}
    if 2 * len(numbers) <= len(columns):
        return dict.fromkeys(numbers, "it has numbers, but other columns have true and false")
    flags = [name for name in numbers if {*numbers[name]} <= {-1, 0, 1}]
    largest = {name: sorted(map(abs, values))[9 * len(values) // 10] for name, values in numbers.items()}
    small = min((value for value in largest.values() if value), default=0)
    for name in numbers:
        if 2 * len(flags) >= len(numbers) > len(flags) and name not in flags:
            reasons[name] = f"it has values such as {largest[name]:g}, but other columns have 0 and 1"
        elif largest[name] > _SCALE * max(small, 1):
            reasons[name] = f"it has values such as {largest[name]:g}, but other columns have {small:g}"
    return reasons


def _find_code(values: Sequence[float]) -> float | None:
    """Find a number that probably means "no score", such as -1 or 999.

    The number is either the only negative one, and whole; or it is 9, 99, 999 or 9999 and far above all others. The
    result is None if there is no such number.
    """
    numbers = sorted({*values})
    below = [number for number in numbers if number < 0]
    if len(below) == 1 < len(numbers) and below[0].is_integer():
        return below[0]
    is_far = len(numbers) > 1 and numbers[-1] in (9, 99, 999, 9999) and 5 * abs(numbers[-2]) <= numbers[-1]
    return numbers[-1] if is_far else None


def ask_about_codes(cells: Sequence[str], request: Request, questions: Questions) -> None:
    """Ask the user whether a score such as -1 or 999 means a missing score."""
    values = [(float(cell), cell) for cell in cells if is_number(cell)]
    code = _find_code([number for number, _ in values])
    if "unscored" in request.options or code is None:
        return
    spellings = sorted({cell.strip() for number, cell in values if number == code})
    blank = [""] if any(not cell.strip() for cell in cells) else []
    n = sum(number == code for number, _ in values)
    largest = max(number for number, _ in values if number != code)
    others = "0 or more" if code < 0 else f"{largest:g} or less"
    questions.add(f"{n} of {len(values)} scores are {spellings[0]}, and all others are {others}; is {spellings[0]} a "
                  "score?", {
        f"{reader_option('unscored', [*spellings, *blank])} --missing drop": "no, it means that there is no score",
        reader_option("unscored", [""]): "yes, it is a score"})


def ask_about_sets(gold: Sequence[str], answers: Sequence[Sequence[str]], columns: Sequence[str], request: Request,
                   questions: Questions) -> bool:
    """Ask the user whether labels such as `anger|joy` are sets of labels.

    Args:
        gold: The gold labels.
        answers: The labels of each system.
        columns: The columns of labels, which the question suggests as options.
        request: The options of the user.
        questions: Collects the question.

    Returns:
        True if there is such a question.
    """
    if request.sets is not None or request.kind is not None:
        return False
    mark = find_mark({*gold}, {cell for cells in answers for cell in cells})
    if mark is None:
        return False
    shown = listed(sorted({value for value in gold if mark in value.strip()}), 2)
    label = " ".join(option("--label", name) for name in columns)
    questions.add(f"values such as {shown} can be several labels or one label", {
        f"{label} {option('--sets', mark)}": "several labels in any order: F1",
        f"{label} --as labels": "one label: correct if equal to the gold"})
    return True


def ask_about_span_rows(table: Table) -> None:
    """Ask the user about a table in which each row seems to be a span.

    Raises:
        QuestionError: The rows seem to be spans; the question suggests the reader `spans` with its options.
        InputError: The file is in the format of brat, which is not supported.
    """
    lines = [" ".join(row) for row in table.rows]
    if lines and all(re.fullmatch(r"[TREAMN#*]\d*\s.*", line) for line in lines) and any(
            re.fullmatch(r"T\d+ \S+ \d+ \d+ .*", line) for line in lines):
        raise table.document.error("this is a brat file of one document; write all documents into one table with a row "
                                   "for each span (columns item, start, end, type), and add --as spans")
    names = {normalize(name): name for name in table.names}
    places = next(((names[start], names[end]) for start, end in PLACES if {start, end} <= names.keys()), None)
    form = [reader_option(name, value) for name, value in table.form.items()]
    if table.header and places is not None:
        item = next(iter(find_item_columns(table)), "COLUMN")
        kind = next((name for name in table.names if normalize(name) in TYPES), "")
        options = [option("--item", item), *form, *(reader_option(role, name) for role, name in zip(
            ("start", "end", "type"), (*places, kind), strict=True) if role != name)]
    elif table.header is False and len(table.names) == 4 and not table.is_unique(table.names[:1]) and all(
            start.isdigit() and end.isdigit() and int(start) <= int(end)
            for start, end in zip(table.cells("2"), table.cells("3"), strict=True)):
        options = ["--item item", *form, reader_option("columns", ["item", "start", "end", "type"])]
    else:
        return
    raise QuestionError(f"each row seems to be a span with start and end. Columns: {table.preview()}. Add this option, "
                        "and --option inclusive=true if the end is the last position in the span:",
                        {f"--as spans {' '.join(options)}": "each row is a span"}, table.document.path)


def refuse_summary(table: Table, items: Sequence[str], system: str | None = None,
                   others: Sequence[Table] = ()) -> None:
    """Check that no row of a table is a summary: means or sums of other rows.

    Such a row is called `mean` or the like, or is the last row and has no name, or its numbers are the means or sums.

    Args:
        table: The table.
        items: The columns that identify the items.
        system: The column with the name of the system; None if rows do not belong to single systems.
        others: The tables of other systems. If numbers alone show that a row is a summary, all tables must have one,
            because the score of an item may equal the mean of the others by chance.

    Raises:
        InputError: There is such a row.
    """
    values = _list_number_columns(table, (*items, system))
    last = table.keys(items)[-1].strip() if items and table.rows else "-"
    if not last and sum(not key.strip() for key in table.keys(items)) == 1:
        raise table.document.error("the last row has no item name, so it may be a row of means or sums; remove the row",
                                   table.lines[-1])
    for cells in map(table.cells, items if values else ()):
        named = [n for n, cell in enumerate(cells) if _SUMMARY.fullmatch(cell.strip())]
        are_words = sum(map(str.isalpha, cells)) > len(cells) / 2  # items are words, and `mean` may be one of these
        if named and (not are_words or named == [len(cells) - 1]):
            more = (f", and {counted(len(named) - 1, 'more row')}; remove these rows" if len(named) > 1 else
                    "; remove the row")
            place = "last " * (named == [len(cells) - 1])
            raise table.document.error(f"the {place}row seems to be a summary, because its name is "
                                       f"{cells[named[0]].strip()!r}{more}", table.lines[named[0]])
    groups: dict[str, list[int]] = {}
    for n, name in enumerate(table.cells(system) if system else [""] * len(table.rows)):
        groups.setdefault(name, []).append(n)
    for place, index in (("first", 0), ("last", -1)):
        if all(len(rows) > _FEW and _is_summary(table, values, rows, rows[index]) for rows in groups.values()) and all(
                _is_summary(other, _list_number_columns(other, items), rows, rows[index])
                for other in others for rows in [range(len(other.rows))]):
            row = groups[next(iter(groups))][index]
            raise table.document.error(f"the {place} row{' of each system' * bool(system)} seems to be a summary, "
                                       "because its numbers are the means or sums of all other rows; remove the row",
                                       table.lines[row])


def _list_number_columns(table: Table, other: Sequence[str | None]) -> list[str]:
    return [name for name in table.names if name not in other and are_numbers(table.cells(name))]


def _is_summary(table: Table, names: Sequence[str], rows: Sequence[int], row: int) -> bool:
    """Return True if a row has the sum or the mean of the other rows in every column.

    Constant columns would always fulfil this, so a value of the row must be absent from the other rows.

    Args:
        table: The table.
        names: The columns of numbers.
        rows: The indices of all rows, for example of one system.
        row: The index of the row to check.
    """
    is_new = False
    for cells in map(table.cells, names):
        rest = [cells[n] for n in rows if n != row]
        if not _is_sum_or_mean(cells[row], rest):
            return False
        is_new = is_new or cells[row] not in rest
    return is_new


def _is_sum_or_mean(cell: str, rest: Sequence[str]) -> bool:
    if not is_number(cell):
        return False
    numbers = [float(other) for other in rest if is_number(other)]
    last_digit = Decimal(cell.strip()).as_tuple().exponent
    near = 0.5 * 10.0**last_digit if isinstance(last_digit, int) and last_digit < 0 else 0.0
    total = math.fsum(numbers)
    return bool(numbers) and any(abs(float(cell) - value) <= near + 1e-9 * abs(value) for value in (
        total, total / len(numbers)))


def refuse_other_order(gold: Table, table: Table) -> None:
    """Check that a file has its items in the order of the gold, as the user claims.

    The user claims this with `--in-order`. If the file has the same names of items in another order, the claim is
    wrong. Leading zeros of names are ignored.

    Raises:
        InputError: The order is different.
    """
    for name in (name for name in find_item_columns(gold) if name in find_item_columns(table)):
        golds, keys = ([key.strip().lstrip("0") for key in source.cells(name)] for source in (gold, table))
        same_places = sum(a == b for a, b in zip(keys, golds, strict=False))
        if len({*golds}) > _FEW and 2 * same_places < len({*keys} & {*golds}) > len({*golds}) / 2:
            raise table.document.error(f"column {name!r} has the items of the gold in another order; remove "
                                       "--in-order, and write the item names exactly as in the gold, with leading "
                                       "zeros")


def refuse_other_gold(gold: Table, items: Sequence[str], value: str,
                      systems: Sequence[tuple[Table, list[str], str]]) -> None:
    """Check that gold values in system files, if any, equal those in the gold file.

    Args:
        gold: The table of the gold.
        items: The columns that identify the items in the gold.
        value: The column of gold values.
        systems: For each system its table, the columns that identify the items, and the column of answers.

    Raises:
        InputError: A file has a copy of the gold with other values; the message names the first item that differs.
    """
    golds = dict(zip(gold.keys(items), gold.cells(value), strict=True))
    for table, keys, column in systems:
        if not gold.header or value not in table.names or value == column or table.document.path == gold.document.path:
            continue
        rows = list(zip(table.keys(keys), table.cells(value), table.lines, strict=True))
        different = [(key, cell, line) for key, cell, line in rows if golds.get(key, cell) != cell]
        if different and len(different) < _MOST * len(rows):
            key, cell, line = different[0]
            raise InputError(f"column {value!r} is {cell[:80]!r}, but {golds[key][:80]!r} in {gold.document.path}; "
                             "write the same gold into all files", path=table.document.path,
                             line=line, item=key)


def ask_about_absent_labels(gold: Table, value: str, answers: Sequence[Sequence[str]]) -> None:
    """Ask the user whether a gold label such as `-` means that there is no label.

    The label probably means this if no system gives the label.

    Args:
        gold: The table of the gold.
        value: The column of gold labels.
        answers: The labels of each system.

    Raises:
        QuestionError: There is such a label.
        InputError: Some gold labels are empty.
    """
    blank = sum(not cell.strip() for cell in gold.cells(value))
    if blank and not gold.is_lines:
        raise gold.document.error(f"column {value!r} is empty in {blank} of {len(gold.rows)} rows; if these items "
                                  "have no label, remove them here and from the systems' files")
    labels = {cell for cell in gold.cells(value) if _NO_LABEL.fullmatch(cell.strip())}.difference(*answers)
    if labels:
        n = sum(cell in labels for cell in gold.cells(value))
        raise QuestionError(
            f"{n} of {len(gold.rows)} items have the gold label {' or '.join(map(repr, sorted(labels)))}, which no "
            "system gives. If it means that the item has no label, remove these items from all files. Otherwise add:",
            {option("--label", value): "it is a label, and all systems are wrong on these items"}, gold.document.path)


def ask_about_other_column(gold: Table, items: Sequence[str], value: str, answer_column: str,
                           answers: Sequence[Sequence[str]]) -> None:
    """Ask the user which column of the gold is correct, if the systems' answers are labels of another column.

    Args:
        gold: The table of the gold.
        items: The columns that identify the items.
        value: The column of texts that was chosen by its name.
        answer_column: The column of answers of the first system.
        answers: The answers of each system.

    Raises:
        QuestionError: Most of the answers occur in another column, which repeats its values.
    """
    given = {cell.strip().casefold() for cells in answers for cell in cells if cell.strip()}

    def has_answers(name: str) -> bool:
        labels = [cell.strip().casefold() for cell in gold.cells(name)]
        return 2 * len(given & {*labels}) > len(given) and len({*labels}) <= DISTINCT * len(labels)

    others = [name for name in gold.names if name not in (*items, value) and has_answers(name)] if given else []

    def name_columns(kind: str, name: str) -> str:
        return " ".join(option(kind, column) for column in dict.fromkeys((name, answer_column)))

    if others:
        raise QuestionError(
            f"column {value!r} has texts, but the systems' answers are labels of column {listed(others, 3)}. Which "
            "column has the correct answers? Add one of these options:",
            {name_columns("--label", name): "labels: correct if equal to the gold" for name in others}
            | {name_columns("--text", value): "texts: BLEU, or another --metric"}, gold.document.path)


def refuse_probabilities(gold: Sequence[str], table: Table) -> None:
    """Check that a system's table has labels, and not a probability for each label.

    Raises:
        InputError: The table has a column of numbers for each gold label.
    """
    labels = sorted({cell.strip() for cell in gold})
    if len(labels) > 1 and {*labels} <= {*table.names} and all(
            are_numbers(table.cells(label)) and not are_truths(table.cells(label)) for label in labels):
        raise table.document.error(f"the file has a column of numbers for each label ({listed(labels, 3)}); add a "
                                   "column called prediction, with the label that the system predicts")


def refuse_marks(documents: Sequence[Document], texts: Sequence[Sequence[str]], request: Request) -> None:
    """Check that texts contain no marks that a metric would count as words.

    Examples are tags such as `<s>`, alternatives in braces, and names at the start of each line.

    Args:
        documents: The files of the gold and of the systems.
        texts: The texts in each file.
        request: The options of the user; with `--as`, the check is skipped.

    Raises:
        InputError: Texts have such marks.
    """
    if request.kind is not None:
        return
    remedy = "which would count as words; remove them from all files, or add --as lines if they are words"
    for document, cells in zip(documents, texts, strict=True):
        for pattern, mark, share in _MARKS:
            lines = [n for n, cell in enumerate(cells) if pattern.search(cell)]
            if len(lines) > share * len(cells):
                raise document.error(f"{len(lines)} of {len(cells)} texts have {mark}, {remedy}", lines[0] + 1)
    for place, side in ((0, "begins"), (-1, "ends")):
        words = [[parts[place] for cell in cells if len(parts := cell.split()) > 1] for cells in texts]
        first = {*words[0]}
        if 1 < len(first) == len(words[0]) and all(map(_NAME.search, first)) and all(
                2 * len(first & {*systems}) > len(first) for systems in words[1:]):
            raise documents[0].error(f"each line {side} with the same name in all files; names would count as words; "
                                     "remove them from all files, or add --as lines if they are words")
    gold, *systems = ([cell.split() for cell in cells] for cells in texts)
    for step, word in ((1, "last"), (-1, "first")):
        ends = [tuple(system_words[::step][len(gold_words) - 1:]) for lines in systems if len(lines) == len(gold)
                for gold_words, system_words in zip(gold, lines, strict=True)
                if len(gold_words) > 2 and gold_words != system_words
                and gold_words[::step][:-1] == system_words[::step][:len(gold_words) - 1]]
        if len(ends) > _MOST * sum(map(len, systems)) and len({*ends}) * 2 < len(ends):
            raise documents[0].error(f"the lines of gold and systems often differ only in the {word} word, so these "
                                     f"words seem to be labels, {remedy}")


def ask_about_votes(document: Document, request: Request) -> None:
    """Ask the user to name the columns of a table that seems to have votes between two systems.

    Two columns have mostly the same few names, which differ in every row, and a third one has outcomes or names.

    Raises:
        QuestionError: The table seems to have votes.
    """
    table = read_table(document, request.options)
    if table is None or not table.header or len(table.rows) < _FEW or request.value is not None or request.system:
        return
    cells = {name: table.cells(name) for name in table.names}
    few = [name for name, column in cells.items() if 1 < len({*column}) <= len(column) / 4 and not are_numbers(column)]
    for a, b in combinations(few, 2):
        names_a, names_b = {*cells[a]}, {*cells[b]}
        if len(names_a & names_b) < max(2, _MOST * len(names_a | names_b)) or any(
                x == y for x, y in zip(cells[a], cells[b], strict=True)):
            continue
        outcomes = [name for name, column in cells.items() if name not in (a, b) and len({*column}) > 1 and (
            {*map(fold_outcome, column)} <= OUTCOMES or {*column} <= names_a | names_b)]
        if not outcomes or are_truths([*names_a, *names_b]):
            continue
        raise QuestionError(
            f"this looks like a table of votes between the systems in the columns {a} and {b}. Name the columns:", {
                f"--as votes {reader_option('system_a', a)} {reader_option('system_b', b)} "
                f"{reader_option('outcome', outcome)}": "if this column says which system is better"
                for outcome in outcomes}, document.path)
