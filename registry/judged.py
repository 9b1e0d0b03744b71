"""Items that a judge has scored, and people some of them: what they add to sums, and what these say of people's mean.

A score is the mean of people's scores plus a slope times what the judge's mean is higher over all items than over those
that people looked at (`registry.metrics.scores`). The difference of two systems is such a score too, of what item after
item one is better by, and has a slope of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from registry.arrays import Floats, Ints, share

Units = Ints
Number = TypeVar("Number", float, Floats)

# What an item adds, and what it adds if people looked at it: w is 1 over the probability of that, and a what the item
# counts for the slope, w - 1. Where items are drawn at random w and a are 1, as all probabilities are the same.
COLUMNS = ("items", "judge", "a", "a judge", "a judge judge",
           "labelled", "w", "w human", "w judge", "w a", "w a human", "w a judge", "w a human judge")
ITEMS, JUDGE, SLOPE_WEIGHT = (COLUMNS.index(name) for name in ("items", "judge", "a"))
LABELLED, WEIGHT, WEIGHTED_HUMAN, WEIGHTED_JUDGE = (
    COLUMNS.index(name) for name in ("labelled", "w", "w human", "w judge"))
# columns that depend on neither the scores of people nor of the judge
WITHOUT_SCORES = (ITEMS, SLOPE_WEIGHT, LABELLED, WEIGHT, COLUMNS.index("w a"))
# items that people looked at; of fewer, intervals cover too seldom (tests.validity.judged_rows)
FEW_LABELLED = 50
FEW_FOR_T = 20  # where t allows for how few they are
# equal ones as which those tell that people looked at with probabilities of their own (docs/manifest.md)
FEW_WEIGHTED = 100


def columns(judge: Number, human: Number, w: Number, a: Number) -> tuple[Number | float, ...]:
    """What items add to the sums that `COLUMNS` names, one by one or all of a test set.

    Args:
        judge: The judge's score.
        human: People's score; anything where they did not look.
        w: 1 over the probability that they look, 1 where items are drawn at random; 0 where they did not look.
        a: What the item counts for the slope.
    """
    one = w * 0.0 + 1.0
    return (one, judge, a, a * judge, a * judge * judge,
            one * (w > 0), w, w * human, w * judge, w * a, w * a * human, w * a * judge, w * a * human * judge)


def corrected(sums: Floats, slope: float | None) -> Floats:
    """People's mean, from sums [..., columns]; nan where they looked at nothing.

    Args:
        sums: Of the columns that `COLUMNS` names.
        slope: How much of the judge's mean is taken; None: the slope with the least error.
    """
    items, judge, *_, w, w_human, w_judge = np.moveaxis(sums, -1, 0)[:9]
    taken = compute_slopes(sums) if slope is None else slope
    return share(w_human, w) + taken * (share(judge, items) - share(w_judge, w))


def compute_slopes(sums: Floats) -> Floats:
    """The slope with the least error, from sums [..., columns]; 0 where the judge says the same of all items.

    It is the covariance of people's and the judge's scores over the variance of the judge's over all items.
    """
    (items, judge, a, a_judge, a_judge_2, _, w, w_human, w_judge, w_a, w_a_human, w_a_judge,
     w_a_both) = np.moveaxis(sums, -1, 0)[:13]
    of_people, of_judge, of_all = share(w_human, w), share(w_judge, w), share(judge, items)
    together = share(w_a_both - of_people * w_a_judge - of_judge * w_a_human + of_people * of_judge * w_a, w)
    spread = share(a_judge_2 - 2 * of_all * a_judge + of_all**2 * a, items - 1)
    is_flat = ~(spread > 1e-12 * share(a_judge_2, items))
    return np.where(is_flat, 0.0, share(together, np.where(is_flat, 1.0, spread)))


def compute_influences(statistics: Floats, slope: Floats) -> Floats:
    """What each item moves a score by, [items], whose squares add up to the squared standard error.

    Where items are drawn at random their number is as it is, and influences are centred over those that people looked
    at and the others: the error is then that of ppi-python.

    Args:
        statistics: Of one system, [items, columns].
        slope: Its slope.
    """
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
    """The standard error by influences [items], which are summed over units where there are some."""
    summed: Floats = influence if units is None else np.bincount(units, influence).astype(np.float64)
    return math.sqrt(float((summed**2).sum()))


def apart(a: Floats, b: Floats, *, lower: bool) -> Floats:
    """The statistics of what item after item A's scores are better by, where people looked at both.

    Where each item has a probability of its own and people looked at other items of A than of B, it is not known with
    what probability they looked at both, and they count as if they had looked at none.

    Args:
        a: Of one system, [items, columns].
        b: Of the other one.
        lower: Whether lower scores are the better ones.
    """
    of_a, of_b = a[:, LABELLED] > 0, b[:, LABELLED] > 0
    w = np.where(of_a & of_b & (is_random(a) or np.array_equal(of_a, of_b)), a[:, WEIGHT], 0.0)
    over = np.where(w > 0, w, 1.0)
    sign = -1.0 if lower else 1.0
    human = sign * (np.where(w > 0, a[:, WEIGHTED_HUMAN], 0.0) - np.where(w > 0, b[:, WEIGHTED_HUMAN], 0.0)) / over
    return np.stack(columns(sign * (a[:, JUDGE] - b[:, JUDGE]), human, w, a[:, SLOPE_WEIGHT]), axis=1)


@dataclass(frozen=True)
class Estimate:
    """People's mean as far as a judge and a sample tell it; nan where people looked at fewer than two items.

    Attributes:
        score: The mean, with its standard `error`.
        alone: The standard error of people's scores without the judge's.
        slope: How much of the judge's mean is taken.
        labelled: How many items people looked at.
    """

    score: float
    error: float
    alone: float
    slope: float
    labelled: int


def estimate(statistics: Floats, slope: float | None, units: Units | None) -> Estimate:
    """Estimate people's mean.

    Args:
        statistics: Of one system, or of the difference of two (`apart`), [items, columns].
        slope: As of `corrected`.
        units: [items], the number from 0 of the cluster that each item belongs to; None: they belong to none.
    """
    sums = statistics.sum(axis=0)
    labelled = int(sums[LABELLED])
    if labelled < 2:
        return Estimate(math.nan, math.nan, math.nan, math.nan, labelled)
    taken = compute_slopes(sums) if slope is None else np.array(slope)
    error, alone = (compute_error(compute_influences(statistics, of), units) for of in (taken, np.zeros(())))
    return Estimate(float(corrected(sums, slope)), error, alone, float(taken), labelled)


def is_random(statistics: Floats) -> bool:
    """Whether all items had the same chance of being looked at, from statistics [items, ..., columns]."""
    return bool((statistics[..., SLOPE_WEIGHT] == 1).all())
