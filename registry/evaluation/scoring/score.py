"""Statistics per item for every submission that takes part and every metric that the task declares."""

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
from registry.errors import InputError, Refuse, together
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.fit import join_again
from registry.evaluation.scorers import Scorer, recorded, scorer
from registry.evaluation.scoring.label_codes import with_new_labels
from registry.evaluation.scoring.measure import Computed, KeptItems, compute_statistics, measure, measure_labels
from registry.evaluation.scoring.stale import StaleScore, stale_scores
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
class Scored:
    """How many scores were computed, and how many were there already; what was stale, with the score that it is now."""

    computed: int = 0
    unchanged: int = 0
    stale: list[tuple[StaleScore, float | None]] = field(default_factory=list)


def score(ingest: Ingest, execution: Execution, *, stale: bool = False) -> Scored:
    """Compute what is missing; what is there is left alone, but for what is `stale` where that is asked for.

    What is refused is an `InputError`: a metric does not take what a submission holds, or several runs of a system.

    Args:
        ingest: The command and its task.
        execution: Who computes, and is told how far it is.
        stale: Whether to compute anew what other code, or nobody knows which, has computed.
    """
    connection = ingest.connection
    scored, pending = Scored(), Pending(connection)
    metrics = {row: parse("metric", METRICS, row.name) for row in catalog.task_metrics(connection, ingest.task_id)}
    rescored = Rescored(connection)
    old = list(stale_scores(connection, ingest.task_id)) if stale else []
    again = {(one.scoring_id, one.metric_id) for one in old}
    for test_set in ingest.test_sets.values():
        members = catalog.load_ranked(connection, test_set.test_set_id)
        _check_runs(connection, members, metrics.values(), ingest.refuse)
        missing = list(_missing(connection, members, metrics, again))
        scored.unchanged += len(members) * len(metrics) - sum(len(lacking) for _, lacking in missing)
        if not missing:
            continue
        for row in metrics:
            rescored.replace(row, [member.scoring_id for member in members
                                   if (member.scoring_id, row.metric_id) in again])
        wanted = [Wanted(member.name, ScoringRow(member.scoring_id, member.submission_id, test_set.gold_revision_id,
                                                 member.missing), {row: metrics[row] for row in lacking})
                  for member, lacking in missing]
        scored.computed += score_wanted(ingest, wanted, execution, pending)
    pending.flush()
    if scored.computed:
        ingest.event("score", ingest.slug, computed=scored.computed,
                     scorers={row.name: scorer(metric) for row, metric in metrics.items()})
    rescored.settle(ingest)
    values = catalog.score_values(connection, again)
    release(ingest)
    scored.stale += [(one, values.get((one.scoring_id, one.metric_id))) for one in old]
    ingest.write()
    return scored


def score_wanted(ingest: Ingest, wanted: Sequence[Wanted], execution: Execution, pending: Pending) -> int:
    """Score submissions, all of one gold revision; gives how many scores that are."""
    revision, n_scores = wanted[0].scoring.gold_revision_id, 0
    first, _ = catalog.item_ids(ingest.connection, revision)
    keys, kept = [item.key for item in ingest.items(revision)], None
    for one, computed in zip(wanted, compute(ingest, wanted, execution), strict=True):
        if isinstance(computed, list):
            ingest.refuse(together([InputError(f"{one.name}: {error}", category="score") for error in computed]))
            continue
        if kept is None or not np.array_equal(kept.of_all, computed.kept):
            kept = KeptItems.of(computed.kept, first, keys)
        for (row, metric), of_runs in zip(one.metrics.items(), computed.statistics, strict=True):
            pending.add(row.family, _kept(ingest, kept, one.scoring, row, metric, of_runs))
            n_scores += 1
    return n_scores


def _missing(connection: Connection, members: Sequence[Member], declared: Collection[DeclaredMetric],
             again: Set[tuple[int, int]]) -> Iterator[tuple[Member, list[DeclaredMetric]]]:
    """The members that lack scores, or whose scores are computed `again`, each with the metrics that it lacks."""
    scorings = [member.scoring_id for member in members]
    there = {row.metric_id: catalog.scores(connection, row.metric_id, scorings) for row in declared}
    for member in members:
        if lacking := [row for row in declared if member.scoring_id not in there[row.metric_id]
                       or (member.scoring_id, row.metric_id) in again]:
            yield member, lacking


def _check_runs(connection: Connection, members: Sequence[Member], metrics: Iterable[Metric],
                refuse: Refuse) -> None:
    """Refuse several runs where a metric is no average over them."""
    if correlation := next((metric for metric in metrics if isinstance(metric, CorrelationMetric)), None):
        submitted = catalog.load_submitted(connection, [member.submission_id for member in members])
        for member in members:
            if (n := len(submitted[member.submission_id].files)) > 1:
                refuse(InputError(f"{member.name} has {n} runs, and {correlation!r} is no average over runs; name them "
                                  "as systems of their own", category="score"))


Kept = tuple[dict[str, Any], list[dict[str, Any]], list[Block]]  # a score's row, and a row and a block of each run


class Pending:
    """Scores and statistics that wait to be inserted together."""

    MOST = 2**20  # items; what waits stays in memory

    def __init__(self, connection: Connection) -> None:
        self._connection, self._items = connection, 0
        self._kept: defaultdict[str, list[Kept]] = defaultdict(list)

    def add(self, family: str, kept: Kept) -> None:
        """Let the statistics of a submission wait, and insert them once there are many."""
        *_, blocks = kept
        self._kept[family].append(kept)
        self._items += sum(len(block.item_ids) for block in blocks)
        if self._items > self.MOST:
            self.flush()

    def flush(self) -> None:
        """Insert all that waits."""
        for family, kept in self._kept.items():
            scores, replicates, blocks = zip(*kept, strict=True)
            insert_many(self._connection, models.score, scores)
            insert_many(self._connection, models.replicate_score, list(chain.from_iterable(replicates)))
            statistics.insert_statistics(self._connection, family, list(chain.from_iterable(blocks)))
        self._kept.clear()
        self._items = 0


def _kept(ingest: Ingest, items: KeptItems, scoring: ScoringRow, row: DeclaredMetric, metric: Metric,
          computed: Sequence[Floats]) -> Kept:
    """Make what is kept of a submission's statistics by a metric, [runs] of [items, columns]."""
    if isinstance(metric, ConfusionMetric):
        labels = with_new_labels(ingest.connection, scoring.gold_revision_id, computed)
        stored: Sequence[Floats] = [labels.numbered(codes) for codes in computed]
        measured = measure_labels(metric, labels, stored)
    else:
        stored, measured = computed, measure(metric, computed)
    key = {"scoring_id": scoring.scoring_id, "metric_id": row.metric_id}
    return (
        key | {"value": measured.value, "n_items": len(items.ids), "digest": items.digest_of(computed),
               "run_id": ingest.run_id, "step": measured.step},
        [key | {"replicate": n, "value": float(of_run)} for n, of_run in enumerate(measured.of_runs)],
        [Block(scoring.scoring_id, row.metric_id, items.ids, of_run, n) for n, of_run in enumerate(stored)])


ENOUGH = 4 * 2**20  # bytes to score, counted for each metric, from which on further processes are worth their start
STAGE = "submissions to score"


@dataclass(frozen=True)
class Wanted:
    """A submission by its name, as it is joined with the gold, and the metrics that are to be computed, as declared."""

    name: str
    scoring: ScoringRow
    metrics: Mapping[DeclaredMetric, Metric]


@dataclass(frozen=True, eq=False)
class _Task:
    """A submission as it travels: readers and metrics by their names."""

    reader: str
    documents: tuple[Document, ...]
    missing: MissingPolicy
    metrics: tuple[str, ...]

    @classmethod
    def of(cls, ingest: Ingest, one: Wanted) -> _Task:
        """Fetch what was submitted, without what was made of it here."""
        reader, documents = ingest.parsed.submitted(one.scoring.submission_id)
        return cls(repr(reader), tuple(replace(document, made={}) for document in documents),
                   MissingPolicy(one.scoring.missing),                   tuple(map(repr, one.metrics.values())))


def compute(ingest: Ingest, wanted: Sequence[Wanted], execution: Execution) -> Iterator[Computed | list[InputError]]:
    """Give the statistics of every wanted submission, all of one gold revision, or why a metric does not take it.

    Args:
        ingest: The command and its task.
        wanted: One or more.
        execution: The processes or the cluster; few and small submissions are computed here.

    Raises:
        RegistryError: A process was ended by the system, or a cluster is gone.
    """
    items = ingest.items(wanted[0].scoring.gold_revision_id)
    submissions = [one.scoring.submission_id for one in wanted]
    ingest.parsed.look_up(submissions)
    is_shared = execution.cluster is not None or (execution.processes and min(execution.threads, len(wanted)) > 1)
    if is_shared and not _in_columns(ingest, wanted[0]):
        sizes = sources.sizes_of_submissions(ingest.connection, submissions)
        if sum(sizes[one.scoring.submission_id] * len(one.metrics) for one in wanted) >= ENOUGH:
            tasks = (_Task.of(ingest, one) for one in wanted)
            return execution.map(partial(_work, items), tasks, STAGE, of=len(wanted), interpreted=True)
    each = (compute_statistics(items, ingest.parsed.answers(one.scoring), MissingPolicy(one.scoring.missing),
                               one.metrics.values())
            for one in wanted)
    return with_progress(each, len(wanted), STAGE, execution.progress)


def _in_columns(ingest: Ingest, one: Wanted) -> bool:
    """Whether a submission, and most likely those like it, takes less time to compute than to send to a process."""
    reader = ingest.parsed.reader(one.scoring.submission_id)
    return reader.gives_columns and all(metric.takes_columns for metric in one.metrics.values())


def _work(items: list[Item], task: _Task) -> Computed | list[InputError]:
    reader: Reader = parse("reader", READERS, task.reader)
    runs = join_again(items, reader, task.documents, task.missing)
    return compute_statistics(items, runs, task.missing, [parse("metric", METRICS, name) for name in task.metrics])


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
            self._results |= comparisons.dependent_results(self._connection, metric.metric_id, scoring_ids)
            statistics.delete_statistics(self._connection, metric.family, metric.metric_id, scoring_ids)

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
            superseded = comparisons.find_dependent(self._connection, [(of[0], of[1]) for of in changed])
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
    for of in read_entries(connection, ACTION):
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
