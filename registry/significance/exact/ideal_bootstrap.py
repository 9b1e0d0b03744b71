"""The ideal bootstrap: the limit of infinitely many resamples, not simulated.

If both systems share the denominator of every unit, the resampled difference is a quotient d* = u / w. Here u is the
sum of the differences of the resampled units, and w the sum of their denominators. A resample consists of n independent
units. So the characteristic function of (u, w) is the n-th power of that of one unit, and a Fourier transform gives the
distribution on a lattice. The lattice has one dimension if all denominators are equal.

The rounding error of the transform is relative to the largest probability. Small p-values are computed after an
exponential tilt, as in `registry.significance.exact.lattice`. The tilt moves the mean of the distribution to the edge
of the region of extreme sums, so that a probability of 1e-300 has full relative accuracy. Only a window is transformed,
and probability outside the window is added to values inside it. Chernoff's inequality gives the width of the window.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.messages import Messages
from registry.significance.base import FLIPPED, Alternative, Observed, ObservedPairs, Settings, Tail, extremity
from registry.significance.exact.lattice import TooLargeError
from registry.significance.matrix import Matrix

MAX_CELLS = 2**18  # cells of a window, about 40 bytes and 100 ns each; simulation is faster for larger windows
LOG_OUTSIDE = -52.0  # logarithm of the probability outside each edge of the window
_AROUND = 2 ** np.linspace(-5, 3, 33)  # factors of the optimum for a normal distribution


def have_too_many_sums(pairs: ObservedPairs) -> Flags:
    """Flag pairs of systems for which an exact bootstrap p-value is too expensive.

    The cost depends on the number of different values that the sum of a resample can have. This quick check finds
    scores with many digits from few items; `ideal_tail` finds the other cases. The result for a pair does not depend on
    other systems.

    Args:
        pairs: Pairs of systems; the systems of a pair share their denominators.

    Returns:
        Flags, [pairs].
    """
    fine = np.zeros(len(pairs), dtype=bool)
    if not len(pairs):
        return fine
    alone = pairs.alone
    matrix, a, b = alone.matrix, alone.a, alone.b
    sums = step = np.zeros(matrix.statistics.shape[1], dtype=np.int64)
    for numerators, _ in matrix.parts_by_block():
        if (np.abs(sums) + np.abs(numerators).sum(axis=0)).max() >= 2**53 or (numerators != np.rint(numerators)).any():
            return fine
        sums = sums + numerators.sum(axis=0)
        step = np.gcd(step, np.gcd.reduce(numerators.astype(np.int64), axis=0))
    n = len(matrix.statistics)
    steps, means = np.maximum(1, np.gcd(step[a], step[b])), sums / n
    few = next(matrix.parts_by_block())[0][:8].astype(np.int64)
    few = few[:, a] - few[:, b]
    products = reduce(np.add, ((numerators - means).T @ (numerators - means)
                               for numerators, _ in matrix.parts_by_block()))
    variances = (products[a, a] + products[b, b] - 2 * products[a, b]) / n
    is_wide_window = _estimate_width(variances, n) > 1.001 * MAX_CELLS * steps  # beyond any rounding
    return np.asarray((np.gcd.reduce(few - few[0]) == steps) & is_wide_window)


def is_wide(differences: Ints) -> bool:
    """Return True if the exact bootstrap p-value of differences is too expensive.

    The sum of a resample can have many values. The probability of each likely value is computed, for at most
    `MAX_CELLS` values.

    Args:
        differences: Differences of two systems in single items or clusters, as whole numbers.
    """
    width = float(_estimate_width(differences.var(), len(differences)))
    return width > MAX_CELLS and width > MAX_CELLS * int(np.gcd.reduce(differences - differences[0]))


def _estimate_width(variances: Floats, draws: int) -> Floats:
    # of the range that contains nearly all sums of resamples, by a normal approximation
    return 2 * np.sqrt(-2 * LOG_OUTSIDE * draws * np.maximum(variances, 0))


def edge(places: Ints, log_shares: Floats, draws: int) -> int:
    """Return a value that the sum of a resample almost never exceeds.

    The sum consists of independent draws from the same values. The probability of a larger sum is below
    exp(`LOG_OUTSIDE`), by Chernoff's inequality.

    Args:
        places: Possible values of one draw.
        log_shares: Logarithms of their probabilities.
        draws: Number of draws in a resample.
    """
    # P(sum >= e) <= exp(draws K(s) - s e) for any s > 0, where K is the logarithm of the moment generating function of
    # one draw. The best of several s near the optimum for a normal distribution is used.
    if not places.any():
        return 0
    shares = np.exp(log_shares)
    deviation = math.sqrt(shares @ (places - shares @ places) ** 2) + 1e-9 * float(np.ptp(places)) + 1e-300
    s = math.sqrt(-2 * LOG_OUTSIDE / draws) / deviation * _AROUND
    grown = np.logaddexp.reduce(log_shares[:, None] + places[:, None] * s, axis=0)
    return min(draws * int(places.max()), math.floor(float(((draws * grown - LOG_OUTSIDE) / s).min())))


MOST_UNDEFINED = 0.001  # share of undefined resamples above which a pair has no interval
LARGEST = 2**62  # upper limit of products of whole numbers
COUNTABLE = 11  # up to this number n of units, p is exact, because it is a multiple of 1 / n^n
SMALL = 1e-3  # smaller p-values are computed by tilting
LEAST_SHARE = 1e-7  # least extreme share of a tilted distribution: below it, rounding affects the result
TIE = 1 + 1e-12  # a probability within this factor of a level counts as equal to it


def may_be_ideal(matrix: Matrix, settings: Settings) -> bool:
    """Return False if these data cannot have exact bootstrap p-values.

    True does not promise it: `ideal_tail` decides for each pair of systems.
    """
    return (matrix.strata is None and matrix.runs is None and matrix.quotient is not None
            and settings.interval != "bca")


def ideal_tail(observed: Observed, settings: Settings) -> Tail | None:
    """Return the p-value and interval of the paired bootstrap without simulation.

    The results are the exact limits for infinitely many resamples. The p-value is the probability of a resample whose
    difference, minus the observed difference, is as extreme as the observed difference. Resamples with an undefined
    score count as extreme. The p-value and the interval are nan if no resample is extreme.

    Returns:
        The p-value, with a relative error of about 1e-11, and the interval of the kind `settings.interval`. None if
            they cannot be computed: with strata, random runs or the interval `bca`; if the scores are not quotients of
            whole numbers or decimals; if the two systems have different denominators; or if the sums take too many
            values.
    """
    matrix = observed.matrix
    if not may_be_ideal(matrix, settings) or (whole_parts := matrix.whole_parts(observed.pair)) is None:
        return None
    assert matrix.quotient is not None
    numerators, denominators = whole_parts
    if ((denominators[:, 0] != denominators[:, 1]).any() or denominators.min() < 0
            or is_wide(numerators[:, 0] - numerators[:, 1])):
        return None
    parts = matrix.parts_of(observed.pair)
    if len(numerators) < 2:
        return Tail(math.nan, "ideal", messages=Messages.make("one-unit"))
    step, step_under = (math.gcd(*side) * float(np.abs(part).sum() / max(1, np.abs(whole).sum())) or 1.0
                        for side, part, whole in zip(matrix.quotient, parts, (numerators, denominators), strict=True))
    scale, unit_differences = step / step_under, matrix.difference(numerators[:, 0], numerators[:, 1])
    try:
        if unit_differences.sum() >= 0:
            return _tail(_Resamples(unit_differences, denominators[:, 0]), scale, settings)
        settings = replace(settings, alternative=FLIPPED[settings.alternative])
        tail = _tail(_Resamples(-unit_differences, denominators[:, 0]), scale, settings)
        return replace(tail, ci_low=-tail.ci_high, ci_high=-tail.ci_low)
    except TooLargeError:
        return None


def _tail(resamples: _Resamples, scale: float, settings: Settings) -> Tail:
    """Return the bootstrap p-value and confidence interval of a difference, exactly.

    The observed difference must be at least 0.

    Args:
        resamples: Distribution of the resampled sums u (of differences) and w (of denominators).
        scale: Factor that converts u / w to the difference of the scores.
        settings: Settings of the test.
    """
    u, w = resamples.observed
    if u and not (resamples.units[0] * w != u * resamples.units[1]).any():
        return Tail(math.nan, "ideal", messages=Messages.make("constant-difference", over="resample"))
    differences, n = _Differences(resamples), resamples.draws
    bar = extremity(differences.bar, settings.alternative)
    p = min(1.0, differences.extreme(bar, settings.alternative))
    if counted := n <= COUNTABLE:
        p = round(p * n**n) / n**n
    if counted or p >= SMALL:
        log_p = math.log(p) if p else -math.inf
    else:  # p is the probability of d* >= 2 d, and if two-sided also of d* <= 0
        back = resamples.log_tail(-1, 0) if settings.alternative == "two-sided" else -math.inf
        log_p = float(np.logaddexp.reduce([resamples.log_undefined, resamples.log_tail(w, -2 * u), back]))
        p = math.exp(log_p)
    if log_p == -math.inf:
        return Tail(math.nan, "ideal", messages=Messages.make("unreachable-difference"))
    tail = Tail(log_p, "ideal", p=p if counted else math.nan)
    if differences.undefined > MOST_UNDEFINED:
        return replace(tail, messages=Messages.make("no-interval"))
    is_dual = settings.interval == "dual"
    ends = _find_dual(differences, p, settings) if is_dual else _find_percentile(differences, settings)
    low, high = (scale * end / differences.grid for end in ends)
    return replace(tail, ci_low=low, ci_high=high)


class _Resamples:
    """Distribution of two sums over a bootstrap resample of n units.

    A unit is an item or a cluster. u is the sum of the differences of two systems in the units of the resample, and w
    the sum of their common denominators.

    Attributes:
        units: Distinct differences and denominators of units, [2, distinct units].
        draws: Number n of units in a resample.
        log_shares: Logarithms of the shares of the distinct units.
        observed: Observed sums (u, w).
        log_undefined: Logarithm of the probability that all denominators are 0.
    """

    def __init__(self, numerators: Ints, denominators: Ints) -> None:
        if (denominators == denominators[0]).all():  # sorting numbers is several times faster than sorting pairs
            unit_differences, counts = np.unique(numerators, return_counts=True)
            self.units = np.stack([unit_differences, np.full_like(unit_differences, denominators[0])])
        else:
            self.units, counts = np.unique(np.stack([numerators, denominators]), axis=1, return_counts=True)
        self.draws, self.log_shares = len(numerators), np.log(counts / len(numerators))
        self.observed = int(numerators.sum()), int(denominators.sum())
        empty = int(np.count_nonzero(denominators == 0))
        self.log_undefined = self.draws * math.log(empty / self.draws) if empty else -math.inf
        largest_u, largest_w = (self.draws * int(np.abs(side).max()) for side in self.units)
        if 2 * (largest_u * self.observed[1] + largest_w * abs(self.observed[0])) >= LARGEST:
            raise TooLargeError

    def log_tail(self, a: int, b: int) -> float:
        """Return log P(a u + b w >= 0, w > 0) for the sums u and w over a resample.

        u is the sum of the differences of two systems, and w that of their denominators. At the means of u and w, a u +
        b w must be negative.

        Args:
            a: Coefficient of u.
            b: Coefficient of w.

        Raises:
            TooLargeError: More than `MAX_CELLS` values are likely, or rounding hides the probability.
        """
        rises = a * self.units[0] + b * self.units[1]
        spacing = int(np.gcd.reduce(rises - rises.min())) or 1
        start = self.draws * int(rises.min()) % spacing  # the first of their sums' lattice that is not negative
        top = int(rises.max())
        if self.draws * top < start or (top == 0 and not self.units[1, rises == top].any()):
            return -math.inf
        excess = rises - start / self.draws
        tilt = _find_tilt(excess, self.log_shares)
        tilted = self.log_shares + tilt * excess
        log_scale = float(np.logaddexp.reduce(tilted))
        masses, u, w = self.compute_probabilities(tilted - log_scale)
        beyond = a * u + b * w[:, None] - start
        inside = (beyond >= 0) & (tilt * beyond < -LOG_OUTSIDE) & (w > 0)[:, None]
        share = float(masses[inside] @ np.exp(-tilt * beyond[inside]))
        if share < LEAST_SHARE:
            raise TooLargeError
        return self.draws * log_scale + math.log(share)

    def compute_probabilities(self, log_shares: Floats) -> tuple[Floats, Ints, Ints]:
        """Compute the probabilities of all likely sums u and w over a resample.

        u is the sum of the differences of two systems, and w that of their denominators. The values have the order of a
        Fourier transform, which is periodic: they rise from some index on, and continue at the start.

        Args:
            log_shares: Logarithms of the probabilities of the distinct values in one draw.

        Returns:
            Probabilities, [values of w, values of u]; the values of u; the values of w.
        """
        from scipy.fft import irfft2, next_fast_len, rfft2

        low = self.units.min(axis=1)[:, None]
        steps = np.maximum(1, np.gcd.reduce(self.units - low, axis=1))
        places = (self.units - low) // steps[:, None]
        first = [-edge(-place, log_shares, self.draws) for place in places]
        sides = [next_fast_len(edge(place, log_shares, self.draws) - f + 1, real=True)
                 for place, f in zip(places, first, strict=True)]
        if math.prod(sides) > MAX_CELLS:
            raise TooLargeError
        drawn = np.zeros(sides[::-1])
        np.add.at(drawn, (places[1] % sides[1], places[0] % sides[0]), np.exp(log_shares))
        transform = rfft2(drawn)
        loud = np.abs(transform) > math.exp((LOG_OUTSIDE - 10) / self.draws)  # other powers are negligible
        power = np.zeros_like(transform)
        power[loud] = transform[loud] ** self.draws
        u, w = (self.draws * int(start) + step * (f + (np.arange(side) - f) % side)
                for start, step, f, side in zip(low[:, 0], steps, first, sides, strict=True))
        return irfft2(power, sides[::-1]), u, w


def _find_tilt(excess: Floats, log_shares: Floats) -> float:
    """Find an exponential tilt t >= 0 that makes a rare event likely.

    The event is that a sum of independent draws reaches a threshold. With the tilt t, the probability of a value x is
    multiplied by exp(t x), up to a constant, so that the mean is near the threshold. Any tilt gives a correct
    probability after the tilt is undone; a good one avoids a loss of digits.

    Args:
        excess: Distance of each value of one draw from the threshold, divided evenly among the draws.
        log_shares: Logarithms of the probabilities of the values.
    """
    low, high = 0.0, 60 / float(np.abs(excess[excess != 0]).min(initial=np.inf))
    for _ in range(100):
        middle = (low + high) / 2
        weights = log_shares + middle * excess
        low, high = (middle, high) if np.exp(weights - weights.max()) @ excess < 0 else (low, middle)
    return low


class _Differences:
    """Distribution of the difference of two systems' scores in a bootstrap resample.

    The difference is a quotient u / w: u is the sum of the differences of the systems in the units of the resample, and
    w the sum of their common denominators. Differences are measured in steps of 1 / `grid`; the observed difference is
    `bar` steps. Probabilities have an error of 1e-14.
    """

    def __init__(self, resamples: _Resamples) -> None:
        masses, u, w = resamples.compute_probabilities(resamples.log_shares)
        start = int(u.argmin())
        masses, w = np.roll(masses, -start, axis=1)[w > 0], w[w > 0]
        self.w = w if len(w) > 1 else int(w[0])  # a number is much faster than an array with one element
        self.tails = np.zeros((len(w), len(u) + 1))  # P(w, u from a column on)
        self.tails[:, :-1] = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]
        self.first, self.step = int(u[start]), max(1, int(np.ptp(u)) // max(1, len(u) - 1))
        self.undefined = math.exp(resamples.log_undefined)
        largest, least, most = int(np.abs(u).max()) + 1, int(w.min()), int(w.max())
        fineness = 1  # if the denominator never changes, d* has only multiples of 1 / w
        if most > least:
            fineness = LARGEST // (4 * largest * resamples.observed[1] * (most // least + 1))
            if fineness < 2**20:
                raise TooLargeError
        self.bar, self.grid = (fineness * total for total in resamples.observed)
        self.top = self.grid * largest // least + 1  # larger than every d*

    def at_least(self, x: int) -> float:
        """Return P(d* >= x / grid) for the resampled difference d*."""
        return self._sum_from(-(-x * self.w // self.grid))

    def at_most(self, x: int) -> float:
        """Return P(d* <= x / grid) for the resampled difference d*."""
        return 1 - self.undefined - self._sum_from(x * self.w // self.grid + 1)

    def extreme(self, x: int, alternative: Alternative) -> float:
        """Return P(d* - d is undefined or at least as extreme as x / grid).

        d* is the resampled and d the observed difference. The result can exceed 1 for x = 0, because a two-sided test
        counts x = 0 on both sides.
        """
        above = self.at_least(self.bar + x) if alternative != "less" else 0
        return self.undefined + above + (self.at_most(self.bar - x) if alternative != "greater" else 0)

    def _sum_from(self, u: Ints | int) -> float:
        columns, last = -((self.first - u) // self.step), self.tails.shape[1] - 1
        if isinstance(columns, int):
            return float(self.tails[0, min(max(columns, 0), last)])
        return float(self.tails[np.arange(len(columns)), columns.clip(0, last)].sum())


def _find_dual(differences: _Differences, p: float, settings: Settings) -> tuple[float, float]:
    """Return the confidence interval that excludes 0 if and only if p is significant.

    On either side of the observed difference d, the interval extends by the largest distance that d* - d reaches with a
    probability above 1 - confidence, where d* is the difference in a resample.
    """
    d, alternative, alpha = differences.bar, settings.alternative, 1 - settings.confidence
    bar, top = -d if alternative == "less" else d, 2 * differences.top
    low, high = (0 if alternative == "two-sided" else -top, bar) if p <= alpha * TIE else (bar, top)
    reach = _find_last(lambda x: differences.extreme(x, alternative), alpha, low, high)
    if differences.undefined > alpha * TIE:
        reach = math.inf
    return (-math.inf if alternative == "less" else d - reach, math.inf if alternative == "greater" else d + reach)


def _find_percentile(differences: _Differences, settings: Settings) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a difference.

    Resamples with an undefined difference are left out. For the interval `basic`, return its mirror image about the
    observed difference.
    """
    outside, top = (1 - settings.confidence) / 2 * (1 - differences.undefined), differences.top
    high = _find_last(differences.at_least, outside, -top, top)
    low = -_find_last(lambda x: differences.at_most(-x), outside, -top, top)
    return (2 * differences.bar - high, 2 * differences.bar - low) if settings.interval == "basic" else (low, high)


def _find_last(tail: Callable[[int], float], level: float, low: int, high: int) -> float:
    # `tail` decreases, and is above the level at `low`; `high` is above all possible results
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(middle) > level * TIE else (low, middle)
    return low
