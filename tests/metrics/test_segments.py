"""BLEU, chrF and TER: the vectorized scores are sacrebleu's, also of sums of resampled segments."""

import sys

import numpy as np
import pytest
import sacrebleu
import sacrebleu.metrics
from hypothesis import given
from hypothesis import strategies as st

import registry
from registry.errors import InputError, RegistryError
from registry.items import Answer, Item
from registry.metrics import BLEU, TER, ChrF

WORDS = ["the", "cat", "sat", "on", "a", "mat", ".", "Cat", "mats", "žluťoučký", "kůň", "x"]
segments = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
corpora = st.lists(st.tuples(segments, segments.filter(bool), segments.filter(bool)), min_size=1, max_size=6)

METRICS = [
    (BLEU(references=("A", "B")), lambda refs: sacrebleu.metrics.BLEU(references=refs)),
    (BLEU(references=("B",), smooth="floor", lowercase=True),
     lambda refs: sacrebleu.metrics.BLEU(references=refs, smooth_method="floor", lowercase=True)),
    (BLEU(references=("A",), smooth="add-k", tokenize="char"),
     lambda refs: sacrebleu.metrics.BLEU(references=refs, smooth_method="add-k", tokenize="char")),
    (BLEU(references=("A",), smooth="none"),
     lambda refs: sacrebleu.metrics.BLEU(references=refs, smooth_method="none")),
    (ChrF(references=("A", "B")), lambda refs: sacrebleu.metrics.CHRF(references=refs)),
    (ChrF(references=("B", "A"), word_order=2), lambda refs: sacrebleu.metrics.CHRF(references=refs, word_order=2)),
    (ChrF(references=("A",), char_order=3, beta=1.0),
     lambda refs: sacrebleu.metrics.CHRF(references=refs, char_order=3, beta=1)),
    (TER(references=("A", "B")), lambda refs: sacrebleu.metrics.TER(references=refs)),
]


def aligned(corpus):
    items = [Item(str(n), {"A": a, "B": b}) for n, (_, a, b) in enumerate(corpus)]
    return items, [Answer(str(n), text) for n, (text, _, _) in enumerate(corpus)]


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "peer"), METRICS, ids=lambda m: repr(m) if not callable(m) else "")
@given(corpora)
def test_the_score_of_the_sums_is_sacrebleu_s(metric, peer, corpus):
    items, answers = aligned(corpus)
    references = [[item.gold[name] for item in items] for name in metric.references]
    expected = peer(references).corpus_score([a.value for a in answers], None).score
    sums = metric.corpus_statistics(items, answers).sum(axis=0)
    assert metric.score(sums) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    stacked = np.stack([sums, 0 * sums, 3 * sums])
    assert metric.score(stacked)[0] == metric.score(sums)


@pytest.mark.parametrize(("metric", "peer"), [
    *METRICS,
    (TER(references=("A",), normalized=True, no_punct=True, case_sensitive=True),
     lambda refs: sacrebleu.metrics.TER(references=refs, normalized=True, no_punct=True, case_sensitive=True)),
    (ChrF(references=("A",), beta=0.5, lowercase=True, whitespace=True),
     lambda refs: sacrebleu.metrics.CHRF(references=refs, beta=0.5, lowercase=True, whitespace=True)),
], ids=lambda m: repr(m) if not callable(m) else "")
def test_the_signature_is_sacrebleu_s(metric, peer):
    expected = peer([["the cat"] for _ in metric.references])
    name = expected.corpus_score(["the cat"], None).name
    assert f"{metric.signature}|version:{sacrebleu.__version__}" == f"{name}|{expected.get_signature()}"


def test_no_answer_is_an_empty_one():
    items, _ = aligned([("", "the cat", "a cat")])
    for metric, _ in METRICS:
        assert (metric.corpus_statistics(items, [None]) == metric.corpus_statistics(items, [Answer("0", "")])).all()
        assert metric.statistics(items[0], None) == tuple(metric.corpus_statistics(items, [None])[0])


@pytest.mark.parametrize("options", [{"references": []}, {"references": ["A", "A"]}, {"beta": -1}, {"beta": 1e200}])
def test_options_that_make_no_metric_are_refused(options):
    with pytest.raises(InputError, match="option"):
        ChrF.build(options)


def test_ter_without_reference_words_is_sacrebleu_s():
    items, answers = aligned([("x", "...", "!!")])
    metric = TER(references=("A",), no_punct=True)
    peer = sacrebleu.metrics.TER(no_punct=True, references=[["..."]])
    sums = metric.corpus_statistics(items, answers).sum(axis=0)
    assert metric.score(sums) == peer.corpus_score(["x"], None).score


def test_a_missing_package_of_a_metric_is_one_message_that_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(RegistryError) as raised:
        registry.evaluate(["a b c d"] * 4, {"x": ["a b c d"] * 4}, metric="BLEU(tokenize=char)")
    assert "BLEU needs the package sacrebleu; run pip install 'evalregistry[mt]'" in str(raised.value)
