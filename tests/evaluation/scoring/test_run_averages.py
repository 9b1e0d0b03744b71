"""Averages over runs: whole multiples of them, which the score takes back, and known by their content."""

import numpy as np
import pytest

from registry.evaluation.matrices import Steps, compute_scores
from registry.evaluation.scoring.measure import average_runs, order_by_content
from registry.families import step_of
from registry.metrics import RMSE, Mean

ONES = Steps((1, 1))


def counts(*n_runs, items=5, largest=9):
    rng = np.random.default_rng(1)
    return [rng.integers(0, largest, (items, n, 2)).astype(float) for n in n_runs]


def test_averages_are_given_as_multiples_that_are_whole():
    runs = counts(1, 2, 3)
    found = average_runs(runs, len(runs), ONES)
    assert found.multiple == 6
    for n, of_system in enumerate(runs):
        np.testing.assert_array_equal(found.statistics[:, n], 6 / of_system.shape[1] * of_system.sum(axis=1))


def test_averages_too_large_for_it_are_rounded_to_the_decimals_that_there_is_room_for():
    """Of 2^43 a thousand times as much is below 2^53, and six times as much as 2^51 is not."""
    runs = counts(1, 2, 3)
    for largest, multiple in ((2**43, 6), (2**51, 1), (1e12, 6)):
        runs[0][0, 0, 0] = largest
        found = average_runs(runs, len(runs), ONES)
        assert found.multiple == multiple
        np.testing.assert_allclose(found.statistics[:, 2] / multiple, runs[2].mean(axis=1), atol=0.5)
    many = counts(1, 997, 991, items=1, largest=2)  # whose least common multiple is 988,027
    many[0][0, 0, 0] = 2.0**34
    found = average_runs(many, len(many), ONES)
    assert found.multiple == 10**5
    np.testing.assert_allclose(found.statistics[:, 1] / 10**5, many[1].mean(axis=1), atol=0.5e-5)


def test_digests_do_not_depend_on_other_systems():
    one, two, three = counts(1, 2, 3)
    together = average_runs([one, two, three], 3, ONES).digests
    assert average_runs([one], 1, ONES).digests == [together[0]]
    assert average_runs([two, one], 2, ONES).digests == [together[1], together[0]]
    assert average_runs([np.concatenate([one, one], axis=1)], 1, ONES).digests != [together[0]]
    tenths = one * (0.1, 1)
    assert average_runs([tenths], 1, Steps((10, 1))).digests == average_runs([tenths], 1, Steps((10**9, 1))).digests


@pytest.mark.parametrize("metric", [Mean(), RMSE()])
def test_scores_of_averages_are_those_of_the_numbers_as_written(metric):
    """Of a quotient and of a root, in tenths and in thirds, two runs and three."""
    rng = np.random.default_rng(2)
    for values in (rng.integers(0, 40, (7, 2)) / 10, rng.integers(0, 40, (7, 3)) / 3):
        runs = np.stack([values, np.ones_like(values)], axis=-1)
        steps = Steps.choose(metric, [runs], step_of(runs))
        found = average_runs([runs], 1, steps)
        expected = metric.score(runs.mean(axis=1).sum(axis=0))
        assert compute_scores(metric, found)[0] == pytest.approx(expected, rel=1e-8)


def test_runs_are_ordered_by_what_they_are():
    (runs,) = counts(4)
    others = runs[:, [2, 0, 3, 1]]
    np.testing.assert_array_equal(runs[:, order_by_content(runs)], others[:, order_by_content(others)])
