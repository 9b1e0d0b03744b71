"""Metrics of sets of answers: exact match of key and type, summed over all items (micro-averaged).

Where answers have scores, a metric may count those only that a system accepts at a threshold, or among its n best on
the whole test set. A facet then has those of the n best that lie in it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence, Set
from typing import Any

import numpy as np

from registry.arrays import Flags, Floats
from registry.columns import CandidateColumns, JoinedColumns
from registry.errors import InputError
from registry.items import Answer, AnswerSet, Item, Response
from registry.metrics.acceptance import Ties, accepted, tie_order
from registry.metrics.base import Metric
from registry.metrics.matches import FBeta, MatchMetric, Precision, Recall


class _SetMetric(MatchMetric):
    """What the three share; of the answers that count, `threshold` and `best` say which are accepted (else all).

    `ties` and `seed` are those of the n-best list, see `registry.metrics.acceptance`.
    """

    takes = "answer"
    terse = True
    citation = "Manning, Raghavan and Schütze 2008, section 8.3"

    threshold: float | None = None
    best: int | None = None
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.best is not None and self.best < 1:
            raise InputError(f"option 'best' of {self.name} is {self.best}; expected 1 or more")
        if self.best is None and (self.ties, self.seed) != ("random", 0):
            raise InputError(f"options 'ties' and 'seed' of {self.name} break ties among the 'best'; name that too, or "
                             "leave them out")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InputError(f"option 'threshold' of {self.name} is {self.threshold}; expected a finite number")

    def members(self, value: Any) -> Set[Hashable]:
        """The answers, whatever their scores."""
        return {(key, type_) for key, type_, _ in value.responses if self.type in (None, type_)}

    def acceptance(self, names: Sequence[tuple[str, str, str]], given: Flags, scores: Floats) -> Flags:
        """Say which of their answers systems stand by: those of at least `threshold`, or the `best` of each."""
        if self.threshold is None and self.best is None:
            return given
        order = tie_order(self.seed, names) if self.best is not None and self.ties == "random" else None
        taken = np.zeros_like(given)
        for n, of_system in enumerate(given.T):
            at = np.flatnonzero(of_system)
            taken[at, n] = accepted(scores[at, n], threshold=self.threshold, best=self.best, ties=self.ties,
                                    order=None if order is None else order[at])
        return taken

    def uncountable(self, value: Any) -> str | None:
        """Say which answer has no score where the metric needs one."""
        if self.threshold is None and self.best is None:
            return None
        lacking = (key for key, type_, score in value.responses if score is None and self.type in (None, type_))
        return next((f"answer {key!r} has no score, which {self!r} needs; give it one, or leave threshold and best out"
                     for key in lacking), None)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (correct answers, accepted answers, answers of the gold), as if the item were the whole test set."""
        return tuple(self.corpus_statistics([item], [answer])[0])

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Decide over all items what is accepted, and count."""
        if isinstance(answers, JoinedColumns) and answers.is_numeric:
            return Metric.corpus_statistics(self, items, answers)
        if self.threshold is not None or self.best is not None:
            answers = self._accepted(answers)
        count = super().statistics
        rows = [count(item, answer) for item, answer in zip(items, answers, strict=True)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), 3)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        """The same of candidates, to each of which there is one answer."""
        columns = answers.answers
        if not isinstance(columns, CandidateColumns):
            return self.corpus_statistics(items, list(answers))
        accepted = np.zeros(len(items), dtype=np.bool_)
        if self.type in (None, ""):
            at = np.flatnonzero(np.isfinite(answers.values))
            names = [(items[n].key, columns.key, "") for n in at.tolist()]
            scores = answers.values[at].reshape(-1, 1)
            accepted[at] = self.acceptance(names, np.ones(scores.shape, dtype=np.bool_), scores)[:, 0]
        golds = [self.members(item.gold) for item in items]
        right = np.array([(columns.key, "") in gold for gold in golds], dtype=np.bool_)
        return np.stack([accepted & right, accepted, list(map(len, golds))], axis=1).astype(np.float64)

    def _accepted(self, answers: Sequence[Answer | None]) -> list[Answer | None]:
        given = [(n, answer.key, response) for n, answer in enumerate(answers) if answer is not None
                 for response in answer.value.responses if self.type in (None, response.type)]
        for answer in filter(None, answers):
            if why := self.uncountable(answer.value):
                raise InputError(why, item=answer.key)
        scores = np.array([[response.score] for _, _, response in given], dtype=np.float64).reshape(-1, 1)
        names = [(item, response.key, response.type) for _, item, response in given]
        taken = self.acceptance(names, np.ones(scores.shape, dtype=np.bool_), scores)[:, 0]
        kept: list[list[Response]] = [[] for _ in answers]
        for (n, _, response), is_taken in zip(given, taken, strict=True):
            if is_taken:
                kept[n].append(response)
        return [None if answer is None else Answer(answer.key, AnswerSet(tuple(responses)), answer.line)
                for answer, responses in zip(answers, kept, strict=True)]


class SetP(_SetMetric, Precision):
    """Precision: the share of a system's answers that the gold has; undefined where the system has none."""


class SetR(_SetMetric, Recall):
    """Recall: the share of the gold's answers that the system has."""


class SetF(_SetMetric, FBeta):
    """F-beta: the harmonic mean of precision and recall, recall weighted by beta squared, from 0 to 1."""

    citation = "van Rijsbergen 1979, chapter 7"
