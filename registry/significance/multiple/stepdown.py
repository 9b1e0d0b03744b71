"""Step-down adjustment from joint draws, which has more power than Holm's correction where pairs are dependent.

All pairs share the draws. The most extreme pair is compared with the most extreme pair of each draw, the next one with
the most extreme of the others, and so on (Westfall and Young 1993, algorithm 2.8). Pairs are made comparable by their
p-values within the draws (`min_p`) or by their standard deviations (`max_t`); with raw differences the noisiest pair
would determine all p-values. Boards whose rows are the same units share the draws too, so that the pairs of several can
be one family.

The p-value of a single pair is as valid as its test. The adjustment also relies on the covariance of pairs that share
systems, which swaps and resamples reproduce in the limit of many units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints
from registry.parallel.execution import Execution
from registry.significance.base import Pair, Settings
from registry.significance.correlations import PairMatrix, swapped_differences, unswapped_difference
from registry.significance.matrix import Matrix, additive
from registry.significance.resampling.draws import swapped_sums
from registry.significance.resampling.exceedances import TOLERANCE, SwappedPairs, tolerances
from registry.significance.resampling.scores import resampled_scores

Places = Ints

STEP_DOWN = ("permutation", "bootstrap")  # the tests that have joint draws

_SINGLE = 1e-6  # relative to a statistic: what is kept in single precision may be equal when closer
_BEYOND = 1e30  # stands for an undefined difference, which is more extreme than any other
_VALUES = 2**17  # differences of resamples at once


@dataclass(frozen=True, eq=False)
class Draws:
    """The extremities of pairs, as observed and in joint draws under the null hypothesis.

    Attributes:
        observed: [pairs]; nan where undefined.
        blocks: [draws, pairs] each, `resamples` draws in all; undefined ones (nan) count as extreme.
        resamples: The number of draws.
        tolerance: [pairs]; extremities closer than this are tied.
        execution: The threads that rank the draws.
    """

    observed: Floats
    blocks: Iterable[Floats]
    resamples: int
    tolerance: Floats
    execution: Execution = field(default=Execution())


@dataclass(frozen=True, eq=False)
class StepDown:
    """P-values of pairs from joint draws, each a multiple of 1 / (R + 1); nan where the difference is undefined.

    Attributes:
        raw: [pairs], of each pair alone: (c + 1) / (R + 1).
        adjusted: [pairs], for the family; never below `raw`.
    """

    raw: Floats
    adjusted: Floats


def bytes_of_draws(n_pairs: int, resamples: int) -> int:
    """The memory that an adjustment takes: four bytes per pair and draw."""
    return 4 * n_pairs * (1 + resamples)


def draws_of(matrix: Matrix, pairs: Sequence[Pair], settings: Settings, kind: str, sides: Ints | None = None) -> Draws:
    """Draw the differences of all pairs under the null hypothesis, with the draws of the test called `kind`.

    A permutation swaps the same units in all pairs, and each pair only its own two systems. A bootstrap's differences
    are recentred by the observed one. Ties are those within the tests' tolerance; quotients are not compared as
    fractions, so different F-scores that are that close are tied as well.

    Args:
        matrix: The matrix of all systems.
        pairs: The pairs.
        settings: The settings of the draws.
        kind: The name of the test.
        sides: [pairs]; 1 if A is to be better, -1 if B is, 0 for two-sided. None: as `settings.alternative` says.
    """
    if sides is None:
        sides = np.full(len(pairs), {"two-sided": 0, "greater": 1, "less": -1}[settings.alternative])
    matrix = matrix.by_unit
    a, b = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    difference = matrix.difference(matrix.observed[a], matrix.observed[b])
    tolerance = np.nan_to_num(tolerances(matrix, a, b))
    if kind == "permutation" and isinstance(matrix, PairMatrix):
        difference = np.array([unswapped_difference(matrix, pair) for pair in pairs])
        tolerance = np.full(len(pairs), TOLERANCE)
        blocks = swapped_differences(matrix, pairs, settings, partial(_extremities, sides))
    elif kind == "permutation":
        swapped = partial(_swapped_extremities, SwappedPairs.of(additive(matrix), a, b), sides)
        blocks = swapped_sums(matrix.statistics, settings, swapped)
    else:
        blocks = _recentred(matrix, settings, a, b, difference, sides)
    return Draws(_extremities(sides, difference), blocks, settings.resamples, tolerance, settings.execution.here)


def min_p(*of_boards: Draws) -> StepDown:
    """Adjust by the smallest p-value of each draw (Westfall and Young 1993, algorithm 2.8).

    Of several boards, which have the same units, seed and number of draws, all pairs are one family, in their order.
    The p-values of a draw are by its rank among the R + 1 labellings, the observed one and the draws (Ge, Dudoit and
    Speed 2003); ties count. A pair with few possible differences, whose p-values cannot be small, does not raise the
    others' p-values. Adjusted p-values never exceed Holm's from the same draws.

    The p-value is nan where the difference is undefined, and where all draws are equal and less extreme than the
    observed difference; the pair then counts in the family as one that rejects nothing. The draws are used up.
    """
    kept, is_defined = _kept(of_boards)
    draws, tolerance = of_boards[0], np.concatenate([of.tolerance for of in of_boards])
    ranks = kept.view(np.int32)  # takes the place of what it is made from
    found = draws.execution.map(lambda n: _ranks(kept[n], float(tolerance[n])), range(len(kept)), "pairs to rank")
    for n, row in enumerate(found):
        ranks[n] = row
    adjusted = step_down(-ranks[:, 0].astype(np.float64), lambda n: -ranks[n, 1:], draws.resamples)
    return _defined(ranks[:, 0] / (1 + draws.resamples), adjusted, is_defined)


def max_t(*of_boards: Draws) -> StepDown:
    """Adjust by the largest extremity of each draw, in standard deviations (Westfall and Young 1993, algorithm 4.1).

    The standard deviation of a pair is that of its draws about 0, the same for every alternative. P-values are finer
    than those of `min_p` where R is small for the number of pairs, and less balanced where the draws of pairs differ in
    shape. Undefined differences and boards are as in `min_p`. The draws are used up.
    """
    kept, is_defined = _kept(of_boards)
    draws, allowed = of_boards[0], np.concatenate([of.tolerance for of in of_boards])
    centre = np.where(is_defined, np.concatenate([of.observed for of in of_boards]), 0)

    def drawn(n: int) -> Floats:
        return np.where(kept[n, 1:] == np.float32(_BEYOND), np.inf, kept[n, 1:] + centre[n])

    deviation = np.array([_deviation(drawn(n), tolerance) for n, tolerance in enumerate(allowed)])
    observed = np.where(is_defined, centre / deviation, -np.inf)
    adjusted = step_down(observed, lambda n: _per(drawn(n), deviation[n]), draws.resamples, _SINGLE * np.abs(observed))
    raw = (kept >= kept[:, :1]).sum(axis=1) / (1 + draws.resamples)
    return _defined(raw, adjusted, is_defined)


def step_down(observed: Floats, drawn: Callable[[int], NDArray[Any]], resamples: int,
              slack: Floats | float = 0.0) -> Floats:
    """Adjust p-values by successive maxima of comparable statistics.

    Args:
        observed: [hypotheses]; larger is more extreme.
        drawn: From a hypothesis to its statistics in joint draws under the null, [resamples].
        resamples: The number of draws; the observed statistics count as one more.
        slack: Draws that are less than the observed statistic by no more than this are ties.

    Returns:
        Adjusted p-values [hypotheses].
    """
    order = np.argsort(-observed, kind="stable")
    bars = observed - slack
    highest = np.full(resamples, -np.inf)
    adjusted = np.empty(len(observed))
    for n in order[::-1]:
        np.maximum(highest, drawn(n), out=highest)
        adjusted[n] = (1 + np.count_nonzero(highest >= bars[n])) / (1 + resamples)
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    return adjusted


def _extremities(sides: Ints, differences: Floats) -> Floats:
    """Return how extreme differences [..., pairs] are, each on its pair's side."""
    return np.where(sides, sides * differences, np.abs(differences)) if sides.any() else np.abs(differences)


def _swapped_extremities(of: SwappedPairs, sides: Ints, swapped: Floats) -> Floats:
    """The extremities [draws, pairs] of draws in which the sums [draws, systems, columns] change sides."""
    found = np.empty((len(swapped), len(of.a)))
    for pairs, _, _, differences in of.differences(swapped):
        found[:, pairs] = differences.T
    return _extremities(sides, found)


def _recentred(matrix: Matrix, settings: Settings, a: Places, b: Places, difference: Floats,
               sides: Ints) -> Iterator[Floats]:
    scores = resampled_scores(matrix, settings)
    some = max(1, _VALUES // max(1, len(a)))
    for at in range(0, len(scores), some):
        part = scores[at:at + some]
        yield _extremities(sides, matrix.difference(part[:, a], part[:, b]) - difference)


def _kept(of_boards: Sequence[Draws]) -> tuple[NDArray[np.float32], Flags]:
    """The excess of each labelling over the observed one, [pairs, 1 + resamples], and which pairs are defined, [pairs].

    The first labelling is the observed one. Single precision keeps the sign, and the order up to ties far from the
    observed value. An undefined observed difference is less extreme than all draws.
    """
    resamples = of_boards[0].resamples
    kept = np.empty((sum(len(draws.observed) for draws in of_boards), 1 + resamples), dtype=np.float32)
    first = 0
    for draws in of_boards:
        of_board = kept[first:(first := first + len(draws.observed))]
        bar = np.where(np.isnan(draws.observed), 0, draws.observed)
        at = 1
        for block in draws.blocks:
            excess = block - bar
            excess[np.abs(excess) <= draws.tolerance] = 0
            of_board[:, at:at + len(block)] = np.where(np.isnan(excess), _BEYOND, excess).T
            at += len(block)
        assert at == 1 + resamples
    is_defined, tolerance = (np.concatenate(parts) for parts in (
        [~np.isnan(draws.observed) for draws in of_boards], [draws.tolerance for draws in of_boards]))
    for n, row in enumerate(kept[:, 1:]):
        is_defined[n] &= not _is_one_point(row, float(tolerance[n]))
    kept[:, 0] = np.where(is_defined, 0, -_BEYOND)
    return kept, is_defined


def _is_one_point(excess: NDArray[np.float32], tolerance: float) -> bool:
    """Whether the defined draws are all equal and less extreme than the observed one, so that p has no meaning."""
    defined = excess < np.float32(_BEYOND)
    low = float(excess.min(where=defined, initial=_BEYOND))
    high = float(excess.max(where=defined, initial=-_BEYOND))
    return low <= high < 0 and high - low <= 2 * (tolerance + float(np.spacing(np.float32(-low))))


def _ranks(row: NDArray[np.float32], tolerance: float) -> NDArray[np.int32]:
    """How many labellings are at least as extreme as each one, ties and itself included."""
    order = np.argsort(row)
    values = row[order]
    apart = np.diff(values) > tolerance + np.spacing(np.abs(values[1:]))
    first = np.maximum.accumulate(np.concatenate([[0], np.where(apart, np.arange(1, len(row)), 0)]))
    ranks = np.empty(len(row), dtype=np.int32)
    ranks[order] = len(row) - first
    return ranks


def _deviation(drawn: Floats, tolerance: float) -> float:
    """The standard deviation of the defined draws about 0; infinite where all are 0, which ties all statistics."""
    defined = drawn[np.isfinite(drawn)]
    deviation = float(np.sqrt(np.square(defined).sum() / max(1, len(defined))))
    return deviation if deviation > tolerance else np.inf


def _per(drawn: Floats, deviation: float) -> Floats:
    return np.where(np.isinf(drawn), np.inf, 0.0) if np.isinf(deviation) else drawn / deviation


def _defined(raw: Floats, adjusted: Floats, is_defined: Flags) -> StepDown:
    return StepDown(np.where(is_defined, raw, np.nan), np.where(is_defined, adjusted, np.nan))
