"""The ideal bootstrap: the limit of infinitely many resamples, without draws.

If both systems share every unit's denominator, the resampled difference is a quotient d* = u / w of two sums over the
units drawn: of their differences and of their denominators. The n units of a resample are drawn independently, so the
characteristic function of (u, w) is the n-th power of that of one draw, and a Fourier transform gives the distribution
on a lattice (one-dimensional if all denominators are equal).

Its error is that of rounding relative to the largest probability. Small p-values are computed with a tilt, as in
`registry.significance.exact.lattice`: the edge of the half-plane of extreme sums becomes the middle of the
distribution, which gives a probability of 1e-300 with full relative accuracy. Only a window is transformed, and
probability outside folds into it; the width follows from Chernoff's inequality.
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

MAX_CELLS = 2**18  # of a window, some 40 bytes and 100 ns each; beyond it Monte Carlo is the better answer
LOG_OUTSIDE = -52.0  # the logarithm of the probability that lies beyond an edge of the window
_AROUND = 2 ** np.linspace(-5, 3, 33)  # factors of the optimum for a normal distribution


def are_too_fine(pairs: ObservedPairs) -> Flags:
    """Flag pairs with shared denominators whose lattice is surely too fine for `ideal_tail`, [pairs].

    This finds scores with many digits from few units at little cost; `ideal_tail` finds the other cases. Each pair is
    counted in its own common steps, independent of other systems.
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
    """Return whether the window of sums of draws of the unit differences needs more than `MAX_CELLS`."""
    width = float(_estimate_width(differences.var(), len(differences)))
    return width > MAX_CELLS and width > MAX_CELLS * int(np.gcd.reduce(differences - differences[0]))


def _estimate_width(variances: Floats, draws: int) -> Floats:
    """Approximate the width between the edges (`edge`) of sums of draws by the normal distribution."""
    return 2 * np.sqrt(-2 * LOG_OUTSIDE * draws * np.maximum(variances, 0))


def edge(places: Ints, log_shares: Floats, draws: int) -> int:
    """Return a place that the sum of draws exceeds with a probability below exp(LOG_OUTSIDE) (Chernoff).

    P(sum >= e) <= exp(draws K(s) - s e) for any s > 0, with K the logarithm of the moment generating function of a
    draw. The best of some s near the optimum of a normal distribution is good enough.
    """
    if not places.any():
        return 0
    shares = np.exp(log_shares)
    deviation = math.sqrt(shares @ (places - shares @ places) ** 2) + 1e-9 * float(np.ptp(places)) + 1e-300
    s = math.sqrt(-2 * LOG_OUTSIDE / draws) / deviation * _AROUND
    grown = np.logaddexp.reduce(log_shares[:, None] + places[:, None] * s, axis=0)
    return min(draws * int(places.max()), math.floor(float(((draws * grown - LOG_OUTSIDE) / s).min())))


MOST_UNDEFINED = 0.001  # the share of undefined resamples above which no interval is given
LARGEST = 2**62  # that products of whole numbers may reach
COUNTABLE = 11  # units up to which p, a whole number of their n^n resamples, is right to the last digit
SMALL = 1e-3  # other p-values below it are computed by tilting
LEAST_SHARE = 1e-7  # of a tilted distribution that must be extreme, so that rounding and the outside do not show
TIE = 1 + 1e-12  # a probability this close to a level is at it


def may_be_ideal(matrix: Matrix, settings: Settings) -> bool:
    """Return whether `ideal_tail` may be possible for pairs of the matrix."""
    return (matrix.strata is None and matrix.runs is None and matrix.quotient is not None
            and settings.interval != "bca")


def ideal_tail(observed: Observed, settings: Settings) -> Tail | None:
    """Return the p-value and interval of the recentred paired bootstrap after infinitely many resamples.

    A resample whose denominators are all 0 is undefined and counts as extreme. If no resample is as extreme as the
    observed difference (`is_reachable`), p and the interval are nan. The dual interval excludes 0 if and only if
    p <= 1 - confidence; the percentile and the basic interval are those of the defined resamples.

    Returns:
        The tail; p has a relative error of about 1e-11. None for strata, for random runs, for scores that are not
        quotients of whole numbers or decimals with shared denominators, for lattices that are too large, and for `bca`.
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
        return Tail(math.nan, "ideal", messages=Messages.of("one-unit"))
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
    """Test an observed difference that is not negative; `scale` times u / w is the difference of the scores."""
    u, w = resamples.observed
    if u and not (resamples.units[0] * w != u * resamples.units[1]).any():
        return Tail(math.nan, "ideal", messages=Messages.of("constant-difference", over="resample"))
    differences, n = _Differences(resamples), resamples.draws
    bar = extremity(differences.bar, settings.alternative)
    p = min(1.0, differences.extreme(bar, settings.alternative))
    if counted := n <= COUNTABLE:
        p = round(p * n**n) / n**n
    if counted or p >= SMALL:
        log_p = math.log(p) if p else -math.inf
    else:  # so small only if it is that of d* >= 2 d, or d* <= 0 as well
        back = resamples.log_tail(-1, 0) if settings.alternative == "two-sided" else -math.inf
        log_p = float(np.logaddexp.reduce([resamples.log_undefined, resamples.log_tail(w, -2 * u), back]))
        p = math.exp(log_p)
    if log_p == -math.inf:
        return Tail(math.nan, "ideal", messages=Messages.of("unreachable-difference"))
    tail = Tail(log_p, "ideal", p=p if counted else math.nan)
    if differences.undefined > MOST_UNDEFINED:
        return replace(tail, messages=Messages.of("no-interval"))
    is_dual = settings.interval == "dual"
    ends = _find_dual(differences, p, settings) if is_dual else _find_percentile(differences, settings)
    low, high = (scale * end / differences.grid for end in ends)
    return replace(tail, ci_low=low, ci_high=high)


class _Resamples:
    """Sums (u, w) of n units drawn from n, with differences `over` and denominators `under`."""

    def __init__(self, numerators: Ints, denominators: Ints) -> None:
        if (denominators == denominators[0]).all():  # numbers are sorted several times as fast as pairs of them
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
        """Return the natural logarithm of P(a u + b w >= 0, w > 0); the mean must not be in that half-plane.

        Raises:
            TooLargeError: The window needs more than `MAX_CELLS`, or rounding hides the tail.
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
        masses, u, w = self.law(tilted - log_scale)
        beyond = a * u + b * w[:, None] - start
        inside = (beyond >= 0) & (tilt * beyond < -LOG_OUTSIDE) & (w > 0)[:, None]
        share = float(masses[inside] @ np.exp(-tilt * beyond[inside]))
        if share < LEAST_SHARE:
            raise TooLargeError
        return self.draws * log_scale + math.log(share)

    def law(self, log_shares: Floats) -> tuple[Floats, Ints, Ints]:
        """Return the probabilities of sums in a window, [w, u], and the sums u and w, for draws with these shares.

        The sums are one period of the transform: they rise from somewhere within it and continue at its start.
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
        loud = np.abs(transform) > math.exp((LOG_OUTSIDE - 10) / self.draws)  # the other powers are nothing
        power = np.zeros_like(transform)
        power[loud] = transform[loud] ** self.draws
        u, w = (self.draws * int(start) + step * (f + (np.arange(side) - f) % side)
                for start, step, f, side in zip(low[:, 0], steps, first, sides, strict=True))
        return irfft2(power, sides[::-1]), u, w


def _find_tilt(excess: Floats, log_shares: Floats) -> float:
    """Find the t >= 0 with which the mean excess of a draw is nearly 0.

    Any t gives the right probability; a good one gives it without loss of digits.
    """
    low, high = 0.0, 60 / float(np.abs(excess[excess != 0]).min(initial=np.inf))
    for _ in range(100):
        middle = (low + high) / 2
        weights = log_shares + middle * excess
        low, high = (middle, high) if np.exp(weights - weights.max()) @ excess < 0 else (low, middle)
    return low


class _Differences:
    """Distribution of d* = u / w on a grid of multiples of 1 / `grid`; `bar` multiples are the observed d.

    Probabilities have an error of 1e-14, so levels of at least 1e-12 can be distinguished.
    """

    def __init__(self, resamples: _Resamples) -> None:
        masses, u, w = resamples.law(resamples.log_shares)
        start = int(u.argmin())
        masses, w = np.roll(masses, -start, axis=1)[w > 0], w[w > 0]
        self.w = w if len(w) > 1 else int(w[0])  # a number is much faster than an array of one
        self.tails = np.zeros((len(w), len(u) + 1))  # P(w, u from a column on)
        self.tails[:, :-1] = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]
        self.first, self.step = int(u[start]), max(1, int(np.ptp(u)) // max(1, len(u) - 1))
        self.undefined = math.exp(resamples.log_undefined)
        largest, least, most = int(np.abs(u).max()) + 1, int(w.min()), int(w.max())
        fineness = 1  # where the denominator never changes, d* has no other values
        if most > least:
            fineness = LARGEST // (4 * largest * resamples.observed[1] * (most // least + 1))
            if fineness < 2**20:
                raise TooLargeError
        self.bar, self.grid = (fineness * total for total in resamples.observed)
        self.top = self.grid * largest // least + 1  # no d* is as large

    def at_least(self, x: int) -> float:
        """Return P(d* >= x / grid)."""
        return self._sum_from(-(-x * self.w // self.grid))

    def at_most(self, x: int) -> float:
        """Return P(d* <= x / grid)."""
        return 1 - self.undefined - self._sum_from(x * self.w // self.grid + 1)

    def extreme(self, x: int, alternative: Alternative) -> float:
        """Return P(d* - d is as extreme as x / grid, or undefined); above 1 if x is 0, which both sides count."""
        above = self.at_least(self.bar + x) if alternative != "less" else 0
        return self.undefined + above + (self.at_most(self.bar - x) if alternative != "greater" else 0)

    def _sum_from(self, u: Ints | int) -> float:
        columns, last = -((self.first - u) // self.step), self.tails.shape[1] - 1
        if isinstance(columns, int):
            return float(self.tails[0, min(max(columns, 0), last)])
        return float(self.tails[np.arange(len(columns)), columns.clip(0, last)].sum())


def _find_dual(differences: _Differences, p: float, settings: Settings) -> tuple[float, float]:
    """Return the interval up to the largest extremity with a probability above 1 - confidence."""
    d, alternative, alpha = differences.bar, settings.alternative, 1 - settings.confidence
    bar, top = -d if alternative == "less" else d, 2 * differences.top
    low, high = (0 if alternative == "two-sided" else -top, bar) if p <= alpha * TIE else (bar, top)
    reach = _find_last(lambda x: differences.extreme(x, alternative), alpha, low, high)
    if differences.undefined > alpha * TIE:
        reach = math.inf
    return (-math.inf if alternative == "less" else d - reach, math.inf if alternative == "greater" else d + reach)


def _find_percentile(differences: _Differences, settings: Settings) -> tuple[float, float]:
    """Return the percentile interval of the defined resamples, or its mirror image for `basic`."""
    outside, top = (1 - settings.confidence) / 2 * (1 - differences.undefined), differences.top
    high = _find_last(differences.at_least, outside, -top, top)
    low = -_find_last(lambda x: differences.at_most(-x), outside, -top, top)
    return (2 * differences.bar - high, 2 * differences.bar - low) if settings.interval == "basic" else (low, high)


def _find_last(tail: Callable[[int], float], level: float, low: int, high: int) -> float:
    """Find the last x, from `low` to below `high`, at which a falling tail is above the level; it is at `low`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(middle) > level * TIE else (low, middle)
    return low
