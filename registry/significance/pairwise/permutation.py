"""Permutation tests of units, of whole runs, and of single responses.

Under the null hypothesis the outputs of two systems can be swapped in any unit. The p-value is exact for quotients of
sums of whole numbers or decimals, such as accuracy, precision, recall, F-beta, error rates and means of item scores:
the swaps are counted on a lattice. If the two systems differ in few units, all swaps are tried, for any score.
Otherwise the p-value is Noreen's Monte-Carlo p-value (c + 1) / (R + 1). All this assumes exchangeable systems;
`pair_warnings` warns of pairs that may have equal scores without being exchangeable. For correlations, standardized
predictions are swapped (`registry.significance.correlations`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate
from typing import ClassVar

import numpy as np

from registry.arrays import Ints
from registry.families import ADDITIVE
from registry.significance.base import Alternative, Observed, ObservedPairs, Settings, Tail, Tails, Unit, extremity
from registry.significance.correlations import (
    PairMatrix,
    compute_all_swaps,
    compute_unswapped,
    find_alike_predictions,
    find_differing_units,
    swap_differences,
)
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import (
    find_non_exchangeable,
    find_skewed,
    find_uneven_non_exchangeable,
)
from registry.significance.diagnostics.rare_outcomes import find_opposed_classes, find_rare_predictions
from registry.significance.diagnostics.samples import find_uneven_runs
from registry.significance.distributions import log_sign_p
from registry.significance.exact.swaps import (
    MOST_WORK,
    estimate_counting_cost,
    have_surely_many_sums,
    least_work,
    tail_on_lattice,
)
from registry.significance.matrix import Matrix, Quotient, count_unshared
from registry.significance.pairwise.base import PairTest, compute_or_draw
from registry.significance.resampling.draws import SIGNS, blocks, stream, sum_permutations
from registry.significance.resampling.exceedances import (
    TOLERANCE,
    SwapCounter,
    count_reaching,
    monte_carlo_tail,
    monte_carlo_tails,
)
from registry.significance.resampling.scores import relabel_runs, runs_refusal
from registry.significance.resampling.screening import count_swapped_means, have_equal_denominators
from registry.significance.resampling.studentized import count_all_swaps, count_swaps

FAMILY_WORK = 2**40  # largest cost of the exact p-values of a family, in additions: about 5 minutes of one core
ENUMERATED = 16  # largest number of discordant units for which all swaps are tried


class Permutation(PairTest):
    """Paired permutation test (approximate randomization) of items or clusters.

    If runs are random, whole runs are permuted.

    Attributes:
        studentized: Test the difference divided by its standard error, for scores that are quotients. This is also
            valid if systems with equal scores are not exchangeable, for example if one has a higher precision and the
            other a higher recall. The p-value is simulated, unless the systems differ in few items.
    """

    name: ClassVar[str] = "permutation"
    null: ClassVar[str] = "in every unit, the outputs of the two systems are exchangeable"
    assumes: ClassVar[str] = "units are independent of each other; the two systems may be correlated"
    citation: ClassVar[str] = "Noreen 1989; Yeh 2000, section 3.2; correlations: Deutsch, Dror and Roth 2021"
    called: ClassVar[str] = "a paired permutation test"
    families: ClassVar[tuple[str, ...] | None] = (*ADDITIVE, "pair")
    takes_runs: ClassVar[bool] = True
    is_permutation_test = True  # if runs are random, whole runs are swapped
    studentized: bool = False

    @property
    def description(self) -> str:
        """The test and its options in words."""
        return f"{self.called} of the studentized difference" if self.studentized else self.called

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the scores cannot be studentized or the runs permuted.

        The result is None if they can.
        """
        reason = runs_refusal(matrix, studentized=self.studentized)
        return None if reason is None else str(reason)

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs that may have equal scores without being exchangeable."""
        few = [*find_rare_predictions(pairs)]
        yield from few
        not_exchangeable = find_uneven_non_exchangeable if self.studentized else find_non_exchangeable
        yield from (warning._replace(where=np.all([warning.where, *(~other.where for other in few)], axis=0))
                    for warning in not_exchangeable(pairs))  # studentizing does not help with few units
        yield from find_skewed(pairs)
        yield from find_alike_predictions(pairs)
        if pairs.matrix.runs is None:  # with random runs, conclusions are about these items only
            yield from find_opposed_classes(pairs)
        yield from find_uneven_runs(pairs)

    def explain_simulation(self, matrix: Matrix) -> str:
        """Explain why p-values are simulated: all swaps of two systems cannot be counted."""
        if matrix.runs is not None:
            return "there are too many ways to assign runs to systems"
        if self.studentized:
            return "p-values of studentized differences have no exact form"
        if matrix.quotient is None:
            return "p-values of this metric have no exact form"
        return "the scores can take too many values for an exact p-value"

    def work(self, observed: Observed, settings: Settings) -> float:
        """Estimate the cost of counting all swaps of two systems, in additions.

        The cost is infinite if they cannot be counted.
        """
        matrix = observed.matrix
        if self.studentized or matrix.runs is not None or matrix.quotient is None:
            return math.inf
        if matrix.higher is not None:
            return 0.0
        most = _limit_work(settings)
        if least_work(np.array(observed.n_discordant)) > most:
            return math.inf
        return estimate_counting_cost(observed, most)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compute the p-values of pairs of systems, exactly if possible.

        P-values are exact if the sums after swaps take few values. All others are simulated together.
        """
        if pairs.matrix.runs is not None:
            return relabel_runs(pairs, settings)
        if self.studentized:
            return _test_studentized(pairs, settings)
        if isinstance(pairs.matrix, PairMatrix):
            return _test_correlations(pairs, settings)
        if (both := pairs.matrix.both_higher) is not None:  # all units have the same weight, so swaps are fair coins
            a, b = (pairs.b, pairs.a) if pairs.matrix.lower_is_better else (pairs.a, pairs.b)
            for_a, for_b = count_unshared(both, a, b)
            return Tails.make(log_sign_p(for_a, for_b, settings.alternative), "exact", coins=for_a + for_b)
        # Pairs that are certainly too expensive are skipped: the overhead of a thread exceeds their work.
        is_cheap = least_work(pairs.n_discordant) <= _limit_work(settings)
        coarse = np.flatnonzero(~have_surely_many_sums(pairs) & is_cheap)
        return compute_or_draw(_compute_exact, lambda rest: _draw_swaps(rest, settings), pairs, coarse, settings,
                              "pairs to count")


def _limit_work(settings: Settings) -> float:
    return min(MOST_WORK, FAMILY_WORK / max(1, settings.family))


def _compute_exact(observed: Observed, settings: Settings) -> Tail | None:
    """Return the exact p-value of a permutation test, or None if it is too expensive.

    Permutations with the same sums of statistics are counted together. If this is not possible and the systems differ
    in few items, all permutations are tried, as in Yeh 2000.
    """
    if (tail := tail_on_lattice(observed, settings, _limit_work(settings))) is not None:
        return tail
    if observed.n_discordant > ENUMERATED:
        return None
    differences = observed.b - observed.a
    differences, swaps = differences[differences.any(axis=1)], _list_swaps(observed.n_discordant)
    moved = swaps @ differences
    sums = np.stack([np.zeros_like(moved), moved], axis=1)  # the sums that A gives to B, and B to A
    pair = Observed.compare(observed.matrix.select_systems(observed.pair), [(0, 1)])
    counter = SwapCounter.prepare(pair, settings.alternative)
    return Tail(math.log(int(counter(sums)[0]) / len(swaps)), "exact", coins=len(differences))


def _list_swaps(units: int) -> Ints:
    ways: Ints = np.arange(2**units)[:, None] >> np.arange(units) & 1
    return ways


def _test_studentized(pairs: ObservedPairs, settings: Settings) -> Tails:
    few = pairs.n_discordant <= ENUMERATED
    counted = [(count_all_swaps(o, _list_swaps(o.n_discordant), settings), o.n_discordant) for o in pairs[few]]
    exact = Tails.collect([Tail(math.log(extremes / 2**n), "exact", coins=n) for extremes, n in counted])
    counts = list(count_swaps(pairs[~few], settings))
    return Tails.join(len(pairs), [(few, exact), (~few, monte_carlo_tails(counts, settings.resamples))])


def _draw_swaps(pairs: ObservedPairs, settings: Settings) -> Tails:
    """Simulate permutations of all pairs of systems together.

    A permutation selects random units (items or clusters), the same for all pairs. Each pair swaps only its own two
    systems in them.
    """
    if have_equal_denominators(pairs.matrix):
        return monte_carlo_tails(count_swapped_means(pairs, settings), settings.resamples)
    alone = pairs.alone  # saves time if only few pairs are simulated again
    counter = SwapCounter.prepare(alone, settings.alternative)
    counts = reduce(np.add, sum_permutations(alone.matrix.statistics, settings, counter))
    return monte_carlo_tails(counts, settings.resamples)


def _test_correlations(pairs: ObservedPairs, settings: Settings) -> Tails:
    """Compute the p-values of pairs of systems with correlations as their scores.

    If two systems differ in few items, all swaps are tried; otherwise permutations are simulated. A swap that makes a
    correlation undefined counts as extreme.
    """
    # The tolerance for ties is absolute, because swaps change correlations near 0 to large ones, with the rounding
    # errors of large values. The observed difference is computed in the same way as the swapped ones.
    matrix, alternative = pairs.matrix, settings.alternative
    assert isinstance(matrix, PairMatrix)
    system_pairs = [o.pair for o in pairs]
    bars = np.array([extremity(compute_unswapped(matrix, pair), alternative) - TOLERANCE for pair in system_pairs])
    n_differing = np.array([len(find_differing_units(matrix, pair)) for pair in system_pairs])
    few = n_differing <= ENUMERATED
    exact = []
    for index in np.flatnonzero(few).tolist():
        n = int(n_differing[index])
        extremes = int(count_reaching(bars[index], alternative, compute_all_swaps(matrix, system_pairs[index])))
        exact.append(Tail(math.log(extremes / 2**n), "exact", coins=n))
    parts = [(few, Tails.collect(exact))]
    if not few.all():
        many = [pair for pair, is_few in zip(system_pairs, few, strict=True) if not is_few]
        counts = reduce(np.add, swap_differences(
            matrix, many, settings, partial(count_reaching, bars[~few], alternative)))
        parts.append((~few, monte_carlo_tails(counts, settings.resamples)))
    return Tails.join(len(pairs), parts)


MOST = 2**14  # largest number of responses for which all divisions are counted


class ResponsePermutation(PairTest):
    """Permutation test of the single responses that only one of two systems gives.

    A response is one answer, such as a span. If the responses of an item or cluster are kept together, it is the same
    test as `Permutation`.

    Attributes:
        drawn: Simulate the p-value even if it can be computed exactly, as in the paper.
    """

    name: ClassVar[str] = "response-permutation"
    null: ClassVar[str] = "if only one system gives a response, both systems are equally likely to be that system"
    assumes: ClassVar[str] = "responses are independent of each other, even if they belong to the same item"
    citation: ClassVar[str] = "Yeh 2000, sections 3.2 and 3.3"
    called: ClassVar[str] = "a permutation test of the responses that only one of the two systems gives"
    families: ClassVar[tuple[str, ...] | None] = ("prf",)
    units: ClassVar[tuple[Unit, ...]] = ("response", "item", "cluster")
    is_permutation_test = True
    drawn: bool = False

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the test does not apply; None if it does.

        The test does not apply to averages over runs, or to scores other than precision, recall and F-scores.
        """
        if matrix.multiple > 1 or matrix.runs is not None:
            return ("response-permutation permutes single responses, but the scores are averages over runs; use --test "
                    "permutation")
        if matrix.quotient is None or matrix.family != "prf":
            return "response-permutation supports only precision, recall and F-scores; use --test permutation"
        return None

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs that may have equal scores without being exchangeable."""
        return Permutation().pair_warnings(pairs)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compute or simulate the p-values of all pairs."""
        if pairs.matrix.answers_to is None:
            return Permutation().tails(pairs, settings)
        return super().tails(pairs, settings)

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compute or simulate the p-value of one pair."""
        divisions = _Divisions.from_pair(o)
        n = divisions.correct + divisions.spurious
        if self.drawn or n > MOST:
            return monte_carlo_tail(divisions.draw(settings), settings.resamples)
        ways = divisions.count(settings.alternative)
        # the logarithms are rounded, so that the sum can be slightly above 0
        return Tail(min(0.0, math.log(ways) - n * math.log(2)), "exact", coins=n)


@dataclass(frozen=True, eq=False)
class _Divisions:
    """Responses that only one of two systems gives, and their random assignments.

    A response is one answer, such as a span. A division assigns each of these responses to one of the two systems;
    under the null hypothesis, both systems are equally likely. The difference of the scores depends only on the numbers
    of correct and of spurious responses of the first system. These are independent binomial variables, so the test is
    exact.

    Attributes:
        quotient: Coefficients of the score, for the sums (true positives, predicted, gold).
        shared: Sums over the responses that both systems give.
        correct, spurious: Numbers of correct and of spurious responses that only one system gives.
        observed: Observed numbers of correct and of spurious responses that only the first system gives.
    """

    quotient: Quotient
    shared: tuple[int, int, int]
    correct: int
    spurious: int
    observed: tuple[int, int]

    @classmethod
    def from_pair(cls, o: Observed) -> _Divisions:
        a, b = o.a.astype(np.int64), o.b.astype(np.int64)
        both, only_a, only_b = ((a[:, 1] == x) & (b[:, 1] == y) for x, y in ((1, 1), (1, 0), (0, 1)))
        correct_a, correct_b = int(a[only_a, 0].sum()), int(b[only_b, 0].sum())
        given_a, given_b = int(only_a.sum()), int(only_b.sum())
        assert o.matrix.quotient is not None
        shared = int(a[both, 0].sum()), int(both.sum()), int(a[:, 2].sum())
        return cls(o.matrix.quotient, shared, correct_a + correct_b, given_a + given_b - correct_a - correct_b,
                   (correct_a, given_a - correct_a))

    def count(self, alternative: Alternative) -> int:
        """Count the random assignments that are at least as extreme as the observed one.

        Each response that only one system gives is assigned to one of the two systems, in 2^(correct + spurious) ways.
        A way with an undefined score counts as extreme.
        """
        ways, limits = list(accumulate(_count_choices(self.spurious), initial=0)), self._find_limits(alternative)
        reached = sum(way * ways[limit + 1] for way, limit in zip(_count_choices(self.correct), limits, strict=True))
        undefined = self._undefined  # each entry is exactly one division
        reached -= sum(spurious <= limits[correct] for correct, spurious in undefined)
        sides = 2 if alternative == "two-sided" else 1
        return min(sides * reached + len(undefined), 1 << self.correct + self.spurious)

    def draw(self, settings: Settings) -> int:
        """Assign the responses to the two systems at random, and count extreme results.

        Only responses that exactly one system gives are assigned.
        """
        limits = np.array(self._find_limits(settings.alternative))
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

    def _find_limits(self, alternative: Alternative) -> list[int]:
        """Return how many spurious responses the first system has in extreme divisions.

        A division assigns each response (such as a span) to one of the two systems. It is extreme if the difference of
        the scores is at least the observed one.

        Returns:
            For 0, 1, 2, ... correct responses of the first system, the largest number of its spurious responses with
                which the division is extreme; -1 if there is none.
        """
        # The lead of the first system never falls with more correct responses and never rises with more spurious ones,
        # so one pass finds all limits. Being behind by the same amount is the same condition with the systems
        # exchanged.
        numerator, denominator = self._difference(*self.observed)
        bar = extremity(numerator, alternative)

        def reaches(correct: int, spurious: int) -> bool:
            lead, scale = self._difference(correct, spurious)
            if not scale:  # an undefined score does not end the search
                return spurious < self.spurious and reaches(correct, spurious + 1)
            return lead * denominator >= bar * scale

        limits, limit = [], -1
        for correct in range(self.correct + 1):
            while limit < self.spurious and reaches(correct, limit + 1):
                limit += 1
            limits.append(limit)
        return limits

    @property
    def _undefined(self) -> list[tuple[int, int]]:
        """Assignments of all responses to one system that make a score undefined.

        Each is a pair of numbers: correct and spurious responses of the first system.
        """
        corners = {(0, 0), (self.correct, self.spurious)}
        return [corner for corner in sorted(corners) if not self._difference(*corner)[1]]

    def _difference(self, correct: int, spurious: int) -> tuple[int, int]:
        """Return the difference of the scores after responses are assigned to systems.

        Each response that only one system gives is assigned to the first or to the second system.

        Args:
            correct: Number of correct responses that are assigned to the first system.
            spurious: Number of spurious responses that are assigned to the first system.

        Returns:
            Numerator and denominator of the difference; the denominator is 0 if a score is undefined.
        """
        true_positives, given, gold = self.shared
        (n, d), (m, e) = ([sum(c * s for c, s in zip(side, (true_positives + k, given + k + wrong, gold), strict=True))
                           for side in self.quotient] for k, wrong in (
            (correct, spurious), (self.correct - correct, self.spurious - spurious)))
        return n * e - m * d, d * e


def _count_choices(n: int) -> Iterator[int]:
    return accumulate(range(n), lambda ways, k: ways * (n - k) // (k + 1), initial=1)
