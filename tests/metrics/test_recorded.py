"""Statistics that were counted before: scored, counted and tested as by the metric that they are of."""

import re

import numpy as np
import pytest

from registry.errors import RegistryError
from registry.evaluation.matrices import Counts, build_matrix
from registry.families import FAMILIES
from registry.items import Answer, Item
from registry.metrics import METRICS
from registry.values import parse

NAMES = ("Accuracy", "SpanF(beta=2)", "BLEU", "chrF", "RMSE", "AER", "WER", "JudgedMean(slope=0.5, better=lower)",
         'Formula(formula="2*tp / (pred + gold)")')


@pytest.mark.parametrize("name", NAMES)
def test_the_matrix_is_that_of_the_other_metric(name):
    other = parse("metric", METRICS, name)
    counted = np.zeros((5, 2, len(FAMILIES[other.family].columns)))
    counted[..., :len(other.used_columns)] = np.random.default_rng(1).integers(1, 9, (5, 2, len(other.used_columns)))
    columns = tuple(f"c{n}" for n in range(len(other.used_columns)))
    metric = METRICS["Recorded"](of=repr(other), columns=columns)
    assert parse("metric", METRICS, repr(metric)) == metric
    assert (metric.family, metric.better, metric.title) == (other.family, other.better, other.title)
    items = [Item(str(n), {}) for n in range(5)]
    answers = [Answer(str(n), dict(zip(columns, row, strict=False))) for n, row in enumerate(counted[:, 0].tolist())]
    assert np.array_equal(metric.corpus_statistics(items, answers), counted[:, 0])
    one, two = (build_matrix(of, Counts.from_statistics(counted)) for of in (metric, other))
    assert np.array_equal(one.scores(), two.scores())
    assert (one.quotient, one.family, one.lower_is_better) == (two.quotient, two.family, two.lower_is_better)
    assert (one.judged is None) == (two.judged is None)


@pytest.mark.parametrize(("of", "columns", "says"), [
    ("SpamF", ["a"], "unknown metric 'SpamF'"),
    ("SpanF", ["a", "b"], "needs one column for each statistic of SpanF: true_positives, predicted, gold"),
    ("MCC", ["a", "b"], "'MCC', but the statistics of this metric cannot be summed"),
    ("Spearman", ["a", "b"], "'Spearman', but the statistics of this metric cannot be summed"),
    ('Recorded(of="Accuracy", columns=[a, b])', ["a", "b"], "but the statistics of this metric cannot be summed"),
])
def test_what_is_no_such_metric_is_refused(of, columns, says):
    with pytest.raises(RegistryError, match=re.escape(says)):
        METRICS["Recorded"].build({"of": of, "columns": columns})
