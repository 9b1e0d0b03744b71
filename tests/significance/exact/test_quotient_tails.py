"""Where rejection regions of two quotients begin, against whole numbers."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from registry.metrics import SpanF
from registry.significance import Permutation, Settings, StatisticMatrix
from registry.significance.base import METHODS
from registry.significance.exact.swaps import _Swaps


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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_where_every_swap_brings_f1s_nearer_only_none_and_all_are_as_extreme(seed):
    """All 1,900 units favour one system, so p = 2 * 2^-1900: nearly all of the lattice is beyond any float."""
    rng, n = np.random.default_rng(seed), 1900
    gold = rng.poisson(10, (n, 1)).repeat(2, axis=1) + 1
    hits = rng.binomial(gold, [0.9, 0.03])
    metric = SpanF()
    matrix = StatisticMatrix(np.stack([hits, hits + rng.poisson([0.5, 9], (n, 2)), gold], axis=-1).astype(float),
                             metric.score, quotient=metric.quotient)
    found = Permutation().run(matrix, [(0, 1)], Settings())
    assert METHODS[found.method[0]] == "exact"
    assert found.log10_p[0] == pytest.approx((1 - n) * np.log10(2), rel=1e-14)


@pytest.mark.parametrize("sizes", [(600, 40, 20), (900, 60, 9), (1500, 20, 60)])
def test_clear_differences_of_f1_are_the_sum_of_binomials(sizes):
    """One answer to a unit: A's hits that B has not, B's spurious answers, and B's hits that A has not."""
    kinds = np.array([[[1, 1, 1], [0, 0, 1]], [[0, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 1, 1]]])
    metric = SpanF()
    matrix = StatisticMatrix(np.repeat(kinds, sizes, axis=0).astype(float), metric.score, quotient=metric.quotient)
    found = Permutation().run(matrix, [(0, 1)], Settings())
    kept = np.indices([n + 1 for n in sizes])
    swapped = np.array(sizes)[:, None, None, None] - kept
    (hits_a, said_a, gold_a), (hits_b, said_b, gold_b) = (
        np.einsum("kc,k...->c...", kinds[:, a], kept) + np.einsum("kc,k...->c...", kinds[:, b], swapped)
        for a, b in ((0, 1), (1, 0)))
    under = (said_a + gold_a) * (said_b + gold_b)
    over = np.abs(hits_a * (said_b + gold_b) - hits_b * (said_a + gold_a))
    extreme = over * under[-1, -1, -1] >= over[-1, -1, -1] * under
    log_p = sum(stats.binom.logpmf(kept[n], size, 0.5) for n, size in enumerate(sizes))
    assert METHODS[found.method[0]] == "exact"
    assert found.log10_p[0] == pytest.approx(special.logsumexp(log_p[extreme]) / np.log(10), rel=1e-12)
