"""The log as a chain: whether an entry was changed, removed, put elsewhere or forged."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, select

from registry.evaluation.verifying.faults import Fault
from registry.identity import digest_json
from registry.store import models
from registry.store.journal import digest_of_run, link


def head(connection: Connection) -> str | None:
    """The hash of the last entry of the log, which stands for all before it; None where there is none."""
    event = models.event
    found = connection.execute(select(event.c.hash).order_by(event.c.event_id.desc()).limit(1)).scalar()
    return None if found is None else str(found)


def verify_log(connection: Connection, published: str | None) -> Iterator[Fault]:
    """Follow the chain from its first entry.

    Args:
        connection: To the registry.
        published: A head that was published: one of the hashes must be it, or begin with it.
    """
    event, run = models.event, models.run
    runs = {row.run_id: row for row in connection.execute(select(run))}
    of_runs = {run_id: digest_of_run(row) for run_id, row in runs.items()}
    hashes, before, expected = [], None, 1
    for row in connection.execute(select(event).order_by(event.c.event_id)).mappings():
        name = f"entry {row['event_id']} ({row['action']})"
        if row["event_id"] != expected:
            gap = f"entry {expected}" if row["event_id"] == expected + 1 else f"entries {expected} to " \
                  f"{row['event_id'] - 1}"
            yield Fault("missing", "log", gap, f"what stands before {name} is not there")
        expected = row["event_id"] + 1
        if row["hash"] is None:
            if before is not None:
                yield Fault("altered", "log", name, "has no hash, though earlier entries have one")
            continue
        if row["run_id"] not in runs:
            yield Fault("missing", "log", name, f"belongs to run {row['run_id']}, which is not there")
        elif link(before, row, of_runs[row["run_id"]]) != row["hash"]:
            yield Fault("altered", "log", name,
                          "its hash does not follow from it, its run, and the hash of the entry before")
        ended = row["action"] == "end" and row["run_id"] in runs
        if ended and digest_json(runs[row["run_id"]].inputs) not in row["details"]:
            yield Fault("altered", "run", str(row["run_id"]), "its inputs are not those that the log names")
        before = row["hash"]
        hashes.append(before)
    if published is not None and not any(of.removeprefix("sha256:").startswith(published.removeprefix("sha256:"))
                                         for of in hashes):
        yield Fault("altered", "log", "head", f"no entry has the published hash {published}: the log was cut behind "
                                                "that entry, or written anew")
    yield from _unlogged(connection)


_MADE = {  # what every row that a run wrote leaves in the log: the table, what to call its rows, and the action
    "gold_revision": ("gold of revision", "gold_revision_id", "gold"),
    "comparison": ("comparison", "signature", "compare"),
}


def _unlogged(connection: Connection) -> Iterator[Fault]:
    """Rows whose run logged nothing of their kind: the end of the log was cut, or they were put in by hand."""
    for table, (what, name, action) in _MADE.items():
        for row in connection.exec_driver_sql(f"""
                SELECT {name} FROM "{table}" AS made WHERE NOT EXISTS (
                    SELECT 1 FROM event WHERE event.run_id = made.run_id AND action = '{action}')
                ORDER BY ALL"""):  # noqa: S608
            yield Fault("missing", "log", f"{what} {row[0]}", f"the log has no entry {action!r} of its run")
