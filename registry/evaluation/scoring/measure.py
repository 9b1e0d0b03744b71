"""Compute the statistics and the score of one submission, without a database."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.columns import JoinedColumns
from registry.errors import InputError, combine_errors, counted
from registry.evaluation.matrices import Counts, Steps, compute_scores
from registry.families import FAMILIES, PLACES, check_exact, find_step, remove_rounding
from registry.identity import digest_array, digest_json, digest_lines
from registry.items import Item
from registry.metrics import ConfusionMetric, CorrelationMetric, Metric
from registry.metrics.confusion import NO_LABEL, make_label_code
from registry.missing import MissingPolicy
from registry.significance.matrix import CompactStatistics


@dataclass(frozen=True, eq=False)
class SubmissionScore:
    """The score of a submission by one metric, and the scores of its runs.

    Attributes:
        value: The score of the average over runs.
        run_values: Scores of the runs, [runs].
        step: The largest of 1, 0.1, 0.01, ... that divides all statistics, within limits of precision.
    """

    value: float
    run_values: Floats
    step: float


def score_runs(metric: Metric, runs: Sequence[Floats], steps: Steps | None = None) -> SubmissionScore:
    """Compute the score of a submission from the statistics of its runs.

    Args:
        metric: The metric.
        runs: Statistics of each run, whose sums over items give the score, [items, columns].
        steps: Step sizes, such as 0.01; statistics are counted in steps to make sums exact. None: chosen from the
            statistics.
    """
    statistics = np.stack(runs, axis=1)
    step = 1.0 if FAMILIES[metric.family].integer else find_step(statistics)
    steps = steps or Steps.choose(metric, [statistics], step)
    run_values = compute_scores(metric, Counts.from_statistics(statistics, steps))
    value = run_values[0] if len(runs) == 1 else compute_scores(metric, average_runs([statistics], 1, steps))[0]
    return SubmissionScore(float(value), run_values, step)


def score_label_runs(metric: ConfusionMetric, labels: LabelNumbers, runs: Sequence[Floats]) -> SubmissionScore:
    """Compute the score of a submission from pairs of labels (gold, system).

    Args:
        metric: The metric.
        labels: The numbers that encode labels.
        runs: For each run the number of the gold's and of the system's label, [items, 2].
    """
    return score_runs(metric, [labels.sum_classes(metric, run)[None] for run in runs])


def score_single_run(items: Sequence[Item], joined: JoinedColumns, missing: MissingPolicy,
                     metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Compute the scores of a submission with one run, without a database.

    Args:
        items: Items of the gold.
        joined: Answers of the submission in the order of the items.
        missing: The submission's policy for items without an answer.
        metrics: Metrics by their ids.

    Returns:
        The scores by the ids of metrics; nan if undefined.

    Raises:
        InputError: A metric does not apply to the submission.
    """
    computed = compute_statistics(items, [joined], missing, metrics.values())
    if isinstance(computed, list):
        raise combine_errors(computed)
    labels: LabelNumbers | None = None
    scores = {}
    for (name, metric), runs in zip(metrics.items(), computed.statistics, strict=True):
        if isinstance(metric, ConfusionMetric):
            if labels is None:
                names = sorted({item.gold for item in items} | joined.counts.keys())
                if len(names) > MAX_LABELS:
                    raise InputError(
                        f"{counted(len(names), 'different label')}: measures by class allow at most {MAX_LABELS}")
                labels = LabelNumbers({label: n for n, label in enumerate(names, 1)})
            scores[name] = score_label_runs(metric, labels, [labels.encode(codes) for codes in runs]).value
        else:
            scores[name] = score_runs(metric, runs).value
    return scores


@dataclass(frozen=True, eq=False)
class SubmissionStatistics:
    """Statistics of one submission for each metric, run and item.

    Attributes:
        is_counted: For each metric, False for items that the policy for missing answers leaves out, [items].
        statistics: For each metric and run an array, [counted items, columns].
    """

    is_counted: list[Flags]
    statistics: list[list[Floats]]


@dataclass(frozen=True, eq=False)
class CountedItems:
    """The items of the gold that count for a submission.

    The policy for missing answers can leave items out.

    Attributes:
        is_counted: True for items that count, [items].
        ids: Ids of the counted items in the database, in the order of the gold, [counted items].
        by_key: Indices that sort the counted items by key, [counted items].
        digest: Digest of the keys of the counted items.
    """

    is_counted: Flags
    ids: Ints
    by_key: Ints
    digest: str

    @classmethod
    def select(cls, is_counted: Flags, first_id: int, keys: list[str]) -> CountedItems:
        """Select the items that count for a submission by a mask.

        Args:
            is_counted: True for items that count, [items].
            first_id: Id of the first item in the database; the ids are consecutive.
            keys: Keys of all items.
        """
        indices = np.flatnonzero(is_counted)
        counted_keys = [keys[n] for n in indices.tolist()]
        by_key = np.array(sorted(range(len(indices)), key=counted_keys.__getitem__), dtype=np.int64)
        return cls(is_counted, first_id + indices, by_key, digest_lines(sorted(counted_keys)))

    def digest_statistics(self, runs: Sequence[Floats]) -> str:
        """Return the digest of a submission's statistics; item order has no effect.

        Args:
            runs: Statistics of each run in the order of the gold, [counted items, columns].
        """
        return digest_json([self.digest, *(digest_array(run.take(self.by_key, axis=0)) for run in runs)])


def compute_statistics(items: Sequence[Item], runs: Sequence[JoinedColumns], missing: MissingPolicy,
                       metrics: Iterable[Metric]) -> SubmissionStatistics | list[InputError]:
    """Compute the statistics of one submission by every metric, from its answers.

    Statistics are numbers per item from which scores are computed, such as counts of n-grams.

    Args:
        items: Items of the gold.
        runs: Answers of each run in the order of the items.
        missing: The submission's policy for items without an answer.
        metrics: One or more metrics.

    Returns:
        The statistics; or the errors of all metrics, if there are any.
    """
    selected: dict[str | None, tuple[Flags, Sequence[Item], Sequence[JoinedColumns]]] = {}
    is_counted: list[Flags] = []
    statistics: list[list[Floats]] = []
    errors: list[InputError] = []
    for metric in metrics:
        if metric.column not in selected:
            selected[metric.column] = _select_counted(
                items, [run.select_column(metric.column) for run in runs], missing)
        mask, counted_items, counted_runs = selected[metric.column]
        is_counted.append(mask)
        try:
            metric.check_gold(counted_items)
            statistics.append([_compute_exact(metric, counted_items, run) for run in counted_runs])
        except InputError as error:  # a new error, because some subclasses cannot be sent between processes
            errors.append(InputError(error.message, item=error.item, category="score"))
    return errors or SubmissionStatistics(is_counted, statistics)


def _select_counted(items: Sequence[Item], runs: Sequence[JoinedColumns], missing: MissingPolicy,
                    ) -> tuple[Flags, Sequence[Item], Sequence[JoinedColumns]]:
    """Select the items that count, and the answers to them.

    Returns:
        For each item whether it counts, [items]; the items that count; and the answers of each run to these items.
    """
    is_counted = np.ones(len(items), dtype=bool)
    for run in runs if missing.leaves_items_out else ():
        is_counted &= run.has_answer
    if is_counted.all():
        return is_counted, items, runs
    return is_counted, list(compress(items, is_counted)), [run.select(is_counted) for run in runs]


def _compute_exact(metric: Metric, items: Sequence[Item], answers: JoinedColumns) -> Floats:
    """Compute the statistics of a metric, and check that their sums will be exact.

    Shape of the statistics: [items, columns].

    Raises:
        InputError: A statistic is infinite, nan or too large. The error names the first such item.
    """
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
    return remove_rounding(computed, are_ranked=isinstance(metric, CorrelationMetric))


@dataclass(frozen=True, eq=False)
class Averages(Counts):
    """Statistics of systems, averaged over the runs of each system.

    Attributes:
        totals: Sums over the runs of each system, counted in steps, [items, systems, columns].
        n_runs: Number of runs of each system.
    """

    totals: CompactStatistics
    n_runs: tuple[int, ...]

    @cached_property
    def digests(self) -> list[list[str | int]]:
        """For each system, a digest of its sums over runs, and the number of runs.

        The number is left out if it is 1. Digests do not depend on other systems.
        """
        return [[digest_array(self._sum_runs(n)), *([runs] if runs > 1 else [])] for n, runs in enumerate(self.n_runs)]

    def _sum_runs(self, n: int) -> Floats:
        totals = self.totals[:, n]
        return totals if self.steps.are_ones else totals / np.array(self.steps.per_one)


def average_runs(runs: Iterable[Floats], n_systems: int, steps: Steps, max_bytes: int = 2**30) -> Averages:
    """Average the statistics of each system over its runs, as whole numbers.

    Exact tests need whole numbers. So averages are multiplied by the least common multiple of the numbers of runs. If
    the products would be too large, averages are multiplied by a power of ten and rounded.

    Args:
        runs: Statistics of each system, [items, runs, columns], with at least one run. They are iterated once.
        n_systems: Number of systems.
        steps: Step sizes, such as 0.01, in which statistics are counted.
        max_bytes: Memory for the averages; larger averages are in a temporary file.
    """
    sizes = []

    def sum_runs() -> Iterator[Floats]:
        for system in runs:
            sizes.append(system.shape[1])
            yield steps.to_steps(system).sum(axis=1)

    totals = CompactStatistics.convert(sum_runs(), n_systems, max_bytes)
    multiple, n_runs = math.lcm(*sizes), tuple(sizes)
    if multiple == 1:
        return Averages(totals, steps, multiple, totals, n_runs)
    if (largest := max(float(np.abs(totals[:, n]).sum()) for n in range(n_systems))) * multiple >= 2**53:
        multiple = next((10**places for places in range(PLACES, 0, -1) if largest * 10**places < 2**53), 1)
    averages = CompactStatistics.convert((
        np.rint(totals[:, n] * multiple / size) if multiple % size else totals[:, n] * (multiple // size)
        for n, size in enumerate(n_runs)), n_systems, max_bytes)
    return Averages(averages, steps, multiple, totals, n_runs)


def order_by_content(runs: Floats) -> list[int]:
    """Return the indices of runs, sorted by the digests of their statistics.

    So results do not depend on the order of the files.

    Args:
        runs: Statistics of the runs of one system, [items, runs, columns].
    """
    return sorted(range(runs.shape[1]), key=lambda n: digest_array(runs[:, n]))


MAX_LABELS = 1000  # labels of a test set; each needs memory for every item and system

_BLOCK = 2**12  # items whose labels are counted together


@dataclass(frozen=True)
class LabelNumbers:
    """Mapping from labels to the numbers under which the database stores them."""

    numbers: dict[str, int]

    def encode(self, codes: Floats) -> Floats:
        """Convert label codes, which a metric returns, to the numbers in the database."""
        return _translate(codes, {make_label_code(name): number for name, number in self.numbers.items()})

    def decode(self, statistics: Floats) -> Floats:
        """Convert numbers in the database to label codes, which depend only on the label."""
        return _translate(statistics, {number: make_label_code(name) for name, number in self.numbers.items()})

    def count_classes(self, metric: ConfusionMetric, statistics: Floats) -> Floats:
        """Convert the labels of gold and system to the counts of each class.

        A class is a label. Each class has three columns, which are 0 or 1:

        - 1 if both the gold and the system have the class;
        - 1 if the system has the class;
        - 1 if the gold has the class.

        Classes are in the metric's order if it declares classes, otherwise sorted by name.

        Args:
            metric: The metric.
            statistics: Numbers of the gold's and the system's label, [..., 2].

        Returns:
            The counts, [..., 3 * classes].
        """
        names = sorted(self.numbers) if metric.classes is None else metric.classes
        classes = np.array([self.numbers.get(name, -1) for name in names])
        gold, predicted = (statistics[..., [side]] == classes for side in (0, 1))
        counts = np.stack([gold & predicted, predicted, gold], axis=-1).astype(np.float64)
        return counts.reshape(*statistics.shape[:-1], 3 * len(classes))

    def sum_classes(self, metric: ConfusionMetric, statistics: Floats) -> Floats:
        """Count the items of each class, from the labels of gold and system.

        A class is a label. Each class has three counts: the items with this label in both the gold and the system's
        output, in the system's output, and in the gold.

        Args:
            metric: The metric.
            statistics: Numbers of the gold's and the system's label, [items, 2].

        Returns:
            The counts, [3 * classes].
        """
        total: Floats = self.count_classes(metric, statistics[:0]).sum(axis=0)
        for start in range(0, len(statistics), _BLOCK):
            total += self.count_classes(metric, statistics[start:start + _BLOCK]).sum(axis=0)
        return total


def _translate(values: Floats, table: dict[int, int]) -> Floats:
    keys = np.array([NO_LABEL, *table], dtype=np.float64)
    translations = np.array([NO_LABEL, *table.values()], dtype=np.float64)
    order = np.argsort(keys)
    return np.asarray(translations[order][np.searchsorted(keys[order], values)])
