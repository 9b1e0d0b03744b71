"""Correlations of two systems after their predictions are swapped in some items.

Predictions can be swapped on a common scale only, so each system's are standardized first: z-scores for Pearson's r,
ranks for the rank correlations. Pearson's r is then a function of sums over items. Ranks are ranked again within each
system; most of that work serves both systems, as follows.

Let s = 1 for an item that stays and -1 for one that is swapped. The sign of the difference between A's values in two
items is a polynomial in the two s, and for B it is the same polynomial in -s. The covariance of A with the gold, a sum
of such signs times the gold's differences, is therefore an even part plus an odd part, and that of B is the even part
less the odd part. The odd part is linear in s.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Floats
from registry.families import decimal_places
from registry.significance.correlations.coefficients import (
    ROWS,
    Groups,
    dot,
    form,
    imbalances,
    quotient,
    rank_spread,
    signs,
    sizes,
    untied,
)
from registry.significance.units import midranks

Bits = NDArray[np.uint8]
# the scores [draws] of two systems, from swaps [draws, items] that are 1 for an item that is swapped, else 0
Swapped = Callable[[Bits], tuple[Floats, Floats]]

_NOTHING = 1e-12  # the share of a sum of squares that is rounding, where a spread should be 0


def z_scores(values: Floats) -> Floats:
    """Standardize values [items] to a mean of 0 and a standard deviation of 1; nan where all are equal.

    Decimals are taken as whole numbers of their last digit, so that percentages and shares give the same.
    """
    places = decimal_places(values)
    plain = values if places is None else np.rint(values * 10.0**places)
    deviation = float(plain.std())
    return np.asarray((plain - plain.mean()) / (deviation or np.nan))


def swapped_pearson(a: Floats, b: Floats, y: Floats) -> Swapped:
    """Pearson's r after swaps of z-scores, from the sums of z, z^2 and z y over what a system holds.

    `first` [3] are the sums of A, `moves` [items, 3] what a swap adds to them, `both` [3] the sums of A and B.
    """
    gold = z_scores(y)
    sums_a, sums_b = (np.stack([side, side * side, side * gold], axis=1) for side in (a, b))
    first, moves, both = sums_a.sum(axis=0), sums_b - sums_a, (sums_a + sums_b).sum(axis=0)

    def score(sums: Floats) -> Floats:
        squares = len(moves) * sums[:, 1]
        spread = squares - sums[:, 0] ** 2
        return quotient(sums[:, 2], np.where(spread > _NOTHING * squares, spread, 0), np.ones(1))

    def scores(swaps: Bits) -> tuple[Floats, Floats]:
        sums = first + swaps.astype(np.float64) @ moves
        return score(sums), score(both - sums)

    return scores


def _held(both: Groups, swaps: Bits) -> tuple[Bits, Floats]:
    """The items that A holds, [draws, 2 items], and their number up to and with each group, [draws, groups]."""
    held = np.concatenate([1 - swaps, swaps], axis=1)
    return held, both.through(held)


def _sizes(both: Groups, through: Floats) -> tuple[Floats, Floats]:
    """The numbers of items of each group that A and that B holds, [draws, groups] each."""
    of_a = sizes(through)
    return of_a, np.diff(both.ends, prepend=-1) - of_a


def swapped_spearman(a: Floats, b: Floats, y: Floats) -> Swapped:
    """Spearman's rho after swaps of ranks.

    `both` groups the ranks of A and, after them, of B. `deviations` [2 items] are twice the deviations of the items'
    gold ranks from their mean, once for A's and once for B's predictions; `sum_of_squares` is that of one system's, and
    `odd` [items] the odd part's coefficients.

    The odd part of item i is that of moving it from its place in A's ranks to that in B's, among the ranks of both: the
    sum over all their items j of sign(rank - rank_j) (deviation_i - deviation_j).
    """
    both, deviations = Groups.of(np.concatenate([a, b])), np.tile(2 * midranks(y) - (len(y) + 1), 2)
    everything = both.through(np.stack([np.ones(len(deviations)), deviations]))
    count, pulled = both.by_item(imbalances(everything))
    pulled_a, pulled_b = np.split(deviations * count - pulled, 2)
    sum_of_squares, odd = np.array([deviations @ deviations / 2]), (pulled_a - pulled_b) / 4

    def scores(swaps: Bits) -> tuple[Floats, Floats]:
        held, through = _held(both, swaps)
        of_a = dot(both.by_item(imbalances(through)), deviations * held)
        of_b = of_a - 2 * (_stays(swaps) @ odd)
        sizes_a, sizes_b = _sizes(both, through)
        return (quotient(of_a, rank_spread(sizes_a), sum_of_squares),
                quotient(of_b, rank_spread(sizes_b), sum_of_squares))

    return scores


def swapped_kendall(a: Floats, b: Floats, y: Floats) -> Swapped:
    """Kendall's tau-b after swaps of ranks.

    What a system has in common with the gold is its excess of concordant over discordant pairs. Four times the even
    part is `constant` + s `even` s, with the rows of a triangular matrix in pieces; four times the odd part is `odd` s.
    `spread` is twice the number of pairs that the gold does not tie.
    """
    constant, even, odd = 0, [], np.zeros(len(y))
    for at in range(0, len(y), ROWS):
        gold = np.triu(signs(y, y, at))
        aa, ab, ba, bb = (gold * signs(i, j, at) for i in (a, b) for j in (a, b))
        constant += int((aa + ab + ba + bb).sum())
        even.append(aa - ab - ba + bb)
        odd[at:at + ROWS] += (aa + ab - ba - bb).sum(axis=1)
        odd[at:] += (aa - ab + ba - bb).sum(axis=0)
    both, spread = Groups.of(np.concatenate([a, b])), untied(sizes(Groups.of(y).through(np.ones((1, len(y))))))

    def scores(swaps: Bits) -> tuple[Floats, Floats]:
        stays = _stays(swaps)
        even_part = constant + sum(form(rows, stays, n * ROWS) for n, rows in enumerate(even))
        odd_part = stays @ odd
        sizes_a, sizes_b = _sizes(both, _held(both, swaps)[1])
        return (quotient((even_part + odd_part) / 2, untied(sizes_a), spread),
                quotient((even_part - odd_part) / 2, untied(sizes_b), spread))

    return scores


def _stays(swaps: Bits) -> NDArray[np.float32]:
    """1 for an item that stays, -1 for one that is swapped."""
    return 1 - 2 * swaps.astype(np.float32)
