"""ROUGE: every segment's score is rouge-score's own, and the corpus score is their mean."""

import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics import ROUGE

words = st.lists(st.sampled_from(["the", "cats", "cat", "sitting", "sits", "on", "mat", "žluť", "...", ""]), max_size=8)
texts = st.lists(words.map(" ".join), min_size=1, max_size=3).map("<q>".join)
corpora = st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("variant", [1, 2, 3, "L", "Lsum"])
@given(corpora, st.sampled_from([("f", "fmeasure"), ("precision", "precision"), ("recall", "recall")]), st.booleans())
def test_every_segment_has_the_score_that_rouge_score_gives_it(variant, corpus, value, stemmer):
    from rouge_score.rouge_scorer import RougeScorer  # half a second, which others need not wait

    metric = ROUGE(references=("A", "B"), variant=variant, value=value[0], stemmer=stemmer, sentence_mark="<q>")
    items = [Item(str(n), {"A": a, "B": b}) for n, (_, a, b) in enumerate(corpus)]
    answers = [Answer(str(n), text) for n, (text, _, _) in enumerate(corpus)]
    peer = RougeScorer([f"rouge{variant}"], use_stemmer=stemmer)
    expected = [getattr(peer.score_multi([a.replace("<q>", "\n"), b.replace("<q>", "\n")], text.replace("<q>", "\n"))
                        [f"rouge{variant}"], value[1]) for text, a, b in corpus]
    statistics = metric.corpus_statistics(items, answers)
    assert statistics.tolist() == [[score, 1] for score in expected]
    assert metric.score(statistics.sum(axis=0)) == pytest.approx(np.mean(expected))


def test_overlap_by_hand():
    """Of 3 words 2 are among the reference's 4 (P 2/3, R 1/2); no bigram is; no answer scores 0."""
    item = Item("1", {"gold": "the cat sat down"})
    for metric, expected in ((ROUGE(value="precision"), 2 / 3), (ROUGE(value="recall"), 1 / 2), (ROUGE(), 4 / 7),
                             (ROUGE(variant=2), 0), (ROUGE(variant="L"), 2 / 7)):
        assert metric.statistics(item, Answer("1", "cat the dog")) == (pytest.approx(expected), 1)
        assert metric.statistics(item, None) == (0, 1)


def test_sentences_matter_to_lsum_only():
    """Sentence by sentence all words of the swapped sentences are found; as one text only half of them in order."""
    item, answer = Item("1", {"gold": "a b <q> c d"}), Answer("1", "c d <q> a b")
    assert ROUGE(variant="Lsum", sentence_mark="<q>").statistics(item, answer)[0] == 1
    assert ROUGE(variant="L", sentence_mark="<q>").statistics(item, answer)[0] == 0.5


def test_without_the_library_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    with pytest.raises(InputError, match=r"pip install 'evalregistry\[rouge\]'"):
        ROUGE().statistics(Item("1", {"gold": "a"}), None)


def common(one, other):
    """The length of the longest sequence that is in both, by its definition."""
    return max(n for n in range(len(one) + 1) for picked in combinations(one, n)
               if any(picked == of_other for of_other in combinations(other, n)))


@settings(max_examples=25)
@given(*[st.lists(st.sampled_from(["B-PER", "O", "É"]), max_size=5)] * 2)
def test_labels_and_characters_are_sequences_of_their_own(gold, found):
    """rouge-score's own words are of Latin letters and digits; a score of nothing in common is 0."""
    both = common(gold, found)
    for value, under in (("precision", len(found)), ("recall", len(gold)), ("f", (len(gold) + len(found)) / 2)):
        metric = ROUGE(variant="L", value=value, tokenize="whitespace")
        item, answer = Item("1", {"gold": " ".join(gold)}), Answer("1", "  ".join(found))
        assert metric.statistics(item, answer) == (pytest.approx(both / under if both else 0), 1)
    letters = ROUGE(variant="L", tokenize="characters").statistics(Item("1", {"gold": "東京 都"}), Answer("1", "京都"))
    assert letters == (pytest.approx(4 / 5), 1)
    assert ROUGE(variant="L").statistics(Item("1", {"gold": "東京 都"}), Answer("1", "京都")) == (0, 1)


def test_what_cannot_be_stemmed_is_refused():
    with pytest.raises(InputError, match="stemmer"):
        ROUGE(stemmer=True, tokenize="whitespace")


def test_an_empty_sentence_mark_is_refused():
    with pytest.raises(InputError, match="sentence_mark"):
        ROUGE(sentence_mark="")


def test_a_segment_that_would_take_all_memory_is_refused():
    item, answer = Item("7", {"gold": "a " * 10_000}), Answer("7", "a " * 10_000)
    with pytest.raises(InputError, match="item '7': the segment has 10,000 words, which is too long"):
        ROUGE(variant="L").statistics(item, answer)
    assert ROUGE(variant=1).statistics(item, answer) == (1, 1)
