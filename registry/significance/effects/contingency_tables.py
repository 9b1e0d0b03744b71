"""The 2x2 tables of all pairs of systems at once.

What each system gets right is one row of bits, and how often two are right together is the product of this matrix with
itself: 64 answers are multiplied in one AND and summed by counting its bits, which is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Contingencies:
    """For every pair of systems (a, b), how many answers both, one and neither get right: [systems, systems] each.

    On the diagonal of `both_right` is how many each system gets right.
    """

    both_right: NDArray[np.int64]
    n: int

    @property
    def only_a_right(self) -> NDArray[np.int64]:
        """How many the row's system alone gets right; the transpose is `only_b_right`."""
        right: NDArray[np.int64] = np.diag(self.both_right)
        return right[:, None] - self.both_right

    @property
    def only_b_right(self) -> NDArray[np.int64]:
        """How many the column's system alone gets right."""
        return self.only_a_right.T

    @property
    def both_wrong(self) -> NDArray[np.int64]:
        """How many neither gets right."""
        return self.n - self.both_right - self.only_a_right - self.only_b_right

    @property
    def correlation(self) -> NDArray[np.float64]:
        """The correlation of being right, r12 of Yeh (2000, section 2.1): the phi coefficient of each table.

        It is nan where one of the two is right always or never.
        """
        right = np.diag(self.both_right).astype(np.float64)
        covariance = self.n * self.both_right.astype(np.float64) - np.outer(right, right)
        deviation = np.sqrt(right * (self.n - right))
        under = np.outer(deviation, deviation)
        correlation: NDArray[np.float64] = np.divide(covariance, under, out=np.full_like(under, np.nan),
                                                     where=under > 0)
        return correlation


def contingencies(right: NDArray[np.uint64], n: int) -> Contingencies:
    """Count for all pairs.

    Args:
        right: What each system gets right, a bit for each answer, [systems, words of 64]; bits of no answer are 0.
        n: How many answers there are.
    """
    both = np.zeros((len(right), len(right)), dtype=np.int64)
    for at, row in enumerate(right):
        both[at, at:] = both[at:, at] = np.bitwise_count(row & right[at:]).sum(axis=1, dtype=np.int64)
    return Contingencies(both, n)
