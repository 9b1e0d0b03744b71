"""How often intervals of the best system's score hold: `python -m tests.significance.ranks.winner_coverage`.

Systems are right or wrong on items; what makes an item easy is half the item's own. Of every population: how often the
plain interval of the best one's score holds its true score and how often the hybrid one does, how much wider the hybrid
one is, and how often the true score is below the corrected one.
"""

import zlib

import numpy as np
from scipy.special import ndtri

from registry.significance import StatisticMatrix
from registry.significance.rank_sets import Influences, correct_winner

RUNS = 2000
POPULATIONS = {
    "2 tied": (200, (0.7,) * 2), "10 tied": (200, (0.7,) * 10), "50 tied": (200, (0.7,) * 50),
    "50 tied, 50 items": (50, (0.7,) * 50), "50 tied, 1000 items": (1000, (0.7,) * 50),
    "10 near": (200, tuple(np.linspace(0.68, 0.7, 10))), "10 spread": (200, tuple(np.linspace(0.5, 0.8, 10))),
    "one clearly best": (200, (0.6,) * 9 + (0.8,)), "one best of 50": (200, (0.7,) * 49 + (0.75,)),
}


def accuracies(right):
    """Systems [items, systems] that are right on items or not."""
    return StatisticMatrix(np.stack([right, np.ones_like(right)], axis=-1), lambda sums: sums[..., 0] / sums[..., 1])


def boards(rng, units, qualities, runs):
    """The answers of systems as influences, one board after the other."""
    for _ in range(runs):
        ease = (rng.standard_normal((units, 1)) + rng.standard_normal((units, len(qualities)))) / np.sqrt(2)
        right = (ease < ndtri(qualities)).astype(float)
        yield Influences.compute(accuracies(right))


def coverage(name, runs=RUNS):
    """How often the plain and the hybrid interval hold, how much wider the latter is, and truth below the estimate."""
    units, qualities = POPULATIONS[name]
    found = []
    for of in boards(np.random.default_rng(zlib.crc32(name.encode())), units, qualities, runs):
        best = correct_winner(of)
        truth = qualities[best.system]
        found.append((best.low <= truth <= best.high, best.corrected_low <= truth <= best.corrected_high,
                      (best.corrected_high - best.corrected_low) / (best.high - best.low), truth < best.corrected))
    return np.mean(found, axis=0)


if __name__ == "__main__":
    print("| population | plain holds | hybrid holds | times as wide | true score below the corrected |\n"
          "| --- | --- | --- | --- | --- |")
    for population in POPULATIONS:
        print(f"| {population} | " + " | ".join(f"{of:.3f}" for of in coverage(population)) + " |", flush=True)
