"""The measures of shared tasks on dependency parsing: CoNLL 2018, and before it CoNLL 2006 and 2007.

Those of 2018 are F1 over words, tokens or sentences of raw text. Precision is over what the system has, recall over
what the gold has: systems cut the text into words and sentences themselves. Language-specific subtypes of relations and
features that not all languages share do not count. The attachment scores before it are shares of the gold's words.
"""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from collections.abc import Callable, Collection
from typing import ClassVar, Literal

from registry.items import Answer, Item
from registry.metrics.base import Quotient, QuotientMetric
from registry.treebank import (
    FUNCTION,
    Projected,
    Projection,
    Sentence,
    Word,
    is_content,
    select_universal_features,
    strip_subtype,
)


class _ParsingMetric(QuotientMetric):
    """What all share; `part` takes precision or recall instead of F1."""

    takes = "tree"
    family = "prf"
    terse = True
    citation = "Zeman et al. 2018, section 3"
    scorer = "udtools (udeval)"

    part: Literal["f1", "precision", "recall"] = "f1"

    def words(self) -> tuple[str, Collection[str]]:
        return self.called + ("" if self.part == "f1" else f", {self.part}"), ("part",)

    @property
    def quotient(self) -> Quotient:
        """Twice the true positives over predicted + gold, or the true positives over one of them."""
        return {"f1": ((2, 0, 0), (0, 1, 1)), "precision": ((1, 0, 0), (0, 1, 0)), "recall": ((1, 0, 0), (0, 0, 1))}[
            self.part]


class Tokens(_ParsingMetric):
    """Tokens that are the same stretch of the text."""

    called = "tokenization score"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (tokens that the gold has too, tokens of the system, tokens of the gold)."""
        gold = {(token.start, token.end) for token in item.gold.tokens}
        found = frozenset() if answer is None else answer.value.tokens
        return (len(gold & found), len(found), len(gold))


class Sentences(_ParsingMetric):
    """Sentences that are the same stretch of the text."""

    called = "sentence segmentation score"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (1 if the system has this sentence, sentences of the system, 1)."""
        found = frozenset() if answer is None else answer.value.sentences
        return (int((0, len(item.gold.text)) in found), len(found), 1)


class _WordMetric(_ParsingMetric):
    """What measures of words share: which words count, and when one is correct."""

    counts: ClassVar[Callable[[str], bool] | None] = None  # by a word's relation; None: all words count

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (correct words, words of the system that count, words of the gold that count)."""
        gold: Sentence = item.gold
        counts = type(self).counts
        if counts is None:
            n_gold, n_found = len(gold.words), 0 if answer is None else len(answer.value.words)
        else:
            n_gold = sum(counts(word.deprel) for word in gold.words)
            n_found = 0 if answer is None else sum(counts(found.word.deprel) for found in answer.value.words)
        return (0 if answer is None else self.correct(gold, answer.value), n_found, n_gold)

    def correct(self, gold: Sentence, projection: Projection) -> int:
        """Count the correct words."""
        counts, is_correct, words = type(self).counts, self.is_correct, gold.words
        return sum(is_correct(words[found.at - 1], found) for found in projection.words
                   if found.at and (counts is None or counts(words[found.at - 1].deprel)))

    @abstractmethod
    def is_correct(self, gold: Word, found: Projected) -> bool:
        """Whether a word of the system matches the word of the gold that it is aligned with."""


class Words(_WordMetric):
    """Words that are aligned with a word of the gold."""

    called = "word segmentation score"

    def is_correct(self, gold: Word, found: Projected) -> bool:  # noqa: ARG002
        return True


class UPOS(_WordMetric):
    """Words with the right universal part of speech."""

    called = "universal part-of-speech score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        return found.word.upos == gold.upos


class XPOS(_WordMetric):
    """Words with the right language-specific part of speech."""

    called = "language-specific part-of-speech score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        return found.word.xpos == gold.xpos


class UFeats(_WordMetric):
    """Words with the right universal features."""

    called = "universal features score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        return select_universal_features(found.word.feats) == select_universal_features(gold.feats)


class AllTags(_WordMetric):
    """Words with the right parts of speech, universal and language-specific, and universal features."""

    called = "all tags score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        word = found.word
        return (word.upos == gold.upos and word.xpos == gold.xpos
                and select_universal_features(word.feats) == select_universal_features(gold.feats))


class Lemmas(_WordMetric):
    """Words with the right lemma; where the gold has none (`_`), any is."""

    called = "lemma score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        return gold.lemma in ("_", found.word.lemma)


class UAS(_WordMetric):
    """Unlabelled attachment: words whose head is aligned with the head in the gold."""

    called = "unlabelled attachment score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        return found.head == gold.head


class LAS(_WordMetric):
    """Labelled attachment: words with the right head and relation."""

    called = "labelled attachment score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        return found.head == gold.head and strip_subtype(found.word.deprel) == strip_subtype(gold.deprel)


class CLAS(LAS):
    """Labelled attachment of content words: those with a relation that is neither functional nor punctuation."""

    called = "content-word labelled attachment score"
    counts = is_content


class MLAS(CLAS):
    """Labelled attachment of content words that have the right tags and features, as their function words must."""

    called = "morphology-aware labelled attachment score"

    def correct(self, gold: Sentence, projection: Projection) -> int:
        """Count the content words that are correct, with all their function words and no others."""
        correct: dict[int, Projected] = {}
        for found in projection.words:
            if found.at and self.is_correct(gold.words[found.at - 1], found):
                correct[found.at] = found
        functional: list[list[int]] = [[] for _ in range(len(gold.words) + 1)]
        for n, word in enumerate(gold.words, 1):
            if strip_subtype(word.deprel) in FUNCTION:
                functional[word.head].append(n)
        return sum(is_content(gold.words[at - 1].deprel) and found.functional == len(functional[at])
                   and all(n in correct for n in functional[at]) for at, found in correct.items())

    def is_correct(self, gold: Word, found: Projected) -> bool:
        """Same head, relation, UPOS and features; a word's function words must match in the same way."""
        return (super().is_correct(gold, found) and found.word.upos == gold.upos
                and select_universal_features(found.word.feats) == select_universal_features(gold.feats))


class BLEX(CLAS):
    """Labelled attachment of content words with the right lemma; where the gold has none (`_`), any is."""

    called = "bilexical dependency score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        return super().is_correct(gold, found) and gold.lemma in ("_", found.word.lemma)


class _AttachmentMetric(QuotientMetric):
    """Attachment scores; without `punctuation` (CoNLL 2006) the gold's words that are nothing else do not count."""

    takes = "tree"
    terse = True
    citation = "Buchholz and Marsi 2006, section 3; Nivre et al. 2007, section 2"

    punctuation: bool = True

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (correct words, words of the gold); a word that the system's words miss is wrong."""
        words = item.gold.words
        counting = [self.punctuation or not _is_punctuation(word.form) for word in words]
        found = () if answer is None else answer.value.words
        correct = sum(counting[one.at - 1] and self.is_correct(words[one.at - 1], one) for one in found if one.at)
        return (correct, sum(counting))

    @abstractmethod
    def is_correct(self, gold: Word, found: Projected) -> bool:
        """Whether a word of the system is attached like the word of the gold that it is aligned with."""


class PlainUAS(_AttachmentMetric):
    """The share of the gold's words with the right head, from 0 to 1."""

    called = "unlabelled attachment score"

    def is_correct(self, gold: Word, found: Projected) -> bool:
        return found.head == gold.head


class PlainLAS(_AttachmentMetric):
    """The share of the gold's words with the right head and relation, from 0 to 1; without `subtypes` up to a colon."""

    called = "labelled attachment score"

    subtypes: bool = True

    def is_correct(self, gold: Word, found: Projected) -> bool:
        if self.subtypes:
            return found.head == gold.head and found.word.deprel == gold.deprel
        return found.head == gold.head and strip_subtype(found.word.deprel) == strip_subtype(gold.deprel)


def _is_punctuation(form: str) -> bool:
    """True if every character of a word is punctuation (Unicode categories P)."""
    return all(unicodedata.category(character).startswith("P") for character in form)
