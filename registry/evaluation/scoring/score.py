"""Compute and store the statistics and scores of submissions.

Every submission that takes part is scored by every metric of the task.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from registry.arrays import Floats
from registry.errors import InputError, Refuse, combine_errors
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.fit import join_again
from registry.evaluation.scorers import Scorer, describe_scorer, load_scorers
from registry.evaluation.scoring.label_codes import add_labels
from registry.evaluation.scoring.measure import (
    CountedItems,
    SubmissionStatistics,
    compute_statistics,
    score_label_runs,
    score_runs,
)
from registry.evaluation.scoring.stale import StaleScore, find_stale_scores
from registry.identity import digest_json
from registry.items import Item
from registry.metrics import METRICS, ConfusionMetric, CorrelationMetric, Metric
from registry.missing import MissingPolicy
from registry.parallel.execution import Execution, with_progress
from registry.readers import READERS, Document, Reader
from registry.significance.histories import update_shown_score
from registry.store import catalog, comparisons, models, sources, statistics
from registry.store.catalog import DeclaredMetric, Member, ScoringRow, TestSetRow
from registry.store.log import Key, read_entries
from registry.store.rows import insert_many
from registry.store.statistics import Block
from registry.values import parse


@dataclass
class ScoringSummary:
    """Counts of one call of `score`, which computes the missing scores of a task.

    Attributes:
        n_computed: Number of scores that were computed.
        n_unchanged: Number of scores that were already stored.
        stale: Scores that were missing or that other code had computed, each with its new value; empty unless `score`
            recomputes stale scores.
    """

    n_computed: int = 0
    n_unchanged: int = 0
    stale: list[tuple[StaleScore, float | None]] = field(default_factory=list)


def score(ingest: Ingest, execution: Execution, *, stale: bool = False) -> ScoringSummary:
    """Compute and store the missing scores of a task.

    Args:
        ingest: State of the command: its connection, task and caches. `ingest.refuse` is called with an `InputError` if
            a metric does not apply to a submission, or if it cannot average over the submission's runs.
        execution: Number of workers, and a function that receives the progress.
        stale: True to recompute also scores that another or an unknown version of the code computed.
    """
    connection = ingest.connection
    summary, queue = ScoringSummary(), InsertQueue(connection)
    task_metrics = {row: parse("metric", METRICS, row.name)
                    for row in catalog.task_metrics(connection, ingest.task_id)}
    replacement = ScoreReplacement(connection)
    stale_scores = list(find_stale_scores(connection, ingest.task_id)) if stale else []
    stale_keys = {(score.scoring_id, score.metric_id) for score in stale_scores}
    for test_set in ingest.test_sets.values():
        aliases = ingest.task.get_metrics(test_set.name)
        metrics = {row: metric for row, metric in task_metrics.items() if row.alias in aliases}
        members = catalog.load_ranked(connection, test_set.test_set_id)
        _check_runs(connection, members, metrics.values(), ingest.refuse)
        missing = list(_find_missing(connection, members, metrics, stale_keys))
        summary.n_unchanged += len(members) * len(metrics) - sum(len(rows) for _, rows in missing)
        if not missing:
            continue
        for row in metrics:
            replacement.delete(row, [member.scoring_id for member in members
                                     if (member.scoring_id, row.metric_id) in stale_keys])
        jobs = [ScoringJob(member.name, ScoringRow(member.scoring_id, member.submission_id, test_set.gold_revision_id,
                                                   member.missing), {row: metrics[row] for row in rows})
                for member, rows in missing]
        summary.n_computed += run_jobs(ingest, jobs, execution, queue)
    queue.flush()
    if summary.n_computed:
        ingest.log_event("score", ingest.slug, computed=summary.n_computed,
                         scorers={row.name: describe_scorer(metric) for row, metric in task_metrics.items()})
    replacement.log_changes(ingest)
    values = catalog.score_values(connection, stale_keys)
    _climb_ladders(ingest)
    summary.stale += [(score, values.get((score.scoring_id, score.metric_id))) for score in stale_scores]
    ingest.write()
    return summary


@dataclass(frozen=True)
class ScoringJob:
    """One submission and the metrics that score it.

    Attributes:
        name: Name of the submission.
        scoring: Row that joins the submission with a version of the gold.
        metrics: The metrics by their rows in the database.
    """

    name: str
    scoring: ScoringRow
    metrics: Mapping[DeclaredMetric, Metric]

    @property
    def columns(self) -> list[str]:
        """Names of the columns of scores that the metrics need."""
        return [metric.column for metric in self.metrics.values() if metric.column is not None]


def run_jobs(ingest: Ingest, jobs: Sequence[ScoringJob], execution: Execution, queue: InsertQueue) -> int:
    """Score submissions, queue the scores for the database, and return their number.

    Args:
        ingest: State of the command: its connection, task and caches.
        jobs: The submissions and metrics; all with the same version of the gold.
        execution: Number of workers, and a function that receives the progress.
        queue: Receives the scores and statistics.
    """
    revision, n_scores = jobs[0].scoring.gold_revision_id, 0
    first_item, _ = catalog.item_ids(ingest.connection, revision)
    keys = [item.key for item in ingest.items(revision)]
    items: list[CountedItems] = []  # one object for each distinct selection of the last submission
    for job, computed in zip(jobs, _compute_all(ingest, jobs, execution), strict=True):
        if isinstance(computed, list):
            ingest.refuse(combine_errors([InputError(f"{job.name}: {error}", category="score") for error in computed]))
            continue
        selections: list[CountedItems] = []
        for (row, metric), is_counted, runs in zip(job.metrics.items(), computed.is_counted, computed.statistics,
                                                   strict=True):
            counted_items = next((same for same in (*selections, *items) if np.array_equal(
                same.is_counted, is_counted)), None) or CountedItems.select(is_counted, first_item, keys)
            selections.append(counted_items)
            queue.add(row.family, _make_rows(ingest, counted_items, job.scoring, row, metric, runs))
            n_scores += 1
        items = selections
    return n_scores


def _find_missing(connection: Connection, members: Sequence[Member], declared: Collection[DeclaredMetric],
                  stale_keys: Set[tuple[int, int]]) -> Iterator[tuple[Member, list[DeclaredMetric]]]:
    """Yield submissions without current scores, with the metrics to compute.

    A score is not current if it is missing, or if another version of the code computed it.

    Args:
        connection: Connection to the registry.
        members: The submissions.
        declared: The metrics of the test set.
        stale_keys: `scoring_id` and `metric_id` of each stale score.
    """
    scorings = [member.scoring_id for member in members]
    stored = {row.metric_id: catalog.scores(connection, row.metric_id, scorings) for row in declared}
    for member in members:
        if rows := [row for row in declared if member.scoring_id not in stored[row.metric_id]
                    or (member.scoring_id, row.metric_id) in stale_keys]:
            yield member, rows


def _check_runs(connection: Connection, members: Sequence[Member], metrics: Iterable[Metric],
                refuse: Refuse) -> None:
    """Refuse submissions with several runs if a metric is a correlation.

    The correlation of averages is not the average of correlations.
    """
    if correlation := next((metric for metric in metrics if isinstance(metric, CorrelationMetric)), None):
        submitted = catalog.load_submitted_files(connection, [member.submission_id for member in members])
        for member in members:
            if (n := len(submitted[member.submission_id].files)) > 1:
                refuse(InputError(f"{member.name} has {n} runs, but {correlation!r} cannot be averaged over runs; "
                                  "submit each run as a separate system", category="score"))


# The row of a score, the rows of the scores of its runs, and the statistics of its runs.
_Rows = tuple[dict[str, Any], list[dict[str, Any]], list[Block]]


class InsertQueue:
    """Queue of scores and statistics, which are inserted into the database in groups."""

    MAX_ITEMS = 2**20  # in memory

    def __init__(self, connection: Connection) -> None:
        self._connection, self._n_items = connection, 0
        self._by_family: defaultdict[str, list[_Rows]] = defaultdict(list)

    def add(self, family: str, rows: _Rows) -> None:
        """Queue the score of a submission; insert all queued rows if there are many.

        Args:
            family: Name of the statistics that the metric uses, such as `ratio`.
            rows: The rows of the score, of its runs, and of their statistics.
        """
        *_, blocks = rows
        self._by_family[family].append(rows)
        self._n_items += sum(len(block.item_ids) for block in blocks)
        if self._n_items > self.MAX_ITEMS:
            self.flush()

    def flush(self) -> None:
        """Insert all queued rows into the database."""
        for family, rows in self._by_family.items():
            scores, replicates, blocks = zip(*rows, strict=True)
            insert_many(self._connection, models.score, scores)
            insert_many(self._connection, models.replicate_score, list(chain.from_iterable(replicates)))
            statistics.insert_statistics(self._connection, family, list(chain.from_iterable(blocks)))
        self._by_family.clear()
        self._n_items = 0


def _make_rows(ingest: Ingest, items: CountedItems, scoring: ScoringRow, row: DeclaredMetric, metric: Metric,
               computed: Sequence[Floats]) -> _Rows:
    """Compute the score of a submission, and return the database rows to insert.

    Args:
        ingest: State of the command: its connection, task and caches.
        items: The items that count for the submission.
        scoring: Row that joins the submission with a version of the gold.
        row: Database row of the metric.
        metric: The metric.
        computed: Statistics of each run, [items, columns].
    """
    if isinstance(metric, ConfusionMetric):
        labels = add_labels(ingest.connection, scoring.gold_revision_id, computed)
        stored: Sequence[Floats] = [labels.encode(codes) for codes in computed]
        result = score_label_runs(metric, labels, stored)
    else:
        stored, result = computed, score_runs(metric, computed)
    key = {"scoring_id": scoring.scoring_id, "metric_id": row.metric_id}
    return (
        key | {"value": result.value, "n_items": len(items.ids), "digest": items.digest_statistics(computed),
               "run_id": ingest.run_id, "step": result.step},
        [key | {"replicate": n, "value": float(value)} for n, value in enumerate(result.run_values)],
        [Block(scoring.scoring_id, row.metric_id, items.ids, run, n) for n, run in enumerate(stored)])


MIN_SHARED_BYTES = 4 * 2**20  # size of submissions times metrics; for less work, starting processes does not pay
STAGE = "submissions to score"


@dataclass(frozen=True, eq=False)
class _SentJob:
    """A scoring job for another process, with names of objects instead of objects.

    Attributes:
        reader: Name and options of the reader, which parses the files.
        documents: The files of the submission.
        missing: Policy for items without an answer.
        metrics: Names and options of the metrics.
    """

    reader: str
    documents: tuple[Document, ...]
    missing: MissingPolicy
    metrics: tuple[str, ...]


def _make_sent_job(ingest: Ingest, job: ScoringJob) -> _SentJob:
    reader, documents = ingest.parsed.load_submitted_files(job.scoring.submission_id, job.columns)
    # `made` caches parsed content, which is expensive to send.
    return _SentJob(repr(reader), tuple(replace(document, cache={}) for document in documents),
                    MissingPolicy(job.scoring.missing), tuple(map(repr, job.metrics.values())))


def _compute_all(ingest: Ingest, jobs: Sequence[ScoringJob],
                 execution: Execution) -> Iterator[SubmissionStatistics | list[InputError]]:
    """Compute the statistics of submissions, in other processes if this is faster.

    Args:
        ingest: State of the command: its connection, task and caches.
        jobs: The submissions and metrics; all with the same version of the gold.
        execution: Number of workers, and a function that receives the progress. A cluster, if any, computes the
            statistics of large submissions.

    Returns:
        For each job the statistics, or the errors.

    Raises:
        RegistryError: The operating system ended a process, or the cluster does not answer.
    """
    items = ingest.items(jobs[0].scoring.gold_revision_id)
    submissions = [job.scoring.submission_id for job in jobs]
    ingest.parsed.prefetch(submissions)
    can_share = execution.cluster is not None or (execution.processes and min(execution.threads, len(jobs)) > 1)
    if can_share and not _reads_columns(ingest, jobs[0]):
        sizes = sources.sizes_of_submissions(ingest.connection, submissions)
        if sum(sizes[job.scoring.submission_id] * len(job.metrics) for job in jobs) >= MIN_SHARED_BYTES:
            sent = (_make_sent_job(ingest, job) for job in jobs)
            return execution.map(partial(_work, items), sent, STAGE, n_tasks=len(jobs), is_python=True)
    results = (compute_statistics(items, ingest.parsed.load_joined(job.scoring, job.columns),
                                  MissingPolicy(job.scoring.missing), job.metrics.values())
               for job in jobs)
    return with_progress(results, len(jobs), STAGE, execution.progress)


def _reads_columns(ingest: Ingest, job: ScoringJob) -> bool:
    # This is so fast that sending the submission to another process would take more time.
    reader = ingest.parsed.reader(job.scoring.submission_id)
    return reader.gives_columns and all(metric.takes_columns for metric in job.metrics.values())


def _work(items: list[Item], job: _SentJob) -> SubmissionStatistics | list[InputError]:
    reader: Reader = parse("reader", READERS, job.reader)
    runs = join_again(items, reader, job.documents, job.missing)
    return compute_statistics(items, runs, job.missing, [parse("metric", METRICS, name) for name in job.metrics])


def digest_with_scorer(plain: str, scorer: Scorer) -> str:
    """Return a digest of a score that also depends on the code that computed it.

    Such a digest is necessary if two versions of the code computed different scores from the same statistics.

    Args:
        plain: The digest of the statistics.
        scorer: The revision of the metric, and the versions of its libraries.
    """
    return digest_json([plain, scorer])


class ScoreReplacement:
    """Replacement of stale scores: deletes old scores, and logs which scores changed.

    A score is stale if another version of the code computed it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._before: dict[Key, tuple[Any, ...]] = {}
        self._metrics: dict[int, DeclaredMetric] = {}
        self._results: dict[str, str] = {}  # digests of the results of affected comparisons, by their digests

    def delete(self, metric: DeclaredMetric, scoring_ids: Sequence[int]) -> None:
        """Delete scores of a metric, and remember their values for `log_changes`."""
        if scoring_ids and (rows := _load_scores(self._connection, metric.metric_id, scoring_ids)):
            self._before |= rows
            self._metrics[metric.metric_id] = metric
            self._results |= comparisons.dependent_results(self._connection, metric.metric_id, scoring_ids)
            statistics.delete_statistics(self._connection, metric.family, metric.metric_id, scoring_ids)

    def log_changes(self, ingest: Ingest) -> None:
        """Log the scores that have changed, and give them new digests."""
        if not self._metrics:
            return
        known_scorers = load_scorers(self._connection)
        changed: list[list[Any]] = []
        with_scorer: dict[str, str] = {}
        for metric_id, metric in self._metrics.items():
            keys = [key for key in self._before if key[1] == metric_id]
            installed = describe_scorer(parse("metric", METRICS, metric.name))
            scorers = [by_metric[metric.name] for by_metric in known_scorers.values() if metric.name in by_metric]
            for key, row in _load_scores(
                    self._connection, metric_id, [scoring_id for scoring_id, _ in keys]).items():
                old_digest, *old_values = self._before[key]
                plain, *new_values = row
                new_digest = plain
                if old_digest in (plain, *(digest_with_scorer(plain, scorer) for scorer in scorers)):
                    # The statistics are the same: only other code can have changed the score.
                    new_digest = old_digest if old_values == new_values else digest_with_scorer(plain, installed)
                if old_digest != new_digest != plain:
                    with_scorer[metric.name] = digest_json(installed)
                if new_digest != plain:
                    table = models.score
                    self._connection.execute(table.update().where(
                        table.c.scoring_id == key[0], table.c.metric_id == key[1]).values(digest=new_digest))
                if new_digest != old_digest:
                    changed.append([*key, old_digest, new_digest])
        if changed:
            superseded = comparisons.find_dependent(self._connection, [(row[0], row[1]) for row in changed])
            ingest.log_event("rescore", ingest.slug, scores=changed, otherwise=with_scorer,
                             results={digest: self._results[digest] for digest in sorted(superseded)})


def _load_scores(connection: Connection, metric_id: int, scoring_ids: Sequence[int]) -> dict[Key, tuple[Any, ...]]:
    """Load the scores of a metric: digest, value, and the values of all runs.

    Args:
        connection: Connection to the registry.
        metric_id: Id of the metric.
        scoring_ids: Ids of the rows that join submissions with versions of the gold.
    """
    score, replicate = models.score.c, models.replicate_score.c
    values: dict[int, list[Any]] = {}
    for scoring_id, value in connection.execute(select(replicate.scoring_id, replicate.value).where(
            replicate.metric_id == metric_id, replicate.scoring_id.in_(list(scoring_ids))).order_by(
                replicate.scoring_id, replicate.replicate)):
        values.setdefault(scoring_id, []).append(value)
    return {(row.scoring_id, metric_id): (row.digest, row.value, values.get(row.scoring_id, []))
            for row in connection.execute(select(score.scoring_id, score.digest, score.value).where(
                score.metric_id == metric_id, score.scoring_id.in_(list(scoring_ids))))}


LADDER_ACTION = "ladder"  # action of entries in the log


class Rung(NamedTuple):
    """The score that a Ladder leaderboard shows after a new submission.

    A Ladder shows only the best score, and only if it is better than the score before by a minimal step.

    Attributes:
        entry: Number of the entry in the log.
        subject: The submission's name.
        key: Gold revision, track and metric, which identify the Ladder.
        before: The score that the Ladder showed before the submission; nan if none.
        shown: The score that the Ladder shows after the submission; nan if none.
        details: Details of the entry.
    """

    entry: int
    subject: str
    key: tuple[int, str | None, str]
    before: float
    shown: float
    details: Mapping[str, Any]


def load_rungs(connection: Connection) -> Iterator[Rung]:
    """Yield the scores that Ladder leaderboards have shown, from the log.

    A Ladder shows only scores that clearly improve the best score. Purged entries are left out.
    """
    for entry in read_entries(connection, LADDER_ACTION):
        if details := entry.details:
            key = details["gold_revision_id"], details["track"], details["metric"]
            before, shown = (math.nan if details[name] is None else float(details[name])
                             for name in ("before", "shown"))
            yield Rung(entry.event_id, entry.subject, key, before, shown, details)


def choose_shown_score(score: float, before: float, step: float, *, lower_is_better: bool) -> float:
    """Return the best score that a Ladder leaderboard shows after a submission.

    A Ladder shows a new score only if it improves the shown score by at least a step.

    Args:
        score: The score of the submission.
        before: The score that was shown before.
        step: The smallest improvement that is shown.
        lower_is_better: True if a lower score is better.
    """
    sign = -1 if lower_is_better else 1
    return sign * update_shown_score(sign * score, sign * before, step)


def _climb_ladders(ingest: Ingest) -> None:
    """Log the scores that a Ladder leaderboard shows after newly scored submissions.

    A Ladder shows a new score only if it improves the shown score by at least a step. Nothing is logged for tasks
    without a Ladder.
    """
    board = ingest.task.manifest.board
    if board.release != "ladder" or board.step is None:
        return
    shown_scores, logged = {}, set()
    for rung in load_rungs(ingest.connection):
        shown_scores[rung.key] = rung.shown
        logged.add((rung.key, rung.details["submission_id"]))
    metric = catalog.primary_metric(ingest.connection, ingest.task_id)
    for test_set in catalog.test_sets(ingest.connection, ingest.task_id):
        for member, score in _load_member_scores(ingest.connection, test_set, metric.metric_id):
            key = test_set.gold_revision_id, member.track, metric.name
            if (key, member.submission_id) in logged:
                continue
            before = shown_scores.get(key, math.nan)
            shown = choose_shown_score(score, before, board.step, lower_is_better=metric.better == "lower")
            shown_scores[key] = shown
            ingest.log_event(
                LADDER_ACTION, member.name, gold_revision_id=key[0], track=member.track, metric=metric.name,
                submission_id=member.submission_id, scoring_id=member.scoring_id, step=board.step,
                before=None if math.isnan(before) else before, shown=None if math.isnan(shown) else shown,
                raised=not math.isnan(shown) and shown != before)


def _load_member_scores(connection: Connection, test_set: TestSetRow, metric_id: int) -> Iterator[tuple[Member, float]]:
    """Yield scored submissions to a test set with their scores, in order of arrival.

    Withdrawn submissions are left out.
    """
    members = [member for member, is_withdrawn in catalog.all_versions(connection, test_set.test_set_id)
               if not is_withdrawn]
    values = catalog.score_values(
        connection, {(member.scoring_id, metric_id) for member in members if member.scoring_id is not None})
    for member in members:
        if (score := values.get((member.scoring_id, metric_id))) is not None:
            yield member, score
