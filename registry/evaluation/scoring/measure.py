"""Scores of one submission from its statistics: by one metric, or, where it is in no registry, by all of a task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.columns import JoinedColumns
from registry.errors import InputError, counted, together
from registry.evaluation.matrices import Counts, Steps, scores_of
from registry.families import FAMILIES, PLACES, as_kept, check_exact, step_of
from registry.identity import digest_array, digest_json, digest_lines
from registry.items import Item
from registry.metrics import ConfusionMetric, CorrelationMetric, Metric
from registry.metrics.confusion import NO_LABEL, make_label_code
from registry.missing import MissingPolicy
from registry.significance.matrix import CompactStatistics


@dataclass(frozen=True, eq=False)
class Measured:
    """The score of a submission by one metric, those of its runs, and the step that its statistics are counted in."""

    value: float
    of_runs: Floats
    step: float


def measure(metric: Metric, runs: Sequence[Floats], steps: Steps | None = None) -> Measured:
    """Score a submission.

    Args:
        metric: The metric.
        runs: The statistics of each run as they add up, [items, columns].
        steps: What they are counted in; None: the largest steps that hold them all.
    """
    counts = np.stack(runs, axis=1)
    step = 1.0 if FAMILIES[metric.family].integer else step_of(counts)
    steps = steps or Steps.of(metric, [counts], step)
    of_runs = scores_of(metric, Counts.of(counts, steps))
    value = of_runs[0] if len(runs) == 1 else scores_of(metric, averaged([counts], 1, steps))[0]
    return Measured(float(value), of_runs, step)


def measure_labels(metric: ConfusionMetric, labels: LabelNumbers, runs: Sequence[Floats]) -> Measured:
    """Score a submission by the labels of its runs, [items, 2] each as they are stored."""
    return measure(metric, [labels.summed(metric, of_run)[None] for of_run in runs])  # as one item: it adds up


def scores_of_submission(items: Sequence[Item], joined: JoinedColumns, missing: MissingPolicy,
                         metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Score a submission of one run, as `registry score` does; an undefined score is nan.

    Args:
        items: The gold's.
        joined: The submission's answers to them.
        missing: Its policy for items without an answer.
        metrics: By their ids.

    Raises:
        InputError: A metric does not take what is submitted.
    """
    found = compute_statistics(items, [joined], missing, metrics.values())
    if isinstance(found, list):
        raise together(found)
    labels: LabelNumbers | None = None
    scores = {}
    for (name, metric), runs in zip(metrics.items(), found.statistics, strict=True):
        if isinstance(metric, ConfusionMetric):
            labels = labels or _labels(items, joined)
            scores[name] = measure_labels(metric, labels, [labels.numbered(codes) for codes in runs]).value
        else:
            scores[name] = measure(metric, runs).value
    return scores


def _labels(items: Sequence[Item], joined: JoinedColumns) -> LabelNumbers:
    """Number the labels of the gold and of the submission."""
    names = sorted({item.gold for item in items} | joined.counts.keys())
    if len(names) > MOST:
        raise InputError(f"{counted(len(names), 'different label')}: measures by class are for {MOST} at the most")
    return LabelNumbers({name: n for n, name in enumerate(names, 1)})


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


@dataclass(frozen=True, eq=False)
class Averages(Counts):
    """The statistics of systems, each averaged over its runs.

    Attributes:
        totals: The sums over each system's runs in steps, [items, systems, columns].
        n_runs: [systems].
    """

    totals: CompactStatistics
    n_runs: tuple[int, ...]

    @cached_property
    def digests(self) -> list[list[str | int]]:
        """What each system's averages are, whatever steps and `multiple` the other systems made necessary."""
        return [[digest_array(self._given(n)), *([runs] if runs > 1 else [])] for n, runs in enumerate(self.n_runs)]

    def _given(self, n: int) -> Floats:
        """The sums over a system's runs of what was given, [items, columns]."""
        totals = self.totals[:, n]
        return totals if self.steps.are_one else totals / np.array(self.steps.per_one)


def averaged(runs: Iterable[Floats], n_systems: int, steps: Steps, most: int = 2**30) -> Averages:
    """Average the statistics of each system over its runs.

    Exact tests count in whole numbers, and only their sums are the same in every order. So averages are given as whole
    multiples, all systems' alike; where those would be too large, as decimals in as many places as there is room for.

    Args:
        runs: Of each system, [items, runs, columns], one or more; each is taken once.
        n_systems: How many they are.
        steps: What they are counted in.
        most: The bytes that the averages may take in memory; more are in a temporary file.
    """
    sizes = []

    def summed() -> Iterator[Floats]:
        for of_system in runs:
            sizes.append(of_system.shape[1])
            yield steps.counted(of_system).sum(axis=1)

    totals = CompactStatistics.of_each(summed(), n_systems, most)
    multiple, n_runs = math.lcm(*sizes), tuple(sizes)
    if multiple == 1:
        return Averages(totals, steps, multiple, totals, n_runs)
    if (largest := max(float(np.abs(totals[:, n]).sum()) for n in range(n_systems))) * multiple >= 2**53:
        multiple = next((10**places for places in range(PLACES, 0, -1) if largest * 10**places < 2**53), 1)
    averages = CompactStatistics.of_each((
        np.rint(totals[:, n] * multiple / of) if multiple % of else totals[:, n] * (multiple // of)
        for n, of in enumerate(n_runs)), n_systems, most)
    return Averages(averages, steps, multiple, totals, n_runs)


def order_of_content(runs: Floats) -> list[int]:
    """The places of a system's runs, [items, runs, columns], in an order that is the same whatever they are called."""
    return sorted(range(runs.shape[1]), key=lambda n: digest_array(runs[:, n]))


MOST = 1000  # labels of a test set, each of which is counted for every item and system

_AT_ONCE = 2**12  # items whose labels are counted at once


@dataclass(frozen=True)
class LabelNumbers:
    """The labels of a revision of the gold and of its submissions: numbers by name."""

    numbers: dict[str, int]

    def numbered(self, codes: Floats) -> Floats:
        """Statistics as they are stored, from codes of known labels."""
        return _translated(codes, {make_label_code(name): number for name, number in self.numbers.items()})

    def coded(self, statistics: Floats) -> Floats:
        """Stored statistics as codes."""
        return _translated(statistics, {number: make_label_code(name) for name, number in self.numbers.items()})

    def counted(self, metric: ConfusionMetric, statistics: Floats) -> Floats:
        """Count for each class whether an item is correct, predicted and in the gold: [..., 2] to [..., 3 classes].

        Classes are in the order of their names, or in that of the metric.
        """
        names = sorted(self.numbers) if metric.classes is None else metric.classes
        classes = np.array([self.numbers.get(name, -1) for name in names])
        gold, predicted = (statistics[..., [side]] == classes for side in (0, 1))
        counts = np.stack([gold & predicted, predicted, gold], axis=-1).astype(np.float64)
        return counts.reshape(*statistics.shape[:-1], 3 * len(classes))

    def summed(self, metric: ConfusionMetric, statistics: Floats) -> Floats:
        """The counts summed over items, [items, 2] to [3 classes], without room for those of all items."""
        total: Floats = self.counted(metric, statistics[:0]).sum(axis=0)
        for at in range(0, len(statistics), _AT_ONCE):
            total += self.counted(metric, statistics[at:at + _AT_ONCE]).sum(axis=0)
        return total


def _translated(values: Floats, table: dict[int, int]) -> Floats:
    before = np.array([NO_LABEL, *table], dtype=np.float64)
    after = np.array([NO_LABEL, *table.values()], dtype=np.float64)
    order = np.argsort(before)
    return np.asarray(after[order][np.searchsorted(before[order], values)])
