"""Effect sizes of a pair with their intervals.

A p-value depends on the size of the difference and on that of the test set, an effect size on the former alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from registry.significance.base import Observed
from registry.significance.distributions.clopper_pearson import clopper_pearson
from registry.significance.distributions.noncentral_t import noncentrality_interval
from registry.significance.distributions.tango import tango_interval
from registry.significance.matrix import Floats
from registry.significance.units import has_binary_units, unit_differences


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect size of a pair (A, B), with its interval; positive, above 1 or above 1/2 where A is better.

    Attributes:
        name: `standardized_difference`, `odds_ratio`, `proportion_difference` or `probability_of_superiority`.
        value: nan where it is undefined.
        low, high: Its interval; nan where there is none.
        note: Why a value is nan, or what else a reader must know.
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    note: str = ""


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
    low, high = tango_interval(only_a, only_b, n, confidence)
    shift = (only_a - only_b) / n if n else math.nan
    missing = observed.matrix.n_units - n
    left_out = f"units left out for an undefined score: {missing}" if missing else ""
    apart = "" if observed.is_mean else "of the scores of units, of which the score is not the mean"
    runs = "" if observed.matrix.runs is None else "of averages over runs, which are taken as they are"
    about = "; ".join(filter(None, (left_out, apart, runs)))
    found = [_standardized(differences, slack, confidence, about), _odds(only_a, only_b, confidence, left_out)]
    if has_binary_units(observed):
        found.append(Effect("proportion_difference", shift, low, high, about))
    found.append(Effect("probability_of_superiority", (1 + shift) / 2, (1 + low) / 2, (1 + high) / 2, left_out))
    return found


def _standardized(differences: Floats, slack: float, confidence: float, note: str) -> Effect:
    name, n = "standardized_difference", len(differences)
    if not n:
        return Effect(name, math.nan, note="no unit in which both scores are defined")
    if not differences.any():
        return Effect(name, 0.0, note="the scores are equal in every unit")
    if n < 2 or np.ptp(differences) <= slack:
        return Effect(name, math.nan, note="the difference is the same in every unit")
    value = float(differences.mean() / differences.std(ddof=1))
    low, high = (limit / math.sqrt(n) for limit in noncentrality_interval(value * math.sqrt(n), n - 1, confidence))
    return Effect(name, value, low, high, note)


def _odds(only_a: int, only_b: int, confidence: float, note: str) -> Effect:
    low, high = map(float, clopper_pearson(only_a, only_a + only_b, confidence))
    value = only_a / only_b if only_b else math.inf if only_a else math.nan
    return Effect("odds_ratio", value, low / (1 - low), high / (1 - high) if high < 1 else math.inf,
                  note if only_a or only_b else "no unit favours either system")
