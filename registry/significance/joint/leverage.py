"""Errors of scores from least squares with effects of items and annotators, corrected for leverage.

Residuals are smaller than errors, because the effects fit a part of the errors: with many annotators, half of it. CR2
(Bell and McCaffrey 2002) multiplies the residuals of each group by a root of the inverse of their covariance under the
model. Here this covariance includes the leverage of all effects, without a matrix of all observations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from registry.arrays import Floats, Ints
from registry.significance.joint.estimates import (
    LARGEST_SOLE,
    SOLE,
    Groups,
    JointEstimates,
    Variance,
    square_differences,
)

_MOST_CELLS, _MOST_WORK = 2**23, 2**31  # stored numbers and multiplications for exact degrees of freedom
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class LeastSquaresEstimates(JointEstimates):
    """Scores of systems from weighted least squares.

    The leverage is the sum of two parts: that of one factor alone, and that of all other effects after this factor is
    projected out. The first part has entries only for observations of the same level.

    Attributes:
        residuals: Residuals, multiplied by the roots of the weights, [observations].
        basis: The second part is the product of `designs[0] @ basis` with its transpose, [parameters, rank].
        levels: Level of the projected factor, numbered from 0, [observations].
    """

    residuals: Floats = field(kw_only=True)
    basis: Floats = field(kw_only=True)
    levels: Ints = field(kw_only=True)

    def estimate_variance(self, groups: Groups) -> Variance:
        """Estimate variances by CR2, with degrees of freedom by Satterthwaite.

        For very many groups, the degrees neglect that sums of different groups are correlated.
        """
        n, n_links = self._inverse.shape[1], self.basis.shape[1] + len(self._totals)
        has_links = len(groups) * n * n_links <= _MOST_CELLS and (len(groups) * n)**2 * n_links <= _MOST_WORK
        links = np.zeros((len(groups) if has_links else 0, n, n_links))
        covariance, lost, total, trace, squares = np.zeros((5, n, n))
        for number, (block, weights, sole) in enumerate(self.adjust_groups(groups)):
            sums = weights.T @ self.residuals[block.rows]
            covariance += np.outer(sums, sums)
            lost += sole
            total += block.influences.T @ block.influences
            # The variance is a sum of squares. Their roots have the covariance P under the model. The degrees are
            # tr(P)^2 / tr(P^2).
            by_level, by_basis = block.project(weights)
            own = square_differences(weights.T @ weights - by_level.T @ by_level - by_basis.T @ by_basis)
            trace += own
            squares += own**2
            if has_links:
                links[number, :, block.levels] = by_level
                links[number, :, len(self._totals):] = by_basis.T
                others = square_differences(links[number] @ links[:number].swapaxes(1, 2))
                squares += 2 * np.square(others).sum(axis=0)
        degrees = np.divide(trace**2, squares, out=np.ones_like(trace), where=squares > 0) - (not has_links)
        is_lost = square_differences(lost) > LARGEST_SOLE * square_differences(total)
        return Variance(covariance, square_differences(covariance), np.where(is_lost, np.nan, degrees))

    def sum_squares(self, groups: Groups) -> Floats:
        """Return the covariance of the scores from sums of adjusted residuals, [systems + 1, systems + 1]."""
        covariance = np.zeros((self._inverse.shape[1],) * 2)
        for block, weights, _ in self.adjust_groups(groups):
            sums = weights.T @ self.residuals[block.rows]
            covariance += np.outer(sums, sums)
        return covariance

    def adjust_groups(self, groups: Groups) -> Iterator[tuple[Block, Floats, Floats]]:
        """Compute the weights of residuals, for one group after the other.

        Yields:
            The observations of the group, and the result of `Block.adjust`.
        """
        for number in range(len(groups)):
            rows = groups.select(slice(number, number + 1))[0]
            design = self.designs[0][rows]
            levels, numbers = np.unique(self.levels[rows], return_inverse=True)
            block = Block(rows, design @ self._inverse, design @ self.basis, self._roots[rows], levels, numbers)
            yield block, *block.adjust()

    @cached_property
    def _roots(self) -> Floats:
        """Roots of the weights, divided by those of the sum of weights of the level, [observations]."""
        return np.sqrt(self._weights / self._totals[self.levels])

    @cached_property
    def _weights(self) -> Floats:
        return np.asarray(np.square(self.designs[0].data[self.designs[0].indptr[:-1]]))

    @cached_property
    def _totals(self) -> Floats:
        return np.bincount(self.levels, self._weights).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Block:
    """The observations of one group.

    Attributes:
        rows: Their numbers.
        influences: Influences of unit residuals on the scores, [observations, systems + 1].
        basis: Root of the second part of the leverage, [observations, rank].
        roots: Roots of the leverage of the projected factor, [observations].
        levels: Numbers of its levels, [levels].
        numbers: Position of each observation in `levels`, [observations].
    """

    rows: Ints
    influences: Floats
    basis: Floats
    roots: Floats
    levels: Ints
    numbers: Ints

    def adjust(self) -> tuple[Floats, Floats]:
        """Multiply influences by a root of the inverse of the covariance of residuals.

        Returns:
            The products, [observations, systems + 1]; and what the directions add to the covariance under the model in
            which the residuals of the group are 0 whatever the errors are, [systems + 1, systems + 1].
        """
        # The covariance is B - Y Y' = B^(1/2) (1 - Z Z') B^(1/2), where B = 1 - the leverage of the projected factor,
        # and Z = B^(-1/2) Y. Both roots are 1 plus a term of low rank.
        basis = self._adjust_levels(self.basis)
        if len(basis) <= basis.shape[1]:
            shares, vectors = np.linalg.eigh(basis @ basis.T)
        else:
            shares, directions = np.linalg.eigh(basis.T @ basis)
            is_kept = shares > _TINY
            shares, vectors = shares[is_kept], basis @ directions[:, is_kept] / np.sqrt(shares[is_kept])
        parts = vectors.T @ self.influences
        sole = parts[shares > 1 - SOLE]
        return (self._adjust_levels(self.influences + vectors @ ((_compute_roots(shares) - 1)[:, None] * parts)),
                sole.T @ sole)

    def project(self, weights: Floats) -> tuple[Floats, Floats]:
        """Multiply the roots of both parts of the leverage with weights of observations.

        Args:
            weights: Weights, [observations, systems + 1].

        Returns:
            Products, [levels, systems + 1] and [rank, systems + 1].
        """
        return self._sum_levels(weights), self.basis.T @ weights

    def _sum_levels(self, values: Floats) -> Floats:
        n = len(self.numbers)
        indicator = sparse.csr_array((self.roots, (self.numbers, np.arange(n))), shape=(len(self.levels), n))
        return np.asarray(indicator @ values)

    def _adjust_levels(self, values: Floats) -> Floats:
        shares = np.bincount(self.numbers, np.square(self.roots)).astype(np.float64)
        factors = (_compute_roots(shares) - 1) / np.where(shares > 0, shares, 1)
        return values + self.roots[:, None] * (factors[:, None] * self._sum_levels(values))[self.numbers]


def _compute_roots(shares: Floats) -> Floats:
    """Return (1 - share)^(-1/2); 0 if the share is 1."""
    is_sole = shares > 1 - SOLE
    return np.where(is_sole, 0.0, 1 / np.sqrt(np.where(is_sole, 1.0, 1 - shares)))
