"""The difference of two systems on items that a judge has scored, and people some of them, with a slope of its own.

Of either score the judge tells something, and of their difference something else: where two systems are much alike to
people and the judge errs on each in its own way, two slopes that are best for the scores add noise to the difference.
Here the judge's differences are held against people's, item by item, and the slope is that with the least error of the
difference (power tuning; Angelopoulos, Duchi and Zrnic 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import Floats
from registry.families import step_of
from registry.judged import LABELLED, WITHOUT_SCORES, Estimate, corrected, estimate
from registry.messages import Messages
from registry.significance.base import Observed, ObservedPairs, Pairs, Settings, Tail, Tails
from registry.significance.diagnostics.judges import get_judged_items
from registry.significance.distributions import log_normal_p, log_t_p
from registry.significance.matrix import JudgedItems, Matrix, StatisticMatrix
from registry.significance.pairwise.base import PairTest
from registry.significance.pairwise.bootstrap import Bootstrap

_FEWEST = 4  # units that people looked at: t has two degrees of freedom then


class PredictionPowered(PairTest):
    """Means of judged items: people's difference, corrected by the judge's, with the slope that is best for the pair.

    The difference is not that of the two scores, which have a slope each; it has the smaller error.

    Attributes:
        variant: `t`, with the degrees of freedom of the units that people looked at; `normal`, the test of ppi-python,
            which rejects too often where these are few; or `bootstrap`, recentred, which tunes the slope in every
            resample anew and shares the resamples among all pairs.
    """

    name: ClassVar[str] = "prediction-powered"
    null: ClassVar[str] = "people's mean scores of the two systems are equal over all items that there might be"
    assumes: ClassVar[str] = ("people looked at a random sample of the items, or at each with a known probability; "
                              "means over items with human judgements are nearly normal")
    citation: ClassVar[str] = "Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023 (PPI++)"
    families: ClassVar[tuple[str, ...] | None] = ("additive",)
    variant: Literal["t", "normal", "bootstrap"] = "t"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Refuse what no judge has scored, and averages of runs."""
        if matrix.judged is None:
            return f"{self.name} compares means of judged items (JudgedMean); take permutation or bootstrap"
        every = map(get_judged_items(matrix).of, range(matrix.statistics.shape[1]))
        if not all(np.isin(statistics[:, LABELLED], (0, 1)).all() for statistics in every):
            return f"{self.name} takes no averages of several runs: make each run a system of its own"
        return None

    def observe(self, matrix: Matrix, pairs: Pairs) -> ObservedPairs:
        """The pairs, with differences that have a slope of their own."""
        observed, items = super().observe(matrix, pairs), get_judged_items(matrix)
        differences = [float(corrected(items.apart(*o.pair).sum(axis=0), items.slope)) for o in observed]
        return replace(observed, difference=np.array(differences, dtype=np.float64))

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Compare each difference with its standard error, or with its resamples."""
        items = get_judged_items(pairs.matrix)
        if self.variant == "bootstrap":
            return Tails.join(len(pairs), _bootstrap_pairs(pairs, items, settings))
        return Tails.of([self._tail(items.apart(*o.pair), items, settings) for o in pairs])

    def gives_intervals(self, matrix: Matrix) -> bool:  # noqa: ARG002
        """True."""
        return True

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:
        """Return intervals of the scores from their standard errors, or from resamples for `bootstrap`."""
        if self.variant == "bootstrap":
            return Bootstrap().score_intervals(matrix, settings)
        items, intervals = get_judged_items(matrix.by_unit), np.full((matrix.statistics.shape[1], 2), np.nan)
        for n in range(len(intervals)):
            mean = _Mean.of(items.of(n), items, normal=self.variant == "normal")
            if mean.looked >= _FEWEST:
                reach = mean.quantile((1 - settings.confidence) / 2) * mean.error
                intervals[n] = mean.score - reach, mean.score + reach
        return intervals

    def _tail(self, differences: Floats, items: JudgedItems, settings: Settings) -> Tail:
        mean = _Mean.of(differences, items, normal=self.variant == "normal")
        if mean.looked < _FEWEST:
            return Tail(math.nan, "asymptotic", messages=Messages.of("few-judged-pairs", least=_FEWEST))
        if not mean.error:
            return Tail(math.nan, "asymptotic", messages=Messages.of("constant-difference", over="unit"))
        z, alternative = mean.score / mean.error, settings.alternative
        log_p = (log_normal_p(z, alternative) if math.isinf(mean.degrees) else log_t_p(z, mean.degrees, alternative))
        reach = mean.quantile((1 - settings.confidence) / (2 if alternative == "two-sided" else 1)) * mean.error
        return Tail(log_p, "asymptotic", statistic=abs(z),
                    ci_low=-math.inf if alternative == "less" else mean.score - reach,
                    ci_high=math.inf if alternative == "greater" else mean.score + reach)


@dataclass(frozen=True)
class _Mean:
    """A corrected mean with its error, from so many units that people looked at.

    Residuals about a line that was fitted are too small: their squares are divided by the degrees of freedom, one less
    than the units that people looked at, and two less where the slope was fitted too. The normal test takes them as
    they are.
    """

    score: float
    error: float
    degrees: float
    looked: int

    @classmethod
    def of(cls, statistics: Floats, items: JudgedItems, *, normal: bool) -> _Mean:
        mean: Estimate = estimate(statistics, items.slope, items.units)
        of_people = statistics[:, LABELLED] > 0
        looked = mean.labelled if items.units is None else len(np.unique(items.units[of_people]))
        degrees = looked - (2 if items.slope is None else 1)
        if normal or looked < _FEWEST:
            return cls(mean.score, mean.error, math.inf, looked)
        return cls(mean.score, mean.error * math.sqrt(looked / degrees), degrees, looked)

    def quantile(self, outside: float) -> float:
        """How many errors lie between the mean and the end of an interval that leaves this probability outside."""
        from scipy.special import ndtri, stdtrit

        return -float(ndtri(outside) if math.isinf(self.degrees) else stdtrit(self.degrees, outside))


def _bootstrap_pairs(pairs: ObservedPairs, items: JudgedItems, settings: Settings) -> Iterator[tuple[slice, Tails]]:
    """Bootstrap pairs in blocks, each as a system whose score is the difference and a constant system."""
    assert items.statistics is not None
    block_size = max(1, settings.execution.memory // (64 * 16 * len(items.statistics)))
    step = max(step_of(items.of(n)) for n in range(items.statistics.shape[1]))  # of all, whichever pairs are together
    for start in range(0, len(pairs), block_size):
        chosen = slice(start, start + block_size)
        part = pairs[chosen]
        differences = np.stack([items.apart(*o.pair) for o in part], axis=1)
        # The columns of one system without the scores of the judge and of people.
        even = differences[:, :1] * np.isin(np.arange(differences.shape[2]), WITHOUT_SCORES)
        steps = np.rint(np.concatenate([differences, even], axis=1) / step)
        matrix = StatisticMatrix(steps, lambda sums: corrected(sums * step, items.slope), units=items.units).by_unit
        against = [(n, len(part)) for n in range(len(part))]
        yield chosen, Bootstrap().tails(Observed.of(matrix, against), settings)
