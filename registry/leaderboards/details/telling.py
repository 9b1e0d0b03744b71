"""The items that set a system apart: those on which it is furthest above or below the other systems."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, select, text

from registry.store import catalog, models
from registry.store.catalog import TaskRow

LISTED = 8  # items in each of a system's two lists at most


class TellingItem(NamedTuple):
    """An item with a system's score on it and the mean of the others'; `alone`: no other is as good, or as bad."""

    item: str
    score: float
    others: float
    above: bool
    alone: bool


@dataclass(frozen=True)
class Telling:
    """The items that set one system apart from the others of its track on a test set.

    Scores are items' own, by the primary metric, averaged over runs.

    Attributes:
        test_set, track: Where.
        team, system: Which system.
        best_alone, worst_alone: On how many items it is better, or worse, than every other one.
        right_or_wrong: Whether items are either right (1) or wrong (0).
        items: Those on which it is furthest above the others, then those on which it is furthest below, the furthest
            first in both.
    """

    test_set: str
    track: str | None
    team: str
    system: str
    best_alone: int
    worst_alone: int
    right_or_wrong: bool
    items: tuple[TellingItem, ...]


def telling_items(connection: Connection, task: TaskRow, limit: int) -> Iterator[Telling]:
    """The items that set each system apart, so many in each of its lists at most."""
    metric, most = catalog.primary_metric(connection, task.task_id), min(limit, LISTED)
    sign, back = ("-score", -1) if metric.better == "lower" else ("score", 1)
    rows = connection.execute(text(f"""
        WITH given AS (
            SELECT scoring_id, item_id, avg(score) AS score FROM item_score
            WHERE task = :task AND metric = :metric AND score IS NOT NULL GROUP BY scoring_id, item_id),
        scored AS (
            SELECT ranked.test_set, ranked.track, team, system, item_id, score, {sign} AS value
            FROM given JOIN ranked_submission AS ranked USING (scoring_id)),
        on_item AS (
            SELECT test_set, track, item_id, sum(value) AS total, count(*) AS n, max(value, 2) AS best,
                min(value, 2) AS worst, bool_and(score IN (0, 1)) AS right_or_wrong
            FROM scored GROUP BY ALL HAVING count(*) > 1),
        held AS (
            SELECT scored.*, right_or_wrong, (total - value) / (n - 1) AS others, round(value - others, 12) AS gain,
                value = best[1] AND best[1] > best[2] AS is_best, value = worst[1] AND worst[1] < worst[2] AS is_worst
            FROM scored JOIN on_item ON on_item.test_set = scored.test_set AND on_item.item_id = scored.item_id
                AND on_item.track IS NOT DISTINCT FROM scored.track)
        SELECT test_set, track, team, system, count_if(is_best) AS best_alone, count_if(is_worst) AS worst_alone,
            bool_and(right_or_wrong) AS right_or_wrong,
            max([gain, -item_id, value, others, is_best::DOUBLE], {most}) FILTER (gain > 0) AS above,
            min([gain, item_id, value, others, is_worst::DOUBLE], {most}) FILTER (gain < 0) AS below
        FROM held GROUP BY test_set, track, team, system
        ORDER BY test_set, track NULLS FIRST, team, system"""),  # noqa: S608 - a whole number, and a column
        {"task": task.slug, "metric": metric.alias}).all()
    keys = _keys(connection, {int(abs(of[1])) for row in rows for of in (*(row.above or ()), *(row.below or ()))})
    for *said, above, below in rows:
        items = [TellingItem(keys[int(abs(item))], back * value, back * others, listed is above, bool(alone))
                 for listed in (above, below) for _, item, value, others, alone in listed or ()]
        yield Telling(*(*said, tuple(items)))


def _keys(connection: Connection, item_ids: Collection[int]) -> dict[int, str]:
    """The keys of items."""
    item = models.item.c
    return dict(map(tuple, connection.execute(select(item.item_id, item.key).where(item.item_id.in_(item_ids)))))
