"""Who did what when: a run row for every command that changes something, and an event for every change.

The events are a chain: the hash of each covers the event, the run that it belongs to, and the hash of the event before.
So whoever knows the last hash knows whether anything before it was changed, removed or put in another order.

What may have to be forgotten (who, to what, with which details; what a command was asked for) enters the chain by a
digest that is salted at random. A purge can take the words and the salt away and leave the digest: all hashes hold, and
without the salt no guess at the words can be confirmed.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from registry.identity import canonical_json, digest_json
from registry.provenance import code, environment
from registry.store import models
from registry.store.log.table_digests import table_digests
from registry.store.rows import insert, insert_many

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
