"""Which answer of the database every label of every item is, as an array: those of all items are looked up at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from registry.columns import JoinedColumns
from registry.store.statistics import KnownAnswers

Ids = NDArray[np.int32]

_MOST = 2**24  # labels times items; of questions with thousands of answers, each is looked up by itself


@dataclass(frozen=True, eq=False)
class Given:
    """What the runs of a submission give, one after the other: the answers, and which of them are the gold's.

    `new` are those that nobody gave before, in the order of their ids: the item's id, and the label.
    """

    answer_ids: Ids
    correct: NDArray[np.bool_]
    new: list[tuple[int, str]]


class LabelAnswers:
    """The answers that are known of a gold revision, whose items have the ids from `first_item` on.

    Once there are too many different labels it `is_full`, and knows nothing.
    """

    def __init__(self, known: KnownAnswers, first_item: int, n_items: int) -> None:
        self._first_item = first_item
        self._rows: dict[str, int] = {}
        self._ids: Ids = np.zeros((0, n_items), dtype=np.int32)  # 0: not known
        self._gold: Ids = np.zeros(n_items, dtype=np.int32)
        self.is_full = not self._add([label for _, label, _ in known])
        for (item_id, label, _), (answer_id, in_gold) in () if self.is_full else known.items():
            self._ids[self._rows[label], item_id - first_item] = answer_id
            if in_gold:
                self._gold[item_id - first_item] = answer_id

    def take(self, runs: Sequence[JoinedColumns], first_id: int) -> Given | None:
        """Find what runs give; new answers get the ids from `first_id` on. None where there are too many labels."""
        self.is_full |= not self._add([label for run in runs for label in run.answers.labels or ()])
        if self.is_full:
            return None
        ids_of_runs, places, new = [], [], list[tuple[int, str]]()
        for run in runs:
            labels, at = run.answers.labels or (), np.flatnonzero(run.there)
            codes = run.values[at].astype(np.int64)
            rows = np.array([self._rows[label] for label in labels], dtype=np.int64)[codes]
            ids = self._ids[rows, at]
            lacking = np.flatnonzero(ids == 0)
            ids[lacking] = first_id + len(new) + np.arange(len(lacking))
            self._ids[rows[lacking], at[lacking]] = ids[lacking]
            item_ids = (self._first_item + at[lacking]).tolist()
            new += zip(item_ids, [labels[code] for code in codes[lacking]], strict=True)
            ids_of_runs.append(ids)
            places.append(at)
        answer_ids = np.concatenate(ids_of_runs)
        return Given(answer_ids, answer_ids == self._gold[np.concatenate(places)], new)

    def _add(self, labels: Iterable[str]) -> bool:
        """Make room for labels; says whether there is."""
        new = [label for label in dict.fromkeys(labels) if label not in self._rows]
        n_items = len(self._gold)
        if (len(self._rows) + len(new)) * n_items > _MOST:
            return False
        self._rows.update((label, row) for row, label in enumerate(new, len(self._rows)))
        self._ids = np.concatenate([self._ids, np.zeros((len(new), n_items), dtype=np.int32)])
        return True
