"""Acceptance sets: thresholds, n-best lists, and the three rules for ties at the cut-off."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.items import Answer, AnswerSet, Item, Response
from registry.metrics import SetF, SetP, SetR
from registry.metrics.sets import count_accepted, find_accepted, order_ties, sort_best_first

scores_ = st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=12).map(np.array)


@given(scores_, st.integers(1, 15), st.sampled_from(["random", "include", "exclude"]), st.randoms())
def test_every_rule_is_its_definition(scores, n, ties, random):
    order = list(range(len(scores)))
    random.shuffle(order)
    taken = find_accepted(scores, best=n, ties=ties, order=np.array(order, dtype=np.int64))
    better = np.array([(scores > s).sum() for s in scores])
    as_good = np.array([(scores >= s).sum() for s in scores])
    if ties == "include":
        expected = better < n
    elif ties == "exclude":
        expected = as_good <= n
    else:
        before = np.array([sum(o < order[k] for o, s in zip(order, scores, strict=True) if s == scores[k])
                           for k in range(len(scores))], dtype=int)
        expected = better + before < n
        assert taken.sum() == min(n, len(scores))
    assert (taken == expected).all()


@given(scores_.filter(len), st.sampled_from(["random", "include", "exclude"]))
def test_many_cut_offs_at_once_are_each_of_them(scores, ties):
    ranked = scores[sort_best_first(scores, np.arange(len(scores)))]
    sizes = count_accepted(ranked, np.arange(1, len(scores) + 3), ties)
    assert [find_accepted(scores, best=n, ties=ties).sum() for n in range(1, len(scores) + 3)] == list(sizes)


def test_a_threshold_is_reached_by_what_equals_it():
    assert find_accepted(np.array([1.0, 2.0, 3.0]), threshold=2.0).tolist() == [False, True, True]
    assert find_accepted(np.array([1.0, 2.0, 3.0]), threshold=2.0, best=1).tolist() == [False, False, True]
    assert find_accepted(np.array([1.0, 2.0])).all()


def test_the_random_order_is_that_of_documented_digests_and_another_seed_gives_another():
    answers = [(f"i{n}", "true", "") for n in range(50)]
    digests = [hashlib.md5(f"7/{item}/true/".encode()).hexdigest() for item, _, _ in answers]
    places = order_ties(7, answers)
    assert sorted(digests) == [digests[n] for n in np.argsort(places)]
    assert (order_ties(8, answers) != places).any()


def test_the_random_order_of_answers_does_not_depend_on_what_else_there_is():
    answers = [(f"i{n}", "true", "") for n in range(50)]
    assert np.argsort(order_ties(7, answers[::2])).tolist() == [
        n // 2 for n in np.argsort(order_ties(7, answers)) if n % 2 == 0]


@pytest.fixture
def candidates():
    """Four right of six; scores 5 4 3 3 2 1, so the third and fourth are tied."""
    gold = [True, False, True, False, True, True]
    items = [Item(f"i{n}", AnswerSet((Response("true"),) * right)) for n, right in enumerate(gold)]
    answers = [Answer(f"i{n}", AnswerSet((Response("true", score=s),))) for n, s in enumerate([5, 4, 3, 3, 2, 1])]
    return items, answers


@pytest.mark.parametrize(("options", "right", "n"), [
    ({}, 4, 6),
    ({"threshold": 3}, 2, 4),
    ({"best": 3, "ties": "include"}, 2, 4),
    ({"best": 3, "ties": "exclude"}, 1, 2),
    ({"best": 5}, 3, 5),
    ({"best": 5, "threshold": 3.5}, 1, 2),
    ({"best": 100}, 4, 6),
])
def test_metrics_count_what_is_accepted_over_the_whole_test_set(candidates, options, right, n):
    sums = SetF(**options).corpus_statistics(*candidates).sum(axis=0)
    assert sums.tolist() == [right, n, 4]
    assert SetP(**options).score(sums) == right / n
    assert SetR(**options).score(sums) == right / 4


def test_random_ties_accept_exactly_n_and_either_of_the_tied(candidates):
    sums = {tuple(SetP(best=3, seed=seed).corpus_statistics(*candidates).sum(axis=0)) for seed in range(20)}
    assert sums == {(2, 3, 4), (1, 3, 4)}


def test_answers_of_another_type_take_no_place_in_the_list():
    item = Item("i", AnswerSet((Response("x", "T"),)))
    answer = Answer("i", AnswerSet((Response("x", "T", 1.0), Response("y", "U", 2.0))))
    assert SetP(best=1).statistics(item, answer) == (0, 1, 1)
    assert SetP(best=1, type="T").statistics(item, answer) == (1, 1, 1)
    assert SetP(best=1).statistics(item, None) == (0, 0, 1)


def test_answers_without_a_score_cannot_be_ranked():
    item = Item("i", AnswerSet())
    answer = Answer("i", AnswerSet((Response("x"),)))
    for metric in (SetP(best=3), SetP(threshold=0.5)):
        with pytest.raises(InputError, match=r"item 'i': answer 'x' has no score, which SetP\("):
            metric.statistics(item, answer)


@pytest.mark.parametrize("options", [{"ties": "include"}, {"seed": 3}, {"threshold": 1, "ties": "exclude"}])
def test_ties_are_broken_among_the_best_only(options):
    with pytest.raises(InputError, match="options 'ties' and 'seed' of SetP need the option 'best'"):
        SetP(**options)


@pytest.mark.parametrize("options", [{"best": 0}, {"best": -1}, {"threshold": float("nan")}])
def test_a_list_has_one_place_or_more_and_a_threshold_is_finite(options):
    with pytest.raises(InputError, match=f"option '{min(options)}' of SetR"):
        SetR(**options)
