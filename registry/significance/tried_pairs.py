"""How the p-values of many pairs come about, seen from a few of them that are tested."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from registry.parallel.execution import Execution
from registry.significance.base import Method, Observed, Settings
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest

_SYSTEMS, _PAIRS = 8, 4  # that are looked at
_LONG = 2**28  # additions from which on a pair takes so long that one tells of all


@dataclass(frozen=True)
class TriedPairs:
    """What a few pairs of a matrix show of all.

    Attributes:
        methods: How many of them came about how; `monte-carlo` are drawn.
        work: Additions that each takes in the mean, if it is not drawn.
    """

    methods: Counter[Method]
    work: float

    def of_method(self, method: Method, pairs: int) -> int:
        """Return how many of so many pairs will come about by a method."""
        return round(pairs * self.methods[method] / self.methods.total())


def few_systems(systems: int) -> list[int]:
    """Choose some of so many systems, from the first to the last."""
    return sorted({round(n) for n in np.linspace(0, systems - 1, _SYSTEMS).tolist()})


def try_pairs(test: PairTest, matrix: Matrix, settings: Settings) -> TriedPairs:
    """Test a few pairs with one draw each; of those that take long, one stands for all.

    Args:
        test: One that fits the matrix.
        matrix: Of a few of the systems (`few_systems`), two at least.
        settings: What the test is asked for.
    """
    matrix = matrix.by_unit
    pairs = list(combinations(range(matrix.statistics.shape[1]), 2))
    some = [pairs[round(n)] for n in np.linspace(0, len(pairs) - 1, min(_PAIRS, len(pairs))).tolist()]
    work = {observed.pair: test.work(observed, settings) for observed in Observed.of(matrix, some)}
    long = [pair for pair in some if _LONG < work[pair] < math.inf]
    short = [pair for pair in some if pair not in long]
    one_draw = replace(settings, resamples=1, execution=Execution(workers=1))
    methods = Counter[Method]()
    for tested, times in ((short, 1), (long[:1], len(long))):
        for result in test.run(replace(matrix), tested, one_draw) if tested else ():
            methods[result.method] += times
    computed = [additions for additions in work.values() if additions < math.inf]
    return TriedPairs(methods, sum(computed) / max(1, len(computed)))
