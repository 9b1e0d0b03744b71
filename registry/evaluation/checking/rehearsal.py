"""A run up to its first test, in a transaction that is undone: what `apply`, `score` and `compare` would refuse."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from registry.errors import Refuse, RegistryError
from registry.evaluation.comparing.plan import Plan, plan
from registry.evaluation.comparing.settings import declared_request
from registry.evaluation.comparing.vetting import vet
from registry.evaluation.ingest.apply import apply
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.declared import Declared
from registry.evaluation.ingest.mistakes.similar_names import SimilarNames
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.scoring.score import score
from registry.significance import Execution
from registry.store.database import Database
from registry.store.log.journal import Journal
from registry.store.session import writing


def rehearse(task: ResolvedTask, content: bytes, submissions: Sequence[Declared], database: Database | None,
             execution: Execution, refuse: Refuse) -> tuple[list[str], list[SimilarNames], Plan | None]:
    """Bring a task in, score it, look at its boards, and plan their comparisons.

    Args:
        task: The resolved manifest.
        content: The manifest's bytes.
        submissions: All that the manifest declares; those that are refused take no part.
        database: Where to; it stays as it is. None: a new one.
        execution: Who computes, and is told how far it is.
        refuse: Called with each error, also of the database itself.

    Returns:
        What to warn of; names that look alike; and what the run will do, None where something is refused.
    """
    warnings, similar, planned, errors = list[str](), list[SimilarNames](), None, list[RegistryError]()
    journal = Journal("check", {"manifest": task.root.manifest_name})
    with tempfile.TemporaryDirectory() as folder:
        target = database or Database(Path(folder) / "registry.duckdb")
        try:
            with writing(target, journal, create=True, dry_run=True) as session:
                connection = session.connection
                ingest = Ingest(connection, journal, task, progress=execution.progress, refuse=errors.append)
                applied = apply(ingest, content, submissions)
                warnings += applied.of_registry
                similar += applied.similar
                score(ingest, execution)
                if not errors:
                    request = declared_request(ingest.row, execution=execution)
                    vetted = vet(connection, ingest.row, request)
                    warnings += map(str, vetted.warnings)
                    errors += vetted.refusals
                    planned = None if errors else plan(connection, vetted, request)
        except RegistryError as error:
            errors.append(error)
    for found in errors:
        refuse(found)
    return warnings, similar, planned
