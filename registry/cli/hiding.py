"""Commands that keep names or scores from the public, or publish them again: hide, reveal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from registry.cli.console import say, show
from registry.cli.options import Actor, Db, DryRun, OutputFormat, Task, Wait, actor_name, database, taken
from registry.cli.pipeline import say_end
from registry.errors import InputError

if TYPE_CHECKING:
    from datetime import datetime

    from registry.store.database import Database
    from registry.store.history import Listing

Scores = Annotated[bool, typer.Option("--scores", help="Scores and ranks, not names.")]


def hide(
    task: Task, scores: Scores = False,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help=(
        "With its time zone: 2026-12-01T12:00:00Z; until `registry reveal` if none is given."))] = None,
    db: Db = None, actor: Actor = None, dry_run: DryRun = False, wait: Wait = 60,
) -> None:
    """Keep the names or scores of a task from the public.

    Teams and systems that are not baselines get random pseudonyms. Files, pages and sites that are published from now
    on have these instead of names, or with --scores neither scores nor ranks.
    """
    from registry.manifest.fields import check_until
    from registry.store.embargoes import UNTIL_REVEALED, describe_until
    from registry.store.log import now

    moment: datetime = UNTIL_REVEALED
    if until is not None:
        moment = taken(check_until, until, "--until").replace(tzinfo=None)  # UTC
    if moment <= now():
        raise InputError(f"--until {until} is past; `registry reveal` shows what is hidden")
    _set(task, "blind_until" if scores else "anonymous_until", moment, database(db, wait), actor, dry_run=dry_run)
    say(f"{task}: {'scores and ranks' if scores else 'names'} are hidden {describe_until(moment)}")


def reveal(task: Task, scores: Scores = False, db: Db = None, format_: OutputFormat = None, actor: Actor = None,
           dry_run: DryRun = False, wait: Wait = 60) -> None:
    """Publish names again and print who was who, or scores.

    The command counts until the manifest declares something else than before.
    """
    from registry.rendering.table import Table

    keys, rows = _set(task, "blind_until" if scores else "anonymous_until", None, database(db, wait), actor,
                      dry_run=dry_run)
    if not scores:
        show([Table([row for row in rows if row["task"] == task and row["pseudonym"]], keys=keys)], format_)


def _set(task: str, column: str, until: datetime | None, target: Database, actor: str | None, *,
         dry_run: bool) -> Listing:
    """Set until when names or scores are hidden, and return who has which pseudonym."""
    from registry.evaluation.ingest.hiding import set_hiding
    from registry.store import catalog
    from registry.store.history import list_teams
    from registry.store.log import Journal
    from registry.store.rows import has_row
    from registry.store.session import writing

    journal = Journal("reveal" if until is None else "hide", {"task": task, "until": until and str(until)},
                      actor=actor_name(actor))
    with writing(target, journal, dry_run=dry_run) as session:
        (row,) = catalog.tasks(session.connection, task)
        set_hiding(session.connection, journal, row, column, until)
        found = list_teams(session.connection)
        boards = f"comparison JOIN test_set USING (test_set_id) WHERE task_id = {row.task_id}"
        with_candidate = f"{boards} AND json_extract_string(request, '$.significance.candidate') IS NOT NULL"
        has_old_boards = until is not None and row.salt is None and has_row(session.connection, boards)
        has_candidate = column == "anonymous_until" and until is not None and has_row(
            session.connection, with_candidate)
    say_end(changed=journal.changed, dry_run=dry_run)
    if has_old_boards:
        say(f"note: the ids of earlier boards confirm guesses at what is hidden, so these boards are not public; "
            f"`registry compare {task}` makes new ones")
    elif has_candidate:
        say(f"note: boards whose settings name a candidate are not public; `registry compare {task}` makes new ones")
    return found
