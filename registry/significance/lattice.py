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

from registry.significance.matrix import Floats

Ints = NDArray[np.int64]

HALVES = 32  # weights up to which all sums of either half are listed
MAX_WORK = 2**26  # cells of the transform times distinct vectors; beyond it Monte Carlo is the better answer
HOPELESS = 64  # times too large without a tilt: no tilt makes the window that much smaller
SMALL = 2**24  # cells times vectors up to which plain convolution is as fast
SILENT = -50.0  # the logarithm of what is nothing beside 1
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


def log_probability(vectors: Ints, region: Region) -> float:
    """The natural logarithm of P(B in region), for B the sum of a random half of the `vectors`, [n, 2].

    The region must not hold the mean of B. The result is -inf where the region holds no point that B can reach, as far
    as rounding can tell.

    Raises:
        TooLargeError: The window needs more than `MAX_WORK` cells times distinct vectors, or rounding hides the tail.
    """
    sums = _Sums(*_distinct(vectors))
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    starts = region.thresholds(np.arange(low[1], high[1] + 1))
    runs = _runs(starts <= high[0], low[1])
    if not runs:
        return -math.inf
    if len(vectors) <= 1000 and len(vectors) * np.prod(high - low + 1) <= SMALL:
        return _by_convolution(vectors, starts, low, high)
    if np.prod(np.minimum(18 * sums.deviations(np.zeros(2)), high - low) + 1) * len(sums.counts) > HOPELESS * MAX_WORK:
        raise TooLargeError
    found = -math.inf
    for bound, run in sorted(((sums.log_rows(*run), run) for run in runs), reverse=True):
        if bound > found + math.log(TOLERANCE):
            found = float(np.logaddexp(found, _log_probability(sums, region, starts, run, low, high, beside=found)))
            if found == -math.inf and len(runs) > 1:
                raise TooLargeError  # rounding may have hidden it
    return min(0.0, found)


def _runs(reachable: NDArray[np.bool_], first: int) -> list[tuple[int, int]]:
    """The first and the last row of every run of reachable ones.

    A concave boundary may leave the lattice and come back: then there are two, with a likeliest point each.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], reachable, [False]]))) + first
    return [(int(begin), int(end) - 1) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def _by_convolution(vectors: Ints, starts: Ints, low: Ints, high: Ints) -> float:
    """Add one vector after the other on the whole lattice: nothing is subtracted, so every digit of a tail is right.

    Up to 1000 vectors no probability underflows.
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


def _log_probability(sums: _Sums, region: Region, starts: Ints, run: tuple[int, int], low: Ints, high: Ints, *,
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


def _log_bound(sums: _Sums, tilt: Floats, starts: Ints, low: Ints, high: Ints) -> float:
    """A bound on the logarithm: no point of the region has more than exp(K(t) - t.x) times its tilted probability."""
    point = sums.mean(tilt)
    return sums.log_scale(tilt, point) + _log_heaviest(tilt, point, starts, low, high)


def _log_heaviest(tilt: Floats, point: Floats, starts: Ints, low: Ints, high: Ints) -> float:
    """The largest -t.(x - point) of a point of the region: what undoing the tilt makes of it."""
    rows = np.arange(low[1], high[1] + 1)
    weights = tilt[0] * (np.maximum(starts, low[0]) - point[0]) + tilt[1] * (rows - point[1])
    return -float(weights[starts <= high[0]].min())


def _tilted(sums: _Sums, tilt: Floats, starts: Ints, low: Ints, high: Ints) -> float | None:
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


def _distinct(vectors: Ints) -> tuple[Ints, Ints]:
    """The distinct rows and how often each occurs, by way of one number for a row: much faster than by axis."""
    width = int(np.ptp(vectors[:, 1])) + 1
    base = int(vectors[:, 1].min())
    keys, counts = np.unique(vectors[:, 0] * width + (vectors[:, 1] - base), return_counts=True)
    return np.stack([keys // width, keys % width + base], axis=1), counts


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


def _likeliest(sums: _Sums, region: Region, run: tuple[int, int], low: Ints, high: Ints) -> Floats:
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


class _Sums:
    """B = sum of b_i v_i, with `counts[j]` summands of the vector `vectors[j]`, under tilts exp(t.B)."""

    def __init__(self, vectors: Ints, counts: Ints) -> None:
        self.whole, self.vectors, self.counts = vectors, vectors.astype(np.float64), counts.astype(np.float64)

    def log_scale(self, tilt: Floats, point: Floats | Ints) -> float:
        """K(t) - t.point: what undoes the tilt at a point, and minus the rate function at the tilt's mean."""
        exponents = self.vectors @ tilt
        # log((1 + e^x) / 2) = max(x, 0) + log1p(expm1(-|x|) / 2); the first parts add up to t.corner, and a difference
        # of whole vectors loses nothing where t.corner and t.point are large and nearly the same
        corner = (self.counts * (exponents > 0)) @ self.vectors
        return float(self.counts @ np.log1p(np.expm1(-np.abs(exponents)) / 2)) + float(tilt @ (corner - point))

    def probabilities(self, tilt: Floats) -> tuple[Floats, Floats]:
        """P(b_i = 1) and P(b_i = 0) under the tilt, for each distinct vector, both right in relative terms."""
        exponents = self.vectors @ tilt
        return np.exp(-np.logaddexp(0, -exponents)), np.exp(-np.logaddexp(0, exponents))

    def mean(self, tilt: Floats) -> Floats:
        """The gradient of K."""
        return (self.counts * self.probabilities(tilt)[0]) @ self.vectors

    def covariance(self, tilt: Floats) -> Floats:
        """The Hessian of K."""
        p, q = self.probabilities(tilt)
        return (self.vectors * (self.counts * p * q)[:, None]).T @ self.vectors

    def deviations(self, tilt: Floats) -> Floats:
        """The standard deviation of either coordinate."""
        return np.sqrt(np.diag(self.covariance(tilt)))

    def tilt_for(self, point: Floats) -> Floats:
        """The tilt under which the mean of B is about `point`: Newton's method on the convex K(t) - t.point."""
        tilt = np.zeros(2)
        value = 0.0
        for _ in range(60):
            gradient = self.mean(tilt) - point
            if (np.abs(gradient) < 0.05).all():
                break
            # no step along a direction in which B does not move
            step = np.linalg.pinv(self.covariance(tilt), rcond=1e-9, hermitian=True) @ gradient
            length = min(1.0, 8 / max(np.abs(self.vectors @ step).max(), 1e-300))
            while True:
                there = tilt - length * step
                after = self.log_scale(there, point)
                if after <= value - 0.1 * length * float(gradient @ step) or length < 1e-6:
                    break
                length /= 2
            tilt, value = there, after
            if np.abs(self.vectors @ tilt).max() > 600:  # a point on the rim of what is possible
                break
        return tilt

    def rate(self, point: Floats) -> float:
        """The rate function sup_t t.point - K(t), to a few digits."""
        return -self.log_scale(self.tilt_for(point), point)

    def log_rows(self, first: int, last: int) -> float:
        """Chernoff's bound on log P(second coordinate of B from `first` to `last`)."""
        still = np.zeros(2)
        mean = self.mean(still)[1]
        if first <= mean <= last:
            return 0.0
        edge, sign = (first, 1) if first > mean else (last, -1)
        return self.log_scale(self._turn(still, 1, float(edge), sign), np.array([0.0, edge]))

    def log_outside(self, tilt: Floats, first: Ints, last: Ints, low: Ints, high: Ints) -> float:
        """Chernoff's bound on log P_t(B outside the window from `first` to `last`), summed over its faces."""
        bounds = [-math.inf]
        for axis in (0, 1):
            for edge, sign, beyond in ((first[axis] - 1, -1, first[axis] > low[axis]),
                                       (last[axis] + 1, 1, last[axis] < high[axis])):
                if beyond:
                    face = np.where(np.arange(2) == axis, edge, 0)
                    turn = self._turn(tilt, axis, float(edge), sign)
                    bounds.append(self.log_scale(turn, face) - self.log_scale(tilt, face))
        return float(np.logaddexp.reduce(bounds))

    def _turn(self, tilt: Floats, axis: int, edge: float, sign: int) -> Floats:
        """Tilt further along an axis, until the mean is about at the edge; any further tilt gives a valid bound."""
        direction: Floats = sign * np.eye(2)[axis]
        near, far = 0.0, 1e-3
        while sign * (self.mean(tilt + far * direction)[axis] - edge) < 0 and far < 100:
            near, far = far, 2 * far
        for _ in range(12):
            middle = (near + far) / 2
            before = sign * (self.mean(tilt + middle * direction)[axis] - edge) < 0
            near, far = (middle, far) if before else (near, middle)
        return tilt + (near + far) / 2 * direction

    def window(self, tilt: Floats, first: Ints, last: Ints) -> Floats:
        """P_t(B = x) for x from `first` to `last`, what lies outside folded in modulo the window's sides."""
        sides = last - first + 1
        p, q = self.probabilities(tilt)
        rows, columns = self._loud(p * q, sides)
        # the inverse transform has exp(+i...), so it takes the conjugate of E exp(i f.B), moved to the window's corner
        log_modulus, phase = np.zeros(len(rows)), -_turn(rows, columns, first, sides)
        for n, vector in enumerate(self.whole):  # by logarithms that keep their digits near 0
            turned = _turn(rows, columns, vector, sides)
            with np.errstate(divide="ignore"):  # a modulus of 0 is exact: its logarithm is -inf
                log_modulus += self.counts[n] / 2 * np.log1p(-4 * p[n] * q[n] * np.sin(turned / 2) ** 2)
            phase += self.counts[n] * np.arctan2(p[n] * np.sin(turned), q[n] + p[n] * np.cos(turned))
        transform = np.zeros((sides[0], sides[1] // 2 + 1), dtype=np.complex128)
        transform[rows, columns] = np.exp(log_modulus) * np.exp(-1j * phase)
        masses: Floats = np.fft.irfft2(transform, tuple(sides))
        return masses

    def _loud(self, variances: Floats, sides: Ints) -> tuple[Ints, Ints]:
        """The frequencies at which the transform is not as good as 0: few, unless the window is hardly wider than B.

        The transform's modulus is a product over the vectors. With those of the largest share first, nearly all
        frequencies drop out at once.
        """
        rows, columns = (side.ravel() for side in np.indices((sides[0], sides[1] // 2 + 1)))
        log_modulus = np.zeros(len(rows))
        for n in np.argsort(-self.counts * variances):
            cosine = [(np.cos(angle), np.sin(angle)) for angle in (
                _angle(np.arange(side), step, side) for step, side in zip(self.whole[n], sides, strict=True))]
            (c, s), (d, t) = cosine
            swing = np.clip(1 - (c[rows] * d[columns] - s[rows] * t[columns]), 0, 2)
            log_modulus += self.counts[n] / 2 * np.log1p(-2 * min(variances[n], 0.25 * (1 - 1e-15)) * swing)
            if np.count_nonzero(loud := log_modulus > SILENT) < 0.7 * len(rows):
                rows, columns, log_modulus = rows[loud], columns[loud], log_modulus[loud]
        return rows, columns


def _turn(rows: Ints, columns: Ints, vector: Ints, sides: Ints) -> Floats:
    """The angles 2 pi f.v of frequencies and a vector, up to whole turns."""
    return _angle(rows, vector[0], sides[0]) + _angle(columns, vector[1], sides[1])


def _angle(frequencies: Ints, multiple: int, size: int) -> Floats:
    """2 pi frequency multiple / size, reduced exactly into (-pi, pi]."""
    residues = frequencies * (multiple % size) % size
    return np.where(2 * residues > size, residues - size, residues) * (2 * math.pi / size)
