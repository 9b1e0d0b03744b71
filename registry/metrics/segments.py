"""Metrics of whole segments against references, on sacrebleu's own segment statistics (Post 2018).

The statistics are sacrebleu's, the corpus score is computed here from their sums, vectorized over resamples; a test
holds the two scores together. The order of references is part of the metric: chrF keeps the first of equally good ones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from registry.arrays import Floats, share
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.metrics.base import FROM_ZERO, QuotientMetric, check_beta
from registry.metrics.references import ReferenceMetric, texts
from registry.metrics.word_division import describe_undivided, is_tokenized

_References = tuple[tuple[str | None, ...], ...]  # of each name, by item; None is no reference


class _SegmentMetric(ReferenceMetric):
    """What the metrics on sacrebleu's statistics share."""

    scorer = "sacrebleu"
    libraries = ("sacrebleu",)

    def engine_options(self) -> dict[str, Any]:
        """The options of sacrebleu's own metric, beside its references."""
        return {option.name: getattr(self, option.name) for option in fields(self) if option.name != "references"}

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        rows = [self.texts_of(item) for item in items]
        padded = [[*row, *[None] * (len(self.references) - len(row))] for row in rows]  # sacrebleu passes None over
        references = tuple(zip(*padded, strict=True)) if padded else tuple(() for _ in self.references)
        return _extracted(self, references, texts(answers))


def _extracted(metric: _SegmentMetric, references: _References, segments: Sequence[str]) -> Floats:
    """The statistics that sacrebleu's own metric extracts, [segments, its columns]."""
    found = _engine(metric, references)._extract_corpus_statistics(segments, None)
    return np.array(found, dtype=np.float64).reshape(len(segments), -1)


@lru_cache(maxsize=8)
def _engine(metric: _SegmentMetric, references: _References) -> Any:
    """Make sacrebleu's own metric, with these references read once."""
    from sacrebleu import metrics

    return getattr(metrics, metric.name.upper())(**metric.engine_options(), references=list(map(list, references)))


class BLEU(_SegmentMetric):
    """Corpus BLEU up to 4-grams, from 0 to 100."""

    called = "BLEU"
    decimals = 2
    score_range = (0.0, 100.0)
    family = "bleu"
    citation = "Papineni et al. 2002; Post 2018"

    tokenize: Literal["13a", "char", "intl", "none", "zh"] = "13a"
    smooth: Literal["exp", "floor", "add-k", "none"] = "exp"
    lowercase: bool = False

    def describe_misreading(self, texts: Sequence[str]) -> str | None:
        if self.tokenize in ("char", "zh"):
            return None
        tokenized = self.tokenize != "none" and is_tokenized(texts)
        return describe_undivided(texts, self.name, 'set its option tokenize = "{tokenizer}"') or (
            f'the gold seems to be tokenized, and {self.name} tokenizes it again; tokenize = "none" takes its words as '
            "they are" if tokenized else None)

    def engine_options(self) -> dict[str, Any]:
        return {"lowercase": self.lowercase, "tokenize": self.tokenize, "smooth_method": self.smooth, "force": True}

    def score(self, sums: Floats) -> Floats:
        """Combine n-gram precisions and brevity penalty as sacrebleu does; no match at all scores 0."""
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
    """Character n-gram F-score, from 0 to 100; with word n-grams (`word_order = 2`) it is chrF++."""

    name = "chrF"
    decimals = 2
    score_range = (0.0, 100.0)
    family = "chrf"
    citation = "Popović 2015, 2017"

    char_order: Literal[1, 2, 3, 4, 5, 6] = 6
    word_order: Literal[0, 1, 2] = 0
    beta: float = 2.0
    lowercase: bool = False
    whitespace: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_beta(self.beta, self.name)

    def describe_misreading(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, "word_order", "leave the option out") if self.word_order else None

    def words(self) -> tuple[str, Collection[str]]:
        return ("chrF++", ("word_order",)) if self.word_order == 2 else ("chrF", ())

    def corpus_statistics(self, items: Sequence[Item], answers: Sequence[Answer | None]) -> Floats:
        """Characters from the first column on, words from the nineteenth.

        Of several references the first that gives a segment its highest score counts, as sacrebleu has it.
        """
        segments = tuple(texts(answers))
        by_reference = [_of_one_reference(replace(self, references=(name,)), tuple(item.gold[name] for item in items),
                                          segments) for name in self.references]
        found = by_reference[0]
        if len(by_reference) > 1:
            score = _engine(self, ((),))._compute_f_score
            scores = np.array([[score(row) for row in of.tolist()] for of in by_reference])
            scores[[[not item.gold[name].strip() for item in items] for name in self.references]] = -1  # no reference
            best = np.argmax(scores, axis=0)
            found = np.choose(best[:, np.newaxis], by_reference)
        laid = np.zeros((len(found), len(FAMILIES["chrf"].columns)))
        laid[:, :3 * self.char_order] = found[:, :3 * self.char_order]
        laid[:, 18:18 + 3 * self.word_order] = found[:, 3 * self.char_order:]
        return laid

    def score(self, sums: Floats) -> Floats:
        """Average precision and recall over the orders that both sides have, then combine them."""
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
def _of_one_reference(metric: ChrF, reference: tuple[str, ...], segments: tuple[str, ...]) -> Floats:
    """The statistics against one reference, which several metrics of a task may have."""
    return _extracted(metric, (reference,), segments)


class TER(QuotientMetric, _SegmentMetric):
    """Translation edit rate in percent: edits over the references' average length; lower is better."""

    called = "TER"
    decimals = 2
    better = "lower"
    score_range = FROM_ZERO
    citation = "Snover et al. 2006"
    coefficients = ((100, 0), (0, 1))  # edits over reference length, in percent

    def describe_misreading(self, texts: Sequence[str]) -> str | None:
        return describe_undivided(texts, self.name, 'take CER, chrF, or BLEU with tokenize = "{tokenizer}"')

    normalized: bool = False
    no_punct: bool = False
    case_sensitive: bool = False

    def score(self, sums: Floats) -> Floats:
        """Divide; without any reference word it is 0, or 100 where there are edits, as sacrebleu has it."""
        return np.where(sums[..., 1] > 0, super().score(sums), 100.0 * (sums[..., 0] > 0))
