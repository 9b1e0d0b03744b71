"""Per-item statistics of submissions, computed in this process, by several at once, or on a cluster.

Processes, because scorers of text are Python. What they compute is the same, and comes in the order asked for. Each is
given the gold once, then the files of submissions, which it reads itself; only a few submissions are ahead of those
whose statistics were taken, so memory does not grow with the number of submissions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from registry.columns import JoinedColumns
from registry.errors import InputError
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.parsed_cache import joined_runs
from registry.families import as_kept, check_exact
from registry.items import Answer, Item
from registry.metrics import METRICS, Metric
from registry.parallel.execution import Execution, with_progress
from registry.readers import READERS, Document, Reader
from registry.store import sources
from registry.store.row_types import DeclaredMetric, ScoringRow
from registry.values import parse

ENOUGH = 4 * 2**20  # bytes to score, counted for each metric, from which on further processes are worth their start
STAGE = "submissions to score"


@dataclass(frozen=True, eq=False)
class Computed:
    """The statistics of one submission.

    Attributes:
        kept: Which items count, [items]; all but those that a submission lacks under the policies `drop` and `own`.
        statistics: By metric and run, each [items that count, columns].
    """

    kept: NDArray[np.bool_]
    statistics: list[list[NDArray[np.float64]]]


@dataclass(frozen=True)
class Wanted:
    """A submission by its name, as it is joined with the gold, and the metrics that are to be computed."""

    name: str
    scoring: ScoringRow
    declared: tuple[DeclaredMetric, ...]
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, eq=False)
class _Task:
    """A submission as it travels: readers and metrics by their names."""

    reader: str
    documents: tuple[Document, ...]
    missing: str
    metrics: tuple[str, ...]

    @classmethod
    def of(cls, ingest: Ingest, one: Wanted) -> _Task:
        """Fetch what was submitted, without what was made of it here."""
        reader, documents = ingest.parsed.submitted(ingest.connection, one.scoring.submission_id)
        return cls(repr(reader), tuple(replace(document, made={}) for document in documents), one.scoring.missing,
                   tuple(map(repr, one.metrics)))


def compute(ingest: Ingest, wanted: Sequence[Wanted], execution: Execution) -> Iterator[Computed | list[InputError]]:
    """Give the statistics of every wanted submission, all of one gold revision, or why a metric does not take it.

    Args:
        ingest: The command and its task.
        wanted: One or more.
        execution: The processes or the cluster; few and small submissions are computed here.

    Raises:
        RegistryError: A process was ended by the system, or a cluster is gone.
    """
    connection, items = ingest.connection, ingest.items(wanted[0].scoring.gold_revision_id)
    submissions = [one.scoring.submission_id for one in wanted]
    ingest.parsed.look_up(connection, submissions)
    is_shared = execution.cluster is not None or (execution.processes and min(execution.threads, len(wanted)) > 1)
    if is_shared and not _in_columns(ingest, wanted[0]):
        sizes = sources.sizes_of_submissions(connection, submissions)
        if sum(sizes[one.scoring.submission_id] * len(one.metrics) for one in wanted) >= ENOUGH:
            tasks = (_Task.of(ingest, one) for one in wanted)
            return execution.map(partial(_work, items), tasks, STAGE, of=len(wanted), interpreted=True)
    each = (computed(items, ingest.parsed.answers(connection, one.scoring), one.scoring.missing, one.metrics)
            for one in wanted)
    return with_progress(each, len(wanted), STAGE, execution.progress)


def _in_columns(ingest: Ingest, one: Wanted) -> bool:
    """Whether a submission, and most likely those like it, takes less time to compute than to send to a process."""
    reader = ingest.parsed.reader(ingest.connection, one.scoring.submission_id)
    return reader.gives_columns and all(metric.takes_columns for metric in one.metrics)


def computed(items: Sequence[Item], runs: Sequence[Sequence[Answer | None]], missing: str,
             metrics: Sequence[Metric]) -> Computed | list[InputError]:
    """Compute the statistics of one submission by every metric, or say of all metrics why they do not take it.

    Args:
        items: The gold's.
        runs: The submission's, the answers of each joined with the items.
        missing: Its policy for items without an answer.
        metrics: One or more.
    """
    counted = missing not in ("drop", "own")  # items without an answer, too
    kept = np.ones(len(items), dtype=bool)
    for run in () if counted else runs:
        kept &= _there(run)
    scored = items if kept.all() else list(compress(items, kept))
    answers = [_of(run, kept) for run in runs]
    statistics: list[list[NDArray[np.float64]]] = []
    errors: list[InputError] = []
    for metric in metrics:
        try:
            statistics.append([_exact(metric, scored, run) for run in answers])
        except InputError as error:  # those that carry more do not travel between processes
            errors.append(InputError(error.message, item=error.item, category="score"))
    return errors or Computed(kept, statistics)


def _there(run: Sequence[Answer | None]) -> NDArray[np.bool_]:
    """Which items have an answer."""
    if isinstance(run, JoinedColumns):
        return run.there
    return np.array([answer is not None for answer in run], dtype=bool)


def _of(run: Sequence[Answer | None], kept: NDArray[np.bool_]) -> Sequence[Answer | None]:
    """The answers to the items that are kept."""
    if kept.all():
        return run
    return run.of(kept) if isinstance(run, JoinedColumns) else list(compress(run, kept))


def _exact(metric: Metric, items: Sequence[Item], answers: Sequence[Answer | None]) -> NDArray[np.float64]:
    """The statistics of items, [items, columns], as they are kept; names the item whose cannot be."""
    computed = metric.corpus_statistics(items, answers)
    try:
        check_exact(computed)
    except ValueError:
        for item, row in zip(items, computed, strict=True):
            try:
                check_exact(row)
            except ValueError as error:
                raise InputError(f"{metric!r}: {error}", item=item.key) from None
        raise
    return as_kept(computed)


def _work(items: list[Item], task: _Task) -> Computed | list[InputError]:
    reader: Reader = parse("reader", READERS, task.reader)
    runs = joined_runs(items, reader, task.documents, task.missing)
    return computed(items, runs, task.missing, [parse("metric", METRICS, name) for name in task.metrics])
