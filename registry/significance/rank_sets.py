"""Simultaneous bounds of ranks, and the corrected score of the best system.

`compute_rank_sets` bounds the ranks of all systems with joint resamples of all differences: `Bootstrapped` or
`SignFlips`. `compute_rank_sets_by_tests` uses p-values instead. `correct_winner` corrects the score of the best
system, which is too high because the system was selected. Resamples and corrections use `Influences`, the influence of
every unit on every score.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints
from registry.parallel.scratch_files import make_array
from registry.significance.base import PairResult, Settings, count_discordant
from registry.significance.matrix import Matrix
from registry.significance.multiple import adjust
from registry.significance.resampling.draws import (
    BLOCK,
    RUNS,
    blocks,
    draw_counts,
    group_by_stratum,
    stream,
    sum_permutations,
)
from registry.significance.resampling.exceedances import TOLERANCE
from registry.significance.resampling.scores import score_without_runs

RANK_DRAWS = 1000  # resamples, as in csranks
# smallest numbers of units for which rank sets hold in simulation (docs/validity.md)
LEAST_UNITS = {"bootstrap": 20, "flips": 50, "holm": 0}

_ROUNDING = 1e-13  # rounding error of a score without one unit, relative to the largest score
_NEAR = 1e-4  # relative to the squares of two systems: if that of their difference is smaller, it is summed directly
_PAIRS_PER_BLOCK = 2**10  # pairs whose squares are summed directly in one block
_CONSTANT = 1e-5  # relative to the observed square: below it, a difference counts as constant in a resample
_UNITS_PER_BLOCK = 2**11  # units whose squares are multiplied together
_CLEAR = 5.0  # standard errors: discordant units are not counted for larger differences
_TIED = 1e-5  # relative to a statistic, because squared errors are summed in single precision
_PAIRS_PER_ROW_BLOCK = 2**10  # pairs whose errors are computed together
_MAX_MAXIMA = 2**22  # stored maxima over groups of pairs
_BETA = 0.1  # share of alpha for the interval of all systems (Andrews et al. 2024, section 5)
_BISECTIONS = 60
_MANY = 2**10  # units that are always enough
_TIED_SCORE = 1e-9  # relative to the best score, and to 1 for slopes


@dataclass(frozen=True, eq=False)
class Influences:
    """Scores of systems, and the contribution of every item (or cluster) to them.

    To first order, the score of a resample is the observed score plus the influences of the resampled units (items or
    clusters). So every metric is treated as a mean, and one resample yields all differences and their standard errors.

    Attributes:
        scores: Scores, [systems]. Higher is better, because scores are negated if lower is better.
        values: Influences, which add up to 0 for each system, [units, systems].
        strata: Stratum of each unit, numbered from 0, [units]; None: one stratum. Units are resampled within strata.
        runs: Contribution of random runs to the squared standard error; 0 if runs are fixed, [systems].
        n_runs: Number of random runs, [systems].
    """

    scores: Floats
    values: Floats
    strata: Ints | None
    runs: Floats
    n_runs: Ints

    @classmethod
    def compute(cls, matrix: Matrix) -> Influences:
        """Compute the influence of every item (or cluster) on each score.

        Influences are computed by the jackknife, which leaves out one item, or one random run, in turn (Efron and
        Tibshirani 1993, chapter 11). The influences of a system are nan if its score is undefined without one of the
        items.
        """
        matrix = matrix.by_unit
        sign, n = -1.0 if matrix.lower_is_better else 1.0, matrix.n_units
        without = matrix.jackknife()
        influences = sign * (n - 1) / n * (without.mean(axis=0) - without)
        runs, n_runs = np.zeros(len(matrix.observed)), np.zeros(len(matrix.observed), dtype=np.int64)
        for system, scores in enumerate(score_without_runs(matrix)):
            runs[system], n_runs[system] = (len(scores) - 1) * scores.var(), len(scores)
        return cls(sign * matrix.observed, influences, matrix.unit_strata, runs, n_runs)

    @property
    def n_units(self) -> int:
        """Number of items, or of clusters of items."""
        return len(self.values)

    @cached_property
    def are_defined(self) -> Flags:
        """Whether each system has a score and all influences, [systems]."""
        return np.isfinite(self.scores) & np.isfinite(self.values).all(axis=0) & np.isfinite(self.runs)

    @property
    def defined(self) -> Influences:
        """A copy without the systems whose score or influences are undefined."""
        chosen = self.are_defined
        return replace(self, scores=self.scores[chosen], values=np.ascontiguousarray(self.values[:, chosen]),
                       runs=self.runs[chosen], n_runs=self.n_runs[chosen])

    @cached_property
    def differences(self) -> Floats:
        """Observed differences of the scores of two systems, [systems, systems].

        Differences are positive if the first system is better.
        """
        return self.scores[:, None] - self.scores

    @cached_property
    def tolerance(self) -> float:
        """Largest difference of scores that can be a rounding error."""
        return TOLERANCE * float(np.abs(self.scores).max(initial=0))

    @cached_property
    def are_equal(self) -> Flags:
        """Whether two systems have the same score and influences, [systems, systems]."""
        return np.asarray((self.squares == 0) & (np.abs(self.differences) <= self.tolerance))

    @cached_property
    def units_by_stratum(self) -> list[Ints]:
        """Indices of the items or clusters of each stratum."""
        return [units for _, units in group_by_stratum(self.strata, self.n_units)]

    @cached_property
    def squares(self) -> Floats:
        """Squared differences of two systems' influences, summed over units.

        The influence of a unit (item or cluster) is its contribution to a score, to first order. A sum is 0 if the two
        systems have a constant difference. Shape: [systems, systems].
        """
        products = self.values.T @ self.values
        norms = np.diag(products)
        squares = norms[:, None] + norms - 2 * products
        near_a, near_b = np.nonzero(squares < _NEAR * (norms[:, None] + norms))  # cancellation
        for start in range(0, len(near_a), _PAIRS_PER_BLOCK):
            a, b = near_a[start:start + _PAIRS_PER_BLOCK], near_b[start:start + _PAIRS_PER_BLOCK]
            squares[a, b] = np.square(self.values[:, a] - self.values[:, b]).sum(axis=0)
        largest = float(np.abs(self.scores).max(initial=0))
        return np.where(squares > self.n_units * (_ROUNDING * largest) ** 2, squares, 0.0)

    @cached_property
    def centred_squares(self) -> Floats:
        """Squared differences of two systems' influences, about the mean of each stratum.

        The squares are summed over items or clusters. Shape: [systems, systems].
        """
        squares = self.squares.copy()
        for units in self.units_by_stratum:
            sums = self.values[units].sum(axis=0)
            squares -= (sums[:, None] - sums) ** 2 / len(units)
        return np.where(squares > _ROUNDING * self.squares, squares, 0.0)

    def compute_covariances(self, system: int) -> Floats:
        """Return the covariances of all scores with the score of one system, [systems]."""
        covariances = np.zeros(len(self.scores))
        for units in self.units_by_stratum:
            centred = self.values[units, system] - self.values[units, system].mean()
            covariances += centred @ self.values[units]
        covariances[system] += self.runs[system]
        return covariances

    def find_smallest_contributions(self, system: int) -> Floats:
        """Return the smallest contribution of an item to the differences to one system.

        The difference of two scores is a sum of contributions of single items (or clusters). For each other system, the
        smallest contribution above 0 is returned.

        Args:
            system: Index of the system to which the others are compared.

        Returns:
            Sizes of the contributions, [systems].
        """
        sizes = np.abs(self.values - self.values[:, [system]] + (self.scores - self.scores[system]) / self.n_units)
        sizes[sizes <= _ROUNDING * max(1.0, float(np.abs(self.scores).max(initial=0)))] = np.inf
        steps: Floats = sizes.min(axis=0)
        return np.where(np.isfinite(steps), steps, 0.0)


class JointErrors(ABC):
    """Simulated errors of all score differences, for simultaneous tests.

    Each error is divided by its standard error.

    Attributes:
        settings: Number of simulated errors, seed, and execution with its memory.
    """

    settings: Settings

    @property
    @abstractmethod
    def differences(self) -> Floats:
        """Observed differences of the scores of two systems, [systems, systems]."""

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Largest difference of scores that can be a rounding error."""

    @property
    @abstractmethod
    def observed(self) -> Floats:
        """Observed differences on the scale of the simulated errors, [systems, systems].

        The value is 0 if the difference of two systems does not vary.
        """

    @abstractmethod
    def compute_margins(self, factors: Floats) -> Floats:
        """Return margins of error of the differences, [systems, systems]; infinite if unknown.

        Args:
            factors: Critical value of the differences of each system, on the scale of the simulated errors, [systems].
        """

    @abstractmethod
    def prepare(self) -> None:
        """Compute the arrays that all calls of `compute_rows` share."""

    @abstractmethod
    def compute_rows(self, systems: slice) -> Floats:
        """Simulate the errors of the differences of some systems to all systems.

        Each error is divided by its standard error. It is 0 if the difference does not vary.

        Args:
            systems: Slice of the systems.

        Returns:
            Studentized errors, [resamples, some systems, systems].
        """


@dataclass(frozen=True, eq=False)
class ResampledErrors(JointErrors):
    """Errors of differences in resamples of the items.

    The standard error is estimated in every resample, because the largest error often has a standard error that is
    small by chance. With fixed standard errors rank sets fail too often (Hall 1992, section 3.6; docs/limits.md).

    Attributes:
        influences: Influences of systems with defined scores.
        settings: Number of resamples, seed, and execution with its memory.
    """

    influences: Influences
    settings: Settings

    @property
    def differences(self) -> Floats:
        return self.influences.differences

    @property
    def tolerance(self) -> float:
        return self.influences.tolerance

    @cached_property
    @abstractmethod
    def squared_errors(self) -> Floats:
        """Squared standard errors of the observed differences, [systems, systems].

        The error is 0 if the difference of two systems is the same in every item.
        """

    @cached_property
    def observed(self) -> Floats:
        squared = self.squared_errors
        return np.divide(self.differences, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)

    def compute_margins(self, factors: Floats) -> Floats:
        squared = self.squared_errors
        with np.errstate(invalid="ignore"):
            margins = np.where(squared > 0, factors[:, None] * np.sqrt(squared), np.inf)
        margins[(squared == 0) & self.influences.are_equal] = 0.0
        return margins

    def _studentize(self, systems: slice, errors: Floats, squared: Floats) -> Floats:
        observed = self.squared_errors[systems]
        varies = (squared > _CONSTANT * observed) & (observed > 0)
        np.sqrt(squared, out=squared, where=varies)
        return np.divide(errors, squared, out=np.zeros_like(errors), where=varies)


@dataclass(frozen=True, eq=False)
class Bootstrapped(ResampledErrors):
    """Simulated errors of score differences, by the bootstrap of items and runs.

    Items or clusters are resampled within strata. There are too few runs to resample them. So the contribution of the
    runs is simulated with a normal distribution. Its variance is simulated with a chi-squared distribution with one
    degree of freedom less than the number of runs.
    """

    @cached_property
    def squared_errors(self) -> Floats:
        runs = self.influences.runs
        squares = self.influences.centred_squares + runs[:, None] + runs
        np.fill_diagonal(squares, 0)
        return squares

    def prepare(self) -> None:
        _ = self._counts, self._sums, self._run_errors

    def compute_rows(self, systems: slice) -> Floats:
        values = self.influences.values
        n, n_rows = values.shape[1], len(range(*systems.indices(values.shape[1])))
        scale = float(np.abs(values).max()) or 1.0  # prevents underflow of squares in single precision
        single = np.zeros((self.settings.resamples, n_rows * n), dtype=np.float32)
        for start in range(0, len(values), _UNITS_PER_BLOCK):
            block = (values[start:start + _UNITS_PER_BLOCK] / scale).astype(np.float32)
            differences = block[:, systems, None] - block[:, None, :]
            counts = self._counts[:, start:start + _UNITS_PER_BLOCK].astype(np.float32)
            single += counts @ np.square(differences).reshape(len(block), -1)
        squared = single.reshape(-1, n_rows, n) * np.float64(scale**2)
        errors = np.zeros_like(squared)
        for sums, units in zip(self._sums, self.influences.units_by_stratum, strict=True):
            stratum_errors = sums[:, systems, None] - sums[:, None, :]
            centre = values[units].sum(axis=0)
            errors += stratum_errors - (centre[systems, None] - centre)
            squared -= np.square(stratum_errors, out=stratum_errors) / len(units)
        if self._run_errors is not None:
            run_errors, run_variances = self._run_errors
            errors += run_errors[:, systems, None] - run_errors[:, None, :]
            squared += run_variances[:, systems, None] + run_variances[:, None, :]
        return self._studentize(systems, errors, squared)

    @cached_property
    def _counts(self) -> NDArray[np.uint8]:
        influences, resamples = self.influences, self.settings.resamples
        counts = make_array((resamples, influences.n_units), self.settings.execution.memory // 4, np.uint8)
        counts_by_block = self.settings.execution.local.map(
            partial(draw_counts, influences.strata, influences.n_units, self.settings.seed), blocks(resamples))
        for start, block_counts in zip(range(0, resamples, BLOCK), counts_by_block, strict=True):
            counts[start:start + BLOCK] = block_counts
        return counts

    @cached_property
    def _sums(self) -> list[Floats]:
        return [np.concatenate([
            self._counts[start:start + BLOCK][:, units].astype(np.float64) @ self.influences.values[units]
            for start in range(0, self.settings.resamples, BLOCK)]) for units in self.influences.units_by_stratum]

    @cached_property
    def _run_errors(self) -> tuple[Floats, Floats] | None:
        """Simulated errors of scores that come from random runs.

        None if no system has random runs. Otherwise two arrays, [resamples, systems] each: errors to add to the scores,
        and variances to add to the squared standard errors.
        """
        influences = self.influences
        if not influences.n_runs.any():
            return None
        order = np.lexsort((influences.runs, influences.scores))  # independent of the order of systems
        normal, variance = np.zeros((2, self.settings.resamples, len(order)))
        for n, system in enumerate(order.tolist()):
            rng = np.random.Generator(stream(self.settings.seed, RUNS, n))
            degrees = int(influences.n_runs[system]) - 1
            normal[:, system] = rng.standard_normal(self.settings.resamples)
            variance[:, system] = rng.chisquare(degrees, self.settings.resamples) / degrees
        return normal * np.sqrt(influences.runs), variance * influences.runs


@dataclass(frozen=True, eq=False)
class SignFlips(ResampledErrors):
    """Simulated errors of score differences, by random sign flips.

    Under the null hypothesis, the difference of two systems in a single unit (item or cluster) is equally likely to
    favour either system. So the signs of these differences are flipped in random units, which are the same for all
    pairs of systems. For two systems and a mean of unit scores this is the studentized permutation test. It is exact
    for a pair with symmetric differences, and asymptotically valid for several pairs together. Strata are ignored.
    """

    @cached_property
    def squared_errors(self) -> Floats:
        return self.influences.squares

    @cached_property
    def _all_squares(self) -> Floats:
        # squares of distances from 0, not from the mean
        return self.influences.squares + np.square(self.influences.differences) / self.influences.n_units

    def prepare(self) -> None:
        _ = self._sums, self._all_squares

    def compute_rows(self, systems: slice) -> Floats:
        errors = self._sums[:, systems, None] - self._sums[:, None, :]
        return self._studentize(systems, errors, self._all_squares[systems] - errors**2 / self.influences.n_units)

    @cached_property
    def _sums(self) -> Floats:
        influences, settings = self.influences, self.settings
        statistics = (influences.values + influences.scores / influences.n_units)[:, :, None]
        flipped = np.concatenate(list(sum_permutations(
            statistics, replace(settings, execution=settings.execution.local), np.asarray)))[:, :, 0]
        return np.asarray(influences.scores - 2 * flipped)


JOINT_ERRORS: dict[str, type[ResampledErrors]] = {"bootstrap": Bootstrapped, "flips": SignFlips}


@dataclass(frozen=True, eq=False)
class RankSets:
    """Confidence sets of the ranks of systems, and of the best system.

    The best system has rank 1. Each statement has the level 1 - alpha.

    Attributes:
        low, high: Simultaneous bounds of all ranks, [systems]. Equally good systems share all ranks of their tie. All
            systems that are truly among the best t, ties included, have a `low` of at most t.
        marginal_low, marginal_high: Bounds of the rank of each system separately, [systems].
        wins: Whether the first system is significantly better than the second, simultaneously for all pairs, [systems,
            systems].
        possible: Whether the system may be the best, [systems]. The set of flagged systems includes the truly best one
            with probability 1 - alpha. If several systems are tied for the best, the systems with a `low` of 1 include
            all of them.
        lead_low, lead_high: Bounds of the difference to the best of the other systems, positive if the system is
            better, [systems]. They hold simultaneously if one system is truly the best (Hsu 1984), and always include
            0: [0, high] means that the system is the best, and [low, 0] that it is not better than the best other
            system. nan if unknown.
    """

    low: Ints
    high: Ints
    marginal_low: Ints
    marginal_high: Ints
    wins: Flags
    possible: Flags
    lead_low: Floats
    lead_high: Floats

    @classmethod
    def from_wins(cls, wins: Flags, marginal_wins: Flags, marginal_losses: Flags, possible: Flags,
                  leads: Floats) -> RankSets:
        """Compute the bounds of ranks from significant wins and losses of pairs.

        Args:
            wins: Wins that are significant simultaneously for all pairs, [systems, systems].
            marginal_wins: Wins of each system that are significant for its own pairs, [system, other].
            marginal_losses: Losses of each system that are significant for its own pairs, [system, other].
            possible: Whether each system may be the best, [systems].
            leads: Lower and upper bounds of the lead of each system, [2, systems].
        """
        n = len(wins)
        return cls(1 + wins.sum(axis=0), n - wins.sum(axis=1), 1 + marginal_losses.sum(axis=1),
                   n - marginal_wins.sum(axis=1), wins, possible, *leads)


def compute_rank_sets(matrix: Matrix, settings: Settings, *, alpha: float = 0.05,
                      method: str = "bootstrap") -> RankSets:
    """Compute simultaneous confidence sets of the ranks of systems, by resampling.

    The largest studentized error over all ordered pairs bounds all differences simultaneously. Significant pairs are
    removed, and the remaining pairs are tested again until no pair is significant (Mogstad et al. 2024; Romano and Wolf
    2005). The smallest rank of a system is 1 + the number of significantly better systems. The largest rank is the
    number of systems minus the number of significantly worse systems.

    Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks with applications to mobility across neighbourhoods
    and academic achievement across countries", Review of Economic Studies 91.

    A system with an undefined score or jackknife has no wins and no losses: it may have every rank, and may be the
    best. Systems with a constant difference over all items are never distinguished.

    Args:
        matrix: Statistics of all systems; its rows are items or clusters.
        settings: Number of resamples, seed, and execution.
        alpha: 1 - confidence, below 1/2.
        method: One of `JOINT_ERRORS`.
    """
    influences = Influences.compute(matrix)
    errors = JOINT_ERRORS[method](influences.defined, settings)
    systems = np.flatnonzero(influences.are_defined)
    differing = _count_differing(matrix.by_unit, errors, systems) if len(systems) > 1 else None
    return compute_rank_sets_by_errors(errors, systems, len(influences.scores), differing, alpha=alpha)


def compute_rank_sets_by_errors(errors: JointErrors, systems: Ints, n_systems: int, differing: Ints | None = None, *,
                                alpha: float = 0.05) -> RankSets:
    """Compute simultaneous confidence sets of ranks from simulated errors of all differences.

    Args:
        errors: Errors of the differences of systems with defined scores.
        systems: Indices of these systems. The others may have every rank.
        n_systems: Number of all systems.
        differing: Numbers of items or clusters in which two systems differ, [systems, systems]; None if there are
            always enough.
        alpha: 1 - confidence, below 1/2.
    """
    wins, marginal_wins, marginal_losses = np.zeros((3, n_systems, n_systems), dtype=bool)
    possible, leads = np.ones(n_systems, dtype=bool), np.full((2, n_systems), np.nan)
    if len(systems) > 1:
        square = np.ix_(systems, systems)
        differing = np.full((len(systems),) * 2, _MANY) if differing is None else differing
        wins[square], marginal_wins[square], marginal_losses[square], margins = _decide(errors, alpha, differing)
        leads[:, systems], possible[systems] = _compute_lead_bounds(errors, margins)
    return RankSets.from_wins(wins, marginal_wins, marginal_losses, possible, leads)


def compute_rank_sets_by_tests(results: Sequence[PairResult], systems: int, *, alpha: float = 0.05,
                         one_sided: float = 0.5) -> RankSets:
    """Compute confidence sets of the ranks of systems from p-values of all pairs.

    The p-values are two-sided, and Holm's correction is applied. The sets are valid for any number of items if the
    p-values are. They do not bound the lead of the best system. An undefined p-value distinguishes no systems.

    Args:
        results: Results of a two-sided test, in the order of `combinations`.
        systems: Number of systems.
        alpha: 1 - confidence.
        one_sided: Factor from the two-sided p-value to an upper bound of the one-sided p-value of the better system:
            1/2 if the null distribution is symmetric, otherwise 1.
    """
    p = np.ones((systems, systems))
    better = np.zeros((systems, systems), dtype=bool)
    pairs = np.array(list(combinations(range(systems), 2)), dtype=np.int64).reshape(-1, 2)
    a, b = pairs.T
    raw = np.array([result.p_value for result in results], dtype=np.float64)
    favours = np.array([result.favours for result in results], dtype=np.int64)
    p[a, b] = p[b, a] = np.where(np.isnan(raw), 1.0, raw)
    better[a, b], better[b, a] = favours > 0, favours < 0
    wins = np.zeros_like(better)
    wins[a, b] = adjust(p[a, b], "holm") <= alpha
    wins |= wins.T
    is_own = np.zeros_like(better)
    for system in range(systems):
        is_other = np.arange(systems) != system
        is_own[system, is_other] = adjust(p[system, is_other], "holm") <= alpha
    smallest_p = np.where(better.T, p * one_sided, 1.0).min(axis=1)  # that another system is better
    return RankSets.from_wins(wins & better, is_own & better, is_own & better.T,
                              smallest_p * max(1, systems - 1) > alpha, np.full((2, systems), np.nan))


def _count_differing(matrix: Matrix, errors: JointErrors, systems: Ints) -> Ints:
    """Count the items (or clusters) in which two systems differ, for all pairs.

    Pairs with very large or very small differences of scores get the number of all items, because their numbers are not
    needed.

    Args:
        matrix: Statistics of all systems, with units (items or clusters) as rows.
        errors: Errors of the differences.
        systems: Indices of the systems of the errors.

    Returns:
        Numbers, [systems, systems].
    """
    sizes = np.abs(errors.observed)
    counts = np.full(sizes.shape, matrix.n_units)
    a, b = np.nonzero(np.triu((sizes > 1) & (sizes < _CLEAR)))
    counts[a, b] = counts[b, a] = count_discordant(matrix, systems[a], systems[b])
    return counts


def _decide(errors: JointErrors, alpha: float, differing: Ints) -> tuple[Flags, Flags, Flags, Floats]:
    """Decide which systems are significantly better than others, by simulated errors.

    Two systems that differ in too few items are never significantly different, because resamples of few items are not
    reliable: a sign test of these items could not be significant either.

    Args:
        errors: Errors of the differences.
        alpha: 1 - confidence.
        differing: Numbers of items or clusters in which two systems differ, [systems, systems].

    Returns:
        wins: Simultaneous wins over all pairs, [systems, systems].
        own_wins, own_losses: Wins and losses over the pairs of each system separately, [system, other].
        margins: Margins of error under the assumption that a system is the best: simultaneous one-sided margins of its
            differences to the others, [best, other]; infinite on the diagonal and if unknown.
    """
    # If systems are exchangeable and differ in m items, all of these items favour the same system with the probability
    # 2^(1 - m), and a given system with 2^-m. To save memory, the errors of a few systems at a time are computed.
    observed = np.where(np.exp2(1.0 - differing) > alpha, 0.0, errors.observed)
    n = len(observed)
    family = _Family.start(observed, errors.settings.resamples)
    own_wins, own_losses = np.zeros((2, n, n), dtype=bool)
    factors = np.empty(n)
    for system, row in _yield_rows(errors):
        family.add(system, row)
        own_wins[system], own_losses[system] = _distinguish(observed[system], row, alpha)
        other_errors = np.delete(row, system, axis=1)
        # If few units differ, errors are skewed against the observed difference, so the longer tail decides.
        tails = other_errors.max(axis=1), -other_errors.min(axis=1)
        factors[system] = max(0.0, *(_find_critical(largest, alpha) for largest in tails))
    margins = errors.compute_margins(factors)
    is_few = (np.exp2(-1.0 * differing) > alpha) & (np.abs(errors.differences) > errors.tolerance)
    margins[is_few] = np.maximum(margins, np.abs(errors.differences))[is_few]
    np.fill_diagonal(margins, np.inf)
    return _exceeds(observed, family.find_critical(alpha)), own_wins, own_losses, margins


def _yield_rows(errors: JointErrors) -> Iterator[tuple[int, Floats]]:
    """Simulate the errors of differences for one system after the other.

    Yields:
        Index of the system, and the errors of its differences to all systems, [resamples, systems].
    """
    errors.prepare()
    n = len(errors.observed)
    step = max(1, _PAIRS_PER_ROW_BLOCK // n)
    groups = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    rows_by_group = errors.settings.execution.local.map(errors.compute_rows, groups, "systems to rank")
    for group, rows in zip(groups, rows_by_group, strict=True):
        for n_row in range(group.stop - group.start):
            yield group.start + n_row, rows[:, n_row]


@dataclass(frozen=True, eq=False)
class _Family:
    """Largest simulated error of many pairs of systems, for a simultaneous test.

    A step-down test compares the largest observed difference with the largest error of all pairs, then removes
    significant pairs and repeats. To save memory, pairs with similar observed differences form a group, and only the
    largest error of each group is stored. The groups are in descending order of the differences.

    Attributes:
        observed: Observed differences, divided by their standard errors, [systems, systems].
        limits: Smallest statistic of each group of pairs with a positive difference, descending, [groups].
        largest: Largest error of each group, [resamples, groups + 1]. The last group has the pairs without a positive
            difference.
    """

    observed: Floats
    limits: Floats
    largest: Floats

    @classmethod
    def start(cls, observed: Floats, resamples: int) -> _Family:
        positive = np.sort(observed[observed > 0])[::-1]
        size = -(-len(positive) // max(1, _MAX_MAXIMA // resamples))  # size of a group: 1, unless there are many pairs
        limits = positive[size - 1::size] if len(positive) else positive
        limits = np.unique(np.append(limits, positive[-1:]))[::-1]
        return cls(observed, limits, np.full((resamples, len(limits) + 1), -np.inf))

    def add(self, system: int, errors: Floats) -> None:
        """Add the errors of one system's differences to the largest errors.

        Args:
            system: Index of the system.
            errors: Errors of its differences to all systems, [resamples, systems].
        """
        observed = self.observed[system]
        group = np.where(observed > 0, np.searchsorted(-self.limits, -observed, side="left"), len(self.limits))
        order = np.argsort(group, kind="stable")
        order = order[order != system]
        groups, starts = np.unique(group[order], return_index=True)
        largest = np.maximum.reduceat(errors[:, order], starts, axis=1)
        self.largest[:, groups] = np.maximum(self.largest[:, groups], largest)

    def find_critical(self, alpha: float) -> float:
        """Return the difference above which a pair is significant, in standard errors.

        This limit holds simultaneously for all pairs. The step-down procedure removes significant groups of pairs and
        repeats until no further group is significant.
        """
        remaining = np.maximum.accumulate(self.largest[:, ::-1], axis=1)[:, ::-1]
        n_significant = 0
        while True:
            value = _find_critical(remaining[:, n_significant], alpha)
            n_now = int(np.count_nonzero(_exceeds(self.limits, value)))
            if n_now <= n_significant:
                return value
            n_significant = n_now


def _distinguish(observed: Floats, errors: Floats, alpha: float) -> tuple[Flags, Flags]:
    """Return the other systems that one system significantly wins or loses against.

    The pairs of this system are tested by a step-down procedure.

    Args:
        observed: Differences of this system to all systems, divided by their standard errors, [systems].
        errors: Simulated errors of these differences, [resamples, systems].
        alpha: Significance level.

    Returns:
        Flags of wins and of losses, [systems] each.
    """
    wins, losses = np.zeros((2, len(observed)), dtype=bool)
    while True:
        value = _find_critical(np.maximum(errors[:, ~wins].max(axis=1, initial=-np.inf),
                                          -errors[:, ~losses].min(axis=1, initial=np.inf)), alpha)
        more_wins, more_losses = _exceeds(observed, value), _exceeds(-observed, value)
        if more_wins.sum() + more_losses.sum() == wins.sum() + losses.sum():
            return more_wins, more_losses
        wins, losses = more_wins, more_losses


def _find_critical(largest: Floats, alpha: float) -> float:
    # the observed test set counts as one more resample
    k = math.floor(alpha * (len(largest) + 1) * (1 + 1e-12))
    return math.inf if k < 1 else float(np.partition(largest, -k)[-k])


def _exceeds(observed: Floats, value: float) -> Flags:
    return np.asarray(observed - _TIED * np.abs(observed) > value)


def _compute_lead_bounds(errors: JointErrors, margins: Floats) -> tuple[Floats, Flags]:
    """Bound the lead of each system over the best of the others.

    A system whose lead may be 0 or more may be the best system. The bounds are the constrained intervals of Hsu 1996,
    chapter 4. Each system in turn is assumed to be the best. This needs no correction, because the bounds of the truly
    best system hold at level 1 - alpha.

    Args:
        errors: Errors of the differences.
        margins: Margins of error of differences, as in `_decide`.

    Returns:
        Lower and upper bounds, [2, systems]; and flags of the systems that may be the best, [systems].
    """
    upper = (errors.differences + margins).min(axis=1)
    is_possible = upper >= -errors.tolerance
    lower = np.where(is_possible, errors.differences - margins.T, np.inf)
    np.fill_diagonal(lower, np.inf)
    return np.array([np.minimum(lower.min(axis=1), 0), np.maximum(upper, 0)]), is_possible


@dataclass(frozen=True)
class Winner:
    """The best of many systems, with a score that is corrected for its selection.

    The best system has a score that is too high by chance. Higher scores are better.

    Attributes:
        system: Index of the system; the first one if several systems have the same score.
        score, error: Score and standard error.
        low, high: Plain interval, which ignores the selection.
        corrected: Median-unbiased score.
        corrected_low, corrected_high: Hybrid interval.
    """

    system: int
    score: float
    error: float
    low: float
    high: float
    corrected: float
    corrected_low: float
    corrected_high: float


def correct_winner(influences: Influences, alpha: float = 0.05) -> Winner | None:
    """Find the best system, and correct its score for the selection.

    The result is None if no system has a defined score, or if the best score does not vary.
    """
    systems = np.flatnonzero(influences.are_defined)
    if not len(systems):
        return None
    defined = influences.defined
    best = int(defined.scores.argmax())
    covariances = defined.compute_covariances(best)
    if not covariances[best] > 0:
        return None
    winner = correct_best_score(defined.scores, best, covariances, defined.find_smallest_contributions(best), alpha)
    return replace(winner, system=int(systems[best]))


def correct_best_score(scores: Floats, best: int, covariances: Floats, steps: Floats, alpha: float = 0.05) -> Winner:
    """Correct the score of the best system for its selection.

    Of many equally good systems the luckiest one has the highest score, so its plain interval is too high. The hybrid
    interval (Andrews et al. 2024, section 5) conditions on two events. The first is the selection of the system, given
    the data that are independent of its score. The second is that a simultaneous interval contains all scores. The
    hybrid interval is hardly wider than the plain one if the best system leads clearly, and never much wider than the
    simultaneous one.

    Andrews, Kitagawa and McCloskey (2024), "Inference on winners", Quarterly Journal of Economics 139.

    Args:
        scores: Scores, [systems].
        best: Index of the best system.
        covariances: Covariances of all scores with the best score, including its variance, [systems].
        steps: Smallest possible change of each difference to the best score, [systems]. Coarse scores are tied by
            chance. If scores were uniform within their steps, the best one would lead by a third of a step, the mean of
            a positive difference of two uniform values.
        alpha: 1 - confidence.
    """
    from scipy.special import ndtri

    score, error = float(scores[best]), math.sqrt(float(covariances[best]))
    plain = float(ndtri(1 - alpha / 2)) * error
    beta = _BETA * alpha
    # With probability 1 - beta no error is larger, for any correlations (Sidak 1967).
    max_error = float(ndtri((1 + (1 - beta) ** (1 / len(scores))) / 2))
    lower, upper = _find_selection_bounds(scores, best, covariances, steps)
    bounds = (lower - score) / error, (upper - score) / error
    tail = (alpha - beta) / (1 - beta) / 2
    low, middle, high = (score + error * _solve_true_score(share, *bounds, max_error)
                         for share in (1 - tail, 0.5, tail))
    return Winner(best, score, error, score - plain, score + plain, middle, low, high)


def _find_selection_bounds(scores: Floats, best: int, covariances: Floats, steps: Floats) -> tuple[float, float]:
    """Return the range of scores with which the best system stays the best.

    If the score of the best system changes, the scores that are correlated with this score change as well. The parts of
    the data that are independent of the score are fixed.

    Args:
        scores: Scores, [systems].
        best: Index of the best system.
        covariances: Covariance of each score with the best one, [systems].
        steps: Smallest possible change of each difference to the best score, [systems].
    """
    slope = 1 - covariances / covariances[best]  # of the lead as a function of the score
    varies = np.abs(slope) > _TIED_SCORE
    lead = scores[best] - scores
    lead = np.where(np.abs(lead) <= _TIED_SCORE * abs(scores[best]), steps / 3, lead)
    zeros = scores[best] - lead[varies] / slope[varies]
    rises = slope[varies] > 0
    return float(zeros[rises].max(initial=-math.inf)), float(zeros[~rises].min(initial=math.inf))


def _solve_true_score(share: float, lower: float, upper: float, max_error: float) -> float:
    """Return the true score at which P(observed score or less) equals `share`.

    All values are distances from the observed score, divided by the standard error. The probability falls from 1 to 0
    as the true score rises from -`max_error` to `max_error`.
    """
    below, above = -max_error, max_error
    for _ in range(_BISECTIONS):
        middle = (below + above) / 2
        if _compute_probability(middle, max(lower, middle - max_error), min(upper, middle + max_error)) > share:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def _compute_probability(mean: float, lower: float, upper: float) -> float:
    """Return P(X <= 0) of a normal variable with this mean, truncated at two bounds."""
    from scipy.special import ndtr

    ends = np.array([lower, 0.0, upper]) - mean
    if ends[0] > 0:  # the other tail keeps all digits
        high = ndtr(-ends)
        return float((high[0] - high[1]) / (high[0] - high[2])) if high[0] > high[2] else 0.0
    low = ndtr(ends)
    return float((low[1] - low[0]) / (low[2] - low[0])) if low[2] > low[0] else 0.0
