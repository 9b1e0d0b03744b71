"""How two systems' results go together, and what a test that assumes independence misses (Yeh 2000, section 2.1).

Systems that answer the same items are positively correlated. The difference of their scores then deviates less than
that of two independent samples, by the factor sqrt((s1^2 + s2^2) / (s1^2 + s2^2 - 2 r12 s1 s2)), and a test that
takes them for independent understates what there is by as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from registry.errors import InputError, counted
from registry.significance import Permutation, TwoSampleT
from registry.significance.base import Observed
from registry.significance.independent import correlation, understatement
from registry.significance.multiplicity import adjust
from registry.significance.units import unit_scores
from registry.studies.study import Case, Finding, Row, Study


@dataclass(frozen=True, repr=False)
class Correlation(Study):
    """The correlation r12 of every pair, its factor, and the significant pairs that an independent test would miss.

    Significant is what a permutation test finds after the board's correction; the independent test is Student's of two
    samples, on the same units and with the same correction.
    """

    name: ClassVar[str] = "correlation"
    title: ClassVar[str] = "What would tests that assume independent results miss?"
    citation: ClassVar[str] = "Yeh 2000, section 2.1"

    def run(self, case: Case) -> Finding:
        """Measure every pair.

        Raises:
            InputError: Units have no scores of their own, or clusters of answers are asked for.
        """
        matrix, asked = case.board.matrix.by_unit, case.request.significance
        pairs = list(combinations(range(len(case.board.members)), 2))
        adjusted: list[list[float]] = []
        for test in (Permutation(), TwoSampleT()):
            if reason := test.unfit(matrix):
                raise InputError(reason)
            found = test.run(matrix, pairs, case.settings)
            adjusted.append(adjust(np.array([result.p_value for result in found]), asked.correction).tolist())
        rows = [_row(case, observed, p, p_independent, asked.alpha)
                for observed, p, p_independent in zip(Observed.of(matrix, pairs), *adjusted, strict=True)]
        return Finding({"pairs": rows}, _reading(rows, asked.alpha))


def _row(case: Case, observed: Observed, p: float, p_independent: float, alpha: float) -> Row:
    a, b = unit_scores(observed)
    both = ~np.isnan(a) & ~np.isnan(b)
    first, second = (case.board.members[n] for n in observed.pair)
    return {
        "system_a": first.system, "system_b": second.system, "difference": observed.difference,
        "r12": correlation(a[both], b[both]), "factor": understatement(a[both], b[both]),
        "p_adjusted": p, "p_independent": p_independent, "missed": p <= alpha < p_independent}


def _reading(rows: list[Row], alpha: float) -> list[str]:
    known = sorted(row["r12"] for row in rows if not math.isnan(row["r12"]))
    missed, found = sum(row["missed"] for row in rows), sum(row["p_adjusted"] <= alpha for row in rows)
    said = [f"Of {counted(found, 'pair')} that a paired test finds different at {100 * alpha:g} %, a test that takes "
            f"the systems for independent misses {missed}."]
    if known:
        middle = known[len(known) // 2]
        said.append(f"The middle correlation of two systems is {middle:.2f} (from {known[0]:.2f} to {known[-1]:.2f}); "
                    "the factor says by how much the independent test takes the standard error for too large.")
    return said
