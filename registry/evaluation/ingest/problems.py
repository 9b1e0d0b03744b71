"""Everything that is wrong with a task and its files, collected by `check` where other commands stop at the first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from registry.errors import InputError, RegistryError
from registry.evaluation.ingest.declared import Declared
from registry.evaluation.ingest.diagnosis import Diagnosis
from registry.evaluation.ingest.fit import FittedFile
from registry.items import Answer, Item
from registry.readers import Document, Problems


@dataclass(frozen=True)
class Problem:
    """One error or warning.

    Attributes:
        test_set: The test set that the file is for; empty if it is for none.
        error: What is wrong and where; programs can rely on its `category`.
        cause: The likely cause; empty if nothing indicates it.
        fatal: True for an error: the file is refused.
        exit_code: The exit status of a command that refuses it.
    """

    test_set: str
    error: InputError
    cause: str = ""
    fatal: bool = True
    exit_code: int = InputError.exit_code


@dataclass
class Collector:
    """Problems of a task and its files.

    Attributes:
        limit: The most problems of each file that are listed; None: all.
        items: The items of each test set whose gold is sound.
        files: The submitted files that were read.
        problems: The listed problems.
        unlisted: The number of further problems, by file and category.
    """

    limit: int | None = None
    items: dict[str, Sequence[Item]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: Counter[tuple[str, str]] = field(default_factory=Counter)
    _messages: set[str] = field(default_factory=set)

    @property
    def exit_code(self) -> int:
        """The exit status of a command that refuses the first error; 0 if there is none."""
        return next((problem.exit_code for problem in self.problems if problem.fatal), 0)

    def refuse(self, error: RegistryError) -> None:
        """Add an error with all that it carries, except those that a file's reading has already added."""
        for one in (error, *error.others):
            problem = one if isinstance(one, InputError) else InputError(str(one), category="database")
            if str(problem) not in self._messages:
                self._add(Problem("", problem, exit_code=one.exit_code))

    def warn(self, test_set: str, warnings: Sequence[InputError]) -> None:
        """Add warnings about the files of a submission."""
        for warning in warnings:
            self._add(Problem(test_set, warning, fatal=False))

    def read_gold(self, test_set: str, documents: Mapping[str, Document],
                  read: Callable[[Mapping[str, Document]], list[Item]]) -> list[Item]:
        """Read the gold of a test set, and add what is wrong with its files.

        Raises:
            InputError: The first problem.
        """
        problems = {role: Problems(self.limit) for role in documents}
        items: list[Item] = []
        try:
            items = read({role: document.collecting(problems[role]) for role, document in documents.items()})
        except InputError as error:
            role = next((role for role, document in documents.items() if document.path == error.path), "gold")
            problems[role].end(error)
        for role, document in documents.items():
            self._add_file(test_set, document.path, problems[role])
        _raise_first(problems.values())
        self.items[test_set] = items
        return items

    def read_file(self, one: Declared, document: Document, items: Sequence[Item] | None) -> FittedFile | None:
        """Read a file of a submission, and add what is wrong with it, with the likely causes.

        A table is read at once if nothing is wrong with it, and otherwise row by row.

        Args:
            one: The submission.
            document: The file.
            items: The items of the gold; None if the gold is refused.

        Returns:
            The joined answers; None without items.

        Raises:
            InputError: The first problem.
        """
        test_set, reader = one.test_set.name, one.reader
        self.files.append(document.path)
        if items is not None and reader.gives_columns:
            try:
                if not reader.declared(document).has_notes:
                    return one.fit(items, one.read(document), document)
            except InputError:
                pass  # found again row by row, with all others
        problems, answers, fitted = Problems(self.limit), list[Answer](), None
        document = document.collecting(problems)
        try:
            answers = list(one.read(document))
            fitted = None if items is None else one.fit(items, answers, document)
        except InputError as error:
            problems.end(error)
        known = {**self.items, test_set: items or []}
        self._add_file(test_set, document.path, problems,
                       Diagnosis(document, reader, answers, known, test_set, problems.counts))
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


def read_submission(one: Declared, items: Sequence[Item] | None, collector: Collector | None) -> list[FittedFile]:
    """Read the files of a submission and join them with the items.

    Args:
        one: The submission, with its files loaded.
        items: The items of the gold; None if the gold is refused, which only a check can do without.
        collector: Where all problems are added; None: the first is raised.

    Returns:
        The joined files; empty without items.

    Raises:
        InputError: The first problem.
    """
    files, errors = list[FittedFile](), list[InputError]()
    for document in one.documents:
        bounded = document if items is None else one.bounded(document, items)
        try:
            fitted = one.fit(items or (), one.read(bounded), bounded) if collector is None else collector.read_file(
                one, bounded, items)
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
    """Raise the first problem that was collected."""
    for of_file in problems:
        if of_file.counts:
            raise of_file.found[0]
