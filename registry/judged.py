"""Estimates of people's mean score, if an automatic judge scored all items and people scored a sample of them.

The estimate is the mean of people's scores plus slope * (judge's mean over all items - judge's mean over the items that
people judged) (`registry.metrics.scores`). The difference of two systems is estimated in the same way from the
differences of their scores in each item, with a slope of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from registry.arrays import Floats, Ints, share

Units = Ints
Number = TypeVar("Number", float, Floats)

# Terms that an item adds to the sums. Those in the second line are 0 unless people judged the item. w is 1 over the
# probability that people judge the item, and a = w - 1 is its weight in the slope. In a simple random sample, w and a
# are 1, because all probabilities are equal.
COLUMNS = ("items", "judge", "a", "a judge", "a judge judge",
           "labelled", "w", "w human", "w judge", "w a", "w a human", "w a judge", "w a human judge")
ITEMS, JUDGE, SLOPE_WEIGHT = (COLUMNS.index(name) for name in ("items", "judge", "a"))
LABELLED, WEIGHT, WEIGHTED_HUMAN, WEIGHTED_JUDGE = (
    COLUMNS.index(name) for name in ("labelled", "w", "w human", "w judge"))
# columns that depend neither on people's scores nor on the judge's
WITHOUT_SCORES = (ITEMS, SLOPE_WEIGHT, LABELLED, WEIGHT, COLUMNS.index("w a"))
# judged items; with fewer, intervals contain the true value too rarely (tests.validity.judged_rows)
FEW_LABELLED = 50
FEW_FOR_T = 20  # the same for tests with Student's t, which allows for small samples
# effective number of judged items, if items have different probabilities (docs/manifest.md)
FEW_WEIGHTED = 100


def make_columns(judge: Number, human: Number, w: Number, a: Number) -> tuple[Number | float, ...]:
    """Compute the numbers per item from which human scores are estimated.

    An automatic judge has scored all items, and people have scored some. The sums of these numbers over items are
    sufficient for all estimates in this module; `COLUMNS` lists their names.

    Args:
        judge: The automatic judge's score of an item, or an array of scores.
        human: People's score; ignored if people did not judge the item.
        w: 1 over the probability that people judge the item, or 1 in a simple random sample; 0 if people did not judge
            the item.
        a: The weight of the item in the estimate of the slope.
    """
    ones = w * 0.0 + 1.0
    return (ones, judge, a, a * judge, a * judge * judge,
            ones * (w > 0), w, w * human, w * judge, w * a, w * a * human, w * a * judge, w * a * human * judge)


def estimate_mean(sums: Floats, slope: float | None) -> Floats:
    """Estimate people's mean score of all items, although they judged only a sample.

    An automatic judge's scores of all items improve the estimate: people's mean + slope * (judge's mean of all items -
    judge's mean of the sample). The result is nan if people judged no item.

    Args:
        sums: Sums of the columns in `COLUMNS`, [..., columns].
        slope: The factor `slope`; None: the slope with the smallest standard error.
    """
    items, judge, *_, w, w_human, w_judge = np.moveaxis(sums, -1, 0)[:9]
    slopes = compute_slopes(sums) if slope is None else slope
    return share(w_human, w) + slopes * (share(judge, items) - share(w_judge, w))


def compute_slopes(sums: Floats) -> Floats:
    """Compute the weight of the judge's scores with the smallest standard error.

    The weight is used in `estimate_mean`. It is the covariance of people's and the judge's scores, divided by the
    variance of the judge's scores of all items, or 0 if the judge gives all items the same score.

    Args:
        sums: Sums of the columns in `COLUMNS`, [..., columns].
    """
    (items, judge, a, a_judge, a_judge_2, _, w, w_human, w_judge, w_a, w_a_human, w_a_judge,
     w_a_both) = np.moveaxis(sums, -1, 0)[:13]
    of_people, of_judge, of_all = share(w_human, w), share(w_judge, w), share(judge, items)
    together = share(w_a_both - of_people * w_a_judge - of_judge * w_a_human + of_people * of_judge * w_a, w)
    spread = share(a_judge_2 - 2 * of_all * a_judge + of_all**2 * a, items - 1)
    is_flat = ~(spread > 1e-12 * share(a_judge_2, items))
    return np.where(is_flat, 0.0, share(together, np.where(is_flat, 1.0, spread)))


def compute_influences(statistics: Floats, slope: Floats) -> Floats:
    """Compute how much each item moves the estimate of people's mean score.

    The sum of the squared influences is the squared standard error. If people judged a simple random sample, the
    standard error equals that of the package ppi-python.

    Args:
        statistics: Statistics of one system, [items, columns].
        slope: The weight of the judge's scores.

    Returns:
        The influences, [items].
    """
    # In a simple random sample, the number of judged items is fixed. So influences have the mean 0 among judged items
    # and among other items.
    items, judge, _, _, _, labelled, w, w_human, w_judge = statistics.sum(axis=0)[:9]
    of_items, of_judge, of_labelled = statistics[:, ITEMS], statistics[:, JUDGE], statistics[:, LABELLED] > 0
    mean = share(w_human - slope * w_judge, w)
    moved = slope * (of_judge - of_items * judge / items) / items + (
        statistics[:, WEIGHTED_HUMAN] - slope * statistics[:, WEIGHTED_JUDGE] - mean * statistics[:, WEIGHT]) / w
    if labelled == w:
        for group in (of_labelled, ~of_labelled):
            moved[group] -= moved[group].mean() if group.any() else 0
    return np.asarray(moved)


def compute_error(influence: Floats, units: Units | None) -> float:
    """Return the standard error of an estimate from the influences of the items.

    Args:
        influence: The influence of each item, [items].
        units: The number of each item's cluster, [items]: influences are first summed in each cluster. None if items
            are independent.
    """
    summed: Floats = influence if units is None else np.bincount(units, influence).astype(np.float64)
    return math.sqrt(float((summed**2).sum()))


def subtract_statistics(a: Floats, b: Floats, *, lower: bool) -> Floats:
    """Compute statistics from which the score difference of two systems is estimated.

    The difference is positive if A is better. An item counts as judged by people if people judged it for both systems.
    If items have different probabilities, and people judged different items of A and of B, then the probability that
    they judge both is unknown. In this case no item counts as judged.

    Args:
        a: Statistics of system A, [items, columns].
        b: Statistics of system B, [items, columns].
        lower: True if lower scores are better.

    Returns:
        The statistics, [items, columns].
    """
    of_a, of_b = a[:, LABELLED] > 0, b[:, LABELLED] > 0
    w = np.where(of_a & of_b & (is_random(a) or np.array_equal(of_a, of_b)), a[:, WEIGHT], 0.0)
    divisor = np.where(w > 0, w, 1.0)
    sign = -1.0 if lower else 1.0
    human = sign * (np.where(w > 0, a[:, WEIGHTED_HUMAN], 0.0) - np.where(w > 0, b[:, WEIGHTED_HUMAN], 0.0)) / divisor
    return np.stack(make_columns(sign * (a[:, JUDGE] - b[:, JUDGE]), human, w, a[:, SLOPE_WEIGHT]), axis=1)


@dataclass(frozen=True)
class Estimate:
    """Estimate of people's mean score, from the scores of people and of a judge.

    The numbers are nan if people judged fewer than two items.

    Attributes:
        score: The estimated mean.
        error: The standard error of the score.
        alone: The standard error of the mean of people's scores, without the judge.
        slope: The weight of the judge's scores.
        labelled: The number of items that people judged.
    """

    score: float
    error: float
    alone: float
    slope: float
    labelled: int


def estimate(statistics: Floats, slope: float | None, units: Units | None) -> Estimate:
    """Estimate people's mean score and its standard error from statistics of items.

    Args:
        statistics: Statistics of one system, or of the difference of two systems, [items, columns].
        slope: The weight of the judge's scores; None: the weight with the smallest standard error.
        units: The number of each item's cluster, from 0, [items]; None if items are independent.
    """
    sums = statistics.sum(axis=0)
    labelled = int(sums[LABELLED])
    if labelled < 2:
        return Estimate(math.nan, math.nan, math.nan, math.nan, labelled)
    chosen = compute_slopes(sums) if slope is None else np.array(slope)
    error, alone = (compute_error(compute_influences(statistics, factor), units) for factor in (chosen, np.zeros(())))
    return Estimate(float(estimate_mean(sums, slope)), error, alone, float(chosen), labelled)


def is_random(statistics: Floats) -> bool:
    """Return True if people judged a simple random sample of the items.

    Args:
        statistics: Statistics of systems, [items, ..., columns].
    """
    return bool((statistics[..., SLOPE_WEIGHT] == 1).all())
