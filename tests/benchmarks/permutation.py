"""Permutation of all pairs: against sacrebleu's, against one matrix product, and exact against Monte Carlo."""

import itertools
import math
import time
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import sacrebleu.significance
from scipy.special import betainc

from registry.metrics import SpanF
from registry.parallel.execution import Execution
from registry.significance import McNemar, Permutation, Settings, StatisticMatrix
from registry.significance.base import METHODS
from registry.significance.matrix import count_unshared
from registry.significance.resampling import draws
from tests.benchmarks import bleu
from tests.benchmarks.figures import Figure, paired, seconds
from tests.conftest import REAL_DATA


def run():
    """What is drawn, and what is exact."""
    return [_bleu(), *_mean(), *_f1(), *_right_or_wrong(), *_graded()]


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
            for _, taken in draws.draw_permutations(units, block, 0):
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
               f"<= {shuffles:,} shuffles, {drawn:.1f} s (10 x a tenth): {exact / drawn:.2f}", exact / drawn <= 1),
        Figure("  the same by 250 documents", f"{by_cluster:.1f} s", ""),
    ]


def of_coins(systems=1000, items=10_000):
    """Systems that are right or wrong, better from one to the next, on items that are as hard for all of them."""
    rng = np.random.default_rng(4)
    answers = rng.random((items, 1)) + rng.normal(0, 0.5, (items, systems))
    return _of_units(answers > np.linspace(0.2, 0.8, systems), 0)


def _of_units(scores, places):
    counted = np.rint(10.0**places * scores)
    return StatisticMatrix(np.stack([counted, np.full_like(counted, 10.0**places)], axis=-1),
                           lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)))


def _right_or_wrong():
    """Beside one product and one vectorized call of scipy, which underflow in two thirds of the pairs."""
    matrix = of_coins()
    a, b = np.triu_indices(1000, 1)
    pairs = np.stack([a, b], axis=1)

    def closed_form():
        right = matrix.statistics[:, :, 0].astype(np.float32)
        both = (right.T @ right).astype(np.float64)
        only_a, only_b = (np.diag(both)[side] - both[a, b] for side in (a, b))
        return np.minimum(1, 2 * betainc(np.maximum(only_a, only_b), np.minimum(only_a, only_b) + 1, 0.5))

    for test in (Permutation(), McNemar()):
        ours, theirs, ratio = paired(lambda test=test: test.run(replace(matrix), pairs, Settings()), closed_form, 3)
        yield Figure(f"{test} of right or wrong, {len(pairs):,} pairs of 1,000 systems, 10,000 items", f"{ours:.2f} s",
                     f"<= 3 x one product and one call of scipy, {theirs:.2f} s: {ratio:.2f}", ratio <= 3)
    found, expected = Permutation().run(matrix, pairs, Settings()), closed_form()
    seen = expected > 1e-290
    off = float(np.abs(found.p_value[seen] / expected[seen] - 1).max())
    yield Figure(f"  {np.count_nonzero(seen):,} p-values above 1e-290, relative to scipy's", f"{off:.1e}", "< 1e-10",
                 off < 1e-10)
    below = np.flatnonzero(found.p_value < 1e-290)
    below = below[:: max(1, len(below) // 1000)]
    only_a, only_b = count_unshared(matrix.both_higher, a[below], b[below])
    off = max(abs(log10 * math.log(10) - _in_whole_numbers(max(wins, losses), wins + losses)) for log10, wins, losses in
              zip(found.log10_p[below].tolist(), only_a.tolist(), only_b.tolist(), strict=True))
    yield Figure(f"  ln p of {len(below):,} others, against whole numbers", f"{off:.1e}", "< 1e-10", off < 1e-10)


def _in_whole_numbers(m, n):
    """The natural logarithm of twice the probability of m heads of n at least, rounded once."""
    way = tail = math.comb(n, m)
    for k in range(m, n):
        way = way * (n - k) // (k + 1)
        tail += way
    more = max(0, tail.bit_length() - 200)
    with localcontext(prec=60):
        return float(Decimal(tail >> more).ln() + (more + 1 - n) * Decimal(2).ln())


def _graded():
    """Scores whose swaps are counted exactly, beside adding every unit's vector on the whole lattice."""
    rng = np.random.default_rng(5)
    boards = {"25 x 100 of five decimals": rng.random((100, 25)).round(5),
              "  around a common difficulty": np.clip(
                  rng.random((100, 1)) + rng.normal(0, 0.1, (100, 25)), 0, 1).round(5)}
    if (folder := REAL_DATA / "trec-adhoc8-ap").is_dir():
        boards["TREC-8, 129 x 50 of four decimals"] = np.loadtxt(folder / "adhoc8_ap.csv", delimiter=",", skiprows=1)
    for what, scores in boards.items():
        matrix = _of_units(scores, 4 if "four" in what else 5)
        pairs = all_pairs(scores.shape[1])
        some = pairs[::len(pairs) // 10]
        one = Settings(execution=Execution(workers=1))
        before = time.process_time()
        found = Permutation().run(matrix, pairs, one)
        ours = time.process_time() - before
        before = time.process_time()
        for a, b in some:
            _on_the_whole_lattice(matrix.statistics[:, a, 0] - matrix.statistics[:, b, 0])
        theirs = (time.process_time() - before) / len(some) * len(pairs)
        yield Figure(f"exact permutation, {what}, {len(pairs):,} pairs", f"{ours:.1f} s of a core",
                     f"<= 0.5 x adding on the whole lattice, {theirs:.0f} s: {ours / theirs:.2f}",
                     ours <= theirs / 2 and set(found.method) == {METHODS.index("exact")})


def _on_the_whole_lattice(differences):
    weights = np.sort(np.abs(differences)).astype(int)
    counts = np.zeros(weights.sum() + 1)
    counts[0] = 1
    for weight in weights[weights > 0]:
        counts[weight:] += counts[:-weight].copy()
    return counts[int((weights.sum() + abs(differences.sum())) / 2):].sum()
