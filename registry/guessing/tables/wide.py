"""One table of all systems: a row for every item, and a column for each of them, perhaps with one for the gold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from statistics import median

from registry.errors import InputError, counted
from registry.evaluation.ingest.mistakes.headers import COLUMNS
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Guess, System
from registry.guessing.looks import Column, Table, is_number, tables
from registry.guessing.tables.keyed import DOCUMENTS, table_reader, told_renamed
from registry.guessing.tables.keys import called, counts, is_id, naming, summary, together
from registry.guessing.tables.long import directions, is_size, long_form, system_column
from registry.guessing.tables.values import kinds, renamed
from registry.metrics import Mean, Metric
from registry.readers import Document

GOLDS = frozenset(("gold", "truth", "true", "target", "reference", "y_true", "gold_label", "label", "labels", "human",
                   "correct", "answer", "gold_score"))
_RIGHT = frozenset(("adjudicated", "annotated", "correct", "expected", "expert", "gold", "human", "manual", "true"))
_VALUE = frozenset(("annotation", "annotations", "answer", "class", "label", "labels", "score", "sentiment", "tag"))
_SYSTEM = frozenset((  # what a column that names systems is called, in one of its words
    "alg", "algo", "algorithm", "approach", "classifier", "framework", "method", "model", "models", "participant",
    "submission", "system", "team"))
_NAME = frozenset(("id", "name"))  # the other words of such a column
_PAIRS = ({"model_a", "model_b"}, {"system_a", "system_b"}, {"model_1", "model_2"}, {"system_1", "system_2"})
_PARTS = 2  # columns: documents, say, and their sentences
_LIKE_LABELS = 0.2  # the share of cells with the gold's labels, but for their case, of which others may be mistakes
_FLAGS = ({"true", "false"}, {"yes", "no"}, {"0", "1"}, {"y", "n"}, {"t", "f"})


@dataclass(frozen=True)
class _Roles:
    """Which columns of a table name the items, hold numbers, words, or flags of two values."""

    keys: tuple[int, ...]
    numbers: tuple[int, ...]
    words: tuple[int, ...]
    flags: tuple[int, ...]


def wide(document: Document, asked: Asked) -> Iterator[Guess]:
    """Guess what the columns of a table are."""
    for table in tables(document):
        if not table.header or table.sure == OPEN:
            continue
        roles = _roles(table, asked)
        if asked.kind is None and not ({"item", "gold", "label"} & asked.options.keys()):
            _check_shape(document, table, roles, asked)
        golds = [n for n, name in enumerate(table.names) if n not in roles.keys and (
            asked.names("gold", table.names, name) and asked.names("label", table.names, name))]
        if not ({"gold", "label"} & asked.options.keys()):
            golds = [n for n in golds if is_gold(table.names[n])]
        found = [*_with_gold(document, table, roles, golds, asked), *_flagged(document, table, roles, asked)]
        is_open = len(roles.flags) > 1 and all(table.column(n).is_numeric for n in roles.flags) and all(
            guess.reader.name == "candidates" and guess.sure == LIKELY for guess in found)  # or they are results
        if not ({"gold", "label"} & asked.options.keys()) and any(
                table.names[n].casefold() == "human" and table.column(n).is_numeric for n in golds):
            is_open = True  # people may be one of those that are compared
            found = [replace(guess, sure=LIKELY) for guess in found]
        means = list(_means(document, table, roles, asked)) if is_open or not found else []
        for guess in () if means and "better" in asked.options else found:
            right = "label" if guess.reader.name == "labels" else "gold"
            yield replace(guess, answer=f"--option {right}={getattr(guess.reader, right)}") if means else guess
        if not found and not means and asked.kind is None:
            _check_named(document, table, roles)
        yield from [replace(guess, means=f"{guess.means}; {guess.why[2]}") for guess in means] if found else means


def _check_named(document: Document, table: Table, roles: _Roles) -> None:
    """See that a gold is named where columns have the same values, of which one may be the gold's.

    Raises:
        InputError: Nothing says which one is.
    """
    if len(roles.flags) > 1 and not roles.numbers:
        names = [table.names[n] for n in roles.flags]
        raise InputError(f"no column has numbers, and {', '.join(names)} have two values each: if these are "
                         "systems' results, write 1 and 0; if one is the gold, say so, as --option "
                         f"{quote(f'label={names[0]}')}", path=document.path)
    words = [n for n in roles.words if not table.column(n).is_nearly_key]
    alike = next((found for m, first in enumerate(words) if len(found := [first, *(
        n for n in words[m + 1:] if _is_like(table.column(n), table.column(first)))]) > 2), [])
    if alike:
        names = [table.names[n] for n in alike]
        raise InputError(f"{', '.join(names)} have the same labels, and no name says which is the gold; say it, as "
                         f"--option {quote(f'label={names[0]}')}", path=document.path)


def _check_shape(document: Document, table: Table, roles: _Roles, asked: Asked) -> None:
    """See that rows are items, and columns systems.

    Raises:
        QuestionError: There is a row for each item and system.
        InputError: Rows are systems, or pairs of them, or one is the mean of the others.
    """
    places = {name.strip().casefold(): n for n, name in enumerate(table.names)}
    if (pair := next((pair for pair in _PAIRS if pair <= places.keys()), None)) is not None:
        raise InputError(f"each row compares two systems, in the columns {' and '.join(sorted(pair))}; boards are of "
                         "each system's own scores: a row for each item, and a column for each system",
                         path=document.path)
    if (system := next((n for name, n in places.items() if _names_systems(name)), None)) is not None:
        if table.column(system).is_key:
            raise InputError(f"rows seem to be systems, by {called(table, system)}, and columns what is measured of "
                             "them; a board needs the scores of all items: a row for each item, and a column for each "
                             "system. If rows are items here, say --as scores", path=document.path)
        raise long_form(document, table, system, asked)
    if not roles.keys and (system := system_column(table)) is not None:
        raise long_form(document, table, system, asked)
    if roles.keys and (last := summary(table.column(roles.keys[0]))) is not None:
        raise InputError(f"the last row is called {last!r}, as the {last} of the others is; take it out, or say --as "
                         "scores if it is an item", path=document.path, item=last)


def _names_systems(name: str) -> bool:
    """Whether a column is called as one that names systems: `model`, `alg_name`, `Team name`."""
    words = set(re.findall("[a-z]+", name))
    return bool(words & _SYSTEM) and words <= _SYSTEM | _NAME


def is_gold(name: str) -> bool:
    """Whether a column is called as one of right answers: `gold`, `y_true`, `Annotated label`, `Human score`.

    >>> [name for name in ("Gold label", "Annotated label", "Human score", "human-7b", "True") if is_gold(name)]
    ['Gold label', 'Annotated label', 'Human score', 'True']
    """
    words = re.findall("[a-z]+|[0-9]+", name.casefold())
    return name.casefold() in GOLDS or (len(words) == 2 and words[0] in _RIGHT and words[1] in _VALUE)


def _roles(table: Table, asked: Asked) -> _Roles:
    places = range(len(table.names))
    columns = {n: table.column(n) for n in places}
    flags = tuple(n for n in places if len(columns[n].values) == 2 and
                  {cell.casefold() for cell in columns[n].values} in _FLAGS)
    if named := asked.options.get("item"):
        wanted = [named] if isinstance(named, str) else list(named)
        keys = tuple(n for n in places if table.names[n] in wanted)
    else:
        keys = _keys(table, flags)
    rest = [n for n in places if n not in keys]
    numbers = tuple(n for n in rest if columns[n].is_mostly_numeric)
    return _Roles(keys, numbers, tuple(n for n in rest if n not in numbers and n not in flags), flags)


def _keys(table: Table, flags: Sequence[int]) -> tuple[int, ...]:
    """The column that names items, or those that do together; none where the rows have to be numbered."""
    places = range(len(table.names))
    unique = [n for n in places if table.column(n).is_key]
    words = [n for n in places if n not in flags and not table.column(n).is_mostly_numeric]
    of_words = [n for n in unique if n in words and not _is_score_like(table, n)]
    named = [n for n in unique if table.names[n].casefold().strip("# ") in COLUMNS | {"", "index"} - GOLDS
             or is_id(table.names[n])]
    counting = [n for n in unique[:1] if n == 0 and _counts(table.column(0).cells)]
    if found := named or of_words or counting:
        return (found[0],)
    parts = [of for of in naming(table) if together(table, of).is_key
             and not any(table.names[n].casefold() in GOLDS for n in of)
             and (any(table.names[n].casefold() in COLUMNS | DOCUMENTS or is_id(table.names[n]) for n in of)
                  or _is_nested(table, of) or _is_nested(table, of[::-1]))]
    if len(parts) == 1:
        return parts[0]
    joined = [tuple(row[n] for n in words) for row in table.rows if len(row) == len(table.names)]
    return tuple(words) if len(words) > 1 and len(set(joined)) == len(table.rows) else ()


def _is_nested(table: Table, places: Sequence[int]) -> bool:
    """Whether of two columns of whole numbers the second counts the rows of each number of the first."""
    if len(places) != _PARTS or not all(table.column(n).is_whole for n in places):
        return False
    within: dict[str, list[str]] = {}
    for outer, inner in zip(*(table.column(n).cells for n in places), strict=True):
        within.setdefault(outer, []).append(inner)
    first = {min(of, key=float) for of in within.values()}
    return len(first) == 1 and all(counts(Column(of)) for of in within.values())


def _is_score_like(table: Table, n: int) -> bool:
    return is_gold(table.names[n])


def _counts(cells: Sequence[str]) -> bool:
    """Whether cells are numbers one after the other, but for a last one that is called as a mean of the others."""
    items = cells[:-1] if summary(Column(list(cells))) is not None else cells
    numbers = [float(cell) for cell in items if is_number(cell)]
    return len(numbers) == len(items) > 0 and numbers == [numbers[0] + n for n in range(len(numbers))]


def _why(document: Document, table: Table, roles: _Roles, names: Sequence[str]) -> list[str]:
    items = " and ".join(called(table, n) for n in roles.keys) or "the number of the row"
    shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
    return [f"{document.path}: {table.written}; {table.why}", f"items by {items}: {counted(len(table.rows), 'item')}",
            f"a column for each of {counted(len(names), 'system')}: {shown}"]


def _with_gold(document: Document, table: Table, roles: _Roles, golds: Sequence[int], asked: Asked) -> Iterator[Guess]:
    """A column has the right labels or numbers, all others of their kind are systems'."""
    for gold in golds:
        right = table.column(gold)
        others = [n for n in (*roles.numbers, *roles.words, *roles.flags) if n != gold and n not in golds]
        systems = [n for n in dict.fromkeys(others) if not is_size(table.names[n]) and (
            table.column(n).is_mostly_numeric if right.is_numeric else _is_like(table.column(n), right))]
        if not systems:
            continue
        for kind in kinds(right.cells, [table.column(n).cells for n in systems], asked):
            if kind.format == "labels" and not roles.keys:
                continue
            of_gold, of_system = {"labels": ("label", "label"), "scores": ("gold", "score")}[kind.format]
            read = tuple(System(table.names[n], document, table_reader(
                kind.format, table, roles.keys, {of_system: n},
                options=renamed(kind.format, right.values, table.column(n).values))) for n in systems)
            yield Guess(
                document, table_reader(kind.format, table, roles.keys, {of_gold: gold}), read,
                (*_why(document, table, roles, [table.names[n] for n in systems]),
                 f"{kind.format} in {called(table, gold)}: {kind.why}", *told_renamed(read),
                 *_passed(table, [n for n in dict.fromkeys(others) if n not in systems])),
                min(table.sure, kind.sure), kind.means, kind.metric,
                        answer=f"--as {kind.format}" if kind.sure < SURE else "")


def _is_like(column: Column, right: Column) -> bool:
    """Whether a column may have answers to the gold's: that all of them are labels is seen when they are read."""
    labels = {cell.strip().casefold() for cell in right.values}
    filled = [cell for cell in column.cells if cell.strip()]
    return sum(cell.strip().casefold() in labels for cell in filled) > _LIKE_LABELS * len(filled)


def _passed(table: Table, columns: Sequence[int]) -> list[str]:
    return [f"passed over: {', '.join(table.names[n] for n in columns)}"] if columns else []


def _systems(document: Document, table: Table, roles: _Roles, systems: Sequence[int],
             of: tuple[str, str]) -> tuple[System, ...]:
    format_, option = of
    return tuple(System(table.names[n], document, table_reader(format_, table, roles.keys, {option: n}))
                 for n in systems)


def _flagged(document: Document, table: Table, roles: _Roles, asked: Asked) -> Iterator[Guess]:
    """A column flags the right ones among candidates, which systems rank by their scores."""
    if not asked.allows("candidates", "answer") or not roles.keys or "separator" not in table.form or (
            "comment" in table.form):  # which their reader does not know
        return
    systems = [n for n in roles.numbers if n not in roles.flags and not is_size(table.names[n])
               and {float(cell) for cell in table.column(n).values if is_number(cell)} != {0, 1}]
    flags = [n for n in roles.flags if asked.names("gold", table.names, table.names[n])]
    for n in flags:
        others = [m for m in systems if not table.names[n].startswith(f"{table.names[m]}_")]  # cut off at some number
        if others:
            guess = _candidates((document, table, roles), n, others, alone=len(flags) == 1)
            yield replace(guess, why=(*guess.why, *_passed(table, [m for m in systems if m not in others])))


def _candidates(of: tuple[Document, Table, _Roles], flag: int, systems: Sequence[int], *, alone: bool) -> Guess:
    document, table, roles = of
    spelled = {cell.casefold(): cell for cell in table.column(flag).values}
    right, wrong = next((spelled[yes], spelled[no]) for yes, no in (
        ("true", "false"), ("yes", "no"), ("1", "0"), ("y", "n"), ("t", "f")) if {yes, no} == spelled.keys())
    options = {"true": [right], "false": [wrong]}
    cells = table.column(flag).cells
    is_right = [cell == right for cell in cells]
    lower = [table.names[m] for m in systems if _is_lower(table.column(m).cells, is_right)]
    read = tuple(System(table.names[m], document, table_reader(
        "candidates", table, roles.keys, {"gold": flag, "score": m}, options=options)) for m in systems)
    how = "more is better in all columns" + (f", though those that are right have less in {', '.join(lower)}" if lower
                                             else "")
    why = (*_why(document, table, roles, [system.name for system in read]),
           f"candidates, of which {called(table, flag)} flags the right ones: {sum(is_right)} of {len(cells)}; {how}")
    sure = LIKELY if not alone or _all_flags(table, flag) else OPEN if lower else SURE
    means = f"{called(table, flag)} says which are right" + (f", and {how}" if sure == OPEN else "")
    return Guess(document, table_reader("candidates", table, roles.keys, {"gold": flag}, options=options), read, why,
                 sure, means, answer="--as candidates" if sure == OPEN else "")


def _is_lower(cells: Sequence[str], is_right: Sequence[bool]) -> bool:
    """Whether candidates that are right have the lower scores, by the median."""
    of_right, of_wrong = ([float(cell) for cell, one in zip(cells, is_right, strict=True)
                           if one is wanted and is_number(cell)] for wanted in (True, False))
    return bool(of_right and of_wrong) and median(of_right) < median(of_wrong)


def _all_flags(table: Table, n: int) -> bool:
    """Whether a column of 0 and 1 is called by no name that a gold has: it may be a system's."""
    return {cell.casefold() for cell in table.column(n).values} == {"0", "1"} and table.names[n].casefold() not in GOLDS


def _means(document: Document, table: Table, roles: _Roles, asked: Asked) -> Iterator[Guess]:
    """All columns of numbers are systems' scores of the items, which are averaged."""
    if not asked.allows("scores", "score") or not roles.numbers:
        return
    numbers = [n for n in roles.numbers if not is_size(table.names[n])]
    systems = _systems(document, table, roles, numbers, ("scores", "score"))
    why = _why(document, table, roles, [system.name for system in systems])
    higher, lower = directions(document.path.rpartition("/")[2])
    why += _passed(table, [n for n in dict.fromkeys((*roles.words, *roles.numbers, *roles.flags)) if n not in numbers])
    for better, hint in (("higher", higher), ("lower", lower)):
        if asked.options.get("better", better) != better:
            continue
        sure = SURE if (hint and not (higher and lower)) or "better" in asked.options else LIKELY
        if sure == LIKELY and (higher or lower) and not (higher and lower):
            sure = OPEN
        said = "you say so" if "better" in asked.options else f"the file's name has {min(hint)!r}" if hint else ""
        metric: Metric = Mean.build({"better": better})
        yield Guess(document, table_reader("scores", table, roles.keys, {}), systems,
                    (*why, f"the mean of each column, {better} is better" + (f": {said}" if said else "")),
                    min(sure, table.sure), f"scores of which {better} ones are better", metric,
                    answer=f"--option better={better}")
