"""Systems that were judged on items of their own, of which the one with fewer items has scores that vary more.

Student's test of two samples gives both a common variance, and the rank-sum test takes all items for draws from one
distribution. Where the smaller sample varies more, both take the difference for surer than it is, however many items
there are: with n and m items its variance is v / n + w / m, and of a common variance the mean of v and w, weighted by
n and m, times 1 / n + 1 / m (rows `own-items-*` of docs/validity.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from registry.significance.cautions.weak_null import LEAST_RATIO, Caution, Systems
from registry.significance.matrix import Floats, Matrix, additive

_CHANCE = 0.1  # how seldom scores that vary alike seem so unlike

UNEVEN_SAMPLES = ("the system with fewer items has scores that vary more, so the error of the difference is "
                  "understated: take two-sample-t(pooled=false), or as many items of each")


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
    yield Caution(np.array([_is_understated(scores[one], scores[other], squared_errors)
                            for one, other in zip(a.tolist(), b.tolist(), strict=True)], dtype=bool), UNEVEN_SAMPLES)


def _is_understated(x: Floats, y: Floats, squared_errors: Callable[[Floats, Floats], tuple[float, float]]) -> bool:
    from scipy.special import fdtrc

    few, many = sorted((x, y), key=len)
    if not 1 < len(few) < len(many):
        return False
    taken, true = squared_errors(x, y)
    variances = [float(of.var(ddof=1)) for of in (few, many)]
    by_chance = fdtrc(len(few) - 1, len(many) - 1, variances[0] / variances[1]) if variances[1] else 0.0
    return bool(taken < LEAST_RATIO**2 * true and by_chance < _CHANCE)
