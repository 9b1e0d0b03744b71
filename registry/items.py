"""Items with their gold, and answers of systems, which readers return and metrics receive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from registry.errors import InputError, raise_error


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of a test set.

    Attributes:
        key: The id of the item in every file; unique in its test set.
        gold: The correct answer: a label, a `Tagged` sentence, an `AnswerSet`, ...
        attributes: Groups of the item, such as document or domain.
        line: The line of the item in the gold file, from 1.
    """

    key: str
    gold: Any
    attributes: Mapping[str, str] = field(default_factory=dict)
    line: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a system to the item `key`; `value` has the type of the item's gold."""

    key: str
    value: Any
    line: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A typed span of tokens or characters, from `start` up to but not including `end`, counted from 0.

    Spans that differ only in the system's `score` are equal.
    """

    start: int
    end: int
    type: str
    score: float | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """The id of the span in the database: `first-last`, counted from 1."""
        return f"{self.start + 1}-{self.end}"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence with its spans, as gold or answer; `tokens` is empty if only the spans are known."""

    tokens: tuple[str, ...]
    spans: frozenset[Span]


class Response(NamedTuple):
    """One answer of a set, identified by `key` and `type`.

    `score` is the system's confidence (higher is better); None if there is none, as in the gold.
    """

    key: str
    type: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """A set of answers to one item, unique and sorted by (key, type)."""

    responses: tuple[Response, ...] = ()


Link = tuple[int, int]  # source word and target word, counted from 0


@dataclass(frozen=True, slots=True)
class Links:
    """An alignment of words; only the gold has possible links.

    Links are unique and sorted. Sets would need four times the memory.
    """

    sure: tuple[Link, ...] = ()
    possible: tuple[Link, ...] = ()


Keyed = TypeVar("Keyed", Item, Answer)


def index_by_key(entries: Iterable[Keyed], path: str | Path, remedy: str = "keep one",
           report: Callable[[InputError], None] = raise_error) -> dict[str, Keyed]:
    """Index items or answers by key; of several with the same key, keep the first.

    Raises:
        InputError: Two entries have the same key, unless `report` collects errors; names both lines.
    """
    index: dict[str, Keyed] = {}
    for entry in entries:
        if (first := index.setdefault(entry.key, entry)) is not entry:
            report(make_duplicate_error(entry, first, path, remedy))
    return index


def make_duplicate_error(entry: Item | Answer, first: Item | Answer, path: str | Path,
                   remedy: str = "keep one") -> InputError:
    """Say that `entry` has the key of the `first` one, and what to do about it."""
    return InputError(f"occurs twice, first in line {first.line}; {remedy}", path=path, line=entry.line, item=entry.key,
                      category="duplicate")
