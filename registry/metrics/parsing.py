"""The measures of shared tasks on dependency parsing: CoNLL 2018, and before it CoNLL 2006 and 2007.

The measures of 2018 are F1 over words, tokens or sentences of raw text, because systems divide the text into words and
sentences. Language-specific subtypes of relations and features that not all languages share are ignored. The earlier
attachment scores are shares of the gold's words.
"""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from collections.abc import Callable, Collection
from typing import ClassVar, Literal

from registry.items import Answer, Item
from registry.metrics.base import Quotient, QuotientMetric
from registry.treebank import FUNCTION, Projected, Projection, Sentence, Word, is_content, relation, universal


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
        """Return (tokens in both, tokens of the system, tokens of the gold)."""
        gold = {(token.start, token.end) for token in item.gold.tokens}
        system = frozenset() if answer is None else answer.value.tokens
        return (len(gold & system), len(system), len(gold))


class Sentences(_ParsingMetric):
    """Sentences that are the same stretch of the text."""

    called = "sentence segmentation score"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return (1 if the system has this sentence, sentences of the system, 1)."""
        system = frozenset() if answer is None else answer.value.sentences
        return (int((0, len(item.gold.text)) in system), len(system), 1)


class _WordMetric(_ParsingMetric):
    """What measures of words share: which words count, and when one is correct."""

    counts: ClassVar[Callable[[str], bool] | None] = None  # by a word's relation; None: all words count

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return (correct words, counted words of the system, counted words of the gold)."""
        gold: Sentence = item.gold
        counts = type(self).counts
        if counts is None:
            n_gold, n_found = len(gold.words), 0 if answer is None else len(answer.value.words)
        else:
            n_gold = sum(counts(word.deprel) for word in gold.words)
            n_found = 0 if answer is None else sum(counts(system.word.deprel) for system in answer.value.words)
        return (0 if answer is None else self.correct(gold, answer.value), n_found, n_gold)

    def correct(self, gold: Sentence, projection: Projection) -> int:
        """Count the correct words."""
        counts, is_correct, words = type(self).counts, self.is_correct, gold.words
        return sum(is_correct(words[system.at - 1], system) for system in projection.words
                   if system.at and (counts is None or counts(words[system.at - 1].deprel)))

    @abstractmethod
    def is_correct(self, gold: Word, system: Projected) -> bool:
        """Return True if a word of the system matches the aligned gold word."""


class Words(_WordMetric):
    """Words that are aligned with a word of the gold."""

    called = "word segmentation score"

    def is_correct(self, gold: Word, system: Projected) -> bool:  # noqa: ARG002
        return True


class UPOS(_WordMetric):
    """Words with the right universal part of speech."""

    called = "universal part-of-speech score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.word.upos == gold.upos


class XPOS(_WordMetric):
    """Words with the right language-specific part of speech."""

    called = "language-specific part-of-speech score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.word.xpos == gold.xpos


class UFeats(_WordMetric):
    """Words with the right universal features."""

    called = "universal features score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return universal(system.word.feats) == universal(gold.feats)


class AllTags(_WordMetric):
    """Words with the right parts of speech, universal and language-specific, and universal features."""

    called = "all tags score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        word = system.word
        return (word.upos == gold.upos and word.xpos == gold.xpos and universal(word.feats) == universal(gold.feats))


class Lemmas(_WordMetric):
    """Words with the right lemma; where the gold has none (`_`), any is."""

    called = "lemma score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return gold.lemma in ("_", system.word.lemma)


class UAS(_WordMetric):
    """Unlabelled attachment: words whose head is aligned with the head in the gold."""

    called = "unlabelled attachment score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.head == gold.head


class LAS(_WordMetric):
    """Labelled attachment: words with the right head and relation."""

    called = "labelled attachment score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.head == gold.head and relation(system.word.deprel) == relation(gold.deprel)


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
        for system in projection.words:
            if system.at and self.is_correct(gold.words[system.at - 1], system):
                correct[system.at] = system
        functional: list[list[int]] = [[] for _ in range(len(gold.words) + 1)]
        for n, word in enumerate(gold.words, 1):
            if relation(word.deprel) in FUNCTION:
                functional[word.head].append(n)
        return sum(is_content(gold.words[number - 1].deprel) and system.functional == len(functional[number])
                   and all(n in correct for n in functional[number]) for number, system in correct.items())

    def is_correct(self, gold: Word, system: Projected) -> bool:
        """Compare head, relation, UPOS and features; `correct` compares function words in the same way."""
        return (super().is_correct(gold, system) and system.word.upos == gold.upos
                and universal(system.word.feats) == universal(gold.feats))


class BLEX(CLAS):
    """Labelled attachment of content words with the right lemma; where the gold has none (`_`), any is."""

    called = "bilexical dependency score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return super().is_correct(gold, system) and gold.lemma in ("_", system.word.lemma)


class _AttachmentMetric(QuotientMetric):
    """Attachment scores; without `punctuation` (CoNLL 2006) the gold's words that are nothing else do not count."""

    takes = "tree"
    terse = True
    citation = "Buchholz and Marsi 2006, section 3; Nivre et al. 2007, section 2"

    punctuation: bool = True

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return (correct words, words of the gold); a gold word without an aligned word is incorrect."""
        words = item.gold.words
        counting = [self.punctuation or not _is_punctuation(word.form) for word in words]
        system = () if answer is None else answer.value.words
        correct = sum(counting[aligned.at - 1] and self.is_correct(words[aligned.at - 1], aligned)
                      for aligned in system if aligned.at)
        return (correct, sum(counting))

    @abstractmethod
    def is_correct(self, gold: Word, system: Projected) -> bool:
        """Return True if a word of the system is attached like the aligned gold word."""


class PlainUAS(_AttachmentMetric):
    """The share of the gold's words with the right head, from 0 to 1."""

    called = "unlabelled attachment score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.head == gold.head


class PlainLAS(_AttachmentMetric):
    """The share of the gold's words with the right head and relation, from 0 to 1; without `subtypes` up to a colon."""

    called = "labelled attachment score"

    subtypes: bool = True

    def is_correct(self, gold: Word, system: Projected) -> bool:
        if self.subtypes:
            return system.head == gold.head and system.word.deprel == gold.deprel
        return system.head == gold.head and relation(system.word.deprel) == relation(gold.deprel)


def _is_punctuation(form: str) -> bool:
    """True if every character of a word is punctuation (Unicode categories P)."""
    return all(unicodedata.category(character).startswith("P") for character in form)
