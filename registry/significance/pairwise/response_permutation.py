"""Yeh's randomization of the responses that one of two systems gives and the other does not (2000, section 3.3).

Each of these responses is as likely to be either system's; others are left alone. Only the numbers of correct and of
spurious responses that go to the first system matter. They are independent binomials, so the test is exact, in whole
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np

from registry.significance.base import Alternative, Observed, ObservedPairs, Settings, Tail, Unit, extremity
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.matrix import Matrix, Quotient
from registry.significance.pairwise.base import PairTest
from registry.significance.pairwise.permutation import Permutation
from registry.significance.resampling.draws import SIGNS, blocks, stream
from registry.significance.resampling.exceedances import monte_carlo_tail
from registry.significance.results import Tails

MOST = 2**14  # responses of only one system up to which all of their divisions are counted


class ResponsePermutation(PairTest):
    """Shuffle the responses that only one of two systems gives, each on its own.

    Where responses are kept together, by item or by cluster, it is the permutation of those. `drawn` takes random
    shuffles also where the exact p-value can be had, as the paper does.
    """

    name: ClassVar[str] = "response-permutation"
    null: ClassVar[str] = "a response that only one system gives is as likely to be given by either"
    assumes: ClassVar[str] = "responses are independent of each other, also those to the same item"
    citation: ClassVar[str] = "Yeh 2000, sections 3.2 and 3.3"
    families: ClassVar[tuple[str, ...] | None] = ("prf",)
    units: ClassVar[tuple[Unit, ...]] = ("response", "item", "cluster")
    swaps_units = True
    drawn: bool = False

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Refuse averages of runs, and scores that are no quotient of the sums."""
        if matrix.multiple > 1 or matrix.runs is not None:
            return "response-permutation shuffles responses, which averages over runs are not; take permutation"
        if matrix.quotient is None or matrix.family != "prf":
            return "response-permutation needs responses that are right or not: precision, recall or an F-score"
        return None

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Those of swaps: responses are swapped here."""
        return Permutation().pair_warnings(pairs)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Count or draw the divisions of each pair's responses."""
        if pairs.matrix.answers_to is None:
            return Permutation().tails(pairs, settings)
        return super().tails(pairs, settings)

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Divide the responses of a pair anew."""
        divided = _Divided.of(o)
        n = divided.correct + divided.spurious
        if self.drawn or n > MOST:
            return monte_carlo_tail(divided.draw(settings), settings.resamples)
        ways = divided.count(settings.alternative)
        # the logarithms are rounded, and all of the ways together can seem to be more than there are
        return Tail(min(0.0, math.log(ways) - n * math.log(2)), "exact", coins=n)


@dataclass(frozen=True, eq=False)
class _Divided:
    """The responses that only one system of a pair gives, which are divided anew between the two.

    Attributes:
        quotient: The coefficients of the score, of the sums (true positives, predicted, gold).
        shared: The sums of the responses that both systems give.
        correct, spurious: The numbers of correct and of spurious responses that only one system gives.
        observed: The numbers of them that the first system gives.
    """

    quotient: Quotient
    shared: tuple[int, int, int]
    correct: int
    spurious: int
    observed: tuple[int, int]

    @classmethod
    def of(cls, o: Observed) -> _Divided:
        a, b = o.a.astype(np.int64), o.b.astype(np.int64)
        both, only_a, only_b = ((a[:, 1] == x) & (b[:, 1] == y) for x, y in ((1, 1), (1, 0), (0, 1)))
        correct_a, correct_b = int(a[only_a, 0].sum()), int(b[only_b, 0].sum())
        given_a, given_b = int(only_a.sum()), int(only_b.sum())
        assert o.matrix.quotient is not None
        shared = int(a[both, 0].sum()), int(both.sum()), int(a[:, 2].sum())
        return cls(o.matrix.quotient, shared, correct_a + correct_b, given_a + given_b - correct_a - correct_b,
                   (correct_a, given_a - correct_a))

    def count(self, alternative: Alternative) -> int:
        """Count the divisions as extreme as the observed one, of 2^(correct + spurious); undefined ones count."""
        ways, limits = list(accumulate(_choices(self.spurious), initial=0)), self._limits(alternative)
        reached = sum(way * ways[limit + 1] for way, limit in zip(_choices(self.correct), limits, strict=True))
        undefined = self._undefined  # each of them is one way
        reached -= sum(spurious <= limits[correct] for correct, spurious in undefined)
        sides = 2 if alternative == "two-sided" else 1
        return min(sides * reached + len(undefined), 1 << self.correct + self.spurious)

    def draw(self, settings: Settings) -> int:
        """Count them among random divisions."""
        limits = np.array(self._limits(settings.alternative))
        extremes = 0
        for block, draws in blocks(settings.resamples):
            rng = np.random.Generator(stream(settings.seed, SIGNS, block))
            correct, spurious = rng.binomial(self.correct, 0.5, draws), rng.binomial(self.spurious, 0.5, draws)
            reached = spurious <= limits[correct]
            if settings.alternative == "two-sided":
                reached |= self.spurious - spurious <= limits[self.correct - correct]
            for k, m in self._undefined:
                reached |= (correct == k) & (spurious == m)
            extremes += int(np.count_nonzero(reached))
        return extremes

    def _limits(self, alternative: Alternative) -> list[int]:
        """The most spurious responses with which the first system is far enough ahead, by its correct ones; -1: none.

        More correct ones can only raise its lead and more spurious ones only lower it, so one walk finds all limits. To
        be behind by as much is the same with the systems exchanged.
        """
        over, under = self._difference(*self.observed)
        bar = extremity(over, alternative)

        def reaches(correct: int, spurious: int) -> bool:
            lead, scale = self._difference(correct, spurious)
            if not scale:  # the walk goes on beyond an undefined one
                return spurious < self.spurious and reaches(correct, spurious + 1)
            return lead * under >= bar * scale

        limits, limit = [], -1
        for correct in range(self.correct + 1):
            while limit < self.spurious and reaches(correct, limit + 1):
                limit += 1
            limits.append(limit)
        return limits

    @property
    def _undefined(self) -> list[tuple[int, int]]:
        """The divisions that give all responses to one system and leave a score undefined."""
        corners = {(0, 0), (self.correct, self.spurious)}
        return [corner for corner in sorted(corners) if not self._difference(*corner)[1]]

    def _difference(self, correct: int, spurious: int) -> tuple[int, int]:
        """Numerator and denominator of the difference of the scores; the denominator is 0 where one is undefined."""
        (n, d), (m, e) = (self._score(*share) for share in (
            (correct, spurious), (self.correct - correct, self.spurious - spurious)))
        return n * e - m * d, d * e

    def _score(self, correct: int, spurious: int) -> tuple[int, int]:
        true_positives, given, gold = self.shared
        sums = (true_positives + correct, given + correct + spurious, gold)
        over, under = (sum(c * s for c, s in zip(side, sums, strict=True)) for side in self.quotient)
        return over, under


def _choices(n: int) -> Iterator[int]:
    """In how many ways 0, 1, ..., n of n can be chosen."""
    return accumulate(range(n), lambda ways, k: ways * (n - k) // (k + 1), initial=1)
