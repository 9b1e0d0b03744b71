"""Draws of all differences' errors against the same computed naively from the units of every draw."""

import itertools

import numpy as np
import pytest
from scipy import stats

from registry.significance import Settings, StatisticMatrix
from registry.significance.rank_sets import Bootstrapped, Influences, SignFlips
from registry.significance.resampling.draws import draw_resamples
from tests.validity.populations import F1, quotient_of, spans, translations
from tests.validity.trained_populations import trained


def means(scores, **options):
    """Systems by the means of their item scores [items, systems]."""
    return StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=-1),
                           lambda sums: sums[..., 0] / sums[..., 1], **options)


def drawn(joint):
    """All errors, [draws, systems, systems]."""
    joint.prepare()
    return joint.compute_rows(slice(None))


def counts_of(units, strata=None, seed=5, draws=40):
    """How often the first draws of the seed take every unit, [draws, units], from the streams themselves."""
    found = np.empty((draws, units), dtype=int)
    for n in range(1 if strata is None else strata.max() + 1):
        there = np.arange(units) if strata is None else np.flatnonzero(strata == n)
        key = () if strata is None else (n,)
        for rows, counts in draw_resamples(len(there), draws, 0, seed, key):
            found[rows, there] = counts
    return found


@pytest.mark.parametrize("strata", [None, np.repeat([0, 1, 2], (7, 9, 14))])
def test_errors_of_means_are_those_of_the_units_of_every_resample(strata):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(30, 3)) + rng.normal(size=(30, 1)) + [0, 0.5, 0]
    found = drawn(Bootstrapped(Influences.compute(means(scores, strata=strata)), Settings(resamples=40, seed=5)))
    within = np.zeros(30, dtype=int) if strata is None else strata
    for draw, counts in enumerate(counts_of(30, strata)):
        taken = np.repeat(np.arange(30), counts)
        for a, b in itertools.permutations(range(3), 2):
            gains = scores[:, a] - scores[:, b]
            squared = sum(len(of := gains[taken][within[taken] == n]) * of.var() for n in np.unique(within))
            expected = (gains[taken].sum() - gains.sum()) / np.sqrt(squared)
            assert found[draw, a, b] == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_flips_of_two_means_are_the_studentized_permutation_test():
    """Every t that is drawn belongs to one of all 2^8 flips, and the observed one to none being flipped."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(8, 2)) + np.array([0.4, 0])
    gains = scores[:, 0] - scores[:, 1]
    every = np.array(list(itertools.product((1, -1), repeat=8))) * gains
    t = stats.ttest_1samp(every, 0, axis=1).statistic * np.sqrt(8 / 7)  # with the variance of n, not n - 1
    joint = SignFlips(Influences.compute(means(scores)), Settings(resamples=400, seed=5))
    assert joint.observed[0, 1] == pytest.approx(t[0])
    found = drawn(joint)
    nearest = np.abs(found[:, 0, 1, None] - t).argmin(axis=1)
    np.testing.assert_allclose(found[:, 0, 1], t[nearest], rtol=1e-8)
    assert len(np.unique(nearest)) > 150
    np.testing.assert_allclose(found[:, 0, 1], -found[:, 1, 0])


@pytest.mark.parametrize("population", [spans(400, (0.6, 0.7)), translations(400, (0.6, 0.7))], ids=["F1", "BLEU"])
def test_influences_give_the_delta_methods_errors(population):
    """For F1 with the derivative by hand, for BLEU by small steps; leaving one of 400 units out differs by 1 / 400."""
    matrix = population.sample(np.random.default_rng(3), 1).matrix
    statistics, sums = matrix.statistics, matrix.statistics.sum(axis=0)
    if population.quotient == F1:
        over, under = np.array(F1) @ np.moveaxis(statistics, 2, 0).reshape(3, -1).astype(float)
        n, d = over.reshape(400, 2), under.reshape(400, 2)
        expected = (n - n.sum(axis=0) / d.sum(axis=0) * d) / d.sum(axis=0)
    else:
        expected = np.stack([(population.score(sums + 1e-4 * of) - population.score(sums - 1e-4 * of)) / 2e-4
                             for of in statistics])
    found = Influences.compute(matrix)
    np.testing.assert_allclose(found.values.sum(axis=0), 0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(found.values, expected, atol=0.03 * np.abs(expected).max())
    gains = expected[:, 0] - expected[:, 1]
    assert found.squares[0, 1] == pytest.approx((gains**2).sum(), rel=0.02)


def test_random_runs_add_the_variance_of_their_mean():
    """Of accuracy it is the variance of the runs' scores over their number; draws have the same variance."""
    matrix = trained(60, 4, spread=0.5).sample(np.random.default_rng(4), 1).matrix
    found = Influences.compute(matrix)
    of_runs = [runs.sum(axis=0)[:, 0] / 60 for runs in matrix.runs]
    np.testing.assert_allclose(found.runs, [runs.var(ddof=1) / 4 for runs in of_runs])
    joint = Bootstrapped(found, Settings(resamples=4000, seed=1))
    by_runs, of_estimate = joint._run_errors
    np.testing.assert_allclose(by_runs.var(axis=0), found.runs, rtol=0.1)
    np.testing.assert_allclose(of_estimate.mean(axis=0), found.runs, rtol=0.1)


def test_errors_do_not_depend_on_the_systems_worked_on_together():
    score = quotient_of(F1)
    statistics = spans(50, (0.5, 0.6, 0.7, 0.6), (0.4,) * 4).draw(np.random.default_rng(5), 1)[0].astype(float)
    for method in (Bootstrapped, SignFlips):
        joint = method(Influences.compute(StatisticMatrix(statistics, score)), Settings(resamples=600, seed=2))
        every = drawn(joint)
        np.testing.assert_allclose(joint.compute_rows(slice(1, 3)), every[:, 1:3], rtol=1e-5, atol=1e-6)
        other = method(Influences.compute(StatisticMatrix(statistics[:, ::-1], score)), Settings(resamples=600, seed=2))
        np.testing.assert_allclose(drawn(other)[:, ::-1, ::-1], every, rtol=1e-5, atol=1e-6)


def test_a_draw_in_which_nothing_varies_is_no_error():
    """One item tells two systems apart: resamples without it have neither a difference nor an error."""
    scores = np.zeros((20, 2))
    scores[3, 0] = 1
    joint = Bootstrapped(Influences.compute(means(scores)), Settings(resamples=40, seed=5))
    found, without = drawn(joint)[:, 0, 1], counts_of(20)[:, 3] == 0
    assert 0 < without.sum() < 40
    assert (found[without] == 0).all()
