"""Families of several boards: the p-values of all their pairs corrected as one family, or board by board in turn.

Under gatekeeping every pair of systems on the same items is a chain of hypotheses, one for each metric, the primary
one first. All chains begin with the same share of alpha. Where a pair differs significantly by one metric its share
goes to the same pair by the next metric, and from the last metric in equal parts to the pairs that are left: the graph
of Bretz, Maurer, Brannath and Posch (2009), figure 8. Of a single metric that is Holm's correction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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

    Within a chain the graph hands the whole weight on, so that there no p-value is below the one before. A chain that
    is finished hands it to those that are not. So a hypothesis is tested at alpha over the number of chains that are
    unfinished when its turn comes.
    """
    order = np.argsort(chains, kind="stable")
    lengths = np.bincount(chains)
    at = np.arange(len(p)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # the place in its chain, in `order`
    depth = int(lengths.max(initial=0))
    by_chain = np.zeros((len(lengths), depth))  # a chain that ends before goes on with what is always rejected
    by_chain[chains[order], at] = np.where(np.isnan(p[order]), 1, p[order])
    within = np.maximum.accumulate(by_chain, axis=1)
    finished = np.sort(within.max(axis=1))
    of_each = np.empty(len(p))
    of_each[order] = within[chains[order], at]
    unfinished = len(lengths) - np.searchsorted(finished, np.sort(of_each))
    return np.where(np.isnan(p), np.nan, step_down_by(of_each, unfinished))
