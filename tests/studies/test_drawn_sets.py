"""Many test sets tested at once give what the bootstrap gives on each of them alone."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from registry.errors import InputError
from registry.significance import Bootstrap, Execution, Settings, StatisticMatrix
from registry.significance.correlated import PairMatrix
from registry.studies.drawn_sets import drawable, gains_of_sets, of_sets
from tests.benchmarks import bleu

SETTINGS = Settings(resamples=600, seed=5)
RNG = np.random.default_rng(0)
SETS = np.stack([RNG.permutation(200)[:80], RNG.integers(0, 200, 80)])


@pytest.fixture(scope="module")
def matrix():
    """BLEU, which is no quotient, so that the bootstrap has to draw: 200 segments of 4 systems."""
    whole = bleu.matrix()
    return replace(whole, statistics=whole.statistics[:200, :4])


def listed(gains):
    return {(a, b): (gain, p, critical) for a, b, gain, p, critical in zip(*(
        of.tolist() for of in (gains.better, gains.worse, gains.gain, gains.p, gains.critical)), strict=True)}


def test_every_test_set_is_tested_as_it_would_be_alone(matrix):
    for units, gains in zip(SETS, gains_of_sets(matrix, SETS, SETTINGS, 0.1), strict=True):
        alone = replace(matrix, statistics=matrix.statistics[units])
        found = {}
        for a, b in itertools.permutations(range(4), 2):
            (one,) = Bootstrap().run(alone, [(a, b)], replace(SETTINGS, alternative="greater", confidence=0.9))
            if one.difference > 0:
                found[a, b] = (one.difference, one.p_value, pytest.approx(one.difference - one.ci_low, rel=1e-12))
        assert listed(gains) == found
        assert len(found) == 6


def test_how_many_lie_side_by_side_changes_nothing(matrix):
    some = replace(SETTINGS, execution=Execution(workers=1, memory=1))
    for one, other in zip(gains_of_sets(matrix, SETS, SETTINGS, 0.1), gains_of_sets(matrix, SETS, some, 0.1),
                          strict=True):
        assert listed(one) == listed(other)


def test_runs_go_with_their_units():
    runs = tuple(np.arange(12.0).reshape(3, 2, 2) + 100 * system for system in range(2))
    matrix = StatisticMatrix(np.stack([of.mean(axis=1) for of in runs], axis=1), lambda sums: sums[..., 0], runs=runs)
    beside = of_sets(matrix, np.array([[0, 2], [1, 1]]))
    assert len(beside.runs) == 4
    assert np.array_equal(beside.runs[1], runs[1][[0, 2]])
    assert np.array_equal(beside.runs[2], runs[0][[1, 1]])
    assert np.array_equal(beside.statistics[:, 2], matrix.statistics[[1, 1], 0])


def test_pairs_without_a_gain_or_that_never_move_are_left_out():
    """Systems 0 and 1 are the same, and 2 is better by 1 in every unit."""
    values = RNG.random(30)
    statistics = np.stack([values, values, values + 1], axis=1)[:, :, None]
    matrix = StatisticMatrix(statistics, lambda sums: sums[..., 0] / 10)
    (gains,) = gains_of_sets(matrix, np.arange(10)[None], SETTINGS, 0.05)
    assert listed(gains) == {}


def test_strata_are_left_out_and_clusters_of_correlations_refused():
    matrix = StatisticMatrix(np.ones((4, 2, 1)), lambda sums: sums[..., 0], strata=np.array([0, 0, 1, 1]))
    assert drawable(matrix).strata is None
    with pytest.raises(InputError, match="do not add up over clusters"):
        drawable(PairMatrix(np.ones((4, 2, 2)), units=np.array([0, 0, 1, 1])))
    with pytest.raises(InputError, match="take --unit item"):
        drawable(replace(matrix, answers_to=np.arange(4)))
