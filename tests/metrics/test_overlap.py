"""Partial credit for spans: by hand, token by token, and the exact metrics where spans match exactly or not at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.items import Answer, Item, Span, Tagged
from registry.metrics import SpanF, SpanOverlapF, SpanOverlapP, SpanOverlapR, SpanP, SpanR

TOKENS = ("x",) * 12


@st.composite
def tagged(draw):
    """Spans that do not overlap, as tags write them."""
    cuts = sorted(draw(st.sets(st.integers(0, 12), max_size=7)))
    types = st.sampled_from(["A", "B"])
    return Tagged(TOKENS, frozenset(Span(a, b, draw(types)) for a, b in zip(cuts[::2], cuts[1::2], strict=False)))


def score(metric, pairs):
    rows = [metric.statistics(Item("i", gold), None if found is None else Answer("i", found)) for gold, found in pairs]
    return float(metric.score(np.sum(rows, axis=0, dtype=float)))


def test_credit_by_hand():
    """Gold A: 0-3 and 6-7; the system's A: 3-5 (1 of 3 tokens is in the gold) and 6-7 (all), and a B that has none."""
    gold = Tagged(TOKENS, frozenset({Span(0, 4, "A"), Span(6, 8, "A")}))
    found = Tagged(TOKENS, frozenset({Span(3, 6, "A"), Span(6, 8, "A"), Span(0, 2, "B")}))
    precision, recall = (1 / 3 + 1 + 0) / 3, (1 / 4 + 1) / 2
    pairs = [(gold, found)]
    assert score(SpanOverlapP(), pairs) == pytest.approx(precision)
    assert score(SpanOverlapR(), pairs) == pytest.approx(recall)
    assert score(SpanOverlapF(), pairs) == pytest.approx(2 * precision * recall / (precision + recall))
    assert score(SpanOverlapP(credit="any"), pairs) == pytest.approx(2 / 3)
    assert score(SpanOverlapR(credit="any"), pairs) == 1
    assert score(SpanOverlapF(credit="any"), pairs) == pytest.approx(4 / 5)
    assert score(SpanOverlapP(type="B"), pairs) == 0


@given(st.lists(st.tuples(tagged(), st.none() | tagged()), min_size=1, max_size=4), st.sampled_from([0.5, 1.0, 2.0]))
def test_credit_is_that_of_the_definition(pairs, beta):
    """Johansson and Moschitti's sums over all pairs of spans: coverage c(s, s') = |s and s'| / |s'|."""
    def coverage(by, of):
        return sum(len(set(range(s.start, s.end)) & set(range(t.start, t.end))) / (t.end - t.start)
                   for s in by for t in of if s.type == t.type)

    sides = [(gold.spans, frozenset() if found is None else found.spans) for gold, found in pairs]
    n_found, n_gold = (sum(len(side[n]) for side in sides) for n in (1, 0))
    precision = sum(coverage(gold, found) for gold, found in sides) / n_found if n_found else np.nan
    recall = sum(coverage(found, gold) for gold, found in sides) / n_gold if n_gold else np.nan
    assert score(SpanOverlapP(), pairs) == pytest.approx(precision, nan_ok=True)
    assert score(SpanOverlapR(), pairs) == pytest.approx(recall, nan_ok=True)
    if n_found and n_gold and precision + recall:
        expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        assert score(SpanOverlapF(beta=beta), pairs) == pytest.approx(expected)


@given(st.lists(st.tuples(tagged(), st.booleans()), min_size=1, max_size=4))
def test_spans_that_match_exactly_or_not_at_all_score_as_exact_ones(answered):
    pairs = [(gold, gold if right else None) for gold, right in answered]
    for overlapping, exact in ((SpanOverlapP, SpanP), (SpanOverlapR, SpanR), (SpanOverlapF, SpanF)):
        for credit in ("share", "any"):
            assert score(overlapping(credit=credit), pairs) == pytest.approx(score(exact(), pairs), nan_ok=True)


spans = st.frozensets(st.builds(lambda start, length, type_: Span(start, start + length, type_),
                                st.integers(0, 9), st.integers(1, 6), st.sampled_from(["A", "B"])), max_size=6)


@given(spans, spans)
def test_positions_that_several_spans_cover_count_once(gold, found):
    """Spans may overlap, and be nested, where a table has them: positions by their sets."""
    def covered(by, span):
        return len({n for s in by if s.type == span.type for n in range(s.start, s.end)}
                   & set(range(span.start, span.end)))

    pairs = [(Tagged((), gold), Tagged((), found))]
    shares = [covered(gold, span) / (span.end - span.start) for span in found]
    assert score(SpanOverlapP(), pairs) == pytest.approx(np.mean(shares) if shares else np.nan, nan_ok=True)
    hits = [covered(found, span) > 0 for span in gold]
    assert score(SpanOverlapR(credit="any"), pairs) == pytest.approx(np.mean(hits) if hits else np.nan, nan_ok=True)


def test_a_span_of_very_many_positions_takes_no_time():
    pairs = [(Tagged((), frozenset({Span(0, 10**9 - 1, "A")})), Tagged((), frozenset({Span(5, 10**9, "A")})))]
    assert score(SpanOverlapP(), pairs) == pytest.approx(1, abs=1e-8)
