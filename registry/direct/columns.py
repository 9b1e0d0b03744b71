"""Python's values as columns: one value for every item, with the items' keys where the user gives any.

Dicts and Series of pandas are aligned by their keys; lists, arrays and Series of polars, which have none, by position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.column_names import is_called
from registry.errors import InputError, counted
from registry.importers.base import split_model
from registry.manifest.fields import check_name

_ALIGN = "give dicts, or Series with an index, to align by item"


@dataclass(frozen=True)
class Column:
    """Values of items.

    Attributes:
        values: One for each item.
        keys: Of the items, all different; None: they are known by their position.
    """

    values: Sequence[Any]
    keys: Sequence[Hashable] | None = None

    @property
    def named(self) -> Sequence[Hashable]:
        """The keys, or the positions from 0."""
        return range(len(self.values)) if self.keys is None else self.keys


def column(given: Any, what: str) -> Column:
    """Read a list, an array, a dict or a Series; `what` it is is told in errors.

    Raises:
        InputError: It is none of these, or a key occurs twice.
    """
    if isinstance(given, Mapping):
        return Column(list(given.values()), list(given))
    if isinstance(given, str | bytes) or (not isinstance(given, Iterable) and not hasattr(given, "tolist")):
        raise InputError(f"{what}: {type(given).__name__} is no list, array, dict or Series of values for the items")
    if _is_frame(given):
        if len(given.columns) != 1:
            raise InputError(f"{what}: a frame of {len(given.columns)} columns; choose one of them")
        return column(given[given.columns[0]], what)
    if len(getattr(given, "shape", (0,))) != 1:
        raise InputError(f"{what}: an array of shape {tuple(given.shape)}; expected one value for each item")
    index = getattr(given, "index", None)
    values = given.tolist() if hasattr(given, "tolist") else given.to_list() if hasattr(given, "to_list") else [*given]
    if index is None or not hasattr(index, "tolist"):  # a list's `index` is a method
        return Column(values)
    keys = index.tolist()
    twice = [key for key, n in Counter(keys).items() if n > 1]
    if twice:
        raise InputError(f"{what}: item {twice[0]!r} occurs twice in the index; keep one")
    return Column(values, keys)


def chosen_of(frame: Any, names: Sequence[Any]) -> tuple[Any, list[Any]]:
    """A frame without the columns that are named beside it, and these: gold and clusters can be some of the frame's.

    What is no name of a column is given back as it is.
    """
    columns = list(frame.columns) if _is_frame(frame) else []
    named = [name for name in names if isinstance(name, str) and name in columns]
    found = [frame[name] if isinstance(name, str) and name in columns else name for name in names]
    return (frame[[name for name in columns if name not in named]] if named else frame), found


def _is_frame(given: Any) -> bool:
    return hasattr(given, "columns") and hasattr(given, "shape")


def systems_of(given: Any) -> dict[tuple[str, str | None], Any]:
    """The systems by name and run: of a dict by name or by (name, run), or of a frame with a column for each.

    Raises:
        InputError: It is neither, there is none, or a name is no text.
    """
    if _is_frame(given):
        for name in given.columns:
            if isinstance(name, str) and is_called(name, "gold", "item") and len(given.columns) > 1:
                role, remedy = ("the gold", f"name it, gold={name!r}") if is_called(name, "gold") else (
                    "items", "set it as the index")
                raise InputError(f"column {name!r} has a usual name for {role}; {remedy}, or give a system's column "
                                 "another name")
        given = {name: given[name] for name in given.columns}
    if not isinstance(given, Mapping):
        raise InputError("the systems must have names: a dict such as {'a': [...], 'b': [...]}, or a frame with a "
                         "column for each")
    if not given:
        raise InputError("no system is given; there is nothing to evaluate")
    found: dict[tuple[str, str | None], Any] = {}
    for name, values in given.items():
        system, run = name if isinstance(name, tuple) and len(name) == 2 else (name, None)
        if not isinstance(system, str) or not system.strip():
            raise InputError(f"a system is called {name!r}; a name is text, or (text, run) where it has several runs")
        for part in split_model(system).values():
            try:
                check_name(part)
            except ValueError as error:
                raise InputError(f"system {system!r}: {error}") from None
        found[system, None if run is None else str(run)] = values
    for system, run in found:
        if run is not None and "{" in system:
            raise InputError(f"system {system!r}: a name with braces cannot have runs; rename it")
        if run is not None and (system, None) in found:
            raise InputError(f"system {system!r} is given with runs and without; name all of its runs")
    return found


def aligned(given: Column, items: Column, what: str) -> list[Any]:
    """The values in the order of the items; None where there is none.

    Raises:
        InputError: There are values of other items, or too many or too few.
    """
    n = len(items.values)
    if given.keys is None:
        if len(given.values) != n:
            raise InputError(f"{what} has {counted(len(given.values), 'value')} for {counted(n, 'item')}; what has no "
                             f"index is aligned by position, and must be as long: {_ALIGN}")
        found = list(given.values)
    else:
        by_key = dict(zip(given.keys, given.values, strict=True))
        strange = by_key.keys() - set(items.named)
        if strange:
            first = next(key for key in given.keys if key in strange)
            known = "0, 1, 2, ... where they have no index" if items.keys is None else f"{items.keys[0]!r} and others"
            raise InputError(f"{what} has {counted(len(strange), 'value')} of what is no item, such as {first!r}; "
                             f"items are called {known}: name them alike, or align lists by position")
        found = [by_key.get(key) for key in items.named]
    return [None if is_missing(value) else value for value in found]


def check_complete(values: Sequence[Any], items: Column, what: str, missing: str) -> None:
    """Refuse a system that has no value for some items, unless that is allowed; and one that has none at all.

    Raises:
        InputError: It is such a one.
    """
    n = len(items.values)
    lacking = [key for key, value in zip(items.named, values, strict=True) if value is None]
    if len(lacking) == n:
        raise InputError(f"{what} has no value for any item")
    if lacking and missing == "reject":
        raise InputError(f"{what} has no value for {counted(len(lacking), 'item')} of {n}, such as {lacking[0]!r}; "
                         "missing='worst' counts these as wrong, missing='drop' leaves them out for all systems")


def united(columns: Sequence[Column]) -> Column:
    """The items of several columns that have no gold: all that any has; by position where none has keys."""
    keys = list(dict.fromkeys(key for one in columns if one.keys is not None for key in one.keys))
    return Column([None] * len(keys), keys) if keys else Column([None] * max(len(one.values) for one in columns))


def is_missing(value: Any) -> bool:
    """Whether a value says that there is none: None, nan, or NA and NaT of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and value != value)
