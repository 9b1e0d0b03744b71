"""Commands that change stored submissions: withdraw, restore, amend, purge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.cli import completion
from registry.cli.console import report, report_all, report_end
from registry.cli.evaluate import suggest_update
from registry.cli.options import (
    Actor,
    Attributes,
    Db,
    DryRun,
    Task,
    Wait,
    check_option,
    choose_actor,
    find_database,
    parse_attributes,
)
from registry.errors import InputError, counted, listed

if TYPE_CHECKING:
    from registry.evaluation.submissions.purge import PurgeSummary
    from registry.store.database import Database

Name = Annotated[str, typer.Argument(metavar="SUBMISSION", help=(
    "task/test_set/team/system@version; without @version, all versions."), autocompletion=completion.submissions)]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help=(
    "The reason, for the log and `registry show`."))]


def withdraw(submission: Name, reason: Reason, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
             wait: Wait = 60) -> None:
    """Remove a submission from the leaderboards.

    The submission stays stored, and `registry restore` undoes the command. Leaderboards change with the next
    `registry compare`. A manifest overrides the command only if its declaration changes.
    """
    _declare("withdraw", submission, reason, {"withdrawn": True}, find_database(db, wait), actor, dry_run=dry_run)


def restore(submission: Name, reason: Reason, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
            wait: Wait = 60) -> None:
    """Undo the withdrawal of a submission.

    Leaderboards change with the next `registry compare`.
    """
    _declare("restore", submission, reason, {"withdrawn": False}, find_database(db, wait), actor, dry_run=dry_run)


def amend(
    submission: Name, reason: Reason,
    kind: Annotated[Literal["primary", "contrastive", "baseline"] | None, typer.Option("--kind", help=(
        "The kind of submission."))] = None,
    track: Annotated[str | None, typer.Option("--track", help=(
        "The track of the submission; an empty text removes it from its track."),
        autocompletion=completion.tracks)] = None,
    late: Annotated[bool | None, typer.Option("--late/--in-time", help=(
        "Mark the submission as late or in time."))] = None,
    attribute: Attributes = None,
    db: Db = None, actor: Actor = None, dry_run: DryRun = False, wait: Wait = 60,
) -> None:
    """Change the declared facts of a submission.

    Leaderboards change with the next `registry compare`. The latest declaration counts, whether by command or by
    manifest; an unchanged manifest is not a new declaration.
    """
    from registry.manifest.fields import check_name

    facts: dict[str, Any] = {name: value for name, value in (("kind", kind), ("late", late)) if value is not None}
    if track is not None:
        facts["track"] = check_option(check_name, track, "--track") if track else None
    if attribute:
        facts |= parse_attributes(attribute, "participant", "organiser")
    if not facts:
        raise InputError("nothing to change; add --kind, --track, --late, --in-time or --attribute")
    _declare("amend", submission, reason, facts, find_database(db, wait), actor, dry_run=dry_run)


def _declare(command: str, submission: str, reason: str, facts: dict[str, Any], database: Database, actor: str | None,
             *, dry_run: bool) -> None:
    """Store new facts about a submission, such as its track, and print them.

    Args:
        command: The name of the command, for the log.
        submission: The name of the submission.
        reason: The reason for the change.
        facts: The new values by name.
        database: The registry.
        actor: The name of the user, for the log.
        dry_run: True to store nothing.
    """
    from registry.evaluation.submissions.life import amend as amend_submissions
    from registry.evaluation.submissions.life import select_submissions
    from registry.manifest.fields import check_line
    from registry.store.log import Journal
    from registry.store.session import writing

    reason = check_option(check_line, reason, "--reason")
    journal = Journal(command, {"submission": submission, **facts}, actor=choose_actor(actor))
    with writing(database, journal, dry_run=dry_run) as session:
        submissions = select_submissions(session.connection, submission)
        amended = amend_submissions(session.connection, journal, submissions, reason, facts)
        next_step = suggest_update(session.connection, submissions[0].task.slug)
    facts_text = ", ".join(f"{name} = {str(value).lower() if isinstance(value, bool) else value}"
                           for name, value in facts.items())
    for name in amended.changed:
        report(f"{name}: {facts_text}")
    report_all(amended.notes, "info")
    report_end(changed=journal.changed, dry_run=dry_run, next_step=next_step)


def purge(
    task: Task,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="The team to delete.", autocompletion=completion.teams)],
    reason: Reason, db: Db = None, actor: Actor = None, dry_run: DryRun = False, wait: Wait = 60,
) -> None:
    """Delete the data and the names of a team.

    Past leaderboards keep the team's ranks under a name such as purged-1. The command writes the remaining data into a
    new file, which then replaces the registry, so that deleted data is physically gone. It does not change backups and
    exported files.
    """
    from registry.evaluation.submissions.purge import choose_tombstone_name, find_team
    from registry.evaluation.submissions.purge import purge as purge_team
    from registry.manifest.fields import check_line
    from registry.store.log import Journal
    from registry.store.session import writing

    database = find_database(db, wait)
    reason = check_option(check_line, reason, "--reason")
    with database.reading() as connection:
        row, _ = find_team(connection, task, team)
        name = choose_tombstone_name(connection, row.task_id)
    journal = Journal("purge", {"task": task, "tombstone": name}, actor=choose_actor(actor))
    with writing(database, journal, dry_run=dry_run, compact=True) as session:
        task_row, team_row = find_team(session.connection, task, team)
        purged = purge_team(session.connection, journal, task_row, team_row, name, reason)
        next_step = suggest_update(session.connection, task)
    _report_purge(purged, database.path)
    report_end(changed=True, dry_run=dry_run, next_step=next_step)


def _report_purge(purged: PurgeSummary, path: Path) -> None:
    """Print the deleted data of a team, and places that may still contain its data.

    Args:
        purged: The summary of the deletion.
        path: The path of the registry.
    """
    rows = ", ".join(f"{n} of {table}" for table, n in purged.removed.items())
    report(f"the team's name is now {purged.name}; deleted or emptied rows: {rows}")
    report(f"{counted(purged.n_blanked, 'entry', 'entries')} of the log and of commands' parameters are blank; "
           "published log heads remain valid")
    for board in purged.boards:
        report(f"info: the leaderboard {board!r} still names the purged team {purged.name}; the next comparison "
               "removes it")
    for place in purged.remaining:
        report(f"warning: a purged name is still in {place}, because others or the task use it, too")
    report("info: only this registry was changed; delete the team's data also from backups, exported files, pages, the "
           "manifest and submitted files")
    other_files = sorted(file.name for file in path.resolve().parent.glob("*.duckdb") if not file.samefile(path))
    if other_files:
        report(f"info: other databases in this folder may contain the team's data: {listed(other_files, 5)}")
