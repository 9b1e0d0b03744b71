"""The draws of the permutation test: what they depend on, and what not."""

import numpy as np

from registry.significance import Permutation, Settings
from registry.significance.resampling import draws
from tests.significance.matrices import matrix, permuted, uneven


def test_draws_do_not_depend_on_the_other_systems_or_on_chunks(monkeypatch):
    statistics = uneven(1)
    settings = Settings(resamples=3000, seed=0)
    full = Permutation().run(matrix(statistics, None), [(0, 1), (2, 3), (1, 2)], settings)
    alone = Permutation().run(matrix(statistics[:, [1, 2]], None), [(0, 1)], settings)
    assert repr(full[2]) == repr(alone[0])  # by repr: nan is not equal to itself
    monkeypatch.setattr(draws, "_CHUNK", 37)
    again = Permutation().run(matrix(statistics, None), [(0, 1), (2, 3), (1, 2)], settings)
    assert repr(list(again)) == repr(list(full))


def test_more_draws_begin_with_the_same_draws():
    statistics = uneven(2)
    few, many = (permuted(matrix(statistics, None), resamples=n, seed=5) for n in (700, 1400))
    counts = [round(r.p_value * (r.resamples + 1)) - 1 for r in (few, many)]
    assert 0 <= counts[1] - counts[0] <= 700


def test_the_mirror_pair_has_the_same_p_value():
    statistics = uneven(3)
    m = matrix(statistics, None)
    assert permuted(m, (0, 1), seed=9).p_value == permuted(m, (1, 0), seed=9).p_value
    greater, less = permuted(m, (0, 1), seed=9, alternative="greater"), permuted(m, (1, 0), seed=9, alternative="less")
    assert greater.p_value == less.p_value


def test_seeds_matter_and_0_is_one():
    m = matrix(uneven(4), None)
    p = [permuted(m, seed=s, resamples=1000).p_value for s in (0, 0, 1)]
    assert p[0] == p[1] != p[2]


def test_swapped_units_are_fair_coins():
    """Every unit is swapped in half of the draws, independently: counts within 5 deviations."""
    drawn = draws.sum_permutations(np.eye(64)[:, None, :], Settings(resamples=10_000, seed=1), np.copy)
    sums = np.concatenate(list(drawn))[:, 0]
    assert set(np.unique(sums)) == {0.0, 1.0}
    assert np.abs(sums.mean(axis=0) - 0.5).max() < 5 * 0.5 / 100
    correlations = np.corrcoef(sums.T) - np.eye(64)
    assert np.abs(correlations).max() < 5 / 100
