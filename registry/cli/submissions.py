"""Commands about submissions that came: withdraw, restore, amend, purge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.cli.console import say, say_all
from registry.cli.guide import names
from registry.cli.options import Actor, Attributes, Db, DryRun, Task, Wait, actor_name, database, declared_facts, taken
from registry.cli.pipeline import say_end
from registry.errors import InputError

if TYPE_CHECKING:

    from registry.evaluation.submissions.purge import PurgeSummary
    from registry.store.database import Database

Name = Annotated[str, typer.Argument(metavar="SUBMISSION", help=(
    "task/test_set/team/system@version; without @version, all versions."), autocompletion=names.submissions)]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the log and `registry show`.")]


def withdraw(submission: Name, reason: Reason, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
             wait: Wait = 60) -> None:
    """Take a submission off the boards, and keep it.

    Boards change when they are compared next. A manifest undoes it only by saying something else than it did before.
    """
    _amend("withdraw", submission, reason, {"withdrawn": True}, database(db, wait), actor, dry_run=dry_run)


def restore(submission: Name, reason: Reason, db: Db = None, actor: Actor = None, dry_run: DryRun = False,
            wait: Wait = 60) -> None:
    """Let a withdrawn submission take part again.

    Boards change when they are compared next.
    """
    _amend("restore", submission, reason, {"withdrawn": False}, database(db, wait), actor, dry_run=dry_run)


def amend(
    submission: Name, reason: Reason,
    kind: Annotated[Literal["primary", "contrastive", "baseline"] | None, typer.Option("--kind", help=(
        "What the submission is."))] = None,
    track: Annotated[str | None, typer.Option("--track", help=(
        "The track it takes part in; an empty one takes it out of its track."), autocompletion=names.tracks)] = None,
    late: Annotated[bool | None, typer.Option("--late/--in-time", help="Whether it counts as late.")] = None,
    attribute: Attributes = None,
    db: Db = None, actor: Actor = None, dry_run: DryRun = False, wait: Wait = 60,
) -> None:
    """Change what is declared of a submission that came.

    Boards change when they are compared next. The latest declaration counts, by command or manifest; what a manifest
    says as it did before is none.
    """
    from registry.manifest.fields import check_name

    declared: dict[str, Any] = {name: value for name, value in {"kind": kind, "late": late}.items()
                                if value is not None}
    if track is not None:
        declared["track"] = taken(check_name, track, "--track") if track else None
    if attribute:
        declared |= declared_facts(attribute, "participant", "organiser")
    if not declared:
        raise InputError("say what to amend: --kind, --track, --late, --in-time or --attribute")
    _amend("amend", submission, reason, declared, database(db, wait), actor, dry_run=dry_run)


def purge(
    task: Task,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="The team that is to be forgotten.",
                                         autocompletion=names.teams)],
    reason: Reason, db: Db = None, actor: Actor = None, dry_run: DryRun = False, wait: Wait = 60,
) -> None:
    """Forget a team: all that it gave, and its names.

    Its places on past boards stay, under a name such as purged-1. The file is written anew without what goes, and takes
    the old one's place when it is complete. Backups and files that were exported are not touched.
    """
    from registry.evaluation.submissions.purge import choose_tombstone_name, find_team
    from registry.evaluation.submissions.purge import purge as purge_team
    from registry.manifest.fields import check_line
    from registry.store.log import Journal
    from registry.store.session import writing

    target, why = database(db, wait), taken(check_line, reason, "--reason")
    with target.reading() as connection:
        row, _ = find_team(connection, task, team)
        name = choose_tombstone_name(connection, row.task_id)

    journal = Journal("purge", {"task": task, "tombstone": name}, actor=actor_name(actor))
    with writing(target, journal, dry_run=dry_run, compact=True) as session:
        meant = find_team(session.connection, task, team)
        done = purge_team(session.connection, journal, *meant, name, why)
    _say_purged(done, target.path, dry_run=dry_run)


def _say_purged(purged: PurgeSummary, path: Path, *, dry_run: bool) -> None:
    """Tell what a purge took away, what changes, and what is left to do by hand."""
    from registry.errors import counted

    rows = ", ".join(f"{n} of {table}" for table, n in purged.removed.items())
    say(f"the team is {purged.name} from now on; rows that are gone or emptied: {rows}")
    say(f"{counted(purged.n_blanked, 'entry', 'entries')} of the log and of commands' parameters are blank; heads that "
        "were published still hold")
    for board in purged.boards:
        say(f"note: {board}: shows {purged.name} until it is compared again")
    for place in purged.remaining:
        say(f"warning: one of the names still stands in {place}: it belongs to others, or to the task")
    others = path.resolve().parent.glob("*.duckdb")
    older = sorted(other.name for other in others if not other.samefile(path))
    say("note: what was copied before still has the team: backups, exported files, pages, the manifest and the files "
        "that were submitted")
    if older:
        say("note: other databases beside this one, which may hold the team too: "
            f"{', '.join(older[:5])}{', ...' if len(older) > 5 else ''}")
    say_end(changed=True, dry_run=dry_run, then="`registry compare` brings boards up")


def _amend(command: str, submission: str, reason: str, declared: dict[str, Any], target: Database, actor: str | None,
           *, dry_run: bool) -> None:
    from registry.evaluation.submissions.life import amend as amend_all
    from registry.evaluation.submissions.life import select_submissions
    from registry.manifest.fields import check_line
    from registry.store.log import Journal
    from registry.store.session import writing

    why = taken(check_line, reason, "--reason")
    journal = Journal(command, {"submission": submission, **declared}, actor=actor_name(actor))
    with writing(target, journal, dry_run=dry_run) as session:
        meant = select_submissions(session.connection, submission)
        done = amend_all(session.connection, journal, meant, why, declared)
    told = ", ".join(f"{name} = {str(value).lower() if isinstance(value, bool) else value}"
                     for name, value in declared.items())
    for name in done.changed:
        say(f"{name}: {told}")
    say_all(done.notes, "note")
    say_end(changed=journal.changed, dry_run=dry_run, then="`registry score` and `registry compare` bring boards up")
