"""Differences in facets minus those in the rest: errors and critical values by brute force, and symmetries."""

from dataclasses import replace

import numpy as np
import pytest

from registry.significance import Settings, StatisticMatrix
from registry.significance.facets import compare_facets
from tests.significance.matrices import matrix, of_labels
from tests.significance.pair_matrices import pair_matrix
from tests.validity.facets import (
    POPULATIONS,
    accuracy_of,
    measure_coverage,
    measure_false_claims,
    right_or_wrong,
    shared_documents,
)
from tests.validity.populations import spans, translations

RESAMPLES = 4000  # by brute force
PAIR = [(0, 1)]


def contrast(population, statistics, inside):
    """The difference in some items minus that in the others, from statistics [items, systems, columns]."""
    (a, b), (rest_a, rest_b) = (population.score(statistics[part].sum(axis=0)) for part in (inside, ~inside))
    return (a - b) - (rest_a - rest_b)


def members_of(facets):
    return facets == np.unique(facets)[:, None]


def draw_within(rng, facets):
    """Indices of the items of a resample that has as many items of each facet."""
    return np.concatenate([rng.choice(np.flatnonzero(facets == facet), np.sum(facets == facet))
                           for facet in np.unique(facets)])


@pytest.mark.parametrize("population", [spans(300, (0.7, 0.6)), translations(300, (0.72, 0.7))], ids=["f1", "bleu"])
def test_errors_are_those_of_recomputed_scores(population):
    """The deviation of the score itself over bootstrap resamples within facets, to 6 %: its error is 1.6 %."""
    rng = np.random.default_rng(8)
    statistics, facets = population.draw(rng, 1)[0].astype(float), np.repeat([0, 1, 2], [80, 100, 120])
    board = StatisticMatrix(statistics, population.score, quotient=population.quotient)
    found = compare_facets(board, members_of(facets), PAIR, Settings(resamples=99))
    resamples = [draw_within(rng, facets) for _ in range(2000)]
    for facet, inside in enumerate(members_of(facets)):
        observed = contrast(population, statistics, inside)
        assert found.inside[facet, 0] - found.outside[facet, 0] == pytest.approx(observed)
        values = [contrast(population, statistics[items], inside) for items in resamples]
        assert found.errors[facet, 0] == pytest.approx(np.std(values), rel=0.06)


def test_errors_of_correlations_are_those_of_recomputed_ones():
    """By numpy's Pearson correlation over bootstrap resamples within facets, to 6 %."""
    rng = np.random.default_rng(4)
    gold, facets = rng.standard_normal(240), np.repeat([0, 1], [100, 140])
    predictions = gold[:, None] + rng.standard_normal((240, 2)) * (0.8, 1.1)
    found = compare_facets(pair_matrix(predictions, gold), members_of(facets), PAIR, Settings(resamples=99))

    def correlate(items):
        a, b = np.corrcoef(np.column_stack([predictions[items], gold[items]]).T)[2, :2]
        return a - b

    values = []
    for _ in range(2000):
        items = draw_within(rng, facets)
        values.append(correlate(items[:100]) - correlate(items[100:]))
    assert found.inside[0, 0] == pytest.approx(correlate(slice(100)))
    assert found.errors[:, 0] == pytest.approx([np.std(values)] * 2, rel=0.06)


def test_errors_of_means_are_exact():
    rng = np.random.default_rng(5)
    right, facets = rng.random((200, 2)) < 0.7, np.repeat([0, 1], [90, 110])
    found = compare_facets(of_labels(right), members_of(facets), PAIR, Settings(resamples=99))
    gains = np.subtract(*right.T.astype(float))
    squares = [np.var(gains[facets == facet]) / np.sum(facets == facet) for facet in (0, 1)]
    assert found.errors[:, 0] == pytest.approx([np.sqrt(sum(squares))] * 2)


def test_clusters_with_items_of_several_facets_are_resampled_whole():
    """Over resamples of whole documents the score itself deviates as much, to 6 %, and less than two samples would."""
    rng = np.random.default_rng(6)
    board, facets = shared_documents().draw(rng)
    found = compare_facets(board, members_of(facets), PAIR, Settings(resamples=99))
    gains, clusters = board.statistics[:, 0, 0] - board.statistics[:, 1, 0], board.units
    values = []
    for _ in range(2000):
        weights = np.bincount(rng.integers(0, board.n_units, board.n_units), minlength=board.n_units)[clusters]
        values.append([[np.average(gains[part], weights=weights[part]) for part in (inside, ~inside)]
                       for inside in members_of(facets)])
    inside, outside = np.moveaxis(values, 2, 0)
    assert found.errors[:, 0] == pytest.approx(np.std(inside - outside, axis=0), rel=0.06)
    assert (found.errors[:, 0] < 0.9 * np.hypot(np.std(inside, axis=0), np.std(outside, axis=0))).all()
    assert (found.units == [len(np.unique(clusters[part])) for part in members_of(facets)]).all()


def test_the_critical_value_is_the_quantile_of_the_largest_studentised_error():
    """By resampling the differences of items themselves; the error of the quantile is about 1 %."""
    rng = np.random.default_rng(9)
    sizes, differences = [60, 80, 120], rng.exponential(size=(260, 1)) * rng.choice([-1, 1, 1], (260, 1))
    facets = np.repeat([0, 1, 2], sizes)
    scores = np.round(np.hstack([differences, np.zeros((260, 1))]), 6)
    found = compare_facets(matrix(np.stack([scores, np.ones_like(scores)], axis=-1)), members_of(facets), PAIR,
                           Settings(resamples=5 * RESAMPLES, confidence=0.9))
    gains, maxima = scores[:, 0], []

    def measure(items):
        """The contrasts and their standard errors: means and variances of a facet and of the others, pooled."""
        means, pooled = [gains[items][facets == n].mean() for n in range(3)], []
        for n in range(3):
            rest = facets != n
            weights = np.array([0 if k == n else sizes[k] for k in range(3)]) / rest.sum()
            variances = [np.var(gains[items][facets == k]) / sizes[k] for k in range(3)]
            square = variances[n] + weights**2 @ variances
            pooled.append((means[n] - weights @ means, np.sqrt(square)))
        return np.array(pooled).T

    observed, errors = measure(np.arange(260))
    assert found.errors[:, 0] == pytest.approx(errors)
    for _ in range(RESAMPLES):
        values, resampled_errors = measure(draw_within(rng, facets))
        maxima.append(np.abs((values - observed) / resampled_errors).max())
    quantiles = (found.high - found.low)[:, 0] / 2 / errors
    assert quantiles == pytest.approx([np.quantile(maxima, 0.9)] * 3, rel=0.04)
    assert found.p_values[:, 0] == pytest.approx(
        [np.mean(maxima >= np.abs(value / error)) for value, error in zip(observed, errors, strict=True)], abs=0.03)


def test_two_facets_are_each_other_s_rest():
    rng = np.random.default_rng(3)
    right, facets = rng.random((200, 3)) < (0.8, 0.7, 0.6), np.repeat([0, 1], [80, 120])
    found = compare_facets(of_labels(right), members_of(facets), [(0, 1), (0, 2), (1, 2)], Settings(resamples=999))
    assert found.inside[0] == pytest.approx(found.outside[1])
    assert found.low[0] == pytest.approx(-found.high[1])
    assert (found.p_values[0] == found.p_values[1]).all()


def test_a_difference_is_positive_if_the_first_system_is_better():
    right, facets = np.random.default_rng(3).random((200, 2)) < (0.8, 0.7), np.repeat([0, 1], [80, 120])
    higher = compare_facets(of_labels(right), members_of(facets), PAIR, Settings(resamples=99))
    lower = compare_facets(replace(of_labels(~right), lower_is_better=True), members_of(facets), PAIR,
                           Settings(resamples=99))
    for name in ("inside", "outside", "low", "high", "p_values"):
        assert getattr(lower, name) == pytest.approx(getattr(higher, name)), name


@pytest.mark.parametrize("seed", range(20))
def test_an_interval_excludes_0_if_the_p_value_is_small(seed):
    rng = np.random.default_rng(seed)
    accuracies = np.repeat([(0.9, 0.75), (0.8, 0.8), (0.8, 0.8)], [70, 90, 90], axis=0)
    found = compare_facets(accuracy_of(right_or_wrong(rng, accuracies)), members_of(np.repeat([0, 1, 2], [70, 90, 90])),
                           PAIR, Settings(resamples=199, confidence=0.9, seed=seed))
    tested = np.isfinite(found.low)
    assert (((found.low > 0) | (found.high < 0)) == (found.p_values <= 0.1))[tested].all()


def test_small_facets_have_a_reason_instead_of_an_interval():
    right = np.random.default_rng(2).random((300, 2)) < 0.5
    right[100:200, 1] = right[100:200, 0]
    right[100:109, 1] = ~right[100:109, 0]
    found = compare_facets(of_labels(right), members_of(np.repeat([0, 1, 2, 3], [49, 51, 100, 100])), PAIR,
                           Settings(resamples=99))
    assert [row[0] for row in found.reasons] == [
        "the effective sample size of the facet is 49.0, below 50", "",
        "the systems differ in fewer than 10 units of the facet", ""]
    assert np.isnan(found.low[:, 0]).tolist() == np.isnan(found.p_values[:, 0]).tolist() == [True, False, True, False]


def test_an_undefined_score_has_no_interval():
    statistics = np.random.default_rng(2).integers(1, 3, (200, 2, 2)).astype(float)
    statistics[:60, 1] = 0
    found = compare_facets(matrix(statistics), members_of(np.repeat([0, 1], [60, 140])), PAIR, Settings(resamples=99))
    assert [row[0] for row in found.reasons] == [f"a score is undefined in the {part}" for part in ("facet", "rest")]
    assert np.isnan(found.low).all()


@pytest.mark.simulation
@pytest.mark.parametrize("name", POPULATIONS)
def test_all_intervals_hold_simultaneously(name):
    """In 95 % of test sets, to within three standard errors of 300; the full figures are in docs/studies.md."""
    share, number = measure_coverage(name, 300)
    assert share == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / 300))
    assert number >= 2


@pytest.mark.simulation
def test_better_in_every_facet_is_rarely_claimed_of_systems_that_are_equal_in_one():
    assert measure_false_claims(300) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
