"""Accuracy, against a count by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.items import Answer, Item
from registry.metrics import Accuracy


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.none() | st.sampled_from("xyz")), min_size=1))
def test_accuracy_counts_right_answers_over_all_items(rows):
    metric = Accuracy()
    sums = np.sum([metric.statistics(Item("i", gold), None if said is None else Answer("i", said))
                   for gold, said in rows], axis=0, dtype=float)
    assert metric.score(sums) == sum(gold == said for gold, said in rows) / len(rows)


def test_score_is_vectorized_and_undefined_is_nan():
    sums = np.array([[[1.0, 2.0], [0.0, 0.0]], [[3.0, 4.0], [0.0, 5.0]]])
    np.testing.assert_array_equal(Accuracy().score(sums), [[0.5, np.nan], [0.75, 0.0]])


def test_statistics_that_are_not_those_of_the_family_are_told():
    class Short(Accuracy):
        family = "prf"

    with pytest.raises(TypeError, match=r"Short gave 2 numbers; its family 'prf' has 3 columns: true_positives, pred"):
        Short().corpus_statistics([Item("i", "x")], [None])
