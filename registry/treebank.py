"""Sentences of dependency treebanks: what readers of CoNLL-U give and parsing metrics take.

A file is one text, the characters of its tokens without blanks, and everything in it has a place there. So the words of
a system can be brought to the sentences of the gold however the system has cut the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

# Relations of content and of function words (Zeman et al. 2018, section 3); all others, as punct, are neither.
CONTENT = frozenset({
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod",
    "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list", "parataxis",
    "orphan", "goeswith", "reparandum", "root", "dep",
})
FUNCTION = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})
# The features that all languages share; only they count.
UNIVERSAL_FEATURES = frozenset({
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case", "Definite",
    "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person", "Polite",
})

NO_WORD = -1


@lru_cache(maxsize=2**12)
def strip_subtype(deprel: str) -> str:
    """A relation without its subtype."""
    return deprel.partition(":")[0]


@lru_cache(maxsize=2**12)
def is_content(deprel: str) -> bool:
    """Whether a relation, whatever its subtype, is one of content words."""
    return strip_subtype(deprel) in CONTENT


@lru_cache(maxsize=2**12)
def select_universal_features(feats: str) -> tuple[str, ...]:
    """The universal features among a word's features, in one order."""
    return tuple(sorted(feature for feature in feats.split("|") if feature.partition("=")[0] in UNIVERSAL_FEATURES))


class Token(NamedTuple):
    """A piece of a sentence's text, from `start` up to but not including `end`; one of several words is multiword."""

    start: int
    end: int
    is_multiword: bool


class Word(NamedTuple):
    """A syntactic word as it is annotated.

    Attributes:
        form: The word; without blanks, unless it is one of several of its token.
        lemma: Its lemma.
        upos: Its universal part of speech.
        xpos: Its language-specific one.
        feats: Its features, `Name=value` joined by bars.
        head: The number from 1 of the word that it depends on in its sentence; 0 is none.
        deprel: The relation to it, with its subtype.
        token: The number from 0 of the token that it belongs to.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    deprel: str
    token: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands in a file: its text without blanks, the tokens of this text, and their words."""

    text: str
    tokens: tuple[Token, ...]
    words: tuple[Word, ...]

    def functional(self) -> list[int]:
        """How many function words depend on each word, [words]."""
        counts = [0] * (len(self.words) + 1)
        for word in self.words:
            if strip_subtype(word.deprel) in FUNCTION:
                counts[word.head] += 1
        return counts[1:]


class Projected(NamedTuple):
    """A word of a system in terms of a gold sentence.

    Attributes:
        word: The word as the system has it.
        at: The number from 1 of the gold's word that it is aligned with; 0 where it is with none.
        head: The number of the gold's word that its head is aligned with; 0 where it has no head, `NO_WORD` where the
            head is aligned with no word of this sentence.
        functional: How many function words depend on it.
    """

    word: Word
    at: int
    head: int
    functional: int


@dataclass(frozen=True, slots=True)
class Projection:
    """What a system has for a sentence of the gold.

    `words`, `tokens` and `sentences` are charged to the sentence in which they begin, words that are aligned with a
    word of the gold to its sentence. Places (start, end) of tokens and sentences count from the gold sentence's first
    character, and may lie beyond its last.
    """

    words: tuple[Projected, ...]
    tokens: frozenset[tuple[int, int]]
    sentences: frozenset[tuple[int, int]]
