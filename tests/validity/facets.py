"""How often simultaneous intervals of `registry study facets` hold, and how often "better in every facet" errs.

    python -m tests.validity.facets [RUNS]

A run is a test set of two systems. The intervals hold if each one includes the true difference in its facet minus that
in the rest. "Better in every facet" errs if it is claimed although the systems are equal in one facet.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from registry.significance import Permutation, Settings, StatisticMatrix
from registry.significance.facets import compare_facets
from tests.validity.examinations import ALPHA, HERE
from tests.validity.populations import ACCURACY, F1, over_one, quotient_of

SIZES = (60, 80, 120, 240)
RESAMPLES = 999
DOCUMENTS = 120
PAIR = [(0, 1)]


@dataclass(frozen=True)
class FacetPopulation:
    """Where test sets with facets come from.

    Attributes:
        name: What it is, for the table.
        truths: The true difference in each facet minus that in the rest.
        draw: From a generator to a matrix with a row per item, and the facet of each item, numbered from 0.
    """

    name: str
    truths: tuple[float, ...]
    draw: Callable[[np.random.Generator], tuple[StatisticMatrix, np.ndarray]]


def right_or_wrong(rng, accuracies):
    """Statistics of items that are as hard for both systems, from the accuracies of both in each item."""
    ease = np.sqrt(0.5) * (rng.standard_normal((len(accuracies), 1)) + rng.standard_normal(accuracies.shape))
    return over_one((ease < special.ndtri(accuracies)).astype(float))


def accuracy_of(statistics, units=None):
    return StatisticMatrix(statistics, quotient_of(ACCURACY), quotient=ACCURACY, units=units, score_range=(0, 1))


def contrasts_of(differences, sizes=SIZES):
    """The differences minus those in the rest, for scores that are means."""
    differences, sizes = np.array(differences), np.array(sizes)
    rest = (differences @ sizes - differences * sizes) / (sizes.sum() - sizes)
    return tuple(differences - rest)


def binary(name, accuracies, *, random=False):
    """Right or wrong answers; `random`: the facet of each item is random, with these sizes on average."""
    accuracies = np.array(accuracies)

    def draw(rng):
        facets = np.repeat(np.arange(len(SIZES)), SIZES)
        if random:
            facets = rng.choice(len(SIZES), sum(SIZES), p=np.array(SIZES) / sum(SIZES))
        return accuracy_of(right_or_wrong(rng, accuracies[facets])), facets

    return FacetPopulation(name, contrasts_of(accuracies[:, 0] - accuracies[:, 1]), draw)


def skewed_spans():
    """Spans of equal systems; a few items have most of them."""
    sizes = np.array(SIZES) * 3

    def draw(rng):
        facets = np.repeat(np.arange(len(sizes)), sizes)
        gold = rng.poisson(np.exp(rng.normal(-0.5, 1, (len(facets), 1)))) * np.ones((1, 2), dtype=int)
        hits = rng.binomial(gold, rng.beta(3, 2, (len(facets), 1)))
        statistics = np.stack([hits, hits + rng.poisson(0.4 * gold + 0.05), gold], axis=-1).astype(float)
        return StatisticMatrix(statistics, quotient_of(F1), quotient=F1, family="prf", score_range=(0, 1)), facets

    return FacetPopulation("F1 of skewed counts, equal systems", (0.0,) * len(sizes), draw)


def shared_documents():
    """Documents of six items of random facets; each document suits one of two systems that are equal on average."""
    def draw(rng):
        documents = np.repeat(np.arange(DOCUMENTS), 6)
        suits_first = rng.random(DOCUMENTS)[documents, None] < 0.5
        accuracies = np.where(suits_first, (0.9, 0.6), (0.6, 0.9))
        return (accuracy_of(right_or_wrong(rng, accuracies), documents),
                rng.choice(3, len(documents), p=(0.5, 0.3, 0.2)))

    return FacetPopulation("documents with items of three facets, equal systems", (0.0,) * 3, draw)


POPULATIONS = {
    "equal": binary("right or wrong, equal systems", [(0.8, 0.8)] * 4),
    "one differs": binary("right or wrong, 0.9 and 0.7 in the smallest facet, equal in others",
                          [(0.9, 0.7)] + [(0.8, 0.8)] * 3),
    "random sizes": binary("the same, items of random facets", [(0.9, 0.7)] + [(0.8, 0.8)] * 3, random=True),
    "skewed F1": skewed_spans(),
    "shared clusters": shared_documents(),
}


def hold(population, rng):
    """Whether all intervals of a test set hold, and the number of intervals."""
    matrix, facets = population.draw(rng)
    members = facets == np.unique(facets)[:, None]
    contrasts = compare_facets(matrix, members, PAIR, Settings(
        resamples=RESAMPLES, seed=int(rng.integers(2**32)), confidence=1 - ALPHA, execution=HERE))
    tested = np.isfinite(contrasts.low[:, 0])
    truths = np.array(population.truths)
    return bool(((contrasts.low[:, 0] <= truths) & (truths <= contrasts.high[:, 0]))[tested].all()), int(tested.sum())


def measure_coverage(name, runs):
    """The share of test sets whose intervals all hold, and the mean number of intervals."""
    rng = np.random.default_rng([20271130, list(POPULATIONS).index(name)])
    return np.mean([hold(POPULATIONS[name], rng) for _ in range(runs)], axis=0)


def measure_false_claims(runs):
    """How often "better in every facet" is claimed; the systems are equal in one facet and differ much in others."""
    rng, accuracies = np.random.default_rng(20271201), np.repeat([(0.7, 0.7)] + [(0.95, 0.6)] * 3, SIZES, axis=0)
    settings, ends, claims = Settings(alternative="greater", execution=HERE), np.cumsum(SIZES)[:-1], 0
    for _ in range(runs):
        claims += all(Permutation().run(accuracy_of(part), PAIR, settings)[0].p_value <= ALPHA
                      for part in np.split(right_or_wrong(rng, accuracies), ends))
    return claims / runs


def main(runs=4000):
    """Print both tables."""
    print("| test sets | all intervals hold | intervals |\n| --- | --- | --- |")
    for name, population in POPULATIONS.items():
        share, number = measure_coverage(name, runs)
        print(f"| {population.name} | {100 * share:.1f} % | {number:.2f} |", flush=True)
    print(f'\n"Better in every facet" is claimed in {100 * measure_false_claims(runs):.1f} %.')


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
