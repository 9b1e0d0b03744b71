"""Comparisons with the best and rank intervals: duality with tests, the definitions, and simulated coverage."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.significance import Bootstrap, Settings, StatisticMatrix, rank
from registry.significance.multiple.stepdown import Draws, max_t
from registry.significance.ranks.multiple_comparisons_with_the_best import compare_with_best, rank_intervals
from registry.significance.resampled_scores import resampled_scores


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def matrix(scores, **options):
    """Means of item scores [items, systems]."""
    return StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=-1), mean, **options)


def items(rng, n, means):
    """Item scores [n, systems] of systems of these qualities."""
    return rng.normal(size=(n, len(means))) + np.array(means)


def resampled(data, resamples, rng):
    """The means of data [items, systems], and those of its resamples [resamples, systems]."""
    n = len(data)
    return data.mean(axis=0), rng.multinomial(n, np.full(n, 1 / n), resamples) @ data / n


@st.composite
def cases(draw, most=4):
    """Scores and resampled scores of some systems whose qualities and noise differ."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    k = draw(st.integers(2, most))
    data = rng.normal(size=(30, k)) * rng.choice([1, 3], k) + rng.normal(size=(30, 1)) + rng.normal(0, 0.6, k)
    return resampled(data, draw(st.sampled_from([39, 99, 150])), rng)


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.5])
@pytest.mark.parametrize("lower_is_better", [False, True])
def test_two_systems_have_the_one_sided_intervals_of_the_bootstrap(shift, lower_is_better):
    """Stretched to 0; and their ranks are told apart just when the two-sided test is significant."""
    rng = np.random.default_rng(1)
    m = matrix(items(rng, 50, [0, shift]), lower_is_better=lower_is_better)
    draws = resampled_scores(m, Settings(resamples=999, seed=3))
    least, most, both = (
        Bootstrap().run(m, [(0, 1)], Settings(a, resamples=999, seed=3)) for a in ("greater", "less", "two-sided"))
    low, high = min(0, least[0].ci_low), max(0, most[0].ci_high)
    best = compare_with_best(m.scores(), draws, lower_is_better=lower_is_better)
    np.testing.assert_allclose(best.low, [low, -high], atol=1e-12)
    np.testing.assert_allclose(best.high, [high, -low], atol=1e-12)
    assert best.possible.tolist() == [most[0].p_value > 0.05, least[0].p_value > 0.05]
    ranks = rank_intervals(m.scores(), draws, lower_is_better=lower_is_better)
    assert ranks.wins.any() == (both[0].p_value <= 0.05)


def errors(scores, draws, a, b):
    """By how much a gains on b in each resample by chance, in standard deviations; and what is seen of it."""
    error = (draws[:, a] - draws[:, b]) - (scores[a] - scores[b])
    deviation = np.sqrt((error**2).mean())
    return error / deviation, (scores[a] - scores[b]) / deviation


@settings(max_examples=60)
@given(cases(), st.sampled_from([0.05, 0.1, 0.3]))
def test_a_system_may_be_the_best_unless_another_is_significantly_better(case, alpha):
    """The test with each system as the control: (c + 1) / (R + 1) of the largest studentized gain of any other."""
    scores, draws = case
    found = compare_with_best(scores, draws, alpha=alpha)
    for i, possible in enumerate(found.possible):
        gains = [errors(scores, draws, j, i) for j in range(len(scores)) if j != i]
        seen = max(gain for _, gain in gains)
        largest = np.max([error for error, _ in gains], axis=0)
        assert possible == ((1 + (largest >= seen).sum()) / (1 + len(draws)) > alpha)


@settings(max_examples=60)
@given(cases())
def test_a_system_may_lead_by_what_it_could_lose_and_still_be_the_best(case):
    """The upper bound inverts that test."""
    scores, draws = case
    found = compare_with_best(scores, draws)
    for i in np.flatnonzero(found.possible & np.isfinite(found.high)):
        for share, possible in ((0.999, True), (1.001, False)):
            handicap = np.zeros(len(scores))
            handicap[i] = share * found.high[i]
            assert compare_with_best(scores - handicap, draws - handicap).possible[i] == possible


@settings(max_examples=60)
@given(cases(), st.sampled_from([0.05, 0.2]))
def test_a_system_lacks_at_most_what_any_possible_best_may_lead_it_by(case, alpha):
    """Hsu's lower bound: theirs are the one-sided bounds with them as the control, whose critical value is theirs."""
    scores, draws = case
    found = compare_with_best(scores, draws, alpha=alpha)
    k = int(alpha * (len(draws) + 1) + 1e-9)
    for i, low in enumerate(found.low):
        expected = 0
        for j in np.flatnonzero(found.possible):
            if j != i:
                largest = np.max([errors(scores, draws, n, j)[0] for n in range(len(scores)) if n != j], axis=0)
                deviation = np.sqrt(((draws[:, i] - draws[:, j] - (scores[i] - scores[j]))**2).mean())
                expected = min(expected, scores[i] - scores[j] - sorted(largest)[-k] * deviation)
        assert low == pytest.approx(expected)


def test_one_clearly_best_system_is_the_only_possible_one():
    rng = np.random.default_rng(2)
    scores, draws = resampled(items(rng, 80, [0, 0, 9, 0, 0]), 500, rng)
    found, ranks = compare_with_best(scores, draws), rank_intervals(scores, draws)
    assert found.possible.tolist() == [False, False, True, False, False]
    assert found.low[2] == 0 < found.high[2]
    assert (found.high[[0, 1, 3, 4]] == 0).all()
    assert (found.low[[0, 1, 3, 4]] < -8).all()
    assert (ranks.low[2], ranks.high[2]) == (1, 1)
    assert (ranks.low[[0, 1, 3, 4]] == 2).all()


def test_systems_far_apart_are_all_told_apart():
    rng = np.random.default_rng(3)
    scores, draws = resampled(items(rng, 80, [40, 10, 30, 0, 20]), 500, rng)
    ranks = rank_intervals(scores, draws)
    assert ranks.low.tolist() == ranks.high.tolist() == [1, 4, 2, 5, 3]


def test_identical_systems_may_have_every_rank():
    rng = np.random.default_rng(4)
    scores, draws = resampled(np.repeat(rng.normal(size=(50, 1)), 4, axis=1), 300, rng)
    found, ranks = compare_with_best(scores, draws), rank_intervals(scores, draws)
    assert found.possible.all()
    assert np.abs([found.low, found.high]).max() < 1e-12
    assert (ranks.low == 1).all()
    assert (ranks.high == 4).all()


def test_a_copy_of_a_system_stands_where_it_stands_and_costs_the_others_nothing():
    rng = np.random.default_rng(5)
    scores, draws = resampled(items(rng, 60, [0, 0.2, 0.5]), 499, rng)
    copied = [0, 1, 2, 2]
    alone, ranks = (rank_intervals(scores[s], draws[:, s]) for s in ([0, 1, 2], copied))
    np.testing.assert_array_equal(ranks.wins, alone.wins[np.ix_(copied, copied)])
    found = compare_with_best(scores[copied], draws[:, copied])
    np.testing.assert_array_equal(found.possible[:3], compare_with_best(scores, draws).possible)
    assert (found.low[2], found.high[2], found.possible[2]) == (found.low[3], found.high[3], found.possible[3])


@settings(max_examples=40)
@given(cases(), st.sampled_from([0.05, 0.2]))
def test_ranks_rest_on_step_down_max_t_over_both_directions(case, alpha):
    scores, draws = case
    pairs = list(itertools.permutations(range(len(scores)), 2))
    gains = np.array([scores[a] - scores[b] for a, b in pairs])
    moved = np.column_stack([draws[:, a] - draws[:, b] for a, b in pairs]) - gains
    adjusted = max_t(Draws(gains, [moved], len(draws), np.zeros(len(pairs)))).adjusted
    ranks = rank_intervals(scores, draws, alpha=alpha)
    assert [bool(ranks.wins[pair]) for pair in pairs] == (adjusted <= alpha).tolist()
    as_ranked = rank(scores, ranks.wins)
    np.testing.assert_array_equal([ranks.low, ranks.high], [as_ranked.low, as_ranked.high])


@settings(max_examples=40)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_the_direction_and_the_unit_of_scores_do_not_matter(case, rng):
    scores, draws = case
    order = list(range(len(scores)))
    rng.shuffle(order)
    best, ranks = compare_with_best(scores, draws), rank_intervals(scores, draws)
    other = -8 * scores[order], -8 * draws[:, order]
    mirrored = compare_with_best(*other, lower_is_better=True)
    np.testing.assert_allclose([mirrored.low, mirrored.high], [8 * best.low[order], 8 * best.high[order]], atol=1e-12)
    np.testing.assert_array_equal(mirrored.possible, best.possible[order])
    np.testing.assert_array_equal(rank_intervals(*other, lower_is_better=True).wins, ranks.wins[np.ix_(order, order)])


def test_a_system_without_a_score_is_left_out_and_ruled_out_by_nothing():
    rng = np.random.default_rng(6)
    scores, draws = resampled(items(rng, 60, [0, 3, 6]), 300, rng)
    alone = compare_with_best(scores, draws)
    scores, draws = np.insert(scores, 1, np.nan), np.insert(draws, 1, np.nan, axis=1)
    found, ranks = compare_with_best(scores, draws), rank_intervals(scores, draws)
    assert np.isnan([found.low[1], found.high[1]]).all()
    np.testing.assert_array_equal(found.low[[0, 2, 3]], alone.low)
    np.testing.assert_array_equal(found.high[[0, 2, 3]], alone.high)
    assert found.possible.tolist() == [False, True, False, True]
    assert list(zip(ranks.low.tolist(), ranks.high.tolist(), strict=True)) == [(3, 4), (1, 4), (2, 3), (1, 2)]


@pytest.mark.parametrize("scores", [[], [0.5], [np.nan, np.nan], [np.nan, 0.5]])
def test_fewer_than_two_scores(scores):
    scores = np.array(scores)
    draws = np.tile(scores, (20, 1))
    found, ranks = compare_with_best(scores, draws), rank_intervals(scores, draws)
    assert np.isnan([found.low, found.high]).all()
    assert found.possible.all()
    assert (ranks.low == 1).all()
    assert (ranks.high == len(scores)).all()


def test_a_difference_that_never_varies_decides_nothing():
    """One unit, or a constant gain: 0.4 apart in every resample, as in the bootstrap's own test."""
    scores = np.array([0.1 + 0.2, 0.7])
    draws = np.random.default_rng(7).normal(size=(200, 1)) + scores
    found, ranks = compare_with_best(scores, draws), rank_intervals(scores, draws)
    assert found.possible.all()
    assert found.low.tolist() == [-np.inf, -np.inf]
    assert found.high.tolist() == [np.inf, np.inf]
    assert ranks.high.tolist() == [2, 2]


def test_undefined_resamples_are_extreme():
    """4 % of them leave less than 5 % for the rest; 6 % leave nothing to be said."""
    rng = np.random.default_rng(8)
    scores, draws = resampled(items(rng, 60, [0, 5]), 1000, rng)
    defined = compare_with_best(scores, draws)
    draws[:40, 0] = np.nan
    some = compare_with_best(scores, draws)
    assert some.possible.tolist() == [False, True]
    assert some.low[0] < defined.low[0]
    assert rank_intervals(scores, draws).low.tolist() == [2, 1]
    draws[:60, 0] = np.nan
    assert compare_with_best(scores, draws).possible.all()
    assert rank_intervals(scores, draws).high.tolist() == [2, 2]


def test_too_few_resamples_decide_nothing():
    """With 18 of them no p-value (c + 1) / (R + 1) reaches 0.05; with 19 it can."""
    rng = np.random.default_rng(9)
    scores, draws = resampled(items(rng, 60, [0, 9]), 19, rng)
    assert compare_with_best(scores, draws[:18]).possible.all()
    assert rank_intervals(scores, draws[:18]).high.tolist() == [2, 2]
    assert compare_with_best(scores, draws).possible.tolist() == [False, True]
    assert rank_intervals(scores, draws).high.tolist() == [2, 1]


@pytest.mark.simulation
@pytest.mark.parametrize("apart", [0.0, 0.15, 9.0])
def test_coverage(apart):
    """One system ahead of three others by nothing, by a little, or by far; their noise differs.

    In 1000 trials at level 0.9 the standard deviation is 0.0095: within 3.5 of them, [0.865, 0.935]. The best is kept
    at this level where it leads by nothing; all bounds hold at it where the best is known. The ranks hold at it where
    all systems are equal, or all but one that is found out.
    """
    rng = np.random.default_rng(10)
    truth = np.array([apart, 0, 0, 0])
    lead = np.array([truth[i] - np.delete(truth, i).max() for i in range(4)])
    least, most = (1 + (truth > truth[:, None]).sum(axis=1), 4 - (truth < truth[:, None]).sum(axis=1))
    kept = bounded = ranked = 0
    trials = 1000
    for _ in range(trials):
        data = rng.normal(size=(100, 4)) * [1, 1, 2, 0.5] + rng.normal(size=(100, 1)) + truth
        scores, draws = resampled(data, 199, rng)
        best, ranks = compare_with_best(scores, draws, alpha=0.1), rank_intervals(scores, draws, alpha=0.1)
        kept += best.possible[0]
        bounded += ((best.low <= lead) & (lead <= best.high)).all()
        ranked += ((ranks.low <= least) & (most <= ranks.high)).all()
    assert min(kept, bounded, ranked) >= 0.865 * trials
    if apart == 0:
        assert kept <= 0.935 * trials
    if apart == 9:
        assert bounded <= 0.935 * trials
    if apart != 0.15:
        assert ranked <= 0.935 * trials
