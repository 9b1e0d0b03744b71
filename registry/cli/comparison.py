"""Commands that compute: score, compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from registry.cli.commands import TEST
from registry.cli.console import say, say_all, show, show_boards
from registry.cli.execution import Cluster, Memory, Quiet, Workers, execution, say_unused
from registry.cli.guide import names
from registry.cli.options import Actor, Db, DryRun, MetricAlias, OutputFormat, TaskName, Wait, actor_name, database
from registry.cli.pipeline import say_end
from registry.errors import counted

if TYPE_CHECKING:
    from registry.at_once import Job
    from registry.boards.leaderboard import Leaderboard
    from registry.evaluation.scoring.stale import StaleScore
    from registry.store.session import Session

Test = Annotated[str | None, typer.Option("--test", "-t", rich_help_panel=TEST, autocompletion=names.tests, help=(
    "The significance test: `registry list tests`."))]
Resamples = Annotated[str | None, typer.Option("--resamples", rich_help_panel=TEST, metavar="N|auto", help=(
    "Random draws, where a test needs them; auto: as many as decisions need."))]
Seed = Annotated[int | None, typer.Option("--seed", rich_help_panel=TEST, help="Of the random draws.")]
Alternative = Annotated[str | None, typer.Option("--alternative", rich_help_panel=TEST, help=(
    "two-sided, or greater: pairs with a baseline (or the candidate) one-sided."))]
Candidate = Annotated[str | None, typer.Option("--candidate", rich_help_panel=TEST, metavar="SYSTEM", help=(
    "With --alternative greater: test whether this system is better, named as system or team/system."))]
Unit = Annotated[str | None, typer.Option("--unit", rich_help_panel=TEST, help=(
    "item, cluster, or response; clusters are the default if the test set declares any."))]
Alpha = Annotated[float | None, typer.Option("--alpha", rich_help_panel=TEST, help="The level of significance.")]
Correction = Annotated[str | None, typer.Option("--correction", autocompletion=names.corrections, help=(
    "Of the p-values of all pairs: `registry list corrections`."), rich_help_panel=TEST)]
Family = Annotated[list[str] | None, typer.Option("--family", rich_help_panel=TEST, metavar="board|task|NAME", help=(
    "The pairs that are corrected together: of each board, of the whole task, or of metrics or boards by name (again "
    "for each)."))]
Strata = Annotated[str | None, typer.Option("--strata", rich_help_panel=TEST, metavar="ATTRIBUTE", help=(
    "Resample within the values of an item attribute."))]
Runs = Annotated[str | None, typer.Option("--runs", rich_help_panel=TEST, help=(
    "What systems' runs are: fixed, or random."))]
Overall = Annotated[str | None, typer.Option("--overall", rich_help_panel=TEST, help=(
    "Also test all systems at once: cochran or friedman."))]
Resolve = Annotated[int | None, typer.Option("--resolve", rich_help_panel=TEST, metavar="N", help=(
    "Draw again, up to N times, where Monte-Carlo error leaves a decision open."))]


def score(
    task: TaskName = None,
    stale: Annotated[bool, typer.Option("--stale", help=(
        "Also compute anew what other code has scored, and list what was stale and why."))] = False,
    workers: Workers = None, cluster: Cluster = None, db: Db = None, format_: OutputFormat = None,
    actor: Actor = None, dry_run: DryRun = False, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Compute the per-item statistics that are missing."""
    from registry.evaluation.ingest.context import Ingest
    from registry.evaluation.resolve import resolve_stored
    from registry.evaluation.scoring.score import score as score_task
    from registry.reports.differences import make_stale_table
    from registry.store import catalog
    from registry.store.log import Journal
    from registry.store.session import computed

    journal = Journal("score", {"task": task, **({"stale": True} if stale else {})}, actor=actor_name(actor))
    how = execution(workers, cluster, None, quiet=quiet)

    def work(session: Session) -> list[tuple[StaleScore, float | None]]:
        found = []
        for row in catalog.tasks(session.connection, task):
            known = resolve_stored(row.manifest, row.slug)
            scored = score_task(Ingest(session.connection, journal, known, progress=how.progress), how, stale=stale)
            found += scored.stale
            say(f"{row.slug}: {counted(scored.computed, 'score')} computed, {scored.unchanged} there already")
        return found

    found = computed(database(db, wait), journal, work, dry_run=dry_run)
    if dry_run and journal.changed:
        say("dry run: nothing was written")
    if stale:
        show([make_stale_table(found)], format_)


def compare(
    context: typer.Context, task: TaskName = None, metric: MetricAlias = None, test: Test = None,
    resamples: Resamples = None, seed: Seed = None, alternative: Alternative = None, candidate: Candidate = None,
    unit: Unit = None, alpha: Alpha = None, correction: Correction = None, family: Family = None, strata: Strata = None,
    runs: Runs = None, overall: Overall = None, resolve: Resolve = None, workers: Workers = None,
    cluster: Cluster = None, memory: Memory = None, db: Db = None, format_: OutputFormat = None, actor: Actor = None,
    dry_run: DryRun = False, wait: Wait = 60, quiet: Quiet = False,
) -> None:
    """Test all pairs of every leaderboard, and rank.

    What is not given is as the task declares it. The leaderboards are printed; `registry pairs` prints their pairs.
    """
    from registry.at_once import Job
    from registry.store.log import Journal
    from registry.store.session import computed

    given = {"test": test, "resamples": _number(resamples), "seed": seed, "alternative": alternative, "unit": unit,
             "alpha": alpha, "correction": correction, "strata": strata, "runs": runs, "overall": overall,
             "resolve": resolve, "candidate": candidate,  # and a kind of family, or the names of metrics and boards
             "family": family[0] if family and family in (["board"], ["task"]) else family}
    given = {name: value for name, value in given.items() if value is not None}
    journal = Journal("compare", {"task": task, "metric": metric, **given}, actor=actor_name(actor))
    how = execution(workers, cluster, memory, quiet=quiet)
    job = Job(database(db, wait), journal, how, say)
    boards = computed(job.database, journal, lambda session: _compare(
        session, job, task, metric, given, context), dry_run=dry_run)
    say_end(changed=journal.changed, dry_run=dry_run)
    show_boards(boards, format_)


def _compare(session: Session, job: Job, task: str | None, metric: str | None, given: Mapping[str, Any],
             context: typer.Context) -> list[Leaderboard]:
    """Compare, tell what was found, and give the boards."""
    from registry.at_once import result_sentences
    from registry.boards.load import load_leaderboards
    from registry.boards.planned import describe_plan
    from registry.evaluation.comparing.compare import compare, prepared
    from registry.evaluation.comparing.settings import declared_request
    from registry.store import catalog
    from registry.store.embargoes import note_hidden

    how = job.how
    session.bound(how.memory)
    say_all(note_hidden(session.connection), "note")
    boards = []
    for row in catalog.tasks(session.connection, task):
        request = declared_request(row, given, None if metric is None else (metric,), how)
        vetted, planned = prepared(session.connection, row, request)
        say_all(describe_plan(planned, in_full=how.progress is not None))
        compared = compare(session.connection, job.journal, row, request, vetted)
        say_all(result_sentences(compared=compared))
        say_unused(context, how, compared)
        boards += load_leaderboards(session.connection, row, metric, pairs=job.pairs)
    return boards


def _number(text: str | None) -> int | str | None:
    """A number where the text is one; the settings say of any other whether they take it."""
    try:
        return text and int(text)
    except ValueError:
        return text
