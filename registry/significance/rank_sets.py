"""Simultaneous bounds of ranks, and the corrected score of the best system.

`bound_ranks` bounds the ranks of all systems by joint draws of all differences (`Bootstrapped`, `Flipped`), and
`bound_ranks_by_tests` by p-values. `correct_winner` corrects the best score for its selection. All of them start from
`Influences`: the influence of every unit on every score.
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
    sum_swaps,
)
from registry.significance.resampling.exceedances import TOLERANCE
from registry.significance.resampling.scores import score_without_runs

RANK_DRAWS = 1000  # as many as csranks draws
# the smallest numbers of units for which rank sets held in simulation (docs/validity.md)
LEAST_UNITS = {"bootstrap": 20, "flips": 50, "holm": 0}

_ROUNDING = 1e-13  # of a score without one unit, relative to the largest score
_NEAR = 1e-4  # relative to the squares of two systems: smaller squares of their difference are summed directly
_PAIRS = 2**10  # such pairs at a time
_STILL = 1e-5  # relative to the observed square: an error with a smaller square does not vary in a draw
_UNITS = 2**11  # units whose squares are multiplied at once
_CLEAR = 5.0  # standard errors of a difference that needs no count of units
_TIED = 1e-5  # relative to a statistic: squared errors are summed in single precision
_COLUMNS = 2**10  # pairs whose errors are drawn at once
_KEPT = 2**22  # maxima over groups of pairs
_BETA = 0.1  # the share of alpha for errors of the interval for all systems (Andrews et al. 2024, section 5)
_HALVINGS = 60
_TIED_SCORE = 1e-9  # relative to the best score, and to 1 for slopes


@dataclass(frozen=True, eq=False)
class Influences:
    """Scores of systems, and the influence of every unit on them.

    The score in a resample is the observed one plus the influences of the drawn units, up to terms of second order. So
    all metrics are means for this purpose, and one resample gives the difference of every pair and its standard error.

    Attributes:
        scores: [systems]; higher is better, so scores are negated if lower is better.
        of_units: [units, systems]; the influences of a system add up to 0.
        strata: [units], the stratum within which each unit is resampled, numbered from 0; None for one stratum.
        runs: [systems], the part of random runs in the squared standard error; 0 if runs are fixed.
        n_runs: [systems], the number of random runs.
    """

    scores: Floats
    of_units: Floats
    strata: Ints | None
    runs: Floats
    n_runs: Ints

    @classmethod
    def of(cls, matrix: Matrix) -> Influences:
        """Leave out each unit in turn (the jackknife; Efron and Tibshirani 1993, chapter 11), and each random run.

        A score that is undefined without some unit leaves the system with influences that are nan.
        """
        matrix = matrix.by_unit
        sign, n = -1.0 if matrix.lower_is_better else 1.0, matrix.n_units
        without = matrix.jackknife()
        influences = sign * (n - 1) / n * (without.mean(axis=0) - without)
        runs, n_runs = np.zeros(len(matrix.observed)), np.zeros(len(matrix.observed), dtype=np.int64)
        for system, of_runs in enumerate(score_without_runs(matrix)):
            runs[system], n_runs[system] = (len(of_runs) - 1) * of_runs.var(), len(of_runs)
        return cls(sign * matrix.observed, influences, matrix.unit_strata, runs, n_runs)

    @property
    def n_units(self) -> int:
        """The number of units."""
        return len(self.of_units)

    @cached_property
    def are_defined(self) -> Flags:
        """Systems with a score and influences of all units, [systems]."""
        return np.isfinite(self.scores) & np.isfinite(self.of_units).all(axis=0) & np.isfinite(self.runs)

    @property
    def defined(self) -> Influences:
        """The influences of defined systems alone."""
        chosen = self.are_defined
        return replace(self, scores=self.scores[chosen], of_units=np.ascontiguousarray(self.of_units[:, chosen]),
                       runs=self.runs[chosen], n_runs=self.n_runs[chosen])

    @cached_property
    def differences(self) -> Floats:
        """The observed differences, [systems, systems]: positive if the first is better."""
        return self.scores[:, None] - self.scores

    @cached_property
    def tolerance(self) -> float:
        """The largest difference by rounding alone."""
        return TOLERANCE * float(np.abs(self.scores).max(initial=0))

    @cached_property
    def are_equal(self) -> Flags:
        """Systems that differ neither in their scores nor in any unit, [systems, systems]."""
        return np.asarray((self.squares == 0) & (np.abs(self.differences) <= self.tolerance))

    @cached_property
    def of_strata(self) -> list[Ints]:
        """The units of each stratum."""
        return [units for _, units in group_by_stratum(self.strata, self.n_units)]

    @cached_property
    def squares(self) -> Floats:
        """The sum of the squared differences of two systems' influences, [systems, systems]; 0 if none varies."""
        products = self.of_units.T @ self.of_units
        own = np.diag(products)
        squares = own[:, None] + own - 2 * products
        near_a, near_b = np.nonzero(squares < _NEAR * (own[:, None] + own))  # digits cancel
        for at in range(0, len(near_a), _PAIRS):
            a, b = near_a[at:at + _PAIRS], near_b[at:at + _PAIRS]
            squares[a, b] = np.square(self.of_units[:, a] - self.of_units[:, b]).sum(axis=0)
        largest = float(np.abs(self.scores).max(initial=0))
        return np.where(squares > self.n_units * (_ROUNDING * largest) ** 2, squares, 0.0)

    @cached_property
    def centred_squares(self) -> Floats:
        """The same about the mean of each stratum."""
        squares = self.squares.copy()
        for units in self.of_strata:
            sums = self.of_units[units].sum(axis=0)
            squares -= (sums[:, None] - sums) ** 2 / len(units)
        return np.where(squares > _ROUNDING * self.squares, squares, 0.0)

    def covariances_of(self, system: int) -> Floats:
        """Return the covariances of all scores with one system's, [systems]; its own is its variance, with runs."""
        covariances = np.zeros(len(self.scores))
        for units in self.of_strata:
            centred = self.of_units[units, system] - self.of_units[units, system].mean()
            covariances += centred @ self.of_units[units]
        covariances[system] += self.runs[system]
        return covariances

    def steps_to(self, system: int) -> Floats:
        """Return the smallest part of one unit in each difference to a system, [systems]; 0 if all are 0."""
        apart = np.abs(self.of_units - self.of_units[:, [system]] + (self.scores - self.scores[system]) / self.n_units)
        apart[apart <= _ROUNDING * max(1.0, float(np.abs(self.scores).max(initial=0)))] = np.inf
        least: Floats = apart.min(axis=0)
        return np.where(np.isfinite(least), least, 0.0)


@dataclass(frozen=True, eq=False)
class JointErrors(ABC):
    """Errors of all differences in the same draws, in units of their own standard errors.

    The standard error is estimated again in every draw, as it is in the test set: the largest error often has a
    standard error that is small by chance, in draws as in truth. With fixed standard errors rank sets fail too often
    (Hall 1992, section 3.6; docs/limits.md).

    Attributes:
        influences: Of the units on the scores, all of them defined.
        settings: The number of draws, their seed, and the execution with its memory.
    """

    influences: Influences
    settings: Settings

    @cached_property
    @abstractmethod
    def squared_errors(self) -> Floats:
        """The squared standard error of every observed difference, [systems, systems]; 0 if it cannot vary."""

    @abstractmethod
    def prepare(self) -> None:
        """Draw the arrays that all rows share."""

    @abstractmethod
    def rows(self, systems: slice) -> Floats:
        """Return the errors of the differences of some systems to all others, [draws, some systems, systems].

        They are in units of the draw's standard error, and 0 if nothing varies in the draw: systems that differ in no
        unit are never distinguished, so such a draw is no error.
        """

    @cached_property
    def observed(self) -> Floats:
        """The observed differences in units of their standard errors, [systems, systems]; 0 if none varies."""
        squared = self.squared_errors
        return np.divide(self.influences.differences, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)

    def _studentized(self, systems: slice, moved: Floats, squared: Floats) -> Floats:
        """Divide `moved` by the root of `squared`, [draws, some systems, systems] each, if that varies."""
        in_truth = self.squared_errors[systems]
        varies = (squared > _STILL * in_truth) & (in_truth > 0)
        np.sqrt(squared, out=squared, where=varies)
        return np.divide(moved, squared, out=np.zeros_like(moved), where=varies)


@dataclass(frozen=True, eq=False)
class Bootstrapped(JointErrors):
    """Errors in resamples of the units, within their strata, and of random runs.

    Few runs cannot be resampled. Their part is drawn from a normal distribution, and its variance from that of the
    estimate (chi-squared with one degree of freedom less than runs).
    """

    @cached_property
    def squared_errors(self) -> Floats:
        runs = self.influences.runs
        squares = self.influences.centred_squares + runs[:, None] + runs
        np.fill_diagonal(squares, 0)
        return squares

    def prepare(self) -> None:
        _ = self._counts, self._sums, self._of_runs

    def rows(self, systems: slice) -> Floats:
        of_units = self.influences.of_units
        n, some = of_units.shape[1], len(range(*systems.indices(of_units.shape[1])))
        unit = float(np.abs(of_units).max()) or 1.0  # single precision is enough for squares that do not underflow
        single = np.zeros((self.settings.resamples, some * n), dtype=np.float32)
        for at in range(0, len(of_units), _UNITS):
            part = (of_units[at:at + _UNITS] / unit).astype(np.float32)
            apart = part[:, systems, None] - part[:, None, :]
            single += self._counts[:, at:at + _UNITS].astype(np.float32) @ np.square(apart).reshape(len(part), -1)
        squared = single.reshape(-1, some, n) * np.float64(unit**2)
        moved = np.zeros_like(squared)
        for sums, units in zip(self._sums, self.influences.of_strata, strict=True):
            of_stratum = sums[:, systems, None] - sums[:, None, :]
            centre = of_units[units].sum(axis=0)
            moved += of_stratum - (centre[systems, None] - centre)
            squared -= np.square(of_stratum, out=of_stratum) / len(units)
        if self._of_runs is not None:
            by_runs, of_estimate = self._of_runs
            moved += by_runs[:, systems, None] - by_runs[:, None, :]
            squared += of_estimate[:, systems, None] + of_estimate[:, None, :]
        return self._studentized(systems, moved, squared)

    @cached_property
    def _counts(self) -> NDArray[np.uint8]:
        """The count of every unit in each draw, [draws, units]."""
        of, draws = self.influences, self.settings.resamples
        counts = make_array((draws, of.n_units), self.settings.execution.memory // 4, np.uint8)
        drawn = self.settings.execution.here.map(
            partial(draw_counts, of.strata, of.n_units, self.settings.seed), blocks(draws))
        for at, of_block in zip(range(0, draws, BLOCK), drawn, strict=True):
            counts[at:at + BLOCK] = of_block
        return counts

    @cached_property
    def _sums(self) -> list[Floats]:
        """The sums of the influences of each stratum's units, [draws, systems] each."""
        return [np.concatenate([
            self._counts[at:at + BLOCK][:, units].astype(np.float64) @ self.influences.of_units[units]
            for at in range(0, self.settings.resamples, BLOCK)]) for units in self.influences.of_strata]

    @cached_property
    def _of_runs(self) -> tuple[Floats, Floats] | None:
        """The part of runs in each system's error, and in its squared error, [draws, systems] each."""
        of = self.influences
        if not of.n_runs.any():
            return None
        order = np.lexsort((of.runs, of.scores))  # draws do not depend on the order of systems
        normal, variance = np.zeros((2, self.settings.resamples, len(order)))
        for place, system in enumerate(order.tolist()):
            rng = np.random.Generator(stream(self.settings.seed, RUNS, place))
            degrees = int(of.n_runs[system]) - 1
            normal[:, system] = rng.standard_normal(self.settings.resamples)
            variance[:, system] = rng.chisquare(degrees, self.settings.resamples) / degrees
        return normal * np.sqrt(of.runs), variance * of.runs


@dataclass(frozen=True, eq=False)
class Flipped(JointErrors):
    """Errors if the two systems of every difference are swapped in random units, the same units in all pairs.

    For two systems and a mean of units this is the studentized permutation test. It is exact for each pair whose unit
    differences are symmetric; for several pairs together it holds in the limit of many units. Strata are ignored.
    """

    @cached_property
    def squared_errors(self) -> Floats:
        return self.influences.squares

    @cached_property
    def _all_squares(self) -> Floats:
        """The sums of the squared unit differences about 0."""
        return self.influences.squares + np.square(self.influences.differences) / self.influences.n_units

    def prepare(self) -> None:
        _ = self._sums, self._all_squares

    def rows(self, systems: slice) -> Floats:
        moved = self._sums[:, systems, None] - self._sums[:, None, :]
        return self._studentized(systems, moved, self._all_squares[systems] - moved**2 / self.influences.n_units)

    @cached_property
    def _sums(self) -> Floats:
        """The sums of all units after some have changed sign, [draws, systems]."""
        of, settings = self.influences, self.settings
        statistics = (of.of_units + of.scores / of.n_units)[:, :, None]
        swapped = np.concatenate(list(sum_swaps(
            statistics, replace(settings, execution=settings.execution.here), np.asarray)))[:, :, 0]
        return np.asarray(of.scores - 2 * swapped)


DRAWS: dict[str, type[JointErrors]] = {"bootstrap": Bootstrapped, "flips": Flipped}

@dataclass(frozen=True, eq=False)
class RankSets:
    """Possible ranks of systems, each statement at level 1 - alpha; the best has rank 1.

    Attributes:
        low, high: [systems]; the ranks of all systems at once. The set of a system contains every rank that it shares
            with truly equal systems: 1 + the number of truly better ones, to n less that of the truly worse ones. All
            systems that are truly among the best t, ties included, have a `low` of t or less.
        marginal_low, marginal_high: [systems]; the same for each system by itself.
        wins: [systems, systems]; `wins[a, b]` says that a is better than b, all of them at once.
        possible: [systems]; whether the system may be the best. A given system that is truly the best is among these;
            all systems that are truly best together are among those with a `low` of 1.
        lead_low, lead_high: [systems]; bounds of the difference to the best of the other systems, positive if the
            system is better, all of them at once if one system is truly the best (Hsu 1984). They are constrained to
            include 0: [0, high] means that the system is the best, [low, 0] that it is not better than the best of the
            others. nan if they are unknown.
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
    def of(cls, wins: Flags, marginal_wins: Flags, marginal_losses: Flags, possible: Flags, leads: Floats) -> RankSets:
        """Combine decisions over all pairs, and over the pairs of each system by itself ([system, other])."""
        n = len(wins)
        return cls(1 + wins.sum(axis=0), n - wins.sum(axis=1), 1 + marginal_losses.sum(axis=1),
                   n - marginal_wins.sum(axis=1), wins, possible, *leads)


def bound_ranks(matrix: Matrix, settings: Settings, *, alpha: float = 0.05, method: str = "bootstrap") -> RankSets:
    """Bound the ranks of all systems by draws of the differences' errors.

    The largest error over all ordered pairs, each in units of its own standard error, bounds all differences at once.
    Significant pairs are removed, and the rest is tested again until no pair is found (Mogstad, Romano, Shaikh and
    Wilhelm 2024, "Inference for ranks with applications to mobility across neighbourhoods and academic achievement
    across countries", Review of Economic Studies 91; Romano and Wolf 2005). The rank of a system is then at least 1 +
    the number of significantly better systems, and at most the number of systems less that of the worse ones.

    A system without a score, or without one when some unit is left out, neither wins nor loses: it may have every rank,
    and be the best. Systems that differ in no unit, or by the same in each, are never distinguished.

    Args:
        matrix: By item or by unit.
        settings: The number of draws, their seed, and the execution.
        alpha: 1 - the level, below 1/2.
        method: One of `DRAWS`.
    """
    influences = Influences.of(matrix)
    defined = np.flatnonzero(influences.are_defined)
    n = len(influences.scores)
    wins, marginal_wins, marginal_losses = np.zeros((3, n, n), dtype=bool)
    possible, leads = np.ones(n, dtype=bool), np.full((2, n), np.nan)
    if len(defined) > 1:
        errors = DRAWS[method](influences.defined, settings)
        square = np.ix_(defined, defined)
        wins[square], marginal_wins[square], marginal_losses[square], margins = _decide(
            errors, alpha, _count_differing(matrix.by_unit, errors, defined))
        leads[:, defined], possible[defined] = _bound_leads(influences.defined, margins)
    return RankSets.of(wins, marginal_wins, marginal_losses, possible, leads)


def bound_ranks_by_tests(results: Sequence[PairResult], systems: int, *, alpha: float = 0.05,
                         one_sided: float = 0.5) -> RankSets:
    """Bound the ranks of all systems by two-sided p-values of all pairs (in the order of `combinations`), by Holm.

    The bounds are as valid as the p-values, with any number of units. They do not bound the lead of the best system. An
    undefined p-value distinguishes no systems.

    Args:
        results: Of a two-sided test.
        systems: The number of systems.
        alpha: 1 - the level.
        one_sided: The share of a p-value that is at least the one-sided one of the better system: a half if the
            distribution under the null hypothesis is symmetric, otherwise 1.
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
    own = np.zeros_like(better)
    for system in range(systems):
        others = np.arange(systems) != system
        own[system, others] = adjust(p[system, others], "holm") <= alpha
    least = np.where(better.T, p * one_sided, 1.0).min(axis=1)  # that another system is better
    return RankSets.of(wins & better, own & better, own & better.T, least * max(1, systems - 1) > alpha,
                       np.full((2, systems), np.nan))


def _count_differing(matrix: Matrix, errors: JointErrors, systems: Ints) -> Ints:
    """Count the units in which systems differ, [systems, systems]; all units if the difference is clear or small."""
    sizes = np.abs(errors.observed)
    counts = np.full(sizes.shape, matrix.n_units)
    a, b = np.nonzero(np.triu((sizes > 1) & (sizes < _CLEAR)))
    counts[a, b] = counts[b, a] = count_discordant(matrix, systems[a], systems[b])
    return counts


def _decide(errors: JointErrors, alpha: float, differing: Ints) -> tuple[Flags, Flags, Flags, Floats]:
    """Decide pairs by draws; only the draws of some systems are in memory at once.

    If systems are exchangeable and differ in m units, all of these favour one system with a probability of 2^(1 - m),
    or a given one with 2^-m. If that is above alpha, the pair is not significant: draws of so few units show too
    little.

    Returns:
        Decisions, [systems, systems] each: wins over all pairs; wins, and losses, over the pairs of each system by
        itself, [system, other]; and with each system as the best, the simultaneous one-sided margins of error of its
        differences to the others, [best, other], infinite on the diagonal and if unknown.
    """
    observed = np.where(np.exp2(1.0 - differing) > alpha, 0.0, errors.observed)
    n = len(observed)
    family = _Family.of(observed, errors.settings.resamples)
    own_wins, own_losses = np.zeros((2, n, n), dtype=bool)
    factors = np.empty(n)
    for system, drawn in _draw_rows(errors):
        family.add(system, drawn)
        own_wins[system], own_losses[system] = _distinguish(observed[system], drawn, alpha)
        others = np.delete(drawn, system, axis=1)
        # if few units differ, draws are skewed against the observed difference: the longer tail is correct
        tails = others.max(axis=1), -others.min(axis=1)
        factors[system] = max(0.0, *(_critical(largest, alpha) for largest in tails))
    squared = errors.squared_errors
    with np.errstate(invalid="ignore"):
        margins = np.where(squared > 0, factors[:, None] * np.sqrt(squared), np.inf)
    few = np.exp2(-1.0 * differing) > alpha
    margins[few] = np.maximum(margins, np.abs(errors.influences.differences))[few]
    margins[(squared == 0) & errors.influences.are_equal] = 0.0
    np.fill_diagonal(margins, np.inf)
    return _above(observed, family.critical(alpha)), own_wins, own_losses, margins


def _draw_rows(errors: JointErrors) -> Iterator[tuple[int, Floats]]:
    """Yield every system with the errors of its differences, [draws, systems]."""
    errors.prepare()
    n = len(errors.observed)
    some = max(1, _COLUMNS // n)
    groups = [slice(at, min(at + some, n)) for at in range(0, n, some)]
    errors_of_groups = errors.settings.execution.here.map(errors.rows, groups, "systems to rank")
    for group, drawn in zip(groups, errors_of_groups, strict=True):
        for at in range(group.stop - group.start):
            yield group.start + at, drawn[:, at]


@dataclass(frozen=True, eq=False)
class _Family:
    """The largest errors of all ordered pairs, from the clearest difference down.

    Attributes:
        observed: [systems, systems].
        bars: [groups], descending: the smallest statistic of each group of pairs in which the first system is ahead.
        largest: [draws, groups + 1], over the pairs of a group; the last group has the pairs in which it is not ahead.
    """

    observed: Floats
    bars: Floats
    largest: Floats

    @classmethod
    def of(cls, observed: Floats, draws: int) -> _Family:
        ahead = np.sort(observed[observed > 0])[::-1]
        size = -(-len(ahead) // max(1, _KEPT // draws))  # of a group: 1, except with many pairs and draws
        bars = ahead[size - 1::size] if len(ahead) else ahead
        bars = np.unique(np.append(bars, ahead[-1:]))[::-1]
        return cls(observed, bars, np.full((draws, len(bars) + 1), -np.inf))

    def add(self, system: int, drawn: Floats) -> None:
        """Add the errors of a system's differences, [draws, systems]."""
        observed = self.observed[system]
        group = np.where(observed > 0, np.searchsorted(-self.bars, -observed, side="left"), len(self.bars))
        order = np.argsort(group, kind="stable")
        order = order[order != system]
        groups, starts = np.unique(group[order], return_index=True)
        largest = np.maximum.reduceat(drawn[:, order], starts, axis=1)
        self.largest[:, groups] = np.maximum(self.largest[:, groups], largest)

    def critical(self, alpha: float) -> float:
        """Return the critical value of differences, step-down: significant groups leave the largest errors."""
        left = np.maximum.accumulate(self.largest[:, ::-1], axis=1)[:, ::-1]
        dropped = 0
        while True:
            value = _critical(left[:, dropped], alpha)
            now = int(np.count_nonzero(_above(self.bars, value)))
            if now <= dropped:
                return value
            dropped = now


def _distinguish(observed: Floats, drawn: Floats, alpha: float) -> tuple[Flags, Flags]:
    """Return significant wins and losses of one system, step-down over its own pairs."""
    wins, losses = np.zeros((2, len(observed)), dtype=bool)
    while True:
        value = _critical(np.maximum(drawn[:, ~wins].max(axis=1, initial=-np.inf),
                                     -drawn[:, ~losses].min(axis=1, initial=np.inf)), alpha)
        more_wins, more_losses = _above(observed, value), _above(-observed, value)
        if more_wins.sum() + more_losses.sum() == wins.sum() + losses.sum():
            return more_wins, more_losses
        wins, losses = more_wins, more_losses


def _critical(largest: Floats, alpha: float) -> float:
    """Return the value that the largest error exceeds in a share alpha of the draws, with the test set as a draw."""
    k = math.floor(alpha * (len(largest) + 1) * (1 + 1e-12))
    return math.inf if k < 1 else float(np.partition(largest, -k)[-k])


def _above(observed: Floats, value: float) -> Flags:
    return np.asarray(observed - _TIED * np.abs(observed) > value)


def _bound_leads(influences: Influences, margins: Floats) -> tuple[Floats, Flags]:
    """Bound differences to the best of the others, [2, systems], and return which systems may be the best.

    These are the constrained intervals of Hsu 1996, chapter 4. Each system in turn is assumed to be the best, which
    needs no correction: the bounds of the true best hold at level 1 - alpha.
    """
    upper = (influences.differences + margins).min(axis=1)
    may_be = upper >= -influences.tolerance
    least = np.where(may_be, influences.differences - margins.T, np.inf)
    np.fill_diagonal(least, np.inf)
    return np.array([np.minimum(least.min(axis=1), 0), np.maximum(upper, 0)]), may_be


@dataclass(frozen=True)
class Winner:
    """The best system, with its score corrected for its selection as the best; higher scores are better.

    Attributes:
        system: Its number; the first of several with the same score.
        score, error: Its score and its standard error.
        low, high: The plain interval, which ignores the selection.
        corrected: The median-unbiased score.
        corrected_low, corrected_high: The hybrid interval.
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
    """Return the best of the defined systems; None if there is none, or its score does not vary."""
    places = np.flatnonzero(influences.are_defined)
    if not len(places):
        return None
    defined = influences.defined
    best = int(defined.scores.argmax())
    covariances = defined.covariances_of(best)
    if not covariances[best] > 0:
        return None
    winner = correct_best_score(defined.scores, best, covariances, defined.steps_to(best), alpha)
    return replace(winner, system=int(places[best]))


def correct_best_score(scores: Floats, best: int, covariances: Floats, steps: Floats, alpha: float = 0.05) -> Winner:
    """Correct the score of the best system for its selection.

    Of many equally good systems the luckiest has the highest score, so its plain interval is too high. The hybrid
    interval of Andrews, Kitagawa and McCloskey (2024, "Inference on winners", Quarterly Journal of Economics 139,
    section 5) conditions the score on the system's selection, given everything that is independent of its score, and on
    its true score lying in a simultaneous interval for all systems. It is hardly wider than the plain one if the best
    system leads clearly, and never much wider than the simultaneous one.

    Args:
        scores: [systems].
        best: The number of the best one.
        covariances: [systems], of each score with the best one's, with its own variance.
        steps: [systems], the smallest possible change of each difference to the best one. Coarse scores are equal by
            chance. If all were drawn at random within their steps, the best one would lead by a third of a step, the
            mean of a positive difference of two such draws.
        alpha: 1 - the level.
    """
    from scipy.special import ndtri

    score, error = float(scores[best]), math.sqrt(float(covariances[best]))
    plain = float(ndtri(1 - alpha / 2)) * error
    beta = _BETA * alpha
    # the largest error is at most this with probability 1 - beta, whatever the correlations (Sidak 1967)
    wide = float(ndtri((1 + (1 - beta) ** (1 / len(scores))) / 2))
    least, most = _bound_selection(scores, best, covariances, steps)
    bounds = (least - score) / error, (most - score) / error
    tail = (alpha - beta) / (1 - beta) / 2
    low, middle, high = (score + error * _quantile(share, *bounds, wide) for share in (1 - tail, 0.5, tail))
    return Winner(best, score, error, score - plain, score + plain, middle, low, high)


def _bound_selection(scores: Floats, best: int, covariances: Floats, steps: Floats) -> tuple[float, float]:
    """Return the scores between which the system is the best, given all that is independent of its score."""
    slope = 1 - covariances / covariances[best]  # of its lead by its score
    moves = np.abs(slope) > _TIED_SCORE
    lead = scores[best] - scores
    lead = np.where(np.abs(lead) <= _TIED_SCORE * abs(scores[best]), steps / 3, lead)
    at = scores[best] - lead[moves] / slope[moves]
    rises = slope[moves] > 0
    return float(at[rises].max(initial=-math.inf)), float(at[~rises].min(initial=math.inf))


def _quantile(share: float, least: float, most: float, wide: float) -> float:
    """Return the true score under which the distribution function of the observed score is `share`.

    All values are in units of the standard error, relative to the observed score. The function falls from 1 to 0 as the
    true score rises from -`wide` to `wide`.
    """
    below, above = -wide, wide
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if _distribution(middle, max(least, middle - wide), min(most, middle + wide)) > share:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def _distribution(true: float, least: float, most: float) -> float:
    """Return P(X <= 0) of a normal X about `true` that lies between two bounds."""
    from scipy.special import ndtr

    ends = np.array([least, 0.0, most]) - true
    if ends[0] > 0:  # the other tail loses no digits
        high = ndtr(-ends)
        return float((high[0] - high[1]) / (high[0] - high[2])) if high[0] > high[2] else 0.0
    low = ndtr(ends)
    return float((low[1] - low[0]) / (low[2] - low[0])) if low[2] > low[0] else 0.0
