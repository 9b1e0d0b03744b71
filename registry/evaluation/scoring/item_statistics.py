"""Per-item statistics of one submission by the metrics of a task: from items and answers to columns, and digested."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.columns import JoinedColumns
from registry.errors import InputError
from registry.families import as_kept, check_exact
from registry.identity import digest_array, digest_json, digest_lines
from registry.items import Item
from registry.metrics import CorrelationMetric, Metric
from registry.missing import MissingPolicy


@dataclass(frozen=True, eq=False)
class Computed:
    """The statistics of one submission.

    Attributes:
        kept: Which items count, [items]; all but those that a submission lacks under the policies `drop` and `own`.
        statistics: By metric and run, each [items that count, columns].
    """

    kept: Flags
    statistics: list[list[Floats]]


@dataclass(frozen=True, eq=False)
class KeptItems:
    """Items that count; mostly they are the same for one submission after the other.

    Attributes:
        of_all: Which of the gold's items they are, [items].
        ids: In the database, in the order of the gold.
        by_key: Their places in the order of their keys.
        digest: Of their keys.
    """

    of_all: Flags
    ids: Ints
    by_key: Ints
    digest: str

    @classmethod
    def of(cls, kept: Flags, first: int, keys: list[str]) -> KeptItems:
        """Those that are `kept` of a gold revision, whose items have these keys, and ids from the `first` on."""
        at = np.flatnonzero(kept)
        of_kept = [keys[n] for n in at.tolist()]
        by_key = np.array(sorted(range(len(at)), key=of_kept.__getitem__), dtype=np.int64)
        return cls(kept, first + at, by_key, digest_lines(sorted(of_kept)))

    def digest_of(self, runs: Sequence[Floats]) -> str:
        """The digest of their statistics, [runs] of [items, columns] in the order of the gold."""
        return digest_json([self.digest, *(digest_array(of_run.take(self.by_key, axis=0)) for of_run in runs)])


def compute_statistics(items: Sequence[Item], runs: Sequence[JoinedColumns], missing: MissingPolicy,
                       metrics: Iterable[Metric]) -> Computed | list[InputError]:
    """Compute the statistics of one submission by every metric, or say of all metrics why they do not take it.

    Args:
        items: The gold's.
        runs: The submission's, the answers of each joined with the items.
        missing: Its policy for items without an answer.
        metrics: One or more.
    """
    kept = np.ones(len(items), dtype=bool)
    for run in runs if missing.leaves_items_out else ():
        kept &= run.there
    if not kept.all():
        items = list(compress(items, kept))
        runs = [run.of(kept) for run in runs]
    statistics: list[list[Floats]] = []
    errors: list[InputError] = []
    for metric in metrics:
        try:
            metric.check_gold(items)
            statistics.append([_exact(metric, items, run) for run in runs])
        except InputError as error:  # those that carry more do not travel between processes
            errors.append(InputError(error.message, item=error.item, category="score"))
    return errors or Computed(kept, statistics)


def _exact(metric: Metric, items: Sequence[Item], answers: JoinedColumns) -> Floats:
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
    return as_kept(computed, are_ranked=isinstance(metric, CorrelationMetric))
