"""Of how many test sets the cautions of `cautions.weak_null` are told, where they are due and where not.

    python -m tests.validity.hits [RUNS]

A caution of swaps is due where a row of docs/validity.md finds that `permutation` rejects more than 6 % at 5 %.
"""

import sys

import numpy as np

from registry.significance.cautions.weak_null import SystemPairs, asymmetric, mixed, skewed
from tests.validity.few_clusters import UNEVEN, opposed_in_clusters, right_in_clusters, skewed_in_clusters
from tests.validity.populations import counts, graded, lopsided, spans, unequal_f1
from tests.validity.populations import skewed as long_tailed

BATCH = 50
POPULATIONS = (
    *(unequal_f1(n) for n in (20, 50, 120, 300, 2000)), *(spans(n) for n in (20, 50, 120, 300)),
    *(spans(n, (0.7, 0.5)) for n in (20, 50, 120)), *(lopsided(n) for n in (10, 20, 50, 100, 200, 1000)),
    *(graded(n) for n in (10, 20, 50, 200)), *(long_tailed(n) for n in (20, 50, 200)),
    *(counts(n, own=own) for own in (False, True) for n in (20, 200)),
    *(of(n, sizes) for of in (opposed_in_clusters, right_in_clusters, skewed_in_clusters) for n in (8, 30)
      for sizes in ((2, 14, 8, 5, 11), UNEVEN)))


def shares(population, runs):
    """The share of test sets that each caution is told of."""
    rng, found = np.random.default_rng(1), np.zeros((3, 0))
    for _ in range(runs // BATCH):
        sample = population.sample(rng, BATCH)
        pairs = SystemPairs(sample.matrix.by_unit, *np.array(sample.pairs()).T)
        told = [sum((of.where for of in rule(pairs)), np.zeros(BATCH, dtype=bool))
                for rule in (mixed, skewed, asymmetric)]
        found = np.append(found, told, axis=1)
    return found.mean(axis=1)


def main(runs=5000):
    """Print the table."""
    print("| population | swaps of unlike systems | skewed for so few units | signs and ranks of skewed differences |")
    print("| --- | --- | --- | --- |")
    for population in POPULATIONS:
        told = " | ".join(f"{100 * share:.1f} %" for share in shares(population, runs))
        better = ", one better" if population.truth[0] != population.truth[1] else ""
        print(f"| {population.name}{better} | {told} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
