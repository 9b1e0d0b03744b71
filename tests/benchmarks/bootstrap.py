"""The shared bootstrap of all pairs against its own matrix products and against sacrebleu's."""

import itertools
import resource

import numpy as np
import sacrebleu.significance

from registry.significance import Bootstrap, Execution, Settings
from tests.benchmarks import bleu
from tests.benchmarks.figures import Figure, paired, seconds

RESAMPLES = 1_000_000


def run():
    """All 465 pairs of 31 systems."""
    pairs = list(itertools.combinations(range(bleu.SYSTEMS), 2))
    settings = Settings(resamples=RESAMPLES, seed=1, execution=Execution(processes=True))  # as the commands do
    statistics = bleu.matrix().statistics
    flat = np.unique(statistics.reshape(bleu.SEGMENTS, -1), axis=1).astype(np.float32)
    counts = np.random.default_rng(0).integers(0, 4, (256, bleu.SEGMENTS)).astype(np.float32)

    def products():
        """As many products of all distinct columns, on the same two threads."""
        for _ in Execution().map(lambda _: (counts @ flat).sum(), range(-(-RESAMPLES // 256))):
            pass

    ours, peer, ratio = paired(lambda: Bootstrap().run(bleu.matrix(), pairs, settings), products, rounds=3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # of the whole process, in KiB
    some = 200
    theirs = seconds(bleu.sacrebleu_test, sacrebleu.significance._paired_bs_test, statistics[:, :2], some) / some
    each = ours / len(pairs) / RESAMPLES
    return [
        Figure(f"bootstrap, {len(pairs)} pairs of {bleu.SYSTEMS} systems, {bleu.SEGMENTS} segments, {RESAMPLES:,} "
               "resamples", f"{ours:.1f} s, {peak / 2**20:.2f} GB",
               f"<= 2 x its float32 products of {flat.shape[1]} columns, {peer:.1f} s: {ratio:.2f}; < 1 GB",
               ratio <= 2 and peak < 2**20),
        Figure("  of which per pair and resample", f"{1e9 * each:.1f} ns",
               f">= 2,500 x faster than sacrebleu's {1e6 * theirs:.0f} us: {theirs / each:,.0f}",
               theirs / each >= 2500),
    ]

