"""Permutation of all pairs: against sacrebleu's, against one matrix product, and exact against Monte Carlo."""

import itertools
import resource
from dataclasses import replace

import numpy as np
import sacrebleu.significance

from registry.metrics import SpanF
from registry.parallel.execution import Execution
from registry.significance import McNemar, Permutation, Settings, StatisticMatrix
from registry.significance.resampling import draws
from tests.benchmarks import bleu
from tests.benchmarks.figures import Figure, paired, seconds


def run():
    """Four sizes that the design names."""
    return [_bleu(), *_mean(), *_f1(), _mcnemar()]


def all_pairs(systems):
    return list(itertools.combinations(range(systems), 2))


def _bleu():
    pairs, shuffles, some = all_pairs(bleu.SYSTEMS), 50_000, 200
    matrix = bleu.matrix()
    ours = seconds(Permutation().run, matrix, pairs, Settings(resamples=shuffles)) / len(pairs) / shuffles
    theirs = seconds(bleu.sacrebleu_test, sacrebleu.significance._paired_ar_test, matrix.statistics[:, :2], some) / some
    return Figure(f"Monte-Carlo permutation of BLEU, {len(pairs)} pairs, per pair and shuffle", f"{1e9 * ours:.0f} ns",
                  f">= 800 x faster than sacrebleu's {1e6 * theirs:.0f} us: {theirs / ours:,.0f}", theirs / ours >= 800)


def _mean():
    """Scores with all their digits, so that nothing is exact; the product is that of signs and 190 differences."""
    systems, units, flips = 20, 2000, 10_000
    scores = np.rint(1e9 * np.random.default_rng(2).normal(0, 1, (units, systems)))
    statistics = np.stack([scores, np.full_like(scores, 1e9)], axis=-1)
    matrix = StatisticMatrix(statistics, lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)))
    pairs = all_pairs(systems)
    differences = np.array([scores[:, a] - scores[:, b] for a, b in pairs]).T.astype(np.float32)
    signs = np.random.default_rng(0).choice([-1, 1], (flips, units)).astype(np.float32)

    def peer():
        for block, _ in draws.blocks(flips):
            for _, taken in draws.swaps(units, block, 0):
                taken.astype(np.float32)
        signs @ differences

    def run_permutation():
        Permutation().run(matrix, pairs, Settings(resamples=flips))

    ours, theirs, ratio = paired(run_permutation, peer)
    return [Figure(f"permutation of a mean, {len(pairs)} pairs of {systems} systems, {units} units, {flips:,} flips",
                   f"{ours:.2f} s", f"<= 1.5 x drawing the signs and one float32 product, {theirs:.2f} s: {ratio:.2f}",
                   ratio <= 1.5)]


def f1_matrix(systems=31, sentences=3453):
    """Entities of sentences: gold, predicted and found ones."""
    rng = np.random.default_rng(3)
    gold = rng.poisson(1.6, (sentences, 1)).repeat(systems, axis=1)
    hits = rng.binomial(gold, np.linspace(0.6, 0.9, systems))
    predicted = hits + rng.poisson(0.3, gold.shape)
    metric = SpanF()
    return StatisticMatrix(np.stack([hits, predicted, gold], axis=-1).astype(float), metric.score,
                           quotient=metric.quotient)


def _f1():
    matrix, shuffles = f1_matrix(), 1_000_000
    pairs = all_pairs(31)
    exact = seconds(Permutation().run, matrix, pairs, Settings())
    drawn = seconds(Permutation().run, replace(matrix, quotient=None), pairs, Settings(resamples=shuffles // 10)) * 10
    clustered = replace(matrix, units=np.arange(3453) % 250)
    by_cluster = seconds(Permutation().run, clustered, pairs, Settings())
    return [
        Figure(f"exact F1, {len(pairs)} pairs of 31 systems, 3,453 sentences", f"{exact:.1f} s",
               f"<= 1.5 x {shuffles:,} shuffles, {drawn:.1f} s (10 x a tenth): {exact / drawn:.2f}",
               exact / drawn <= 1.5),
        Figure("  the same by 250 documents", f"{by_cluster:.1f} s", ""),
    ]


def _mcnemar():
    systems, items = 1000, 10_000
    rng = np.random.default_rng(4)
    answers = rng.random((items, 1)) + rng.normal(0, 0.5, (items, systems))
    right = answers > np.linspace(0.2, 0.8, systems)
    matrix = StatisticMatrix(np.stack([right, np.ones_like(right)], axis=-1).astype(float),
                             lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)))
    pairs = all_pairs(systems)
    time = seconds(McNemar().run, matrix, pairs, Settings(execution=Execution()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Figure(f"exact McNemar, {len(pairs):,} pairs of {systems:,} systems, {items:,} items",
                  f"{time:.0f} s, {peak:.2f} GB", "< 60 s, 2 GB", time < 60 and peak < 2)
