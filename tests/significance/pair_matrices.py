"""Matrices of predictions and gold values that tests of correlations begin with, and what scipy says of them."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import stats

from registry.significance.correlations import COEFFICIENTS, PEARSON, PairMatrix

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
coefficients = pytest.mark.parametrize("coefficient", COEFFICIENTS.values(), ids=COEFFICIENTS)


def reference(coefficient, x, y):
    """What scipy gives; nan where a side is constant."""
    if np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
        return math.nan
    return float(SCIPY[coefficient.name](x, y).statistic)


@st.composite
def pairs(draw):
    """Two systems' predictions with ties, gold values, and ways to swap the systems."""
    n = draw(st.integers(2, 9))
    values = st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(lambda v: min(v) < max(v))
    bits = st.lists(st.integers(0, 1), min_size=n, max_size=n)
    a, b, y = (np.array(draw(values), dtype=float) for _ in range(3))
    return a, b, y, np.array([draw(bits) for _ in range(4)], dtype=np.uint8)


def pair_matrix(x, y, coefficient=PEARSON, **options):
    """A matrix of predictions [items, systems] and gold values [items]."""
    x = np.asarray(x, dtype=float)
    gold = np.broadcast_to(np.asarray(y, dtype=float)[:, None], x.shape)
    return PairMatrix(np.stack([x, gold], axis=-1), coefficient=coefficient, **options)


def noisy(seed, n=60, systems=2, worst=1.4):
    """Predictions that get worse from system to system, and their gold values."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    return y[:, None] + rng.normal(size=(n, systems)) * np.linspace(0.6, worst, systems), y
