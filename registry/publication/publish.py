"""Writing of a public file: a registry with the public data of another registry.

If a task withholds its gold, its public file has no statistics of items. The file then has totals, the sums of
statistics over all items, so that scores can still be computed. A total is an integer number of steps, and therefore
exact; `per_one` steps make 1. Some statistics families have no totals, because their scores do not follow from sums.
The log of a public file contains only the actions and details that this module lists. The log has no hashes, because
the hash of an entry covers private data.
"""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from registry.arrays import Floats
from registry.errors import InputError, RegistryError, UnknownNameError
from registry.evaluation.matrices import Steps
from registry.evaluation.resolve import resolve
from registry.families import FAMILIES
from registry.files import is_database, new_file
from registry.identity import canonical_json, digest
from registry.manifest import decode_manifest, encode_manifest, read_manifest
from registry.metrics import METRICS
from registry.metrics.confusion import NO_LABEL
from registry.publication.tables import REFERENCES, SCOPE, TABLES, PublicTable
from registry.store import catalog, models
from registry.store.database import Database
from registry.store.embargoes import find_hidden, is_public
from registry.store.files import Reach
from registry.store.log import now, read_entries
from registry.store.rows import get_driver, insert_many, quote
from registry.store.sources import fetch, is_stored
from registry.store.statistics import load_statistics
from registry.submission_fields import SUBMISSION_FIELDS
from registry.values import parse
from registry.version import __version__

WITHOUT = ("confusion", "pair")  # statistics families without totals
_WITHHELD_SCORES = """
    SELECT scoring_id, metric_id, gold_revision_id, score.step, metric.name, metric.family,
        of_scoring.new AS new_scoring, of_metric.new AS new_metric
    FROM score JOIN public_scoring USING (scoring_id) JOIN scoring USING (scoring_id) JOIN metric USING (metric_id)
    JOIN number_scoring AS of_scoring ON of_scoring.old = scoring_id
    JOIN number_metric AS of_metric ON of_metric.old = metric_id
    WHERE NOT has_gold ORDER BY new_scoring, new_metric"""


def sum_statistics(connection: Connection) -> Iterator[dict[str, Any]]:
    """Sum the statistics of all items, for a public file that hides single items.

    Scores can be computed again from these sums. Only tasks that withhold their gold need them.

    Args:
        connection: Connection to the registry itself, with the temporary tables that list the public rows.

    Yields:
        Rows of the table `statistic_total` of the public file.
    """
    for score in connection.exec_driver_sql(_WITHHELD_SCORES).all():
        if score.family in WITHOUT:
            continue
        (runs,), present = load_statistics(connection, score.family, score.metric_id, [score.scoring_id],
                                           *catalog.item_ids(connection, score.gold_revision_id))
        runs = runs[present.any(axis=1)]
        steps = Steps.choose(parse("metric", METRICS, score.name), [runs], score.step)
        totals: Floats = steps.to_steps(runs).sum(axis=0)
        for replicate, run_totals in enumerate(totals):
            for position, (name, total) in enumerate(zip(FAMILIES[score.family].columns, run_totals, strict=True)):
                yield {"scoring_id": score.new_scoring, "metric_id": score.new_metric, "replicate": replicate,
                       "position": position, "statistic": name, "total": int(total), "per_one": steps.per_one[position]}


_EMBARGO_DETAILS = ("anonymous_until", "blind_until")
_SUBMISSION_DETAILS = (
    *(field.column for field in SUBMISSION_FIELDS if field.may_change and field.public != "never"), "said_in")
_COMPARISON_DETAILS = ("digest", "signature")
# The published details of log entries, by action.
_DETAILS: Mapping[str, tuple[str, ...]] = {
    "task": ("version", "normalized", "seed", "said_in", *_EMBARGO_DETAILS),
    "hide": _EMBARGO_DETAILS, "reveal": _EMBARGO_DETAILS,
    "gold": ("digest", "items"), "score": ("computed", "scorers"),
    "submission-added": _SUBMISSION_DETAILS, "submission-changed": _SUBMISSION_DETAILS,
    "compare": _COMPARISON_DETAILS, "compare-again": _COMPARISON_DETAILS, "board-retired": _COMPARISON_DETAILS,
    "study": ("signature",),
    "ladder": ("gold_revision_id", "track", "metric", "submission_id", "step", "before", "shown", "raised"),
    "purge": (),
}
_COMPARISON_ACTIONS = ("compare", "compare-again", "board-retired")
_SCORE_ACTIONS = ("score", "study", *_COMPARISON_ACTIONS)
_SUBMISSION_ACTIONS = ("submission-added", "submission-changed", "ladder", "purge")
_NUMBERS = {"gold_revision_id": "gold_revision", "submission_id": "submission", "track_id": "track"}

_ENTRIES = text("""
    SELECT e.event_id, number.new AS run_id, e."at", e.action, e.subject, e.details, task.slug, is_anonymous, is_blind,
        coalesce(run.ended_at, run.started_at) AS ended_at
    FROM event AS e JOIN public_task AS task ON task.slug = split_part(e.subject, '/', 1)
    JOIN number_run AS number ON number.old = e.run_id JOIN run ON run.run_id = e.run_id
    ORDER BY e.event_id""")
_NAMES = text("""
    SELECT prefix || real_name AS stored, prefix || team || '/' || system || '@' || version AS shown
    FROM public_submission""")
_DIGESTS = text("SELECT digest FROM comparison JOIN public_comparison USING (comparison_id)")
_STUDIES = text("SELECT signature FROM study JOIN number_study ON old = study_id")
_GOLD = text("SELECT test_set, real_digest, digest FROM public_gold")


class _Entry(NamedTuple):
    """A log entry in the form in which a public file contains it.

    Attributes:
        stored_id: Id of the entry in the registry itself.
        details: Published details.
        columns: Other columns of the table `event`.
        is_named: Whether the entry may contain the name of its submission.
    """

    stored_id: int
    details: dict[str, Any]
    columns: dict[str, Any]
    is_named: bool


def make_public_log(connection: Connection, manifests: Collection[str]) -> list[dict[str, Any]]:
    """Make the log of a public file, which reveals no hidden names or scores.

    Log entries that would reveal them are left out or changed.

    Args:
        connection: Connection to the registry itself, with the temporary tables that list the public rows.
        manifests: Digests of the published manifests. Digests of other manifests are left out, because somebody could
            guess the names in a manifest, and check the guess with the digest.

    Returns:
        Rows of the table `event`, oldest first.
    """
    names = dict(map(tuple, connection.execute(_NAMES)))
    compared = set(connection.execute(_DIGESTS).scalars())
    studied = set(connection.execute(_STUDIES).scalars())
    golds = {(row.test_set, row.real_digest): row.digest for row in connection.execute(_GOLD)}
    published = []
    for row in connection.execute(_ENTRIES):
        stored = json.loads(row.details)
        if row.action not in _DETAILS or (row.is_blind and row.action in _SCORE_ACTIONS):
            continue
        if (row.action == "study" and stored.get("signature") not in studied) or (
                row.action in _COMPARISON_ACTIONS and stored.get("digest") not in compared):
            continue
        is_named = not (row.is_anonymous and row.action in _SUBMISSION_ACTIONS)
        details = {key: stored[key] for key in _DETAILS[row.action]
                   if key in stored and (is_named or row.action == "ladder")
                   and (key != "normalized" or stored[key] in manifests)}
        if row.action == "gold" and "digest" in details:
            details["digest"] = golds.get((row.subject, stored["digest"]), "")
        published.append(_Entry(row.event_id, details, {
            "run_id": row.run_id, "at": row.ended_at if row.is_anonymous else row.at, "actor": None,
            "action": row.action, "subject": row.subject if is_named else names.get(row.subject, row.slug),
            "hash": "", "salt": None, "digest": ""}, is_named))
    ordered = list(_sort_submissions(published))
    numbers = {"said_in": {entry.stored_id: n for n, entry in enumerate(ordered, 1)}} | {
        column: dict(map(tuple, connection.exec_driver_sql(f"SELECT old, new FROM number_{table}")))  # noqa: S608
        for column, table in _NUMBERS.items()}
    return [entry.columns | {"event_id": n, "details": canonical_json(_renumber(entry.details, numbers))}
            for n, entry in enumerate(ordered, 1)]


def _sort_submissions(entries: list[_Entry]) -> Iterator[_Entry]:
    """Sort log entries of anonymous submissions so that names cannot be guessed.

    One command stores submissions in the alphabetical order of their hidden names. That order would be a hint, so these
    entries are sorted by their public names.
    """
    for (_, action), group in groupby(entries, key=lambda entry: (entry.columns["run_id"], entry.columns["action"])):
        same_command = list(group)
        if action in ("submission-added", "submission-changed") and not all(entry.is_named for entry in same_command):
            same_command.sort(key=lambda entry: str(entry.columns["subject"]))
        yield from same_command


def _renumber(details: Mapping[str, Any], numbers: Mapping[str, Mapping[int, int]]) -> dict[str, Any]:
    """Replace row ids in the details of a log entry by the ids in the public file.

    Args:
        details: Details of the entry.
        numbers: Maps stored ids to public ids, by the key in `details`. Rows that are not published have no public id.
    """
    return {key: numbers[key].get(value) if key in numbers and value is not None else value
            for key, value in details.items() if key != "said_in" or value in numbers[key]}


# Answers to items with labels or numbers are in statistics, answers of several parts in responses, and texts in files.
_CONTENTS = """
    SELECT slug,
        EXISTS (FROM item JOIN test_set USING (gold_revision_id) WHERE test_set.task_id = task.task_id) AS gold,
        EXISTS (FROM gold_source JOIN source ON digest = source_digest JOIN test_set USING (gold_revision_id)
            WHERE test_set.task_id = task.task_id) AS texts,
        EXISTS (
            FROM (SELECT scoring_id FROM response UNION ALL SELECT scoring_id FROM statistics_confusion
                UNION ALL SELECT scoring_id FROM statistics_pair)
            JOIN scoring USING (scoring_id) JOIN submission USING (submission_id) JOIN test_set USING (test_set_id)
            WHERE test_set.task_id = task.task_id)
        OR EXISTS (
            FROM submission_source JOIN source ON source.digest = source_digest
            JOIN submission USING (submission_id) JOIN test_set USING (test_set_id)
            WHERE test_set.task_id = task.task_id) AS answers,
        (SELECT count(*) FROM latest_comparison WHERE latest_comparison.task = slug) AS boards
    FROM task ORDER BY task_id"""
_PUBLIC = "public_file"  # the attached database that is written


def publish(database: Database, output: Path, tasks: Sequence[str] = (), *, sources: bool = False,
            time: datetime | None = None, replaces: bool = False) -> None:
    """Write the public data of a registry to a new file, which is a registry, too.

    Args:
        database: The registry itself.
        output: Path of the new file.
        tasks: Ids of the tasks to publish; an empty sequence means all tasks.
        sources: Whether to include public files of gold and submissions. The view `item_text` needs them.
        time: Time in UTC; the file gets the data that is public at this time. None means now.
        replaces: Whether the file may replace an existing public file.

    Raises:
        UnknownNameError: No task has one of these ids.
        InputError: The registry is a public file, or `output` exists and may not be replaced.
        StoreError: The file cannot be written.
    """
    time = time or now()
    _check_output(output, replaces=replaces)
    with new_file(output, replaces=replaces) as path:
        public = Database(path, named=output)
        public.create()
        with database.reading(reach=Reach(folders=[path.parent])) as connection:
            if is_public(connection):
                raise InputError("this is a public file already; publish the registry from which it was made",
                                 path=database.named)
            _select_public(connection, tasks, time, with_sources=sources)
            _copy_public_rows(connection, path, time, is_partial=bool(tasks))
            manifests = list(_load_past_manifests(connection))
            log = make_public_log(connection, {row["digest"] for row in manifests})
            totals = list(sum_statistics(connection))
        with public.writing() as connection:
            insert_many(connection, models.event, log)
            insert_many(connection, models.statistic_total, totals)
            insert_many(connection, models.source, [row | {"created_at": time} for row in manifests])
            insert_many(connection, models.publication, [
                {"published_at": time, "has_sources": sources, "program": f"evalregistry {__version__}"}])
            _declare_plain_ranks(connection)


def _check_output(path: Path, *, replaces: bool) -> None:
    """Check that a public file may be written.

    Raises:
        InputError: The path exists. Only another public file can be replaced, if the user requests this.
    """
    if is_database(path):
        with Database(path).reading() as connection:
            has_public_file = is_public(connection)
        if has_public_file and not replaces:
            raise InputError("this public file already exists; add --force to replace it, or name another file",
                             path=path)
        if has_public_file:
            return
    if path.exists():
        raise InputError("this file already exists, and is not a public file; name another file", path=path)


class Contents(NamedTuple):
    """What a public file contains of one task.

    Attributes:
        task: Id of the task.
        gold: True if the file has the gold.
        texts: True if the file has the gold's files, and with them all texts of items.
        answers: True if the file has answers of systems to single items.
        boards: Number of leaderboards.
    """

    task: str
    gold: bool
    texts: bool
    answers: bool
    boards: int

    def __str__(self) -> str:
        """Return a phrase such as `gold: yes, texts of items: no, answers of systems: yes, leaderboards: 2`."""
        facts = {"gold": self.gold, "texts of items": self.texts, "answers of systems": self.answers}
        return ", ".join([*(f"{name}: {'yes' if value else 'no'}" for name, value in facts.items()),
                          f"leaderboards: {self.boards}"])


def list_contents(connection: Connection) -> list[Contents]:
    """Return what a public file contains of each task."""
    return [Contents(*row) for row in connection.exec_driver_sql(_CONTENTS)]


@contextmanager
def publish_temporarily(database: Database, *, sources: bool = False) -> Iterator[Database]:
    """Make a temporary public file of a registry, for a `with` block.

    A public file is a registry that contains only public data. If `database` is already a public file, it is used
    itself. The temporary file is deleted at the end of the block.
    """
    with database.reading() as connection:
        is_published = is_public(connection)
    if is_published:
        yield database
        return
    with tempfile.TemporaryDirectory(prefix="registry-") as folder:
        path = Path(folder) / "public.duckdb"
        publish(database, path, sources=sources)
        yield Database(path, named=database.named)


def _select_public(connection: Connection, tasks: Sequence[str], time: datetime, *, with_sources: bool) -> None:
    """Create temporary tables with the ids of the rows to publish, one per table.

    Raises:
        UnknownNameError: A requested task does not exist.
    """
    rows = connection.execute(models.task.select().order_by(models.task.c.task_id)).all()
    slugs = [row.slug for row in rows]
    for slug in tasks:
        if slug not in slugs:
            raise UnknownNameError("task", slug, slugs)
    hidden = find_hidden(connection, time)
    driver = get_driver(connection)
    driver.execute("CREATE TEMP TABLE public_task (task_id INTEGER, slug VARCHAR, is_anonymous BOOLEAN, "
                   "is_blind BOOLEAN, has_gold BOOLEAN)")
    for row in rows:
        if not tasks or row.slug in tasks:
            driver.execute("INSERT INTO public_task VALUES (?, ?, ?, ?, ?)", [
                row.task_id, row.slug, row.slug in hidden.anonymous, row.slug in hidden.blind,
                decode_manifest(row.manifest).release.gold])
    for name, select in SCOPE.items():
        values = {"sources": with_sources} if "$sources" in select else None
        driver.execute(f"CREATE TEMP TABLE {name} AS {select}", values)


def _copy_public_rows(connection: Connection, path: Path, time: datetime, *, is_partial: bool) -> None:
    """Copy the public rows and columns of all tables into a new file.

    Args:
        connection: Connection to the registry, with the temporary tables that list the public rows.
        path: Path of the new file.
        time: The file gets the data that is public at this time.
        is_partial: Whether only some tasks are published.
    """
    driver = get_driver(connection)
    driver.execute(f"ATTACH {quote(path)} AS {_PUBLIC} (READ_WRITE)")
    # The stored order of rows depends on hidden names, or on tasks that are not published.
    is_sorted = is_partial or connection.exec_driver_sql("SELECT bool_or(is_anonymous) FROM public_task").scalar()
    for name, table in TABLES.items():
        if table.order:
            stored = table.changed.get(f"{name}_id", f"t.{name}_id")
            driver.execute(f"CREATE TEMP TABLE number_{name} AS SELECT {stored} AS old, "  # noqa: S608
                           f"CAST(row_number() OVER (ORDER BY {table.order}) AS INTEGER) AS new "
                           f"FROM {table.rows} WHERE {table.condition}")
    for name, table in TABLES.items():
        columns, rows = _make_select(name, table)
        statement = (f'INSERT INTO {_PUBLIC}.main."{name}" ({", ".join(columns)}) '  # noqa: S608
                     f'SELECT {", ".join(columns.values())} FROM {rows}{" ORDER BY ALL" if is_sorted else ""}')
        driver.execute(statement, {"at": time} if "$at" in statement else None)
    connection.commit()
    driver.execute(f"CHECKPOINT {_PUBLIC}")
    driver.execute(f"DETACH {_PUBLIC}")
    connection.commit()  # closes the file


def _make_select(name: str, table: PublicTable) -> tuple[dict[str, str], str]:
    """Make the SQL that selects the published rows and columns of a table.

    Args:
        name: Name of the table.
        table: The published part of the table.

    Returns:
        The SQL expression of each column, by quoted name of the column; and the SQL after FROM.
    """
    columns, rows = dict[str, str](), table.rows
    for column in models.metadata.tables[name].columns.keys():  # noqa: SIM118
        value = table.changed.get(column, f't."{column}"')
        owner = REFERENCES.get(column, column.removesuffix("_id"))
        if owner != column and owner in TABLES:
            rows += f" LEFT JOIN number_{owner} AS new_{column} ON new_{column}.old = {value}"
            value = f"coalesce(new_{column}.new, {NO_LABEL})" if owner == "label" else f"new_{column}.new"
        elif column not in (*table.changed, *table.columns.split()):
            raise AssertionError(f"registry/publication/tables.py does not say whether {name}.{column} is published")
        columns[f'"{column}"'] = value
    return columns, f"{rows} WHERE {table.condition}"


def _load_past_manifests(connection: Connection) -> Iterator[dict[str, Any]]:
    """Load all past manifests of published tasks, to show past leaderboards.

    In an anonymous task, manifests that name a candidate system are left out, because this is the name of a
    participant.

    Yields:
        Rows of the table `source`.
    """
    is_anonymous = dict(map(tuple, connection.exec_driver_sql("SELECT slug, is_anonymous FROM public_task").all()))
    yielded = set[str]()
    for entry in read_entries(connection, "task"):
        stored, normalized = entry.details.get("manifest"), entry.details.get("normalized")
        if entry.subject not in is_anonymous or normalized in yielded or not normalized:
            continue
        if is_stored(connection, normalized):
            content = fetch(connection, normalized)
        elif stored and is_stored(connection, stored):
            try:
                manifest = read_manifest(fetch(connection, stored), Path(entry.subject))
                content = resolve(manifest, Path(entry.subject)).stored.encode()
            except RegistryError:  # a manifest that this version of the program rejects
                continue
        else:
            continue
        candidate = json.loads(content).get("significance", {}).get("candidate")
        if digest(content) == normalized and not (is_anonymous[entry.subject] and candidate):
            yielded.add(normalized)
            yield {"digest": normalized, "name": f"normalized manifest of {entry.subject}", "n_bytes": len(content),
                   "content": zlib.compress(content)}


def _declare_plain_ranks(connection: Connection) -> None:
    """Set the kind of rank ranges to `range` for tasks that withhold their gold.

    Other kinds of rank ranges are computed by resampling items, which the public file of such a task does not contain.
    The setting is changed in the stored manifest.
    """
    table = models.task
    for row in connection.execute(table.select()).all():
        manifest = decode_manifest(row.manifest)
        if not manifest.release.gold and manifest.board.ranks in ("bootstrap", "simultaneous"):
            plain = manifest.model_copy(update={"board": manifest.board.model_copy(update={"ranks": "range"})})
            stored = encode_manifest(plain)
            connection.execute(table.update().where(table.c.task_id == row.task_id).values(
                manifest=stored, manifest_digest=digest(stored.encode())))
