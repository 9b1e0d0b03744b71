"""Candidates in a table: keys of several columns, flags, and scores in columns of one file."""

import pytest

from registry.errors import InputError
from registry.items import AnswerSet, Response
from registry.readers import Candidates, Document

TABLE = """noun,verb,good,a,b,text
Frage,stellen,ja,3.5,2,x
Jahr,sagen,nein,-1e2,,y
"Tag, der",kommen,nein,0,1,x
"""


def document(text=TABLE):
    return Document("f.csv", text.encode())


def reader(**options):
    return Candidates.build({"separator": "comma", "item": ["noun", "verb"], "gold": "good", "true": "ja",
                             "false": "nein", **options})


def test_gold_flags_and_attributes():
    items = reader(attributes="text").read_gold({"gold": document()})
    assert [(i.key, len(i.gold.responses), i.attributes, i.line) for i in items] == [
        ("Frage stellen", 1, {"text": "x"}, 2), ("Jahr sagen", 0, {"text": "y"}, 3),
        ("Tag, der kommen", 0, {"text": "x"}, 4)]


def test_a_system_returns_what_it_scores_and_only_that():
    answers = reader(score="b").read_answers(document())
    assert [a.value for a in answers] == [AnswerSet((Response("true", score=2.0),)), AnswerSet(),
                                          AnswerSet((Response("true", score=1.0),))]


def test_ascending_scores_are_kept_as_their_negatives_so_that_higher_is_better():
    def scores(**options):
        return [r.score for a in reader(score="a", **options).read_answers(document()) for r in a.value.responses]

    assert scores() == [3.5, -100.0, 0.0]
    assert scores(order="ascending") == [-3.5, 100.0, 0.0]
    assert str(scores(order="ascending")[2]) == "0.0"


@pytest.mark.parametrize(("options", "text", "message"), [
    ({"score": "c"}, TABLE, "f.csv:1: the header has no column 'c'"),
    ({"score": "a"}, TABLE.replace("3.5", "inf"), "f.csv:2: item 'Frage stellen': 'a' is 'inf'; expected a finite"),
    ({"score": "a"}, TABLE.replace("3.5", "1_0"), "'a' is '1_0'"),
    ({"score": "a"}, TABLE.replace("3.5", "1e999"), "'a' is '1e999'"),
    ({"score": "b", "unscored": "NA"}, TABLE, "f.csv:3: item 'Jahr sagen': 'b' is ''"),
    ({"score": "a"}, TABLE.replace(",2,", ","), "f.csv:2: the line has 5 cells, but the header has 6"),
    ({"score": "a"}, TABLE.replace("Jahr", ""), "f.csv:3: a cell of the candidate's name (option 'item': "),
    ({"score": "a"}, TABLE.replace("Jahr", "Ja\u200bhr"), "a control or invisible character"),
    ({"score": "a"}, TABLE.partition("\n")[0], "the file has no candidate"),
    ({"score": "a"}, TABLE.replace("text", "a"), "the header has the column 'a' twice; rename one"),
    ({}, TABLE, "needs scores; name their column with the option 'score'"),
])
def test_what_is_wrong_with_a_submission_is_refused_with_its_place(options, text, message):
    with pytest.raises(InputError) as caught:
        reader(**options).read_answers(document(text))
    assert message in str(caught.value)


def test_a_flag_that_is_neither_true_nor_false_is_refused():
    with pytest.raises(InputError, match=r"f\.csv:3: item 'Jahr sagen': 'good' is 'nein'; expected 'ja', or 'no'"):
        reader(false="no").read_gold({"gold": document()})


@pytest.mark.parametrize(("options", "message"), [
    ({"item": []}, "must name one or more columns"),
    ({"item": ["noun", "noun"]}, "each once"),
    ({"true": ["ja", "nein"]}, "both have 'nein'"),
    ({"true": []}, "must each list at least one value"),
])
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        reader(**options)
