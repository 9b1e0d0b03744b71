"""Where rejection regions of two quotients begin, against whole numbers."""

from fractions import Fraction

import numpy as np
import pytest

from registry.significance.exact.quotient_tails import _Swaps


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("largest", [3, 40, 5000, 10**7])
def test_a_threshold_is_the_first_move_that_reaches_the_observed_difference(largest, beyond):
    """Small sums have many ties, and sums of large ones are rounded in float64."""
    rng = np.random.default_rng(largest)
    for _ in range(50):
        over, under = rng.integers(0, largest, (2, 30, 2))
        under += over + 1
        swaps = _Swaps(over, under)
        swaps.beyond = beyond
        observed_row = swaps.moves[:, 1].sum() // swaps.steps[1]  # where the first point is the observed one itself
        rows = np.unique([0, observed_row, *rng.integers(-9, 9, 8), *swaps.moves[:, 1] // swaps.steps[1]])
        (n, d), (worse_n, worse_d) = swaps.better, swaps.worse

        def difference(u, row, swaps=swaps, n=n, d=d, worse_n=worse_n, worse_d=worse_d):
            u, w = u * swaps.steps[0], int(row) * swaps.steps[1]
            return Fraction(worse_n + u, worse_d + w) - Fraction(n - u, d - w)

        observed = Fraction(n, d) - Fraction(worse_n, worse_d)
        for row, first in zip(rows, swaps.thresholds(rows).tolist(), strict=True):
            here, before = difference(first, row), difference(first - 1, row)
            assert before <= observed < here if beyond else before < observed <= here
