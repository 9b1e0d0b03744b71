"""Build the matrices from which scores and tests are computed.

Statistics with decimals are counted in steps such as 0.01, so that they are whole numbers and sums are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from registry.arrays import Floats, Ints, share
from registry.errors import InputError
from registry.families import finest_places
from registry.messages import Message, Messages
from registry.metrics import (
    AdditiveMetric,
    AdjustedMean,
    BradleyTerry,
    ConfusionMetric,
    CorrelationMetric,
    JointMetric,
    JudgedMean,
    Metric,
)
from registry.significance import COEFFICIENTS, JointMatrix, Matrix, PairMatrix, StatisticMatrix
from registry.significance.matrix import JudgedItems, Statistics

if TYPE_CHECKING:  # these modules import scipy
    from registry.significance.joint.ratings import LeastSquares
    from registry.significance.joint.votes import Votes

_NOISE = 2.0**-50  # relative error of a decimal times a power of ten


@dataclass(frozen=True)
class Steps:
    """Step sizes, such as 0.01, by which statistics are converted to whole numbers.

    In steps of 0.01, the value 0.25 is 25. Sums of whole numbers are exact.

    Attributes:
        per_one: For each column the number of steps in 1: 100 if statistics are counted in steps of 0.01.
        rounding: The step size if statistics with more digits are rounded to steps; otherwise 0.
        largest: The largest absolute value in columns with decimals; 0 if all statistics are whole numbers.
    """

    per_one: tuple[int, ...]
    rounding: float = 0.0
    largest: float = 0.0

    @classmethod
    def choose(cls, metric: Metric, statistics: Sequence[Floats], step: float) -> Steps:
        """Choose the step size of each column, so that values are whole numbers of steps.

        The step is 1 for columns of whole numbers, and for correlations, because their statistics are not summed.

        Args:
            metric: The metric.
            statistics: Statistics of each system, [items, runs, columns].
            step: The smallest step of a single system. If sums would not be exact, a larger step is chosen.
        """
        width = statistics[0].shape[-1]
        if step == 1 or isinstance(metric, CorrelationMetric):
            return cls((1,) * width)
        is_whole = np.ones(width, dtype=bool)
        largest, largest_sums = np.zeros(width), np.zeros(width)
        for system in statistics:
            sizes = np.abs(system).reshape(-1, width)
            is_whole &= [np.array_equal(sizes[:, n], np.rint(sizes[:, n])) for n in range(width)]
            largest = np.maximum(largest, sizes.max(axis=0, initial=0))
            largest_sums = np.maximum(largest_sums, sizes.sum(axis=0))
        if is_whole.all():
            return cls((1,) * width)
        per_one = 10**min(round(-math.log10(step)), *(finest_places(float(largest[n]), float(largest_sums[n]))
                                                      for n in np.flatnonzero(~is_whole)))
        steps = cls(tuple(np.where(is_whole, 1, per_one).tolist()), 1 / per_one, float(largest[~is_whole].max()))
        return steps if any(steps._needs_rounding(system) for system in statistics) else replace(steps, rounding=0.0)

    def _needs_rounding(self, statistics: Floats) -> bool:
        # smaller differences from whole numbers of steps are the noise of binary fractions
        scaled = statistics * np.array(self.per_one, dtype=np.float64)
        return bool((np.abs(scaled - np.rint(scaled)) > _NOISE * np.abs(scaled)).any())

    def count_new_ties(self, statistics: Sequence[Floats]) -> int:
        """Count items for which rounding makes different statistics of two systems equal.

        Args:
            statistics: Statistics of each system, [items, runs, columns]; the method compares averages over runs.
        """
        if not self.rounding:
            return 0
        is_tied = np.zeros(len(statistics[0]), dtype=bool)
        for n in np.flatnonzero(np.array(self.per_one) > 1):
            values = np.sort(np.stack([system[..., n].mean(axis=1) for system in statistics], axis=1), axis=1)
            differs = np.diff(values, axis=1) > _NOISE * 4 * np.abs(values[:, 1:])
            is_tied |= (differs & (np.diff(np.rint(values * self.per_one[n]), axis=1) == 0)).any(axis=1)
        return int(is_tied.sum())

    @property
    def are_ones(self) -> bool:
        """True if all steps are 1, because the statistics are whole numbers."""
        return set(self.per_one) <= {1}

    def to_steps(self, statistics: Floats) -> Floats:
        """Convert statistics, [..., columns], to numbers of steps: 0.25 -> 25.

        Numbers are rounded half to even.
        """
        return statistics if self.are_ones else np.rint(statistics * np.array(self.per_one, dtype=np.float64)) + 0.0


@dataclass(frozen=True, eq=False)
class Counts:
    """Statistics of systems (or runs), converted to whole numbers.

    Numbers are counted in steps: in steps of 0.01, the value 0.25 is 25.

    Attributes:
        statistics: Numbers of steps times `multiple`, [items, systems, columns].
        steps: The step sizes, such as 0.01.
        multiple: Factor that makes averages over runs whole numbers; 1 if there is one run.
    """

    statistics: Statistics
    steps: Steps
    multiple: int

    @classmethod
    def from_statistics(cls, statistics: Floats, steps: Steps | None = None) -> Counts:
        """Convert statistics, [items, systems, columns], to whole numbers of steps.

        Args:
            statistics: The statistics.
            steps: The step sizes; None: the statistics are whole numbers.
        """
        unit_steps = Steps((1,) * statistics.shape[-1])
        return Counts(statistics if steps is None else steps.to_steps(statistics), steps or unit_steps, 1)


def build_matrix(metric: Metric, counts: Counts, units: Ints | None = None, strata: Ints | None = None, *,
                 runs: tuple[Floats, ...] | None = None, unequal: bool = False) -> Matrix:
    """Build the object that computes scores and on which tests run.

    Args:
        metric: The metric.
        counts: Statistics of the systems (or of the runs of one system), as whole numbers.
        units: For each item the number of its cluster, [items]; None: items are the units.
        strata: For each item the number of its stratum, [items]; None: there is one stratum.
        runs: For each system the statistics of its runs, [items, runs, columns]; None: runs are a fixed effect.
        unequal: True if some systems lack items that other systems have.
    """
    metric = metric.original
    statistics, lower = counts.statistics, metric.better == "lower"
    if isinstance(metric, CorrelationMetric):
        return PairMatrix(statistics[:], units=units, strata=strata, lower_is_better=lower, runs=runs,
                          coefficient=COEFFICIENTS[metric.coefficient], score_range=metric.score_range)
    assert isinstance(metric, AdditiveMetric)
    per_one = counts.steps.per_one
    finest = max(per_one, default=1)
    factors = tuple(finest // column for column in per_one)  # convert a column's steps to the smallest step
    quotient = None
    if metric.quotient is not None:
        numerator, denominator = (
            tuple(c * factor for c, factor in zip(side, factors, strict=True)) for side in metric.quotient)
        quotient = numerator, denominator
    scorer = _StepScorer(metric, factors, 1 if quotient else finest * counts.multiple)
    judged = JudgedItems(scorer.to_ones, metric.slope, lower) if isinstance(metric, JudgedMean) else None
    return StatisticMatrix(
        statistics, metric.score if scorer.is_trivial else scorer, units=units, strata=strata, lower_is_better=lower,
        family=metric.family, multiple=counts.multiple, quotient=quotient, runs=runs, unequal=unequal,
        rounding=counts.steps.rounding, judged=judged, score_range=metric.score_range,
        classes=metric.combines if isinstance(metric, ConfusionMetric) else "pooled")


def build_joint_matrix(metric: JointMetric, counts: Counts, groups: Mapping[str, Ints],
                       names: Sequence[str]) -> JointMatrix:
    """Estimate the scores of all systems from their judgments.

    Args:
        metric: The metric.
        counts: Statistics of every system for every judgment, as whole numbers.
        groups: For each attribute, such as `voter`, the number of the value of each judgment.
        names: Names of the systems.

    Raises:
        InputError: The judgments do not determine the differences of all systems.
    """
    matrix = JointMatrix(
        counts.statistics, family=metric.family, score_range=metric.score_range, unequal=True,
        systems=np.arange(counts.statistics.shape[1]), **_estimate(metric, counts, groups, names))
    if isinstance(metric, BradleyTerry) and metric.scale == "elo":
        return replace(matrix, factor=400 / math.log(10), offset=1000.0)
    return matrix


def _estimate(metric: JointMetric, counts: Counts, groups: Mapping[str, Ints], names: Sequence[str]) -> dict[str, Any]:
    """Return the values of `JointMatrix` that an estimator computes."""
    if isinstance(metric, AdjustedMean):
        model = _build_rating_model(metric, counts, groups)
        if reason := model.explain_refusal(names):
            raise InputError(str(reason))
        return {"estimates": model.estimates, "offset": float(model.means.mean()), "warnings": model.warnings,
                "groups": _count_groups(groups), "random_kinds": tuple(
                    {"item": "rated"}.get(kind, kind) for kind in model.groups), "effects": {}}
    from registry.significance.joint.estimates import LEAST_GROUPS
    from registry.significance.joint.votes import compute_win_rates, fit_bradley_terry

    votes, warnings = _collect_votes(counts, groups), list[Message]()
    described: dict[str, Any] = {"groups": _count_groups(votes.groups), "effects": {}}
    n_voters = len(np.unique(votes.groups.get("voter", np.arange(LEAST_GROUPS))))
    if n_voters < LEAST_GROUPS:  # too few to estimate how much voters differ
        votes = replace(votes, groups={name: numbers for name, numbers in votes.groups.items() if name != "voter"})
        warnings.append(Message("few-groups", {"groups": n_voters, "kind": "voter", "least": LEAST_GROUPS}))
    described["random_kinds"] = tuple(votes.groups)
    if not isinstance(metric, BradleyTerry):
        rates = compute_win_rates(votes)
        return described | {"estimates": rates, "warnings": Messages((*warnings, *rates.warnings))}
    order = np.ones(len(votes), dtype=np.int64) if metric.order else None
    strengths = fit_bradley_terry(replace(votes, order=order), ties=metric.ties)
    if unscored := [names[n] for n in np.flatnonzero(np.isnan(strengths.scores)).tolist()]:
        warnings.append(Message("unconnected-systems", {"systems": unscored}))
    effects = strengths.nuisance.estimate_scores()
    known = [*(["order"] if metric.order else []), *(["ties"] if metric.ties == "davidson" else [])]
    described["effects"] = {name: tuple(float(values[n]) for values in (effects.differences, effects.low, effects.high))
                            for n, name in enumerate(known[:len(effects.differences)])}
    return described | {"estimates": strengths, "warnings": Messages((*warnings, *strengths.warnings))}


def _count_groups(groups: Mapping[str, Ints]) -> dict[str, int]:
    return {name: len(np.unique(numbers)) for name, numbers in groups.items()}


def _collect_votes(counts: Counts, groups: Mapping[str, Ints]) -> Votes:
    """Combine the sides of each vote; votes against systems that are not on the leaderboard are left out."""
    from registry.significance.joint.votes import Votes

    n_votes, n_systems, _ = counts.statistics.shape
    sides = np.full((2, n_votes), -1)
    weights, points = np.zeros((2, n_votes))
    for n in range(n_systems):
        system = counts.statistics[:, n] / np.array(counts.steps.per_one)
        for position in (1, 2):
            sides[position - 1, system[:, 2] == position] = n
        is_first = system[:, 2] == 1
        weights[is_first], points[is_first] = system[is_first, 0], system[is_first, 1]
    chosen = (sides >= 0).all(axis=0)
    first, second = sides[:, chosen]
    return Votes(first, second, share(points, weights)[chosen], n_systems,
                 weights=None if (weights[chosen] == 1).all() else weights[chosen],
                 groups={name: numbers[chosen] for name, numbers in groups.items()})


def _build_rating_model(metric: AdjustedMean, counts: Counts, groups: Mapping[str, Ints]) -> LeastSquares:
    from registry.significance.joint.ratings import EFFECTS, LeastSquares, Ratings, standardize

    n_ratings, n_systems, _ = counts.statistics.shape
    systems = np.full(n_ratings, -1)
    weights, scores = np.zeros((2, n_ratings))
    for n in range(n_systems):
        system = counts.statistics[:, n] / np.array(counts.steps.per_one)
        is_own = system[:, 0] > 0
        systems[is_own] = n
        weights[is_own], scores[is_own] = system[is_own].T
    ratings = Ratings(systems, groups.get("rated", np.arange(n_ratings)), groups.get("annotator"), scores / weights,
                      None if (weights == 1).all() else weights, groups.get("document"))
    if metric.standardize:
        ratings = standardize(ratings)
    has_annotators = ratings.annotator is not None
    effects = [name for name in EFFECTS if name in metric.adjusts_for and (name == "item" or has_annotators)]
    return LeastSquares(ratings, effects)


def compute_scores(metric: Metric, counts: Counts) -> Floats:
    """Compute the scores of systems (or runs) from their statistics, [systems]."""
    return build_matrix(metric, counts).scores()


@dataclass(frozen=True)
class _StepScorer:
    """Function that computes scores from sums of whole numbers.

    Statistics are stored as whole numbers of steps: in steps of 0.01, the value 0.25 is 25. The function multiplies the
    sum of each column by a factor, so that all columns have the smallest step, and divides by the number of these steps
    in 1.

    Attributes:
        metric: The metric.
        factors: The factor of each column.
        divisor: The number of steps in 1. It is 1 if the score is a quotient, because the numbers of numerator and
            denominator cancel out.
    """

    metric: AdditiveMetric
    factors: tuple[int, ...]
    divisor: int

    @property
    def is_trivial(self) -> bool:
        """True if sums need no conversion, because all steps are 1."""
        return self.divisor == 1 and set(self.factors) <= {1}

    def to_ones(self, counts: Floats) -> Floats:
        """Convert numbers of steps, [..., columns], to the metric's scale: 25 -> 0.25."""
        return counts * np.array(self.factors, dtype=np.float64) / self.divisor

    def __call__(self, sums: Floats) -> Floats:
        return self.metric.score(self.to_ones(sums))
