"""The shared bootstrap of all pairs against its own matrix products and against sacrebleu's."""

import itertools
import resource
from unittest import mock

import numpy as np
import sacrebleu.significance

from registry.significance import Bootstrap, Execution, Settings
from registry.significance.resampling import draws, screening
from registry.significance.resampling.loops import PLAIN
from tests.benchmarks import bleu
from tests.benchmarks.figures import Figure, paired, processor_seconds, seconds

RESAMPLES = 1_000_000


def run():
    """All 465 pairs of 31 systems, with the compiled loops and without; all on one thread, by processor time."""
    pairs = list(itertools.combinations(range(bleu.SYSTEMS), 2))
    settings = Settings(resamples=RESAMPLES, seed=1, execution=Execution(workers=1))
    statistics = bleu.matrix().statistics
    flat = np.unique(statistics.reshape(bleu.SEGMENTS, -1), axis=1).astype(np.float32)
    counts = np.random.default_rng(0).integers(0, 4, (256, bleu.SEGMENTS)).astype(np.float32)

    def products():
        """As many products of all distinct columns."""
        for _ in Execution(workers=1).map(lambda _: (counts @ flat).sum(), range(-(-RESAMPLES // 256))):
            pass

    def bootstrap():
        Bootstrap().run(bleu.matrix(), pairs, settings)

    ours, peer, ratio = paired(bootstrap, products, 3, processor_seconds)
    with mock.patch.object(draws, "loops", return_value=PLAIN), mock.patch.object(
            screening, "loops", return_value=PLAIN):
        plain, plain_peer, plain_ratio = paired(bootstrap, products, 2, processor_seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # of the whole process, in KiB
    some = 200
    theirs = seconds(bleu.sacrebleu_test, sacrebleu.significance._paired_bs_test, statistics[:, :2], some) / some
    each = ours / len(pairs) / RESAMPLES
    beside = f"x its float32 products of {flat.shape[1]} columns"
    return [
        Figure(f"bootstrap, {len(pairs)} pairs of {bleu.SYSTEMS} systems, {bleu.SEGMENTS} segments, {RESAMPLES:,} "
               "resamples", f"{ours:.1f} s of a core, {peak / 2**20:.2f} GB",
               f"<= 1.2 {beside}, {peer:.1f} s: {ratio:.2f}; < 1 GB", ratio <= 1.2 and peak < 2**20),
        Figure("  the same without numba", f"{plain:.1f} s of a core",
               f"<= 1.4 {beside}, {plain_peer:.1f} s: {plain_ratio:.2f}", plain_ratio <= 1.4),
        Figure("  of which per pair and resample", f"{1e9 * each:.1f} ns",
               f">= 2,500 x faster than sacrebleu's {1e6 * theirs:.0f} us: {theirs / each:,.0f}",
               theirs / each >= 2500),
    ]
