"""How two systems' results go together, and what a test that assumes independence misses (Yeh 2000, section 2.1).

Systems that answer the same items are positively correlated. The difference of their scores then deviates less than
that of two independent samples, by the factor sqrt((s1^2 + s2^2) / (s1^2 + s2^2 - 2 r12 s1 s2)), and a test that
takes them for independent understates what there is by as much.

Yeh's s and r12 are those of the score that is compared. Here they come from the influences of units on it, so the
independent test looks at the same difference as the paired one, whatever the metric: precision and recall with their
denominators, F, BLEU.
"""

from __future__ import annotations

import math
from itertools import combinations
from statistics import median
from typing import ClassVar

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError, counted
from registry.significance.base import Observed
from registry.significance.distributions import log_t_p
from registry.significance.intervals import influences, standard_errors
from registry.significance.pairwise.independent import correlation, understatement
from registry.studies.board_study import BoardStudy, Case, called
from registry.studies.study import Finding, Row


class Correlation(BoardStudy):
    """The correlation r12 of every pair, its factor, and the significant pairs that an independent test would miss.

    For every pair the correlation r12 of the systems' results and the factor that it makes (Yeh 2000, section 2.1).

    Significant is what the task's test finds after the board's correction. The difference of the two scores is also
    compared with its standard error under independence, the root of the two variances added (`p_independent`), and
    with its own (`p_paired`), both by Student's t and with the same correction. For means of units these are the
    two-sample and the matched-pair t-test.
    """

    name: ClassVar[str] = "correlation"
    title: ClassVar[str] = "What would tests that assume independent results miss?"
    citation: ClassVar[str] = "Yeh 2000, section 2.1"
    settings: ClassVar = ("test", "unit", "alpha", "resamples", "seed")
    figures: ClassVar = ("correlation",)

    def run(self, case: Case) -> Finding:
        """Measure every pair.

        Raises:
            InputError: The task's test does not apply, or assumes independence itself; or runs are random.
        """
        matrix, test, alpha = case.board.matrix.by_unit, case.test, case.request.significance.alpha
        if reason := test.refusal(matrix):
            raise InputError(reason)
        if test.independent:
            raise InputError(f"{test.name} assumes independent results itself; name a paired one, such as --test "
                             "permutation")
        if matrix.runs is not None:
            raise InputError('the correlation is that of units, and not of runs: set runs = "fixed"')
        pairs = list(combinations(range(len(case.board.members)), 2))
        influence = influences(matrix)
        observed = Observed.of(matrix, pairs)
        tested = [result.p_value for result in test.run(matrix, pairs, case.settings)]
        by_t = [_both(influence, o) for o in observed]
        adjusted = [case.adjusted(p) for p in (tested, *zip(*by_t, strict=True))]
        names = called(case.board.members)
        rows: list[Row] = []
        for o, p, paired, independent in zip(observed, *adjusted, strict=True):
            a, b = (influence[:, system] for system in o.pair)
            rows.append({
                "system_a": names[o.pair[0]], "system_b": names[o.pair[1]], "difference": o.difference,
                "r12": correlation(a, b), "factor": understatement(a, b), "p_adjusted": p, "p_paired": paired,
                "p_independent": independent, "missed": p <= alpha < independent})
        return Finding({"pairs": rows}, _reading(rows, alpha))


def _both(influence: Floats, o: Observed) -> tuple[float, float]:
    """The p-values of a pair's difference with its own standard error, and with that of independent samples."""
    a, b = (influence[:, system] for system in o.pair)
    if not o.n_discordant:
        return 1.0, 1.0
    n, apart = len(a), float(np.hypot(standard_errors(a), standard_errors(b)))
    return _p(o.difference, float(standard_errors(a - b)), n - 1), _p(o.difference, apart, 2 * n - 2)


def _p(difference: float, error: float, degrees: int) -> float:
    if not difference:
        return 1.0
    return math.exp(log_t_p(difference / error, degrees, "two-sided")) if error > 0 else math.nan


def _reading(rows: list[Row], alpha: float) -> list[str]:
    missed, found = [row for row in rows if row["missed"]], sum(row["p_adjusted"] <= alpha for row in rows)
    said = [f"Of {counted(found, 'pair')} that the paired test finds different at {100 * alpha:g} %, a test that takes "
            f"the systems for independent misses {len(missed)}."]
    if also := sum(not row["p_paired"] <= alpha for row in missed):
        said.append(f"Of those, {also} are missed by a paired t-test of the same difference too, so it is not "
                    "independence alone that loses them.")
    if known := [row["r12"] for row in rows if not math.isnan(row["r12"])]:
        said.append(f"The middle correlation of two systems is {median(known):.2f} (from {min(known):.2f} to "
                    f"{max(known):.2f}); the factor says by how much the independent test takes the standard error of "
                    "the difference for too large.")
    said.append("Correlations are those of what single units do to the score; systems of one team are often far closer "
                "than others, so the middle one says little of them.")
    return said
