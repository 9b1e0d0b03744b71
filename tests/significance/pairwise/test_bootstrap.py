"""The paired bootstrap: every resample of small sets, theory, duality of test and interval, invariances."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats

from registry.messages import Messages
from registry.parallel.execution import Execution
from registry.significance import Bootstrap, Permutation, Settings, StatisticMatrix
from registry.significance.base import Observed, extremity
from registry.significance.pairwise import bootstrap
from registry.significance.resampling import draws
from registry.significance.resampling import scores as resampling
from registry.significance.resampling.exceedances import is_reachable
from registry.significance.resampling.scores import share_resamples
from tests.significance.matrices import matrix, of_labels, uneven

ALTERNATIVES = ("two-sided", "greater", "less")


def run(m, pair=(0, 1), **options):
    """Draw, also where the score is a quotient whose ideal bootstrap there is."""
    return Bootstrap().run(replace(m, quotient=None), [pair], Settings(**options))[0]


def ideal(m, alternative):
    """The p-value over all n^n resamples, compared with a tolerance as floats are."""
    n = m.n_units
    d = np.diff(m.scores()[::-1])[0]
    count = 0
    for units in itertools.product(range(n), repeat=n):
        scores = m.score(m.statistics[list(units)].sum(axis=0))
        moved = scores[0] - scores[1] - d
        extremity, bar = {"two-sided": (abs(moved), abs(d)), "greater": (moved, d), "less": (-moved, -d)}[alternative]
        count += not extremity < bar - 1e-12
    return count / n**n


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 3), st.integers(1, 3)), min_size=2,
                max_size=5), st.sampled_from(ALTERNATIVES))
def test_agrees_with_all_resamples(rows, alternative):
    m = matrix([[[a, d], [b, e]] for a, d, b, e in rows])
    found = run(m, alternative=alternative, resamples=4000)
    if not found.n_discordant or math.isnan(found.p_value):
        return
    expected = ideal(m, alternative)
    deviation = math.sqrt(max(expected * (1 - expected), 1e-4) / 4000)
    assert abs(found.p_value - (4000 * expected + 1) / 4001) < 6 * deviation
    assert (found.method, found.resamples) == ("monte-carlo", 4000)


def test_what_needs_no_draws_is_ideal():
    """Shared denominators; drawing gives the same within its own error."""
    m = of_labels(np.random.default_rng(5).random((300, 2)) < (0.7, 0.6))
    (found,) = Bootstrap().run(m, [(0, 1)], Settings())
    assert (found.method, found.resamples) == ("ideal", None)
    drawn = run(m)
    assert abs(drawn.p_value - found.p_value) < 5 * math.sqrt(found.p_value / 100_000)
    assert (found.ci_low, found.ci_high) == pytest.approx((drawn.ci_low, drawn.ci_high), abs=0.004)
    assert Bootstrap().run(m, [(0, 1)], Settings(interval="bca", resamples=500))[0].method == "monte-carlo"
    own = matrix(uneven(3))
    assert Bootstrap().run(own, [(0, 1)], Settings(resamples=500))[0].method == "monte-carlo"


def test_the_null_is_recentred_by_the_observed_difference():
    """Many units: p is that of the normal test of the mean difference, which the mean of |d*| would not give."""
    rng = np.random.default_rng(7)
    right = rng.random((2000, 2)) < (0.66, 0.64)
    d = right[:, 0].astype(float) - right[:, 1]
    z = abs(d.mean()) / (d.std() / math.sqrt(len(d)))
    found = run(of_labels(right), resamples=40_000)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z), abs=0.015)
    deviation = (found.ci_high - found.ci_low) / 2 / stats.norm.ppf(0.975)
    assert deviation == pytest.approx(d.std() / math.sqrt(len(d)), rel=0.03)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_dual_interval_leaves_out_0_just_when_the_test_is_significant(alternative):
    """At every level, also at those that fall between two draws."""
    m = matrix(uneven(11, units=40, systems=3))
    for pair in itertools.permutations(range(3), 2):
        for alpha in (0.01, 0.05, 0.2, 0.5, 0.731):
            found = run(m, pair, alternative=alternative, confidence=1 - alpha, resamples=999)
            assert (found.ci_low > 0 or found.ci_high < 0) == (found.p_value <= alpha)


def test_intervals_of_other_kinds():
    """Percentile and basic mirror each other at d; BCa is the percentile interval where nothing is skewed."""
    right = np.array([[1, 0]] * 60 + [[0, 1]] * 60 + [[1, 1]] * 80)
    percentile, basic, bca = (run(of_labels(right), interval=kind, resamples=20_000) for kind in
                              ("percentile", "basic", "bca"))
    assert basic.ci_low == pytest.approx(-percentile.ci_high, abs=1e-12)
    assert bca.ci_low == pytest.approx(percentile.ci_low, abs=0.011)
    skewed = matrix([[[v, 1], [0, 1]] for v in [0] * 60 + [1] * 12 + [9] * 3])
    low, shifted = (run(skewed, interval=kind, resamples=20_000) for kind in ("percentile", "bca"))
    assert shifted.ci_low > low.ci_low
    assert shifted.ci_high > low.ci_high


def test_bca_agrees_with_scipy():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 30, (80, 2)) ** 2
    m = matrix([[[a, 1], [b, 1]] for a, b in values.tolist()])
    found = run(m, interval="bca", resamples=60_000)
    reference = stats.bootstrap((values[:, 0], values[:, 1]), lambda a, b, axis=-1: a.mean(axis) - b.mean(axis),
                                paired=True, n_resamples=60_000, method="BCa", rng=np.random.default_rng(2))
    width = found.ci_high - found.ci_low
    assert abs(found.ci_low - reference.confidence_interval.low) < 0.02 * width
    assert abs(found.ci_high - reference.confidence_interval.high) < 0.02 * width


def test_score_intervals_are_percentiles_of_the_resampled_scores():
    right = np.random.default_rng(3).random((1000, 2)) < (0.8, 0.5)
    intervals = Bootstrap().score_intervals(of_labels(right), Settings(resamples=20_000))
    for n in (0, 1):
        share = right[:, n].mean()
        low, high = stats.binom.ppf((0.025, 0.975), 1000, share) / 1000
        assert intervals[n] == pytest.approx((low, high), abs=0.0021)


def test_resamples_that_tests_share_are_drawn_once_and_change_nothing(monkeypatch):
    options, pairs = Settings(resamples=700, seed=2, interval="percentile"), [(0, 1), (1, 2)]
    clustered = matrix(uneven(1), units=np.arange(len(uneven(1))) // 2)
    apart = Bootstrap().run(clustered, pairs, options), Bootstrap().score_intervals(clustered, options)
    shared, calls = share_resamples(clustered, options), []
    monkeypatch.setattr(resampling, "sum_resamples", lambda *given: calls.append(1) or draws.sum_resamples(*given))
    assert repr(Bootstrap().run(shared, pairs, options)) == repr(apart[0])
    np.testing.assert_array_equal(Bootstrap().score_intervals(shared, options), apart[1])
    assert len(calls) == 1
    assert shared.select_systems([0, 2]).resampled is None
    assert len(bootstrap.score_resamples(shared, replace(options, resamples=600))) == 600


def test_nothing_depends_on_blocks_systems_or_their_order(monkeypatch):
    statistics = uneven(1)
    options = Settings(resamples=700, seed=0)
    full = Bootstrap().run(matrix(statistics), [(0, 1), (2, 3), (1, 2)], options)
    assert repr(Bootstrap().run(matrix(statistics[:, [1, 2]]), [(0, 1)], options)[0]) == repr(full[2])
    few = replace(options, execution=Execution(workers=1, memory=1000))
    assert repr(Bootstrap().run(matrix(statistics), [(0, 1), (2, 3), (1, 2)], few)) == repr(full)
    assert Bootstrap().run(matrix(statistics), [(0, 1)], Settings(resamples=700, seed=1))[0].p_value != full[0].p_value


@pytest.mark.slow
def test_resamples_draw_every_unit_equally_often():
    drawn = draws.sum_resamples(np.eye(50)[:, None, :], Settings(resamples=20_000, seed=4), np.copy)
    sums = np.concatenate(list(drawn))[:, 0]
    assert (sums.sum(axis=1) == 50).all()
    assert np.abs(sums.mean(axis=0) - 1).max() < 5 / math.sqrt(20_000)
    assert sums.var() == pytest.approx(1 - 1 / 50, rel=0.01)
    correlations = np.corrcoef(sums.T)[~np.eye(50, dtype=bool)]
    assert np.abs(correlations + 1 / 49).max() < 5 / math.sqrt(20_000)


@pytest.mark.parametrize("units", [2, 5, 8, 9, 40])
def test_counts_are_multinomial(units):
    """The first count is binomial(n, 1/n), and so are the first two together; by chi-squared over 51,200 draws."""
    counts = np.concatenate([rows.copy() for block in range(200) for _, rows in
                             draws.draw_resamples(units, 256, block, seed=units)]).astype(int)
    assert (counts.sum(axis=1) == units).all()
    for some in (1, 2):
        seen = np.bincount(counts[:, :some].sum(axis=1), minlength=units + 1)
        expected = stats.binom.pmf(np.arange(units + 1), units, some / units) * len(counts)
        likely = expected > 10
        seen, expected = (np.append(v[likely], v[~likely].sum() + 1e-9) for v in (seen, expected))
        assert ((seen - expected) ** 2 / expected).sum() < stats.chi2.ppf(1 - 1e-5, len(seen))


def test_degenerate_differences_give_nan_with_a_reason():
    assert run(of_labels([[1, 0]])).messages.codes == ("one-unit",)
    constant = run(of_labels([[1, 0]] * 5))
    assert math.isnan(constant.p_value)
    assert constant.messages.codes == ("constant-difference",)
    assert run(of_labels([[1, 1], [0, 0]])).p_value == 1.0


@pytest.mark.parametrize("variant", ["recentred", "studentized", "berg-kirkpatrick-2012"])
@pytest.mark.parametrize("clusters", [None, 4])
def test_strata_of_one_unit_each_cannot_be_resampled(variant, clusters):
    """A resample is then the sample: neither a p-value, which studentized would be the least, nor a width of 0."""
    m = of_labels(np.random.default_rng(2).random((20, 2)) < (0.9, 0.4))
    of = np.arange(20) % (clusters or 20)
    m = replace(m, units=of if clusters else None, strata=of)
    (found,) = Bootstrap(variant).run(m, [(0, 1)], Settings(resamples=500))
    assert math.isnan(found.p_value)
    assert found.messages.codes == ("one-unit-strata",)
    assert np.isnan(Bootstrap(variant).score_intervals(m, Settings(resamples=500))).all()


few_rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(1, 3)), min_size=2, max_size=5)


@settings(max_examples=100)
@given(few_rows, st.sampled_from(ALTERNATIVES), st.booleans(), st.sampled_from(["shared", "apart", "any"]))
@example([(1, 0, 1), (2, 0, 1)], "two-sided", False, "shared")
@example([(0, 0, 1), (2, 0, 1)], "greater", True, "shared")
def test_what_no_resample_reaches_is_told(rows, alternative, strictly, kind):
    """By all n^n resamples: of quotients with shared denominators and with others, and of any score."""
    m = matrix([[[a, w], [b, w if kind == "shared" else 1]] for a, b, w in rows])
    m = replace(m, quotient=None) if kind == "any" else m
    (o,) = Observed.compare(m, [(0, 1)])
    assume(extremity(o.difference, alternative) > 0)
    drawn = m.score(m.statistics[list(itertools.product(range(len(rows)), repeat=len(rows)))].sum(axis=1))
    excess = extremity(drawn[:, 0] - drawn[:, 1] - o.difference, alternative) - extremity(o.difference, alternative)
    assert is_reachable(o, alternative, strictly=strictly) == (excess > (1e-9 if strictly else -1e-9)).any()


@pytest.mark.parametrize(("gains", "reached"), [
    ((3, 5, 1, 4), False),  # at most 5 + 5 + 4 + 4, at least 3 + 3 + 1 + 1, where 26 or 0 is needed; without strata too
    ((1, 1, 1, 7), False),  # at most 1 + 1 + 7 + 7 of 20; without strata 28
    ((3, 5, -9, 4), True),  # 3 + 3 - 9 - 9
])
def test_what_no_resample_within_strata_reaches_is_told(gains, reached):
    m = replace(matrix([[[10 + g, 1], [10, 1]] for g in gains]), strata=np.array([0, 0, 1, 1]))
    (o,) = Observed.compare(m, [(0, 1)])
    assert is_reachable(o, "two-sided") == reached


@pytest.mark.parametrize("variant", ["recentred", "berg-kirkpatrick-2012"])
def test_where_no_resample_is_extreme_there_is_no_p_value_in_draws_either(variant):
    """Scores with all their digits, which are drawn; permutation gives 2^-4."""
    gains = 0.3 + 0.2 * np.random.default_rng(3).random(5)
    m = matrix([[[round(g * 10**9), 10**9], [0, 10**9]] for g in gains])
    found = Bootstrap(variant).run(m, [(0, 1)], Settings(resamples=2000))[0]
    assert (found.method, found.messages.codes) == ("monte-carlo", ("unreachable-difference",))
    assert all(map(math.isnan, (found.p_value, found.log10_p, found.p_low, found.ci_low)))
    assert Permutation().run(m, [(0, 1)], Settings())[0].p_value == 2**-4


def test_draws_do_not_show_that_p_is_0():
    """The gain of 3 has to be drawn seven times of nine: 6 resamples in a million."""
    m = matrix([[[g, 1], [0, 1]] for g in [1] * 8 + [3]])
    (found,) = Bootstrap("berg-kirkpatrick-2012").run(m, [(0, 1)], Settings(resamples=500))
    assert found.p_value == 1 / 501
    assert found.log10_p == pytest.approx(-math.log10(501))
    assert found.messages == Messages.make("share-of-resamples", plus_one=True)


def test_a_unit_alone_in_its_stratum_adds_no_variance():
    """The interval is that of the other stratum, whose 40 items are half of all."""
    m = of_labels(np.random.default_rng(2).random((80, 2)) < (0.9, 0.6))
    m = replace(m, strata=np.maximum(np.arange(80) - 39, 0))
    assert m.lone_units == 40
    low, high = Bootstrap().score_intervals(m, Settings(resamples=20_000))[0]
    assert high - low == pytest.approx(2 * 1.96 * m.statistics[:40, 0, 0].std() / math.sqrt(40) / 2, rel=0.15)


def test_a_constant_difference_is_degenerate_also_where_some_resamples_are_undefined():
    """Precision: A always right, B always wrong, and silent in one unit of nine: (8/9)^9 and so on never all silent."""
    found = run(matrix([*[[[1, 1], [0, 1]]] * 8, [[1, 1], [0, 0]]]), resamples=5000)
    assert math.isnan(found.p_value)
    assert found.messages.codes == ("constant-difference",)


@pytest.mark.slow
def test_the_dual_interval_counts_undefined_resamples_as_the_test_does():
    """B has no denominator in two units of nine, so about 1 resample in 10^6 is undefined; levels just beside p."""
    rng = np.random.default_rng(6)
    for _ in range(30):
        rows = [[[int(a), 3], [int(b), 3]] for a, b in rng.integers(0, 4, (6, 2))]
        m = matrix([*rows, [[1, 2], [0, 0]]])
        p = run(m, resamples=999).p_value
        if math.isnan(p) or p == 1:
            continue
        for alpha in (p - 0.4 / 1000, p + 0.4 / 1000):
            found = run(m, resamples=999, confidence=1 - alpha)
            if not found.messages:
                assert (found.ci_low > 0 or found.ci_high < 0) == (found.p_value <= alpha)


def test_an_undefined_resample_counts_as_extreme_and_takes_the_interval():
    """Precision of a system with spans in one unit of four is undefined in (3/4)^4 of the resamples."""
    found = run(matrix([[[1, 1], [1, 2]], [[0, 0], [0, 2]], [[0, 0], [1, 2]], [[0, 0], [2, 2]]]), resamples=4000)
    assert found.p_value > (3 / 4) ** 4 - 0.05
    assert "no-interval" in found.messages.codes
    assert math.isnan(found.ci_low)
    (counted,) = Bootstrap("berg-kirkpatrick-2012").run(
        matrix([[[0, 0], [1, 2]], [[1, 1], [1, 2]], [[0, 0], [0, 2]]]), [(0, 1)], Settings(resamples=4000))
    assert counted.p_value > (2 / 3) ** 3 - 0.04


def test_scores_that_do_not_decompose_are_resampled_too():
    """Any function of sums: the geometric mean of two shares, checked against resampling by hand."""
    rng = np.random.default_rng(5)
    statistics = np.concatenate([rng.integers(0, 5, (60, 2, 2)), np.full((60, 2, 1), 5)], axis=2).astype(float)
    m = StatisticMatrix(statistics, lambda s: np.sqrt(s[..., 0] * s[..., 1]) / s[..., 2])
    scores = bootstrap.score_resamples(m, Settings(resamples=5000))
    by_hand = [m.score(statistics[rng.integers(0, 60, 60)].sum(axis=0)) for _ in range(5000)]
    np.testing.assert_allclose(scores.mean(axis=0), np.mean(by_hand, axis=0), atol=0.004)
    np.testing.assert_allclose(scores.std(axis=0), np.std(by_hand, axis=0), rtol=0.06)
