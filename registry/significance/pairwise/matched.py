"""Tests of differences in the same units: sign, McNemar, Wilcoxon, t, betting."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import Floats, Ints
from registry.errors import InputError
from registry.messages import Messages
from registry.significance.base import Alternative, Observed, ObservedPairs, Settings, Tail, Tails, Unit, extremity
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import are_means, find_asymmetric, find_skewed
from registry.significance.distributions import log_normal_p, log_normal_ps, log_sign_p, log_t_p
from registry.significance.exact.lattice import TooLargeError
from registry.significance.exact.swaps import log_sign_tail
from registry.significance.matrix import Matrix, additive, count_shared, count_unshared
from registry.significance.pairwise.base import PairTest
from registry.significance.resampling.draws import ORDER, stream
from registry.significance.units import midranks, unit_differences


class Sign(PairTest):
    """Exact sign test of the scores of units; ties are ignored.

    A unit is an item or a cluster.

    Attributes:
        tie: Largest difference of two scores that counts as a tie.
    """

    name: ClassVar[str] = "sign"
    null: ClassVar[str] = "a unit in which the systems differ favours either system with equal probability"
    assumes: ClassVar[str] = "units are independent of each other; the size of a difference does not count"
    citation: ClassVar[str] = "Conover 1999, section 3.4; Yeh 2000, section 3.1"
    called: ClassVar[str] = "the sign test"
    of_unit_scores: ClassVar[bool] = True
    is_permutation_test = True
    tie: float = 0.0

    @property
    def description(self) -> str:
        """The test and its options in words."""
        return f"{self.called} (ties: differences up to {self.tie:g})" if self.tie else self.called

    def __post_init__(self) -> None:
        """Raise an error if the option `tie` is negative or infinite."""
        super().__post_init__()
        if not 0 <= self.tie < math.inf:
            raise InputError(f"option 'tie' of sign is {self.tie!r}; expected a finite number from 0 up, "
                             "a difference of scores")

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs whose median difference is not equal to the mean difference."""
        return find_asymmetric(pairs)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Count the items (or clusters) that favour either system.

        Items with an undefined score are ignored.
        """
        if self.tie < 0.5 and np.isin(additive(pairs.matrix).unit_scores(), (0, 1)).all():
            for_a, for_b = _count_favoured(pairs)
        else:
            counts = []
            for differences, slack in map(unit_differences, pairs):
                counts.append([np.count_nonzero(side * differences > self.tie + slack) for side in (1, -1)])
            for_a, for_b = np.array(counts).T
        return Tails.make(log_sign_p(for_a, for_b, settings.alternative), "exact", coins=for_a + for_b,
                          favours=for_a - for_b)


class McNemar(PairTest):
    """McNemar's test of the units that only one of two systems gets right.

    The units are items.

    Attributes:
        variant: `exact`: the binomial test. `mid-p`: counts only half of the outcomes that are exactly as extreme as
            the observed one (Fagerland et al. 2013); this gives more power, but the error rate can exceed alpha.
            `chi-squared`: McNemar's approximation. `corrected`: the approximation with Edwards's continuity correction.
    """

    name: ClassVar[str] = "mcnemar"
    null: ClassVar[str] = "if only one system gets an item right, both systems are equally likely to be that system"
    assumes: ClassVar[str] = "items are independent of each other and each is right or wrong"
    citation: ClassVar[str] = "McNemar 1947; variant=mid-p: Fagerland et al. 2013"
    called: ClassVar[str] = "McNemar's test"
    units: ClassVar[tuple[Unit, ...]] = ("item",)
    families: ClassVar[tuple[str, ...] | None] = ("ratio", "prf")
    variant: Literal["exact", "mid-p", "chi-squared", "corrected"] = "exact"

    @property
    def description(self) -> str:
        """The test and its options in words."""
        return {"exact": "McNemar's exact test", "mid-p": "McNemar's mid-p test",
                "corrected": f"{self.called} with continuity correction"}.get(self.variant, self.called)

    @property
    def is_permutation_test(self) -> bool:
        """True for the exact variant of this test, which is also a permutation test.

        A permutation swaps the two systems in some of the items that only one of them gets right.
        """
        return self.variant == "exact"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return a reason if some items are neither right nor wrong; otherwise None."""
        if np.isin(additive(matrix).unit_scores(), (0, 1)).all():
            return None
        return "mcnemar needs items that are either correct or wrong; use --test permutation"

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compute the p-values from the items that only one of two systems gets right."""
        only_a, only_b = _count_favoured(pairs)
        if self.variant in ("exact", "mid-p"):
            half = self.variant == "mid-p"
            log_p = log_sign_p(only_a, only_b, settings.alternative, half=half)
            return Tails.make(log_p, "exact", coins=only_a + only_b + half)
        two_sided, corrected = settings.alternative == "two-sided", self.variant == "corrected"
        excess = extremity((only_a - only_b).astype(np.float64), settings.alternative) - corrected
        z = (np.maximum(excess, 0) if two_sided else excess) / np.sqrt(np.maximum(only_a + only_b, 1))
        log_p = np.where(only_a + only_b, log_normal_ps(z, "two-sided" if two_sided else "greater"), 0.0)
        return Tails.make(log_p, "asymptotic", statistic=z * z)


def _count_favoured(pairs: ObservedPairs) -> tuple[Ints, Ints]:
    """Count the items that only system A gets right, and those that only B does.

    Each array has the shape [pairs].
    """
    matrix = additive(pairs.matrix)
    both = count_shared(matrix.unit_scores() == 1) if matrix.both_higher is None else matrix.both_higher
    a, b = (pairs.b, pairs.a) if matrix.lower_is_better else (pairs.a, pairs.b)
    return count_unshared(both, a, b)


class Wilcoxon(PairTest):
    """Wilcoxon's signed-rank test; units with equal scores are ignored.

    A unit is an item or a cluster. Tied differences share their mean rank.

    Attributes:
        variant: `exact`: the distribution over all signs of the ranks, also with ties; above about 2,000 units the
            normal approximation is used. `normal`: the normal approximation with a correction for ties and for
            continuity.
    """

    name: ClassVar[str] = "wilcoxon"
    null: ClassVar[str] = "differences in a unit are symmetric about 0"
    assumes: ClassVar[str] = "units are independent of each other; their differences can be ranked against each other"
    citation: ClassVar[str] = "Wilcoxon 1945; Conover 1999, section 5.7"
    called: ClassVar[str] = "Wilcoxon's signed-rank test"
    of_unit_scores: ClassVar[bool] = True
    variant: Literal["exact", "normal"] = "exact"

    @property
    def is_permutation_test(self) -> bool:
        """True for the exact variant of this test, which is also a permutation test.

        A permutation swaps the two systems in some items (or clusters). This changes the signs of the differences in
        these items.
        """
        return self.variant == "exact"

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs with differences in single items that are not symmetric."""
        return find_asymmetric(pairs)

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Rank the nonzero differences by size, and test the sum of signed ranks.

        The reported statistic is the smaller of the two sums of ranks.
        """
        differences, slack = unit_differences(o)
        differences = differences[differences != 0]
        if not differences.size:
            return Tail(0.0, "exact")
        doubled = (2 * midranks(np.abs(differences), slack)).astype(np.int64)
        excess = int(doubled @ np.sign(differences).astype(np.int64))
        bar, sides = extremity(float(excess), settings.alternative), 2 if settings.alternative == "two-sided" else 1
        statistic = min(float(doubled[side * differences > 0].sum()) for side in (1, -1)) / 2
        if self.variant == "exact":
            try:
                log_p = 0.0 if sides == 2 and excess == 0 else math.log(sides) + log_sign_tail(doubled, int(bar))
                return Tail(min(0.0, log_p), "exact", coins=len(differences), statistic=statistic, favours=excess)
            except TooLargeError:
                pass
        z = (bar - 2) / math.sqrt(float(doubled @ doubled))  # half a step of the sum of ranks moves the excess by 2
        log_p = min(0.0, math.log(sides) + log_normal_p(z, "greater"))
        return Tail(log_p, "asymptotic", statistic=statistic, favours=excess)


class MatchedT(PairTest):
    """Paired t-test of the mean difference of units.

    A unit is an item or a cluster.
    """

    name: ClassVar[str] = "t"
    null: ClassVar[str] = "the mean difference of a unit is 0"
    assumes: ClassVar[str] = "units are independent of each other, and their mean difference is nearly normal"
    citation: ClassVar[str] = "Student 1908; Yeh 2000, section 3.1; Dror et al. 2018, section 3.2.1"
    called: ClassVar[str] = "a paired t-test"
    of_unit_scores: ClassVar[bool] = True

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs of mean scores whose difference is far from normal."""
        return (warning._replace(where=warning.where & are_means(pairs)) for warning in find_skewed(pairs))

    def gives_intervals(self, matrix: Matrix) -> bool:
        """Return True if the test computes confidence intervals of differences.

        The test does so if the scores of the systems are means of the scores of items or clusters.
        """
        return matrix.is_mean

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compare the mean difference with its standard error.

        A confidence interval is computed only if the difference of the scores is this mean.
        """
        from scipy.special import stdtrit

        differences, slack = unit_differences(o)
        n = len(differences)
        if not differences.any():
            return Tail(0.0, "exact")
        if n < 2 or np.ptp(differences) <= slack:
            return Tail(math.nan, "asymptotic", messages=Messages.make("constant-difference", over="unit"))
        mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
        tail = Tail(log_t_p(mean / error, n - 1, settings.alternative), "asymptotic", statistic=abs(mean / error),
                    favours=mean)
        if not o.is_mean:  # the interval would not be about the difference of the scores
            return tail
        outside = (1 - settings.confidence) / (2 if settings.alternative == "two-sided" else 1)
        reach = float(stdtrit(n - 1, 1 - outside)) * error
        return replace(tail, ci_low=-math.inf if settings.alternative == "less" else mean - reach,
                       ci_high=math.inf if settings.alternative == "greater" else mean + reach)


_LARGEST_BET = 0.9  # share of the wealth; with a bet of 1, one unit could lose the whole wealth
_LEVEL = 0.05  # level for which the bets are optimal; the p-value is valid at all levels


class Bounded(PairTest):
    """Test of the mean difference of bounded scores by betting on the units.

    A unit is an item or a cluster. One gambler starts with wealth 1 and bets a share of it that the next unit favours
    A; another gambler bets that it favours B. If the mean difference is 0, no bet gains on average. Then wealth reaches
    2 / alpha with a probability of at most alpha / 2, for any number of units and any distribution (Ville 1939). The
    p-value is 2 / (largest wealth of both gamblers). In a one-sided test it is 1 / (largest wealth of one gambler). The
    order of the units is random, but always the same for the same number of units, so that no seed changes the p-value.
    """

    name: ClassVar[str] = "bounded"
    null: ClassVar[str] = "the mean difference of a unit is 0"
    assumes: ClassVar[str] = "units are independent of each other; scores have a lower and an upper bound"
    citation: ClassVar[str] = "Waudby-Smith and Ramdas 2024"
    called: ClassVar[str] = "a betting test of bounded scores"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the test does not apply; None if it does.

        The test requires scores with a lower and an upper bound, and means with the same denominators for all systems.
        """
        if matrix.quotient is None or len(set(matrix.denominator_groups.tolist())) > 1:
            return ("bounded supports only means with the same denominator for all systems; use --test permutation or "
                    '--test "bootstrap(variant=studentized)"')
        if not all(map(math.isfinite, matrix.score_range)):
            return ("bounded needs scores with a lower and an upper bound, which this metric does not have; use "
                    '--test permutation or --test "bootstrap(variant=studentized)"')
        return None

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compute p-values by betting on the items of each pair of systems.

        All pairs have the same order of items.
        """
        order = np.random.Generator(stream(0, ORDER)).permutation(len(pairs.matrix.statistics))
        log_p = [log_betting_p(scale_differences(pairs.matrix, o.pair)[order], settings.alternative) for o in pairs]
        return Tails.make(np.array(log_p), "bound")


def scale_differences(matrix: Matrix, pair: tuple[int, int]) -> Floats:
    """Return the differences of two systems in single items, scaled to [-1, 1].

    The results are shares of the largest possible difference, [units]; units are items or clusters.
    """
    numerators, denominators = matrix.parts_of(pair)
    width = matrix.score_range[1] - matrix.score_range[0]
    shares = matrix.scale * (numerators[:, 0] - numerators[:, 1]) / (width * np.abs(denominators).max())
    return np.asarray(np.clip(-shares if matrix.lower_is_better else shares, -1, 1))


def log_betting_p(shares: Floats, alternative: Alternative) -> float:
    """Return the log p-value of the hypothesis that the mean of bounded numbers is 0.

    A gambler bets on the sign of each number, and the p-value is 1 / (largest wealth); two-sided, it is 2 / (largest
    wealth of two gamblers). The bets are optimal for intervals of a mean (Waudby-Smith and Ramdas 2024, section 4.2).

    Args:
        shares: Independent numbers from -1 to 1. Their order must not depend on their values.
        alternative: `greater` than 0, `less`, or `two-sided`.
    """
    sides = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[alternative]
    n = len(shares)
    counts = np.arange(2.0, n + 2)
    means = np.cumsum(shares) / counts
    variances = (1 + np.cumsum((shares - means) ** 2)) / counts
    previous = np.concatenate([[1.0], variances[:-1]])  # each bet is made before its unit is seen
    bets = np.minimum(np.sqrt(2 * math.log(len(sides) / _LEVEL) / (n * previous)), _LARGEST_BET)
    largest = max(float(np.cumsum(np.log1p(side * bets * shares)).max(initial=0)) for side in sides)
    return min(0.0, math.log(len(sides)) - largest)
