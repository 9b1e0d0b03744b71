"""The log: a run row for each command that changes something, and an event for each change.

Events are a chain: the hash of each covers the event, its run, and the hash of the event before. Whoever knows the last
hash can detect that an earlier event was changed, removed or moved. Words that may have to be forgotten (actor,
subject, details, parameters) enter the chain by a digest with a random salt. A purge deletes words and salt and leaves
the digest: all hashes hold, and nobody can confirm a guess at the words.

The end of each command logs digests of tables, of columns from which nothing secret can be guessed. Names of
participants, scores, answers and digests of these are left out, because a digest confirms a guess and a purge could not
take it back. So are tables with a row per item or pair: `registry verify` derives them again.
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

_SAFE = (BigInteger, Boolean, DateTime, Integer, SmallInteger)  # types of columns that nothing can be guessed from
_TEXTS = {  # by table: other columns, of what tasks declare and of settings
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


def columns_of(table: str) -> list[str]:
    """The columns of a table that its digest covers; none if the table has no digest."""
    if table not in _TEXTS:
        return []
    return [column.name for column in models.metadata.tables[table].columns
            if isinstance(column.type, _SAFE) or column.name in _TEXTS[table]]


def table_digests(connection: Connection) -> TableDigests:
    """Return the digests of tables, which do not depend on the order of rows."""
    found = connection.exec_driver_sql(" UNION ALL ".join(map(_table_digest, _TEXTS)))
    return {table: digest[:_LENGTH] for table, digest in found}


def _table_digest(table: str) -> str:
    columns = ", ".join(f'"{name}"' for name in columns_of(table))
    return (f"SELECT '{table}', sha256(coalesce(string_agg(line, '\n' ORDER BY line), '')) "  # noqa: S608 - names
            f"FROM (SELECT json_array({columns})::VARCHAR AS line FROM main.\"{table}\")")


_OF_RUN = ("command", "digest", "started_at", "code_version", "code_revision", "code_dirty", "environment")
_OF_EVENT = ("event_id", "run_id", "at", "action", "digest")
_WORDS = ("actor", "subject", "details")  # of an event: what a purge may take away
BLANK = (None, "", "{}")  # what stands in the place of words that were taken away: of an actor, a text, and JSON


@dataclass
class Journal:
    """The record of one command, over all of its transactions.

    The run's row is written with the first change, so a command that changes nothing leaves no trace.

    Attributes:
        command: Its name.
        parameters: What it was asked for.
        inputs: Digests of everything it has read, by name.
        actor: Who gave it, where that is to be recorded.
    """

    command: str
    parameters: Mapping[str, Any]
    inputs: dict[str, str] = field(default_factory=dict)
    actor: str | None = None
    _run_id: int | None = None
    _altered: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return self._run_id is not None

    def read(self, name: str, digest: str) -> None:
        """Note that a file was read; other files of its name are told from it by a number."""
        numbered, n = name, 1
        while self.inputs.setdefault(numbered, digest) != digest:
            n += 1
            numbered = f"{name} ({n})"

    def begin(self, connection: Connection) -> None:
        """Note which tables another program has altered since the last command; call it before anything is written."""
        self._altered = altered_tables(connection)

    def run_id(self, connection: Connection) -> int:
        """The id of the run, for a row that it is about to write."""
        if self._run_id is None:
            which, salt, parameters = code(), new_salt(), canonical_json(self.parameters)
            self._run_id = insert(
                connection, models.run, command=self.command, parameters=parameters,
                inputs=canonical_json(self.inputs), started_at=now(), ended_at=None, code_version=which.version,
                code_revision=which.revision, code_dirty=which.dirty, environment=canonical_json(environment()),
                salt=salt, digest=digest_json([salt, parameters]),
            )
        return self._run_id

    def forget(self) -> None:
        """Begin again: what the run has written was not kept."""
        self._run_id = None

    def event(self, connection: Connection, action: str, subject: str, **details: Any) -> None:
        """Log one change."""
        append(connection, [self.entry(connection, action, subject, **details)])

    def entry(self, connection: Connection, action: str, subject: str, **details: Any) -> dict[str, Any]:
        """Give what the log will say of one change, to be appended together with others."""
        return {"run_id": self.run_id(connection), "at": now(), "actor": self.actor, "action": action,
                "subject": subject, "details": canonical_json(details)}

    def close(self, connection: Connection) -> None:
        """Write when the run ended, all that it has read, and digests of tables; call it in the last transaction."""
        if self._run_id is not None:
            inputs, run, ended = canonical_json(self.inputs), models.run, now()
            of_run = run.c.run_id == self._run_id
            connection.execute(run.update().where(of_run).values(ended_at=ended, inputs=inputs))
            salt = connection.execute(select(run.c.salt).where(of_run)).scalar_one()
            self.event(connection, "end", self.command, inputs=digest_of_inputs(salt, inputs), ended_at=str(ended),
                       tables=table_digests(connection),
                       **({"altered": self._altered} if self._altered else {}))


def append(connection: Connection, entries: Sequence[Mapping[str, Any]]) -> None:
    """Append entries to the log, each with its place in the chain."""
    if not entries:
        return
    event, run = models.event.c, models.run
    last = connection.execute(select(event.event_id, event.hash).order_by(event.event_id.desc()).limit(1)).first()
    first, before = (1, None) if last is None else (last.event_id + 1, last.hash)
    runs = {row.run_id: digest_of_run(row) for row in connection.execute(
        select(run).where(run.c.run_id.in_({entry["run_id"] for entry in entries})))}
    rows = []
    for event_id, entry in enumerate(entries, first):
        row = {"event_id": event_id, **entry, "salt": (salt := new_salt()), "digest": digest_of_words(salt, entry)}
        row["hash"] = before = link(before, row, runs[row["run_id"]])
        rows.append(row)
    insert_many(connection, models.event, rows)


class Entry(NamedTuple):
    """An entry of the log; one that a purge has blanked has neither subject nor details."""

    event_id: int
    run_id: int
    action: str
    subject: str
    details: Mapping[str, Any]


def entries(connection: Connection, *actions: str, subject: str | None = None) -> Iterator[Entry]:
    """What the log says under some actions (of one subject), oldest first."""
    event = models.event
    query = select(event.c.event_id, event.c.run_id, event.c.action, event.c.subject, event.c.details).where(
        event.c.action.in_(actions)).order_by(event.c.event_id)
    for *named, details in connection.execute(query if subject is None else query.where(event.c.subject == subject)):
        yield Entry._make((*named, json.loads(details or "{}")))


def altered_tables(connection: Connection) -> list[str]:
    """Return the tables that are not as the last command left them; none if no command has ended yet."""
    event = models.event.c
    details = connection.execute(select(event.details).where(event.action == "end").order_by(
        event.event_id.desc()).limit(1)).scalar()
    logged = json.loads(details or "{}").get("tables")
    if logged is None:
        return []
    return [table for table, digest in table_digests(connection).items() if logged.get(table) != digest]


def new_salt() -> str:
    """A random text that nobody can guess."""
    return secrets.token_hex(16)


def digest_of_inputs(salt: str, inputs: str) -> str:
    """Digest what a run has read, with the run's salt: names of files name participants, and can be guessed."""
    return digest_json([salt, inputs])


def digest_of_words(salt: str, event: Mapping[Any, Any]) -> str:
    """The digest that the words of an event enter the chain by."""
    return digest_json([salt, *(event[name] for name in _WORDS)])


def digest_of_run(run: Row[Any]) -> str:
    """The digest of what is known of a run when it begins; its parameters are in it by their own, salted one."""
    return digest_json([str(run._mapping[name]) for name in _OF_RUN])


def link(before: str | None, event: Mapping[Any, Any], of_run: str) -> str:
    """The hash of an event.

    Args:
        before: The hash of the event before; None: it is the first.
        event: The columns of its row.
        of_run: The digest of its run.
    """
    return digest_json([before, of_run, *(str(event[name]) for name in _OF_EVENT)])


def now() -> datetime:
    """The time in UTC, as the database keeps it."""
    return datetime.now(UTC).replace(tzinfo=None)


Key = tuple[int, int]  # scoring, metric


class Rescoring(NamedTuple):
    """What one run computed anew that became another score.

    Attributes:
        run_id: The run.
        scores: Each by its scoring and metric, with its digest before and after.
        otherwise: The digests of the code that scores the same statistics otherwise, by the metrics' names.
        results: The digests of the results that rested on the former scores, by those of the comparisons.
    """

    run_id: int
    scores: list[tuple[int, int, str, str]]
    otherwise: Mapping[str, str]
    results: Mapping[str, str]


def rescorings(connection: Connection) -> list[Rescoring]:
    """What was computed anew and became another score, from the first time to the last."""
    return [Rescoring(of.run_id, **{key: of.details[key] for key in ("scores", "otherwise", "results")})
            for of in entries(connection, "rescore")]


def scored_by(connection: Connection, metric: str) -> str:
    """What results by a metric are found by, beside their statistics.

    It is the metric's name, with the digest of the code where other code has scored the same statistics otherwise.
    """
    found = [change.otherwise[metric] for change in rescorings(connection) if metric in change.otherwise]
    return f"{metric} by {found[-1]}" if found else metric


def has_rescored_since(connection: Connection, run_id: int, keys: Iterable[Key]) -> bool:
    """Whether any of some scores is another one by now than at the end of a run."""
    wanted, before, after = set(keys), dict[Key, str](), dict[Key, str]()
    for change in rescorings(connection):
        for scoring_id, metric_id, was, is_ in change.scores if change.run_id > run_id else ():
            if (key := (scoring_id, metric_id)) in wanted:
                before.setdefault(key, was)
                after[key] = is_
    return before != after


_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TO_THE_MINUTE = re.compile(r"[Tt ]\d\d:\d\d(?!:)")


@dataclass(frozen=True)
class Moment:
    """A moment of the past.

    Attributes:
        entry: The last entry of the log that had been written.
        told: When that was, for people.
        signature: Of the comparison that was named for it; None where a time was.
    """

    entry: int
    told: str
    signature: str | None = None

    @property
    def said(self) -> str:
        """What marks a thing as of that moment."""
        return f"As it stood {self.told}."


def is_time(name: str) -> bool:
    """Whether a name is a date, or begins with one, and no signature.

    >>> [is_time(name) for name in ("2026-11-22", "2026-11-22T12:00Z", "20261122", "id:20261122")]
    [True, True, False, False]
    """
    return _DATE.match(name) is not None


def moment_of(connection: Connection, name: str) -> Moment:
    """The moment that is meant.

    Args:
        connection: To the registry.
        name: A date, for its end in UTC; a date and time with its zone, for the end of its minute or second; or the
            signature of a comparison or a study, or the id at its end, for the moment when the command that made it
            ended.

    Raises:
        InputError: It is no time, has no zone, or nothing was there by then.
        UnknownNameError: No comparison or study has the signature.
    """
    if not is_time(name):
        return _of_signature(connection, name)
    before = _before(name)
    entry = _ended_by(connection, 'SELECT max(event_id) FROM event WHERE "at" < :before', before=before)
    if entry is None:
        first = connection.execute(text('SELECT min("at") FROM event')).scalar()
        raise InputError(f"{name} is before all that is known; " + (
            "the registry's log is empty" if first is None else f"the log begins at {_written(first)}"))
    last = before - timedelta(microseconds=1)
    return Moment(entry, f"on {name}" if _DATE.fullmatch(name) else f"at {_written(last)}")


def _before(name: str) -> datetime:
    """The time in UTC before which everything counts."""
    try:
        if _DATE.fullmatch(name):
            return datetime.combine(date.fromisoformat(name), time.min) + timedelta(days=1)
        given = datetime.fromisoformat(name)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{name!r} is no date or time: {error}; write 2026-11-22 or 2026-11-22T12:00Z") from None
    if given.tzinfo is None:
        raise InputError(f"{name!r} has no time zone; add Z for UTC, or an offset such as +02:00")
    try:
        return given.astimezone(UTC).replace(tzinfo=None) + _unit(name)
    except OverflowError:
        raise InputError(f"{name!r} is out of range") from None


def _unit(time_: str) -> timedelta:
    """The unit to which a time is given, to whose end it is meant: a minute, a second or less."""
    if "." in time_ or "," in time_:
        return timedelta(microseconds=1)
    return timedelta(minutes=1) if _TO_THE_MINUTE.search(time_) else timedelta(seconds=1)


def _of_signature(connection: Connection, name: str) -> Moment:
    made = {row.signature.rpartition("id:")[2]: row for row in connection.execute(text("""
        SELECT signature, run_id, created_at, FALSE AS of_board FROM study UNION ALL
        (SELECT signature, run_id, created_at, TRUE FROM comparison ORDER BY comparison_id)"""))}  # the last of each
    if (row := made.get(name.rpartition("id:")[2])) is None:
        raise UnknownNameError("date, time or signature", name, made)
    entry = _ended_by(connection, "SELECT max(event_id) FROM event WHERE run_id = :run", run=row.run_id)
    if entry is None:
        raise InputError(f"the log does not say when {name} was made")
    return Moment(entry, f"at {_written(row.created_at)}", row.signature if row.of_board else None)


def _ended_by(connection: Connection, latest: str, **values: object) -> int | None:
    """The last entry, up to the one that `latest` selects, with which a command ended or was cut short."""
    found = connection.execute(text(f"""
        SELECT max(event_id) FROM (
            SELECT event_id, action = 'end' OR run_id IS DISTINCT FROM lead(run_id) OVER (ORDER BY event_id) AS ends
            FROM event)
        WHERE ends AND event_id <= ({latest})"""), values).scalar()  # noqa: S608
    return None if found is None else int(found)


def _written(at: datetime) -> str:
    """A time for people, to the second."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
