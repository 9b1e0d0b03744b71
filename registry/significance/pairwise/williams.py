"""Williams' and Steiger's tests of two correlations with the same gold values."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from registry.arrays import ROUNDING, Floats
from registry.messages import Message, Messages
from registry.significance.base import Alternative, Observed, Settings, Tail, Unit
from registry.significance.correlations import PEARSON, SPEARMAN, PairMatrix
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import LEAST_RATIO
from registry.significance.distributions import log_normal_p, log_t_p
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest


class _SharedGold(PairTest):
    """Test of two systems' correlations with the same gold values.

    The test takes into account that the predictions of the two systems are correlated with each other.
    """

    null: ClassVar[str] = "the two systems' predictions are equally correlated with the gold values"
    assumes: ClassVar[str] = "items are independent of each other; predictions and gold values are jointly normal"
    families: ClassVar[tuple[str, ...] | None] = ("pair",)
    units: ClassVar[tuple[Unit, ...]] = ("item",)

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return a reason if the score is neither Pearson's nor Spearman's; or None."""
        if isinstance(matrix, PairMatrix) and matrix.coefficient in (PEARSON, SPEARMAN):
            return None
        return (f"{self.name} supports only Pearson's and Spearman's correlations; use --test permutation or "
                "--test bootstrap")

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs with correlations that vary more than those of normal values.

        The test assumes normal values. A pair is reported if its rejection rate at the level 5 % exceeds about 6 %.
        """
        # Let z be standardized predictions and gold values. For any distribution, an item changes a correlation r by
        # z_x z_y - r (z_x^2 + z_y^2) / 2. The variance for normal values is that of Steiger 1980, equations 2 and 3.
        matrix, firsts, seconds = pairs
        if not isinstance(matrix, PairMatrix) or matrix.coefficient is not PEARSON:
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            x, y = ((values - values.mean(axis=0)) / values.std(axis=0) for values in (matrix.x, matrix.y[:, None]))
            r, n = (x * y).mean(axis=0), len(x)
            moved = x * y - r * (x**2 + y**2) / 2
            flags = np.zeros(len(firsts), dtype=bool)
            for place, (a, b) in enumerate(zip(firsts.tolist(), seconds.tolist(), strict=True)):
                squares = (moved[:, a] - moved[:, b]) ** 2
                r_ab = (x[:, a] * x[:, b]).mean()
                left = 1 - r[a]**2 - r[b]**2
                normal = (1 - r[a]**2) ** 2 + (1 - r[b]**2) ** 2 - 2 * r_ab * left + r[a] * r[b] * (left - r_ab**2)
                flags[place] = normal < LEAST_RATIO**2 * (squares.mean() - squares.std() / math.sqrt(n))
        yield PairWarning(flags, Message("not-normal"))

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Test two systems by their correlations with the gold and with each other."""
        matrix, (a, b) = o.matrix, o.pair
        assert isinstance(matrix, PairMatrix)
        n, scores = matrix.n_units, matrix.observed
        together = matrix.coefficient.weighted(matrix.x[:, a], matrix.x[:, b], np.ones((1, n)))
        # Rejection rates at 5 % for normal variables: 5.5 % if rho = .4, 8 to 9 % if rho = .8 (tests/significance).
        is_spearman = matrix.coefficient is SPEARMAN
        messages = Messages.make("approximate-for-ranks") if is_spearman else Messages()
        if together[0] >= 1 - ROUNDING:  # predictions are equal up to scale, and so are the correlations
            return Tail(0.0, "asymptotic", messages=messages)
        if n <= 3:
            return Tail(math.nan, "asymptotic", messages=Messages.make("needs-items", least=4))
        if max(abs(together[0]), *np.abs(scores[[a, b]])) >= 1 - ROUNDING:
            return Tail(math.nan, "asymptotic", messages=Messages.make("perfect-correlation"))
        statistic = float(self.statistic(scores[[a]], scores[[b]], together, n)[0])
        if math.isnan(statistic):
            return Tail(math.nan, "asymptotic", messages=Messages.make("gold-is-sum"))
        log_p = self.log_p(float(matrix.difference(np.array(statistic), np.zeros(()))), n, settings.alternative)
        return Tail(log_p, "asymptotic", statistic=abs(statistic), messages=messages)

    @abstractmethod
    def statistic(self, r_a: Floats, r_b: Floats, r_ab: Floats, n: int) -> Floats:
        """Return the test statistics of pairs of correlations.

        A statistic is positive if `r_a` is larger than `r_b`, and nan if it is undefined.

        Args:
            r_a: Correlations of the first systems' predictions with the gold values.
            r_b: Correlations of the second systems' predictions with the gold values.
            r_ab: Correlations of both systems' predictions with each other.
            n: Number of items, more than 3.
        """

    @abstractmethod
    def log_p(self, statistic: float, n: int, alternative: Alternative) -> float:
        """Return the log p-value of a statistic that is positive if A is better."""


class Williams(_SharedGold):
    """Williams' t-test of two correlations with the same gold values.

    Steiger (1980) recommends this test for two correlations that share a variable.
    """

    name: ClassVar[str] = "williams"
    citation: ClassVar[str] = "Williams 1959; Steiger 1980, equation 7; Graham and Baldwin 2014"
    called: ClassVar[str] = "Williams' test of two dependent correlations"

    def statistic(self, r_a: Floats, r_b: Floats, r_ab: Floats, n: int) -> Floats:
        """Return Williams' T2, which is Student's t under the null (n - 3 degrees)."""
        determinant = np.maximum(1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab, 0)
        denominator = 2 * (n - 1) / (n - 3) * determinant + ((r_a + r_b) / 2) ** 2 * (1 - r_ab) ** 3
        denominator = np.where(denominator > ROUNDING, denominator, np.nan)
        return np.asarray((r_a - r_b) * np.sqrt((n - 1) * (1 + r_ab) / denominator))

    def log_p(self, statistic: float, n: int, alternative: Alternative) -> float:
        """Return the log p-value of a statistic with Student's distribution."""
        return log_t_p(statistic, n - 3, alternative)


class Steiger(_SharedGold):
    """Steiger's test of two correlations with the same gold values, by Fisher's z.

    The covariance of both values z = artanh(r) is computed at the mean of both correlations.
    """

    name: ClassVar[str] = "steiger"
    citation: ClassVar[str] = "Steiger 1980, equations 10 and 14"
    called: ClassVar[str] = "Steiger's test of two dependent correlations"

    def statistic(self, r_a: Floats, r_b: Floats, r_ab: Floats, n: int) -> Floats:
        """Return Steiger's Z1*, which is standard normal under the null hypothesis.

        The covariance is computed at the mean of both correlations. Equation 10 of the paper lacks brackets in print.
        """
        square = ((r_a + r_b) / 2) ** 2
        covariance = (r_ab * (1 - 2 * square) - square / 2 * (1 - 2 * square - r_ab**2)) / (1 - square) ** 2
        return np.asarray((np.arctanh(r_a) - np.arctanh(r_b)) * math.sqrt(n - 3) / np.sqrt(2 - 2 * covariance))

    def log_p(self, statistic: float, n: int, alternative: Alternative) -> float:  # noqa: ARG002
        """Return the log p-value of a statistic with the standard normal distribution."""
        return log_normal_p(statistic, alternative)
