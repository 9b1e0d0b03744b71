"""Word and character error rates: sums of the segments' errors and lengths give jiwer's rates."""

import sys

import jiwer
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.items import Answer, Item
from registry.metrics import CER, WER

texts = st.text(st.sampled_from("abAB .,’  ž"), max_size=12)
corpora = st.lists(st.tuples(texts, texts.filter(lambda t: any(c.isalpha() for c in t))), min_size=1, max_size=5)
LOWER, BARE = jiwer.ToLowerCase, jiwer.RemovePunctuation  # of which the first to be made looks at all of Unicode
OF_WORDS = [jiwer.RemoveMultipleSpaces, jiwer.Strip, jiwer.ReduceToListOfListOfWords]
OF_CHARACTERS = [jiwer.Strip, jiwer.ReduceToListOfListOfChars]


def statistics(metric, corpus):
    return metric.corpus_statistics([Item(str(n), {"gold": gold}) for n, (_, gold) in enumerate(corpus)],
                                    [Answer(str(n), text) for n, (text, _) in enumerate(corpus)])


@pytest.mark.parametrize(("metric", "rate", "steps"), [
    (WER(), jiwer.wer, OF_WORDS),
    (WER(lowercase=True, punctuation=False), jiwer.wer, [LOWER, BARE, *OF_WORDS]),
    (CER(), jiwer.cer, OF_CHARACTERS),
    (CER(lowercase=True, spaces=False), jiwer.cer, [LOWER, jiwer.RemoveWhiteSpace, *OF_CHARACTERS]),
], ids=["words", "bare words", "characters", "characters without blanks"])
@given(corpora)
def test_the_rate_of_the_sums_is_jiwer_s_of_the_corpus_and_of_every_segment(metric, rate, steps, corpus):
    steps = jiwer.Compose([step() for step in steps])

    def expected(pairs):
        return rate([gold for _, gold in pairs], [text for text, _ in pairs], steps, steps)

    found = statistics(metric, corpus)
    assert metric.score(found.sum(axis=0)) == pytest.approx(expected(corpus))
    for row, pair in zip(found, corpus, strict=True):
        assert metric.score(row) == pytest.approx(expected([pair]))


@given(corpora)
def test_without_options_the_rates_are_those_of_jiwer_s_defaults(corpus):
    for metric, rate in ((WER(), jiwer.wer), (CER(), jiwer.cer)):
        expected = rate([gold for _, gold in corpus], [text for text, _ in corpus])
        assert metric.score(statistics(metric, corpus).sum(axis=0)) == pytest.approx(expected)


def test_errors_by_hand():
    """One word substituted, one inserted, one deleted, of 4; 'kitten' becomes 'sitting' by 3 edits."""
    assert statistics(WER(), [("a x c c", "a b c d"), ("a", "a b"), ("", "a b")]).tolist() == [[2, 4], [1, 2], [2, 2]]
    assert statistics(WER(), [("a b\nc", "a\nb c")]).tolist() == [[0, 3]], "a line break is a blank"
    assert statistics(CER(), [("sitting", "kitten")]).tolist() == [[3, 6]]
    assert WER().statistics(Item("1", {"gold": "a b"}), None) == (2, 2)
    assert WER(punctuation=False, lowercase=True).statistics(Item("1", {"gold": "A, b"}), Answer("1", "a b!")) == (0, 2)


@pytest.mark.parametrize("blank", ["\t", "\u00a0", "\u202f", "\u3000", " \u00a0 ", "\x0b"])
def test_white_space_of_any_kind_divides_words(blank):
    """jiwer takes "to", a single tab or no-break space and "town" for one word, so that a faultless system errs."""
    found = statistics(WER(), [("go to town", f"go{blank}to town"), (f"a{blank}b", "a b c")])
    assert found.tolist() == [[0, 3], [1, 3]]
    assert statistics(CER(), [("a b", f"a{blank.strip(' ')}b")]).tolist() == [[0, 3]]


def test_one_reference_alone_is_compared_with():
    with pytest.raises(InputError, match="must name one reference"):
        WER(references=("A", "B"))


def test_without_the_library_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jiwer", None)
    with pytest.raises(InputError, match=r"pip install 'evalregistry\[speech\]'"):
        CER().statistics(Item("1", {"gold": "a"}), None)


@pytest.mark.parametrize("mark", ["{ harbour's / harbour }", "{ @ / the }", "(%hesitation)"])
@pytest.mark.parametrize("metric", [WER(), CER()])
def test_marks_of_sclite_are_refused_in_references(metric, mark):
    items = [Item("1", {"gold": "the gate was closed"}), Item("2", {"gold": f"nobody saw {mark} gate (again)"})]
    with pytest.raises(InputError) as refused:
        metric.check_gold(items)
    assert refused.value.item == "2"
    assert f"the reference has {mark!r}, which marks alternative or optional words for sclite" in refused.value.message
    plain = [Item("1", {"gold": "a / b {c} (laughs) {d/e} 10 %"})]
    metric.check_gold(plain)
