"""The Wald test of systems whose scores are estimated together, from votes or ratings."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from registry.arrays import Floats, share
from registry.families import JOINT
from registry.significance.base import ObservedPairs, Settings, Tails, Unit
from registry.significance.joint.matrix import JointMatrix
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest


class Wald(PairTest):
    """Test of a difference of two estimates, divided by its standard error.

    The standard error allows for dependent judgments: those of one person, and those on one item. Degrees of freedom
    come from the effective number of persons and items. See `significance.joint.estimates`.
    """

    name: ClassVar[str] = "wald"
    null: ClassVar[str] = "the two systems' scores are equal over all possible persons and items"
    assumes: ClassVar[str] = "persons and items are independent draws; the estimates are nearly normal"
    citation: ClassVar[str] = ("Cameron, Gelbach and Miller 2011; Bell and McCaffrey 2002")
    called: ClassVar[str] = "a Wald test with errors clustered by person and item"
    families: ClassVar[tuple[str, ...] | None] = JOINT
    units: ClassVar[tuple[Unit, ...]] = ("judgment",)
    takes_unequal: ClassVar[bool] = True

    def own_refusal(self, matrix: Matrix) -> str | None:
        if matrix.family not in JOINT:
            return f"{self.name} supports only votes and ratings; use --test permutation or --test bootstrap"
        return None

    def gives_intervals(self, matrix: Matrix) -> bool:  # noqa: ARG002
        """Return True: the test computes its own confidence intervals."""
        return True

    def score_intervals(self, matrix: Matrix, settings: Settings) -> Floats:
        assert isinstance(matrix, JointMatrix)
        return matrix.score_intervals(settings.confidence)

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        assert isinstance(pairs.matrix, JointMatrix)
        is_two_sided = settings.alternative == "two-sided"
        confidence = settings.confidence if is_two_sided else 2 * settings.confidence - 1
        found = pairs.matrix.compare(pairs.a, pairs.b, confidence)
        log_p, low, high = found.log_p, found.low, found.high
        if not is_two_sided:
            is_expected = (found.differences > 0) == (settings.alternative == "greater")
            log_p = np.where(is_expected, log_p - math.log(2), np.log1p(-np.exp(log_p) / 2))
            low, high = (low, np.full_like(high, np.inf)) if settings.alternative == "greater" else (
                np.full_like(low, -np.inf), high)
        statistic = share(np.abs(found.differences), found.errors)
        return Tails.make(log_p, "asymptotic", statistic=statistic, ci_low=low, ci_high=high)
