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
    """Base class of readers; a reader parses one file format into items or answers.

    Attributes:
        gives: Kind of the gold values and answer values, such as `label`; a metric requires one kind.
        absent: Message for an item without an answer.
        repeated: Advice if an item occurs twice.
        answers_all: True if every system answers every item; False if an item, such as a vote, is about few systems.
        takes_more_files: True if the format uses the keys `source`, `references` and `attributes` of a test set.
        forms: Names of options that describe the layout of a file and have few values. If a file has very many
            problems, the option may be set incorrectly.
        gives_columns: True if answers are returned as NumPy columns for valid files.
        lines_per_item: Maximal number of lines (rows, entries) per item of the gold, with blank lines and comments.
        _distinct: Names of options that must not name a column twice.
        repair: Repairs that the task allows in text files of any format, such as `crlf` and `bom`.
        skip: Number of first lines that are ignored, except in `attributes` files.
        unknown_items: Treatment of answers to items that the gold does not have: `reject` the file, or `ignore` these
            answers, with a warning.
    """

    gives: ClassVar[str]
    absent: ClassVar[str] = "it has no answer"
    repeated: ClassVar[str] = "keep one"
    answers_all: ClassVar[bool] = True
    takes_more_files: ClassVar[bool] = False
    forms: ClassVar[tuple[str, ...]] = ()
    gives_columns: ClassVar[bool] = False
    lines_per_item: ClassVar[int] = 10_000
    _distinct: ClassVar[tuple[str, ...]] = ()

    repair: tuple[Literal["crlf", "bom", "nfc", "invisible"], ...] = field(default=(), kw_only=True, metadata=TERSE)
    skip: int = field(default=0, kw_only=True, metadata=TERSE)
    unknown_items: Literal["reject", "ignore"] = field(default="reject", kw_only=True, metadata=TERSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.skip < 0:
            raise InputError(f"option 'skip' of {self.name} is {self.skip}; expected a number of lines, 0 or more")
        for option in self._distinct:
            if len(set(names := getattr(self, option))) < len(names):
                raise InputError(f"option {option!r} of {self.name} names a column twice ({', '.join(names)}); remove "
                                 "one")

    def apply_options(self, document: Document) -> Document:
        """Return a copy of the file to which the options `repair` and `skip` apply."""
        return document.with_options(self.repair, self.skip)

    def read_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Parse the files of the gold into items with their gold values.

        Args:
            documents: Files by role: `gold`, and other roles that the format uses, such as `source`.

        Raises:
            InputError: A file does not have the format; the error names file, line and item. If the document collects
                problems, the error is stored there instead, and reading continues.
        """
        with _pause_garbage_collection():
            return self.parse_gold({
                role: self.apply_options(document) if role != "attributes" else document.with_options(self.repair)
                for role, document in documents.items()})

    def read_answers(self, document: Document) -> Sequence[Answer]:
        """Parse a file of one submission into answers.

        Raises:
            InputError: The file does not have the format; the error names line and item. If the document collects
                problems, the error is stored there instead, and reading continues.
        """
        with _pause_garbage_collection():
            return self.parse_answers(self.apply_options(document))

    def bounds(self, items: Sequence[Item]) -> Bounds:
        """Return the size limits for the file of a submission, given the gold's items."""
        return Bounds() if self.ignores_others else Bounds.for_submission(len(items), self.most_lines(items))

    def most_lines(self, items: Sequence[Item]) -> int:
        """Return the maximal number of lines of a submission, given the gold's items."""
        return self.lines_per_item * len(items)

    @abstractmethod
    def parse_gold(self, documents: Mapping[str, Document]) -> list[Item]:
        """Parse the files of the gold into items; subclasses implement this method.

        `read_gold` calls it after it has applied the options `repair` and `skip` to the files.
        """

    def parse_answers(self, document: Document) -> Sequence[Answer]:
        """Parse a submission's file into answers; by default it has the gold's format.

        `read_answers` calls this method after it has applied the options `repair` and `skip` to the file.
        """
        return [Answer(item.key, item.gold, item.line) for item in self.parse_gold({"gold": document})]

    @property
    def is_text(self) -> bool:
        """True if the format is text, False if it is Parquet."""
        return getattr(self, "syntax", "") != "parquet"

    def with_columns(self, names: Iterable[str]) -> Reader:
        """Return a reader that also reads some more columns of scores.

        Metrics need these columns, because their option `column` has the names.

        Raises:
            InputError: The format has no such columns.
        """
        if not (missing := next(iter(names), None)):
            return self
        raise InputError(f"reader {self.name!r} cannot read the column {missing!r} that a metric names; set format = "
                         "\"scores\", or remove the metric's option column")

    @property
    def ignores_others(self) -> bool:
        """True if a submission may have answers to items that the gold does not contain.

        Such answers are ignored; otherwise they are errors.
        """
        return self.unknown_items == "ignore"

    def offers(self) -> tuple[str, ...]:
        """Return the names of gold data that this reader provides for metrics.

        A metric that requires such data, for example "gold", works only with readers that provide them.
        """
        return ("gold",)

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:  # noqa: ARG002
        """Adapt a submission's answers to the items of the gold.

        By default answers are returned unchanged, because they name their items. Formats without names of items assign
        answers by position.

        Args:
            items: Items of the gold.
            answers: Answers of the submission.
            path: Path of the submission's file, for errors.

        Raises:
            InputError: The answers do not fit the items.
        """
        return answers

    def content(self, value: Any) -> Any:
        """Convert a gold or answer value to JSON data that identify it.

        Equal values give equal data. The digest of the gold is computed from them.
        """
        return value

    def task_text(self, value: Any) -> Any:  # noqa: ARG002
        """Return the input that systems get for an item, as JSON data, without the gold.

        Args:
            value: Gold value of the item.
        """
        return None

    def make_unanswered(self, text: Any) -> Any:  # noqa: ARG002
        """Make a gold value that contains the input of an item, but no gold answer.

        Participants can check a submission with such values, without the gold.

        Args:
            text: The input that systems get for the item, as JSON data.

        Raises:
            ValueError: The text is not a valid input.
        """
        return None

    def mismatch(self, gold: Any, answer: Any) -> tuple[int, str] | None:  # noqa: ARG002
        """Find the first difference between the input text in an answer and in the gold.

        Some file formats repeat the input, such as its words, in each answer.

        Returns:
            The line of the difference, counted from 0 at the first line of the answer; and a message. None if the texts
                are equal.
        """
        return None

    def implausible(self, items: Sequence[Item],  # noqa: ARG002
                    answers: Sequence[Answer]) -> tuple[int, str] | None:  # noqa: ARG002
        """Check whether a whole submission seems not to match the gold.

        For example, its lines may be shuffled.

        Returns:
            Line number and message; None if the submission is plausible.
        """
        return None

    def incomparable(self, gold: Any, answer: Any) -> str | None:  # noqa: ARG002
        """Return the reason why an answer cannot be compared with the gold, if any.

        For example, the numbers of tokens may differ.
        """
        return None

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Return the single answers that a gold or answer value contains, such as spans.

        A label is one answer; free text has none.
        """
        return (Response(value),) if self.gives == "label" else ()

    def answer_names(self, value: Any) -> tuple[Sequence[tuple[str, str]], Sequence[float | None]]:
        """Return the single answers in a system's value, with their scores.

        Returns:
            Two sequences of the same length: a pair (key, type) that identifies each answer, and the score of each
                answer.
        """
        responses = tuple(self.answer_set(value))
        return [(key, type_) for key, type_, _ in responses], [score for *_, score in responses]

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        """Find out whether a system's answer is a copy of the gold.

        Returns:
            The names of the gold's parts that equal the answer: `gold`, or names of references.
        """
        return ("gold",) if gold == answer else ()


class AnswerSetReader(Reader):
    """Base class of readers of items that can have several answers, such as labels."""

    gives = "answer"

    def content(self, value: Any) -> Any:
        return [list(response) for response in value.responses]

    def answer_set(self, value: Any) -> Iterable[Response]:
        responses: tuple[Response, ...] = value.responses
        return responses

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        # scores do not count
        same = {response[:2] for response in gold.responses} == {response[:2] for response in answer.responses}
        return ("gold",) if same else ()


class SegmentReader(Reader):
    """Base class of readers of texts (segments), such as translations.

    A gold value maps names of references (and `source`, the input) to texts. An answer is a text.
    """

    gives = "segment"

    def content(self, value: Any) -> Any:
        return dict(value) if isinstance(value, Mapping) else value

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:
        """Add empty answers to items without reference text if the system has none.

        Such an item is, for example, silence in a recording.
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
            raise ValueError("expected the source text")
        return {} if text is None else {"source": text}


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Pause Python's garbage collector in a `with` block that reads files.

    Garbage collection would take half of the time, although reading makes no reference cycles.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class NamedReader(Reader):
    """Base class of readers of answers with names, such as labels or types of spans.

    The options adapt the names in a submission to the names in the gold.

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
        """Count how often each name (label or type) occurs in gold or answer values."""

    @abstractmethod
    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        """Return a copy of a value in which labels or types are renamed.

        Args:
            value: The gold or answer value.
            name: Function that receives the old name and returns the new name.
        """

    def list_declared_names(self) -> tuple[str, ...]:
        """Return names that the reader's options declare.

        Submissions may use these names even if the gold does not contain them.
        """
        return ()

    def read_answers(self, document: Document) -> Sequence[Answer]:
        answers = super().read_answers(document)
        return self._rename(answers, dict(self.rename)) if self.rename else answers

    def assign(self, items: Sequence[Item], answers: Sequence[Answer], path: str) -> Sequence[Answer]:  # noqa: ARG002
        return self.fold_names(items, answers)

    def fold_names(self, items: Sequence[Item], answers: Sequence[Answer]) -> Sequence[Answer]:
        """Replace names that differ from a name in the gold only in letter case.

        For example, "positive" becomes "Positive" if the gold has only this form. Names change only if the option
        `fold_case` is set.
        """
        if not self.fold_case or not items or items[0].gold is None:
            return answers
        gold_names = {*self.names(item.gold for item in items), *self.list_declared_names()}
        used_names = answers.counts if isinstance(answers, AnswerColumns) else self.names(
            answer.value for answer in answers)
        folded = index_by_case(gold_names)
        return self._rename(answers, {name: folded[name.casefold()] for name in used_names.keys() - gold_names
                                      if name.casefold() in folded})

    def _rename(self, answers: Sequence[Answer], new: dict[str, str]) -> Sequence[Answer]:
        if isinstance(answers, AnswerColumns):
            return answers.rename_labels(new)
        return [replace(answer, value=self.with_names(answer.value, lambda name: new.get(name, name)))
                for answer in answers]


class SpanReader(NamedReader):
    """Base class of readers of typed spans, such as named entities."""

    gives = "span"

    def answer_set(self, value: Any) -> Iterable[Response]:
        """Return the spans of one item as separate answers.

        The key of an answer is the position of its span: "1-3" for a span from position 1 to position 3.

        Args:
            value: Gold value of the item, or a system's answer value.
        """
        return [Response(span.key, span.type, span.score) for span in sorted(value.spans)]

    def names(self, values: Iterable[Any]) -> Counter[str]:
        return Counter(span.type for value in values for span in value.spans if span.type)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        return Tagged(value.tokens, frozenset(replace(span, type=name(span.type)) for span in value.spans))

    def find_copied(self, gold: Any, answer: Any) -> Iterable[str]:
        return ("gold",) if gold.spans == answer.spans else ()


class NamedSetReader(AnswerSetReader, NamedReader):
    """Base class of readers of items that can have several answers with names.

    The name of an answer is its type, or its key if it has no type.
    """

    def names(self, values: Iterable[Any]) -> Counter[str]:
        return Counter(response.type or response.key for value in values for response in value.responses)

    def with_names(self, value: Any, name: Callable[[str], str]) -> Any:
        distinct: dict[tuple[str, str], Response] = {}
        for key, type_, score in value.responses:  # of answers that become equal, the first is kept
            response = Response(key, name(type_), score) if type_ else Response(name(key), "", score)
            distinct.setdefault(response[:2], response)
        return AnswerSet(tuple(distinct[named] for named in sorted(distinct)))


def index_by_case(names: Iterable[str]) -> dict[str, str]:
    """Map lower-case forms of names to the names: `{"per": "PER"}`.

    Forms that several names share are left out.
    """
    names = list(names)
    times = Counter(name.casefold() for name in names)
    return {name.casefold(): name for name in names if times[name.casefold()] == 1}
