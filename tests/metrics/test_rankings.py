"""Measures of ranked documents, against trec_eval (by pytrec_eval), gdeval, and by hand."""

import math
import subprocess
import sys

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics import (
    AP,
    ERR,
    METRICS,
    NDCG,
    RR,
    Bpref,
    ElevenPoint,
    GeometricMeanAP,
    InterpolatedPrecision,
    P,
    RecallAt,
    RelevantRetrieved,
    RPrecision,
    SetAP,
    SetFBeta,
    SetPrecision,
    SetRecall,
    SetRelativePrecision,
    Success,
)
from registry.values import parse
from tests.needs import need

OFFICIAL = [
    (P(cutoff=5), "P_5"), (P(cutoff=10), "P_10"), (AP(), "map"), (AP(cutoff=5), "map_cut_5"), (NDCG(), "ndcg"),
    (NDCG(cutoff=5), "ndcg_cut_5"), (RR(), "recip_rank"), (RPrecision(), "Rprec"), (Bpref(), "bpref"),
]
OF_SETS = [
    (RecallAt(cutoff=5), "recall_5"), (RecallAt(cutoff=100), "recall_100"), (Success(cutoff=1), "success_1"),
    (Success(cutoff=5), "success_5"), (SetPrecision(), "set_P"), (SetRecall(), "set_recall"), (SetFBeta(), "set_F"),
    (SetAP(), "set_map"), (SetRelativePrecision(), "set_relative_P"), (ElevenPoint(), "11pt_avg"),
    (InterpolatedPrecision(recall=0.2), "iprec_at_recall_0.20"), (RelevantRetrieved(), "num_rel_ret"),
    (GeometricMeanAP(), "gm_map"),
]
documents = [f"d{n:02}" for n in range(12)]
judged = st.dictionaries(st.sampled_from(documents), st.integers(-2, 4), min_size=1)
ranked = st.dictionaries(st.sampled_from(documents), st.sampled_from([0.0, 0.5, 1.0, 1.5, -3.0]))


def scores(metric, golds, runs):
    """One score per query, {query: score}."""
    items = [Item(query, gold) for query, gold in golds.items()]
    found = metric.corpus_statistics(items, [Answer(q, runs[q]) if q in runs else None for q in golds])
    assert (found[:, 1] == (metric.cutoff if isinstance(metric, P) else 1)).all()
    return dict(zip(golds, found[:, 0] / found[:, 1], strict=True))


@given(st.dictionaries(st.sampled_from("xyz"), st.tuples(judged, st.none() | ranked), min_size=1), st.integers(1, 9))
def test_precision_keeps_what_it_counts(queries, cutoff):
    """The relevant ones of the first documents, which go by score and then by name, backwards."""
    items = [Item(query, gold) for query, (gold, _) in queries.items()]
    found = P(cutoff=cutoff).corpus_statistics(items, [Answer(q, run) if run else None
                                                       for q, (_, run) in queries.items()])
    for (hits, first), (gold, run) in zip(found, queries.values(), strict=True):
        order = sorted(run or {}, key=lambda name, of=run: (of[name], name), reverse=True)
        assert (hits, first) == (sum(gold.get(name, 0) > 0 for name in order[:cutoff]), cutoff)


@given(st.dictionaries(st.sampled_from("xyz"), st.tuples(judged, st.none() | ranked), min_size=1))
def test_trec_evals_measures_query_by_query(queries):
    compare(OFFICIAL, queries)


def compare(measures, queries):
    """Score all queries by metrics, and by pytrec_eval's measures of these names."""
    golds = {query: gold for query, (gold, _) in queries.items()}
    runs = {query: run for query, (_, run) in queries.items() if run}
    pool = {q: {d: grade for d, grade in gold.items() if grade >= 0} for q, gold in golds.items()}
    official = pytrec_eval.RelevanceEvaluator(pool, {name for _, name in measures}).evaluate(runs)
    for metric, name in measures:
        assert scores(metric, golds, runs) == {
            q: official[q][name] if q in official else worst(name) for q in golds}, name


def worst(name):
    """What a query without results counts: of a geometric mean the logarithm of the least average precision."""
    return math.log(1e-5) if name == "gm_map" else 0.0


def test_trec_evals_program_gives_the_same_from_files(tmp_path):
    """Reader and metrics together, against pytrec_eval on what its own parsers read, ties and ranks included."""
    from registry.readers import Document, Trec

    rng = np.random.default_rng(0)
    qrels = "".join(f"{q} 0 d{d} {rng.integers(0, 3)}\n" for q in range(1, 9) for d in range(0, 60, 2))
    run = "".join(f"{q} Q0 d{d} {rng.integers(1, 99)} {rng.integers(0, 9) / 8} t\n" for q in range(1, 8)
                  for d in rng.permutation(60)[:40])
    golds = {i.key: i.gold for i in Trec().read_gold({"gold": Document("f", qrels.encode())})}
    runs = {a.key: a.value for a in Trec().read_answers(Document("f", run.encode()))}
    official = pytrec_eval.RelevanceEvaluator(
        pytrec_eval.parse_qrel(qrels.splitlines()), {name for _, name in OFFICIAL}).evaluate(
        pytrec_eval.parse_run(run.splitlines()))
    assert len(official) == 7
    for metric, name in OFFICIAL:
        assert scores(metric, golds, runs) == {q: official[q][name] if q in official else 0.0 for q in golds}, name


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from("xyz"), st.tuples(judged, st.none() | ranked), min_size=1))
def test_trec_evals_measures_of_what_is_retrieved(queries):
    compare(OF_SETS, queries)


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from("xyz"), st.tuples(judged, ranked.filter(bool)), min_size=1))
def test_relevance_starts_where_it_is_said_to(queries):
    """trec_eval -l 2, of what has no grade beyond that; at recalls and betas of one's own; and RR at a cut-off."""
    golds = {query: {name: max(grade, 0) for name, grade in gold.items()} for query, (gold, _) in queries.items()}
    runs = {query: run for query, (_, run) in queries.items()}
    binary = {query: {name: int(grade >= 2) for name, grade in gold.items()} for query, gold in golds.items()}
    for metric, name in ((RecallAt(cutoff=3, rel=2), "recall_3"), (SetRecall(rel=2), "set_recall"),
                         (SetFBeta(beta=2.0, rel=2), "set_F_4.0"), (ElevenPoint(rel=2), "11pt_avg"),
                         (InterpolatedPrecision(recall=0.25, rel=2), "iprec_at_recall_0.25")):
        official = pytrec_eval.RelevanceEvaluator(binary, {name}).evaluate(runs)
        assert scores(metric, golds, runs) == {q: next(iter(of.values())) for q, of in official.items()}, name
    whole = scores(RR(), golds, runs)
    assert scores(RR(cutoff=2), golds, runs) == {q: score if score >= 1 / 2 else 0 for q, score in whole.items()}


HAND = {"q": {"a": 2, "b": 0, "c": 1, "d": 1, "e": 0}}  # c, b, a, x in this order: ties go by name, backwards
RUN = {"q": {"a": 0.5, "b": 1.0, "c": 1.0, "x": 0.25}}


@pytest.mark.parametrize(("metric", "expected"), [
    (P(cutoff=2), 1 / 2), (P(cutoff=10), 2 / 10), (P(cutoff=3, rel=2), 1 / 3), (AP(), (1 + 2 / 3) / 3),
    (AP(rel=2), 1 / 3), (RR(), 1), (RR(rel=2), 1 / 3), (RPrecision(), 2 / 3),
    (NDCG(), (1 + 2 / math.log2(4)) / (2 + 1 / math.log2(3) + 1 / math.log2(4))),
    (NDCG(gain="exponential"), (1 + 3 / math.log2(4)) / (3 + 1 / math.log2(3) + 1 / math.log2(4))),
    (NDCG(cutoff=2), 1 / (2 + 1 / math.log2(3))),
    (Bpref(), (1 + (1 - 1 / 2)) / 3), (RecallAt(cutoff=2), 1 / 3), (RecallAt(cutoff=9, rel=2), 1),
    (Success(cutoff=1, rel=2), 0), (SetPrecision(), 2 / 4), (SetRecall(), 2 / 3), (SetAP(), 1 / 3),
    (SetFBeta(beta=2.0), 5 * 1 / 3 / (4 * 1 / 2 + 2 / 3)), (SetRelativePrecision(), 2 / 3), (RelevantRetrieved(), 2),
    (InterpolatedPrecision(recall=0.5), 2 / 3), (RR(rel=2, cutoff=2), 0),
    (ERR(), 1 / 16 + 15 / 16 * 3 / 16 / 3), (ERR(cutoff=2), 1 / 16), (ERR(max_rel=2), 1 / 4 + 3 / 4 * 3 / 4 / 3),
])
def test_by_hand(metric, expected):
    assert scores(metric, HAND, RUN) == {"q": pytest.approx(expected, rel=1e-6)}


def test_a_geometric_mean_is_that_of_single_queries():
    golds, runs = {"x": {"a": 1}, "y": {"a": 1}, "z": {"a": 1}}, {"x": {"a": 1.0}, "y": {"b": 2.0, "a": 1.0}}
    rows = GeometricMeanAP().corpus_statistics([Item(q, gold) for q, gold in golds.items()],
                                               [Answer(q, runs[q]) if q in runs else None for q in golds])
    assert GeometricMeanAP().score(rows.sum(axis=0)) == pytest.approx((1 * 0.5 * 1e-5) ** (1 / 3))


def test_a_query_without_results_counts_0_and_one_without_relevant_documents_too():
    golds = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
    runs = {"q1": {"a": 1.0}, "q3": {"a": 1.0}}
    for metric in (P(cutoff=1), AP(), NDCG(), RR(), RPrecision(), Bpref(), ERR(max_rel=1)):
        found = scores(metric, golds, runs)
        assert found["q1"] > 0
        assert (found["q2"], found["q3"]) == (0, 0)
        assert metric.statistics(Item("q2", golds["q2"]), None) == (0, 1)


def test_documents_of_negative_relevance_are_as_not_judged():
    """Where there are no others pytrec_eval, asked itself, writes beyond its arrays."""
    for metric, _ in (*OFFICIAL, (ERR(), "err")):
        assert scores(metric, {"q": {"a": -1, "b": -2}}, {"q": {"a": 1.0, "b": 0.5}}) == {"q": 0}
    golds, runs = {"q": {"a": 1, "junk": -1, "off": 0}}, {"q": {"junk": 2.0, "a": 1.0, "off": 0.5}}
    assert scores(Bpref(), golds, runs) == {"q": 1}
    assert scores(RR(), golds, runs) == {"q": 1 / 2}


def test_expected_reciprocal_rank_and_exponential_gain_as_gdeval_has_them(tmp_path):
    """TREC's own script, which ir-measures carries; it prints five decimals."""
    need("perl")
    from ir_measures import bin as scripts

    rng = np.random.default_rng(1)
    golds = {str(q): {f"d{d}": int(rng.integers(-2, 5)) for d in range(40)} for q in range(1, 9)}
    runs = {q: {f"d{d}": float(rng.integers(0, 9)) for d in rng.permutation(60)[:30]} for q in golds}
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {r}\n" for q, of in golds.items() for d, r in of.items()))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {s} tag\n" for q, of in runs.items() for d, s in of.items()))
    script = next(iter(scripts.__path__)) + "/gdeval.pl"
    done = subprocess.run(["perl", script, tmp_path / "qrels", tmp_path / "run", "20"], capture_output=True, text=True,
                          check=True)
    printed = {row[1]: (row[2], row[3]) for row in (line.split(",") for line in done.stdout.split()[1:])}
    of_err = scores(ERR(cutoff=20), golds, runs)
    of_ndcg = scores(NDCG(cutoff=20, gain="exponential"), golds, runs)
    assert printed == {q: (f"{of_ndcg[q]:.5f}", f"{of_err[q]:.5f}") for q in golds}


@pytest.mark.parametrize(("metric", "says"), [
    (ERR(), r"item 'q': a relevance is 5, but ERR supports at most 4"),
    (NDCG(gain="exponential"), "supports at most 16"),
])
def test_judgments_that_a_measure_does_not_take_are_refused(metric, says):
    golds = {"q": {"a": 5 if metric.name == "ERR" else 17}}
    with pytest.raises(InputError, match=says):
        scores(metric, golds, {"q": {"a": 1.0}})


def test_wrong_options_and_names():
    with pytest.raises(InputError, match="P needs the option 'cutoff'"):
        P.build({})
    with pytest.raises(InputError, match="option 'cutoff' of P is 0; expected 1 or more"):
        P(cutoff=0)
    for metric, _ in OFFICIAL:
        assert parse("metric", METRICS, repr(metric)) == metric


def test_without_ir_measures_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(InputError, match=r"AP needs the package ir-measures; run pip install 'evalregistry\[ir\]'"):
        scores(AP(), HAND, RUN)
    assert scores(ERR(), HAND, RUN)["q"] > 0
