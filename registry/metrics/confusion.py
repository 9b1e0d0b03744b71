"""Metrics of one label per item: accuracy, and measures by class.

Measures by class need only three counts of each class: correct, predicted and gold. `evaluation.scoring.label_codes`
counts them when statistics are loaded, because the classes are the labels of the gold and of all systems.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from registry.arrays import Floats, share
from registry.columns import JoinedColumns
from registry.errors import InputError
from registry.identity import digest
from registry.items import Answer, Item
from registry.metrics.base import AdditiveMetric, FScore, QuotientMetric

NO_LABEL = 0  # of an item without an answer
Combines = Literal["pooled", "averaged", "chance-corrected"]


class Accuracy(QuotientMetric):
    """The share of items with the gold label, from 0 to 1; an item without an answer counts as wrong."""

    called = "accuracy"
    takes = "label"
    citation = "Manning, Raghavan and Schütze 2008, section 13.6"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (1 if the label is the gold's, 1)."""
        return (int(answer is not None and answer.value == item.gold), 1)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        golds = answers.coded(item.gold for item in items)
        return np.stack([answers.values == golds, np.ones(len(answers))], axis=1)


@lru_cache(maxsize=2**12)
def make_label_code(name: str) -> int:
    """Return a whole number from 1 for a label: 48 bits of its digest."""
    return 1 + int(digest(name.encode())[-12:], 16)


class ConfusionMetric(AdditiveMetric):
    """What all share; an item without an answer is in no class that is predicted.

    `combines` says how the score combines classes, as intervals need it: `pooled` counts give each item the same
    weight, `averaged` ones each class, and `chance-corrected` ones neither.
    """

    takes = "label"
    family = "confusion"
    scorer = "scikit-learn"
    combines: ClassVar[Combines] = "averaged"

    @property
    def counts_given_classes(self) -> bool:
        """True if averages include classes that only the system has."""
        return False

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Counted classes; None for all."""
        return None

    def list_option_labels(self) -> tuple[str, ...]:
        return self.classes or ()

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give the codes of the gold's label and of the system's; a registry keeps shorter numbers in their place."""
        return (make_label_code(item.gold), NO_LABEL if answer is None else make_label_code(answer.value))

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        codes = np.array([make_label_code(label) for label in answers.answers.labels or ()], dtype=np.float64)
        golds = [make_label_code(item.gold) for item in items]
        return np.stack([golds, codes[answers.values.astype(np.int64)]], axis=1)

    def score(self, sums: Floats) -> Floats:
        """Score counts of shape [..., 3 classes]: for each class correct, predicted and in the gold."""
        counts = sums.reshape(*sums.shape[:-1], sums.shape[-1] // 3, 3)
        return self.score_classes(counts[..., 0], counts[..., 1], counts[..., 2])

    @abstractmethod
    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:
        """Score counts per class: correct, predicted and in the gold, [..., classes] each."""


class _ByClass(ConfusionMetric):
    """The base of precision, recall and F by class.

    Attributes:
        average: `macro`, the mean over classes, in which 0/0 counts as 0; or `micro`, from the counts of all classes.
        labels: Averaged classes; empty for all in the gold or the system's answers. With one label the score is
            the score of its class.
    """

    terse = True
    citation = "Manning, Raghavan and Schütze 2008, section 13.6"

    average: Literal["macro", "micro"] = "macro"
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.labels)) < len(self.labels):
            raise InputError(f"option 'labels' of {self.name} names a label twice: {', '.join(self.labels)}")

    @property
    def title(self) -> str:
        """Name such as `macro-F1`, `micro-F1 of A, B`, or `F1 of A` for one class."""
        labels = f" of {', '.join(self.labels)}" if self.labels else ""
        return (self.measure if len(self.labels) == 1 else f"{self.average}-{self.measure}") + labels

    @property
    def counts_given_classes(self) -> bool:
        """True if averages include classes that only the system has."""
        return self.average == "macro" and not self.labels

    @property
    def combines(self) -> Combines:  # type: ignore[override]  # depends on an option here
        return "averaged" if self.average == "macro" else "pooled"

    @property
    @abstractmethod
    def measure(self) -> str:
        """Name of the measure for one class."""

    @property
    def classes(self) -> tuple[str, ...] | None:
        return self.labels or None

    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:
        if self.average == "micro":
            return share(*self.parts(*(counts.sum(axis=-1) for counts in (correct, predicted, gold))))
        shares = share(*self.parts(correct, predicted, gold), 0.0)
        occur = np.ones(gold.shape, dtype=bool) if self.labels else (predicted > 0) | (gold > 0)
        return share((shares * occur).sum(axis=-1), occur.sum(axis=-1).astype(np.float64))

    @abstractmethod
    def parts(self, correct: Floats, predicted: Floats, gold: Floats) -> tuple[Floats, Floats]:
        """Return numerator and denominator of each class's score."""


class LabelP(_ByClass):
    """Precision of labels: of the items that a system gives a label, the share to which the gold does."""

    measure = "precision"

    def parts(self, correct: Floats, predicted: Floats, gold: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        return correct, predicted


class LabelR(_ByClass):
    """Recall of labels: of the items that the gold gives a label, the share to which a system does."""

    measure = "recall"

    def parts(self, correct: Floats, predicted: Floats, gold: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        return correct, gold


class LabelF(FScore, _ByClass):
    """F-beta of labels: the harmonic mean of precision and recall of a class, recall weighted by beta squared."""

    citation = "van Rijsbergen 1979, chapter 7; Opitz and Burst 2019, equation 1"

    @property
    def measure(self) -> str:
        """Name of the measure for one class."""
        return f"F{self.beta:g}"

    def parts(self, correct: Floats, predicted: Floats, gold: Floats) -> tuple[Floats, Floats]:
        square = self.beta**2
        return (1 + square) * correct, predicted + square * gold


class BalancedAccuracy(ConfusionMetric):
    """The mean over the gold's classes of their recall, from 0 to 1."""

    called = "balanced accuracy"
    citation = "Brodersen et al. 2010"

    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:  # noqa: ARG002
        return share(share(correct, gold, 0.0).sum(axis=-1), (gold > 0).sum(axis=-1).astype(np.float64))


class MCC(ConfusionMetric):
    """Matthews' correlation coefficient of several classes, from -1 to 1; 0 where either side has but one class."""

    called = "Matthews correlation coefficient"
    score_range = (-1.0, 1.0)
    combines = "chance-corrected"
    citation = "Matthews 1975; Gorodkin 2004"

    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:
        """Divide the covariance by the root of both variances; no answer is a class of its own."""
        n = gold.sum(axis=-1)
        silent = n - predicted.sum(axis=-1)
        common = n * correct.sum(axis=-1) - (predicted * gold).sum(axis=-1)
        spreads = (n**2 - (predicted**2).sum(axis=-1) - silent**2) * (n**2 - (gold**2).sum(axis=-1))
        return np.where(n > 0, share(common, np.sqrt(spreads), 0.0), np.nan)


class Kappa(ConfusionMetric):
    """Cohen's kappa of system and gold, from -1 to 1; undefined where chance alone would make them agree."""

    called = "Cohen's kappa"
    score_range = (-1.0, 1.0)
    combines = "chance-corrected"
    citation = "Cohen 1960"

    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:
        """Divide agreement above chance by its maximum, both times the squared number of items."""
        n = gold.sum(axis=-1)
        chance = (predicted * gold).sum(axis=-1)
        return share(n * correct.sum(axis=-1) - chance, n**2 - chance)
