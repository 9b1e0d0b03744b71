"""Precision, recall and F of sets of answers, against the definition and on spans, where they are the span metrics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.items import Answer, AnswerSet, Item, Response, Span, Tagged
from registry.metrics import METRICS, SetF, SetP, SetR, SpanF, SpanP, SpanR
from registry.values import parse

members = st.frozensets(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["A", "B"])), max_size=8)


@pytest.mark.slow
@given(members, st.none() | members, st.sampled_from([None, "A"]))
def test_sets_are_counted_as_spans_are(gold, found, type_):
    def as_set(pairs):
        return None if pairs is None else AnswerSet(tuple(Response(*pair) for pair in sorted(pairs)))

    def as_spans(pairs):
        return None if pairs is None else Tagged((), frozenset(Span(ord(key), ord(key) + 1, t) for key, t in pairs))

    for on_sets, on_spans in ((SetP, SpanP), (SetR, SpanR), (SetF, SpanF)):
        counted = [metric(type=type_).statistics(Item("i", make(gold)), None if found is None else
                                                 Answer("i", make(found)))
                   for metric, make in ((on_sets, as_set), (on_spans, as_spans))]
        assert counted[0] == counted[1]
        assert on_sets().quotient == on_spans().quotient


def test_an_answer_is_right_if_key_and_type_are_the_golds_whatever_its_score():
    item = Item("i", AnswerSet((Response("x", "A"), Response("y", "A"))))
    answer = Answer("i", AnswerSet((Response("x", "A", -3.0), Response("x", "B", 9.0), Response("z", "A"))))
    assert SetF().statistics(item, answer) == (1, 3, 2)
    assert SetF(type="A").statistics(item, answer) == (1, 2, 2)
    assert SetF().statistics(item, None) == (0, 0, 2)


@pytest.mark.parametrize("name", ["SetP", "SetR", "SetF", "SetF(type=A, beta=2)"])
def test_names_are_terse_and_read_back(name):
    assert repr(parse("metric", METRICS, name)) == name
