"""Rank sets: csranks' recorded ones, the definitions, what is left open where nothing is known, and coverage."""

import itertools
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from registry.parallel.execution import Execution
from registry.significance import Permutation, Settings, StatisticMatrix, rank
from registry.significance import rank_sets as sets
from registry.significance.joint.estimates import JointEstimates
from registry.significance.multiple import adjust
from registry.significance.rank_sets import JOINT_ERRORS, Influences, compute_rank_sets, compute_rank_sets_by_tests

CSRANKS = Path(__file__).parent / "csranks"


def mean(sums):
    return np.divide(sums[..., 0], sums[..., 1], out=np.full(sums.shape[:-1], np.nan), where=sums[..., 1] != 0)


def matrix(scores, **options):
    """Means of item scores [items, systems]."""
    return StatisticMatrix(np.stack([scores, np.ones_like(scores)], axis=-1), mean, **options)


def found_by(scores, method="bootstrap", *, alpha=0.05, resamples=399, seed=3, **options):
    settings = Settings(resamples=resamples, seed=seed)
    return compute_rank_sets(matrix(scores, **options), settings, alpha=alpha, method=method)


@st.composite
def cases(draw, most=5):
    """Scores of items of some systems whose qualities and noise differ."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    k = draw(st.integers(2, most))
    return rng.normal(size=(25, k)) * rng.choice([1, 3], k) + rng.normal(size=(25, 1)) + rng.normal(0, 0.9, k)


def recorded(name):
    """What csranks found: low and high ranks of the systems, [2, systems]."""
    return np.genfromtxt(CSRANKS / f"{name}.csv", delimiter=",", skip_header=1)[:, [1, 3]].astype(int).T


def with_covariance(means, covariance, items=500):
    """Scores of many items whose means have this covariance."""
    noise = np.random.default_rng(1).normal(size=(items, len(means)))
    orthogonal, _ = np.linalg.qr(noise - noise.mean(axis=0))
    return means + items * orthogonal @ np.linalg.cholesky(covariance).T


def found_with_normal_errors(scores, **options):
    """Rank sets of means with their covariance; items are groups, and all have the same variance under the model."""
    items, systems = scores.shape
    spread = sparse.csr_array(np.ones((items, systems)))
    estimates = JointEstimates(scores.mean(axis=0), sparse.csr_array(scores - scores.mean(axis=0)),
                               np.eye(systems) / items, (spread,))
    return estimates.compute_rank_sets(Settings(resamples=options["resamples"], seed=3), alpha=options["alpha"])


@pytest.mark.parametrize("method", [*JOINT_ERRORS, "normal"])
@pytest.mark.parametrize("name", ["binary", "pisa2018-math"])
def test_ranks_are_those_of_csranks(name, method):
    """They lie between those at levels that are four standard errors of 2000 and of csranks' 10,000 draws off.

    csranks draws normal errors of fixed variance, as 200 and 500 items nearly have.
    """
    if name == "binary":
        scores = np.loadtxt(CSRANKS / "binary-items.csv", delimiter=",")
    else:
        means = np.genfromtxt(CSRANKS / f"{name}-simultaneous.csv", delimiter=",", skip_header=1)[:, 0]
        scores = with_covariance(means, np.loadtxt(CSRANKS / f"{name}-covariance.csv", delimiter=","))
    off = 4 * np.sqrt(0.05 * 0.95 * (1 / 2000 + 1 / 10_000))
    find = found_with_normal_errors if method == "normal" else partial(found_by, method=method)
    wide, narrow = (find(scores, alpha=alpha, resamples=2000) for alpha in (0.05 - off, 0.05 + off))
    low, high = recorded(f"{name}-simultaneous")
    assert (wide.low <= low).all()
    assert (low <= narrow.low).all()
    assert (narrow.high <= high).all()
    assert (high <= wide.high).all()
    low, high = recorded(f"{name}-marginal")
    assert (wide.marginal_low <= low).all()
    assert (low <= narrow.marginal_low).all()
    assert (narrow.marginal_high <= high).all()
    assert (high <= wide.marginal_high).all()


def largest_told_apart(observed, errors, hypotheses, alpha):
    """The ordered pairs told apart: reject what is above the critical value of all that is left, drop it, repeat."""
    left = list(hypotheses)
    k = int(alpha * (len(errors) + 1) + 1e-9)
    while left:
        critical = sorted(max(draw[pair] for pair in left) for draw in errors)[-k]
        rejected = [pair for pair in left if observed[pair] > critical]
        if not rejected:
            break
        left = [pair for pair in left if pair not in rejected]
    return set(hypotheses) - set(left)


@settings(max_examples=25, deadline=None)
@given(cases(), st.sampled_from([0.05, 0.2]), st.sampled_from(sorted(JOINT_ERRORS)))
def test_pairs_are_told_apart_by_the_largest_errors_of_those_that_are_left(scores, alpha, method):
    joint = JOINT_ERRORS[method](Influences.compute(matrix(scores)), Settings(resamples=99, seed=3))
    joint.prepare()
    errors, k = joint.compute_rows(slice(None)), scores.shape[1]
    found = found_by(scores, method, alpha=alpha, resamples=99)
    pairs = list(itertools.permutations(range(k), 2))
    assert set(zip(*np.nonzero(found.wins), strict=True)) == largest_told_apart(joint.observed, errors, pairs, alpha)
    as_ranked = rank(scores.mean(axis=0), found.wins)
    np.testing.assert_array_equal([found.low, found.high], [as_ranked.low, as_ranked.high])
    for system in range(k):
        own = largest_told_apart(joint.observed, errors, [pair for pair in pairs if system in pair], alpha)
        assert found.marginal_low[system] == 1 + sum(pair[1] == system for pair in own)
        assert found.marginal_high[system] == k - sum(pair[0] == system for pair in own)


@settings(max_examples=25, deadline=None)
@given(cases(), st.sampled_from(sorted(JOINT_ERRORS)))
def test_bounds_are_those_with_each_system_taken_for_the_best(scores, method):
    """Its differences to the others are bounded by their largest error, upwards or downwards, whichever is larger."""
    joint = JOINT_ERRORS[method](Influences.compute(matrix(scores)), Settings(resamples=99, seed=3))
    joint.prepare()
    errors, k = joint.compute_rows(slice(None)), scores.shape[1]
    found, gains = found_by(scores, method, resamples=99), np.subtract.outer(*[scores.mean(axis=0)] * 2)
    upper, factors = np.empty(k), np.empty(k)
    for i in range(k):
        others = np.delete(errors[:, i], i, axis=1)
        factors[i] = max(sorted(others.max(axis=1))[-5], sorted((-others).max(axis=1))[-5])
        upper[i] = min(gains[i, j] + factors[i] * np.sqrt(joint.squared_errors[i, j]) for j in range(k) if j != i)
    np.testing.assert_array_equal(found.possible, upper >= 0)
    np.testing.assert_allclose(found.lead_high, np.maximum(upper, 0))
    lower = [min([0] + [gains[i, j] - factors[j] * np.sqrt(joint.squared_errors[i, j])
                        for j in range(k) if j != i and upper[j] >= 0]) for i in range(k)]
    np.testing.assert_allclose(found.lead_low, lower)


@settings(max_examples=15, deadline=None)
@given(cases(), st.randoms(use_true_random=False), st.sampled_from(sorted(JOINT_ERRORS)))
def test_the_order_the_direction_and_the_unit_of_scores_do_not_matter(scores, rng, method):
    order = list(range(scores.shape[1]))
    rng.shuffle(order)
    found = found_by(scores, method)
    other = found_by(-8 * scores[:, order], method, lower_is_better=True)
    for name in ("low", "high", "marginal_low", "marginal_high", "possible"):
        np.testing.assert_array_equal(getattr(other, name), getattr(found, name)[order])
    np.testing.assert_allclose([other.lead_low, other.lead_high],
                               8 * np.array([found.lead_low, found.lead_high])[:, order], rtol=1e-4)


@pytest.mark.parametrize("method", JOINT_ERRORS)
def test_what_is_clear_is_told(method):
    """Systems far apart have one rank each; of one far ahead of four alike, only that is known."""
    rng = np.random.default_rng(3)
    apart = found_by(rng.normal(size=(80, 5)) + np.array([40, 10, 30, 0, 20]), method)
    assert apart.low.tolist() == apart.high.tolist() == apart.marginal_low.tolist() == [1, 4, 2, 5, 3]
    ahead = found_by(rng.normal(size=(80, 5)) + np.array([0, 0, 9, 0, 0]), method)
    assert ahead.possible.tolist() == [False, False, True, False, False]
    assert ahead.lead_low[2] == 0 < ahead.lead_high[2]
    assert (ahead.lead_high[[0, 1, 3, 4]] == 0).all()
    assert ahead.low.tolist() == [2, 2, 1, 2, 2]


@pytest.mark.parametrize("method", JOINT_ERRORS)
def test_copies_have_the_same_ranks_and_cost_the_others_nothing(method):
    rng = np.random.default_rng(5)
    scores, copied = rng.normal(size=(60, 3)) + np.array([0, 0.2, 0.5]), [0, 1, 2, 2]
    alone, found = found_by(scores, method), found_by(scores[:, copied], method)
    np.testing.assert_array_equal(found.wins, alone.wins[np.ix_(copied, copied)])
    np.testing.assert_array_equal(found.possible, alone.possible[copied])
    same = found_by(np.repeat(scores[:, :1], 4, axis=1), method)
    assert same.possible.all()
    assert np.abs([same.lead_low, same.lead_high]).max() < 1e-12
    assert (same.low == 1).all()
    assert (same.high == 4).all()


@pytest.mark.parametrize("method", JOINT_ERRORS)
def test_a_difference_that_never_varies_decides_nothing(method):
    scores = np.random.default_rng(7).normal(size=(20, 1)) + np.array([0.1 + 0.2, 0.7])
    found = found_by(scores, method)
    assert found.possible.all()
    assert found.lead_low.tolist() == [-np.inf, -np.inf]
    assert found.high.tolist() == [2, 2]


def test_a_system_without_a_score_or_without_one_when_an_item_is_left_out():
    """It neither wins nor loses, and the others stand as they would by themselves, with a rank left for it."""
    rng = np.random.default_rng(6)
    statistics = np.stack([rng.normal(size=(60, 5)) + np.array([0, 3, 6, 0, 0]), np.ones((60, 5))], axis=-1)
    statistics[:, 3] = 0
    statistics[1:, 4] = 0
    found = compute_rank_sets(StatisticMatrix(statistics, mean), Settings(resamples=399, seed=3))
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == [(3, 5), (2, 4), (1, 3), (1, 5), (1, 5)]
    assert found.possible.tolist() == [False, False, True, True, True]
    assert np.isnan(found.lead_low).tolist() == [False, False, False, True, True]
    alone = found_by(statistics[:, :3, 0])
    np.testing.assert_allclose(found.lead_low[:3], alone.lead_low)
    for few in (0, 1):
        found = compute_rank_sets(StatisticMatrix(statistics[:, 3:3 + few], mean), Settings(resamples=99, seed=3))
        assert found.possible.all()
        assert (found.low == 1).all()


def test_too_few_draws_decide_nothing():
    """With 18 of them no share (c + 1) / (R + 1) reaches 0.05; with 19 it can."""
    scores = np.random.default_rng(9).normal(size=(60, 2)) + np.array([0, 9])
    assert found_by(scores, resamples=18).high.tolist() == [2, 2]
    assert found_by(scores, resamples=18).possible.all()
    assert found_by(scores, resamples=19).high.tolist() == [2, 1]
    assert found_by(scores, resamples=19).possible.tolist() == [False, True]


def test_groups_of_pairs_and_threads_change_nothing_but_what_is_at_the_edge(monkeypatch):
    """Where there are too many pairs for one maximum each, whole groups are dropped, so no more is told apart."""
    scores = np.random.default_rng(8).normal(size=(60, 9)) + np.arange(9) / 6
    one = Settings(resamples=399, seed=3, execution=Execution(workers=1))
    found = compute_rank_sets(matrix(scores), one)
    monkeypatch.setattr(sets, "_PAIRS_PER_ROW_BLOCK", 18)
    several = compute_rank_sets(matrix(scores), Settings(resamples=399, seed=3, execution=Execution(workers=2)))
    np.testing.assert_array_equal(several.wins, found.wins)
    monkeypatch.setattr(sets, "_MAX_MAXIMA", 399 * 4)
    grouped = compute_rank_sets(matrix(scores), one)
    assert not (grouped.wins & ~found.wins).any()
    assert grouped.wins.sum() >= found.wins.sum() - 4


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_tests_of_pairs_bound_ranks_by_holm(share):
    """All pairs are one family for the ranks, those of a system one for its own, and shares of p the best's."""
    scores = (np.random.default_rng(10).random((40, 4)) < [0.4, 0.7, 0.7, 0.95]).astype(float)
    pairs = list(itertools.combinations(range(4), 2))
    results = Permutation().run(matrix(scores, quotient=((1, 0), (0, 1))), pairs, Settings())
    assert {result.method for result in results} == {"exact"}
    p, gains = [result.p_value for result in results], [result.difference for result in results]
    found = compute_rank_sets_by_tests(results, 4, one_sided=share)
    for (a, b), adjusted, gain in zip(pairs, adjust(np.array(p), "holm"), gains, strict=True):
        assert found.wins[(a, b) if gain > 0 else (b, a)] == (adjusted <= 0.05)
    assert found.wins.any()
    assert not found.wins.all(where=~np.eye(4, dtype=bool))
    for system in range(4):
        own = [n for n, pair in enumerate(pairs) if system in pair]
        adjusted = adjust(np.array(p)[own], "holm")
        ahead = [(gains[n] > 0) == (pairs[n][0] == system) for n in own]
        assert found.marginal_high[system] == 4 - sum((adjusted <= 0.05) & ahead)
        assert found.marginal_low[system] == 1 + sum((adjusted <= 0.05) & ~np.array(ahead))
        behind = [p[n] * share for n, is_ahead in zip(own, ahead, strict=True) if not is_ahead]
        assert found.possible[system] == (min(behind, default=1) * 3 > 0.05)


@pytest.mark.parametrize(("units", "apart"), [(2, False), (4, False), (12, True)])
@pytest.mark.parametrize("method", ["bootstrap", "flips"])
def test_systems_that_differ_in_too_few_units_are_not_told_apart(units, apart, method):
    """All of four units favour a given one of two alike systems in 2^-4 of cases, more often than 5 %."""
    scores = np.zeros((60, 2))
    scores[:40] = 1
    scores[:units, 1] = 0
    found = found_by(scores, method)
    assert found.wins[0, 1] == apart
    assert not found.wins[1, 0]
    assert found.possible[0]
    assert found.possible[1] != apart
