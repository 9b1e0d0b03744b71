"""Tests that look only at which of two systems is better in each unit: the sign test and McNemar's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import Ints
from registry.errors import InputError
from registry.significance.base import Observed, ObservedPairs, Settings, Unit, extremity
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import asymmetric
from registry.significance.distributions.fair_coins import log_coins
from registry.significance.distributions.normal import log_normal_ps
from registry.significance.marks import apart, in_both
from registry.significance.matrix import Matrix, additive
from registry.significance.pairwise.base import PairTest
from registry.significance.results import Tails
from registry.significance.units import unit_differences


class Sign(PairTest):
    """The exact sign test on the scores of units; units whose scores are equal, or differ by `tie` or less, are ties.

    Ties are left out.
    """

    name: ClassVar[str] = "sign"
    null: ClassVar[str] = "a unit in which the systems differ is as likely to favour either"
    assumes: ClassVar[str] = "units are independent of each other; the size of a difference does not count"
    citation: ClassVar[str] = "Conover 1999, section 3.4; Yeh 2000, section 3.1"
    of_unit_scores: ClassVar[bool] = True
    swaps_units = True
    tie: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a width that is none."""
        super().__post_init__()
        if not 0 <= self.tie < math.inf:
            raise InputError(f"option 'tie' of sign is {self.tie!r}; expected a finite number from 0 up, "
                             "a difference of scores")

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Pairs whose median difference is another than the mean."""
        return asymmetric(pairs)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Count the units that favour either system; a unit where a score is undefined is left out."""
        if self.tie < 0.5 and np.isin(additive(pairs.matrix).unit_scores(), (0, 1)).all():
            for_a, for_b = _favoured(pairs)
        else:
            for_a, for_b = np.array([self._counted(o) for o in pairs]).T
        return Tails.made(log_coins(for_a, for_b, settings.alternative), "exact", coins=for_a + for_b,
                          favours=for_a - for_b)

    def _counted(self, o: Observed) -> list[int]:
        differences, slack = unit_differences(o)
        return [int(np.count_nonzero(side * differences > self.tie + slack)) for side in (1, -1)]


class McNemar(PairTest):
    """McNemar's test of units that are right or wrong: the items that only one of the two systems gets right.

    Attributes:
        variant: `exact`, the binomial test; `mid-p`, which counts half of the outcomes just as extreme as the observed
            one (Fagerland et al. 2013) and trades the guaranteed level for power; `chi-squared`, McNemar's
            approximation; or `corrected`, the same with Edwards's continuity correction.
    """

    name: ClassVar[str] = "mcnemar"
    null: ClassVar[str] = "items that only one system gets right are as likely to be either's"
    assumes: ClassVar[str] = "items are independent of each other and each is right or wrong"
    citation: ClassVar[str] = "McNemar 1947"
    units: ClassVar[tuple[Unit, ...]] = ("item",)
    families: ClassVar[tuple[str, ...] | None] = ("ratio", "prf")
    variant: Literal["exact", "mid-p", "chi-squared", "corrected"] = "exact"

    @property
    def swaps_units(self) -> bool:
        """True where every outcome is counted."""
        return self.variant == "exact"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Refuse units that are not right or wrong."""
        if np.isin(additive(matrix).unit_scores(), (0, 1)).all():
            return None
        return "mcnemar needs units that are right or wrong; take the sign or permutation test for graded ones"

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Count the discordant units of all pairs at once, and test them at once."""
        only_a, only_b = _favoured(pairs)
        if self.variant in ("exact", "mid-p"):
            half = self.variant == "mid-p"
            log_p = log_coins(only_a, only_b, settings.alternative, half=half)
            return Tails.made(log_p, "exact", coins=only_a + only_b + half)
        two_sided, corrected = settings.alternative == "two-sided", self.variant == "corrected"
        excess = extremity((only_a - only_b).astype(np.float64), settings.alternative) - corrected
        z = (np.maximum(excess, 0) if two_sided else excess) / np.sqrt(np.maximum(only_a + only_b, 1))
        log_p = np.where(only_a + only_b, log_normal_ps(z, "two-sided" if two_sided else "greater"), 0.0)
        return Tails.made(log_p, "asymptotic", statistic=z * z)


def _favoured(pairs: ObservedPairs) -> tuple[Ints, Ints]:
    """In how many units A alone is the better one, and B alone, where all are right or wrong."""
    matrix = additive(pairs.matrix)
    both = in_both(matrix.unit_scores() == 1) if matrix.both_higher is None else matrix.both_higher
    a, b = (pairs.b, pairs.a) if matrix.lower_is_better else (pairs.a, pairs.b)
    return apart(both, a, b)
