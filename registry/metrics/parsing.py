"""Metrics of dependency parsing in the CoNLL shared tasks 2006, 2007 and 2018.

The metrics of 2018 are F1 over words, tokens or sentences of raw text, because systems divide the text into words and
sentences themselves. These metrics ignore language-specific subtypes of relations, and features that not all languages
share. The attachment scores of 2006 and 2007 are shares of the words in the gold.
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
    """Base class of the CoNLL 2018 parsing metrics, which are F1 scores.

    Attributes:
        part: Reported value: `f1`, `precision` or `recall`.
    """

    takes = "tree"
    family = "prf"
    terse = True
    citation = "Zeman et al. 2018, section 3"
    scorer = "udtools (udeval)"

    part: Literal["f1", "precision", "recall"] = "f1"

    def format_name(self) -> tuple[str, Collection[str]]:
        return self.called + ("" if self.part == "f1" else f", {self.part}"), ("part",)

    @property
    def quotient(self) -> Quotient:
        """Weights of the counts (correct, system, gold) in numerator and denominator.

        F1 is 2 * correct / (system + gold), precision is correct / system, and recall is correct / gold.
        """
        return {"f1": ((2, 0, 0), (0, 1, 1)), "precision": ((1, 0, 0), (0, 1, 0)), "recall": ((1, 0, 0), (0, 0, 1))}[
            self.part]


class Tokens(_ParsingMetric):
    """F1 of tokens; a correct token begins and ends where a gold token does."""

    called = "tokenization score"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Count the correct, the system's and the gold tokens of one sentence."""
        gold = {(token.start, token.end) for token in item.gold.tokens}
        system = frozenset() if answer is None else answer.value.tokens
        return (len(gold & system), len(system), len(gold))


class Sentences(_ParsingMetric):
    """F1 of sentences; a correct sentence begins and ends where a gold sentence does."""

    called = "sentence segmentation score"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Count the correct sentences, the system's and the gold sentences.

        For one gold sentence, the first number is 1 if the system has exactly this sentence, else 0. The last number is
        1.
        """
        system = frozenset() if answer is None else answer.value.sentences
        return (int((0, len(item.gold.text)) in system), len(system), 1)


class _WordMetric(_ParsingMetric):
    """Base class of CoNLL 2018 metrics that count correct words.

    Attributes:
        counts: Function that returns True for the dependency relations whose words count; None if all words count.
    """

    counts: ClassVar[Callable[[str], bool] | None] = None

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Count the correct words, the system's words and the gold words of a sentence."""
        gold: Sentence = item.gold
        counts = type(self).counts
        if counts is None:
            n_gold, n_found = len(gold.words), 0 if answer is None else len(answer.value.words)
        else:
            n_gold = sum(counts(word.deprel) for word in gold.words)
            n_found = 0 if answer is None else sum(counts(system.word.deprel) for system in answer.value.words)
        return (0 if answer is None else self.count_correct(gold, answer.value), n_found, n_gold)

    def count_correct(self, gold: Sentence, projection: Projection) -> int:
        """Return the number of correct words of a system in one gold sentence.

        Args:
            gold: Sentence of the gold.
            projection: Words of the system, aligned with the gold sentence.
        """
        counts, is_correct, words = type(self).counts, self.is_correct, gold.words
        return sum(is_correct(words[system.at - 1], system) for system in projection.words
                   if system.at and (counts is None or counts(words[system.at - 1].deprel)))

    @abstractmethod
    def is_correct(self, gold: Word, system: Projected) -> bool:
        """Return True if a system word is correct, compared with its aligned gold word."""


class Words(_WordMetric):
    """F1 of words; a word is correct if it is aligned with a gold word."""

    called = "word segmentation score"

    def is_correct(self, gold: Word, system: Projected) -> bool:  # noqa: ARG002
        return True


class UPOS(_WordMetric):
    """F1 of words with the correct universal part of speech."""

    called = "universal part-of-speech score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.word.upos == gold.upos


class XPOS(_WordMetric):
    """F1 of words with the correct language-specific part of speech."""

    called = "language-specific part-of-speech score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.word.xpos == gold.xpos


class UFeats(_WordMetric):
    """F1 of words with the correct universal features."""

    called = "universal features score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return select_universal_features(system.word.feats) == select_universal_features(gold.feats)


class AllTags(_WordMetric):
    """F1 of words with correct UPOS, XPOS (parts of speech) and universal features."""

    called = "all tags score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        word = system.word
        return (word.upos == gold.upos and word.xpos == gold.xpos
                and select_universal_features(word.feats) == select_universal_features(gold.feats))


class Lemmas(_WordMetric):
    """F1 of words with the correct lemma.

    Any lemma is correct if the gold has none (`_`).
    """

    called = "lemma score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return gold.lemma in ("_", system.word.lemma)


class UAS(_WordMetric):
    """Unlabelled attachment score: F1 of words with the correct head."""

    called = "unlabelled attachment score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.head == gold.head


class LAS(_WordMetric):
    """Labelled attachment score: F1 of words with the correct head and relation."""

    called = "labelled attachment score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.head == gold.head and strip_subtype(system.word.deprel) == strip_subtype(gold.deprel)


class CLAS(LAS):
    """Labelled attachment score of content words.

    Content words are words whose relation is neither functional nor punctuation.
    """

    called = "content-word labelled attachment score"
    counts = is_content


class MLAS(CLAS):
    """Morphology-aware labelled attachment score of content words.

    A content word is correct if its head, relation, UPOS and features are correct, and if the same holds for all
    function words that depend on it.
    """

    called = "morphology-aware labelled attachment score"

    def count_correct(self, gold: Sentence, projection: Projection) -> int:
        """Count the content words that are correct together with their function words.

        The system's word must have all function words of the gold word, and no others.
        """
        correct: dict[int, Projected] = {}
        for system in projection.words:
            if system.at and self.is_correct(gold.words[system.at - 1], system):
                correct[system.at] = system
        functional: list[list[int]] = [[] for _ in range(len(gold.words) + 1)]
        for n, word in enumerate(gold.words, 1):
            if strip_subtype(word.deprel) in FUNCTION:
                functional[word.head].append(n)
        return sum(is_content(gold.words[number - 1].deprel) and system.functional == len(functional[number])
                   and all(n in correct for n in functional[number]) for number, system in correct.items())

    def is_correct(self, gold: Word, system: Projected) -> bool:
        """Return True if head, relation, UPOS and universal features are correct."""
        return (super().is_correct(gold, system) and system.word.upos == gold.upos
                and select_universal_features(system.word.feats) == select_universal_features(gold.feats))


class BLEX(CLAS):
    """Labelled attachment score of content words with the correct lemma.

    Any lemma is correct if the gold has none (`_`).
    """

    called = "bilexical dependency score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return super().is_correct(gold, system) and gold.lemma in ("_", system.word.lemma)


class _AttachmentMetric(QuotientMetric):
    """Base class of the attachment scores of CoNLL 2006 and 2007.

    Attributes:
        punctuation: True to count all words of the gold (2007), False to leave out words that consist of punctuation
            (2006).
    """

    takes = "tree"
    terse = True
    citation = "Buchholz and Marsi 2006, section 3; Nivre et al. 2007, section 2"

    punctuation: bool = True

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Return the number of correct words, and the number of gold words that count.

        A gold word is incorrect if no system word is aligned with it.
        """
        words = item.gold.words
        counting = [self.punctuation or not _is_punctuation(word.form) for word in words]
        system = () if answer is None else answer.value.words
        correct = sum(counting[aligned.at - 1] and self.is_correct(words[aligned.at - 1], aligned)
                      for aligned in system if aligned.at)
        return (correct, sum(counting))

    @abstractmethod
    def is_correct(self, gold: Word, system: Projected) -> bool:
        """Return True if a system word is attached like its aligned gold word.

        Subclasses compare the head, or head and relation.
        """


class PlainUAS(_AttachmentMetric):
    """Share of the gold's words with the correct head, from 0 to 1."""

    called = "unlabelled attachment score"

    def is_correct(self, gold: Word, system: Projected) -> bool:
        return system.head == gold.head


class PlainLAS(_AttachmentMetric):
    """Share of the gold's words with the correct head and relation, from 0 to 1.

    Attributes:
        subtypes: True to compare whole relations, False to compare only the part before a colon.
    """

    called = "labelled attachment score"

    subtypes: bool = True

    def is_correct(self, gold: Word, system: Projected) -> bool:
        if self.subtypes:
            return system.head == gold.head and system.word.deprel == gold.deprel
        return system.head == gold.head and strip_subtype(system.word.deprel) == strip_subtype(gold.deprel)


def _is_punctuation(form: str) -> bool:
    return all(unicodedata.category(character).startswith("P") for character in form)
