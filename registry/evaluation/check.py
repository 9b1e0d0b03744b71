"""A manifest, or submissions, checked as `apply` would, without a database: all that is wrong with them at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from registry.errors import InputError
from registry.evaluation.alignment import align, disagreements
from registry.evaluation.declared import Declared, check_runs, declared
from registry.evaluation.diagnosis import Diagnosis
from registry.evaluation.gold import Name, check_names
from registry.evaluation.item_lists import expected_items
from registry.evaluation.remarks import FEW, of_copy, of_gold, of_runs, of_submission
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.submissions import digest_of_runs, run_digest
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
        if test_set.gold is not None:
            checked.warnings += [str(remark.error(test_set.gold)) for remark in of_gold(
                items[test_set.name], task.readers[test_set.name])]
    if submissions is None:
        submissions = list(declared(task))
        check_runs(task, submissions)
        with_gold = [test_set.name for test_set in task.manifest.test_set if test_set.gold is not None]
        if with_gold:
            checked.warnings += check_names(task, {
                name: partial(_names, task.readers[name], items[name]) for name in with_gold})
    first: dict[tuple[str, str], Declared] = {}
    for submission in submissions:
        documents = submission.documents
        digests = [_check(document, submission, items, checked, limit) for document in documents]
        remarks = list(of_runs(documents))
        if all(digests) and len(items[submission.test_set.name]) >= FEW:
            same = first.setdefault((submission.test_set.name, digest_of_runs(digests)), submission)
            if (same.team, same.system) != (submission.team, submission.system):
                remarks.append(of_copy(same.name).error(documents[0].path))
        checked.problems += [Problem(submission.test_set.name, remark, fatal=False) for remark in remarks]
    return checked


def _names(reader: Reader, items: Sequence[Item], name: Name) -> set[str]:
    """The types or the keys of the answers in the gold."""
    return {getattr(answer, name) for item in items for answer in reader.answer_set(item.gold)}


def _check(document: Document, submission: Declared, items: dict[str, list[Item]], checked: Checked,
           limit: int | None) -> str:
    """Check one file, a run of the submission; gives the digest of what it says, or nothing if it is refused."""
    name, reader = submission.test_set.name, submission.reader
    problems = Problems(limit)
    answers: list[Answer] = []
    remarks: list[InputError] = []
    try:
        answers = submission.read(document.collecting(problems))
        assigned = reader.assign(items[name], answers, document.path)
        for error in disagreements(items[name], assigned, reader, missing=submission.missing, tokens=submission.tokens,
                                   path=document.path, metrics=submission.metrics):
            problems.add(error)
        if not problems.counts:
            remarks = _remarks(document, answers, submission, items[name])
    except InputError as error:
        problems.add(error)
    checked.files.append(document.path)
    if problems.counts:
        diagnosis = Diagnosis(document, reader, answers, items, name, problems.counts)
        checked.problems += [Problem(name, error, diagnosis.cause(error)) for error in sorted(
            problems.found, key=lambda error: math.inf if error.line is None else error.line)]
        checked.unlisted += problems.counts - Counter(error.category for error in problems.found)
    checked.problems += [Problem(name, error, fatal=False) for error in (*problems.notes, *remarks)]
    return "" if problems.counts else run_digest(reader, items[name], answers)


def _remarks(document: Document, answers: list[Answer], submission: Declared, items: list[Item]) -> list[InputError]:
    """What is remarkable about a file that is not refused."""
    aligned = align(items, answers, submission.reader, missing=submission.missing, tokens=submission.tokens,
                    path=document.path)
    found = of_submission(items, aligned, submission.reader, document, missing=submission.missing,
                          with_gold=submission.test_set.gold is not None)
    return [remark.error(document.path) for remark in found]
