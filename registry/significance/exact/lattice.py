"""Probabilities of sums of random integer vectors, accurate in the far tails.

Swapping a unit moves whole numbers from the sums of one system to the sums of the other. The sums after random swaps
are a fixed point plus B = sum of b_i v_i, where each b_i is 0 or 1 with equal probability, and v_i is in Z^2 (in one
dimension the second coordinate is always 0). The distribution of B on its lattice is one Fourier transform of its
characteristic function (Pagano and Tritchler 1983, "On obtaining permutation distributions in polynomial time").

The error of a transform is relative to the *largest* probability, while a tail may be 1e-100. So the distribution is
tilted first: P(x) = exp(K(t) - t.x) P_t(x) with K(t) = log E exp(t.B). The tilt makes the likeliest point of the
rejection region the likeliest point of all (the exponential tilt of saddlepoint methods, Daniels 1954). Only a window
around that point is transformed. Probability outside the window is added to values inside it, and Chernoff's inequality
bounds this error. The window grows until the bound is below 1e-14 of the result. A small lattice uses plain
convolution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from registry.arrays import Floats, Ints

SILENT = -50.0  # logarithm of a negligible modulus
_FURTHER = 1e-3 * 1.125 ** np.arange(104)  # tilts up to 200
_STEEP = 20  # exponent of a steep tilt: b_i is then nearly always 1, or nearly always 0


class HalfSums:
    """Distribution of a random sum of vectors, each included with probability 1/2.

    The sum B has the terms b_i v_i, where the b_i are 0 or 1. An exponential tilt t multiplies the probability of B by
    exp(t.B), up to a constant; it makes rare values likely. K(t) is the logarithm of the mean of exp(t.B).

    Attributes:
        whole: Distinct vectors v_i as whole numbers, [vectors, 2].
        vectors: The same vectors as floats.
        counts: Number of summands with each vector, [vectors].
    """

    def __init__(self, vectors: Ints) -> None:
        """Collect the distinct vectors of an array [n, 2].

        Each vector is encoded as one number, which makes `np.unique` much faster.
        """
        width = int(np.ptp(vectors[:, 1])) + 1
        base = int(vectors[:, 1].min())
        keys, counts = np.unique(vectors[:, 0] * width + (vectors[:, 1] - base), return_counts=True)
        self.whole: Ints = np.stack([keys // width, keys % width + base], axis=1)
        self.vectors: Floats = self.whole.astype(np.float64)
        self.counts: Floats = counts.astype(np.float64)

    def log_scale(self, tilt: Floats, point: Floats | Ints) -> float:
        """Return the log of the factor that undoes an exponential tilt at a point.

        A tilt t multiplies the probability of a sum B by exp(t.B - K(t)), where K is the cumulant generating function.
        The factor is exp(K(t) - t.point).
        """
        return float(self.log_scales(tilt, point))

    def log_scales(self, tilts: Floats, point: Floats | Ints) -> Floats:
        """Return the logs of the factors that undo several exponential tilts at a point.

        A tilt t multiplies the probability of a sum B by exp(t.B - K(t)), where K is the cumulant generating function.
        The factor is exp(K(t) - t.point).

        Args:
            tilts: The tilts, [..., 2].
            point: The point.

        Returns:
            Logarithms, [...].
        """
        exponents = tilts @ self.vectors.T
        # log((1 + e^x) / 2) = max(x, 0) + log1p(expm1(-|x|) / 2); the first parts add up to t.corner, and a difference
        # of whole vectors is exact even if t.corner and t.point are large and nearly the same
        corners = (self.counts * (exponents > 0)) @ self.vectors
        shares = np.log1p(np.expm1(-np.abs(exponents)) / 2)
        return np.asarray(shares @ self.counts + (tilts * (corners - point)).sum(axis=-1))

    def probabilities(self, tilt: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities that each vector is included or not, under a tilt.

        An exponential tilt multiplies the probability of a sum B by exp(tilt.B), up to a constant. Both results have
        full relative accuracy, [vectors] each.
        """
        exponents = self.vectors @ tilt
        return np.exp(-np.logaddexp(0, -exponents)), np.exp(-np.logaddexp(0, exponents))

    def mean(self, tilt: Floats) -> Floats:
        """Return the mean of the random sum under an exponential tilt."""
        return (self.counts * self.probabilities(tilt)[0]) @ self.vectors

    def covariance(self, tilt: Floats) -> Floats:
        """Return the covariance matrix of the random sum under an exponential tilt."""
        p, q = self.probabilities(tilt)
        return (self.vectors * (self.counts * p * q)[:, None]).T @ self.vectors

    def deviations(self, tilt: Floats) -> Floats:
        """Return the standard deviations of both coordinates of the sum, under a tilt."""
        return np.sqrt(np.diag(self.covariance(tilt)))

    def bound_rows(self, rows: Ints) -> Floats:
        """Return an upper bound of the first coordinate of the random sum for each row.

        A row is a value of the second coordinate; `rows` must contain all rows. The bound is the edge of the convex
        hull of all possible sums.
        """
        # In the first row the sum contains all vectors with a negative second coordinate and none with a positive one.
        # From row to row the former are removed and the latter are added, in the order of their gain per row.
        run, rise = self.vectors.T * self.counts
        level = rise == 0
        start = run[rise < 0].sum() + np.maximum(run[level], 0).sum()
        gains, steps = (run * np.sign(rise))[~level], np.abs(rise[~level])
        order = np.argsort(-gains / steps)
        edges = np.cumsum(np.concatenate([[[start], [rows[0]]], [gains[order], steps[order]]], axis=1), axis=1)
        return np.asarray(np.interp(rows.astype(np.float64), edges[1], edges[0])) + 1e-6

    def find_tilt(self, point: Floats, start: Floats | None = None) -> Floats:
        """Find an exponential tilt that moves the mean of the random sum to a point.

        The mean is only approximately at the point. Newton's method minimizes the convex function K(t) - t.point, where
        K is the cumulant generating function. It begins at `start`, the tilt of a nearby point, or at 0 if `start` is
        too steep.
        """
        tilt = np.zeros(2) if start is None or np.abs(self.vectors @ start).max() > _STEEP else start
        value = self.log_scale(tilt, point)
        for _ in range(60):
            gradient = self.mean(tilt) - point
            if (np.abs(gradient) < 0.05).all():
                break
            (a, b), (_, d) = hessian = self.covariance(tilt)
            determinant = a * d - b * b
            if determinant > 1e-6 * a * d:
                step = np.asarray(np.array([d, a]) * gradient - b * gradient[::-1]) / float(determinant)
            else:  # no step in a direction in which B is constant
                step = np.linalg.pinv(hessian, rcond=1e-9, hermitian=True) @ gradient
            length = min(1.0, 8 / max(np.abs(self.vectors @ step).max(), 1e-300))
            while True:
                candidate = tilt - length * step
                new_value = self.log_scale(candidate, point)
                if new_value <= value - 0.1 * length * float(gradient @ step) or length < 1e-6:
                    break
                length /= 2
            tilt, value = candidate, new_value
            if np.abs(self.vectors @ tilt).max() > 600:  # the point is on the edge of the lattice
                break
        return tilt

    def compute_row_bound(self, first: int, last: int) -> float:
        """Return Chernoff's bound of the log probability that a sum is in some rows.

        A row is a value of the second coordinate of the random sum. The rows are those from `first` to `last`.
        """
        still = np.zeros(2)
        mean = self.mean(still)[1]
        if first <= mean <= last:
            return 0.0
        edge, sign = (first, 1) if first > mean else (last, -1)
        return self._compute_tail_bound(still, 1, edge, sign)

    def compute_outside_bound(self, tilt: Floats, first: Ints, last: Ints, low: Ints, high: Ints) -> float:
        """Return a bound of the log probability that the random sum is outside a window.

        The result is Chernoff's bound under an exponential tilt.

        Args:
            tilt: The exponential tilt.
            first: First point of the window.
            last: Last point of the window.
            low: Smallest possible value of each coordinate.
            high: Largest possible value of each coordinate.
        """
        bounds = [-math.inf]
        for axis in (0, 1):
            if first[axis] > low[axis]:
                bounds.append(self._compute_tail_bound(tilt, axis, int(first[axis]) - 1, -1))
            if last[axis] < high[axis]:
                bounds.append(self._compute_tail_bound(tilt, axis, int(last[axis]) + 1, 1))
        return float(np.logaddexp.reduce(bounds))

    def _compute_tail_bound(self, tilt: Floats, axis: int, edge: int, sign: int) -> float:
        # Chernoff's bound is valid for any additional tilt. The tilts grow by an eighth each; the best exponent is
        # within 1 % of the optimum.
        face, further = np.where(np.arange(2) == axis, edge, 0), np.zeros((len(_FURTHER), 2))
        further[:, axis] = sign * _FURTHER
        return float(self.log_scales(tilt + further, face).min() - self.log_scale(tilt, face))

    def window(self, tilt: Floats, first: Ints, last: Ints) -> Floats:
        """Compute the probabilities of the random sum in a window, under a tilt.

        The probabilities come from a Fourier transform. So the probability of values outside the window is added to
        values inside it, modulo the size of the transform.

        Args:
            tilt: The exponential tilt.
            first: First point of the window.
            last: Last point of the window.
        """
        from scipy.fft import ifft, irfft, next_fast_len

        wanted = last - first + 1
        sides = np.array([next_fast_len(int(wanted[0])), next_fast_len(int(wanted[1]), real=True)])
        p, q = self.probabilities(tilt)
        turns = _HalfTurns(sides)
        rows, columns, log_modulus = self._find_loud(p * q, turns)
        transform = np.zeros((sides[0], int(columns.max()) + 1), dtype=np.complex128)  # all further columns are 0
        # The phases of E exp(i f.B), moved to the corner of the window; the inverse transform takes their conjugates.
        phases = -_angle(rows, first[0], turns.sides[0]) - _angle(columns, first[1], turns.sides[1])
        for n, vector in enumerate(self.whole):
            turn = turns(rows, columns, vector)
            phases += self.counts[n] * np.arctan2(2 * p[n] * turn.imag * turn.real, 1 - 2 * p[n] * turn.imag**2)
        transform[rows, columns] = np.exp(log_modulus - 1j * phases)
        masses: Floats = irfft(ifft(transform, axis=0, overwrite_x=True)[:wanted[0]], n=int(sides[1]), axis=1)
        return masses[:, :wanted[1]]

    def _find_loud(self, variances: Floats, turns: _HalfTurns) -> tuple[Ints, Ints, Floats]:
        """Find the frequencies at which the Fourier transform is not negligible.

        Usually few frequencies remain, so that the transform is fast.

        Args:
            variances: Variance of b_i for each vector, [vectors].
            turns: Sines and cosines of half the angles.

        Returns:
            Rows, columns and log modulus of these frequencies.
        """
        # Few frequencies remain unless the window is hardly wider than the range of the random sum. The modulus of the
        # transform is a product over the vectors. Vectors along an axis exclude whole rows or columns of frequencies.
        # Among the other vectors, those with the largest variances exclude most of the remaining frequencies.
        loud, moduli = [], []
        for axis, size in enumerate((turns.sides[0], turns.sides[1] // 2 + 1)):
            modulus = np.zeros(size)
            for n in np.flatnonzero(self.whole[:, 1 - axis] == 0).tolist():
                modulus += self._log_modulus(n, variances, turns.along(axis, self.whole[n, axis])[:size].imag)
            loud.append(np.flatnonzero(modulus > SILENT))
            moduli.append(modulus[loud[axis]])
        rows, columns = (index.ravel() for index in np.meshgrid(*loud, indexing="ij"))
        log_modulus = np.add.outer(*moduli).ravel()
        slanted = np.flatnonzero(self.whole.all(axis=1))
        for n in slanted[np.argsort(-(self.counts * variances)[slanted])].tolist():
            log_modulus += self._log_modulus(n, variances, turns(rows, columns, self.whole[n]).imag)
            heard = log_modulus > SILENT
            if np.count_nonzero(heard) < 0.8 * len(heard):
                rows, columns, log_modulus = rows[heard], columns[heard], log_modulus[heard]
        return rows, columns, log_modulus

    def _log_modulus(self, n: int, variances: Floats, sine: Floats) -> Floats:
        # log(1 - 4 p q sin^2) is accurate near 0; the logarithm of a modulus of 0 is -inf
        with np.errstate(divide="ignore"):  # a sine of 1 may be rounded up: maximum()
            return np.asarray(self.counts[n] / 2 * np.log1p(np.maximum(-4 * variances[n] * (sine * sine), -1)))


class _HalfTurns:
    """Cached cosines and sines of half the angles 2 pi f.v, as complex numbers.

    A Fourier transform needs these angles: f is a frequency and v a vector of the sum.
    """

    def __init__(self, sides: Ints) -> None:
        self.sides: list[int] = sides.tolist()
        self._along: dict[tuple[int, int], NDArray[np.complex128]] = {}

    def __call__(self, rows: Ints, columns: Ints, vector: Ints) -> NDArray[np.complex128]:
        """Return cos + i sin of half the angle of one vector, at the given frequencies."""
        return self.along(0, vector[0])[rows] * self.along(1, vector[1])[columns]

    def along(self, axis: int, step: int) -> NDArray[np.complex128]:
        """Return cos + i sin of half the angle of a vector that is parallel to an axis.

        All frequencies of the axis are returned.

        Args:
            axis: The axis, 0 or 1.
            step: Length of the vector.
        """
        if (axis, step) not in self._along:
            size = self.sides[axis]
            self._along[axis, step] = np.exp(0.5j * _angle(np.arange(size), step, size))
        return self._along[axis, step]


def _angle(frequencies: Ints, multiple: int, size: int) -> Floats:
    # reduced in whole numbers, without rounding, to an angle between -pi and pi
    residues = frequencies * (multiple % size) % size
    return np.where(2 * residues > size, residues - size, residues) * (2 * math.pi / size)


MAX_WORK = 2**26  # limit on cells of the transform times distinct vectors; above it, simulation is faster
HOPELESS = 64  # no tilt makes a window smaller by this factor
SMALL = 2**24  # limit on cells times vectors for plain convolution
MOST_HALVED = 1000  # up to this number of vectors no probability underflows
TOLERANCE = 1e-14
OVERHEAD = 5e6  # cost of finding a tilt, in additions (four per nanosecond)

_MOVE = 108  # cost of a cell and vector in a transform
_STEP, _CELL = 2e5, 8  # cost of a vector, and of a cell and vector, in a plain convolution


class TooLargeError(Exception):
    """Raised if an exact computation is too expensive or loses all digits."""


class Region(NamedTuple):
    """Points (x, y) at which a test rejects: in a row y, all x from a threshold on.

    All coordinates are whole numbers.

    Attributes:
        threshold: Function from y to the threshold of this row. The function is smooth, for a search.
        thresholds: Function from rows to the smallest rejected x of each row, exactly.
    """

    threshold: Callable[[float], float]
    thresholds: Callable[[Ints], Ints]


def log_probability(vectors: Ints, region: Region) -> float:
    """Return the log probability that a test rejects: a random sum is in a region.

    The test statistic is a sum of vectors, each of which is included with probability 1/2. The region must not contain
    the mean of the sum. The result is -inf if the sum can reach no point of the region, up to rounding.

    Args:
        vectors: Whole numbers, [n, 2].
        region: The region.

    Raises:
        TooLargeError: The computation needs more than `MAX_WORK` values times distinct vectors, or rounding hides the
            probability.
    """
    sums = HalfSums(vectors)
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    rows = np.arange(low[1], high[1] + 1)
    starts = region.thresholds(rows)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], starts <= sums.bound_rows(rows), [False]]))) + low[1]
    # A concave boundary can leave the lattice and return: each run of reachable rows has its own likeliest point.
    runs = [(int(begin), int(end) - 1) for begin, end in zip(edges[::2], edges[1::2], strict=True)]
    if not runs:
        return -math.inf
    if _is_small(vectors, low, high):
        return _by_convolution(vectors, starts, low, high)
    if _window(sums, low, high) > HOPELESS * MAX_WORK:
        raise TooLargeError
    total = -math.inf
    for bound, run in sorted(((sums.compute_row_bound(*run), run) for run in runs), reverse=True):
        if bound > total + math.log(TOLERANCE):
            inside = (rows >= run[0]) & (rows <= run[1])
            tail = _Tail(sums, np.where(inside, starts, high[0] + 1), low, high)
            total = float(np.logaddexp(total, tail.log_probability(region, run, total)))
            if total == -math.inf and len(runs) > 1:
                raise TooLargeError  # rounding may have hidden the probability
    return min(0.0, total)


def estimate_cost(vectors: Ints) -> float:
    """Estimate the cost of `log_probability` in additions; infinite if too expensive.

    If the random sum has few possible values, all of them count, otherwise only the likely ones.
    """
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    if _is_small(vectors, low, high):
        return float(len(vectors) * (_STEP + _CELL * np.prod(high - low + 1)))
    cells = _window(HalfSums(vectors), low, high)
    return OVERHEAD + _MOVE * min(cells, MAX_WORK) if cells <= HOPELESS * MAX_WORK else math.inf


def _is_small(vectors: Ints, low: Ints, high: Ints) -> bool:
    return bool(len(vectors) <= MOST_HALVED and len(vectors) * np.prod((high - low + 1).astype(np.float64)) <= SMALL)


def _window(sums: HalfSums, low: Ints, high: Ints) -> float:
    # cost of the likely sums of the distribution without a tilt: their number times the distinct vectors
    sides = np.minimum(18 * sums.deviations(np.zeros(2)), high - low) + 1
    return float(np.prod(sides)) * len(sums.counts)


def _by_convolution(vectors: Ints, starts: Ints, low: Ints, high: Ints) -> float:
    """Compute the log probability of a region from all possible sums of the vectors.

    One vector is added after the other (a convolution). Nothing is subtracted, so small probabilities keep all digits.
    No probability underflows with up to `MOST_HALVED` vectors.

    Args:
        vectors: The vectors, each included with probability 1/2, [n, 2].
        starts: First point of the region in each row.
        low: Smallest possible value of each coordinate of the sum.
        high: Largest possible value of each coordinate.
    """
    masses = np.zeros(tuple(high - low + 1))
    first = last = -low  # first and last sum of the vectors that were added
    masses[tuple(first)] = 1.0
    for vector in vectors:
        shifted = masses[first[0]:last[0] + 1, first[1]:last[1] + 1] / 2
        masses[first[0]:last[0] + 1, first[1]:last[1] + 1] = shifted
        masses[first[0] + vector[0]:last[0] + vector[0] + 1, first[1] + vector[1]:last[1] + vector[1] + 1] += shifted
        first, last = first + np.minimum(vector, 0), last + np.maximum(vector, 0)
    inside = np.arange(low[0], high[0] + 1)[:, None] >= starts[None, :]
    tail = float(masses[inside].sum())
    return math.log(tail) if tail > 0 else -math.inf


@dataclass(frozen=True, eq=False)
class _Tail:
    """Some consecutive rows of a rejection region of points (x, y).

    A row is a value of y. A test rejects if its statistic, a random sum B of vectors, is in the region.

    Attributes:
        sums: Distribution of B.
        starts: First point of the region in each row; above `high` in other rows.
        low, high: Smallest and largest possible value of each coordinate of B.
    """

    sums: HalfSums
    starts: Ints
    low: Ints
    high: Ints

    def log_probability(self, region: Region, run: tuple[int, int], other: float) -> float:
        """Return the log probability that a random sum is in these rows of a region.

        A test rejects if its statistic, a random sum of vectors, is in the region. The result is -inf if the
        probability is 0 or negligible.

        Args:
            region: The whole region.
            run: First and last of these rows.
            other: Log probability of the other rows; much smaller probabilities are negligible.

        Raises:
            TooLargeError: Too many values are likely, or rounding may hide a relevant probability.
        """
        rim = 0.5 * (self.high > self.low)
        tilt = self.sums.find_tilt(np.clip(self._find_likeliest(region, run), self.low + rim, self.high - rim))
        point = self.sums.mean(tilt)  # P(x) is at most exp(K(t) - t.x) for every x
        if self.sums.log_scale(tilt, point) + self._log_heaviest(tilt, point) < other + math.log(TOLERANCE):
            return -math.inf
        for share in (1, 0.75, 0.5, 0.25, 0):  # a smaller tilt helps if few points are near the boundary
            bound = self._try_tilt(share * tilt)
            if bound is not None:
                return bound
        if other > -math.inf:
            raise TooLargeError
        return -math.inf

    def _log_heaviest(self, tilt: Floats, point: Floats) -> float:
        rows = np.arange(self.low[1], self.high[1] + 1)
        weights = tilt[0] * (np.maximum(self.starts, self.low[0]) - point[0]) + tilt[1] * (rows - point[1])
        return -float(weights[self.starts <= self.high[0]].min())

    def _try_tilt(self, tilt: Floats) -> float | None:
        """Compute the log probability of these rows with an exponential tilt.

        The result is None if rounding errors exceed the probability.
        """
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
                outside = log_heaviest + sums.compute_outside_bound(tilt, first, last, low, high)
                if outside < math.log(tail) + math.log(TOLERANCE):
                    return min(0.0, sums.log_scale(tilt, point) + math.log(tail))
            if (first == low).all() and (last == high).all():
                return None
            reach = reach * 1.5

    def _find_likeliest(self, region: Region, run: tuple[int, int]) -> Floats:
        """Find the most probable boundary point by golden section over the rows.

        Any point gives the correct probability of the region, but a point near the most probable one avoids a loss of
        digits.

        Args:
            region: The whole region.
            run: First and last of these rows.
        """
        # The most probable point has the least rate function sup_t t.point - K(t).
        left, right = map(float, run)

        def boundary(row: float) -> Floats:
            return np.array([np.clip(region.threshold(row), self.low[0], self.high[0]), row])

        tilt = np.zeros(2)  # tilt of the previous row, which is a good start

        def rate(row: float) -> float:
            nonlocal tilt
            tilt = self.sums.find_tilt(boundary(row), tilt)
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
    """Sum the probabilities of the points that are both in a window and in a region.

    The given probabilities are exponentially tilted. The tilt is undone, with `point` as the origin.

    Args:
        masses: Tilted probabilities in the window, [values of x, rows].
        tilt: The exponential tilt.
        point: The origin of the tilt.
        first: First point of the window.
        starts: First point of the region in each row of the window.

    Returns:
        The sum, and an estimate of its rounding error, which a transform spreads evenly over the window.
    """
    across, n_rows = masses.shape
    begins = np.maximum(starts - first[0], 0)  # first point of the region in each row of the window
    inside = begins < across
    edge = -(tilt[0] * (begins + first[0] - point[0]) + tilt[1] * (np.arange(n_rows) + first[1] - point[1]))[inside]
    steps = -tilt[0] * np.arange(across)  # relative to the first point
    if (edge + np.maximum(0, steps[across - 1 - begins[inside]])).max(initial=-math.inf) > 100:
        return 0.0, math.inf  # the tilt is too large
    with np.errstate(over="ignore", invalid="ignore"):  # nan counts as too large
        along, edges = np.exp(steps), np.exp(edge)
        squares = np.cumsum(along * along)[across - 1 - begins[inside]]
        error = 1e-15 * np.linalg.norm(masses) / math.sqrt(masses.size) * np.sqrt(edges * edges @ squares)
    from_edge = sliding_window_view(np.concatenate([np.zeros(across), along]), across)[across - begins[inside]]
    return float(edges @ np.einsum("ij,ji->i", from_edge, masses[:, inside])), float(error)
