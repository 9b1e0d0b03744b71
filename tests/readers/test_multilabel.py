"""Columns of 0 and 1 as sets of labels."""

import pytest

from registry.errors import InputError
from registry.metrics import METRICS
from registry.readers import READERS, Document

GOLD = "id,text,joy,anger\na,hm,1,0\nb,oh,1,1\nc,ah,0,0\nd,eh,0,1\n"
GIVEN = "anger,id,joy\n0,a,1\n1,b,0\n1,c,0\n1,d,1\n"


def reader(**options):
    return READERS["multilabel"].build({"item": ["id"], "separator": "comma", "labels": ["joy", "anger"], **options})


def test_f1_is_that_of_all_labels_together():
    """Of 4 in the gold and 5 given are 3 right: 2 * 3 / (4 + 5); one by one, they are joy of a, anger of b and d."""
    items, answers = reader().read_gold({"gold": Document("g", GOLD.encode())}), reader().read_answers(
        Document("s", GIVEN.encode()))
    assert [[one.key for one in item.gold.responses] for item in items] == [["joy"], ["anger", "joy"], [], ["anger"]]
    metric = METRICS["SetF"]()
    assert metric.score(metric.corpus_statistics(items, answers).sum(axis=0)) == 2 * 3 / (4 + 5)


def test_truth_values_and_decimals_are_as_good():
    text = '{"id": "a", "joy": true, "anger": 0.0}\n{"id": "b", "joy": 1, "anger": false}'
    read = reader(syntax="jsonl").read_answers(Document("s", text.encode()))
    assert [[one.key for one in answer.value.responses] for answer in read] == [["joy"], ["joy"]]


@pytest.mark.parametrize(("cell", "shown"), [("0.5", "'0.5'"), ("", "''"), ("-1", "'-1'"), ("nan", "'nan'")])
def test_other_values_are_refused(cell, shown):
    with pytest.raises(InputError, match=f"s:3: item 'b': 'joy' is {shown}; expected 1 if the item has this label"):
        reader().read_answers(Document("s", GIVEN.replace("1,b,0", f"1,b,{cell}").encode()))


@pytest.mark.parametrize("labels", [["joy", "joy"], ["id"], [""]])
def test_labels_have_names_of_their_own(labels):
    with pytest.raises(InputError, match="option 'labels' of multilabel has"):
        reader(labels=labels)
