"""Metrics of sets of answers or word links: precision, recall and F-score.

The counts are summed over all items (micro-average).

Answers may have scores. A metric can then count only answers with at least a threshold score, or only the `n` best
answers on the whole test set (acceptance sets; Evert 2004, section 1). In a facet, the accepted answers to its items
count. Answers that are tied at the end of an n-best list are treated by one of three rules:

- `random`: a random order decides, so that exactly n answers are accepted, as in the paper. The order is that of the
  MD5 digest of "seed/item/key/type". It is the same for all systems, does not depend on other answers, and can be
  computed in SQL.
- `include`: all answers tied with the n-th answer are accepted, so that more than n may be accepted.
- `exclude`: if answers on both sides of the cut-off are tied, none of them is accepted, so that fewer than n may be
  accepted.
"""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence, Set
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.columns import CandidateColumns, JoinedColumns
from registry.errors import InputError
from registry.items import Answer, AnswerSet, Item, Links, Response
from registry.metrics.base import FScore, Metric, Quotient, QuotientMetric


class MatchMetric(QuotientMetric):
    """Base class of precision, recall and F-score of sets of answers.

    The answers to an item are, for example, several labels or spans.

    Attributes:
        type: Type of the answers that count; None for all types.
    """

    family = "prf"

    type: str | None = None

    @abstractmethod
    def members(self, value: Any) -> Set[Hashable]:
        """Return the answers to one item that the metric counts, as a set.

        An answer of a system is correct if the set of the gold contains it.

        Args:
            value: Gold value of the item, or a system's answer value.
        """

    def accept(self, names: Sequence[tuple[str, str, str]], returned: Flags,  # noqa: ARG002
               scores: Floats) -> Flags:  # noqa: ARG002
        """Decide which returned answers count as answers of each system.

        By default, all returned answers count. Metrics with a threshold count only answers with high scores.

        Args:
            names: Item, key and type of every answer in the test set.
            returned: True if the system returns the answer, [answers, systems].
            scores: The system's scores of answers, [answers, systems].

        Returns:
            True if the answer counts, [answers, systems].
        """
        return returned

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Count the correct answers, the system's and the gold answers of one item."""
        gold = self.members(item.gold)
        system: Set[Hashable] = frozenset() if answer is None else self.members(answer.value)
        return (len(gold & system), len(system), len(gold))


class Precision(MatchMetric):
    """Share of the system's answers that are correct; undefined if it has none."""

    called = "precision"
    coefficients = ((1, 0, 0), (0, 1, 0))  # true positives over predicted


class Recall(MatchMetric):
    """Share of the gold's answers that the system has."""

    called = "recall"
    coefficients = ((1, 0, 0), (0, 0, 1))  # true positives over gold


class FBeta(FScore, MatchMetric):
    """Weighted harmonic mean of precision and recall, from 0 to 1.

    Recall is weighted by beta squared.
    """

    called = "F{beta:g}"

    @property
    def quotient(self) -> Quotient:
        p, q = (Fraction(repr(self.beta)) ** 2).as_integer_ratio()  # of the decimal that was written
        return (p + q, 0, 0), (0, q, p)


Ties = Literal["random", "include", "exclude"]


def order_ties(seed: int, answers: Iterable[tuple[str, str, str]]) -> Ints:
    """Return a random order that decides between answers with equal scores.

    The order depends only on the seed and the answers' names, not on a system.

    Args:
        seed: Seed of the random order.
        answers: Item, key and type of every answer.

    Returns:
        The rank of each answer from 0, [answers].
    """
    digests = [hashlib.md5(f"{seed}/{item}/{key}/{type_}".encode(), usedforsecurity=False).digest()
               for item, key, type_ in answers]
    ranks = np.empty(len(digests), dtype=np.int64)
    ranks[sorted(range(len(digests)), key=digests.__getitem__)] = np.arange(len(digests))
    return ranks


def sort_best_first(scores: Floats, order: Ints) -> Ints:
    """Return the indices that sort answers from the best to the worst score.

    Args:
        scores: Scores of the answers, [answers]; higher is better.
        order: Ranks by which answers with equal scores are sorted, [answers].

    Returns:
        Indices, [answers].
    """
    return np.lexsort((order, -scores))


def count_accepted(ranked: Floats, n: Ints, ties: Ties) -> Ints:
    """Return how many answers are in the n-best list of a system, in view of ties.

    Several answers may have the same score as the n-th.

    Args:
        ranked: Scores from the best to the worst, [answers].
        n: Requested sizes of the lists, at least 1, [cut-offs].
        ties: `random` keeps n answers, `include` keeps all answers that tie with the n-th, and `exclude` drops them if
            they do not all fit.

    Returns:
        Numbers of answers in the lists, [cut-offs].
    """
    n = np.minimum(n, len(ranked))
    if ties == "random" or not len(ranked):
        return n
    first, end = np.searchsorted(-ranked, -ranked[n - 1], "left"), np.searchsorted(-ranked, -ranked[n - 1], "right")
    return end if ties == "include" else np.where(end == n, n, first)


def find_accepted(scores: Floats, *, threshold: float | None = None, best: int | None = None,
                  ties: Ties = "random", order: Ints | None = None) -> Flags:
    """Return which answers of a system reach a threshold and are in its n-best list.

    Args:
        scores: Scores of the answers, [answers]; higher is better.
        threshold: Lowest accepted score; None for no threshold.
        best: Size n of the n-best list; None for no list.
        ties: Answers that tie with the n-th: `random` accepts as many as fit, `include` all of them, and `exclude` none
            if they do not all fit.
        order: Rank of each answer in a random order, for the rule `random`, [answers].

    Returns:
        True for each accepted answer, [answers].
    """
    accepted = np.ones(len(scores), dtype=np.bool_) if threshold is None else scores >= threshold
    if best is not None:
        positions = sort_best_first(scores, np.arange(len(scores)) if order is None else order)
        size = count_accepted(scores[positions], np.array([best]), ties)[0]
        listed = np.zeros(len(scores), dtype=bool)
        listed[positions[:size]] = True
        accepted &= listed
    return accepted


class _SetMetric(MatchMetric):
    """Base class of precision, recall and F-score of answers that may have scores.

    Attributes:
        threshold: Lowest score of an answer that counts; None to count all answers.
        best: Number n of a system's answers with the best scores that count; None for no limit.
        ties: Rule for answers that tie with the n-th: `random` (exactly n count), `include` or `exclude`.
        seed: Seed of the random order of ties.
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
            raise InputError(f"options 'ties' and 'seed' of {self.name} need the option 'best'; set 'best', or remove "
                             "'ties' and 'seed'")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InputError(f"option 'threshold' of {self.name} is {self.threshold}; expected a finite number")

    def members(self, value: Any) -> Set[Hashable]:
        """Return pairs (key, type) of the answers that the metric counts for one item."""
        return {(key, type_) for key, type_, _ in value.responses if self.type in (None, type_)}

    def accept(self, names: Sequence[tuple[str, str, str]], returned: Flags, scores: Floats) -> Flags:
        if self.threshold is None and self.best is None:
            return returned
        order = order_ties(self.seed, names) if self.best is not None and self.ties == "random" else None
        accepted = np.zeros_like(returned)
        for n, column in enumerate(returned.T):
            indexes = np.flatnonzero(column)
            accepted[indexes, n] = find_accepted(
                scores[indexes, n], threshold=self.threshold, best=self.best, ties=self.ties,
                order=None if order is None else order[indexes])
        return accepted

    def uncountable(self, value: Any) -> str | None:
        """Return a message if an answer lacks the score that the metric needs; else None."""
        if self.threshold is None and self.best is None:
            return None
        lacking = (key for key, type_, score in value.responses if score is None and self.type in (None, type_))
        return next((f"answer {key!r} has no score, which {self!r} needs; add the score, or remove the options "
                     "threshold and best of the metric" for key in lacking), None)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Count the correct, accepted and gold answers of one item.

        If only the n best answers are accepted, they are selected from this item alone; `corpus_statistics` selects
        them from many items together.
        """
        return tuple(self.corpus_statistics([item], [answer])[0])

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Count the correct, accepted and gold answers of each item.

        The accepted answers, such as the n best, are selected from all items together.

        Returns:
            The counts, [items, 3].
        """
        if isinstance(answers, JoinedColumns) and answers.is_numeric:
            return Metric.corpus_statistics(self, items, answers)
        if self.threshold is not None or self.best is not None:
            answers = self._find_accepted(answers)
        count = super().statistics
        rows = [count(item, answer) for item, answer in zip(items, answers, strict=True)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), 3)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        columns = answers.answers
        if not isinstance(columns, CandidateColumns):
            return self.corpus_statistics(items, list(answers))
        accepted = np.zeros(len(items), dtype=np.bool_)
        if self.type in (None, ""):
            indexes = np.flatnonzero(np.isfinite(answers.values))
            names = [(items[n].key, columns.key, "") for n in indexes.tolist()]
            scores = answers.values[indexes].reshape(-1, 1)
            accepted[indexes] = self.accept(names, np.ones(scores.shape, dtype=np.bool_), scores)[:, 0]
        golds = [self.members(item.gold) for item in items]
        correct = np.array([(columns.key, "") in gold for gold in golds], dtype=np.bool_)
        return np.stack([accepted & correct, accepted, list(map(len, golds))], axis=1).astype(np.float64)

    def _find_accepted(self, answers: Sequence[Answer | None]) -> list[Answer | None]:
        listed = [(n, answer.key, response) for n, answer in enumerate(answers) if answer is not None
                 for response in answer.value.responses if self.type in (None, response.type)]
        for answer in filter(None, answers):
            if fault := self.uncountable(answer.value):
                raise InputError(fault, item=answer.key)
        scores = np.array([[response.score] for _, _, response in listed], dtype=np.float64).reshape(-1, 1)
        names = [(item, response.key, response.type) for _, item, response in listed]
        accepted = self.accept(names, np.ones(scores.shape, dtype=np.bool_), scores)[:, 0]
        accepted_responses: list[list[Response]] = [[] for _ in answers]
        for (n, _, response), is_accepted in zip(listed, accepted, strict=True):
            if is_accepted:
                accepted_responses[n].append(response)
        return [None if answer is None else Answer(answer.key, AnswerSet(tuple(responses)), answer.line)
                for answer, responses in zip(answers, accepted_responses, strict=True)]


class SetP(_SetMetric, Precision):
    """Precision: share of the system's answers that are correct.

    Precision is undefined if the system has no answer.
    """


class SetR(_SetMetric, Recall):
    """Recall: share of the gold's answers that the system has."""


class SetF(_SetMetric, FBeta):
    """F-beta: weighted harmonic mean of precision and recall, from 0 to 1.

    Recall is weighted by beta squared.
    """

    citation = "van Rijsbergen 1979, chapter 7"


class _AlignmentMetric(QuotientMetric):
    """Base class of metrics of word alignment, which count links between words.

    Links of the gold are sure or only possible. A sure link is also possible.
    """

    takes = "alignment"
    family = "alignment"
    citation = "Och and Ney 2003, section 4.1"
    scorer = "published results of GIZA++ and awesome-align"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Count the links of one sentence pair, in four ways.

        1. The system's links that are sure in the gold.
        2. The system's links that are sure or possible in the gold.
        3. All links of the system.
        4. The sure links of the gold.
        """
        gold: Links = item.gold
        system = frozenset(() if answer is None else answer.value.sure)
        sure = len(system.intersection(gold.sure))
        return (sure, sure + len(system.intersection(gold.possible)), len(system), len(gold.sure))


class AER(_AlignmentMetric):
    """Alignment error rate, from 0 to 1; lower is better.

    If the gold has only sure links, the rate is 1 - F1.
    """

    called = "alignment error rate"
    better = "lower"
    coefficients = ((-1, -1, 1, 1), (0, 0, 1, 1))  # 1 - hits / links


class AlignmentP(_AlignmentMetric):
    """Precision: share of the system's links that are sure or possible in the gold."""

    called = "alignment precision"
    coefficients = ((0, 1, 0, 0), (0, 0, 1, 0))  # possible hits over predicted


class AlignmentR(_AlignmentMetric):
    """Recall: share of the gold's sure links that the system has."""

    called = "alignment recall"
    coefficients = ((1, 0, 0, 0), (0, 0, 0, 1))  # sure hits over sure
