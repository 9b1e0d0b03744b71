"""The log without a team's names: words are taken away, their digests stay, and what others need is said again."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, select

from registry.evaluation.submissions.names import TeamNames
from registry.identity import canonical_json
from registry.store import catalog, models
from registry.store.log import Journal, append
from registry.submission_fields import FREE, SUBMISSION_FIELDS

_FREE = ("reason", *FREE)  # details of entries that people have written
_OBJECTS = {field.column for field in SUBMISSION_FIELDS if field.type == "object"}
_FORMAL = ("task", "kind", "command", "metric")  # of a run's parameters: what is no name


def redact(connection: Connection, journal: Journal, names: TeamNames, prefixes: tuple[str, ...],
           studies: set[str]) -> tuple[list[int], list[int]]:
    """Take the names out of log and runs, and out of what other submissions declare.

    Entries that are about others are said again at the end, with the other name in the place of each. Gives the entries
    and the runs whose words were taken away.

    Args:
        connection: In the purge's transaction.
        journal: Of the purge.
        names: What is to go.
        prefixes: Which subjects are the team's own, by how they begin.
        studies: The signatures of studies that are gone.
    """
    runs, without_inputs = _blank_runs(connection, names)
    unchecked = without_inputs.union(runs)  # without the run's salt no digest of its inputs can be checked
    event, blanked, again = models.event, list[int](), list[dict[str, Any]]()
    about: set[tuple[str, str]] = set()  # what else has to be said again, so that the last word stays the last
    for entry in connection.execute(select(event).order_by(event.c.event_id)).all():
        row = dict(entry._mapping)
        if row["salt"] is None or row["action"].startswith("purge"):
            continue
        details = json.loads(row["details"])
        own = row["subject"].startswith(prefixes) or details.get("signature") in studies or (
            row["action"] == "end" and row["run_id"] in unchecked)
        named = names.are_in(row["actor"]) or any(
            names.are_in(canonical_json(details[key])) for key in _FREE if key in details)
        if own or named:
            blanked.append(row["event_id"])
        if not own and row["action"] != "end" and (named or (row["action"], row["subject"]) in about):
            about.add((row["action"], row["subject"]))
            said = {key: _without(key, value, names) if key in _FREE else value for key, value in details.items()}
            said.setdefault("said_in", row["event_id"])
            again.append(journal.entry(connection, row["action"], row["subject"], **said))
    connection.execute(event.update().where(event.c.event_id.in_(blanked)).values(
        salt=None, actor=None, subject="", details="{}"))
    append(connection, again)
    _redact_declared(connection, names)
    return blanked, runs


def _blank_runs(connection: Connection, names: TeamNames) -> tuple[list[int], set[int]]:
    """Blank the parameters that have a name, and the inputs; gives the runs of each."""
    run, runs, without_inputs = models.run, list[int](), set[int]()
    for row in connection.execute(select(run)).all():
        if row.salt is not None and names.are_in_values(row.parameters, _FORMAL):
            runs.append(row.run_id)
        if names.are_in_values(row.inputs):
            without_inputs.add(row.run_id)
    connection.execute(run.update().where(run.c.run_id.in_(runs)).values(salt=None, parameters="{}"))
    connection.execute(run.update().where(run.c.run_id.in_(without_inputs)).values(inputs="{}"))
    return runs, without_inputs


def _without(key: str, value: Any, names: TeamNames) -> Any:
    """Return a value that people have written, without the names."""
    if value is None:
        return None
    if key not in _OBJECTS:
        return names.replaced(value)
    found = json.loads(value)
    if key != "declared":
        return canonical_json(names.replaced_in(found))
    return canonical_json(found | {name: _without(name, found[name], names) if name not in _OBJECTS else
                                   names.replaced_in(found[name]) for name in found.keys() & set(FREE)})


def _redact_declared(connection: Connection, names: TeamNames) -> None:
    """Take the names out of what is declared of other submissions."""
    table = models.submission
    for row in connection.execute(select(table.c.submission_id, *(table.c[name] for name in FREE))).all():
        values = {name: row._mapping[name] for name in FREE}
        if any(names.are_in(value) for value in values.values()):
            catalog.set_values(connection, table, row.submission_id, **{
                key: _without(key, value, names) for key, value in values.items()})
