"""Yeh's shuffle of responses: every division of small sets, his published example, and what else it must agree with."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from registry.metrics import SpanF, SpanP, SpanR
from registry.significance import Permutation, ResponsePermutation, Settings, StatisticMatrix
from registry.significance.pairwise import permutation as responses
from tests.significance.matrices import of_answers, yehs_relations

ALTERNATIVES = ("two-sided", "greater", "less")
METRICS = {"R": SpanR(), "P": SpanP(), "F1": SpanF(), "F2": SpanF(beta=2)}
PAPER = {"R": 9.756279e-05, "F1": 0.01477569, "P": 0.01999429}


def yeh(metric):
    """Methods I and II on 103 relations (Yeh 2000, section 3.3)."""
    rows = (19 * [(1, 1, 1)] + 28 * [(1, 0, 1)] + 6 * [(0, 1, 1)] + 50 * [(0, 0, 1)]
            + 5 * [(1, 1, 0)] + 43 * [(1, 0, 0)] + 9 * [(0, 1, 0)])
    return of_answers(rows, metric)


def score(metric, rows, side):
    sums = [sum(r[side] * r[2] for r in rows), sum(r[side] for r in rows), sum(r[2] for r in rows)]
    over, under = (sum(c * s for c, s in zip(part, sums, strict=True)) for part in metric.quotient)
    return Fraction(over, under) if under else None


def divided(rows, metric, alternative):
    """The share of all divisions of what only one gives that are as extreme; None where the scores are undefined."""
    def difference(rows):
        a, b = (score(metric, rows, side) for side in (0, 1))
        return None if a is None or b is None else a - b

    observed = difference(rows)
    if observed is None:
        return None
    shared, single = [r for r in rows if r[0] == r[1]], [r for r in rows if r[0] != r[1]]
    turn = {"two-sided": abs, "greater": lambda d: d, "less": lambda d: -d}[alternative]
    moved = [difference(shared + [(to, 1 - to, r[2]) for to, r in zip(share, single, strict=True)])
             for share in itertools.product((0, 1), repeat=len(single))]
    return sum(d is None or turn(d) >= turn(observed) for d in moved) / len(moved)


@settings(max_examples=150)
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=9), st.sampled_from(sorted(METRICS)),
       st.sampled_from(ALTERNATIVES))
def test_agrees_with_every_division(rows, name, alternative):
    found = ResponsePermutation().run(of_answers(rows, METRICS[name]), [(0, 1)], Settings(alternative))[0]
    expected = divided(rows, METRICS[name], alternative)
    if all(a == b for a, b, _ in rows):
        assert found.p_value == 1
    elif expected is None:
        assert math.isnan(found.p_value)
    else:
        assert found.p_value == pytest.approx(expected, rel=1e-12)
        assert found.n_units == sum(a or b for a, b, _ in rows)


@pytest.mark.parametrize("name", ["R", "F1", "P"])
def test_yeh_2000_section_3_3(name):
    """One-sided, and twice it; the lattice of all responses as units gives the same."""
    matrix, pair = yeh(METRICS[name]), (1, 0) if name == "P" else (0, 1)
    one, two = (ResponsePermutation().run(matrix, [pair], Settings(a))[0] for a in ("greater", "two-sided"))
    assert one.p_value == pytest.approx(PAPER[name], rel=1e-6)
    assert two.p_value == pytest.approx(2 * one.p_value, rel=1e-12)
    assert (one.method, one.n_units, one.n_discordant) == ("exact", 110, 86)
    assert Permutation().run(matrix, [pair], Settings())[0].p_value == pytest.approx(two.p_value, rel=1e-12)


@pytest.mark.parametrize("name", ["R", "F1", "P"])
@pytest.mark.parametrize("seed", [1, 2])
def test_random_shuffles_agree_in_two_streams(name, seed):
    """The paper's first check, with its 2^20 shuffles; its own counts for F and P are not within this error."""
    matrix, pair = yeh(METRICS[name]), (1, 0) if name == "P" else (0, 1)
    found = ResponsePermutation(drawn=True).run(matrix, [pair], Settings("greater", resamples=2**20, seed=seed))[0]
    assert abs(found.p_value - PAPER[name]) < 4.5 * math.sqrt(PAPER[name] / 2**20)
    assert found.method == "monte-carlo"
    assert found.p_low < PAPER[name] * 1.05
    published = {"R": 0.00009, "F1": 0.014, "P": 0.025}  # upper bounds, as printed
    assert (found.p_value < 0.05) == (published[name] < 0.05)


def test_recall_is_the_sign_test_of_relations_found_by_one():
    """The paper's second check: 28 and 6."""
    found = ResponsePermutation().run(yeh(SpanR()), [(0, 1)], Settings())[0]
    assert found.p_value == pytest.approx(stats.binomtest(6, 34).pvalue, rel=1e-12)


@pytest.mark.parametrize("name", sorted(METRICS))
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_responses_kept_together_are_permuted_by_unit(name, alternative):
    """By item or cluster it is the exact permutation of those; apart it is not."""
    rng, units = np.random.default_rng(4), np.arange(300) // 4
    givers = rng.permuted(np.tile([1, 0], (75, 1)), axis=1)  # one system gives all of a unit
    rows = np.column_stack([givers[units], rng.integers(0, 2, 300)]).tolist()
    together, apart = of_answers(rows, METRICS[name], units), of_answers(rows, METRICS[name])
    found, permuted, single = (test.run(m, [(0, 1)], Settings(alternative))[0].p_value for test, m in (
        (ResponsePermutation(), together), (Permutation(), together), (ResponsePermutation(), apart)))
    assert found == pytest.approx(permuted, rel=1e-12)
    assert found != pytest.approx(single, rel=0.01)


def test_what_others_give_changes_nothing():
    rows = np.random.default_rng(5).integers(0, 2, (60, 4))
    rows[30:, :2] = 0  # only the third system gives these
    statistics = np.stack([rows[:, :3] * rows[:, 3:], rows[:, :3], np.repeat(rows[:, 3:], 3, axis=1)], axis=-1)
    three = StatisticMatrix(statistics.astype(float), SpanF().score, quotient=SpanF().quotient, family="prf",
                            answers_to=np.arange(60))
    two = three.select_systems([0, 1])
    assert ResponsePermutation().run(three, [(0, 1)], Settings()) == ResponsePermutation().run(
        two, [(0, 1)], Settings())


def test_many_responses_are_drawn(monkeypatch):
    exact = ResponsePermutation().run(yeh(SpanF()), [(0, 1)], Settings())[0]
    monkeypatch.setattr(responses, "MOST", 85)
    drawn = ResponsePermutation().run(yeh(SpanF()), [(0, 1)], Settings(resamples=100_000))[0]
    assert drawn.method == "monte-carlo"
    assert drawn.p_low < exact.p_value < drawn.p_high


def test_what_is_no_response_is_refused():
    accuracy = StatisticMatrix(np.ones((3, 2, 2)), lambda s: s[..., 0] / s[..., 1], quotient=((1, 0), (0, 1)),
                               family="ratio")
    with pytest.raises(ValueError, match="supports only precision, recall and F-scores"):
        ResponsePermutation().run(accuracy, [(0, 1)], Settings())
    assert ResponsePermutation().refusal(yehs_relations([[1, 0], [0, 1]])) is None
