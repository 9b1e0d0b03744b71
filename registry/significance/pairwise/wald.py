"""The Wald test of systems whose scores are estimated together, from votes or ratings."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from registry.arrays import Floats, share
from registry.significance.base import ObservedPairs, Settings, Tails, Unit
from registry.significance.joint.matrix import JointMatrix
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest


class Wald(PairTest):
    """Test of a difference of two estimates, divided by its standard error.

    The standard error allows for dependent votes: those of one voter, and those on one prompt. Degrees of freedom come
    from the effective number of voters and prompts. See `significance.joint.estimates`.
    """

    name: ClassVar[str] = "wald"
    null: ClassVar[str] = "the two systems' scores are equal over all possible voters and prompts"
    assumes: ClassVar[str] = "voters and prompts are independent draws; the estimates are nearly normal"
    citation: ClassVar[str] = ("Cameron, Gelbach and Miller 2011; Bell and McCaffrey 2002")
    called: ClassVar[str] = "a Wald test with errors clustered by voter and prompt"
    families: ClassVar[tuple[str, ...] | None] = ("votes",)
    units: ClassVar[tuple[Unit, ...]] = ("vote",)
    takes_unequal: ClassVar[bool] = True

    def own_refusal(self, matrix: Matrix) -> str | None:
        if matrix.family != "votes":
            return f"{self.name} supports only votes; use --test permutation or --test bootstrap"
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
