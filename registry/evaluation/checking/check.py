"""Report all problems of a task or of submissions, without storing anything."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from registry.errors import InputError, ManifestError, RegistryError
from registry.evaluation.checking.task_pack import load_expected_documents, read_expected_items
from registry.evaluation.ingest.declared import DeclaredSubmission, LastFileCache, expand_submissions
from registry.evaluation.ingest.fit import digest_submission
from registry.evaluation.ingest.problems import Collector, Problem, read_submission
from registry.evaluation.ingest.remarks import FEW, describe_copy, find_equal_files, find_gold_warnings
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.scoring.measure import compute_statistics

if TYPE_CHECKING:
    from registry.evaluation.comparing.plan import Plan
    from registry.evaluation.ingest.similar_names import SimilarNames
    from registry.significance import Execution
    from registry.store.database import Database


@dataclass
class CheckResult(Collector):
    """Problems that a check has found in a task and its files.

    Attributes:
        warnings: Warnings about the task.
        similar: Pairs of new names of teams or systems that look the same.
        plan: The estimated cost of comparing the systems; None if there are errors, or if no leaderboard was checked.
    """

    warnings: list[str] = field(default_factory=list)
    similar: list[SimilarNames] = field(default_factory=list)
    plan: Plan | None = None


def check(task: ResolvedTask, submissions: Sequence[DeclaredSubmission], *, limit: int | None = None) -> CheckResult:
    """Find all problems in submitted files, without a database.

    Each file is read, and its answers are matched with the items of the test set. If the gold is available, the
    statistics of all metrics are computed, too.

    Args:
        task: The task with its readers and metrics; or a task pack, which is a task without gold for participants.
        submissions: The submissions, whose files are loaded one by one.
        limit: The largest number of problems per file to list; None: no limit.
    """
    result = CheckResult(limit)
    for test_set in task.manifest.test_set:
        try:
            gold = result.read_gold(test_set.name, load_expected_documents(task, test_set),
                                    partial(read_expected_items, task, test_set))
        except InputError as error:
            result.refuse(error)
            continue
        if test_set.gold is not None:
            result.warnings += find_gold_warnings(gold, task.readers[test_set.name], test_set.gold,
                                                   task.get_metrics(test_set.name))
    first_by_content: dict[tuple[str, str], DeclaredSubmission] = {}
    cache = LastFileCache()
    scoring_problems: list[Problem] = []  # listed after the problems of the files
    for declared in submissions:
        name, items = declared.test_set.name, result.items.get(declared.test_set.name)
        try:
            submission = declared.load_files(cache.load)
            result.warn(name, list(find_equal_files(submission.documents)))
            files = read_submission(submission, items, result)
        except InputError as error:
            result.refuse(error)
            continue
        for file, document in zip(files, submission.documents, strict=False):
            result.warn(name, [remark.error(document.path) for remark in file.remarks])
        if items is None:
            continue
        digest = digest_submission(submission.reader, items, [file.answers for file in files])
        same = first_by_content.setdefault((name, digest), submission)
        if len(items) >= FEW and (same.team, same.system) != (submission.team, submission.system):
            result.warn(name, [describe_copy(same.name).error(submission.documents[0].path)])
        if submission.test_set.gold is not None:
            computed = compute_statistics(items, [file.joined for file in files], submission.policies.missing,
                                          submission.policies.metrics)
            scoring_problems += [Problem(name, InputError(
                error.message, path=submission.documents[0].path, item=error.item, category=error.category))
                for error in computed] if isinstance(computed, list) else []
    result.problems += scoring_problems
    return result


def check_task(task: ResolvedTask, content: bytes, execution: Execution, database: Database | None = None, *,
               limit: int | None = None) -> CheckResult:
    """Find all problems in a manifest, its gold and all its submissions.

    Like the command `run`, `check_task` ingests and scores the submissions, but in a temporary copy of the registry. It
    checks that the test applies to every leaderboard, but runs no test. Of a task pack (a task without gold), only the
    files are checked.

    Args:
        task: The manifest with its readers and metrics.
        content: The manifest's bytes.
        execution: Number of workers, memory, and a function that receives the progress.
        database: The registry, which does not change; None: an empty registry.
        limit: The largest number of problems per file to list; None: no limit.
    """
    if any(test_set.gold is None for test_set in task.manifest.test_set):  # a task pack
        errors = list[RegistryError]()
        result = check(task, list(expand_submissions(task, errors.append)), limit=limit)
        for error in errors:
            result.refuse(error)
        return result
    # Imported late, because a competition platform that only checks submissions may not have duckdb.
    from registry.evaluation.comparing.plan import plan
    from registry.evaluation.comparing.settings import build_request
    from registry.evaluation.comparing.vetting import vet
    from registry.evaluation.ingest.apply import apply
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.scoring.score import score
    from registry.store.database import Database
    from registry.store.log import Journal
    from registry.store.session import writing

    result = CheckResult(limit)
    journal = Journal("check", {"manifest": task.root.manifest_name})
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        new = Database(Path(folder) / "registry.duckdb")
        try:
            session = stack.enter_context(writing(database or new, journal, create=True, dry_run=True))
        except RegistryError as error:
            result.refuse(error)
            session = stack.enter_context(writing(new, journal, create=True, dry_run=True))
        ingest = Ingest(session.connection, journal, task, execution.progress, result.refuse, result)
        try:
            summary = apply(ingest, content)
            result.warnings += summary.warnings + summary.registry_warnings
            result.similar += summary.similar
            if len(result.items) == len(task.manifest.test_set) and not any(
                    isinstance(problem.error, ManifestError) for problem in result.problems):
                score(ingest, execution)
            if not result.exit_code:
                request = build_request(ingest.row, execution=execution)
                vetted = vet(session.connection, ingest.row, request)
                result.warnings += map(str, vetted.warnings)
                for refusal in vetted.refusals:
                    result.refuse(refusal)
                result.plan = None if vetted.refusals else plan(session.connection, vetted, request)
        except RegistryError as error:
            result.refuse(error)
    return result
