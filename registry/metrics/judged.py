"""Means of what people would say, of items that all have an automatic judge's score and of which some have people's.

The judge's mean over all items is corrected by what people say of some: with a slope b, the score is the mean of
people's scores plus b times what the judge's mean is higher over all items than over those (the regression estimator of
survey sampling; Cochran 1977, chapter 7). With the slope that makes its error least it is the prediction-powered mean
with power tuning (PPI++; Angelopoulos, Duchi and Zrnic 2023), whose lambda is b times the share of items that people
did not look at. Slope and score are functions of sums over items, so a resample tunes its slope anew.
"""

from __future__ import annotations

from typing import Literal

from registry.arrays import Floats
from registry.errors import InputError
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.judged import COLUMNS, columns, corrected
from registry.metrics.base import UNBOUNDED, AdditiveMetric

_EMPTY = (0.0,) * (16 - len(COLUMNS))


class JudgedMean(AdditiveMetric):
    """The mean of people's scores, estimated from a judge's scores of all items and people's of some.

    `slope` is how much of the judge's mean is taken: 0 leaves people's scores alone, 1 is the difference estimator, and
    without it the slope with the least error is taken. `better` says which scores are the better ones.
    """

    called = "mean of people's scores, estimated with a judge"
    takes = "judged"
    family = "additive"
    citation = "Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023 (PPI++); Cochran 1977, chapter 7"
    scorer = "ppi-python"
    unbounded = True
    score_range = UNBOUNDED
    filled = FAMILIES["additive"].columns[:len(COLUMNS)]

    better: Literal["higher", "lower"] = "higher"  # type: ignore[misc]  # an option here
    slope: float | None = None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give what the item adds to the sums that `registry.judged.COLUMNS` names, then zeros."""
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
        return corrected(sums, self.slope)
