"""How the cost of a comparison grows with items, systems, pairs and draws: exponents fitted to five sizes.

Each of the four is doubled four times while the others stay. The work is done in this process by one thread, after a
first comparison that is not counted, so that neither imports nor the start of a program are in the fit: a straight line
through the logarithms of processor time and size.
"""

import itertools

import numpy as np

from registry.metrics import BLEU
from registry.metrics.scores import Mean
from registry.significance import Bootstrap, Execution, Settings, StatisticMatrix
from registry.significance.resampling.scores import score_resamples, share_resamples
from tests.benchmarks.figures import Figure, processor_seconds

DOUBLINGS = 2 ** np.arange(5)
ROUNDS = 3


def run():
    """Each of the four."""
    compare(bleu(500, 4), 5000)
    shared = drawn(mean(200, 400), 50_000)
    return [
        growth("items", 2000 * DOUBLINGS, 1.1, lambda n: (compare, bleu(n, 8), 60_000)),
        growth("draws", 50_000 * DOUBLINGS, 1.1, lambda n: (compare, bleu(3000, 8), n)),
        growth("systems", 25 * DOUBLINGS, 2.1, lambda n: (compare, mean(200, n), 50_000)),
        growth("pairs", 5000 * DOUBLINGS, 1.1, lambda n: (compare_some, shared, 50_000, n)),
    ]


def growth(what, sizes, limit, work):
    """The exponent of processor time by size, and the first and the last of the times: each the least of some rounds.

    A round takes all sizes, so that a processor that is slower for a while is slower for all of them.
    """
    works = [work(int(size)) for size in sizes]
    times = np.min([[processor_seconds(*of) for of in works] for _ in range(ROUNDS)], axis=0)
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    return Figure(f"growth of a bootstrap by {what}, {sizes[0]:,} to {sizes[-1]:,}",
                  f"{times[0]:.2f} to {times[-1]:.1f} s",
                  f"<= {limit}, the exponent of processor time: {exponent:.2f}", exponent <= limit)


def settings(draws):
    return Settings(resamples=draws, execution=Execution(workers=1))


def compare(matrix, draws):
    """Draw, score and test all pairs."""
    Bootstrap().run(matrix, list(itertools.combinations(range(matrix.statistics.shape[1]), 2)), settings(draws))


def compare_some(matrix, draws, n_pairs):
    """Test some pairs of scores that are drawn already."""
    pairs = list(itertools.islice(itertools.combinations(range(matrix.statistics.shape[1]), 2), n_pairs))
    Bootstrap().run(matrix, pairs, settings(draws))


def drawn(matrix, draws):
    """The matrix with its scores in resamples."""
    shared = share_resamples(matrix, settings(draws))
    score_resamples(shared, settings(draws))
    return shared


def bleu(items, systems):
    """Statistics of BLEU."""
    rng = np.random.default_rng(0)
    total = np.maximum(rng.integers(4, 60, (items, systems, 1)) - np.arange(4), 0)
    correct = rng.binomial(total, np.array([0.7, 0.5, 0.35, 0.25]))
    statistics = np.concatenate([total[..., :1], total[..., :1] + 1, correct, total], axis=-1).astype(float)
    return StatisticMatrix(statistics, BLEU().score)


def mean(items, systems):
    """Scores with all their digits, for which there is no ideal bootstrap."""
    scores = np.rint(1e9 * np.random.default_rng(0).random((items, systems)))
    metric = Mean()
    return StatisticMatrix(np.stack([scores, np.full_like(scores, 1e9)], axis=2), metric.score,
                           quotient=metric.quotient)
