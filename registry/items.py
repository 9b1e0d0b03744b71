"""What readers return and metrics take: items with their gold, and a system's answers, joined by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from registry.errors import InputError, raising


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of a test set.

    Attributes:
        key: What names it in every file; unique in its test set.
        gold: What a metric compares an answer with: a label, a `Tagged` sentence, an `AnswerSet`.
        attributes: What groups it, such as document or domain.
        line: Where it stands in the gold file, from 1.
    """

    key: str
    gold: Any
    attributes: Mapping[str, str] = field(default_factory=dict)
    line: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system says of the item `key`; `value` is of the same kind as the item's gold."""

    key: str
    value: Any
    line: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A typed span of tokens or characters, from `start` up to but not including `end`, counted from 0.

    The `score` that a system gives it, if any, makes no difference to what it is.
    """

    start: int
    end: int
    type: str
    score: float | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """What names it in the database: `first-last`, counted from 1."""
        return f"{self.start + 1}-{self.end}"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence with its spans: what readers of tagged text give as gold and as answers.

    There are no tokens where only the spans are known.
    """

    tokens: tuple[str, ...]
    spans: frozenset[Span]


class Response(NamedTuple):
    """One answer of a set: what `key` and `type` are is the answer itself, `score` is how much the system likes it.

    Higher is better; None is an answer without a score. The answers of the gold have none.
    """

    key: str
    type: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """A set of answers to one item, distinct in (key, type), in this order whatever the order of the file."""

    responses: tuple[Response, ...] = ()


Link = tuple[int, int]  # of a source to a target word, both counted from 0


@dataclass(frozen=True, slots=True)
class Links:
    """An alignment of words; only the gold has links that are merely possible.

    Each link is there once, and links are in order: as sets they would take four times the memory.
    """

    sure: tuple[Link, ...] = ()
    possible: tuple[Link, ...] = ()


Keyed = TypeVar("Keyed", Item, Answer)


def by_key(entries: Iterable[Keyed], path: str | Path, remedy: str = "keep one",
           report: Callable[[InputError], None] = raising) -> dict[str, Keyed]:
    """Index items or answers by their key, the first of several with the same one.

    Raises:
        InputError: Two entries have the same key, and nobody wants it reported; names both lines.
    """
    found: dict[str, Keyed] = {}
    for entry in entries:
        if (first := found.setdefault(entry.key, entry)) is not entry:
            report(standing_twice(entry, first, path, remedy))
    return found


def standing_twice(entry: Item | Answer, first: Item | Answer, path: str | Path,
                   remedy: str = "keep one") -> InputError:
    """Say that `entry` has the key of the `first` one, and what to do about it."""
    return InputError(f"occurs twice, first in line {first.line}; {remedy}", path=path, line=entry.line, item=entry.key,
                      category="duplicate")
