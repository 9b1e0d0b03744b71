"""The main job as commands do it: a manifest resolved, applied, scored and compared, and what is told of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from registry.cli.console import say
from registry.cli.execution import say_plan
from registry.errors import ManifestError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from registry.evaluation.comparing.compare import Compared
    from registry.evaluation.ingest.apply import Applied
    from registry.evaluation.resolve import ResolvedTask
    from registry.evaluation.scoring.score import Scored
    from registry.significance import Execution
    from registry.store.journal import Journal
    from registry.store.row_types import TaskRow
    from registry.store.session import Session


def resolved(manifest: Path, root: Path | None) -> tuple[ResolvedTask, bytes]:
    """Read a manifest and resolve its names; give the bytes that were read too."""
    from registry.evaluation.resolve import resolve
    from registry.manifest import load_manifest

    if root is not None and not root.is_dir():
        raise ManifestError(f"--root {root} is no folder", path=manifest)
    specification, content = load_manifest(manifest)
    return resolve(specification, manifest, root), content


def bring_up(session: Session, journal: Journal, task: ResolvedTask, content: bytes,
             how: Execution) -> tuple[TaskRow, Scored, Compared]:
    """Apply, score and compare what a manifest declares; gives the task's row too."""
    from registry.evaluation.comparing.compare import compare
    from registry.evaluation.comparing.plan import plan
    from registry.evaluation.comparing.settings import declared_request
    from registry.evaluation.ingest.apply import apply
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.scoring.score import score
    from registry.store import catalog

    session.bound(how.memory)
    ingest = Ingest(session.connection, journal, task, progress=how.progress)
    say_applied(apply(ingest, content))
    scored = score(ingest, how)
    (row,) = catalog.tasks(session.connection, ingest.slug)
    request = declared_request(row, execution=how)

    def begin() -> Connection:
        say_plan(plan(session.connection, row, request), how)
        session.checkpoint()  # nothing is kept before it is known that nothing is refused
        return session.connection

    return row, scored, compare(session.connection, journal, row, request, begin)


def say_applied(applied: Applied) -> None:
    """Tell what was brought in."""
    for warning in applied.of_registry + applied.warnings:
        say(f"warning: {warning}")
    for note in applied.notes:
        say(f"note: {note}")
    if applied.drawn_seed is not None:
        say(f"no seed was given: drew {applied.drawn_seed}, kept with the task")
    changes = Counter(applied.changes.values())
    parts = [f"{n} {change.value}" for change in sorted(changes) if (n := changes[change])]
    gold = f"gold of {', '.join(applied.gold)} new; " if applied.gold else ""
    say(f"{applied.task}: {gold}submissions: {', '.join(parts) or 'none'}")


def say_results(scored: Scored | None = None, compared: Compared | None = None) -> None:
    """Tell what was computed."""
    if scored is not None and scored.computed:
        say(f"scores: {scored.computed} computed, {scored.unchanged} there already")
    for warning in compared.warnings if compared is not None else ():
        say(f"warning: {warning}")
    for note in compared.notes if compared is not None else ():
        say(f"note: {note}")
    if compared is not None and compared.made:
        say(f"comparisons: {compared.made} made; pairs: {compared.pairs_computed} tested, {compared.pairs_found} known")


def say_end(*, changed: bool, dry_run: bool, then: str = "") -> None:
    """Tell whether anything was written, and what comes next, if anything does."""
    if not changed:
        say_unchanged("nothing changed")
    elif dry_run:
        say("dry run: nothing was written")
    elif then:
        say(f"next: {then} to date")


def say_unchanged(message: str) -> None:
    """Tell that everything was there; who changes the code is told why the numbers are those of before."""
    from registry.provenance import code

    say(message)
    if code().dirty:
        say("note: the code differs from its revision; `registry score --stale` computes scores anew whose metric is "
            "other code; all else is known by its name and the package's version, not computed anew: take another --db")
