"""Conversion of Python values to columns, which have one value per item and possibly the keys of the items.

Dicts and pandas Series are aligned by their keys. Lists, arrays and polars Series have no keys, so they are aligned by
position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.column_names import find_columns, has_role, is_measure
from registry.errors import InputError, counted
from registry.manifest.fields import check_name
from registry.manifest.naming import split_model
from registry.missing import MissingPolicy

_ALIGN = "pass one value per item, or pass dicts or Series with an index"


@dataclass(frozen=True)
class Column:
    """Values of the items of a test set, for example the answers of one system.

    Attributes:
        values: One value per item.
        keys: The keys of the items, without duplicates; None if positions identify the items.
    """

    values: Sequence[Any]
    keys: Sequence[Hashable] | None = None

    @property
    def item_keys(self) -> Sequence[Hashable]:
        """Keys of the items; positions 0, 1, 2, ... if the items have no keys."""
        return range(len(self.values)) if self.keys is None else self.keys


def read_column(given: Any, owner: str) -> Column:
    """Convert a list, array, dict or Series with one value per item to a `Column`.

    The keys of a dict and the index of a pandas Series become the keys of the items.

    Args:
        given: The values.
        owner: The beginning of error messages, such as `the gold` or `system 'a'`.

    Raises:
        InputError: The values have another type, or a key occurs twice.
    """
    if isinstance(given, Mapping):
        return Column(list(given.values()), list(given))
    if isinstance(given, str | bytes) or (not isinstance(given, Iterable) and not hasattr(given, "tolist")):
        raise InputError(f"{owner}: expected a list, array, dict or Series with one value per item, not "
                         f"{type(given).__name__}")
    if _is_frame(given):
        if len(given.columns) != 1:
            raise InputError(f"{owner}: the data frame has {len(given.columns)} columns; pass one column")
        return read_column(given[given.columns[0]], owner)
    if len(getattr(given, "shape", (0,))) != 1:
        raise InputError(f"{owner}: the array has the shape {tuple(given.shape)}; expected one dimension, with one "
                         "value for each item")
    index = getattr(given, "index", None)
    values = given.tolist() if hasattr(given, "tolist") else given.to_list() if hasattr(given, "to_list") else [*given]
    if index is None or not hasattr(index, "tolist"):  # a list's `index` is a method
        return Column(values)
    keys = index.tolist()
    repeated = [key for key, n in Counter(keys).items() if n > 1]
    if repeated:
        raise InputError(f"{owner}: item {repeated[0]!r} occurs twice in the index; keep one")
    return Column(values, keys)


def select_columns(frame: Any, names: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Separate named columns, such as the gold, from the rest of a data frame.

    Args:
        frame: The data frame. Any other object is returned unchanged.
        names: Names of columns. Entries that are no names of columns, such as lists of values, are returned unchanged.

    Returns:
        The frame without the named columns; and a list with the column for each name.
    """
    columns = list(frame.columns) if _is_frame(frame) else []
    named = [name for name in names if isinstance(name, str) and name in columns]
    values = [frame[name] if isinstance(name, str) and name in columns else name for name in names]
    return (frame[[name for name in columns if name not in named]] if named else frame), values


def _is_frame(given: Any) -> bool:
    return hasattr(given, "columns") and hasattr(given, "shape")


def read_systems(given: Any) -> dict[tuple[str, str | None], Any]:
    """Return the values of each system by (name, run).

    The run is None if a system has only one.

    Args:
        given: A dict, or a data frame with one column per system. The keys or column names are the names of the
            systems, or tuples (name, run).

    Raises:
        InputError: `given` has another type or is empty, or a name is invalid.
    """
    if _is_frame(given):
        _refuse_long_form(given)
        for name in given.columns:
            if isinstance(name, str) and has_role(name, "gold", "item") and len(given.columns) > 1:
                role, remedy = ("the gold", f"name it, gold={name!r}") if has_role(name, "gold") else (
                    "items", "set it as the index")
                raise InputError(f"column {name!r} seems to be {role}, not a system; {remedy}, or rename the column "
                                 "if it is a system")
        given = {name: given[name] for name in given.columns}
    if not isinstance(given, Mapping):
        raise InputError("the systems have no names; pass a dict such as {'a': [...], 'b': [...]}, or a data frame "
                         "with a column for each system")
    if not given:
        raise InputError("there is no system to evaluate; pass one or more systems")
    systems: dict[tuple[str, str | None], Any] = {}
    for name, values in given.items():
        system, run = name if isinstance(name, tuple) and len(name) == 2 else (name, None)
        if not isinstance(system, str) or not system.strip():
            raise InputError(f"the name of a system is {name!r}; expected text, or (text, run) for a system with "
                             "several runs")
        for part in split_model(system).values():
            try:
                check_name(part)
            except ValueError as error:
                raise InputError(f"system {system!r}: {error}") from None
        systems[system, None if run is None else str(run)] = values
    for system, run in systems:
        if run is not None and "{" in system:
            raise InputError(f"system {system!r}: a name with braces cannot have runs; rename it")
        if run is not None and (system, None) in systems:
            raise InputError(f"system {system!r} occurs both with and without a run; write (name, run) for all its "
                             "runs")
    return systems


def _refuse_long_form(frame: Any) -> None:
    """Refuse a frame with one row for each item and system; the message shows how to convert it.

    Raises:
        InputError: A column names systems, and a column or the index names items.
    """
    columns = [name for name in frame.columns if isinstance(name, str)]
    index = getattr(frame, "index", None)  # of pandas; polars has none
    has_repeated_index = index is not None and not index.is_unique
    systems = [name for name in find_columns(columns, "system") if all(isinstance(x, str) for x in frame[name])]
    items = [name for name in find_columns(columns, "item") if name not in systems]
    if not systems or not (items or has_repeated_index):
        return
    system = systems[0]
    test_sets = [name for name in find_columns(columns, "group") if name != system and len(set(frame[name])) > 1][:1]
    keys = [*test_sets, items[0] if items else index.name or "index"]  # type: ignore[union-attr]
    others = [name for name in columns if name not in (system, *keys)]
    values = ([*filter(is_measure, others), *find_columns(others, "answer"), *others] or ["score"])[0]
    rows = "frame" if items else "frame.reset_index()"
    shown = repr(keys[0] if len(keys) == 1 else keys)
    call = (f"{rows}.pivot(index={shown}, columns={system!r}, values={values!r})" if index is not None else
            f"frame.pivot(on={system!r}, index={shown}, values={values!r}).drop({shown})")
    average = f", and average=True for the average over {test_sets[0]!r}" if test_sets and index is not None else ""
    raise InputError(f"column {system!r} names systems, so the frame has one row for each item and system; pass a "
                     f"column for each system: {call}{average}")


def align(given: Column, items: Column, owner: str) -> list[Any]:
    """Return values in the order of the items.

    Values with keys are matched by key, other values by position. An item without a value gets None.

    Args:
        given: The values.
        items: The items.
        owner: The beginning of error messages, such as `system 'a'`.

    Raises:
        InputError: A key is not the key of an item, or values without keys have another length than the items.
    """
    n = len(items.values)
    if given.keys is None:
        if len(given.values) != n:
            raise InputError(f"{owner} has {counted(len(given.values), 'value')} for {counted(n, 'item')}; {_ALIGN}")
        values = list(given.values)
    else:
        by_key = dict(zip(given.keys, given.values, strict=True))
        unknown_keys = by_key.keys() - set(items.item_keys)
        if unknown_keys:
            first = next(key for key in given.keys if key in unknown_keys)
            item_names = f"such as {items.keys[0]!r}" if items.keys is not None else (
                "0, 1, 2, ..., because the gold has no index")
            raise InputError(f"{owner} has {counted(len(unknown_keys), 'value')} of unknown items, such as {first!r} "
                             f"(the items have names {item_names}); use the same item names, or pass lists in the same "
                             "order")
        values = [by_key.get(key) for key in items.item_keys]
    return [None if is_missing(value) else value for value in values]


def check_complete(values: Sequence[Any], items: Column, owner: str, missing: MissingPolicy) -> None:
    """Check that no values are missing, unless the policy allows missing values.

    Args:
        values: The values in the order of the items; None if missing.
        items: The items.
        owner: The beginning of error messages, such as `system 'a'`.
        missing: The policy for missing values.

    Raises:
        InputError: All values are missing, or some are and the policy is `reject`.
    """
    n = len(items.values)
    missing_keys = [key for key, value in zip(items.item_keys, values, strict=True) if value is None]
    if len(missing_keys) == n:
        raise InputError(f"{owner} has no value for any item")
    if missing_keys and missing is MissingPolicy.REJECT:
        raise InputError(f"{owner} has no value for {counted(len(missing_keys), 'item')} of {n}, such as "
                         f"{missing_keys[0]!r}; add the values, or set missing='worst' (count these items as wrong) or "
                         "missing='drop' (drop these items for all systems)")


def merge_items(columns: Sequence[Column]) -> Column:
    """Collect the items of several columns into a column that has no values yet.

    If no column has keys, the number of items is the length of the longest column.
    """
    keys = list(dict.fromkeys(key for column in columns if column.keys is not None for key in column.keys))
    return Column([None] * len(keys), keys) if keys else Column([None] * max(len(column.values) for column in columns))


def is_missing(value: Any) -> bool:
    """Return True if a value is None, nan, or NA or NaT of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and value != value)
