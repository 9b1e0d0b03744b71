"""Which columns go together: the gold's values with those of each system that answer them, where items have keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from registry.errors import InputError
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked
from registry.guessing.looks import NO_NUMBER, Column, Table, is_number, is_other_number
from registry.guessing.tables.keys import Matched, called, counts, is_cost

SAME, BESIDE = "the same as the gold's", "not the gold's"
NAMED = frozenset((  # what a gold's column is called for sure
    "gold", "gold_label", "ground_truth", "label", "labels", "target", "truth", "y_true"))
_PREDICTED = frozenset((  # what a system's column is called for sure
    "pred", "pred_label", "predicted", "predicted_label", "prediction", "predictions", "preds", "y_pred"))
_FEW = 10  # items
_MOST = 0.5  # the share of a system's cells, at the least, that are among the gold's where it answers them


@dataclass(frozen=True)
class Pairing:
    """A column of the gold, and the one of each system that answers it.

    Attributes:
        value: The gold's.
        columns: The systems'.
        note: What is to be said of the systems' ones, beside the gold's.
        sure: How sure it can be at the most that these are meant.
        blank: Of how many items the gold has nothing there: then it cannot be read.
        beside: The gold's column that may as well be meant, but for that.
    """

    value: int
    columns: tuple[int, ...]
    note: str = ""
    sure: int = SURE
    blank: int = 0
    beside: int | None = None


def pairings(gold: Matched, matched: Sequence[Matched], asked: Asked) -> list[Pairing]:
    """Pair the columns of a gold's table with those of the systems.

    Where the gold's file is a system's too, copies of the gold are no answers.

    Raises:
        InputError: Several columns may be meant in the gold, and in the systems as well.
    """
    table, has_answers = gold.table, any(one.path == gold.path for one in matched)
    found: list[Pairing] = []
    for n, name in enumerate(table.names):
        if n not in gold.keys and asked.names("label", table.names, name) and asked.names("gold", table.names, name):
            found += (one for one in _of_column(gold, n, matched, asked) if not has_answers or one.note == BESIDE)
    tell = any(not one.note for one in found)  # where others do, copies of all tell nothing
    return _weighed(table, [one for one in found if one.blank or not (tell and one.note == SAME)], matched, asked)


def _filled(of_items: dict[str, str]) -> dict[str, str]:
    """The items with a value: something, and no mark that others have numbers in place of."""
    filled = {key: cell for key, cell in of_items.items() if cell.strip()}
    numbers = {key: cell for key, cell in filled.items() if cell.strip().casefold() not in NO_NUMBER}
    return numbers if numbers and all(map(is_number, numbers.values())) else filled


def _of_column(gold: Matched, value: int, matched: Sequence[Matched], asked: Asked) -> Iterator[Pairing]:
    table, right = gold.table, _filled(gold.of_items(value))
    options = [_answering(gold, value, right, one, asked) for one in matched]
    if not right or not all(options):
        return
    if all(map(is_number, right.values())) and any(_has_others(one, table.names[value]) for one in matched):
        return
    blank = len(gold.items.values) - len(right)
    shared = _shared(matched, options)
    for columns in shared:
        if _name_items(right, matched, columns):
            continue
        is_copied = all(_repeats(right, one, column) for one, column in zip(matched, columns, strict=True))
        is_doubtful = _is_doubtful(table, value, asked) or _is_constant(matched, columns)
        sure = LIKELY if len(shared) > 1 else OPEN if is_doubtful else SURE
        yield Pairing(value, columns, SAME if is_copied else "", sure, blank)
        if is_copied and (answering := _beside(right, matched, columns, asked)) is not None:
            yield Pairing(value, answering, BESIDE, sure, blank)


def _name_items(right: Mapping[str, str], matched: Sequence[Matched], columns: Sequence[int]) -> bool:
    """Whether each item has another value, and the systems have the same ones for other items: a second key."""
    values = {*right.values()}
    return len(values) == len(right) > _FEW and not Column([*values]).is_of_decimals and all(
        one.table.column(n).is_key and one.table.column(n).values == values and not _repeats(right, one, n)
        for one, n in zip(matched, columns, strict=True))


def _shared(matched: Sequence[Matched], options: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The columns that are called alike in all systems, or stand in the same place; such that vary, if some do."""
    if all(len(of) == 1 for of in options):
        return [tuple(of[0] for of in options)]
    named = all(one.table.header for one in matched)
    places = [{one.table.names[n] if named else n: n for n in of} for one, of in zip(matched, options, strict=True)]
    found = [tuple(of[name] for of in places) for name in places[0] if all(name in of for of in places)]
    varied = [columns for columns in found if len(matched) == 1 or any(
        len(one.table.column(n).values) > 1 for one, n in zip(matched, columns, strict=True))]
    return varied or found


def _is_doubtful(table: Table, n: int, asked: Asked) -> bool:
    """Whether a column tells items nothing apart but their rows: one value for all, or a number for each.

    Or is of numbers that are called a size or time, or stand beside such as are not read.
    """
    if {"gold", "label"} & asked.options.keys():
        return False
    column = table.column(n)
    is_beside = column.is_numeric and ((table.header and is_cost(table.names[n])) or any(
        other.values and all(map(is_other_number, other.values)) and not other.is_numeric for other in table.columns))
    return len(column.values) == 1 or counts(column) or is_beside


def _has_others(one: Matched, name: str) -> bool:
    """Whether a system's answers are numbers that are not read, as with decimal commas: then none beside are meant."""
    columns = [one.table.column(n) for n, called in enumerate(one.table.names) if n not in one.keys and (
        not one.table.header or called.strip().casefold() in {name.strip().casefold(), *_PREDICTED})]
    return any(column.values and not column.is_mostly_numeric and all(
        is_number(value) or is_other_number(value) for value in column.values) for column in columns)


def _is_constant(matched: Sequence[Matched], columns: Sequence[int]) -> bool:
    """Whether all systems have one value for all items, and other columns beside."""
    return all(len(one.table.column(n).values) == 1 and len(one.table.names) > len(one.keys) + 1
               for one, n in zip(matched, columns, strict=True))


def _weighed(table: Table, found: Sequence[Pairing], matched: Sequence[Matched], asked: Asked) -> list[Pairing]:
    """The pairings, less sure where others may be meant that cannot be read."""
    plain = {one.value for one in found if one.note != SAME and one.sure > OPEN}
    has_words = any(one.sure == SURE and not one.note and not one.blank and not table.column(one.value).is_numeric
                    for one in found)  # which one column alone answers, whatever numbers stand beside
    if len(plain) > 1 and not has_words and any(one.sure == LIKELY for one in found):
        if table.form.get("separator") == "whitespace":
            return []  # words of text
        ours = " or ".join(called(table, n) for n in sorted(plain))
        theirs = " or ".join(dict.fromkeys(called(matched[0].table, one.columns[0]) for one in found
                                           if one.sure > OPEN))
        raise InputError(f"the gold may be {ours}, and the answers {theirs}: leave those columns that are meant, here "
                         "and in the systems' files", path=matched[0].path)
    blank = next((one for one in found if one.blank and _answers(table, one, matched)), None)
    if blank is None or {"gold", "label"} & asked.options.keys():
        return list(found)
    return [one if one.blank or _is_named(table, one, blank, matched) else replace(one, sure=OPEN, beside=blank.value)
            for one in found if one.blank or (one.sure > OPEN and one.note != SAME)]


def _answers(table: Table, of: Pairing, matched: Sequence[Matched]) -> bool:
    """Whether what systems have goes with the gold's values, of which some are blank: the same labels, or numbers."""
    values = {*_filled({str(n): cell for n, cell in enumerate(table.column(of.value).cells)}).values()}
    for one, n in zip(matched, of.columns, strict=True):
        cells = [cell for cell in one.table.column(n).cells if cell.strip()]
        decimals = all(map(is_number, (*values, *cells))) and not one.table.column(n).is_whole
        if not decimals and sum(cell in values for cell in cells) <= _MOST * len(cells):
            return False
    return True


def _is_named(table: Table, of: Pairing, other: Pairing, matched: Sequence[Matched]) -> bool:
    """Whether a gold's column is called as a gold is, or as the systems' one that answers either, and another not."""
    theirs = {one.table.names[n].strip().casefold() for one, n in zip(matched, of.columns, strict=True)
              if one.table.header and of.columns == other.columns}
    name, beside = (table.names[one.value].strip().casefold() for one in (of, other))
    return table.header and any(name in names and beside not in names for names in (NAMED, theirs))


def _answering(gold: Matched, value: int, right: Mapping[str, str], one: Matched, asked: Asked) -> Sequence[int]:
    """Which columns of a system may answer the gold's, with these values by item; none where nothing tells."""
    others = _others(one, asked)
    if len(others) <= 1:
        return others
    names, name = gold.table.names, gold.table.names[value]
    values = set(right.values())
    numeric, known = all(map(is_number, values)), _folded(values)
    fitting = [n for n in others if _folded(one.table.column(n).values) & known or (
        numeric and one.table.column(n).is_mostly_numeric)]  # of mistakes in it is told when it is read
    if one.table.header and (called := [n for n in fitting if one.table.names[n] == name] or [
            n for n in fitting if one.table.names[n].casefold() == name.casefold()]):
        return called[:1]
    called = [n for n in fitting if one.table.header and one.table.names[n].strip().casefold() in _PREDICTED]
    if len(called) == 1:
        return called
    if value in fitting and one.keys == gold.keys and _are_alike(gold.table, one.table):
        return [value]
    are_decimals = Column([*values]).is_of_decimals
    if are_decimals:  # others may be numbers of rows
        fitting = [n for n in fitting if not one.table.column(n).is_whole] or fitting
    if len(fitting) > 1:
        cells = {n: one.aligned(list(right), n) for n in fitting}
        copies = [n for n in fitting if _repeats(right, one, n)]
        if len(copies) == 1 and (are_decimals or 2 * len(values) <= len(right)):
            return copies  # what stands beside it is looked at then
        likely = fitting if are_decimals else [  # of which it tells nothing that some are the gold's
            n for n in fitting if _are_mostly(known, cells[n])]
        own = [n for n in fitting if numeric and not likely and not _is_copy(gold, one, n)]
        return own[:1] if len(own) == 1 else [
            n for n in likely if not one.table.header or one.table.names[n] not in names] or likely
    return fitting


def _others(one: Matched, asked: Asked) -> list[int]:
    """The columns of a system that may have its answers, unless the user says which has."""
    return [n for n, called in enumerate(one.table.names) if n not in one.keys
            and asked.names("label", one.table.names, called) and asked.names("score", one.table.names, called)]


def _is_copy(gold: Matched, one: Matched, n: int) -> bool:
    """Whether a system's column repeats some column of the gold's."""
    return any(_repeats(gold.of_items(m), one, n) for m in range(len(gold.table.names)) if m not in gold.keys)


def _are_alike(table: Table, other: Table) -> bool:
    """Whether the columns of tables without headers hold the same in each place, as far as their values tell."""
    if table.header or other.header or len(table.names) != len(other.names) or other.form["separator"] == "whitespace":
        return False
    columns = list(zip(table.columns, other.columns, strict=True))
    if any((len(theirs.values) == 1) != (len(ours.values) == 1) for ours, theirs in columns):  # which tells nothing
        return False
    return all(_are_mostly(_folded(ours.values), theirs.cells) or (
        ours.is_numeric and theirs.is_numeric and ours.is_whole == theirs.is_whole and ours.is_key == theirs.is_key)
        for ours, theirs in columns)


def _folded(cells: Set[str]) -> set[str]:
    """Cells whatever the case of their letters and the blanks around: that these differ is told when they are read."""
    return set(map(_plain, cells))


def _are_mostly(known: Set[str], cells: Sequence[str]) -> bool:
    """Whether most cells, folded, are known."""
    return sum(_plain(cell) in known for cell in cells) > _MOST * len(cells)


def _plain(cell: str) -> str:
    return cell.strip().casefold()


def _repeats(right: Mapping[str, str], one: Matched, n: int) -> bool:
    """Whether a system's column has the gold's values, of the items that it has."""
    return all(right.get(key, cell) == cell for key, cell in one.of_items(n).items())


def _beside(right: Mapping[str, str], matched: Sequence[Matched], copied: Sequence[int],
            asked: Asked) -> tuple[int, ...] | None:
    """The one column of each system with the gold's values, or decimals as these are, beside that which repeats it."""
    values = set(right.values())
    are_decimals = len(matched) > 1 and Column([*values]).is_of_decimals  # of one system any may be of the items
    known, numbers = _folded(values), {float(value) for value in values if is_number(value)}

    def is_known(cell: str) -> bool:
        return _plain(cell) in known or (is_number(cell) and float(cell) in numbers)

    options: list[list[int]] = []
    for one, copy in zip(matched, copied, strict=True):
        cells = {n: one.aligned(list(right), n) for n in _others(one, asked) if n != copy}
        options.append([n for n in cells if sum(map(is_known, cells[n])) > _MOST * len(cells[n])] or [
            n for n in cells if are_decimals and one.table.column(n).is_of_decimals])
    if not all(options):
        return None
    found = [columns for columns in _shared(matched, options) if len(matched) == 1 or len({tuple(one.aligned(
        list(right), n)) for one, n in zip(matched, columns, strict=True)}) > 1]  # what all have is of the items
    return found[0] if len(found) == 1 else None
