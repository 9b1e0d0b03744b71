"""Lists of tags are sequences: they are scored in order, or refused with the tag and what to write instead."""

import random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import registry
from registry.errors import InputError

SCHEME = "expected O, or a tag of IOB2, BIOES or BILOU such as B-PER; "
IN_ORDER = "if the order does not matter, pass sets; if each token has a label"


def sentence(rng):
    """Ten valid IOB2 tags."""
    tags = []
    while len(tags) < 10:
        kind = rng.choice(["PER", "LOC", "ORG"])
        tags += [f"B-{kind}"] + [f"I-{kind}"] * rng.randrange(3) if rng.random() < 0.4 else ["O"]
    return tags[:10]


@pytest.fixture(scope="module")
def sentences():
    rng = random.Random(3)
    return [sentence(rng) for _ in range(40)]


def evaluate(gold, system):
    return registry.evaluate(gold, {"system": system, "other": gold}, metric="F1")


def edit(sentences, place, tag):
    edited = [list(tags) for tags in sentences]
    edited[7][place] = tag
    return edited


@pytest.mark.parametrize(("tag", "remedy"), [
    ("I_PER", "write 'I-PER'"), ("per-b", "write 'B-per'"), ("b-PER", "write 'B-PER'"), ("B:PER", "write 'B-PER'"),
    ("M-PER", "write 'I-PER'"), ("I", "add a type: write 'I-X'"), ("o", "write 'O'"),
    ("X", "remove such tokens, or write 'O'"), ("[CLS]", "remove such tokens, or write 'O'"),
    ("NOUN", "remove such tokens, or write 'O'")])
def test_one_unusual_tag_is_refused_in_the_gold_and_in_a_system(sentences, tag, remedy):
    """Lists were read as sets of answers then: tags in reverse order scored .99."""
    in_reverse = [tags[::-1] for tags in sentences]
    for given_values in ((edit(sentences, 2, tag), in_reverse), (sentences, edit(sentences, 2, tag))):
        with pytest.raises(InputError) as refused:
            evaluate(*given_values)
        assert refused.value.item == "7"
        assert f"token 3 has the tag {tag!r}; {SCHEME}{remedy}" in refused.value.message


def test_tags_in_reverse_order_have_few_spans_of_the_gold(sentences):
    assert evaluate(sentences, [tags[::-1] for tags in sentences]).scores["system"] < 0.1


def test_types_of_several_words_are_read():
    gold = [["B-geo place", "I-geo place", "O"]] * 3
    board = registry.evaluate(gold, {"a": [["B-geo place", "O", "O"], *gold[1:]], "b": gold}, metric="F1")
    assert board.scores == pytest.approx({"a": 2 / 3, "b": 1.0})


def test_a_tag_of_another_scheme_is_refused(sentences):
    with pytest.raises(InputError, match=r"item '7': tag 'S-PER' is not valid in the scheme of the gold, iob2"):
        evaluate(sentences, edit(sentences, 2, "S-PER"))


@pytest.mark.parametrize("gold", [
    [["DET", "NOUN", "VERB"], ["DET", "ADJ"]] * 3,  # parts of speech: as many in all systems
    [["a", "b", "a"], ["c"]] * 3,  # a value twice
    [["t", "h", "e"], ["o", "x"]] * 3])
def test_lists_that_may_be_sequences_are_asked_about(gold):
    with pytest.raises(InputError, match=IN_ORDER):
        evaluate(gold, [values[::-1] for values in gold])


def test_sets_and_lists_of_answers_are_scored_as_before():
    """F1 by hand: 5 of 6 and 5 of 7 answers are right."""
    sets = registry.evaluate([{"x", "y"}, {"z"}], {"a": [["y", "x"], ["z"]], "b": [["x"], ["z", "q"]]}, metric="F1")
    assert sets.scores == pytest.approx({"a": 1.0, "b": 2 / 3})
    lists = registry.evaluate([["x", "y"], ["z"]], {"a": [["x"], ["z"]], "b": [["x", "y", "w"], ["z"]]}, metric="F1")
    assert lists.scores == pytest.approx({"a": 4 / 5, "b": 6 / 7})
    with pytest.raises(InputError, match=r"system 'a': item '0': an answer occurs twice in \['x', 'x'\]"):
        registry.evaluate([{"x", "y"}, {"z"}], {"a": [["x", "x"], ["z"]]}, metric="F1")


TAG = st.sampled_from(["O", "B-P", "I-P", "B-Q", "I-Q", "S-P", "E-P", "L-Q", "U-Q", "B_P", "P-B", "B", "X", "b-p", "N"])


@settings(max_examples=60)
@given(st.lists(st.lists(TAG, min_size=2, max_size=4), min_size=1, max_size=3), st.randoms(use_true_random=False))
@example([["N", "V"]], random.Random(0))
@example([["B_P", "I_P", "O"]], random.Random(1))
def test_permuted_tags_change_the_score_or_are_refused(gold, rng):
    """A system of the gold's tags in another order scores 1 only where it has the gold's spans."""
    permuted = [rng.sample(tags, len(tags)) for tags in gold]
    assume(permuted != gold)
    try:
        score = evaluate(gold, permuted).scores["system"]
    except InputError:
        return
    assert (score == 1) == (spans(gold) == spans(permuted))


def spans(sentences):
    """Read spans leniently: B, S and U begin one, and so does any tag that continues none of its type."""
    found = set()
    for n, tags in enumerate(sentences):
        open_type, start = "", 0
        for at, tag in enumerate([*tags, "O"]):
            prefix, _, kind = tag.partition("-")
            goes_on = open_type and kind == open_type and prefix in "IEL"
            if open_type and not goes_on:
                found.add((n, start, at, open_type))
                open_type = ""
            if tag != "O" and not goes_on:
                open_type, start = kind, at
            if prefix in ("E", "L", "S", "U"):
                found.add((n, start, at + 1, open_type))
                open_type = ""
    return found


@pytest.mark.parametrize(("gold", "system", "metric", "told"), [
    ([[([0, 4], [20, 28], "DISO")]], [[]], "F1", "the gold: item '0': [[0, 4], [20, 28], 'DISO'] is not a span; "
                                                 "expected "
     "(start, end, type); spans of several parts are not supported"),
    ([[0, 1, 2]], [[0, 2, 1]], "F1", "the gold has [0, 1, 2]; expected a list of spans"),
    ([[(0, 1, "A")]], [5], "F1", "system 'system': item '0': 5 is not a list of spans"),
    ([["B-A", "O"]], [5], "F1", "system 'system': item '0': 5 is not a list of tags"),
    ([["B-A", "O"]], ["BO"], "F1", "system 'system': item '0': 'BO' is not a list of tags"),
    ([{"x"}], [5], "F1", "system 'system': item '0': 5 is not a set of answers"),
    ({"q": {"d": 1.5}}, {"q": {"d": 1}}, "AP", "the gold: item 'q': the relevance of 'd' is 1.5; expected a whole "
                                               "number")])
def test_values_of_another_form_are_refused_by_item(gold, system, metric, told):
    with pytest.raises(InputError) as refused:
        registry.evaluate(gold, {"system": system, "other": system}, metric=metric)
    assert told in str(refused.value)


def test_whole_floats_are_relevance_grades():
    """As numpy and pandas have them: the relevant document of two is first, then second."""
    board = registry.evaluate({"q": {"d": 1.0, "e": 0.0}}, {"a": {"q": {"d": 0.5, "e": 0.1}},
                                                            "b": {"q": {"d": 0.4, "e": 0.9}}}, metric="AP")
    assert board.scores == {"a": 1.0, "b": 0.5}


def test_sets_of_spans_are_read():
    board = registry.evaluate([{(0, 1, "A")}, {(2, 3, "B")}], {"a": [{(0, 1, "A")}, set()], "b": [set(), set()]},
                              metric="F1")
    assert board.scores == pytest.approx({"a": 2 / 3, "b": 0.0})


@pytest.mark.parametrize("spans", [
    [(1, 2, "PER"), (20, 21, "PER"), (20, 21, "PER")], [(1, 2), (1, 2)],
    [{"start": 3, "end": 5, "label": "LOC"}, {"start": 3, "end": 5, "type": "LOC"}]])
def test_a_span_that_stands_twice_is_refused_as_in_files(spans):
    """It counted once: a system with one wrong span three times had F1 .5 instead of 1/3, and was first."""
    gold = [[span if isinstance(span, dict) else tuple(span) for span in spans[:1]]] * 3
    with pytest.raises(InputError, match=r"system 'a': item '0': span \(.*\) occurs twice; keep one"):
        registry.evaluate(gold, {"a": [spans, gold[0], gold[0]]}, metric="F1")
    with pytest.raises(InputError, match=r"gold: item '1': span \(.*\) occurs twice; keep one"):
        registry.evaluate([gold[0], spans, gold[0]], {"a": gold}, metric="F1")
