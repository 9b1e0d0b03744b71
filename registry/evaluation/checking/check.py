"""A manifest, or submissions, checked as `run` would refuse them: all that is wrong with them at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from registry.columns import AnswerColumns
from registry.errors import InputError, ManifestError, RegistryError
from registry.evaluation.checking.diagnosis import Diagnosis
from registry.evaluation.checking.task_pack import expected_documents, expected_items
from registry.evaluation.ingest.content import digest_of_runs, run_digest
from registry.evaluation.ingest.declared import Declared, check_runs, declared
from registry.evaluation.ingest.gold_items import Name, check_names
from registry.evaluation.ingest.join import Joined, disagreements, join
from registry.evaluation.ingest.last_document import LastDocument
from registry.evaluation.ingest.remarks import FEW, of_copy, of_gold, of_runs, of_submission
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.scoring.item_statistics import computed
from registry.items import Answer, Item
from registry.readers import Document, Problems, Reader

if TYPE_CHECKING:
    from registry.evaluation.comparing.plan import Plan
    from registry.evaluation.ingest.mistakes.similar_names import SimilarNames
    from registry.significance import Execution
    from registry.store.database import Database


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a task or a submission, or (not `fatal`) that is let pass but worth knowing.

    Attributes:
        test_set: The test set that the file is for; empty where it is none.
        error: What is wrong and where; its `category` is a word for it that programs can rely on.
        cause: What has likely brought it about, where that can be told.
        fatal: Whether the file is refused for it.
        exit_code: The exit status of a command that refuses it.
    """

    test_set: str
    error: InputError
    cause: str = ""
    fatal: bool = True
    exit_code: int = InputError.exit_code


@dataclass
class Checked:
    """What a check read and found.

    Of each file at most `limit` problems are listed; `unlisted` counts the others, by file and category. `similar` are
    names that look alike. `plan` is what a run of the task will do, where nothing is refused.
    """

    limit: int | None = None
    items: dict[str, int] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    similar: list[SimilarNames] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: Counter[tuple[str, str]] = field(default_factory=Counter)
    plan: Plan | None = None

    @property
    def exit_code(self) -> int:
        """The exit status of a command that refuses what is wrong here; 0 where nothing is."""
        return next((problem.exit_code for problem in self.problems if problem.fatal), 0)

    def refuse(self, error: RegistryError) -> None:
        """Note what is wrong with a task, which may be several things at once."""
        for one in (error, *error.others):
            given = one if isinstance(one, InputError) else InputError(str(one), category="database")
            self.problems.append(Problem("", given, exit_code=one.exit_code))

    def note(self, test_set: str, path: str, problems: Problems, diagnosis: Diagnosis | None = None) -> None:
        """Note what is wrong with a file."""
        of_lines = sorted(problems.found, key=lambda error: math.inf if error.line is None else error.line)
        self.problems += [Problem(test_set, error, diagnosis.cause(error) if diagnosis else "") for error in of_lines]
        if problems.stopped is not None:
            self.problems.append(Problem(test_set, problems.stopped, fatal=False))
        listed = Counter[str](error.category for error in problems.found)
        self.unlisted += Counter({(path, category): n for category, n in (problems.counts - listed).items()})


def check(task: ResolvedTask, submissions: Sequence[Declared], *, limit: int | None = None) -> Checked:
    """Check submissions against a task; list at most `limit` problems of each file.

    What is wrong is collected, nothing is raised for it.
    """
    checked = Checked(limit)
    items = _expected(task, checked)
    uncounted: list[Problem] = []  # told after what is wrong with the files
    for submission, runs in _sound(submissions, items, checked):
        if submission.test_set.gold is None:
            continue
        name, policies = submission.test_set.name, submission.policies
        scored = computed(items[name], [run.answers for run in runs], policies.missing, policies.metrics)
        if isinstance(scored, list):
            path = submission.documents[0].path
            uncounted += [Problem(name, InputError(
                error.message, path=path, item=error.item, category=error.category)) for error in scored]
    checked.problems += uncounted
    return checked


def check_task(task: ResolvedTask, content: bytes, execution: Execution, database: Database | None = None, *,
               limit: int | None = None) -> Checked:
    """Check a manifest with its gold and all its submissions, as `apply`, `score` and `compare` would refuse them.

    After the files, all is brought in and scored in a transaction that is undone, and every board is looked at; nothing
    is tested.

    Args:
        task: The resolved manifest.
        content: The manifest's bytes.
        execution: Who computes, and is told how far it is.
        database: The registry that they are held against, which stays as it is; None: a new one.
        limit: The most problems of each file that are listed.
    """
    from registry.evaluation.checking.rehearsal import (
        rehearse,  # where submissions are checked there may be no database
    )

    checked = Checked(limit)
    items = _expected(task, checked)
    submissions = list(declared(task, checked.refuse))
    check_runs(task, submissions, checked.refuse)
    has_gold = all(test_set.gold is not None and test_set.name in items for test_set in task.manifest.test_set)
    if has_gold:
        try:
            checked.warnings += check_names(task, {
                name: partial(_names, task.readers[name], of_set) for name, of_set in items.items()})
        except ManifestError as error:
            checked.refuse(error)
    for _ in _sound(submissions, items, checked):
        pass
    if has_gold and not any(isinstance(problem.error, ManifestError) for problem in checked.problems):
        told = {str(problem.error) for problem in checked.problems}

        def refuse(error: RegistryError) -> None:
            if str(error) not in told:  # by the check of the file
                checked.refuse(error)

        warnings, checked.similar, checked.plan = rehearse(task, content, submissions, database, execution, refuse)
        checked.warnings += warnings
    return checked


def _expected(task: ResolvedTask, checked: Checked) -> dict[str, list[Item]]:
    """The items of every test set whose files are all right."""
    expected: dict[str, list[Item]] = {}
    for test_set in task.manifest.test_set:
        try:
            documents = expected_documents(task, test_set)
        except InputError as error:
            checked.refuse(error)
            continue
        problems = {role: Problems(checked.limit) for role in documents}
        try:
            found = expected_items(task, test_set, {
                role: document.collect(problems[role]) for role, document in documents.items()})
        except InputError as error:
            of = next((role for role, document in documents.items() if document.path == error.path), "gold")
            problems[of].end(error)
        for role, document in documents.items():
            checked.note(test_set.name, document.path, problems[role])
        if not any(of_file.counts for of_file in problems.values()):
            expected[test_set.name] = found
            checked.items[test_set.name] = len(found)
            if test_set.gold is not None:
                checked.warnings += of_gold(found, task.readers[test_set.name], documents["gold"].path,
                                            task.metrics)
    return expected


def _names(reader: Reader, items: Sequence[Item], name: Name) -> set[str]:
    """The types or the keys of the answers in the gold."""
    return {getattr(answer, name) for item in items for answer in reader.answer_set(item.gold)}


def _sound(submissions: Sequence[Declared], items: Mapping[str, Sequence[Item]],
           checked: Checked) -> Iterator[tuple[Declared, list[Joined]]]:
    """Check every file; gives the submissions that none of theirs is refused of, with their runs."""
    first: dict[tuple[str, str], Declared] = {}
    cache = LastDocument()  # one file may hold many systems
    for submission in submissions:
        try:
            documents = submission.loaded(cache.load).documents
        except InputError as error:
            checked.refuse(error)
            continue
        name = submission.test_set.name
        files = [_check(document, submission, items, checked) for document in documents]
        sound = [file for file in files if file is not None]
        remarks = list(of_runs(documents))
        if is_sound := 0 < len(sound) == len(files):
            same = first.setdefault((name, digest_of_runs([digest for digest, _ in sound])), submission)
            if len(items[name]) >= FEW and (same.team, same.system) != (submission.team, submission.system):
                remarks.append(of_copy(same.name).error(documents[0].path))
        checked.problems += [Problem(name, remark, fatal=False) for remark in remarks]
        if is_sound:
            yield submission, [joined for _, joined in sound]


def _check(document: Document, submission: Declared, items: Mapping[str, Sequence[Item]],
           checked: Checked) -> tuple[str, Joined] | None:
    """Check one file, a run of the submission; against no items where those of its test set are wrong.

    Gives the digest of what it says, and its answers joined with the items; nothing where it is refused or there are
    no items.
    """
    name, reader = submission.test_set.name, submission.reader
    problems = Problems(checked.limit)
    answers: Sequence[Answer] = []
    remarks: list[InputError] = []
    joined: Joined | None = None
    bounded = submission.bounded(document, items[name]) if name in items else document
    try:
        if (at_once := _at_once(bounded, submission, items.get(name))) is not None:
            answers, joined = at_once
        else:
            answers = submission.read(bounded.collect(problems))
            joined = _joined(document.path, answers, submission, items[name], problems) if name in items else None
        if joined is not None:
            remarks = [remark.error(document.path) for remark in of_submission(
                items[name], joined, reader, document, missing=submission.policies.missing,
                with_gold=submission.test_set.gold is not None)]
    except InputError as error:
        problems.end(error)
    checked.files.append(document.path)
    diagnosis = Diagnosis(bounded, reader, answers, {**items, name: items.get(name, [])}, name, problems.counts)
    checked.note(name, document.path, problems, diagnosis)
    checked.problems += [Problem(name, error, fatal=False) for error in (*problems.notes, *remarks)]
    return None if problems.counts or joined is None else (run_digest(reader, items[name], answers), joined)


def _at_once(document: Document, submission: Declared,
             items: Sequence[Item] | None) -> tuple[Sequence[Answer], Joined] | None:
    """Read and join a file of columns in which nothing is wrong; None where it is not known to be one."""
    reader = submission.reader
    if items is None or not reader.gives_columns:
        return None
    try:
        answers = submission.read(document)
        if not isinstance(answers, AnswerColumns) or reader.declare(document).has_notes:
            return None
        joined = join(items, answers, reader, submission.policies, document.path)
        if joined.n_missing and any(submission.uncounted(items, joined.answers, document.path)):
            return None
    except InputError:
        return None
    return answers, joined


def _joined(path: str, answers: Sequence[Answer], submission: Declared, items: Sequence[Item],
            problems: Problems) -> Joined | None:
    """Join answers with the items, where they could all be read and go with these; else add why they do not."""
    reader, policies = submission.reader, submission.policies
    assigned = reader.assign(items, answers, path)
    for error in disagreements(items, assigned, reader, policies, path):
        problems.add(error)
    answered = {answer.key: answer for answer in assigned}
    for error in submission.uncounted(items, [answered.get(item.key) for item in items], path):
        problems.add(error)
    return None if problems.counts else Joined.of(items, assigned, reader, policies)
