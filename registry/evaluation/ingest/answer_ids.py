"""Find or assign the database ids of the answers of a submission."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from registry.arrays import Flags, Floats
from registry.columns import CandidateColumns, JoinedColumns, Places
from registry.readers import Reader
from registry.store.statistics import Ids, KnownAnswers

Name = tuple[str, str]  # key and type of an answer

_MAX_NAMES = 2**32  # more than the number of different names


@dataclass(frozen=True, eq=False)
class Responses:
    """All answers of one run, which is one output of a system.

    A response is one answer to one item. An item can have several.

    Attributes:
        places: Index of each response's item in the gold, [responses].
        names: Key and type of answers; `codes` are indices of this list.
        codes: Index in `names` of each response's answer, [responses].
        scores: The score that the system gives to each response, [responses]; nan if none.
    """

    places: Places
    names: Sequence[Name]
    codes: Places
    scores: Floats

    @classmethod
    def from_run(cls, run: JoinedColumns, reader: Reader) -> Responses:
        """Collect the responses of a run, whose answers are already matched with items."""
        are_labels = type(reader).answer_set is Reader.answer_set  # the label is then the name of the answer
        if are_labels and run.answers.labels is not None:
            places = np.flatnonzero(run.has_answer)
            return cls(places, [(label, "") for label in run.answers.labels], run.values[places].astype(np.int64),
                       np.full(len(places), np.nan))
        if isinstance(run.answers, CandidateColumns):
            places = np.flatnonzero(np.isfinite(run.values))
            return cls(places, [(run.answers.key, "")], np.zeros(len(places), dtype=np.int64), run.values[places])
        lengths, names, scores = list[int](), list[Name](), list[float | None]()
        for answer in run:
            item_names, item_scores = ((), ()) if answer is None else reader.answer_names(answer.value)
            lengths.append(len(item_names))
            names += item_names
            scores += item_scores
        return cls(np.repeat(np.arange(len(run)), lengths), names, np.arange(len(names)),
                   np.array(scores, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class AssignedIds:
    """Database ids of the answers in a submission.

    Answers are ordered by run: first all answers of the first run, then all answers of the second run, ...

    Attributes:
        answer_ids: Id of each answer, [answers].
        correct: True if the answer is in the gold, [answers].
        new: Answers that no earlier submission or gold contains, so that they got new ids; in the order of the ids.
            Each has the id of its item, and its key and type.
    """

    answer_ids: Ids
    correct: Flags
    new: list[tuple[int, Name]]


class _Part(NamedTuple):
    """Codes of answers in ascending order, with the database ids of the answers.

    Attributes:
        codes: Code of each answer: a number that identifies the item and the answer's name.
        ids: Id of each answer.
        in_gold: True if the answer is in the gold.
    """

    codes: Places
    ids: Ids
    in_gold: Flags


def _sort_part(codes: Places, ids: Ids, in_gold: Flags) -> _Part:
    order = np.argsort(codes, kind="stable")
    return _Part(codes[order], ids[order], in_gold[order])


class AnswerIds:
    """Index that maps answers to their database ids, and assigns ids to new answers.

    An answer has a code: a number that combines the index of its item and the index of its name. For fast search and
    insertion, codes are in several sorted arrays. Each array is at most half as large as the array before. New codes
    are a new array, which is merged with arrays that are not twice as large.

    Args:
        stored_answers: The answers that are already stored.
        first_item: Id of the first item of the gold; the ids of its items are consecutive.
    """

    def __init__(self, stored_answers: KnownAnswers, first_item: int) -> None:
        self._first_item = first_item
        self._rows: dict[Name, int] = {}
        rows = self._number_names(zip(stored_answers.keys, stored_answers.types, strict=True))
        self._parts = [_sort_part((stored_answers.item_ids.astype(np.int64) - first_item) * _MAX_NAMES + rows,
                                  stored_answers.answer_ids, stored_answers.in_gold)]

    def assign(self, runs: Sequence[Responses], first_id: int) -> AssignedIds:
        """Return the database ids of a submission's answers; new answers get new ids.

        Args:
            runs: The answers of each run.
            first_id: First new id.
        """
        results, new = list[tuple[Ids, Flags]](), list[tuple[int, Name]]()
        for run in runs:
            codes = run.places * _MAX_NAMES + self._number_names(run.names)[run.codes]
            ids, correct = self._find(codes)
            if (new_positions := np.flatnonzero(ids == 0)).size:
                distinct, first, inverse = np.unique(codes[new_positions], return_index=True, return_inverse=True)
                new_ids = np.empty(len(distinct), dtype=np.int32)
                order = np.argsort(first)
                new_ids[order] = first_id + len(new) + np.arange(len(distinct))
                ids[new_positions] = new_ids[inverse]
                self._add(_Part(distinct, new_ids, np.zeros(len(distinct), dtype=bool)))
                responses = new_positions[first[order]]
                names = map(run.names.__getitem__, run.codes[responses].tolist())
                new += zip((self._first_item + run.places[responses]).tolist(), names, strict=True)
            results.append((ids, correct))
        run_ids, run_correct = zip(*results, strict=True)
        return AssignedIds(np.concatenate(run_ids), np.concatenate(run_correct), new)

    def _number_names(self, names: Iterable[Name]) -> Places:
        rows = self._rows
        return np.array([rows.setdefault(name, len(rows)) for name in names], dtype=np.int64)

    def _find(self, codes: Places) -> tuple[Ids, Flags]:
        """Return the id of each answer (0 if unknown), and if the gold has the answer.

        Args:
            codes: Numbers that identify the answers.
        """
        ids, correct = np.zeros(len(codes), dtype=np.int32), np.zeros(len(codes), dtype=bool)
        open_positions = np.arange(len(codes))
        for part in filter(lambda part: part.codes.size, self._parts):
            open_codes = codes[open_positions]
            positions = np.minimum(np.searchsorted(part.codes, open_codes), len(part.codes) - 1)
            is_match = part.codes[positions] == open_codes
            ids[open_positions[is_match]] = part.ids[positions[is_match]]
            correct[open_positions[is_match]] = part.in_gold[positions[is_match]]
            open_positions = open_positions[~is_match]
        return ids, correct

    def _add(self, part: _Part) -> None:
        while self._parts and 2 * len(part.codes) > len(self._parts[-1].codes):
            last = self._parts.pop()
            part = _sort_part(np.concatenate([last.codes, part.codes]), np.concatenate([last.ids, part.ids]),
                              np.concatenate([last.in_gold, part.in_gold]))
        self._parts.append(part)
