"""Labels of the confusion family as short numbers, by which an item's pair of labels is counted by class.

What the numbers are makes no difference to a score: classes come in the order of their names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from registry.arrays import Floats
from registry.metrics import ConfusionMetric
from registry.metrics.confusion import NO_LABEL, make_label_code

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
