"""Many test sets tested at once give what the bootstrap gives on each of them alone."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from registry.errors import InputError
from registry.significance import Bootstrap, Execution, Settings, StatisticMatrix
from registry.significance.correlations import PairMatrix
from registry.studies.gains import (
    Gains,
    measure_gains_of_sets,
    pack,
    place_side_by_side,
    prepare_matrix,
    unpack,
    warn_of_sets,
)
from tests.benchmarks import bleu
from tests.significance.matrices import of_scores

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
    for units, gains in zip(SETS, measure_gains_of_sets(matrix, SETS, SETTINGS, 0.1), strict=True):
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
    for one, other in zip(measure_gains_of_sets(matrix, SETS, SETTINGS, 0.1),
                          measure_gains_of_sets(matrix, SETS, some, 0.1), strict=True):
        assert listed(one) == listed(other)


def test_test_sets_of_correlations_have_their_own_gold_values():
    gold = RNG.random(60)
    predictions = gold[:, None] + RNG.normal(0, (0.2, 0.5, 1), (60, 3))
    matrix = PairMatrix(np.stack([predictions, np.repeat(gold[:, None], 3, axis=1)], axis=2))
    sets = RNG.integers(0, 60, (3, 30))
    for units, gains in zip(sets, measure_gains_of_sets(prepare_matrix(matrix), sets, SETTINGS, 0.1), strict=True):
        alone = PairMatrix(matrix.statistics[units])
        scores = [np.corrcoef(predictions[units, n], gold[units])[0, 1] for n in range(3)]
        for (a, b), (gain, p, _) in listed(gains).items():
            (one,) = Bootstrap().run(alone, [(a, b)], replace(SETTINGS, alternative="greater"))
            assert gain == pytest.approx(scores[a] - scores[b])
            assert p == one.p_value
        assert len(gains.p) == 3


def test_runs_go_with_their_units():
    runs = tuple(np.arange(12.0).reshape(3, 2, 2) + 100 * system for system in range(2))
    matrix = StatisticMatrix(np.stack([of.mean(axis=1) for of in runs], axis=1), lambda sums: sums[..., 0], runs=runs)
    beside = place_side_by_side(matrix, np.array([[0, 2], [1, 1]]))
    assert len(beside.runs) == 4
    assert np.array_equal(beside.runs[1], runs[1][[0, 2]])
    assert np.array_equal(beside.runs[2], runs[0][[1, 1]])
    assert np.array_equal(beside.statistics[:, 2], matrix.statistics[[1, 1], 0])


def test_pairs_without_a_gain_or_that_never_move_are_left_out():
    """Systems 0 and 1 are the same, and 2 is better by 1 in every unit."""
    values = RNG.random(30)
    statistics = np.stack([values, values, values + 1], axis=1)[:, :, None]
    matrix = StatisticMatrix(statistics, lambda sums: sums[..., 0] / 10)
    (gains,) = measure_gains_of_sets(matrix, np.arange(10)[None], SETTINGS, 0.05)
    assert listed(gains) == {}


def test_strata_are_left_out_and_clusters_of_correlations_refused():
    matrix = StatisticMatrix(np.ones((4, 2, 1)), lambda sums: sums[..., 0], strata=np.array([0, 0, 1, 1]))
    assert prepare_matrix(matrix).strata is None
    assert any(warning.code == "strata-left-out" for warning in warn_of_sets(matrix, np.arange(4)))
    skewed = of_scores(np.column_stack([RNG.exponential(1, 240).round(3), np.ones(240)]))
    assert any(warning.code == "skewed-one-sided" for warning in warn_of_sets(skewed, np.arange(210)))
    with pytest.raises(InputError, match="do not add up over clusters"):
        prepare_matrix(PairMatrix(np.ones((4, 2, 2)), units=np.array([0, 0, 1, 1])))
    with pytest.raises(InputError, match="use --unit item"):
        prepare_matrix(replace(matrix, answers_to=np.arange(4)))


def test_gains_are_kept_and_given_back():
    gains = Gains(np.array([0]), np.array([1]), np.array([0.1]), np.array([0.2]), np.array([np.nan]))
    (again,) = unpack(json.loads(json.dumps(pack([gains]), allow_nan=False)))
    assert str(listed(again)) == str(listed(gains))
