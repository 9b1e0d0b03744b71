"""A test of mean differences of bounded scores that assumes nothing about their distribution: betting."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from registry.arrays import Floats
from registry.significance.base import Alternative, ObservedPairs, Settings
from registry.significance.matrix import Matrix
from registry.significance.pairwise.base import PairTest
from registry.significance.resampling.draws import ORDER, stream
from registry.significance.results import Tails

_LARGEST_BET = 0.9  # share of the wealth; all of it would be lost by one unit with the largest difference
_LEVEL = 0.05  # at which the bets are best; the p-value is valid at all levels


class Bounded(PairTest):
    """Mean difference of scores between bounds, tested by betting on one unit after the other.

    A gambler starts with wealth 1 and bets a share of it that the next unit favours A, and another gambler that it
    favours B. If the mean difference is 0 no bet gains on average, so that wealth reaches 2 / alpha with a probability
    of at most alpha / 2 (Ville 1939), for any number of units and any distribution. The p-value is 2 over the largest
    wealth of both, or 1 over that of the first gambler if the test is one-sided. The order of the units is random, and
    always the same for as many units, so that no seed changes the p-value.
    """

    name: ClassVar[str] = "bounded"
    null: ClassVar[str] = "the mean difference of a unit is 0"
    assumes: ClassVar[str] = "units are independent of each other; scores have a lower and an upper bound"
    citation: ClassVar[str] = "Waudby-Smith and Ramdas 2024"

    def own_refusal(self, matrix: Matrix) -> str | None:
        """Refuse scores that are no means over the same denominators, and scores without two bounds."""
        if matrix.quotient is None or len(set(matrix.denominators.tolist())) > 1:
            return ("bounded compares means over denominators that all systems share; take permutation or "
                    "bootstrap(variant=studentized)")
        if not all(map(math.isfinite, matrix.score_range)):
            return ("bounded needs scores with a lower and an upper bound, which this metric does not have; take "
                    "permutation or bootstrap(variant=studentized)")
        return None

    def tails(self, pairs: ObservedPairs, settings: Settings) -> Tails:
        """Bet on the units of each pair, in one order for all of them."""
        order = np.random.Generator(stream(0, ORDER)).permutation(len(pairs.matrix.statistics))
        log_p = [log_betting_p(differences(pairs.matrix, o.pair)[order], settings.alternative) for o in pairs]
        return Tails.made(np.array(log_p), "bound")


def differences(matrix: Matrix, pair: tuple[int, int]) -> Floats:
    """Return what a pair's units differ by, [units], as shares of the largest difference that a unit can have."""
    over, under = matrix.parts_of(pair)
    width = matrix.score_range[1] - matrix.score_range[0]
    shares = matrix.scale * (over[:, 0] - over[:, 1]) / (width * np.abs(under).max())
    return np.asarray(np.clip(-shares if matrix.lower_is_better else shares, -1, 1))


def log_betting_p(shares: Floats, alternative: Alternative) -> float:
    """Return the natural logarithm of the p-value of a mean of 0.

    The bets are those that are best for intervals of a mean (Waudby-Smith and Ramdas 2024, section 4.2).

    Args:
        shares: Independent numbers from -1 to 1, [units], in an order that does not depend on them.
        alternative: `greater` than 0, `less`, or `two-sided`.
    """
    sides = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[alternative]
    n = len(shares)
    counts = np.arange(2.0, n + 2)
    means = np.cumsum(shares) / counts
    variances = (1 + np.cumsum((shares - means) ** 2)) / counts
    before = np.concatenate([[1.0], variances[:-1]])  # each bet is made before its unit is seen
    bets = np.minimum(np.sqrt(2 * math.log(len(sides) / _LEVEL) / (n * before)), _LARGEST_BET)
    largest = max(float(np.cumsum(np.log1p(side * bets * shares)).max(initial=0)) for side in sides)
    return min(0.0, math.log(len(sides)) - largest)
