"""What `run` and `submit` would refuse, all of it at once: ingest with a collector of problems, and nothing stored."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from registry.errors import InputError, ManifestError, RegistryError
from registry.evaluation.checking.task_pack import expected_documents, expected_items
from registry.evaluation.ingest.declared import Declared, LastDocument, declared
from registry.evaluation.ingest.fit import content_digest
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
class Checked(Collector):
    """The problems that a check collected.

    Attributes:
        warnings: Warnings about the task.
        similar: Names that look alike.
        plan: What a run of the task will do; None if something is refused, or submissions alone are checked.
    """

    warnings: list[str] = field(default_factory=list)
    similar: list[SimilarNames] = field(default_factory=list)
    plan: Plan | None = None


def check(task: ResolvedTask, submissions: Sequence[Declared], *, limit: int | None = None) -> Checked:
    """Check submissions against a task or its pack, without a registry; list at most `limit` problems of each file."""
    checked = Checked(limit)
    for test_set in task.manifest.test_set:
        try:
            gold = checked.read_gold(test_set.name, expected_documents(task, test_set),
                                     partial(expected_items, task, test_set))
        except InputError as error:
            checked.refuse(error)
            continue
        if test_set.gold is not None:
            checked.warnings += find_gold_warnings(gold, task.readers[test_set.name], test_set.gold, task.metrics)
    first: dict[tuple[str, str], Declared] = {}
    cache = LastDocument()  # one file may hold many systems
    uncountable: list[Problem] = []  # listed after the problems of the files
    for one in submissions:
        name, items = one.test_set.name, checked.items.get(one.test_set.name)
        try:
            one = one.loaded(cache.load)
            checked.warn(name, list(find_equal_files(one.documents)))
            files = read_submission(one, items, checked)
        except InputError as error:
            checked.refuse(error)
            continue
        for file, document in zip(files, one.documents, strict=False):
            checked.warn(name, [remark.error(document.path) for remark in file.remarks])
        if items is None:
            continue
        digest = content_digest(one.reader, items, [file.answers for file in files])
        same = first.setdefault((name, digest), one)
        if len(items) >= FEW and (same.team, same.system) != (one.team, one.system):
            checked.warn(name, [describe_copy(same.name).error(one.documents[0].path)])
        if one.test_set.gold is not None:
            scored = compute_statistics(items, [file.joined for file in files], one.policies.missing,
                                        one.policies.metrics)
            uncountable += [Problem(name, InputError(
                fault.message, path=one.documents[0].path, item=fault.item, category=fault.category))
                for fault in scored] if isinstance(scored, list) else []
    checked.problems += uncountable
    return checked


def check_task(task: ResolvedTask, content: bytes, execution: Execution, database: Database | None = None, *,
               limit: int | None = None) -> Checked:
    """Check a manifest with its gold and all its submissions, as `run` would refuse them.

    `apply` and `score` work in a temporary copy of the registry, and every board is looked at; nothing is tested.

    Args:
        task: The resolved manifest.
        content: The manifest's bytes.
        execution: Who computes, and is told how far it is.
        database: The registry whose content counts, which stays as it is; None: a new one.
        limit: The most problems of each file that are listed.
    """
    if any(test_set.gold is None for test_set in task.manifest.test_set):  # a task pack
        refused = list[RegistryError]()
        checked = check(task, list(declared(task, refused.append)), limit=limit)
        for error in refused:
            checked.refuse(error)
        return checked
    # a competition's platform, where submissions are checked, may have no database
    from registry.evaluation.comparing.plan import plan
    from registry.evaluation.comparing.settings import build_request
    from registry.evaluation.comparing.vetting import vet
    from registry.evaluation.ingest.apply import apply
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.scoring.score import score
    from registry.store.database import Database
    from registry.store.log import Journal
    from registry.store.session import writing

    checked = Checked(limit)
    journal = Journal("check", {"manifest": task.root.manifest_name})
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        new = Database(Path(folder) / "registry.duckdb")
        try:
            session = stack.enter_context(writing(database or new, journal, create=True, dry_run=True))
        except RegistryError as error:
            checked.refuse(error)
            session = stack.enter_context(writing(new, journal, create=True, dry_run=True))
        ingest = Ingest(session.connection, journal, task, execution.progress, checked.refuse, checked)
        try:
            applied = apply(ingest, content)
            checked.warnings += applied.warnings + applied.of_registry
            checked.similar += applied.similar
            if len(checked.items) == len(task.manifest.test_set) and not any(
                    isinstance(problem.error, ManifestError) for problem in checked.problems):
                score(ingest, execution)
            if not checked.exit_code:
                request = build_request(ingest.row, execution=execution)
                vetted = vet(session.connection, ingest.row, request)
                checked.warnings += map(str, vetted.warnings)
                for refusal in vetted.refusals:
                    checked.refuse(refusal)
                checked.plan = None if vetted.refusals else plan(session.connection, vetted, request)
        except RegistryError as error:
            checked.refuse(error)
    return checked
