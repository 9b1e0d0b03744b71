"""Ranks of systems, rank ranges, clusters and compact letter displays.

They follow from the scores and from the significant differences of pairs. All functions take arrays and do not depend
on the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from registry.arrays import Flags, Floats, Ints

_ROWS = 512  # resamples in one block, which fits into the processor's cache
_MOST_GROUPS = 702  # the number of names from a to zz


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of systems, with the range of ranks that significance tests allow.

    The attributes are arrays with one value per system.

    Attributes:
        order: Indices of the systems from best to worst. Systems with undefined scores come last, and ties keep their
            given order.
        rank: Competition ranks (1, 2, 2, 4): equal scores share a rank. Systems without a score share the last rank.
        low, high: Rank range: from significant losses + 1 to the number of systems minus significant wins.
        cluster: Cluster numbers from 1. A new cluster begins if every system above wins significantly against every
            system below.
    """

    order: Ints
    rank: Ints
    low: Ints
    high: Ints
    cluster: Ints


def rank(scores: Floats, wins: Flags, *, lower_is_better: bool = False) -> Ranks:
    """Rank systems by score, with the range of ranks that the tests do not rule out.

    Args:
        scores: Scores at full precision, [systems]; nan if undefined.
        wins: [systems, systems]; `wins[a, b]` is true if a is significantly better than b.
        lower_is_better: True if lower scores are better.
    """
    n = len(scores)
    keys = np.where(np.isnan(scores), np.inf, scores if lower_is_better else -scores)
    order = np.argsort(keys, kind="stable")
    places = 1 + (keys[None, :] < keys[:, None]).sum(axis=1)
    not_beaten = np.where(wins[np.ix_(order, order)], 0, np.arange(n, dtype=np.int32)).max(axis=1, initial=0)
    begins = np.arange(1, n) > np.maximum.accumulate(not_beaten)[:-1]
    cluster = np.empty(n, dtype=np.int64)
    cluster[order] = np.cumsum([True, *begins][:n])
    return Ranks(order, places, wins.sum(axis=0) + 1, n - wins.sum(axis=1), cluster)


def find_neighbour_ranges(wins: Flags) -> tuple[Ints, Ints]:
    """Return each system's range of ranks, from its nearest significant neighbours.

    The range begins after the nearest significantly better system and ends before the nearest significantly worse one.
    All other significant differences are ignored, so the ranges are less informative than those of `rank`.

    Args:
        wins: [systems, systems]; `wins[a, b]` is true if a is significantly better than b. The systems are ordered from
            best to worst.

    Returns:
        First and last rank of each system, [systems] each.
    """
    n = len(wins)
    low, high = np.ones(n, dtype=np.int64), np.full(n, n)
    for place in range(n):
        above, below = np.flatnonzero(wins[:place, place]), np.flatnonzero(wins[place, place + 1:])
        low[place] = above[-1] + 2 if len(above) else 1
        high[place] = place + 1 + below[0] if len(below) else n
    return low, high


def count_rank_shares(scores: Floats, *, lower_is_better: bool = False) -> Floats:
    """Return the share of resamples in which each system has each rank.

    Systems with equal scores share their ranks equally, and undefined scores are the worst.

    Args:
        scores: Scores in resamples, [resamples, systems].
        lower_is_better: True if lower scores are better.

    Returns:
        Shares, [systems, ranks]; every row and every column adds up to 1.
    """
    resamples, n = scores.shape
    steps = np.zeros(n * (n + 1))  # a share begins at the first of its places and ends after the last
    for start in range(0, resamples, _ROWS):
        rows = np.ascontiguousarray(scores[start:start + _ROWS])
        keys = np.where(np.isnan(rows), np.inf, rows if lower_is_better else -rows)
        order = np.argsort(keys, axis=1)
        ordered = np.take_along_axis(keys, order, axis=1)
        begins = np.ones(ordered.shape, dtype=bool)
        begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        starts = np.flatnonzero(begins)  # of systems with equal scores
        sizes = np.diff(starts, append=ordered.size)
        first, share = order.ravel() * (n + 1) + np.repeat(starts % n, sizes), np.repeat(1 / sizes, sizes)
        steps += np.bincount(first, share, len(steps))
        steps -= np.bincount(first + np.repeat(sizes, sizes), share, len(steps))
    frequencies: Floats = np.cumsum(steps.reshape(n, n + 1), axis=1)[:, :n] / resamples
    return np.clip(frequencies, 0, 1)


def find_frequent_ranks(frequencies: Floats, confidence: float) -> tuple[Ints, Ints]:
    """Return the interval of ranks that each system has in most resamples.

    At most (1 - confidence) / 2 of the resamples are below the interval, and at most as many above.

    Args:
        frequencies: Result of `count_rank_shares`, [systems, ranks].
        confidence: Share of the resamples that the interval must contain.

    Returns:
        First and last rank of each system, [systems] each.
    """
    outside, sums = (1 - confidence) / 2, np.cumsum(frequencies, axis=1)
    slack = 1e-9  # sums of shares are rounded
    return 1 + (sums <= outside + slack).sum(axis=1), 1 + (sums < 1 - outside - slack).sum(axis=1)


def find_groups(differ: Flags) -> list[tuple[int, ...]]:
    """Return the groups of systems for a compact letter display (Piepho 2004).

    No two systems of a group differ significantly, and no further system can be added to a group. So the groups are the
    maximal cliques of a graph (algorithm of Bron and Kerbosch 1973, with pivots).

    Args:
        differ: Flags of significant differences, [systems, systems], symmetric; the systems are ordered from best to
            worst.

    Returns:
        The groups in the order of their members; an empty list if there are more than 702 groups.
    """
    order = np.argsort(differ.sum(axis=1), kind="stable")  # this order leaves few branches
    alike = np.packbits(~differ[np.ix_(order, order)], axis=1, bitorder="little")
    near = [int.from_bytes(row.tobytes(), "little") & ~(1 << a) for a, row in enumerate(alike)]
    groups = list(islice(_cliques(near), _MOST_GROUPS + 1))
    if len(groups) > _MOST_GROUPS:
        return []
    return sorted(tuple(np.sort(order[list(_members(group))]).tolist()) for group in groups)


def assign_letters(groups: Sequence[Sequence[int]], systems: int) -> list[str]:
    """Return the letters of every system in a compact letter display.

    Each group of systems gets a letter. Systems that share a letter do not differ significantly.

    >>> assign_letters([(0, 1), (1, 2)], 3)
    ['a', 'ab', 'b']
    """
    separator = "," if len(groups) > 26 else ""
    of_systems: list[list[str]] = [[] for _ in range(systems)]
    for n, group in enumerate(groups):
        for system in group:
            of_systems[system].append(name_group(n))
    return [separator.join(of_system) for of_system in of_systems]


def name_group(n: int) -> str:
    """Return the letters that name group `n`, counted from 0: a to z, then aa to zz.

    >>> [name_group(n) for n in (0, 25, 26, 701)]
    ['a', 'z', 'aa', 'zz']
    """
    return (chr(96 + n // 26) if n >= 26 else "") + chr(97 + n % 26)


def _cliques(near: Sequence[int]) -> Iterator[int]:
    """Find all maximal cliques of a graph of systems, for a compact letter display.

    Two systems are adjacent if they do not differ significantly. A set of systems is an integer: its bit n is 1 if it
    contains system n.

    Args:
        near: For each system, the set of adjacent systems.

    Yields:
        Sets of systems that are all adjacent to each other.
    """
    stack = [(0, (1 << len(near)) - 1, 0)]  # a stack, because cliques can be larger than Python's recursion limit
    while stack:
        chosen, candidates, excluded = stack.pop()
        if not candidates and not excluded:
            yield chosen
        for system in _members(_branches(candidates, excluded, near)):
            bit = 1 << system
            stack.append((chosen | bit, candidates & near[system], excluded & near[system]))
            candidates, excluded = candidates & ~bit, excluded | bit


def _branches(candidates: int, excluded: int, near: Sequence[int]) -> int:
    """Return a small set of systems that has a member of every remaining clique.

    A clique is a set of systems that do not differ significantly. This is the pivot step of Bron and Kerbosch's search:
    the set contains the candidates that are not adjacent to a pivot. The bits of each integer are a set of systems.
    """
    fewest = candidates
    for least, pivots in ((0, excluded), (1, candidates)):  # a candidate is not near itself
        for pivot in _members(pivots):
            branches = candidates & ~near[pivot]
            if branches.bit_count() < fewest.bit_count():
                fewest = branches
                if fewest.bit_count() <= least:
                    return fewest
    return fewest


def _members(bits: int) -> Iterator[int]:
    while bits:
        least = bits & -bits
        yield least.bit_length() - 1
        bits ^= least
