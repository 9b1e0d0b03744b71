"""Distributions whose formulas scipy lacks or computes too coarsely.

The functions take and return numbers. p-values are logarithms, which do not underflow. Intervals of proportions cover
one proportion, or the difference of two paired ones.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from registry.arrays import Floats, Ints
from registry.significance.base import Alternative, extremity


def log_normal_p(z: float, alternative: Alternative) -> float:
    """Log p of a statistic that is standard normal under the null; positive favours A."""
    return float(log_normal_ps(np.asarray(z), alternative))


def log_normal_ps(z: Floats, alternative: Alternative) -> Floats:
    """The same of many statistics."""
    from scipy.special import log_ndtr

    sides = 2 if alternative == "two-sided" else 1
    return np.minimum(0.0, log_ndtr(-extremity(z, alternative)) + math.log(sides))


def log_t_p(t: float, degrees: float, alternative: Alternative) -> float:
    """Log p of a statistic that is Student's t under the null; positive favours A."""
    from scipy.special import stdtr

    x = extremity(t, alternative)
    below, above = float(stdtr(degrees, x)), float(stdtr(degrees, -x))
    log_tail = _log_tail(below, above, "t", degrees, x, (degrees + 1) * x / (degrees + x * x))
    return min(0.0, math.log(2) + log_tail) if alternative == "two-sided" else log_tail


def log_chi_squared_p(statistic: float, degrees: int) -> float:
    """Log p of a statistic that is chi-squared under the null."""
    from scipy.special import chdtr, chdtrc

    below, above = float(chdtr(degrees, statistic)), float(chdtrc(degrees, statistic))
    rate = 0.5 - (degrees / 2 - 1) / statistic if statistic else 0.5
    return _log_tail(below, above, "chi2", degrees, statistic, rate)


def _log_tail(below: float, above: float, law: str, degrees: float, x: float, rate: float) -> float:
    """The logarithm of P(X >= x), which is `above`, also where this underflows; `below` is P(X <= x).

    There the density of scipy's `law` is integrated relative to that at x, where it falls at this `rate`.
    """
    if above >= 0.5:
        return float(np.log1p(-below))
    if above > 0 and (found := float(np.log(above))) > -700:
        return found
    from scipy import stats  # late, as few need it: it takes half a second to import
    from scipy.integrate import quad

    log_density = getattr(stats, law).logpdf
    start = float(log_density(x, degrees))
    area, _ = quad(lambda y: math.exp(float(log_density(x + y / rate, degrees)) - start), 0, math.inf)
    return start + math.log(area / rate)


_AT_ONCE = 2**12  # tails that are integrated at a time: what they need stays in the cache
_NODES = 28
_DROP = 38.0  # the integrand falls by exp(-38)
_FIRST, _LAST = 2**9, 2**10  # mantissas of which the logarithms are kept
_GRID = 2**26  # a multiple of 1 / _GRID times a count below 2^22 is exact
_SMALL = 16  # counts up to which the error of Stirling's formula is kept


def log_coins(for_a: Ints, for_b: Ints, alternative: Alternative, *, half: bool = False) -> Floats:
    """Log p of the sign test, where so many units favour A and B, [pairs] each; p = 1 without any.

    The error is below 1e-10 for up to 10^6 units, and below 1e-13 where p is above 1e-308.

    Args:
        for_a: Units that favour A.
        for_b: Units that favour B.
        alternative: `greater` means that A is favoured.
        half: Whether outcomes just as extreme as the observed one count half (the mid-p-value).
    """
    n, two_sided = for_a + for_b, alternative == "two-sided"
    bar = {"two-sided": np.maximum(for_a, for_b), "greater": for_a, "less": for_b}[alternative]
    below = 2 * bar < n  # then the tail is all but the other one
    tail = log_tail(np.where(below, n - bar + (not half), bar), n, half=half)
    found = np.where(below, np.log1p(-np.exp(np.where(below, tail, -math.inf))), tail + math.log(1 + two_sided))
    if two_sided and half:  # the middle is as extreme on either side, and counted half once
        found = np.where(for_a == for_b, np.log1p(-np.exp(_log_mass(bar, n)) / 2), found)
    return np.where(n == 0, 0.0, np.minimum(found, 0.0))


def log_tail(m: Ints, n: Ints, *, half: bool = False) -> Floats:
    """Log P(X >= m) for X binomial(n, 1/2) and m from n / 2 to n, [tails]; -inf for m = n + 1.

    With `half`, X = m counts half.
    """
    found = np.full(len(m), -math.inf)
    for at in range(0, len(m), _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        inside = m[some] <= n[some]
        k, of = m[some][inside], n[some][inside]
        found[some][inside] = _log_mass(k, of) + np.log(_ratio(k, of) - half / 2)
    return found


def _ratio(m: Ints, n: Ints) -> Floats:
    """P(X >= m) / P(X = m)."""
    nodes, weights = _quadrature()
    fall, bend = (2 * m - n - 1).astype(np.float64), (n - m).astype(np.float64)
    linear = np.maximum(fall, 0)
    with np.errstate(divide="ignore"):
        end = np.minimum(1, 2 * _DROP / (linear + np.sqrt(linear * linear + 4 * _DROP * bend)))
    w = end * nodes[:, None]
    # Not a product of matrices, whose sums depend on a pair's place among others in their last bit.
    sums = (weights[:, None] * np.exp(fall * np.log1p(-w) + bend * np.log1p(-w * w))).sum(axis=0)
    return np.where(n == 0, 1.0, m * end * sums)


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """The nodes and the weights of Gauss and Legendre from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights / 2


def _log_mass(m: Ints, n: Ints) -> Floats:
    """Log P(X = m)."""
    (first, rest), (first_other, rest_other) = _times_log(m, n), _times_log(n - m, n)
    spread = _stirling(n) - _stirling(m) - _stirling(n - m)
    return np.asarray((spread - rest - rest_other) - (first + first_other))


def _times_log(count: Ints, n: Ints) -> tuple[Floats, Floats]:
    """Count log(2 count / n) as a multiple of 1 / `_GRID`, which is exact, and what is left; 0 for a count of 0."""
    grid, rest = _logarithms()
    c, of = np.maximum(count, 1), np.maximum(n, 1).astype(np.float64)
    mantissa, exponent = np.frexp(2 * c / of)
    near = np.rint(mantissa * _LAST)
    at = near.astype(np.int64) - _FIRST
    apart = (np.ldexp(2.0 * _LAST * c, -exponent) - of * near) / (of * near)  # whole numbers up to the division
    return count * (grid[at] - exponent * grid[0]), count * (rest[at] - exponent * rest[0] + np.log1p(apart))


@cache
def _logarithms() -> tuple[Floats, Floats]:
    """Logarithms of the numbers from `_FIRST` to `_LAST`, over `_LAST`: multiples of 1 / `_GRID`, and what is left."""
    with localcontext(prec=40):
        exact = [(Decimal(n) / _LAST).ln() for n in range(_FIRST, _LAST + 1)]
        near = [round(value * _GRID) for value in exact]
        left = [float(value - Decimal(n) / _GRID) for value, n in zip(exact, near, strict=True)]
    return np.array(near) / _GRID, np.array(left)


def _stirling(count: Ints) -> Floats:
    """Log count! - count log count + count: the error of Stirling's formula with its square root; 0 for 0."""
    small = _small_stirling()[np.minimum(count, _SMALL - 1)]
    n = np.maximum(count, _SMALL).astype(np.float64)
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n
    return np.where(count < _SMALL, small, np.log(2 * math.pi * n) / 2 + series)


@cache
def _small_stirling() -> Floats:
    with localcontext(prec=40):
        return np.array([0.0] + [float(Decimal(math.factorial(n)).ln() - n * Decimal(n).ln() + n)
                                 for n in range(1, _SMALL)])


def noncentrality_interval(t: float, degrees: int, confidence: float) -> tuple[float, float]:
    """The interval of noncentralities under which the observed `t` is in neither tail.

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


_FEW = 3  # trials that went one way, up to which the end of the modified score interval is Poisson's


def clopper_pearson(hits: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The exact interval of a binomial proportion (Clopper and Pearson 1934).

    Args:
        hits: Counts of any shape.
        trials: The numbers of trials; for 0 the interval is [0, 1].
        confidence: The confidence level.

    Returns:
        The lower and the upper limits, in that shape.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    outside = (1 - confidence) / 2
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, outside), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - outside), 1.0)
    return low, high


def wilson(share: ArrayLike, trials: ArrayLike, quantile: ArrayLike) -> tuple[Floats, Floats]:
    """Give the proportions from which an observed `share` is no more than so many standard errors away (Wilson 1927).

    The standard error is that under the supposed proportion p, sqrt(p (1 - p) / trials), so the interval is within 0
    and 1 and has a width where all trials went the same way.

    Args:
        share: The observed proportions, of any shape.
        trials: The numbers of trials; of proportions of clusters, p (1 - p) over their squared standard error.
        quantile: How many standard errors: of the normal distribution, or Student's.
    """
    p, n, z = (np.asarray(of, dtype=np.float64) for of in (share, trials, quantile))
    pulled = z * z / n
    centre = p + pulled / 2
    reach = z * np.sqrt((p * (1 - p) + pulled / 4) / n)
    return np.maximum(0.0, (centre - reach) / (1 + pulled)), np.minimum(1.0, (centre + reach) / (1 + pulled))


def wilson_of_counts(hits: ArrayLike, trials: ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Give the modified score interval of counted trials.

    The score interval of rates near 0 and 1 covers too seldom: at the worst rate in 84 % of sets of 20 trials, and in
    92.4 % at 0.95. So with up to three failures (or successes) the end at their side is as far as the limit of
    Poisson's distribution (Brown, Cai and DasGupta 2001, section 4.1.1): from 20 trials on it then covers in 91.8 % or
    more, whatever the rate.

    Args:
        hits: Counts of any shape.
        trials: The numbers of trials, 1 at least.
        confidence: The confidence level.
    """
    k, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    low, high = wilson(k / n, n, NormalDist().inv_cdf((1 + confidence) / 2))
    if not (np.minimum(k, n - k) <= _FEW).any():
        return low, high
    from scipy.special import gammaincinv  # which takes longer to import than all intervals to compute

    for few in range(1, _FEW + 1):
        least = float(gammaincinv(few, 1 - confidence)) / n
        low = np.where(k == few, np.minimum(low, least), low)
        high = np.where(n - k == few, np.maximum(high, 1 - least), high)
    return low, high


def bonett_price(difference: ArrayLike, n_discordant: ArrayLike, n: ArrayLike,
                 quantile: float) -> tuple[Floats, Floats]:
    """The adjusted Wald interval of the difference of two paired proportions (Bonett and Price 2012).

    It is Wald's, with one more unit that only either of the two gets right. It needs nothing but the difference and how
    many units are discordant, at its worst holds as often as Tango's score interval from 50 units on (docs/limits.md),
    and is an expression that SQL can compute.

    Args:
        difference: Of the two proportions, of any shape.
        n_discordant: The units that just one of them gets right.
        n: All units.
        quantile: How many standard errors, of the normal distribution.
    """
    units = np.asarray(n, dtype=np.float64) + 2
    centre = np.asarray(difference) * np.asarray(n) / units
    reach = quantile * np.sqrt(((np.asarray(n_discordant) + 2) / units - centre**2) / units)
    return np.maximum(-1.0, centre - reach), np.minimum(1.0, centre + reach)


_STEPS, _CLOSE = 100, 4e-16  # of false position, and between the last two


def tango_statistic(only_a: ArrayLike, only_b: ArrayLike, n: ArrayLike, difference: ArrayLike) -> Floats:
    """Standardize the observed difference of two paired proportions against a supposed one (Tango 1998).

    The variance is that under the supposed difference, with the nuisance parameter at its maximum likelihood estimate.
    For a supposed difference of 0 it is the signed root of McNemar's statistic.

    Args:
        only_a: Units that only A gets right, of any shape.
        only_b: Units that only B gets right.
        n: All units.
        difference: From -1 to 1; positive favours A.
    """
    excess, variance = _tango(*_numbers(only_a, only_b, n, difference))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(excess == 0, 0.0, excess / np.sqrt(variance)))[()]


def tango_interval(only_a: ArrayLike, only_b: ArrayLike, n: ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Give the score interval of the difference of two paired proportions: what `tango_statistic` does not reject.

    Arguments as there; without units it is (-1, 1).
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    for_a, for_b, units = _numbers(only_a, only_b, n)
    return _tango_low(for_a, for_b, units, z)[()], -_tango_low(for_b, for_a, units, z)[()]


def _numbers(*of: ArrayLike) -> list[Floats]:
    return [np.asarray(numbers, dtype=np.float64) for numbers in of]


def _tango_low(only_a: Floats, only_b: Floats, n: Floats, z: float) -> Floats:
    """The lower end, between -1 and the observed difference: where the excess is z standard deviations.

    The excess less these is nearly a line, so false position by the Illinois rule needs few steps.
    """
    def beyond(difference: Floats) -> Floats:
        excess, variance = _tango(only_a, only_b, units, difference)
        return np.asarray(excess - z * np.sqrt(variance))

    units = np.maximum(n, 1)
    low, high = np.full(np.broadcast(only_a, only_b, n).shape, -1.0), (only_a - only_b) / units
    at_low, at_high, before = beyond(low), beyond(high), np.zeros(low.shape)
    for _ in range(_STEPS):
        span = at_low - at_high
        middle = np.where(span > 0, high + at_high * (high - low) / np.where(span > 0, span, 1), high)
        there = beyond(middle)
        above, below = there > 0, there < 0
        if not ((above | below) & (np.abs(middle - before) > _CLOSE)).any():
            break
        at_low = np.where(above, there, np.where(below & (middle <= before), at_low / 2, at_low))
        at_high = np.where(above, np.where(middle >= before, at_high / 2, at_high), there)
        low, high, before = np.where(above, middle, low), np.where(above, high, middle), middle
    never, always = (only_a == 0) & (only_b == 0), only_a == units  # no deviation at the observed difference either
    found = np.where(never | always, (np.where(always, n, 0) - z * z) / (n + z * z), middle)
    return np.where(only_b == n, -1.0, found)


def _tango(only_a: Floats, only_b: Floats, n: Floats, difference: Floats) -> tuple[Floats, Floats]:
    """The excess of A's successes over what is supposed, and its variance.

    With p the probability of what only B gets right, 2 n p^2 + b p - c = 0 at the maximum of likelihood.
    """
    turned = difference < 0  # by symmetry, so that no term below is negative
    for_a, for_b = np.where(turned, only_b, only_a), np.where(turned, only_a, only_b)
    d = np.abs(difference)
    b = (2 * n - for_a + for_b) * d - for_a - for_b
    c = for_b * d * (1 - d)
    root = np.sqrt(b * b + 8 * n * c)
    p = np.where(b > 0, 2 * c / np.where(b > 0, root + b, 1), (root - b) / (4 * n))
    return only_a - only_b - n * difference, n * (2 * p + d * (1 - d))
