"""Means of what people would say, of items that all have an automatic judge's score and of which some have people's.

The judge's mean over all items is corrected by what people say of some: with a slope b, the score is the mean of
people's scores plus b times what the judge's mean is higher over all items than over those (the regression estimator of
survey sampling; Cochran 1977, chapter 7). With the slope that makes its error least it is the prediction-powered mean
with power tuning (PPI++; Angelopoulos, Duchi and Zrnic 2023), whose lambda is b times the share of items that people
did not look at. Slope and score are functions of sums over items, so a resample tunes its slope anew.
"""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.base import AdditiveMetric, share

Floats = NDArray[np.float64]
Number = TypeVar("Number", float, NDArray[np.float64])

# What an item adds, and what it adds if people looked at it: w is 1 over the probability of that, and a what the item
# counts for the slope, w - 1. Where items are drawn at random w and a are 1, as all probabilities are the same.
COLUMNS = ("items", "judge", "a", "a judge", "a judge judge",
           "labelled", "w", "w human", "w judge", "w a", "w a human", "w a judge", "w a human judge")
LABELLED = COLUMNS.index("labelled")
FEW_LABELLED = 50  # items that people looked at; of fewer, intervals cover too seldom (tests.validity.judges)
_EMPTY = (0.0,) * (16 - len(COLUMNS))


class JudgedMean(AdditiveMetric):
    """The mean of people's scores, estimated from a judge's scores of all items and people's of some.

    `slope` is how much of the judge's mean is taken: 0 leaves people's scores alone, 1 is the difference estimator, and
    without it the slope with the least error is taken. `better` says which scores are the better ones.
    """

    takes = "judged"
    family = "additive"
    citation = "Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023 (PPI++); Cochran 1977, chapter 7"
    scorer = "ppi-python"
    unbounded = True

    better: Literal["higher", "lower"] = "higher"  # type: ignore[misc]  # an option here
    slope: float | None = None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give what the item adds to the sums that `COLUMNS` names, then zeros."""
        if answer is None:
            raise self.unanswered(item)
        if item.gold == 1 and "human" not in answer.value:
            raise InputError("was to be looked at by people with probability 1, and there is no score by them",
                             item=item.key)
        w = 1.0 if item.gold is None else 1 / item.gold
        a, human = 1.0 if item.gold is None else w - 1, answer.value.get("human")
        return (*columns(answer.value["judge"], human or 0.0, w * (human is not None), a), *_EMPTY)

    def score(self, sums: Floats) -> Floats:
        """Correct the mean; nan where people looked at nothing."""
        items, judge, *_, w, w_human, w_judge = np.moveaxis(sums, -1, 0)[:9]
        slope = slopes(sums) if self.slope is None else self.slope
        return share(w_human, w) + slope * (share(judge, items) - share(w_judge, w))


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


def slopes(sums: Floats) -> Floats:
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


def influences(statistics: Floats, slope: Floats) -> Floats:
    """What each item moves a score by, [items], whose squares add up to the squared standard error.

    Where items are drawn at random their number is as it is, and influences are centred over those that people looked
    at and the others: the error is then that of ppi-python.

    Args:
        statistics: Of one system, [items, columns].
        slope: Its slope.
    """
    items, judge, _, _, _, labelled, w, w_human, w_judge = statistics.sum(axis=0)[:9]
    of_items, of_judge, of_labelled = statistics[:, 0], statistics[:, 1], statistics[:, 5] > 0
    mean = share(w_human - slope * w_judge, w)
    moved = slope * (of_judge - of_items * judge / items) / items + (
        statistics[:, 7] - slope * statistics[:, 8] - mean * statistics[:, 6]) / w
    if labelled == w:
        for group in (of_labelled, ~of_labelled):
            moved[group] -= moved[group].mean() if group.any() else 0
    return np.asarray(moved)
