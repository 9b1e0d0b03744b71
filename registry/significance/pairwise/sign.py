"""Tests that look only at which of two systems is better in each unit: the sign test and McNemar's."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from registry.errors import InputError
from registry.significance.base import Alternative, ObservedPairs, Settings, Unit, extremity
from registry.significance.discordance import in_both
from registry.significance.distributions.normal import log_normal_ps
from registry.significance.matrix import Floats, Matrix, additive
from registry.significance.pairwise.base import PairTest
from registry.significance.results import Tails
from registry.significance.units import unit_differences

Ints = NDArray[np.int64]

TINY = 1e-290  # below it p-values are computed by their logarithms


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
            raise InputError(f"option 'tie' of sign is {self.tie!r}; expected a finite number from 0 up, "
                             "a difference of scores")

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Count the units that favour either system; a unit where a score is undefined is left out."""
        counts = []
        for o in pairs:
            differences, slack = unit_differences(o)
            counts.append([np.count_nonzero(side * differences > self.tie + slack) for side in (1, -1)])
        for_a, for_b = np.array(counts).T
        return Tails.made(log_coins(for_a, for_b, settings.alternative), "exact", coins=for_a + for_b,
                          favours=for_a - for_b)


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

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Refuse units that are not right or wrong."""
        if np.isin(additive(matrix).unit_scores(), (0, 1)).all():
            return None
        return "mcnemar needs units that are right or wrong; take the sign or permutation test for graded ones"

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Count the discordant units of all pairs at once, and test them at once."""
        matrix, a, b = pairs.matrix, pairs.a, pairs.b
        n_both = in_both(additive(matrix).unit_scores() == (0 if matrix.lower_is_better else 1))
        only_a, only_b = (n_both[side, side] - n_both[a, b] for side in (a, b))
        if self.variant in ("exact", "mid-p"):
            half = self.variant == "mid-p"
            log_p = log_coins(only_a, only_b, settings.alternative, half=half)
            return Tails.made(log_p, "exact", coins=only_a + only_b + half)
        two_sided, corrected = settings.alternative == "two-sided", self.variant == "corrected"
        excess = extremity((only_a - only_b).astype(np.float64), settings.alternative) - corrected
        z = (np.maximum(excess, 0) if two_sided else excess) / np.sqrt(np.maximum(only_a + only_b, 1))
        log_p = np.where(only_a + only_b, log_normal_ps(z, "two-sided" if two_sided else "greater"), 0.0)
        return Tails.made(log_p, "asymptotic", statistic=z * z)


def log_coins(for_a: Ints, for_b: Ints, alternative: Alternative, *, half: bool = False) -> Floats:
    """Log p of the sign test, where so many units favour A and B, [pairs] each; p = 1 without any.

    With `half`, outcomes just as extreme as the observed one count half (the mid-p-value).
    """
    n, sides = for_a + for_b, 2 if alternative == "two-sided" else 1
    bar = {"two-sided": np.maximum(for_a, for_b), "greater": for_a, "less": for_b}[alternative]
    reached, beyond = _at_least(bar, n), _at_least(bar + 1, n)
    p = sides * ((reached + beyond) / 2 if half else reached)
    if sides == 2:  # both sides are as extreme as the middle
        p = np.where(for_a == for_b, 1 - (reached - beyond) / 2 if half else 1.0, p)
    p = np.where(n == 0, 1.0, p)
    found = np.log(np.maximum(p, TINY))
    far = p < TINY  # near or below the least that a float can hold
    if far.any():
        tails = [_log_far_tail(bar[far] + more, n[far]) for more in range(1 + half)]
        found[far] = np.logaddexp.reduce(tails, axis=0) + math.log(sides / len(tails))
    return np.minimum(found, 0)


def _log_far_tail(m: Ints, n: Ints) -> Floats:
    """Log P(X >= m) for X binomial(n, 1/2) and m far above n / 2: the first term, and the falling ones after it."""
    from scipy.special import gammaln

    first = gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0) - n * math.log(2)
    term, total, k = np.ones(len(n)), np.ones(len(n)), 0
    while (term > 1e-17 * total).any():
        term *= np.maximum(n - m - k, 0) / (m + 1 + k)
        total += term
        k += 1
    log_p: Floats = np.where(m > n, -np.inf, first + np.log(total))
    return log_p


def _at_least(m: Ints, n: Ints) -> Floats:
    """P(X >= m) for X binomial(n, 1/2), by the incomplete beta function."""
    from scipy.special import betainc

    inside = (m > 0) & (m <= n)
    return np.where(inside, betainc(np.where(inside, m, 1.0), np.where(inside, n - m + 1.0, 1.0), 0.5), m <= 0)
