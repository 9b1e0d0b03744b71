"""N-best curves and Fisher's tests of many systems on many candidates."""

import numpy as np

from registry.metrics.sets import order_ties
from registry.studies.ranking import Ranked, evaluate
from tests.benchmarks.figures import Figure, seconds

SYSTEMS, CANDIDATES, CUT_OFFS = 10, 100_000, 100


def run():
    """Systems that differ in their noise; the lists reach half of the candidates, so regions are large."""
    rng = np.random.default_rng(2004)
    worth = rng.normal(size=CANDIDATES)
    right = worth + rng.normal(size=CANDIDATES) > 1.5
    noise = np.linspace(0.5, 0.8, SYSTEMS) * rng.normal(size=(CANDIDATES, SYSTEMS))
    grid = np.arange(1, CUT_OFFS + 1) * (CANDIDATES // 2 // CUT_OFFS)

    def curves():
        order = order_ties(0, ((str(n), "true", "") for n in range(CANDIDATES)))
        found = evaluate(Ranked(tuple(map(str, range(SYSTEMS))), right, worth[:, None] + noise, order), grid)
        assert sum(len(contest.n) for contest in found.contests) == 4500

    took = seconds(curves)
    return [Figure("n-best curves of 10 x 100,000 at 100 cut-offs, with 4,500 Fisher tests", f"{took:.2f} s", "< 10 s",
                   took < 10)]
