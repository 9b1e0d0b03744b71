"""Tails of fair coins, for any number of pairs at once.

Sign tests, McNemar's and permutation come to them where every unit favours one system or the other by as much. With X
binomial(n, 1/2), P(X >= m) = P(X = m) F. The first factor is that of Loader (2000, "Fast and accurate computation of
binomial probabilities"): a deviance and errors of Stirling's formula, here with the deviance kept to a few digits more
than a float has, since it is as large as n log 2. From the incomplete beta function,

    F = m times the integral of (1 - w)^(m - 1) (1 + w)^(n - m) over w from 0 to 1.

The integrand falls from 1, faster than exp(-(2 m - n - 1) w - (n - m) w^2), and a Gaussian quadrature of few nodes up
to where this is nothing gives nearly all digits of a float. Only positive numbers are added, so tails far below what a
float can hold are as accurate as others.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from registry.arrays import Floats, Ints
from registry.significance.base import Alternative

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
