"""Averages over runs: whole where no score changes by it, rounded as at ingest elsewhere, known by their content."""

import numpy as np
import pytest

from registry.evaluation.runs import averaged, in_order_of_content
from registry.families import RESOLUTION


def counts(*n_runs, items=5, largest=9):
    rng = np.random.default_rng(1)
    return [rng.integers(0, largest, (items, n, 2)).astype(float) for n in n_runs]


def test_quotients_are_given_as_multiples_that_are_whole():
    runs = counts(1, 2, 3)
    found = averaged(runs, scalable=True)
    assert found.multiple == 6
    np.testing.assert_array_equal(found.statistics, np.rint(found.statistics))
    for n, of_system in enumerate(runs):
        np.testing.assert_allclose(found.statistics[:, n] / 6, of_system.mean(axis=1), rtol=1e-15)


@pytest.mark.parametrize("largest", [9, 2**52])
def test_what_cannot_be_multiplied_is_rounded_as_statistics_are(largest):
    """A score that is no quotient, or whole numbers that would grow beyond what floats hold."""
    runs = counts(1, 2, 3)
    runs[0][0, 0, 0] = largest
    found = averaged(runs, scalable=largest > 9)
    assert found.multiple == 1
    np.testing.assert_array_equal(found.statistics[:, 0], runs[0][:, 0])
    np.testing.assert_array_equal(found.statistics / RESOLUTION, np.rint(found.statistics / RESOLUTION))
    np.testing.assert_allclose(found.statistics[:, 2], runs[2].mean(axis=1), atol=RESOLUTION)


def test_digests_do_not_depend_on_other_systems_runs():
    one, two, three = counts(1, 2, 3)
    together = averaged([one, two, three], scalable=True).digests
    assert averaged([one], scalable=True).digests == [together[0]]
    assert averaged([two, one], scalable=True).digests == [together[1], together[0]]
    twice = np.concatenate([one, one], axis=1)
    assert averaged([twice], scalable=True).digests != [together[0]]


def test_runs_are_ordered_by_what_they_are():
    (runs,) = counts(4)
    np.testing.assert_array_equal(in_order_of_content(runs), in_order_of_content(runs[:, [2, 0, 3, 1]]))
