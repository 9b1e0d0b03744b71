"""Commands about trust: where a number comes from, whether it still stands, and copies: show, verify, backup."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from registry.cli.console import say, say_all, show, terminal, write
from registry.cli.execution import Memory, Quiet, Workers, execution
from registry.cli.guide import names
from registry.cli.options import Db, OutputFormat, Public, database, private_database
from registry.errors import InputError, MismatchError, counted
from registry.identity import SALTED, short

if TYPE_CHECKING:
    from registry.evaluation.verifying.verify import Verified
    from registry.significance import Execution
    from registry.store.database import Database
    from registry.store.history import Section

Form = Literal["table", "md", "json"]

_DIGEST = re.compile(rf"({SALTED})?sha256:[0-9a-f]{{64}}")


def verify(
    task: Annotated[str | None, typer.Argument(metavar="TASK|DIR", help=(
        "A task's id, all tasks if none is given; or the folder of a release."))] = None,
    results: Annotated[str, typer.Option("--results", metavar="all|none|N|ID", help=(
        "Which comparisons and studies to make again: all (of studies those that took a minute at most), none, N drawn "
        "at random, or the one with this id."))] = "all",
    head: Annotated[str | None, typer.Option("--head", metavar="HASH", help=(
        "A head of the log that was published, as `registry show --head` prints it."))] = None,
    workers: Workers = None, memory: Memory = None, db: Db = None, format_: OutputFormat = None, quiet: Quiet = False,
) -> None:
    """Check that nothing was altered, and every number follows.

    Files are held against their digests and the log, and scores, results and studies are computed again, in a copy. A
    release is held against its checksums, and computed again from its tables. Exit status 4 says that something was
    found.
    """
    from registry.releases.verifying import is_release, verify_release
    from registry.rendering.table import Table

    how = execution(workers, None, memory, quiet=quiet)
    if task is not None and ("/" in task or is_release(Path(task))):
        if results != "all" or head is not None:
            raise InputError("a release has no log, and all of its comparisons are made again; leave --results and "
                             "--head out")
        say(f"note: the release in the folder {task} is verified")
        verified = verify_release(Path(task), how)
    else:
        verified = _verified(database(db), task, results, how, head)
    verified = verified.without_rounding()
    say_all(verified.notes, "note")
    several = {"entry of the log": "entries of the log", "study": "studies"}
    looked_at = ", ".join(counted(n, what, several.get(what)) for what, n in verified.looked_at.items())
    found = counted(len(verified.faults), "fault") if verified.faults else "all is well"
    say(f"looked at {looked_at}: {found}" if looked_at else found)
    keys = ["kind", "of", "name", "message"]
    if verified.faults:
        show([Table([vars(fault) for fault in verified.faults], keys=keys)], format_)
        raise typer.Exit(4)


def _verified(registry: Database, task: str | None, results: str, how: Execution, head: str | None) -> Verified:
    """Verify a copy of a registry or of a public file."""
    import tempfile

    from registry.evaluation.verifying.stored import KINDS, verify_definitions
    from registry.evaluation.verifying.verify import Verified
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
        copied = Database(Path(folder) / "registry.duckdb", named=registry.path)
        copy_file(registry, copied.path)
        with copied.writing(dry_run=True) as connection:
            # A registry's own log has hashes: a row that calls it public was added, and is a fault.
            if is_public(connection) and not has_row(connection, "event WHERE hash <> '' AND action <> 'release'"):
                verified = Verified(verify_definitions(connection), [
                    "a public file: its log is redacted, and it has not all files that numbers were computed from"])
                verify_public(connection, how, verified)
                return verified
            verified = verify_registry(connection, Journal("verify", {}), task, results, how, head)
        if not any(fault.of in KINDS for fault in verified.faults):
            verify_studies(copied, task, results, how, verified, load_study)
        return verified


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new file; there must be none of that name.")],
    db: Db = None,
) -> None:
    """Copy the registry as it stands into a new file.

    Others may read meanwhile. The copy is read from its first block to its last before it gets its name. It is a
    registry too: to go back to it, give it the name of the one that is lost.
    """
    from registry.store.session import back_up

    back_up(database(db), file)
    say(f"{file}: every block was read again; `registry verify --db {file}` computes every number again")


def show_(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=(
        "A signature or the id at its end; SIGNATURE/A~B for what became of two of its systems, named as in `registry "
        "pairs`; run:NUMBER; or task/test_set/team/system, perhaps with @version."),
        autocompletion=names.signatures)] = None,
    head: Annotated[bool, typer.Option("--head", help=(
        "Print the hash of the log's last entry, to be published: it stands for all before it."))] = False,
    db: Db = None, public: Public = False,
    format_: Annotated[Form, typer.Option("--format", "-f", case_sensitive=False, help="How to write it.")] = "table",
) -> None:
    """Tell how a number came about.

    From which files, by which command and program, who and when; of a run of TREC's also its ir_metadata. Exit status 4
    says that a given signature is not written as it is stored.
    """
    import json

    from registry.evaluation.submissions.life import run_metadata
    from registry.store import history

    if (name is None) == (not head):
        raise InputError("name what to show: a signature, run:NUMBER or a submission; or give --head alone")
    with private_database(db, public=public).reading() as connection:
        found = history.read_log_head(connection) if name is None else history.find_history(connection, name)
        if name is not None and (said := run_metadata(connection, name)):
            found.append(history.Section("ir_metadata", said))
    if format_ == "json":
        write(json.dumps([{section.title: section.rows} for section in found], indent=2, default=str) + "\n")
    else:
        _show_sections(found, format_, whole=head)
    if found[0].title == history.ALTERED:
        raise MismatchError("the given line is not the stored signature: " + "; ".join(
            f"{row['field']} is {row['given']}, and {row['stored']} where it is stored" for row in found[0].rows))


def _show_sections(found: Sequence[Section], form: Form, *, whole: bool) -> None:
    """Print parts of a history for people; digests are shortened unless they are wanted `whole`."""
    from registry.rendering.render import render
    from registry.rendering.table import Table

    width, color = terminal()
    shown: Callable[[Any], Any] = str if whole else _short  # a head is published whole
    write(render([Table([{key: shown(value) for key, value in row.items()} for row in section.rows],
                        title=section.title) for section in found if section.rows], form, width=width, color=color))


def _short(value: Any) -> Any:
    """A value for people: digests by their first digits, as signatures have them, times to the second."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, datetime):
        return str(value.replace(microsecond=0))
    return short(value) if isinstance(value, str) and _DIGEST.fullmatch(value) else value
