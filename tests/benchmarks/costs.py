"""What a comparison costs against items, systems and resamples: processor time of one thread."""

import itertools

import numpy as np

from registry.significance import Bootstrap, Execution, Permutation, Settings
from registry.significance.resampling.draws import sum_permutations
from registry.significance.resampling.scores import score_resamples, share_resamples
from tests.benchmarks.figures import Figure, least, processor_seconds
from tests.benchmarks.growth import bleu, mean


def run():
    """Each size alone, from the base on."""
    sizes = [*(("items", n, 50_000) for n in (1000, 2000, 4000, 8000)),
             *(("systems", n, 100_000) for n in (20, 50, 100, 200)),
             *(("resamples", n, n) for n in (25_000, 50_000, 100_000, 200_000))]
    return [*(_cost("BLEU", name, **({"items": 2000, "systems": 20} | {name: size} | {"resamples": resamples}))
              for name, size, resamples in sizes),
            *(_cost("a mean of scores", "systems", 2000, n, 100_000) for n in (20, 50, 100, 200)),
            *(_cost_of_swaps(2000, n, 100_000) for n in (20, 50, 100, 200))]


def _cost(metric, name, items, systems, resamples):
    matrix = (bleu if metric == "BLEU" else mean)(items, systems)
    settings = Settings(resamples=resamples, execution=Execution(workers=1))
    matrix = share_resamples(matrix, settings)
    drawing = processor_seconds(score_resamples, matrix, settings)
    pairs = list(itertools.combinations(range(systems), 2))
    testing = least(Bootstrap().run, matrix, pairs, settings, rounds=2)  # of the scores that were drawn
    holds = testing <= drawing if name == "systems" else None
    return Figure(f"bootstrap of {metric} by {name}: {items:,} items, {systems} systems, {resamples:,} resamples",
                  f"{drawing + testing:.2f} s of a core",
                  f"draws and scores {drawing:.2f} s, {len(pairs)} pairs {testing:.2f} s", holds)


def _cost_of_swaps(items, systems, resamples):
    matrix, pairs = mean(items, systems), list(itertools.combinations(range(systems), 2))
    settings = Settings(resamples=resamples, execution=Execution(workers=1))
    numerators = matrix.statistics[:, :, :1]
    drawing = processor_seconds(lambda: list(sum_permutations(numerators, settings, np.copy)))
    testing = processor_seconds(Permutation().run, matrix, pairs, settings) - drawing
    return Figure(f"permutation of a mean of scores: {items:,} items, {systems} systems, {resamples:,} draws",
                  f"{drawing + testing:.2f} s of a core", f"draws {drawing:.2f} s, {len(pairs)} pairs {testing:.2f} s",
                  testing <= drawing)
