"""The options that commands share, and which database they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from registry.cli.commands import STORE, WHICH, keep_open
from registry.cli.console import Format, say, say_all
from registry.cli.guide import names
from registry.cli.settings import configured, database_path
from registry.errors import InputError, MismatchError
from registry.query.request import parameter_value

if TYPE_CHECKING:
    from registry.store.database import Database

T = TypeVar("T")

Db = Annotated[Path | None, typer.Option("--db", "-d", envvar="REGISTRY_DB", metavar="PATH", readable=False, help=(
    "The registry's DuckDB file; else `database` in the nearest registry.toml, else ./registry.duckdb."),
    rich_help_panel=STORE)]
Root = Annotated[Path | None, typer.Option("--root", envvar="REGISTRY_ROOT", metavar="DIR", readable=False, help=(
    "The folder that the manifest's paths are relative to and stay in; else the manifest's own."))]
OutputFormat = Annotated[Format | None, typer.Option("--format", "-f", envvar="REGISTRY_FORMAT", case_sensitive=False,
                                                     help="How to write results; a table on a terminal, else tsv.")]
Actor = Annotated[str | None, typer.Option("--actor", envvar="REGISTRY_ACTOR", metavar="NAME", help=(
    "Who does it, for the log of events; else `actor` under [registry] in registry.toml, else nobody is named."),
    rich_help_panel=STORE)]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", rich_help_panel=STORE, help=(
    "Do everything but write: say what would change."))]
Wait = Annotated[float, typer.Option("--wait", envvar="REGISTRY_WAIT", metavar="SECONDS", min=0, help=(
    "How long to wait for other writers, who take turns; 0: not at all."), rich_help_panel=STORE)]
ManifestPath = Annotated[Path, typer.Argument(metavar="MANIFEST", readable=False, help="The task's TOML file.")]
Task = Annotated[str, typer.Argument(metavar="TASK", help="The task's id.", autocompletion=names.tasks)]
TaskName = Annotated[str | None, typer.Argument(metavar="TASK", help="A task's id; all tasks if none is given.",
                                                autocompletion=names.tasks)]
MetricAlias = Annotated[str | None, typer.Option("--metric", "-m", help="Only the metric with this id.",
                                                 autocompletion=names.metric_ids, rich_help_panel=WHICH)]
ChosenMetric = Annotated[str | None, typer.Option("--metric", "-m", help=(
    "The metric with this id; the primary one if none is given."), autocompletion=names.metric_ids,
    rich_help_panel=WHICH)]
ReaderOptions = Annotated[list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help=(
    "An option of the reader, as the manifest would write it; can be repeated."))]
To = Annotated[Path | None, typer.Option("--to", metavar="DIR", help=(
    "The folder in which the task is written; else one called after the task."))]
Attributes = Annotated[list[str] | None, typer.Option("--attribute", metavar="NAME=VALUE", help=(
    "What is known of the system: description, paper, code, licence, size, cost, or anything else; can be repeated."))]
TestSet = Annotated[str | None, typer.Option("--test-set", metavar="NAME", help="Only this one.",
                                             autocompletion=names.test_sets, rich_help_panel=WHICH)]
Track = Annotated[str | None, typer.Option("--track", metavar="NAME", help=(
    "Only this one; those of no track, where there are some, if none is given."), autocompletion=names.tracks,
    rich_help_panel=WHICH)]
Facet = Annotated[str | None, typer.Option("--facet", metavar="ATTRIBUTE=VALUE", help=(
    "Only these items; all of a test set if none is given."), autocompletion=names.facets, rich_help_panel=WHICH)]
Public = Annotated[bool, typer.Option("--public", envvar="REGISTRY_PUBLIC", rich_help_panel=STORE, help=(
    "Show only what `registry publish` would publish now."))]
Private = Annotated[bool, typer.Option("--private", rich_help_panel=STORE, help=(
    "Show also what is not public: names, scores and gold that a task hides."))]
At = Annotated[str | None, typer.Option("--at", metavar="DATE|SIGNATURE", help=(
    "As it stood at the end of a date (UTC), at a time with its zone, or when the comparison with this signature, or "
    "the id at its end, was made."), autocompletion=names.signatures)]


def database(path: Path | None, wait: float = 60) -> Database:
    """Return the database that is meant: the given one, else that of the nearest `registry.toml`, else the default.

    Who writes to it waits for so many seconds, and says for whom.
    """
    from registry.store.database import Database, Patience

    return Database(database_path(path), patience=Patience(wait, say))


def private_database(path: Path | None, at: str | None = None, *, public: bool = False, wait: float = 60) -> Database:
    """Return the database that is meant, for a command that shows all of it unless `--public` is given.

    Args:
        path: The given one.
        at: The moment as of which it is read; None: now.
        public: Whether to show only what is public now.
        wait: For how many seconds a command that writes waits for its turn.
    """
    target = database(path, wait)
    if public:
        return _read_at(_published(target), at)
    target = _read_at(target, at)
    target.notify = partial(say_all, kind="note")
    return target


def public_database(path: Path | None, at: str | None = None, *, private: bool = False) -> Database:
    """Return the database that is meant, for a command that shows what is public unless `--private` is given.

    Args:
        path: The given one.
        at: The moment as of which it is read; None: now.
        private: Whether to show everything.
    """
    from registry.store.embargoes import describe_hidden

    target = database(path)
    with target.reading() as connection:
        hidden = describe_hidden(connection)
    if private:
        say_all((f"{slug}: not public: {what}" for slug, what in hidden.items()), "warning")
    elif hidden:
        target = _published(target)
    else:
        target.notify = _require_public
    return _read_at(target, at)


def _require_public(hidden: Sequence[str]) -> None:
    """Raise an error if something was hidden since the registry was looked at.

    Raises:
        MismatchError: Something was.
    """
    if hidden:
        raise MismatchError("names, scores or gold were hidden a moment ago; run the command again")


def _published(target: Database) -> Database:
    """Publish a database into a temporary file, which is there until the command ends."""
    from registry.publication.publish import publish_temporarily

    return keep_open(publish_temporarily(target, sources=True))


def _read_at(target: Database, at: str | None) -> Database:
    if at is None:
        return target
    from registry.evaluation.past import PastDatabase  # late: it reads manifests, and boards of today need not

    past = PastDatabase(target.path, at, say, named=target.named)
    past.notify = target.notify
    return past


def actor_name(given: str | None) -> str | None:
    """Who is to be named in the log of events: the given one, else that of the nearest `registry.toml`, else nobody."""
    return (configured().actor if given is None else given) or None


def named_values(given: list[str], option: str) -> dict[str, Any]:
    """Read the `NAME=VALUE` pairs of an option that can be repeated; a value is TOML, or else text.

    >>> named_values(["n=3", "flag=true", "system=aspen-s", 'version="2"'], "--param")
    {'n': 3, 'flag': True, 'system': 'aspen-s', 'version': '2'}
    """
    values = {}
    for pair in given:
        name, equals, value = map(str.strip, pair.partition("="))
        if not name or not equals:
            raise InputError(f"{option} {pair!r} is not of the form NAME=VALUE")
        if name in values:
            raise InputError(f"{option} gives {name} twice; give it once")
        values[name] = parameter_value(value)
    return values


def taken(check: Callable[[Any], T], value: Any, option: str) -> T:
    """What an option gives, where `check` takes it.

    Raises:
        InputError: It does not.
    """
    try:
        return check(value)
    except ValueError as error:
        raise InputError(f"{option} {error}") from None


def declared_facts(given: list[str] | None, *declared_by: str) -> dict[str, Any]:
    """Read `--attribute`: texts with a column of their own, and all other values as `attributes`.

    Args:
        given: `NAME=VALUE` each.
        declared_by: Who calls the command, by `SubmissionField.declared_by`.
    """
    from registry.manifest import system_facts
    from registry.manifest.fields import check_attribute, check_line
    from registry.manifest.spec import FACTS
    from registry.submission_fields import declarable_texts

    values = named_values(given or [], "--attribute")
    texts = {name: values.pop(name) for name in declarable_texts("participant", "organiser") if name in values}
    if refused := texts.keys() - set(declarable_texts(*declared_by)):
        raise InputError(f"--attribute {min(refused)}: only organisers declare it, by the manifest or `registry amend`")
    facts = system_facts(**{name: values.pop(name) for name in FACTS if name in values})
    free = {name: taken(check_attribute, value, "--attribute") for name, value in values.items()}
    return {"attributes": free | facts} | {
        name: taken(check_line, str(value), f"--attribute {name}") for name, value in texts.items()}


def size_in_bytes(size: str, option: str, *, least: int = 1) -> int:
    """Read a size of memory of at least so many megabytes.

    >>> size_in_bytes("512M", "--memory")
    536870912
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", size.strip(), re.IGNORECASE)
    n = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if n < least * 2**20:
        raise InputError(f"{option} {size!r} is not a size of {least}M or more, such as 512M or 4G")
    return n
