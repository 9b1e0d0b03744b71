"""What a verification finds, and the differences between two versions of the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection

from registry.errors import clipped

Kind = Literal["damaged", "altered", "missing", "surplus", "stale"]

_MOST = 1000  # rows of each side that are looked at to tell what differs


@dataclass(frozen=True)
class Fault:
    """Something that is not as it was put in, or does not follow from it.

    Attributes:
        kind: `damaged`, it cannot be read or computed again; `altered`, `missing` or `surplus`; `stale`, the code of
            another program gave it, and this one's gives something else.
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
    """A row that two versions of some rows do not share: its key, and its other values in each, or None."""

    key: dict[str, Any]
    before: dict[str, Any] | None
    after: dict[str, Any] | None

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


def differences(connection: Connection, before: str, after: str, keys: Sequence[str]) -> Iterator[Difference]:
    """Compare two versions of some rows.

    Args:
        connection: To both.
        before: A SELECT.
        after: One with the same columns.
        keys: The columns that tell rows apart.
    """
    sides = []
    for one, other in ((before, after), (after, before)):
        found = connection.exec_driver_sql(f"FROM (({one}) EXCEPT ALL ({other})) ORDER BY ALL LIMIT {_MOST}")
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for number, row in enumerate(found.mappings()):
            of_key = tuple(row[name] for name in keys)
            rows.setdefault(of_key if of_key not in rows else (*of_key, number), {
                name: value for name, value in row.items() if name not in keys})
        sides.append(rows)
    for of_key in sorted(sides[0].keys() | sides[1].keys(), key=str):
        yield Difference(dict(zip(keys, of_key, strict=False)), sides[0].get(of_key), sides[1].get(of_key))


def summarized(of: str, name: str, found: Sequence[Difference], told: str) -> Iterator[Fault]:
    """One fault for all differences of a thing, by their kinds; `told` says what rows there are."""
    by_kind: dict[Kind, list[str]] = {}
    for kind, sentence in (difference.told for difference in found):
        by_kind.setdefault(kind, []).append(sentence)
    for kind, sentences in by_kind.items():
        n = f"{len(sentences)}{'+' if len(sentences) >= _MOST else ''}"
        such = sentences[0] if len(sentences) == 1 else f"{n} {told}, such as {sentences[0]}"
        yield Fault(kind, of, name, such)
