"""What Ladders have shown, held against the scores that it follows from."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sqlalchemy import Connection

from registry.evaluation.scoring.released import ACTION, Rung, rungs, shown_after
from registry.evaluation.verifying.faults import Fault
from registry.metrics import METRICS
from registry.store.log.entries import entries
from registry.values import parse

_SCORES = """
    SELECT e.event_id, s.value FROM event AS e
    JOIN metric AS m ON m.name = (e.details ->> '$.metric')
    JOIN score AS s ON s.metric_id = m.metric_id AND s.scoring_id = CAST(e.details ->> '$.scoring_id' AS INTEGER)
    WHERE e.action = 'ladder' AND s.run_id <= e.run_id"""


def verify_ladders(connection: Connection) -> Iterator[Fault]:
    """Climb every Ladder again; scores that were computed anew since, or were purged, are taken as shown."""
    scores = dict(map(tuple, connection.exec_driver_sql(_SCORES)))
    blank = [of.event_id for of in entries(connection, ACTION) if not of.details]
    last: dict[tuple[int, str | None, str], Rung] = {}
    for rung in rungs(connection):
        earlier, last[rung.key] = last.get(rung.key), rung
        is_known = not any((0 if earlier is None else earlier.entry) < entry < rung.entry for entry in blank)
        shown = math.nan if earlier is None else earlier.shown
        if (is_known and not _same(rung.before, shown)) or (
                rung.entry in scores and not _follows(rung, scores[rung.entry])):
            yield Fault("altered", "ladder", rung.subject,
                        f"entry {rung.entry} of the log shows {rung.details['shown']}, which does not follow from its "
                        "score and from what was shown before")


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _follows(rung: Rung, score: float | None) -> bool:
    lower = parse("metric", METRICS, rung.key[2]).better == "lower"
    shown = shown_after(math.nan if score is None else score, rung.before, rung.details["step"], lower_is_better=lower)
    return _same(rung.shown, shown) and rung.details["raised"] == (not _same(shown, rung.before))
