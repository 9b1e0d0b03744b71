"""Metrics of one label per item: accuracy, and measures that combine classes.

Measures that combine classes need three counts for each class: correct items, items predicted as this class, and items
with this gold label. The counts cannot be stored per item, because the classes are all labels of the gold and of all
systems. An item therefore stores codes of its two labels, and `evaluation.scoring.label_codes` counts classes when it
loads the statistics.
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
    """Share of items with the gold label, from 0 to 1; a missing answer is incorrect."""

    called = "accuracy"
    takes = "label"
    citation = "Manning, Raghavan and Schütze 2008, section 13.6"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return (1, 1) if the label equals the gold label, else (0, 1)."""
        return (int(answer is not None and answer.value == item.gold), 1)

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        golds = answers.encode_labels(item.gold for item in items)
        return np.stack([answers.values == golds, np.ones(len(answers))], axis=1)


@lru_cache(maxsize=2**12)
def make_label_code(name: str) -> int:
    """Convert the name of a label to a number, for arrays of numbers.

    The number is 1 plus 48 bits of the label's digest. It is never 0, the code of a missing label.
    """
    return 1 + int(digest(name.encode())[-12:], 16)


class ConfusionMetric(AdditiveMetric):
    """Base class of label metrics that are computed from counts per class.

    An item without an answer is not predicted as any class.

    Attributes:
        combines: How the score combines classes; confidence intervals depend on it. `pooled`: each item has the same
            weight (micro-average, and average weighted by gold items). `averaged`: each class has the same weight
            (macro-average). `chance-corrected`: neither.
    """

    takes = "label"
    family = "confusion"
    scorer = "scikit-learn"
    combines: ClassVar[Combines] = "averaged"

    @property
    def includes_system_classes(self) -> bool:
        """True if the score is an average also over classes that only systems predict.

        Such classes are absent from the gold.
        """
        return False

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the classes from which the score is computed; None for all classes."""
        return None

    def list_option_labels(self) -> tuple[str, ...]:
        return self.classes or ()

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the gold label and the system's label of one item, as numbers.

        Items are counted per class when the score is computed, because the classes are not known for a single item.
        """
        return (make_label_code(item.gold), NO_LABEL if answer is None else make_label_code(answer.value))

    def statistics_of_columns(self, items: Sequence[Item], answers: JoinedColumns) -> Floats:
        codes = np.array([make_label_code(label) for label in answers.answers.labels or ()], dtype=np.float64)
        golds = [make_label_code(item.gold) for item in items]
        return np.stack([golds, codes[answers.values.astype(np.int64)]], axis=1)

    def score(self, sums: Floats) -> Floats:
        """Compute scores from counts of items per class.

        Args:
            sums: Counts of correct, predicted and gold items for class 1, then for class 2, and so on,
                [..., 3 * classes].

        Returns:
            Scores, [...]; NaN if a score is undefined.
        """
        counts = sums.reshape(*sums.shape[:-1], sums.shape[-1] // 3, 3)
        return self.score_classes(counts[..., 0], counts[..., 1], counts[..., 2])

    @abstractmethod
    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:
        """Compute scores from counts of items per class.

        Args:
            correct: For each class, the number of items with this class both in the gold and as the system's label,
                [..., classes].
            predicted: For each class, the number of items that the system labels with it, [..., classes].
            gold: For each class, the number of items with this class in the gold, [..., classes].
        """


class _ByClass(ConfusionMetric):
    """Base class of precision, recall and F-score over classes.

    Attributes:
        average: `macro` is the mean over classes, in which 0/0 counts as 0. `weighted` is the mean over classes,
            weighted by their numbers of gold items. `micro` is the score of the counts summed over classes.
        labels: Classes over which to average; empty for all classes in the gold or in the system's answers. With one
            label the score is the score of this class.
    """

    terse = True
    citation = "Manning, Raghavan and Schütze 2008, section 13.6"

    average: Literal["macro", "micro", "weighted"] = "macro"
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.labels)) < len(self.labels):
            raise InputError(f"option 'labels' of {self.name} names a label twice ({', '.join(self.labels)}); remove "
                             "one")

    @property
    def title(self) -> str:
        """Name such as `macro-F1`, `micro-F1 of A, B`, or `F1 of A` for one class."""
        labels = f" of {', '.join(self.labels)}" if self.labels else ""
        return (self.measure if len(self.labels) == 1 else f"{self.average}-{self.measure}") + labels

    @property
    def includes_system_classes(self) -> bool:
        return self.average == "macro" and not self.labels

    @property
    def combines(self) -> Combines:  # type: ignore[override]  # depends on an option here
        return "averaged" if self.average == "macro" else "pooled"

    @property
    @abstractmethod
    def measure(self) -> str:
        """Name of the measure for a single class, such as `F1`."""

    @property
    def classes(self) -> tuple[str, ...] | None:
        return self.labels or None

    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:
        if self.average == "micro":
            return share(*self.parts(*(counts.sum(axis=-1) for counts in (correct, predicted, gold))))
        shares = share(*self.parts(correct, predicted, gold), 0.0)
        if self.average == "weighted":
            return share((shares * gold).sum(axis=-1), gold.sum(axis=-1))
        occur = np.ones(gold.shape, dtype=bool) if self.labels else (predicted > 0) | (gold > 0)
        return share((shares * occur).sum(axis=-1), occur.sum(axis=-1).astype(np.float64))

    @abstractmethod
    def parts(self, correct: Floats, predicted: Floats, gold: Floats) -> tuple[Floats, Floats]:
        """Return the numerator and denominator of the score of each class.

        For precision, these are the arguments `correct` and `predicted`.

        Args:
            correct: Number of items whose label and gold label are this class, [..., classes].
            predicted: Number of items whose label is this class, [..., classes].
            gold: Number of items whose gold label is this class, [..., classes].
        """


class LabelP(_ByClass):
    """Precision of labels: share of the items predicted as a class that are correct."""

    measure = "precision"

    def parts(self, correct: Floats, predicted: Floats, gold: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        return correct, predicted


class LabelR(_ByClass):
    """Recall of labels: share of the items of a gold class that are correct."""

    measure = "recall"

    def parts(self, correct: Floats, predicted: Floats, gold: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        return correct, gold


class LabelF(FScore, _ByClass):
    """F-beta of labels: weighted harmonic mean of precision and recall of a class.

    Recall is weighted by beta squared.
    """

    citation = "van Rijsbergen 1979, chapter 7; average=macro: Opitz and Burst 2019, equation 1"

    @property
    def measure(self) -> str:
        return f"F{self.beta:g}"

    def parts(self, correct: Floats, predicted: Floats, gold: Floats) -> tuple[Floats, Floats]:
        square = self.beta**2
        return (1 + square) * correct, predicted + square * gold


class BalancedAccuracy(ConfusionMetric):
    """Mean of the recalls of all gold classes, from 0 to 1."""

    called = "balanced accuracy"
    citation = "Brodersen et al. 2010"

    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:  # noqa: ARG002
        return share(share(correct, gold, 0.0).sum(axis=-1), (gold > 0).sum(axis=-1).astype(np.float64))


class MCC(ConfusionMetric):
    """Matthews correlation coefficient for several classes, from -1 to 1.

    The coefficient is 0 if the gold or the system has only one class.
    """

    called = "Matthews correlation coefficient"
    score_range = (-1.0, 1.0)
    combines = "chance-corrected"
    citation = "Matthews 1975; Gorodkin 2004"

    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:
        """Compute the correlation of predicted and gold classes from counts per class.

        The correlation is the covariance divided by the root of the product of both variances. Missing answers count as
        a further class.
        """
        n = gold.sum(axis=-1)
        silent = n - predicted.sum(axis=-1)
        common = n * correct.sum(axis=-1) - (predicted * gold).sum(axis=-1)
        spreads = (n**2 - (predicted**2).sum(axis=-1) - silent**2) * (n**2 - (gold**2).sum(axis=-1))
        return np.where(n > 0, share(common, np.sqrt(spreads), 0.0), np.nan)


class Kappa(ConfusionMetric):
    """Cohen's kappa of system and gold, from -1 to 1.

    Kappa is undefined if the agreement expected by chance is already perfect.
    """

    called = "Cohen's kappa"
    score_range = (-1.0, 1.0)
    combines = "chance-corrected"
    citation = "Cohen 1960"

    def score_classes(self, correct: Floats, predicted: Floats, gold: Floats) -> Floats:
        """Compute Cohen's kappa from counts per class.

        Kappa is (observed - expected agreement) / (1 - expected agreement).
        """
        n = gold.sum(axis=-1)
        chance = (predicted * gold).sum(axis=-1)
        return share(n * correct.sum(axis=-1) - chance, n**2 - chance)
