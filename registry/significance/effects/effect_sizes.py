"""Effect sizes of a pair with their intervals.

A p-value depends on the size of the difference and on that of the test set, an effect size on the former alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from registry.arrays import Floats, Ints
from registry.messages import NO_MESSAGES, Messages
from registry.significance.base import Observed
from registry.significance.diagnostics.exchangeability import LEAST_RATIO
from registry.significance.distributions import clopper_pearson, noncentrality_interval, tango_interval
from registry.significance.units import has_binary_units, unit_differences

Counts = Ints


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect size of a pair (A, B), with its interval; positive, above 1 or above 1/2 where A is better.

    Attributes:
        name: `standardized_difference`, `odds_ratio`, `proportion_difference` or `probability_of_superiority`.
        value: nan where it is undefined.
        low, high: Its interval; nan where there is none.
        messages: Why a value is nan, and other messages.
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    messages: Messages = NO_MESSAGES


def effects(observed: Observed, confidence: float = 0.95) -> list[Effect]:
    """Give the effect sizes that apply to a pair, from the units in which both scores are defined.

    Args:
        observed: The pair, by unit.
        confidence: Of the intervals.

    Returns:
        `standardized_difference`: d_z, the mean difference of units over its standard deviation (Cohen 1988, section
        2.3.5), with the interval that inverts the noncentral t distribution (Steiger and Fouladi 1997), for nearly
        normal differences. `odds_ratio`: the units where A is better over those where B is, with the exact interval
        given their number (Clopper and Pearson 1934). `proportion_difference`, for units that are right or wrong: with
        Tango's score interval (Tango 1998). `probability_of_superiority`: the probability that A scores higher in a
        unit, ties counted half (Grissom and Kim 2012); it is (1 + the difference of two paired proportions) / 2, so its
        interval follows from Tango's, and without ties from Wilson's.
    """
    differences, slack = unit_differences(observed)
    n, only_a, only_b = len(differences), int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    missing = observed.matrix.n_units - n
    left_out = Messages.of("units-left-out", units=missing) if missing else NO_MESSAGES
    apart = NO_MESSAGES if observed.is_mean else Messages.of("effect-of-units")
    runs = NO_MESSAGES if observed.matrix.runs is None else Messages.of("effect-of-averages")
    about = Messages((*left_out, *apart, *runs))
    messages = {"odds_ratio": left_out if only_a or only_b else Messages.of("no-unit-favours"),
                "proportion_difference": about, "probability_of_superiority": left_out}
    counted = counted_effects(np.array(only_a), np.array(only_b), np.array(n), confidence)
    if not has_binary_units(observed):
        del counted["proportion_difference"]
    return [_standardized(differences, slack, confidence, about),
            *(Effect(name, float(value), float(low), float(high), messages[name])
              for name, (value, low, high) in counted.items())]


def counted_effects(only_a: Counts, only_b: Counts, n: Counts,
                    confidence: float = 0.95) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Give the effect sizes that are made of counts, by name: values and the ends of intervals, for many pairs at once.

    Args:
        only_a: Units in which A is better, of any shape.
        only_b: Units in which B is better.
        n: All units in which both scores are defined.
        confidence: Of the intervals.
    """
    def odds(share: Floats) -> Floats:
        return np.where(share < 1, share / np.where(share < 1, 1 - share, 1), np.inf)

    odds_low, odds_high = map(odds, clopper_pearson(only_a, only_a + only_b, confidence))
    low, high = tango_interval(only_a, only_b, n, confidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift, ratio = (only_a - only_b) / n, np.divide(only_a, only_b)
    return {"odds_ratio": (ratio, odds_low, odds_high),
            "proportion_difference": (shift, low, high),
            "probability_of_superiority": ((1 + shift) / 2, (1 + low) / 2, (1 + high) / 2)}


def _standardized(differences: Floats, slack: float, confidence: float, messages: Messages) -> Effect:
    name, n = "standardized_difference", len(differences)
    if not n:
        return Effect(name, math.nan, messages=Messages.of("no-shared-scores"))
    if not differences.any():
        return Effect(name, 0.0, messages=Messages.of("equal-scores"))
    if n < 2 or np.ptp(differences) <= slack:
        return Effect(name, math.nan, messages=Messages.of("constant-difference", over="unit"))
    value = float(differences.mean() / differences.std(ddof=1))
    low, high = (limit / math.sqrt(n) for limit in noncentrality_interval(value * math.sqrt(n), n - 1, confidence))
    long_tails = Messages.of("narrow-effect-interval") if _varies_more(differences) else NO_MESSAGES
    return Effect(name, value, low, high, Messages((*messages, *long_tails)))


def _varies_more(differences: Floats) -> bool:
    """Whether a standardized difference d clearly has a larger error than its interval, for normal units, allows.

    With skewness s and kurtosis k of n units, sqrt(n) d has the variance 1 - d s + d^2 (k - 1) / 4 in the limit, and
    1 + d^2 / 2 where they are normal (the delta method). Of normal samples s and k deviate by sqrt(6 / n) and
    sqrt(24 / n).
    """
    n, z = len(differences), differences / differences.std()
    d, z = z.mean(), z - z.mean()
    normal, more = 1 + d**2 / 2, -d * (z**3).mean() + d**2 / 4 * ((z**4).mean() - 3)
    by_chance = math.sqrt((6 * d**2 + 1.5 * d**4) / n)
    return bool(more > 2 * by_chance and normal < LEAST_RATIO**2 * (normal + more))
