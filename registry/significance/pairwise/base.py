"""The base of every paired test."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from registry.significance.base import Observed, Pair, PairResult, Settings, Tail, Unit
from registry.significance.matrix import Floats, Matrix
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
    draws_intervals: ClassVar[bool] = False

    @property
    def is_one_sided(self) -> bool:
        """Whether the p-value is always one-sided, in the direction of the difference."""
        return False

    def why_drawn(self, matrix: Matrix) -> str:  # noqa: ARG002
        """Say why pairs of the matrix (by unit) need random draws; empty where the test always draws, or never."""
        return ""

    def work(self, observed: Observed) -> float:  # noqa: ARG002
        """The cost of an exact p-value, or of finding that the pair must be drawn, in steps; 0: hardly any."""
        return 0.0

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
        return None

    def run(self, matrix: Matrix, pairs: Sequence[Pair], settings: Settings) -> list[PairResult]:
        """Test every pair of systems.

        Identical systems have p = 1 in every test; where a score is undefined, so is p.

        Raises:
            ValueError: The test does not apply (`refusal`).
        """
        matrix = matrix.by_unit
        if reason := self.refusal(matrix):
            raise ValueError(reason)
        observed = Observed.of(matrix, pairs)
        open_ = [o for o in observed if o.n_discordant and not math.isnan(o.difference)]
        tails = dict(zip((o.pair for o in open_), self.tails(open_, settings) if open_ else [], strict=True))
        return [_result(o, tails.get(o.pair)) for o in observed]

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:  # noqa: ARG002
        """Intervals of the systems' scores, [systems, 2]; nan where the test has none."""
        return np.full((matrix.statistics.shape[1], 2), np.nan)

    @abstractmethod
    def tails(self, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Compute the p-values of one or more pairs, all with a discordant unit and a defined difference."""


def _result(observed: Observed, tail: Tail | None) -> PairResult:
    n_units, n_discordant = observed.n_units, observed.n_discordant
    if tail is None and n_discordant:
        return PairResult(math.nan, math.nan, math.nan, "exact", n_units, n_discordant, note="a score is undefined")
    tail = tail or Tail(0.0, "exact")
    p, log10_p = math.exp(tail.log_p) if tail.p is None else tail.p, tail.log_p / math.log(10)
    if tail.coins is not None and tail.coins <= 1000 and 0 < (counted := math.ldexp(p, tail.coins)) < 2**36:
        p = math.ldexp(round(counted), -tail.coins)  # a whole number, so the last digits can be put right
        log10_p = math.log10(p) if p else log10_p
    evidence = observed.difference if tail.favours is None else tail.favours
    favours = int(evidence > 0) - int(evidence < 0)  # nan is neither
    against = "the test favours the system with the worse score" if favours * observed.difference < 0 else ""
    return PairResult(
        observed.difference, p, log10_p, tail.method, n_units, n_discordant, p_low=tail.p_low, p_high=tail.p_high,
        ci_low=tail.ci_low, ci_high=tail.ci_high, resamples=tail.resamples, statistic=tail.statistic, favours=favours,
        note="; ".join(filter(None, (against, tail.note))))
