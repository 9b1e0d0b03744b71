"""What a comparison costs against items, systems and resamples."""

import itertools

import numpy as np

from registry.metrics import BLEU
from registry.metrics.scores import Mean
from registry.significance import Bootstrap, Execution, Settings, StatisticMatrix
from registry.significance.resampled_scores import resampled_scores, sharing_resamples
from tests.benchmarks.figures import Figure, seconds


def run():
    """Each size alone, from the base on."""
    sizes = [*(("items", n, 50_000) for n in (1000, 2000, 4000, 8000)),
             *(("systems", n, 100_000) for n in (20, 50, 100, 200)),
             *(("resamples", n, n) for n in (25_000, 50_000, 100_000, 200_000))]
    return [*(_cost("BLEU", name, **({"items": 2000, "systems": 20} | {name: size} | {"resamples": resamples}))
              for name, size, resamples in sizes),
            *(_cost("a mean of scores", "systems", 2000, n, 100_000) for n in (20, 50, 100, 200))]


def _cost(metric, name, items, systems, resamples):
    matrix = (_bleu if metric == "BLEU" else _mean)(np.random.default_rng(0), items, systems)
    settings = Settings(resamples=resamples, execution=Execution(processes=True))  # as the commands do
    matrix = sharing_resamples(matrix, settings)
    drawing = seconds(resampled_scores, matrix, settings)
    pairs = list(itertools.combinations(range(systems), 2))
    testing = seconds(Bootstrap().run, matrix, pairs, settings)  # of the scores that were drawn
    holds = testing <= drawing if name == "systems" and metric == "BLEU" else None  # a mean is drawn in half the time
    return Figure(f"bootstrap of {metric} by {name}: {items:,} items, {systems} systems, {resamples:,} resamples",
                  f"{drawing + testing:.2f} s", f"draws and scores {drawing:.2f} s, {len(pairs)} pairs {testing:.2f} s",
                  holds)


def _bleu(rng, items, systems):
    total = np.maximum(rng.integers(4, 60, (items, systems, 1)) - np.arange(4), 0)
    correct = rng.binomial(total, np.array([0.7, 0.5, 0.35, 0.25]))
    statistics = np.concatenate([total[..., :1], total[..., :1] + 1, correct, total], axis=-1).astype(float)
    return StatisticMatrix(statistics, BLEU().score)


def _mean(rng, items, systems):
    """Scores with all their digits, for which there is no ideal bootstrap."""
    scores = np.rint(1e9 * rng.random((items, systems)))
    metric = Mean()
    return StatisticMatrix(np.stack([scores, np.full_like(scores, 1e9)], axis=2), metric.score,
                           quotient=metric.quotient)
