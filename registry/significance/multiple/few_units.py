"""Tests of so few units that no difference can be significant: how many are needed, and the warning.

A p-value that counts the ways to swap two systems in n units is no smaller than 2^-n, or 2^(1 - n) two-sided. Where a
correction multiplies that beyond alpha, it is known before any work that nothing will be found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from registry.messages import Message
from registry.significance.multiple.corrections import draws_needed


@cache
def units_needed(family: int, correction: str, alpha: float, *, two_sided: bool) -> int:
    """The fewest units with which a pair can be significant where p-values count the 2^units ways to swap them.

    >>> units_needed(1, "holm", 0.05, two_sided=True), units_needed(15, "holm", 0.05, two_sided=True)
    (6, 10)

    Args:
        family: How many pairs there are.
        correction: Its name.
        alpha: The level of significance.
        two_sided: Whether the tests are.
    """
    return draws_needed(np.full(family, np.nan), correction, alpha).bit_length() + two_sided


def too_few_units(units: int, needed: int, unit: str, *, two_sided: bool) -> Message:
    """Return the warning that so few units allow no p-value small enough, and how many would.

    >>> too_few_units(6, 10, "cluster", two_sided=True).parameters["least"]
    0.03125
    """
    least = 2.0 ** (two_sided - units)
    return Message("too-few-units", {"units": units, "needed": needed, "unit": unit, "least": least})


def too_few_runs(runs: Sequence[int], family: int, correction: str, alpha: float, *, two_sided: bool) -> Message | None:
    """Return a warning if permutations of whole runs allow no p-value small enough, because runs are so few.

    >>> too_few_runs((3, 3, 2), 3, "holm", 0.05, two_sided=True).parameters
    {'runs_a': 3, 'runs_b': 3, 'least': 0.1}

    Args:
        runs: Of each system, two systems at least.
        family: How many pairs there are.
        correction: Its name.
        alpha: The level of significance.
        two_sided: Whether the tests are.
    """
    most, second = sorted(runs, reverse=True)[:2]
    least = (2 if two_sided and most == second else 1) / math.comb(most + second, most)
    enough = 1 / least >= draws_needed(np.full(family, np.nan), correction, alpha) + 1
    return None if enough else Message("too-few-runs", {"runs_a": most, "runs_b": second, "least": least})


def resamples_err(units: float, pairs: int, alpha: float) -> float:
    """How often the largest difference of equal systems is called significant by its place among joint resamples.

    Resamples move every difference by its standard error as it was observed, as if that were known. The bar of so many
    pairs is about z of Bonferroni; by Student's distribution, as of estimated errors, more lies beyond it.

    >>> [round(resamples_err(units, pairs, 0.05), 3) for units, pairs in ((200, 1), (200, 190), (60, 28))]
    [0.051, 0.064, 0.077]

    Args:
        units: Of how many of equal weight.
        pairs: Of which the largest is looked at.
        alpha: The level of significance.
    """
    from scipy.special import ndtri, stdtr

    return float(pairs * 2 * stdtr(max(1.0, units - 1), float(ndtri(alpha / (2 * pairs)))))
