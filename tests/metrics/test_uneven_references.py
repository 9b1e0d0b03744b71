"""Items with different numbers of references, and silence, score as the official programs do."""

import jiwer
import pytest
import sacrebleu
from rouge_score.rouge_scorer import RougeScorer

import registry
from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics import BLEU, CER, ROUGE, TER, WER, ChrF

SYSTEM = ["the cat sat on a mat", "it rains again today", "we go home now", "stop it"]
REFERENCES = [  # of each item
    ["the cat sat on the mat", "a cat was on a mat"], ["it is raining again"],
    ["we are going home", "we go home at once", "now we go home"], ["stop", "do stop it now"]]
NAMES = ("gold", "b", "c")


@pytest.fixture
def items():
    return [Item(str(n), {name: (texts[k] if k < len(texts) else "") for k, name in enumerate(NAMES)})
            for n, texts in enumerate(REFERENCES)]


def score(metric, items):
    answers = [Answer(item.key, text) for item, text in zip(items, SYSTEM, strict=True)]
    metric.check_gold(items)
    return float(metric.score(metric.corpus_statistics(items, answers).sum(axis=0)))


@pytest.mark.parametrize(("metric", "official"), [
    (BLEU, sacrebleu.metrics.BLEU(force=True)), (BLEU, sacrebleu.metrics.BLEU(force=True, smooth_method="floor")),
    (ChrF, sacrebleu.metrics.CHRF()), (ChrF, sacrebleu.metrics.CHRF(word_order=2)), (TER, sacrebleu.metrics.TER())])
def test_scores_are_sacrebleu_s_where_some_references_are_none(metric, official, items):
    options = {"smooth": "floor"} if getattr(official, "smooth_method", "exp") == "floor" else {}
    options |= {"word_order": 2} if getattr(official, "word_order", 0) else {}
    streams = [[texts[k] if k < len(texts) else None for texts in REFERENCES] for k in range(len(NAMES))]
    expected = official.corpus_score(SYSTEM, streams).score
    assert score(metric(references=NAMES, **options), items) == pytest.approx(expected, rel=1e-12)
    again = [[*texts, *texts[:1] * (3 - len(texts))] for texts in REFERENCES]  # as if one of them were repeated
    repeated = [Item(item.key, dict(zip(NAMES, texts, strict=True))) for item, texts in zip(items, again, strict=True)]
    same = score(metric(references=NAMES, **options), repeated) == pytest.approx(expected, rel=1e-12)
    assert same == (metric is not TER)  # whose reference length is the mean of the references


def test_rouge_is_that_of_the_best_reference_that_there_is(items):
    scorer = RougeScorer(["rouge1"])
    expected = [scorer.score_multi(texts, text)["rouge1"].fmeasure
                for texts, text in zip(REFERENCES, SYSTEM, strict=True)]
    assert score(ROUGE(references=NAMES), items) == pytest.approx(sum(expected) / len(expected))


@pytest.mark.parametrize(("metric", "rate"), [("WER", jiwer.wer), ("CER", jiwer.cer)])
def test_words_in_silence_are_insertions(metric, rate):
    """The rate is jiwer's over the recordings with words, and the insertions by hand."""
    gold = ["turn on the light", "", "stop", "", "set a timer"]
    systems = {"a": ["turn on the lights", "", "stop", "", "set a timer"],
               "b": ["turn on the light", "thanks for watching", "stop", "bye", "set timer"]}
    board = registry.evaluate(gold, systems, metric=metric)
    spoken = [n for n, text in enumerate(gold) if text]
    length = sum(len(gold[n].split()) if metric == "WER" else len(gold[n]) for n in spoken)
    inserted = {"a": 0, "b": 4 if metric == "WER" else len("thanks for watching") + len("bye")}
    for name, texts in systems.items():
        expected = rate([gold[n] for n in spoken], [texts[n] for n in spoken]) + inserted[name] / length
        assert board.scores[name] == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["BLEU", "chrF", "TER", "ROUGE"])
def test_other_metrics_refuse_an_item_without_any_reference(metric):
    with pytest.raises(InputError, match=r"the gold: item '1': the reference is blank, so \w+ is undefined; remove"):
        registry.evaluate(["a b", " "], {"x": ["a", "b"], "y": ["b", "b"]}, metric=metric)


def test_lists_of_different_lengths_are_references_in_python(items):
    """The score is sacrebleu's with None in place of references that are not there."""
    board = registry.evaluate(REFERENCES, {"x": SYSTEM, "y": SYSTEM[::-1]}, metric="BLEU")
    streams = [[texts[k] if k < len(texts) else None for texts in REFERENCES] for k in range(3)]
    assert board.scores["x"] == pytest.approx(sacrebleu.corpus_bleu(SYSTEM, streams, force=True).score)


@pytest.mark.parametrize("n_items", [2, 3, 4])
def test_a_list_for_each_reference_is_refused(n_items):
    """Also where there are as many references as items."""
    golds = [["the cat sat", "a cat was sitting", "cat sat"], ["it rains", "rain falls", "it is raining"],
             ["go home", "we go home now", "home we go"], ["stop", "do stop", "please stop it"]][:n_items]
    system = ["a cat sat", "it rains now", "we go home", "stop it"][:n_items]
    assert registry.evaluate(golds, {"x": system, "y": system[::-1]}, metric="chrF").scores["x"] > 50
    with pytest.raises(InputError, match=r"seem to be one list per reference; pass one list per item"):
        registry.evaluate([list(texts) for texts in zip(*golds, strict=True)], {"x": system, "y": system[::-1]},
                          metric="chrF")


@pytest.mark.parametrize("reader", [WER(), CER()])
def test_a_whole_gold_of_silence_has_no_rate(reader):
    found = reader.corpus_statistics([Item("1", {"gold": ""})], [Answer("1", "a")])
    assert found[0, 0] == 1
    assert found[0, 1] == 0
