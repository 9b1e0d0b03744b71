"""METEOR 1.5 on the statistics of its own program, scored by its formula over their sums.

The score of a corpus is that of its summed statistics, not the mean of its segments' scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.meteor_jar import jar
from registry.metrics.references import ReferenceMetric, texts
from registry.metrics.word_division import describe_undivided


class _Parameters(NamedTuple):
    """What the program scores a language with: Denkowski and Lavie 2014, tables 1 and 2, task `rank`."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    weights: tuple[float, float, float, float]  # of exact, stem, synonym and paraphrase matches


_ENGLISH = _Parameters(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8, 0.6))
_ANY = _Parameters(0.75, 1.4, 0.7, 0.5, (1.0, 0.5, 0.0, 0.0))  # exact matches and stems, in every language


class METEOR(ReferenceMetric):
    """Harmonic mean of precision and recall of matched words, lowered by how scattered they are; from 0 to 1.

    Attributes:
        language: English, or one of those that are matched by words and stems with language-independent parameters
            (`other`: words only). The paraphrases of Czech, French, German, Russian and Spanish are not distributed
            with the program.
        text: What is done to the text: `normalize` (tokenize and lowercase, English only), `lowercase`, or nothing to
            text that is tokenized already (`as-is`).
    """

    called = "METEOR"
    family = "meteor"
    scorer = "METEOR 1.5"
    extra = "meteor"
    libraries = ("pycocoevalcap",)
    citation = "Denkowski and Lavie 2014"

    language: Literal["en", "da", "fi", "hu", "it", "nl", "no", "pt", "ro", "se", "tr", "other"] = "en"
    text: Literal["normalize", "lowercase", "as-is"] = "normalize"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.text == "normalize" and self.language != "en":
            raise InputError(f"option 'text' of METEOR is 'normalize', which the program can do for English only; "
                             f"tokenize the text of language {self.language!r}, and take 'lowercase' or 'as-is'")

    def describe_misreading(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, self.name, 'take chrF, or BLEU with tokenize = "{tokenizer}"')

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Have the program match every segment with the reference of the highest score."""
        if not items:
            return np.zeros((0, 23))
        flags = {"normalize": ("-norm",), "lowercase": ("-lower",), "as-is": ()}[self.text]
        of_items = [self.texts_of(item) for item in items]  # the program wants equally many of each
        references = [[*of, *of[:1] * (len(self.references) - len(of))] for of in of_items]
        found = np.array(jar(("-l", self.language, *flags)).statistics(references, texts(answers)))
        by_stage = found[:, 4:20].reshape(-1, 4, 4).swapaxes(1, 2).reshape(-1, 16)  # the program's go stage by stage
        laid = np.concatenate([found[:, :4], by_stage, found[:, 20:]], axis=1)
        # A segment that is its reference is not scattered: the program leaves its one chunk out of the sum.
        tested, referred = laid[:, [*range(4, 8), *range(12, 16)]], laid[:, [*range(8, 12), *range(16, 20)]]
        whole = (tested.sum(axis=1) == laid[:, 0]) & (referred.sum(axis=1) == laid[:, 1]) & (laid[:, 20] == 1)
        laid[whole, 20] = 0
        return laid

    def score(self, sums: Floats) -> Floats:
        """Weigh matches by their stage and function words by 1 - delta; nothing matched scores 0."""
        of = _ENGLISH if self.language == "en" else _ANY
        precision, recall = (self._matched(sums, of, side) for side in (0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = 1 / ((1 - of.alpha) / precision + of.alpha / recall)
            scattered = sums[..., 20] / ((sums[..., 21] + sums[..., 22]) / 2)
            scores = mean * (1 - of.gamma * scattered**of.beta)
        return np.where(np.isnan(scores), 0.0, np.maximum(scores, 0.0))

    def _matched(self, sums: Floats, of: _Parameters, side: int) -> Floats:
        """The weighted share of matched words, of the system's (0) or the reference's (1); sums order by order."""
        length, function = sums[..., side], sums[..., 2 + side]
        matched = np.zeros_like(length)
        for stage, weight in enumerate(of.weights):
            content, empty = sums[..., 4 + 4 * side + stage], sums[..., 12 + 4 * side + stage]
            matched += weight * (of.delta * content + (1 - of.delta) * empty)
        return np.asarray(np.divide(matched, of.delta * (length - function) + (1 - of.delta) * function,
                                    out=np.full_like(matched, np.nan), where=length > 0))
