"""The shared bootstrap of all pairs against its own matrix products, and BLEU statistics against sacrebleu's rate."""

import itertools
import resource

import numpy as np
import sacrebleu.metrics

from registry.items import Answer, Item
from registry.metrics import BLEU
from registry.significance import Bootstrap, Settings, StatisticMatrix
from tests.benchmarks.figures import Figure, paired

SYSTEMS, SEGMENTS, RESAMPLES = 31, 2034, 100_000
WORDS = [f"w{n}" for n in range(2000)]


def run():
    """BLEU-like statistics of random systems; texts of random words."""
    return [_all_pairs(), _statistics()]


def _all_pairs():
    rng = np.random.default_rng(0)
    total = rng.integers(4, 60, SEGMENTS)[:, None, None] - np.arange(4)
    total = np.maximum(np.broadcast_to(total, (SEGMENTS, SYSTEMS, 4)), 0)
    correct = rng.binomial(total, np.array([0.7, 0.5, 0.35, 0.25]))
    lengths = np.stack([total[..., 0], total[..., 0] + rng.integers(-3, 4, total.shape[:2])], axis=-1)
    statistics = np.concatenate([lengths, correct, total], axis=-1).astype(float)
    matrix = StatisticMatrix(statistics, BLEU().score)
    pairs = list(itertools.combinations(range(SYSTEMS), 2))
    settings = Settings(resamples=RESAMPLES, seed=1)
    flat = statistics.reshape(SEGMENTS, -1).astype(np.float32)
    counts = rng.integers(0, 4, (256, SEGMENTS)).astype(np.float32)

    def products():
        for _ in range(RESAMPLES // 256 + 1):
            counts @ flat

    ours, peer, ratio = paired(lambda: Bootstrap().run(matrix, pairs, settings), products)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # of the whole process, in KiB
    return Figure(
        f"bootstrap, {len(pairs)} pairs of {SYSTEMS} systems, {SEGMENTS} segments, {RESAMPLES:,} resamples",
        f"{ours:.1f} s, peak {peak / 2**20:.2f} GB",
        f"<= 3 x its float32 products, {peer:.1f} s: {ratio:.2f}; < 1 GB", ratio <= 3 and peak < 2**20)


def _statistics():
    rng = np.random.default_rng(1)
    texts = [[" ".join(rng.choice(WORDS, 22)) for _ in range(2000)] for _ in range(2)]
    items = [Item(str(n), {"gold": text}) for n, text in enumerate(texts[0])]
    answers = [Answer(str(n), text) for n, text in enumerate(texts[1])]

    def ours():
        from registry.metrics import segments

        segments._engine.cache_clear()
        BLEU().corpus_statistics(items, answers)

    def peer():
        sacrebleu.metrics.BLEU(references=[texts[0]])._extract_corpus_statistics(texts[1], None)

    ours_s, peer_s, ratio = paired(ours, peer)
    return Figure("BLEU statistics of 2,000 segments, references read anew", f"{2000 / ours_s:,.0f} segments/s",
                  f">= 0.9 of sacrebleu's {2000 / peer_s:,.0f}: {1 / ratio:.2f}", ratio <= 1 / 0.9)
