"""The sequentially rejective graph: hypotheses share alpha by weights, and what is rejected hands its weight on.

A hypothesis is rejected where its p-value is at most its weight's share of alpha. Its weight then goes along its
transitions to the others, and its own transitions close behind it. That is the shortcut of a closed test by weighted
Bonferroni tests, so the family-wise error is at most alpha, whatever the dependence of the p-values (Bretz, Maurer,
Brannath and Posch 2009, algorithm 1 and theorem 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Floats


def sequentially_rejective(p: Floats, weights: Floats, transitions: Floats) -> Floats:
    """Adjust p-values by a graph; many graphs of the same form are walked at once.

    Adjusted p-values are those of Bretz et al. (2009), algorithm 2: a hypothesis is rejected at level alpha where its
    own is at most alpha.

    Args:
        p: [..., hypotheses], none undefined.
        weights: [hypotheses], 0 or more, adding up to 1 at the most.
        transitions: [hypotheses, hypotheses], the share of a rejected hypothesis' weight (row) that each other one
            (column) gets; 0 or more, rows adding up to 1 at the most, with an empty diagonal.

    Returns:
        Adjusted p-values, [..., hypotheses].
    """
    n = len(weights)
    flat = p.reshape(-1, n)
    graphs = np.arange(len(flat))
    weight = np.broadcast_to(weights, flat.shape).copy()
    edges = np.broadcast_to(transitions, (len(flat), n, n)).copy()
    left = np.ones(flat.shape, dtype=bool)
    adjusted = np.ones(flat.shape)
    highest = np.zeros(len(flat))
    for _ in range(n):
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.where(left & (weight > 0), flat / weight, np.inf)  # at which each would be rejected now
        first = level.argmin(axis=1)
        highest = np.maximum(highest, level[graphs, first])
        adjusted[graphs, first] = np.where(np.isfinite(highest), np.minimum(highest, 1), adjusted[graphs, first])
        weight, edges = _without(first, weight, edges)
        left[graphs, first] = False
    return adjusted.reshape(p.shape)


def _without(gone: NDArray[np.intp], weight: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """The weights [graphs, hypotheses] and transitions of graphs without one hypothesis each (algorithm 1, step 3)."""
    graphs = np.arange(len(gone))
    into, out = edges[graphs, :, gone], edges[graphs, gone]
    weight = weight + weight[graphs, gone][:, None] * out
    there_and_back = into * out
    with np.errstate(divide="ignore", invalid="ignore"):
        edges = (edges + into[:, :, None] * out[:, None, :]) / (1 - there_and_back)[:, :, None]
    edges[there_and_back >= 1] = 0
    diagonal = np.arange(edges.shape[1])
    edges[:, diagonal, diagonal] = 0
    weight[graphs, gone] = 0
    edges[graphs, gone], edges[graphs, :, gone] = 0, 0
    return weight, edges
