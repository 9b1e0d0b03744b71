"""Metrics of people's judgments: votes between two systems, and ratings of single systems.

The score of a system depends on the judgments of all systems, for example through the items that they share. So the
scores of a leaderboard are estimated together (`significance.joint`), and a single submission has no score of its own,
except its points per vote or its mean rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from registry.arrays import Floats
from registry.columns import JoinedColumns
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.metrics.base import UNBOUNDED, QuotientMetric


class JointMetric(QuotientMetric):
    """Base class of metrics whose scores of a leaderboard are estimated together, from judgments of all systems.

    Attributes:
        groups: Attributes of items that make judgments dependent, such as the voter.
    """

    terse = True
    unbounded = True
    groups: ClassVar[tuple[str, ...]]

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the numbers of one judgment."""
        if answer is None:
            raise self.make_unanswered_error(item)
        return tuple(answer.value[name] for name in FAMILIES[self.family].columns)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:  # noqa: ARG002
        return np.asarray(answers.values)


class _Undefined(JointMetric):
    """Base class of metrics that give a single submission no score."""

    @property
    def quotient(self) -> Any:
        return None

    def score(self, sums: Floats) -> Floats:
        """Return nan: the judgments of a single system do not determine its score."""
        return np.full(sums.shape[:-1], np.nan)


class WinRate(JointMetric):
    """Points per vote: 1 for a win, 0.5 for a tie, 0 for a loss.

    Win rates of two systems are comparable only if both met the same opponents equally often. Otherwise use
    `BradleyTerry`.
    """

    called = "win rate"
    citation = "that of the votes"
    takes = "vote"
    family = "votes"
    groups = ("prompt", "voter")
    coefficients = ((0, 1, 0), (1, 0, 0))


class BradleyTerry(_Undefined):
    """Strength of a system in the model of Bradley and Terry, from which the odds of winning follow.

    On the logit scale, the probability that A wins against B is 1 / (1 + exp(strength of B - strength of A)). The mean
    strength of all systems is 0. On the Elo scale, a strength is 1000 + 400 / ln(10) times the logit.

    Attributes:
        ties: Treatment of ties: half a win for each system (`half`), or a parameter for ties (`davidson`).
        order: True to estimate an advantage of the first system.
        scale: Scale of the strengths.
    """

    called = "Bradley-Terry strength"
    citation = "Bradley and Terry 1952; ties=davidson: Davidson 1970"
    scorer = "choix"
    takes = "vote"
    family = "votes"
    groups = ("prompt", "voter")
    score_range = UNBOUNDED
    decimals: ClassVar[int] = 3

    ties: Literal["half", "davidson"] = "half"
    order: bool = False
    scale: Literal["logit", "elo"] = "logit"


class AdjustedMean(_Undefined):
    """Mean rating of a system, adjusted for the items and the annotators that it happened to get.

    Least squares estimates an effect of each system, each item and each annotator from all ratings. So a system is
    neither rewarded for easy items nor for lenient annotators. With complete ratings, it is the mean rating.

    Attributes:
        adjusts_for: Effects in the model, in addition to those of systems.
        standardize: True to replace ratings by z-scores of each annotator, as WMT does.
    """

    called = "adjusted mean rating"
    citation = "that of the ratings"
    scorer = "statsmodels"
    takes = "rating"
    family = "ratings"
    groups = ("rated", "document", "annotator")
    score_range = UNBOUNDED
    decimals: ClassVar[int] = 3

    adjusts_for: Literal["item and annotator", "item", "annotator", "nothing"] = "item and annotator"
    standardize: bool = False
