"""Rows at the edge of what is promised and beyond it: long tails, hardly any errors, many pairs of few units.

Bands come from a first look at 500 to 4,000 test sets: what tests do there is no promise, and the docs say how far off
they are. The rows `judge-rare-errors-200-*` and `skewed-items-200-*` are where it is well again.
"""

from dataclasses import replace

import numpy as np

from registry.significance import Bootstrap, Crossed, MatchedT, PredictionPowered
from tests.significance.ranks.winner_coverage import boards
from tests.validity.bands import Rate, Size
from tests.validity.eight_submissions_rows import FalseNewBest
from tests.validity.examinations import CoversEffect, CoversInClosedForm, CoversScore, EquivalenceP, PValues
from tests.validity.family_examinations import Corrected, FamilyError, HoldsRanks, SteppedDown
from tests.validity.few_clusters import UNEVEN, right_in_clusters
from tests.validity.history_rows import CoversWinner, Drawn
from tests.validity.judged_rows import judged_items
from tests.validity.populations import PRECISION, Population, binary, lopsided, over_one, quotient_of, ratio
from tests.validity.rank_coverage import CLAIMS, HoldsRankSets
from tests.validity.row import Row, slug
from tests.validity.unlike_populations import rare_class
from tests.validity.weak_null_rows import BOOTSTRAP_T, MANY, STUDENTIZED, SWAPS


def heavy(units, systems=2):
    """Equal means: lognormal scores, with a skewness of 6, of every other system against nearly constant ones."""
    def draw(rng, runs):
        scores = rng.normal(1, 0.1, (runs, units, systems))
        scores[..., ::2] = np.exp(rng.standard_normal(scores[..., ::2].shape) - 0.5)
        return over_one(scores, 9)

    return ratio(f"equal means, lognormal against constant, {systems} systems, {units} items", (1.0,) * systems, draw)


def apart(units, gain):
    """Exponential scores against nearly constant ones, whose mean is less by `gain`."""
    def draw(rng, runs):
        return over_one(np.stack([rng.exponential(1, (runs, units)), rng.normal(1 - gain, 0.1, (runs, units))], -1), 9)

    return ratio(f"exponential against constant, {gain:g} apart, {units} items", (1.0, 1.0 - gain), draw)


def trained_lopsided(units, trainings):
    """Exponential scores of items against nearly constant ones, of systems whose runs hardly differ."""
    def draw(rng, runs):
        items = np.stack([rng.exponential(1, (runs, units)), rng.normal(1, 0.1, (runs, units))], axis=-1)[..., None]
        shape = (runs, units, 2, trainings)
        of_runs = 0.02 * rng.standard_normal((runs, 1, 2, trainings)) + 0.1 * rng.standard_normal(shape)
        return over_one((items + of_runs).reshape(runs, units, -1), 9)

    return replace(ratio(f"skewed items, {trainings} trainings, {units} items", (1.0, 1.0), draw), trainings=trainings)


def skewed_stairs(units):
    """Eight submissions, each with exponential scores followed by a nearly constant one as good, and a better one."""
    levels = np.repeat((0.0, 3.0, 6.0, 9.0), 2)

    def draw(rng, runs):
        scores = rng.normal(1, 0.1, (runs, units, 8))
        scores[..., ::2] = rng.exponential(1, scores[..., ::2].shape)
        return over_one(scores + levels, 9)

    return ratio(f"eight submissions, skewed differences, {units} items", tuple(1 + levels), draw)


def seldom(units, share, *, exactly=False):
    """Equal precision of 1/2: one system predicts in this share of the items, the other one in all.

    Each item has a prediction with this probability, or `exactly` so many of them have one.
    """
    def draw(rng, runs):
        places = rng.random((runs, units, 2))
        if exactly:
            places = places.argsort(axis=1) / units
        predicted = (places < np.array([share, 1.0])).astype(float)
        return np.stack([predicted * (rng.random(predicted.shape) < 0.5), predicted, np.ones_like(predicted)], axis=-1)

    shares = f"exactly {100 * share:g} %" if exactly else f"{100 * share:g} %"
    return Population(f"equal precision, one predicts in {shares} of {units} items", (0.5, 0.5), draw,
                      quotient_of(PRECISION), PRECISION, "prf")


def few_that_tell():
    """Classes of few items under a score that counts classes alike, and intervals of few clusters of uneven sizes."""
    for rare in (5, 20):
        for name, recalls in (("alike", ((0.8, 0.7, 0.5),) * 2), ("opposed", ((0.85, 0.8, 0.3), (0.75, 0.7, 0.5)))):
            null = rare_class(200, rare, recalls)
            high = 0.25 if (rare, name) == (5, "opposed") else 0.09
            for test in (Bootstrap(), SWAPS):
                yield Row(f"rare-class-{rare}-{name}-{test.name}", null, PValues(test, resamples=499),
                          (Size(0.05, 0.035, high),), 5000, 0)
        yield Row(f"rare-class-{rare}-score", rare_class(200, rare, ((0.8, 0.7, 0.5),) * 2),
                  CoversInClosedForm("score"), (Rate(0.93, 1.0, "coverage"),), 5000, 0)
    for clusters, low in ((12, 0.75), (30, 0.85), (60, 0.89), (120, 0.925)):
        for of in ("score", "difference"):
            yield Row(f"uneven-interval-{clusters}-{of}", right_in_clusters(clusters, UNEVEN), CoversInClosedForm(of),
                      (Rate(low, 0.96, "coverage"),), 5000, 0)


def limits():
    """All of them."""
    yield from few_that_tell()
    for units, low, high in ((20, 0.08, 0.13), (50, 0.06, 0.1), (200, 0.045, 0.08)):
        yield Row(f"heavy-{units}-bootstrap-studentized", heavy(units), PValues(BOOTSTRAP_T), (Size(0.05, low, high),),
                  20_000, 50)
    for units, share in ((50, 0.1), (50, 0.2), (200, 0.1), (200, 0.2)):
        for test in (STUDENTIZED, BOOTSTRAP_T):
            yield Row(f"seldom-{units}-{share:g}-{slug(test)}", seldom(units, share), PValues(test, family=MANY),
                      (Size(0.05, 0.015, 0.2),), 5000, 0)
    for test in (STUDENTIZED, BOOTSTRAP_T):
        yield Row(f"seldom-50-exactly-5-{slug(test)}", seldom(50, 0.1, exactly=True), PValues(test, family=MANY),
                  (Size(0.05, 0.015, 0.2),), 5000, 0)
    for units in (200, 1000):
        yield Row(f"heavy-{units}-bootstrap", heavy(units), PValues(Bootstrap()), (Size(0.05, 0.05, 0.09),),
                  20_000 if units == 200 else 5000, 0)
    for units in (20, 50, 200):
        yield Row(f"one-side-{units}-permutation", lopsided(units), PValues(SWAPS, "less", family=MANY),
                  (Size(0.05, 0.045, 0.13),), 10_000, 0)
    for units, systems in ((20, 2), (20, 8), (50, 8), (200, 8)):
        yield Row(f"heavy-ranks-{units}-{systems}-bootstrap", heavy(units, systems), HoldsRankSets("bootstrap"),
                  (*(Rate(0.85, 0.98, what) for what in CLAIMS), Rate(what="told apart")), 3000, 0)
    for units, low, high in ((20, 0.06, 0.11), (50, 0.05, 0.09), (200, 0.035, 0.065)):
        yield Row(f"skewed-items-{units}-crossed", trained_lopsided(units, 10), PValues(Crossed()),
                  (Size(0.05, low, high),), 10_000, 0)
    for units, systems, runs in ((60, 8, 10_000), (200, 20, 10_000), (200, 50, 1000)):
        yield Row(f"joint-resamples-{units}-units-{systems}-systems", binary(units, (0.7,) * systems),
                  FamilyError(SteppedDown("bootstrap", "max_t")), (Rate(0.05, 0.13, "any error"),), runs, 0, batch=10)
    for units in (20, 50, 200):
        yield Row(f"skewed-{units}-equivalence-t", apart(units, 0.5), EquivalenceP(0.5), (Size(0.05, 0.045, 0.13),),
                  10_000, 0)
    for units in (20, 200):  # the deviation of the difference is the root of 1.01
        yield Row(f"skewed-{units}-standardized-difference", apart(units, -0.5),
                  CoversEffect("standardized_difference", -0.5 / np.sqrt(1.01)), (Rate(0.75, 0.87, "coverage"),),
                  5000, 0)
    for sets in (3, 10):  # whose scores are taken for those of items
        null = replace(lopsided(sets), name=f"{sets} test sets, exponential against constant")
        yield Row(f"skewed-suite-{sets}-sets", null, HoldsRanks(Corrected(MatchedT(), "holm")),
                  (Rate(0.86, 0.93, "holds"),), 10_000, 0)
    yield Row("skewed-stairs-50-t", skewed_stairs(50), FalseNewBest(MatchedT()),
              (Rate(0.08, 0.17, "a false new best"),), 5000, 0)
    for units, systems, quality in ((200, 10, 0.9), (200, 10, 0.95), (200, 50, 0.95), (1000, 10, 0.98)):
        def draw(rng, units=units, qualities=(quality,) * systems):
            return next(boards(rng, units, qualities, 1))

        yield Row(f"accurate-winner-{systems}-{quality:g}-{units}",
                  Drawn(f"{systems} systems of {quality:g}, {units} items", draw),
                  CoversWinner(units, (quality,) * systems), (Rate(0.6, 0.96, "coverage"),), 2000, 0)
    for units, looked in ((2000, 20), (2000, 60), (2000, 200), (20_000, 60)):
        null, name = judged_items(units, ((1.0, 0.12), (1.0, 0.0)), (looked, looked)), f"{looked}-of-{units}"
        null = replace(null, name=f"judged, errs in 6 % of one system, {looked} of {units:,} items seen")
        low, high = (0.04, 0.06) if looked == 200 else (0.05, 0.17)
        runs = 5000 if units == 2000 else 1000
        yield Row(f"judge-rare-errors-{name}", null, PValues(PredictionPowered()), (Size(0.05, low, high),), runs, 0)
        covers = Rate(0.93 if looked == 200 else 0.6, 0.96, "coverage")
        yield Row(f"judge-rare-errors-{name}-score", null, CoversScore(PredictionPowered()), (covers,), runs, 0)
