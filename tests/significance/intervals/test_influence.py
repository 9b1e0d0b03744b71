"""Influences add up to the variance of a score: closed forms, the jackknife, simulation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from registry.families import FAMILIES
from registry.metrics import BLEU
from registry.significance import COEFFICIENTS, PairMatrix, StatisticMatrix
from registry.significance.intervals import influences, standard_errors
from tests.significance.matrices import F1, f1, matrix


def test_of_a_mean_they_are_its_deviations():
    x = np.random.default_rng(1).random((40, 2))
    m = matrix(np.stack([x, np.ones_like(x)], axis=-1))
    found = influences(m)
    assert found == pytest.approx((x - x.mean(axis=0)) / 40, abs=1e-15)
    assert standard_errors(found) == pytest.approx(stats.sem(x, axis=0), rel=1e-12)
    assert standard_errors(found[:, 0] - found[:, 1]) == pytest.approx(stats.sem(x[:, 0] - x[:, 1]), rel=1e-12)


def test_a_score_that_is_the_same_in_every_unit_has_none():
    """Of systems whose scores in all units are 2/3 and 1/10, which are no exact numbers."""
    m = matrix([[[2 * n, 3 * n], [n, 10 * n]] for n in range(1, 60)])
    assert (influences(m) == 0).all()
    assert standard_errors(np.diff(influences(m))) == 0


def spans(rng, n):
    gold = rng.poisson(3, n)
    hits = rng.binomial(gold, 0.7)
    return np.stack([hits, hits + rng.poisson(0.8, n), gold], axis=-1)[:, None].astype(float)


@pytest.mark.parametrize("known", [True, False], ids=["linearized", "jackknife"])
def test_of_f1_they_tell_the_deviation_between_test_sets(known):
    """The standard error is, on the average, the deviation of F1 over 2000 test sets, within 4 errors."""
    rng = np.random.default_rng(2)
    scores, errors = [], []
    for _ in range(2000):
        m = StatisticMatrix(spans(rng, 200), f1, quotient=F1 if known else None)
        scores.append(m.scores()[0])
        errors.append(standard_errors(influences(m))[0])
    assert np.mean(errors) == pytest.approx(np.std(scores), rel=4 / np.sqrt(2 * 2000))


@pytest.mark.parametrize("unknown", [
    StatisticMatrix(spans(np.random.default_rng(3), 50), f1),
    PairMatrix(np.random.default_rng(4).random((50, 1, 2)), coefficient=COEFFICIENTS["pearson"]),
    StatisticMatrix(np.random.default_rng(5).integers(1, 9, (50, 1, len(FAMILIES["bleu"].columns))).astype(float),
                    BLEU().score)], ids=["f1", "pearson", "bleu"])
def test_of_other_scores_they_are_the_jackknife(unknown):
    """(n - 1) / n times the sum of squares of the scores without one unit each, about their mean."""
    without = [replace(unknown, statistics=np.delete(unknown.statistics, n, axis=0)).scores()[0] for n in range(50)]
    found = influences(unknown)
    assert found.sum() == pytest.approx(0, abs=1e-12)
    assert standard_errors(found)[0] ** 2 == pytest.approx(49 * np.var(without), rel=1e-9)


def test_undefined_and_lone_ones():
    undefined = matrix(np.zeros((3, 1, 2)))
    assert np.isnan(influences(undefined)).all()
    assert np.isnan(standard_errors(np.zeros((1, 2)))).all()
