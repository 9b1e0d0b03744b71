"""An estimate of the time that testing all pairs of many systems takes, from testing few of them.

A few pairs are tested, which shows how their p-values are computed. Draws are timed by the model
T = (c + a systems + b pairs) + R (d + e systems + f pairs), whose six coefficients follow from two numbers of draws and
three choices of systems and pairs. Of many units some are timed, and the time is scaled up. Where even a first, rough
time says that all will be done at once, nothing is timed more closely: that would take longer than the work itself.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from registry.parallel.execution import Execution
from registry.significance.base import Method, Observed, Pair, Settings
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest
from registry.significance.resampled_scores import sharing_resamples
from registry.significance.resampling.draws import BLOCK
from registry.significance.results import PairResults

_SYSTEMS, _PAIRS = 8, 4  # that are looked at
_LONG = 2**28  # additions from which on a pair takes so long that one tells of all
_BRIEF, _TIMES = 0.05, 50  # seconds up to which pairs are tested many times, and how many times at most
_AGAIN = 1.0  # seconds up to which pairs are timed twice
_AT_ONCE = 0.2  # seconds for a whole family, up to which a rough time will do
_UNITS = 2048
_DRAWS = (BLOCK, 5 * BLOCK)


class Coefficients(NamedTuple):
    """Seconds for all, for each system, and for each pair."""

    all: float
    system: float
    pair: float

    def of(self, systems: int, pairs: int) -> float:
        """The seconds of so many."""
        return self.all + systems * self.system + pairs * self.pair


_NOTHING = Coefficients(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Foresight:
    """What the pairs of a matrix will take.

    Attributes:
        methods: How many of the pairs that were looked at came about how; `monte-carlo` are drawn.
        each: Processor seconds to compute a pair, or to find that it must be drawn.
        once: What systems and drawn pairs take whatever the number of draws.
        per_draw: What each draw takes, of processor time.
    """

    methods: Counter[Method]
    each: float
    once: Coefficients
    per_draw: Coefficients

    def of_method(self, method: Method, pairs: int) -> int:
        """How many of so many pairs will come about so; drawn ones are `monte-carlo`."""
        return round(pairs * self.methods[method] / self.methods.total())

    def seconds(self, systems: int, pairs: int, resamples: int, threads: int) -> float:
        """How long so many systems and pairs will take, where each thread has a processor."""
        of = systems, self.of_method("monte-carlo", pairs)
        return self.once.of(*of) + (pairs * self.each + resamples * self.per_draw.of(*of)) / threads


def few_systems(systems: int) -> list[int]:
    """Which of so many systems are looked at: some from the first to the last."""
    return sorted({round(n) for n in np.linspace(0, systems - 1, _SYSTEMS).tolist()})


class Family(NamedTuple):
    """How many systems a comparison takes, and how many pairs of them."""

    systems: int
    pairs: int


def foresee(test: PairTest, matrix: Matrix, settings: Settings, family: Family) -> Foresight:
    """Foresee the test of many systems.

    Args:
        test: One that fits.
        matrix: Of a few of the systems (`few_systems`), two at least.
        settings: What the test is asked for.
        family: What will be tested.
    """
    matrix = matrix.by_unit
    pairs = list(combinations(range(matrix.statistics.shape[1]), 2))
    some = [pairs[round(n)] for n in np.linspace(0, len(pairs) - 1, min(_PAIRS, len(pairs))).tolist()]
    methods, each, begin = _tried(test, matrix, some, settings, family.pairs)
    once = per_draw = _NOTHING
    if methods["monte-carlo"] or test.draws_intervals:
        drawn = pairs if methods["monte-carlo"] else []
        if (rough := _rough_draw(test, matrix, drawn, settings, family)) is not None:
            per_draw = rough
        else:
            once, per_draw = _timed_draws(test, matrix, drawn, settings)
    begun = time.process_time()
    Observed.of(replace(matrix), some)
    looking = max(begin, time.process_time() - begun) / matrix.statistics.shape[1]
    return Foresight(methods, each, once._replace(system=once.system + looking), per_draw)


def _tried(test: PairTest, matrix: Matrix, pairs: Sequence[Pair], settings: Settings,
           all_pairs: int) -> tuple[Counter[Method], float, float]:
    """How pairs come about, how long each takes and what is done once for all of them, by trying.

    Of those that take long one stands for all. Where `all_pairs` are done at once, each gets its share of what is done
    once.
    """
    steps = {o.pair: test.work(o, settings) for o in Observed.of(matrix, pairs)}
    short, long_ = ([pair for pair in pairs if (_LONG < steps[pair] < math.inf) == is_long]
                    for is_long in (False, True))
    methods, taken, begin = Counter[Method](), 0.0, 0.0
    one_draw = replace(settings, resamples=1, execution=Execution(workers=1))
    for some, times in ((short, 1), (long_[:1], len(long_))):
        results, seconds = _timed(test, matrix, some, one_draw)
        rough = all_pairs < 2 * len(pairs) or seconds * times * all_pairs <= _AT_ONCE * len(pairs)
        if not rough and seconds < _AGAIN:  # what is done once, such as imports, is not counted
            results, seconds = _timed(test, matrix, some, one_draw)
        if any(result.method != "monte-carlo" or 0 < steps[pair] < math.inf
               for pair, result in zip(some, results, strict=True)):  # what is only drawn is timed by itself
            pairwise = seconds if rough or seconds > _BRIEF else _of_pairs(
                test, matrix, some, one_draw, seconds, min(_TIMES, all_pairs // len(pairs)))
            taken += pairwise * times
            begin = max(begin, seconds - pairwise)
        for result in results:
            methods[result.method] += times
    return methods, taken / len(pairs), begin


def _of_pairs(test: PairTest, matrix: Matrix, pairs: Sequence[Pair], settings: Settings, seconds: float,
              times: int) -> float:
    """The share of the time that grows with pairs: what is done once takes no time beside them, tested many times."""
    _, of_many = _timed(test, matrix, list(pairs) * times, settings)
    return min(seconds, max(0.0, of_many - seconds) / (times - 1))


def _timed(test: PairTest, matrix: Matrix, pairs: Sequence[Pair],
           settings: Settings) -> tuple[PairResults, float]:
    """Test pairs; give the processor seconds that it takes too."""
    fresh = replace(matrix)
    begun = time.process_time()
    results = test.run(fresh, pairs, settings)
    return results, time.process_time() - begun


def _rough_draw(test: PairTest, matrix: Matrix, pairs: Sequence[Pair], settings: Settings,
                family: Family) -> Coefficients | None:
    """The most that a draw for the whole family takes, where all draws of it are made at once; else None."""
    matrix, larger = _to_draw(test, matrix)
    taken = larger * _once(test, matrix, pairs, replace(
        settings, resamples=_DRAWS[0], execution=Execution(workers=1)))
    share = max(family.systems / matrix.statistics.shape[1], family.pairs / max(1, len(pairs)))
    blocks = max(1.0, settings.resamples / _DRAWS[0])
    return Coefficients(taken * share / _DRAWS[0], 0.0, 0.0) if taken * share * blocks <= _AT_ONCE else None


def _timed_draws(test: PairTest, matrix: Matrix, pairs: Sequence[Pair],
                 settings: Settings) -> tuple[Coefficients, Coefficients]:
    """The coefficients, none below 0, of what does not depend on the number of draws, and of a draw."""
    from scipy.optimize import nnls

    matrix, larger = _to_draw(test, matrix)
    systems = matrix.statistics.shape[1]
    chain = [(n, n + 1) for n in range(systems - 1)]
    chosen = [(of, [pair for pair in which if pair in pairs]) for of, which in (
        (2, chain[:1]), (systems, chain), (systems, pairs))]
    shapes = np.array([(1, of, len(which)) for of, which in chosen], dtype=np.float64)
    times = np.array([[_seconds(test, matrix.of_systems(range(systems)), pairs, replace(
        settings, resamples=draws, execution=Execution(workers=1))) for draws in _DRAWS] for systems, pairs in chosen])
    per_draw = np.maximum(times[:, 1] - times[:, 0], 0) / (_DRAWS[1] - _DRAWS[0])
    once, of_draw = (nnls(shapes, of)[0] for of in (np.maximum(times[:, 0] - _DRAWS[0] * per_draw, 0), per_draw))
    once[:2] *= larger
    of_draw[:2] *= larger
    return Coefficients(*once.tolist()), Coefficients(*of_draw.tolist())


def _to_draw(test: PairTest, matrix: Matrix) -> tuple[Matrix, float]:
    """A matrix all of whose pairs are drawn, of some units where it sums over them, and how many more there are."""
    n_units, larger = len(matrix.statistics), 1.0
    if matrix.family != "pair" and matrix.runs is None and matrix.strata is None and n_units > _UNITS:
        matrix, larger = replace(matrix, statistics=matrix.statistics[:_UNITS]), n_units / _UNITS
    all_drawn = replace(matrix, quotient=None)
    return (all_drawn if test.refusal(all_drawn) is None else matrix), larger


def _seconds(test: PairTest, matrix: Matrix, pairs: Sequence[Pair], settings: Settings) -> float:
    """The shorter one of two times: what else the machine does only adds."""
    return min(_once(test, matrix, pairs, settings) for _ in range(2))


def _once(test: PairTest, matrix: Matrix, pairs: Sequence[Pair], settings: Settings) -> float:
    fresh = sharing_resamples(matrix, settings)
    begun = time.process_time()
    test.run(fresh, pairs, settings)
    test.score_intervals(fresh, settings)
    return time.process_time() - begun
