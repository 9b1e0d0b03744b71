"""What every test must do alike: agree with other programs and the papers, and give the same bits however it is run."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from registry.errors import InputError
from registry.parallel import execution
from registry.parallel.execution import Cluster
from registry.significance import (
    OVERALL_TESTS,
    TESTS,
    Bootstrap,
    Execution,
    Fisher,
    McNemar,
    PairTest,
    Permutation,
    Settings,
    StatisticMatrix,
)
from registry.significance.exact.swaps import log_sign_tail
from registry.significance.multiple import adjust_max_t, adjust_min_p, draw_differences
from registry.significance.resampling import screening
from tests.significance.matrices import PRECISION, RECALL, matrix, of_labels, uneven, yehs_relations

ADDITIVE = [name for name, test in TESTS.items() if test.families != ("pair",)]
SPANS = ((2, 0, 0), (0, 1, 1))


def p_of(test, m, alternative="two-sided", pair=(0, 1)):
    return test.run(m, [pair], Settings(alternative))[0].p_value


def test_yehs_randomization_of_responses():
    """Yeh 2000, section 3.3: every response of one method only is as likely to be the other's.

    The exact values are products of two binomials, of 34 relations and 52 spurious responses; the paper's counts of
    2^20 shuffles are upper bounds near them, and its decisions the same (see the project's facts: the counts for F and
    precision are further off than sampling explains).
    """
    a, b = 28 + np.arange(-28, 7), 43 + np.arange(-43, 10)  # what I has of both kinds beside the shared 19 and 5
    weights = np.outer(*(stats.binom.pmf(np.arange(n + 1), n, 0.5) for n in (34, 52)))
    found, spurious = a[:, None], b[None, :]
    i, ii = (19 + found, 5 + spurious), (19 + 34 - found, 5 + 52 - spurious)
    scores = {"recall": [tp / 103 + 0 * fp for tp, fp in (i, ii)], "precision": [tp / (tp + fp) for tp, fp in (i, ii)],
              "f": [2 * tp / (tp + fp + 103) for tp, fp in (i, ii)]}
    for name, quotient, pair, published in (("recall", RECALL, (0, 1), 9.756279e-05), ("f", SPANS, (0, 1), 0.01477569),
                                            ("precision", PRECISION, (1, 0), 0.01999429)):
        difference = scores[name][pair[0]] - scores[name][pair[1]]
        extreme = difference >= difference[28, 43] - 1e-12
        exact = float((weights * extreme).sum())
        assert exact == pytest.approx(published, rel=1e-6)
        assert p_of(Permutation(), yehs_relations(quotient), "greater", pair) == pytest.approx(exact, rel=1e-9)
    assert p_of(Permutation(), yehs_relations(PRECISION)) == pytest.approx(0.03998858, rel=1e-6)
    assert p_of(McNemar(), StatisticMatrix(*_recalled()), "greater") == pytest.approx(9.756279e-05, rel=1e-6)


def _recalled():
    m = of_labels(yehs_relations(RECALL).statistics[:103, :, 0])
    return m.statistics, m.score


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [3, 30, 100, 300])
def test_tails_are_those_of_whole_numbers(exponent):
    """A sum of signed weights 1 to 7, counted in Python's whole numbers, where the tail is about 10^-exponent."""
    weights = np.random.default_rng(exponent).integers(1, 8, 60 + 5 * exponent)
    ways = [1] + [0] * int(weights.sum())
    for weight in weights.tolist():
        ways = [n + (ways[at - weight] if at >= weight else 0) for at, n in enumerate(ways)]
    tails = list(itertools.accumulate(reversed(ways)))[::-1]
    total = 2 ** len(weights)
    at = next(n for n, tail in enumerate(tails) if tail * 10**exponent <= total)
    expected = math.log(tails[at]) - math.log(total)
    assert log_sign_tail(weights, 2 * at - int(weights.sum())) == pytest.approx(expected, abs=1e-9)
    assert expected == pytest.approx(-exponent * math.log(10), abs=5)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_permutation_is_scipys(alternative):
    """All swaps of 10 units by scipy's permutation_test, for a mean and for F1."""
    rng = np.random.default_rng(1)
    for quotient, columns in ((((1, 0), (0, 1)), 2), (SPANS, 3)):
        statistics = rng.integers(1, 4, (10, 2, columns))
        over, under = (np.array(side) for side in quotient)

        def difference(x, y, axis, over=over, under=under):
            sums = (x.sum(axis=axis), y.sum(axis=axis))
            a, b = ((s * over).sum(axis=-1) / (s * under).sum(axis=-1) for s in (np.moveaxis(v, 0, -1) for v in sums))
            return a - b

        def of_units(a, b, axis, statistics=statistics, difference=difference):
            rows = (np.moveaxis(statistics[np.arange(10) * 0 + np.abs(v) % 10, (v >= 10).astype(int)], -1, 0)
                    for v in (a.astype(int), b.astype(int)))
            return difference(*rows, axis=-1)

        found = stats.permutation_test((np.arange(10), np.arange(10) + 10), of_units, permutation_type="samples",
                                       n_resamples=np.inf, alternative=alternative, vectorized=True)
        m = matrix(statistics, quotient) if columns == 2 else StatisticMatrix(
            statistics.astype(float), lambda s, o=over, u=under: (s @ o) / (s @ u), quotient=quotient)
        assert p_of(Permutation(), m, alternative) == pytest.approx(found.pvalue, rel=1e-12)


def degenerate():
    """Matrices at the edges, [items, systems] right or wrong."""
    yield "one item, equal", of_labels([[1, 1]]), 1.0
    yield "one item, different", of_labels([[1, 0]]), None
    yield "all right", of_labels([[1, 1]] * 6), 1.0
    yield "all wrong", of_labels([[0, 0]] * 6), 1.0
    yield "copies", of_labels([[1, 1], [0, 0], [1, 1], [0, 0]]), 1.0
    yield "constant difference", of_labels([[1, 0]] * 6), None
    yield "as many wins as losses", of_labels([[1, 0], [0, 1], [1, 1]]), None
    yield "one of no items", replace(of_labels([[1, 0], [0, 1]]), units=np.array([0, 2])), None  # cluster 1 is empty
    yield "nothing defined", matrix([[[0, 0], [0, 0]], [[0, 0], [0, 0]]]), 1.0
    yield "one undefined", matrix([[[0, 0], [1, 1]], [[0, 0], [1, 1]]]), None


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.parametrize(("edge", "m", "expected"), list(degenerate()), ids=[edge for edge, _, _ in degenerate()])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_degenerate_input_has_a_defined_answer(name, edge, m, expected, alternative):
    """A p-value from 0 to 1, or nan with a reason; identical systems have p = 1. No warning, no exception."""
    test = TESTS[name]()
    if test.refusal(m.by_unit):
        return
    (found,) = test.run(m, [(0, 1)], Settings(alternative, resamples=300))
    if expected is not None:
        assert found.p_value == expected
    assert found.messages if math.isnan(found.p_value) else 0 < found.p_value <= 1


def test_every_option_of_a_test_has_a_default():
    with pytest.raises(TypeError, match="option 'share' of the test Trimmed has no default"):
        class Trimmed(PairTest):
            share: float


@pytest.mark.parametrize("name", ADDITIVE)
def test_k_identical_systems_and_one_system(name):
    m = of_labels(np.array([[1] * 5, [0] * 5, [1] * 5]))
    test = TESTS[name]()
    if not test.refusal(m):
        results = test.run(m, list(itertools.combinations(range(5), 2)), Settings(resamples=200))
        assert [r.p_value for r in results] == [1.0] * 10
        assert list(test.run(m, [], Settings())) == []
        assert test.score_intervals(m.select_systems([0]), Settings(resamples=200)).shape == (1, 2)
    for overall in OVERALL_TESTS.values():
        assert overall().run(m).p_value == 1


def drawn_results(m, execution):
    """Everything that draws, as text to the last bit."""
    pairs, settings = [(0, 1), (2, 1), (0, 3)], Settings(resamples=1500, seed=5, execution=execution)
    drawn = replace(m, quotient=None)
    found = [Permutation().run(drawn, pairs, settings), Bootstrap().run(drawn, pairs, settings),
             Permutation(studentized=True).run(m, pairs, settings), Bootstrap("studentized").run(m, pairs, settings),
             Bootstrap("berg-kirkpatrick-2012").run(drawn, pairs, settings)]
    stepped = [step(draw_differences(drawn, pairs, settings, kind)).adjusted.tolist()
               for kind in ("permutation", "bootstrap") for step in (adjust_min_p, adjust_max_t)]
    return repr([list(of_test) for of_test in found]), stepped, Bootstrap().score_intervals(drawn, settings).tolist()


def fresh():
    return matrix(uneven(7, units=90, systems=4))


def test_threads_and_memory_change_no_bit():
    expected = drawn_results(fresh(), Execution(workers=1))
    assert drawn_results(fresh(), Execution(workers=2)) == expected
    assert drawn_results(fresh(), Execution(workers=2, memory=1)) == expected


def test_processes_change_no_bit(monkeypatch):
    """They look at the pairs, part by part."""
    monkeypatch.setattr(screening, "ENOUGH", 0)
    monkeypatch.setattr(screening, "_AT_ONCE", 1500)
    expected = drawn_results(fresh(), Execution(workers=1, processes=True))
    monkeypatch.setattr(screening, "_answer", None)  # not here
    assert drawn_results(fresh(), Execution(workers=2, processes=True)) == expected


def test_a_cluster_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(execution, "_ANSWER_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"127\.0\.0\.1:9"):
        Bootstrap().run(replace(fresh(), quotient=None), [(0, 1)],
                        Settings(execution=Execution(cluster=Cluster("tcp://127.0.0.1:9"))))


def test_orders_of_systems_and_items_change_no_bit():
    """The first pair of any order of systems; items in another order are drawn otherwise, but exactly the same."""
    m, settings = fresh(), Settings(resamples=700, seed=2)
    turned = m.select_systems([3, 2, 1, 0])
    for test in (Permutation(), Bootstrap(), Permutation(studentized=True)):
        for form in (lambda x: x, lambda x: replace(x, quotient=None)):
            if test.refusal(form(m)) is None:
                assert test.run(form(m), [(0, 2)], settings) == test.run(form(turned), [(3, 1)], settings)
    shuffled = replace(m, statistics=np.random.default_rng(0).permutation(m.statistics))
    assert Permutation().run(shuffled, [(0, 1)], settings) == Permutation().run(m, [(0, 1)], settings)


def test_fisher_is_named_by_its_rule():
    assert [repr(Fisher()), repr(Fisher("doubling"))] == ["fisher", "fisher(rule=doubling)"]


def test_evidence_against_the_difference_is_told():
    """35 units gain an eighth for A, 5 gain 1 for B: the mean is B's, and the units speak for A."""
    units = [[[1.125, 1], [1, 1]]] * 35 + [[[0, 1], [1, 1]]] * 5
    for name in ("sign", "wilcoxon", "rank-sum"):
        (found,) = TESTS[name]().run(matrix(units), [(0, 1)], Settings())
        assert found.difference < 0 < found.favours
        assert found.p_value < 0.01
        assert "worse-system-favoured" in found.messages.codes
    (found,) = Permutation().run(matrix(units), [(0, 1)], Settings())
    assert (found.favours, found.messages.codes) == (-1, ("skewed-differences",))


def test_berg_kirkpatricks_count_of_nothing():
    won, lost = [[1, 1], [0, 1]], [[0, 1], [1, 1]]
    constant, level, equal = [won] * 30, [won, lost] * 15, [[[1, 1], [2, 2]]] * 30
    found = [Bootstrap("berg-kirkpatrick-2012").run(matrix(units), [(0, 1)], Settings(resamples=200))[0]
             for units in (constant, level, equal)]
    assert math.isnan(found[0].p_value)
    assert [f.p_value for f in found[1:]] == [1, 1]


def test_equal_units_of_unequal_statistics_are_equal():
    for name in ADDITIVE:
        test, m = TESTS[name](), matrix([[[1, 1], [2, 2]]] * 5)
        if not test.refusal(m):
            assert test.run(m, [(0, 1)], Settings(resamples=200))[0].p_value == 1
