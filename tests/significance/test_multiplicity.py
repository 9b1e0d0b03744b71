"""Corrections, against their definitions and worked examples."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.significance.multiplicity import CORRECTIONS, adjust

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def test_holm_by_hand():
    """Ordered .01, .02, .03, .04: times 4, 3, 2, 1, and never below the one before."""
    np.testing.assert_allclose(adjust(np.array([0.04, 0.01, 0.03, 0.02]), "holm"), [0.06, 0.04, 0.06, 0.06])


@given(p_values)
def test_holm_is_the_closure_of_bonferroni(p):
    """Holm rejects what every intersection that contains it rejects by Bonferroni (Marcus, Peritz, Gabriel 1976)."""
    adjusted = adjust(np.array(p), "holm")
    for i in range(len(p)):
        others = [k for k in range(len(p)) if k != i]
        closed = max(min(1, (len(s) + 1) * min(p[k] for k in (i, *s)))
                     for r in range(len(p)) for s in itertools.combinations(others, r))
        assert adjusted[i] == pytest.approx(closed)


@given(p_values, st.randoms(use_true_random=False))
def test_order_does_not_matter(p, rng):
    order = list(range(len(p)))
    rng.shuffle(order)
    for correction in CORRECTIONS:
        np.testing.assert_array_equal(adjust(np.array(p), correction)[order], adjust(np.array(p)[order], correction))


def test_an_undefined_p_value_stays_so_and_counts():
    np.testing.assert_allclose(adjust(np.array([0.01, np.nan]), "bonferroni"), [0.02, np.nan])
    np.testing.assert_allclose(adjust(np.array([0.01, np.nan]), "holm"), [0.02, np.nan])


def test_an_empty_family():
    for correction in CORRECTIONS:
        assert adjust(np.array([]), correction).size == 0
