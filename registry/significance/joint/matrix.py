"""The matrix of a leaderboard whose scores are estimated together, from votes or ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from registry.arrays import Floats, Ints
from registry.errors import InputError
from registry.messages import Messages
from registry.significance.matrix import Matrix, select_systems

if TYPE_CHECKING:  # these modules import scipy
    from registry.significance.base import Settings
    from registry.significance.joint.estimates import Comparisons
    from registry.significance.rank_sets import RankSets


class Estimates(Protocol):
    """Scores that are estimated together, and comparisons of systems."""

    @property
    def scores(self) -> Floats:
        """Score of every system, [systems]; higher is better."""

    def compare(self, a: Ints, b: Ints, *, confidence: float = 0.95) -> Comparisons:
        """Compare pairs of systems."""

    def estimate_scores(self, *, confidence: float = 0.95) -> Comparisons:
        """Return the scores with their errors, in the form of differences from 0."""

    def compute_rank_sets(self, settings: Settings, *, alpha: float = 0.05) -> RankSets:
        """Compute simultaneous confidence sets of the ranks."""


@dataclass(frozen=True, eq=False)
class JointMatrix(Matrix):
    """Systems whose scores are estimated together.

    The score of a system depends on the observations of all systems. So observations cannot be permuted, and there are
    no statistics whose sums give the score. `statistics` only says which observations a system has.

    Attributes:
        estimates: Estimates of all systems.
        systems: Index of each system in `estimates`, [systems].
        warnings: Warnings about the estimates.
        groups: Number of groups of dependent judgments by their kind, such as `{"voter": 40, "prompt": 60}`.
        random_kinds: Kinds of groups that are a sample, so that results also hold for other groups.
        effects: Other parameters of the model with their confidence intervals, such as the advantage of the first
            system: estimate, low, high.
        factor, offset: The scores are factor * estimate + offset.
    """

    _: KW_ONLY
    estimates: Estimates
    systems: Ints
    warnings: Messages
    groups: Mapping[str, int]
    random_kinds: tuple[str, ...]
    effects: Mapping[str, tuple[float, float, float]]
    factor: float = 1.0
    offset: float = 0.0

    @property
    def by_unit(self) -> JointMatrix:
        """This object itself; `estimates` has the groups of observations."""
        return self

    def describe(self) -> dict[str, Any]:
        """Return a JSON object that describes the estimates, without names of systems."""
        from registry.significance.joint.estimates import LEAST_GROUPS

        return {"judgments": self.n_units, "least": LEAST_GROUPS, "groups": dict(self.groups),
                "random": list(self.random_kinds),
                "effects": {name: list(values) for name, values in self.effects.items()}}

    def scores(self) -> Floats:
        return self.offset + self.factor * self.estimates.scores[self.systems]

    def jackknife(self) -> Floats:
        raise InputError("scores are estimated from the votes or ratings of all systems together, and this analysis "
                         "does not support that")

    def select_systems(self, chosen: Sequence[int]) -> JointMatrix:
        return replace(self, statistics=select_systems(self.statistics, chosen), systems=self.systems[list(chosen)])

    def compare(self, a: Ints, b: Ints, confidence: float) -> Comparisons:
        """Compare pairs of systems, on the scale of the scores.

        Args:
            a: Indices of the first systems, [pairs].
            b: Indices of the second systems, [pairs].
            confidence: Confidence level of the intervals.
        """
        found = self.estimates.compare(self.systems[a], self.systems[b], confidence=confidence)
        return replace(found, **{name: self.factor * getattr(found, name)
                                 for name in ("differences", "errors", "low", "high")})

    def score_intervals(self, confidence: float) -> Floats:
        """Return the confidence intervals of the scores, [systems, 2]."""
        scores = self.estimates.estimate_scores(confidence=confidence)
        low, high = (self.offset + self.factor * ends[self.systems] for ends in (scores.low, scores.high))
        return np.stack([low, high], axis=1)

    def compute_rank_sets(self, settings: Settings, alpha: float) -> RankSets:
        """Compute simultaneous confidence sets of the ranks among all systems of the estimates."""
        sets = self.estimates.compute_rank_sets(settings, alpha=alpha)
        sets = replace(sets, lead_low=self.factor * sets.lead_low, lead_high=self.factor * sets.lead_high)
        return replace(sets, wins=sets.wins[np.ix_(self.systems, self.systems)], **{
            field.name: getattr(sets, field.name)[self.systems] for field in fields(sets) if field.name != "wins"})
