"""Results as columns: the same as single ones, whatever part of them is looked at."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.messages import NO_MESSAGES, Messages
from registry.significance import PairResult
from registry.significance.base import METHODS, NOT_DRAWN, PairResults, Tail, Tails

ONE, OTHER = Messages.make("one-unit"), Messages.make("needs-items", least=4)
numbers = st.floats(-2, 2) | st.just(math.nan)
results = st.builds(
    PairResult, numbers, numbers, numbers, st.sampled_from(["exact", "ideal", "monte-carlo", "asymptotic"]),
    st.integers(0, 9), st.integers(0, 9), numbers, numbers, numbers, numbers, st.none() | st.integers(0, 99), numbers,
    st.sampled_from([-1, 0, 1]), st.sampled_from([NO_MESSAGES, ONE, OTHER]))
tails = st.builds(Tail, st.floats(-800, 0), st.sampled_from(["exact", "monte-carlo"]), coins=st.integers(0, 1100),
                  favours=numbers, messages=st.sampled_from([NO_MESSAGES, ONE, OTHER]),
                  resamples=st.none() | st.just(7))


def columns_of(single):
    """Columns of single results, made one by one."""
    different = list(dict.fromkeys([NO_MESSAGES, *(of.messages for of in single)]))
    coded = {"method": [METHODS.index(of.method) for of in single],
             "messages": [different.index(of.messages) for of in single],
             "resamples": [NOT_DRAWN if of.resamples is None else of.resamples for of in single]}
    whole = {"method": np.uint8, "messages": np.int32, "resamples": np.int64, "n_units": np.int64, "favours": np.int8,
             "n_discordant": np.int64}
    return PairResults(different=tuple(different), **{
        of.name: np.array(coded.get(of.name, [getattr(one, of.name) for one in single]), whole.get(of.name, np.float64))
        for of in fields(PairResult)})


@given(st.lists(results, max_size=6))
def test_columns_give_back_what_they_are_made_of(single):
    columns = columns_of(single)
    assert repr(list(columns)) == repr(single)  # by repr: nan is not equal to itself
    assert columns == columns_of(single)
    assert repr(list(columns[::-1])) == repr(single[::-1])
    assert repr(list(columns[np.arange(len(single)) % 2 == 1])) == repr(single[1::2])


def test_results_that_differ_anywhere_are_not_equal():
    one = PairResult(0.5, 0.25, math.log10(0.25), "exact", 9, 2, messages=ONE)
    for name, other in (("difference", 0.4), ("p_value", math.nan), ("method", "ideal"), ("n_discordant", 3),
                        ("messages", OTHER), ("resamples", 7), ("ci_low", 0.0)):
        assert columns_of([one]) != columns_of([replace(one, **{name: other})])
    assert columns_of([one]) != columns_of([one, one])
    assert columns_of([one]) != [one]


def test_messages_are_equal_by_content_not_by_number():
    first, second = (PairResult(0.0, 1.0, 0.0, "exact", 1, 0, messages=messages) for messages in (ONE, OTHER))
    assert columns_of([first, second])[::-1] == columns_of([second, first])


@given(st.lists(tails, max_size=6), st.lists(tails, max_size=6), st.randoms())
def test_tails_that_are_joined_are_where_they_belong(first, second, random):
    places = random.sample(range(n := len(first) + len(second)), n)
    joined = Tails.join(n, [(np.array(where, dtype=int), Tails.collect(part)) for where, part in (
        (places[:len(first)], first), (places[len(first):], second))])
    for at, tail in zip(places, first + second, strict=True):
        assert repr(Tail(**joined.row(at))) == repr(tail)


@pytest.mark.parametrize(("tail", "p", "log10_p"), [
    (Tail(math.log(0.3), "exact", coins=2), 0.25, math.log10(0.25)),
    (Tail(math.log(0.3), "exact", p=0.375), 0.375, math.log10(0.3)),
    (Tail(-5000.0, "exact", coins=7000), 0.0, -5000 / math.log(10)),
    (Tail(-600.0, "exact", coins=1000), math.exp(-600), -600 / math.log(10)),  # more outcomes than can be counted
    (Tail(math.nan, "monte-carlo", coins=3), math.nan, math.nan),
])
def test_p_values_of_few_coins_are_whole_numbers_of_outcomes(tail, p, log10_p):
    found = [column.item() for column in Tails.collect([tail]).probabilities()]
    assert found == pytest.approx([p, log10_p], rel=1e-15, nan_ok=True)
