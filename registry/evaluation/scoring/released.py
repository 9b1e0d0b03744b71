"""What the Ladder of a board that stays open shows: recorded in the log, submission by submission, as scores come.

While scores are hidden, this is all that is shown of them (`registry.significance.histories`). What was shown
stays: a submission that is withdrawn later has been the best, and one that is scored late comes after those before it.
New gold, and another metric, begin a Ladder of their own. Only boards by the primary metric, of all items, have one:
every other board would be one more thing to fit a submission to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection

from registry.evaluation.ingest.context import Ingest
from registry.significance.histories import update_shown_score
from registry.store import catalog
from registry.store.log.journal import entries
from registry.store.row_types import Member, TestSetRow

ACTION = "ladder"  # of the entries in the log


class Rung(NamedTuple):
    """What was shown once a submission had come.

    Attributes:
        entry: The number of the entry in the log.
        subject: The submission's name.
        key: Which Ladder it is: the revision of the gold, the track and the metric.
        before: The score that was shown before; nan where none was.
        shown: The score that is shown; nan before any is.
        details: As the log has them.
    """

    entry: int
    subject: str
    key: tuple[int, str | None, str]
    before: float
    shown: float
    details: Mapping[str, Any]


def rungs(connection: Connection) -> Iterator[Rung]:
    """All entries of Ladders, in the order of the log; those of purged submissions are blank and left out."""
    for of in entries(connection, ACTION):
        if told := of.details:
            key = told["gold_revision_id"], told["track"], told["metric"]
            before, shown = (math.nan if told[name] is None else float(told[name]) for name in ("before", "shown"))
            yield Rung(of.event_id, of.subject, key, before, shown, told)


def shown_after(score: float, before: float, step: float, *, lower_is_better: bool) -> float:
    """What is shown once a submission with this score has come, where another one was shown before."""
    sign = -1 if lower_is_better else 1
    return sign * update_shown_score(sign * score, sign * before, step)


def release(ingest: Ingest) -> None:
    """Let every submission that is scored and was not there yet take its place on the Ladder, if the task has one."""
    board = ingest.task.manifest.board
    if board.release != "ladder" or board.step is None:
        return
    last, known = {}, set()
    for rung in rungs(ingest.connection):
        last[rung.key] = rung.shown
        known.add((rung.key, rung.details["submission_id"]))
    metric = catalog.primary_metric(ingest.connection, ingest.task_id)
    for test_set in catalog.test_sets(ingest.connection, ingest.task_id):
        for member, score in _scored(ingest.connection, test_set, metric.metric_id):
            key = test_set.gold_revision_id, member.track, metric.name
            if (key, member.submission_id) in known:
                continue
            before = last.get(key, math.nan)
            last[key] = shown = shown_after(score, before, board.step, lower_is_better=metric.better == "lower")
            ingest.event(ACTION, member.name, gold_revision_id=key[0], track=member.track, metric=metric.name,
                         submission_id=member.submission_id, scoring_id=member.scoring_id, step=board.step,
                         before=None if math.isnan(before) else before, shown=None if math.isnan(shown) else shown,
                         raised=not math.isnan(shown) and shown != before)


def _scored(connection: Connection, test_set: TestSetRow, metric_id: int) -> Iterator[tuple[Member, float]]:
    """The submissions to a test set that are scored and not withdrawn, in the order in which they came."""
    there = [of for of, is_withdrawn in catalog.all_versions(connection, test_set.test_set_id) if not is_withdrawn]
    values = catalog.score_values(connection, {(of.scoring_id, metric_id) for of in there if of.scoring_id is not None})
    for of in there:
        if (score := values.get((of.scoring_id, metric_id))) is not None:
            yield of, score
