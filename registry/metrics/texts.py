"""Metrics of text against references: BLEU, chrF, TER, ROUGE, WER and CER.

The statistics are those of sacrebleu (Post 2018), rouge-score and jiwer. Scores are computed from sums of statistics,
for many resamples at once, and our tests compare them with the scores of these programs. The order of references is
part of a metric, because chrF selects the first of several equally good references.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from types import ModuleType
from typing import Any, Literal

import numpy as np

from registry.arrays import Floats, share
from registry.errors import InputError
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.metrics.base import FROM_ZERO, AdditiveMetric, QuotientMetric, check_beta, import_extra
from registry.values import TERSE


class ReferenceMetric(AdditiveMetric):
    """Base class of metrics that compare a text (segment) with reference texts.

    An item without an answer counts as an empty text.

    Attributes:
        references: Names of the references: `gold`, or names that the manifest declares.
    """

    takes = "segment"

    references: tuple[str, ...] = ("gold",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.references or len(set(self.references)) < len(self.references):
            raise InputError(f"option 'references' of {self.name} must name one or more references, each once")

    @property
    def allows_empty_references(self) -> bool:
        """True if an item may have an empty reference, such as silence in a recording.

        All words that a system outputs for such an item then count as insertions.
        """
        return False

    def check_gold(self, items: Sequence[Item]) -> None:
        for item in items:
            if not self.allows_empty_references and self.list_references(item) == [""]:
                raise InputError(f"the reference is blank, so {self.name} is undefined; remove the item from all files "
                                 "(WER and CER count insertions there)", item=item.key)

    def list_references(self, item: Item) -> list[str]:
        """Return the reference texts of an item, without blank ones.

        If all references are blank, the list has one empty text.
        """
        return [text for name in self.references if (text := item.gold[name]).strip()] or [""]

    def needs(self) -> tuple[str, ...]:
        return self.references

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        return tuple(self.corpus_statistics([item], [answer])[0])

    def find_tokenization_fault(self, texts: Sequence[str]) -> str | None:  # noqa: ARG002
        """Check whether the metric's tokenizer suits the gold's texts.

        Args:
            texts: Texts of the gold.

        Returns:
            What is wrong and what to do; None if the tokenizer suits the texts.
        """
        return None

    @abstractmethod
    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return the statistics of many segments as an array, [items, columns].

        Subclasses override this method because external scorers are slow for single segments.
        """


def list_texts(answers: Sequence[Answer | None]) -> list[str]:
    """Return the text of every answer; the text is empty if the answer is None."""
    return ["" if answer is None else answer.value for answer in answers]


_KANA_AND_OTHERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"  # Thai, Lao, Burmese, Khmer and kana
UNDIVIDED = re.compile(f"[{_KANA_AND_OTHERS}\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_NOT_CHINESE = re.compile(f"[{_KANA_AND_OTHERS}]")
_ENDING = re.compile(r"\S(\s?)[.!?]$")  # end of a sentence
_FEW = 5  # smallest number of sentences that shows whether texts are tokenized
_LETTER = re.compile(r"[^\W\d_]")


def choose_tokenizer(texts: Iterable[str]) -> Literal["char", "zh"] | None:
    """Choose the BLEU tokenizer for texts in a script without blanks between words.

    Returns:
        The tokenizer; None if at most half of the characters belong to such a script.

    >>> [choose_tokenizer([text]) for text in ("It rains again.", "今天又下雨了。", "また雨が降っている。")]
    [None, 'zh', 'char']
    """
    text = "".join(texts)
    if text.isascii() or 2 * len(UNDIVIDED.findall(text)) <= len(text):
        return None
    return "char" if _NOT_CHINESE.search(text) else "zh"


def describe_undivided(texts: Iterable[str], name: str, remedy: str) -> str | None:
    """Return an error message if texts have no blanks between words, such as Chinese.

    A metric that splits texts at blanks does not suit such texts.

    Args:
        texts: Texts of the gold.
        name: Name of the metric.
        remedy: Advice; `{tokenizer}` is replaced by BLEU's tokenizer for the script.

    Returns:
        The message; None if the script has blanks between words.
    """
    tokenizer = choose_tokenizer(texts)
    return tokenizer and (f"the gold's script has no blanks between words, but {name} splits words at blanks; "
                          f"{remedy.format(tokenizer=tokenizer)}")


def count_tokenized(texts: Iterable[str]) -> tuple[int, int]:
    """Count sentences, and sentences that seem to be tokenized.

    A sentence is a text that ends in a full stop, question mark or exclamation mark. It seems to be tokenized if a
    blank precedes this mark.

    >>> count_tokenized(["It rains .", "It rains.", "It rains"])
    (2, 1)
    """
    blanks = [match[1] for text in texts if (match := _ENDING.search(text.rstrip()))]
    return len(blanks), sum(map(bool, blanks))


def is_tokenized(texts: Sequence[str]) -> bool:
    """Return True if most sentences have a blank before the final punctuation mark.

    The texts must include at least five sentences: texts that end in a full stop, question mark or exclamation mark.
    """
    sentences, tokenized = count_tokenized(texts)
    return sentences >= _FEW and 2 * tokenized > sentences


def compute_latin_share(texts: Iterable[str]) -> float:
    """Return the share of letters that are a to z or A to Z; 1 if there is no letter."""
    letters = _LETTER.findall("".join(texts))
    return sum(letter.isascii() for letter in letters) / len(letters) if letters else 1.0


_References = tuple[tuple[str | None, ...], ...]  # by name and item; None is no reference


class _SegmentMetric(ReferenceMetric):
    """Base class of metrics whose statistics per segment are computed by sacrebleu."""

    scorer = "sacrebleu"
    extra = "mt"
    libraries = ("sacrebleu",)

    def _make_signature(self, title: str, *, lowercase: bool, **options: object) -> str:
        parts = {"nrefs": len(self.references), "case": "lc" if lowercase else "mixed", **options}
        words = {True: "yes", False: "no"}
        return "|".join([title, *(f"{name}:{words[value] if isinstance(value, bool) else value}"
                                  for name, value in parts.items())])

    def engine_options(self) -> dict[str, Any]:
        """Return the keyword arguments of sacrebleu's metric class, except references."""
        return {option.name: getattr(self, option.name) for option in fields(self) if option.name != "references"}

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        rows = [self.list_references(item) for item in items]
        padded = [[*row, *[None] * (len(self.references) - len(row))] for row in rows]  # sacrebleu ignores None
        references = tuple(zip(*padded, strict=True)) if padded else tuple(() for _ in self.references)
        return _extract(self, references, list_texts(answers))


def _extract(metric: _SegmentMetric, references: _References, segments: Sequence[str]) -> Floats:
    """Compute the statistics that sacrebleu sums, such as n-gram counts, per segment.

    Args:
        metric: The metric.
        references: For each reference, the texts of all segments; None if a segment has no such reference.
        segments: Texts of the system.

    Returns:
        The statistics, [segments, columns].
    """
    statistics = _make_engine(metric, references)._extract_corpus_statistics(segments, None)
    return np.array(statistics, dtype=np.float64).reshape(len(segments), -1)


@lru_cache(maxsize=8)
def _make_engine(metric: _SegmentMetric, references: _References) -> Any:
    metrics = import_extra("sacrebleu.metrics", metric)
    return getattr(metrics, metric.name.upper())(**metric.engine_options(), references=list(map(list, references)))


class BLEU(_SegmentMetric):
    """Corpus BLEU up to 4-grams, from 0 to 100.

    Attributes:
        references: Names of the references: `gold`, or names that the manifest declares.
        tokenize: Tokenizer of sacrebleu.
        smooth: Smoothing of n-gram precisions that are 0.
        lowercase: True to ignore letter case.
    """

    called = "BLEU"
    decimals = 2
    score_range = (0.0, 100.0)
    family = "bleu"
    citation = "Papineni et al. 2002; Post 2018"

    tokenize: Literal["13a", "char", "intl", "none", "zh"] = "13a"
    smooth: Literal["exp", "floor", "add-k", "none"] = "exp"
    lowercase: bool = False

    def find_tokenization_fault(self, texts: Sequence[str]) -> str | None:
        if self.tokenize in ("char", "zh"):
            return None
        tokenized = self.tokenize != "none" and is_tokenized(texts)
        return describe_undivided(texts, self.name, f"use {self.name}(tokenize={{tokenizer}})") or (
            f'the gold seems to be tokenized already, but {self.name} tokenizes texts again; set tokenize = "none"'
            if tokenized else None)

    @property
    def signature(self) -> str:
        smooth = self.smooth + {"floor": "[0.10]", "add-k": "[1.00]"}.get(self.smooth, "")
        return self._make_signature("BLEU", lowercase=self.lowercase, eff=False, tok=self.tokenize, smooth=smooth)

    def engine_options(self) -> dict[str, Any]:
        return {"lowercase": self.lowercase, "tokenize": self.tokenize, "smooth_method": self.smooth, "force": True}

    def score(self, sums: Floats) -> Floats:
        """Compute corpus BLEU from n-gram counts and lengths, summed over segments.

        The score is 0 if no n-gram matches.
        """
        hypothesis, reference = sums[..., 0], sums[..., 1]
        logs, halvings = np.zeros_like(hypothesis), np.zeros_like(hypothesis)
        with np.errstate(divide="ignore", invalid="ignore"):
            for n in range(4):  # order by order, so that the last digit does not depend on the shape
                added = 1 if self.smooth == "add-k" and n else 0
                correct, total = sums[..., 2 + n] + added, sums[..., 6 + n] + added
                unmatched = correct == 0
                if unmatched.any():
                    halvings += unmatched
                    floor = 0.1 * (self.smooth == "floor")
                    correct = np.where(unmatched, 0.5**halvings if self.smooth == "exp" else floor, correct)
                    correct = np.where(total > 0, correct, 0.0)
                    total = np.maximum(total, 1)
                logs += np.log(correct / total)
            penalty = np.where(hypothesis < reference, 1 - reference / hypothesis, 0.0)
            scores = 100 * np.exp(penalty + logs / 4)
        return np.where(sums[..., 2:6].any(axis=-1) & (hypothesis > 0), scores, 0.0)


class ChrF(_SegmentMetric):
    """Character n-gram F-score, from 0 to 100; chrF++ if `word_order` is 2.

    Attributes:
        references: Names of the references: `gold`, or names that the manifest declares.
        char_order: Largest length of character n-grams.
        word_order: Largest length of word n-grams; 0 for none.
        beta: Weight of recall; recall counts beta squared times as much as precision.
        lowercase: True to ignore letter case.
        whitespace: True to count blanks as characters.
    """

    name = "chrF"
    decimals = 2
    score_range = (0.0, 100.0)
    family = "chrf"
    citation = "Popović 2015; word_order=2: Popović 2017"

    char_order: Literal[1, 2, 3, 4, 5, 6] = 6
    word_order: Literal[0, 1, 2] = 0
    beta: float = 2.0
    lowercase: bool = False
    whitespace: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.beta, self.name)

    def find_tokenization_fault(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, "word_order", "remove the option") if self.word_order else None

    @property
    def signature(self) -> str:
        return self._make_signature(f"chrF{self.beta:g}{'+' * self.word_order}", lowercase=self.lowercase, eff=True,
                                    nc=self.char_order, nw=self.word_order, space=self.whitespace)

    def format_name(self) -> tuple[str, Collection[str]]:
        return ("chrF++", ("word_order",)) if self.word_order == 2 else ("chrF", ())

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return n-gram counts of every segment as an array, [items, columns].

        Counts of character n-grams begin in column 0, counts of word n-grams in column 18. If a segment has several
        references, the counts are those of the reference with the highest score (the first one in a tie), as in
        sacrebleu.
        """
        segments = tuple(list_texts(answers))
        reference_counts = [_extract_chrf(replace(self, references=(name,)), tuple(item.gold[name] for item in items),
                                         segments) for name in self.references]
        statistics = reference_counts[0]
        if len(reference_counts) > 1:
            score = _make_engine(self, ((),))._compute_f_score
            scores = np.array([[score(row) for row in rows.tolist()] for rows in reference_counts])
            scores[[[not item.gold[name].strip() for item in items] for name in self.references]] = -1  # no reference
            best = np.argmax(scores, axis=0)
            statistics = np.choose(best[:, np.newaxis], reference_counts)
        columns = np.zeros((len(statistics), len(FAMILIES["chrf"].columns)))
        columns[:, :3 * self.char_order] = statistics[:, :3 * self.char_order]
        columns[:, 18:18 + 3 * self.word_order] = statistics[:, 3 * self.char_order:]
        return columns

    def score(self, sums: Floats) -> Floats:
        """Compute chrF from n-gram counts that are summed over segments.

        Precision and recall are averaged over the n-gram lengths that occur in both system and reference. The score is
        the F-score of these means.
        """
        orders, precision, recall = (np.zeros(sums.shape[:-1]) for _ in range(3))
        for n in (*range(self.char_order), *range(6, 6 + self.word_order)):
            hypothesis, reference, match = (sums[..., 3 * n + part] for part in range(3))
            both = (hypothesis > 0) & (reference > 0)
            orders += both
            precision += np.divide(match, hypothesis, out=np.zeros_like(precision), where=both)
            recall += np.divide(match, reference, out=np.zeros_like(recall), where=both)
        precision, recall = precision / np.maximum(orders, 1), recall / np.maximum(orders, 1)
        weight = self.beta**2
        return share(100 * (1 + weight) * precision * recall, weight * precision + recall, 0.0)


@lru_cache(maxsize=4)
def _extract_chrf(metric: ChrF, reference: tuple[str, ...], segments: tuple[str, ...]) -> Floats:
    return _extract(metric, (reference,), segments)


class TER(QuotientMetric, _SegmentMetric):
    """Translation edit rate in percent; lower is better.

    The rate is the number of edits over the average length of the references.

    Attributes:
        references: Names of the references: `gold`, or names that the manifest declares.
        normalized: True to tokenize the texts.
        no_punct: True to remove punctuation.
        case_sensitive: False to ignore letter case.
    """

    called = "TER"
    decimals = 2
    better = "lower"
    score_range = FROM_ZERO
    citation = "Snover et al. 2006"
    coefficients = ((100, 0), (0, 1))  # edits over reference length, in percent

    def find_tokenization_fault(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, self.name, 'use CER, chrF, or BLEU with tokenize = "{tokenizer}"')

    normalized: bool = False
    no_punct: bool = False
    case_sensitive: bool = False

    @property
    def signature(self) -> str:
        return self._make_signature("TER", lowercase=not self.case_sensitive, tok="tercom", norm=self.normalized,
                                    punct=not self.no_punct, asian=False)

    def score(self, sums: Floats) -> Floats:
        """Compute TER from edits and reference lengths that are summed over segments.

        If the references have no words, the score is 0, or 100 if there are edits, as in sacrebleu.
        """
        return np.where(sums[..., 1] > 0, super().score(sums), 100.0 * (sums[..., 0] > 0))


_LATIN = 0.5  # a larger share of Latin letters needs no message
_MOST = 5 * 10**7  # cells of the table for a longest common subsequence: some seconds, some 400 MB


class ROUGE(QuotientMetric, ReferenceMetric):
    """Mean overlap of segments with their references, from 0 to 1.

    The overlap is that of n-grams or of the longest common subsequence. If a segment has several references, the
    reference with the highest F-score counts, also for precision and recall.

    Attributes:
        references: Names of the references: `gold`, or names that the manifest declares.
        variant: Length of n-grams, such as 2; `L` for the longest common subsequence of the whole segment, or `Lsum`
            for those of its sentences.
        value: Reported value: `f`, `precision` or `recall`.
        stemmer: True to stem English words of more than three letters (Porter).
        tokenize: Definition of words: `rouge`, runs of Latin letters and digits in lower case; `whitespace`, text
            between blanks, such as labels or words of any language; or `characters` except blanks.
        sentence_mark: Text between the sentences of a segment, such as `<q>`; the mark is not a word. None if line ends
            separate sentences.
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
            raise InputError("option 'sentence_mark' of ROUGE is empty; remove it if line ends separate sentences")
        if self.stemmer and self.tokenize != "rouge":
            raise InputError("option 'stemmer' of ROUGE requires tokenize = \"rouge\"; remove one of the two options")

    def find_tokenization_fault(self, texts: Sequence[str]) -> str | None:
        share = compute_latin_share(texts)
        if self.tokenize == "characters" or (self.tokenize == "rouge" and share > _LATIN):
            return None
        if self.tokenize == "whitespace":
            return describe_undivided(texts, self.name, f"use {self.name}(tokenize=characters)")
        return (f"{1 - share:.0%} of the letters in the gold are not a to z, and {self.name} ignores them; set its "
                'option tokenize = "whitespace", or "characters" for a script without blanks between words')

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return two numbers for each segment: its ROUGE score, and 1.

        The mean is the sum of the scores over the sum of the ones.

        Returns:
            The numbers, [items, 2].
        """
        variant = f"rouge{self.variant}"
        scorer = import_extra("rouge_score.rouge_scorer", self).RougeScorer(
            [variant], use_stemmer=self.stemmer,
            tokenizer=None if self.tokenize == "rouge" else _Tokenizer(self.tokenize))
        part = "fmeasure" if self.value == "f" else self.value
        scores = []
        for item, text in zip(items, list_texts(answers), strict=True):
            references = [self._mark_sentences(text) for text in self.list_references(item)]
            if isinstance(self.variant, str) and (words := self._length(text)) * max(map(self._length, references)
                                                                                     ) > _MOST:
                raise InputError(f"the segment has {words:,} words, which is too long for {self!r}; split it in all "
                                 "files",
                                 item=item.key)
            scores.append(getattr(scorer.score_multi(references, self._mark_sentences(text))[variant], part))
        return np.stack([np.array(scores, dtype=np.float64), np.ones(len(scores))], axis=1)

    def _length(self, text: str) -> int:
        return len(text) if self.tokenize == "characters" else len(text.split())

    def _mark_sentences(self, text: str) -> str:
        return text if self.sentence_mark is None else text.replace(self.sentence_mark, "\n")


@dataclass(frozen=True)
class _Tokenizer:
    unit: str

    def tokenize(self, text: str) -> list[str]:
        return text.split() if self.unit == "whitespace" else list("".join(text.split()))


_SCLITE = re.compile(r"\{[^{}]*\s/\s[^{}]*\}|\(%\w+\)")  # alternatives, and a word that may be left out


def _make_blank_step(jiwer: ModuleType) -> Any:
    return jiwer.SubstituteRegexes({r"\s": " "})


class _ErrorRate(QuotientMetric, ReferenceMetric):
    """Base class of error rates: errors over the length of the reference.

    Errors are substitutions, deletions and insertions. Reference and hypothesis are normalized in the same way. The
    options define the normalization; in addition, blanks at both ends are removed, and every white-space character
    (tab, no-break space) becomes a blank.

    Attributes:
        references: Name of one reference. Several are not supported, because there is no agreed definition for them.
        lowercase: True to ignore letter case.
        punctuation: False to remove punctuation (Unicode categories P).
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
            raise InputError(f"option 'references' of {self.name} must name one reference, such as "
                             f"{self.name}(references={self.references[0]})")

    @abstractmethod
    def process(self, jiwer: ModuleType, references: list[str], hypotheses: list[str], normalize: list[Any]) -> Any:
        """Align each hypothesis with its reference by words or characters, with jiwer.

        Args:
            jiwer: The module `jiwer`.
            references: Reference of each segment.
            hypotheses: The system's text for each segment.
            normalize: Transformations of jiwer that are applied to all texts first.
        """

    @property
    def allows_empty_references(self) -> bool:
        return True

    def check_gold(self, items: Sequence[Item]) -> None:
        for item in items:
            if (mark := _SCLITE.search(item.gold[self.references[0]])) is not None:
                raise InputError(f"the reference has {mark[0]!r:.60}, which marks alternative or optional words for "
                                 f"sclite, but {self.name} would count it as words; write one alternative, or score "
                                 "with sclite", item=item.key)

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Return two numbers for each segment: errors, and reference length.

        Returns:
            The numbers, [items, 2].
        """
        if not items:
            return np.zeros((0, 2))
        jiwer = import_extra("jiwer", self)
        normalize = [jiwer.ToLowerCase()] if self.lowercase else []
        if not self.punctuation:  # slow at first, because it scans all of Unicode
            normalize.append(jiwer.RemovePunctuation())
        aligned = self.process(jiwer, [item.gold[self.references[0]] for item in items], list_texts(answers), normalize)
        errors = [sum(max(chunk.ref_end_idx - chunk.ref_start_idx, chunk.hyp_end_idx - chunk.hyp_start_idx)
                      for chunk in chunks if chunk.type != "equal") for chunks in aligned.alignments]
        return np.array([errors, [len(reference) for reference in aligned.references]], dtype=np.float64).T


class WER(_ErrorRate):
    """Word error rate: word errors over the number of words in the reference.

    Errors are words to substitute, delete and insert. Lower is better, 0 is best.
    """

    called = "word error rate"
    citation = "Morris, Maier and Green 2004"

    def find_tokenization_fault(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, self.name, "use CER")

    def process(self, jiwer: ModuleType, references: list[str], hypotheses: list[str], normalize: list[Any]) -> Any:
        steps = jiwer.Compose([  # without this step, jiwer does not divide words at a tab or no-break space
            *normalize, _make_blank_step(jiwer), jiwer.RemoveMultipleSpaces(), jiwer.Strip(),
            jiwer.ReduceToListOfListOfWords()])
        return jiwer.process_words(references, hypotheses, steps, steps)


class CER(_ErrorRate):
    """Character error rate: character errors over the length of the reference.

    Errors are characters to substitute, delete and insert. Lower is better, 0 is best.

    Attributes:
        spaces: True to count blanks as characters.
    """

    called = "character error rate"
    citation = "Morris, Maier and Green 2004"

    spaces: bool = True

    def process(self, jiwer: ModuleType, references: list[str], hypotheses: list[str], normalize: list[Any]) -> Any:
        blanks = jiwer.Strip() if self.spaces else jiwer.RemoveWhiteSpace()
        steps = jiwer.Compose([*normalize, _make_blank_step(jiwer), blanks, jiwer.ReduceToListOfListOfChars()])
        return jiwer.process_characters(references, hypotheses, steps, steps)
