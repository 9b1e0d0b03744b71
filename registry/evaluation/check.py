"""A manifest, or submissions, checked as `apply` would, without a database: all that is wrong with them at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from registry.errors import InputError, counted
from registry.evaluation.alignment import align, disagreements
from registry.evaluation.declared import Declared, check_runs, declared
from registry.evaluation.diagnosis import Diagnosis
from registry.evaluation.gold import Name, check_names
from registry.evaluation.item_lists import expected_items
from registry.evaluation.normal_form import another_normal_form
from registry.evaluation.resolve import ResolvedTask
from registry.items import Answer, Item
from registry.readers import Document, Problems, Reader


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a submission, or (not `fatal`) that is let pass but worth knowing.

    Attributes:
        test_set: The test set that the file is for.
        error: What is wrong and where; its `category` is a word for it that programs can rely on.
        cause: What has likely brought it about, where that can be told.
        fatal: Whether the file is refused for it.
    """

    test_set: str
    error: InputError
    cause: str = ""
    fatal: bool = True


@dataclass
class Checked:
    """What a check read and found; `unlisted` counts, by category, the problems beyond those that are listed."""

    items: dict[str, int] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: Counter[str] = field(default_factory=Counter)

    @property
    def refused(self) -> bool:
        """Whether any file is refused."""
        return any(problem.fatal for problem in self.problems)


def check(task: ResolvedTask, submissions: Sequence[Declared] | None = None, *, limit: int | None = None) -> Checked:
    """Check the whole manifest, or only the `submissions` against it; list at most `limit` problems of each file.

    Raises:
        InputError: The gold, or what the manifest declares, is wrong; problems of submissions are collected instead.
    """
    checked = Checked()
    items: dict[str, list[Item]] = {}
    for test_set in task.manifest.test_set:
        items[test_set.name] = expected_items(task, test_set)
        checked.items[test_set.name] = len(items[test_set.name])
    if submissions is None:
        submissions = list(declared(task))
        check_runs(task, submissions)
        with_gold = [test_set.name for test_set in task.manifest.test_set if test_set.gold is not None]
        if with_gold:
            checked.warnings += check_names(task, {
                name: partial(_names, task.readers[name], items[name]) for name in with_gold})
    for submission in submissions:
        for document in submission.documents:
            _check(document, submission, items, checked, limit)
    return checked


def _names(reader: Reader, items: Sequence[Item], name: Name) -> set[str]:
    """The types or the keys of the answers in the gold."""
    return {getattr(answer, name) for item in items for answer in reader.answer_set(item.gold)}


def _check(document: Document, submission: Declared, items: dict[str, list[Item]], checked: Checked,
           limit: int | None) -> None:
    """Check one file, a run of the submission."""
    name, reader = submission.test_set.name, submission.reader
    problems = Problems(limit)
    answers: list[Answer] = []
    try:
        answers = submission.read(document.collecting(problems))
        assigned = reader.assign(items[name], answers, document.path)
        for error in disagreements(items[name], assigned, reader, missing=submission.missing, tokens=submission.tokens,
                                   path=document.path):
            problems.add(error)
    except InputError as error:
        problems.add(error)
    checked.files.append(document.path)
    if problems.counts:
        diagnosis = Diagnosis(document, reader, answers, items, name, problems.counts)
        checked.problems += [Problem(name, error, diagnosis.cause(error)) for error in sorted(
            problems.found, key=lambda error: math.inf if error.line is None else error.line)]
        checked.unlisted += problems.counts - Counter(error.category for error in problems.found)
    checked.problems += [Problem(name, error, fatal=False) for error in problems.notes]
    if not problems.counts:
        if (remark := another_normal_form(document, items[name], reader)) is not None:
            checked.problems.append(Problem(name, remark, fatal=False))
        checked.problems += [Problem(name, error, fatal=False) for error in _let_pass(
            document.path, answers, submission, items[name])]


def _let_pass(path: str, answers: list[Answer], submission: Declared, items: list[Item]) -> Iterator[InputError]:
    """What the task's policies let pass."""
    aligned = align(items, answers, submission.reader, missing=submission.missing, tokens=submission.tokens, path=path)
    if aligned.n_missing:
        of = f"of {len(items)} items"
        yield InputError(f"{counted(aligned.n_missing, f'{of} has', f'{of} have')} no answer", path=path,
                         category="missing")
    if aligned.differing:
        yield InputError(f"{counted(aligned.differing, 'item has', 'items have')} tokens that differ from the gold's",
                         path=path, category="text")
