"""Scores of systems that are estimated together, with the influence of every observation.

An observation is a vote or a rating. To first order, the error of the scores is the sum of the influences of all
observations. Observations of one group, such as one voter, are dependent, so influences are summed by group. Groups can
be crossed: two votes are dependent if they share the voter or the prompt. Then the variance of a difference is
V_A + V_B - V_AB, of the sums by group of either kind and by their intersections (Cameron, Gelbach and Miller 2011), and
at least V_A and V_B.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from registry.arrays import Flags, Floats, Ints
from registry.messages import Message, Messages
from registry.significance.base import Settings
from registry.significance.crossed import compute_log_p
from registry.significance.rank_sets import JointErrors, RankSets, compute_rank_sets_by_errors
from registry.significance.resampling.draws import ESTIMATES, stream
from registry.significance.resampling.exceedances import TOLERANCE

LEAST_GROUPS = 6  # with fewer groups, statements hold for these groups only
FEW_GROUPS = 50  # largest number of groups for which CR2 is computed
_ROUNDING = 1e-11  # relative to the largest eigenvalue
SOLE = 1e-8  # distance from 1 of the share of a group that alone determines a direction
LARGEST_SOLE = 0.01  # largest share of a variance that comes from directions that single groups determine
_CELLS = 2**22  # numbers of a dense block
_DENSE = 8  # a matrix with at least one of so many cells above 0 is multiplied as a dense one


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Differences of pairs of systems, or scores of single systems.

    All arrays are [pairs]. Values are nan if a score is undefined, or if a single group determines it.

    Attributes:
        differences: Score of the first system minus score of the second one.
        errors: Standard errors.
        degrees: Degrees of freedom of the errors.
        log_p: Logarithms of the two-sided p-values.
        low, high: Confidence interval.
    """

    differences: Floats
    errors: Floats
    degrees: Floats
    log_p: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class JointEstimates:
    """Scores of systems, and the influences of observations in sparse form.

    The influences are `contributions @ inverse`, [observations, systems]. They are never computed together.

    Attributes:
        scores: Scores, higher is better, [systems]. nan if undefined.
        contributions: Contribution of each observation to the estimating equations of the parameters, sparse,
            [observations, parameters]. The contributions to each equation add up to 0.
        inverse: Derivatives of the scores by the sums of contributions, [parameters, systems]. 0 for undefined scores.
        designs: Square roots of the information, sparse, [observations, parameters] each. The information of an
            observation is the sum of the outer products of its rows.
        groups: For each kind of group, such as `voter`, the group of every observation, [observations]; at most two
            kinds, which may be crossed. Without any, each observation is a group.
        weights: Variance of the contributions under the model, relative to the information, [observations]; None: 1.
    """

    scores: Floats
    contributions: sparse.csr_array
    inverse: Floats
    designs: tuple[sparse.csr_array, ...]
    groups: Mapping[str, Ints] = field(default_factory=dict)
    weights: Floats | None = None

    @cached_property
    def are_defined(self) -> Flags:
        """Whether each system has a score, [systems]."""
        return np.isfinite(self.scores)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the scores, [systems, systems]; may have negative eigenvalues if groups are crossed."""
        return self._covariance[:-1, :-1]

    @cached_property
    def model_covariance(self) -> Floats:
        """Covariance of the scores if the model is true and observations are independent, [systems, systems]."""
        return np.asarray(np.sum([_sum_outer(design, self.inverse) for design in self.designs], axis=0))

    @property
    def warnings(self) -> Messages:
        """Warnings of kinds with too few groups."""
        numbers = {name: len(np.unique(groups)) for name, groups in self.groups.items()}
        return Messages(Message("few-groups", {"groups": n, "kind": name, "least": LEAST_GROUPS})
                        for name, n in numbers.items() if n < LEAST_GROUPS)

    def compare(self, a: Ints, b: Ints, *, confidence: float = 0.95) -> Comparisons:
        """Compare pairs of systems.

        Args:
            a: Indices of the first systems, [pairs].
            b: Indices of the second systems, [pairs].
            confidence: Confidence level of the intervals.
        """
        from scipy.special import stdtrit

        scores = np.append(self.scores, 0.0)
        differences, squared, degrees = scores[a] - scores[b], self.squared_errors[a, b], self.degrees[a, b]
        errors = np.sqrt(squared)
        log_p = compute_log_p(differences, squared[:, None], degrees[:, None], "two-sided")
        reach = stdtrit(degrees, (1 + confidence) / 2) * errors
        return Comparisons(differences, errors, degrees, log_p, differences - reach, differences + reach)

    def estimate_scores(self, *, confidence: float = 0.95) -> Comparisons:
        """Return the scores of single systems with their errors, in the form of differences from 0."""
        n = len(self.scores)
        return self.compare(np.arange(n), np.full(n, n), confidence=confidence)

    def compute_rank_sets(self, settings: Settings, *, alpha: float = 0.05) -> RankSets:
        """Compute simultaneous confidence sets of the ranks, with normal errors that have the covariance of the scores.

        Args:
            settings: Number of simulated errors, seed, and execution.
            alpha: 1 - confidence, below 1/2.
        """
        defined = np.flatnonzero(self.are_defined)
        return compute_rank_sets_by_errors(NormalErrors(self, settings), defined, len(self.scores), alpha=alpha)

    @cached_property
    def squared_errors(self) -> Floats:
        """Squared standard errors of differences, [systems + 1, systems + 1].

        The last index is a constant score of 0, so the last column has the squared errors of the scores. nan if
        undefined.
        """
        own = np.maximum.reduce([variance.squared for variance in self._variances])
        both = sum(variance.squared for variance in self._variances) - square_differences(self._shared)
        squared = np.maximum(own, both) if len(self._variances) > 1 else own
        return np.where(np.isfinite(self.degrees), squared, np.nan)

    @cached_property
    def degrees(self) -> Floats:
        """Degrees of freedom of the squared errors, [systems + 1, systems + 1]; nan if undefined."""
        degrees = np.minimum.reduce([variance.degrees for variance in self._variances])
        are_defined = np.append(self.are_defined, True)
        return np.where(are_defined[:, None] & are_defined & (degrees > 0), degrees, np.nan)

    @cached_property
    def _covariance(self) -> Floats:
        return np.asarray(sum(variance.covariance for variance in self._variances) - self._shared)

    @cached_property
    def _inverse(self) -> Floats:
        return np.append(self.inverse, np.zeros((len(self.inverse), 1)), axis=1)

    @cached_property
    def _shared(self) -> Floats:
        """Covariance by intersections of two kinds of groups, [systems + 1, systems + 1]; 0 for one kind."""
        if len(self.groups) < 2:
            return np.zeros((self._inverse.shape[1],) * 2)
        a, b = (np.unique(groups, return_inverse=True)[1] for groups in self.groups.values())
        return self.sum_squares(Groups(a * (int(b.max(initial=0)) + 1) + b))

    @cached_property
    def _variances(self) -> list[Variance]:
        kinds = [*self.groups.values()] or [np.arange(self.contributions.shape[0])]
        return [self.estimate_variance(Groups(groups)) for groups in kinds]

    def sum_squares(self, groups: Groups) -> Floats:
        """Return the covariance of the scores from sums by group, [systems + 1, systems + 1]."""
        return _sum_outer(groups.sum(self.contributions), self._inverse)

    def estimate_variance(self, groups: Groups) -> Variance:
        """Estimate the variances of scores and differences from one kind of groups."""
        if len(groups) < 2:
            n = self._inverse.shape[1]
            return Variance(*np.full((3, n, n), np.nan))
        return self._reduce_bias(groups) if len(groups) <= FEW_GROUPS else self._estimate_many(groups)

    def _estimate_many(self, groups: Groups) -> Variance:
        """Estimate variances from sums by group, with the effective number of groups of each pair.

        A system with few votes has few voters, even if other systems have many. If the model is true, group g
        contributes P_g to the variance of a difference. The effective number of groups is m = (sum of P_g)^2 / (sum of
        P_g^2). Variances are multiplied by m / (m - 1), and have m - 1 degrees of freedom. For groups of equal size
        this is CR2 with its Satterthwaite degrees. P_g is approximated by the sum of the group's contributions to the
        variances of both scores.
        """
        n = self._inverse.shape[1]
        sums, products = np.zeros(n), np.zeros((n, n))
        step = max(1, _CELLS // n)
        for first in range(0, len(groups), step):
            by_group = self._sum_variances(groups, slice(first, min(first + step, len(groups))), step)
            sums += by_group.sum(axis=0)
            products += by_group.T @ by_group
        squares = np.diag(products)
        total, of_squares = sums[:, None] + sums, squares[:, None] + squares + 2 * products
        effective = np.divide(total**2, of_squares, out=np.ones((n, n)), where=of_squares > 0)
        degrees = np.where(effective > 1 + 1e-9, effective - 1, np.nan)
        covariance = self.sum_squares(groups)
        return Variance(covariance, square_differences(covariance) * (degrees + 1) / degrees, degrees)

    def _sum_variances(self, groups: Groups, part: slice, step: int) -> Floats:
        """Return the contributions of some groups to the variances of the scores under the model.

        Args:
            groups: All groups.
            part: The selected groups.
            step: Number of observations in a dense block.

        Returns:
            Variances, [groups, systems + 1].
        """
        sums = np.zeros((part.stop - part.start, self._inverse.shape[1]))
        rows, starts = groups.select(part)
        for first in range(0, len(rows), step):
            chosen = rows[first:first + step]
            block = sum(np.square(design[chosen] @ self._inverse) for design in self.designs)
            if self.weights is not None:
                block *= self.weights[chosen, None]
            low, high = np.searchsorted(starts, (first, first + len(chosen) - 1), side="right") - 1
            ends = np.append(np.maximum(starts[low:high + 1] - first, 0), len(chosen))
            n = len(chosen)
            sums[low:high + 1] += sparse.csr_array((np.ones(n), np.arange(n), ends), shape=(len(ends) - 1, n)) @ block
        return sums

    def _reduce_bias(self, groups: Groups) -> Variance:
        """Estimate variances by CR2, with degrees of freedom by Satterthwaite (Bell and McCaffrey 2002).

        Coordinates are chosen in which the covariance under the model is the identity. Then the information N_g of the
        groups adds up to the identity, and the sum of group g is multiplied by A_g = (1 - N_g)^(-1/2).
        """
        # X'(1 - X C X')^(-1/2) = (1 - X'X C)^(-1/2) X', so single residuals are not needed. Parameters that are not
        # scores are projected out; their own leverage is neglected.
        information = self._square_designs(groups, None)
        values, vectors = np.linalg.eigh(information.sum(axis=0))
        is_kept = values > _ROUNDING * values.max(initial=0)
        root = vectors[:self._inverse.shape[1], is_kept] * np.sqrt(values[is_kept])
        whiten = vectors[:, is_kept] / np.sqrt(values[is_kept])
        shares, directions = np.linalg.eigh(whiten.T @ information @ whiten)
        is_sole = shares > 1 - SOLE
        factors = np.where(is_sole, 0.0, 1 / np.sqrt(np.where(is_sole, 1.0, 1 - shares)))

        def compute_roots(eigenvalues: Floats) -> Floats:
            return np.asarray(root @ (directions * eigenvalues[:, None]) @ directions.swapaxes(1, 2))

        adjust, reduced = compute_roots(factors), compute_roots(factors * shares)  # roots times A_g and A_g N_g
        sums = groups.sum(self.contributions) @ self._inverse @ whiten
        adjusted = (adjust @ sums[:, :, None])[:, :, 0]
        covariance = adjusted.T @ adjusted
        lefts = rights = spread = reduced
        if self.weights is not None:
            variances = whiten.T @ self._square_designs(groups, self.weights) @ whiten
            spread = adjust @ variances
            lefts = np.concatenate([spread, reduced], axis=2)
            rights = np.concatenate([reduced, spread - reduced @ variances.sum(axis=0)], axis=2)
        # The variance is a sum of squares. P is the covariance of their roots under the model, with rows and columns
        # for groups. The degrees of freedom are tr(P)^2 / tr(P^2).
        trace, squares = np.zeros((2, *covariance.shape))
        for n in range(len(groups)):
            row = -square_differences(lefts[n] @ rights[:n + 1].swapaxes(1, 2))
            row[n] += square_differences(spread[n] @ adjust[n].T)
            trace += row[n]
            squares += 2 * np.square(row).sum(axis=0) - row[n] ** 2
        degrees = np.divide(trace**2, squares, out=np.full_like(trace, np.nan), where=squares > 0)
        sole = square_differences(compute_roots(is_sole.astype(np.float64)) @ root.T).sum(axis=0)
        is_lost = sole > LARGEST_SOLE * square_differences(root @ root.T)
        return Variance(covariance, square_differences(covariance), np.where(is_lost, np.nan, degrees))

    def _square_designs(self, groups: Groups, weights: Floats | None) -> Floats:
        """Return the information of each group about the scores, scaled as a covariance of the scores.

        Args:
            groups: The groups.
            weights: Factor of the information of each observation, [observations]; None: 1.

        Returns:
            Matrices, [groups, systems + 1, systems + 1].
        """
        n = self._inverse.shape[1]
        squares = np.zeros((len(groups), n, n))
        for group, square in enumerate(squares):
            rows, _ = groups.select(slice(group, group + 1))
            for design in self.designs:
                chosen = design[rows]
                if weights is not None:
                    chosen = sparse.csr_array(sparse.diags_array(np.sqrt(weights[rows])) @ chosen)
                square += _sum_outer(chosen, self._inverse)
        return squares


@dataclass(frozen=True, eq=False)
class Variance:
    """Estimates from the sums of one kind of groups, [systems + 1, systems + 1] each.

    Attributes:
        covariance: Covariance of the scores.
        squared: Squared standard errors of the differences.
        degrees: Their degrees of freedom; nan if a variance cannot be estimated.
    """

    covariance: Floats
    squared: Floats
    degrees: Floats


class Groups:
    """Groups of observations, numbered from 0."""

    def __init__(self, groups: Ints) -> None:
        numbers, sizes = np.unique_inverse(groups).inverse_indices, np.unique_counts(groups).counts
        self._order = np.argsort(numbers, kind="stable")
        self._ends = np.append(0, np.cumsum(sizes))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def select(self, groups: slice) -> tuple[Ints, Ints]:
        """Return the observations of some groups, and the position of the first one of each group."""
        first, *_, last = self._ends[groups.start:groups.stop + 1]
        return self._order[first:last], self._ends[groups.start:groups.stop + 1][:-1] - first

    def sum(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Sum the rows of each group."""
        ones = np.ones(len(self._order))
        indicator = sparse.csr_array((ones, self._order, self._ends), shape=(len(self), len(ones)))
        return sparse.csr_array(indicator @ rows)


def _sum_outer(rows: sparse.csr_array, basis: Floats) -> Floats:
    """Return the sum of the outer products of `rows @ basis`, without this product if there are many rows."""
    if rows.shape[0] * basis.shape[1] <= _CELLS:
        product = rows @ basis
        return np.asarray(product.T @ product)
    is_dense = rows.nnz * _DENSE > math.prod(rows.shape)
    factor = rows.toarray() if is_dense else rows
    return np.asarray(basis.T @ ((factor.T @ factor) @ basis))


def square_differences(matrix: Floats) -> Floats:
    """Return the quadratic forms of differences of two unit vectors, [..., systems, systems].

    Args:
        matrix: Matrices, which need not be symmetric, [..., systems, systems].
    """
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    return np.asarray(diagonal[..., :, None] + diagonal[..., None, :] - matrix - matrix.swapaxes(-2, -1))


@dataclass(frozen=True, eq=False)
class NormalErrors(JointErrors):
    """Errors of differences with the normal distribution that has the covariance of the scores.

    Observed differences are compared as normal scores of their p-values, because the degrees of freedom of pairs
    differ. If the covariance has negative eigenvalues, these are replaced by 0.

    Attributes:
        estimates: The scores with their covariance.
        settings: Number of simulated errors, seed, and execution.
    """

    estimates: JointEstimates
    settings: Settings

    @cached_property
    def _systems(self) -> Ints:
        return np.flatnonzero(self.estimates.are_defined)

    @cached_property
    def differences(self) -> Floats:
        scores = self.estimates.scores[self._systems]
        return np.asarray(scores[:, None] - scores)

    @property
    def tolerance(self) -> float:
        return TOLERANCE * float(np.abs(self.estimates.scores[self._systems]).max(initial=0))

    @cached_property
    def observed(self) -> Floats:
        from scipy.special import ndtri_exp

        a, b = np.triu_indices(len(self._systems), 1)
        log_p = self.estimates.compare(self._systems[a], self._systems[b]).log_p
        observed = np.zeros_like(self.differences)
        observed[a, b] = observed[b, a] = -ndtri_exp(np.where(np.isnan(log_p), 0.0, log_p) - math.log(2))
        return observed * np.sign(self.differences)

    def compute_margins(self, factors: Floats) -> Floats:
        from scipy.special import ndtr, stdtrit

        square = np.ix_(self._systems, self._systems)
        quantiles = -stdtrit(self.estimates.degrees[square], ndtr(-factors)[:, None])
        margins = quantiles * np.sqrt(self.estimates.squared_errors[square])
        return np.where(np.isnan(margins), np.inf, margins)

    def prepare(self) -> None:
        _ = self._errors

    def compute_rows(self, systems: slice) -> Floats:
        errors, variances = self._errors
        squared = variances[systems]
        differences = errors[:, systems, None] - errors[:, None, :]
        return np.divide(differences, np.sqrt(squared), out=np.zeros_like(differences), where=squared > 0)

    @cached_property
    def _errors(self) -> tuple[Floats, Floats]:
        """Simulated errors of the scores, [draws, systems], and the variances of their differences."""
        covariance = np.nan_to_num(self.estimates.covariance[np.ix_(self._systems, self._systems)])
        values, vectors = np.linalg.eigh(covariance)
        values = np.where(values > _ROUNDING * values.max(initial=0), values, 0.0)
        root = (vectors * np.sqrt(values)) @ vectors.T
        covariance = root @ root
        order = np.lexsort((np.diag(covariance), self.estimates.scores[self._systems]))  # not that of the systems
        normal = np.empty((self.settings.resamples, len(order)))
        for n, system in enumerate(order.tolist()):
            rng = np.random.Generator(stream(self.settings.seed, ESTIMATES, n))
            normal[:, system] = rng.standard_normal(self.settings.resamples)
        variances = square_differences(covariance)
        return normal @ root, np.where(variances > _ROUNDING * covariance.max(initial=0), variances, 0.0)
