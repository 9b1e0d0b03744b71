"""Correlations of systems with the right numbers; what scores them is in `registry.significance.correlation`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from registry.errors import InputError
from registry.families import RESOLUTION
from registry.items import Answer, Item
from registry.metrics.base import Metric


@dataclass(frozen=True, repr=False)
class CorrelationMetric(Metric):
    """What all share; `coefficient` is the name of the one that scores pairs of numbers."""

    takes: ClassVar[str] = "score"
    family: ClassVar[str] = "pair"
    coefficient: ClassVar[str]

    def needs(self) -> tuple[str, ...]:
        """The right numbers."""
        return ("gold",)

    @property
    def has_worst(self) -> bool:
        """No pair of numbers is the worst one."""
        return False

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (the system's number, the gold's); an item without one has no worst one."""
        if answer is None:
            raise self.unanswered(item)
        return (answer.value, item.gold)

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> NDArray[np.float64]:
        """Give both numbers of many items; refuse those that only differ until they are kept.

        A correlation does not depend on the scale of the numbers, so very small ones can be told to be multiplied.
        """
        found = super().corpus_statistics(items, answers)
        for values, whose in zip(found.T, ("its score", "its right number"), strict=True):
            order = np.argsort(values)
            low, high = values[order[:-1]], values[order[1:]]
            apart = ~np.isclose(low, high, 1e-6, 1e-12 * np.abs(values).max(initial=0))  # by more than rounding
            with np.errstate(over="ignore"):  # what is so large is refused when it is to be kept
                tied = apart & (np.rint(low / RESOLUTION) == np.rint(high / RESOLUTION))
            if tied.any():
                one, other = (items[order[np.argmax(tied) + n]].key for n in (1, 0))
                raise InputError(f"{whose} and that of item {other!r} would be tied: numbers are kept as multiples of "
                                 "2^-30, so multiply all by the same number", item=one)
        return found

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        """A correlation is no function of sums."""
        raise TypeError(f"{self.name} is scored by items, not by their sums")


@dataclass(frozen=True, repr=False)
class Pearson(CorrelationMetric):
    """Pearson's r, from -1 to 1; undefined where either side has no spread."""

    name: ClassVar[str] = "Pearson"
    coefficient: ClassVar[str] = "pearson"
    citation: ClassVar[str] = "Pearson 1896"
    scorer: ClassVar[str] = "scipy (pearsonr)"


@dataclass(frozen=True, repr=False)
class Spearman(CorrelationMetric):
    """Spearman's rho, from -1 to 1: Pearson's r of the ranks, tied values having the mean of theirs."""

    name: ClassVar[str] = "Spearman"
    coefficient: ClassVar[str] = "spearman"
    citation: ClassVar[str] = "Spearman 1904"
    scorer: ClassVar[str] = "scipy (spearmanr)"


@dataclass(frozen=True, repr=False)
class Kendall(CorrelationMetric):
    """Kendall's tau-b, from -1 to 1: concordant less discordant pairs, over those that are tied on neither side."""

    name: ClassVar[str] = "Kendall"
    coefficient: ClassVar[str] = "kendall"
    citation: ClassVar[str] = "Kendall 1945"
    scorer: ClassVar[str] = "scipy (kendalltau)"
