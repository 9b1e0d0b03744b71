"""Exact probabilities of sums of random vectors of whole numbers, with tails that are right in relative terms.

Swapping a unit moves whole numbers from one system's sums to the other's. The sums after random swaps are a fixed point
plus B = sum of b_i v_i, with b_i in {0, 1} equally likely and v_i in Z^2 (in one dimension the second coordinate is
always 0). The distribution of B on its lattice is one Fourier transform of its characteristic function (Pagano and
Tritchler 1983, "On obtaining permutation distributions in polynomial time").

The error of a transform is relative to the *largest* probability, while a tail may be 1e-100. So the distribution is
tilted first, P(x) = exp(K(t) - t.x) P_t(x) with K(t) = log E exp(t.B), such that the likeliest point of the rejection
region becomes the most likely point of all (the exponential tilt of saddlepoint methods, Daniels 1954). Only a window
around that point is transformed. What lies outside folds into it, and Chernoff's inequality bounds it on each face; the
window grows until the bound is below 1e-14 of the result. On a small lattice plain convolution is used instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from registry.arrays import Flags, Floats, Ints
from registry.significance.exact.half_sums import HalfSums

MAX_WORK = 2**26  # cells of the transform times distinct vectors; beyond it Monte Carlo is the better answer
HOPELESS = 64  # times too large without a tilt: no tilt makes the window that much smaller
SMALL = 2**24  # cells times vectors up to which plain convolution is as fast
MOST_HALVED = 1000  # vectors up to which no probability underflows
TOLERANCE = 1e-14
OVERHEAD = 5e6  # what finding a tilt costs, in additions, of which a core does four in a nanosecond

_MOVE = 108  # what a cell and vector cost in a transform
_STEP, _CELL = 2e5, 8  # what a vector costs in a plain convolution, and a cell and vector


class TooLargeError(Exception):
    """The lattice has more cells than are worth transforming."""


class Region(NamedTuple):
    """A rejection region: in each row (second coordinate) the points from a threshold on.

    Attributes:
        threshold: The threshold in a row as a smooth function, for searching.
        thresholds: The first lattice point of the region in each of the rows, exactly.
    """

    threshold: Callable[[float], float]
    thresholds: Callable[[Ints], Ints]


def log_probability(vectors: Ints, region: Region) -> float:
    """The natural logarithm of P(B in region), for B the sum of a random half of the `vectors`, [n, 2].

    The region must not hold the mean of B. The result is -inf where the region holds no point that B can reach, as far
    as rounding can tell.

    Raises:
        TooLargeError: The window needs more than `MAX_WORK` cells times distinct vectors, or rounding hides the tail.
    """
    sums = HalfSums(vectors)
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    rows = np.arange(low[1], high[1] + 1)
    starts = region.thresholds(rows)
    runs = _runs(starts <= sums.most(rows), low[1])
    if not runs:
        return -math.inf
    if _is_small(vectors, low, high):
        return _by_convolution(vectors, starts, low, high)
    if _window(sums, low, high) > HOPELESS * MAX_WORK:
        raise TooLargeError
    found = -math.inf
    for bound, run in sorted(((sums.log_rows(*run), run) for run in runs), reverse=True):
        if bound > found + math.log(TOLERANCE):
            inside = (rows >= run[0]) & (rows <= run[1])
            tail = _Tail(sums, np.where(inside, starts, high[0] + 1), low, high)
            found = float(np.logaddexp(found, tail.log_probability(region, run, found)))
            if found == -math.inf and len(runs) > 1:
                raise TooLargeError  # rounding may have hidden it
    return min(0.0, found)


def window_work(vectors: Ints) -> float:
    """The cost of a probability, in additions: of the whole lattice, or of the first window; infinite if hopeless."""
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    if _is_small(vectors, low, high):
        return float(len(vectors) * (_STEP + _CELL * np.prod(high - low + 1)))
    cells = _window(HalfSums(vectors), low, high)
    return OVERHEAD + _MOVE * min(cells, MAX_WORK) if cells <= HOPELESS * MAX_WORK else math.inf


def _is_small(vectors: Ints, low: Ints, high: Ints) -> bool:
    return bool(len(vectors) <= MOST_HALVED and len(vectors) * np.prod((high - low + 1).astype(np.float64)) <= SMALL)


def _window(sums: HalfSums, low: Ints, high: Ints) -> float:
    """The cells of a window as wide as one without a tilt, times the distinct vectors."""
    sides = np.minimum(18 * sums.deviations(np.zeros(2)), high - low) + 1
    return float(np.prod(sides)) * len(sums.counts)


def _runs(reachable: Flags, first: int) -> list[tuple[int, int]]:
    """The first and the last row of every run of reachable rows.

    A concave boundary can leave the lattice and come back: then there are two runs, with a likeliest point each.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], reachable, [False]]))) + first
    return [(int(begin), int(end) - 1) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def _by_convolution(vectors: Ints, starts: Ints, low: Ints, high: Ints) -> float:
    """Add one vector after the other on the whole lattice; nothing is subtracted, so tails keep all digits.

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


@dataclass(frozen=True, eq=False)
class _Tail:
    """The part of a rejection region in a run of rows.

    Attributes:
        sums: The distribution of B.
        starts: The first point of the region in each row of the lattice, above `high` outside of the run.
        low, high: The corners of the lattice.
    """

    sums: HalfSums
    starts: Ints
    low: Ints
    high: Ints

    def log_probability(self, region: Region, run: tuple[int, int], beside: float) -> float:
        """Log P(B in this part); -inf where there is nothing, or less than counts `beside` other parts.

        Raises `TooLargeError` also where rounding hides what might count.
        """
        rim = 0.5 * (self.high > self.low)
        tilt = self.sums.tilt_for(np.clip(self._likeliest(region, run), self.low + rim, self.high - rim))
        if self._log_bound(tilt) < beside + math.log(TOLERANCE):
            return -math.inf
        for share in (1, 0.75, 0.5, 0.25, 0):  # a smaller tilt where few points lie near the boundary
            found = self._tilted(share * tilt)
            if found is not None:
                return found
        if beside > -math.inf:
            raise TooLargeError
        return -math.inf

    def _log_bound(self, tilt: Floats) -> float:
        """A bound on the logarithm: no point's probability exceeds exp(K(t) - t.x) times its tilted one."""
        point = self.sums.mean(tilt)
        return self.sums.log_scale(tilt, point) + self._log_heaviest(tilt, point)

    def _log_heaviest(self, tilt: Floats, point: Floats) -> float:
        """The largest -t.(x - point) of a point x of the region: the weight by which the tilt is undone."""
        rows = np.arange(self.low[1], self.high[1] + 1)
        weights = tilt[0] * (np.maximum(self.starts, self.low[0]) - point[0]) + tilt[1] * (rows - point[1])
        return -float(weights[self.starts <= self.high[0]].min())

    def _tilted(self, tilt: Floats) -> float | None:
        """Compute the logarithm with this tilt; None where rounding hides the tail."""
        sums, low, high = self.sums, self.low, self.high
        point = sums.mean(tilt)
        log_heaviest = self._log_heaviest(tilt, point)
        reach, centre = 9 * sums.deviations(tilt) + 12, np.rint(point)
        while True:
            first, last = (np.clip(centre + r, low, high).astype(np.int64) for r in (-np.floor(reach), np.floor(reach)))
            if np.prod(last - first + 1) * len(sums.counts) > MAX_WORK:
                raise TooLargeError
            masses = sums.window(tilt, first, last)
            starts = self.starts[first[1] - low[1]:last[1] - low[1] + 1]
            tail, rounding = _weigh(masses, tilt, point, first, starts)
            if rounding < 1e-13 * tail:
                outside = log_heaviest + sums.log_outside(tilt, first, last, low, high)
                if outside < math.log(tail) + math.log(TOLERANCE):
                    return min(0.0, sums.log_scale(tilt, point) + math.log(tail))
            if (first == low).all() and (last == high).all():
                return None
            reach = reach * 1.5

    def _likeliest(self, region: Region, run: tuple[int, int]) -> Floats:
        """The point of the boundary with the least rate function sup_t t.point - K(t), by golden section over the rows.

        Any point gives the right probability; one near the likeliest gives it without loss of digits.
        """
        left, right = map(float, run)

        def boundary(row: float) -> Floats:
            return np.array([np.clip(region.threshold(row), self.low[0], self.high[0]), row])

        tilt = np.zeros(2)  # that of the row before, which is near

        def rate(row: float) -> float:
            nonlocal tilt
            tilt = self.sums.tilt_for(boundary(row), tilt)
            return -self.sums.log_scale(tilt, boundary(row))

        ratio = (math.sqrt(5) - 1) / 2
        a, b = right - ratio * (right - left), left + ratio * (right - left)
        rate_a, rate_b = rate(a), rate(b)
        while right - left > 0.5:
            if rate_a < rate_b:
                right, b, rate_b = b, a, rate_a
                a = right - ratio * (right - left)
                rate_a = rate(a)
            else:
                left, a, rate_a = a, b, rate_b
                b = left + ratio * (right - left)
                rate_b = rate(b)
        return boundary((left + right) / 2)


def _weigh(masses: Floats, tilt: Floats, point: Floats, first: Ints, starts: Ints) -> tuple[float, float]:
    """Sum the tilted masses of a window over the region, with the tilt undone relative to the point.

    Returns the sum and an estimate of its rounding error, which a transform spreads evenly over the window.
    """
    across, n_rows = masses.shape
    begins = np.maximum(starts - first[0], 0)  # of the region in each row of the window
    inside = begins < across
    edge = -(tilt[0] * (begins + first[0] - point[0]) + tilt[1] * (np.arange(n_rows) + first[1] - point[1]))[inside]
    steps = -tilt[0] * np.arange(across)  # from there on
    if (edge + np.maximum(0, steps[across - 1 - begins[inside]])).max(initial=-math.inf) > 100:
        return 0.0, math.inf  # the tilt has overshot
    with np.errstate(over="ignore", invalid="ignore"):  # an error that is no number is too large
        along, edges = np.exp(steps), np.exp(edge)
        squares = np.cumsum(along * along)[across - 1 - begins[inside]]
        error = 1e-15 * np.linalg.norm(masses) / math.sqrt(masses.size) * np.sqrt(edges * edges @ squares)
    from_edge = sliding_window_view(np.concatenate([np.zeros(across), along]), across)[across - begins[inside]]
    return float(edges @ np.einsum("ij,ji->i", from_edge, masses[:, inside])), float(error)
