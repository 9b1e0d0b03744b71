"""Random runs: every labelling and every resample of small sets, ties, the size of both tests, invariances."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.messages import Messages
from registry.significance import Bootstrap, Execution, Permutation, Settings, StatisticMatrix
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.resampling import draws
from registry.significance.resampling import scores as runs
from tests.significance.matrices import ACCURACY, quotient

ALTERNATIVES = ("two-sided", "greater", "less")
EXTREMITY = {"two-sided": abs, "greater": lambda d: d, "less": lambda d: -d}


def matrix(*systems, quotient_=ACCURACY, score=quotient, **options):
    """A matrix of systems, each [items, runs, columns] with the columns numerator and denominator."""
    of_systems = tuple(np.asarray(system, dtype=float) for system in systems)
    averages = np.stack([system.mean(axis=1) for system in of_systems], axis=1)
    return StatisticMatrix(averages, score, quotient=quotient_, runs=of_systems, **options)


def of_sums(*systems):
    """A matrix of one item, on which every run of a system has these (numerator, denominator)."""
    return matrix(*([system] for system in systems))


def graded(rng, n_items, effects):
    """Systems whose runs have these effects, on items that are as hard for all: scores in whole thousandths."""
    item = rng.normal(0, 1, n_items)[:, None]
    return matrix(*(np.stack([np.rint(1000 * (item + np.asarray(of_system) + rng.normal(0, 0.3, (
        n_items, len(of_system))))), np.ones((n_items, len(of_system)))], axis=-1) for of_system in effects))


def run(test, m, pair=(0, 1), **options):
    return test.run(m, [pair], Settings(**options))[0]


sums_of_runs = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 6)), min_size=2, max_size=4)


@given(sums_of_runs, sums_of_runs, st.sampled_from(ALTERNATIVES))
def test_permutation_equals_all_labellings(a, b, alternative):
    """In fractions: the score of the averages of the runs that are called A's, less that of the others."""
    pooled, extremity = [*a, *b], EXTREMITY[alternative]

    def difference(chosen):
        sides = ([pooled[n] for n in chosen], [r for n, r in enumerate(pooled) if n not in chosen])
        return Fraction.__sub__(*(Fraction(sum(x for x, _ in side), sum(y for _, y in side)) for side in sides))

    observed = extremity(difference(range(len(a))))
    labellings = list(itertools.combinations(range(len(pooled)), len(a)))
    expected = sum(extremity(difference(chosen)) >= observed for chosen in labellings) / len(labellings)
    found = run(Permutation(), of_sums(a, b), alternative=alternative)
    assert found.method == "exact"
    assert found.p_value == (expected if found.n_discordant else 1)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_scores_that_are_no_quotients_are_those_of_averages(alternative):
    """The square of the mean is not the mean of squares, and 2 runs stand against 3."""
    a, b = [3.0, 8.0], [1.0, 4.0, 6.0]
    m = matrix([[[x] for x in a]], [[[x] for x in b]], quotient_=None, score=lambda s: s[..., 0] ** 2)
    extremity = EXTREMITY[alternative]

    def difference(chosen):
        rest = [x for n, x in enumerate(a + b) if n not in chosen]
        return np.mean([(a + b)[n] for n in chosen]) ** 2 - np.mean(rest) ** 2

    reached = [extremity(difference(c)) for c in itertools.combinations(range(5), 2)]
    assert run(Permutation(), m, alternative=alternative).p_value == np.mean(np.array(reached) >= reached[0] - 1e-9)


@pytest.mark.parametrize(("alternative", "p"), [("two-sided", 0.1), ("greater", 0.05), ("less", 1.0)])
def test_so_few_runs_bound_the_p_value_and_the_note_says_so(alternative, p):
    """To the last digit: 0.05 must be significant at 0.05."""
    found = run(Permutation(), of_sums([(9, 10), (8, 10), (7, 10)], [(1, 10), (2, 10), (3, 10)]),
                alternative=alternative)
    assert found.p_value == p
    least = 0.1 if alternative == "two-sided" else 0.05
    assert found.messages == Messages.make("smallest-p-value", runs_a=3, runs_b=3, least=least)
    uneven = run(Permutation(), of_sums([(9, 10), (8, 10)], [(1, 10), (2, 10), (3, 10)]))
    assert (uneven.p_value, uneven.messages) == (0.1, Messages.make("smallest-p-value", runs_a=2, runs_b=3, least=0.1))


def test_ties_count():
    """0.3 - 0.1 is not 0.2 in floats: labellings as far apart as the given one must not be lost."""
    m = of_sums([(3, 10), (1, 10)], [(2, 10), (0, 10)])
    assert run(Permutation(), m, alternative="greater").p_value == 2 / 6
    assert run(Permutation(), of_sums([(1, 2), (3, 4)], [(3, 4), (1, 2)])).p_value == 1


def test_many_runs_are_relabelled_at_random():
    rng = np.random.default_rng(2)
    m = graded(rng, 5, [rng.normal(0.4, 1, 6), rng.normal(-0.4, 1, 5)])
    exact = run(Permutation(), m)
    with mock.patch.multiple(runs, LABELLED=100):
        drawn = run(Permutation(), m, resamples=4000)
    assert (exact.method, drawn.method, drawn.resamples) == ("exact", "monte-carlo", 4000)
    assert abs(drawn.p_value - exact.p_value) < 6 * math.sqrt(exact.p_value * (1 - exact.p_value) / 4000)
    assert str(drawn.messages) == "the smallest possible p-value with 6 and 5 runs is 0.00025"


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_bootstrap_agrees_with_drawing_units_and_runs_one_by_one(alternative):
    """Moves of units (times their own Student's stretch, and n / (n - 1)), and of runs on the drawn units."""
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 9, (6, 5)), rng.integers(2, 12, (6, 7))
    m = matrix(*(np.stack([x, np.ones_like(x)], axis=-1) for x in (a, b)))
    d = a.mean() - b.mean()

    def moved():
        units, stretched = rng.integers(0, 6, 6), 0.0
        of_units = math.sqrt(6 / rng.chisquare(5))
        for x, sign in ((a, 1), (b, -1)):
            n_runs, on_these = x.shape[1], x[units].mean(axis=0)
            drawn = rng.choice(on_these, n_runs - 1).mean() - on_these.mean()
            stretched += sign * (of_units * (on_these.mean() - x.mean())
                                 + math.sqrt((n_runs - 1) / rng.chisquare(n_runs - 1)) * drawn)
        return stretched

    expected = np.mean([EXTREMITY[alternative](moved()) >= EXTREMITY[alternative](d) for _ in range(6000)])
    found = run(Bootstrap(), m, alternative=alternative, resamples=6000)
    assert 0.01 < expected < 0.99
    assert abs(found.p_value - expected) < 6 * math.sqrt(2 * expected * (1 - expected) / 6000)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_dual_interval_leaves_out_0_just_when_the_test_is_significant(alternative):
    m = graded(np.random.default_rng(8), 20, [(0.3, 0.1, 0.4, 0.3, 0.2), (0.0, 0.2, -0.1, 0.1, 0.1)])
    for alpha in (0.01, 0.05, 0.2, 0.5):
        found = run(Bootstrap(), m, alternative=alternative, confidence=1 - alpha, resamples=999)
        assert (found.ci_low > 0 or found.ci_high < 0) == (found.p_value <= alpha)


@pytest.mark.simulation
@pytest.mark.parametrize("test", [Permutation(), Bootstrap()], ids=repr)
def test_the_size_is_that_of_the_training_procedures(test):
    """Runs differ (0.5) far more than items leave open, and both systems are trained alike.

    At 0.05, 5 runs each: 400 sets give a band of 0.05 +- 0.033 (three standard errors), and 200 of 0.05 + 0.046; the
    bootstrap may reject less often, as the error that the runs of either system make is not known to be the same. To
    swap the averages item by item rejects nearly always.
    """
    rng = np.random.default_rng(11)
    rejected = fixed = 0
    sets, low, high = (400, 0.017, 0.083) if isinstance(test, Permutation) else (200, 0.0, 0.096)
    for seed in range(sets):
        m = graded(rng, 30, rng.normal(0, 0.5, (2, 5)))
        rejected += run(test, m, resamples=199, seed=seed).p_value <= 0.05
        fixed += run(test, replace(m, runs=None), resamples=199, seed=seed).p_value <= 0.05 if seed < 40 else 0
    assert low <= rejected / sets <= high
    assert fixed > 0.5 * 40


@pytest.mark.parametrize("test", [Permutation(), Bootstrap()], ids=repr)
def test_nothing_depends_on_blocks_workers_systems_or_their_order(test, monkeypatch):
    monkeypatch.setattr(runs, "LABELLED", 252)  # 5 and 5 runs are tried, others drawn
    rng = np.random.default_rng(3)
    m = graded(rng, 12, [rng.normal(0, 1, n) for n in (5, 5, 6, 7)])
    options = Settings(resamples=700, seed=0)
    full = test.run(m, [(0, 1), (2, 3), (1, 2)], options)
    assert repr(test.run(m.select_systems([2, 1]), [(1, 0)], options)[0]) == repr(full[2])
    assert test.run(m.select_systems([3, 2, 1, 0]), [(3, 2), (1, 0), (2, 1)], options) == full
    monkeypatch.setattr(draws, "_CHUNK", 7)
    alone = Settings(resamples=700, seed=0, execution=Execution(workers=1))
    assert test.run(m.select_systems(range(4)), [(0, 1), (2, 3), (1, 2)], alone) == full
    assert repr(test.run(m, [(1, 2)], Settings(resamples=700, seed=1))[0]) != repr(full[2])


def test_units_are_summed_within_runs():
    rng = np.random.default_rng(4)
    m = graded(rng, 12, [(0.1, 0.2), (0.5, 0.4, 0.6)])
    units = np.arange(12) // 3
    clustered = StatisticMatrix(m.statistics, m.score, units=units, quotient=m.quotient, runs=m.runs).by_unit
    assert [r.shape for r in clustered.runs] == [(4, 2, 2), (4, 3, 2)]
    np.testing.assert_array_equal(clustered.runs[1][2], m.runs[1][6:9].sum(axis=0))
    assert run(Permutation(), clustered).p_value == run(Permutation(), m).p_value


@pytest.mark.parametrize("test", [Permutation(), Bootstrap()], ids=repr)
def test_systems_with_one_run_are_refused_by_their_number(test):
    m = graded(np.random.default_rng(1), 4, [(0, 1), (1,), (0, 2, 1)])
    assert test.refusal(m).startswith("1 of 3 systems has only one run")
    with pytest.raises(ValueError, match="two or more"):
        test.run(m, [(0, 2)], Settings())


@pytest.mark.parametrize("test", [Permutation(studentized=True), Bootstrap(variant="studentized")], ids=repr)
def test_studentized_tests_take_no_random_runs(test):
    m = graded(np.random.default_rng(1), 4, [(0, 1), (0, 2, 1)])
    assert "does not support random runs" in test.refusal(m)
    assert test.refusal(replace(m, runs=None)) is None


def test_few_runs_are_not_drawn_and_permuting_them_speaks_of_these_items():
    m = graded(np.random.default_rng(1), 300, [(0, 1, 2, 3, 4), (0, 1, 2)])
    assert Bootstrap().refusal(m).startswith("1 system has fewer than 5 runs")
    assert Bootstrap().refusal(m.select_systems([0])) is None
    (warning,) = misuses(Permutation(), m)
    assert warning.code == "runs-on-fixed-items"


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.integers(0, 4), st.integers(1, 4)] * 2), min_size=1, max_size=25),
       st.sampled_from([2, 6, 35]), st.sampled_from(ALTERNATIVES))
@settings(max_examples=40)
def test_what_other_systems_runs_make_necessary_changes_no_result(rows, multiple, alternative):
    """All systems' statistics are multiplied by what makes averages whole: to the last bit the same results."""
    statistics = np.array([[[a, d], [b, e]] for a, d, b, e in rows], dtype=float)
    plain, scaled = (StatisticMatrix(statistics * k, quotient, quotient=ACCURACY, multiple=k) for k in (1, multiple))
    options = {"alternative": alternative, "resamples": 300}
    for test in (Permutation(), Bootstrap()):
        assert repr(run(test, scaled, **options)) == repr(run(test, plain, **options))
