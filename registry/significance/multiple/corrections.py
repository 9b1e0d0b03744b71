"""Corrections of a family of p-values for multiple comparisons; `CORRECTIONS` maps names to them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Literal

import numpy as np

from registry.arrays import Floats, Ints

GATEKEEPING = "gatekeeping"  # the correction that takes the boards of a family in turn
_SMALL = 1e-100  # a p-value that no correction raises to 1


@dataclass(frozen=True)
class Correction:
    """A correction for multiple comparisons.

    Attributes:
        name: Its name in manifests and commands.
        title: Its name for people.
        controls: The error rate that is at most alpha where adjusted p-values up to alpha are significant.
        assumes: What this requires of the p-values.
        citation: The source of the method.
        instead: The correction to take where these assumptions are not known to hold; empty where none is needed.
        function: From p-values [family], none undefined, to adjusted ones; None where joint draws are adjusted rather
            than p-values (`registry.significance.multiple.stepdown`).
    """

    name: str
    title: str
    controls: Literal["family-wise error", "false discovery rate", "nothing"]
    assumes: str
    citation: str
    function: Callable[[Floats], Floats] | None = field(repr=False)
    instead: str = ""

    @property
    def holds_if(self) -> str:
        """A sentence that says under what its error rate holds; empty where that is always, or in the design."""
        return (f"{self.title} controls the {self.controls} where {self.assumes}; {self.instead} needs nothing of that."
                if self.instead else "")


def adjust(p: Floats, correction: str) -> Floats:
    """Adjust the p-values of a family by the `correction` of that name.

    An undefined p-value (nan) stays undefined and counts in the family as one that rejects nothing.

    Raises:
        ValueError: The correction does not take a family of this size (shaffer), or no p-values but draws.
    """
    function = CORRECTIONS[correction].function
    if function is None:
        raise ValueError(f"{correction} adjusts joint draws, not p-values")
    defined = np.where(np.isnan(p), 1.0, p)
    return np.where(np.isnan(p), np.nan, function(defined))


def draws_needed(p: Floats, correction: str, alpha: float) -> int:
    """The fewest draws with which a drawn pair of a family can be significant at all.

    A Monte-Carlo p-value is at least 1 / (R + 1), so Holm's and Bonferroni's corrections of m drawn pairs need
    R >= m / alpha - 1. It suffices to look at all drawn pairs with the least p-value, because adjusted p-values never
    fall when a p-value rises.

    Args:
        p: [family]; nan stands for a pair that is to be drawn, of which there is at least one.
        correction: Its name.
        alpha: The level of significance.
    """
    drawn, function = np.isnan(p), CORRECTIONS[correction].function

    def least(of_drawn: float, of_others: Floats | float) -> float:
        lowest = np.where(drawn, of_drawn, of_others)
        return float((lowest if function is None else function(lowest))[drawn].min())

    def can(draws: int) -> bool:
        return least(1 / (draws + 1), p) <= alpha

    factor = least(_SMALL, 0.0) / _SMALL  # by which a drawn p-value is multiplied where all others are 0, or more
    too_few, step = max(0, math.floor(factor / alpha) - 3), 1
    while not can(too_few + step):
        too_few, step = too_few + step, 2 * step
    return bisect_left(range(too_few + step), True, lo=too_few + 1, key=can)


def shaffer_factors(systems: int) -> Floats:
    """How many of the hypotheses that pairs of systems are equal can be true at once, for Shaffer's procedure S1.

    Equality divides the systems into groups, and all pairs within a group are true: S(k), the possible numbers of true
    hypotheses among k systems, is the union over the size g of one group of g (g - 1) / 2 + S(k - g) (Shaffer 1986).

    Returns:
        [pairs]: at j, the most that can be true when at least j of them are false, from j = 0.
    """
    possible = [1]  # of each number of systems, S as the set bits of one number
    for k in range(1, systems + 1):
        possible.append(reduce(or_, (possible[k - g] << math.comb(g, 2) for g in range(1, k + 1))))
    numbers = np.flatnonzero([bit == "1" for bit in reversed(f"{possible[-1]:b}")])
    left = np.arange(math.comb(systems, 2), 0, -1)
    return numbers[np.searchsorted(numbers, left, side="right") - 1].astype(np.float64)


def _holm(p: Floats) -> Floats:
    return step_down_by(p, np.arange(len(p), 0.0, -1))


def _shaffer(p: Floats) -> Floats:
    systems = (1 + math.isqrt(1 + 8 * len(p))) // 2
    if math.comb(systems, 2) != len(p):
        raise ValueError(f"shaffer takes the family of all pairs of k systems, k (k - 1) / 2 of them, and not "
                         f"{len(p)} p-values; take holm")
    return step_down_by(p, shaffer_factors(systems))


def _benjamini_yekutieli(p: Floats) -> Floats:
    places = np.arange(1, len(p) + 1)
    return _step_up(p, len(p) / places * (1 / places).sum())


def step_down_by(p: Floats, factors: Floats | Ints) -> Floats:
    """Multiply the p-values in ascending order by the factors; none is below the one before."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1)
    return adjusted


def _step_up(p: Floats, factors: Floats) -> Floats:
    """Multiply the p-values in ascending order by the factors; none is above a later one."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate((p[order] * factors)[::-1])[::-1], 1)
    return adjusted


CORRECTIONS: dict[str, Correction] = {
    correction.name: correction for correction in (
        Correction("holm", "Holm's correction", "family-wise error", "nothing", "Holm 1979", _holm),
        Correction(GATEKEEPING, "gatekeeping", "family-wise error",
                   "nothing; over several metrics a pair is tested by one where it differs by all metrics before",
                   "Bretz, Maurer, Brannath and Posch 2009, figure 8", _holm),
        Correction("shaffer", "Shaffer's correction", "family-wise error",
                   "the family is that of all pairs of k systems, each tested two-sided, and equality is transitive: "
                   "if A = B and B = C, then A = C, as of scores, and not of what sign, wilcoxon, rank-sum and fisher "
                   "test",
                   "Shaffer 1986, procedure S1", _shaffer),
        Correction("bonferroni", "Bonferroni's correction", "family-wise error", "nothing", "Dunn 1961",
                   lambda p: np.minimum(p * len(p), 1)),
        Correction("hochberg", "Hochberg's correction", "family-wise error",
                   "p-values are independent or positively dependent (MTP2), which those of all pairs need not be",
                   "Hochberg 1988; Sarkar 1998", lambda p: _step_up(p, np.arange(len(p), 0.0, -1)), "holm"),
        Correction("bh", "Benjamini and Hochberg's correction", "false discovery rate",
                   "p-values are independent or positively dependent (PRDS), which those of all pairs need not be",
                   "Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001",
                   lambda p: _step_up(p, len(p) / np.arange(1, len(p) + 1)), "by"),
        Correction("by", "Benjamini and Yekutieli's correction", "false discovery rate", "nothing",
                   "Benjamini and Yekutieli 2001, theorem 1.3", _benjamini_yekutieli),
        Correction("min-p", "step-down min-P correction", "family-wise error",
                   "the test is permutation, and units are many where pairs share systems, or bootstrap of very many "
                   "units",
                   "Westfall and Young 1993, algorithm 2.8", None),
        Correction("max-t", "step-down max-T correction", "family-wise error",
                   "the test is permutation, and units are many where pairs share systems, or bootstrap of very many "
                   "units",
                   "Westfall and Young 1993, algorithm 4.1", None),
        Correction("none", "no correction", "nothing", "every pair is judged alone: errors add up over the family", "",
                   np.copy),
    )
}
