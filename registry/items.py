"""Items with their gold, and answers of systems: the objects that readers return and metrics receive."""

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

    `score` is the system's confidence (higher is better); None if the file has no score, as in the gold.
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
    """An alignment of words: sure links, and in the gold also possible links.

    Links are unique and sorted. They are tuples, because sets would need four times the memory.
    """

    sure: tuple[Link, ...] = ()
    possible: tuple[Link, ...] = ()


Keyed = TypeVar("Keyed", Item, Answer)


def index_by_key(entries: Iterable[Keyed], path: str | Path, remedy: str = "keep one",
           report: Callable[[InputError], None] = raise_error) -> dict[str, Keyed]:
    """Index items or answers by key. If several have the same key, only the first is kept.

    Raises:
        InputError: Two entries have the same key; the message names both lines. If `report` collects errors, it gets
            the error instead.
    """
    index: dict[str, Keyed] = {}
    for entry in entries:
        if (first := index.setdefault(entry.key, entry)) is not entry:
            report(make_duplicate_error(entry, first, path, remedy))
    return index


def make_duplicate_error(entry: Item | Answer, first: Item | Answer, path: str | Path,
                   remedy: str = "keep one") -> InputError:
    """Return the error that `entry` has the same key as the earlier entry `first`; `remedy` says what to do."""
    return InputError(f"occurs twice, first in line {first.line}; {remedy}", path=path, line=entry.line, item=entry.key,
                      category="duplicate")
