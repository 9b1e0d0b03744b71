"""Tests that look only at which of two systems is better in each unit: the sign test and McNemar's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from registry.significance.base import Observed, PairTest, Settings, Tail
from registry.significance.lattice import log_sign_tail
from registry.significance.matrix import StatisticMatrix


@dataclass(frozen=True, repr=False)
class Sign(PairTest):
    """The exact sign test on the scores of units; units with equal scores are left out."""

    name: ClassVar[str] = "sign"
    null: ClassVar[str] = "a unit in which the systems differ is as likely to favour either"
    assumes: ClassVar[str] = "units are independent of each other; the size of a difference does not count"
    citation: ClassVar[str] = "Conover 1999, section 3.4"

    def tails(self, matrix: StatisticMatrix, pairs: Sequence[Observed], settings: Settings) -> list[Tail]:
        """Count the units that favour either system; a unit where a score is undefined is left out."""
        tails = []
        for o in pairs:
            gains = matrix.gain(matrix.score(o.a), matrix.score(o.b))
            signs = np.sign(np.nan_to_num(gains)).astype(np.int64)
            tails.append(Tail(_log_p(signs, settings.alternative), "exact"))
        return tails


@dataclass(frozen=True, repr=False)
class McNemar(Sign):
    """McNemar's exact test: the sign test where every unit is either right or wrong."""

    name: ClassVar[str] = "mcnemar"
    null: ClassVar[str] = "items that only one system gets right are as likely to be either's"
    assumes: ClassVar[str] = "items are independent of each other and each is right or wrong"
    citation: ClassVar[str] = "McNemar 1947"
    takes_clusters: ClassVar[bool] = False

    def refusal(self, matrix: StatisticMatrix) -> str | None:
        """Refuse statistics that are not right or wrong in every unit."""
        scores = matrix.score(matrix.statistics)
        if np.isin(scores, (0, 1)).all():
            return None
        return "mcnemar needs units that are right or wrong; take the sign or permutation test for graded ones"


def _log_p(steps: NDArray[np.int64], alternative: str) -> float:
    """Log p of the sum of `steps` when the sign of each is random."""
    observed = int(steps.sum())
    if alternative == "two-sided":
        return 0.0 if observed == 0 else min(0.0, math.log(2) + log_sign_tail(steps, abs(observed)))
    return log_sign_tail(steps, observed if alternative == "greater" else -observed)
