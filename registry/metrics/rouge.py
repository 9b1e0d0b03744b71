"""ROUGE as rouge-score computes it: the mean of segment scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.base import QuotientMetric, needed_module
from registry.metrics.references import ReferenceMetric, texts

_MOST = 5 * 10**7  # cells of the table in which a longest common subsequence is found: some seconds, some 400 MB


class ROUGE(QuotientMetric, ReferenceMetric):
    """The mean over segments of their n-gram or longest-common-subsequence overlap with a reference, from 0 to 1.

    Of several references the one with the highest F counts, its precision and recall too.

    Attributes:
        variant: The length of the n-grams, `L` (longest common subsequence of the whole), or `Lsum` (of sentences).
        value: `f`, `precision` or `recall`.
        stemmer: Stem English words of more than three letters (Porter).
        sentence_mark: The text that stands between the sentences of a segment where a line end cannot, such as `<q>`;
            it is no word of either side.
    """

    scorer = "rouge-score"
    extra = "rouge"
    citation = "Lin 2004"

    variant: Literal[1, 2, 3, 4, "L", "Lsum"] = 1
    value: Literal["f", "precision", "recall"] = "f"
    stemmer: bool = False
    sentence_mark: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sentence_mark == "":
            raise InputError("option 'sentence_mark' of ROUGE is empty; leave it out where line ends part sentences")

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> NDArray[np.float64]:
        """Give (score, 1) for every segment."""
        variant = f"rouge{self.variant}"
        scorer = needed_module("rouge_score.rouge_scorer", self).RougeScorer([variant], use_stemmer=self.stemmer)
        part = "fmeasure" if self.value == "f" else self.value
        scores = []
        for item, text in zip(items, texts(answers), strict=True):
            references = [self._parted(item.gold[name]) for name in self.references]
            if isinstance(self.variant, str) and (words := len(text.split())) * max(
                    len(reference.split()) for reference in references) > _MOST:
                raise InputError(f"a segment of {words:,} words is too long for {self!r}", item=item.key)
            scores.append(getattr(scorer.score_multi(references, self._parted(text))[variant], part))
        return np.stack([np.array(scores, dtype=np.float64), np.ones(len(scores))], axis=1)

    def _parted(self, text: str) -> str:
        return text if self.sentence_mark is None else text.replace(self.sentence_mark, "\n")
