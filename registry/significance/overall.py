"""Tests of all systems of a board together: is there any difference between them?"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from registry.arrays import ROUNDING, Floats
from registry.significance.base import Unit
from registry.significance.distributions import log_chi_squared_p
from registry.significance.matrix import Matrix, StatisticMatrix, additive
from registry.significance.units import midranks, unit_refusal
from registry.values import Value


@dataclass(frozen=True, slots=True)
class OverallResult:
    """Result of a significance test of all systems together.

    Attributes:
        statistic: Chi-squared statistic.
        degrees: Degrees of freedom.
        p_value: p-value.
        log10_p: Decimal logarithm of the p-value.
    """

    statistic: float
    degrees: int
    p_value: float
    log10_p: float


class OverallTest(Value):
    """A significance test of the hypothesis that all systems are equally good.

    The class attributes have the same meaning as in `PairTest`.
    """

    terse: ClassVar[bool] = True
    null: ClassVar[str]
    assumes: ClassVar[str]
    citation: ClassVar[str]
    called: ClassVar[str]
    units: ClassVar[tuple[Unit, ...]] = ("item", "cluster")

    def refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why this test does not apply to the data; None if it does.

        Args:
            matrix: Statistics of all systems, with units (items or clusters) as rows.
        """
        if not isinstance(matrix, StatisticMatrix):
            return f"{self.name} compares scores of single units, but correlations have none; leave out overall"
        if reason := unit_refusal(self.name, matrix):
            return f"{reason}, and leave out overall"
        if np.isnan(matrix.observed).all() or matrix.is_mean or not np.isnan(matrix.unit_scores()).any(axis=1).all():
            return None
        return (f"{self.name} needs units in which every system has a defined score, but there are none; leave out "
                "overall")

    def run(self, matrix: Matrix) -> OverallResult:
        """Test whether all systems are equally good; identical systems have p = 1.

        Units (items or clusters) in which the score of some system is undefined are omitted.

        Raises:
            ValueError: The test does not apply to the data.
        """
        matrix = matrix.by_unit
        if reason := self.refusal(matrix):
            raise ValueError(reason)
        scores = additive(matrix).unit_scores()
        scores = scores[~np.isnan(scores).any(axis=1)]
        degrees = scores.shape[1] - 1
        statistic = self.statistic(scores) if degrees > 0 and len(scores) else 0.0
        log_p = log_chi_squared_p(statistic, degrees) if statistic else 0.0
        return OverallResult(statistic, degrees, math.exp(log_p), log_p / math.log(10))

    @abstractmethod
    def statistic(self, scores: Floats) -> float:
        """Return the test statistic, which is chi-squared under the null hypothesis.

        The statistic is 0 if the systems have equal scores in every unit.

        Args:
            scores: Scores in single units (items or clusters), [units, systems].
        """


class CochranQ(OverallTest):
    """Cochran's Q, McNemar's (uncorrected) test for more than two systems."""

    name: ClassVar[str] = "cochran"
    null: ClassVar[str] = "if k systems get an item right, all sets of k systems are equally likely to be these systems"
    assumes: ClassVar[str] = ("items are independent of each other and each is right or wrong; systems differ in many "
                              "items; all pairs of systems are equally similar")
    citation: ClassVar[str] = "Cochran 1950"
    called: ClassVar[str] = "Cochran's Q test"
    units: ClassVar[tuple[Unit, ...]] = ("item",)

    def refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the test does not apply, such as graded scores; or None."""
        if reason := super().refusal(matrix):
            return reason
        if np.isin(additive(matrix).unit_scores(), (0, 1)).all():
            return None
        return "cochran needs units that are either correct or wrong; use friedman for graded scores"

    def statistic(self, scores: Floats) -> float:
        """Return Cochran's Q = k (k - 1) sum (total - mean total)^2 / sum r (k - r).

        k is the number of systems, r the number of systems that are right in an item, and a total the number of items
        in which one system is right.
        """
        k, totals, correct = scores.shape[1], scores.sum(axis=0), scores.sum(axis=1)
        mixed = float((correct * (k - correct)).sum())
        return k * (k - 1) * float(((totals - totals.mean()) ** 2).sum()) / mixed if mixed else 0.0


class Friedman(OverallTest):
    """Friedman's test of the ranks of systems within units, corrected for ties.

    The systems are ranked by their scores in each single unit (item or cluster).
    """

    name: ClassVar[str] = "friedman"
    null: ClassVar[str] = "within a unit every order of the systems is equally likely"
    assumes: ClassVar[str] = "there are many units, independent of each other; all pairs of systems are equally similar"
    citation: ClassVar[str] = "Friedman 1937; Conover 1999, section 5.8"
    called: ClassVar[str] = "Friedman's test"

    def statistic(self, scores: Floats) -> float:
        """Return Friedman's (k - 1) sum (rank sum - mean rank sum)^2 / spread of ranks.

        k is the number of systems. The spread is the sum of the squared distances of all ranks from (k + 1) / 2.
        """
        k, slack = scores.shape[1], ROUNDING * float(np.abs(scores).max(initial=0))
        ranks = np.array([midranks(row, slack) for row in scores])
        spread = float(((ranks - (k + 1) / 2) ** 2).sum())
        totals = ranks.sum(axis=0)
        return (k - 1) * float(((totals - totals.mean()) ** 2).sum()) / spread if spread else 0.0


OVERALL_TESTS: dict[str, type[OverallTest]] = {test.name: test for test in (CochranQ, Friedman)}
