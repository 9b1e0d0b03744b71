"""How often pairs get a note and leaderboards a warning: where a test errs (hits), and where it holds (false alarms).

    python -m tests.validity.hits [RUNS [NAME]]

NAME is part of the names of the populations to print; all are without.
The first table is of pairs of two systems, by rule of `diagnostics.exchangeability`. A message is due if a row of
docs/validity.md finds that `permutation` rejects more than 6 % at 5 %. The second table is of leaderboards, by all
rules of `permutation`. The third is of two systems, if other shares of false alarms than
`diagnostics.evidence.CHANCE` were tolerated.
"""

import sys
from statistics import NormalDist

import numpy as np

from registry.significance import Permutation, Settings
from registry.significance.diagnostics.evidence import SystemPairs, board_warnings
from registry.significance.diagnostics.exchangeability import find_asymmetric, find_non_exchangeable, find_skewed
from tests.validity.few_clusters import UNEVEN, opposed_in_clusters, right_in_clusters, skewed_in_clusters
from tests.validity.populations import (
    counts,
    documents,
    exchanged,
    graded,
    lopsided,
    over_one,
    ratio,
    spans,
    unequal_f1,
)
from tests.validity.populations import skewed as long_tailed
from tests.validity.range_populations import labels
from tests.validity.unlike_populations import rare_class

BATCH = 50
PERMUTATION = Permutation()
CHANCES = 0.05, 0.1, 0.2, 0.3
LARGE = (  # sizes of clusters, a few of which have far the most items
    (100, *(2,) * 7), (100, *(2,) * 11), (200, *(2,) * 19), (*(100,) * 2, *(2,) * 18), (*(100,) * 3, *(2,) * 27),
    (*(100,) * 5, *(2,) * 35), (*(100,) * 7, *(2,) * 53))
POPULATIONS = (
    *(unequal_f1(n) for n in (20, 50, 120, 300, 2000)),
    *(exchanged(unequal_f1(n, gold)) for gold in (1.0, 0.0) for n in (20, 50)), *(spans(n) for n in (20, 50, 120, 300)),
    *(spans(n, (0.7, 0.5)) for n in (20, 50, 120)), *(lopsided(n) for n in (10, 20, 50, 100, 200, 1000)),
    *(graded(n) for n in (10, 20, 50, 200)), *(long_tailed(n) for n in (20, 50, 200)),
    *(counts(n, own=own) for own in (False, True) for n in (20, 200)),
    *(of(n, sizes) for of in (opposed_in_clusters, right_in_clusters, skewed_in_clusters) for n in (8, 30)
      for sizes in ((2, 14, 8, 5, 11), UNEVEN)),
    *(of for sizes in LARGE for opposed in [opposed_in_clusters(len(sizes), sizes)]
      for of in (opposed, exchanged(opposed), exchanged(opposed, by_cluster=True))),
    *(right_in_clusters(len(sizes), sizes) for sizes in LARGE))


def losing(units, share, size=5.0, systems=2):
    """Equal means of scores near 1: the first system loses much in a share of the units, and is better in the rest."""
    def draw(rng, runs):
        scores = np.abs(rng.normal(1, 0.3, (runs, units, systems)))
        scores[..., 0] += np.where(rng.random((runs, units)) < share, size, 0) - share * size
        return over_one(scores, 9)

    return ratio(f"one system loses {size:g} in {100 * share:g} % of {units} items", (1.0,) * systems, draw)


def all_losing(units, share, size=5.0, systems=2):
    """Exchangeable systems, each of which loses much in a share of the units."""
    def draw(rng, runs):
        scores = np.abs(rng.normal(0, 0.5, (runs, units, systems)))
        return over_one(scores + size * (rng.random(scores.shape) < share), 9)

    name = f"all systems lose {size:g} in {100 * share:g} % of {units} items"
    return ratio(name, (0.4 + size * share,) * systems, draw)


def zipf_labels(units, classes, accuracies):
    """Macro-F1 of classes whose sizes follow Zipf's law."""
    return labels(units, 1 / np.arange(1, classes + 1), accuracies)


def errors_apart(accuracy, items, systems, errors=5):
    """Accuracies of systems that differ by up to so many errors."""
    return tuple((accuracy + errors / items * np.linspace(0, 1, systems)).tolist())


def holding(systems):
    """Populations in which the test holds, with what the systems are like."""
    same, apart = "exchangeable", "differ by up to 5 errors"
    equal = (0.0,) * systems
    yield from ((same, of) for of in (
        graded(50, equal), long_tailed(50, equal), long_tailed(200, equal),
        *(all_losing(n, share, systems=systems) for n, share in ((20, 0.05), (50, 0.05), (20, 0.1))),
        documents(20, (0.9,) * systems), documents(50, (0.97,) * systems),
        spans(20, (0.6,) * systems, (0.4,) * systems),
        zipf_labels(200, 10, (0.8,) * systems), zipf_labels(500, 20, (0.8,) * systems),
        *(rare_class(units, rare, (recalls,) * systems) for units, rare, recalls in (
            (200, 5, (0.8, 0.7, 0.5)), (200, 10, (0.8, 0.7, 0.5)), (400, 20, (0.95, 0.95, 0.9))))))
    yield from ((apart, of) for of in (
        documents(50, errors_apart(0.97, 400, systems)), zipf_labels(200, 10, errors_apart(0.8, 200, systems)),
        zipf_labels(500, 20, errors_apart(0.8, 500, systems)), zipf_labels(1000, 10, errors_apart(0.9, 1000, systems))))


def failing(systems):
    """Populations in which the test rejects too often with few units, with what the systems are like."""
    of_two = () if systems > 2 else (*(lopsided(n) for n in (20, 50)), *(unequal_f1(n) for n in (20, 50, 120)))
    yield from (("one unlike the others", of) for of in (
        *(losing(n, share, systems=systems) for n, share in (
            (50, 0.05), (50, 0.2), (100, 0.1), (200, 0.02), (200, 0.05))), *of_two))
    yield from ((f"half better at rare items: recalls {' and '.join(map(str, recalls))}",
                 rare_class(units, rare, recalls * (systems // 2)))
                for units, rare, recalls in (
        (200, 5, ((0.85, 0.8, 0.3), (0.75, 0.7, 0.5))), (200, 10, ((0.85, 0.8, 0.3), (0.75, 0.7, 0.5))),
        (200, 10, ((0.9, 0.9, 0.85), (0.85, 0.85, 0.95))), (400, 20, ((0.925, 0.925, 0.85), (0.875, 0.875, 0.95))),
        (400, 20, ((0.955, 0.955, 0.88), (0.905, 0.905, 0.98)))))


def shares(population, runs):
    """The share of test sets that each warning is told of."""
    rng, found = np.random.default_rng(1), np.zeros((3, 0))
    for _ in range(runs // BATCH):
        sample = population.sample(rng, BATCH)
        pairs = SystemPairs(sample.matrix.by_unit, *np.array(sample.pairs()).T)
        told = [sum((of.has_evidence for of in rule(pairs)), np.zeros(BATCH, dtype=bool))
                for rule in (find_non_exchangeable, find_skewed, find_asymmetric)]
        found = np.append(found, told, axis=1)
    return found.mean(axis=1)


def warned(population, runs):
    """Whether each simulated leaderboard has a warning, and rejects that its first two systems are equal, [runs]."""
    rng, has_warning, rejects = np.random.default_rng(2), [], []
    for _ in range(runs // BATCH):
        sample = population.sample(rng, BATCH)
        for run in range(BATCH):
            board = sample.matrix.select_systems(range(run * sample.systems, (run + 1) * sample.systems)).by_unit
            warnings = PERMUTATION.pair_warnings(SystemPairs.every(board))
            has_warning.append(bool(board_warnings(warnings, sample.systems)))
        results = PERMUTATION.run(sample.matrix, sample.pairs(), Settings(resamples=999, seed=1))
        rejects += (results.p_value <= 0.05).tolist()
    return np.array(has_warning), np.array(rejects)


def curve(population, runs):
    """The share of test sets of two systems with a warning, by tolerated chance, [chances]."""
    rng, reached = np.random.default_rng(3), []
    bars = np.array([NormalDist().inv_cdf(1 - chance / 2) for chance in CHANCES])
    for run in range(runs):
        if run % BATCH == 0:
            sample = population.sample(rng, BATCH)
        board = sample.matrix.select_systems(range(run % BATCH * 2, run % BATCH * 2 + 2)).by_unit
        scores = [of.scores[0] for of in PERMUTATION.pair_warnings(SystemPairs.every(board)) if of.where[0]]
        reached.append(max(scores, default=0) >= bars)
    return np.mean(reached, axis=0)


def main(runs=2000, name=""):
    """Print the tables."""
    print("| population | swaps of unlike systems | skewed for so few units | signs and ranks of skewed differences |")
    print("| --- | --- | --- | --- |")
    for population in (of for of in POPULATIONS if name in of.name):
        told = " | ".join(f"{100 * share:.1f} %" for share in shares(population, runs))
        better = ", one better" if population.truth[0] != population.truth[1] else ""
        print(f"| {population.name}{better} | {told} |", flush=True)
    print("\n| population | systems | number | first two differ | warned | warned, if they differ |")
    print("| --- | --- | --- | --- | --- | --- |")
    for like, population in (of for systems in (2, 10) for kind in (holding, failing) for of in kind(systems)
                             if name in of[1].name):
        warns, rejects = warned(population, runs)
        numbers = (f"{100 * share:.1f} %" for share in (rejects.mean(), warns.mean(), warns[rejects].mean()))
        short = population.name.removesuffix(", exchangeable").removesuffix(", one better at rare items")
        print(f"| {short} | {like} | {len(population.truth)} | {' | '.join(numbers)} |", flush=True)
    print(f"\n| population | systems |{'|'.join(f' {100 * chance:g} % ' for chance in CHANCES)}|")
    print(f"| --- | --- |{' --- |' * len(CHANCES)}")
    for like, population in (of for kind in (holding, failing) for of in kind(2) if name in of[1].name):
        numbers = " | ".join(f"{100 * share:.1f}" for share in curve(population, runs))
        print(f"| {population.name} | {like} | {numbers} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
