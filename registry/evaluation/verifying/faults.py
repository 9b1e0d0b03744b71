"""Faults of a registry: differences between stored rows and rows that `verify` derives again.

`set_aside` moves the stored rows to temporary tables, so that derived rows can be written to the original tables.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, select

from registry.errors import clipped
from registry.provenance import environment
from registry.store import models

Kind = Literal["damaged", "altered", "missing", "surplus", "stale", "rounded"]

TOLERANCE = 1e-9  # relative; other processors and versions may change last digits (docs/trust.md has measurements)
_Rows = dict[tuple[Any, ...], dict[str, Any]]  # by their keys; repeated keys get a number
_MAX_ROWS = 1000  # rows of each version that are compared in detail

# A table of the scores that other code than the installed one computed with another value; always empty in a release.
STALE_SCORES = "CREATE TEMP TABLE IF NOT EXISTS stale_score (scoring_id INTEGER, metric_id INTEGER)"

# The last bits of all numbers depend on these, on the code and on Python. The log lists the packages of single metrics
# with their scores, which become stale if a package changes.
_ARITHMETIC = ("platform", "vectors", "blas", "numpy", "scipy")


@dataclass(frozen=True)
class Fault:
    """A stored object that differs from the input or cannot be derived from it.

    Attributes:
        kind: `damaged` (cannot be read or computed again), `altered`, `missing`, `surplus`, `stale` (by other code with
            another result), or `rounded` (by another environment with other last digits).
        of: The kind of object, such as `score`.
        name: The object.
        message: A description of the fault.
    """

    kind: Kind
    of: str
    name: str
    message: str


@dataclass(frozen=True)
class Difference:
    """A row that differs between two versions: its key without the owner, and its values; None if it does not exist."""

    key: dict[str, Any]
    stored: dict[str, Any] | None
    derived: dict[str, Any] | None

    @property
    def deviation(self) -> float:
        """The largest relative difference of its numbers; infinite if other values differ."""
        return measure_deviation(self.stored, self.derived)

    @property
    def description(self) -> tuple[Kind, str]:
        """The kind of the difference, and a sentence about it."""
        place = ", ".join(f"{name} {value}" for name, value in self.key.items())
        if self.stored is None:
            return "missing", f"the row of {place}"
        if self.derived is None:
            return "surplus", f"the row of {place}"
        column = next(name for name in self.stored if self.stored[name] != self.derived[name])
        stored, derived = (clipped(str(values[column])) for values in (self.stored, self.derived))
        return "altered", f"{column}{place and f' of {place}'} is {stored}, and {derived} when derived again"


def find_differences(connection: Connection, stored: str, derived: str,
                     keys: Sequence[str]) -> dict[Any, list[Difference]]:
    """Compare two versions of some rows; return the differences by their owner.

    Args:
        connection: Connection to both versions.
        stored: A SELECT.
        derived: A SELECT with the same columns.
        keys: Columns that identify rows; the first identifies the owner.
    """
    differing = f"""
        SELECT * EXCLUDE (side), sum(side)::BIGINT AS copies
        FROM ((SELECT *, 1 AS side FROM ({stored})) UNION ALL (SELECT *, -1 FROM ({derived})))
        GROUP BY ALL HAVING copies <> 0"""  # noqa: S608
    if connection.exec_driver_sql(f"{differing} LIMIT 1").first() is None:  # the usual case; the rest is slow
        return {}
    order = ", ".join(f'"{name}"' for name in keys)
    rows = connection.exec_driver_sql(f"""
        SELECT * FROM ({differing})
        QUALIFY row_number() OVER (PARTITION BY copies > 0 ORDER BY {order}) <= {_MAX_ROWS} ORDER BY ALL""")  # noqa: S608
    sides: tuple[_Rows, _Rows] = ({}, {})
    for row in rows.mappings():
        key = tuple(row[name] for name in keys)
        values = {name: value for name, value in row.items() if name not in (*keys, "copies")}
        side = sides[row["copies"] < 0]
        for _ in range(min(abs(row["copies"]), _MAX_ROWS)):
            side[key if key not in side else (*key, len(side))] = values
    by_owner: dict[Any, list[Difference]] = {}
    for key in sorted(sides[0].keys() | sides[1].keys(), key=str):
        by_owner.setdefault(key[0], []).append(Difference(
            dict(zip(keys[1:], key[1:], strict=False)), sides[0].get(key), sides[1].get(key)))
    return by_owner


def measure_deviation(stored: Any, derived: Any) -> float:
    """Return the largest relative difference of fractions in two JSON values; infinite if other values differ.

    >>> measure_deviation({"p": [0.5, None]}, {"p": [0.25, None]}), measure_deviation({"n": 3}, {"n": 4})
    (0.5, inf)
    >>> measure_deviation([1.0], [1.0, 2.0])
    inf
    """
    if isinstance(stored, float) and isinstance(derived, float) and math.isfinite(stored) and math.isfinite(derived):
        return abs(stored - derived) / max(abs(stored), abs(derived)) if stored != derived else 0.0
    if isinstance(stored, dict) and isinstance(derived, dict) and stored.keys() == derived.keys():
        return max((measure_deviation(stored[key], derived[key]) for key in stored), default=0.0)
    if isinstance(stored, list) and isinstance(derived, list) and len(stored) == len(derived):
        return max(map(measure_deviation, stored, derived), default=0.0)
    return 0.0 if stored == derived and type(stored) is type(derived) else math.inf


def summarize(object_kind: str, name: str, differences: Sequence[Difference], *, elsewhere: str) -> Iterator[Fault]:
    """Yield one fault for each kind of differences of an object.

    Args:
        object_kind: The kind of object.
        name: The object.
        differences: Its differences.
        elsewhere: How the environment that computed the object differs from this one; empty if it does not.
    """
    by_kind: dict[Kind, list[str]] = {}
    for difference in differences:
        kind, sentence = difference.description
        by_kind.setdefault("rounded" if elsewhere and difference.deviation <= TOLERANCE else kind, []).append(sentence)
    for kind, sentences in by_kind.items():
        n = f"{len(sentences)}{'+' if len(sentences) >= _MAX_ROWS else ''}"
        message = sentences[0] if len(sentences) == 1 else f"{n} rows, such as {sentences[0]}"
        yield Fault(kind, object_kind, name, f"{message} (computed with {elsewhere})" if kind == "rounded" else message)


def set_aside(connection: Connection, tables: Iterable[str]) -> None:
    """Move the rows of tables in a copy of the database to temporary tables with the prefix `stored_`."""
    for table in tables:
        connection.exec_driver_sql(f'CREATE TEMP TABLE "stored_{table}" AS FROM "{table}"')
        connection.exec_driver_sql(f'DELETE FROM "{table}"')  # noqa: S608


def find_other_environments(connection: Connection) -> dict[int, str]:
    """Return how the environment of each run differs from this one; without runs in an equivalent environment.

    Only settings that affect the last bits of numbers count; the versions of other packages do not.
    """
    current, differences = environment(), dict[int, str]()
    for run in connection.execute(select(models.run)):
        try:
            stored = json.loads(run.environment)
        except ValueError:  # `verify_log` reports the altered run
            stored = {}
        if differing := [f"{name} {recorded or 'unknown'} (here {now or 'unknown'})"
                         for name, recorded, now in _pair_settings(stored, current) if recorded != now]:
            differences[int(run.run_id)] = ", ".join(differing)
    return differences


def _pair_settings(stored: dict[str, str], current: dict[str, str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each setting that numbers depend on, with its stored and its current value."""
    yield "evalregistry's code", stored.get("code"), current["code"]
    yield "python", _drop_patch(stored.get("python", "")), _drop_patch(current["python"])
    for name in _ARITHMETIC:
        yield name, stored.get(name), current.get(name)


def _drop_patch(python: str) -> str:
    return ".".join(python.split(".")[:2])
