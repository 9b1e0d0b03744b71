"""ROUGE as rouge-score computes it: the mean of segment scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.base import QuotientMetric, needed_module
from registry.metrics.references import ReferenceMetric, texts
from registry.metrics.word_division import describe_undivided, share_of_latin_letters
from registry.values import TERSE

_LATIN = 0.5  # the share of letters from which on little is lost
_MOST = 5 * 10**7  # cells of the table in which a longest common subsequence is found: some seconds, some 400 MB


class ROUGE(QuotientMetric, ReferenceMetric):
    """The mean over segments of their n-gram or longest-common-subsequence overlap with a reference, from 0 to 1.

    Of several references the one with the highest F counts, its precision and recall too.

    Attributes:
        variant: The length of the n-grams, `L` (longest common subsequence of the whole), or `Lsum` (of sentences).
        value: `f`, `precision` or `recall`.
        stemmer: Stem English words of more than three letters (Porter).
        tokenize: What words are: `rouge`, runs of Latin letters and digits in lower case, all else being left out;
            `whitespace`, what blanks part, as it is, such as labels or words of any language; or `characters`, all but
            blanks.
        sentence_mark: The text that stands between the sentences of a segment where a line end cannot, such as `<q>`;
            it is no word of either side.
    """

    called = "ROUGE-{variant}"
    scorer = "rouge-score"
    extra = "rouge"
    libraries = ("rouge-score", "nltk")
    citation = "Lin 2004"

    variant: Literal[1, 2, 3, 4, "L", "Lsum"] = 1
    value: Literal["f", "precision", "recall"] = "f"
    stemmer: bool = False
    sentence_mark: str | None = None
    tokenize: Literal["rouge", "whitespace", "characters"] = field(default="rouge", metadata=TERSE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sentence_mark == "":
            raise InputError("option 'sentence_mark' of ROUGE is empty; leave it out where line ends part sentences")
        if self.stemmer and self.tokenize != "rouge":
            raise InputError("option 'stemmer' of ROUGE takes the words of tokenize = \"rouge\"; leave one of them out")

    def describe_misreading(self, texts: Sequence[str]) -> str | None:
        share = share_of_latin_letters(texts)
        if self.tokenize == "characters" or (self.tokenize == "rouge" and share > _LATIN):
            return None
        if self.tokenize == "whitespace":
            return describe_undivided(texts, self.name, 'set its option tokenize = "characters"')
        return (f"{1 - share:.0%} of the gold's letters are none of a to z, and {self.name} leaves them out; set its "
                'option tokenize = "whitespace", or "characters" for a script without blanks between words')

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Give (score, 1) for every segment."""
        variant = f"rouge{self.variant}"
        scorer = needed_module("rouge_score.rouge_scorer", self).RougeScorer(
            [variant], use_stemmer=self.stemmer, tokenizer=None if self.tokenize == "rouge" else _Tokens(self.tokenize))
        part = "fmeasure" if self.value == "f" else self.value
        scores = []
        for item, text in zip(items, texts(answers), strict=True):
            references = [self._parted(text) for text in self.texts_of(item)]
            if isinstance(self.variant, str) and (words := self._length(text)) * max(map(self._length, references)
                                                                                     ) > _MOST:
                raise InputError(f"a segment of {words:,} words is too long for {self!r}", item=item.key)
            scores.append(getattr(scorer.score_multi(references, self._parted(text))[variant], part))
        return np.stack([np.array(scores, dtype=np.float64), np.ones(len(scores))], axis=1)

    def _length(self, text: str) -> int:
        return len(text) if self.tokenize == "characters" else len(text.split())

    def _parted(self, text: str) -> str:
        return text if self.sentence_mark is None else text.replace(self.sentence_mark, "\n")


@dataclass(frozen=True)
class _Tokens:
    """What rouge-score asks for the words of a text."""

    what: str

    def tokenize(self, text: str) -> list[str]:
        return text.split() if self.what == "whitespace" else list("".join(text.split()))
