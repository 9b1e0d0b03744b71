"""The exact probability that a randomly swapped pair is at least as extreme, with tails right in relative terms.

Swapping a unit moves whole numbers from one system's sums to the other's. So the sums after random swaps are a fixed
point plus B = sum of b_i v_i, b_i in {0, 1} equally likely and v_i in Z^2 (one dimension is the case of a second
coordinate that is always 0). B lives on a lattice, and its distribution is read off its characteristic function by one
Fourier transform (Pagano and Tritchler 1983, "On obtaining permutation distributions in polynomial time").

A transform is exact to rounding relative to the *largest* probability, and the tail asked for may be 1e-100. So the
distribution is first tilted, P(x) = exp(K(t) - t.x) P_t(x) with K(t) = log E exp(t.B), such that the likeliest point of
the rejection region becomes the most likely point of all (the exponential tilt of saddlepoint methods, Daniels 1954).
Only a window around that point is transformed. What lies outside folds into it and is bounded by Chernoff's inequality
on each face; the window grows until the bound is below 1e-14 of the result. A small lattice needs none of this: there
the distribution is built up by plain convolution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from registry.significance.exact.half_sums import HalfSums, Ints
from registry.significance.matrix import Floats

HALVES = 32  # weights up to which all sums of either half are listed
MAX_WORK = 2**26  # cells of the transform times distinct vectors; beyond it Monte Carlo is the better answer
HOPELESS = 64  # times too large without a tilt: no tilt makes the window that much smaller
SMALL = 2**24  # cells times vectors up to which plain convolution is as fast
SHORT = 2**29  # the same in one dimension, where a cell and vector take a hundredth of the time
MOST_HALVED = 1000  # vectors up to which no probability underflows
TOLERANCE = 1e-14


class TooLargeError(Exception):
    """The lattice has more cells than are worth transforming."""


class Region(Protocol):
    """A rejection region: in the row with second coordinate `y`, the points from a threshold on."""

    def threshold(self, row: float) -> float:
        """Where the region begins in a row, as a smooth function, to search along."""

    def thresholds(self, rows: Ints) -> Ints:
        """The first lattice point of the region in each of the rows, exactly."""


@dataclass(frozen=True)
class HalfLine:
    """The region of one dimension: everything from `start` on."""

    start: int

    def threshold(self, row: float) -> float:  # noqa: ARG002
        """The start, there being one row."""
        return self.start

    def thresholds(self, rows: Ints) -> Ints:
        """The start, in every row."""
        return np.full(len(rows), self.start)


def log_sign_tail(weights: Ints, threshold: int) -> float:
    """The natural logarithm of P(sum of ±weights >= threshold), each sign equally likely.

    Args:
        weights: Whole numbers; their signs and zeros do not matter.
        threshold: A whole number.

    Returns:
        The logarithm, with an error of the probability of about 1e-13 relative to it; -inf where it is impossible.

    Raises:
        TooLargeError: The window needs more than `MAX_WORK` cells times distinct weights.
    """
    weights = np.abs(weights[weights != 0])
    if not weights.size:
        return 0.0 if threshold <= 0 else -math.inf
    if len(weights) > HALVES and is_fine(weights):
        raise TooLargeError
    common = int(np.gcd.reduce(weights))
    weights = weights // common
    total = int(weights.sum())
    start = (total + -(-threshold // common) + 1) // 2  # the sum is 2 B - total, in units of the common factor
    if start > total:
        return -math.inf
    if start <= 0:
        return 0.0
    if len(weights) <= HALVES and len(weights) * total > SMALL:
        return _by_halves(weights, start)
    if _is_short(weights):
        return _by_convolved_halves(weights, start)
    vectors = np.stack([weights, np.zeros_like(weights)], axis=1)
    if 2 * start > total:
        return log_probability(vectors, HalfLine(start))
    # below the middle the tail is the complement of one above it, and loses nothing
    return math.log1p(-math.exp(log_probability(vectors, HalfLine(total - start + 1))))


def is_fine(weights: Ints) -> bool:
    """Whether some of more than `HALVES` weights tell that their lattice is too fine to walk over."""
    return bool(9 * np.linalg.norm(weights) > HOPELESS * MAX_WORK and np.gcd.reduce(weights[weights != 0][:8]) == 1)


def _by_halves(weights: Ints, start: int) -> float:
    """List the sums of either half of the weights, and count the pairs of them that reach `start`.

    For a lattice too fine to walk over, such as that of scores with all their digits (Pagano and Tritchler's method is
    for coarse ones; listing by halves is Horowitz and Sahni 1974).
    """
    sums = []
    for half in (weights[::2], weights[1::2]):
        found = np.zeros(1, dtype=np.int64)
        for weight in half:
            found = np.concatenate([found, found + weight])
        sums.append(np.sort(found))
    below = np.searchsorted(sums[0], start - sums[1][::-1], side="left")  # in rising order: near in memory
    return math.log(int((len(sums[0]) - below).sum())) - len(weights) * math.log(2)


def _by_convolved_halves(weights: Ints, start: int) -> float:
    """Convolve the weights of either half, and pair the sums that reach `start`.

    Nothing is subtracted, so every digit of a tail is right. Small weights come first, to keep the sums few.
    """
    halves = []
    for half in (weights[::2], weights[1::2]):
        masses = np.zeros(int(half.sum()) + 1)
        masses[0], last = 1.0, 0
        for weight in np.sort(half).tolist():
            masses[:last + 1] *= 0.5
            masses[weight:weight + last + 1] += masses[:last + 1].copy()
            last += weight
        halves.append(masses)
    tails = np.append(np.cumsum(halves[1][::-1])[::-1], 0.0)  # P(the second half's sum >= n)
    needed = np.clip(start - np.arange(len(halves[0])), 0, len(halves[1]))
    tail = float(halves[0] @ tails[needed])
    return math.log(tail) if tail > 0 else -math.inf


def log_probability(vectors: Ints, region: Region) -> float:
    """The natural logarithm of P(B in region), for B the sum of a random half of the `vectors`, [n, 2].

    The region must not hold the mean of B. The result is -inf where the region holds no point that B can reach, as far
    as rounding can tell.

    Raises:
        TooLargeError: The window needs more than `MAX_WORK` cells times distinct vectors, or rounding hides the tail.
    """
    sums = HalfSums.of(vectors)
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    starts = region.thresholds(np.arange(low[1], high[1] + 1))
    runs = _runs(starts <= high[0], low[1])
    if not runs:
        return -math.inf
    if _is_small(vectors, low, high):
        return _by_convolution(vectors, starts, low, high)
    if _window(sums, low, high) > HOPELESS * MAX_WORK:
        raise TooLargeError
    found = -math.inf
    for bound, run in sorted(((sums.log_rows(*run), run) for run in runs), reverse=True):
        if bound > found + math.log(TOLERANCE):
            found = float(np.logaddexp(found, _log_probability(sums, region, starts, run, low, high, beside=found)))
            if found == -math.inf and len(runs) > 1:
                raise TooLargeError  # rounding may have hidden it
    return min(0.0, found)


def walk(vectors: Ints) -> float:
    """How many cells times vectors it takes to compute a probability: of the whole lattice, or of the first window.

    In one dimension, where halves are convolved, they are as many as take the time of those of two.
    """
    if not vectors[:, 1].any() and _is_short(weights := np.abs(vectors[:, 0])):
        return len(weights) * int(weights.sum()) * SMALL / SHORT
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    if _is_small(vectors, low, high):
        return float(len(vectors) * np.prod(high - low + 1))
    return _window(HalfSums.of(vectors), low, high)


def _is_short(weights: Ints) -> bool:
    return len(weights) <= MOST_HALVED and len(weights) * int(weights.sum()) <= SHORT


def _is_small(vectors: Ints, low: Ints, high: Ints) -> bool:
    return bool(len(vectors) <= MOST_HALVED and len(vectors) * np.prod((high - low + 1).astype(np.float64)) <= SMALL)


def _window(sums: HalfSums, low: Ints, high: Ints) -> float:
    """The cells of a window as wide as one without a tilt, times the distinct vectors."""
    sides = np.minimum(18 * sums.deviations(np.zeros(2)), high - low) + 1
    return float(np.prod(sides)) * len(sums.counts)


def _runs(reachable: NDArray[np.bool_], first: int) -> list[tuple[int, int]]:
    """The first and the last row of every run of reachable ones.

    A concave boundary may leave the lattice and come back: then there are two, with a likeliest point each.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], reachable, [False]]))) + first
    return [(int(begin), int(end) - 1) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def _by_convolution(vectors: Ints, starts: Ints, low: Ints, high: Ints) -> float:
    """Add one vector after the other on the whole lattice: nothing is subtracted, so every digit of a tail is right.

    Up to `MOST_HALVED` vectors no probability underflows.
    """
    masses = np.zeros(tuple(high - low + 1))
    first = last = -low  # where the sums of the vectors so far begin and end
    masses[tuple(first)] = 1.0
    for vector in vectors:
        there = masses[first[0]:last[0] + 1, first[1]:last[1] + 1] / 2
        masses[first[0]:last[0] + 1, first[1]:last[1] + 1] = there
        masses[first[0] + vector[0]:last[0] + vector[0] + 1, first[1] + vector[1]:last[1] + vector[1] + 1] += there
        first, last = first + np.minimum(vector, 0), last + np.maximum(vector, 0)
    inside = np.arange(low[0], high[0] + 1)[:, None] >= starts[None, :]
    tail = float(masses[inside].sum())
    return math.log(tail) if tail > 0 else -math.inf


def _log_probability(sums: HalfSums, region: Region, starts: Ints, run: tuple[int, int], low: Ints, high: Ints, *,
                     beside: float) -> float:
    """Compute the logarithm for a run of rows; -inf where there is nothing, or less than counts `beside` others.

    Raises:
        TooLargeError: See `log_probability`; also where rounding hides what might count.
    """
    rows = np.arange(low[1], high[1] + 1)
    starts = np.where((rows >= run[0]) & (rows <= run[1]), starts, high[0] + 1)
    rim = 0.5 * (high > low)
    tilt = sums.tilt_for(np.clip(_likeliest(sums, region, run, low, high), low + rim, high - rim))
    if _log_bound(sums, tilt, starts, low, high) < beside + math.log(TOLERANCE):
        return -math.inf
    for share in (1, 0.75, 0.5, 0.25, 0):  # less of it where few points lie near the boundary, so that it overshoots
        found = _tilted(sums, share * tilt, starts, low, high)
        if found is not None:
            return found
    if beside > -math.inf:
        raise TooLargeError
    return -math.inf


def _log_bound(sums: HalfSums, tilt: Floats, starts: Ints, low: Ints, high: Ints) -> float:
    """A bound on the logarithm: no point of the region has more than exp(K(t) - t.x) times its tilted probability."""
    point = sums.mean(tilt)
    return sums.log_scale(tilt, point) + _log_heaviest(tilt, point, starts, low, high)


def _log_heaviest(tilt: Floats, point: Floats, starts: Ints, low: Ints, high: Ints) -> float:
    """The largest -t.(x - point) of a point of the region: what undoing the tilt makes of it."""
    rows = np.arange(low[1], high[1] + 1)
    weights = tilt[0] * (np.maximum(starts, low[0]) - point[0]) + tilt[1] * (rows - point[1])
    return -float(weights[starts <= high[0]].min())


def _tilted(sums: HalfSums, tilt: Floats, starts: Ints, low: Ints, high: Ints) -> float | None:
    """Compute with this tilt; None where rounding hides the tail."""
    point = sums.mean(tilt)
    log_heaviest = _log_heaviest(tilt, point, starts, low, high)
    reach, centre = 9 * sums.deviations(tilt) + 12, np.rint(point)
    while True:
        first, last = (np.clip(centre + r, low, high).astype(np.int64) for r in (-np.floor(reach), np.floor(reach)))
        if np.prod(last - first + 1) * len(sums.counts) > MAX_WORK:
            raise TooLargeError
        masses = sums.window(tilt, first, last)
        tail, rounding = _weigh(masses, tilt, point, first, starts[first[1] - low[1]:last[1] - low[1] + 1])
        if rounding < 1e-13 * tail:
            outside = log_heaviest + sums.log_outside(tilt, first, last, low, high)
            if outside < math.log(tail) + math.log(TOLERANCE):
                return min(0.0, sums.log_scale(tilt, point) + math.log(tail))
        if (first == low).all() and (last == high).all():
            return None
        reach = reach * 1.5


def _weigh(masses: Floats, tilt: Floats, point: Floats, first: Ints, starts: Ints) -> tuple[float, float]:
    """Sum the window's tilted masses over the region, with the tilt undone relative to the point.

    Gives the sum and an estimate of its rounding, which a transform spreads evenly over the window.
    """
    x = np.arange(masses.shape[0])[:, None] + first[0]
    y = np.arange(masses.shape[1])[None, :] + first[1]
    exponents = -(tilt[0] * (x - point[0]) + tilt[1] * (y - point[1]))
    exponents = np.where(x >= starts[None, :], exponents, -np.inf)
    if exponents.max(initial=-math.inf) > 100:
        return 0.0, math.inf  # the tilt has overshot
    weights = np.exp(exponents)
    spread = np.linalg.norm(masses) / math.sqrt(masses.size)
    return float((masses * weights).sum()), 1e-15 * float(spread * np.linalg.norm(weights))


def _likeliest(sums: HalfSums, region: Region, run: tuple[int, int], low: Ints, high: Ints) -> Floats:
    """Search the region's boundary for the point of the least rate function, by golden sections over a run of rows.

    Any point gives the right probability; one near the likeliest gives it without loss of digits.
    """
    spread = sums.deviations(np.zeros(2))[1]
    mean = (low[1] + high[1]) / 2
    left, right = (float(np.clip(mean + side * (40 * spread + 1), *run)) for side in (-1, 1))

    def boundary(row: float) -> Floats:
        return np.array([np.clip(region.threshold(row), low[0], high[0]), row])

    ratio = (math.sqrt(5) - 1) / 2
    a, b = right - ratio * (right - left), left + ratio * (right - left)
    rate_a, rate_b = sums.rate(boundary(a)), sums.rate(boundary(b))
    while right - left > 0.5:
        if rate_a < rate_b:
            right, b, rate_b = b, a, rate_a
            a = right - ratio * (right - left)
            rate_a = sums.rate(boundary(a))
        else:
            left, a, rate_a = a, b, rate_b
            b = left + ratio * (right - left)
            rate_b = sums.rate(boundary(b))
    return boundary((left + right) / 2)
