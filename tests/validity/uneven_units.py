"""How often tests reject at 5 % where clusters are many and of unequal size, by how many equal ones tell as much.

    python -m tests.validity.uneven_units [RUNS]

The rule of `registry.significance.diagnostics.assumptions` warns of the recentred bootstrap below `FEW_EVEN` of these.
"""

import sys

import numpy as np

from registry.significance import Bootstrap, Permutation
from registry.significance.diagnostics.exchangeability import compute_effective_units
from tests.validity.examinations import ALPHA, PValues
from tests.validity.few_clusters import opposed_in_clusters, right_in_clusters, zipf
from tests.validity.row import BATCH

TESTS = (Bootstrap(), Bootstrap("studentized"), Permutation(), Permutation(studentized=True))
SIZES = ((200, 100, 1.2), (200, 100, 1.0), (1000, 200, 1.0), (200, 60, 0.7), (500, 60, 1.0), (500, 60, 0.7),
         (200, 30, 0.5), (1000, 100, 0.8), (1000, 30, 0.5))
DRAWN = 10**12  # pairs of a family, none of which is counted then


def main(runs=4000):
    """Print the table."""
    print("| population | clusters | equal ones | " + " | ".join(f"`{test!r}`" for test in TESTS) + " |")
    print("| --- |" + " --- |" * (2 + len(TESTS)))
    for of in (right_in_clusters, opposed_in_clusters):
        for sizes in SIZES:
            population, rejected = of(sizes[0], zipf(*sizes)), []
            for test in TESTS:
                rng, asked = np.random.default_rng(5), PValues(test, family=DRAWN)
                samples = [population.sample(rng, BATCH) for _ in range(runs // BATCH)]
                rejected.append(np.mean([asked(sample, rng) <= ALPHA for sample in samples]))
            print(f"| {population.name} | {sizes[0]} | {compute_effective_units(samples[0].matrix):.0f} | "
                  + " | ".join(f"{100 * share:.1f}" for share in rejected) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
