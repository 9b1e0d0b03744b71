"""Readers whose answers bear names from a list that the gold knows: labels, types of spans, relations.

A system that calls a class otherwise than the gold does counts as wrong wherever it is right. So these readers can
count names, and a submission's reader can say which of its names are which of the gold's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Literal

from registry.columns import AnswerColumns
from registry.items import Answer, AnswerSet, Item, Response, Tagged
from registry.readers.base import AnswerSetReader, Reader
from registry.readers.parsing.document import Document
from registry.values import TERSE


class NamedReader(Reader):
    """A reader of answers with names; `named` is what a name is called.

    Its options are about submissions; the gold is read as it is.

    Attributes:
        rename: What the gold calls a name of the submission's: `{ PERSON = "PER" }`.
        fold_case: A name that no answer of the gold has stands for the one that differs from it in upper and lower case
            only, if there is one.
        unknown: What to do about a submission that has no name in common with the gold: `reject` or `accept` it.
    """

    named: ClassVar[str] = "type"

    rename: tuple[tuple[str, str], ...] = field(default=(), kw_only=True, metadata=TERSE)
    fold_case: bool = field(default=False, kw_only=True, metadata=TERSE)
    unknown: Literal["reject", "accept"] = field(default="reject", kw_only=True, metadata=TERSE)

    @abstractmethod
    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Count how often each name stands in values of the gold or of answers."""

    @abstractmethod
    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Give the value of an answer with other names: `name` maps each of them."""

    def declared_names(self) -> tuple[str, ...]:
        """Give the names that are known to be good, whether the gold has them or not."""
        return ()

    def read_answers(self, document: Document) -> Sequence[Answer]:
        """Read one submission, and rename what it names otherwise than the gold."""
        answers = super().read_answers(document)
        return self._named(answers, dict(self.rename)) if self.rename else answers

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:  # noqa: ARG002
        """Give names in other letter case the gold's, where the task wants it; see `Reader.assign`."""
        return self.folded(items, answers)

    def folded(self, items: Sequence[Item], answers: Sequence[Answer]) -> Sequence[Answer]:
        """Give answers the names of the gold that differ from theirs in upper and lower case only."""
        if not self.fold_case or not items or items[0].gold is None:
            return answers
        known = {*self.names(item.gold for item in items), *self.declared_names()}
        given = answers.counts if isinstance(answers, AnswerColumns) else self.names(
            answer.value for answer in answers)
        folded = by_case(known)
        return self._named(answers, {name: folded[name.casefold()] for name in given.keys() - known
                                     if name.casefold() in folded})

    def _named(self, answers: Sequence[Answer], new: dict[str, str]) -> Sequence[Answer]:
        if isinstance(answers, AnswerColumns):
            return answers.renamed(new)
        return [replace(answer, value=self.with_names(answer.value, lambda name: new.get(name, name)))
                for answer in answers]


class SpanReader(NamedReader):
    """What readers of spans share; the names are the spans' types."""

    gives = "span"

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Every span is an answer; its key is `first-last`, positions counted from 1."""
        return [Response(span.key, span.type, span.score) for span in sorted(value.spans)]

    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Count the types of spans; one that is empty is none."""
        return Counter(span.type for value in values for span in value.spans if span.type)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        return Tagged(value.tokens, frozenset(replace(span, type=name(span.type)) for span in value.spans))

    def copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """The spans alone count."""
        return ("gold",) if gold.spans == answer.spans else ()


class NamedSetReader(AnswerSetReader, NamedReader):
    """What readers of sets of answers share; an answer's name is its type, or its key where it has none."""

    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Count types, and the keys of answers without one."""
        return Counter(response.type or response.key for value in values for response in value.responses)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Give answers other types, or other keys where they have no type; the first of equal ones is kept."""
        found: dict[tuple[str, str], Response] = {}
        for key, type_, score in value.responses:
            response = Response(key, name(type_), score) if type_ else Response(name(key), "", score)
            found.setdefault(response[:2], response)
        return AnswerSet(tuple(found[named] for named in sorted(found)))


def by_case(names: Iterable[str]) -> dict[str, str]:
    """The names by what they are without upper and lower case, as far as that tells them apart."""
    names = list(names)
    times = Counter(name.casefold() for name in names)
    return {name.casefold(): name for name in names if times[name.casefold()] == 1}
