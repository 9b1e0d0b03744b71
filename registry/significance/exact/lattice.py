"""Exact probabilities of sums of random vectors of whole numbers, with small relative errors in the tails.

Swapping a unit moves whole numbers from one system's sums to the other's. The sums after random swaps are a fixed point
plus B = sum of b_i v_i, with b_i in {0, 1} equally likely and v_i in Z^2 (in one dimension the second coordinate is
always 0). The distribution of B on its lattice is one Fourier transform of its characteristic function (Pagano and
Tritchler 1983, "On obtaining permutation distributions in polynomial time").

The error of a transform is relative to the *largest* probability, while a tail may be 1e-100. So the distribution is
tilted first, P(x) = exp(K(t) - t.x) P_t(x) with K(t) = log E exp(t.B), such that the likeliest point of the rejection
region becomes the most likely point of all (the exponential tilt of saddlepoint methods, Daniels 1954). Only a window
around that point is transformed. Probability outside the window folds into it, and Chernoff's inequality bounds it on
each face; the window grows until the bound is below 1e-14 of the result. A small lattice uses plain convolution.
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

SILENT = -50.0  # the logarithm of a negligible modulus
_FURTHER = 1e-3 * 1.125 ** np.arange(104)  # tilts up to 200
_STEEP = 20  # of a tilt: a summand is then nearly always, or hardly ever, there


class HalfSums:
    """B = sum of b_i v_i, with `counts[j]` summands of the vector `vectors[j]`, under tilts exp(t.B)."""

    def __init__(self, vectors: Ints) -> None:
        """Take the vectors [n, 2], which are made unique by one number for each: much faster than by axis."""
        width = int(np.ptp(vectors[:, 1])) + 1
        base = int(vectors[:, 1].min())
        keys, counts = np.unique(vectors[:, 0] * width + (vectors[:, 1] - base), return_counts=True)
        self.whole: Ints = np.stack([keys // width, keys % width + base], axis=1)
        self.vectors: Floats = self.whole.astype(np.float64)
        self.counts: Floats = counts.astype(np.float64)

    def log_scale(self, tilt: Floats, point: Floats | Ints) -> float:
        """Return K(t) - t.point, which undoes the tilt at a point; minus the rate function at the mean of the tilt."""
        return float(self.log_scales(tilt, point))

    def log_scales(self, tilts: Floats, point: Floats | Ints) -> Floats:
        """Return K(t) - t.point for each of the tilts, [..., 2] -> [...]."""
        exponents = tilts @ self.vectors.T
        # log((1 + e^x) / 2) = max(x, 0) + log1p(expm1(-|x|) / 2); the first parts add up to t.corner, and a difference
        # of whole vectors loses nothing where t.corner and t.point are large and nearly the same
        corners = (self.counts * (exponents > 0)) @ self.vectors
        shares = np.log1p(np.expm1(-np.abs(exponents)) / 2)
        return np.asarray(shares @ self.counts + (tilts * (corners - point)).sum(axis=-1))

    def probabilities(self, tilt: Floats) -> tuple[Floats, Floats]:
        """Return P(b_i = 1) and P(b_i = 0) under the tilt for each distinct vector, with full relative accuracy."""
        exponents = self.vectors @ tilt
        return np.exp(-np.logaddexp(0, -exponents)), np.exp(-np.logaddexp(0, exponents))

    def mean(self, tilt: Floats) -> Floats:
        """Return the gradient of K."""
        return (self.counts * self.probabilities(tilt)[0]) @ self.vectors

    def covariance(self, tilt: Floats) -> Floats:
        """Return the Hessian of K."""
        p, q = self.probabilities(tilt)
        return (self.vectors * (self.counts * p * q)[:, None]).T @ self.vectors

    def deviations(self, tilt: Floats) -> Floats:
        """Return the standard deviations of the coordinates."""
        return np.sqrt(np.diag(self.covariance(tilt)))

    def most(self, rows: Ints) -> Floats:
        """Return the largest first coordinate of B, or a little more, in each of all rows (second coordinates).

        It is the rim of the hull of B. The first row has all vectors that lead down and none that leads up. Row by row
        the former leave and the latter join, in the order of their gain per row.
        """
        run, rise = self.vectors.T * self.counts
        level = rise == 0
        start = run[rise < 0].sum() + np.maximum(run[level], 0).sum()
        gains, steps = (run * np.sign(rise))[~level], np.abs(rise[~level])
        order = np.argsort(-gains / steps)
        edges = np.cumsum(np.concatenate([[[start], [rows[0]]], [gains[order], steps[order]]], axis=1), axis=1)
        return np.asarray(np.interp(rows.astype(np.float64), edges[1], edges[0])) + 1e-6

    def tilt_for(self, point: Floats, start: Floats | None = None) -> Floats:
        """Find the tilt with which the mean of B is about `point`, by Newton's method on the convex K(t) - t.point.

        It begins at `start`, the tilt of a nearby point, or at 0 if that is too steep for the next steps.
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
            else:  # without a part along a direction in which B does not move
                step = np.linalg.pinv(hessian, rcond=1e-9, hermitian=True) @ gradient
            length = min(1.0, 8 / max(np.abs(self.vectors @ step).max(), 1e-300))
            while True:
                candidate = tilt - length * step
                new_value = self.log_scale(candidate, point)
                if new_value <= value - 0.1 * length * float(gradient @ step) or length < 1e-6:
                    break
                length /= 2
            tilt, value = candidate, new_value
            if np.abs(self.vectors @ tilt).max() > 600:  # a point on the rim of the lattice
                break
        return tilt

    def compute_row_bound(self, first: int, last: int) -> float:
        """Return Chernoff's bound on log P(second coordinate of B from `first` to `last`)."""
        still = np.zeros(2)
        mean = self.mean(still)[1]
        if first <= mean <= last:
            return 0.0
        edge, sign = (first, 1) if first > mean else (last, -1)
        return self._compute_tail_bound(still, 1, edge, sign)

    def compute_outside_bound(self, tilt: Floats, first: Ints, last: Ints, low: Ints, high: Ints) -> float:
        """Return Chernoff's bound on log P_t(B outside the window from `first` to `last`), summed over its faces."""
        bounds = [-math.inf]
        for axis in (0, 1):
            if first[axis] > low[axis]:
                bounds.append(self._compute_tail_bound(tilt, axis, int(first[axis]) - 1, -1))
            if last[axis] < high[axis]:
                bounds.append(self._compute_tail_bound(tilt, axis, int(last[axis]) + 1, 1))
        return float(np.logaddexp.reduce(bounds))

    def _compute_tail_bound(self, tilt: Floats, axis: int, edge: int, sign: int) -> float:
        """Bound log P_t(a coordinate of B is at the edge, or beyond it on the side of the sign).

        Any further tilt gives a valid bound. The best exponent of some that grow by an eighth is within a hundredth of
        the best of all.
        """
        face, further = np.where(np.arange(2) == axis, edge, 0), np.zeros((len(_FURTHER), 2))
        further[:, axis] = sign * _FURTHER
        return float(self.log_scales(tilt + further, face).min() - self.log_scale(tilt, face))

    def window(self, tilt: Floats, first: Ints, last: Ints) -> Floats:
        """Return P_t(B = x) for x from `first` to `last`; probability outside folds in modulo the transform's sides."""
        from scipy.fft import ifft, irfft, next_fast_len

        wanted = last - first + 1
        sides = np.array([next_fast_len(int(wanted[0])), next_fast_len(int(wanted[1]), real=True)])
        p, q = self.probabilities(tilt)
        turns = _HalfTurns(sides)
        rows, columns, log_modulus = self._find_loud(p * q, turns)
        transform = np.zeros((sides[0], int(columns.max()) + 1), dtype=np.complex128)  # 0 in all columns from there on
        # The phases of E exp(i f.B), moved to the corner of the window; the inverse transform takes their conjugates.
        phases = -_angle(rows, first[0], turns.sides[0]) - _angle(columns, first[1], turns.sides[1])
        for n, vector in enumerate(self.whole):
            turn = turns(rows, columns, vector)
            phases += self.counts[n] * np.arctan2(2 * p[n] * turn.imag * turn.real, 1 - 2 * p[n] * turn.imag**2)
        transform[rows, columns] = np.exp(log_modulus - 1j * phases)
        masses: Floats = irfft(ifft(transform, axis=0, overwrite_x=True)[:wanted[0]], n=int(sides[1]), axis=1)
        return masses[:, :wanted[1]]

    def _find_loud(self, variances: Floats, turns: _HalfTurns) -> tuple[Ints, Ints, Floats]:
        """Find the frequencies at which the transform is not negligible, and the logarithm of its modulus there.

        They are few, unless the window is hardly wider than B. The modulus is a product over the vectors. Vectors along
        an axis rule out whole rows or columns of frequencies, and of the others those with the largest variances rule
        out most of the rest.
        """
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
        """Return the share of vector n in the logarithm of the modulus, from the sines of half the angles f.v.

        It is the logarithm of 1 - 4 p q sin^2, which keeps its digits near 0; a modulus of 0 has the logarithm -inf.
        """
        with np.errstate(divide="ignore"):  # a sine of 1 may be rounded up: maximum()
            return np.asarray(self.counts[n] / 2 * np.log1p(np.maximum(-4 * variances[n] * (sine * sine), -1)))


class _HalfTurns:
    """Cosine and sine, as one complex number, of half the angles 2 pi f.v, up to a sign that both share."""

    def __init__(self, sides: Ints) -> None:
        self.sides: list[int] = sides.tolist()
        self._along: dict[tuple[int, int], NDArray[np.complex128]] = {}

    def __call__(self, rows: Ints, columns: Ints, vector: Ints) -> NDArray[np.complex128]:
        """Return the half turns at some frequencies for one vector."""
        return self.along(0, vector[0])[rows] * self.along(1, vector[1])[columns]

    def along(self, axis: int, step: int) -> NDArray[np.complex128]:
        """Return the half turns at all frequencies of an axis for a vector of `step` steps along it."""
        if (axis, step) not in self._along:
            size = self.sides[axis]
            self._along[axis, step] = np.exp(0.5j * _angle(np.arange(size), step, size))
        return self._along[axis, step]


def _angle(frequencies: Ints, multiple: int, size: int) -> Floats:
    """Return 2 pi frequency multiple / size, reduced exactly into (-pi, pi]."""
    residues = frequencies * (multiple % size) % size
    return np.where(2 * residues > size, residues - size, residues) * (2 * math.pi / size)


MAX_WORK = 2**26  # cells of the transform times distinct vectors; beyond it Monte Carlo is the better answer
HOPELESS = 64  # times too large without a tilt: no tilt makes the window that much smaller
SMALL = 2**24  # cells times vectors up to which plain convolution is as fast
MOST_HALVED = 1000  # vectors up to which no probability underflows
TOLERANCE = 1e-14
OVERHEAD = 5e6  # cost of finding a tilt, in additions (four per nanosecond)

_MOVE = 108  # cost of a cell and vector in a transform
_STEP, _CELL = 2e5, 8  # cost of a vector, and of a cell and vector, in a plain convolution


class TooLargeError(Exception):
    """Raised if a lattice has more cells than are worth transforming."""


class Region(NamedTuple):
    """Rejection region: in each row (second coordinate) the points from a threshold on.

    Attributes:
        threshold: Returns the threshold in a row as a smooth function, for searching.
        thresholds: Returns the first lattice point of the region in each row, exactly.
    """

    threshold: Callable[[float], float]
    thresholds: Callable[[Ints], Ints]


def log_probability(vectors: Ints, region: Region) -> float:
    """Return the natural logarithm of P(B in region), for B the sum of a random half of the `vectors`, [n, 2].

    The region must not contain the mean of B. The result is -inf if B can reach no point of the region, up to rounding.

    Raises:
        TooLargeError: The window needs more than `MAX_WORK` cells times distinct vectors, or rounding hides the tail.
    """
    sums = HalfSums(vectors)
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    rows = np.arange(low[1], high[1] + 1)
    starts = region.thresholds(rows)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], starts <= sums.most(rows), [False]]))) + low[1]
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
                raise TooLargeError  # rounding may have hidden it
    return min(0.0, total)


def window_work(vectors: Ints) -> float:
    """Return the cost of a probability in additions, of the whole lattice or the first window; infinite if hopeless."""
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    if _is_small(vectors, low, high):
        return float(len(vectors) * (_STEP + _CELL * np.prod(high - low + 1)))
    cells = _window(HalfSums(vectors), low, high)
    return OVERHEAD + _MOVE * min(cells, MAX_WORK) if cells <= HOPELESS * MAX_WORK else math.inf


def _is_small(vectors: Ints, low: Ints, high: Ints) -> bool:
    return bool(len(vectors) <= MOST_HALVED and len(vectors) * np.prod((high - low + 1).astype(np.float64)) <= SMALL)


def _window(sums: HalfSums, low: Ints, high: Ints) -> float:
    """Return the cells of a window without a tilt times the number of distinct vectors."""
    sides = np.minimum(18 * sums.deviations(np.zeros(2)), high - low) + 1
    return float(np.prod(sides)) * len(sums.counts)


def _by_convolution(vectors: Ints, starts: Ints, low: Ints, high: Ints) -> float:
    """Add one vector after the other on the whole lattice; nothing is subtracted, so tails keep all digits.

    Up to `MOST_HALVED` vectors no probability underflows.
    """
    masses = np.zeros(tuple(high - low + 1))
    first = last = -low  # where the sums of the vectors so far begin and end
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
    """Part of a rejection region in a run of rows.

    Attributes:
        sums: Distribution of B.
        starts: First point of the region in each row of the lattice, above `high` outside of the run.
        low, high: Corners of the lattice.
    """

    sums: HalfSums
    starts: Ints
    low: Ints
    high: Ints

    def log_probability(self, region: Region, run: tuple[int, int], other: float) -> float:
        """Return log P(B in this part); -inf if it is empty, or negligible `other` other parts.

        Raises:
            TooLargeError: The window is too large, or rounding may hide a relevant probability.
        """
        rim = 0.5 * (self.high > self.low)
        tilt = self.sums.tilt_for(np.clip(self._find_likeliest(region, run), self.low + rim, self.high - rim))
        point = self.sums.mean(tilt)  # no point's probability exceeds exp(K(t) - t.x) times its tilted one
        if self.sums.log_scale(tilt, point) + self._log_heaviest(tilt, point) < other + math.log(TOLERANCE):
            return -math.inf
        for share in (1, 0.75, 0.5, 0.25, 0):  # a smaller tilt where few points lie near the boundary
            bound = self._try_tilt(share * tilt)
            if bound is not None:
                return bound
        if other > -math.inf:
            raise TooLargeError
        return -math.inf

    def _log_heaviest(self, tilt: Floats, point: Floats) -> float:
        """Return the largest -t.(x - point) of a point x of the region: the weight that undoes the tilt."""
        rows = np.arange(self.low[1], self.high[1] + 1)
        weights = tilt[0] * (np.maximum(self.starts, self.low[0]) - point[0]) + tilt[1] * (rows - point[1])
        return -float(weights[self.starts <= self.high[0]].min())

    def _try_tilt(self, tilt: Floats) -> float | None:
        """Compute the logarithm with this tilt; None if rounding hides the tail."""
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
        """Find the boundary point with the least rate function sup_t t.point - K(t), by golden section over the rows.

        Any point gives the correct probability; one near the likeliest gives it without loss of digits.
        """
        left, right = map(float, run)

        def boundary(row: float) -> Floats:
            return np.array([np.clip(region.threshold(row), self.low[0], self.high[0]), row])

        tilt = np.zeros(2)  # that of the previous row, which is near

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
    with np.errstate(over="ignore", invalid="ignore"):  # a nan is too large
        along, edges = np.exp(steps), np.exp(edge)
        squares = np.cumsum(along * along)[across - 1 - begins[inside]]
        error = 1e-15 * np.linalg.norm(masses) / math.sqrt(masses.size) * np.sqrt(edges * edges @ squares)
    from_edge = sliding_window_view(np.concatenate([np.zeros(across), along]), across)[across - begins[inside]]
    return float(edges @ np.einsum("ij,ji->i", from_edge, masses[:, inside])), float(error)
