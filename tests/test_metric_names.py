"""Metrics by the names that people give them."""

import pytest

from registry.errors import InputError
from registry.metric_names import _NAMES, common_metric, get_default_metric, make_metric_table
from registry.metrics import METRICS
from registry.readers import READERS
from registry.values import build


@pytest.mark.parametrize(("name", "takes", "means"), [
    ("F1", "label", "LabelF"), ("macro F1", "label", "LabelF"), ("micro-f1", "label", "LabelF(average=micro)"),
    ("ACCURACY", "label", "Accuracy"), ("f1", "answer", "SetF"), ("F2", "label", "LabelF(beta=2)"),
    ("precision of A, B", "label", "LabelP(labels=[A, B])"), ("nDCG@10", "ranking", "nDCG(cutoff=10)"),
    ("recall@100", "ranking", "R(cutoff=100)"), ("partial-F1", "span", "SpanPartialF(type=none, beta=1)"),
    ("P", "label", "LabelP"), ("P(cutoff=5)", "ranking", "P(cutoff=5)"), ("mean", "score", "Mean")])
def test_a_common_name_means_a_metric_of_the_kind_of_values(name, takes, means):
    found = common_metric(name, takes)
    assert repr(found) == means
    declared = make_metric_table(found, name)
    assert build("metric", METRICS, declared["name"], declared.get("options", {})) == found


@pytest.mark.parametrize(("name", "takes", "told"), [
    ("BLEU", "label", "BLEU compares segments, but the values are labels; metrics of labels: Accuracy, .*F1"),
    ("P", "score", "P compares labels or spans or answers or alignments, but the values are scores"),
    ("P", "ranking", "needs the option 'cutoff'"), ("LabelF(beta=x)", "label", "expected a number"),
    ("acuracy", "label", "did you mean 'Accuracy'"), ("(", "label", "unknown metric"), ("", "label", "unknown metric")])
def test_others_are_refused_with_those_that_are_known(name, takes, told):
    with pytest.raises(InputError, match=told):
        common_metric(name, takes)


def test_a_name_means_one_metric_of_a_kind_and_readers_have_a_usual_one():
    for takes, metrics in _NAMES.items():
        names = [name for text, more in metrics.items() for name in (text, *more.split())]
        assert len(set(names)) == len(names)
        assert all(common_metric(name, takes).takes == takes for name in names)
    assert {reader.gives for reader in READERS.values() if get_default_metric(reader.gives) is None} == {"statistic"}
