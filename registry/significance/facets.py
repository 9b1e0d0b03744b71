"""Comparison of a difference in a facet with the difference in the rest of the items.

A facet is the items with one value of an attribute, such as one genre. A contrast is the difference of two systems in
the facet minus their difference in all other items. The intervals of all contrasts hold simultaneously: the critical
value is a quantile of the largest studentised error of any contrast in bootstrap resamples. To first order, a resample
changes a contrast by the influences of its units (`intervals.influences`), so one resample yields all contrasts.

Units are resampled within facets if every unit is in one facet. If a cluster has items of several facets, whole
clusters are resampled from the test set, because their contributions to the facets are dependent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.significance.base import Observed, Pairs, Settings
from registry.significance.diagnostics.exchangeability import compute_effective_units
from registry.significance.intervals import influences
from registry.significance.margins import MIN_DISCORDANT, MIN_UNITS
from registry.significance.matrix import Matrix
from registry.significance.resampling.draws import blocks, draw_counts, group_by_stratum

_CONSTANT = 1e-12  # standard error relative to the sum of all scores: below it, a contrast does not vary
_VARIES = 1e-10  # squared error in a resample, relative to the observed one; below it, the resample has no error
_CELLS = 2**22  # numbers of a block of resamples


@dataclass(frozen=True, eq=False)
class FacetContrasts:
    """Differences of pairs of systems in every facet and in the rest of the items.

    Differences are positive if the first system is better. A contrast is the difference in the facet minus the
    difference in the rest.

    Attributes:
        units: Number of units with items in the facet, [facets].
        effective: Effective sample size of the facet, [facets].
        inside, outside: Differences in the facet, and in the rest, [facets, pairs].
        errors: Standard errors of the contrasts, [facets, pairs].
        low, high: Simultaneous confidence interval of the contrast, [facets, pairs]; nan if there is none.
        p_values: P-values of the contrasts, adjusted for their number, [facets, pairs]; nan without an interval.
        reasons: Why a contrast has no interval; empty if it has one, [facets][pairs].
    """

    units: Ints
    effective: Floats
    inside: Floats
    outside: Floats
    errors: Floats
    low: Floats
    high: Floats
    p_values: Floats
    reasons: list[list[str]]


def compare_facets(matrix: Matrix, members: Flags, pairs: Pairs, settings: Settings) -> FacetContrasts:
    """Compare the differences of pairs of systems in each facet with those in the rest.

    A contrast has no interval if the facet or the rest has an effective sample size below 50, or fewer than 10 units in
    which the systems differ.

    Args:
        matrix: Statistics of all systems, one row per item; `units` has the clusters.
        members: Whether an item is in a facet, [facets, items]. No facet is empty or has all items.
        pairs: Indices of the two systems of each pair.
        settings: Number of resamples, seed, confidence and execution.
    """
    parts = [_Part.select(matrix, chosen, pairs) for flags in members for chosen in (flags, ~flags)]
    facets, rests = parts[::2], parts[1::2]
    inside, outside = (np.stack([part.differences for part in side]) for side in (facets, rests))
    values = np.stack([facet.influences - rest.influences for facet, rest in zip(facets, rests, strict=True)], axis=1)
    sizes = np.stack([facet.sizes + rest.sizes for facet, rest in zip(facets, rests, strict=True)])
    effective = np.array([facet.effective for facet in facets])
    strata = _number_strata(matrix, members, effective)
    values = values.reshape(len(values), -1)
    squares = _sum_squares(values, strata)
    errors = np.sqrt(squares).reshape(inside.shape)
    reasons = [[_explain_refusal(facet, rest, pair) or ("" if varies else "the difference is the same in all units")
                for pair, varies in enumerate(varying)]
               for facet, rest, varying in zip(facets, rests, errors > _CONSTANT * sizes, strict=True)]
    tested = np.array([[not reason for reason in row] for row in reasons])
    low, high, p_values = np.full((3, *inside.shape), np.nan)
    if tested.any():
        work = partial(_simulate_maxima, values[:, tested.ravel()], strata, squares[tested.ravel()], settings.seed)
        maxima = np.sort(np.concatenate(list(settings.execution.local.map(work, blocks(settings.resamples)))))
        n, tested_errors = len(maxima), errors[tested]
        quantile = maxima[min(n, int(np.ceil(settings.confidence * (n + 1)))) - 1]
        difference = (inside - outside)[tested]
        low[tested], high[tested] = difference - quantile * tested_errors, difference + quantile * tested_errors
        n_as_large = n - np.searchsorted(maxima, np.abs(difference) / tested_errors, side="left")
        p_values[tested] = (1 + n_as_large) / (n + 1)
    return FacetContrasts(np.array([facet.matrix.n_units for facet in facets]), effective, inside, outside, errors,
                          low, high, p_values, reasons)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some items of a test set, such as a facet.

    Attributes:
        matrix: Statistics of these items, in the form of `Matrix.by_unit`.
        effective: Effective sample size.
        differences: Differences of the pairs of systems, [pairs].
        sizes: Sums of the absolute scores of both systems, [pairs].
        discordant: Number of units in which the two systems differ, [pairs].
        influences: Influence of every unit of the test set on the differences, [units, pairs]; 0 for units without
            items in this part.
    """

    matrix: Matrix
    effective: float
    differences: Floats
    sizes: Floats
    discordant: Ints
    influences: Floats

    @classmethod
    def select(cls, matrix: Matrix, chosen: Flags, pairs: Pairs) -> _Part:
        items = np.flatnonzero(chosen)
        units = items if matrix.units is None else np.unique(matrix.units[items])
        part = matrix.select_items(items).by_unit
        observed = Observed.compare(part, pairs)
        moved = influences(part)
        spread = np.zeros((matrix.n_units, len(observed)))
        spread[units] = part.difference(moved[:, observed.a], moved[:, observed.b])
        scores = np.abs(part.observed)
        return cls(part, float(compute_effective_units(part)), observed.difference,
                   scores[observed.a] + scores[observed.b], observed.n_discordant, spread)


def _explain_refusal(facet: _Part, rest: _Part, pair: int) -> str:
    for name, part in (("the facet", facet), ("the rest", rest)):
        if not part.effective >= MIN_UNITS:
            return f"the effective sample size of {name} is {part.effective:.1f}, below {MIN_UNITS}"
        if not (np.isfinite(part.differences[pair]) and np.isfinite(part.influences[:, pair]).all()):
            return f"a score is undefined in {name}"
        if part.discordant[pair] < MIN_DISCORDANT:
            return f"the systems differ in fewer than {MIN_DISCORDANT} units of {name}"
    return ""


def _number_strata(matrix: Matrix, members: Flags, effective: Floats) -> Ints | None:
    """Return the stratum of every unit: its facet; None if some unit is in several facets or in none.

    Small facets join the stratum of the largest one, because a stratum of a few units would hardly vary.
    """
    units = np.arange(len(matrix.statistics)) if matrix.units is None else matrix.units
    belongs = np.zeros((len(members), matrix.n_units), dtype=bool)
    for facet, flags in zip(belongs, members, strict=True):
        facet[units[flags]] = True
    if (belongs.sum(axis=0) != 1).any():
        return None
    numbers = belongs.argmax(axis=0)
    small = np.flatnonzero(~(effective >= MIN_UNITS))
    numbers[np.isin(numbers, small)] = np.bincount(numbers).argmax()
    return np.unique(numbers, return_inverse=True)[1]


def _sum_squares(values: Floats, strata: Ints | None) -> Floats:
    """Return the squared standard errors of sums over units, about the mean of each stratum, [contrasts]."""
    squares = [np.square(values[units] - values[units].mean(axis=0)).sum(axis=0)
               for _, units in group_by_stratum(strata, len(values))]
    return np.asarray(np.sum(squares, axis=0))


def _simulate_maxima(values: Floats, strata: Ints | None, squares: Floats, seed: int,
                     numbered_block: tuple[int, int]) -> Floats:
    """Return the largest studentised error of all contrasts in each resample of a block.

    Args:
        values: Influences of the units on the contrasts, [units, contrasts].
        strata: Stratum of each unit, [units]; None: one stratum.
        squares: Squared standard errors of the contrasts, [contrasts].
        seed: Seed of the random numbers.
        numbered_block: Number of the block of resamples, and its number of resamples, as in `blocks`.
    """
    counts = draw_counts(strata, len(values), seed, numbered_block)
    maxima, step = np.zeros(len(counts)), max(1, _CELLS // max(values.shape))
    for start in range(0, len(counts), step):
        errors, squared = np.zeros((2, len(counts[start:start + step]), values.shape[1]))
        for _, units in group_by_stratum(strata, len(values)):
            weights = counts[start:start + step, units].astype(np.float64)
            centred = values[units] - values[units].mean(axis=0)
            sums = weights @ centred
            errors += sums
            squared += weights @ np.square(centred) - np.square(sums) / len(units)
        varies = squared > _VARIES * squares
        ratios = np.divide(np.abs(errors), np.sqrt(np.where(varies, squared, 1)), where=varies,
                           out=np.zeros_like(errors))
        maxima[start:start + step] = ratios.max(axis=1)
    return maxima
