"""The base class of paired tests, exact p-values of pairs, and trial tests.

Trial tests of a few pairs predict the cost of all pairs.
"""

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
from registry.families import JOINT
from registry.messages import NO_MESSAGES, Messages
from registry.parallel.execution import Execution
from registry.significance.base import Method, Observed, ObservedPairs, PairResults, Pairs, Settings, Tail, Tails, Unit
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.judges import find_favoured, find_rare_errors
from registry.significance.matrix import Matrix
from registry.significance.units import are_unscored, unit_refusal
from registry.values import Value


class PairTest(Value):
    """A significance test of two systems, with its options as attributes.

    Attributes:
        null: Null hypothesis.
        assumes: Assumptions.
        citation: Sources of the method. A source of one option follows its value, as in `pooled=false: Welch 1947`.
        called: The test in words, such as `a paired t-test`; options can change them.
        units: Units that can be tested: `item`, `cluster` or `response`; the first one is the default.
        takes_strata: True if the test resamples within strata.
        takes_runs: True if the runs of a system can be random.
        families: Accepted families of statistics. None: all families whose scores are functions of sums over items.
        independent: True if the test assumes that the results of the two systems are independent. This is rarely true
            if they have the same test set (Yeh 2000, section 2).
        takes_unequal: True if the systems may have different items.
        of_unit_scores: True if the test compares the scores of single units, not sums over all units.
        draws_intervals: True if score intervals of this test always come from resamples.
    """

    terse: ClassVar[bool] = True
    null: ClassVar[str]
    assumes: ClassVar[str]
    citation: ClassVar[str]
    called: ClassVar[str] = ""
    units: ClassVar[tuple[Unit, ...]] = ("item", "cluster")
    takes_strata: ClassVar[bool] = False
    takes_runs: ClassVar[bool] = False
    families: ClassVar[tuple[str, ...] | None] = None
    independent: ClassVar[bool] = False
    takes_unequal: ClassVar[bool] = False
    of_unit_scores: ClassVar[bool] = False
    draws_intervals: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Raise an error if an option of a new test has no default value.

        The documentation lists the metrics to which each test applies with its default options.
        """
        super().__init_subclass__()
        if lacking := [option.name for option in fields(cls) if option.default is MISSING]:
            raise TypeError(f"option {lacking[0]!r} of the test {cls.name} has no default; every option needs one")

    @property
    def description(self) -> str:
        """The test and its options in words, such as `a paired permutation test`."""
        return self.called or f"the test {self!r}"

    @property
    def is_one_sided(self) -> bool:
        """True if the p-value is always one-sided, in the direction of the difference."""
        return False

    @property
    def is_permutation_test(self) -> bool:
        """True if the p-value is a share of all 2^n permutations of two systems.

        A permutation swaps the results of the two systems in some of n units (items or clusters). The smallest p-value
        is then 2^-n one-sided, or 2^(1 - n) two-sided.
        """
        return False

    def explain_simulation(self, matrix: Matrix) -> str:  # noqa: ARG002
        """Explain why p-values are simulated although the test also has an exact form.

        The result is empty if the test always simulates p-values or never does.

        Args:
            matrix: Statistics of all systems, with units (items or clusters) as rows.
        """
        return ""

    def work(self, observed: Observed, settings: Settings) -> float:  # noqa: ARG002
        """Estimate the cost of the exact p-value of a pair, in additions.

        The cost is infinite if the p-value is simulated, and about 0 if the computation is cheap.

        Args:
            observed: The pair of systems.
            settings: Settings of the test.
        """
        return 0.0

    def pair_warnings(self, pairs: SystemPairs) -> Iterable[PairWarning]:  # noqa: ARG002
        """Return the warnings about pairs of systems for which this test is unreliable.

        For example, the null hypothesis can be false although the scores are equal.
        """
        return ()

    def own_refusal(self, matrix: Matrix) -> str | None:  # noqa: ARG002
        """Return the reason why this test does not apply to the data; None if it does.

        Subclasses override this method with their special conditions. `refusal` adds the conditions of all tests.

        Args:
            matrix: Statistics of all systems, with units (items or clusters) as rows.
        """
        return None

    def refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why this test does not apply to the data; None if it does.

        Args:
            matrix: Statistics of all systems, with units (items or clusters) as rows.
        """
        if matrix.family == "pair" and "pair" not in (self.families or ()):
            return (f"{self.name} does not support correlations; use --test permutation, --test bootstrap or "
                    "--test williams")
        if matrix.family == "pair" and matrix.runs is not None:
            return 'correlations do not support random runs, because they cannot be averaged; set runs = "fixed"'
        if matrix.family in JOINT and matrix.family not in (self.families or ()):
            return (f"{self.name} does not support {matrix.family}, because the scores of all systems are estimated "
                    "together; use --test wald")
        if matrix.unequal and not self.takes_unequal:
            return (f'{self.name} needs the same items for all systems, but the setting missing = "own" leaves '
                    'out different items for each system; use --test rank-sum or --test two-sample-t, or set '
                    'missing = "drop"')
        if reason := self.own_refusal(matrix):
            return reason
        if self.families is not None and matrix.family not in (None, *self.families):
            return (f"{self.name} needs a metric that counts each answer as correct or wrong, such as accuracy; use "
                    "--test permutation")
        return unit_refusal(self.name, matrix) if self.of_unit_scores else None

    def observe(self, matrix: Matrix, pairs: Pairs) -> ObservedPairs:
        """Compute the differences that this test compares with 0.

        Args:
            matrix: Statistics of all systems, with units (items or clusters) as rows.
            pairs: Indices of the two systems of each pair.
        """
        return Observed.compare(matrix, pairs)

    def run(self, matrix: Matrix, pairs: Pairs, settings: Settings) -> PairResults:
        """Test pairs of systems, and return one result per pair in the same order.

        Identical systems have p = 1 in every test. The p-value is undefined if a score is undefined. In a test of
        single units (items or clusters) it is also undefined if no unit with two defined scores distinguishes the
        systems. The results have warnings about pairs for which this test is unreliable (`pair_warnings`), and about
        pairs with a judge that favours a system or has too few observed errors.

        Args:
            matrix: Statistics of all systems.
            pairs: Indices of the two systems of each pair.
            settings: Settings of the test.

        Raises:
            ValueError: The test does not apply to the data (`refusal`).
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
            method: Method = "asymptotic" if matrix.family in JOINT else "exact"
            parts = [(flags, Tails.make(np.full(np.count_nonzero(flags), log_p), method, messages=messages))
                     for flags, log_p, messages in (
                         (~differ, 0.0, NO_MESSAGES), (unscored, np.nan, Messages.make("no-shared-scores")),
                         (differ & undefined, np.nan, Messages.make("score-undefined")))]
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
        """Return True if the test computes its own confidence intervals of differences.

        Args:
            matrix: Statistics of all systems, with units (items or clusters) as rows.
        """
        return False

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:  # noqa: ARG002
        """Return the confidence intervals of the scores of all systems, [systems, 2].

        The intervals are nan if the test does not compute intervals of scores.
        """
        return np.full((matrix.statistics.shape[1], 2), np.nan)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compute the p-values of one or more pairs of systems.

        The caller ensures that each pair can be tested: the systems differ in some unit (item or cluster), and the
        difference of the scores is defined. For tests of the scores of single units, the scores of both systems are
        defined in some unit, or each in some unit if the test accepts systems with different units.
        """
        return Tails.collect([self.tail(o, settings) for o in pairs])

    def tail(self, o: Observed, settings: Settings) -> Tail:
        """Compute the p-value of one pair of systems.

        Tests that override `tails` do not need this method.
        """
        raise NotImplementedError


Exact = Callable[[Observed, Settings], Tail | None]


def compute_or_draw(exact: Exact, draw: Callable[[ObservedPairs], Tails], pairs: ObservedPairs, places: Ints,
                   settings: Settings, label: str) -> Tails:
    """Compute exact p-values of some pairs of systems, and simulate the others.

    Exact p-values are computed in parallel.

    Args:
        exact: Function that returns the exact p-value of a pair, or None if it cannot be computed. Worker processes
            must be able to import this function, so it cannot be a local function.
        draw: Function that returns the simulated p-values of all other pairs.
        pairs: All pairs.
        places: Indices of the pairs whose p-value may be computed exactly.
        settings: Settings of the test, with the workers.
        label: Description of the pairs in the progress report.
    """
    execution, sent = settings.execution, pairs
    if execution.cluster is not None:  # shared resamples and the cluster are not sent
        sent = replace(pairs, matrix=replace(pairs.matrix, resampled=None))
        settings = replace(settings, execution=Execution(workers=1))
    tried = execution.map(partial(_tail, exact, sent, settings), places.tolist(), label)
    exact_tails = {n: tail for n, tail in zip(places.tolist(), tried, strict=True) if tail is not None}
    parts = [(np.array(list(exact_tails), dtype=np.int64), Tails.collect(list(exact_tails.values())))]
    if len(drawn := np.setdiff1d(np.arange(len(pairs)), list(exact_tails))):
        parts.append((drawn, draw(pairs[drawn])))
    return Tails.join(len(pairs), parts)


def _tail(exact: Exact, pairs: ObservedPairs, settings: Settings, n: int) -> Tail | None:
    return exact(pairs[n], settings)


_SYSTEMS, _PAIRS = 8, 4  # systems and pairs of a trial test
_LONG = 2**28  # additions above which a pair is expensive


@dataclass(frozen=True)
class TriedPairs:
    """Methods and costs of a few tested pairs, which predict the costs of all pairs.

    Attributes:
        methods: Number of pairs by the method of their p-value; `monte-carlo` stands for simulated p-values.
        work: Mean cost of the p-values that are not simulated, in additions.
    """

    methods: Counter[Method]
    work: float

    def predict_count(self, method: Method, pairs: int) -> int:
        """Predict how many of all pairs get their p-value by a method.

        Args:
            method: The method.
            pairs: Number of all pairs.
        """
        return round(pairs * self.methods[method] / self.methods.total())


def choose_few_systems(systems: int) -> list[int]:
    """Choose the indices of a few systems, evenly spaced from the first to the last.

    Args:
        systems: Number of all systems.
    """
    return sorted({round(n) for n in np.linspace(0, systems - 1, _SYSTEMS).tolist()})


def try_pairs(test: PairTest, matrix: Matrix, settings: Settings) -> TriedPairs:
    """Test a few pairs of systems with one resample each, to predict the cost of all.

    If several pairs are expensive, only one of these is tested and represents the others.

    Args:
        test: A test that applies to the data.
        matrix: Statistics of a few systems, at least two.
        settings: Settings of the test.
    """
    matrix = matrix.by_unit
    pairs = list(combinations(range(matrix.statistics.shape[1]), 2))
    sample = [pairs[round(n)] for n in np.linspace(0, len(pairs) - 1, min(_PAIRS, len(pairs))).tolist()]
    work = {observed.pair: test.work(observed, settings) for observed in Observed.compare(matrix, sample)}
    long = [pair for pair in sample if _LONG < work[pair] < math.inf]
    short = [pair for pair in sample if pair not in long]
    one_draw = replace(settings, resamples=1, execution=Execution(workers=1))
    methods = Counter[Method]()
    for tested, times in ((short, 1), (long[:1], len(long))):
        for result in test.run(replace(matrix), tested, one_draw) if tested else ():
            methods[result.method] += times
    computed = [additions for additions in work.values() if additions < math.inf]
    return TriedPairs(methods, sum(computed) / max(1, len(computed)))
