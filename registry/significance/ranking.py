"""From scores and pairwise decisions to honest ranks: places, rank ranges and clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from registry.significance.matrix import Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The standing of every system, in the order in which the systems were given.

    Attributes:
        order: The systems from best to worst; undefined scores last, ties as they were given.
        rank: 1, 2, 2, 4: equal scores share a place. Systems without a score share the last one.
        low, high: The places that the decisions leave open: [significant losses + 1, n - significant wins].
        cluster: From 1; a new cluster begins where every system above wins significantly against every one below.
    """

    order: Ints
    rank: Ints
    low: Ints
    high: Ints
    cluster: Ints


def rank(scores: Floats, wins: NDArray[np.bool_], *, lower_is_better: bool = False) -> Ranking:
    """Rank systems by score at full precision, and bound their ranks by decisions.

    Args:
        scores: [systems]; nan where undefined.
        wins: [systems, systems]; `wins[a, b]` says that a is significantly better than b.
        lower_is_better: The direction of the scores.
    """
    n = len(scores)
    keys = np.where(np.isnan(scores), np.inf, scores if lower_is_better else -scores)
    order = np.argsort(keys, kind="stable")
    places = 1 + (keys[None, :] < keys[:, None]).sum(axis=1)
    sorted_wins = wins[np.ix_(order, order)]
    breaks = [0] + [int(sorted_wins[:i, i:].all()) for i in range(1, n)]
    cluster = np.empty(n, dtype=np.int64)
    cluster[order] = 1 + np.cumsum(breaks[:n])
    return Ranking(order, places, wins.sum(axis=0) + 1, n - wins.sum(axis=1), cluster)
