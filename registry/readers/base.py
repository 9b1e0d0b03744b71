"""Base classes of readers: a reader is a format with its options, and turns text into items and answers.

A system that spells a class differently from the gold scores 0 for that class. A `NamedReader` therefore counts names,
and a submission's options can map its names to those of the gold.
"""

from __future__ import annotations

import gc
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, ClassVar, Literal

from registry.columns import AnswerColumns
from registry.errors import InputError
from registry.items import Answer, AnswerSet, Item, Response, Tagged
from registry.readers.parsing.document import Bounds, Document
from registry.values import TERSE, Value


class Reader(Value):
    """A format with its options.

    `gives` names the kind of gold and answer values (`label`, ...); a metric takes one kind. `absent` is what an item
    without an answer lacks, `repeated` what to do about one that stands twice; `takes_more_files` tells whether
    `source`, `references` and `attributes` mean anything to the format. `forms` are the options that say how files are
    written, in a few ways each: where a file is full of problems, they are what a participant may have taken for
    another. `gives_columns` tells whether the answers of a file in which nothing is wrong are read as columns. `repair`
    is what the task allows to be mended in text files of any format, `skip` how many of their first lines are passed
    over, `attributes` files apart; see `Document.declared`. `lines_per_item` is more lines (rows, entries) than any
    submission has for each item of the gold, blank lines and comments among them. `_distinct` are options that name no
    column twice.
    """

    gives: ClassVar[str]
    absent: ClassVar[str] = "there is no answer to it"
    repeated: ClassVar[str] = "keep one"
    takes_more_files: ClassVar[bool] = False
    forms: ClassVar[tuple[str, ...]] = ()
    gives_columns: ClassVar[bool] = False
    lines_per_item: ClassVar[int] = 10_000
    _distinct: ClassVar[tuple[str, ...]] = ()

    repair: tuple[Literal["crlf", "bom", "nfc", "invisible"], ...] = field(default=(), kw_only=True, metadata=TERSE)
    skip: int = field(default=0, kw_only=True, metadata=TERSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.skip < 0:
            raise InputError(f"option 'skip' of {self.name} is {self.skip}; it is a number of lines, 0 or more")
        for option in self._distinct:
            if len(set(names := getattr(self, option))) < len(names):
                raise InputError(f"option {option!r} of {self.name} names a column twice: {', '.join(names)}")

    def declared(self, document: Document) -> Document:
        """The file as the options that all formats share say that it is read."""
        return document.declared(self.repair, self.skip)

    def read_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the gold annotations from documents by role (`gold`, and what further files the format knows).

        Raises:
            InputError: A file is not of the format; names file, line and item. Where the document collects problems,
                reading goes on after those that `Document.report` is told.
        """
        with _without_collection():
            return self.parse_gold({
                role: self.declared(document) if role != "attributes" else document.declared(self.repair)
                for role, document in documents.items()})

    def read_answers(self, document: Document) -> Sequence[Answer]:
        """Read one submission.

        Raises:
            InputError: The file is not of the format; see `read_gold`.
        """
        with _without_collection():
            return self.parse_answers(self.declared(document))

    def bounds(self, items: Sequence[Item]) -> Bounds:
        """Return how much is read of a submission to these items."""
        return Bounds() if self.ignores_others else Bounds.of_submission(len(items), self.most_lines(items))

    def most_lines(self, items: Sequence[Item]) -> int:
        """Return how many lines a submission to these items has at the most."""
        return self.lines_per_item * len(items)

    @abstractmethod
    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Do what `read_gold` does with documents as they were declared."""

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Do what `read_answers` does with a document as declared; by default it is read as the gold is."""
        return [Answer(item.key, item.gold, item.line) for item in self.parse_gold({"gold": document})]

    @property
    def is_text(self) -> bool:
        """Whether the format's files are lines of text: all but Parquet are."""
        return getattr(self, "syntax", "") != "parquet"

    @property
    def ignores_others(self) -> bool:
        """Whether answers to what is no item of the gold are passed over."""
        return False

    def offers(self) -> tuple[str, ...]:
        """Say what metrics can ask for by name beside the `references` of the manifest."""
        return ("gold",)

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:  # noqa: ARG002
        """Bring answers to the gold's items (in its order), where the format names other ones than the gold does.

        Raises:
            InputError: They cannot be brought there; `path` is the submission's file.
        """
        return answers

    def content(self, value: Any) -> Any:
        """Give a gold or answer value as plain JSON, the same for equal values: digests rest on it."""
        return value

    def task_text(self, value: Any) -> Any:  # noqa: ARG002
        """Give what of a gold or answer value is the text that systems were given, as JSON: no answer, nor any part."""
        return None

    def unanswered(self, text: Any) -> Any:  # noqa: ARG002
        """Give a gold value with this `task_text` and without answers, to hold submissions against.

        Raises:
            ValueError: No gold value has such a text.
        """
        return None

    def mismatch(self, gold: Any, answer: Any) -> tuple[int, str] | None:  # noqa: ARG002
        """Say where (in lines after the answer's first) and how an answer is not about the gold's text."""
        return None

    def implausible(self, items: Sequence[Item],  # noqa: ARG002
                    answers: Sequence[Answer]) -> tuple[int, str] | None:  # noqa: ARG002
        """Say at which line and why a whole file does not seem to go with the gold."""
        return None

    def incomparable(self, gold: Any, answer: Any) -> str | None:  # noqa: ARG002
        """Say why an answer cannot be compared with the gold at all."""
        return None

    def answer_set(self, value: Any) -> Iterable[Response]:
        """List the distinct answers that a gold or answer value stands for; a label is one, and free text has none."""
        return (Response(value),) if self.gives == "label" else ()

    def answer_names(self, value: Any) -> tuple[Sequence[tuple[str, str]], Sequence[float | None]]:
        """List keys and types of the answers that a system's value stands for, and their scores; see `answer_set`."""
        responses = tuple(self.answer_set(value))
        return [(key, type_) for key, type_, _ in responses], [score for *_, score in responses]

    def copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """Say what of an item's gold an answer is equal to: `gold`, or the names of the references it has."""
        return ("gold",) if gold == answer else ()


class AnswerSetReader(Reader):
    """What readers of answer sets share."""

    gives = "answer"

    def content(self, value: Any) -> Any:
        return [list(response) for response in value.responses]

    def answer_set(self, value: Any) -> Iterable[Response]:
        responses: tuple[Response, ...] = value.responses
        return responses

    def copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """Scores make no difference."""
        same = {response[:2] for response in gold.responses} == {response[:2] for response in answer.responses}
        return ("gold",) if same else ()


class SegmentReader(Reader):
    """What readers of segments of text share.

    The gold of a segment is its references by name, and its `source` where it is known; an answer is its text.
    """

    gives = "segment"

    def content(self, value: Any) -> Any:
        """A segment is its text, a gold its references by name."""
        return dict(value) if isinstance(value, Mapping) else value

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:
        """Take nothing for the answer to an item without a reference text, such as silence in a recording."""
        silent = [item for item in items if not any(
            text.strip() for name, text in item.gold.items() if name != "source")]
        if silent and len(silent) < len(items):  # a task's pack has no references at all
            given = {answer.key for answer in answers}
            answers = [*answers, *(Answer(item.key, "", item.line) for item in silent if item.key not in given)]
        return super().assign(items, answers, path)

    def copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """The references that are this text, and the source."""
        return [name for name, text in gold.items() if text == answer]

    def task_text(self, value: Any) -> Any:
        """Systems were given the source."""
        return value.get("source") if isinstance(value, Mapping) else None

    def unanswered(self, text: Any) -> Any:
        """The source without references."""
        if text is not None and not isinstance(text, str):
            raise ValueError("expected the text of the source")
        return {} if text is None else {"source": text}


@contextmanager
def _without_collection() -> Iterator[None]:
    """Keep Python from looking for cycles of objects.

    Reading makes very many objects and no cycle; looking at all of them again and again takes up to half of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


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
