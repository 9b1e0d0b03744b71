"""Statistics in few bytes are the same numbers as in many."""

import numpy as np
import pytest

from registry.significance import StatisticMatrix
from registry.significance.base import Observed
from registry.significance.matrix import CompactStatistics

RNG = np.random.default_rng(0)
SMALL = RNG.integers(0, 9, (50, 4, 3)).astype(float)
CASES = {
    "small": (SMALL, np.uint8),
    "negative": (SMALL - 4, np.int8),
    "both": (SMALL * [1, -1, 50], np.int16),
    "wider in the last system": (SMALL * np.array([1, 1, 1, 1000])[:, None], np.uint16),
    "large": (SMALL * 2**20, np.uint32),
    "large and negative": ((SMALL - 4) * 2**20, np.int32),
    "too large": (SMALL * 2**31, np.float64),
    "no whole numbers": (SMALL / 3, np.float64),
}


def compact(statistics, most=2**20):
    return CompactStatistics.convert(iter(statistics.transpose(1, 0, 2)), statistics.shape[1], most)


@pytest.mark.parametrize("most", [2**20, 0], ids=["in memory", "in a file"])
@pytest.mark.parametrize("name", CASES)
def test_parts_are_those_of_the_array(name, most):
    statistics, dtype = CASES[name]
    found = compact(statistics, most)
    assert found.held.dtype == dtype
    assert isinstance(found.held, np.memmap) == (most == 0)
    assert found.shape == statistics.shape
    assert len(found) == 50
    pairs = RNG.integers(0, 50, (5, 2))
    every = slice(None)
    for key in (every, slice(3, 7), 5, pairs, (every, 2), (every, [3, 1]), (every, every, 1), (slice(2, 9), [0, 2], 1)):
        assert found[key].dtype == np.float64
        assert found[key].flags.c_contiguous
        np.testing.assert_array_equal(found[key], statistics[key])
    np.testing.assert_allclose(found.sum(axis=0), statistics.sum(axis=0), rtol=1e-15)
    np.testing.assert_array_equal(found.select_systems([2, 0])[:], statistics[:, [2, 0]])


def test_systems_change_places():
    found = compact(SMALL)
    found.reorder([2, 0, 3, 1])
    np.testing.assert_array_equal(found[:], SMALL[:, [2, 0, 3, 1]])


@pytest.mark.parametrize("name", ["small", "negative", "too large"])
@pytest.mark.parametrize("units", [None, RNG.permutation(np.arange(50) // 3)], ids=["items", "clusters"])
def test_a_matrix_of_them_is_the_same(name, units):
    statistics, _ = CASES[name]
    plain, other = (
        StatisticMatrix(held, lambda sums: sums[..., 0] / (1 + sums[..., 1] ** 2), units=units,
                        quotient=((2, 0, 0), (0, 1, 1))).by_unit for held in (statistics, compact(statistics)))
    np.testing.assert_array_equal(other.statistics[:], plain.statistics)
    for of in (lambda m: m.observed, lambda m: m.unit_scores(), lambda m: m.jackknife(), lambda m: m.parts,
               lambda m: m.parts_of([3, 1]), lambda m: m.whole_parts([0, 2]),
               lambda m: m.select_systems([1, 0]).observed,
               lambda m: Observed.compare(m, [(0, 1), (3, 2)]).n_discordant):
        np.testing.assert_array_equal(of(other), of(plain))


def test_a_matrix_without_units_has_no_scores_of_them():
    """Such a matrix asks a test whether it takes a metric."""
    empty = StatisticMatrix(np.zeros((0, 2, 2)), lambda sums: sums[..., 0], quotient=((1, 0), (0, 1)))
    assert empty.unit_scores().shape == empty.jackknife().shape == (0, 2)


@pytest.mark.parametrize("statistics", [RNG.integers(0, 2, (3000, 4, 1)), RNG.integers(0, 3, (3000, 4, 1))],
                         ids=["right or wrong", "three values"])
def test_means_of_many_units_are_seen_by_blocks(statistics, monkeypatch):
    """Whichever units are looked at together."""
    monkeypatch.setattr("registry.significance.matrix._AT_ONCE", 2**8)
    ones = np.concatenate([statistics, np.ones_like(statistics)], axis=2).astype(float)
    mean = StatisticMatrix(compact(ones), lambda sums: sums[..., 0] / sums[..., 1], quotient=((1, 0), (0, 1)))
    assert mean.is_mean
    assert set(mean.denominator_groups.tolist()) == {0}
    higher = mean.higher
    assert (higher is None) == (statistics.max() == 2)
    if higher is not None:
        varying = (statistics != statistics[:, :1]).any(axis=1)[:, 0]
        np.testing.assert_array_equal(higher, (statistics[..., 0] == 1) & varying[:, None])
    ones[2999, 2, 1] = 2
    other = StatisticMatrix(compact(ones), mean.score, quotient=mean.quotient)
    assert not other.is_mean
    assert other.higher is None
    assert other.denominator_groups.tolist() == [0, 0, 1, 0]
