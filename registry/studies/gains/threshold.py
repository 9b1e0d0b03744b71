"""From which gain on is a difference probably significant (Berg-Kirkpatrick et al. 2012, section 3.1.1)?

The threshold is the 95th percentile of the gains of those pairs whose p-values lie about alpha: 95 % of the borderline
differences that were seen gained less. By construction it lies above the critical difference: where all pairs have the
same one and p-values are spread evenly, by z(0.041) / z(0.05) = 1.057 for p from 0.04 to 0.06.

Few pairs lie there, so another estimate stands beside it, of all pairs that are not far off. The critical gain of a
pair is that with which it would be just significant; how gains rise with their ratio to the critical ones is fitted by
a power of the ratio, and the threshold is the 95th percentile of the gains that are carried along it to the ratio 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Floats, Ints
from registry.errors import InputError, counted
from registry.significance.resampling.draws import SYSTEMS, stream
from registry.studies.board_study import BoardStudy, Case
from registry.studies.gains.pair_gains import (
    Gains,
    alike,
    all_gains,
    bootstrap_warnings,
    left_out,
    no_gains,
    pair_rows,
    values_of,
)
from registry.studies.study import Finding, Row, option

Estimator = Callable[[Gains], float]

SHARE = 0.95  # of the borderline gains that the threshold lies above
FAR = 4.0  # times the critical gain, or a fourth of it: pairs beyond say nothing of the threshold
MANY = 50  # borderline pairs from which the rule's interval holds its confidence (tests/studies/gains)
DRAWS = 1000  # resampled sets of systems
_DEFINED = 0.95  # of them that must have a threshold, for an interval


class Threshold(BoardStudy):
    """The threshold of all pairs, of those that share the value of an attribute, and of those that do not.

    The 95th percentile of the gains of borderline pairs, p about alpha, one-sided (Berg-Kirkpatrick et al. 2012,
    section 3.1.1), and an estimate from a fit to all pairs that are not far off.
    """

    name: ClassVar[str] = "threshold"
    title: ClassVar[str] = "From which gain on is a difference probably significant?"
    citation: ClassVar[str] = "Berg-Kirkpatrick et al. 2012, section 3.1.1"
    figures: ClassVar = ("thresholds",)
    by: str = option("team", "Of submissions: pairs that share its value are told from others. team, kind, or what the "
                     "manifest declares.", metavar="ATTRIBUTE")
    width: float = option(0.2, "How far from alpha the p-values of borderline pairs may be, as a share of alpha.")
    enough: int = option(10, "How many pairs a threshold needs.")

    def run(self, case: Case) -> Finding:
        """Estimate the thresholds.

        Raises:
            InputError: No pair differs, an option is out of range, or the bootstrap does not take the metric.
            UnknownNameError: No submission has the attribute.
        """
        if not 0 < self.width < 1 or self.enough < 2:
            raise InputError("width lies between 0 and 1, and enough pairs are 2 or more")
        board, settings = case.board, case.request.significance
        values = values_of(case, board, self.by)
        gains = all_gains(board.matrix, case.settings, settings.alpha)
        if not len(gains.p):
            raise no_gains(case.boards)
        rows = [self._row(of, some, case) for of, some in self._groups(gains, values)]
        return Finding({"thresholds": rows, "pairs": pair_rows(board, gains, self.by, values)},
                       self._reading(rows, gains, settings.alpha),
                       [*bootstrap_warnings(board.matrix), *left_out(board.matrix, gains)])

    def _groups(self, gains: Gains, values: NDArray[np.object_]) -> Iterator[tuple[str, Gains]]:
        yield "all", gains
        same = alike(gains, values)
        for group, wanted in ((f"same {self.by}", True), (f"different {self.by}", False)):
            chosen = np.array([one is wanted for one in same])
            if chosen.any() and not chosen.all():
                yield group, gains.where(chosen)

    def _row(self, group: str, gains: Gains, case: Case) -> Row:
        settings, systems = case.request.significance, resampled_systems(len(case.board.members), case.settings.seed)
        row, _ = estimates(gains, systems, settings.alpha, self.width, self.enough, settings.confidence)
        return {"group": group, "alpha": settings.alpha, "pairs": len(gains.p)} | row

    def _reading(self, rows: list[Row], gains: Gains, alpha: float) -> list[str]:
        about = f"p from {alpha * (1 - self.width):.3g} to {alpha * (1 + self.width):.3g}"
        said = [f"{row['group']}: {self._said(row, about)}" for row in rows]
        if any(self.enough <= row["borderline"] < MANY and not math.isnan(row["threshold_low"]) for row in rows):
            said.append(f"No interval of the rule reaches beyond the largest gain at the border; from fewer than "
                        f"{MANY} pairs it ends too low more often than it should.")
        if len(rows) == 1:
            said[0] += f" No two groups of pairs are told apart by {self.by}."
        estimate = rows[0]["fitted"] if math.isnan(rows[0]["threshold"]) else rows[0]["threshold"]
        above, below = gains.where(gains.gain >= estimate), gains.where(gains.gain < estimate)  # nan: none
        if len(above.p):
            said.append(f"Here {np.count_nonzero(above.p <= alpha)} of {counted(len(above.p), 'pair')} with a gain of "
                        f"{estimate:.4g} or more are significant, and {np.count_nonzero(below.p <= alpha)} of "
                        f"{len(below.p)} with a smaller one: a threshold replaces no test.")
        said.append("It is made for this test set and systems like these; p-values are one-sided and not corrected, "
                    f"and {100 * SHARE:g} % of the pairs at the border gain less, so it is no least gain either.")
        return said

    def _said(self, row: Row, about: str) -> str:
        by_fit = (f"{with_interval(row, 'fitted')} by the fit to {counted(row['near'], 'pair')}"
                  if row["near"] >= self.enough else
                  f"no fit, for {counted(row['near'], 'pair is', 'pairs are')} near")
        by_rule = (f"{with_interval(row, 'threshold')} by the rule, from {row['borderline']} pairs with {about}"
                   if row["borderline"] >= self.enough else
                   f"no threshold by the rule, which needs {self.enough} pairs with {about} and finds "
                   f"{row['borderline']}")
        return f"{by_rule}; {by_fit}."


def estimates(gains: Gains, systems: Ints, alpha: float, width: float, enough: int,
              confidence: float) -> tuple[Row, Floats]:
    """The threshold by the rule and that by the fit, with the pairs that each rests on and its interval.

    Args:
        gains: The pairs.
        systems: How often each system is drawn, [draws, systems].
        alpha: The level of significance.
        width: How far from alpha p-values may be, as a share of it.
        enough: How many pairs a threshold needs; nan with fewer.
        confidence: Of the intervals.

    Returns:
        The row, and the threshold by the fit in every draw of systems, [draws].
    """
    row: Row = {}
    for number, name, some, estimate in (
            ("borderline", "threshold", borderline(gains, alpha, width), percentile),
            ("near", "fitted", near(gains), carried)):
        known = len(some.p) >= enough
        found = resampled(some, estimate, systems) if known else np.full(len(systems), np.nan)
        low, high = interval(found, confidence)
        row |= {number: len(some.p), name: estimate(some) if known else math.nan,
                f"{name}_low": low, f"{name}_high": high}
    return row, found


def with_interval(row: Row, name: str) -> str:
    """A threshold of a row as people read it, with its interval."""
    if math.isnan(row[f"{name}_low"]):
        return f"{row[name]:.4g} (no interval: it hangs on few systems)"
    return f"{row[name]:.4g} ({row[f'{name}_low']:.4g} to {row[f'{name}_high']:.4g})"


def borderline(gains: Gains, alpha: float, width: float) -> Gains:
    """The pairs with p-values about alpha."""
    return gains.where((gains.p > alpha * (1 - width)) & (gains.p < alpha * (1 + width)))


def near(gains: Gains) -> Gains:
    """The pairs whose gain is not far from their critical one."""
    return gains.where((gains.critical < FAR * gains.gain) & (gains.gain < FAR * gains.critical))


def percentile(gains: Gains) -> float:
    """The 95th percentile of gains, nan of none."""
    return float(np.quantile(gains.gain, SHARE)) if len(gains.gain) else math.nan


def carried(gains: Gains) -> float:
    """The 95th percentile of gains that are carried to where they are critical, along how they rise; nan of none.

    log gain = a + b log (gain / critical gain) is fitted by least squares. b is 1 where all have the same critical
    gain; it is kept from 0, below which gains would fall, to 2, since few pairs may say anything.
    """
    if not len(gains.gain):
        return math.nan
    log_gain, log_ratio = np.log(gains.gain), np.log(gains.gain / gains.critical)
    spread = log_ratio - log_ratio.mean()
    rise = min(max(float(spread @ log_gain) / float(spread @ spread), 0), 2) if spread.any() else 1.0
    return percentile(gains._replace(gain=np.exp(log_gain - rise * log_ratio)))


def resampled_systems(systems: int, seed: int) -> Ints:
    """How often each of the systems is drawn, with replacement, [draws, systems]."""
    rng = np.random.Generator(stream(seed, SYSTEMS))
    return rng.multinomial(systems, np.full(systems, 1 / systems), DRAWS)


def resampled(gains: Gains, estimate: Estimator, drawn: Ints) -> Floats:
    """An estimate in each draw of systems, [draws], since pairs that share a system are no independent pairs.

    A system that is drawn twice brings its pairs twice; with itself it makes none.
    """
    return np.array([estimate(taken(gains, times)) for times in drawn])


def interval(found: Floats, confidence: float) -> tuple[float, float]:
    """The interval of an estimate from those of resamples; nan where it is undefined in many."""
    defined = found[~np.isnan(found)]
    if len(defined) < _DEFINED * len(found):
        return math.nan, math.nan
    low, high = np.quantile(defined, ((1 - confidence) / 2, (1 + confidence) / 2))
    return float(low), float(high)


def taken(gains: Gains, times: Ints) -> Gains:
    """The pairs of systems that are taken so often, [systems]."""
    return gains.where(np.repeat(np.arange(len(gains.p)), times[gains.better] * times[gains.worse]))
