"""What the columns of one table of all systems are: names of items, numbers, words, flags, or the gold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from registry.errors import counted
from registry.evaluation.ingest.remarks import COLUMN_NAMES
from registry.guessing.guess import Asked, Given
from registry.guessing.looks import DOCUMENTS, Column, Table, is_number
from registry.guessing.tables.keys import Matched, counts, is_id, naming, summary, together
from registry.readers import Document

GOLDS = frozenset(("gold", "truth", "true", "target", "reference", "y_true", "gold_label", "ground_truth", "label",
                   "labels", "human", "correct", "answer", "gold_score", "actual", "actuals", "expected",
                   "experimental", "ground truth", "groundtruth", "gt", "measured", "obs", "observation", "observed",
                   "y_test"))
_RIGHT = frozenset(("actual", "adjudicated", "annotated", "correct", "expected", "experimental", "expert", "gold",
                    "ground", "human", "manual", "measured", "observed", "reference", "target", "true"))
_VALUE = frozenset(("annotation", "annotations", "answer", "class", "label", "labels", "score", "sentiment", "tag",
                    "truth", "value", "values"))
_PARTS = 2  # columns: documents, say, and their sentences
_FLAGS = ({"true", "false"}, {"yes", "no"}, {"0", "1"}, {"y", "n"}, {"t", "f"})


@dataclass(frozen=True)
class Roles(Matched):
    """A table of all systems: which of its columns name the items, hold numbers, words, or flags of two values."""

    numbers: tuple[int, ...]
    words: tuple[int, ...]
    flags: tuple[int, ...]


def is_gold(name: str) -> bool:
    """Whether a column is called as one of right answers: `gold`, `y_true`, `Annotated label`, `Human score`.

    >>> [name for name in ("Gold label", "Annotated label", "Human score", "human-7b", "True") if is_gold(name)]
    ['Gold label', 'Annotated label', 'Human score', 'True']
    """
    words = re.findall("[a-z]+|[0-9]+", name.casefold())
    return name.casefold() in GOLDS or (len(words) == 2 and words[0] in _RIGHT and words[1] in _VALUE)


def roles_of(document: Document, table: Table, asked: Asked) -> Roles:
    """What the columns of a table are."""
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
    words = tuple(n for n in rest if n not in numbers and n not in flags)
    return Roles(Given("", document), table, keys, numbers, words, flags)


def _keys(table: Table, flags: Sequence[int]) -> tuple[int, ...]:
    """The column that names items, or those that do together; none where the rows have to be numbered."""
    places = range(len(table.names))
    unique = [n for n in places if table.column(n).is_key and table.column(n).is_printable]
    words = [n for n in places if n not in flags and not table.column(n).is_mostly_numeric
             and table.column(n).is_printable]
    of_words = [n for n in unique if n in words and not is_gold(table.names[n])]
    named = [n for n in unique if table.names[n].casefold().strip("# ") in COLUMN_NAMES | {"", "index"} - GOLDS
             or is_id(table.names[n])]
    counting = [n for n in unique[:1] if n == 0 and _counts(table.column(0).cells)]
    if found := named or of_words or counting:
        return (found[0],)
    parts = [of for of in naming(table) if together(table, of).is_key
             and not any(table.names[n].casefold() in GOLDS for n in of)
             and (any(table.names[n].casefold() in COLUMN_NAMES | DOCUMENTS or is_id(table.names[n]) for n in of)
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


def _counts(cells: Sequence[str]) -> bool:
    """Whether cells are numbers one after the other, but for a last one that is called as a mean of the others."""
    items = cells[:-1] if summary(Column(list(cells))) is not None else cells
    numbers = [float(cell) for cell in items if is_number(cell)]
    return len(numbers) == len(items) > 0 and numbers == [numbers[0] + n for n in range(len(numbers))]


def reading(roles: Roles, names: Sequence[str]) -> list[str]:
    """Say how a table is read, and of which systems."""
    shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
    return [*roles.told, f"a column for each of {counted(len(names), 'system')}: {shown}"]


def passed(table: Table, columns: Sequence[int]) -> list[str]:
    """Say which columns are not looked at, and what follows if one of them names documents."""
    if not columns:
        return []
    names = [table.names[n] for n in columns]
    clusters = [f"; items of one {name} are tested as if they were independent: a gold file of its own with this "
                "column makes it the unit" for name in names if name.casefold() in DOCUMENTS][:1]
    return [f"passed over: {', '.join(names)}{''.join(clusters)}"]
