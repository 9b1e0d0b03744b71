"""A run up to its first test, in a transaction that is undone: what `apply`, `score` and `compare` would refuse."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from registry.errors import RegistryError
from registry.evaluation.apply import apply
from registry.evaluation.declared import Declared, Refuse
from registry.evaluation.readings import Readings
from registry.evaluation.requests import declared_request
from registry.evaluation.resolve import ResolvedTask
from registry.evaluation.score import score
from registry.evaluation.vetting import vet
from registry.store import catalog
from registry.store.database import Database
from registry.store.journal import Journal
from registry.store.session import writing


def rehearse(task: ResolvedTask, content: bytes, submissions: Sequence[Declared], database: Database | None,
             refuse: Refuse, progress: Callable[[int, int], None] | None = None) -> list[str]:
    """Bring a task in, score it, and look at its boards; gives what a reader must be warned of.

    Args:
        task: The resolved manifest.
        content: The manifest's bytes.
        submissions: All that the manifest declares; those that are refused take no part.
        database: Where to; it stays as it is. None: a new one.
        refuse: Called with each error, also of the database itself.
        progress: Called with the submissions that are scored and all of them.
    """
    warnings: list[str] = []
    errors: list[RegistryError] = []
    journal = Journal("check", {"manifest": str(task.root.manifest)})
    with tempfile.TemporaryDirectory() as folder:
        target = database or Database(Path(folder) / "registry.duckdb")
        try:
            with writing(target, journal, create=True, dry_run=True) as session:
                connection, readings = session.connection, Readings()
                applied = apply(connection, journal, readings, task, content, submissions, errors.append)
                warnings += applied.of_registry
                (row,) = catalog.tasks(connection, task.manifest.task.id)
                score(connection, journal, readings, row, progress=progress, refuse=errors.append)
                if not errors:
                    vetted = vet(connection, row, declared_request(row))
                    warnings += vetted.warnings
                    errors += vetted.refusals
        except RegistryError as error:
            errors.append(error)
    for found in errors:
        refuse(found)
    return warnings
