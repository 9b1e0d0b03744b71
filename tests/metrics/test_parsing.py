"""Parsing measures against the official scorer, on any way to cut a text; and what a single sentence is charged."""

import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from udtools import udeval

from registry.items import Answer
from registry.metrics import METRICS, UAS, PlainLAS, PlainUAS
from registry.readers import Conllu, Document
from tests.treebanks import treebanks

MEASURES = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS",
            "BLEX")


def read(gold, system):
    """The gold's items, and the system's answers to them."""
    reader = Conllu()
    items = reader.read_gold({"gold": Document("gold", gold.encode())})
    return items, reader.assign(items, reader.read_answers(Document("system", system.encode())), "system")


def official(gold, system):
    return udeval.evaluate(*(udeval.load_conllu(io.StringIO(text), name, {})
                             for text, name in ((gold, "gold"), (system, "system"))))


def rows(*words):
    """CoNLL-U lines from (id, form, head, relation)."""
    return "".join(f"{n}\t{form}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_\n" for n, form, head, relation in words) + "\n"


# The scorer takes the system's `b` into the stretch of the gold's multiword token, though it begins before it.
@pytest.mark.slow
@example((rows((1, "ab", 0, "root"), ("2-3", "cd", "_", "_"), (2, "b", 1, "obj"), (3, "d", 1, "obj")),
          rows((1, "a", 0, "root"), (2, "b", 1, "obj"), (3, "c", 1, "obj"), (4, "d", 1, "obj"))))
@settings(deadline=None)
@given(treebanks())
def test_statistics_of_all_sentences_add_up_to_the_official_counts(case):
    scores, (items, answers) = official(*case), read(*case)
    for name in MEASURES:
        metric, expected = METRICS[name](), scores[name]
        statistics = metric.corpus_statistics(items, answers)
        assert statistics.sum(axis=0).tolist() == [expected.correct, expected.system_total, expected.gold_total], name
        assert (statistics[:, 0] <= statistics[:, 1:].min(axis=1)).all(), name
        for part in ("precision", "recall", "f1"):
            score = METRICS[name](part=part).score(statistics.sum(axis=0))
            assert np.nan_to_num(score) == pytest.approx(getattr(expected, part), rel=1e-15), name


@pytest.mark.slow
@given(treebanks(multiword=False))
def test_a_file_against_itself_is_all_right(case):
    items, answers = read(case[0], case[0])
    for name in MEASURES:
        statistics = METRICS[name]().corpus_statistics(items, answers)
        assert (statistics == statistics[:, :1]).all()
    assert PlainLAS().score(PlainLAS().corpus_statistics(items, answers).sum(axis=0)) == 1


def test_what_crosses_a_boundary_is_charged_once():
    """The gold's sentences are `ab c` and `de`, the system's `ab`, `cd` (one word) and `e`.

    `cd` begins in the first sentence, so it is its word; `c` and `d` are found by nobody.
    """
    gold = rows((1, "ab", 0, "root"), (2, "c", 1, "obj")) + rows((1, "de", 0, "root"))
    system = rows((1, "ab", 0, "root"), (2, "cd", 1, "obj")) + rows((1, "e", 0, "root"))
    items, answers = read(gold, system)
    statistics = {name: METRICS[name]().corpus_statistics(items, answers).tolist() for name in MEASURES}
    assert statistics["Words"] == [[1, 2, 2], [0, 1, 1]]
    assert statistics["Sentences"] == [[0, 1, 1], [0, 1, 1]]
    assert statistics["UAS"] == [[1, 2, 2], [0, 1, 1]]


def test_a_head_in_another_sentence_of_the_gold_is_wrong():
    gold = rows((1, "a", 0, "root")) + rows((1, "b", 2, "obj"), (2, "c", 0, "root"))
    system = rows((1, "a", 0, "root"), (2, "b", 1, "obj"), (3, "c", 1, "conj"))
    items, answers = read(gold, system)
    assert UAS().corpus_statistics(items, answers).tolist() == [[1, 1, 1], [0, 2, 2]]
    assert [(r.key, r.type) for r in Conllu().answer_set(answers[1].value)] == [("?>1", "obj"), ("?>2", "conj")]


@pytest.mark.slow
@given(treebanks())
def test_arcs_are_right_just_where_las_says_so(case):
    """A relation hangs on one word only, so equal answers are equal arcs."""
    items, answers = read(*case)
    for item, answer, statistics in zip(items, answers, METRICS["LAS"]().corpus_statistics(items, answers),
                                        strict=True):
        gold, found = (list(Conllu().answer_set(value)) for value in (item.gold, answer.value))
        assert len(set(found)) == len(found)
        assert statistics.tolist() == [len(set(gold) & set(found)), len(found), len(gold)]


def test_plain_scores_with_and_without_punctuation():
    """`a` is right; `?!` and `--` are punctuation, one with a wrong head; `b-` is none, with another subtype."""
    gold = rows((1, "a", 0, "root"), (2, "?!", 1, "punct"), (3, "--", 1, "punct"), (4, "b-", 1, "obj:x"))
    system = rows((1, "a", 0, "root"), (2, "?!", 4, "punct"), (3, "--", 1, "punct"), (4, "b-", 1, "obj:y"))
    (item,), (answer,) = read(gold, system)
    assert PlainUAS().statistics(item, answer) == (3, 4)
    assert PlainUAS(punctuation=False).statistics(item, answer) == (2, 2)
    assert PlainLAS().statistics(item, answer) == (2, 4)
    assert PlainLAS(punctuation=False, subtypes=False).statistics(item, answer) == (2, 2)
    assert PlainLAS().statistics(item, None) == (0, 4)


def test_no_answer_finds_nothing():
    (item,), _ = read(*2 * [rows((1, "a", 0, "root"), (2, "b", 1, "case"))])
    assert [METRICS[name]().statistics(item, None) for name in ("Sentences", "Tokens", "LAS", "CLAS")] == [
        (0, 0, 1), (0, 0, 2), (0, 0, 2), (0, 0, 1)]
    assert UAS().statistics(item, Answer("1", Conllu().assign([item], [Answer("1", item.gold)], "f")[0].value)) == (
        2, 2, 2)
