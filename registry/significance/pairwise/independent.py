"""Tests that assume that two systems' results are independent, for comparison with published results.

Systems that answer the same items are nearly always positively correlated, and these tests then lack power (Yeh 2000,
section 2). Their messages give the correlation and the factor by which it inflates the standard error.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from registry.arrays import ROUNDING, Floats
from registry.messages import Message, Messages
from registry.significance.base import Alternative, Observed, Settings, Tail, extremity
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.samples import uneven_samples
from registry.significance.distributions.normal import log_normal_p, log_t_p
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest
from registry.significance.units import midranks, unit_scores


def correlation(x: Floats, y: Floats) -> float:
    """r12 of Yeh 2000, section 2.1: how two systems' scores go together over units; nan where either never changes."""
    x, y = (_deviations(scores, scores) for scores in (x, y))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / spread if spread else math.nan


def understatement(x: Floats, y: Floats) -> float:
    """The factor by which assuming independence overstates the standard deviation of the difference.

    It is s_d-ind / s_d = sqrt((s1^2 + s2^2) / (s1^2 + s2^2 - 2 r12 s1 s2)); 1 / sqrt(1 - r12) where s1 = s2 (Yeh 2000,
    section 2.1, equation 2). Infinite where the difference is constant.
    """
    of_x, of_y, of_both = _deviations(x, x), _deviations(y, y), _deviations(x - y, np.concatenate([x, y]))
    together, apart = float(of_both @ of_both), float(of_x @ of_x) + float(of_y @ of_y)
    return math.sqrt(apart / together) if together else math.inf


def _deviations(values: Floats, scores: Floats) -> Floats:
    """The deviations of values from their mean; all 0 where they differ by the rounding of the scores alone."""
    if np.ptp(values) <= ROUNDING * np.abs(scores).max():
        return np.zeros_like(values)
    return np.asarray(values - values.mean())


class IndependentTest(PairTest):
    """A test of two independent samples."""

    independent: ClassVar[bool] = True

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Test a pair, with a message about the effect of assuming independence."""
        a, b = unit_scores(o)
        both = ~np.isnan(a) & ~np.isnan(b)
        equal = not o.difference and np.array_equal(a, b, equal_nan=True)
        of_a, of_b = (a[~np.isnan(a)], b[~np.isnan(b)]) if self.takes_unequal else (a[both], b[both])
        tail = Tail(0.0, "asymptotic") if equal else self.of_samples(o, of_a, of_b, settings.alternative)
        parameters: dict[str, float] = {}
        if both.any() and not math.isnan(r := correlation(a[both], b[both])):
            factor = understatement(a[both], b[both])
            parameters = {"correlation": float(r), "factor": factor} if math.isfinite(factor) else {}
        return replace(tail, messages=Messages((Message("independence-assumed", parameters), *tail.messages)))

    @abstractmethod
    def of_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:
        """Test one pair.

        Args:
            o: The pair.
            a: The scores of the first system's units: where both are defined, or with `takes_unequal` where its own is.
            b: Those of the second system.
            alternative: The alternative.
        """


class TwoSampleT(IndependentTest):
    """Student's t-test of two independent samples with a common variance; Welch's without, where it is not `pooled`."""

    name: ClassVar[str] = "two-sample-t"
    takes_unequal: ClassVar[bool] = True
    null: ClassVar[str] = "the mean scores of units are equal"
    assumes: ClassVar[str] = ("the systems' results are independent of each other, with nearly normal means; where "
                              "pooled, they vary as much as each other, or there are as many of either, ten or more")
    citation: ClassVar[str] = "Student 1908; Yeh 2000, section 2.1; Welch 1947"
    of_unit_scores: ClassVar[bool] = True
    pooled: bool = True

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Pairs of which the system with fewer items varies more, and a common variance is too small."""
        if self.pooled:
            yield from uneven_samples(pairs, lambda x, y: (_pooled(x, y)[0], _unpooled(x, y)[0]))

    def of_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:
        """Compare the difference of means with its standard error under independence."""
        squared, degrees = (_pooled if self.pooled else _unpooled)(a, b)
        if not squared:
            return Tail(math.nan, "asymptotic", messages=Messages.of("constant-scores"))
        t = float(o.matrix.difference(a.mean(), b.mean())) / math.sqrt(squared)
        return Tail(log_t_p(t, degrees, alternative), "asymptotic", statistic=abs(t), favours=t)


def _pooled(a: Floats, b: Floats) -> tuple[float, float]:
    """The squared standard error of the difference of two means with a common variance, and its degrees of freedom."""
    n, m = len(a), len(b)
    if min(n, m) < 2:
        return 0.0, 0
    return sum(_squares(a, b)) / (n + m - 2) * (1 / n + 1 / m), n + m - 2


def _unpooled(a: Floats, b: Floats) -> tuple[float, float]:
    """The same where either system has a variance of its own (Welch 1947)."""
    if min(len(a), len(b)) < 2:
        return 0.0, 0
    shares = [squares / (len(of) - 1) / len(of) for of, squares in zip((a, b), _squares(a, b), strict=True)]
    weight = sum(share**2 / (len(of) - 1) for of, share in zip((a, b), shares, strict=True))
    return sum(shares), sum(shares)**2 / weight if weight else 0


def _squares(*samples: Floats) -> list[float]:
    """The sum of squared deviations of either sample."""
    return [float(apart @ apart) for apart in (_deviations(scores, scores) for scores in samples)]


class _Proportions(IndependentTest):
    """A test of two proportions: score = counted things over things."""

    families: ClassVar[tuple[str, ...] | None] = ("ratio", "prf", "alignment")

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Refuse scores that are no proportions of things that are counted one by one."""
        if matrix.multiple > 1:
            return f"{self.name} counts things, which averages over runs are not; take permutation"
        ones = matrix.quotient is not None and {c for side in matrix.quotient for c in side} <= {0, 1}
        if ones:
            over, under = matrix.parts
            if (over <= under).all() and (over >= 0).all() and np.array_equal(over, np.rint(over)):
                return None
        return f"{self.name} needs a proportion of counted things, such as accuracy, precision or recall"

    def z(self, o: Observed, *, pooled: bool) -> float:
        """The difference of the proportions over its standard error under independence; nan where that is 0."""
        hits, things = (part.sum(axis=0) for part in o.matrix.parts_of(o.pair))
        shares = hits / things
        p = np.full(2, hits.sum() / things.sum()) if pooled else shares
        error = math.sqrt(float((p * (1 - p) / things).sum()))
        return float(o.matrix.difference(shares[0], shares[1])) / error if error else math.nan


class BinomialZ(_Proportions):
    """The normal test of two binomial proportions; `pooled` takes one proportion for both in the standard error."""

    name: ClassVar[str] = "binomial-z"
    null: ClassVar[str] = "the two proportions are equal"
    assumes: ClassVar[str] = "the systems' results are independent of each other, and so are the things counted"
    citation: ClassVar[str] = "Harnett 1982, section 8.11; Yeh 2000, section 2.1"
    pooled: bool = True

    def of_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:  # noqa: ARG002
        """Compare the difference of the proportions with its standard error."""
        z = self.z(o, pooled=self.pooled)
        if math.isnan(z):
            return Tail(math.nan, "asymptotic", messages=Messages.of("constant-proportions"))
        return Tail(log_normal_p(z, alternative), "asymptotic", statistic=abs(z))


class ChiSquared(_Proportions):
    """Pearson's chi-squared test of the 2 x 2 table of hits and misses (for precision: recalled and spurious).

    `correction` is Yates's for continuity. With a one-sided alternative the signed root of the statistic is tested, as
    R's prop.test does.
    """

    name: ClassVar[str] = "chi-squared"
    null: ClassVar[str] = "the ratio of hits to misses is the same for both systems"
    assumes: ClassVar[str] = "the systems' results are independent of each other, and so are the things counted"
    citation: ClassVar[str] = "Pearson 1900; Yeh 2000, section 2.2"
    correction: bool = False

    def of_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:  # noqa: ARG002
        """Test the pooled z, the signed root of the statistic; Yates subtracts 1/2 from each deviation."""
        z = self.z(o, pooled=True)
        if math.isnan(z):
            return Tail(math.nan, "asymptotic", messages=Messages.of("empty-column"))
        if self.correction:
            hits, things = (part.sum(axis=0) for part in o.matrix.parts_of(o.pair))
            deviation = abs(hits[0] - hits.sum() * things[0] / things.sum())
            z *= max(0.0, deviation - 0.5) / deviation if deviation else 0.0
        return Tail(log_normal_p(z, alternative), "asymptotic", statistic=z * z)


class RankSum(IndependentTest):
    """Wilcoxon's rank-sum test (Mann and Whitney's U) of the scores of units, normal with ties and continuity."""

    name: ClassVar[str] = "rank-sum"
    takes_unequal: ClassVar[bool] = True
    null: ClassVar[str] = "scores of units have the same distribution for both systems"
    assumes: ClassVar[str] = "the systems' results are independent of each other, and vary as much as each other"
    citation: ClassVar[str] = "Mann and Whitney 1947; Conover 1999, section 5.1"
    of_unit_scores: ClassVar[bool] = True

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Pairs of which one system varies more than the other, so that ranks vary more than of one distribution."""
        yield from uneven_samples(pairs, _squared_errors_of_u)

    def of_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:
        """Rank the units of both systems together."""
        return rank_sum(*((b, a) if o.matrix.lower_is_better else (a, b)), alternative)


def _squared_errors_of_u(x: Floats, y: Floats) -> tuple[float, float]:
    """The variance of U / (n m) under one distribution of both, and without (Brunner and Munzel 2000)."""
    n, m = len(x), len(y)
    ranks = midranks(np.concatenate([x, y]))
    placements = (ranks[:n] - midranks(x)) / m, (ranks[n:] - midranks(y)) / n
    return (float(ranks.var(ddof=1)) / (n + m) / (n * m),
            sum(float(of.var(ddof=1)) / len(of) for of in placements))


def rank_sum(x: Floats, y: Floats, alternative: Alternative, rounding: float = 1e-12) -> Tail:
    """Test whether values of `x` tend to be larger than those of `y`; the two may be of different size.

    This is how WMT compares human scores of systems that were judged on different segments. The statistic is the
    smaller U. Values that differ by no more than `rounding`, relative to the largest, are tied.
    """
    n, m = len(x), len(y)
    ranks = midranks(np.concatenate([x, y]), rounding * float(max(np.abs(x).max(initial=0), np.abs(y).max(initial=0))))
    u = float(ranks[:n].sum()) - n * (n + 1) / 2
    deviations = ranks - (n + m + 1) / 2
    spread = math.sqrt(n * m / (n + m) / (n + m - 1) * float(deviations @ deviations)) if n and m else 0.0
    smaller = min(u, n * m - u)
    if not spread:
        return Tail(0.0, "asymptotic", statistic=smaller)
    excess = extremity(u - n * m / 2, alternative)
    log_p = log_normal_p((excess - 0.5) / spread, "greater") + (math.log(2) if alternative == "two-sided" else 0)
    return Tail(min(0.0, log_p), "asymptotic", statistic=smaller, favours=u - n * m / 2)
