"""Corrections of a family of p-values; `CORRECTIONS` maps a correction's name to its function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from registry.significance.matrix import Floats


def holm(p: Floats) -> Floats:
    """Adjust step-down so that the family-wise error is controlled under any dependence (Holm 1979)."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1)
    return adjusted


def bonferroni(p: Floats) -> Floats:
    """Multiply by the size of the family: family-wise error control under any dependence."""
    return np.minimum(p * len(p), 1)


def uncorrected(p: Floats) -> Floats:
    """Leave the p-values as they are: every pair is judged alone, and errors add up over the family."""
    return p.copy()


CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": holm, "bonferroni": bonferroni, "none": uncorrected,
}


def adjust(p: Floats, correction: str) -> Floats:
    """Adjust the p-values of a family by the `correction` of that name.

    An undefined p-value (nan) stays so and counts in the family as one that rejects nothing.
    """
    defined = np.where(np.isnan(p), 1.0, p)
    return np.where(np.isnan(p), np.nan, CORRECTIONS[correction](defined))
