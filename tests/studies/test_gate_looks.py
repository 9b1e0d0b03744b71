"""Levels of the looks of a gate: published values, and the errors of all looks together by enumeration."""

import numpy as np
import pytest
from scipy.signal import convolve2d
from scipy.stats import multinomial

from registry.significance.distributions import tango_statistic
from registry.significance.margins import exact_p_value
from registry.studies.gate_looks import compute_level, spend_alpha


def test_the_spent_alpha_is_that_of_other_programs():
    """The manual of the R package GroupSeq: 3 looks, one-sided 5 %; ld98: 5 looks, two-sided 5 %."""
    assert spend_alpha(0.05, 1 / 3) == pytest.approx(0.00069, abs=5e-6)
    assert [2 * spend_alpha(0.025, look / 5) for look in range(2, 6)] == pytest.approx(
        [0.00079, 0.00762, 0.02442, 0.05], abs=6e-6)


@pytest.mark.parametrize("looks", [1, 2, 3, 7])
def test_the_levels_of_all_looks_add_up_to_alpha(looks):
    levels = [compute_level(0.05, look, looks) for look in range(1, looks + 1)]
    assert sum(levels) == pytest.approx(0.05)
    assert levels == sorted(levels)
    assert levels[0] > 0


def find_region(n, margin, level, p_value):
    """Flags [only A, only B] of the samples with a p-value of at most `level`; it falls with the statistic."""
    a, b = np.indices((n + 1, n + 1))
    possible = a + b <= n
    cells = sorted(zip(a[possible], b[possible], strict=True), key=lambda cell: tango_statistic(*cell, n, -margin),
                   reverse=p_value is passes)
    low, high = 0, len(cells)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if p_value(*map(int, cells[middle]), n, margin) <= level else (low, middle)
    region = np.zeros((n + 1, n + 1), dtype=bool)
    for cell in cells[:low]:
        region[cell] = True
    return region


def passes(only_a, only_b, n, margin):
    return exact_p_value(only_a, only_b, n, margin)


def fails(only_a, only_b, n, margin):
    return exact_p_value(only_b, only_a, n, -margin)


@pytest.mark.slow
@pytest.mark.parametrize("p_value", [passes, fails])
def test_all_looks_together_err_in_at_most_alpha(p_value):
    """The probability that some look decides wrongly, if A is worse by exactly the margin, over all samples."""
    looks, units, margin, alpha = 3, 20, 0.1, 0.05
    regions = [find_region(look * units, margin, compute_level(alpha, look, looks), p_value)
               for look in range(1, looks + 1)]
    a, b = np.indices((units + 1, units + 1))
    errors, last = [], []
    for q in np.linspace(margin, (1 + margin) / 2, 60):
        step = np.where(a + b <= units, multinomial.pmf(
            np.stack([a, b, np.maximum(0, units - a - b)], axis=-1), units, [q - margin, q, 1 + margin - 2 * q]), 0)
        undecided, error = np.ones((1, 1)), 0.0
        for region in regions:
            reached = convolve2d(undecided, step)
            error += reached[region].sum()
            undecided = np.where(region, 0, reached)
        errors.append(error)
        last.append(reached[regions[-1]].sum())
    assert max(errors) <= alpha
    assert max(errors) > 0.02
    assert np.max(np.subtract(errors, last)) > 0.005, "earlier looks decide, too"
