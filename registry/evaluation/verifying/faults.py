"""What a verification finds: the differences between stored rows and the same made anew, and which need not be none.

Rows are made anew beside the stored ones, whose tables are set aside.
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

TOLERANCE = 1e-9  # relative: what other processors and versions may change (docs/trust.md says what they do change)
Rows = dict[tuple[Any, ...], dict[str, Any]]  # by their keys, to which those that stand again add a number
_MOST = 1000  # rows of each side that are looked at to tell what differs

# A table of the scores that other code than this program's gave another value; in a release nobody looks for any.
STALE_SCORES = "CREATE TEMP TABLE IF NOT EXISTS stale_score (scoring_id INTEGER, metric_id INTEGER)"

# What the last bits of all numbers depend on, next to the code and Python. The packages that a single metric uses are
# in the log's entry of its scores, and make these stale.
_ARITHMETIC = ("platform", "vectors", "blas", "numpy", "scipy")


@dataclass(frozen=True)
class Fault:
    """Something that is not as it was put in, or does not follow from it.

    Attributes:
        kind: `damaged`, it cannot be read or computed again; `altered`, `missing` or `surplus`; `stale`, the code of
            another program gave it, and this one's gives something else; `rounded`, it was computed elsewhere, and its
            last digits are others here, which is no fault.
        of: What kind of thing it is.
        name: Which one.
        message: What is wrong.
    """

    kind: Kind
    of: str
    name: str
    message: str


@dataclass(frozen=True)
class Difference:
    """A row that two versions of some rows do not share: its key in what owns it, and its other values, or None."""

    key: dict[str, Any]
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def deviation(self) -> float:
        """How far its numbers are apart, relative to the larger; infinite where more than numbers differs."""
        return deviation(self.before, self.after)

    @property
    def told(self) -> tuple[Kind, str]:
        """What kind of difference it is, and one sentence on it."""
        where = ", ".join(f"{name} {value}" for name, value in self.key.items())
        if self.before is None:
            return "missing", f"the row of {where}"
        if self.after is None:
            return "surplus", f"the row of {where}"
        column = next(name for name in self.before if self.before[name] != self.after[name])
        said, derived = (clipped(str(of[column])) for of in (self.before, self.after))
        return "altered", f"{column}{where and f' of {where}'} is {said}, and {derived} when derived again"


def differences(connection: Connection, before: str, after: str, keys: Sequence[str]) -> dict[Any, list[Difference]]:
    """Compare two versions of some rows; gives what differs by what it belongs to, the first of the keys.

    Args:
        connection: To both.
        before: A SELECT.
        after: One with the same columns.
        keys: The columns that tell rows apart.
    """
    differing = f"""
        SELECT * EXCLUDE (side), sum(side)::BIGINT AS copies
        FROM ((SELECT *, 1 AS side FROM ({before})) UNION ALL (SELECT *, -1 FROM ({after})))
        GROUP BY ALL HAVING copies <> 0"""  # noqa: S608
    if connection.exec_driver_sql(f"{differing} LIMIT 1").first() is None:  # as mostly; all that follows takes longer
        return {}
    order = ", ".join(f'"{name}"' for name in keys)
    found = connection.exec_driver_sql(f"""
        SELECT * FROM ({differing})
        QUALIFY row_number() OVER (PARTITION BY copies > 0 ORDER BY {order}) <= {_MOST} ORDER BY ALL""")  # noqa: S608
    sides: tuple[Rows, Rows] = ({}, {})
    for row in found.mappings():
        of_key = tuple(row[name] for name in keys)
        values = {name: value for name, value in row.items() if name not in (*keys, "copies")}
        of_side = sides[row["copies"] < 0]
        for _ in range(min(abs(row["copies"]), _MOST)):
            of_side[of_key if of_key not in of_side else (*of_key, len(of_side))] = values
    owned: dict[Any, list[Difference]] = {}
    for of_key in sorted(sides[0].keys() | sides[1].keys(), key=str):
        owned.setdefault(of_key[0], []).append(Difference(
            dict(zip(keys[1:], of_key[1:], strict=False)), sides[0].get(of_key), sides[1].get(of_key)))
    return owned


def deviation(before: Any, after: Any) -> float:
    """How far the numbers in two JSON values are apart, relative to the larger of each two.

    Infinite where they differ in anything but fractions.

    >>> deviation({"p": [0.5, None]}, {"p": [0.25, None]}), deviation({"n": 3}, {"n": 4}), deviation([1.0], [1.0, 2.0])
    (0.5, inf, inf)
    """
    if isinstance(before, float) and isinstance(after, float) and math.isfinite(before) and math.isfinite(after):
        return abs(before - after) / max(abs(before), abs(after)) if before != after else 0.0
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return max((deviation(before[key], after[key]) for key in before), default=0.0)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return max(map(deviation, before, after), default=0.0)
    return 0.0 if before == after and type(before) is type(after) else math.inf


def summarized(of: str, name: str, found: Sequence[Difference], *, elsewhere: str) -> Iterator[Fault]:
    """One fault for all differences of a thing, by their kinds.

    Args:
        of: What kind of thing it is.
        name: Which one.
        found: The differences.
        elsewhere: How the environment that computed the thing differs from this one; empty if it does not.
    """
    by_kind: dict[Kind, list[str]] = {}
    for difference in found:
        kind, sentence = difference.told
        by_kind.setdefault("rounded" if elsewhere and difference.deviation <= TOLERANCE else kind, []).append(sentence)
    for kind, sentences in by_kind.items():
        n = f"{len(sentences)}{'+' if len(sentences) >= _MOST else ''}"
        such = sentences[0] if len(sentences) == 1 else f"{n} rows, such as {sentences[0]}"
        yield Fault(kind, of, name, f"{such} (computed with {elsewhere})" if kind == "rounded" else such)


def set_aside(connection: Connection, tables: Iterable[str]) -> None:
    """Empty tables, in a copy of the database; what they held is in temporary ones, `stored_` and the name."""
    for table in tables:
        connection.exec_driver_sql(f'CREATE TEMP TABLE "stored_{table}" AS FROM "{table}"')
        connection.exec_driver_sql(f'DELETE FROM "{table}"')  # noqa: S608


def runs_elsewhere(connection: Connection) -> dict[int, str]:
    """Return how the environment of each run differs from this one, without the runs whose numbers must be the same.

    Only the environment that decides the last bits of numbers counts: other packages may have any version.
    """
    here, found = environment(), dict[int, str]()
    for run in connection.execute(select(models.run)):
        try:
            there = json.loads(run.environment)
        except ValueError:  # altered, as the log's chain tells
            there = {}
        if differing := [f"{name} {before or 'unknown'} (here {now or 'unknown'})"
                         for name, before, now in _settings(there, here) if before != now]:
            found[int(run.run_id)] = ", ".join(differing)
    return found


def _settings(there: dict[str, str], here: dict[str, str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each setting that numbers depend on, with its value in a run and here."""
    yield "evalregistry's code", there.get("code"), here["code"]
    yield "python", _minor(there.get("python", "")), _minor(here["python"])
    for name in _ARITHMETIC:
        yield name, there.get(name), here.get(name)


def _minor(python: str) -> str:
    """Return the version of Python without that of its bug fixes."""
    return ".".join(python.split(".")[:2])
