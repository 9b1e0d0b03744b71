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

from registry.arrays import Floats, Ints
from registry.messages import NO_MESSAGES, Messages
from registry.parallel.execution import Execution
from registry.significance.base import Method, Observed, ObservedPairs, PairResults, Pairs, Settings, Tail, Tails, Unit
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.judges import find_favoured, find_rare_errors
from registry.significance.matrix import Matrix
from registry.significance.units import are_unscored, unit_refusal
from registry.values import Value


class PairTest(Value):
    """A paired significance test with its options.

    Attributes:
        null: Null hypothesis.
        assumes: Assumptions.
        citation: Source of the method.
        units: Units that can be tested, the default first.
        takes_strata: True if it draws within strata.
        takes_runs: True if a system's runs can be random.
        families: Accepted families of statistics; None: all whose statistics add up, unlike those of correlations.
        independent: True if it assumes that the two systems' results are independent of each other, which they hardly
            ever are on one test set (Yeh 2000, section 2).
        takes_unequal: True if the systems may have different items.
        of_unit_scores: True if it compares the scores of single units, not sums over all units.
        draws_intervals: True if intervals of scores are always drawn.
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
        """Refuse options without a default: the docs list the metrics that each test applies to with its defaults."""
        super().__init_subclass__()
        if lacking := [option.name for option in fields(cls) if option.default is MISSING]:
            raise TypeError(f"option {lacking[0]!r} of the test {cls.name} has no default, which every test's needs")

    @property
    def is_one_sided(self) -> bool:
        """True if the p-value is always one-sided, in the direction of the difference."""
        return False

    @property
    def swaps_units(self) -> bool:
        """True if p-values count the ways to swap n units. They are at least 2^-n, or 2^(1 - n) two-sided."""
        return False

    def why_drawn(self, matrix: Matrix) -> str:  # noqa: ARG002
        """Return why pairs of the matrix (by unit) need random draws; empty if the test always draws, or never."""
        return ""

    def work(self, observed: Observed, settings: Settings) -> float:  # noqa: ARG002
        """Return the cost of an exact p-value in additions, about 0 if it is cheap, infinite if the pair is drawn."""
        return 0.0

    def pair_warnings(self, pairs: SystemPairs) -> Iterable[PairWarning]:  # noqa: ARG002
        """Return warnings about pairs for which it is not a test of equal scores."""
        return ()

    def own_refusal(self, matrix: Matrix) -> str | None:  # noqa: ARG002
        """Return why this test in particular does not apply to the matrix (by unit), or None if it does."""
        return None

    def refusal(self, matrix: Matrix) -> str | None:
        """Return why the test does not apply to the matrix (by unit), or None if it does; see `own_refusal`."""
        if matrix.family == "pair" and "pair" not in (self.families or ()):
            return (f"{self.name} needs statistics that add up, unlike correlations; take permutation, "
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
        """Return the pairs of a matrix (by unit) with the differences that it tests."""
        return Observed.of(matrix, pairs)

    def run(self, matrix: Matrix, pairs: Pairs, settings: Settings) -> PairResults:
        """Test pairs of systems; results are in their order.

        Identical systems have p = 1 in every test. p is undefined if a score is, or if a test of single units has no
        unit with scores that distinguishes the systems. Results warn of pairs for which the null hypothesis says more
        than equal scores, and of pairs whose judge favours a system or has errors that are hardly known.

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
            tails = self.tails(observed, settings)
        else:
            parts = [(flags, Tails.make(np.full(np.count_nonzero(flags), log_p), "exact", messages=messages))
                     for flags, log_p, messages in (
                         (~differ, 0.0, NO_MESSAGES), (unscored, np.nan, Messages.of("no-shared-scores")),
                         (differ & undefined, np.nan, Messages.of("score-undefined")))]
            if open_.any():
                parts.append((open_, self.tails(observed[open_], settings)))
            tails = Tails.join(len(observed), parts)
        results = PairResults.make(observed, tails)
        defined, tested = ~np.isnan(results.p_value), SystemPairs(observed.matrix, observed.a, observed.b)
        if defined.any():
            for warning in (*self.pair_warnings(tested), find_favoured(tested), find_rare_errors(tested)):
                results = results.with_message(warning.has_evidence & defined, warning.message)
        return results

    def gives_intervals(self, matrix: Matrix) -> bool:  # noqa: ARG002
        """Return whether the test has its own intervals of the differences of a matrix (by unit)."""
        return False

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:  # noqa: ARG002
        """Return intervals of the systems' scores, [systems, 2]; nan if the test has none."""
        return np.full((matrix.statistics.shape[1], 2), np.nan)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compute the p-values of one or more pairs, all with a discordant unit and a defined difference.

        With `of_unit_scores` both scores are defined in some unit; with `takes_unequal`, each in one of its own.
        """
        return Tails.of([self.tail(o, settings) for o in pairs])

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compute the p-value of one pair, for tests that do not override `tails`."""
        raise NotImplementedError


Exact = Callable[[Observed, Settings], Tail | None]


def compute_or_draw(exact: Exact, draw: Callable[[ObservedPairs], Tails], pairs: ObservedPairs, places: Ints,
                   settings: Settings, label: str) -> Tails:
    """Compute exact tails of some pairs, in threads or by a cluster, and simulate all other tails.

    A cluster gets the matrix once per worker, and then indices of pairs.

    Args:
        exact: A function of a module, from a pair to its tail, or None.
        draw: Returns the tails of pairs that are drawn.
        pairs: All pairs.
        places: Indices of the pairs whose exact tails are tried.
        settings: Settings of the test, with the workers.
        label: Description of the pairs in the progress.
    """
    execution, sent = settings.execution, pairs
    if execution.cluster is not None:  # shared resamples and the cluster are not sent
        sent = replace(pairs, matrix=replace(pairs.matrix, resampled=None))
        settings = replace(settings, execution=Execution(workers=1))
    tried = execution.map(partial(_tail, exact, sent, settings), places.tolist(), label)
    exact_tails = {n: tail for n, tail in zip(places.tolist(), tried, strict=True) if tail is not None}
    parts = [(np.array(list(exact_tails), dtype=np.int64), Tails.of(list(exact_tails.values())))]
    if len(drawn := np.setdiff1d(np.arange(len(pairs)), list(exact_tails))):
        parts.append((drawn, draw(pairs[drawn])))
    return Tails.join(len(pairs), parts)


def _tail(exact: Exact, pairs: ObservedPairs, settings: Settings, n: int) -> Tail | None:
    return exact(pairs[n], settings)


_SYSTEMS, _PAIRS = 8, 4  # that are tried
_LONG = 2**28  # additions above which a pair is expensive


@dataclass(frozen=True)
class TriedPairs:
    """Methods and costs of a few pairs of a matrix, which predict the costs of all pairs.

    Attributes:
        methods: Number of pairs per method; `monte-carlo` is simulated.
        work: Mean number of additions of pairs that are not simulated.
    """

    methods: Counter[Method]
    work: float

    def of_method(self, method: Method, pairs: int) -> int:
        """Predict how many of a number of pairs use a method."""
        return round(pairs * self.methods[method] / self.methods.total())


def few_systems(systems: int) -> list[int]:
    """Choose indices of a few systems, from the first to the last."""
    return sorted({round(n) for n in np.linspace(0, systems - 1, _SYSTEMS).tolist()})


def try_pairs(test: PairTest, matrix: Matrix, settings: Settings) -> TriedPairs:
    """Test a few pairs with one draw each; one expensive pair represents all expensive ones.

    Args:
        test: A test that applies to the matrix.
        matrix: Matrix of a few systems (`few_systems`), at least two.
        settings: Settings of the test.
    """
    matrix = matrix.by_unit
    pairs = list(combinations(range(matrix.statistics.shape[1]), 2))
    sample = [pairs[round(n)] for n in np.linspace(0, len(pairs) - 1, min(_PAIRS, len(pairs))).tolist()]
    work = {observed.pair: test.work(observed, settings) for observed in Observed.of(matrix, sample)}
    long = [pair for pair in sample if _LONG < work[pair] < math.inf]
    short = [pair for pair in sample if pair not in long]
    one_draw = replace(settings, resamples=1, execution=Execution(workers=1))
    methods = Counter[Method]()
    for tested, times in ((short, 1), (long[:1], len(long))):
        for result in test.run(replace(matrix), tested, one_draw) if tested else ():
            methods[result.method] += times
    computed = [additions for additions in work.values() if additions < math.inf]
    return TriedPairs(methods, sum(computed) / max(1, len(computed)))
