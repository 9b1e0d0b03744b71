"""Sums of a random half of some vectors, exponentially tilted: moments, bounds, and probabilities in a window.

B = sum of b_i v_i, with b_i in {0, 1} equally likely and v_i in Z^2. Tilted by exp(t.B), the b_i are still independent,
and not equally likely any more. A window of the tilted distribution is one Fourier transform of its characteristic
function, with what lies outside folded in. See `registry.significance.exact.lattice`.
"""

from __future__ import annotations

import math

import numpy as np
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
        """K(t) - t.point, which undoes the tilt at a point; minus the rate function at the mean of the tilt."""
        return float(self.log_scales(tilt, point))

    def log_scales(self, tilts: Floats, point: Floats | Ints) -> Floats:
        """K(t) - t.point for each of the tilts, [..., 2] -> [...]."""
        exponents = tilts @ self.vectors.T
        # log((1 + e^x) / 2) = max(x, 0) + log1p(expm1(-|x|) / 2); the first parts add up to t.corner, and a difference
        # of whole vectors loses nothing where t.corner and t.point are large and nearly the same
        corners = (self.counts * (exponents > 0)) @ self.vectors
        shares = np.log1p(np.expm1(-np.abs(exponents)) / 2)
        return np.asarray(shares @ self.counts + (tilts * (corners - point)).sum(axis=-1))

    def probabilities(self, tilt: Floats) -> tuple[Floats, Floats]:
        """P(b_i = 1) and P(b_i = 0) under the tilt for each distinct vector, both with full relative accuracy."""
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

    def most(self, rows: Ints) -> Floats:
        """The largest first coordinate that B can have, or a little more, in each of all rows (second coordinates).

        It is the rim of the hull of B. The first row has all vectors that lead down and none that leads up; from there
        the former go and the latter come, those first that gain the most per row.
        """
        over, rise = self.vectors.T * self.counts
        level = rise == 0
        start = over[rise < 0].sum() + np.maximum(over[level], 0).sum()
        gains, steps = (over * np.sign(rise))[~level], np.abs(rise[~level])
        order = np.argsort(-gains / steps)
        edges = np.cumsum(np.concatenate([[[start], [rows[0]]], [gains[order], steps[order]]], axis=1), axis=1)
        return np.asarray(np.interp(rows.astype(np.float64), edges[1], edges[0])) + 1e-6

    def tilt_for(self, point: Floats, start: Floats | None = None) -> Floats:
        """The tilt with which the mean of B is about `point`, by Newton's method on the convex K(t) - t.point.

        It begins at the tilt `start`, that of a point nearby, unless it is too steep for the next steps, or at 0.
        """
        tilt = np.zeros(2) if start is None or np.abs(self.vectors @ start).max() > _STEEP else start
        value = self.log_scale(tilt, point)
        for _ in range(60):
            gradient = self.mean(tilt) - point
            if (np.abs(gradient) < 0.05).all():
                break
            step = _newton_step(self.covariance(tilt), gradient)
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

    def log_rows(self, first: int, last: int) -> float:
        """Chernoff's bound on log P(second coordinate of B from `first` to `last`)."""
        still = np.zeros(2)
        mean = self.mean(still)[1]
        if first <= mean <= last:
            return 0.0
        edge, sign = (first, 1) if first > mean else (last, -1)
        return self._log_beyond(still, 1, edge, sign)

    def log_outside(self, tilt: Floats, first: Ints, last: Ints, low: Ints, high: Ints) -> float:
        """Chernoff's bound on log P_t(B outside the window from `first` to `last`), summed over its faces."""
        bounds = [-math.inf]
        for axis in (0, 1):
            if first[axis] > low[axis]:
                bounds.append(self._log_beyond(tilt, axis, int(first[axis]) - 1, -1))
            if last[axis] < high[axis]:
                bounds.append(self._log_beyond(tilt, axis, int(last[axis]) + 1, 1))
        return float(np.logaddexp.reduce(bounds))

    def _log_beyond(self, tilt: Floats, axis: int, edge: int, sign: int) -> float:
        """A bound on log P_t(a coordinate of B is at the edge, or beyond it on the side of the sign).

        Any further tilt gives a valid bound; of some that grow by an eighth, the best one's exponent is within a
        hundredth of what the best of all gives.
        """
        face, further = np.where(np.arange(2) == axis, edge, 0), np.zeros((len(_FURTHER), 2))
        further[:, axis] = sign * _FURTHER
        return float(self.log_scales(tilt + further, face).min() - self.log_scale(tilt, face))

    def window(self, tilt: Floats, first: Ints, last: Ints) -> Floats:
        """P_t(B = x) for x from `first` to `last`; what lies outside is folded in modulo sides that are no smaller."""
        from scipy.fft import ifft, irfft, next_fast_len

        wanted = last - first + 1
        sides = np.array([next_fast_len(int(wanted[0])), next_fast_len(int(wanted[1]), real=True)])
        p, q = self.probabilities(tilt)
        turns = _HalfTurns(sides)
        rows, columns, log_modulus = self._loud(p * q, turns)
        transform = np.zeros((sides[0], int(columns.max()) + 1), dtype=np.complex128)  # 0 in all columns from there on
        transform[rows, columns] = np.exp(log_modulus - 1j * self._phases(rows, columns, p, turns, first))
        masses: Floats = irfft(ifft(transform, axis=0, overwrite_x=True)[:wanted[0]], n=int(sides[1]), axis=1)
        return masses[:, :wanted[1]]

    def _loud(self, variances: Floats, turns: _HalfTurns) -> tuple[Ints, Ints, Floats]:
        """The frequencies at which the transform is not negligible, and the logarithm of its modulus there.

        They are few, unless the window is hardly wider than B. The modulus is a product over the vectors. Those along
        an axis rule out whole rows or columns of frequencies, and of the others those with the largest variances nearly
        all that is left.
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
        """What the vector n adds to the logarithm of the modulus, from the sines of half the angles f.v.

        It is that of 1 - 4 p q sin^2, which keeps its digits near 0; a modulus of 0 has the logarithm -inf.
        """
        with np.errstate(divide="ignore"):  # a sine of 1 is rounded up at times, where no number has that logarithm
            return np.asarray(self.counts[n] / 2 * np.log1p(np.maximum(-4 * variances[n] * (sine * sine), -1)))

    def _phases(self, rows: Ints, columns: Ints, p: Floats, turns: _HalfTurns, first: Ints) -> Floats:
        """The phases of E exp(i f.B) at some frequencies, moved to the corner of the window.

        The inverse transform has exp(+i...), so it takes their conjugates.
        """
        phases = -_angle(rows, first[0], turns.sides[0]) - _angle(columns, first[1], turns.sides[1])
        for n, vector in enumerate(self.whole):
            turn = turns(rows, columns, vector)
            phases += self.counts[n] * np.arctan2(2 * p[n] * turn.imag * turn.real, 1 - 2 * p[n] * turn.imag**2)
        return phases


class _HalfTurns:
    """The cosine and the sine, as one complex number, of half the angles 2 pi f.v, up to a sign that both share."""

    def __init__(self, sides: Ints) -> None:
        self.sides: list[int] = sides.tolist()
        self._along: dict[tuple[int, int], NDArray[np.complex128]] = {}

    def __call__(self, rows: Ints, columns: Ints, vector: Ints) -> NDArray[np.complex128]:
        """At some frequencies for one vector."""
        return self.along(0, vector[0])[rows] * self.along(1, vector[1])[columns]

    def along(self, axis: int, step: int) -> NDArray[np.complex128]:
        """At all frequencies of an axis for a vector of so many steps along it."""
        if (axis, step) not in self._along:
            size = self.sides[axis]
            self._along[axis, step] = np.exp(0.5j * _angle(np.arange(size), step, size))
        return self._along[axis, step]


def _newton_step(hessian: Floats, gradient: Floats) -> Floats:
    """The solution of two equations, without a part along a direction in which B does not move."""
    (a, b), (_, d) = hessian
    determinant = a * d - b * b
    if determinant > 1e-6 * a * d:
        return np.asarray(np.array([d, a]) * gradient - b * gradient[::-1]) / float(determinant)
    return np.asarray(np.linalg.pinv(hessian, rcond=1e-9, hermitian=True) @ gradient)


def _angle(frequencies: Ints, multiple: int, size: int) -> Floats:
    """2 pi frequency multiple / size, reduced exactly into (-pi, pi]."""
    residues = frequencies * (multiple % size) % size
    return np.where(2 * residues > size, residues - size, residues) * (2 * math.pi / size)
