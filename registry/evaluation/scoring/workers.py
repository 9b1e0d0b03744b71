"""Per-item statistics of submissions, computed in this process or by several at once.

Processes, because scorers of text are Python. What they compute is the same, and comes in the order asked for. Each is
given the gold once and reads the files of its submissions itself; only a few submissions are ahead of those whose
statistics were taken, so memory does not grow with the number of submissions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from registry.errors import InputError
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.parsed_cache import joined_runs, stored_submission
from registry.families import as_kept, check_exact
from registry.items import Answer, Item
from registry.metrics import METRICS, Metric
from registry.parallel.execution import ahead
from registry.parallel.processes import processes
from registry.readers import READERS, Document, Reader
from registry.store import catalog, sources
from registry.store.row_types import ScoringRow, SubmissionRow
from registry.values import parse

ENOUGH = 4 * 2**20  # bytes to score, counted for each metric, from which on further processes are worth their start


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
    """A submission as it is joined with the gold, and the metrics that are to be computed."""

    scoring: ScoringRow
    metrics: tuple[Metric, ...]


def compute(ingest: Ingest, wanted: Sequence[Wanted], workers: int) -> Iterator[Computed | list[InputError]]:
    """Give the statistics of every wanted submission, all of one gold revision, or why a metric does not take it.

    Args:
        ingest: The command and its task.
        wanted: One or more.
        workers: The most processes that compute; few and small submissions are computed here.

    Raises:
        RegistryError: A process was ended by the system.
    """
    connection, items = ingest.connection, ingest.items(wanted[0].scoring.gold_revision_id)
    workers = min(workers, len(wanted))
    if workers > 1 and sum(_size(connection, one) for one in wanted) >= ENOUGH:
        yield from _in_processes(connection, items, wanted, workers)
        return
    for one in wanted:
        yield computed(items, ingest.parsed.answers(connection, one.scoring), one.scoring.missing, one.metrics)


def _size(connection: Connection, one: Wanted) -> int:
    return sources.size_of_submission(connection, one.scoring.submission_id) * len(one.metrics)


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
    kept = np.array([counted or None not in of_item for of_item in zip(*runs, strict=True)], dtype=bool)
    scored = [item for item, is_kept in zip(items, kept, strict=True) if is_kept]
    answers = [[answer for answer, is_kept in zip(run, kept, strict=True) if is_kept] for run in runs]
    statistics: list[list[NDArray[np.float64]]] = []
    errors: list[InputError] = []
    for metric in metrics:
        try:
            statistics.append([_exact(metric, scored, run) for run in answers])
        except InputError as error:  # those that carry more do not travel between processes
            errors.append(InputError(error.message, item=error.item, category="score"))
    return errors or Computed(kept, statistics)


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


def _in_processes(connection: Connection, items: list[Item], wanted: Sequence[Wanted],
                  workers: int) -> Iterator[Computed | list[InputError]]:
    def submit(one: Wanted) -> Future[Computed | list[InputError]]:
        submission = catalog.get(connection, SubmissionRow, submission_id=one.scoring.submission_id)
        reader, documents = stored_submission(connection, submission)
        return pool.submit(_work, repr(reader), documents, one.scoring.missing, tuple(map(repr, one.metrics)))

    with processes(workers, _begin, items) as pool:
        yield from ahead(submit, wanted, workers)


_gold: list[Item] = []  # of a process that computes: what it was given at its start


def _begin(items: list[Item]) -> None:
    _gold[:] = items


def _work(reader_name: str, documents: tuple[Document, ...], missing: str,
          metrics: tuple[str, ...]) -> Computed | list[InputError]:
    reader: Reader = parse("reader", READERS, reader_name)
    runs = joined_runs(_gold, reader, documents, missing)
    return computed(_gold, runs, missing, [parse("metric", METRICS, name) for name in metrics])
