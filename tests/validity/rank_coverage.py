"""Rows of rank sets in populations of many kinds; they take long, and the suite runs one of them.

A set holds where every system's ranks include, of systems that are truly equal, all that they share: 1 + the number of
truly better systems, to n less that of the truly worse ones.
"""

import zlib
from dataclasses import dataclass

import numpy as np

from registry.significance import Settings
from registry.significance.rank_sets import compute_rank_sets
from tests.validity.bands import Rate
from tests.validity.examinations import ALPHA, HERE, each_run
from tests.validity.populations import (
    ACCURACY,
    Population,
    binary,
    documents,
    quotient_of,
    spans,
    translations,
)
from tests.validity.row import BATCH, Row

RESAMPLES = 199  # the critical value is the tenth largest error: right on average, whatever their number is
TOGETHER = 2**20  # units times systems that are drawn together
CLAIMS = ("all ranks hold", "a best may be it", "one system's ranks hold")
FLIPPED = ("binary-tied-50-20", "binary-tied-200-20", "f1-tied-20-8", "f1-opposed-100-20", "bleu-tied-50-20",
           "documents-tied-20-6")


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
    "binary-alike-50-2": lambda: binary(50, (0.8,) * 2, 0.98),
    "binary-alike-200-8": lambda: binary(200, (0.98,) * 8, 0.9),
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
    "2-runs-tied-200-8": lambda: trained(200, 8, 2, 0.3),
    "3-runs-tied-200-8": lambda: trained(200, 8, 3, 0.3),
    "5-runs-tied-200-8": lambda: trained(200, 8, 5, 0.3),
}


@dataclass(frozen=True)
class HoldsRankSets:
    """Whether all ranks hold at once; whether a best system may be it; whether the first one's marginal ranks hold.

    And what share of the pairs is told apart.
    """

    method: str

    def __str__(self):
        return f"rank sets by {self.method}, {RESAMPLES} draws"

    def __call__(self, sample, rng):
        truth = np.array(sample.population.truth)
        first, last = 1 + (truth[None] > truth[:, None]).sum(axis=1), (truth[None] >= truth[:, None]).sum(axis=1)
        found = []
        for matrix in each_run(sample):
            asked = Settings(resamples=RESAMPLES, seed=int(rng.integers(2**32)), execution=HERE)
            sets, n = compute_rank_sets(matrix, asked, alpha=ALPHA, method=self.method), len(truth)
            found.append(((sets.low <= first).all() and (sets.high >= last).all(), sets.possible[truth.argmax()],
                          sets.marginal_low[0] <= first[0] and sets.marginal_high[0] >= last[0],
                          2 * sets.wins.sum() / (n * (n - 1))))
        return np.array(found, dtype=float)


@dataclass(frozen=True)
class RankRow(Row):
    """A row whose boards are drawn as many at a time as fit, with the population's name for a seed, not the row's."""

    def outcomes(self, runs):
        """What is found on each board."""
        population = self.name.removeprefix("rank-sets-").rpartition("-")[0]
        units = int(population.split("-")[-2])
        batch, found = max(1, min(BATCH, TOGETHER // (units * len(self.null.truth)))), []
        for done in range(0, runs, batch):
            rng = np.random.default_rng(np.random.SeedSequence(zlib.crc32(population.encode()), spawn_key=(done,)))
            found.append(self.test(self.null.sample(rng, batch), rng))
        return np.concatenate(found)[:runs]


def rank_sets_rows():
    """Ranks that hold; where errors are known of few runs only, of 3 or fewer, they need not."""
    for name, population in POPULATIONS.items():
        few = name.startswith(("2-runs", "3-runs"))
        for method in ("bootstrap", "flips") if name in FLIPPED else ("bootstrap",):
            fewer = name.startswith(("documents", "2", "3", "5")) or method == "flips"
            least = 0.88 if few else 0.93 if method == "flips" else 0.95
            held = tuple(Rate(least, what=what) for what in CLAIMS)
            yield RankRow(f"rank-sets-{name}-{method}", population(), HoldsRankSets(method),
                          (*held, Rate(what="told apart")), 1000 if fewer else 3000,
                          200 if (name, method) == ("binary-tied-50-20", "bootstrap") else 0)
