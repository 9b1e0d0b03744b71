"""Scores that are computed anew by other code: what was there is replaced, and the log says what it was.

The digest of a score stands for all that comparisons rest on: the statistics, and where other code makes another score
of the same statistics, this code too. A comparison that rests on scores that are no more cannot be made again; the log
keeps a digest of its results, so that `verify` can still tell whether it was altered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from registry.evaluation.ingest.context import Ingest
from registry.evaluation.scorers import Scorer, recorded, scorer
from registry.identity import digest_json
from registry.metrics import METRICS
from registry.store import comparisons, models, statistics
from registry.store.catalog import DeclaredMetric
from registry.store.log import Key
from registry.values import parse


def digest_by(plain: str, by: Scorer) -> str:
    """The digest of a score that this code makes of statistics of which other code has made another one."""
    return digest_json([plain, by])


class Rescored:
    """The scores that a command replaces."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._former: dict[Key, tuple[Any, ...]] = {}
        self._metrics: dict[int, DeclaredMetric] = {}
        self._results: dict[str, str] = {}  # of comparisons that may be superseded, by their digests

    def replace(self, metric: DeclaredMetric, scoring_ids: Sequence[int]) -> None:
        """Forget some scores of a metric, which are computed anew."""
        if scoring_ids and (found := _rows(self._connection, metric.metric_id, scoring_ids)):
            self._former |= found
            self._metrics[metric.metric_id] = metric
            self._results |= comparisons.results_resting_on(self._connection, metric.metric_id, scoring_ids)
            statistics.forget(self._connection, metric.family, metric.metric_id, scoring_ids)

    def settle(self, ingest: Ingest) -> None:
        """Log what is another score by now, once all are written."""
        if not self._metrics:
            return
        known, changed, otherwise = recorded(self._connection), [], dict[str, str]()
        for metric_id, metric in self._metrics.items():
            keys = [key for key in self._former if key[1] == metric_id]
            by = scorer(parse("metric", METRICS, metric.name))
            scorers = [of[metric.name] for of in known.values() if metric.name in of]
            for key, row in _rows(self._connection, metric_id, [scoring_id for scoring_id, _ in keys]).items():
                digest, *value = self._former[key]
                plain, *values = row
                after = plain
                if digest in (plain, *(digest_by(plain, one) for one in scorers)):
                    after = digest if value == values else digest_by(plain, by)
                if digest != after != plain:
                    otherwise[metric.name] = digest_json(by)
                if after != plain:
                    self._connection.execute(models.score.update().where(
                        models.score.c.scoring_id == key[0], models.score.c.metric_id == key[1]).values(digest=after))
                if after != digest:
                    changed.append([*key, digest, after])
        if changed:
            superseded = comparisons.resting_on(self._connection, [(of[0], of[1]) for of in changed])
            ingest.event("rescore", ingest.slug, scores=changed, otherwise=otherwise,
                         results={digest: self._results[digest] for digest in sorted(superseded)})


def _rows(connection: Connection, metric_id: int, scoring_ids: Sequence[int]) -> dict[Key, tuple[Any, ...]]:
    """The digest and the value of scores, and the values of all runs, by their keys."""
    score, of_run = models.score.c, models.replicate_score.c
    values: dict[int, list[Any]] = {}
    for scoring_id, value in connection.execute(select(of_run.scoring_id, of_run.value).where(
            of_run.metric_id == metric_id, of_run.scoring_id.in_(list(scoring_ids))).order_by(
                of_run.scoring_id, of_run.replicate)):
        values.setdefault(scoring_id, []).append(value)
    return {(row.scoring_id, metric_id): (row.digest, row.value, values.get(row.scoring_id, []))
            for row in connection.execute(select(score.scoring_id, score.digest, score.value).where(
                score.metric_id == metric_id, score.scoring_id.in_(list(scoring_ids))))}
