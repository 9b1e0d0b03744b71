"""The log: a run for each command, and an event for each change.

Commands that change nothing are not logged.

The events are a hash chain: the hash of an event covers the event, its run, and the hash of the previous event. The
last hash therefore detects if any earlier event was changed, removed or moved. A purge may have to delete some texts:
actor, subject, details and parameters. The chain therefore covers only a digest of these texts and of a random salt. A
purge deletes the texts and the salt, and keeps the digest. All hashes then remain valid, and nobody can check a guess
of the deleted texts.

At its end, each command logs digests of tables. Names, scores and answers are not part of these digests: somebody could
check a guess with the digest, and a purge could not delete the digest. Tables with a row per item or per pair have no
digest, because `registry verify` computes these tables again.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Boolean, Connection, DateTime, Integer, Row, SmallInteger, select, text

from registry.errors import InputError, UnknownNameError
from registry.identity import canonical_json, digest_json
from registry.provenance import code, environment
from registry.store import models
from registry.store.rows import insert, insert_many
from registry.submission_fields import SUBMISSION_FIELDS

_SAFE = (BigInteger, Boolean, DateTime, Integer, SmallInteger)  # columns of these types are part of digests
_TEXTS = {  # other columns that are part of the digest of a table: declarations and settings
    "task": (), "test_set": ("name", "cluster_attribute"), "gold_revision": ("task_version", "reader"),
    "gold_source": ("role", "reader"), "track": ("name",), "team": (), "system": (),
    "submission": [field.column for field in SUBMISSION_FIELDS if field.type == "setting"], "submission_source": (),
    "replicate_factor": ("factor",),
    "tombstone": (), "scoring": ("missing",), "metric": ("name", "family", "better"), "task_metric": ("alias",),
    "score": (), "source": (), "tested_statistics": (), "study": (),
    "pair_request": ("metric", "test", "alternative", "interval", "confidence", "runs"),
    "comparison": ("facet", "alias", "test", "alternative", "unit", "alpha", "correction", "interval", "confidence",
                   "runs"),
}
_LENGTH = 32  # hexadecimal digits

TableDigests = Mapping[str, str]


def digested_columns(table: str) -> list[str]:
    """Return the columns of a table that its digest covers.

    Texts that people wrote are not covered, because they may be deleted on request. The result is empty if the table
    has no digest.
    """
    if table not in _TEXTS:
        return []
    return [column.name for column in models.metadata.tables[table].columns
            if isinstance(column.type, _SAFE) or column.name in _TEXTS[table]]


def table_digests(connection: Connection) -> TableDigests:
    """Return a digest of the contents of each table, to detect changes from outside.

    Returns:
        Digests by name of the table. The order of the rows does not matter.
    """
    queries = []
    for table in _TEXTS:
        columns = ", ".join(f'"{name}"' for name in digested_columns(table))
        queries.append(f"SELECT '{table}', sha256(coalesce(string_agg(line, '\n' ORDER BY line), '')) "  # noqa: S608
                       f"FROM (SELECT json_array({columns})::VARCHAR AS line FROM main.\"{table}\")")
    digests = connection.exec_driver_sql(" UNION ALL ".join(queries))
    return {table: digest[:_LENGTH] for table, digest in digests}


_RUN_COLUMNS = ("command", "digest", "started_at", "code_version", "code_revision", "code_dirty", "environment")
_EVENT_COLUMNS = ("event_id", "run_id", "at", "action", "digest")
_WORDS = ("actor", "subject", "details")  # columns of an event that a purge may delete
BLANK = (None, "", "{}")  # values of columns after a purge: actor, text, and JSON


@dataclass
class Journal:
    """Writer of the log entries of one command, in one or more transactions.

    A command that changes nothing is not logged, because the command itself is recorded at its first change.

    Attributes:
        command: Name of the command.
        parameters: Parameters of the command.
        inputs: Digest of each file that the command has read, by name of the file.
        actor: User who started the command; None if users are not recorded.
    """

    command: str
    parameters: Mapping[str, Any]
    inputs: dict[str, str] = field(default_factory=dict)
    actor: str | None = None
    _run_id: int | None = None
    _altered: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """True if the command has changed the registry."""
        return self._run_id is not None

    def read(self, name: str, digest: str) -> None:
        """Record that the command has read a file, with its digest.

        If the command has read another file with the same name, the name gets a number, such as `gold.tsv (2)`.
        """
        numbered, n = name, 1
        while self.inputs.setdefault(numbered, digest) != digest:
            n += 1
            numbered = f"{name} ({n})"

    def begin(self, connection: Connection) -> None:
        """Find the tables that another program has changed since the last command.

        `close` logs these tables. Call this method before the first change.
        """
        self._altered = find_altered_tables(connection)

    def run_id(self, connection: Connection) -> int:
        """Return the id of the command; the first call adds it to the table `run`."""
        if self._run_id is None:
            program, salt, parameters = code(), new_salt(), canonical_json(self.parameters)
            self._run_id = insert(
                connection, models.run, command=self.command, parameters=parameters,
                inputs=canonical_json(self.inputs), started_at=now(), ended_at=None, code_version=program.version,
                code_revision=program.revision, code_dirty=program.dirty, environment=canonical_json(environment()),
                salt=salt, digest=digest_json([salt, parameters]),
            )
        return self._run_id

    def forget(self) -> None:
        """Forget the id of the command, because its transaction was rolled back."""
        self._run_id = None

    def event(self, connection: Connection, action: str, subject: str, **details: Any) -> None:
        """Log one change: an action, such as `compare`, on a named subject."""
        append(connection, [self.entry(connection, action, subject, **details)])

    def entry(self, connection: Connection, action: str, subject: str, **details: Any) -> dict[str, Any]:
        """Make the log entry of one change, for `append`, without storing it."""
        return {"run_id": self.run_id(connection), "at": now(), "actor": self.actor, "action": action,
                "subject": subject, "details": canonical_json(details)}

    def close(self, connection: Connection) -> None:
        """Log the end of the command, with its inputs and the digests of all tables.

        Call this method in the last transaction of the command.
        """
        if self._run_id is not None:
            inputs, run, ended = canonical_json(self.inputs), models.run, now()
            is_this_run = run.c.run_id == self._run_id
            connection.execute(run.update().where(is_this_run).values(ended_at=ended, inputs=inputs))
            salt = connection.execute(select(run.c.salt).where(is_this_run)).scalar_one()
            self.event(connection, "end", self.command, inputs=digest_of_inputs(salt, inputs), ended_at=str(ended),
                       tables=table_digests(connection),
                       **({"altered": self._altered} if self._altered else {}))


def append(connection: Connection, entries: Sequence[Mapping[str, Any]]) -> None:
    """Store entries at the end of the log, with hashes.

    Each hash also covers all earlier entries, so that changes of the log can be detected.
    """
    if not entries:
        return
    event, run = models.event.c, models.run
    last = connection.execute(select(event.event_id, event.hash).order_by(event.event_id.desc()).limit(1)).first()
    first, last_hash = (1, None) if last is None else (last.event_id + 1, last.hash)
    runs = {row.run_id: digest_of_run(row) for row in connection.execute(
        select(run).where(run.c.run_id.in_({entry["run_id"] for entry in entries})))}
    rows = []
    for event_id, entry in enumerate(entries, first):
        row = {"event_id": event_id, **entry, "salt": (salt := new_salt()), "digest": digest_of_words(salt, entry)}
        row["hash"] = last_hash = link(last_hash, row, runs[row["run_id"]])
        rows.append(row)
    insert_many(connection, models.event, rows)


class Entry(NamedTuple):
    """A log entry; `subject` and `details` are empty if their texts were deleted."""

    event_id: int
    run_id: int
    action: str
    subject: str
    details: Mapping[str, Any]


def read_entries(connection: Connection, *actions: str, subject: str | None = None) -> Iterator[Entry]:
    """Yield the log entries with given actions, oldest first.

    Args:
        connection: Connection to the registry.
        actions: Names of actions, such as `rescore`.
        subject: Name of the object that was changed; None means all objects.
    """
    event = models.event
    query = select(event.c.event_id, event.c.run_id, event.c.action, event.c.subject, event.c.details).where(
        event.c.action.in_(actions)).order_by(event.c.event_id)
    for *columns, details in connection.execute(query if subject is None else query.where(event.c.subject == subject)):
        yield Entry._make((*columns, json.loads(details or "{}")))


def find_altered_tables(connection: Connection) -> list[str]:
    """Return the tables that another program has changed since the last command.

    The tables are compared with the digests in the log. The result is empty if the log has no digests yet.
    """
    event = models.event.c
    details = connection.execute(select(event.details).where(event.action == "end").order_by(
        event.event_id.desc()).limit(1)).scalar()
    logged = json.loads(details or "{}").get("tables")
    if logged is None:
        return []
    return [table for table, digest in table_digests(connection).items() if logged.get(table) != digest]


def new_salt() -> str:
    """Return a random text that is added to data before its digest is computed.

    Without it, people could guess the data and check the guess with the digest.
    """
    return secrets.token_hex(16)


def digest_of_inputs(salt: str, inputs: str) -> str:
    """Return a digest of the names and digests of a command's input files.

    The secret salt (a random text) is part of the digested text. Without it, names of participants in file names could
    be guessed from the digest.
    """
    return digest_json([salt, inputs])


def digest_of_words(salt: str, event: Mapping[Any, Any]) -> str:
    """Return a digest of the texts in a log entry.

    The texts may be deleted later; the digest then remains, so that the hashes of the log can still be verified. The
    secret salt (a random text) prevents people from guessing deleted texts.
    """
    return digest_json([salt, *(event[name] for name in _WORDS)])


def digest_of_run(run: Row[Any]) -> str:
    """Return a digest of facts about a command, such as its name, version and start.

    These facts do not change after the start. The parameters are not included, because they have their own salted
    digest.
    """
    return digest_json([str(run._mapping[name]) for name in _RUN_COLUMNS])


def link(previous_hash: str | None, event: Mapping[Any, Any], run_digest: str) -> str:
    """Return the hash of a log entry, which also covers the previous entry's hash.

    Args:
        previous_hash: Hash of the previous entry; None for the first entry.
        event: The entry.
        run_digest: Digest of the command that wrote the entry.
    """
    return digest_json([previous_hash, run_digest, *(str(event[name]) for name in _EVENT_COLUMNS)])


def now() -> datetime:
    """Return the current time in UTC, without a time zone, as in the database."""
    return datetime.now(UTC).replace(tzinfo=None)


Key = tuple[int, int]  # scoring id and metric id


class Rescoring(NamedTuple):
    """Scores that changed when a command computed them again.

    Attributes:
        run_id: Id of the command's row in the table `run`.
        scores: For each score: id in the table `scoring`, metric id, digest before the change, digest after it.
        otherwise: Metrics that now give other scores for equal statistics, because their code changed: digest of the
            new code, by name of the metric.
        results: Comparisons that used the old scores: the digest of the results, by the digest that identifies the
            comparison.
    """

    run_id: int
    scores: list[tuple[int, int, str, str]]
    otherwise: Mapping[str, str]
    results: Mapping[str, str]


def rescorings(connection: Connection) -> list[Rescoring]:
    """Return all recomputations that changed stored scores, oldest first."""
    return [Rescoring(entry.run_id, **{key: entry.details[key] for key in ("scores", "otherwise", "results")})
            for entry in read_entries(connection, "rescore")]


def metric_version(connection: Connection, metric: str) -> str:
    """Return the name under which test results of a metric are stored.

    The result is usually the name of the metric. If its code has changed so that equal statistics give other scores,
    the digest of the new code follows. Old results are then not used.
    """
    digests = [change.otherwise[metric] for change in rescorings(connection) if metric in change.otherwise]
    return f"{metric} by {digests[-1]}" if digests else metric


def has_rescored_since(connection: Connection, run_id: int, keys: Iterable[Key]) -> bool:
    """Return True if at least one of the given scores has changed since a command.

    Args:
        connection: Connection to the registry.
        run_id: Id of the command's row in the table `run`.
        keys: For each score: id in the table `scoring`, and metric id.
    """
    wanted, digests_before, digests_now = set(keys), dict[Key, str](), dict[Key, str]()
    for change in rescorings(connection):
        for scoring_id, metric_id, digest_before, digest_after in change.scores if change.run_id > run_id else ():
            if (key := (scoring_id, metric_id)) in wanted:
                digests_before.setdefault(key, digest_before)
                digests_now[key] = digest_after
    return digests_before != digests_now


_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TO_THE_MINUTE = re.compile(r"[Tt ]\d\d:\d\d(?!:)")


@dataclass(frozen=True)
class Moment:
    """A time in the past, to show the registry as it was then.

    Attributes:
        entry: Id of the last log entry before this time.
        time: The time as text, with a preposition, such as "on 2026-11-22".
        signature: Signature of the comparison that defines the time, if the user named a comparison; otherwise None.
    """

    entry: int
    time: str
    signature: str | None = None

    @property
    def heading(self) -> str:
        """Sentence above output about the past, such as `This is the state of the registry on 2026-11-22.`."""
        return f"This is the state of the registry {self.time}."


def is_time(name: str) -> bool:
    """Return True if a text begins with a date, unlike the signature of a result.

    >>> [is_time(name) for name in ("2026-11-22", "2026-11-22T12:00Z", "20261122", "id:20261122")]
    [True, True, False, False]
    """
    return _DATE.match(name) is not None


def find_moment(connection: Connection, name: str) -> Moment:
    """Convert a date, time or signature into a moment in the history of the registry.

    - `2026-11-22`: the end of the day in UTC;
    - `2026-11-22T12:00Z`: the end of this minute, or of the second if the text has seconds;
    - the signature of a comparison or a study, or the id at its end: the end of the command that computed it.

    Args:
        connection: Connection to the registry.
        name: The text.

    Raises:
        InputError: The time is malformed, lacks a time zone, or is before the first entry of the log.
        UnknownNameError: No comparison or study has the signature.
    """
    if not is_time(name):
        return _find_computed(connection, name)
    end = _parse_end(name)
    entry = _find_last_entry(connection, 'SELECT max(event_id) FROM event WHERE "at" < :end', end=end)
    if entry is None:
        first = connection.execute(text('SELECT min("at") FROM event')).scalar()
        raise InputError(f"{name} is before the first entry of the log, " + (
            "which is empty" if first is None else f"of {_format_time(first)}; name a later time"))
    last = end - timedelta(microseconds=1)
    return Moment(entry, f"on {name}" if _DATE.fullmatch(name) else f"at {_format_time(last)}")


def _parse_end(name: str) -> datetime:
    """Parse a date or time, and return the last moment that it covers, in UTC.

    For example, the date `2026-11-22` covers everything up to midnight at its end.
    """
    try:
        if _DATE.fullmatch(name):
            return datetime.combine(date.fromisoformat(name), time.min) + timedelta(days=1)
        start = datetime.fromisoformat(name)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{name!r} is not a date or time: {error}; write 2026-11-22 or 2026-11-22T12:00Z") from None
    if start.tzinfo is None:
        raise InputError(f"{name!r} has no time zone; add Z for UTC, or an offset such as +02:00")
    if "." in name or "," in name:
        unit = timedelta(microseconds=1)
    else:
        unit = timedelta(minutes=1) if _TO_THE_MINUTE.search(name) else timedelta(seconds=1)
    try:
        return start.astimezone(UTC).replace(tzinfo=None) + unit
    except OverflowError:
        raise InputError(f"{name!r} is out of range") from None


def _find_computed(connection: Connection, signature: str) -> Moment:
    rows = {row.signature.rpartition("id:")[2]: row for row in connection.execute(text("""
        SELECT signature, run_id, created_at, FALSE AS of_board FROM study UNION ALL
        (SELECT signature, run_id, created_at, TRUE FROM comparison ORDER BY comparison_id)"""))}  # latest of each id
    if (row := rows.get(signature.rpartition("id:")[2])) is None:
        raise UnknownNameError("date, time or signature", signature, rows)
    entry = _find_last_entry(connection, "SELECT max(event_id) FROM event WHERE run_id = :run", run=row.run_id)
    if entry is None:
        raise InputError(f"the log has no entry of the command that computed {signature}")
    return Moment(entry, f"at {_format_time(row.created_at)}", row.signature if row.of_board else None)


def _find_last_entry(connection: Connection, latest: str, **parameters: object) -> int | None:
    """Return the last log entry of the last command that had ended by a given time.

    Args:
        connection: Connection to the registry.
        latest: SELECT of the id of a log entry; later entries are ignored.
        parameters: Parameters of the SELECT.

    Returns:
        The id of the entry; None if there is none.
    """
    entry = connection.execute(text(f"""
        SELECT max(event_id) FROM (
            SELECT event_id, action = 'end' OR run_id IS DISTINCT FROM lead(run_id) OVER (ORDER BY event_id) AS ends
            FROM event)
        WHERE ends AND event_id <= ({latest})"""), parameters).scalar()  # noqa: S608
    return None if entry is None else int(entry)


def _format_time(utc: datetime) -> str:
    return f"{utc:%Y-%m-%d %H:%M:%S} UTC"
