"""Labels of the confusion family: numbered when they are stored, counted by class when they are loaded.

An item's statistics are two labels, the gold's and a system's. Metrics give them as codes, which rest on their names
alone, as do digests; what is stored is short numbers, given as labels turn up, which mean nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from registry.errors import InputError, counted
from registry.metrics import ConfusionMetric
from registry.metrics.confusion import NO_LABEL, label_code
from registry.store import catalog, models
from registry.store.row_types import GoldRevisionRow
from registry.store.rows import insert_many, next_id

Floats = NDArray[np.float64]

MOST = 1000  # labels of a test set, each of which is counted for every item and system

_AT_ONCE = 2**12  # items whose labels are counted at once


@dataclass(frozen=True)
class LabelNumbers:
    """The labels of a revision of the gold and of its submissions: numbers by name."""

    numbers: dict[str, int]

    @classmethod
    def of(cls, connection: Connection, gold_revision_id: int) -> LabelNumbers:
        """Those that are in the registry."""
        table = models.label
        query = select(table.c.name, table.c.label_id).where(table.c.gold_revision_id == gold_revision_id)
        return cls({row.name: row.label_id for row in connection.execute(query)})

    def numbered(self, codes: Floats) -> Floats:
        """Statistics as they are stored, from codes of known labels."""
        return _translated(codes, {label_code(name): number for name, number in self.numbers.items()})

    def coded(self, statistics: Floats) -> Floats:
        """Stored statistics as codes."""
        return _translated(statistics, {number: label_code(name) for name, number in self.numbers.items()})

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


def with_new_labels(connection: Connection, gold_revision_id: int, codes: Sequence[Floats]) -> LabelNumbers:
    """Give the labels of a revision, numbering and keeping those of the statistics that are new.

    What a new one is called stands among the answers, which are stored before they are scored.

    Raises:
        InputError: There are more than `MOST` labels, or the answers do not name one.
    """
    labels = LabelNumbers.of(connection, gold_revision_id)
    used = {int(code) for of_run in codes for code in np.unique(of_run)} - {NO_LABEL}
    new = used - {label_code(name) for name in labels.numbers}
    if not new:
        return labels
    answers = select(models.answer.c.key).where(models.answer.c.gold_revision_id == gold_revision_id).distinct()
    names = sorted(name for name in connection.execute(answers).scalars() if label_code(name) in new)
    if len(names) < len(new):
        reader = catalog.get(connection, GoldRevisionRow, gold_revision_id=gold_revision_id).reader
        raise InputError(f"{counted(len(new) - len(names), 'label has', 'labels have')} no name among the answers that "
                         f"are stored; `answer_set` of the gold's reader, {reader}, and of the submission's must give "
                         "every label")
    if len(labels.numbers) + len(names) > MOST:
        raise InputError(f"more than {MOST} different labels, such as {names[0]!r}: measures by class are for classes")
    first = next_id(connection, models.label)
    numbers = {name: first + n for n, name in enumerate(names)}
    insert_many(connection, models.label, [
        {"label_id": number, "gold_revision_id": gold_revision_id, "name": name} for name, number in numbers.items()])
    return LabelNumbers(labels.numbers | numbers)
