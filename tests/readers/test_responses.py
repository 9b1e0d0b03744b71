"""Sets of answers as JSON Lines: strict about every key, with the place of what is wrong."""

import json

import pytest

from registry.errors import InputError
from registry.items import AnswerSet, Response
from registry.readers import Document, Responses


def document(*entries):
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    return Document("f.jsonl", "\n".join(lines).encode())


def test_an_answer_is_a_key_or_an_object_with_type_and_score():
    (answer,) = Responses().read_answers(document(
        {"item": "s1", "answers": [{"key": "y", "type": "T", "score": 2}, "x", {"key": "y"}]}))
    assert answer.key == "s1"
    assert answer.value == AnswerSet((Response("x"), Response("y"), Response("y", "T", 2.0)))
    assert list(Responses().answer_set(answer.value)) == list(answer.value.responses)


def test_gold_has_attributes_and_lines():
    first, second = Responses().read_gold({"gold": document(
        {"item": "s1", "answers": ["x"], "attributes": {"document": "d1"}}, "", {"item": "s2", "answers": []})})
    assert (first.key, first.attributes, first.line) == ("s1", {"document": "d1"}, 1)
    assert (second.gold, second.attributes, second.line) == (AnswerSet(), {}, 3)


def test_the_order_of_answers_does_not_matter_but_scores_do():
    def content(*answers):
        (answer,) = Responses().read_answers(document({"item": "s", "answers": list(answers)}))
        return Responses().content(answer.value)

    assert content("x", "y") == content({"key": "y"}, "x")
    assert content({"key": "x", "score": 1}) != content("x") != content({"key": "x", "type": "T"})


@pytest.mark.parametrize(("entry", "message"), [
    ({"item": "s", "answers": [], "answer": 1}, "unknown key 'answer'; did you mean 'answers'"),
    ({"item": "s"}, "the key 'answers' is missing"),
    ({"answers": []}, "the key 'item' is missing"),
    ({"item": "", "answers": []}, "'item' is empty"),
    ({"item": 7, "answers": []}, "'item' is 7; expected text"),
    ({"item": "s", "answers": "x"}, "'answers' is \"x\"; expected a list"),
    ({"item": "s", "answers": [7]}, "an answer is 7; expected text, or an object with 'key'"),
    ({"item": "s", "answers": [{"type": "T"}]}, "the key 'key' is missing"),
    ({"item": "s", "answers": [{"key": "x", "scores": 1}]}, "unknown key 'scores'; did you mean 'score'"),
    ({"item": "s", "answers": [{"key": "x", "score": "1"}]}, "'score' is \"1\"; expected a finite number"),
    ({"item": "s", "answers": [{"key": "x", "score": True}]}, "'score' is true; expected a finite number"),
    ('{"item": "s", "answers": [{"key": "x", "score": 1e999}]}', "'score' is Infinity; expected a finite number"),
    ('{"item": "s", "answers": [{"key": "x", "score": NaN}]}', "not JSON"),
    ({"item": "s", "answers": [{"key": "x", "score": 10**400}]}, "'score' is Infinity; expected a finite number"),
    ({"item": "s", "answers": [{"key": "x", "type": 1}]}, "'type' is 1; expected text"),
    ({"item": "s", "answers": ["x\u200b"]}, "'key' has a control or invisible character"),
    ({"item": "s", "answers": ["x", {"key": "x", "score": 1}]}, "answer 'x' occurs twice"),
    ({"item": "s", "answers": 2 * [{"key": "x", "type": "T"}]}, "answer 'x' of type 'T' occurs twice"),
    ({"item": "s", "answers": [], "attributes": {"document": 1}}, "'document' is 1; expected text"),
    ({"item": "s", "answers": [], "attributes": ["d"]}, "expected an object whose values are text"),
    ('{"item": "s", "item": "t", "answers": []}', "not JSON: a key occurs twice"),
    ("[1]", "not a JSON object"),
    ('{"item": "s",', "not JSON: Expecting property name enclosed in double quotes at column 14; write one complete "
                      "JSON object"),
    ('{"item": "s", "answers": [{"key": "x", "score": ' + 5000 * "9" + "}]}", "'score' is Infinity; expected a finite"),
    ('{"item": ' + 10**5 * "[", "not JSON: nested too deeply"),
])
def test_what_is_wrong_is_refused_with_its_place(entry, message):
    for read in (Responses().read_answers, lambda d: Responses().read_gold({"gold": d})):
        with pytest.raises(InputError) as caught:
            read(document({"item": "r", "answers": []}, entry))
        assert message in str(caught.value)
        assert caught.value.line == 2
        assert isinstance(entry, str) or entry.get("item") != "s" or caught.value.item == "s"


def test_gold_with_scores_is_refused():
    with pytest.raises(InputError, match="item 's': a gold answer has a score"):
        Responses().read_gold({"gold": document({"item": "s", "answers": [{"key": "x", "score": 1}]})})
