"""Tables of scores, one for each system: no gold among them, though the first stands where the gold does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from shlex import quote

from registry.errors import counted
from registry.guessing.guess import LIKELY, SURE, Asked, Given, Guess, System
from registry.guessing.looks import NO_NUMBER, Column, Table, tables
from registry.guessing.tables.keys import COMMON, Matched, called, is_id, may_name, naming, summary, together
from registry.guessing.tables.long import directions, is_measure, is_size
from registry.metrics import Mean

_RIGHT = ({"0", "1"}, {"true", "false"})  # and wrong
_MOST = 0.75  # the share of columns that objects of two files have in common at the least
_NO_SCORES = frozenset(("gold", "label", "labels", "prediction", "predictions"))


def apiece(everyone: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    """Guess scores of all files, the first one's too, which stands where the gold does."""
    if not asked.allows("scores", "score") or asked.kind is not None or {"gold", "label"} & asked.options.keys():
        return
    if asked.metric is not None and not isinstance(asked.metric_of("score"), Mean):
        return  # it compares numbers with the gold's
    gold = everyone[0].document
    table = next((one for one in tables(gold) if one.sure == SURE), None)
    if table is None:
        return
    theirs = [found[0] for given in everyone[1:] if (found := [
        ordered for one in tables(given.document) if (ordered := _in_order(one, table)) is not None])]
    if len(theirs) < len(everyone) - 1:
        return
    alone = [(n,) for n, column in enumerate(table.columns) if column.is_key and may_name(table, n)]
    named = sorted(alone, key=lambda of: (not table.column(of[0]).is_printable, table.names[of[0]] != "item",
                                          not is_id(table.names[of[0]])))
    keys = next((of for of in chain(named, naming(table)) if all(
        together(one, of).shared(together(table, of)) > COMMON and together(one, of).is_nearly_key
        for one in theirs)), None)
    is_text = keys is not None and not together(table, keys).is_printable
    if keys is None or (is_text and any(together(one, keys).cells != together(table, keys).cells for one in theirs)):
        return
    of_reader = () if is_text else keys  # rows are numbered where texts that no reader takes as names are in one order
    columns = [n for n, called in enumerate(table.names) if n not in keys and asked.names("score", table.names, called)
               and all(_are_measures(one.column(n)) if _is_bare(table) else _has_scores(one, n)
                       for one in (table, *theirs))
               and ("score" in asked.options or is_measure(called) or _tells((table, *theirs), keys, n))]
    if columns and (last := summary(together(table, keys))) is not None:
        raise gold.error(f"the last row is called {last!r}, as one that sums up the others is; take such rows out of "
                         "all files", item=last)
    items, whole = max(zip(everyone, (table, *theirs), strict=True), key=lambda one: len(together(one[1], keys).values))
    for n in columns:
        for guess in _of_column(Matched(items, whole, of_reader), n, everyone, asked):
            yield replace(guess, sure=min(LIKELY, guess.sure)) if len(columns) > 1 else guess


def _in_order(table: Table, other: Table) -> Table | None:
    """A table with its columns in the order of another one's, which are called alike; None where they are not.

    Of objects in JSON some columns may lack, which not all programs write.
    """
    if table.names == other.names:
        return table if table.header == other.header else None
    if not (table.header and other.header):
        return None
    least = _MOST if "syntax" in table.form else 1
    shared = set(table.names) & set(other.names)
    if len(shared) < least * max(len(table.names), len(other.names)):
        return None
    columns = [table.column(table.names.index(name)).cells if name in shared else [""] * len(table.rows)
               for name in other.names]
    return replace(table, names=other.names, rows=list(zip(*columns, strict=True)), _columns={})


def _is_bare(table: Table) -> bool:
    """Whether values have no name that could tell what they are: below no header, or one for each item in JSON."""
    return not table.header or (table.names_items and len(table.names) == len(("item", "value")))


def _has_scores(table: Table, n: int) -> bool:
    """Whether a column has measurements of items: numbers, called so that they are no gold, or true and false."""
    name = table.names[n].strip().casefold()
    column = table.column(n)
    filled = Column([cell for cell in column.cells if cell.strip().casefold() not in NO_NUMBER])  # of blanks it is told
    is_truth = bool(filled.cells) and {cell.casefold() for cell in filled.values} <= {"true", "false"}
    return (filled.is_numeric or is_truth) and name not in _NO_SCORES and not is_size(name)


def _tells(files: Sequence[Table], keys: tuple[int, ...], n: int) -> bool:
    """Whether a column may be what systems scored: not the same in all files, as what is of items, nor one value."""
    first, *others = (dict(zip(together(one, keys).cells, one.column(n).cells, strict=True)) for one in files)
    return any(cell != first.get(item, cell) for other in others for item, cell in other.items()) and any(
        len(one.column(n).values) > 1 for one in files)


def _are_measures(column: Column) -> bool:
    """Whether values may be what each item scored, as a gold's or a system's: decimals, right and wrong."""
    is_right = any({cell.strip().casefold() for cell in column.values} <= of for of in _RIGHT)
    return is_right or column.is_of_decimals


def _of_column(of: Matched, score: int, everyone: Sequence[Given], asked: Asked) -> Iterator[Guess]:
    table, reader = of.table, of.reader("scores", {"score": score})
    name = table.names[score] if table.header else "score"
    systems = tuple(System(given.name, given.document, reader) for given in everyone)
    higher, lower = directions(table.names[score])
    for better, named in (("higher", higher), ("lower", lower)):
        if asked.options.get("better", better) != better or ((higher or lower) and not named):
            continue
        is_sure = "better" in asked.options or (bool(named) and not (higher and lower))
        yield Guess(of.given.document, of.reader("scores", {}), systems, (
            *of.told,
            f"no gold: {counted(len(systems), 'file')} have scores in {called(table, score)}, each those of a system",
            f"their mean, {better} is better"), SURE if is_sure else LIKELY,
            f"each file has scores of a system in {called(table, score)}, of which {better} ones are better",
            Mean.build({"better": better}),
            answer=f"--option {quote(f'score={name}')} --option better={better}")
