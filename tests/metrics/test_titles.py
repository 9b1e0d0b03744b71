"""What people call metrics, beside their canonical names."""

import pytest

from registry.boards.leaderboard import make_board_title
from registry.metric_names import metric_label
from registry.metrics import METRICS
from registry.values import parse
from tests.required_options import REQUIRED


@pytest.mark.parametrize(("name", "called"), [
    ("SpanF", "F1"), ("SpanF(type=PER, beta=0.5, match=exact)", "F0.5 of PER (match=exact)"),
    ("LAS", "labelled attachment score"), ("UAS(part=recall)", "unlabelled attachment score, recall"),
    ("BLEU(references=[A, B])", "BLEU (references=[A, B])"), ("chrF(word_order=2)", "chrF++"),
    ("nDCG(cutoff=10)", "nDCG@10"), ("AP(rel=2)", "MAP (rel=2)"), ("LabelF", "macro-F1"),
    ("Mean(better=lower)", "mean score"), ('Formula(formula="tp / gold")', "tp / gold"),
    ("Recorded(of=SpanF, columns=[a, b, c])", "F1")])
def test_titles_are_words_and_the_options_that_are_not_as_by_default(name, called):
    assert parse("metric", METRICS, name).title == called


def test_every_metric_has_words():
    built = {name: metric.build(REQUIRED.get(name, {})) for name, metric in METRICS.items()}
    assert not [name for name, metric in built.items() if not metric.format_name()[0] and metric.original is metric
                and metric.title == repr(metric)]


@pytest.mark.parametrize(("alias", "name", "declared", "shown", "label"), [
    ("span_f1", "SpanF(type=none, beta=1)", None, "span_f1 = F1", "span_f1"),
    ("f1", "SpanF(type=none, beta=1)", None, "F1", "F1"), ("SpanF", "SpanF(type=none, beta=1)", None, "F1", "F1"),
    ("bleu", "BLEU(references=[A, B])", None, "BLEU (references=[A, B])", "BLEU"),
    ("LAS", "LAS", None, "labelled attachment score", "LAS"), ("WER", "WER", None, "word error rate", "WER"),
    ("LabelF", "LabelF", None, "macro-F1", "macro-F1"), ("SetP", "SetP", None, "precision", "precision"),
    ("comet", "Mean", None, "comet = mean score", "comet"), ("comet", "Mean", "COMET-22", "COMET-22", "COMET-22"),
    ("own", "Within@evalregistry-toy(width=1)", None, "own = Within@evalregistry-toy(width=1)", "own")])
def test_boards_show_the_declared_title_or_the_usual_one_beside_an_id_that_says_something_else(
        alias, name, declared, shown, label):
    board = {"task": "t", "test_set": "test", "track": None, "facet": None, "metric": alias, "metric_name": name}
    assert make_board_title(board, declared) == f"t/test: {shown}"
    assert metric_label(alias, name, declared) == label
