"""Collect all problems of a task and its files for the command `check`.

Other commands stop at the first problem.
"""

from __future__ import annotations

import json
import math
import re
import typing
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from registry.errors import InputError, RegistryError, counted
from registry.evaluation.ingest.declared import DeclaredSubmission
from registry.evaluation.ingest.fit import FittedFile
from registry.identity import canonical_json
from registry.items import Answer, Item
from registry.readers import Document, Problems, Reader, Responses
from registry.readers.parsing.delimited import MARKS


@dataclass(frozen=True)
class Problem:
    """An error or warning about a task or a submitted file.

    Attributes:
        test_set: The test set of the file; empty if the problem does not belong to a test set.
        error: The message with its place; its `category`, such as `format`, is the same in all versions of the program.
        cause: The likely cause; empty if unknown.
        fatal: True for an error, False for a warning.
        exit_code: The exit status of a command that stops at this error.
    """

    test_set: str
    error: InputError
    cause: str = ""
    fatal: bool = True
    exit_code: int = InputError.exit_code


@dataclass
class Collector:
    """Collector of all problems in a task and its files.

    Without a collector, commands stop at the first problem.

    Attributes:
        limit: The largest number of problems per file to list; None: no limit.
        items: The items of each test set; test sets with invalid gold are absent.
        files: Paths of the submitted files that were read.
        problems: The listed problems.
        unlisted: Number of problems that exceed the limit, by file and category.
    """

    limit: int | None = None
    items: dict[str, Sequence[Item]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: Counter[tuple[str, str]] = field(default_factory=Counter)
    _messages: set[str] = field(default_factory=set)

    @property
    def exit_code(self) -> int:
        """The exit status of a command that stops at the first error; 0 if there is none."""
        return next((problem.exit_code for problem in self.problems if problem.fatal), 0)

    def refuse(self, error: RegistryError) -> None:
        """Add an error and all errors that it combines, unless they were added before."""
        for part in (error, *error.others):
            problem = part if isinstance(part, InputError) else InputError(str(part), category="database")
            if str(problem) not in self._messages:
                self._add(Problem("", problem, exit_code=part.exit_code))

    def warn(self, test_set: str, warnings: Sequence[InputError]) -> None:
        """Add warnings about the files of a submission."""
        for warning in warnings:
            self._add(Problem(test_set, warning, fatal=False))

    def read_gold(self, test_set: str, documents: Mapping[str, Document],
                  read: Callable[[Mapping[str, Document]], list[Item]]) -> list[Item]:
        """Read the gold of a test set, and collect the problems of its files.

        Args:
            test_set: Name of the test set.
            documents: The files by role.
            read: Function that reads the items from the files.

        Raises:
            InputError: The first problem of the gold, if there is one.
        """
        problems = {role: Problems(self.limit) for role in documents}
        items: list[Item] = []
        try:
            items = read({role: document.collect(problems[role]) for role, document in documents.items()})
        except InputError as error:
            role = next((role for role, document in documents.items() if document.path == error.path), "gold")
            problems[role].end(error)
        for role, document in documents.items():
            self._add_file(test_set, document.path, problems[role])
        _raise_first(problems.values())
        self.items[test_set] = items
        return items

    def read_file(self, submission: DeclaredSubmission, document: Document,
                  items: Sequence[Item] | None) -> FittedFile | None:
        """Read a file of a submission, and collect its problems with their likely causes.

        Args:
            submission: The submission.
            document: The file.
            items: The items of the gold; None if the gold is invalid.

        Returns:
            The file, with its answers matched with the items; None if `items` is None.

        Raises:
            InputError: The first problem of the file, if there is one.
        """
        test_set, reader = submission.test_set.name, submission.reader
        self.files.append(document.path)
        if items is not None and reader.gives_columns:
            try:
                if not reader.apply_options(document).has_undeclared_crlf:
                    return submission.fit(items, submission.read_answers(document), document)
            except InputError:
                pass  # reading by columns has found a problem; reading by rows finds all problems
        problems, fitted = Problems(self.limit), None
        answers: Sequence[Answer] = ()
        document = document.collect(problems)
        try:
            answers = submission.read_answers(document)
            fitted = None if items is None else submission.fit(items, answers, document)
        except InputError as error:
            problems.end(error)
        items_by_test_set = {**self.items, test_set: items or []}
        self._add_file(test_set, document.path, problems,
                       Diagnosis(document, reader, answers, items_by_test_set, test_set, problems.counts))
        self.warn(test_set, problems.notes)
        _raise_first([problems])
        return fitted

    def _add(self, problem: Problem) -> None:
        self.problems.append(problem)
        self._messages.add(str(problem.error))

    def _add_file(self, test_set: str, path: str, problems: Problems, diagnosis: Diagnosis | None = None) -> None:
        for error in sorted(problems.found, key=lambda error: math.inf if error.line is None else error.line):
            self._add(Problem(test_set, error, diagnosis.cause(error) if diagnosis else ""))
        if problems.stopped is not None:
            self._add(Problem(test_set, problems.stopped, fatal=False))
        listed = Counter[str](error.category for error in problems.found)
        self.unlisted += Counter({(path, category): n for category, n in (problems.counts - listed).items()})


def read_submission(submission: DeclaredSubmission, items: Sequence[Item] | None,
                    collector: Collector | None) -> list[FittedFile]:
    """Read the files of a submission, and match the answers with the items.

    Args:
        submission: The submission, with its files loaded.
        items: Items of the gold; None if the gold is invalid, which requires a collector.
        collector: Receives all problems of all files; None: only the first problem is raised.

    Returns:
        The files with their matched answers; empty if `items` is None.

    Raises:
        InputError: The first problem of the files, if there is one.
    """
    files, errors = list[FittedFile](), list[InputError]()
    for document in submission.documents:
        bounded = document if items is None else submission.bound(document, items)
        try:
            if collector is None:
                fitted = submission.fit(items or (), submission.read_answers(bounded), bounded)
            else:
                fitted = collector.read_file(submission, bounded, items)
        except InputError as error:
            if collector is None:
                raise
            errors.append(error)
        else:
            files += [fitted] if fitted is not None else []
    if errors:
        raise errors[0]
    return files


def _raise_first(problems: Iterable[Problems]) -> None:
    for file_problems in problems:
        if file_problems.counts:
            raise file_problems.found[0]


_DEVELOPMENT = re.compile(r"(?<![a-z])(dev|devel|development|train|training|trial|valid|validation)(?![a-z])", re.I)
_SPELLINGS: dict[str, Callable[[str], str]] = {
    "Unicode form (NFC)": lambda key: unicodedata.normalize("NFC", key),
    "blanks": lambda key: "".join(key.split()).strip("\ufeff"),
    "upper and lower case": str.casefold,
    "leading zeros": lambda key: re.sub(r"(?<!\d)0+(?=\d)", "", key),
}


@dataclass(frozen=True)
class Diagnosis:
    """Search for the likely causes of the problems in a submitted file.

    A cause is reported only if there is evidence for it: for example, the file has no errors with another separator.

    Attributes:
        document: The file.
        reader: The reader of the file.
        answers: The answers that could be read.
        items: The items of all test sets, by test set.
        test_set: The test set of the submission.
        counts: The number of problems of each category.
    """

    document: Document
    reader: Reader
    answers: Sequence[Answer]
    items: Mapping[str, Sequence[Item]]
    test_set: str
    counts: Mapping[str, int]

    def cause(self, error: InputError) -> str:
        """Return the likely cause of a problem; empty if unknown."""
        item = error.item or ""
        by_category: dict[str, Callable[[], str]] = {
            "format": lambda: self._options_cause, "tag": lambda: self._options_cause,
            "encoding": lambda: self._encoding, "duplicate": lambda: self._repetition,
            "unknown": lambda: self._explain_unknown(item), "missing": lambda: self._missing,
            "text": lambda: self._for_another or self._describe_move(item), "order": lambda: self._for_another}
        return by_category[error.category]() if error.category in by_category else ""

    @cached_property
    def _expected(self) -> dict[str, int]:
        return {item.key: n for n, item in enumerate(self.items[self.test_set])}

    @cached_property
    def _answered(self) -> frozenset[str]:
        return frozenset(answer.key for answer in self.answers)

    @cached_property
    def _options_cause(self) -> str:
        """Message that the reader needs other options, such as another separator.

        The message is empty if other options do not help.
        """
        problems = self.counts.get("format", 0) + self.counts.get("tag", 0)
        if problems < 2 and self.answers:
            return ""
        for try_others in (self._try_other_options, self._try_other_separators):
            if better := [(n, description) for n, description in try_others() if 10 * n <= problems]:
                return min(better)[1]
        return self._json_cause

    def _try_other_options(self) -> Iterator[tuple[int, str]]:
        """Read the file with other values of the reader's options, such as `separator`.

        Yields:
            The number of problems with the other value, and a message that names the value.
        """
        hints = typing.get_type_hints(type(self.reader))
        is_delimited = getattr(self.reader, "syntax", "delimited") == "delimited"
        for option in self.reader.forms:
            if option in ("separator", "header") and not is_delimited:  # JSON and Parquet ignore these
                continue
            declared = getattr(self.reader, option)
            for other in typing.get_args(hints[option]) or (False, True):
                if other != declared and (n := self._count_problems(self.document, **{option: other})) is not None:
                    yield n, (f"the file can be read{' better' if n else ''} with {option} = {json.dumps(other)}, but "
                              f"the task has {option} = {json.dumps(declared)}")

    def _try_other_separators(self) -> Iterator[tuple[int, str]]:
        """Read the file with separators that the reader does not support.

        Yields:
            The number of problems with the other separator, and a message that names the separator.
        """
        reader: Any = self.reader
        if "separator" not in reader.forms or getattr(reader, "syntax", "delimited") != "delimited":
            return
        for mark in (mark for mark in ";|," if mark in self._text and mark != MARKS[reader.separator]):
            text = self._text.replace(mark, MARKS[reader.separator])
            if (n := self._count_problems(Document(self.document.path, text.encode()), skip=0)) is not None:
                yield n, (f"the file has {mark!r} between its cells, but the task has separator = "
                          f"{json.dumps(reader.separator)}")

    def _count_problems(self, document: Document, **options: Any) -> int | None:
        """Read a file with other options of its reader, and count the format problems.

        Returns:
            The number; None if no item of the test set is found with these options.
        """
        problems = Problems(0)
        try:
            answers = replace(self.reader, **options).read_answers(document.collect(problems))
        except InputError:
            return None
        is_ours = any(answer.key in self._expected for answer in answers)
        return problems.counts["format"] + problems.counts["tag"] if is_ours else None

    @property
    def _json_cause(self) -> str:
        if not (isinstance(self.reader, Responses) or getattr(self.reader, "syntax", "") == "jsonl"):
            return ""
        text = self._text.strip()
        if text[:1] + text[-1:] == "[]" or (text.partition("\n")[0].strip(), text[-1:]) == ("{", "}"):
            return "the file is a single JSON value, but the task requires JSON Lines (one object in every line)"
        return ""

    @cached_property
    def _text(self) -> str:
        try:
            return self.reader.apply_options(self.document.collect(Problems(0, stops=False))).text()
        except InputError:
            return ""

    @cached_property
    def _encoding(self) -> str:
        if "\ufffd" not in self._text:
            return ""
        sound = next((n for n, line in enumerate(self._text.split("\n"), 1 + self.reader.skip)
                      if not line.isascii() and "\ufffd" not in line), 0)
        return (f"mixed encodings: line {sound} is UTF-8, and other lines are not"
                if sound else "the whole file is in another encoding, such as Windows-1252")

    @cached_property
    def _repetition(self) -> str:
        keys = Counter(answer.key for answer in self.answers)
        return "the file contains its whole content more than once" if min(keys.values(), default=0) > 1 else ""

    @cached_property
    def _numbering_cause(self) -> str:
        """Message that items are counted from 0 instead of 1, or from 1 instead of 0.

        The message is empty if this is not the case.
        """
        if not all(key.isdecimal() and key.isascii() for key in (*self._expected, *self._answered)):
            return ""
        numbers, expected = ({int(key) for key in keys} for keys in (self._answered, self._expected))
        return next((f"the file counts items from {min(numbers)}, the task from {min(expected)}" for distance in (1, -1)
                     if {n + distance for n in numbers} == expected), "")

    @cached_property
    def _other_test_set(self) -> str:
        """The name of another test set to which the file seems to belong; empty if none."""
        unknown = self._answered - self._expected.keys()
        other_test_sets = {name: items for name, items in self.items.items() if name != self.test_set and items}
        for name, items in other_test_sets.items():
            keys = {item.key for item in items}
            if 2 * len(unknown & keys) > len(unknown) or self._answered == keys != self._expected.keys():
                return name
        texts = [text for answer in self.answers if (text := self._get_task_text(answer.value))]
        own_texts = {self._get_task_text(item.gold) for item in self.items[self.test_set]}
        for name, items in other_test_sets.items():
            other_texts = {self._get_task_text(item.gold) for item in items} - own_texts
            if 2 * sum(text in other_texts for text in texts) > len(texts):
                return name
        return ""

    @cached_property
    def _for_another(self) -> str:
        return f"this file seems to be for test set {self._other_test_set!r}" if self._other_test_set else ""

    def _get_task_text(self, value: Any) -> str:
        """Return the input text of an item, as JSON, from an answer or from the gold.

        The result is empty if the file format does not contain the input.
        """
        text = self.reader.task_text(value)
        return "" if text is None else canonical_json(text)

    @cached_property
    def _normal_forms(self) -> list[tuple[str, Callable[[str], str], dict[str, str]]]:
        """Ways to normalize item keys, such as lower case.

        Each has a name, a function that normalizes a key, and the expected keys by their normalized form.
        """
        return [(name, spell, {spell(key): key for key in self._expected}) for name, spell in _SPELLINGS.items()]

    def _explain_unknown(self, key: str) -> str:
        if self._numbering_cause:
            return self._numbering_cause
        if self._other_test_set:
            return self._for_another
        for name, spell, expected in self._normal_forms:
            if spell(key) in expected:
                return f"item {key!r} differs from item {expected[spell(key)]!r} of the gold only in {name}"
        if (match := _DEVELOPMENT.search(key)) and not any(map(_DEVELOPMENT.search, self._expected)):
            return f"item names with {match[0]!r} look like development data; check that the file is for this test set"
        return ""

    @cached_property
    def _missing(self) -> str:
        if cause := self._numbering_cause or self._for_another:
            return cause
        absent = [n for key, n in self._expected.items() if key not in self._answered]
        refused = self.counts.get("format", 0) + self.counts.get("encoding", 0)
        if absent and len(absent) <= refused:
            return "the missing lines may be among the lines that could not be read"
        if absent and 0 < absent[0] == len(self._expected) - len(absent):
            if self._shift_cause or self.counts.get("order"):
                return self._shift_cause  # empty if the reader has described the order
            last = "item is" if len(absent) == 1 else f"{len(absent)} items are"
            numbered = getattr(self.reader, "item", None) == ()
            return (f"of {len(self._expected)} items, the last {last} missing; the file seems to be truncated"
                    + (", or rows above are missing, because rows are numbered" if numbered else ""))
        return ""

    @cached_property
    def _shifts(self) -> dict[str, int]:
        """How far answers with the text of another item are misplaced, by item key.

        If item 5 has the text of item 7, the number is 2; if it has the text of item 4, the number is -1. Answers with
        the correct text are absent.
        """
        indices: dict[str, int | None] = {}
        for n, item in enumerate(self.items[self.test_set]):
            text = self._get_task_text(item.gold)
            indices[text] = None if text in indices else n  # a text of several items has no index
        shifts = {}
        for answer in self.answers:
            index, expected = indices.get(self._get_task_text(answer.value)), self._expected.get(answer.key)
            if index is not None and expected is not None and index != expected:
                shifts[answer.key] = index - expected
        return shifts

    @cached_property
    def _shift_cause(self) -> str:
        """Message that a line seems to be missing or added; empty without evidence.

        Evidence is that most misplaced texts have the same distance from their item.
        """
        if len(self._shifts) < 2:
            return ""
        ((distance, n),) = Counter(self._shifts.values()).most_common(1)
        if 2 * n <= len(self._shifts):
            return ""
        first = next(key for key, shift in self._shifts.items() if shift == distance)
        place = "above" if self._expected[first] else "at the start"
        change = f"missing {place}" if distance > 0 else f"added {place}, or a line is split in two"
        return (f"from item {first!r} on, {counted(n, 'text belongs', 'texts belong')} to the item "
                f"{counted(abs(distance), 'place')} {'later' if distance > 0 else 'earlier'}; perhaps "
                f"{counted(abs(distance), 'line is', 'lines are')} {change}")

    def _describe_move(self, key: str) -> str:
        if self._shift_cause or not self._shifts:
            return self._shift_cause
        if len(self._shifts) > 1:
            return f"{len(self._shifts)} texts belong to other items; the lines seem to be shuffled"
        if key in self._shifts:
            index = self._expected[key] + self._shifts[key]
            return f"the text of item {key!r} belongs to item {self.items[self.test_set][index].key!r}"
        return ""
