"""Who did what when: a run row for every command that changes something, and an event for every change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from registry.identity import canonical_json
from registry.provenance import code, environment
from registry.store import models
from registry.store.rows import insert


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

    def run_id(self, connection: Connection) -> int:
        """The id of the run, for a row that it is about to write."""
        if self._run_id is None:
            which = code()
            self._run_id = insert(
                connection, models.run, command=self.command, parameters=canonical_json(self.parameters),
                inputs=canonical_json(self.inputs), started_at=now(), ended_at=None, code_version=which.version,
                code_revision=which.revision, code_dirty=which.dirty, environment=canonical_json(environment()),
            )
        return self._run_id

    def event(self, connection: Connection, action: str, subject: str, **details: Any) -> None:
        """Log one change."""
        insert(connection, models.event, **self.entry(connection, action, subject, **details))

    def entry(self, connection: Connection, action: str, subject: str, **details: Any) -> dict[str, Any]:
        """Give what the log will say of one change, without its id, to be inserted together with others."""
        return {"run_id": self.run_id(connection), "at": now(), "actor": self.actor, "action": action,
                "subject": subject, "details": canonical_json(details)}

    def close(self, connection: Connection) -> None:
        """Write when the run ended and all that it has read; call it in the last transaction."""
        if self._run_id is not None:
            connection.execute(models.run.update().where(models.run.c.run_id == self._run_id)
                               .values(ended_at=now(), inputs=canonical_json(self.inputs)))


def now() -> datetime:
    """The time in UTC, as the database keeps it."""
    return datetime.now(UTC).replace(tzinfo=None)
