"""Metrics of language models, on the log-probabilities that they give the tokens of a text."""

from __future__ import annotations

import math

import numpy as np

from registry.arrays import Floats, share
from registry.items import Answer, Item
from registry.metrics.base import FROM_ZERO, AdditiveMetric, QuotientMetric


class Perplexity(AdditiveMetric):
    """Perplexity, exp of the mean negative log-probability of a token, from 1 up; lower is better.

    It compares models that cut texts into the same tokens; `BitsPerCharacter` any. Of one item the nats per token are
    kept.
    """

    called = "perplexity"
    decimals = 2
    takes = "logprob"
    family = "ratio"
    better = "lower"
    unbounded = True
    score_range = (1.0, math.inf)
    citation = "Jelinek et al. 1977"

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (nats, tokens)."""
        if answer is None:
            raise self.unanswered(item)
        total, tokens = answer.value
        return (-total, tokens)

    def score(self, sums: Floats) -> Floats:
        """Exp of nats over tokens; without any token, or beyond the largest number, nan."""
        with np.errstate(over="ignore"):
            scores = np.exp(share(sums[..., 0], sums[..., 1]))
        return np.where(np.isfinite(scores), scores, np.nan)


class BitsPerCharacter(QuotientMetric):
    """Negative log-probability of the texts in bits over their characters, from 0 up; lower is better."""

    called = "bits per character"
    takes = "logprob"
    better = "lower"
    unbounded = True
    score_range = FROM_ZERO
    citation = "Shannon 1951; Graves 2013"

    def needs(self) -> tuple[str, ...]:
        """The texts, whose characters are counted."""
        return ("text",)

    def statistics(self, item: Item, answer: Answer | None) -> tuple[float, ...]:
        """Give (bits, characters)."""
        if answer is None:
            raise self.unanswered(item)
        return (-answer.value[0] / math.log(2), item.gold)
