"""Families of several boards: the p-values of all their pairs corrected as one family, or board by board in turn.

Under gatekeeping every pair of systems on the same items is a chain of hypotheses, one for each metric, the primary
one first. All chains begin with the same share of alpha. Where a pair differs significantly by one metric its share
goes to the same pair by the next metric, and from the last metric in equal parts to the pairs that are left: the graph
of Bretz, Maurer, Brannath and Posch (2009), figure 8. Of a single metric that is Holm's correction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Floats, Ints
from registry.significance.multiple.corrections import GATEKEEPING, adjust, step_down_by


def adjust_boards(p: Sequence[Floats], chains: Sequence[Ints], correction: str) -> list[Floats]:
    """Adjust the p-values of several boards as one family.

    Args:
        p: Of each board, [pairs]; an undefined one (nan) stays so and counts as one that rejects nothing.
        chains: Of each board, the numbers from 0 of its pairs' chains, [pairs]: pairs of the same number are of the
            same systems on the same items, and the boards are in the order of the metrics.
        correction: Its name.

    Returns:
        Adjusted p-values of each board, [pairs].

    Raises:
        ValueError: As `adjust` does.
    """
    ends = np.cumsum([len(of_board) for of_board in p])[:-1]
    values = np.concatenate(p)
    adjusted = _gatekept(values, np.concatenate(chains)) if correction == GATEKEEPING else adjust(values, correction)
    return np.split(adjusted, ends)


def chains_of(boards: Sequence[tuple[str, Ints]]) -> list[Ints]:
    """Number pairs: those of the same systems on the same items have the same number, of each board [pairs].

    Args:
        boards: What stands for a board's items, and the systems of its pairs by number, [2, pairs].
    """
    items = np.unique([of for of, _ in boards], return_inverse=True)[1]
    known, systems = np.unique(np.concatenate([pairs for _, pairs in boards], axis=1), return_inverse=True)
    first, second = np.sort(systems.reshape(2, -1), axis=0)
    of_items = np.repeat(items, [pairs.shape[1] for _, pairs in boards])
    numbers = np.unique((of_items * len(known) + first) * len(known) + second, return_inverse=True)[1]
    return np.split(numbers, np.cumsum([pairs.shape[1] for _, pairs in boards])[:-1])


def _gatekept(p: Floats, chains: Ints) -> Floats:
    """Adjust p-values by gatekeeping along chains; those of one chain are in its order.

    Within a chain the graph hands the whole weight on, and a chain that is finished hands it to those that are not. So
    a hypothesis is tested at alpha over the number of chains that are unfinished when its turn comes.
    """
    order = np.argsort(chains, kind="stable")
    lengths = np.bincount(chains)
    at = np.arange(len(p)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # the place in its chain, in `order`
    depth = int(lengths.max(initial=0))
    by_chain = np.zeros((len(lengths), depth))  # a chain that ends before goes on with what is always rejected
    by_chain[chains[order], at] = np.where(np.isnan(p[order]), 1, p[order])
    within = sequentially_rejective(by_chain, np.eye(1, depth)[0], np.eye(depth, k=1))
    finished = np.sort(within.max(axis=1))
    of_each = np.empty(len(p))
    of_each[order] = within[chains[order], at]
    unfinished = len(lengths) - np.searchsorted(finished, np.sort(of_each))
    return np.where(np.isnan(p), np.nan, step_down_by(of_each, unfinished))


def sequentially_rejective(p: Floats, weights: Floats, transitions: Floats) -> Floats:
    """Adjust p-values by a graph; many graphs of the same form are walked at once.

    Hypotheses share alpha by weights. One is rejected where its p-value is at most its weight's share of alpha. Its
    weight then goes along its transitions to the others, and its own transitions close behind it. That is the shortcut
    of a closed test by weighted Bonferroni tests, so the family-wise error is at most alpha, whatever the dependence of
    the p-values (Bretz, Maurer, Brannath and Posch 2009, algorithm 1 and theorem 1).

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
