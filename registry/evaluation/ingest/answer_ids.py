"""Which answer of the database every answer of a submission is, by arrays: those of all items are looked up at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from registry.arrays import Flags, Floats
from registry.columns import CandidateColumns, JoinedColumns, Places
from registry.readers import Reader
from registry.store.statistics import Ids, KnownAnswers

Name = tuple[str, str]  # of an answer to an item: key and type

_NAMES = 2**32  # more than there are different names


@dataclass(frozen=True, eq=False)
class Responses:
    """What a run answers.

    Attributes:
        places: The item of each response, by its place in the gold, [responses].
        names: Of answers.
        codes: The place of each response's name among them, [responses].
        scores: That the system gives its responses, [responses]; nan is none.
    """

    places: Places
    names: Sequence[Name]
    codes: Places
    scores: Floats

    @classmethod
    def of(cls, run: JoinedColumns, reader: Reader) -> Responses:
        """Those of a run's answers to all items."""
        labels_alone = type(reader).answer_set is Reader.answer_set  # which then are their own answers
        if labels_alone and run.answers.labels is not None:
            places = np.flatnonzero(run.there)
            return cls(places, [(label, "") for label in run.answers.labels], run.values[places].astype(np.int64),
                       np.full(len(places), np.nan))
        if isinstance(run.answers, CandidateColumns):
            places = np.flatnonzero(np.isfinite(run.values))
            return cls(places, [(run.answers.key, "")], np.zeros(len(places), dtype=np.int64), run.values[places])
        lengths, names, scores = list[int](), list[Name](), list[float | None]()
        for answer in run:
            of_item, their_scores = ((), ()) if answer is None else reader.answer_names(answer.value)
            lengths.append(len(of_item))
            names += of_item
            scores += their_scores
        return cls(np.repeat(np.arange(len(run)), lengths), names, np.arange(len(names)),
                   np.array(scores, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Given:
    """What the runs of a submission give, one after the other: the answers, and which of them are the gold's.

    `new` are those that nobody gave before, in the order of their ids: the item's id, and the name.
    """

    answer_ids: Ids
    correct: Flags
    new: list[tuple[int, Name]]


class _Known(NamedTuple):
    """Answers by their numbers, which are sorted: the ids, and whether they are the gold's."""

    numbers: Places
    ids: Ids
    in_gold: Flags

    @classmethod
    def of(cls, numbers: Places, ids: Ids, in_gold: Flags) -> _Known:
        order = np.argsort(numbers, kind="stable")
        return cls(numbers[order], ids[order], in_gold[order])


class AnswerIds:
    """The answers that are known of a gold revision, whose items have the ids from `first_item` on.

    The number of an answer is made of its item's place and of that of its name. Numbers are kept sorted, in parts each
    of which is at most half as large as the one before: what is new makes a part, which is joined with the last ones.
    """

    def __init__(self, known: KnownAnswers, first_item: int) -> None:
        self._first_item = first_item
        self._rows: dict[Name, int] = {}
        rows = self._rows_of(zip(known.keys, known.types, strict=True))
        self._parts = [_Known.of((known.item_ids.astype(np.int64) - first_item) * _NAMES + rows, known.answer_ids,
                                 known.in_gold)]

    def take(self, runs: Sequence[Responses], first_id: int) -> Given:
        """Find what runs give; new answers get the ids from `first_id` on."""
        found, new = list[tuple[Ids, Flags]](), list[tuple[int, Name]]()
        for run in runs:
            numbers = run.places * _NAMES + self._rows_of(run.names)[run.codes]
            ids, correct = self._find(numbers)
            if (lacking := np.flatnonzero(ids == 0)).size:
                distinct, first, which = np.unique(numbers[lacking], return_index=True, return_inverse=True)
                of_distinct = np.empty(len(distinct), dtype=np.int32)
                order = np.argsort(first)
                of_distinct[order] = first_id + len(new) + np.arange(len(distinct))
                ids[lacking] = of_distinct[which]
                self._keep(_Known(distinct, of_distinct, np.zeros(len(distinct), dtype=bool)))
                at = lacking[first[order]]
                names = map(run.names.__getitem__, run.codes[at].tolist())
                new += zip((self._first_item + run.places[at]).tolist(), names, strict=True)
            found.append((ids, correct))
        ids_of_runs, correct_of_runs = zip(*found, strict=True)
        return Given(np.concatenate(ids_of_runs), np.concatenate(correct_of_runs), new)

    def _rows_of(self, names: Iterable[Name]) -> Places:
        """The place of each name, new or not."""
        rows = self._rows
        return np.array([rows.setdefault(name, len(rows)) for name in names], dtype=np.int64)

    def _find(self, numbers: Places) -> tuple[Ids, Flags]:
        """The ids of answers, 0 where they are not known, and whether they are the gold's."""
        ids, correct = np.zeros(len(numbers), dtype=np.int32), np.zeros(len(numbers), dtype=bool)
        lacking = np.arange(len(numbers))
        for part in filter(lambda part: part.numbers.size, self._parts):
            wanted = numbers[lacking]
            at = np.minimum(np.searchsorted(part.numbers, wanted), len(part.numbers) - 1)
            here = part.numbers[at] == wanted
            ids[lacking[here]], correct[lacking[here]] = part.ids[at[here]], part.in_gold[at[here]]
            lacking = lacking[~here]
        return ids, correct

    def _keep(self, part: _Known) -> None:
        while self._parts and 2 * len(part.numbers) > len(self._parts[-1].numbers):
            last = self._parts.pop()
            part = _Known.of(np.concatenate([last.numbers, part.numbers]), np.concatenate([last.ids, part.ids]),
                             np.concatenate([last.in_gold, part.in_gold]))
        self._parts.append(part)
