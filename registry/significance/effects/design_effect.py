"""The clustering of a pair's difference: intra-cluster correlation and design effect.

Sentences of a document share its author and topic, so n of them carry less information than n independent ones. What
matters is the correlation of the *difference* of the two systems, not of the scores: a hard document is hard for both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from registry.arrays import ROUNDING, Floats, Ints
from registry.messages import NO_MESSAGES, Messages
from registry.significance.base import Pair
from registry.significance.intervals import influences
from registry.significance.matrix import Matrix

_DIGITS_LOST = 1e-9  # of the sum of two squares: a smaller difference of them is rounding


@dataclass(frozen=True, slots=True)
class Clustering:
    """The clustering of the items of a test set in the difference of one pair.

    Attributes:
        n_items: The number of items.
        n_clusters: The number of clusters; that of the items where the test set declares none.
        intra_cluster_correlation: The correlation of the items' influences on the difference; it can be negative, and
            is nan where no cluster has two items.
        design_effect: The variance of the difference with clusters as units, over that with items as units.
        messages: Why a value is nan.
    """

    n_items: int
    n_clusters: int
    intra_cluster_correlation: float
    design_effect: float
    messages: Messages = NO_MESSAGES


def design_effect(matrix: Matrix, pair: Pair) -> Clustering:
    """Measure the clustering of the linearized difference of a pair.

    Let u be the influence of an item on the difference of scores (`intervals.influence`). The intra-cluster correlation
    (ICC) is that of a one-way analysis of variance with clusters of unequal size (Donner and Koval 1980). The design
    effect (Kish 1965) is the ratio of C / (C - 1) times the sum of squares of the C clusters' sums of u to n / (n - 1)
    times that of the n items' u. It is nearly 1 + (m' - 1) ICC, where m' = sum m^2 / n is the mean size of a random
    item's cluster, unless influence depends on the size of the cluster. With m copies of each item it is
    m (n - 1) / (n - m), or m for many items. Its root is the factor by which a test of items understates the standard
    error.

    Args:
        matrix: By item, with the cluster of each in `units`; not `by_unit`.
        pair: The two systems.
    """
    n, n_clusters = len(matrix.statistics), matrix.n_units
    u, slack = _influence(matrix, pair)
    if np.isnan(u).any():
        return Clustering(n, n_clusters, math.nan, math.nan, Messages.of("score-undefined"))
    u = u - u.sum() / max(n, 1)
    if n_clusters < 2 or np.abs(u).max() <= slack:
        reason = Messages.of("one-cluster") if n_clusters < 2 else Messages.of("constant-difference", over="item")
        return Clustering(n, n_clusters, math.nan, math.nan, reason)
    clusters = np.arange(n) if matrix.units is None else matrix.units
    sizes, sums = np.bincount(clusters), np.bincount(clusters, weights=u)
    effect = (n_clusters / (n_clusters - 1) * float(sums @ sums)) / (n / (n - 1) * float(u @ u))
    if n == n_clusters:
        return Clustering(n, n_clusters, math.nan, effect, Messages.of("single-item-clusters"))
    apart = u - (sums / sizes)[clusters]
    between = float(sums @ (sums / sizes)) / (n_clusters - 1)
    within = float(apart @ apart) / (n - n_clusters)
    typical = (n - float(sizes @ sizes) / n) / (n_clusters - 1)
    return Clustering(n, n_clusters, (between - within) / (between + (typical - 1) * within), effect)


def design_effects(influence: Floats, clusters: Ints) -> Floats:
    """Return the design effect of the difference of every two systems, as `design_effect` defines it.

    Args:
        influence: Of every item on every system's score, [items, systems].
        clusters: The cluster of each item, numbered from 0, [items].

    Returns:
        [systems, systems]; nan if a difference is the same in every item, or there are fewer than two clusters.
    """
    n, n_clusters = len(clusters), int(clusters.max(initial=-1)) + 1
    sums = np.zeros((n_clusters, influence.shape[1]))
    np.add.at(sums, clusters, influence)

    def squares(of: Floats) -> Floats:
        products = of.T @ of
        own = np.diag(products)
        found: Floats = own[:, np.newaxis] + own - 2 * products
        found[found <= _DIGITS_LOST * (own[:, np.newaxis] + own)] = np.nan
        return found

    if n_clusters < 2:
        return np.full((influence.shape[1],) * 2, np.nan)
    return np.asarray((n_clusters / (n_clusters - 1) * squares(sums)) / (n / (n - 1) * squares(influence)))


def _influence(matrix: Matrix, pair: Pair) -> tuple[Floats, float]:
    """The influence of every item on the difference, and how far rounding alone can move it."""
    items = replace(matrix.of_systems(pair), units=None)
    influence: Floats = influences(items) @ np.array([1.0, -1.0])
    if matrix.quotient is None:
        return influence, ROUNDING * float(np.abs(items.scores()).max(initial=0))
    over, under = items.parts
    things = under.sum(axis=0)
    if not things.all():
        return influence, 0.0
    kept = 4 / float(things.min()) if items.rounding else 0  # steps
    return influence, matrix.scale * (ROUNDING * float(np.abs(over / things).max(initial=0)) + kept)
