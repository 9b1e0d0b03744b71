"""How often rank sets hold in populations of many kinds, which takes too long for a row of the table.

    python -m tests.validity.rank_coverage [POPULATION ...] [--method M] [--runs N] [--processes N]

A set holds where every system's ranks include, of systems that are truly equal, all that they share: 1 + the number of
truly better systems, to n less that of the truly worse ones. Beside that stands how often a truly best system is not
among those that may be best, and how often the ranks of one system by itself (the first) are missed.
"""

import argparse
import os
import re
import sys
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from registry.significance import Permutation, Settings
from registry.significance.ranks.rank_sets import DRAWS, rank_sets, rank_sets_of_tests
from tests.validity.examinations import ALPHA, HERE, each_run
from tests.validity.family_examinations import all_pairs
from tests.validity.populations import (
    ACCURACY,
    Population,
    binary,
    documents,
    quotient_of,
    spans,
    translations,
)

RESAMPLES = 199  # the critical value is the tenth largest error: right on average, whatever their number is
HEADER = ("kind", "qualities", "units", "systems", "runs", "method", "ranks missed", "a best missed",
          "of one system missed", "told apart")
BATCH = 2**20  # units times systems that are drawn together


def spread(systems, low, high):
    """Qualities from one to another."""
    return tuple(np.linspace(low, high, systems).round(9))


def groups(systems, *qualities):
    """Groups of equal systems."""
    return tuple(np.sort(np.resize(qualities, systems)))


def f1(units, recalls):
    """Spans of systems that differ in recall."""
    return spans(units, recalls, (0.4,) * len(recalls))


def opposed(units, systems):
    """Equal F1 by either precision or recall."""
    return spans(units, groups(systems, 0.4, 0.8), groups(systems, 0.0, 1.0))


def trained(units, systems, trainings, spread):
    """Right or wrong answers of systems trained several times; `spread` is how much a training's latent ease differs.

    Half of what makes an item easy is the item's, a quarter the system's on it, a quarter the training's on it.
    """
    def draw(rng, runs):
        shape = (runs, units, systems, trainings)
        of_item, of_system = rng.standard_normal((*shape[:2], 1, 1)), rng.standard_normal((*shape[:3], 1))
        skill = spread * rng.standard_normal((runs, 1, systems, trainings))
        ease = np.sqrt(0.5) * of_item + 0.5 * of_system + 0.5 * rng.standard_normal(shape)
        right = (ease < 0.5 + skill).reshape(runs, units, -1).astype(float)
        return np.stack([right, np.ones_like(right)], axis=-1)

    return Population(f"systems trained {trainings} times, {units} items", (0.0,) * systems, draw,
                      quotient_of(ACCURACY), ACCURACY, trainings=trainings)


POPULATIONS = {
    "binary-tied-20-8": lambda: binary(20, (0.7,) * 8),
    "binary-tied-20-20": lambda: binary(20, (0.9,) * 20),
    "binary-tied-20-100": lambda: binary(20, (0.7,) * 100),
    "binary-tied-50-20": lambda: binary(50, (0.7,) * 20),
    "binary-tied-100-8": lambda: binary(100, (0.7,) * 8),
    "binary-tied-200-20": lambda: binary(200, (0.95,) * 20, 0.9),
    "binary-tied-2000-100": lambda: binary(2000, (0.7,) * 100),
    "binary-near-200-20": lambda: binary(200, spread(20, 0.7, 0.71)),
    "binary-near-2000-8": lambda: binary(2000, spread(8, 0.7, 0.704)),
    "binary-grouped-50-20": lambda: binary(50, groups(20, 0.5, 0.7, 0.9)),
    "binary-grouped-100-50": lambda: binary(100, groups(50, 0.5, 0.7, 0.9)),
    "binary-grouped-500-8": lambda: binary(500, groups(8, 0.6, 0.8)),
    "binary-spread-100-20": lambda: binary(100, spread(20, 0.5, 0.9)),
    "f1-tied-20-8": lambda: f1(20, (0.6,) * 8),
    "f1-tied-50-20": lambda: f1(50, (0.6,) * 20),
    "f1-tied-2000-20": lambda: f1(2000, (0.6,) * 20),
    "f1-opposed-20-8": lambda: opposed(20, 8),
    "f1-opposed-100-20": lambda: opposed(100, 20),
    "f1-near-200-20": lambda: f1(200, spread(20, 0.6, 0.61)),
    "f1-grouped-100-50": lambda: f1(100, groups(50, 0.5, 0.6, 0.7)),
    "f1-spread-500-8": lambda: f1(500, spread(8, 0.55, 0.65)),
    "bleu-tied-20-8": lambda: translations(20, (0.7,) * 8),
    "bleu-tied-50-20": lambda: translations(50, (0.7,) * 20),
    "bleu-tied-1000-8": lambda: translations(1000, (0.7,) * 8),
    "bleu-near-200-8": lambda: translations(200, spread(8, 0.7, 0.707)),
    "bleu-grouped-100-20": lambda: translations(100, groups(20, 0.65, 0.7, 0.75)),
    "bleu-spread-200-8": lambda: translations(200, spread(8, 0.6, 0.75)),
    "documents-tied-8-6": lambda: documents(8, (0.7,) * 6),
    "documents-tied-20-6": lambda: documents(20, (0.7,) * 6),
    "2 runs-tied-200-8": lambda: trained(200, 8, 2, 0.3),
    "3 runs-tied-200-8": lambda: trained(200, 8, 3, 0.3),
    "5 runs-tied-200-8": lambda: trained(200, 8, 5, 0.3),
}


@dataclass(frozen=True)
class Missed:
    """How often something is missed, of so many runs; `of_first` are the marginal ranks of the first system."""

    runs: int
    ranks: int
    best: int
    of_first: int
    told_apart: float


def sets_of(matrix, seed, method):
    """The rank sets of a board by a method."""
    asked = Settings(resamples=RESAMPLES, seed=seed, execution=HERE)
    if method in DRAWS:
        return rank_sets(matrix, asked, alpha=ALPHA, method=method)
    systems = len(matrix.observed)
    return rank_sets_of_tests(Permutation().run(matrix, all_pairs(systems), asked), systems, alpha=ALPHA)


def missed(name, method, runs):
    """Simulate boards of a population."""
    population = POPULATIONS[name]()
    truth = np.array(population.truth)
    first, last = 1 + (truth[None] > truth[:, None]).sum(axis=1), (truth[None] >= truth[:, None]).sum(axis=1)
    units, systems = int(re.search(r"-(\d+)-\d+$", name)[1]), len(truth)
    batch = max(1, min(50, BATCH // (units * systems)))
    found, done = [], 0
    while done < runs:
        rng = np.random.default_rng(np.random.SeedSequence(zlib.crc32(name.encode()), spawn_key=(done,)))
        for matrix in each_run(population.sample(rng, batch)):
            sets = sets_of(matrix, int(rng.integers(2**32)), method)
            found.append(((sets.low > first).any() or (sets.high < last).any(), not sets.possible[truth.argmax()],
                          sets.marginal_low[0] > first[0] or sets.marginal_high[0] < last[0], sets.wins.mean()))
        done += batch
    ranks, best, of_first, told = np.array(found[:runs], dtype=float).sum(axis=0)
    return Missed(runs, int(ranks), int(best), int(of_first), 2 * told / runs * systems / (systems - 1))


def line(name, method, runs):
    """A line of the table, and the seconds that it took."""
    start = time.process_time()
    found = missed(name, method, runs)
    shares = [f"{n / runs:.4f}" for n in (found.ranks, found.best, found.of_first)]
    kind, structure, units, systems = name.split("-")
    return [kind, structure, units, systems, f"{runs:,}", method, *shares, f"{found.told_apart:.3f}"], (
        time.process_time() - start)


def main(arguments):
    """Simulate what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.validity.rank_coverage", description=__doc__.splitlines()[0])
    parser.add_argument("populations", nargs="*", default=list(POPULATIONS), metavar="POPULATION")
    parser.add_argument("--method", default="bootstrap", choices=(*DRAWS, "holm"))
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args(arguments)
    print(f"| {' | '.join(HEADER)} |\n|{' --- |' * len(HEADER)}", flush=True)
    with ProcessPoolExecutor(asked.processes) as pool:
        running = [pool.submit(line, name, asked.method, asked.runs) for name in asked.populations]
        for of_population in running:
            cells, seconds = of_population.result()
            print("| " + " | ".join(cells) + " |", flush=True)
            print(f"{' '.join(cells[:4])}: {seconds:.0f} s", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
