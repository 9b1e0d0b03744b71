"""How large a difference is, beside how surely it is one: effect sizes of a pair, and tests of equivalence.

A p-value mixes the size of a difference with the size of the test set. Effect sizes tell the former, each with an
interval; and where two systems are to be called equivalent, that needs a margin which somebody declared, and two
one-sided tests that the difference lies within it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from registry.errors import InputError
from registry.significance.base import Method, Observed, Settings
from registry.significance.bootstrap import resampled_scores
from registry.significance.extremes import TOLERANCE, monte_carlo_tail
from registry.significance.ideal import MOST_UNDEFINED
from registry.significance.matrix import Floats
from registry.significance.normal import log_normal_p, log_t_p
from registry.significance.proportion import clopper_pearson
from registry.significance.units import unit_gains, unit_scores


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


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether the difference of a pair lies within a declared margin: two one-sided tests.

    Attributes:
        margin: Of the difference, to either side of 0, in units of the score.
        p_value: The larger of the two one-sided ones; nan where the test is undefined.
        low, high: The 1 - 2 alpha interval of the difference: inside the margin just when p <= alpha.
        note: Why a value is nan.
        test: `t` (paired), `score` (Tango's) or `bootstrap` (recentred); empty where no score is defined.
        method: How the p-value came about.
        p_low, p_high: 95 % Clopper-Pearson interval of a Monte-Carlo p-value.
        resamples: Draws behind a Monte-Carlo p-value; None for others.
    """

    margin: float
    p_value: float
    low: float
    high: float
    note: str = ""
    test: Literal["", "t", "score", "bootstrap"] = ""
    method: Method = "asymptotic"
    p_low: float = math.nan
    p_high: float = math.nan
    resamples: int | None = None


def effects(observed: Observed, confidence: float = 0.95) -> list[Effect]:
    """Give the effect sizes that apply to a pair, from the units in which both scores are defined.

    Args:
        observed: The pair, by unit.
        confidence: Of the intervals.

    Returns:
        `standardized_difference`: d_z, the mean gain of a unit over its standard deviation (Cohen 1988, section 2.3.5),
        with the interval that inverts the noncentral t distribution (Steiger and Fouladi 1997), for which gains must be
        nearly normal. `odds_ratio`: the units where A is better over those where B is, with the exact interval given
        their number (Clopper and Pearson 1934). `proportion_difference`, for units that are right or wrong: with
        Tango's score interval (Tango 1998). `probability_of_superiority`: the probability that A scores higher in a
        unit, ties counted half (Grissom and Kim 2012); it is (1 + the difference of two paired proportions) / 2, hence
        has the ends of Tango's interval, and without ties those of Wilson's.
    """
    gains, slack = unit_gains(observed)
    n, only_a, only_b = len(gains), int(np.count_nonzero(gains > 0)), int(np.count_nonzero(gains < 0))
    low, high = tango_interval(only_a, only_b, n, confidence)
    shift = (only_a - only_b) / n if n else math.nan
    missing = observed.matrix.n_units - n
    left_out = f"units left out for an undefined score: {missing}" if missing else ""
    apart = "" if observed.is_mean else "of the scores of units, of which the score is not the mean"
    runs = "" if observed.matrix.runs is None else "of averages over runs, which are taken as they are"
    about = "; ".join(filter(None, (left_out, apart, runs)))
    found = [_standardized(gains, slack, confidence, about), _odds(only_a, only_b, confidence, left_out)]
    if right_or_wrong(observed):
        found.append(Effect("proportion_difference", shift, low, high, about))
    found.append(Effect("probability_of_superiority", (1 + shift) / 2, (1 + low) / 2, (1 + high) / 2, left_out))
    return found


def equivalence(observed: Observed, margin: float, settings: Settings) -> Equivalence:
    """Test whether a pair's difference lies within a margin, by two one-sided tests (Schuirmann 1987).

    Where the score is the mean of the scores of units, these are Tango's score tests of +margin and -margin if units
    are right or wrong (Tango 1998; he proposed them for this), else paired t-tests. Any other score is tested by the
    paired bootstrap: differences d* - d of resamples, moved to either margin.

    Args:
        observed: The pair, by unit.
        margin: The largest difference that does not matter, in units of the score; declared before looking.
        settings: Its alpha is 1 - `confidence`; `resamples` and `seed` are the bootstrap's. The rest does not count.

    Raises:
        InputError: The margin is no positive number, or alpha is not below 1/2.
    """
    if not 0 < margin < math.inf:
        raise InputError(f"the margin of equivalence is {margin!r}; expected a difference of scores above 0")
    if not settings.confidence > 0.5:
        raise InputError(f"the confidence of a test of equivalence is {settings.confidence!r}; expected more than 0.5")
    if math.isnan(observed.difference):
        return Equivalence(margin, math.nan, math.nan, math.nan, "a score is undefined")
    if observed.matrix.runs is not None or not observed.is_mean:
        return _by_bootstrap(observed, margin, settings)
    return (_by_score if right_or_wrong(observed) else _by_t)(observed, margin, settings)


def tango_statistic(only_a: int, only_b: int, n: int, difference: float) -> float:
    """Standardize the observed difference of two paired proportions against a supposed one (Tango 1998).

    Its variance is the supposed one's, with the nuisance parameter at its maximum of likelihood. At 0 it is the root of
    McNemar's statistic.

    Args:
        only_a: Units that only A gets right.
        only_b: Units that only B gets right.
        n: All units.
        difference: From -1 to 1; positive favours A.
    """
    excess, variance = _tango(only_a, only_b, n, difference)
    if variance:
        return excess / math.sqrt(variance)
    return math.copysign(math.inf, excess) if excess else 0.0


def tango_interval(only_a: int, only_b: int, n: int, confidence: float) -> tuple[float, float]:
    """Give the score interval of the difference of two paired proportions: what `tango_statistic` does not reject.

    Arguments as there; without units it is (-1, 1).
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    return _tango_low(only_a, only_b, n, z), -_tango_low(only_b, only_a, n, z)


def _tango_low(only_a: int, only_b: int, n: int, z: float) -> float:
    from scipy.optimize import brentq

    if only_b == n:
        return -1.0

    def beyond(difference: float) -> float:
        # z / sqrt(1 + z^2) in place of z: it stays finite where the variance vanishes
        excess, variance = _tango(only_a, only_b, n, difference)
        return (excess / math.sqrt(excess**2 + variance) if excess else 0.0) - z / math.hypot(1, z)

    return float(brentq(beyond, -1, (only_a - only_b) / n, xtol=1e-15))


def _tango(only_a: int, only_b: int, n: int, difference: float) -> tuple[float, float]:
    """The excess of A's successes over what is supposed, and its variance.

    With p the probability of what only B gets right, 2 n p^2 + b p - c = 0 at the maximum of likelihood.
    """
    if difference < 0:  # by symmetry, so that no term below is negative
        excess, variance = _tango(only_b, only_a, n, -difference)
        return -excess, variance
    b = (2 * n - only_a + only_b) * difference - only_a - only_b
    c = only_b * difference * (1 - difference)
    root = math.sqrt(b * b + 8 * n * c)
    p = 2 * c / (root + b) if b > 0 else (root - b) / (4 * n)
    return only_a - only_b - n * difference, n * (2 * p + difference * (1 - difference))


def _standardized(gains: Floats, slack: float, confidence: float, note: str) -> Effect:
    name, n = "standardized_difference", len(gains)
    if not n:
        return Effect(name, math.nan, note="no unit in which both scores are defined")
    if not gains.any():
        return Effect(name, 0.0, note="the scores are equal in every unit")
    if n < 2 or np.ptp(gains) <= slack:
        return Effect(name, math.nan, note="the difference is the same in every unit")
    value = float(gains.mean() / gains.std(ddof=1))
    low, high = (limit / math.sqrt(n) for limit in noncentrality_interval(value * math.sqrt(n), n - 1, confidence))
    return Effect(name, value, low, high, note)


def noncentrality_interval(t: float, degrees: int, confidence: float) -> tuple[float, float]:
    """Give the noncentralities of Student's t under which the observed `t` is in neither tail.

    P(T <= t) at noncentrality x is P(x <= t S + Z), with Z normal and S^2 chi-squared over its degrees of freedom; the
    limits are quantiles of t S + Z. Its distribution function is the mean of that of the wider of the two, over 200
    quantiles of the narrower; tails are right to 1e-5 with one degree of freedom, 1e-7 with more. (scipy's nctdtrinc is
    right to 4 digits at t = 1000 and does not return at 10^6.)
    """
    from scipy.optimize import brentq
    from scipy.special import gammainc, gammaincinv, ndtr, ndtri

    if t < 0:
        low, high = noncentrality_interval(-t, degrees, confidence)
        return -high, -low
    half, outside = degrees / 2, (1 - confidence) / 2
    levels, weights = quantile_levels()
    scales, shifts = np.sqrt(gammaincinv(half, levels) / half), ndtri(levels)

    def below(x: float) -> float:
        if t < math.sqrt(2 * degrees):  # t S has a standard deviation of about t / sqrt(2 degrees)
            return float(weights @ ndtr(x - t * scales))
        return float(weights @ gammainc(half, half * (np.maximum(x - shifts, 0) / t) ** 2))

    # S and Z are together beyond these ends too rarely for a quantile that is asked for
    ends = np.array([outside / 4, 1 - outside / 4])
    first, last = t * np.sqrt(gammaincinv(half, ends) / half) + ndtri(ends)

    def quantile(level: float) -> float:
        return float(brentq(lambda x: below(x) - level, first, last))

    return quantile(outside), quantile(1 - outside)


@cache
def quantile_levels() -> tuple[Floats, Floats]:
    """Nodes and weights for the mean over [0, 1]: Gauss-Legendre, drawn to the ends, where quantiles bend."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return (2 + 3 * nodes - nodes**3) / 4, weights * 3 * (1 - nodes**2) / 4


def _odds(only_a: int, only_b: int, confidence: float, note: str) -> Effect:
    low, high = map(float, clopper_pearson(only_a, only_a + only_b, confidence))
    value = only_a / only_b if only_b else math.inf if only_a else math.nan
    return Effect("odds_ratio", value, low / (1 - low), high / (1 - high) if high < 1 else math.inf,
                  note if only_a or only_b else "no unit favours either system")


def right_or_wrong(observed: Observed) -> bool:
    """Whether every unit where both scores are defined is right or wrong."""
    a, b = unit_scores(observed)
    both = ~np.isnan(a) & ~np.isnan(b)
    return bool(both.any()) and bool(np.isin([a[both], b[both]], (0, 1)).all())


def _by_t(o: Observed, margin: float, settings: Settings) -> Equivalence:
    from scipy.special import stdtrit

    gains, slack = unit_gains(o)
    n = len(gains)
    if n < 2 or np.ptp(gains) <= slack:
        return Equivalence(margin, math.nan, math.nan, math.nan, "the difference is the same in every unit", "t")
    mean, error = float(gains.mean()), float(gains.std(ddof=1)) / math.sqrt(n)
    log_p = max(log_t_p((mean + margin) / error, n - 1, "greater"), log_t_p((mean - margin) / error, n - 1, "less"))
    reach = float(stdtrit(n - 1, settings.confidence)) * error
    return Equivalence(margin, math.exp(log_p), mean - reach, mean + reach, test="t")


def _by_score(o: Observed, margin: float, settings: Settings) -> Equivalence:
    if margin >= 1:
        return Equivalence(margin, math.nan, math.nan, math.nan, "the margin is as wide as proportions can differ",
                           "score")
    gains, _ = unit_gains(o)
    n, only_a, only_b = len(gains), int(np.count_nonzero(gains > 0)), int(np.count_nonzero(gains < 0))
    log_p = max(log_normal_p(tango_statistic(only_a, only_b, n, -margin), "greater"),
                log_normal_p(tango_statistic(only_a, only_b, n, margin), "less"))
    low, high = tango_interval(only_a, only_b, n, 2 * settings.confidence - 1)
    return Equivalence(margin, math.exp(log_p), low, high, test="score")


def _by_bootstrap(o: Observed, margin: float, settings: Settings) -> Equivalence:
    resamples, d, undefined = settings.resamples, o.difference, math.nan
    a, b = (resampled_scores(o.matrix, settings)[:, system] for system in o.pair)
    moved = o.matrix.gain(a, b) - d
    moved.sort()  # undefined ones come last
    n_undefined = int(np.count_nonzero(np.isnan(moved)))
    moved = moved[:resamples - n_undefined]
    tolerance = TOLERANCE * float(np.abs(o.matrix.scores()[list(o.pair)]).max())
    if len(moved) and not (np.abs(moved) > tolerance).any():
        return Equivalence(margin, undefined, undefined, undefined, "the difference is the same in every resample",
                           "bootstrap", "monte-carlo", resamples=resamples)
    # under a difference of -margin (+margin), how many would be as large (small) as observed; undefined ones count
    extremes = n_undefined + max(int(np.count_nonzero(moved >= d + margin - tolerance)),
                                 int(np.count_nonzero(moved <= d - margin + tolerance)))
    tail = monte_carlo_tail(extremes, resamples)
    low = high = undefined
    if n_undefined <= MOST_UNDEFINED * resamples:
        # dual to the test: (c + 1) / (R + 1) <= alpha where the k-th largest of them falls short of what was observed
        k = math.floor((1 - settings.confidence) * (resamples + 1) * (1 + 1e-12)) - n_undefined
        low, high = (d - moved[-k], d - moved[k - 1]) if k > 0 else (-math.inf, math.inf)
        low, high = (end if abs(abs(end) - margin) > tolerance else math.copysign(margin, end) for end in (low, high))
    return Equivalence(
        margin, (extremes + 1) / (resamples + 1), float(low), float(high),
        "undefined in more than 0.1 % of the resamples: no interval" if math.isnan(low) else "", "bootstrap",
        "monte-carlo", tail.p_low, tail.p_high, resamples)
