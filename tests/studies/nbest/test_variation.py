"""Variation over repetitions: by hand, and where the binomial model holds or does not."""

import numpy as np
import pytest
from scipy import stats

from registry.messages import Message
from registry.studies.ranking import Ranked, _warn_of_coarse, measure_variations


def test_by_hand():
    """Two repetitions of three candidates; 2 per repetition are accepted: 3 of the first (1 right), 1 of the other.

    Precisions 1/3 and 1: average 2/3, deviation sqrt(2) / 3, expected sqrt(2/3 * 1/3 / 2) = 1/3; the variance is 2
    times the binomial one, of chi-squared with one degree P = 0.157299.
    """
    ranked = Ranked(("a",), np.array([True, False, False, True, False, False]),
                    np.array([[5.0], [4.0], [3.0], [6.0], [1.0], [np.nan]]), np.arange(6))
    (found,) = measure_variations(ranked, np.array([0, 0, 0, 1, 1, 1]), average=2)
    assert (found.threshold, found.repetitions, found.accepted, found.least, found.most) == (3, 2, 2, 1, 3)
    assert found.precision == pytest.approx(2 / 3)
    assert found.deviation == pytest.approx(2**0.5 / 3)
    assert found.expected == pytest.approx(1 / 3)
    assert found.p_variance == pytest.approx(0.157299, abs=1e-6)
    assert (found.outside, found.p_outside) == (0, 1)


def experiment(precision_of, repetitions=80, accepted=100):
    """A system that accepts so many candidates in each repetition, each right with the repetition's precision."""
    rng = np.random.default_rng(80)
    precisions = np.repeat(precision_of(rng, repetitions), 2 * accepted)
    right = rng.random(len(precisions)) < precisions
    scores = np.tile(np.repeat([1.0, 0.0], accepted), repetitions)[:, None]
    return Ranked(("a",), right, scores, np.arange(len(right))), np.arange(repetitions).repeat(2 * accepted)


def test_where_the_model_holds_nothing_is_found():
    (found,) = measure_variations(*experiment(lambda rng, n: np.full(n, 0.3)))
    assert (found.repetitions, found.accepted, found.least) == (80, 100, 100)
    assert found.expected == pytest.approx((0.3 * 0.7 / 100)**0.5, rel=0.02)
    assert found.p_variance > 0.05
    assert found.p_kolmogorov > 0.05
    assert found.outside <= 8


@pytest.mark.parametrize(("accepted", "told"), [(100, []), (20, ["a"])])
def test_precisions_that_go_by_large_steps_are_told(accepted, told):
    """80 parts of 20 accepted candidates are more than 10 * 20 * 0.3 * 0.7, of 100 they are fewer."""
    found = measure_variations(*experiment(lambda rng, n: np.full(n, 0.3), accepted=accepted), average=accepted)
    assert list(_warn_of_coarse(found)) == [Message("coarse-precisions", {"systems": name}) for name in told]


def test_more_variation_than_the_model_has_is_found():
    """Precisions that vary by 0.09 add to the binomial deviation of 0.0458: sqrt(1 + (0.09 / 0.0458)^2) = 2.2 times."""
    (found,) = measure_variations(*experiment(lambda rng, n: rng.normal(0.3, 0.09, n)))
    assert found.deviation / found.expected == pytest.approx(2.2, abs=0.4)
    assert found.p_variance < 0.001
    assert found.p_outside < 0.001
    assert found.p_outside == pytest.approx(stats.binomtest(found.outside, 80, 0.05, alternative="greater").pvalue)


def test_twelve_of_eighty_are_more_than_chance_explains():
    """Section 4: the interval failed in 12 of 80 cases, p < .001 by the binomial test."""
    assert stats.binom.sf(11, 80, 0.05) < 0.001
