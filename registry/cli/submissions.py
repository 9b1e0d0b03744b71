"""Commands about submissions that came: withdraw, restore, amend, purge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from registry.cli.console import say
from registry.cli.options import Actor, Db, DryRun, actor_name, database, named_values
from registry.cli.pipeline import say_end
from registry.errors import InputError

Name = Annotated[str, typer.Argument(metavar="SUBMISSION", help=(
    "task/test_set/team/system@version; without @version, all versions."))]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the log and `registry show`.")]


def withdraw(submission: Name, reason: Reason, db: Db = None, actor: Actor = None, dry_run: DryRun = False) -> None:
    """Take a submission off the boards; it stays in the registry.

    Boards change when they are compared next. A manifest undoes it only by saying something else than it did before.
    """
    _amend("withdraw", submission, reason, {"withdrawn": True}, db, actor, dry_run=dry_run)


def restore(submission: Name, reason: Reason, db: Db = None, actor: Actor = None, dry_run: DryRun = False) -> None:
    """Let a submission that was withdrawn take part again.

    Boards change when they are compared next.
    """
    _amend("restore", submission, reason, {"withdrawn": False}, db, actor, dry_run=dry_run)


def amend(
    submission: Name, reason: Reason,
    kind: Annotated[Literal["primary", "contrastive", "baseline"] | None, typer.Option("--kind", help=(
        "What the submission is."))] = None,
    track: Annotated[str | None, typer.Option("--track", help=(
        "The track it takes part in; an empty one takes it out of its track."))] = None,
    late: Annotated[bool | None, typer.Option("--late/--in-time", help="Whether it counts as late.")] = None,
    attribute: Annotated[list[str] | None, typer.Option("--attribute", metavar="NAME=VALUE", help=(
        "What else is known of the system; can be repeated."))] = None,
    db: Db = None, actor: Actor = None, dry_run: DryRun = False,
) -> None:
    """Change what is declared of a submission that came.

    Boards change when they are compared next. The latest declaration counts, by command or manifest; what a manifest
    says as it did before is none.
    """
    from registry.manifest.fields import check_attribute, check_name

    declared: dict[str, Any] = {name: value for name, value in {"kind": kind, "late": late}.items()
                                if value is not None}
    try:
        if track is not None:
            declared["track"] = check_name(track) if track else None
        if attribute:
            declared["attributes"] = {name: check_attribute(value)
                                      for name, value in named_values(attribute, "--attribute").items()}
    except ValueError as error:
        raise InputError(str(error)) from None
    if not declared:
        raise InputError("say what to amend: --kind, --track, --late, --in-time or --attribute")
    _amend("amend", submission, reason, declared, db, actor, dry_run=dry_run)


def _amend(command: str, submission: str, reason: str, declared: dict[str, Any], db: Path | None, actor: str | None, *,
           dry_run: bool) -> None:
    from registry.evaluation.submissions.amend import amend as amend_all
    from registry.evaluation.submissions.amend import chosen
    from registry.store.journal import Journal
    from registry.store.session import writing

    journal = Journal(command, {"submission": submission, **declared}, actor=actor_name(actor))
    with writing(database(db), journal, dry_run=dry_run) as session:
        done = amend_all(session.connection, journal, chosen(session.connection, submission), reason, declared)
    told = ", ".join(f"{name} = {str(value).lower() if isinstance(value, bool) else value}"
                     for name, value in declared.items())
    for name in done.changed:
        say(f"{name}: {told}")
    for note in done.notes:
        say(f"note: {note}")
    say_end(changed=journal.changed, dry_run=dry_run, then="`registry score` and `registry compare` bring boards up")
