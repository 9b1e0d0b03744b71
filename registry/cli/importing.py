"""The command that makes tasks of other programs' results, and takes submissions over from other platforms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.console import say, say_all
from registry.cli.execution import Cluster, Quiet, Workers, execution
from registry.cli.guide import names
from registry.cli.options import Actor, Db, DryRun, To, Wait, actor_name, database, named_values
from registry.cli.pipeline import resolved, say_end
from registry.cli.progress import reporter
from registry.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from registry.significance import Execution
    from registry.store.database import Database

CODABENCH = "codabench"  # the kind that is no importer: its submissions go into a task that is there


def import_(
    kind: Annotated[str, typer.Argument(metavar="KIND", autocompletion=lambda: [*names.importers(), CODABENCH], help=(
        "What it is: `registry list importers`."))],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The results.")],
    task: Annotated[str | None, typer.Option("--task", help=(
        "The task's id; else the name of PATH. Of codabench: the task that the submissions are of."))] = None,
    to: To = None,
    option: Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
        "An option of the importer, as a manifest would write it; can be repeated."))] = None,
    workers: Workers = None, cluster: Cluster = None, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
    wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Make a task of another program's results.

    Its items, submissions and scores are brought in. It is written as a manifest with its files, so that `registry
    run` and everything else work on it as on any other. Of kind codabench it takes the submissions that were made there
    over into the task, which is there already.
    """
    if kind == CODABENCH:
        if to is not None:
            raise InputError("--to names the folder of a new task; submissions go into one that is there")
        _submissions(path, task, option or [], database(db, wait), actor_name(actor), dry_run=dry_run, quiet=quiet)
        return
    _task(kind, path, task, to, option or [], database(db, wait), actor_name(actor),
          execution(workers, cluster, None, quiet=quiet), dry_run=dry_run)


def _submissions(path: Path, task: str | None, option: list[str], target: Database, actor: str | None, *,
                 dry_run: bool, quiet: bool) -> None:
    """Take the submissions that a platform's organisers download over into the task that they are of."""
    from registry.at_once import applied_sentences
    from registry.competitions.download import Codabench
    from registry.evaluation.ingest.apply import bring
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.resolve import resolve_stored
    from registry.provenance import recorded_name
    from registry.store import catalog
    from registry.store.log import Journal
    from registry.store.session import writing

    if task is None:
        raise InputError("name the task that the submissions are of: --task TASK")
    options = named_values(option, "--option")
    journal = Journal("import", {"kind": CODABENCH, "path": recorded_name(path), "task": task, **options}, actor=actor)
    with writing(target, journal, dry_run=dry_run) as session:
        (row,) = catalog.tasks(session.connection, task)
        known = resolve_stored(row.manifest, task)
        download = Codabench.build(options).read(path, known)
        for name, digest in download.sources.items():
            journal.read(name, digest)
        ingest = Ingest(session.connection, journal, known, progress=reporter(quiet=quiet))
        applied = bring(ingest, download.submissions)
    say_all(download.notes, "note")
    say_all(applied_sentences(applied))
    say_end(changed=journal.changed, dry_run=dry_run, then="`registry score` and `registry compare` bring boards up")


def _task(kind: str, path: Path, task: str | None, to: Path | None, option: list[str], target: Database,
          actor: str | None, how: Execution, *, dry_run: bool) -> None:
    """Make a task of another program's results."""
    from registry.at_once import applied_sentences, result_sentences
    from registry.evaluation.ingest.apply import apply
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.scoring.score import score
    from registry.importers import IMPORTERS
    from registry.provenance import recorded_name
    from registry.store.log import Journal
    from registry.store.session import writing
    from registry.values import build

    options = named_values(option, "--option")
    if kind not in IMPORTERS:
        raise UnknownNameError("importer", kind, [*IMPORTERS, CODABENCH])
    imported = build("importer", IMPORTERS, kind, options).read(path)
    slug = task or path.name.partition(".")[0]
    folder = to or Path(slug)
    journal = Journal("import", {"kind": kind, "path": recorded_name(path), "task": slug, **options},
                      inputs=dict(imported.sources), actor=actor)
    with imported.write(folder, slug, dry_run=dry_run) as manifest:
        known, content = resolved(manifest, None)
        with writing(target, journal, create=True, dry_run=dry_run) as session:
            ingest = Ingest(session.connection, journal, known, progress=how.progress)
            applied, scored = apply(ingest, content), score(ingest, how)
    say(f"{'would be written' if dry_run else 'task'}: {folder / manifest.name}")
    say_all(imported.notes, "warning")
    say_all(applied_sentences(applied))
    say_all(result_sentences(scored))
    say_end(changed=journal.changed, dry_run=dry_run, then=f"`registry compare {slug}` brings boards up")
    say_all(sentence.replace("{task}", slug) for sentence in imported.advice)
