"""The same work done by other programs on the same data: the least processor time of three calls, and the ratio.

ranx, evalstats and honestboard are installed once, in an environment of their own: `peers` below
$XDG_CACHE_HOME/evalregistry (or ~/.cache/evalregistry). Only the work itself is timed (`peer_programs`). Where a peer
does something else, the line says what.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import sacrebleu.significance
import scipy.stats

from registry.metrics.scores import Mean
from registry.significance import Bootstrap, Execution, MatchedT, McNemar, Permutation, Settings, StatisticMatrix
from registry.significance.multiple import adjust
from tests.benchmarks import bleu, peer_programs
from tests.benchmarks.figures import Figure, least

PEERS = ("ranx==0.3.20", "evalstats==0.3.3", "honestboard==0.6.1")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
PERMUTATIONS, RESAMPLES = 1000, 5000  # of ranx and of honestboard, their own defaults


def run():
    """Each peer."""
    return [*of_sacrebleu(), *of_scipy(), *of_others()]


def of_sacrebleu():
    """One pair is what it tests at a time."""
    matrix, some = bleu.matrix(), 2000
    for test, theirs, what in ((Bootstrap(), sacrebleu.significance._paired_bs_test, "recentred by the mean of draws"),
                               (Permutation(), sacrebleu.significance._paired_ar_test, "ties are no extremes")):
        peer = least(bleu.sacrebleu_test, theirs, matrix.statistics[:, :2], some) / some
        yield beside(f"{test} of BLEU, {bleu.SEGMENTS:,} segments", test, matrix, peer, f"sacrebleu, {what}")


def of_scipy():
    """Two systems' scores with all their digits, so that nothing is exact."""
    scores, some = np.rint(1e9 * np.random.default_rng(0).random((2000, 31))), 4000
    matrix = mean_of(scores, 1e9)
    pair = scores[:, 0], scores[:, 1]

    def difference(a, b, axis=-1):
        return a.mean(axis=axis) - b.mean(axis=axis)

    peer = least(lambda: scipy.stats.bootstrap(
        pair, difference, n_resamples=some, paired=True, vectorized=True, method="percentile", rng=1)) / some
    yield beside("bootstrap of a mean, 2,000 items", Bootstrap(), matrix, peer, "scipy, an interval and no p-value")
    peer = least(lambda: scipy.stats.permutation_test(
        pair, difference, n_resamples=some, permutation_type="samples", vectorized=True, rng=1)) / some
    yield beside("permutation of a mean, 2,000 items", Permutation(), matrix, peer, "scipy")


def of_others():
    """Those in an environment of their own."""
    rng = np.random.default_rng(0)
    right = rng.random((500, 1)) + rng.normal(0, 0.5, (500, 10)) > np.linspace(0.3, 0.6, 10)
    graded = np.rint(1e9 * (rng.random((50, 1)) + rng.normal(0, 0.2, (50, 25))))
    theirs = timed(right=right.astype(float), graded=graded, permutations=PERMUTATIONS, resamples=RESAMPLES)
    all_pairs = list(itertools.combinations(range(25), 2))
    each = theirs["ranx, Fisher's randomization"] / len(all_pairs) / PERMUTATIONS
    yield beside("permutation of a mean, 50 topics, 25 systems", Permutation(), mean_of(graded, 1e9), each, "ranx")
    yield whole("t of 300 pairs, 50 topics", lambda: MatchedT().run(mean_of(graded, 1e9), all_pairs, settings(1)),
                theirs["ranx, t"], "ranx")
    pairs, of = list(itertools.combinations(range(10), 2)), "45 pairs, 500 right or wrong"
    drawn = replace(settings(RESAMPLES), interval="percentile")
    yield whole(f"McNemar and intervals of {RESAMPLES:,} resamples, {of}", lambda: (
        McNemar().run(mean_of(right, 1), pairs, drawn), Bootstrap().run(mean_of(right, 1), pairs, drawn)),
        theirs["honestboard"], "honestboard, which draws for each pair anew")
    yield whole(f"exact permutation with Holm, intervals, {of}", lambda: (
        adjust(Permutation().run(mean_of(right, 1), pairs, drawn).p_value, "holm"),
        Bootstrap().run(mean_of(right, 1), pairs, drawn)), theirs["evalstats"], "evalstats' defaults")


def beside(what, test, matrix, peer, name):
    """Per pair and draw: of all pairs, which share draws, and of a single one, beside the peer's single one."""
    all_pairs, one = (per_pair_and_draw(test, matrix.select_systems(range(systems)))
                      for systems in (matrix.statistics.shape[1], 2))
    return Figure(f"{what}, per pair and draw: of {len(pairs_of(matrix))} pairs, of one",
                  f"{brief(all_pairs)}, {brief(one)}",
                  f"{name}: {brief(peer)}, {peer / all_pairs:,.0f} and {peer / one:,.1f} times as long")


def per_pair_and_draw(test, matrix, draws=20_000):
    pairs = pairs_of(matrix)
    return least(lambda: test.run(matrix, pairs, settings(draws))) / draws / len(pairs)


def whole(what, work, peer, name):
    ours = least(work)
    return Figure(what, f"{1e3 * ours:,.1f} ms", f"{name}: {1e3 * peer:,.0f} ms, {peer / ours:,.1f} times as long")


def timed(**data):
    """What `peer_programs` measures on these data, in the peers' environment."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(path := Path(folder, "data.npz"), **data)
        done = subprocess.run([environment(), "-P", peer_programs.__file__, path], capture_output=True, text=True,
                              env=os.environ | ONE_THREAD, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def environment():
    """The Python that has the peers; it is made where it is not there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "evalregistry" / "peers"
    python, mark = cache / "bin" / "python", cache / "installed"
    if not mark.exists() or mark.read_text() != repr(PEERS):
        subprocess.run([sys.executable, "-m", "venv", "--clear", cache], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS], check=True)
        mark.write_text(repr(PEERS))
    return python


def pairs_of(matrix):
    return list(itertools.combinations(range(matrix.statistics.shape[1]), 2))


def mean_of(scores, of):
    """Systems scored by the mean of the units' scores, which are counted in parts of 1."""
    counted = np.asarray(scores, dtype=float)
    metric = Mean()
    return StatisticMatrix(np.stack([counted, np.full_like(counted, of)], axis=-1), metric.score,
                           quotient=metric.quotient)


def settings(draws):
    return Settings(resamples=draws, seed=1, execution=Execution(workers=1))


def brief(time):
    return f"{1e9 * time:,.0f} ns" if time < 1e-5 else f"{1e6 * time:,.0f} us"
