"""Items with their gold, and answers of systems: the objects that readers return and metrics receive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from registry.errors import InputError, raise_error


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of a test set, such as a sentence or a question, with its gold answer.

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
    """The output of a system for one item.

    `key` is the id of the item; `value` has the same type as the item's gold; `line` is the line in the file.
    """

    key: str
    value: Any
    line: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A typed span of tokens or characters, such as a named entity.

    A span reaches from `start` up to but not including `end`, counted from 0. Spans that differ only in `score`, the
    system's confidence, are equal.
    """

    start: int
    end: int
    type: str
    score: float | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Id of the span in the database: first and last position from 1, such as `3-5`."""
        return f"{self.start + 1}-{self.end}"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence with typed spans, such as named entities, as gold or as answer.

    `tokens` is empty if only the positions of the spans are known.
    """

    tokens: tuple[str, ...]
    spans: frozenset[Span]


class Response(NamedTuple):
    """One element of an answer that is a set, such as one of several labels.

    `key` and `type` identify it. `score` is the system's confidence (higher is better), or None if the file has none,
    as in the gold.
    """

    key: str
    type: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """An answer that is a set of responses, such as several labels or spans.

    Responses are unique, and sorted by key and type.
    """

    responses: tuple[Response, ...] = ()


Link = tuple[int, int]  # source word and target word, counted from 0


@dataclass(frozen=True, slots=True)
class Links:
    """An alignment between the words of two sentences, as (source, target) pairs.

    The gold has sure links and possible links; a system has only sure links. Links are unique and sorted. They are
    stored as tuples, because sets would need four times the memory.
    """

    sure: tuple[Link, ...] = ()
    possible: tuple[Link, ...] = ()


Keyed = TypeVar("Keyed", Item, Answer)


def index_by_key(entries: Iterable[Keyed], path: str | Path, remedy: str = "keep one",
           report: Callable[[InputError], None] = raise_error) -> dict[str, Keyed]:
    """Map keys to items or answers; if a key occurs twice, the first one counts.

    Args:
        entries: Items or answers.
        path: Path of their file, for error messages.
        remedy: Advice in the error message.
        report: Function that is called with the error for each repeated key; the default raises it.

    Raises:
        InputError: Two entries have the same key; the message names both lines.
    """
    index: dict[str, Keyed] = {}
    for entry in entries:
        if (first := index.setdefault(entry.key, entry)) is not entry:
            report(make_duplicate_error(entry, first, path, remedy))
    return index


def make_duplicate_error(entry: Item | Answer, first: Item | Answer, path: str | Path,
                   remedy: str = "keep one") -> InputError:
    """Make the error that two items or answers have the same key.

    Args:
        entry: The later item or answer.
        first: The earlier item or answer.
        path: Path of the file.
        remedy: Advice in the error message.
    """
    return InputError(f"occurs twice, first in line {first.line}; {remedy}", path=path, line=entry.line, item=entry.key,
                      category="duplicate")
