"""p-values and intervals that scipy lacks or computes less accurately.

The functions take and return numbers or arrays. p-values are logarithms, which do not underflow. There are intervals of
one proportion, and of the difference of two paired proportions.
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

_AT_ONCE = 2**12  # tails that are integrated in one step, so that their arrays stay in the cache
_NODES = 28
_DROP = 38.0  # the integral ends where the integrand is exp(-38)
_FIRST, _LAST = 2**9, 2**10  # mantissas whose logarithms are tabulated
_GRID = 2**26  # a multiple of 1 / _GRID times a count below 2^22 is exact
_SMALL = 16  # for smaller counts the error of Stirling's formula is tabulated
_FEW = 3  # with up to 3 failures or successes, an end of the modified score interval is Poisson's limit
_STEPS, _CLOSE = 100, 4e-16  # false position: largest number of steps, and size of the last step

_find_nodes = cache(np.polynomial.legendre.leggauss)


def log_normal_p(z: float, alternative: Alternative) -> float:
    """Return the log p-value of a statistic that is standard normal under the null.

    Args:
        z: The statistic; positive values are evidence that system A is better.
        alternative: `greater` means that A is better.
    """
    return float(log_normal_ps(np.asarray(z), alternative))


def log_normal_ps(z: Floats, alternative: Alternative) -> Floats:
    """Return the log p-values of statistics that are standard normal under the null.

    Args:
        z: The statistics; positive values are evidence that system A is better.
        alternative: `greater` means that A is better.
    """
    from scipy.special import log_ndtr

    sides = 2 if alternative == "two-sided" else 1
    return np.minimum(0.0, log_ndtr(-extremity(z, alternative)) + math.log(sides))


def log_t_p(t: float, degrees: float, alternative: Alternative) -> float:
    """Return the log p-value of a statistic that has Student's t distribution.

    Args:
        t: The statistic; positive values are evidence that system A is better.
        degrees: Degrees of freedom.
        alternative: `greater` means that A is better.
    """
    from scipy.special import stdtr

    x = extremity(t, alternative)
    below, above = float(stdtr(degrees, x)), float(stdtr(degrees, -x))
    log_p = _compute_log_tail(below, above, "t", degrees, x, (degrees + 1) * x / (degrees + x * x))
    return min(0.0, math.log(2) + log_p) if alternative == "two-sided" else log_p


def log_chi_squared_p(statistic: float, degrees: int) -> float:
    """Return the log p-value of a statistic with a chi-squared distribution."""
    from scipy.special import chdtr, chdtrc

    below, above = float(chdtr(degrees, statistic)), float(chdtrc(degrees, statistic))
    rate = 0.5 - (degrees / 2 - 1) / statistic if statistic else 0.5
    return _compute_log_tail(below, above, "chi2", degrees, statistic, rate)


def _compute_log_tail(below: float, above: float, law: str, degrees: float, x: float, rate: float) -> float:
    """Return log P(X >= x) of a random variable X, even if P(X >= x) underflows.

    If it underflows, the density is integrated relative to the density at x.

    Args:
        below: P(X <= x).
        above: P(X >= x), which may have underflowed to 0.
        law: Name of the distribution in scipy.stats.
        degrees: Degrees of freedom.
        x: The value.
        rate: Rate at which the logarithm of the density falls at x.
    """
    if above >= 0.5:
        return float(np.log1p(-below))
    if above > 0 and (log_p := float(np.log(above))) > -700:
        return log_p
    from scipy import stats  # imported here, because it takes half a second and few p-values need it
    from scipy.integrate import quad

    log_density = getattr(stats, law).logpdf
    start = float(log_density(x, degrees))
    area, _ = quad(lambda y: math.exp(float(log_density(x + y / rate, degrees)) - start), 0, math.inf)
    return start + math.log(area / rate)


def log_sign_p(for_a: Ints, for_b: Ints, alternative: Alternative, *, half: bool = False) -> Floats:
    """Return the log p-values of sign tests, [pairs].

    A p-value is 1 if no unit favours either system. The error of the logarithm is below 1e-10 for up to 10^6 units, and
    below 1e-13 if p is above 1e-308.

    Args:
        for_a: Numbers of units (items or clusters) that favour system A, [pairs].
        for_b: Numbers of units that favour system B, [pairs].
        alternative: `greater` means that A is favoured.
        half: Count only half of the outcomes that are exactly as extreme as the observed one (mid-p-value).
    """
    n, two_sided = for_a + for_b, alternative == "two-sided"
    bar = {"two-sided": np.maximum(for_a, for_b), "greater": for_a, "less": for_b}[alternative]
    below = 2 * bar < n  # the tail is then the complement of the opposite tail
    tail = log_tail(np.where(below, n - bar + (not half), bar), n, half=half)
    log_p = np.where(below, np.log1p(-np.exp(np.where(below, tail, -math.inf))), tail + math.log(1 + two_sided))
    if two_sided and half:  # the middle outcome belongs to both sides, and only half of it is counted
        log_p = np.where(for_a == for_b, np.log1p(-np.exp(_log_mass(bar, n)) / 2), log_p)
    return np.where(n == 0, 0.0, np.minimum(log_p, 0.0))


def log_tail(m: Ints, n: Ints, *, half: bool = False) -> Floats:
    """Return the log probability of at least `m` heads in `n` tosses of a fair coin.

    The arrays have one value per probability. m must be between n / 2 and n + 1; the result is -inf for m = n + 1. Very
    small probabilities are as accurate as others.

    Args:
        m: Numbers of heads.
        n: Numbers of tosses.
        half: True to count only half of the probability of exactly m heads.
    """
    # P(X >= m) = P(X = m) F. The first factor is that of Loader (2000, "Fast and accurate computation of binomial
    # probabilities"): a deviance and errors of Stirling's formula. Here the deviance has a few more digits than a
    # float, since it can be as large as n log 2. From the incomplete beta function, F is m times the integral of (1 -
    # w)^(m - 1) (1 + w)^(n - m) over w from 0 to 1. The integrand decreases from 1 faster than exp(-(2 m - n - 1) w -
    # (n - m) w^2). A Gaussian quadrature with few nodes over the relevant range yields nearly all digits of a float.
    # Only positive numbers are added.
    log_p = np.full(len(m), -math.inf)
    nodes, weights = _find_nodes(_NODES)
    nodes, weights = (nodes + 1) / 2, weights / 2
    for start in range(0, len(m), _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        inside = m[block] <= n[block]
        k, coins = m[block][inside], n[block][inside]
        fall, bend = (2 * k - coins - 1).astype(np.float64), (coins - k).astype(np.float64)
        linear = np.maximum(fall, 0)
        with np.errstate(divide="ignore"):
            end = np.minimum(1, 2 * _DROP / (linear + np.sqrt(linear * linear + 4 * _DROP * bend)))
        w = end * nodes[:, None]
        # Not a matrix product: the last bit of its sums depends on the position of a pair among others.
        sums = (weights[:, None] * np.exp(fall * np.log1p(-w) + bend * np.log1p(-w * w))).sum(axis=0)
        ratio = np.where(coins == 0, 1.0, k * end * sums)
        log_p[block][inside] = _log_mass(k, coins) + np.log(ratio - half / 2)
    return log_p


def _log_mass(m: Ints, n: Ints) -> Floats:
    # of exactly m heads in n tosses of a fair coin
    (first, rest), (first_other, rest_other) = _times_log(m, n), _times_log(n - m, n)
    spread = _stirling_error(n) - _stirling_error(m) - _stirling_error(n - m)
    return np.asarray((spread - rest - rest_other) - (first + first_other))


def _times_log(count: Ints, n: Ints) -> tuple[Floats, Floats]:
    """Return count * log(2 count / n) more precisely than a float, as two numbers.

    The sum of the two numbers is the result. The first one is exact, a multiple of 1 / `_GRID`; the second one is the
    remainder. Both are 0 if the count is 0.
    """
    grid, rest = _tabulate_logarithms()
    c, total = np.maximum(count, 1), np.maximum(n, 1).astype(np.float64)
    mantissa, exponent = np.frexp(2 * c / total)
    near = np.rint(mantissa * _LAST)
    place = near.astype(np.int64) - _FIRST
    # Whole numbers up to the division.
    distance = (np.ldexp(2.0 * _LAST * c, -exponent) - total * near) / (total * near)
    return (count * (grid[place] - exponent * grid[0]),
            count * (rest[place] - exponent * rest[0] + np.log1p(distance)))


@cache
def _tabulate_logarithms() -> tuple[Floats, Floats]:
    # log(k / _LAST) for k from _FIRST to _LAST, as a multiple of 1 / _GRID and a remainder
    with localcontext(prec=40):
        exact = [(Decimal(n) / _LAST).ln() for n in range(_FIRST, _LAST + 1)]
        near = [round(value * _GRID) for value in exact]
        left = [float(value - Decimal(n) / _GRID) for value, n in zip(exact, near, strict=True)]
    return np.array(near) / _GRID, np.array(left)


def _stirling_error(count: Ints) -> Floats:
    # log n! - n log n + n; 0 for a count of 0
    small = _small_stirling_errors()[np.minimum(count, _SMALL - 1)]
    n = np.maximum(count, _SMALL).astype(np.float64)
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n
    return np.where(count < _SMALL, small, np.log(2 * math.pi * n) / 2 + series)


@cache
def _small_stirling_errors() -> Floats:
    with localcontext(prec=40):
        return np.array([0.0] + [float(Decimal(math.factorial(n)).ln() - n * Decimal(n).ln() + n)
                                 for n in range(1, _SMALL)])


def noncentrality_interval(t: float, degrees: int, confidence: float) -> tuple[float, float]:
    """Return the confidence interval of the noncentrality parameter of Student's t.

    The interval contains the parameters for which the observed `t` is in neither tail of the distribution. Tail
    probabilities have an error of 1e-5 with one degree of freedom, and 1e-7 with more.
    """
    # P(T <= t) at the parameter x is P(x <= t S + Z), where Z is normal and S^2 is chi-squared divided by its degrees
    # of freedom. So the limits are quantiles of t S + Z. Its distribution function is the mean of the distribution
    # function of the wider variable, over 200 quantiles of the narrower one. (scipy's nctdtrinc is correct to 4 digits
    # at t = 1000 and does not return at 10^6.)
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

    # S and Z together exceed these ends too rarely to affect the quantiles below
    ends = np.array([outside / 4, 1 - outside / 4])
    first, last = t * np.sqrt(gammaincinv(half, ends) / half) + ndtri(ends)

    low, high = (float(brentq(lambda x, level: below(x) - level, first, last, (level,)))
                 for level in (outside, 1 - outside))
    return low, high


@cache
def quantile_levels() -> tuple[Floats, Floats]:
    """Return nodes and weights to average a function over [0, 1] numerically.

    The nodes are transformed Gauss-Legendre nodes, denser at the ends, where quantile functions are steep.
    """
    nodes, weights = _find_nodes(200)
    return (2 + 3 * nodes - nodes**3) / 4, weights * 3 * (1 - nodes**2) / 4



def clopper_pearson(hits: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the exact interval of a binomial proportion (Clopper and Pearson 1934).

    Args:
        hits: Numbers of successes, of any shape.
        trials: Numbers of trials; for 0 trials the interval is [0, 1].
        confidence: Confidence level.

    Returns:
        Lower and upper limits, of the same shape.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    outside = (1 - confidence) / 2
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, outside), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - outside), 1.0)
    return low, high


def wilson(share: ArrayLike, trials: ArrayLike, quantile: ArrayLike) -> tuple[Floats, Floats]:
    """Return Wilson's score interval of proportions (Wilson 1927).

    The interval contains the proportions p that differ from the observed share by at most `quantile` standard errors,
    sqrt(p (1 - p) / trials). So it is within 0 and 1, and has a positive width even if all trials agree.

    Args:
        share: Observed proportions, of any shape.
        trials: Numbers of trials. For clustered trials: the effective number, p (1 - p) divided by the squared standard
            error.
        quantile: Quantile of the normal or of Student's distribution.
    """
    p, n, z = (np.asarray(values, dtype=np.float64) for values in (share, trials, quantile))
    pulled = z * z / n
    centre = p + pulled / 2
    reach = z * np.sqrt((p * (1 - p) + pulled / 4) / n)
    return np.maximum(0.0, (centre - reach) / (1 + pulled)), np.minimum(1.0, (centre + reach) / (1 + pulled))


def wilson_of_counts(hits: ArrayLike, trials: ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Return Wilson's score interval of proportions, improved near 0 and 1.

    The coverage of Wilson's interval is too low for rates near 0 and 1: at the worst rate 84 % for sets of 20 trials,
    and 92.4 % at 0.95. So with up to three failures (or successes), the end on that side is extended to the limit of
    the Poisson distribution (Brown, Cai and DasGupta 2001, section 4.1.1). With 20 or more trials the coverage is then
    at least 91.8 % for every rate.

    Args:
        hits: Numbers of successes, of any shape.
        trials: Numbers of trials, at least 1.
        confidence: Confidence level.
    """
    k, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    low, high = wilson(k / n, n, NormalDist().inv_cdf((1 + confidence) / 2))
    if not (np.minimum(k, n - k) <= _FEW).any():
        return low, high
    from scipy.special import gammaincinv  # imported here: the import takes longer than all intervals

    for few in range(1, _FEW + 1):
        least = float(gammaincinv(few, 1 - confidence)) / n
        low = np.where(k == few, np.minimum(low, least), low)
        high = np.where(n - k == few, np.maximum(high, 1 - least), high)
    return low, high


def bonett_price(difference: ArrayLike, n_discordant: ArrayLike, n: ArrayLike,
                 quantile: float) -> tuple[Floats, Floats]:
    """Return the adjusted Wald interval of the difference of two paired proportions.

    The interval is that of Bonett and Price (2012): Wald's interval after adding two units, one that only system A gets
    right and one that only B gets right. SQL can compute it from the difference and the number of discordant units.
    With 50 or more units its worst coverage equals that of Tango's interval (docs/limits.md).

    Args:
        difference: Differences of the two proportions, of any shape.
        n_discordant: Numbers of units (items or clusters) that exactly one system gets right.
        n: Numbers of all units.
        quantile: Quantile of the normal distribution.
    """
    units = np.asarray(n, dtype=np.float64) + 2
    centre = np.asarray(difference) * np.asarray(n) / units
    reach = quantile * np.sqrt(((np.asarray(n_discordant) + 2) / units - centre**2) / units)
    return np.maximum(-1.0, centre - reach), np.minimum(1.0, centre + reach)



def tango_statistic(only_a: ArrayLike, only_b: ArrayLike, n: ArrayLike, difference: ArrayLike) -> Floats:
    """Return Tango's score statistic of the difference of two paired proportions.

    The statistic is the observed minus a hypothetical difference, divided by the standard error under the hypothesis.
    For a hypothetical difference of 0 it is the signed root of McNemar's statistic (Tango 1998).

    Args:
        only_a: Numbers of units (items or clusters) that only system A gets right, of any shape.
        only_b: Numbers of units that only system B gets right.
        n: Numbers of all units.
        difference: Hypothetical difference, from -1 to 1; positive favours A.
    """
    excess, variance = _tango(*(np.asarray(values, dtype=np.float64) for values in (only_a, only_b, n, difference)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(excess == 0, 0.0, excess / np.sqrt(variance)))[()]


def tango_interval(only_a: ArrayLike, only_b: ArrayLike, n: ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """Return Tango's score interval of the difference of two paired proportions.

    The interval contains the differences that Tango's score test does not reject (Tango 1998). Without units it is (-1,
    1).

    Args:
        only_a: Numbers of units (items or clusters) that only system A gets right, of any shape.
        only_b: Numbers of units that only system B gets right.
        n: Numbers of all units.
        confidence: Confidence level.
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    for_a, for_b, units = (np.asarray(values, dtype=np.float64) for values in (only_a, only_b, n))
    return _tango_low(for_a, for_b, units, z)[()], -_tango_low(for_b, for_a, units, z)[()]


def _tango_low(only_a: Floats, only_b: Floats, n: Floats, z: float) -> Floats:
    """Find the lower end of Tango's interval, where Tango's statistic equals `z`.

    The search is from -1 to the observed difference, by false position with the Illinois rule.
    """
    # There, the numerator of the statistic minus z times its denominator is nearly linear, so few steps are needed.
    def beyond(difference: Floats) -> Floats:
        excess, variance = _tango(only_a, only_b, units, difference)
        return np.asarray(excess - z * np.sqrt(variance))

    units = np.maximum(n, 1)
    low, high = np.full(np.broadcast(only_a, only_b, n).shape, -1.0), (only_a - only_b) / units
    at_low, at_high, previous = beyond(low), beyond(high), np.zeros(low.shape)
    for _ in range(_STEPS):
        span = at_low - at_high
        middle = np.where(span > 0, high + at_high * (high - low) / np.where(span > 0, span, 1), high)
        at_middle = beyond(middle)
        above, below = at_middle > 0, at_middle < 0
        if not ((above | below) & (np.abs(middle - previous) > _CLOSE)).any():
            break
        at_low = np.where(above, at_middle, np.where(below & (middle <= previous), at_low / 2, at_low))
        at_high = np.where(above, np.where(middle >= previous, at_high / 2, at_high), at_middle)
        low, high, previous = np.where(above, middle, low), np.where(above, high, middle), middle
    never, always = (only_a == 0) & (only_b == 0), only_a == units  # the variance is 0 at the observed difference, too
    ends = np.where(never | always, (np.where(always, n, 0) - z * z) / (n + z * z), middle)
    return np.where(only_b == n, -1.0, ends)


def _tango(only_a: Floats, only_b: Floats, n: Floats, difference: Floats) -> tuple[Floats, Floats]:
    """Return the numerator of Tango's statistic and the square of its denominator.

    The numerator is the observed minus the expected number by which items that only system A gets right exceed those
    that only B gets right. The denominator is the standard error of this number under the hypothesis.
    """
    # The standard error depends on the probability p of an item that only B gets right. At the maximum of the
    # likelihood, 2 n p^2 + b p - c = 0.
    turned = difference < 0  # by symmetry, so that no term below is negative
    for_a, for_b = np.where(turned, only_b, only_a), np.where(turned, only_a, only_b)
    d = np.abs(difference)
    b = (2 * n - for_a + for_b) * d - for_a - for_b
    c = for_b * d * (1 - d)
    root = np.sqrt(b * b + 8 * n * c)
    p = np.where(b > 0, 2 * c / np.where(b > 0, root + b, 1), (root - b) / (4 * n))
    return only_a - only_b - n * difference, n * (2 * p + d * (1 - d))
