"""Whether a release is as it was written, and whether every number in it follows from the others.

Checksums come first. Then the release is made a registry in a temporary file, where its scores and comparisons are made
again by the code that made them, and must be the same to the last bit.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from registry.boards.load import PAGE_PAIRS
from registry.boards.snapshot import TaskBoards, snapshot
from registry.errors import InputError, RegistryError
from registry.evaluation.verifying.faults import Fault, set_aside
from registry.evaluation.verifying.log import with_places_of_purged
from registry.evaluation.verifying.references import verify_references
from registry.evaluation.verifying.results import TABLES as OF_RESULTS
from registry.evaluation.verifying.results import compare_results, derive_results, of_families
from registry.evaluation.verifying.verify import Verified
from registry.manifest import stored_manifest
from registry.releases import checksums
from registry.releases.contents import Contents
from registry.releases.decisions import verify_decisions
from registry.releases.derived_scores import verify_scores
from registry.releases.descriptions import croissant, ro_crate
from registry.releases.submitted import verify_submitted
from registry.releases.tables import SUBMITTED
from registry.releases.writing import FORMAT, PROGRAM, as_registry, for_readers, rendered
from registry.significance import Execution
from registry.store.catalog import TaskRow
from registry.store.files import Reach
from registry.store.log import Journal

_WITHHELD = ("the gold is withheld, and with it the statistics of items: p-values were not computed again, only what "
             "follows from them")
_COMPUTABLE = """
    SELECT comparison_id FROM comparison JOIN test_set USING (test_set_id)
    WHERE task_id = ? AND comparison_id NOT IN (
        SELECT comparison_id FROM comparison_pair JOIN pair_result USING (pair_result_id)
        JOIN tested_statistics ON tested_statistics_id = statistics_a
        WHERE starts_with(tested_statistics.digest, 'withheld'))
    ORDER BY ALL"""
_PURGED = "boards on which a team stood that was purged were not computed again"
_TOTALS = "scores were made again from totals, where their statistics add up"
_STEP_DOWN = "adjusted p-values by max-t and min-p need the draws of all pairs, and were taken as they are"
_OTHER_PROGRAM = f"README, page and descriptions are held by checksums only: {PROGRAM} makes its own"


def is_release(folder: Path) -> bool:
    """Whether a folder has the files that every release has, or some of them."""
    return folder.is_dir() and any((folder / name).exists() for name in ("release.json", checksums.NAME))


def verify_release(folder: Path, execution: Execution) -> Verified:
    """Verify a release.

    Args:
        folder: Where it is.
        execution: Who computes.

    Raises:
        InputError: The folder holds no release.
    """
    verified = Verified()
    verified.count("file", len(checksums.files(folder)))
    verified.faults += checksums.verify(folder)
    try:
        told = _told(folder)
    except InputError as error:
        if not (folder / checksums.NAME).is_file():
            raise
        verified.faults.append(Fault("damaged", "release", folder.name, str(error)))
        return verified
    of_checksums = {fault.name for fault in verified.faults}
    with _going_on(verified, folder.name, "read as one"), as_registry(folder, told) as database:
        with database.writing(dry_run=True, reach=Reach(folders=[folder])) as connection:
            with _going_on(verified, SUBMITTED):
                verified.faults += verify_submitted(connection, folder)
            verify_public(connection, execution, verified)
        with database.reading(reach=Reach(folders=[folder])) as connection:
            (task,) = snapshot(connection, pairs=PAGE_PAIRS).tasks
            verified.faults += _verify_told(told, task)
            verified.faults += _verify_boards(folder, task)
            if told.get("program") == PROGRAM:
                with _going_on(verified, "README.md, page.html and descriptions"):
                    verified.faults += _verify_derived_files(connection, folder, told, task, of_checksums)
            else:
                verified.notes.append(_OTHER_PROGRAM)
    return verified


@contextmanager
def _going_on(verified: Verified, name: str, what: str = "verified") -> Iterator[None]:
    """What cannot be verified is a fault, and does not end what comes after it."""
    try:
        yield
    except Exception as error:
        verified.faults.append(Fault("damaged", "release", name, f"cannot be {what}: {_why(error)}"))


def _why(error: Exception) -> str:
    """What is wrong, in words of the registry."""
    if isinstance(error, RegistryError):
        return str(error)
    if isinstance(error, DBAPIError):
        return "its tables are not those of a release, or contradict each other"
    if isinstance(error, MemoryError):
        return "it takes more memory than there is"
    return "its values are not those of a release, or contradict each other"


def _why_unread(error: Exception) -> str:
    return "its brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)


def _verify_told(told: dict[str, Any], task: TaskBoards) -> Iterator[Fault]:
    """Hold what `release.json` says of the task against the manifest."""
    for key, value in (("task", task.task), ("version", task.version)):
        if told.get(key) != value:
            yield Fault("altered", "release", "release.json", f"says that {key} is {told.get(key)!r}, and the manifest "
                        f"has {value!r}")


def verify_public(connection: Connection, execution: Execution, verified: Verified) -> None:
    """Verify a public file, or a registry that was made of a release: neither has all files, and the log is redacted.

    Args:
        connection: To it, in a transaction that is undone afterwards.
        execution: Who computes.
        verified: What is found is added to it.
    """
    tasks = [TaskRow.of(row) for row in connection.execute(select(*TaskRow.columns()))]
    with _going_on(verified, ", ".join(task.slug for task in tasks)):
        verified.faults += [fault for fault in verify_references(connection) if fault.of != "source"]
        for table in ("comparison", "score"):
            verified.count(table, int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()))  # noqa: S608
        purged = of_families(connection, with_places_of_purged(connection))
        verified.faults += verify_decisions(connection, purged)
        with_gold = [task for task in tasks if stored_manifest(task.manifest).release.gold]
        verified.faults += verify_scores(connection, {task.task_id for task in with_gold})
        chosen = {task.task_id: [row[0] for row in connection.exec_driver_sql(_COMPUTABLE, (task.task_id,))
                                 if row[0] not in purged] for task in with_gold}
        if purged:
            verified.notes.append(_PURGED)
        set_aside(connection, OF_RESULTS)
        for task in with_gold:
            verified.faults += derive_results(connection, Journal("verify", {}), task, chosen[task.task_id], execution)
        for task in with_gold:
            verified.faults += compare_results(connection, chosen[task.task_id],
                                               is_reordered=task.anonymous_until is not None)
        if len(with_gold) < len(tasks):
            verified.notes += [_WITHHELD, _TOTALS]
            if connection.exec_driver_sql("""
                    SELECT 1 FROM stored_comparison JOIN test_set USING (test_set_id)
                    WHERE correction IN ('max-t', 'min-p') AND NOT list_contains(?, task_id)""",
                                          ([task.task_id for task in with_gold],)).first():
                verified.notes.append(_STEP_DOWN)


def _told(folder: Path) -> dict[str, Any]:
    """What `release.json` says."""
    path = folder / "release.json"
    try:
        told = json.loads(checksums.plain_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read, so this is no release: {_why_unread(error)}", path=path) from None
    if not isinstance(told, dict) or not isinstance(told.get("gold"), bool):
        raise InputError("does not say what the release holds", path=path)
    if told.get("format") != FORMAT:
        raise InputError(f"its form is {told.get('format')!r}, and this program knows {FORMAT}; install the program "
                         f"that wrote it, {told.get('program')!r}", path=path)
    return told


def _verify_boards(folder: Path, task: TaskBoards) -> Iterator[Fault]:
    """Hold the boards that people read against the tables, key by key."""
    made = dict(rendered(task))
    for name, read in (("boards/boards.json", json.loads), ("boards/boards.tsv", _rows)):
        try:
            stored, derived = read(checksums.plain_text(folder / name)), read(made[name])
        except (OSError, ValueError, RecursionError) as error:
            yield Fault("damaged", "board", name, f"cannot be read: {_why_unread(error)}")
            continue
        if why := _difference(stored, derived):
            yield Fault("altered", "board", name, why)
    signatures = folder / "boards/signatures.txt"
    if not signatures.is_file() or signatures.read_bytes() != made["boards/signatures.txt"].encode():
        yield Fault("altered", "board", "boards/signatures.txt", "the signatures are not those of the tables")


def _difference(stored: Any, derived: Sequence[Mapping[str, Any]]) -> str | None:
    """What is other in the rows of a file than in those that the tables give; None where that is nothing."""
    if not isinstance(stored, list) or not all(isinstance(row, dict) for row in stored):
        return "it is no list of rows"
    if len(stored) != len(derived):
        return f"it has {len(stored)} rows, and the tables give {len(derived)}"
    for n, (of_file, of_tables) in enumerate(zip(stored, derived, strict=True)):
        for key in (*of_tables, *(of_file.keys() - of_tables.keys())):
            if key not in of_file:
                return f"row {n} is without {key}"
            if key not in of_tables or of_file[key] != of_tables[key]:
                return f"{key or 'a value without a column'} of row {n} is not that of the tables"
    return None


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def _verify_derived_files(connection: Connection, folder: Path, told: dict[str, Any], boards: TaskBoards,
                          known: Collection[str]) -> Iterator[Fault]:
    """Hold README, page, licences and descriptions against what the program that wrote them makes of the tables.

    Args:
        connection: To a registry that was made of the release.
        folder: Where the release is.
        told: What its `release.json` says.
        boards: Its boards.
        known: The names of files that are known to be wrong; while there are any, descriptions with digests are too.
    """
    contents = Contents.of(connection, folder, boards, gold=told["gold"])
    made = list(for_readers(contents))
    if not known:
        contents = contents.with_files([path for path in checksums.files(folder) if path != ro_crate.NAME])
        made += [(croissant.NAME, croissant.croissant(contents)), (ro_crate.NAME, ro_crate.ro_crate(contents))]
    for name, text in made:
        if name in known:
            continue
        if not (folder / name).is_file():
            yield Fault("missing", "file", name, "every release of this task has it")
        elif (folder / name).read_bytes() != text.encode():
            yield Fault("altered", "description", name, "is not what follows from the tables and the manifest")
