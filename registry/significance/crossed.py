"""Test sets that are crossed with runs: the parts of items and runs in the error of a difference.

`cross_runs` arranges the replicates of a system by unit and factor. `CrossedPair` splits the error of a difference into
sources of variation, and `find_critical_difference` and `compute_log_p` test the difference against them. Units and
shared factors, such as prompts, cross the two systems, which are compared within each level; levels of other factors,
such as seeds, are each system's own.
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

OWN = "run"  # the factor whose levels are each system's own; other factors cross the systems
_SMALLEST_LOG_P = -690.0  # smaller p-values are reported as this one
_HALVINGS = 55
_FAR, _APART = 0.01, 6.0  # chance among all systems and levels; standard errors of the system's other levels

Axes = tuple[int, ...]  # of a table, in order: 0 are the units


@dataclass(frozen=True)
class Source:
    """One source of the error of a difference.

    Attributes:
        axes: The factors whose interaction it is; (0,) are the units.
        side: The system (0 or 1) that has these levels; None if both systems share them.
        squared: Its part of the squared standard error.
        degrees: The degrees of freedom of that estimate.
    """

    axes: Axes
    side: int | None
    squared: float
    degrees: int


class CrossedPair:
    """Tables of two systems, [units, levels, ...], whose errors are split into sources.

    Let v(T) be the part of the interaction of the factors T in the squared error. Average the table over all factors
    outside G: the mean square of the interaction of G, over its number of cells, has the expectation

        w(G) = sum of v(T) over all T that contain G

    if every combination of levels occurs once (Cornfield and Tukey 1956). So sums and differences of w estimate v
    without bias and without an assumption of normality.

    Attributes:
        tables: One table for each system.
        shared: Of the units and of every factor, whether both systems have the same levels.
    """

    def __init__(self, tables: tuple[Floats, Floats], shared: Sequence[bool]) -> None:
        self.tables = tables
        self.shared = (True, *shared)

    @property
    def axes(self) -> Axes:
        """The units and all factors."""
        return tuple(range(len(self.shared)))

    def estimate(self, axes: Axes) -> list[tuple[int | None, float, int]]:
        """Return the terms of w(axes) as (side, value, degrees); one term if all axes are shared, else one per side."""
        if all(self.shared[axis] for axis in axes):
            a, b = (_average(table, axes) for table in self.tables)
            return [(None, *_interaction(a - b))]
        return [(side, *_interaction(_average(table, axes))) for side, table in enumerate(self.tables)]

    def components(self) -> Iterator[Source]:
        """Yield v of each set of factors, for each side if the systems do not share them; v can be negative."""
        terms = {axes: self.estimate(axes) for axes in _subsets(self.axes)}
        for axes, mean_square in terms.items():
            for side, _, degrees in mean_square:
                added = [(-1) ** (len(more) - len(axes)) * term for more, estimates in terms.items()
                         if set(more) >= set(axes) for own_side, term, _ in estimates if side in (None, own_side)]
                squared = sum(added)
                is_rounding = abs(squared) <= ROUNDING * sum(map(abs, added))
                yield Source(axes, side, 0.0 if is_rounding else squared, degrees)

    def bounds(self, over: Iterable[int]) -> list[Source]:
        """Return sources whose sum is at least the squared error when the axes `over` are random.

        A factor counts with all its interactions, because its few degrees of freedom hold for all of them together. The
        rest of the units counts by itself. Interactions of two factors count twice. The sum is at least the part of the
        units when nothing else is random.
        """
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
    """Yield all subsets except the empty one."""
    for n in range(1, len(axes) + 1):
        yield from combinations(axes, n)


def _average(table: Floats, kept_axes: Axes) -> Floats:
    return np.asarray(table.mean(axis=tuple(axis for axis in range(table.ndim) if axis not in kept_axes)))


def _interaction(table: Floats) -> tuple[float, int]:
    """Return the mean square of the interaction of all axes over the table's size, and its degrees of freedom."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    degrees = int(np.prod([size - 1 for size in table.shape]))
    return (float(np.vdot(table, table)) / degrees / table.size if degrees else np.nan), degrees


@dataclass(frozen=True, eq=False)
class Crossing:
    """Replicates of all systems as tables by unit and factor.

    Scores are linearized: a score is the mean of its table up to a constant. So estimates for means also hold for
    F-scores and BLEU.

    Attributes:
        names: Of the axes: `items`, then the factors in the plural, such as `runs` and `prompts`.
        shared: Of every factor, whether the levels are the same for all systems.
        tables: Deviation of each system's score in each cell, [units, levels of a factor, ...], with mean 0.
    """

    names: tuple[str, ...]
    shared: tuple[bool, ...]
    tables: list[Floats]

    def pair(self, a: int, b: int | None) -> CrossedPair:
        """Return the tables of two systems; None is a score that never varies."""
        table = self.tables[a]
        return CrossedPair((table, np.zeros_like(table) if b is None else self.tables[b]), self.shared)

    def bounds(self, pairs: Iterable[tuple[int, int | None]], over: str) -> tuple[Floats, Floats]:
        """Return `CrossedPair.bounds` as parts of squared errors and degrees of freedom, [pairs, sources] each."""
        bounds = [self.pair(a, b).bounds(self.axes(over)) for a, b in pairs]
        return (np.array([[source.squared for source in sources] for sources in bounds]),
                np.array([[source.degrees for source in sources] for sources in bounds], dtype=np.float64))

    def axes(self, over: str) -> Axes:
        """Return the random axes of a conclusion `over` the axis of that name, or over `all` axes."""
        return tuple(range(len(self.names))) if over == "all" else (self.names.index(over),)


def explain_crossing_refusal(matrix: Matrix) -> Message | None:
    """Return why runs cannot be crossed by their factors, or None if they can.

    Every factor needs two levels or more, every combination occurs once, and systems share the levels of all factors
    except their own runs.
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
    """Arrange the runs of systems by unit and factor.

    If the score F is a quotient of sums of n and d, a cell deviates by (n - F d) over the mean of d; otherwise by the
    jackknife's pseudo-value, from the score without the cell. Undefined deviations are nan.

    Args:
        matrix: By unit, with the runs of its systems; `explain_crossing_refusal` returns None for it.
    """
    assert matrix.runs is not None
    factors, tables = _factors(matrix), [_table(matrix, runs) for runs in matrix.runs]
    for system, runs in enumerate(matrix.factors or ()):
        order = sorted(range(len(runs)), key=lambda n: [runs[n][factor] for factor in factors])
        levels = (len({run[name] for run in runs}) for name in factors)
        tables[system] = tables[system][:, order].reshape(-1, *levels)
    return Crossing(name_axes(matrix), tuple(name != OWN for name in factors), tables)


def name_axes(matrix: Matrix) -> tuple[str, ...]:
    """Return the names of the tables' axes; see `Crossing`."""
    return "items", *(f"{name}s" for name in _factors(matrix))


def count_levels(matrix: Matrix) -> Iterator[int]:
    """Yield the number of levels of every factor of every system."""
    if matrix.factors is None:
        yield from (of_system.shape[1] for of_system in matrix.runs or ())
        return
    for factor in _factors(matrix):
        yield from (len({of_run[factor] for of_run in of_system}) for of_system in matrix.factors)


def _factors(matrix: Matrix) -> list[str]:
    """Return the factors that distinguish runs: `run` without declared factors."""
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
    """Return the smallest significant difference of each pair, two-sided at a level, [pairs].

    Its square is the sum of t^2 V over the sources. V is the part of a source in the squared standard error, and t the
    quantile of Student's distribution with the degrees of freedom of V (Banerjee 1961). The level is kept however large
    each source is, if each V is estimated by itself. A chi-squared variable with one degree of freedom exceeds x with a
    probability that is convex in x. So the difference exceeds the sum at most as often as the sources, weighted by
    their shares of the variance, exceed their own quantiles. The estimates need not be independent of each other.
    Satterthwaite's degrees of freedom of all sources together reject too often: in 12.5 % at 5 % if the two runs of one
    system make up most of the variance (docs/significance.md).

    Args:
        variances: Part of every source in the squared error, [pairs, sources].
        degrees: Their degrees of freedom, [pairs, sources].
        level: Between 0 and 1.
    """
    return _reach(variances, degrees, np.full(len(variances), math.log(level)))


def compute_log_p(difference: Floats, variances: Floats, degrees: Floats, alternative: Alternative) -> Floats:
    """Return log p-values: the smallest levels at which differences are significant, [pairs].

    A two-sided p-value is not below e^-690. It is nan if a difference has no variance, or an undefined one.

    Args:
        difference: [pairs], positive if A is better.
        variances: Part of every source in the squared error, [pairs, sources].
        degrees: Their degrees of freedom, [pairs, sources].
        alternative: The alternative hypothesis.
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
