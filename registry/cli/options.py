"""Options that commands share, and functions that convert their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from registry.cli import completion
from registry.cli.commands import STORE, TEST, WHICH, WORK, keep_open
from registry.cli.console import BoardFormat, Format, explain, report, report_all
from registry.cli.progress import make_reporter
from registry.cli.settings import choose_database_path, load_settings
from registry.errors import InputError, MismatchError, counted
from registry.query.request import parameter_value

if TYPE_CHECKING:
    from registry.evaluation.comparing.compare import ComparisonSummary
    from registry.evaluation.scoring.score import ScoringSummary
    from registry.significance import Execution
    from registry.store.database import Database

T = TypeVar("T")


Db = Annotated[Path | None, typer.Option("--db", "-d", envvar="REGISTRY_DB", metavar="PATH", readable=False, help=(
    "The registry's DuckDB file. Default: `database` in the nearest registry.toml, else ./registry.duckdb."),
    rich_help_panel=STORE)]
Root = Annotated[Path | None, typer.Option("--root", envvar="REGISTRY_ROOT", metavar="DIR", readable=False, help=(
    "The folder that contains all files of the manifest; its paths are relative to it. Default: the manifest's "
    "folder."))]
OutputFormat = Annotated[Format | None, typer.Option("--format", "-f", envvar="REGISTRY_FORMAT", case_sensitive=False,
                                                     help="The output format. Default: table on a terminal, else tsv.")]
BoardOutputFormat = Annotated[BoardFormat | None, typer.Option(
    "--format", "-f", envvar="REGISTRY_FORMAT", case_sensitive=False, help=(
        "The output format; bibtex: the references of --methods. Default: table on a terminal, else tsv."))]
AllNotes = Annotated[bool, typer.Option("--notes", help="Print all notes below a table, not only the first two.")]
Actor = Annotated[str | None, typer.Option("--actor", envvar="REGISTRY_ACTOR", metavar="NAME", help=(
    "Your name, for the log. Default: `actor` under [registry] in registry.toml, else no name."),
    rich_help_panel=STORE)]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", rich_help_panel=STORE, help=(
    "Print what would change, and write nothing."))]
Wait = Annotated[float, typer.Option("--wait", envvar="REGISTRY_WAIT", metavar="SECONDS", min=0, help=(
    "How long to wait for other writers; 0: do not wait."), rich_help_panel=STORE)]
ManifestPath = Annotated[Path, typer.Argument(metavar="MANIFEST", readable=False, help="The task's TOML file.")]
Task = Annotated[str, typer.Argument(metavar="TASK", help="The task's id.", autocompletion=completion.tasks)]
TaskName = Annotated[str | None, typer.Argument(metavar="TASK", help="A task's id. Default: all tasks.",
                                                autocompletion=completion.tasks)]
MetricAlias = Annotated[str | None, typer.Option("--metric", "-m", help=(
    "Only the metric with this id or usual name. Default: all metrics."), autocompletion=completion.metric_ids,
    rich_help_panel=WHICH)]
ChosenMetric = Annotated[str | None, typer.Option("--metric", "-m", help=(
    "The id or usual name of the metric. Default: the primary metric."), autocompletion=completion.metric_ids,
    rich_help_panel=WHICH)]
ReaderOptions = Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
    "An option of the reader, with a TOML value; repeatable."))]
To = Annotated[Path | None, typer.Option("--to", metavar="DIR", help=(
    "The folder for the files of the task. Default: a folder named after the task."))]
Attributes = Annotated[list[str] | None, typer.Option("--attribute", metavar="NAME=VALUE", help=(
    "A fact about the system: description, paper, code, licence, size, cost, or any other; repeatable."))]
TestSet = Annotated[str | None, typer.Option("--test-set", metavar="NAME", help=(
    "Only this test set. Default: all test sets."), autocompletion=completion.test_sets, rich_help_panel=WHICH)]
Track = Annotated[str | None, typer.Option("--track", metavar="NAME", help=(
    "Only this track. Default: submissions without a track if there are any."), autocompletion=completion.tracks,
    rich_help_panel=WHICH)]
Facet = Annotated[str | None, typer.Option("--facet", metavar="ATTRIBUTE=VALUE", help=(
    "Only items with this value. Default: all items of a test set."), autocompletion=completion.facets,
    rich_help_panel=WHICH)]
BoardFacet = Annotated[str | None, typer.Option("--facet", metavar="ATTRIBUTE=VALUE", help=(
    "Only boards of items with this value. Default: boards of all items and of all facets."),
    autocompletion=completion.facets, rich_help_panel=WHICH)]
NoFacets = Annotated[bool, typer.Option("--no-facets", rich_help_panel=WHICH, help=(
    "Only boards of whole test sets."))]
Public = Annotated[bool, typer.Option("--public", envvar="REGISTRY_PUBLIC", rich_help_panel=STORE, help=(
    "Show only data that `registry publish` would publish now."))]
Private = Annotated[bool, typer.Option("--private", rich_help_panel=STORE, help=(
    "Show private data too: names, scores and gold that a task hides."))]
At = Annotated[str | None, typer.Option("--at", metavar="DATE|SIGNATURE", help=(
    "Show a past state: the end of a date (UTC), a time with its zone, or the comparison with this signature or id."),
    autocompletion=completion.signatures)]

Workers = Annotated[int | None, typer.Option("--workers", "-j", envvar="REGISTRY_WORKERS", min=1, help=(
    "Number of processes for scoring and comparing, and of threads for resampling. Default: the number of processors. "
    "Results do not depend on it."), rich_help_panel=WORK)]
Cluster = Annotated[str | None, typer.Option("--dask", envvar="REGISTRY_DASK", metavar="ADDRESS", help=(
    "Compute on the workers of this dask scheduler, such as tcp://host:8786; requires the extra dask."),
    rich_help_panel=WORK)]
Memory = Annotated[str | None, typer.Option("--memory", envvar="REGISTRY_MEMORY", metavar="SIZE", help=(
    "The memory limit of the command, such as 512M. Default: 2G. The command warns before work that needs more."),
    rich_help_panel=WORK)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", envvar="REGISTRY_QUIET", help=(
    "Do not print the plan and the progress of the work; print warnings and errors."), rich_help_panel=WORK)]
OnlyWarnings = Annotated[bool, typer.Option("--quiet", "-q", envvar="REGISTRY_QUIET", help=(
    "Do not report the written files; print warnings and errors."))]

Test = Annotated[str | None, typer.Option("--test", "-t", metavar="TEST", rich_help_panel=TEST, help=(
    "The significance test; `registry list tests` lists all. Default: the manifest's test."),
    autocompletion=completion.tests)]
# The settings of [significance] that commands can override, by their key; the default is the manifest's value.
# `compare` has them all except those in `STUDY_SETTINGS`.
SIGNIFICANCE: dict[str, Any] = {
    "test": Test,
    "resamples": Annotated[str | None, typer.Option("--resamples", rich_help_panel=TEST, metavar="N|auto", help=(
        "Number of resamples or permutations, if the test needs any; auto: enough for the decisions."))],
    "seed": Annotated[int | None, typer.Option("--seed", rich_help_panel=TEST, help=(
        "Seed of the random numbers. Default: the task's seed."))],
    "alternative": Annotated[str | None, typer.Option("--alternative", rich_help_panel=TEST, help=(
        "two-sided, or greater: one-sided tests of pairs with a baseline or with the candidate."))],
    "candidate": Annotated[str | None, typer.Option("--candidate", rich_help_panel=TEST, metavar="SYSTEM", help=(
        "With --alternative greater: test if this system (system or team/system) is better than each other system."))],
    "unit": Annotated[str | None, typer.Option("--unit", rich_help_panel=TEST, help=(
        "The unit of resampling: item, cluster or response. Default: the manifest's unit, else cluster if the test set "
        "has clusters."))],
    "alpha": Annotated[float | None, typer.Option("--alpha", rich_help_panel=TEST, help=(
        "The significance level. Default: the task's alpha, else 0.05."))],
    "correction": Annotated[str | None, typer.Option("--correction", rich_help_panel=TEST, help=(
        "The correction for multiple tests; `registry list corrections` lists all."),
        autocompletion=completion.corrections)],
    "family": Annotated[list[str] | None, typer.Option("--family", rich_help_panel=TEST, metavar="board|task|NAME",
                                                       help=(
        "The pairs that are corrected together: of each board, of the whole task, or of named metrics or boards "
        "(repeatable)."))],
    "strata": Annotated[str | None, typer.Option("--strata", rich_help_panel=TEST, metavar="ATTRIBUTE", help=(
        "Resample within the values of this item attribute."))],
    "runs": Annotated[str | None, typer.Option("--runs", rich_help_panel=TEST, help=(
        "How to treat a system's runs: fixed, or random (a sample of possible runs)."))],
    "overall": Annotated[str | None, typer.Option("--overall", rich_help_panel=TEST, help=(
        "Also test all systems together: cochran or friedman."))],
    "resolve": Annotated[int | None, typer.Option("--resolve", rich_help_panel=TEST, metavar="N", help=(
        "Add resamples, up to N, while Monte Carlo error leaves a decision open."))],
    "confidence": Annotated[float | None, typer.Option("--confidence", rich_help_panel=TEST, help=(
        "The confidence level of intervals. Default: the manifest's confidence."))],
    "margin": Annotated[float | None, typer.Option("--margin", rich_help_panel=TEST, help=(
        "The largest score difference that does not matter: also test for equivalence."))],
}
STUDY_SETTINGS = ("confidence", "margin")
QUICK_SETTINGS = ("resamples", "seed", "alpha", "correction")


def find_database(path: Path | None, wait: float = 60) -> Database:
    """Return the database that a command uses.

    The path of the database is `path`, or else the one in the nearest `registry.toml`, or else the default.

    Args:
        path: The value of `--db`.
        wait: Seconds that a command waits until another process has finished writing.
    """
    from registry.store.database import Database, Patience

    return Database(choose_database_path(path), patience=Patience(wait, report))


def find_private_database(path: Path | None, at: str | None = None, *, public: bool = False,
                          wait: float = 60) -> Database:
    """Return the database of a command that shows private data by default.

    Args:
        path: The value of `--db`.
        at: The past date to show; None: the present.
        public: True to show only public data.
        wait: Seconds that a command waits until another process has finished writing.
    """
    database = find_database(path, wait)
    if public:
        return _read_past(_publish(database), at)
    database = _read_past(database, at)
    database.notify = partial(report_all, kind="info")
    return database


def find_public_database(path: Path | None, at: str | None = None, *, private: bool = False) -> Database:
    """Return the database of a command that shows only public data by default.

    If data are hidden, the result is a temporary copy without them.

    Args:
        path: The value of `--db`.
        at: The past date to show; None: the present.
        private: True to show all data, with a warning.
    """
    from registry.publication.unapplied import refuse_unapplied
    from registry.store.embargoes import describe_hidden

    database = find_database(path)
    with database.reading() as connection:
        hidden = describe_hidden(connection)
    if not private:
        refuse_unapplied(database)
    if private:
        report_all((f"task {slug!r}: this output may contain {parts}" for slug, parts in hidden.items()), "warning")
    elif hidden:
        database = _publish(database)
    else:
        database.notify = _require_public
    return _read_past(database, at)


def _require_public(hidden: Sequence[str]) -> None:
    if hidden:
        raise MismatchError("names, scores or gold were hidden a moment ago; run the command again")


def _publish(database: Database) -> Database:
    from registry.publication.publish import publish_temporarily

    return keep_open(publish_temporarily(database, sources=True))


def _read_past(database: Database, at: str | None) -> Database:
    if at is None:
        return database
    from registry.evaluation.past import PastDatabase  # slow to import: it reads manifests, which boards of now do not

    past = PastDatabase(database.path, at, report, named=database.named)
    past.notify = database.notify
    return past


def choose_actor(name: str | None) -> str | None:
    """Return the user's name for the log.

    The name is the argument (the value of `--actor`), or else the name in the nearest `registry.toml`. The result is
    None if it is empty or absent.
    """
    return (load_settings().actor if name is None else name) or None


def parse_named_values(pairs: list[str] | None, option: str) -> dict[str, Any]:
    """Parse the arguments `NAME=VALUE` of a repeatable option.

    A value is TOML, or else text.

    >>> parse_named_values(["n=3", "flag=true", "system=aspen-s", 'version="2"'], "--param")
    {'n': 3, 'flag': True, 'system': 'aspen-s', 'version': '2'}
    """
    values: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = map(str.strip, pair.partition("="))
        if not name or not equals:
            raise InputError(f"{option} {pair!r} is not of the form NAME=VALUE")
        if name in values:
            raise InputError(f"{option} gives {name} twice; give it once")
        values[name] = parameter_value(value)
    return values


def parse_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `[significance]` that a user gave by options of `SIGNIFICANCE`; others are None."""
    settings = {name: value for name, value in values.items() if value is not None}
    if "resamples" in settings:
        settings["resamples"] = _parse_integer(settings["resamples"])
    if settings.get("family") in (["board"], ["task"]):  # otherwise names of metrics and boards
        (settings["family"],) = settings["family"]
    return settings


def _parse_integer(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def check_option(check: Callable[[Any], T], value: Any, option: str) -> T:
    """Check the value of an option with a function, and return its result.

    Args:
        check: A function that returns a valid value, and raises a ValueError for others.
        value: The value.
        option: The name of the option, for the error.

    Raises:
        InputError: The value is invalid.
    """
    try:
        return check(value)
    except ValueError as error:
        raise InputError(f"{option} {error}") from None


def parse_attributes(pairs: list[str] | None, *declared_by: str) -> dict[str, Any]:
    """Parse the values of `--attribute NAME=VALUE`, which describe a submission.

    Args:
        pairs: The texts `NAME=VALUE`.
        declared_by: Roles of the user, such as `organiser`, which may declare some attributes only.

    Returns:
        Attributes that have their own column in the database, such as a description, by name; and all others as a
        dictionary with the key `attributes`.

    Raises:
        InputError: A value is invalid, or the user's role may not declare it.
    """
    from registry.manifest import check_system_facts
    from registry.manifest.fields import check_attribute, check_line
    from registry.manifest.spec import FACTS
    from registry.submission_fields import declarable_texts

    values = parse_named_values(pairs, "--attribute")
    texts = {name: values.pop(name) for name in declarable_texts("participant", "organiser") if name in values}
    if refused := texts.keys() - set(declarable_texts(*declared_by)):
        raise InputError(f"--attribute {min(refused)}: only organisers can set this attribute, in the manifest "
                         "or by `registry amend`")
    facts = check_system_facts(**{name: values.pop(name) for name in FACTS if name in values})
    others = {name: check_option(check_attribute, value, "--attribute") for name, value in values.items()}
    return {"attributes": others | facts} | {
        name: check_option(check_line, str(value), f"--attribute {name}") for name, value in texts.items()}


def parse_size(size: str, option: str, *, min_megabytes: int = 1) -> int:
    """Convert a memory size such as `512M` to bytes.

    >>> parse_size("512M", "--memory")
    536870912
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", size.strip(), re.IGNORECASE)
    n_bytes = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if n_bytes < min_megabytes * 2**20:
        raise InputError(f"{option} {size!r} is not a size of {min_megabytes}M or more, such as 512M or 4G")
    return n_bytes


def make_execution(workers: int | None, cluster: str | None, memory: str | None, *, quiet: bool) -> Execution:
    """Make the settings of parallel work from the options of a command.

    Args:
        workers: The number of threads or processes; None: the default.
        cluster: The address of a Dask cluster; None: this computer.
        memory: The memory limit, such as `512M`; None: 2G.
        quiet: True to print no progress.
    """
    from registry.parallel.execution import Cluster as DaskCluster
    from registry.significance import Execution

    execution = Execution(workers, None if cluster is None else DaskCluster(cluster),
                          parse_size(memory or "2G", "--memory"), make_reporter(quiet=quiet), processes=True)
    explain(f"work: {counted(execution.threads, 'thread')}{' (default)' if workers is None else ''}, "
            f"{'' if cluster is None else f'a cluster at {cluster}, '}memory {memory or '2G (default)'}")
    return execution


def report_unused_options(context: typer.Context, execution: Execution, compared: ComparisonSummary,
                          scored: ScoringSummary | None = None) -> None:
    """Print a note about options without effect, such as `--seed` for exact tests.

    Some options only matter if results are simulated. The note lists those that the user gave on the command line.

    Args:
        context: The context of the command, with its options.
        execution: The settings of parallel work.
        compared: The summary of the comparison.
        scored: The summary of the scoring, if the command has scored submissions.
    """
    if not compared.n_comparisons or compared.is_random:
        return
    used_workers = compared.is_parallel or (scored is not None and scored.n_computed)
    unused = ["resamples", "seed", "resolve",
              *([] if execution.cluster and execution.cluster.is_connected else ["cluster"]),
              *([] if used_workers else ["workers"])]
    sources = {option.opts[0]: context.get_parameter_source(option.name) for option in context.command.params
               if option.name in unused}
    flags = [flag for flag, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if flags:
        report(f"info: {', '.join(flags)} had no effect, because no result required resampling")
