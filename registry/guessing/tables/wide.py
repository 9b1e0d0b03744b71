"""One table of all systems: a row for every item, and a column for each of them, perhaps with one for the gold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote
from statistics import median

from registry.errors import InputError
from registry.guessing.guess import LIKELY, OPEN, SURE, Asked, Guess, QuestionError
from registry.guessing.looks import Column, Table, is_number, tables
from registry.guessing.tables.keyed import VALUE, told_renamed
from registry.guessing.tables.keys import called, is_cost, is_id
from registry.guessing.tables.long import directions, is_size
from registry.guessing.tables.roles import GOLDS, Roles, is_gold, passed, reading, roles_of
from registry.guessing.tables.shape import check_shape
from registry.guessing.tables.values import kinds, renamed
from registry.metrics import Mean, Metric
from registry.readers import Document

_PLACE = re.compile(r"(?<![a-z])(idx|index|fold|split)$")  # how a column ends that says where an item stands
_LABELS = frozenset(("gold", "label", "labels", "target", "truth", "y_true"))
_TWO = 2  # values, which may stand for right and wrong
_SHOWN = 4  # columns in a message
_LIKE_LABELS = 0.2  # the share of cells with the gold's labels, but for their case, of which others may be mistakes


def wide(document: Document, asked: Asked) -> Iterator[Guess]:
    """Guess what the columns of a table are."""
    for table in tables(document):
        if not table.header or table.sure == OPEN:
            continue
        roles = roles_of(document, table, asked)
        if asked.kind is None and not ({"item", "gold", "label"} & asked.options.keys()):
            check_shape(roles, asked)
        golds = [n for n, name in enumerate(table.names) if n not in roles.keys and (
            asked.names("gold", table.names, name) and asked.names("label", table.names, name))]
        if not ({"gold", "label"} & asked.options.keys()):
            golds = [n for n in golds if is_gold(table.names[n])]
        found = [*_with_gold(roles, golds, asked), *_flagged(roles, asked)]
        is_open = len(roles.flags) > 1 and all(table.column(n).is_numeric for n in roles.flags) and all(
            guess.reader.name == "candidates" and guess.sure == LIKELY for guess in found)  # or they are results
        if not ({"gold", "label"} & asked.options.keys()) and any(
                table.names[n].casefold() == "human" and table.column(n).is_numeric for n in golds):
            is_open = True  # people may be one of those that are compared
            found = [replace(guess, sure=LIKELY) for guess in found]
        means = list(_means(roles, asked)) if is_open or not found else []
        if not found and len(means) > 1:  # of which it is asked: then the first column may be the gold as well
            found = list(_or_gold(roles, asked))
        for guess in () if means and "better" in asked.options else found:
            right = "label" if guess.reader.name == "labels" else "gold"
            yield replace(guess, answer=f"--option {right}={getattr(guess.reader, right)}") if means else guess
        if not found and not means and asked.kind is None:
            _check_named(roles)
        yield from [replace(guess, means=f"{guess.means}; {guess.why[2]}") for guess in means] if found else means


def _check_named(roles: Roles) -> None:
    """See that a gold is named where columns have the same values, of which one may be the gold's.

    Raises:
        QuestionError: Columns have true and false.
        InputError: Nothing says which one is.
    """
    table, path = roles.table, roles.path
    if len(roles.flags) > 1 and not roles.numbers:
        names = [table.names[n] for n in roles.flags]
        if _are_truths(table, roles.flags):
            raise QuestionError(f"{', '.join(names[:_SHOWN])}{' ...' * (len(names) > _SHOWN)} have true and false; "
                                "what are they? say it:", {
                                    "--option better=higher": "what each system got right: true counts 1, false 0",
                                    f"--option {quote(f'label={names[0]}')}": "this column is the gold, and the others "
                                    "are what systems say"}, path)
        raise InputError(f"no column has numbers, and {', '.join(names)} have two values each: if these are "
                         "systems' results, write 1 and 0; if one is the gold, say so, as --option "
                         f"{quote(f'label={names[0]}')}", path=path)
    words = [n for n in roles.words if not table.column(n).is_nearly_key]
    alike = next((found for m, first in enumerate(words) if len(found := [first, *(
        n for n in words[m + 1:] if _is_like(table.column(n), table.column(first)))]) > 2), [])
    marks = sorted({value for n in alike for value in table.column(n).values})
    if len(marks) == _TWO:
        names = [table.names[n] for n in alike]
        raise InputError(f"{', '.join(names)} have {' and '.join(map(repr, marks))}: if these say what systems got "
                         "right, write 1 and 0 for them; if one column is the gold, say so, as --option "
                         f"{quote(f'label={names[0]}')}", path=path)
    if alike:
        names = [table.names[n] for n in alike]
        raise InputError(f"{', '.join(names)} have the same labels, and no name says which is the gold; say it, as "
                         f"--option {quote(f'label={names[0]}')}", path=path)


def _are_truths(table: Table, flags: Sequence[int]) -> bool:
    """Whether all flags are true and false."""
    return all({cell.casefold() for cell in table.column(n).values} == {"true", "false"} for n in flags)


def _with_gold(roles: Roles, golds: Sequence[int], asked: Asked) -> Iterator[Guess]:
    """A column has the right labels or numbers, all others of their kind are systems'."""
    table = roles.table
    for gold in golds:
        right = table.column(gold)
        others = [n for n in (*roles.numbers, *roles.words, *roles.flags) if n != gold and n not in golds]
        of_kind = [n for n in dict.fromkeys(others) if not _is_beside(table, n) and (
            table.column(n).is_mostly_numeric if right.is_numeric else _is_like(table.column(n), right))]
        for kind in kinds(right.cells, [table.column(n).cells for n in of_kind], asked) if of_kind else ():
            systems = [n for n in of_kind if kind.format == "scores" or _is_like(table.column(n), right)]
            if (kind.format == "labels" and not roles.keys) or not systems:
                continue
            of_gold, of_system = VALUE[kind.format]
            read = tuple(roles.of_column(n).system(kind.format, {of_system: n}, renamed(
                kind.format, right.values, table.column(n).values)) for n in systems)
            yield Guess(
                roles.given.document, roles.reader(kind.format, {of_gold: gold}), read,
                (*reading(roles, [table.names[n] for n in systems]),
                 f"{kind.format} in {called(table, gold)}: {kind.why}", *told_renamed(read),
                 *passed(table, [n for n in dict.fromkeys(others) if n not in systems])),
                min(table.sure, kind.sure), kind.means, kind.metric,
                answer=f"--as {kind.format}" if kind.sure < SURE else "")


def _is_beside(table: Table, n: int) -> bool:
    """Whether a column beside a gold is no answer to it, by its name: a size, a time, or another key."""
    name = table.names[n]
    is_key = is_id(name) and table.column(n).is_key
    return is_size(name) or is_key or is_cost(name) or bool(_PLACE.search(name.casefold()))


def _is_like(column: Column, right: Column) -> bool:
    """Whether a column may have answers to the gold's: that all of them are labels is seen when they are read."""
    labels = {cell.strip().casefold() for cell in right.values}
    filled = [cell for cell in column.cells if cell.strip()]
    return sum(cell.strip().casefold() in labels for cell in filled) > _LIKE_LABELS * len(filled)


def _flagged(roles: Roles, asked: Asked) -> Iterator[Guess]:
    """A column flags the right ones among candidates, which systems rank by their scores."""
    table = roles.table
    if not asked.allows("candidates", "answer") or not roles.keys or "separator" not in table.form or (
            "comment" in table.form):  # which their reader does not know
        return
    systems = [n for n in roles.numbers if n not in roles.flags and not is_size(table.names[n])
               and {float(cell) for cell in table.column(n).values if is_number(cell)} != {0, 1}]
    flags = [n for n in roles.flags if asked.names("gold", table.names, table.names[n])]
    for n in flags:
        others = [m for m in systems if not table.names[n].startswith(f"{table.names[m]}_")]  # cut off at some number
        if others:
            guess = _candidates(roles, n, others, alone=len(flags) == 1)
            yield replace(guess, why=(*guess.why, *passed(table, [m for m in systems if m not in others])))


def _candidates(roles: Roles, flag: int, systems: Sequence[int], *, alone: bool) -> Guess:
    table = roles.table
    spelled = {cell.casefold(): cell for cell in table.column(flag).values}
    right, wrong = next((spelled[yes], spelled[no]) for yes, no in (
        ("true", "false"), ("yes", "no"), ("1", "0"), ("y", "n"), ("t", "f")) if {yes, no} == spelled.keys())
    options = {"true": [right], "false": [wrong]}
    cells = table.column(flag).cells
    is_right = [cell == right for cell in cells]
    lower = [table.names[m] for m in systems if _is_lower(table.column(m).cells, is_right)]
    read = tuple(roles.of_column(m).system("candidates", {"gold": flag, "score": m}, options) for m in systems)
    how = "more is better in all columns" + (f", though those that are right have less in {', '.join(lower)}" if lower
                                             else "")
    why = (*reading(roles, [system.name for system in read]),
           f"candidates, of which {called(table, flag)} flags the right ones: {sum(is_right)} of {len(cells)}; {how}")
    sure = LIKELY if not alone or _all_flags(table, flag) else OPEN if lower else SURE
    means = f"{called(table, flag)} says which are right" + (f", and {how}" if sure == OPEN else "")
    return Guess(roles.given.document, roles.reader("candidates", {"gold": flag}, options=options), read, why, sure,
                 means, answer="--as candidates" if sure == OPEN else "")


def _or_gold(roles: Roles, asked: Asked) -> Iterator[Guess]:
    """The first column of numbers is the gold, though it is not called so, and the others are systems' numbers."""
    table, numbers = roles.table, [n for n in roles.numbers if not _is_beside(roles.table, n)]
    if len(numbers) > _TWO and not table.column(numbers[0]).values <= {"0", "1", "0.0", "1.0"}:
        for guess in _with_gold(roles, numbers[:1], asked):
            if guess.reader.name == "scores":
                yield replace(guess, sure=LIKELY, means=f"{called(table, numbers[0])} is the gold, which the others "
                                                        "are held against")


def _is_lower(cells: Sequence[str], is_right: Sequence[bool]) -> bool:
    """Whether candidates that are right have the lower scores, by the median."""
    of_right, of_wrong = ([float(cell) for cell, one in zip(cells, is_right, strict=True)
                           if one is wanted and is_number(cell)] for wanted in (True, False))
    return bool(of_right and of_wrong) and median(of_right) < median(of_wrong)


def _all_flags(table: Table, n: int) -> bool:
    """Whether a column of 0 and 1 is called by no name that a gold has: it may be a system's."""
    return {cell.casefold() for cell in table.column(n).values} == {"0", "1"} and table.names[n].casefold() not in GOLDS


def _means(roles: Roles, asked: Asked) -> Iterator[Guess]:
    """All columns of numbers are systems' scores of the items, which are averaged."""
    table = roles.table
    of_truth = roles.flags if "better" in asked.options and _are_truths(table, roles.flags) else ()
    numbers = [n for n in roles.numbers or of_truth if not _is_beside(table, n)]
    are_labels = len(numbers) == 1 and table.names[numbers[0]].strip().casefold() in _LABELS  # no system's
    if not asked.allows("scores", "score") or not numbers or are_labels:
        return
    systems = tuple(roles.of_column(n).system("scores", {"score": n}) for n in numbers)
    why = reading(roles, [system.name for system in systems])
    higher, lower = directions(roles.path.rpartition("/")[2])
    why += passed(table, [n for n in dict.fromkeys((*roles.words, *roles.numbers, *roles.flags)) if n not in numbers])
    for better, hint in (("higher", higher), ("lower", lower)):
        if asked.options.get("better", better) != better:
            continue
        sure = SURE if (hint and not (higher and lower)) or "better" in asked.options else LIKELY
        if sure == LIKELY and (higher or lower) and not (higher and lower):
            sure = OPEN
        said = "you say so" if "better" in asked.options else f"the file's name has {min(hint)!r}" if hint else ""
        metric: Metric = Mean.build({"better": better})
        yield Guess(roles.given.document, roles.reader("scores", {}), systems,
                    (*why, f"the mean of each column, {better} is better" + (f": {said}" if said else "")),
                    min(sure, table.sure), f"scores of which {better} ones are better", metric,
                    answer=f"--option better={better}")
