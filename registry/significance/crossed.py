"""Contributions of items and runs to the error of a difference.

Every run has all items. `cross_runs` arranges the runs by unit and factor. `CrossedPair` divides the error of a
difference into sources of variation. `find_critical_difference` and `compute_log_p` test the difference against these
sources. Both systems share the units and some factors, such as prompts, and are compared within each level. Other
factors, such as seeds, have separate levels for each system.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from registry.arrays import ROUNDING, Floats
from registry.messages import Message
from registry.significance.base import Alternative
from registry.significance.matrix import Matrix, additive
from registry.significance.resampling.scores import runs_refusal
from registry.significance.units import linearize

OWN = "run"  # the factor with separate levels for each system; systems share the levels of all other factors
_SMALLEST_LOG_P = -690.0  # smaller p-values are reported as this one
_HALVINGS = 55

Axes = tuple[int, ...]  # axes of a table in ascending order; axis 0 has the units


@dataclass(frozen=True)
class Source:
    """One source of the error of a difference, such as the items or the random seeds.

    Attributes:
        axes: Axes of the table of scores that cause this error together; for example, (0,) for the items and (0, 1) for
            the interaction of items and runs.
        side: 0 or 1 if only this system has these runs or prompts; None if both systems share them.
        squared: Contribution to the squared standard error of the difference.
        degrees: Degrees of freedom of this estimate.
    """

    axes: Axes
    side: int | None
    squared: float
    degrees: int


class CrossedPair:
    """Scores of two systems by item and by factors such as seed and prompt.

    The class estimates how much each factor, and each interaction of factors, contributes to the squared standard error
    of the difference of the systems. This is an analysis of variance with random factors (Cornfield and Tukey 1956). It
    does not assume normal values.

    Attributes:
        tables: Scores of each system, [units, levels of a factor, ...]; units are items or clusters.
        shared: For the units and each factor: True if both systems have the same levels.
    """

    def __init__(self, tables: tuple[Floats, Floats], shared: Sequence[bool]) -> None:
        self.tables = tables
        self.shared = (True, *shared)

    @property
    def axes(self) -> Axes:
        """All axes of the tables: 0 for the items or clusters, then one per factor."""
        return tuple(range(len(self.shared)))

    def estimate(self, axes: Axes) -> list[tuple[int | None, float, int]]:
        """Estimate the mean square of the interaction of some factors.

        The mean square is divided by the number of cells of the table. This is the sum of the contributions to the
        squared error of all interactions that include these factors.

        Returns:
            Terms (system, value, degrees of freedom): one term with system None if the systems share the levels of all
                these factors, otherwise one term per system.
        """
        if all(self.shared[axis] for axis in axes):
            a, b = (_average(table, axes) for table in self.tables)
            return [(None, *_interaction(a - b))]
        return [(side, *_interaction(_average(table, axes))) for side, table in enumerate(self.tables)]

    def components(self) -> Iterator[Source]:
        """Estimate the contribution of each source of error to the squared error.

        A source is a factor, such as the items, or an interaction of several factors. If the systems do not share the
        levels of the factors, each system has its own contribution. An estimate can be negative.
        """
        terms = {axes: self.estimate(axes) for axes in _subsets(self.axes)}
        for axes, mean_square in terms.items():
            for side, _, degrees in mean_square:
                added = [(-1) ** (len(more) - len(axes)) * term for more, estimates in terms.items()
                         if set(more) >= set(axes) for own_side, term, _ in estimates if side in (None, own_side)]
                squared = sum(added)
                is_rounding = abs(squared) <= ROUNDING * sum(map(abs, added))
                yield Source(axes, side, 0.0 if is_rounding else squared, degrees)

    def bounds(self, over: Iterable[int]) -> list[Source]:
        """Divide the squared standard error into few sources, whose sum is an upper bound.

        Each random factor, such as the runs, is one source together with all its interactions. So the interaction of
        two factors is counted for both. The items are one more source.

        Args:
            over: The axes whose levels are a random sample.
        """
        # A factor and its interactions are one source, because the few degrees of freedom of the factor hold for all of
        # them together. The sum is at least the contribution of the items alone.
        random = tuple(over)
        factors = [axis for axis in random if axis]
        sources = [Source((axis,), side, squared, degrees) for axis in factors
                   for side, squared, degrees in self.estimate((axis,))]
        if 0 in random:
            alone = sum((-1) ** len(more) * term for more in ((), *_subsets(factors))
                        for _, term, _ in self.estimate((0, *more)))
            ((_, units, degrees),) = self.estimate((0,))
            rest = max(0.0, alone, units - sum(source.squared for source in sources))
            sources.append(Source((0,), None, rest, degrees))
        return sources


def _subsets(axes: Sequence[int]) -> Iterator[Axes]:
    for n in range(1, len(axes) + 1):
        yield from combinations(axes, n)


def _average(table: Floats, kept_axes: Axes) -> Floats:
    return np.asarray(table.mean(axis=tuple(axis for axis in range(table.ndim) if axis not in kept_axes)))


def _interaction(table: Floats) -> tuple[float, int]:
    # The interaction is what remains of each cell after all marginal means are subtracted. The mean square is divided
    # by the number of cells.
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    degrees = int(np.prod([size - 1 for size in table.shape]))
    return (float(np.vdot(table, table)) / degrees / table.size if degrees else np.nan), degrees


@dataclass(frozen=True, eq=False)
class Crossing:
    """Scores of all systems, arranged by item and by factors such as seed and prompt.

    A score is represented as the mean of its table plus a constant. For F-scores and BLEU this is a linear
    approximation, so that estimates for means also apply to them.

    Attributes:
        names: Names of the axes: `items`, then the factors in the plural, such as `runs` and `prompts`.
        shared: For each factor: True if all systems have the same levels.
        tables: Deviations of the score in each cell, with mean 0, [units, levels of a factor, ...] for each system;
            units are items or clusters.
    """

    names: tuple[str, ...]
    shared: tuple[bool, ...]
    tables: list[Floats]

    def pair(self, a: int, b: int | None) -> CrossedPair:
        """Return the scores of two systems, by item and factor, to compare the systems.

        Args:
            a: Index of the first system.
            b: Index of the second system. None: the first system is compared with a constant score, which has no error.
        """
        table = self.tables[a]
        return CrossedPair((table, np.zeros_like(table) if b is None else self.tables[b]), self.shared)

    def bounds(self, pairs: Iterable[tuple[int, int | None]], over: str) -> tuple[Floats, Floats]:
        """Return upper bounds of squared standard errors, divided into sources of error.

        Args:
            pairs: Pairs of systems. If the second system is None, the error of the first system's score is returned.
            over: Name of the axis whose levels are a random sample, or `all`.

        Returns:
            Contributions of the sources to the squared errors, and their degrees of freedom, [pairs, sources] each.
        """
        bounds = [self.pair(a, b).bounds(self.axes(over)) for a, b in pairs]
        return (np.array([[source.squared for source in sources] for sources in bounds]),
                np.array([[source.degrees for source in sources] for sources in bounds], dtype=np.float64))

    def axes(self, over: str) -> Axes:
        """Return the indices of the axes whose levels are a random sample.

        Args:
            over: Name of the axis, or `all` for all axes.
        """
        return tuple(range(len(self.names))) if over == "all" else (self.names.index(over),)


def explain_crossing_refusal(matrix: Matrix) -> Message | None:
    """Explain why the runs of systems cannot be arranged by their factors.

    Every factor, such as the prompt, needs at least two levels, and every combination of levels must occur once.
    Systems must share the levels of all factors except the factor `run`.

    Returns:
        The reason, or None if the runs can be arranged.
    """
    if matrix.factors is None:
        return runs_refusal(matrix)
    factors = {frozenset(of_run) for of_system in matrix.factors for of_run in of_system or ({},)}
    if len(factors) > 1:
        return Message("different-factors")
    for factor in _factors(matrix):
        levels = [{of_run[factor] for of_run in of_system} for of_system in matrix.factors]
        if few := sum(len(names) < 2 for names in levels):
            return Message("single-level", {"systems": few, "level": factor})
        if factor != OWN and len({frozenset(names) for names in levels}) > 1:
            return Message("different-levels", {"level": factor})
    if odd := sum(not _is_complete(of_system) for of_system in matrix.factors):
        return Message("missing-combinations", {"systems": odd, "levels": list(_factors(matrix))})
    return None


def cross_runs(matrix: Matrix) -> Crossing:
    """Arrange the runs of all systems by item and by factors such as seed and prompt.

    A cell of a table is one item in one run. Its value says how much the cell moves the score of the system, as a
    deviation from this score; nan if undefined.

    Args:
        matrix: Statistics of the runs, with items or clusters as rows; every combination of the factors must occur
            once.
    """
    # If the score is a quotient F of sums of n and d, the deviation is (n - F d) / (mean of d). Otherwise it comes from
    # the jackknife: the score without the cell.
    assert matrix.runs is not None
    factors, tables = _factors(matrix), [_table(matrix, runs) for runs in matrix.runs]
    for system, runs in enumerate(matrix.factors or ()):
        order = sorted(range(len(runs)), key=lambda n: [runs[n][factor] for factor in factors])
        levels = (len({run[name] for run in runs}) for name in factors)
        tables[system] = tables[system][:, order].reshape(-1, *levels)
    return Crossing(name_axes(matrix), tuple(name != OWN for name in factors), tables)


def name_axes(matrix: Matrix) -> tuple[str, ...]:
    """Return the names of the axes of the tables, such as `items`, `runs`, `prompts`."""
    return "items", *(f"{name}s" for name in _factors(matrix))


def count_levels(matrix: Matrix) -> Iterator[int]:
    """Yield the number of levels of every factor for every system, such as 3 prompts."""
    if matrix.factors is None:
        yield from (of_system.shape[1] for of_system in matrix.runs or ())
        return
    for factor in _factors(matrix):
        yield from (len({of_run[factor] for of_run in of_system}) for of_system in matrix.factors)


def _factors(matrix: Matrix) -> list[str]:
    if matrix.factors is None:
        return [OWN]
    return sorted(matrix.factors[0][0], key=lambda name: (name != OWN, name))


def _is_complete(of_system: tuple[dict[str, str], ...]) -> bool:
    combinations = {tuple(sorted(of_run.items())) for of_run in of_system}
    numbers = [len({of_run[name] for of_run in of_system}) for name in of_system[0]]
    return len(combinations) == len(of_system) == np.prod(numbers)


def _table(matrix: Matrix, runs: Floats) -> Floats:
    if matrix.quotient is not None:
        parts = replace(matrix, statistics=runs, runs=None, resampled=None).parts
        return np.asarray(matrix.scale * linearize(*parts, np.mean))
    n_units, n_runs, _ = runs.shape
    sums = runs.sum(axis=0).mean(axis=0)
    without = np.stack([additive(matrix).score(sums - of_run / n_runs) for of_run in np.moveaxis(runs, 1, 0)], axis=1)
    moved = -without * (n_units * n_runs)
    return np.asarray(moved - moved.mean())


def find_critical_difference(variances: Floats, degrees: Floats, level: float) -> Floats:
    """Return the smallest difference of each pair that is significant, two-sided.

    The squared standard error is a sum over several sources of error, such as items and runs. Each source has a
    contribution V, and a quantile t of Student's distribution with its own degrees of freedom. The square of the result
    is the sum of t^2 V (Banerjee 1961). The error rate is at most the level.

    One common Satterthwaite estimate of the degrees of freedom for all sources together rejects too often: in 12.5 % of
    cases at 5 % if the two runs of one system contribute most of the variance (docs/significance.md).

    Args:
        variances: Contribution of every source to the squared error, [pairs, sources].
        degrees: Degrees of freedom of these contributions, [pairs, sources].
        level: Significance level, between 0 and 1.

    Returns:
        Differences, [pairs].
    """
    # Why the error rate is at most the level for sources of any size: a chi-squared variable with one degree of freedom
    # exceeds x with a probability that is convex in x. So the difference exceeds the sum at most as often as the
    # sources, weighted by their shares of the variance, exceed their own quantiles. The estimates need not be
    # independent.
    return _reach(variances, degrees, np.full(len(variances), math.log(level)))


def compute_log_p(difference: Floats, variances: Floats, degrees: Floats, alternative: Alternative) -> Floats:
    """Return the log p-values of differences with several sources of error, [pairs].

    A p-value is the smallest level at which the difference exceeds the critical difference of
    `find_critical_difference`. A two-sided p-value is at least e^-690. It is nan if the variance of a difference is 0
    or undefined.

    Args:
        difference: Differences, positive if system A is better, [pairs].
        variances: Contribution of every source to the squared error, [pairs, sources].
        degrees: Degrees of freedom of these contributions, [pairs, sources].
        alternative: Alternative hypothesis.
    """
    low, high = np.full(len(difference), _SMALLEST_LOG_P), np.zeros(len(difference))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = np.abs(difference) >= _reach(variances, degrees, middle)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    two_sided = np.where(difference == 0, 0.0, np.where(variances.sum(axis=1) > 0, high, np.nan))
    if alternative == "two-sided":
        return two_sided
    favoured = difference > 0 if alternative == "greater" else difference < 0
    return np.where(favoured, two_sided - math.log(2), np.log1p(-np.exp(two_sided) / 2))


def _reach(variances: Floats, degrees: Floats, log_level: Floats) -> Floats:
    from scipy.special import stdtrit

    with np.errstate(over="ignore"):
        squares = stdtrit(degrees, np.exp(log_level - math.log(2))[:, None])**2
        parts = np.multiply(squares, variances, where=variances > 0, out=np.zeros_like(squares))
        return np.asarray(np.sqrt(parts.sum(axis=1)))
