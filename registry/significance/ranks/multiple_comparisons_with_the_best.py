"""Simultaneous statements from joint resamples: which systems may be the best, and which ranks each may have.

Both use the scores of all systems in the same resamples (`resampled_scores`), less the observed ones. Differences are
studentized by their standard deviations; with raw ones the noisiest pair would determine the bounds of all others. A
difference that is not 0 and the same in every resample is no evidence (see `Bootstrap`), and an undefined resample
counts as extreme.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from registry.significance.matrix import Floats
from registry.significance.multiple.stepdown import step_down
from registry.significance.resampling.exceedances import TOLERANCE

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Best:
    """Every system compared with the best of the others, simultaneously at level 1 - alpha.

    Attributes:
        low, high: [systems]; bounds of the difference to the best of the other systems, positive where the system is
            better. They are constrained to include 0: [0, high] means that the system is the best, and [low, 0] that it
            is not better than the best of the others.
        possible: [systems]; whether the system may be the best. The best system is among these at level 1 - alpha.
    """

    low: Floats
    high: Floats
    possible: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """The ranks that every system may have, simultaneously at level 1 - alpha; the best has rank 1.

    Attributes:
        low, high: [systems]; 1 + the number of significantly better systems, and n - that of significantly worse ones.
        wins: [systems, systems]; `wins[a, b]` says that a is significantly better than b, as `rank` takes it.
    """

    low: Ints
    high: Ints
    wins: NDArray[np.bool_]


def compare_with_best(scores: Floats, resampled: Floats, *, alpha: float = 0.05, lower_is_better: bool = False) -> Best:
    """Compare every system with the best of the others (Hsu 1984; Hsu 1996, chapter 4: constrained intervals).

    Every system in turn is taken for the best, with one-sided simultaneous bounds of its differences to the others. No
    correction is needed for which one is the best: the bounds of the true best hold at level 1 - alpha. For two systems
    they are the two one-sided intervals that are dual to the bootstrap's test, extended to 0.

    A system without a score is left out of the other systems' comparisons; its own bounds are nan, and it may be the
    best. A single system with a score has no bounds either.

    Args:
        scores: [systems]; nan where undefined.
        resampled: [resamples, systems], all systems in the same resamples; nan where undefined.
        alpha: 1 - the level, below 1/2.
        lower_is_better: The direction of the scores.
    """
    low, high = np.full(len(scores), np.nan), np.full(len(scores), np.nan)
    possible = np.ones(len(scores), dtype=bool)
    chosen = np.flatnonzero(~np.isnan(scores))
    if len(chosen) > 1:
        errors = _Errors(scores, resampled, chosen, lower_is_better=lower_is_better)
        margins = np.array([errors.margins(i, alpha) for i in range(len(chosen))])  # [taken for the best, other]
        most = errors.differences + margins
        np.fill_diagonal(most, np.inf)
        upper = most.min(axis=1)
        may_be = upper >= -errors.tolerance
        least = np.where(may_be, errors.differences - margins.T, np.inf)
        np.fill_diagonal(least, np.inf)
        low[chosen], high[chosen] = np.minimum(least.min(axis=1), 0), np.maximum(upper, 0)
        possible[chosen] = may_be
    return Best(low, high, possible)


def rank_intervals(scores: Floats, resampled: Floats, *, alpha: float = 0.05,
                   lower_is_better: bool = False) -> RankIntervals:
    """Bound the ranks of all systems at once (Mogstad, Romano, Shaikh and Wilhelm 2024; Al Mohamad et al. 2022).

    All one-sided hypotheses that a system is not better than another are tested step-down by the largest studentized
    difference (Romano and Wolf 2005). Both directions of a pair stay in the family when one is rejected, which controls
    errors of direction as well.

    A system without a score neither wins nor loses: its interval is [1, n], and a rank is left for it in the others'.

    Args:
        scores: [systems]; nan where undefined.
        resampled: [resamples, systems], all systems in the same resamples; nan where undefined.
        alpha: 1 - the level, below 1/2.
        lower_is_better: The direction of the scores.
    """
    n = len(scores)
    wins = np.zeros((n, n), dtype=bool)
    chosen = np.flatnonzero(~np.isnan(scores))
    if len(chosen) > 1:
        errors = _Errors(scores, resampled, chosen, lower_is_better=lower_is_better)
        better, worse = np.nonzero(~np.eye(len(chosen), dtype=bool))
        adjusted = step_down(
            errors.statistics[better, worse], lambda pair: errors.drawn(better[pair], worse[pair]), len(resampled),
            errors.tolerance / errors.deviations[better, worse])
        wins[chosen[better], chosen[worse]] = adjusted <= alpha
    return RankIntervals(1 + wins.sum(axis=0), n - wins.sum(axis=1), wins)


class _Errors:
    """The errors of resampled differences, for all pairs of the chosen systems, which have a score.

    Attributes:
        differences: The observed differences, [chosen, chosen].
        deviations: Their standard deviations about 0, [chosen, chosen], which are the same in both directions; infinite
            where a difference never varies.
    """

    def __init__(self, scores: Floats, resampled: Floats, chosen: Ints, *, lower_is_better: bool) -> None:
        self.resampled, self.chosen, self.sign = resampled, chosen, -1.0 if lower_is_better else 1.0
        self.differences = self.sign * (scores[chosen, None] - scores[chosen])
        self.tolerance = TOLERANCE * float(np.abs(scores[chosen]).max())
        self.deviations = np.full(self.differences.shape, np.inf)
        for a, b in combinations(range(len(chosen)), 2):
            error = self._error(a, b)
            error = error[~np.isnan(error)]
            if (np.abs(error) > self.tolerance).any():
                self.deviations[a, b] = self.deviations[b, a] = np.sqrt(np.square(error).mean())
        self.varies = np.isfinite(self.deviations)
        self.is_equal = ~self.varies & (np.abs(self.differences) <= self.tolerance)

    @property
    def statistics(self) -> Floats:
        """The observed differences in standard deviations; -inf where a difference that is not 0 never varies."""
        return np.where(self.varies | self.is_equal, self.differences / self.deviations, -np.inf)

    def drawn(self, a: int, b: int) -> Floats:
        """The error of the difference of a and b in every resample, in standard deviations; undefined is infinite."""
        error = self._error(a, b)
        return np.where(np.isnan(error), np.inf, error / self.deviations[a, b])

    def margins(self, best: int, alpha: float) -> Floats:
        """The one-sided simultaneous margins of error of the differences of the `best` to the others, [chosen].

        In a share of alpha of the resamples some error is larger; the observed difference counts as one more resample,
        as in the test's (c + 1) / (R + 1).
        """
        largest = np.full(len(self.resampled), -np.inf)
        for other in range(len(self.chosen)):
            if other != best:
                np.maximum(largest, self.drawn(other, best), out=largest)
        k = math.floor(alpha * (len(largest) + 1) * (1 + 1e-12))
        factor = math.inf if k < 1 else max(0.0, float(np.partition(largest, -k)[-k]))
        margins = np.where(self.is_equal[best], 0.0, np.inf)
        margins[self.varies[best]] = factor * self.deviations[best, self.varies[best]]
        return margins

    def _error(self, a: int, b: int) -> Floats:
        ahead = self.resampled[:, self.chosen[a]] - self.resampled[:, self.chosen[b]]
        return np.asarray(self.sign * ahead - self.differences[a, b])
