"""Populations of few or unequal clusters, whose systems are equal in one of three ways."""

from collections import Counter

import numpy as np
from scipy import special

from tests.validity.populations import ACCURACY, F1, Population, quotient_of

EVEN, UNEVEN = (2, 14, 8, 5, 11), (2, 3, 4, 40, 3, 2)  # items of clusters, again and again; in the latter one has most


def zipf(units, largest, exponent=1.0):
    """The items of clusters the largest of which has so many, and each other as few as its rank's power says."""
    return tuple(np.maximum(1, np.rint(largest / np.arange(1, units + 1) ** exponent)).astype(int).tolist())


def _clusters(units, sizes):
    return np.repeat(np.arange(units), np.resize(sizes, units))


def right_in_clusters(units, sizes=EVEN, gap=0.0, share=0.3):
    """Right or wrong answers; a cluster suits one system more than the other, which are exchangeable without a gap.

    `gap` is what the first is better by, and `share` the cluster's part of the variance, both of the latent ease.
    """
    of = _clusters(units, sizes)

    def draw(rng, runs):
        cluster = rng.standard_normal((runs, units, 2))[:, of]
        ease = np.sqrt(share) * cluster + np.sqrt(1 - share) * rng.standard_normal(cluster.shape)
        right = (ease < 0.4 + np.array([gap, 0.0])).astype(float)
        return np.stack([right, np.ones_like(right)], axis=-1)

    truth = tuple(special.ndtr(np.array([0.4 + gap, 0.4])))
    name = f"right or wrong in {units} {_named(sizes)}"
    return Population(name, truth, draw, quotient_of(ACCURACY), ACCURACY, units=of, score_range=(0, 1))


def opposed_in_clusters(units, sizes=EVEN):
    """Equal F1 by precision 1 and recall 0.4, or precision 4/9 and recall 0.8, up or down by cluster and system."""
    of = _clusters(units, sizes)

    def draw(rng, runs):
        gold = np.broadcast_to(1 + rng.poisson(1, (runs, len(of), 1)), (runs, len(of), 2))
        recall = np.array([0.4, 0.8]) + rng.uniform(-0.15, 0.15, (runs, units, 2))[:, of]
        hits = rng.binomial(gold, recall)
        return np.stack([hits, hits + rng.poisson(gold * np.array([0.0, 1.0])), gold], axis=-1)

    name = f"equal F1, other P and R, in {units} {_named(sizes)}"
    return Population(name, (4 / 7, 4 / 7), draw, quotient_of(F1), F1, "prf", units=of, score_range=(0, 1))


def skewed_in_clusters(units, sizes=EVEN):
    """Equal means: exponential levels of clusters against a constant one."""
    of = _clusters(units, sizes)

    def draw(rng, runs):
        level = rng.exponential(1, (runs, units))[:, of]
        steps = np.rint(np.stack([level, 1 + 0.3 * rng.standard_normal(level.shape)], axis=-1) * 1e6)
        return np.stack([steps, np.full_like(steps, 1e6)], axis=-1)

    name = f"equal means, skewed difference, in {units} {_named(sizes)}"
    return Population(name, (1.0, 1.0), draw, quotient_of(ACCURACY), ACCURACY, units=of)


def _named(sizes):
    (others, _), *rest = sorted(Counter(sizes).items())
    if len(rest) == 1:
        largest, n = rest[0]
        return f"clusters of {others}, but for {'one' if n == 1 else n} of {largest}"
    return {EVEN: "clusters", UNEVEN: "very unequal clusters"}.get(sizes, "clusters of Zipf's sizes")
