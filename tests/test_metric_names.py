"""Metrics by the names that people give them."""

import re
from collections import Counter

import pytest

from registry.errors import InputError, UnknownNameError
from registry.metric_names import (
    _NAMES,
    _fold,
    common_metric,
    get_default_metric,
    list_common_names,
    make_metric_table,
    match_alias,
)
from registry.metrics import METRICS
from registry.readers import READERS
from registry.values import build, parse
from tests.conftest import ROOT


@pytest.mark.parametrize(("name", "takes", "means"), [
    ("macro F1", "label", "LabelF"), ("micro-f1", "label", "LabelF(average=micro)"),
    ("f1_macro", "label", "LabelF"), ("Macro-averaged F-score", "label", "LabelF"), ("F1 (macro)", "label", "LabelF"),
    ("weighted-F1", "label", "LabelF(average=weighted)"), ("Weighted avg. F1", "label", "LabelF(average=weighted)"),
    ("macro F0.5", "label", "LabelF(beta=0.5)"), ("F1 of yes", "label", "LabelF(labels=yes)"),
    ("weighted precision", "label", "LabelP(average=weighted)"), ("recall_micro", "label", "LabelR(average=micro)"),
    ("ACCURACY", "label", "Accuracy"), ("acc", "label", "Accuracy"), ("EM", "label", "Accuracy"),
    ("Exact Match", "label", "Accuracy"), ("exact_match", "label", "Accuracy"), ("Cohen’s kappa", "label", "Kappa"),
    ("f1", "answer", "SetF"), ("F₂", "answer", "SetF(beta=2)"), ("macro-precision of A, B", "label",
                                                                 "LabelP(labels=[A, B])"),
    ("F1 of PER", "span", "SpanF(type=PER, beta=1)"), ("F-measure", "span", "SpanF(type=none, beta=1)"),
    ("partial-F1", "span", "SpanPartialF(type=none, beta=1)"),
    ("LAS", "tree", "LAS"), ("uas", "tree", "UAS"), ("labelled attachment score", "tree", "LAS"),
    ("MRR@10", "ranking", "RR(cutoff=10)"), ("nDCG@10", "ranking", "nDCG(cutoff=10)"),
    ("NDCG @ 5", "ranking", "nDCG(cutoff=5)"), ("ndcg_cut_20", "ranking", "nDCG(cutoff=20)"),
    ("P@5", "ranking", "P(cutoff=5)"), ("P_5", "ranking", "P(cutoff=5)"), ("map", "ranking", "AP"),
    ("recip_rank", "ranking", "RR"), ("hits@1", "ranking", "Success(cutoff=1)"),
    ("recall@100", "ranking", "R(cutoff=100)"), ("P(cutoff=5)", "ranking", "P(cutoff=5)"),
    ("mean", "score", "Mean"), ("mae", "score", "MAE")])
def test_a_common_name_means_a_metric_of_the_kind_of_values(name, takes, means):
    found = common_metric(name, takes)
    assert repr(found) == means
    declared = make_metric_table(found, name)
    assert build("metric", METRICS, declared["name"], declared.get("options", {})) == found


@pytest.mark.parametrize(("name", "takes", "told"), [
    ("BLEU", "label", "BLEU compares segments, but the values are labels; metrics of labels: accuracy, macro-F1, "),
    ("P", "score", "P compares labels or spans or answers or alignments, but the values are scores"),
    ("P", "ranking", "needs the option 'cutoff'"), ("LabelF(beta=x)", "label", "expected a number"),
    ("acuracy", "label", "unknown metric of labels 'acuracy'; the most similar names are accuracy, balanced accuracy"),
    ("ndgc@10", "ranking", "the most similar names are nDCG@10, "), ("(", "label", "unknown metric"),
    ("", "label", "unknown metric"),
    ("F1", "label", "'F1' of labels is ambiguous; write 'macro-F1', 'micro-F1', 'weighted-F1', or for a single class "
                    "'F1 of LABEL'"),
    ("F2 of A, B", "label", "write 'macro-F2 of A, B', 'micro-F2 of A, B', 'weighted-F2 of A, B', or for a single")])
def test_others_are_refused_with_those_that_are_known(name, takes, told):
    with pytest.raises(InputError, match=told):
        common_metric(name, takes)


def test_a_name_means_one_metric_of_a_kind_and_readers_have_a_usual_one():
    for takes, metrics in _NAMES.items():
        counts = Counter(_fold(name) for names in metrics.values() for name in names.split(","))
        ambiguous = {name for name, n in counts.items() if n > 1}
        assert ambiguous == ({"f1", "precision", "p", "recall", "r"} if takes == "label" else set())
        for text, names in metrics.items():
            for name in names.split(", "):
                if _fold(name) not in ambiguous:
                    assert common_metric(name, takes) == parse("metric", METRICS, text), name
    assert {reader.gives for reader in READERS.values() if get_default_metric(reader.gives) is None} == {"statistic"}


def test_names_in_the_documentation_are_understood():
    kinds = {"labels": "label", "spans, sets": "span", "spans": "span", "texts": "segment", "numbers": "score",
             "rankings": "ranking", "trees": "tree"}
    kind, n = "", 0
    for line in (ROOT / "docs" / "metric-names.md").read_text().splitlines():
        if line.startswith("| ") and "`" in line:
            values, *cells = line.strip("|").split("|")
            kind = kinds.get(values.strip(), kind)
            for name in re.findall("`([^`]+)`", " ".join(cells)):
                assert common_metric(name, kind).takes == kind
                n += 1
    assert n > 30


def test_suggested_names_are_understood():
    for takes in _NAMES:
        for name in list_common_names(takes):
            metric = METRICS.get(name)
            assert metric is not None or common_metric(name, takes).takes == takes


@pytest.mark.parametrize(("name", "alias"), [
    ("acc", "acc"), ("Accuracy", "acc"), ("exact match", "acc"), ("Macro F1", "f1_macro"), ("micro_F1", "micro"),
    ("F1 of yes", "yes"), ("chrF++", "chrfpp"), ("own", "own")])
def test_a_metric_of_a_task_is_named_by_its_id_or_by_a_common_name(name, alias):
    declared = {"acc": "Accuracy", "f1_macro": "LabelF", "micro": "LabelF(average=micro)", "yes": "LabelF(labels=yes)",
                "chrfpp": "chrF(word_order=2)", "own": "Within@evalregistry-toy(width=1)"}
    assert match_alias(name, declared) == alias


def test_an_ambiguous_name_of_a_task_s_metrics_lists_their_ids():
    declared = {"a": "LabelF", "b": "LabelF(average=micro)", "c": "Accuracy"}
    with pytest.raises(InputError, match=r"the metric 'F1' is ambiguous; write a or b$"):
        match_alias("F1", declared)
    assert match_alias("F1", {"a": "LabelF", "c": "Accuracy"}) == "a"
    with pytest.raises(UnknownNameError, match="unknown metric 'MCC'; known: a, b, c"):
        match_alias("MCC", declared)
