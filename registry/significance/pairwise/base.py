"""The base of every paired test; exact tails of many pairs; and tests of a few pairs for planning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, replace
from functools import partial
from itertools import combinations
from typing import ClassVar

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.messages import Messages
from registry.parallel.execution import Execution
from registry.significance.base import Method, Observed, ObservedPairs, PairResults, Pairs, Settings, Tail, Tails, Unit
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.judges import favoured, rare_errors
from registry.significance.matrix import Matrix
from registry.significance.units import are_unscored, unit_refusal
from registry.values import Value


class PairTest(Value):
    """A paired significance test with its options.

    Attributes:
        null: The null hypothesis.
        assumes: The assumptions.
        citation: The source of the method.
        units: The units that can be tested, the usual one first.
        takes_strata: Whether it draws within strata.
        takes_runs: Whether a system's runs can be random.
        families: The statistics families that it takes; None: all whose statistics add up, unlike those of
            correlations.
        independent: Whether it assumes that the two systems' results are independent of each other, which on one test
            set they hardly ever are (Yeh 2000, section 2).
        takes_unequal: Whether the systems may have been judged on different items.
        of_unit_scores: Whether it compares the scores of single units, and not those of all units together.
        draws_intervals: Whether the intervals of scores are always drawn.
    """

    terse: ClassVar[bool] = True
    null: ClassVar[str]
    assumes: ClassVar[str]
    citation: ClassVar[str]
    units: ClassVar[tuple[Unit, ...]] = ("item", "cluster")
    takes_strata: ClassVar[bool] = False
    takes_runs: ClassVar[bool] = False
    families: ClassVar[tuple[str, ...] | None] = None
    independent: ClassVar[bool] = False
    takes_unequal: ClassVar[bool] = False
    of_unit_scores: ClassVar[bool] = False
    draws_intervals: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Refuse options without a default: of every test it is said where it applies, as it is by default."""
        super().__init_subclass__()
        if lacking := [option.name for option in fields(cls) if option.default is MISSING]:
            raise TypeError(f"option {lacking[0]!r} of the test {cls.name} has no default, which every test's needs")

    @property
    def is_one_sided(self) -> bool:
        """Whether the p-value is always one-sided, in the direction of the difference."""
        return False

    @property
    def swaps_units(self) -> bool:
        """Whether p-values count the ways to swap n units, so that none is below 2^-n, or 2^(1 - n) two-sided."""
        return False

    def why_drawn(self, matrix: Matrix) -> str:  # noqa: ARG002
        """Say why pairs of the matrix (by unit) need random draws; empty where the test always draws, or never."""
        return ""

    def work(self, observed: Observed, settings: Settings) -> float:  # noqa: ARG002
        """The cost of an exact p-value in additions; 0: hardly any; infinite: the pair is drawn."""
        return 0.0

    def pair_warnings(self, pairs: SystemPairs) -> Iterable[PairWarning]:  # noqa: ARG002
        """Return warnings about pairs of which it does not test that scores are equal."""
        return ()

    def own_refusal(self, matrix: Matrix) -> str | None:  # noqa: ARG002
        """Say why this test in particular does not apply to the matrix (by unit), or None where it does."""
        return None

    def refusal(self, matrix: Matrix) -> str | None:
        """Say why the test does not apply to the matrix (by unit), or None where it does; see `own_refusal`."""
        if matrix.family == "pair" and "pair" not in (self.families or ()):
            return (f"{self.name} needs statistics that add up, which those of correlations do not; take permutation, "
                    "bootstrap or williams")
        if matrix.family == "pair" and matrix.runs is not None:
            return 'correlations do not take random runs, which they are not averages over: set runs = "fixed"'
        if matrix.unequal and not self.takes_unequal:
            return (f"{self.name} compares systems on the same items, and some lack items (missing = \"own\"); take "
                    "rank-sum or two-sample-t, or another policy for missing items")
        if reason := self.own_refusal(matrix):
            return reason
        if self.families is not None and matrix.family not in (None, *self.families):
            return (f"{self.name} takes statistics of {' or '.join(self.families)}, not of {matrix.family}; take "
                    "permutation or bootstrap")
        return unit_refusal(self.name, matrix) if self.of_unit_scores else None

    def observe(self, matrix: Matrix, pairs: Pairs) -> ObservedPairs:
        """The pairs of a matrix (by unit) as observed, with the differences that it tests."""
        return Observed.of(matrix, pairs)

    def run(self, matrix: Matrix, pairs: Pairs, settings: Settings) -> PairResults:
        """Test pairs of systems; results are in their order.

        Identical systems have p = 1 in every test; where a score is undefined, so is p, and where a test of single
        units has no unit with scores to tell the systems apart by.

        Raises:
            ValueError: The test does not apply (`refusal`).
        """
        matrix = matrix.by_unit
        if reason := self.refusal(matrix):
            raise ValueError(reason)
        observed = self.observe(matrix, pairs)
        differ, undefined = observed.n_discordant > 0, np.isnan(observed.difference)
        open_ = differ & ~undefined
        unscored = np.zeros(len(observed), dtype=bool)
        if self.of_unit_scores and open_.any():
            unscored[open_] = are_unscored(observed[open_], unequal=self.takes_unequal)
            open_ &= ~unscored
        if len(observed) and open_.all():
            return self._with_warnings(PairResults.made(observed, self.tails(observed, settings)), observed)
        parts = [(~differ, Tails.made(np.zeros(np.count_nonzero(~differ)), "exact")),
                 (differ & undefined, _undefined(differ & undefined, "score-undefined")),
                 (unscored, _undefined(unscored, "no-shared-scores"))]
        if open_.any():
            parts.append((open_, self.tails(observed[open_], settings)))
        return self._with_warnings(PairResults.made(observed, Tails.joined(len(observed), parts)), observed)

    def _with_warnings(self, results: PairResults, observed: ObservedPairs) -> PairResults:
        """Return the results with warnings: of this test, of a judge that favours a system, or of its rare errors."""
        defined, pairs = ~np.isnan(results.p_value), SystemPairs(observed.matrix, observed.a, observed.b)
        for warning in (*self.pair_warnings(pairs), favoured(pairs), rare_errors(pairs)) if defined.any() else ():
            results = results.with_message(warning.has_evidence & defined, warning.message)
        return results

    def gives_intervals(self, matrix: Matrix) -> bool:  # noqa: ARG002
        """Whether it gives the differences of a matrix (by unit) intervals of its own."""
        return False

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:  # noqa: ARG002
        """Intervals of the systems' scores, [systems, 2]; nan where the test has none."""
        return np.full((matrix.statistics.shape[1], 2), np.nan)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compute the p-values of one or more pairs, all with a discordant unit and a defined difference.

        With `of_unit_scores` both scores are defined in some unit; with `takes_unequal`, each in one of its own.
        """
        return Tails.of([self.tail(o, settings) for o in pairs])

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compute the p-value of one of these pairs; a test that does without looks at all of them in `tails`."""
        raise NotImplementedError


def _undefined(pairs: Flags, code: str) -> Tails:
    return Tails.made(np.full(np.count_nonzero(pairs), np.nan), "exact", messages=Messages.of(code))


Exact = Callable[[Observed, Settings], Tail | None]


def exact_or_drawn(exact: Exact, draw: Callable[[ObservedPairs], Tails], pairs: ObservedPairs, places: Ints,
                   settings: Settings, what: str) -> Tails:
    """Compute the exact tails of some pairs, where there are any, and draw those of all others.

    Args:
        exact: A function of a module, from a pair to its tail, or None.
        draw: Gives the tails of pairs that are drawn.
        pairs: All pairs.
        places: Of those whose exact tails are tried.
        settings: The settings of the test, and who computes exact tails.
        what: They are, which is told with the progress.
    """
    execution, sent = settings.execution, pairs
    if execution.cluster is not None:  # shared resamples and who computes do not travel
        sent = replace(pairs, matrix=replace(pairs.matrix, resampled=None))
        settings = replace(settings, execution=Execution(workers=1))
    tried = execution.map(partial(_tail, exact, sent, settings), places.tolist(), what)
    found = {n: tail for n, tail in zip(places.tolist(), tried, strict=True) if tail is not None}
    parts = [(np.array(list(found), dtype=np.int64), Tails.of(list(found.values())))]
    if len(drawn := np.setdiff1d(np.arange(len(pairs)), list(found))):
        parts.append((drawn, draw(pairs[drawn])))
    return Tails.joined(len(pairs), parts)


def _tail(exact: Exact, pairs: ObservedPairs, settings: Settings, n: int) -> Tail | None:
    return exact(pairs[n], settings)


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
