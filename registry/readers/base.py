"""Base classes of readers; a reader turns a file into items or answers.

If a system spells the name of a class differently from the gold, it scores 0 for this class. A `NamedReader` therefore
counts the names in a submission, and options can map these names to the names in the gold.
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
    """Base class of readers: one file format, with its options.

    Attributes:
        gives: Kind of the gold values and answer values, such as `label`; a metric requires one kind.
        absent: Message for an item without an answer.
        repeated: Advice if an item occurs twice.
        takes_more_files: True if the format uses the keys `source`, `references` and `attributes` of a test set.
        forms: Names of options that describe the layout of a file and have few values. If a file has very many
            problems, the option may be set incorrectly.
        gives_columns: True if the answers of valid files are read as columns.
        lines_per_item: Maximal number of lines (rows, entries) per item of the gold, with blank lines and comments.
        _distinct: Names of options that must not name a column twice.
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
        """Return the file with the options `repair` and `skip` applied."""
        return document.declare(self.repair, self.skip)

    def read_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the gold annotations.

        Args:
            documents: Files by role: `gold`, and other files that the format uses.

        Raises:
            InputError: A file does not have the format; the error names file, line and item. If the document collects
                problems, reading continues after a reported problem.
        """
        with _pause_garbage_collection():
            return self.parse_gold({
                role: self.declare(document) if role != "attributes" else document.declare(self.repair)
                for role, document in documents.items()})

    def read_answers(self, document: Document) -> Sequence[Answer]:
        """Read the answers of one submission.

        Raises:
            InputError: The file does not have the format; see `read_gold`.
        """
        with _pause_garbage_collection():
            return self.parse_answers(self.declare(document))

    def bounds(self, items: Sequence[Item]) -> Bounds:
        """Return the limits of size for a submission with answers to these items."""
        return Bounds() if self.ignores_others else Bounds.for_submission(len(items), self.most_lines(items))

    def most_lines(self, items: Sequence[Item]) -> int:
        """Return the maximal number of lines in a submission with answers to these items."""
        return self.lines_per_item * len(items)

    @abstractmethod
    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Read the gold from files to which `declare` has been applied; see `read_gold`."""

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Read the answers from a file to which `declare` has been applied.

        By default a submission has the same format as the gold.
        """
        return [Answer(item.key, item.gold, item.line) for item in self.parse_gold({"gold": document})]

    @property
    def is_text(self) -> bool:
        """True if files of the format are lines of text, as all formats except Parquet."""
        return getattr(self, "syntax", "") != "parquet"

    @property
    def ignores_others(self) -> bool:
        """True if answers to items that are not in the gold are ignored."""
        return False

    def offers(self) -> tuple[str, ...]:
        """Return names that metrics can require from this reader.

        Metrics can also require the `references` that the manifest declares.
        """
        return ("gold",)

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:  # noqa: ARG002
        """Return the answers matched with the gold's items, in the order of the gold.

        Args:
            items: Items of the gold.
            answers: Answers of the submission.
            path: Path of the submission's file, for errors.

        Raises:
            InputError: The answers do not fit the items.
        """
        return answers

    def content(self, value: Any) -> Any:
        """Return a gold or answer value as plain JSON, from which its digest is computed.

        Equal values have equal JSON.
        """
        return value

    def task_text(self, value: Any) -> Any:  # noqa: ARG002
        """Return the input that systems received, as JSON without the gold answer."""
        return None

    def make_unanswered(self, text: Any) -> Any:  # noqa: ARG002
        """Return a gold value without gold answers, for checks without the gold.

        Args:
            text: Input that systems received; see `task_text`.

        Raises:
            ValueError: The text is not a valid input.
        """
        return None

    def mismatch(self, gold: Any, answer: Any) -> tuple[int, str] | None:  # noqa: ARG002
        """Return the first difference between the text of an answer and that of the gold.

        Returns:
            Number of lines after the first line of the answer, and a message; None if the texts are equal.
        """
        return None

    def implausible(self, items: Sequence[Item],  # noqa: ARG002
                    answers: Sequence[Answer]) -> tuple[int, str] | None:  # noqa: ARG002
        """Return a line and a message if a submission does not seem to match the gold.

        Returns:
            Line and message; None if the submission is plausible.
        """
        return None

    def incomparable(self, gold: Any, answer: Any) -> str | None:  # noqa: ARG002
        """Return the reason why an answer is not comparable with the gold; None if it is."""
        return None

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Return the distinct answers in a gold or answer value.

        A label is one answer; free text has no answers.
        """
        return (Response(value),) if self.gives == "label" else ()

    def answer_names(self, value: Any) -> tuple[Sequence[tuple[str, str]], Sequence[float | None]]:
        """Return pairs of key and type, and scores, of the answers in a system's value.

        See `answer_set`.
        """
        responses = tuple(self.answer_set(value))
        return [(key, type_) for key, type_, _ in responses], [score for *_, score in responses]

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """Return the parts of a gold value that equal an answer.

        The parts are `gold`, or names of references.
        """
        return ("gold",) if gold == answer else ()


class AnswerSetReader(Reader):
    """Base class of readers whose values are sets of answers."""

    gives = "answer"

    def content(self, value: Any) -> Any:
        """Return the answers of a value as plain JSON, from which its digest is computed."""
        return [list(response) for response in value.responses]

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Return the distinct answers in a gold or answer value."""
        responses: tuple[Response, ...] = value.responses
        return responses

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """Return `gold` if an answer has the keys and types of the gold; ignore scores."""
        same = {response[:2] for response in gold.responses} == {response[:2] for response in answer.responses}
        return ("gold",) if same else ()


class SegmentReader(Reader):
    """Base class of readers of segments of text.

    The gold value of a segment contains its references by name, and its `source` if that is declared. The answer is a
    text.
    """

    gives = "segment"

    def content(self, value: Any) -> Any:
        return dict(value) if isinstance(value, Mapping) else value

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:
        """Match answers with the gold's items; see `Reader.assign`.

        An item without reference text (such as silence in a recording) gets an empty answer if the system has none.
        """
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
    """Pause Python's garbage collector, which would take half of the time.

    Reading makes many objects, but no reference cycles.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class NamedReader(Reader):
    """Base class of readers of answers with names, such as labels.

    The options change only submissions.

    Attributes:
        named: Word for such a name in messages, such as "label".
        rename: Map from names in a submission to names in the gold: `{ PERSON = "PER" }`.
        fold_case: True to replace a name that is not in the gold by the name in the gold that differs only in letter
            case.
        unknown: Treatment of a submission that has no name in common with the gold: `reject` or `accept` it.
    """

    named: ClassVar[str] = "type"

    rename: tuple[tuple[str, str], ...] = field(default=(), kw_only=True, metadata=TERSE)
    fold_case: bool = field(default=False, kw_only=True, metadata=TERSE)
    unknown: Literal["reject", "accept"] = field(default="reject", kw_only=True, metadata=TERSE)

    @abstractmethod
    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Return how often each name occurs in gold or answer values."""

    @abstractmethod
    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Return a copy of a value with each label or type replaced by `name(label)`."""

    def list_declared_names(self) -> tuple[str, ...]:
        """Return names that are valid even if they do not occur in the gold."""
        return ()

    def read_answers(self, document: Document) -> Sequence[Answer]:
        answers = super().read_answers(document)
        return self._rename(answers, dict(self.rename)) if self.rename else answers

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:  # noqa: ARG002
        return self.fold_names(items, answers)

    def fold_names(self, items: Sequence[Item], answers: Sequence[Answer]) -> Sequence[Answer]:
        """Replace names that differ from one name in the gold only in letter case.

        A name that differs so from several names in the gold stays unchanged.
        """
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
    """Base class of readers of spans; the names are the types of spans."""

    gives = "span"

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Return each span as an answer with the key `first-last`, counted from 1."""
        return [Response(span.key, span.type, span.score) for span in sorted(value.spans)]

    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Return how often each type of spans occurs; spans without a type do not count."""
        return Counter(span.type for value in values for span in value.spans if span.type)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        return Tagged(value.tokens, frozenset(replace(span, type=name(span.type)) for span in value.spans))

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        return ("gold",) if gold.spans == answer.spans else ()


class NamedSetReader(AnswerSetReader, NamedReader):
    """Base class of readers of sets of answers with names.

    The name of an answer is its type, or its key if it has no type.
    """

    def names(self, values: Iterable[Any]) -> Counter[str]:
        """Return how often each name occurs.

        The name of an answer is its type, or its key if it has no type.
        """
        return Counter(response.type or response.key for value in values for response in value.responses)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Return a copy of a value with each label or type replaced by `name(label)`.

        If answers become equal, the first is kept.
        """
        distinct: dict[tuple[str, str], Response] = {}
        for key, type_, score in value.responses:
            response = Response(key, name(type_), score) if type_ else Response(name(key), "", score)
            distinct.setdefault(response[:2], response)
        return AnswerSet(tuple(distinct[named] for named in sorted(distinct)))


def by_case(names: Iterable[str]) -> dict[str, str]:
    """Return names by their casefolded form, without forms that several names share."""
    names = list(names)
    times = Counter(name.casefold() for name in names)
    return {name.casefold(): name for name in names if times[name.casefold()] == 1}
