"""A made-up test set of BLEU statistics, and sacrebleu's own significance tests on two of its systems."""

import numpy as np
import sacrebleu.metrics

from registry.metrics import BLEU
from registry.significance import StatisticMatrix

SYSTEMS, SEGMENTS = 31, 2034


def matrix():
    """BLEU-like statistics of systems whose hypotheses differ in length."""
    rng = np.random.default_rng(0)
    reference = rng.integers(4, 60, (SEGMENTS, 1))
    hypothesis = np.maximum(reference + rng.integers(-4, 5, (SEGMENTS, SYSTEMS)), 1)
    total = np.maximum(hypothesis[..., None] - np.arange(4), 0)
    correct = rng.binomial(total, np.array([0.7, 0.5, 0.35, 0.25]))
    lengths = np.stack([hypothesis, np.broadcast_to(reference, hypothesis.shape)], axis=-1)
    statistics = np.concatenate([lengths, correct, total], axis=-1).astype(float)
    return StatisticMatrix(statistics, BLEU().score)


def sacrebleu_test(test, statistics, samples):
    """Run one of sacrebleu's paired tests on the statistics [segments, 2, columns] of two systems."""
    metric = sacrebleu.metrics.BLEU(references=[["x"] * SEGMENTS])
    baseline, system = (side.astype(int).tolist() for side in np.moveaxis(statistics, 1, 0))
    metric._extract_corpus_statistics = lambda hypotheses, references: system
    baseline_info = {"BLEU": (np.array(baseline), metric._aggregate_and_compute(baseline))}
    test(baseline_info, "system", ["x"] * SEGMENTS, None, {"BLEU": metric}, n_samples=samples, seed=1)
