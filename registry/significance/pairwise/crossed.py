"""The studentized test of a difference over items, over runs, or over both."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np

from registry.families import ADDITIVE
from registry.messages import Message, Messages
from registry.significance.base import ObservedPairs, Settings, Tails
from registry.significance.crossed import (
    compute_log_p,
    cross_runs,
    explain_crossing_refusal,
    find_critical_difference,
    name_axes,
)
from registry.significance.diagnostics.evidence import PairWarning, SystemPairs
from registry.significance.diagnostics.exchangeability import find_skewed_items
from registry.significance.diagnostics.rare_outcomes import RARELY, find_rare_classes, find_rare_outcomes
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest

Over = Literal["all", "items", "runs", "prompts", "annotators", "seeds"]


class Crossed(PairTest):
    """Test of a difference divided by its standard error over items and runs.

    Items and runs contribute to the standard error, each with separate degrees of freedom. The error rate is at most
    the level if each system has at least two runs, but about five runs are needed for good power. The reason is the
    quantile of Student's distribution by which each contribution is multiplied: 12.7 with one degree of freedom, 4.3
    with two, and 2.8 with four.

    Attributes:
        over: Factors to which the conclusion generalizes. `all`: other items and other runs of these systems, and also
            other prompts, annotators and shared seeds if runs differ by them. `items`: other items with the same runs.
            `runs`: other runs on the same items. `prompts`, `annotators` or `seeds`: the same for these factors.
    """

    name: ClassVar[str] = "crossed"
    null: ClassVar[str] = "the two systems' expected scores are equal, over all possible items and runs"
    assumes: ClassVar[str] = ("items and runs are independent draws; averages over the items of a run, and over runs, "
                              "prompts, annotators or seeds, are nearly normal")
    citation: ClassVar[str] = "Cornfield and Tukey 1956; Banerjee 1961"
    called: ClassVar[str] = "a t-test with crossed random factors"
    families: ClassVar[tuple[str, ...] | None] = ADDITIVE
    takes_runs: ClassVar[bool] = True
    over: Over = "all"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the test does not apply: fixed runs, or a single run.

        The result is None if it applies.
        """
        if matrix.runs is None:
            return 'crossed requires random runs; set runs = "random", or use --test permutation'
        if reason := explain_crossing_refusal(matrix):
            return str(reason)
        if matrix.runs and self.over not in ("all", *name_axes(matrix)):
            return f"runs do not differ in the factor {self.over!r}; add the factor to the pattern of the file names"
        return None

    def pair_warnings(self, pairs: SystemPairs) -> Iterator[PairWarning]:
        """Warn of pairs with averages over items that are far from normal.

        This includes pairs with scores that depend on few items or on a class with few items.
        """
        if self.over in ("all", "items"):
            yield from find_skewed_items(pairs)
            yield from find_rare_outcomes(pairs, RARELY)
            yield from find_rare_classes(pairs)

    def gives_intervals(self, matrix: Matrix) -> bool:  # noqa: ARG002
        """Return True: the test computes its own confidence intervals."""
        return True

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compare each difference with its standard error over items and runs.

        The confidence interval contains all differences that the test does not reject.
        """
        if pairs.matrix.n_units < 2 and self.over in ("all", "items"):
            return Tails.make(np.full(len(pairs), math.nan), "asymptotic", messages=Messages.make("one-unit"))
        squared, degrees = cross_runs(pairs.matrix).bounds([o.pair for o in pairs], self.over)
        log_ps = compute_log_p(pairs.difference, squared, degrees, settings.alternative)
        sides = 1 if settings.alternative == "two-sided" else 2
        far = find_critical_difference(squared, degrees, min(1.0, sides * (1 - settings.confidence)))
        error = np.sqrt(squared.sum(axis=1))
        untested = np.isnan(log_ps)
        far[untested] = math.nan
        error[untested | (error == 0)] = math.nan
        tails = Tails.make(
            log_ps, "asymptotic", statistic=np.abs(pairs.difference) / error,
            ci_low=pairs.difference - (math.inf if settings.alternative == "less" else far),
            ci_high=pairs.difference + (math.inf if settings.alternative == "greater" else far))
        undefined = np.asarray(np.isnan(squared).any(axis=1))
        return tails.with_message(undefined, Message("undefined-without-item")).with_message(
            untested & ~undefined, Message("constant-difference", {"over": "item and run"}))
