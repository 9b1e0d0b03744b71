"""Sentences of dependency treebanks, which readers of CoNLL-U return and parsing metrics receive.

A file is treated as one text: the characters of its tokens without blanks. Tokens, words and sentences have positions
in this text. So the words of a system can be assigned to gold sentences, even if the system split the text
differently.
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
# The universal features; metrics compare only these.
UNIVERSAL_FEATURES = frozenset({
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case", "Definite",
    "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person", "Polite",
})

NO_WORD = -1


@lru_cache(maxsize=2**12)
def strip_subtype(deprel: str) -> str:
    """Return a dependency relation without its subtype: `nsubj:pass` -> `nsubj`."""
    return deprel.partition(":")[0]


@lru_cache(maxsize=2**12)
def is_content(deprel: str) -> bool:
    """Return True if a dependency relation, such as `nsubj`, marks content words."""
    return strip_subtype(deprel) in CONTENT


@lru_cache(maxsize=2**12)
def select_universal_features(feats: str) -> tuple[str, ...]:
    """Select the universal features of a word, in alphabetical order.

    `Case=Nom|Foo=1` -> ("Case=Nom",).
    """
    return tuple(sorted(feature for feature in feats.split("|") if feature.partition("=")[0] in UNIVERSAL_FEATURES))


class Token(NamedTuple):
    """A token of a sentence in a treebank.

    A token reaches from character `start` up to but not including `end`. A multiword token, such as French "du", has
    several words.
    """

    start: int
    end: int
    is_multiword: bool


class Word(NamedTuple):
    """A word of a sentence in a treebank, with its annotation as in CoNLL-U.

    Attributes:
        form: The form of the word, without blanks unless its token has several words.
        lemma: The lemma.
        upos: The universal part of speech.
        xpos: The language-specific part of speech.
        feats: The features, as `Name=value` joined by bars.
        head: The number of the head in the sentence, from 1; 0 if the word has no head.
        deprel: The relation to the head, with its subtype.
        token: The number of the token that contains the word, from 0.
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
    """A sentence of a dependency treebank: its text without blanks, tokens and words."""

    text: str
    tokens: tuple[Token, ...]
    words: tuple[Word, ...]

    def count_function_words(self) -> list[int]:
        """Return the number of function words that depend on each word, [words]."""
        counts = [0] * (len(self.words) + 1)
        for word in self.words:
            if strip_subtype(word.deprel) in FUNCTION:
                counts[word.head] += 1
        return counts[1:]


class Projected(NamedTuple):
    """A word in a system's output, aligned with the gold sentence.

    Attributes:
        word: The word with the system's annotation.
        at: The number of the aligned gold word in the sentence, from 1; 0 if the word is not aligned.
        head: The number of the gold word that is aligned with the head of the word. 0 if the word has no head,
            `NO_WORD` if its head is not aligned with a word of this gold sentence.
        functional: The number of function words that depend on the word.
    """

    word: Word
    at: int
    head: int
    functional: int


@dataclass(frozen=True, slots=True)
class Projection:
    """The part of a system's output that belongs to one gold sentence.

    The system may split the text into other sentences. A word that is aligned with a gold word belongs to the sentence
    of the gold word. Other words, tokens and sentences belong to the gold sentence in which they begin.

    Attributes:
        words: The words of the system.
        tokens: The tokens of the system as (start, end), counted from the first character of the gold sentence. The
            end may be outside the gold sentence.
        sentences: The sentences of the system, as (start, end) like tokens.
    """

    words: tuple[Projected, ...]
    tokens: frozenset[tuple[int, int]]
    sentences: frozenset[tuple[int, int]]
