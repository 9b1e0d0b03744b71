"""Metrics of votes between two systems: win rate and Bradley-Terry strength.

The strength of a system depends on all votes, also those in which it takes no part. So the score of a leaderboard comes
from the votes of all of its systems (`significance.joint`), and a single submission only has its points per vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import Floats
from registry.columns import JoinedColumns
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.metrics.base import UNBOUNDED, QuotientMetric


class VoteMetric(QuotientMetric):
    """Base class of metrics of votes; scores of a leaderboard are estimated jointly from all votes."""

    takes = "vote"
    family = "votes"
    terse = True
    unbounded = True
    coefficients = ((0, 1, 0), (1, 0, 0))

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return weight, points and position of the system in one vote."""
        if answer is None:
            raise self.make_unanswered_error(item)
        return tuple(answer.value[name] for name in FAMILIES[self.family].columns)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:  # noqa: ARG002
        return np.asarray(answers.values)


class WinRate(VoteMetric):
    """Points per vote: 1 for a win, 0.5 for a tie, 0 for a loss.

    Win rates of two systems are comparable only if both met the same opponents equally often. Otherwise use
    `BradleyTerry`.
    """

    called = "win rate"
    citation = ""


class BradleyTerry(VoteMetric):
    """Strength of a system in the model of Bradley and Terry, from which the odds of winning follow.

    On the logit scale, the probability that A wins against B is 1 / (1 + exp(strength of B - strength of A)). The mean
    strength of all systems is 0. On the Elo scale, a strength is 1000 + 400 / ln(10) times the logit.

    Attributes:
        ties: Treatment of ties: half a win for each system (`half`), or a parameter for ties (`davidson`).
        order: True to estimate an advantage of the system that is shown first.
        scale: Scale of the strengths.
    """

    called = "Bradley-Terry strength"
    citation = "Bradley and Terry 1952; ties=davidson: Davidson 1970"
    scorer = "choix"
    score_range = UNBOUNDED
    decimals: ClassVar[int] = 3

    ties: Literal["half", "davidson"] = "half"
    order: bool = False
    scale: Literal["logit", "elo"] = "logit"

    @property
    def quotient(self) -> None:  # type: ignore[override]
        return None

    def score(self, sums: Floats) -> Floats:
        """Return nan: the votes of a single system do not determine its strength."""
        return np.full(sums.shape[:-1], np.nan)
