"""Tests of independent samples: Fisher's exact test, t, z, chi-squared, ranks.

Most of them are for comparison with published results. Systems that answer the same items are nearly always positively
correlated. Tests that assume independence then lack power (Yeh 2000, section 2). Their messages report the correlation,
and by which factor the standard error is too large. Fisher's test compares the answers that only one of two systems
gives (Evert 2004).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import ROUNDING, Flags, Floats, Ints
from registry.messages import Message, Messages
from registry.significance.base import Alternative, Observed, Settings, Tail, Unit, extremity
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.samples import find_uneven_samples
from registry.significance.distributions import log_normal_p, log_t_p
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest
from registry.significance.units import midranks, unit_scores

Rule = Literal["point", "doubling"]
PRECISION = ((1, 0, 0), (0, 1, 0))

_SMALL = 200  # size of a table up to which whole numbers are as fast as floats


def fisher_exact(table: Sequence[Sequence[int]], alternative: Alternative = "two-sided",
                 rule: Rule = "point") -> Fraction:
    """Return the exact p-value of Fisher's test of a 2 x 2 table, as a fraction.

    The margins of the table are fixed.

    Args:
        table: [[a, b], [c, d]].
        alternative: `greater` means that a is larger than expected from the margins.
        rule: Definition of the two-sided p-value. `point`: the sum of all tables that are at most as likely as the
            observed one, as in R and scipy. `doubling`: twice the smaller one-sided p-value. The two differ if the
            margins are uneven.
    """
    (a, b), (c, d) = ((int(n) for n in row) for row in table)
    first, second, column = a + b, c + d, a + c
    low, high = max(0, column - second), min(first, column)
    weights = list(accumulate(  # weight of each table with these margins, by its first cell
        range(low, high), lambda ways, k: ways * (first - k) * (column - k) // ((k + 1) * (second - column + k + 1)),
        initial=math.comb(first, low) * math.comb(second, column - low)))
    total, index = sum(weights), a - low
    below, above = sum(weights[:index + 1]), sum(weights[index:])
    if alternative != "two-sided":
        return Fraction(above if alternative == "greater" else below, total)
    if rule == "doubling":
        return Fraction(min(total, 2 * min(below, above)), total)
    return Fraction(sum(w for w in weights if w <= weights[index]), total)


def fisher_tail(table: Sequence[Sequence[int]], alternative: Alternative = "two-sided", rule: Rule = "point") -> Tail:
    """Return the p-value of Fisher's test of a 2 x 2 table, to 10 digits.

    The result equals that of `fisher_exact`, but the computation is fast enough for thousands of large tables. Small
    tables are counted in whole numbers, so that p = alpha is exact. For large tables, the logarithms of the
    probabilities are summed. If two probabilities are nearly equal, whole numbers decide which one is larger.
    """
    (a, b), (c, d) = ((int(n) for n in row) for row in table)
    if a + b + c + d <= _SMALL:
        exact = fisher_exact(table, alternative, rule)
        return Tail(math.log(exact.numerator) - math.log(exact.denominator), "exact", p=float(exact))
    first, second, column = a + b, c + d, a + c
    low, logs = _log_probabilities(a, first, second, column)
    place = a - low
    if alternative == "two-sided" and rule == "point":
        is_less_likely = logs < logs[place]
        for n in np.flatnonzero(np.abs(logs - logs[place]) <= 1e-9 * (1 + abs(logs[place]))).tolist():
            k = low + n
            mirrored = (first == second and k == column - a) or (2 * column == first + second and k == first - a)
            cells = range(min(k, a), max(k, a))
            up = math.prod((first - cell) * (column - cell) for cell in cells)
            down = math.prod((cell + 1) * (second - column + cell + 1) for cell in cells)
            is_less_likely[n] = k == a or mirrored or (up >= down if k < a else up <= down)
        log_p = 0.0 if is_less_likely.all() else _log_sum(logs[is_less_likely])
    else:
        below, above = _log_sum(logs[:place + 1]), _log_sum(logs[place:])
        log_p = {"greater": above, "less": below, "two-sided": math.log(2) + min(below, above)}[alternative]
    log_p = min(0.0, log_p)
    return Tail(log_p, "exact", p=math.exp(log_p))


def _log_probabilities(a: int, first: int, second: int, column: int) -> tuple[int, Floats]:
    """Return the log probabilities of all 2 x 2 tables with the same margins.

    Tables that are at least e^60 times less likely than the observed one are omitted.

    Args:
        a: First cell of the observed table.
        first: Sum of the first row.
        second: Sum of the second row.
        column: Sum of the first column.

    Returns:
        The first cell of the first table, and the log probabilities of the tables with this and larger first cells.
    """
    low, high = max(0, column - second), min(first, column)
    mode = min(max((first + 1) * (column + 1) // (first + second + 2), low), high)
    reach = abs(a - mode) + 64
    while True:
        start, end = max(low, mode - reach), min(high, mode + reach)
        k = np.arange(start, end, dtype=np.float64)
        steps = np.log((first - k) * (column - k) / ((k + 1) * (second - column + k + 1)))
        logs = np.concatenate([-np.cumsum(steps[:mode - start][::-1])[::-1], [0.0], np.cumsum(steps[mode - start:])])
        least = logs[a - start] - 60
        if (start == low or logs[0] < least) and (end == high or logs[-1] < least):
            return start, logs - _log_sum(logs)
        reach *= 2


def _log_sum(logs: Floats) -> float:
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).sum()))


class Fisher(PairTest):
    """Fisher's test of the precision of the answers that only one system gives.

    The test compares two sets of candidates: D1 are those that only system A accepts, D2 those that only system B
    accepts.

    Attributes:
        rule: Definition of the two-sided p-value. `point`: the sum over all tables that are at most as likely as the
            observed one. `doubling`: twice the smaller one-sided p-value.
    """

    name: ClassVar[str] = "fisher"
    null: ClassVar[str] = "candidates that only A accepts and candidates that only B accepts are equally often right"
    assumes: ClassVar[str] = "every candidate is judged once, so that the two regions are independent samples"
    citation: ClassVar[str] = "Evert 2004, section 3.3"
    called: ClassVar[str] = "Fisher's exact test of the answers that only one of the two systems gives"
    families: ClassVar[tuple[str, ...] | None] = ("prf",)
    units: ClassVar[tuple[Unit, ...]] = ("response",)
    rule: Rule = "point"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the test does not apply; None if it does.

        The test does not apply to scores other than precision, or if every system gives one answer per item.
        """
        if matrix.family != "prf" or matrix.quotient != PRECISION:
            return ("fisher supports only the precision of candidates that systems accept or reject; use --test "
                    "mcnemar for one answer per item, --test permutation for other scores")
        if matrix.answers_to is not None and give_one_answer_per_item(
                matrix.answers_to, matrix.statistics[:, :, 1] > 0):
            return ("every system gives one answer to every item, so the answers in which two systems differ (D1 and "
                    "D2) are not independent, but fisher requires independence; use --test mcnemar")
        return None

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compare the true and false positives that only one system of the pair has."""
        only_a, only_b = o.a[:, 1] > o.b[:, 1], o.b[:, 1] > o.a[:, 1]
        correct = [int(o.a[only_a, 0].sum()), int(o.b[only_b, 0].sum())]
        table = [[correct[0], int(only_a.sum()) - correct[0]], [correct[1], int(only_b.sum()) - correct[1]]]
        lead = correct[0] * sum(table[1]) - correct[1] * sum(table[0])  # precision in D1 - D2
        return replace(fisher_tail(table, settings.alternative, self.rule), favours=lead)


def give_one_answer_per_item(items: Ints, given: Flags) -> bool:
    """Return True if every system gives exactly one answer to every item.

    Then Fisher's test of the answers that only one of two systems gives rejects three times too often
    (docs/ranking.md): both systems answer the same items, so the answers are dependent. The result is False if each
    item has only one candidate.

    Args:
        items: Item of every candidate, [candidates].
        given: True if a system accepts a candidate, [candidates, systems].
    """
    unique, numbers = np.unique(items, return_inverse=True)
    if len(unique) == len(items):
        return False
    return all((np.bincount(numbers[answers], minlength=len(unique)) == 1).all() for answers in given.T)


def correlation(x: Floats, y: Floats) -> float:
    """Return the correlation of two systems' scores in single items or clusters.

    The result is nan if the scores of a system are constant. This is r12 of Yeh 2000, section 2.1.
    """
    x, y = (compute_deviations(scores, scores) for scores in (x, y))
    spread = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / spread if spread else math.nan


def compute_error_ratio(x: Floats, y: Floats) -> float:
    """Return the factor by which a test of independent samples overstates the error.

    The factor is the standard error of the difference of two systems if their scores in single items are assumed to be
    independent, divided by the standard error of a paired test (Yeh 2000, section 2.1, equation 2). It is infinite if
    the difference is constant.
    """
    difference = compute_deviations(x - y, np.concatenate([x, y]))
    paired, independent = float(difference @ difference), sum(_square_sums(x, y))
    return math.sqrt(independent / paired) if paired else math.inf


def compute_deviations(values: Floats, scores: Floats) -> Floats:
    """Subtract the mean of values; if they differ only by rounding errors of the scores, all deviations are 0."""
    if np.ptp(values) <= ROUNDING * np.abs(scores).max():
        return np.zeros_like(values)
    return np.asarray(values - values.mean())


class IndependentTest(PairTest):
    """Test that treats the scores of two systems as independent samples."""

    independent: ClassVar[bool] = True

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compute the p-value of a pair, and a message about the assumed independence.

        The message says how much the assumption changes the standard error.
        """
        a, b = unit_scores(o)
        both = ~np.isnan(a) & ~np.isnan(b)
        equal = not o.difference and np.array_equal(a, b, equal_nan=True)
        of_a, of_b = (a[~np.isnan(a)], b[~np.isnan(b)]) if self.takes_unequal else (a[both], b[both])
        tail = Tail(0.0, "asymptotic") if equal else self.compare_samples(o, of_a, of_b, settings.alternative)
        parameters: dict[str, float] = {}
        if both.any() and not math.isnan(r := correlation(a[both], b[both])):
            factor = compute_error_ratio(a[both], b[both])
            parameters = {"correlation": float(r), "factor": factor} if math.isfinite(factor) else {}
        return replace(tail, messages=Messages((Message("independence-assumed", parameters), *tail.messages)))

    @abstractmethod
    def compare_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:
        """Compute the p-value of two systems from two independent samples of scores.

        Args:
            o: The pair of systems.
            a: Scores of the first system in single items or clusters. They are included if both systems have a defined
                score; if `takes_unequal` is true, all defined scores of the system are included.
            b: The same for the second system.
            alternative: Alternative hypothesis.
        """


class TwoSampleT(IndependentTest):
    """Student's t-test of two independent samples, or Welch's test.

    Attributes:
        pooled: True: Student's test, which assumes a common variance. False: Welch's test.
    """

    name: ClassVar[str] = "two-sample-t"
    takes_unequal: ClassVar[bool] = True
    null: ClassVar[str] = "the mean scores of units are equal"
    assumes: ClassVar[str] = ("the systems' results are independent of each other, with nearly normal means; if "
                              "pooled, they have equal variances, or both systems have the same number of units, at "
                              "least ten")
    citation: ClassVar[str] = "Student 1908; Yeh 2000, section 2.1; pooled=false: Welch 1947"
    called: ClassVar[str] = "Student's t-test of two independent samples"
    of_unit_scores: ClassVar[bool] = True
    pooled: bool = True

    @property
    def description(self) -> str:
        """The test and its options in words."""
        return self.called if self.pooled else "Welch's t-test of two independent samples"

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs in which the system with fewer items varies more.

        The estimate of the common variance is then too small.
        """
        if self.pooled:
            yield from find_uneven_samples(pairs, lambda x, y: (estimate_pooled(x, y)[0], estimate_unpooled(x, y)[0]))

    def compare_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:
        """Compute the p-value of the t-test of two independent samples.

        Args:
            o: The pair of systems.
            a: Scores of the first system in single items or clusters.
            b: Scores of the second system.
            alternative: Alternative hypothesis.
        """
        squared, degrees = (estimate_pooled if self.pooled else estimate_unpooled)(a, b)
        if not squared:
            return Tail(math.nan, "asymptotic", messages=Messages.make("constant-scores"))
        t = float(o.matrix.difference(a.mean(), b.mean())) / math.sqrt(squared)
        return Tail(log_t_p(t, degrees, alternative), "asymptotic", statistic=abs(t), favours=t)


def estimate_pooled(a: Floats, b: Floats) -> tuple[float, float]:
    """Estimate the error of a difference of means with a common variance (Student).

    Returns:
        Squared standard error and degrees of freedom; zeros if a sample has fewer than two values.
    """
    n, m = len(a), len(b)
    if min(n, m) < 2:
        return 0.0, 0
    return sum(_square_sums(a, b)) / (n + m - 2) * (1 / n + 1 / m), n + m - 2


def estimate_unpooled(a: Floats, b: Floats) -> tuple[float, float]:
    """Estimate the error of a difference of means with two variances (Welch 1947).

    Returns:
        Squared standard error and degrees of freedom; zeros if a sample has fewer than two values.
    """
    if min(len(a), len(b)) < 2:
        return 0.0, 0
    shares = [squares / (len(x) - 1) / len(x) for x, squares in zip((a, b), _square_sums(a, b), strict=True)]
    weight = sum(share**2 / (len(x) - 1) for x, share in zip((a, b), shares, strict=True))
    return sum(shares), sum(shares)**2 / weight if weight else 0


def _square_sums(*samples: Floats) -> list[float]:
    return [float(deviations @ deviations) for deviations in (compute_deviations(scores, scores) for scores in samples)]


class _Proportions(IndependentTest):
    """Test of two independent proportions, such as accuracy or precision."""

    families: ClassVar[tuple[str, ...] | None] = ("ratio", "prf", "alignment")

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the scores are not proportions of counts; or None."""
        if matrix.multiple > 1:
            return f"{self.name} counts single answers, but the scores are averages over runs; use --test permutation"
        is_binary = matrix.quotient is not None and {c for side in matrix.quotient for c in side} <= {0, 1}
        if is_binary:
            numerators, denominators = matrix.parts
            if ((numerators <= denominators).all() and (numerators >= 0).all()
                    and np.array_equal(numerators, np.rint(numerators))):
                return None
        return f"{self.name} needs a proportion of counted things, such as accuracy, precision or recall"

    def z(self, o: Observed, *, pooled: bool) -> float:
        """Return the difference of the proportions divided by its standard error.

        The standard error assumes independence. The result is nan if it is 0.

        Args:
            o: The pair of systems.
            pooled: True: the standard error uses one common proportion of both systems.
        """
        hits, totals = (part.sum(axis=0) for part in o.matrix.parts_of(o.pair))
        shares = hits / totals
        p = np.full(2, hits.sum() / totals.sum()) if pooled else shares
        error = math.sqrt(float((p * (1 - p) / totals).sum()))
        return float(o.matrix.difference(shares[0], shares[1])) / error if error else math.nan


class BinomialZ(_Proportions):
    """Normal test of two independent binomial proportions.

    Attributes:
        pooled: True: the standard error uses one common proportion of both systems.
    """

    name: ClassVar[str] = "binomial-z"
    null: ClassVar[str] = "the two proportions are equal"
    assumes: ClassVar[str] = "the systems' results are independent of each other, and so are the counted answers"
    citation: ClassVar[str] = "Harnett 1982, section 8.11; Yeh 2000, section 2.1"
    called: ClassVar[str] = "a z-test of two independent proportions"
    pooled: bool = True

    @property
    def description(self) -> str:
        """The test and its options in words."""
        return self.called if self.pooled else f"{self.called} with separate variances"

    def compare_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:  # noqa: ARG002
        """Compute the p-value of the difference of two proportions, divided by its error.

        Args:
            o: The pair of systems.
            a: Scores of the first system in single items or clusters.
            b: Scores of the second system.
            alternative: Alternative hypothesis.
        """
        z = self.z(o, pooled=self.pooled)
        if math.isnan(z):
            return Tail(math.nan, "asymptotic", messages=Messages.make("constant-proportions"))
        return Tail(log_normal_p(z, alternative), "asymptotic", statistic=abs(z))


class ChiSquared(_Proportions):
    """Pearson's chi-squared test of the 2 x 2 table of hits and misses.

    For precision, hits are correct answers and misses are spurious answers. A one-sided test uses the signed root of
    the statistic, as R's prop.test does.

    Attributes:
        correction: True: use Yates's continuity correction.
    """

    name: ClassVar[str] = "chi-squared"
    null: ClassVar[str] = "the ratio of hits to misses is the same for both systems"
    assumes: ClassVar[str] = "the systems' results are independent of each other, and so are the counted answers"
    citation: ClassVar[str] = "Pearson 1900; Yeh 2000, section 2.2"
    called: ClassVar[str] = "Pearson's chi-squared test of two independent samples"
    correction: bool = False

    @property
    def description(self) -> str:
        """The test and its options in words."""
        return f"{self.called} with Yates's continuity correction" if self.correction else self.called

    def compare_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:  # noqa: ARG002
        """Compute the p-value of Pearson's chi-squared statistic.

        The p-value comes from the signed root of the statistic, which is the z value with a common proportion of both
        systems. Yates's correction subtracts 1/2 from each deviation.
        """
        z = self.z(o, pooled=True)
        if math.isnan(z):
            return Tail(math.nan, "asymptotic", messages=Messages.make("empty-column"))
        if self.correction:
            hits, totals = (part.sum(axis=0) for part in o.matrix.parts_of(o.pair))
            deviation = abs(hits[0] - hits.sum() * totals[0] / totals.sum())
            z *= max(0.0, deviation - 0.5) / deviation if deviation else 0.0
        return Tail(log_normal_p(z, alternative), "asymptotic", statistic=z * z)


class RankSum(IndependentTest):
    """Wilcoxon's rank-sum test (Mann-Whitney U) of the scores of units.

    A unit is an item or a cluster. The p-value comes from the normal distribution, with corrections for ties and
    continuity.
    """

    name: ClassVar[str] = "rank-sum"
    takes_unequal: ClassVar[bool] = True
    null: ClassVar[str] = "scores of units have the same distribution for both systems"
    assumes: ClassVar[str] = "the systems' results are independent of each other, and have equal variances"
    citation: ClassVar[str] = "Mann and Whitney 1947; Conover 1999, section 5.1"
    called: ClassVar[str] = "the rank-sum test of two independent samples"
    of_unit_scores: ClassVar[bool] = True

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs with unequal variances: the test underestimates their errors."""
        yield from find_uneven_samples(pairs, _squared_errors_of_u)

    def compare_samples(self, o: Observed, a: Floats, b: Floats, alternative: Alternative) -> Tail:
        """Compute the p-value of the rank-sum test of two independent samples.

        Args:
            o: The pair of systems.
            a: Scores of the first system in single items or clusters.
            b: Scores of the second system.
            alternative: Alternative hypothesis.
        """
        return rank_sum(*((b, a) if o.matrix.lower_is_better else (a, b)), alternative)


def _squared_errors_of_u(x: Floats, y: Floats) -> tuple[float, float]:
    """Return two estimates of the variance of U / (n m), for a Mann-Whitney test.

    U is the statistic of two samples with n and m values. The first estimate assumes that both samples have the same
    distribution; the second one, that of Brunner and Munzel (2000), does not.
    """
    n, m = len(x), len(y)
    ranks = midranks(np.concatenate([x, y]))
    placements = (ranks[:n] - midranks(x)) / m, (ranks[n:] - midranks(y)) / n
    return (float(ranks.var(ddof=1)) / (n + m) / (n * m),
            sum(float(side.var(ddof=1)) / len(side) for side in placements))


def rank_sum(x: Floats, y: Floats, alternative: Alternative, rounding: float = 1e-12) -> Tail:
    """Test whether `x` tends to have larger values than `y` (Mann-Whitney U).

    The samples may differ in size. WMT compares human scores of systems in this way if they were judged on different
    segments. The reported statistic is the smaller U. Values are tied if they differ by at most `rounding` times the
    largest value.
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
