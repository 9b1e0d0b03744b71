"""Span precision, recall and F, against counts by hand and the definition of F-beta."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.items import Answer, Item, Span, Tagged
from registry.metrics import SpanF, SpanP, SpanR

spans = st.frozensets(st.builds(lambda start, length, type_: Span(start, start + length, type_),
                                st.integers(0, 5), st.integers(1, 3), st.sampled_from(["A", "B"])), max_size=8)


@pytest.mark.slow
@given(st.lists(st.tuples(spans, st.none() | spans), min_size=1, max_size=6), st.sampled_from([None, "A"]),
       st.sampled_from([0.5, 1.0, 2.0, 0.1]))
def test_scores_are_those_of_the_definition(sentences, type_, beta):
    items = [(Item("i", Tagged((), gold)), None if found is None else Answer("i", Tagged((), found)))
             for gold, found in sentences]
    tp = fp = fn = 0
    for gold, found in sentences:
        gold = {s for s in gold if type_ in (None, s.type)}
        found = {s for s in found or () if type_ in (None, s.type)}
        tp, fp, fn = tp + len(gold & found), fp + len(found - gold), fn + len(gold - found)
    for metric, expected in (
        (SpanP(type=type_), tp / (tp + fp) if tp + fp else np.nan),
        (SpanR(type=type_), tp / (tp + fn) if tp + fn else np.nan),
        (SpanF(type=type_, beta=beta), (1 + beta**2) * tp / ((1 + beta**2) * tp + fp + beta**2 * fn)
         if tp + fp + fn else np.nan),
    ):
        sums = np.sum([metric.statistics(*pair) for pair in items], axis=0, dtype=float)
        assert metric.score(sums) == pytest.approx(expected, nan_ok=True)


def test_a_span_is_right_only_if_all_of_it_is():
    item = Item("i", Tagged(("x",) * 4, frozenset({Span(1, 3, "A")})))
    for wrong in (Span(1, 2, "A"), Span(0, 3, "A"), Span(1, 3, "B")):
        assert SpanF().statistics(item, Answer("i", Tagged(("x",) * 4, frozenset({wrong})))) == (0, 1, 1)
