"""Teams that were purged: whether each tombstone is of a purge, and the places on past boards are as it left them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from registry.errors import counted
from registry.evaluation.submissions.tombstones import digest_of_comparison, digest_of_tombstone
from registry.evaluation.verifying.faults import Fault
from registry.evaluation.verifying.log import Blanked
from registry.store.log.entries import entries


def with_places_of_purged(connection: Connection) -> set[int]:
    """The comparisons that cannot be made again, since a team that took part was purged, or that say so."""
    return set(connection.exec_driver_sql(
        "SELECT comparison_id FROM standing JOIN comparison USING (comparison_id) "
        "WHERE scoring_id IS NULL AND request IS NOT NULL").scalars())


def verify_tombstones(connection: Connection) -> Iterator[Fault]:
    """Hold tombstones, and comparisons with a place of one, against what the log says of purges."""
    purged, kept = dict[str, str](), dict[int, str]()
    for of in entries(connection, "purge"):
        purged[of.subject] = of.details["tombstone"]
        kept |= {int(number): digest for number, digest in of.details["comparisons"].items()}
    for row in connection.exec_driver_sql("""
            SELECT tombstone.*, task.slug || '/' || tombstone.name AS subject, team.name AS team,
                (SELECT count(*) FROM scoring JOIN submission USING (submission_id) JOIN system USING (system_id)
                 WHERE system.team_id = tombstone.team_id) AS scorings
            FROM tombstone LEFT JOIN task USING (task_id) LEFT JOIN team USING (team_id) ORDER BY tombstone_id"""):
        if (logged := purged.pop(row.subject, None)) is None:
            yield Fault("surplus", "tombstone", row.subject, "the log does not say that this team was purged")
        elif logged != digest_of_tombstone(row) or row.team != row.name:
            yield Fault("altered", "tombstone", row.subject, "it is not the one that the log names")
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
