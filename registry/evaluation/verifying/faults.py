"""Differences between stored rows and rows that `verify` recomputes.

`set_aside` moves the stored rows to temporary tables. Then `verify` writes the recomputed rows to the original tables.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, select

from registry.errors import clip
from registry.provenance import environment
from registry.store import models

Kind = Literal["damaged", "altered", "missing", "surplus", "stale", "rounded"]

TOLERANCE = 1e-9  # relative; other processors and versions may change last digits (docs/trust.md has measurements)
_Rows = dict[tuple[Any, ...], dict[str, Any]]  # rows by key; a number is added to a key that occurs again
_MAX_ROWS = 1000  # rows of each version that are compared in detail

# A table of the scores that another version of the code computed, with another value; always empty in a release.
STALE_SCORES = "CREATE TEMP TABLE IF NOT EXISTS stale_score (scoring_id INTEGER, metric_id INTEGER)"

# The last bits of all numbers depend on these settings, on the code and on Python. Packages of single metrics are not
# among them: the log lists their versions with the scores, and other versions make scores stale.
_ARITHMETIC = ("platform", "vectors", "blas", "numpy", "scipy")


@dataclass(frozen=True)
class Fault:
    """A stored object that differs from its expected content.

    Attributes:
        kind: `damaged` (it cannot be read or recomputed), `altered`, `missing`, `surplus`, `stale` (another version of
            the code computed another result), or `rounded` (another environment computed other last digits).
        of: The kind of the object, such as `score`.
        name: The name of the object.
        message: A description of the fault.
    """

    kind: Kind
    of: str
    name: str
    message: str


@dataclass(frozen=True)
class Difference:
    """A database row that differs between the stored and the recomputed data.

    Attributes:
        key: Columns that identify the row within its comparison or submission, with their values.
        stored: The stored values; None if the row is not stored.
        derived: The recomputed values; None if the row was not recomputed.
    """

    key: dict[str, Any]
    stored: dict[str, Any] | None
    derived: dict[str, Any] | None

    @property
    def deviation(self) -> float:
        """The largest relative difference of floats; infinite if other values differ."""
        return measure_deviation(self.stored, self.derived)

    @property
    def description(self) -> tuple[Kind, str]:
        """The kind of the difference, such as `altered`, and a sentence about it."""
        place = ", ".join(f"{name} {value}" for name, value in self.key.items())
        if self.stored is None:
            return "missing", f"the row of {place}"
        if self.derived is None:
            return "surplus", f"the row of {place}"
        column = next(name for name in self.stored if self.stored[name] != self.derived[name])
        stored, derived = (clip(str(values[column])) for values in (self.stored, self.derived))
        return "altered", f"{column}{place and f' of {place}'} is {stored}, but the recomputed value is {derived}"


def find_differences(connection: Connection, stored: str, derived: str,
                     keys: Sequence[str]) -> dict[Any, list[Difference]]:
    """Compare stored rows with recomputed rows, and return the rows that differ.

    Args:
        connection: Connection to the database with all rows.
        stored: A SELECT of the stored rows.
        derived: A SELECT of the recomputed rows, with the same columns.
        keys: Columns that identify a row. The first one identifies the owner of several rows, such as a comparison with
            many pairs.

    Returns:
        The differences by the value of the first key.
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
    """Return the largest relative difference between the floats in two JSON values.

    The result is infinite if anything else differs, such as whole numbers or texts.

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
    """Summarize the differing rows of an object: yield one fault for each kind.

    The kinds are `missing`, `surplus`, `altered` and `rounded` (only last digits differ).

    Args:
        object_kind: The kind of the object, such as `score`.
        name: The name of the object.
        differences: The differences of the object's rows.
        elsewhere: How this environment differs from the one that computed the object; empty if it does not differ.
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
    """Move all rows of some tables to temporary tables, such as `stored_score`.

    The connection must be to a copy of the database, because the original tables are empty afterwards.
    """
    for table in tables:
        connection.exec_driver_sql(f'CREATE TEMP TABLE "stored_{table}" AS FROM "{table}"')
        connection.exec_driver_sql(f'DELETE FROM "{table}"')  # noqa: S608


def find_other_environments(connection: Connection) -> dict[int, str]:
    """Describe how the environments of earlier commands differ from this environment.

    Only settings that affect the last bits of all numbers count, such as the platform and the version of numpy.

    Returns:
        The descriptions by `run_id` of the command; commands without differences are absent.
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
    """Yield settings that affect last bits of numbers, such as the numpy version.

    Args:
        stored: The environment of an earlier command.
        current: The current environment.

    Yields:
        The name of the setting, its stored value, and its current value.
    """
    yield "evalregistry's code", stored.get("code"), current["code"]
    yield "python", _drop_patch(stored.get("python", "")), _drop_patch(current["python"])
    for name in _ARITHMETIC:
        yield name, stored.get(name), current.get(name)


def _drop_patch(python: str) -> str:
    return ".".join(python.split(".")[:2])
