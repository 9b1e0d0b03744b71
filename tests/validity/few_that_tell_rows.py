"""Rows of samples that are unlike, of systems that are alike, and of scores that hang on few of many units.

Two samples of items of their own, of which the smaller varies more; all systems at once, of which some are nearly the
same; intervals of scores that few items move. Bands come from a first look at 2,000 test sets.
"""

from dataclasses import replace

import numpy as np
from scipy import special

from registry.metrics import MCC
from registry.significance import RankSum, TwoSampleT
from registry.significance.overall import OVERALL_TESTS
from tests.validity.bands import Rate, Size, near
from tests.validity.examinations import CoversInClosedForm, OverallP, PValues
from tests.validity.populations import Population, over_one, ratio
from tests.validity.rank_coverage import CLAIMS, HoldsRankSets
from tests.validity.row import Row, slug
from tests.validity.unlike_populations import rare_class


def own_items(first, second, spread):
    """Equal means of normal scores on items of either system's own; the first's deviate so many times as much."""
    def draw(rng, runs):
        found = np.zeros((runs, first + second, 2, 2))
        found[:, :first, 0] = over_one(spread * rng.standard_normal((runs, first)), 9)
        found[:, first:, 1] = over_one(rng.standard_normal((runs, second)), 9)
        return found

    return ratio(f"items of their own, {first} that deviate {spread:g} times as much and {second}", (0.0, 0.0), draw,
                 unequal=True)


def some_alike(units, systems, alike):
    """Systems of one rate, of which the first so many hardly differ, as versions of one system do."""
    def draw(rng, runs):
        shared = np.sqrt(0.3) * rng.standard_normal((runs, units, 1))
        ease = shared + np.sqrt(0.7) * rng.standard_normal((runs, units, systems))
        versions = np.sqrt(0.68) * rng.standard_normal((runs, units, 1)) + np.sqrt(0.02) * rng.standard_normal(
            (runs, units, alike))
        ease[..., :alike] = shared + versions
        return over_one((ease < special.ndtri(0.7)).astype(float))

    return ratio(f"{systems} systems of one rate, {alike} nearly the same, {units} items", (0.7,) * systems, draw)


def few_score(units, expected, shape):
    """Scores of 0 but in so many items on average, where they follow a beta distribution."""
    def draw(rng, runs):
        there = rng.random((runs, units, 2)) < expected / units
        return over_one(there * rng.beta(*shape, there.shape), 6)

    mean = expected / units * shape[0] / sum(shape)
    return ratio(f"beta{shape} in {expected} of {units} items", (mean, mean), draw, score_range=(0, 1))


def rare_positives(units, rare, found=0.7, spurious=0.01):
    """Matthews correlation of two classes, of which one has so many items."""
    p = rare / units
    hits, spared = p * found, (1 - p) * (1 - spurious)
    said = hits + (1 - p) * spurious
    truth = float((hits * spared - (p - hits) * (said - hits)) / np.sqrt(said * p * (1 - p) * (1 - said)))

    def draw(rng, runs):
        gold = rng.random((runs, units, 1)) < p
        of_gold, of_said = (np.eye(2)[of.astype(int)] for of in (
            np.broadcast_to(gold, (runs, units, 2)), rng.random((runs, units, 2)) < np.where(gold, found, spurious)))
        return np.stack([of_gold * of_said, of_said, of_gold], axis=-1).reshape(runs, units, 2, 6)

    return Population(f"MCC, {rare} positive of {units} items", (truth, truth), draw, MCC().score, family="confusion",
                      score_range=MCC.score_range, classes=MCC.combines)


def of_few():
    """All of them."""
    for first, second, spread in ((20, 80, 1), (20, 80, 3), (100, 300, 2)):
        for test in (TwoSampleT(), TwoSampleT(pooled=False), RankSum()):
            holds = spread == 1 or test == TwoSampleT(pooled=False)
            yield Row(f"own-items-{first}-{second}-{spread}-{slug(test)}", own_items(first, second, spread),
                      PValues(test), near(0.05, 0.006) if holds else (Size(0.05, 0.08, 0.3),), 5000, 0)
    yield Row("alike-overall-cochran", some_alike(300, 10, 8), OverallP(OVERALL_TESTS["cochran"]()),
              (Size(0.05, 0.08, 0.16),), 5000, 0)
    for expected, low in ((2, 0.83), (5, 0.86), (10, 0.9)):
        yield Row(f"few-score-{expected}-interval", few_score(100, expected, (1, 5)), CoversInClosedForm("score"),
                  (Rate(low, 0.95, "coverage"),), 5000, 0)
    better, alike = ((0.85, 0.8, 0.3), (0.75, 0.7, 0.5)), ((0.8, 0.7, 0.5),) * 2
    for rare, systems, name, recalls, low in ((5, 2, "opposed", better, 0.8), (5, 6, "opposed", better, 0.57), (
            5, 6, "alike", alike, 0.88), (20, 6, "opposed", better, 0.9), (20, 6, "alike", alike, 0.9)):
        null = rare_class(200, rare, recalls * (systems // 2))
        yield Row(f"rare-ranks-{rare}-{systems}-{name}", replace(null, name=f"{null.name}, {systems} systems"),
                  HoldsRankSets("bootstrap"), (*(Rate(low, 0.985, what) for what in CLAIMS), Rate(what="told apart")),
                  2000, 0)
    for rare in (3, 6, 20):
        yield Row(f"rare-positives-{rare}-interval", rare_positives(300, rare), CoversInClosedForm("score"),
                  (Rate(0.7, 0.96, "coverage"),), 5000, 0)
