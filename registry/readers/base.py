"""Base classes of readers: a reader is a format with its options, and turns text into items and answers.

A system that spells a class differently from the gold scores 0 for that class. A `NamedReader` therefore counts names,
and a submission's options can map its names to the gold's names.
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

    Attributes:
        gives: Kind of gold and answer values, such as `label`; a metric takes one kind.
        absent: Message for an item without an answer.
        repeated: Remedy for an item that occurs twice.
        takes_more_files: True if the format uses the keys `source`, `references` and `attributes` of a test set.
        forms: Options of the layout of files, with few values each; a file full of problems may have another value.
        gives_columns: True if answers of valid files are read as columns.
        lines_per_item: Upper limit of lines (rows, entries) per item of the gold, with blank lines and comments.
        _distinct: Options that must not name a column twice.
        repair: Repairs that the task allows in text files of any format; see `Document.declare`.
        skip: Number of first lines that are ignored, except in `attributes` files.
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

    def declare(self, document: Document) -> Document:
        """Return the file with the options that all formats share."""
        return document.declare(self.repair, self.skip)

    def read_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the gold annotations from documents by role: `gold`, and other files that the format uses.

        Raises:
            InputError: A file is not of the format; names file, line and item. If the document collects problems,
                reading continues after a reported problem.
        """
        with _pause_garbage_collection():
            return self.parse_gold({
                role: self.declare(document) if role != "attributes" else document.declare(self.repair)
                for role, document in documents.items()})

    def read_answers(self, document: Document) -> Sequence[Answer]:
        """Read one submission.

        Raises:
            InputError: The file is not of the format; see `read_gold`.
        """
        with _pause_garbage_collection():
            return self.parse_answers(self.declare(document))

    def bounds(self, items: Sequence[Item]) -> Bounds:
        """Return the limits of a submission to these items."""
        return Bounds() if self.ignores_others else Bounds.for_submission(len(items), self.most_lines(items))

    def most_lines(self, items: Sequence[Item]) -> int:
        """Return the maximal number of lines of a submission to these items."""
        return self.lines_per_item * len(items)

    @abstractmethod
    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the gold from documents with declared repairs; see `read_gold`."""

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read answers from a declared document; by default like the gold."""
        return [Answer(item.key, item.gold, item.line) for item in self.parse_gold({"gold": document})]

    @property
    def is_text(self) -> bool:
        """True if the format's files are lines of text: all but Parquet."""
        return getattr(self, "syntax", "") != "parquet"

    @property
    def ignores_others(self) -> bool:
        """True if answers to items that the gold lacks are ignored."""
        return False

    def offers(self) -> tuple[str, ...]:
        """List what metrics can require by name, besides the `references` of the manifest."""
        return ("gold",)

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:  # noqa: ARG002
        """Return answers in terms of the gold's items, in the gold's order.

        Raises:
            InputError: The answers do not fit the items; `path` is the submission's file.
        """
        return answers

    def content(self, value: Any) -> Any:
        """Return a gold or answer value as plain JSON, equal for equal values: digests depend on it."""
        return value

    def task_text(self, value: Any) -> Any:  # noqa: ARG002
        """Return the part of a value that systems received, as JSON without any answer."""
        return None

    def make_unanswered(self, text: Any) -> Any:  # noqa: ARG002
        """Return a gold value with this `task_text` and no answers, for checks without the gold.

        Raises:
            ValueError: No gold value has such a text.
        """
        return None

    def mismatch(self, gold: Any, answer: Any) -> tuple[int, str] | None:  # noqa: ARG002
        """Return where (lines after the answer's first) and how an answer's text differs from the gold's."""
        return None

    def implausible(self, items: Sequence[Item],  # noqa: ARG002
                    answers: Sequence[Answer]) -> tuple[int, str] | None:  # noqa: ARG002
        """Return a line and a reason if the whole file does not seem to match the gold."""
        return None

    def incomparable(self, gold: Any, answer: Any) -> str | None:  # noqa: ARG002
        """Return the reason if an answer cannot be compared with the gold."""
        return None

    def answer_set(self, value: Any) -> Iterable[Response]:
        """List the distinct answers of a gold or answer value; a label is one, free text has none."""
        return (Response(value),) if self.gives == "label" else ()

    def answer_names(self, value: Any) -> tuple[Sequence[tuple[str, str]], Sequence[float | None]]:
        """List keys, types and scores of the answers of a system's value; see `answer_set`."""
        responses = tuple(self.answer_set(value))
        return [(key, type_) for key, type_, _ in responses], [score for *_, score in responses]

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """List the parts of the gold that equal an answer: `gold`, or names of references."""
        return ("gold",) if gold == answer else ()


class AnswerSetReader(Reader):
    """The base of readers of answer sets."""

    gives = "answer"

    def content(self, value: Any) -> Any:
        """Return a gold or answer value as plain JSON, equal for equal values: digests depend on it."""
        return [list(response) for response in value.responses]

    def answer_set(self, value: Any) -> Iterable[Response]:
        """List the distinct answers of a gold or answer value; a label is one, free text has none."""
        responses: tuple[Response, ...] = value.responses
        return responses

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """Compare keys and types, not scores."""
        same = {response[:2] for response in gold.responses} == {response[:2] for response in answer.responses}
        return ("gold",) if same else ()


class SegmentReader(Reader):
    """The base of readers of segments of text.

    The gold of a segment is its references by name, with its `source` if known; an answer is a text.
    """

    gives = "segment"

    def content(self, value: Any) -> Any:
        return dict(value) if isinstance(value, Mapping) else value

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:
        """Add empty answers to items without reference text, such as silence in a recording."""
        silent = [item for item in items if not any(
            text.strip() for name, text in item.gold.items() if name != "source")]
        if silent and len(silent) < len(items):  # a task pack has no references at all
            given = {answer.key for answer in answers}
            answers = [*answers, *(Answer(item.key, "", item.line) for item in silent if item.key not in given)]
        return super().assign(items, answers, path)

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        return [name for name, text in gold.items() if text == answer]

    def task_text(self, value: Any) -> Any:
        return value.get("source") if isinstance(value, Mapping) else None

    def make_unanswered(self, text: Any) -> Any:
        if text is not None and not isinstance(text, str):
            raise ValueError("expected the text of the source")
        return {} if text is None else {"source": text}


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector, which takes half of the time; reading makes many objects and no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class NamedReader(Reader):
    """A reader of answers with names, such as labels; `named` is the word for such a name.

    Its options change submissions only.

    Attributes:
        rename: Gold names for names of a submission: `{ PERSON = "PER" }`.
        fold_case: True to replace a name that the gold lacks by the gold name that differs only in letter case.
        unknown: What to do about a submission that has no name in common with the gold: `reject` or `accept` it.
    """

    named: ClassVar[str] = "type"

    rename: tuple[tuple[str, str], ...] = field(default=(), kw_only=True, metadata=TERSE)
    fold_case: bool = field(default=False, kw_only=True, metadata=TERSE)
    unknown: Literal["reject", "accept"] = field(default="reject", kw_only=True, metadata=TERSE)

    @abstractmethod
    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Count the names in values of the gold or of answers."""

    @abstractmethod
    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Return a value whose names are mapped by `name`."""

    def list_declared_names(self) -> tuple[str, ...]:
        """Return names that are valid even if the gold lacks them."""
        return ()

    def read_answers(self, document: Document) -> Sequence[Answer]:
        answers = super().read_answers(document)
        return self._rename(answers, dict(self.rename)) if self.rename else answers

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:  # noqa: ARG002
        return self.fold_names(items, answers)

    def fold_names(self, items: Sequence[Item], answers: Sequence[Answer]) -> Sequence[Answer]:
        """Replace names that differ from one name of the gold only in letter case."""
        if not self.fold_case or not items or items[0].gold is None:
            return answers
        known = {*self.names(item.gold for item in items), *self.list_declared_names()}
        given = answers.counts if isinstance(answers, AnswerColumns) else self.names(
            answer.value for answer in answers)
        folded = by_case(known)
        return self._rename(answers, {name: folded[name.casefold()] for name in given.keys() - known
                                      if name.casefold() in folded})

    def _rename(self, answers: Sequence[Answer], new: dict[str, str]) -> Sequence[Answer]:
        if isinstance(answers, AnswerColumns):
            return answers.renamed(new)
        return [replace(answer, value=self.with_names(answer.value, lambda name: new.get(name, name)))
                for answer in answers]


class SpanReader(NamedReader):
    """The base of readers of spans; the names are the spans' types."""

    gives = "span"

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Each span is an answer with key `first-last`, positions counted from 1."""
        return [Response(span.key, span.type, span.score) for span in sorted(value.spans)]

    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Count the types of spans that have one."""
        return Counter(span.type for value in values for span in value.spans if span.type)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        return Tagged(value.tokens, frozenset(replace(span, type=name(span.type)) for span in value.spans))

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        return ("gold",) if gold.spans == answer.spans else ()


class NamedSetReader(AnswerSetReader, NamedReader):
    """The base of readers of named answer sets; an answer's name is its type, or its key if it has no type."""

    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Count types, and keys of answers without a type."""
        return Counter(response.type or response.key for value in values for response in value.responses)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Rename types, or keys of answers without a type; keep the first of equal answers."""
        distinct: dict[tuple[str, str], Response] = {}
        for key, type_, score in value.responses:
            response = Response(key, name(type_), score) if type_ else Response(name(key), "", score)
            distinct.setdefault(response[:2], response)
        return AnswerSet(tuple(distinct[named] for named in sorted(distinct)))


def by_case(names: Iterable[str]) -> dict[str, str]:
    """Map casefolded names to the names, if only one name has that form."""
    names = list(names)
    times = Counter(name.casefold() for name in names)
    return {name.casefold(): name for name in names if times[name.casefold()] == 1}
