"""Per-item statistics of submissions, computed in this process, by several at once, or on a cluster.

Processes, because scorers of text are Python. What they compute is the same, and comes in the order asked for. Each is
given the gold once, then the files of submissions, which it reads itself; only a few submissions are ahead of those
whose statistics were taken, so memory does not grow with the number of submissions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from registry.errors import InputError
from registry.evaluation.ingest.context import Ingest
from registry.evaluation.ingest.fit import join_again
from registry.evaluation.scoring.item_statistics import Computed, compute_statistics
from registry.items import Item
from registry.metrics import METRICS, Metric
from registry.missing import MissingPolicy
from registry.parallel.execution import Execution, with_progress
from registry.readers import READERS, Document, Reader
from registry.store import sources
from registry.store.catalog import DeclaredMetric, ScoringRow
from registry.values import parse

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
