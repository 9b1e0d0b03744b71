"""Which systems may be the best, and which ranks every system may have: simultaneous statements from joint resamples.

Both rest on the scores of all systems in the same resamples (`resampled_scores`), each less the observed one: by as
much as resampled scores err, observed ones may. Differences are taken in units of their standard deviation, as raw
ones would let the noisiest pair set the bar for all others. A difference that is the same in every resample, unless
it is 0, tells nothing (see `Bootstrap`), and an undefined resample counts as extreme.
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
        low, high: [systems]; bounds of the score less the best score among the other systems, positive where the
            system is better. Constrained to reach 0: a system is the best by at least 0 or worse by at most 0, and
            [0, high] says that it is the best, [low, 0] that it is not better than the best of the others.
        possible: [systems]; whether the system may be the best one. The best one is among them at level 1 - alpha.
    """

    low: Floats
    high: Floats
    possible: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """The ranks that every system may have, simultaneously at level 1 - alpha; the best has rank 1.

    Attributes:
        low, high: [systems]; 1 + the systems that are better for sure, and n - those that are worse.
        wins: [systems, systems]; `wins[a, b]` says that a is better than b for sure, as `rank` takes it.
    """

    low: Ints
    high: Ints
    wins: NDArray[np.bool_]


def compare_with_best(scores: Floats, resampled: Floats, *, alpha: float = 0.05,
                      lower_is_better: bool = False) -> Best:
    """Compare every system with the best of the others (Hsu 1984; Hsu 1996, chapter 4: constrained intervals).

    Every system in its turn is taken for the best, with one-sided simultaneous bounds for what the others lack. The
    true best is one of them, and keeps its bounds at level 1 - alpha: which one it is needs no correction. With two
    systems these are the two one-sided intervals of the bootstrap that is dual to its test, stretched to 0.

    A system without a score is left out of the comparison of the others; its own bounds are nan, and as nothing speaks
    against it, it may be the best. A single system with a score has no bounds either.

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
        most = errors.gains + margins
        np.fill_diagonal(most, np.inf)
        upper = most.min(axis=1)
        may_be = upper >= -errors.tolerance
        least = np.where(may_be, errors.gains - margins.T, np.inf)
        np.fill_diagonal(least, np.inf)
        low[chosen], high[chosen] = np.minimum(least.min(axis=1), 0), np.maximum(upper, 0)
        possible[chosen] = may_be
    return Best(low, high, possible)


def rank_intervals(scores: Floats, resampled: Floats, *, alpha: float = 0.05,
                   lower_is_better: bool = False) -> RankIntervals:
    """Bound the ranks of all systems at once (Mogstad, Romano, Shaikh and Wilhelm 2024; Al Mohamad et al. 2022).

    All hypotheses that one system is not better than another, in both directions, are tested step-down by the largest
    studentized difference (Romano and Wolf 2005). Both directions stay in the family when one is rejected, so that the
    direction of a difference is as safe as its being there.

    A system without a score neither wins nor loses: its interval is [1, n], and the others leave it its place.

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
    """By how much resampled differences err, for all pairs of the chosen systems, which have a score.

    `gains` are the observed differences and `deviations` the standard deviations [chosen, chosen]: about 0, so that
    they are the same in both directions, and infinite where a difference never varies.
    """

    def __init__(self, scores: Floats, resampled: Floats, chosen: Ints, *, lower_is_better: bool) -> None:
        self.resampled, self.chosen, self.sign = resampled, chosen, -1.0 if lower_is_better else 1.0
        self.gains = self.sign * (scores[chosen, None] - scores[chosen])
        self.tolerance = TOLERANCE * float(np.abs(scores[chosen]).max())
        self.deviations = np.full(self.gains.shape, np.inf)
        for a, b in combinations(range(len(chosen)), 2):
            error = self._error(a, b)
            error = error[~np.isnan(error)]
            if (np.abs(error) > self.tolerance).any():
                self.deviations[a, b] = self.deviations[b, a] = np.sqrt(np.square(error).mean())
        self.varies = np.isfinite(self.deviations)
        self.is_equal = ~self.varies & (np.abs(self.gains) <= self.tolerance)

    @property
    def statistics(self) -> Floats:
        """The observed gains in standard deviations; no evidence at all where a difference never varies."""
        return np.where(self.varies | self.is_equal, self.gains / self.deviations, -np.inf)

    def drawn(self, a: int, b: int) -> Floats:
        """By how many standard deviations a gains on b in every resample by chance; undefined is infinite."""
        error = self._error(a, b)
        return np.where(np.isnan(error), np.inf, error / self.deviations[a, b])

    def margins(self, best: int, alpha: float) -> Floats:
        """By how much the one taken for the best may be better than it looks, next to each other system, [chosen].

        In all but alpha of the resamples none of the others gains more on it, the observed one counted as one of the
        resamples: as the test counts, (c + 1) / (R + 1).
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
        error: Floats = self.sign * ahead - self.gains[a, b]
        return error
