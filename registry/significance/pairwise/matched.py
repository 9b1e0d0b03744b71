"""Tests of the differences between two systems' scores in the same units: Wilcoxon's and the matched-pair t."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from registry.messages import Messages
from registry.significance.base import Observed, Settings, Tail, extremity
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import are_means, asymmetric, skewed
from registry.significance.distributions.normal import log_normal_p, log_t_p
from registry.significance.exact.lattice import TooLargeError
from registry.significance.exact.signed_sums import log_sign_tail
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest
from registry.significance.units import midranks, unit_differences


class Wilcoxon(PairTest):
    """Wilcoxon's signed-rank test; units with equal scores are left out, equal differences share their mean rank.

    Attributes:
        variant: `exact`, the distribution over all signs of the ranks, ties included, up to some 2,000 units and
            `normal` beyond; or `normal`, with the variance of the tied ranks and a continuity correction.
    """

    name: ClassVar[str] = "wilcoxon"
    null: ClassVar[str] = "differences in a unit are symmetric about 0"
    assumes: ClassVar[str] = "units are independent of each other; their differences can be ranked against each other"
    citation: ClassVar[str] = "Wilcoxon 1945; Conover 1999, section 5.7"
    of_unit_scores: ClassVar[bool] = True
    variant: Literal["exact", "normal"] = "exact"

    @property
    def swaps_units(self) -> bool:
        """True where all signs of the ranks are counted."""
        return self.variant == "exact"

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Pairs whose differences are not symmetric."""
        return asymmetric(pairs)

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Rank the differences that are not 0; the statistic is the smaller sum of ranks."""
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
    """The matched-pair t-test of the mean difference of units."""

    name: ClassVar[str] = "t"
    null: ClassVar[str] = "the mean difference of a unit is 0"
    assumes: ClassVar[str] = "units are independent of each other, and their mean difference is nearly normal"
    citation: ClassVar[str] = "Student 1908; Yeh 2000, section 3.1; Dror et al. 2018, section 3.2.1"
    of_unit_scores: ClassVar[bool] = True

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Pairs whose mean difference is far from normal; what is no mean is told to be none."""
        return (warning._replace(where=warning.where & are_means(pairs)) for warning in skewed(pairs))

    def gives_intervals(self, matrix: Matrix) -> bool:
        """Of scores that are means of units' scores."""
        return matrix.is_mean

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compare the mean difference with its standard error; the t interval is given where the score is that mean."""
        from scipy.special import stdtrit

        differences, slack = unit_differences(o)
        n = len(differences)
        if not differences.any():
            return Tail(0.0, "exact")
        if n < 2 or np.ptp(differences) <= slack:
            return Tail(math.nan, "asymptotic", messages=Messages.of("constant-difference", over="unit"))
        mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
        tail = Tail(log_t_p(mean / error, n - 1, settings.alternative), "asymptotic", statistic=abs(mean / error),
                    favours=mean)
        if not o.is_mean:  # the interval would be that of another difference
            return tail
        outside = (1 - settings.confidence) / (2 if settings.alternative == "two-sided" else 1)
        reach = float(stdtrit(n - 1, 1 - outside)) * error
        return replace(tail, ci_low=-math.inf if settings.alternative == "less" else mean - reach,
                       ci_high=math.inf if settings.alternative == "greater" else mean + reach)
