"""Commands that show the origin of results, verify them, and copy the registry: show, verify, backup."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.cli import completion
from registry.cli.console import inspect_terminal, print_tables, report, report_all, write
from registry.cli.options import (
    Db,
    Memory,
    OutputFormat,
    Public,
    Quiet,
    Workers,
    find_database,
    find_private_database,
    make_execution,
)
from registry.errors import InputError, MismatchError, counted
from registry.identity import SALTED, short

if TYPE_CHECKING:
    from registry.evaluation.verifying.verify import VerificationResult
    from registry.significance import Execution
    from registry.store.database import Database
    from registry.store.history import Section

ShowFormat = Literal["table", "md", "json"]

_DIGEST = re.compile(rf"({SALTED})?sha256:[0-9a-f]{{64}}")


def show(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=(
        "A signature or the id at its end; SIGNATURE/A~B for a pair of systems, named as in `registry pairs`; "
        "run:NUMBER; or task/test_set/team/system, with or without @version."),
        autocompletion=completion.signatures)] = None,
    head: Annotated[bool, typer.Option("--head", help=(
        "Print the hash of the last log entry; publish it to prove later that the log was not changed."))] = False,
    db: Db = None, public: Public = False,
    format_: Annotated[ShowFormat, typer.Option("--format", "-f", case_sensitive=False, help=(
        "The output format."))] = "table",
) -> None:
    """Show how a result was computed.

    The command prints the files, the command, the program, the user and the time; of a TREC run also its ir_metadata.
    Exit status 4: the given signature differs from the stored one.
    """
    from registry.evaluation.submissions.life import load_run_metadata
    from registry.store import history

    if (name is None) == (not head):
        raise InputError("name what to show: a signature, run:NUMBER or a submission; or give only --head")
    with find_private_database(db, public=public).reading() as connection:
        sections = history.read_log_head(connection) if name is None else history.find_history(connection, name)
        if name is not None and (metadata := load_run_metadata(connection, name)):
            sections.append(history.Section("ir_metadata", metadata))
    if format_ == "json":
        write(json.dumps([{section.title: section.rows} for section in sections], indent=2, default=str) + "\n")
    else:
        _print_sections(sections, format_, abbreviate=not head)
    if sections[0].title == history.ALTERED:
        raise MismatchError("the given signature differs from the stored one: " + "; ".join(
            f"{row['field']} is {row['given']}, but {row['stored']} is stored" for row in sections[0].rows))


def _print_sections(sections: Sequence[Section], format_: ShowFormat, *, abbreviate: bool) -> None:
    """Print the history of a result as one table per section.

    Args:
        sections: The sections.
        format_: The output format.
        abbreviate: True to shorten digests, times and numbers.
    """
    from registry.rendering.render import render
    from registry.rendering.table import Table

    width, color = inspect_terminal()
    format_value = _abbreviate if abbreviate else str
    tables = [Table([{key: format_value(value) for key, value in row.items()} for row in section.rows],
                    title=section.title) for section in sections if section.rows]
    write(render(tables, format_, width=width, color=color))


def _abbreviate(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, datetime):
        return str(value.replace(microsecond=0))
    return short(value) if isinstance(value, str) and _DIGEST.fullmatch(value) else value


def verify(
    task: Annotated[str | None, typer.Argument(metavar="TASK|DIR", help=(
        "A task's id, or the folder of a release. Default: all tasks."))] = None,
    results: Annotated[str, typer.Option("--results", metavar="all|none|N|ID", help=(
        "Which comparisons and studies to recompute: all (only studies that took at most a minute), none, N at random, "
        "or the one with this id."))] = "all",
    head: Annotated[str | None, typer.Option("--head", metavar="HASH", help=(
        "A published head of the log, as printed by `registry show --head`."))] = None,
    workers: Workers = None, memory: Memory = None, db: Db = None, format_: OutputFormat = None, quiet: Quiet = False,
) -> None:
    """Verify stored data, and recompute all results.

    The command compares files with their digests and with the log, and recomputes scores, comparisons and studies in a
    temporary copy. For a release, it checks the checksums and recomputes the results from its tables. Exit status 4: a
    fault was found.
    """
    from registry.releases.verifying import is_release, verify_release
    from registry.rendering.table import Table

    execution = make_execution(workers, None, memory, quiet=quiet)
    if task is not None and ("/" in task or is_release(Path(task))):
        if results != "all" or head is not None:
            raise InputError("a release has no log, and all its results are recomputed; leave out --results and --head")
        report(f"info: verifying the release in the folder {task!r}")
        verified = verify_release(Path(task), execution)
    else:
        verified = _verify_copy(find_database(db), task, results, execution, head)
    verified = verified.without_rounding()
    report_all(verified.notes, "info")
    plurals = {"entry of the log": "entries of the log", "study": "studies"}
    checked = ", ".join(counted(n, thing, plurals.get(thing)) for thing, n in verified.counts.items())
    outcome = counted(len(verified.faults), "fault") if verified.faults else "no faults"
    report(f"checked {checked}: {outcome}" if checked else outcome)
    if verified.faults:
        keys = ["kind", "of", "name", "message"]
        print_tables([Table([vars(fault) for fault in verified.faults], keys=keys)], format_)
        raise typer.Exit(4)


def _verify_copy(registry: Database, task: str | None, results: str, execution: Execution,
                 head: str | None) -> VerificationResult:
    import tempfile

    from registry.evaluation.verifying.stored import KINDS, verify_definitions
    from registry.evaluation.verifying.verify import VerificationResult
    from registry.evaluation.verifying.verify import verify as verify_registry
    from registry.releases.verifying import verify_public
    from registry.store.database import Database
    from registry.store.embargoes import is_public
    from registry.store.log import Journal
    from registry.store.rows import has_row
    from registry.store.session import copy_file
    from registry.studies import load_study
    from registry.studies.verify import verify_studies

    with tempfile.TemporaryDirectory() as folder:
        copy = Database(Path(folder) / "registry.duckdb", named=registry.path)
        copy_file(registry, copy.path)
        with copy.writing(dry_run=True) as connection:
            # A private registry's log has hashes: if it is marked as public, the mark was forged, and is a fault.
            if is_public(connection) and not has_row(connection, "event WHERE hash <> '' AND action <> 'release'"):
                verified = VerificationResult(verify_definitions(connection), [
                    "this is a public file: its log is redacted, and it lacks some files from which its numbers were "
                    "computed"])
                verify_public(connection, execution, verified)
                return verified
            verified = verify_registry(connection, Journal("verify", {}), task, results, execution, head)
        if not any(fault.of in KINDS for fault in verified.faults):
            verify_studies(copy, task, results, execution, verified, load_study)
        return verified


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")],
    db: Db = None,
) -> None:
    """Copy the registry into a new file.

    Other commands may read the registry meanwhile. The command reads every block of the copy again before it gives the
    copy its name. The copy is a registry; to restore it, rename it to the name of the lost file.
    """
    from registry.store.session import back_up

    back_up(find_database(db), file)
    report(f"{file}: written, and every block read again; `registry verify --db {file}` recomputes its numbers")
