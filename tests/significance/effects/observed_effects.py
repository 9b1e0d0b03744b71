"""Effects of small matrices, by name."""

import numpy as np
from scipy.special import xlogy

from registry.significance.base import Observed
from registry.significance.effects import measure_effects
from tests.significance.matrices import matrix, of_labels


def observe(m, pair=(0, 1)):
    m = m.by_unit
    scores = m.scores()
    discordant = (m.statistics[:, pair[0]] != m.statistics[:, pair[1]]).any(axis=1).sum()
    return Observed(m, pair, float(m.difference(scores[pair[0]], scores[pair[1]])), int(discordant))


def of_scores(a, b, **options):
    """Units with the scores of a mean."""
    return matrix(np.stack([np.stack([side, np.ones(len(side))], axis=-1) for side in (a, b)], axis=1), **options)


def of_counts(only_a, only_b, n, **options):
    right = [(1, 0)] * only_a + [(0, 1)] * only_b + [(1, 1)] * (n - only_a - only_b)
    return of_labels(right) if not options else of_scores(*np.array(right, dtype=float).T, **options)


def by_name(m, confidence=0.95, pair=(0, 1)):
    return {e.name: e for e in measure_effects(observe(m, pair), confidence)}


def z_by_likelihood(only_a, only_b, n, difference):
    """Tango's statistic, its nuisance parameter found by a search for the largest likelihood."""
    d = np.asarray(difference, dtype=float)
    low, high = np.maximum(0, -d), (1 - d) / 2

    def likelihood(q):
        inside = np.clip([q + d, q, 1 - 2 * q - d], 0, 1)
        with np.errstate(divide="ignore"):
            return xlogy(only_a, inside[0]) + xlogy(only_b, inside[1]) + xlogy(n - only_a - only_b, inside[2])

    for _ in range(120):  # concave in q
        left, right = low + (high - low) * 0.45, low + (high - low) * 0.55
        better = likelihood(left) < likelihood(right)
        low, high = np.where(better, left, low), np.where(better, high, right)
    return (only_a - only_b - n * d) / np.sqrt(n * (low + high + d * (1 - d)))
