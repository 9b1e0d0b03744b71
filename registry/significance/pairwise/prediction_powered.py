"""The difference of two systems on judged items, some of them scored by people.

An automatic judge scores all items, and people score a sample of them. The mean of people's scores is corrected with
the judge's scores of all items, multiplied by a weight, the slope. The best slope for the difference of two systems is
not the best slope for each score: if people find two systems similar and the judge errs on each independently, the best
slopes for the scores add noise to the difference. So this test compares the judge's differences with people's
differences, item by item, and uses the slope with the least error of the difference (power tuning; Angelopoulos, Duchi
and Zrnic 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import Floats
from registry.families import find_step
from registry.judged import LABELLED, WITHOUT_SCORES, Estimate, estimate, estimate_mean
from registry.messages import Messages
from registry.significance.base import Observed, ObservedPairs, Pairs, Settings, Tail, Tails
from registry.significance.diagnostics.judges import get_judged_items
from registry.significance.distributions import log_normal_p, log_t_p
from registry.significance.matrix import JudgedItems, Matrix, StatisticMatrix
from registry.significance.pairwise.base import PairTest
from registry.significance.pairwise.bootstrap import Bootstrap

_FEWEST = 4  # least number of units that people scored: t then has two degrees of freedom


class PredictionPowered(PairTest):
    """Test of means of judged items: people's difference, corrected by a judge.

    An automatic judge scores all items, and people score some of them. The slope, the weight of the judge's scores, is
    chosen for each pair so that the difference has the smallest error. So the tested difference can differ a little
    from the difference of the two scores, which have their own slopes.

    Attributes:
        variant: `t`: the t-test, with degrees of freedom from the number of items or clusters that people scored.
            `normal`: the test of ppi-python, which rejects too often if people scored few items. `bootstrap`: the
            recentred bootstrap, which tunes the slope in every resample; all pairs share the resamples.
    """

    name: ClassVar[str] = "prediction-powered"
    null: ClassVar[str] = "people's mean scores of the two systems are equal over all possible items"
    assumes: ClassVar[str] = ("people scored a random sample of the items, or each item with a known probability; "
                              "means over items with human judgements are nearly normal")
    citation: ClassVar[str] = "Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023 (PPI++)"
    called: ClassVar[str] = "a prediction-powered test"
    families: ClassVar[tuple[str, ...] | None] = ("additive",)
    variant: Literal["t", "normal", "bootstrap"] = "t"

    @property
    def description(self) -> str:
        """The test and its options in words."""
        return f"a prediction-powered {({'t': 't-test', 'normal': 'z-test'}.get(self.variant, 'bootstrap test'))}"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Return the reason why the test does not apply; None if it does.

        The test does not apply to items without scores of a judge, or to averages over runs.
        """
        if matrix.judged is None:
            return (f"{self.name} supports only means of judged items (JudgedMean); use --test permutation or --test "
                    "bootstrap")
        every = map(get_judged_items(matrix).get_statistics, range(matrix.statistics.shape[1]))
        if not all(np.isin(statistics[:, LABELLED], (0, 1)).all() for statistics in every):
            return f"{self.name} does not support averages over runs; submit each run as a separate system"
        return None

    def observe(self, matrix: Matrix, pairs: Pairs) -> ObservedPairs:
        """Compute the differences of pairs from human scores and from a judge's scores.

        The automatic judge has, for each pair, the weight with the smallest error.
        """
        observed, items = super().observe(matrix, pairs), get_judged_items(matrix)
        differences = [float(estimate_mean(items.subtract(*o.pair).sum(axis=0), items.slope)) for o in observed]
        return replace(observed, difference=np.array(differences, dtype=np.float64))

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compare each difference with its standard error, or with its resamples."""
        items = get_judged_items(pairs.matrix)
        if self.variant == "bootstrap":
            return Tails.join(len(pairs), _bootstrap_pairs(pairs, items, settings))
        return Tails.collect([self._tail(items.subtract(*o.pair), items, settings) for o in pairs])

    def gives_intervals(self, matrix: Matrix) -> bool:  # noqa: ARG002
        """Return True: the test computes its own confidence intervals."""
        return True

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:
        """Return the confidence intervals of the scores, [systems, 2].

        The intervals come from standard errors, or from resamples for the variant `bootstrap`.
        """
        if self.variant == "bootstrap":
            return Bootstrap().score_intervals(matrix, settings)
        items, intervals = get_judged_items(matrix.by_unit), np.full((matrix.statistics.shape[1], 2), np.nan)
        for n in range(len(intervals)):
            mean = _Mean.estimate(items.get_statistics(n), items, normal=self.variant == "normal")
            if mean.n_scored >= _FEWEST:
                reach = mean.quantile((1 - settings.confidence) / 2) * mean.error
                intervals[n] = mean.score - reach, mean.score + reach
        return intervals

    def _tail(self, differences: Floats, items: JudgedItems, settings: Settings) -> Tail:
        mean = _Mean.estimate(differences, items, normal=self.variant == "normal")
        if mean.n_scored < _FEWEST:
            return Tail(math.nan, "asymptotic", messages=Messages.make("few-judged-pairs", least=_FEWEST))
        if not mean.error:
            return Tail(math.nan, "asymptotic", messages=Messages.make("constant-difference", over="unit"))
        z, alternative = mean.score / mean.error, settings.alternative
        log_p = (log_normal_p(z, alternative) if math.isinf(mean.degrees) else log_t_p(z, mean.degrees, alternative))
        reach = mean.quantile((1 - settings.confidence) / (2 if alternative == "two-sided" else 1)) * mean.error
        return Tail(log_p, "asymptotic", statistic=abs(z),
                    ci_low=-math.inf if alternative == "less" else mean.score - reach,
                    ci_high=math.inf if alternative == "greater" else mean.score + reach)


@dataclass(frozen=True)
class _Mean:
    """Mean of human scores, corrected by an automatic judge, with its standard error.

    The variance of the residuals is computed with the degrees of freedom: the number of units (items or clusters) that
    people scored minus 1, or minus 2 if the slope is fitted as well. The normal test divides by the number of units.

    Attributes:
        score: Corrected mean.
        error: Standard error of the mean.
        degrees: Degrees of freedom; infinite for the normal test.
        n_scored: Number of units that people scored.
    """

    score: float
    error: float
    degrees: float
    n_scored: int

    @classmethod
    def estimate(cls, statistics: Floats, items: JudgedItems, *, normal: bool) -> _Mean:
        mean: Estimate = estimate(statistics, items.slope, items.units)
        of_people = statistics[:, LABELLED] > 0
        n_scored = mean.labelled if items.units is None else len(np.unique(items.units[of_people]))
        degrees = n_scored - (2 if items.slope is None else 1)
        if normal or n_scored < _FEWEST:
            return cls(mean.score, mean.error, math.inf, n_scored)
        return cls(mean.score, mean.error * math.sqrt(n_scored / degrees), degrees, n_scored)

    def quantile(self, outside: float) -> float:
        """Return the distance of an end of an interval from the mean, in standard errors.

        Args:
            outside: Probability outside of one end of the interval.
        """
        from scipy.special import ndtri, stdtrit

        return -float(ndtri(outside) if math.isinf(self.degrees) else stdtrit(self.degrees, outside))


def _bootstrap_pairs(pairs: ObservedPairs, items: JudgedItems, settings: Settings) -> Iterator[tuple[slice, Tails]]:
    """Test pairs with the recentred bootstrap, in blocks to save memory.

    Each difference is treated as the score of a system, and compared with a system that has a constant score.

    Yields:
        The pairs of a block, and their p-values.
    """
    assert items.statistics is not None
    block_size = max(1, settings.execution.memory // (64 * 16 * len(items.statistics)))
    # the step of all systems, in every block
    step = max(find_step(items.get_statistics(n)) for n in range(items.statistics.shape[1]))
    for start in range(0, len(pairs), block_size):
        chosen = slice(start, start + block_size)
        part = pairs[chosen]
        differences = np.stack([items.subtract(*o.pair) for o in part], axis=1)
        # The constant system: the columns of one system without the scores of the judge and of people.
        even = differences[:, :1] * np.isin(np.arange(differences.shape[2]), WITHOUT_SCORES)
        steps = np.rint(np.concatenate([differences, even], axis=1) / step)
        matrix = StatisticMatrix(steps, lambda sums: estimate_mean(sums * step, items.slope), units=items.units).by_unit
        against = [(n, len(part)) for n in range(len(part))]
        yield chosen, Bootstrap().tails(Observed.compare(matrix, against), settings)
