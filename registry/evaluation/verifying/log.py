"""The log as a chain: whether an entry was changed, removed, moved, forged, or blanked without a purge.

And what purges have left: whether each tombstone is of one, and places on past boards are as it left them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import counted
from registry.evaluation.submissions.purge import digest_of_comparison, digest_of_rows, digest_of_tombstone
from registry.evaluation.verifying.faults import Fault
from registry.identity import digest_json
from registry.store import models
from registry.store.log import (
    BLANK,
    digest_of_inputs,
    digest_of_run,
    digest_of_words,
    digested_columns,
    link,
    read_entries,
    table_digests,
)


@dataclass
class Blanked:
    """What purges have taken out of the log: the entry of the purge, by the entries and the runs that it names."""

    entries: dict[int, int] = field(default_factory=dict)
    runs: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, connection: Connection) -> Blanked:
        """What the purges of a registry name."""
        blanked = cls()
        for of in read_entries(connection, "purge"):
            blanked.entries |= dict.fromkeys(of.details["entries"], of.event_id)
            blanked.runs |= dict.fromkeys(of.details["runs"], of.event_id)
        return blanked


def verify_log(connection: Connection, published: str | None) -> Iterator[Fault]:
    """Follow the chain from its first entry.

    Args:
        connection: To the registry.
        published: A head that was published: one of the hashes must be it, or begin with it.
    """
    event, run = models.event, models.run
    runs = {row.run_id: row for row in connection.execute(select(run))}
    of_runs, blanked = {run_id: digest_of_run(row) for run_id, row in runs.items()}, Blanked.of(connection)
    for command in runs.values():
        why = _blanked(command.run_id in blanked.runs, command.parameters) if command.salt is None else _altered(
            command.digest, digest_json([command.salt, command.parameters]))
        if why:
            yield Fault("altered", "log", f"run {command.run_id}", f"what the command was asked for {why}")
    hashes, before, expected = [], None, 1
    for entry in connection.execute(select(event).order_by(event.c.event_id)):
        row = entry._mapping
        name = f"entry {row['event_id']} ({row['action']})"
        if row["event_id"] != expected:
            gap = f"entry {expected}" if row["event_id"] == expected + 1 else f"entries {expected} to " \
                  f"{row['event_id'] - 1}"
            yield Fault("missing", "log", gap, f"what stands before {name} is not there")
        expected = row["event_id"] + 1
        if row["run_id"] not in runs:
            yield Fault("missing", "log", name, f"belongs to run {row['run_id']}, which is not there")
        elif link(before, row, of_runs[row["run_id"]]) != row["hash"]:
            yield Fault("altered", "log", name,
                          "its hash does not follow from it, its run, and the hash of the entry before")
        yield from _verify_words(name, row, runs, blanked)
        before = row["hash"]
        hashes.append(str(before))
    if published is not None and not any(of.removeprefix("sha256:").startswith(published.removeprefix("sha256:"))
                                         for of in hashes):
        yield Fault("altered", "log", "head", f"no entry has the published hash {published}: the log was cut behind "
                                                "that entry, or written anew")
    yield from _unlogged(connection)
    yield from _verify_comparisons(connection)


def _altered(digest: str, found: str) -> str | None:
    """Say why words are not those that entered the chain, or None."""
    return None if found == digest else "is not what its digest was made of"


def _blanked(named: bool, *words: str | None) -> str | None:
    """Say why words are not there as a purge leaves them, or None; `named` says whether a purge names them."""
    if not named:
        return "was blanked, and no purge names it"
    return "was blanked by a purge, and is not blank" if any(word not in BLANK for word in words) else None


def _verify_words(name: str, row: Mapping[Any, Any], runs: Mapping[int, Any], blanked: Blanked) -> Iterator[Fault]:
    """Hold what an entry says against its digest, and what it says of its run against that."""
    why = _blanked(row["event_id"] in blanked.entries, row["actor"], row["subject"], row["details"]) \
        if row["salt"] is None else _altered(row["digest"], digest_of_words(row["salt"], row))
    if why:
        yield Fault("altered", "log", name, f"what it says {why}")
    if row["action"] != "end" or row["salt"] is None or row["run_id"] not in runs:
        return
    run = runs[row["run_id"]]
    if digest_of_inputs(run.salt, run.inputs) not in row["details"]:
        yield Fault("altered", "run", str(row["run_id"]), "its inputs are not those that the log names")


def verify_tables(connection: Connection) -> Iterator[Fault]:
    """Compare tables with the digests that the last command logged, and repeat what commands found altered."""
    last, ended = None, dict[int, str]()
    for of in read_entries(connection, "end"):
        for table in of.details.get("altered", ()):
            yield Fault("altered", "row", table, f"{_ROW} before run {of.run_id}")
        last, ended[of.run_id] = of, of.details.get("ended_at", "")
    for run_id, ended_at in connection.execute(select(models.run.c.run_id, models.run.c.ended_at)):
        if ended.get(run_id) and ended[run_id] != str(ended_at):
            yield Fault("altered", "run", str(run_id), f"it ended at {ended_at}, and at {ended[run_id]} in the log")
    if last is not None and "tables" in last.details:  # else it was blanked
        digests = table_digests(connection)
        for table in sorted(table for table in digests if digests[table] != last.details["tables"].get(table)):
            columns = ", ".join(digested_columns(table))
            yield Fault("altered", "row", table,
                        f"{_ROW} after run {last.run_id}: {columns} have another digest in the log")


_ROW = "another program altered, added or removed a row"
_MADE = {  # what every row that a run wrote leaves in the log: the table, what to call its rows, and the action
    "gold_revision": ("gold of revision", "gold_revision_id", "gold"),
    "comparison": ("comparison", "signature", "compare"),
}


def _unlogged(connection: Connection) -> Iterator[Fault]:
    """Rows whose run logged nothing of their kind: the end of the log was cut, or they were put in by hand."""
    for run_id in connection.exec_driver_sql("""
            SELECT run_id FROM run WHERE run_id NOT IN (SELECT run_id FROM event) ORDER BY run_id""").scalars():
        yield Fault("surplus", "run", str(run_id), "no entry of the log belongs to it")
    for table, (what, name, action) in _MADE.items():
        for row in connection.exec_driver_sql(f"""
                SELECT {name} FROM "{table}" AS made WHERE NOT EXISTS (
                    SELECT 1 FROM event WHERE event.run_id = made.run_id AND action = '{action}')
                ORDER BY ALL"""):  # noqa: S608
            yield Fault("missing", "log", f"{what} {row[0]}", f"the log has no entry {action!r} of its run")


def _verify_comparisons(connection: Connection) -> Iterator[Fault]:
    """Compare the run, signature, digest and late systems of each comparison with what its run logged."""
    logged = {(of.run_id, of.details["digest"]): of.details for of in read_entries(connection, "compare")
              if "digest" in of.details}
    blanked = {of.run_id for of in read_entries(connection, "compare") if "digest" not in of.details}
    late: dict[int, list[int]] = {}
    for comparison_id, submission_id in connection.exec_driver_sql(
            "SELECT comparison_id, submission_id FROM standing WHERE late ORDER BY position"):
        late.setdefault(comparison_id, []).append(submission_id)
    for row in connection.exec_driver_sql(
            "SELECT comparison_id, run_id, signature, digest FROM comparison ORDER BY comparison_id"):
        name, details = row.signature.rpartition("|")[2], logged.get((row.run_id, row.digest))
        if details is None:
            if row.run_id not in blanked:
                yield Fault("altered", "comparison", name, "its run or its digest is not the one of the log")
        elif details["signature"] != row.signature:
            yield Fault("altered", "comparison", name, f"its signature is {details['signature']} in the log")
        elif details.get("late") != late.get(row.comparison_id, []):
            yield Fault("altered", "standing", name, "the systems that were late are not those of the log")


def with_places_of_purged(connection: Connection) -> set[int]:
    """The comparisons that cannot be made again, since a team that took part was purged, or that say so."""
    return set(connection.exec_driver_sql(
        "SELECT comparison_id FROM standing JOIN comparison USING (comparison_id) "
        "WHERE scoring_id IS NULL").scalars())


def verify_tombstones(connection: Connection) -> Iterator[Fault]:
    """Hold tombstones, and comparisons with a place of one, against what the log says of purges."""
    purged, kept, rows = dict[str, str](), dict[int, str](), dict[str, str]()
    for of in read_entries(connection, "purge"):
        purged[of.subject] = of.details["tombstone"]
        rows[of.subject] = of.details["rows"]
        kept |= {int(number): digest for number, digest in of.details["comparisons"].items()}
    for row in connection.exec_driver_sql("""
            SELECT tombstone.*, coalesce(task.slug || '/', '') || tombstone.name AS subject, team.name AS team,
                (SELECT count(*) FROM scoring JOIN submission USING (submission_id) JOIN system USING (system_id)
                 WHERE system.team_id = tombstone.team_id) AS scorings
            FROM tombstone LEFT JOIN task USING (task_id) LEFT JOIN team USING (team_id) ORDER BY tombstone_id"""):
        if (logged := purged.pop(row.subject, None)) is None:
            yield Fault("surplus", "tombstone", row.subject, "the log does not say that this team was purged")
        elif logged != digest_of_tombstone(row) or row.team != row.name:
            yield Fault("altered", "tombstone", row.subject, "it is not the one that the log names")
        elif rows[row.subject] != digest_of_rows(connection, row.team_id):
            yield Fault("altered", "tombstone", row.subject,
                        "its systems and submissions are not as the purge left them")
        if row.scorings:
            yield Fault("surplus", "tombstone", row.subject, f"{counted(row.scorings, 'scoring')} of it are there")
    for subject in purged:
        yield Fault("missing", "tombstone", subject, "the log says that this team was purged")
    for number in sorted(with_places_of_purged(connection) | kept.keys()):
        name = connection.exec_driver_sql(
            "SELECT split_part(signature, '|', -1) FROM comparison WHERE comparison_id = ?", (number,)).scalar()
        if name is None:
            yield Fault("missing", "comparison", str(number), "a purge left it, by the log")
        elif number not in kept:
            yield Fault("altered", "comparison", name, "a place has no scores, and no purge names it")
        elif digest_of_comparison(connection, number) != kept[number]:
            yield Fault("altered", "comparison", name, "it is not as the purge of a team left it")


def notes_on_purges(connection: Connection) -> Iterator[str]:
    """Say what cannot be looked at any more."""
    blanked = Blanked.of(connection)
    by = sorted(set(blanked.entries.values()) | set(blanked.runs.values()))
    if by:
        purges = ", ".join(f"entry {number}" for number in by)
        yield (f"{counted(len(blanked.entries), 'entry', 'entries')} of the log and what "
               f"{counted(len(blanked.runs), 'command was', 'commands were')} asked for were blanked by purges "
               f"({purges}); the chain goes through their digests")
    if found := with_places_of_purged(connection):
        yield (f"{counted(len(found), 'comparison')} with a team that was purged cannot be made again, and "
               f"{'is' if len(found) == 1 else 'are'} held against the digests in the log")
