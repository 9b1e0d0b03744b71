"""Agreement of automatic metrics with people's scores, and tests of the difference between two metrics.

Metrics and people scored the same outputs: every system's output for every item. A measure, such as soft pairwise
accuracy, compares one metric with people. The test of two metrics exchanges their standardised scores in random items
or clusters (PERM-INPUTS of Deutsch, Dror and Roth 2021). PERM-BOTH of the same paper exchanges single scores. It is
an option to reproduce results. If metrics score all outputs for some items too high, it calls equal metrics different
in a quarter of the tests at 5 % (tests/validity/metric_agreement.py).

Most measures are functions of sums over items (`SumMeasure`), so all permutations are one matrix product.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from registry.arrays import ROUNDING, Flags, Floats, Ints, share
from registry.significance.base import Pair, Settings
from registry.significance.resampling.draws import BLOCK, blocks, draw_permutations

Coefficient = Literal["pearson", "spearman", "kendall"]
Grouping = Literal["item", "system", "none"]
Bits = NDArray[np.uint8]
# maps swaps [draws, units], with 1 for a swapped unit and 0 for others, to the agreement [draws] of two metrics
Swapped = Callable[[Bits], tuple[Floats, Floats]]

_LISTED_ITEMS = 10  # items up to which p-values of pairs of systems count all swaps, instead of an expansion
_LISTED_UNITS = 16  # units up to which the test of two metrics counts all swaps
_CELLS = 2**22  # numbers in one block
_SHORT = 64  # scores in a row up to which rank correlations compare all pairs of scores as one array


@dataclass(frozen=True, eq=False)
class HumanScores:
    """People's scores of the outputs of several systems.

    Attributes:
        scores: Higher scores are better, [items, systems]; nan if people did not score an output.
    """

    scores: Floats

    @cached_property
    def is_judged(self) -> Flags:
        """Whether people scored an output, [items, systems]."""
        return ~np.isnan(self.scores)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Indices of the two systems of every pair, [pairs] each."""
        first, second = np.triu_indices(self.scores.shape[1], 1)
        return first, second

    @cached_property
    def means(self) -> Floats:
        """Mean score of every system over its judged outputs, [systems]."""
        return self.average(np.where(self.is_judged, self.scores, 0).sum(axis=0))

    @cached_property
    def p_values(self) -> Floats:
        """One-sided p-values of all pairs of systems (`compute_sign_p`), [pairs]."""
        sums = _sum_differences(self, self.standardize(self.scores)).sum(axis=0)
        return np.asarray(compute_sign_p(self, sums[None])[0])

    def average(self, sums: Floats) -> Floats:
        """Divide sums over the judged outputs of every system by their number, [..., systems]."""
        return share(sums, self.is_judged.sum(axis=0))

    def standardize(self, scores: Floats) -> Floats:
        """Return scores with mean 0 and standard deviation 1 over all judged outputs, nan for all others.

        The scores of two metrics are on the same scale afterwards, so that they can be exchanged. If all scores are
        equal, the result is 0.
        """
        judged = scores[self.is_judged]
        centred = np.where(self.is_judged, scores, np.nan) - judged.mean()
        deviation = float(judged.std())
        is_constant = deviation <= ROUNDING * np.abs(judged).max(initial=0)
        return np.asarray(centred * 0 if is_constant else centred / deviation)


class Measure(ABC):
    """A measure of the agreement of a metric with people; higher is better."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the measure in commands and tables."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name of the measure in sentences."""

    @abstractmethod
    def compute(self, human: HumanScores, scores: Floats) -> float:
        """Return the agreement of a metric with people; nan if it is undefined.

        Args:
            human: People's scores.
            scores: Scores of the metric, [items, systems]; higher is better, and only judged outputs count.
        """

    def prepare_swaps(self, human: HumanScores, a: Floats, b: Floats, units: Ints) -> Swapped:
        """Return a function that computes the agreement of two metrics after swaps.

        Args:
            human: People's scores.
            a: Standardised scores of the first metric, [items, systems].
            b: Standardised scores of the second metric, [items, systems].
            units: Number of the unit that is swapped as a whole, [items, 1] or, for single scores, [items, systems].
        """
        def compute(swaps: Bits) -> tuple[Floats, Floats]:
            agreement = np.empty((2, len(swaps)))
            for n, swap in enumerate(swaps):
                is_swapped = swap[units] == 1
                agreement[0, n] = self.compute(human, np.where(is_swapped, b, a))
                agreement[1, n] = self.compute(human, np.where(is_swapped, a, b))
            return agreement[0], agreement[1]

        return compute


class SumMeasure(Measure):
    """A measure that is a function of sums over items; the numbers of an item depend on its scores alone."""

    @abstractmethod
    def list_statistics(self, human: HumanScores, scores: Floats) -> Floats:
        """Return the numbers that are summed over items, [items, columns]."""

    @abstractmethod
    def score(self, human: HumanScores, sums: Floats) -> Floats:
        """Convert sums over items [draws, columns] to agreement [draws]."""

    def compute(self, human: HumanScores, scores: Floats) -> float:
        statistics = self.list_statistics(human, human.standardize(scores))
        return float(self.score(human, statistics.sum(axis=0)[None])[0])

    def prepare_swaps(self, human: HumanScores, a: Floats, b: Floats, units: Ints) -> Swapped:
        if units.shape[1] > 1:
            return super().prepare_swaps(human, a, b, units)
        first, second = (_sum_units(self.list_statistics(human, scores), units[:, 0]) for scores in (a, b))
        sums_a, both, moves = first.sum(axis=0), (first + second).sum(axis=0), second - first

        def compute(swaps: Bits) -> tuple[Floats, Floats]:
            sums = sums_a + swaps.astype(np.float64) @ moves
            return self.score(human, sums), self.score(human, both - sums)

        return compute


class SoftPairwiseAccuracy(SumMeasure):
    """Soft pairwise accuracy (Thompson, Mathur, Deutsch and Khayrallah 2024).

    The measure is 1 minus the mean of |p_human - p_metric| over all pairs of systems. Each p-value is that of a
    one-sided paired permutation test of the two systems (`compute_sign_p`).
    """

    @property
    def name(self) -> str:
        return "spa"

    @property
    def title(self) -> str:
        return "soft pairwise accuracy"

    def list_statistics(self, human: HumanScores, scores: Floats) -> Floats:
        return _sum_differences(human, scores)

    def score(self, human: HumanScores, sums: Floats) -> Floats:
        differences = np.abs(human.p_values - compute_sign_p(human, sums))
        return np.asarray(1 - differences.mean(axis=1))


def _sum_differences(human: HumanScores, scores: Floats) -> Floats:
    """Return what `compute_sign_p` needs of every item.

    With few items, these are the differences of all pairs of systems in this item, in separate columns. With more, they
    are the differences, their squares and their fourth powers. A difference is 0 if people did not score both outputs.

    Returns:
        [items, columns]; the columns are to be summed over items.
    """
    first, second = human.pairs
    differences = np.nan_to_num(scores[:, first] - scores[:, second])
    differences[np.abs(differences) <= ROUNDING * np.nanmax(np.abs(scores), initial=0)] = 0
    if len(scores) <= _LISTED_ITEMS:
        columns = np.zeros((len(scores), *differences.shape))
        columns[np.arange(len(scores)), np.arange(len(scores))] = differences
        return columns.reshape(len(scores), -1)
    return np.concatenate([differences, differences**2, differences**4], axis=1)


def compute_sign_p(human: HumanScores, sums: Floats) -> Floats:
    """Return the p-values of one-sided paired permutation tests for all pairs of systems.

    The p-value is the probability that random signs of the differences give a larger sum than the observed one, plus
    half the probability of the same sum (mid-p). So the p-values of "A is better than B" and "B is better than A" add
    up to 1, and the order of the systems does not matter. It does in the authors' program, which counts an equal sum
    as a larger one.

    With up to 10 items all signs are counted. With more, an Edgeworth expansion with the fourth cumulant replaces the
    simulation of the authors' program, whose p-values have standard errors of up to 0.016. From 50 items on, the
    expansion errs by less than 0.003, but by up to 0.05 if the difference in one item is larger than most others
    together.

    Args:
        human: People's scores, for the number of items and systems.
        sums: Sums over items of `_sum_differences`, [draws, columns].

    Returns:
        P-values, [draws, pairs]; 0.5 if the systems have the same scores in all items.
    """
    n_items, n_pairs = len(human.scores), len(human.pairs[0])
    if n_items <= _LISTED_ITEMS:
        signs = 1.0 - 2 * (np.arange(2**n_items)[:, None] >> np.arange(n_items) & 1)
        step = max(1, _CELLS // (len(signs) * max(1, n_pairs)))
        p_values = np.empty((len(sums), n_pairs))
        for start in range(0, len(sums), step):
            differences = sums[start:start + step].reshape(-1, n_items, n_pairs)
            excess = (signs - 1) @ differences  # sums with other signs minus the observed one, [draws, signs, pairs]
            tolerance = ROUNDING * np.abs(differences).sum(axis=1, keepdims=True)
            p_values[start:start + step] = (
                (excess > tolerance).mean(axis=1) + (excess >= -tolerance).mean(axis=1)) / 2
        return p_values
    from scipy.special import ndtr

    total, squares, fourth = np.split(sums, 3, axis=1)
    varies = squares > 0
    z = np.divide(total, np.sqrt(np.where(varies, squares, 1)))
    kurtosis = -2 * share(fourth, squares**2, 0.0)  # the excess kurtosis of a sum of differences with random signs
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return np.asarray(np.where(varies, np.clip(ndtr(-z) + density * kurtosis / 24 * (z**3 - 3 * z), 0, 1), 0.5))


class PairwiseAccuracy(SumMeasure):
    """Pairwise accuracy of systems (Kocmi et al. 2021).

    The measure is the share of pairs of systems whose means a metric orders as people do. A pair whose means are equal
    is correct if the means of the other side are equal, too.
    """

    @property
    def name(self) -> str:
        return "accuracy"

    @property
    def title(self) -> str:
        return "pairwise accuracy"

    def list_statistics(self, human: HumanScores, scores: Floats) -> Floats:
        return np.where(human.is_judged, scores, 0)

    def score(self, human: HumanScores, sums: Floats) -> Floats:
        order = _order_pairs(human, human.means[None])
        return np.asarray((_order_pairs(human, human.average(sums)) == order).mean(axis=1))


def _order_pairs(human: HumanScores, means: Floats) -> Floats:
    """Return the signs of the differences of all pairs of systems, [draws, pairs]."""
    first, second = human.pairs
    differences = means[:, first] - means[:, second]
    differences[np.abs(differences) <= ROUNDING * np.abs(means).max(axis=1, keepdims=True)] = 0
    return np.sign(differences)


@dataclass(frozen=True)
class MeansCorrelation(SumMeasure):
    """Correlation of the systems' mean scores by a metric with their mean scores by people (system level)."""

    coefficient: Coefficient

    @property
    def name(self) -> str:
        return f"{self.coefficient}-of-means"

    @property
    def title(self) -> str:
        return f"{TITLES[self.coefficient]} of the systems' means"

    def list_statistics(self, human: HumanScores, scores: Floats) -> Floats:
        return np.where(human.is_judged, scores, 0)

    def score(self, human: HumanScores, sums: Floats) -> Floats:
        return correlate_rows(self.coefficient, human.average(sums), human.means[None])


@dataclass(frozen=True)
class ItemCorrelation(SumMeasure):
    """Correlation of the scores of one item's outputs, averaged over items.

    Items are left out if the correlation is undefined, because all scores by people or by the metric are equal.
    """

    coefficient: Coefficient

    @property
    def name(self) -> str:
        return f"{self.coefficient}-by-item"

    @property
    def title(self) -> str:
        return f"mean {TITLES[self.coefficient]} of an item"

    def list_statistics(self, human: HumanScores, scores: Floats) -> Floats:
        correlations = correlate_rows(self.coefficient, scores, human.scores)
        defined = ~np.isnan(correlations)
        return np.stack([np.where(defined, correlations, 0), defined], axis=1)

    def score(self, human: HumanScores, sums: Floats) -> Floats:  # noqa: ARG002
        return share(sums[:, 0], sums[:, 1])


@dataclass(frozen=True)
class PearsonOfOutputs(SumMeasure):
    """Pearson's r of single scores: of all outputs, or of each system's outputs and then averaged over systems."""

    by_system: bool

    @property
    def name(self) -> str:
        return f"pearson{'-by-system' * self.by_system}"

    @property
    def title(self) -> str:
        return f"mean {TITLES['pearson']} of a system" if self.by_system else f"{TITLES['pearson']} of all outputs"

    def list_statistics(self, human: HumanScores, scores: Floats) -> Floats:
        judged = np.where(human.is_judged, scores, 0)
        gold = np.where(human.is_judged, human.scores - self._average(human, human.scores), 0)
        columns = np.stack([judged, judged * judged, judged * gold], axis=1)  # [items, 3, systems]
        return (columns if self.by_system else columns.sum(axis=2)).reshape(len(scores), -1)

    def score(self, human: HumanScores, sums: Floats) -> Floats:
        total, squares, products = sums.reshape(len(sums), 3, -1).transpose(1, 0, 2)
        counts = human.is_judged.sum(axis=0) if self.by_system else human.is_judged.sum()
        centred = np.where(human.is_judged, human.scores - self._average(human, human.scores), 0) ** 2
        gold = centred.sum(axis=0) if self.by_system else centred.sum()
        spread = squares - share(total**2, np.broadcast_to(counts, total.shape), 0.0)
        spread = np.where(spread > ROUNDING * squares, spread, 0) * gold
        correlations = share(products, np.sqrt(spread))
        return _average_defined(np.clip(correlations, -1, 1))

    def _average(self, human: HumanScores, scores: Floats) -> Floats:
        judged = np.where(human.is_judged, scores, 0)
        return human.average(judged.sum(axis=0)) if self.by_system else np.asarray(
            judged.sum() / human.is_judged.sum())


@dataclass(frozen=True)
class RankCorrelation(Measure):
    """Rank correlation of single scores: of all outputs, or of each system's outputs and then averaged over systems."""

    coefficient: Literal["spearman", "kendall"]
    by_system: bool

    @property
    def name(self) -> str:
        return f"{self.coefficient}{'-by-system' * self.by_system}"

    @property
    def title(self) -> str:
        title = TITLES[self.coefficient]
        return f"mean {title} of a system" if self.by_system else f"{title} of all outputs"

    def compute(self, human: HumanScores, scores: Floats) -> float:
        x, y = (side.T if self.by_system else side.reshape(1, -1)
                for side in (np.where(human.is_judged, scores, np.nan), human.scores))
        return float(_average_defined(correlate_rows(self.coefficient, x, y)[None])[0])


@dataclass(frozen=True)
class TieCalibratedAccuracy(Measure):
    """Pairwise accuracy of outputs with tie calibration (Deutsch, Foster and Freitag 2023).

    The measure is the share of pairs of outputs that a metric orders as people do, averaged over groups. People can
    call two outputs equal. So a metric, too, calls them equal if its scores differ by at most a threshold. The
    threshold is the one with the largest accuracy. It is fitted to all pairs, and again after every permutation.

    Attributes:
        grouping: Pairs are formed of the outputs for one item, or of the outputs of one system, or of all outputs.
            Memory: about 50 bytes per pair.
    """

    grouping: Grouping

    @property
    def name(self) -> str:
        return "acc-eq" if self.grouping == "none" else f"acc-eq-by-{self.grouping}"

    @property
    def title(self) -> str:
        groups = {"none": "of all pairs of outputs", "item": "of an item", "system": "of a system"}
        return f"{'mean ' * (self.grouping != 'none')}tie-calibrated accuracy {groups[self.grouping]}"

    def compute(self, human: HumanScores, scores: Floats) -> float:
        return self.calibrate(human, scores)[0]

    def calibrate(self, human: HumanScores, scores: Floats) -> tuple[float, float]:
        """Return the accuracy with the best threshold, and the threshold; of equally good ones, the smallest."""
        changes = self._list_changes(human, scores)
        if not changes.total:
            return math.nan, math.nan
        accuracies = np.concatenate([[changes.start.sum()], changes.start.sum() + np.cumsum(changes.gains)])
        is_last = np.concatenate([[True], changes.is_last])
        best = int(np.where(is_last, accuracies, -np.inf).argmax())
        threshold = 0.0 if best == 0 else float(changes.thresholds[best - 1])
        return float(accuracies[best] / changes.total), threshold

    def prepare_swaps(self, human: HumanScores, a: Floats, b: Floats, units: Ints) -> Swapped:
        if units.shape[1] > 1 or self.grouping != "item":
            return super().prepare_swaps(human, a, b, units)
        # The pairs of an item have the scores of one metric. So both metrics' pairs are sorted once, and a permutation
        # selects one of the two metrics for every item.
        parts = [self._list_changes(human, scores) for scores in (a, b)]
        changes = _TieChanges.merge(parts)
        starts, total = [_sum_units(part.start[:, None], units[:, 0])[:, 0] for part in parts], parts[0].total
        belongs_to_b = np.repeat([0, 1], [len(part.gains) for part in parts])[changes.order].astype(np.uint8)
        rows = units[:, 0][changes.groups]
        ends = slice(None) if changes.is_last.all() else np.flatnonzero(changes.is_last)
        are_unweighted = bool((np.abs(changes.gains) == 1).all())  # whole numbers of few bytes are several times faster
        dtype: Any = np.int32 if are_unweighted else np.float64
        all_gains: NDArray[Any] = changes.gains.astype(np.int8) if are_unweighted else changes.gains
        every: NDArray[Any] = np.cumsum(all_gains, dtype=dtype)

        def compute(swaps: Bits) -> tuple[Floats, Floats]:
            agreement = np.empty((2, len(swaps)))
            for n, swap in enumerate(swaps):
                start = np.where(swap, starts[1], starts[0]).sum()
                other_start = starts[0].sum() + starts[1].sum() - start
                gains: NDArray[Any] = np.cumsum(all_gains * (swap[rows] == belongs_to_b), dtype=dtype)
                agreement[0, n] = start + gains[ends].max(initial=0)
                agreement[1, n] = other_start + (every - gains)[ends].max(initial=0)
            return share(agreement[0], np.array(total)), share(agreement[1], np.array(total))

        return compute

    def _list_changes(self, human: HumanScores, scores: Floats) -> _TieChanges:
        gold, metric = human.scores, np.where(human.is_judged, scores, np.nan)
        if self.grouping == "system":
            gold, metric = gold.T, metric.T
        elif self.grouping == "none":
            gold, metric = gold.reshape(1, -1), metric.reshape(1, -1)
        first, second = np.triu_indices(gold.shape[1], 1)
        order, differences = gold[:, first] - gold[:, second], metric[:, first] - metric[:, second]
        is_pair = ~np.isnan(order)
        sizes = is_pair.sum(axis=1)
        weights = share(np.full(len(sizes), sizes.max(initial=0), dtype=np.float64), sizes, 0.0)  # 1 if all are equal
        for values, side in ((order, gold), (differences, metric)):
            values[np.abs(values) <= ROUNDING * np.nanmax(np.abs(side), initial=0)] = 0
        is_tie, is_correct = order == 0, order * differences > 0
        start = weights * (is_correct | (is_tie & (differences == 0))).sum(axis=1)
        changing = (is_correct | (is_tie & (differences != 0))) & is_pair
        groups, thresholds = np.nonzero(changing)[0], np.abs(differences[changing])
        gains = np.where(is_tie[changing], 1, -1) * weights[groups]
        total = float(sizes.max(initial=0)) * int((sizes > 0).sum())
        tolerance = ROUNDING * float(np.nanmax(np.abs(metric), initial=0))
        return _TieChanges.sort(start, groups, thresholds, gains, total, tolerance)


@dataclass(frozen=True, eq=False)
class _TieChanges:
    """Pairs of outputs that become correct or incorrect when a metric calls them equal, by ascending difference.

    Attributes:
        start: Number of correct pairs in each group without a threshold, weighted so that all groups count the same,
            [groups].
        groups: Group of each pair, such as its item, [pairs].
        thresholds: Absolute differences of the metric's scores, [pairs].
        gains: Weight of the group if the pair becomes correct, minus this weight if it becomes incorrect, [pairs].
        is_last: Whether the next pair has a larger difference, [pairs].
        total: Weighted number of all pairs.
        tolerance: Differences that are closer than this are equal.
        order: Places of the pairs before they were sorted, [pairs].
    """

    start: Floats
    groups: Ints
    thresholds: Floats
    gains: Floats
    is_last: Flags
    total: float
    tolerance: float
    order: Ints

    @classmethod
    def sort(cls, start: Floats, groups: Ints, thresholds: Floats, gains: Floats, total: float,
             tolerance: float) -> _TieChanges:
        order = np.argsort(thresholds, kind="stable")
        thresholds = thresholds[order]
        is_last = np.append(np.diff(thresholds) > tolerance, True)[:len(order)]
        return cls(start, groups[order], thresholds, gains[order], is_last, total, tolerance, order)

    @classmethod
    def merge(cls, parts: Sequence[_TieChanges]) -> _TieChanges:
        groups, thresholds, gains = (np.concatenate([getattr(part, name) for part in parts])
                                     for name in ("groups", "thresholds", "gains"))
        return cls.sort(parts[0].start, groups, thresholds, gains, parts[0].total,
                        max(part.tolerance for part in parts))


TITLES: dict[Coefficient, str] = {
    "pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}
_GROUPINGS: tuple[Grouping, ...] = ("item", "system", "none")
_RANKED: tuple[Literal["spearman", "kendall"], ...] = ("spearman", "kendall")
MEASURES: dict[str, Measure] = {measure.name: measure for measure in (
    SoftPairwiseAccuracy(), PairwiseAccuracy(), *map(TieCalibratedAccuracy, _GROUPINGS),
    *map(MeansCorrelation, TITLES), *map(ItemCorrelation, TITLES), *map(PearsonOfOutputs, (False, True)),
    *(RankCorrelation(coefficient, by_system) for coefficient in _RANKED for by_system in (False, True)))}


def correlate_rows(coefficient: Coefficient, x: Floats, y: Floats) -> Floats:
    """Compute the correlation of every row of an array with the same row of another array.

    Args:
        coefficient: Name of the coefficient.
        x: Scores of a metric, [rows, columns].
        y: Scores by people, [rows, columns] or [1, columns]; nan if there is no score.

    Returns:
        Correlations, [rows]; nan if all scores of a row are equal.
    """
    x, y = np.broadcast_arrays(x, y)
    used = ~np.isnan(x) & ~np.isnan(y)
    if coefficient == "kendall":
        return _correlate_kendall(x, y, used)
    if coefficient == "spearman":
        x, y = _center_ranks(x, used), _center_ranks(y, used)
    counts = used.sum(axis=1, keepdims=True)
    sides = []
    for side in (x, y):
        judged = np.where(used, side, 0)
        centred = np.where(used, side - share(judged.sum(axis=1, keepdims=True), counts), 0)
        squares = (centred**2).sum(axis=1)
        sides.append((centred, np.where(squares > (ROUNDING * np.abs(judged).max(axis=1, initial=0)) ** 2, squares, 0)))
    (x, spread_x), (y, spread_y) = sides
    return np.clip(share((x * y).sum(axis=1), np.sqrt(spread_x) * np.sqrt(spread_y)), -1, 1)


def _compare_scores(values: Floats, used: Flags) -> NDArray[np.int8]:
    """Return the signs of all differences of scores of the same row, [rows, columns, columns]."""
    slack = ROUNDING * np.abs(np.where(used, values, 0)).max(axis=1, initial=0)[:, None, None]
    differences = values[:, :, None] - values[:, None, :]
    both = used[:, :, None] & used[:, None, :]
    with np.errstate(invalid="ignore"):
        return np.asarray(((differences > slack).astype(np.int8) - (differences < -slack)) * both)


def _center_ranks(values: Floats, used: Flags) -> Floats:
    """Return twice the distance of midranks from their mean, [rows, columns]."""
    if values.shape[1] <= _SHORT:
        return np.asarray(_compare_scores(values, used).sum(axis=2, dtype=np.float64))
    from scipy.stats import rankdata

    ranks = rankdata(np.where(used, values, np.inf), axis=1)
    return np.where(used, 2 * ranks - used.sum(axis=1, keepdims=True) - 1, np.nan)


def _correlate_kendall(x: Floats, y: Floats, used: Flags) -> Floats:
    if x.shape[1] <= _SHORT:
        signs_x, signs_y = _compare_scores(x, used), _compare_scores(y, used)
        common, spread_x, spread_y = (np.einsum("rij,rij->r", one, other, dtype=np.float64) for one, other in (
            (signs_x, signs_y), (signs_x, signs_x), (signs_y, signs_y)))
        return share(common, np.sqrt(spread_x) * np.sqrt(spread_y))
    from scipy.stats import kendalltau

    return np.array([kendalltau(row_x[row], row_y[row]).statistic if row.any() else math.nan
                     for row_x, row_y, row in zip(x, y, used, strict=True)])


def _average_defined(values: Floats) -> Floats:
    """Return the mean of every row without nan; nan if no value is defined."""
    defined = ~np.isnan(values)
    return share(np.where(defined, values, 0).sum(axis=1), defined.sum(axis=1))


def _sum_units(statistics: Floats, units: Ints) -> Floats:
    """Sum the rows of an array within units, [units, columns]."""
    sums = np.zeros((int(units.max(initial=-1)) + 1, statistics.shape[1]))
    np.add.at(sums, units, statistics)
    return sums


@dataclass(frozen=True, eq=False)
class MetricComparison:
    """Agreement of several metrics with people, and tests of all pairs of metrics.

    Attributes:
        agreement: Agreement of each metric, [metrics].
        pairs: Indices of the two metrics of each pair.
        differences: Agreement of the first metric minus that of the second, [pairs].
        p_values: Two-sided p-values, [pairs]; nan if a difference is undefined.
        is_exact: True if all permutations were counted, False if they were simulated.
    """

    agreement: Floats
    pairs: list[Pair]
    differences: Floats
    p_values: Floats
    is_exact: bool


def compare_metrics(human: HumanScores, metrics: Floats, measure: Measure, settings: Settings,
                    units: Ints | None = None, *, swap_single_scores: bool = False) -> MetricComparison:
    """Compare the agreement of several metrics with people by permutation tests.

    Two metrics are exchangeable under the null hypothesis. So the test swaps their standardised scores in random units.
    The p-value is the share of permutations with a difference of at least the observed size. The unpermuted data count
    as one of the permutations.

    Args:
        human: People's scores.
        metrics: Scores of the metrics, [metrics, items, systems]; higher is better.
        measure: Measure of agreement.
        settings: Number of permutations, seed, and workers.
        units: Cluster of each item, numbered from 0, [items]; None: each item is a unit.
        swap_single_scores: True to swap single scores instead of items or clusters (PERM-BOTH).
    """
    standardized = [human.standardize(scores) for scores in metrics]
    agreement = np.array([measure.compute(human, scores) for scores in standardized])
    n_items, n_systems = human.scores.shape
    if swap_single_scores:
        of_scores = np.arange(n_items * n_systems).reshape(n_items, n_systems)
    else:
        of_scores = (np.arange(n_items) if units is None else units)[:, None]
    n_units = int(of_scores.max(initial=-1)) + 1
    pairs = list(combinations(range(len(metrics)), 2))
    is_exact = n_units <= _LISTED_UNITS and 2**n_units <= settings.resamples + 1
    draws = list(blocks(2**n_units if is_exact else settings.resamples))
    work = partial(_count_extreme, human, standardized, measure, of_scores, None if is_exact else settings.seed, pairs)
    counts = sum(settings.execution.map(work, draws)) if pairs else np.zeros(0)
    differences = np.array([agreement[a] - agreement[b] for a, b in pairs])
    p_values = counts / 2**n_units if is_exact else (counts + 1) / (settings.resamples + 1)
    return MetricComparison(agreement, pairs, differences, np.where(np.isnan(differences), np.nan, p_values), is_exact)


def _count_extreme(human: HumanScores, metrics: Sequence[Floats], measure: Measure, units: Ints, seed: int | None,
                   pairs: Sequence[Pair], numbered_block: tuple[int, int]) -> Floats:
    """Count the permutations of a block whose difference is at least as large as the observed one, [pairs].

    Without a seed, the block is a part of the list of all permutations. An undefined difference counts as large.
    """
    n_units, (block, n_draws) = int(units.max(initial=-1)) + 1, numbered_block
    if seed is None:
        swaps = (np.arange(block * BLOCK, block * BLOCK + n_draws)[:, None] >> np.arange(n_units) & 1).astype(np.uint8)
    else:
        swaps = np.concatenate([bits for _, bits in draw_permutations(n_units, block, seed)])[:, :n_draws].T
    counts = np.zeros(len(pairs))
    for n, (a, b) in enumerate(pairs):
        compute = measure.prepare_swaps(human, metrics[a], metrics[b], units)
        observed_a, observed_b = (float(values[0]) for values in compute(np.zeros((1, n_units), dtype=np.uint8)))
        values_a, values_b = compute(swaps)
        counts[n] = np.count_nonzero(
            ~(np.abs(values_a - values_b) < abs(observed_a - observed_b) - ROUNDING))
    return counts
