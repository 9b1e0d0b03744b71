"""CoNLL-U: what the format allows is read, what it does not is named with its line, and texts must be the gold's."""

import pytest

from registry.errors import InputError
from registry.readers import Conllu, Document
from registry.treebank import Token

TREE = """\
# newdoc id = d1
# newpar id = p1
# sent_id = s1
# text = vámonos al mar
# genre = song
1-2	vámonos	_	_	_	_	_	_	_	_
1	vamos	ir	VERB	_	_	0	root	_	_
2	nos	nosotros	PRON	_	Case=Acc	1	obj	_	_
3-4	al	_	_	_	_	_	_	_	_
3	a	a	ADP	_	_	5	case	_	_
4	el	el	DET	_	_	5	det	_	_
4.1	x	x	VERB	_	_	_	_	1:conj	_
5	mar	mar	NOUN	_	_	1	obl:arg	_	SpaceAfter=No

# sent_id = s2
1	sí	sí	INTJ	_	_	0	root	_	_

"""


def gold(text, **options):
    return Conllu.build(options).read_gold({"gold": Document("gold", text.encode())})


def assigned(items, text):
    answers = Conllu().read_answers(Document("system", text.encode()))
    return Conllu().assign(items, answers, "system")


def test_multiword_tokens_empty_nodes_and_attributes():
    first, second = gold(TREE)
    assert (first.key, second.key, first.line, second.line) == ("s1", "s2", 6, 16)
    assert first.attributes == {"document": "d1", "paragraph": "p1", "genre": "song"}
    assert second.attributes == {"document": "d1", "paragraph": "p1"}
    sentence = first.gold
    assert sentence.text == "vámonosalmar"
    assert sentence.tokens == (Token(0, 7, True), Token(7, 9, True), Token(9, 12, False))
    assert [(w.form, w.head, w.deprel, w.token) for w in sentence.words] == [
        ("vamos", 0, "root", 0), ("nos", 1, "obj", 0), ("a", 5, "case", 1), ("el", 5, "det", 1),
        ("mar", 1, "obl:arg", 2)]
    assert sentence.count_function_words() == [0, 0, 0, 0, 2]
    assert [(r.key, r.type) for r in Conllu().answer_set(sentence)][-2:] == [("5>4", "det"), ("1>5", "obl")]


def test_sentences_without_a_name_are_numbered_and_line_ends_may_be_crlf():
    text = TREE.replace("# sent_id = s2\n", "").replace("\n", "\r\n")
    assert [item.key for item in gold(text)] == ["s1", "2"]


def test_a_name_that_is_empty_is_none():
    with pytest.raises(InputError, match="the comment 'sent_id' is empty") as caught:
        gold(TREE.replace("# sent_id = s2", "# sent_id ="))
    assert caught.value.line == 16


def test_names_in_submissions_mean_nothing():
    items = gold(TREE)
    shuffled = TREE.replace("sent_id = s1", "sent_id = s2", 1)
    assert [answer.key for answer in assigned(items, shuffled)] == ["s1", "s2"]


LINE = "{}\tform\t_\t_\t_\t_\t{}\tdep\t_\t_"


@pytest.mark.parametrize(("lines", "at", "message"), [
    (["1\tform\t_"], 1, "the line has 3 columns; expected 10"),
    ([LINE.format(1, 0), LINE.format(3, 1)], 2, "the ID is '3'; expected 2, the number of the next word"),
    ([LINE.format("01", 0)], 1, "the ID is '01'; expected 1, the number of the next word"),
    ([LINE.format("1-2", "_"), LINE.format(1, 0), LINE.format("2-3", "_")], 3, "ID '2-3' begins within the previous"),
    ([LINE.format("2-1", "_")], 1, "the ID is '2-1'; expected 1, the number of the next word"),
    ([LINE.format("1-2", "_"), LINE.format(1, 0)], 2, "the sentence ends within a multiword token"),
    ([LINE.format(1, 0), LINE.format("3.1", "_")], 2, "the ID is '3.1'; expected 2, the number of the next word"),
    ([LINE.format("0.1", "_")], 1, "the sentence has no word"),
    ([LINE.format(1, "_")], 1, "the head is '_'"),
    ([LINE.format(1, "-1")], 1, "the head is '-1'"),
    ([LINE.format(1, "٣")], 1, "the head is '٣'"),
    ([LINE.format(1, 0), LINE.format(2, 3)], 2, "the head is word 3, but the sentence has only 2 words"),
    ([LINE.format(1, 1)], 1, "word 1 depends on itself"),
    ([LINE.format(1, 0), LINE.format(2, 4), LINE.format(3, 2), LINE.format(4, 3)], 2, "word 2 depends on itself"),
    ([LINE.format(1, 0), LINE.format(2, 0)], 2, "words 1 and 2 are both roots"),
    ([LINE.format(1, 0).replace("form", "\u00a0 ")], 1, "column FORM has only blanks"),
    ([LINE.format(1, 0).replace("_", "", 1)], 1, "column LEMMA is empty"),
    (["# a comment", ""], 2, "a blank line without a sentence before it"),
    ([LINE.format(1, 0), "# a comment"], 2, "the line has 1 column; expected 10"),
])
def test_what_is_no_conllu_is_refused_with_its_line(lines, at, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")) as caught:
        gold("\n".join(lines) + "\n\n")
    assert caught.value.line == at


def test_the_last_sentence_needs_its_blank_line():
    with pytest.raises(InputError, match="no blank line follows the last sentence; add one, or restore the missing "
                                         "lines"):
        gold(LINE.format(1, 0) + "\n")


def test_several_roots_and_empty_columns_where_the_manifest_says_so():
    text = "\n".join([LINE.format(1, 0), LINE.format(2, 0)]).replace("_", "", 1) + "\n\n"
    (item,) = gold(text, roots="any", empty_columns="underscore")
    assert [(w.head, w.lemma) for w in item.gold.words] == [(0, "_"), (0, "_")]
    for column, cell in (("ID", "1"), ("FORM", "form"), ("HEAD", "0")):
        with pytest.raises(InputError, match=f"column {column} is empty"):
            gold(LINE.format(1, 0).replace(cell, "", 1) + "\n\n", empty_columns="underscore")


@pytest.mark.parametrize(("change", "line", "message"), [
    (lambda t: t.replace("mar\t", "mer\t", 1), 6, "this sentence has the text 'ersí', but the gold text has 'arsí'"),
    (lambda t: t.replace("sí\t", "no\t", 1), 16, "has the text 'no', but the gold text has 'sí'"),
    (lambda t: t[:t.index("# sent_id = s2")], 6, "the text ends before the gold text, which continues with 'sí'"),
    (lambda t: t + LINE.format(1, 0) + "\n\n", 18, "has the text 'form', but the gold text ends"),
    (lambda t: t.replace("á", "a\u0301"), None, "only in the Unicode normal form"),
])
def test_a_text_that_is_not_the_golds_is_refused_where_it_begins_to_differ(change, line, message):
    with pytest.raises(InputError, match=message) as caught:
        assigned(gold(TREE), change(TREE))
    assert (caught.value.path, caught.value.line) == ("system", line)


def test_multiword_tokens_beyond_all_measure_are_refused():
    n = 2100
    words = [f"{k}\tw{k}\t_\t_\t_\t_\t{k - 1}\tdep\t_\t_" for k in range(1, n + 1)]
    text = "\n".join([f"1-{n}\tx\t_\t_\t_\t_\t_\t_\t_\t_", *words]) + "\n\n"
    with pytest.raises(InputError, match="multiword tokens cover 2,100 words without a break"):
        assigned(gold(text), text)
