"""How often pairs without a difference become significant where draws end as `resamples = "auto"` ends them.

The null p-value of a pair is uniform; those far above the level never are significant and are left out.

    python -m tests.significance.resampling.auto_levels
"""

import numpy as np

from registry.manifest import DRAWS, MOST_DRAWS, PRECISION
from registry.significance.distributions import clopper_pearson
from registry.significance.resampling.exceedances import Stopping

FAR = 4  # times the level


def found(level, stopping, pairs, seed):
    """The share of such pairs that are significant over the level, its error, and how many draws a pair took."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0, FAR * level, pairs)
    extremes, draws = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
    again, resamples = np.arange(pairs), DRAWS
    while len(again):
        extremes[again] += rng.binomial(resamples - draws[again], p[again])
        draws[again] = resamples
        if resamples >= stopping.most:
            break
        low, high = clopper_pearson(extremes[again], draws[again])
        of = (extremes[again] + 1) / (draws[again] + 1)
        again = again[(low <= level) & (high > level) & stopping.are_imprecise(of, draws[again])]
        resamples = stopping.more_draws(resamples, float(((extremes[again] + 1) / (draws[again] + 1)).min(initial=1)))
    significant = (extremes + 1) / (draws + 1) <= level
    more = significant.astype(int) - (p <= level)  # than exact p-values find, which is the level
    return 1 + FAR * more.mean(), FAR * more.std() / pairs**0.5, draws.mean()


if __name__ == "__main__":
    for level in (0.05, 0.05 / 28, 0.05 / 450, 0.05 / 1128):
        for precision in (None, 0.05, PRECISION):
            share, error, draws = found(level, Stopping(MOST_DRAWS, precision), 400_000, 1)
            print(f"level {level:.3g}, precision {precision}: {share:.4f} +- {error:.4f} of it, {draws:,.0f} draws")
