"""Commands about tasks: init, run, apply, submit."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.console import say, show_boards
from registry.cli.execution import Cluster, Memory, Quiet, Workers, execution, say_plan, say_unused
from registry.cli.options import (
    Actor,
    Db,
    DryRun,
    ManifestPath,
    OutputFormat,
    Root,
    actor_name,
    database,
    named_values,
)
from registry.cli.progress import reporter

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from registry.evaluation import Applied, Compared, Scored
    from registry.evaluation.resolve import ResolvedTask
    from registry.significance import Execution
    from registry.store.journal import Journal
    from registry.store.row_types import TaskRow
    from registry.store.session import Session


class Missing(StrEnum):
    """The policies for items without an answer."""

    reject = "reject"
    worst = "worst"
    drop = "drop"
    own = "own"


class Kind(StrEnum):
    """The kinds of submissions."""

    primary = "primary"
    contrastive = "contrastive"
    baseline = "baseline"


def init(db: Db = None) -> None:
    """Create the registry, or upgrade it to this program's schema.

    An upgrade writes a new file, which holds nothing of what is no more in the registry, and keeps the old one.
    """
    from registry.store.rewrite import upgrade

    target = database(db)
    created = target.create()
    kept = None if created else upgrade(target)
    say(f"{target.path}: " + ("created" if created else "nothing changed" if kept is None else "upgraded"))
    if kept is not None:
        say(f"{kept}: the file as it was, which may name paths and accounts; remove it when all is well")


def run(context: typer.Context, manifest: ManifestPath, root: Root = None, db: Db = None, format_: OutputFormat = None,
        workers: Workers = None, cluster: Cluster = None, memory: Memory = None, actor: Actor = None,
        dry_run: DryRun = False, quiet: Quiet = False) -> None:
    """Do the whole job: apply, score, compare, print boards."""
    from registry.leaderboards.load import declared_leaderboards
    from registry.store.journal import Journal
    from registry.store.session import writing

    task, content = resolved(manifest, root)
    how = execution(workers, cluster, memory, quiet=quiet)
    journal = Journal("run", {"manifest": task.root.manifest_name}, actor=actor_name(actor))
    with writing(database(db), journal, create=True, dry_run=dry_run) as session:
        row, scored, compared = bring_up(session, journal, task, content, how)
        boards = declared_leaderboards(session.connection, row)
    say_results(scored, compared)
    say_unused(context, compared, scored)
    say_end(changed=journal.changed, dry_run=dry_run)
    show_boards(boards, format_)


def apply(manifest: ManifestPath, root: Root = None, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
          quiet: Quiet = False) -> None:
    """Bring what a manifest declares into the registry.

    Files that are there already are left alone.
    """
    from registry.evaluation import ParseCache
    from registry.evaluation import apply as apply_task
    from registry.store.journal import Journal
    from registry.store.session import writing

    task, content = resolved(manifest, root)
    journal = Journal("apply", {"manifest": task.root.manifest_name}, actor=actor_name(actor))
    with writing(database(db), journal, create=True, dry_run=dry_run) as session:
        applied = apply_task(session.connection, journal, ParseCache(), task, content, progress=reporter(quiet=quiet))
    say_applied(applied)
    say_end(changed=journal.changed, dry_run=dry_run, then="`registry score` and `registry compare` bring boards up")


def submit(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")],
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The system's output; several are its runs.")],
    system: Annotated[str, typer.Option("--system", help="The system's name.")],
    team: Annotated[str | None, typer.Option("--team", help="Its team's name; else the system's.")] = None,
    test_set: Annotated[str | None, typer.Option("--test-set", help="Needed where the task has several.")] = None,
    kind: Annotated[Kind, typer.Option("--kind", help="What the submission is.")] = Kind.primary,
    version: Annotated[str, typer.Option("--version", help="Distinguishes submissions of one system.")] = "1",
    track: Annotated[str | None, typer.Option("--track", help="The track it takes part in.")] = None,
    missing: Annotated[Missing | None, typer.Option("--missing", help="What to do about items without answer.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
        "An option of the reader, as the manifest would write it; can be repeated."))] = None,
    db: Db = None,
    actor: Actor = None,
    dry_run: DryRun = False,
) -> None:
    """Bring one more submission to a task into the registry.

    It is read under the rules of the task, which is there.
    """
    from registry.evaluation import ParseCache
    from registry.evaluation import submit as submit_one
    from registry.evaluation.ingest.declared import declare, natural
    from registry.evaluation.resolve import resolve_stored
    from registry.manifest import submit_entry
    from registry.readers import Document
    from registry.store import catalog
    from registry.store.journal import Journal
    from registry.store.session import writing

    paths = sorted(map(str, file), key=natural)
    documents = [Document.load(path) for path in paths]
    entry = submit_entry(file=", ".join(paths), system=system, team=team, test_set=test_set, kind=kind.value,
                         version=version, track=track, missing=missing and missing.value,
                         options=named_values(option or [], "--option"))
    journal = Journal("submit", {"task": task, **entry.model_dump(mode="json", exclude_defaults=True),
                                 "file": ", ".join(document.name for document in documents)}, actor=actor_name(actor))
    with writing(database(db), journal, dry_run=dry_run) as session:
        (row,) = catalog.tasks(session.connection, task)
        one = declare(resolve_stored(row.manifest, task), entry, documents, {}, "")
        applied = submit_one(session.connection, journal, ParseCache(), row, one)
    say_applied(applied)
    say_end(changed=journal.changed, dry_run=dry_run, then="`registry score` and `registry compare` bring boards up")


def resolved(manifest: Path, root: Path | None) -> tuple[ResolvedTask, bytes]:
    """Read a manifest and resolve its names; give the bytes that were read too."""
    from registry.errors import ManifestError
    from registry.evaluation.resolve import resolve
    from registry.manifest import load_manifest

    if root is not None and not root.is_dir():
        raise ManifestError(f"--root {root} is no folder", path=manifest)
    specification, content = load_manifest(manifest)
    return resolve(specification, manifest, root), content


def bring_up(session: Session, journal: Journal, task: ResolvedTask, content: bytes,
             how: Execution) -> tuple[TaskRow, Scored, Compared]:
    """Apply, score and compare what a manifest declares; gives the task's row too."""
    from registry.evaluation import ParseCache, apply, compare, declared_request, score
    from registry.evaluation.comparing.plan import plan
    from registry.store import catalog

    readings = ParseCache()
    session.bound(how.memory)
    applied = apply(session.connection, journal, readings, task, content, progress=how.progress)
    say_applied(applied)
    (row,) = catalog.tasks(session.connection, task.manifest.task.id)
    scored = score(session.connection, journal, readings, row, how.workers, how.progress)
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
        say("nothing changed")
    elif dry_run:
        say("dry run: nothing was written")
    elif then:
        say(f"next: {then} to date")
