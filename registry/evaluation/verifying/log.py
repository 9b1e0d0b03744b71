"""Verify the log, and the data that remains after purges.

The hash of each entry of the log depends on the entry and on the hash before. So `verify` finds every changed, removed,
moved or forged entry. A purge may delete the texts of entries; then their hashes depend on stored digests of the texts.
Entries about purges have digests of the tombstones and comparisons that remain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import counted
from registry.evaluation.submissions.purge import digest_comparison, digest_remains, digest_tombstone
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


def _load_blanked(connection: Connection, key: str) -> dict[int, int]:
    """Find log entries or commands whose texts were deleted by a purge.

    A purge deletes the data of a team.

    Args:
        connection: Connection to the registry.
        key: `entries` for entries of the log, `runs` for commands.

    Returns:
        The number of the log entry of the purge, by the number of the entry or command.
    """
    return {number: entry.event_id for entry in read_entries(connection, "purge") for number in entry.details[key]}


def verify_log(connection: Connection, published: str | None) -> Iterator[Fault]:
    """Verify the chain of hashes of the log.

    The hash of each entry depends on the entry and on the hash of the entry before. Commands and comparisons are
    compared with the log, too.

    Args:
        connection: Connection to the registry.
        published: A hash of the log that was published before, or its first digits. Some entry must have this hash.
            None: no hash is compared.
    """
    event, run = models.event, models.run
    runs = {row.run_id: row for row in connection.execute(select(run))}
    run_digests = {run_id: digest_of_run(row) for run_id, row in runs.items()}
    blanked_entries, blanked_runs = (_load_blanked(connection, key) for key in ("entries", "runs"))
    for command in runs.values():
        if command.salt is None:
            fault = _describe_wrong_blank(command.parameters, is_listed=command.run_id in blanked_runs)
        else:
            fault = _describe_alteration(command.digest, digest_json([command.salt, command.parameters]))
        if fault:
            yield Fault("altered", "log", f"run {command.run_id}", f"the command's parameters {fault}")
    hashes, previous, expected = [], None, 1
    for entry in connection.execute(select(event).order_by(event.c.event_id)):
        row = entry._mapping
        name = f"entry {row['event_id']} ({row['action']})"
        if row["event_id"] != expected:
            gap = f"entry {expected}" if row["event_id"] == expected + 1 else f"entries {expected} to " \
                  f"{row['event_id'] - 1}"
            yield Fault("missing", "log", gap, f"no entry exists directly before {name}")
        expected = row["event_id"] + 1
        if row["run_id"] not in runs:
            yield Fault("missing", "log", name, f"belongs to run {row['run_id']}, which does not exist")
        elif link(previous, row, run_digests[row["run_id"]]) != row["hash"]:
            yield Fault("altered", "log", name,
                        "its hash does not match the entry, its run and the hash of the entry before")
        yield from _verify_entry(name, row, runs, blanked_entries)
        previous = row["hash"]
        hashes.append(str(previous))
    if published is not None and not any(
            entry_hash.removeprefix("sha256:").startswith(published.removeprefix("sha256:")) for entry_hash in hashes):
        yield Fault("altered", "log", "head", f"no entry has the published hash {published}: the log was truncated or "
                                              "rewritten")
    yield from _find_unlogged(connection)
    yield from _verify_comparisons(connection)


def _describe_alteration(stored: str, derived: str) -> str | None:
    return None if derived == stored else "do not match their digest"


def _describe_wrong_blank(*texts: str | None, is_listed: bool) -> str | None:
    """Check that texts are blank if and only if the log lists them as deleted.

    A purge deletes the texts of a team, and lists them in the log.

    Args:
        texts: Texts of the same log entry or command, which are blank or should be blank.
        is_listed: True if the log lists these texts as deleted.

    Returns:
        What is wrong, as the end of a sentence; None if the texts are listed and blank.
    """
    if not is_listed:
        return "are blank, and no purge lists them"
    return "are listed as blanked by a purge, and are not blank" if any(text not in BLANK for text in texts) else None


def _verify_entry(name: str, row: Mapping[Any, Any], runs: Mapping[int, Any],
                  blanked: Mapping[int, int]) -> Iterator[Fault]:
    """Verify a log entry, and the list of input files of the command that wrote it.

    The texts of the entry and the list are compared with stored digests. Texts that a purge (the deletion of a team's
    data) has deleted must be blank.

    Args:
        name: Name of the entry, for messages.
        row: The entry.
        runs: Database rows of all commands by number.
        blanked: Log entries whose texts a purge has deleted: the number of the purge's entry, by the number of the
            entry.
    """
    if row["salt"] is None:
        fault = _describe_wrong_blank(
            row["actor"], row["subject"], row["details"], is_listed=row["event_id"] in blanked)
    else:
        fault = _describe_alteration(row["digest"], digest_of_words(row["salt"], row))
    if fault:
        yield Fault("altered", "log", name, f"its texts {fault}")
    if row["action"] != "end" or row["salt"] is None or row["run_id"] not in runs:
        return
    run = runs[row["run_id"]]
    if digest_of_inputs(run.salt, run.inputs) not in row["details"]:
        yield Fault("altered", "run", str(row["run_id"]), "its inputs do not match the log")


def verify_tables(connection: Connection) -> Iterator[Fault]:
    """Compare all tables with the digests that the last command wrote to the log.

    Alterations that earlier commands have found and logged are reported, too.
    """
    last, ended = None, dict[int, str]()
    for entry in read_entries(connection, "end"):
        for table in entry.details.get("altered", ()):
            yield Fault("altered", "row", table, f"{_ROW} before run {entry.run_id}")
        last, ended[entry.run_id] = entry, entry.details.get("ended_at", "")
    for run_id, ended_at in connection.execute(select(models.run.c.run_id, models.run.c.ended_at)):
        if ended.get(run_id) and ended[run_id] != str(ended_at):
            yield Fault("altered", "run", str(run_id), f"the run ended at {ended_at}, but the log says {ended[run_id]}")
    if last is not None and "tables" in last.details:  # otherwise a purge has blanked the entry
        digests = table_digests(connection)
        for table in sorted(table for table in digests if digests[table] != last.details["tables"].get(table)):
            columns = ", ".join(digested_columns(table))
            yield Fault("altered", "row", table,
                        f"{_ROW} after run {last.run_id}: the digest of {columns} does not match the log")


_ROW = "another program altered, added or removed a row"
_LOGGED_ACTIONS = {  # by table: a description of its rows, the column with their name, and the action in the log
    "gold_revision": ("gold of revision", "gold_revision_id", "gold"),
    "comparison": ("comparison", "signature", "compare"),
}


def _find_unlogged(connection: Connection) -> Iterator[Fault]:
    """Find commands, versions of gold and comparisons that the log does not mention.

    Either the log was truncated, or another program added their rows.
    """
    for run_id in connection.exec_driver_sql("""
            SELECT run_id FROM run WHERE run_id NOT IN (SELECT run_id FROM event) ORDER BY run_id""").scalars():
        yield Fault("surplus", "run", str(run_id), "no entry of the log belongs to it")
    for table, (description, name, action) in _LOGGED_ACTIONS.items():
        for row in connection.exec_driver_sql(f"""
                SELECT {name} FROM "{table}" AS made WHERE NOT EXISTS (
                    SELECT 1 FROM event WHERE event.run_id = made.run_id AND action = '{action}')
                ORDER BY ALL"""):  # noqa: S608
            yield Fault("missing", "log", f"{description} {row[0]}", f"the log has no entry {action!r} of its run")


def _verify_comparisons(connection: Connection) -> Iterator[Fault]:
    """Compare the signature, digest and late systems of each comparison with the log."""
    logged = {(entry.run_id, entry.details["digest"]): entry.details for entry in read_entries(connection, "compare")
              if "digest" in entry.details}
    blanked = {entry.run_id for entry in read_entries(connection, "compare") if "digest" not in entry.details}
    late: dict[int, list[int]] = {}
    for comparison_id, submission_id in connection.exec_driver_sql(
            "SELECT comparison_id, submission_id FROM standing WHERE late ORDER BY position"):
        late.setdefault(comparison_id, []).append(submission_id)
    for row in connection.exec_driver_sql(
            "SELECT comparison_id, run_id, signature, digest FROM comparison ORDER BY comparison_id"):
        name, details = row.signature.rpartition("|")[2], logged.get((row.run_id, row.digest))
        if details is None:
            if row.run_id not in blanked:
                yield Fault("altered", "comparison", name, "its run or its digest does not match the log")
        elif details["signature"] != row.signature:
            yield Fault("altered", "comparison", name, f"the log has another signature, {details['signature']}")
        elif details.get("late") != late.get(row.comparison_id, []):
            yield Fault("altered", "standing", name, "its late systems do not match the log")


def find_purged_comparisons(connection: Connection) -> set[int]:
    """Return the ids of comparisons with a system of a purged team.

    Such comparisons cannot be repeated, because the data of the team were deleted.
    """
    return set(connection.exec_driver_sql(
        "SELECT comparison_id FROM standing JOIN comparison USING (comparison_id) "
        "WHERE scoring_id IS NULL").scalars())


def verify_tombstones(connection: Connection) -> Iterator[Fault]:
    """Verify the rows that remain of teams whose data a purge has deleted.

    The new name of each team, its remaining rows, and the comparisons with its systems are compared with the digests in
    the log.
    """
    tombstones, remains, comparisons = dict[str, str](), dict[str, str](), dict[int, str]()
    for entry in read_entries(connection, "purge"):
        tombstones[entry.subject] = entry.details["tombstone"]
        remains[entry.subject] = entry.details["rows"]
        comparisons |= {int(number): digest for number, digest in entry.details["comparisons"].items()}
    for row in connection.exec_driver_sql("""
            SELECT tombstone.*, coalesce(task.slug || '/', '') || tombstone.name AS subject, team.name AS team,
                (SELECT count(*) FROM scoring JOIN submission USING (submission_id) JOIN system USING (system_id)
                 WHERE system.team_id = tombstone.team_id) AS scorings
            FROM tombstone LEFT JOIN task USING (task_id) LEFT JOIN team USING (team_id) ORDER BY tombstone_id"""):
        if (logged := tombstones.pop(row.subject, None)) is None:
            yield Fault("surplus", "tombstone", row.subject, "the log does not say that this team was purged")
        elif logged != digest_tombstone(row) or row.team != row.name:
            yield Fault("altered", "tombstone", row.subject, "it does not match the log")
        elif remains[row.subject] != digest_remains(connection, row.team_id):
            yield Fault("altered", "tombstone", row.subject,
                        "its systems and submissions have changed since the purge")
        if row.scorings:
            yield Fault("surplus", "tombstone", row.subject, f"it still has {counted(row.scorings, 'scoring')}")
    for subject in tombstones:
        yield Fault("missing", "tombstone", subject, "the log says that this team was purged")
    for number in sorted(find_purged_comparisons(connection) | comparisons.keys()):
        name = connection.exec_driver_sql(
            "SELECT split_part(signature, '|', -1) FROM comparison WHERE comparison_id = ?", (number,)).scalar()
        if name is None:
            yield Fault("missing", "comparison", str(number), "the log's entry of a purge lists it")
        elif number not in comparisons:
            yield Fault("altered", "comparison", name, "a system has no scores, and no purge lists the comparison")
        elif digest_comparison(connection, number) != comparisons[number]:
            yield Fault("altered", "comparison", name, "it has changed since the purge of a team")


def describe_purges(connection: Connection) -> Iterator[str]:
    """Yield notes about data that cannot be verified, because purges have deleted it."""
    blanked_entries, blanked_runs = (_load_blanked(connection, key) for key in ("entries", "runs"))
    purges = sorted({*blanked_entries.values(), *blanked_runs.values()})
    if purges:
        yield (f"purges ({', '.join(f'entry {number}' for number in purges)}) have blanked "
               f"{counted(len(blanked_entries), 'entry', 'entries')} of the log and the parameters of "
               f"{counted(len(blanked_runs), 'command')}; only their digests were verified")
    if comparisons := find_purged_comparisons(connection):
        yield (f"{counted(len(comparisons), 'comparison')} with a purged team cannot be repeated, so only "
               f"{'its digest was' if len(comparisons) == 1 else 'their digests were'} verified")
