"""Systems that were judged on items of their own, of which one has scores that vary more.

Student's test of two samples gives both a common variance, and the rank-sum test takes all items for draws from one
distribution. Where the smaller sample varies more, both take the difference for surer than it is, however many items
there are: with n and m items its variance is v / n + w / m, and of a common variance the mean of v and w, weighted by
n and m, times 1 / n + 1 / m (rows `own-items-*` of docs/validity.md). Where there are about as many of each that is the
same, and ranks still vary more than those of one distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from registry.arrays import Floats
from registry.significance.cautions.weak_null import LEAST_RATIO, Caution, Systems
from registry.significance.matrix import Matrix, additive

_CHANCE = 0.1  # how seldom scores that vary alike seem so unlike

UNEVEN_SAMPLES = ("the system with fewer items has scores that vary more, so the error of the difference is "
                  "understated: take two-sample-t(pooled=false), or as many items of each")
UNLIKE_SAMPLES = ("the scores of one system vary more than those of the other, so ranks understate the error of the "
                  "difference: take two-sample-t(pooled=false)")


def uneven_samples(matrix: Matrix, a: Systems, b: Systems,
                   squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> Iterator[Caution]:
    """The pairs whose test takes their difference for surer than it is; none where all systems have the same items.

    Args:
        matrix: By unit.
        a: The first systems of the pairs, [pairs].
        b: The second systems, [pairs].
        squared_errors: Of a difference, that which the test takes for granted and the one without a common variance,
            from the scores of either system's units.
    """
    if not matrix.unequal:
        return
    scores = [of[~np.isnan(of)] for of in additive(matrix).unit_scores().T]
    pairs = [(scores[one], scores[other]) for one, other in zip(a.tolist(), b.tolist(), strict=True)]
    understated = np.array([_is_understated(*pair, squared_errors) for pair in pairs], dtype=bool)
    fewer = np.array([len(x) != len(y) and (len(x) < len(y)) == (x.std() > y.std()) for x, y in pairs], dtype=bool)
    yield Caution(understated & fewer, UNEVEN_SAMPLES)
    yield Caution(understated & ~fewer, UNLIKE_SAMPLES)


def _is_understated(x: Floats, y: Floats, squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> bool:
    from scipy.special import fdtrc

    if min(len(x), len(y)) < 2 or len(np.unique(np.concatenate([x, y]))) <= 2:  # equal rates vary alike
        return False
    taken, true = squared_errors(x, y)
    (more, wide), (less, narrow) = sorted(((float(of.var(ddof=1)), len(of)) for of in (x, y)), reverse=True)
    by_chance = fdtrc(wide - 1, narrow - 1, more / less) if less else 0.0
    return bool(taken < LEAST_RATIO**2 * true and by_chance < _CHANCE)
