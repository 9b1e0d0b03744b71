"""Tests that look only at which of two systems is better in each unit: the sign test and McNemar's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import numpy as np

from registry.errors import InputError
from registry.significance.base import Alternative, Observed, PairTest, Settings, Tail
from registry.significance.lattice import log_sign_tail
from registry.significance.matrix import StatisticMatrix
from registry.significance.normal import log_normal_p
from registry.significance.units import unit_gains


@dataclass(frozen=True, repr=False)
class Sign(PairTest):
    """The exact sign test on the scores of units; units whose scores are equal, or differ by `tie` or less, are ties.

    Ties are left out.
    """

    name: ClassVar[str] = "sign"
    null: ClassVar[str] = "a unit in which the systems differ is as likely to favour either"
    assumes: ClassVar[str] = "units are independent of each other; the size of a difference does not count"
    citation: ClassVar[str] = "Conover 1999, section 3.4; Yeh 2000, section 3.1"
    tie: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a width that is none."""
        if not 0 <= self.tie < math.inf:
            raise InputError(f"option 'tie' of sign is {self.tie!r}; expected a difference of scores from 0 up")

    def tails(self, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Count the units that favour either system; a unit where a score is undefined is left out."""
        tails = []
        for o in pairs:
            gains, slack = unit_gains(o)
            for_a, for_b = (int(np.count_nonzero(side * gains > self.tie + slack)) for side in (1, -1))
            tails.append(Tail(_log_p(for_a, for_b, settings.alternative), "exact", coins=for_a + for_b))
        return tails


@dataclass(frozen=True, repr=False)
class McNemar(PairTest):
    """McNemar's test of units that are right or wrong: the items that only one of the two systems gets right.

    `exact` is the binomial test of them; `mid-p` counts half of what is as extreme as observed (Fagerland et al. 2013)
    and gives up the guarantee of the level for power; `chi-squared` is McNemar's own approximation, and `corrected`
    the same with Edwards's correction for continuity.
    """

    name: ClassVar[str] = "mcnemar"
    null: ClassVar[str] = "items that only one system gets right are as likely to be either's"
    assumes: ClassVar[str] = "items are independent of each other and each is right or wrong"
    citation: ClassVar[str] = "McNemar 1947"
    takes_clusters: ClassVar[bool] = False
    families: ClassVar[tuple[str, ...] | None] = ("ratio", "prf")
    variant: Literal["exact", "mid-p", "chi-squared", "corrected"] = "exact"

    def refusal(self, matrix: StatisticMatrix) -> str | None:
        """Refuse statistics that are not right or wrong in every unit."""
        if np.isin(matrix.score(matrix.statistics), (0, 1)).all():
            return None
        return "mcnemar needs units that are right or wrong; take the sign or permutation test for graded ones"

    def tails(self, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Count the discordant units of all pairs at once, and test each pair."""
        matrix = pairs[0].matrix
        right = (matrix.score(matrix.statistics) == (0 if matrix.lower_is_better else 1)).astype(np.float32)
        n_right, n_both = right.sum(axis=0), right.T @ right  # below 2^24 units exact
        test = cache(lambda only_a, only_b: self._tail(only_a, only_b, settings.alternative))
        return [test(*(int(n_right[system] - n_both[o.pair]) for system in o.pair)) for o in pairs]

    def _tail(self, only_a: int, only_b: int, alternative: Alternative) -> Tail:
        n, excess = only_a + only_b, only_a - only_b
        if n == 0:
            return Tail(0.0, "exact")
        if self.variant == "exact":
            return Tail(_log_p(only_a, only_b, alternative), "exact", coins=n)
        if self.variant == "mid-p":
            point = math.comb(n, only_a) / 2**n
            p = math.exp(_log_p(only_a, only_b, alternative))
            p -= point / (2 if excess == 0 or alternative != "two-sided" else 1)
            return Tail(math.log(p), "exact", coins=n + 1)
        size = max(0, abs(excess) - 1) if self.variant == "corrected" else abs(excess)
        z = math.copysign(size, excess) / math.sqrt(n)
        return Tail(log_normal_p(z, alternative), "asymptotic", statistic=z * z)


@cache
def _log_p(for_a: int, for_b: int, alternative: Alternative) -> float:
    """Log p of so many coins that favour A and B, when each is fair."""
    steps, observed = np.ones(for_a + for_b, dtype=np.int64), for_a - for_b
    if alternative == "two-sided":
        return 0.0 if observed == 0 else min(0.0, math.log(2) + log_sign_tail(steps, abs(observed)))
    return log_sign_tail(steps, observed if alternative == "greater" else -observed)
