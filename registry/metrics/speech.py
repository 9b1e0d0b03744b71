"""Word and character error rates, on jiwer's alignments."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from registry.arrays import Floats
from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics.base import FROM_ZERO, QuotientMetric, needed_module
from registry.metrics.references import ReferenceMetric, texts
from registry.metrics.word_division import describe_undivided

_SCLITE = re.compile(r"\{[^{}]*\s/\s[^{}]*\}|\(%\w+\)")  # alternatives, and a word that may be left out


def _blanks(jiwer: ModuleType) -> Any:
    """Return the step that makes a blank of any white space."""
    return jiwer.SubstituteRegexes({r"\s": " "})


class _ErrorRate(QuotientMetric, ReferenceMetric):
    """Substitutions, deletions and insertions over the reference's length.

    Reference and hypothesis are normalized alike, as the options say; beyond that only blanks at both ends go, and a
    tab, a no-break space or any other white space is a blank.

    Attributes:
        references: One reference; what several would mean is not agreed.
        lowercase: Ignore case.
        punctuation: False removes punctuation (Unicode's categories P).
    """

    scorer = "jiwer"
    extra = "speech"
    libraries = ("jiwer", "rapidfuzz")
    revision = 2
    better = "lower"
    score_range = FROM_ZERO

    lowercase: bool = False
    punctuation: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.references) > 1:
            raise InputError(f"option 'references' of {self.name} must name one reference, as in "
                             f"{self.name}(references={self.references[0]})")

    @abstractmethod
    def process(self, jiwer: ModuleType, references: list[str], hypotheses: list[str], normalize: list[Any]) -> Any:
        """Have jiwer align the segments, after these steps of normalization."""

    @property
    def counts_silence(self) -> bool:
        return True

    def check_gold(self, items: Sequence[Item]) -> None:
        for item in items:
            if (mark := _SCLITE.search(item.gold[self.references[0]])) is not None:
                raise InputError(f"the reference has the mark {mark[0]!r:.60} of sclite for alternative or optional "
                                 f"words, which {self.name} would count as words; write one alternative, or score with "
                                 "sclite", item=item.key)

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Give (errors, length of the reference) for every segment."""
        if not items:
            return np.zeros((0, 2))
        jiwer = needed_module("jiwer", self)
        normalize = [jiwer.ToLowerCase()] if self.lowercase else []
        if not self.punctuation:  # the first of which looks at all of Unicode
            normalize.append(jiwer.RemovePunctuation())
        aligned = self.process(jiwer, [item.gold[self.references[0]] for item in items], texts(answers), normalize)
        errors = [sum(max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
                      for chunk in chunks if chunk.type != "equal") for chunks in aligned.alignments]
        return np.array([errors, [len(reference) for reference in aligned.references]], dtype=np.float64).T


class WER(_ErrorRate):
    """Word error rate: the words to substitute, delete and insert over the reference's words, 0 being best."""

    called = "word error rate"
    citation = "Morris, Maier and Green 2004"

    def describe_misreading(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, self.name, "take CER")

    def process(self, jiwer: ModuleType, references: list[str], hypotheses: list[str], normalize: list[Any]) -> Any:
        steps = jiwer.Compose([  # jiwer alone takes the words at both sides of a tab or no-break space for one
            *normalize, _blanks(jiwer), jiwer.RemoveMultipleSpaces(), jiwer.Strip(),
            jiwer.ReduceToListOfListOfWords()])
        return jiwer.process_words(references, hypotheses, steps, steps)


class CER(_ErrorRate):
    """Character error rate: the same of characters, blanks among them unless `spaces` is false."""

    called = "character error rate"
    citation = "Morris, Maier and Green 2004"

    spaces: bool = True

    def process(self, jiwer: ModuleType, references: list[str], hypotheses: list[str], normalize: list[Any]) -> Any:
        blanks = jiwer.Strip() if self.spaces else jiwer.RemoveWhiteSpace()
        steps = jiwer.Compose([*normalize, _blanks(jiwer), blanks, jiwer.ReduceToListOfListOfChars()])
        return jiwer.process_characters(references, hypotheses, steps, steps)
