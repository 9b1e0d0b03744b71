"""Pairs of which a test is no test of equal scores: found where it errs by simulation, and hardly where it does not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from registry.messages import Message, Messages, on_board
from registry.significance import (
    Bootstrap,
    Bounded,
    Crossed,
    MatchedT,
    PairMatrix,
    Permutation,
    Settings,
    Sign,
    Wilcoxon,
)
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.exchangeability import (
    TOLERATED,
    compute_effective_units,
    find_asymmetric,
    find_non_exchangeable,
    find_skewed,
)
from tests.significance.matrices import F1, in_steps, matrix, of_labels, uneven
from tests.validity.few_clusters import opposed_in_clusters, right_in_clusters
from tests.validity.populations import graded, lopsided, spans, unequal_f1
from tests.validity.populations import skewed as long_tailed
from tests.validity.theory import misjudged_error, swapped_error

RUNS = 200


def told(warning, population):
    """The share of test sets of which it is told."""
    sample = population.sample(np.random.default_rng(1), RUNS)
    a, b = np.array(sample.pairs()).T
    return sum(of.has_evidence.mean() for of in warning(SystemPairs(sample.matrix.by_unit, a, b)))


@pytest.mark.parametrize(("warning", "population", "low", "high"), [
    # of every 100 test sets, as `python -m tests.validity.hits` says of 5,000
    (find_non_exchangeable, unequal_f1(20), 0.8, 0.95), (find_non_exchangeable, unequal_f1(120), 0.95, 1),
    (find_non_exchangeable, spans(20), 0, 0.05), (find_non_exchangeable, spans(120), 0, 0),
    (find_non_exchangeable, spans(120, (0.7, 0.5)), 0, 0.02), (find_non_exchangeable, graded(20), 0, 0),
    (find_skewed, lopsided(50), 0.45, 0.7), (find_skewed, lopsided(1000), 0, 0), (find_skewed, graded(50), 0, 0.02),
    (find_asymmetric, lopsided(200), 0.97, 1), (find_asymmetric, graded(200), 0, 0.1),
    (find_asymmetric, long_tailed(200), 0, 0.1),
    (find_asymmetric, unequal_f1(120), 0, 0),  # no mean: that is told of every pair
], ids=lambda of: getattr(of, "__name__", getattr(of, "name", None)))
def test_what_is_told_of_is_what_errs(warning, population, low, high):
    assert low <= told(warning, population) <= high


def variances(over, under, pair):
    """The variance of a difference of two quotients, and that which swaps give it, one unit after the other."""
    true = swapped = 0.0
    f, g = (over[:, n].sum() / under[:, n].sum() for n in pair)
    d, e = (under[:, n].sum() for n in pair)
    for (n, m), (c, h) in zip(over[:, pair].tolist(), under[:, pair].tolist(), strict=True):
        r, s = n - f * c, m - g * h
        true += (r / d - s / e) ** 2
        swapped += ((r - s) / ((d + e) / 2)) ** 2
    return true, swapped


@pytest.mark.parametrize("seed", range(5))
def test_the_size_of_swaps_is_foreseen_from_both_variances(seed):
    """All pairs at once, as one by one; a size of 6 % at 5 % is the bar."""
    m = matrix(uneven(seed, 30, 8))
    a, b = np.triu_indices(8, 1)
    (warning,) = find_non_exchangeable(SystemPairs(m, a, b))
    true, swapped = np.array([variances(*m.parts, list(pair)) for pair in zip(a, b, strict=True)]).T
    sizes = 2 * stats.norm.cdf(stats.norm.ppf(0.025) * np.sqrt(swapped / true))
    assert (warning.has_evidence == (sizes > TOLERATED)).all()
    (turned,) = find_non_exchangeable(SystemPairs(m, b, a))
    assert (warning.has_evidence == turned.has_evidence).all()
    (some,) = find_non_exchangeable(SystemPairs(m, a[3:9], b[3:9]))  # other systems have no say
    assert (warning.has_evidence[3:9] == some.has_evidence).all()


def test_what_is_foreseen_of_unequal_f1_is_its_size():
    """`size-permutation-unequal-f1` measures 9 %; so says the theory to first order, and the rule is that theory."""
    assert 0.08 < misjudged_error(swapped_error(unequal_f1(120))) < 0.1


def test_the_excess_of_skewed_differences_is_that_of_t():
    """Hall 1992: gamma^2 (x^4 + 2 x^2 - 3) / 18 n of an expansion that is right for t: 5.5 % of 200 exponentials."""
    x = stats.norm.ppf(0.975)
    excess = 2 * x * stats.norm.pdf(x) * 2**2 * (x**4 + 2 * x**2 - 3) / (18 * 200)
    assert 0.004 < excess < 0.006  # `size-t-lopsided`, `size-permutation-lopsided`: 0.05 and this, to 0.01
    found = []
    for units in (20, 60, 70, 80, 90, 400):
        drawn = stats.expon.ppf((np.arange(units) + 0.5) / units)
        gamma = stats.skew(drawn)
        (warning,) = find_skewed(SystemPairs.every(matrix(in_steps(np.stack([drawn, np.zeros(units)], axis=-1)))))
        assert warning.has_evidence[0] == (excess * 200 / units * (gamma / 2) ** 2 > TOLERATED - 0.05), units
        found.append(warning.has_evidence[0])
    assert set(found) == {True, False}


@pytest.mark.parametrize(("losses", "noted"), [(3, False), (4, False), (5, True)])
def test_a_few_losses_beside_ties_are_no_evidence(losses, noted):
    """All signs agree by chance in 25, 12.5 and 6.25 % of 3, 4 and 5 units: more than 10 % is chance."""
    scores = np.stack([np.where(np.arange(40) < losses, 0.5, 1), np.ones(40)], axis=-1)
    scores[0, 0] = 0.51  # losses of one size are right or wrong answers, whose test always holds
    (warning,) = find_skewed(SystemPairs.every(matrix(in_steps(scores))))
    assert warning.where.all()
    assert warning.has_evidence.all() == noted


def test_of_one_side_the_excess_is_of_first_order():
    """Hall 1992: gamma (2 x^2 + 1) phi(x) / (6 sqrt n): of 500 exponentials 6 % at 5 %, and of 80 two-sided."""
    x = stats.norm.ppf(0.95)
    for units in (300, 400, 500, 600):
        drawn = stats.expon.ppf((np.arange(units) + 0.5) / units)
        excess = stats.skew(drawn) * (2 * x**2 + 1) * stats.norm.pdf(x) / (6 * np.sqrt(units))
        m = matrix(in_steps(np.stack([drawn, np.zeros(units)], axis=-1)))
        (warning,) = find_skewed(SystemPairs.every(m), one_sided=True)
        assert warning.has_evidence[0] == (excess > TOLERATED - 0.05) == (units < 450), units


def test_averages_over_runs_that_are_skewed_over_items_are_told_of_where_items_are_random():
    runs = np.stack([np.stack([np.append(np.full(4, 1.0), np.full(36, -0.1)), np.zeros(40)], axis=1)] * 3, axis=2)
    statistics = in_steps(runs + 0.01 * np.random.default_rng(0).normal(size=runs.shape))  # [items, systems, runs, 2]
    m = replace(matrix(statistics.mean(axis=2)), runs=tuple(np.moveaxis(statistics, 1, 0)))
    notes = [Crossed(over).run(m, [(0, 1)], Settings())[0].messages.codes for over in ("all", "items", "runs")]
    assert ["skewed-items" in note for note in notes] == [True, True, False]
    assert on_board(Message("skewed-items"), 1, 1) in misuses(Crossed(), m)


def test_identical_systems_and_right_or_wrong_ones_are_none_of_them():
    statistics = uneven(1, 40, 2)
    same = matrix(np.stack([statistics[:, 0]] * 2, axis=1))
    for rule in (find_non_exchangeable, find_skewed, find_asymmetric):
        assert not any(of.has_evidence.any() for of in rule(SystemPairs.every(same)))
    labels = of_labels(np.random.default_rng(1).random((40, 2)) < [0.95, 0.1])
    for test in (Permutation(), Sign(), Wilcoxon(), MatchedT()):
        assert not any(said.code == "not-exchangeable" or "skewed" in said.code for said in misuses(test, labels))


@pytest.mark.parametrize("seed", range(40))
def test_what_differs_by_rounding_alone_is_none_of_them(seed):
    """One system gains as much in every unit as in all, another is the first one twice as long: nothing is skewed."""
    rng = np.random.default_rng(seed)
    under = rng.integers(1, 5, 6)
    over, times = rng.integers(0, 5, 6), rng.integers(1, 50)
    systems = [(over, under), (over + under, under), (2 * over, 2 * under), (3 * under, under), (3 * under, 7 * under)]
    pairs = SystemPairs.every(matrix(np.transpose(systems, (2, 0, 1)) * times))
    one_sided = find_skewed(pairs, one_sided=True)
    assert not [of for of in (*find_non_exchangeable(pairs), *find_skewed(pairs), *one_sided, *find_asymmetric(pairs))
                for pair in ((0, 1), (0, 2), (1, 2), (3, 4))
                if of.has_evidence[(pairs.a == pair[0]) & (pairs.b == pair[1])].any()]


def test_a_pair_and_its_board_have_the_warning():
    sample = unequal_f1(60).sample(np.random.default_rng(3), 1)
    plain, studentized = (test.run(sample.matrix, [(0, 1)], Settings(resamples=99))[0]
                          for test in (Permutation(), Permutation(studentized=True)))
    assert plain.messages.codes == ("not-exchangeable",)
    assert studentized.messages.codes == ()
    assert misuses(Permutation(), sample.matrix) == [on_board(Message("not-exchangeable"), 1, 1)]
    seldom_by_much = np.append(np.full(4, 1.0), np.linspace(-0.15, -0.05, 36))
    uneven_scores = matrix(in_steps(np.stack([seldom_by_much, np.zeros(40)], axis=-1)))
    codes = [test.run(uneven_scores, [(0, 1)], Settings(resamples=99))[0].messages.codes
             for test in (Permutation(), MatchedT(), Bootstrap(), Wilcoxon(), Bootstrap("studentized"))]
    assert codes[:3] == [("skewed-differences",)] * 3
    assert "asymmetric-differences" in codes[3]
    assert codes[4] == ("skewed-differences",)  # it errs as often, in samples without any of the large losses
    bounded = replace(uneven_scores, score_range=(-1, 1))
    skewed_bounded = Messages.make("skewed-differences", use="bounded")
    assert Permutation().run(bounded, [(0, 1)], Settings())[0].messages == skewed_bounded
    assert Bounded().run(bounded, [(0, 1)], Settings())[0].messages.codes == ()
    many = replace(uneven_scores, statistics=np.tile(np.asarray(uneven_scores.statistics), (5, 1, 1)))
    found = {of.message for test in (Permutation(), Bootstrap()) for of in test.pair_warnings(SystemPairs.every(many))
             if "skewed" in of.message.code}
    assert found == {Message("skewed-differences", {"use": "bootstrap(variant=studentized)"})}


@pytest.mark.parametrize(("population", "low", "high"), [
    (opposed_in_clusters(12, (100, *(2,) * 11)), 0.5, 1), (right_in_clusters(12, (100, *(2,) * 11)), 0, 0),
    (opposed_in_clusters(12, (5,)), 0, 0)])
def test_studentized_swaps_are_told_of_where_one_cluster_has_most_items_and_systems_are_unlike(population, low, high):
    sample = population.sample(np.random.default_rng(2), 40)
    a, b = np.array(sample.pairs()).T
    pairs = SystemPairs(sample.matrix.by_unit, a, b)
    found = [of.has_evidence for of in Permutation(studentized=True).pair_warnings(pairs)
             if of.message.code == "uneven-units-studentized"]
    assert low <= np.any([*found, np.zeros(40, dtype=bool)], axis=0).mean() <= high


def test_units_of_unequal_weight_tell_no_more_than_few_equal_ones():
    """(1 + 1 + 1 + 5)^2 / (1 + 1 + 1 + 25) = 16 / 7."""
    row = np.array([[1, 1], [1, 1], [1, 1], [3, 5.0]])
    assert compute_effective_units(matrix(np.stack([row, row], axis=1))) == pytest.approx(16 / 7)
    assert compute_effective_units(replace(matrix(np.ones((9, 2, 3)), F1))) == 9
    no_quotient = replace(matrix(np.ones((8, 2, 3)), None), units=np.array([0, 1, 2, 3, 3, 3, 3, 3]))
    assert compute_effective_units(no_quotient) == pytest.approx(16 / 7)  # clusters of 1, 1, 1 and 5 items
    assert compute_effective_units(PairMatrix(np.ones((8, 2, 2)), units=no_quotient.units)) == pytest.approx(16 / 7)
    assert compute_effective_units(PairMatrix(np.ones((8, 2, 2)))) == 8
    roots = replace(no_quotient, statistics=np.stack([np.arange(16).reshape(8, 2) ** 2, np.ones((8, 2))], axis=-1),
                    family="ratio", units=None)
    assert compute_effective_units(roots) == 8  # squared errors are no weights
