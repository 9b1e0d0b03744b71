"""Intervals by the metric's range: published values, the equations that they solve, and what never changes them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics import BLEU, MAE, MCC, METRICS, WER, BalancedAccuracy, Formula, Kappa, LabelF, Mean, SpanF
from registry.significance import MatchedT, Settings, StatisticMatrix
from registry.significance.correlations import PEARSON, PairMatrix
from registry.significance.distributions import wilson
from registry.significance.intervals import (
    ClosedForm,
    Ends,
    Estimates,
    difference_interval,
    group_by_item,
    influences,
    proportional_interval,
    refusal,
    standard_errors,
    wilson_interval,
)
from tests.significance.matrices import matrix_by, of_classes, of_labels, of_values
from tests.validity.populations import ACCURACY, over_one, quotient_of

Z = stats.norm.ppf(0.975)


@pytest.mark.parametrize(("first", "second", "published"), [
    ((56, 70), (48, 80), (0.0524, 0.3339)), ((9, 10), (3, 10), (0.1705, 0.8090)), ((10, 10), (0, 10), (0.6075, 1.0))])
def test_differences_are_newcombe_s(first, second, published):
    """Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10: independent proportions."""
    def estimate(hits, n):
        share = np.array([hits / n])
        return Estimates(share, wilson_interval(share, n, (0, 1), Z), np.zeros(1))

    low, high = difference_interval(estimate(*first), estimate(*second), np.zeros(1))
    assert (low[0], high[0]) == pytest.approx(published, abs=6e-5)


def test_the_correlation_narrows_differences():
    """Zou and Donner 2008, equation 2, with the correlation in the three standard errors."""
    r, errors = 0.6, (0.03, 0.05)
    both = [Estimates(np.array([s]), Ends(np.array([s - a]), np.array([s + b])), np.array([error]))
            for s, a, b, error in ((0.9, 0.08, 0.04, errors[0]), (0.7, 0.11, 0.09, errors[1]))]
    error = np.sqrt([errors[0]**2 + errors[1]**2 - 2 * r * errors[0] * errors[1]])
    low, high = difference_interval(*both, error)
    assert low[0] == pytest.approx(0.2 - np.sqrt(0.08**2 - 2 * r * 0.08 * 0.09 + 0.09**2))
    assert high[0] == pytest.approx(0.2 + np.sqrt(0.04**2 - 2 * r * 0.04 * 0.11 + 0.11**2))


def test_a_range_is_mapped_to_shares():
    low, high = wilson_interval(np.array([0.5]), 40, (-1, 1), Z)
    assert ((low[0] + 1) / 2, (high[0] + 1) / 2) == pytest.approx(wilson(0.75, 40, Z))


def test_above_one_bound_the_interval_is_that_of_a_poisson_count():
    """Ten events: 5.43 and 18.41, the score interval; mirrored below a bound."""
    counts, errors = np.array([10.0]), np.sqrt([10.0])
    low, high = proportional_interval(counts, errors, (0, np.inf), Z)
    assert (low[0], high[0]) == pytest.approx((5.432, 18.410), abs=1e-3)
    assert low[0] * high[0] == pytest.approx(100)
    mirrored = proportional_interval(7 - counts, errors, (-np.inf, 7), Z)
    assert np.array(mirrored) == pytest.approx(np.array([7 - high, 7 - low]))
    assert np.isnan(proportional_interval(np.zeros(1), np.zeros(1), (0, np.inf), Z)).all()


def test_milliseconds_and_seconds_have_one_interval():
    seconds = np.random.default_rng(1).lognormal(0, 1, (30, 3)).round(3)
    a, b = np.array([0, 0, 1]), np.array([1, 2, 2])
    for metric in (MAE(), Mean(better="lower", low=0), Mean()):
        small, large = (ClosedForm(of_values(metric, seconds * scale)) for scale in (1, 1000))
        assert np.stack(large.scores()) == pytest.approx(1000 * np.stack(small.scores()), rel=1e-5)
        assert np.stack(large.differences(a, b)) == pytest.approx(1000 * np.stack(small.differences(a, b)), rel=1e-5)
    zero_or_one = (seconds > 1).astype(float)
    small, large = (ClosedForm(of_values(MAE(), zero_or_one * scale)).scores() for scale in (1, 1000))
    assert np.stack(large) == pytest.approx(1000 * np.stack(small), rel=1e-5)


@pytest.mark.parametrize("metric", [WER(references=("ref",)), MAE(), Mean(), SpanF(), Mean(low=0, high=1)], ids=repr)
def test_a_system_that_joins_changes_no_interval(metric):
    """Neither one that never errs, nor one that always does, nor one beyond 0 and 1 changes what others have."""
    rng = np.random.default_rng(2)
    top = 1 if metric.score_range[1] == 1 else 3
    values = np.column_stack([rng.random((40, 3)), np.zeros(40), np.ones(40), np.linspace(0, top, 40)]).round(3)
    if metric.family == "prf":
        values = np.rint(3 * values)
        matrix = matrix_by(metric, np.stack([values, np.full_like(values, 3), np.full_like(values, 3)], axis=-1))
    else:
        matrix = of_values(metric, values)
    alone, joined = ClosedForm(matrix.select_systems([0, 1])), ClosedForm(matrix)
    assert np.isfinite(alone.scores()).all()
    assert np.array_equal(alone.scores(), np.stack(joined.scores())[:, :2])
    pair = np.array([0]), np.array([1])
    assert np.array_equal(alone.differences(*pair), joined.differences(*pair))


def test_a_system_that_never_errs():
    """n_e is the number of units; of averaged classes K^2 / sum(1 / n_k); above one bound there is no interval."""
    t = stats.t.ppf(0.975, 59)
    values = np.column_stack([np.full(60, 100.0), np.linspace(0, 100, 60)])
    low, high = ClosedForm(of_values(Mean(low=0, high=100), values)).scores()
    assert (low[0], high[0]) == pytest.approx((100 * 60 / (60 + t**2), 100), abs=1e-3)
    gold = np.repeat([0, 1, 2], [40, 15, 5])
    trials = 9 / (1 / 40 + 1 / 15 + 1 / 5)
    for metric, range_, size in ((LabelF(), 1, trials), (BalancedAccuracy(), 1, trials), (MCC(), 2, trials),
                                 (Kappa(), 2, trials), (LabelF(average="micro"), 1, 60)):
        low, high = ClosedForm(of_classes(metric, gold, np.stack([gold, (gold + 1) % 3], axis=1))).scores()
        assert (low[0], high[0]) == pytest.approx((1 - range_ * t**2 / (size + t**2), 1), abs=1e-4)
    of = ClosedForm(of_values(MAE(), values[:, ::-1] - values.min()))
    assert of.count_error_free() == 0
    of = ClosedForm(of_values(MAE(), 100 - values))
    assert np.isnan(of.scores().low).tolist() == [True, False]
    assert of.count_error_free() == 1


def test_errors_in_frequent_classes_alone_say_no_more_than_none():
    """The effective size of averaged classes is never above that of a system that never errs."""
    gold = np.repeat([0, 1, 2], [100, 94, 6])
    predicted = np.stack([gold, np.where(np.arange(200) == 0, 1, gold)], axis=1)
    for metric in (BalancedAccuracy(), LabelF()):
        low, _ = ClosedForm(of_classes(metric, gold, predicted)).scores()
        assert low[1] < low[0]


def test_clusters_count_all_of_their_items():
    """Of 20 clusters of 10 items: Wilson's interval with f (1 - f) / error^2 trials, more than there are clusters."""
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 3, 200)
    rate = np.repeat(rng.choice([0.75, 1], 20), 10)
    predicted = np.where(rng.random(200) < rate, gold, (gold + 1) % 3)[:, None]
    by_item = of_classes(LabelF(), gold, predicted)
    of = ClosedForm(group_by_item(replace(by_item, units=np.repeat(np.arange(20), 10))))
    score, error = of.matrix.observed, standard_errors(influences(of.matrix))
    trials = score * (1 - score) / error**2
    assert 40 < trials[0] < 200
    assert np.array(of.scores()) == pytest.approx(np.array(wilson(score, trials, stats.t.ppf(0.975, 19))), abs=1e-5)


def test_a_constant_difference_has_no_interval():
    values = np.linspace(0.1, 0.7, 20)[:, None] + [0, 0.2, 0]
    of = ClosedForm(of_values(Mean(low=0, high=1), values.round(3)))
    assert np.isnan(of.differences(np.array([0, 0]), np.array([1, 2]))).all()


def test_intervals_of_tests_stay_within_the_differences():
    """The t interval of 1, 1, 1 and 0.2 ends at 0.8 + 0.2 t > 1; one end of a one-sided interval is infinite."""
    values = np.array([[1, 0], [1, 0], [1, 0], [0.2, 0]])
    matrix, reach = of_values(Mean(low=0, high=1), values), 0.2 * stats.t.ppf(0.975, 3)
    (result,) = MatchedT().run(matrix, [(0, 1)], Settings())
    assert (result.ci_low, result.ci_high) == pytest.approx((0.8 - reach, 1))
    assert MatchedT().run(matrix, [(0, 1)], Settings(alternative="greater"))[0].ci_high == np.inf
    (result,) = MatchedT().run(of_values(Mean(), values), [(0, 1)], Settings())
    assert result.ci_high == pytest.approx(0.8 + reach)


def test_intervals_over_runs_stay_within_the_range():
    """Two systems of two runs each on four items, one nearly always right, the other hardly ever."""
    scores = np.array([[[1, 1], [1, 1], [1, 0.4], [1, 1]], [[0, 0], [0, 0.1], [0, 0], [0.3, 0]]])
    runs = tuple(over_one(of, 6) for of in scores)
    matrix = StatisticMatrix(np.stack([of.mean(axis=1) for of in runs], axis=1), quotient_of(ACCURACY),
                             quotient=ACCURACY, runs=runs)
    pair = np.array([0]), np.array([1])
    free, bounded = (ClosedForm(replace(matrix, score_range=of), over="all") for of in (matrix.score_range, (0, 1)))
    assert free.scores().high[0] > 1
    assert free.differences(*pair).high[0] > 1
    assert (bounded.scores().high[0], bounded.scores().low[1], bounded.differences(*pair).high[0]) == (1, 0, 1)


def boards(rng):
    """Random small boards of one metric each, many of them extreme."""
    n, systems = int(rng.integers(2, 25)), 3
    rate = rng.choice([0, 0.02, 0.3, 0.9, 1], systems)
    shape = (n, systems)
    gold = rng.integers(0, 3, n)
    predicted = np.where(rng.random(shape) < rate, gold[:, None], rng.integers(0, 3, shape))
    for metric in (LabelF(), BalancedAccuracy(), MCC(), Kappa()):
        yield metric, of_classes(metric, gold, predicted)
    length = np.broadcast_to(rng.integers(1, 9, (n, 1)), shape)
    hits = rng.binomial(length, rate)
    yield SpanF(), matrix_by(SpanF(), np.stack([hits, length, length], axis=-1))
    yield WER(references=("ref",)), matrix_by(WER(references=("ref",)), np.stack(
        [3 * (length - hits), length], axis=-1))
    yield MAE(), of_values(MAE(), (rng.pareto(0.7, shape) * (rng.random(shape) < rate)).round(4))
    counts = [length + 3, length + 3, hits, *(np.minimum(hits, k) for k in (3, 2, 1))]
    yield BLEU(), matrix_by(BLEU(), np.stack([*counts, *(length + 3 - k for k in range(4))], axis=-1))
    x = np.stack([rng.standard_normal(shape), np.broadcast_to(rng.standard_normal((n, 1)), shape)], axis=-1)
    yield METRICS["Pearson"](), PairMatrix(x, coefficient=PEARSON, score_range=(-1, 1))


def test_no_interval_leaves_the_range():
    """Of 500 boards; a difference of scores between L and U stays between L - U and U - L."""
    rng, checked = np.random.default_rng(3), 0
    a, b = np.triu_indices(3, 1)
    while checked < 500:
        for metric, matrix in boards(rng):
            low, high = metric.score_range
            of = ClosedForm(matrix)
            with np.errstate(all="ignore"):
                ends, apart = np.stack(of.scores()), np.stack(of.differences(a, b))
            inside = np.isnan(ends) | ((ends >= low) & (ends <= high))
            assert inside.all(), (metric, ends)
            assert (np.isnan(apart) | (np.abs(apart) <= high - low)).all(), (metric, apart)
            checked += 1


def test_users_declare_the_range_of_their_scores():
    assert (repr(Mean()), repr(Formula(formula="a/b"))) == ("Mean", 'Formula(formula="a/b")'), "names of old registries"
    assert Mean(low=0, high=10).score_range == (0, 10)
    assert Formula(formula="a/b", low=0).score_range == (0, np.inf)
    with pytest.raises(InputError, match="options of Mean: 'low' is 1, but 'high' is 0; set 'low' below 'high'"):
        Mean(low=1, high=0)
    item = Item("i7", None, {}, 1)
    with pytest.raises(InputError, match="score 11 is outside the declared range, 0 to 10"):
        Mean(low=0, high=10).statistics(item, Answer("i7", 11, 1))


def test_a_score_outside_of_its_range_is_told():
    """A metric of a plugin that declares none, and scores up to 100."""
    matrix = replace(of_values(Mean(), [[37.0, 1.0], [40.0, 0.0]]), score_range=(0, 1))
    assert "a score of 38.5 is outside the range of the metric, 0 to 1" in str(refusal(matrix))
    assert refusal(of_labels(np.eye(4))) is None
