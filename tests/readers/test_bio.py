"""Tagged text: every scheme reads what it writes, and what it does not allow is named with its line."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.items import Span
from registry.readers import Bio, Document, Problems


def read(tags, scheme="iob2", **options):
    text = "".join(f"w{n}\t{tag}\n" for n, tag in enumerate(tags))
    (answer,) = Bio.build({"scheme": scheme, **options}).read_answers(Document("f", text.encode()))
    return sorted(answer.value.spans)


def write(length, spans, scheme):
    """Tag a sentence as the scheme's definition says."""
    tags = ["O"] * length
    before = None
    for span in sorted(spans):
        adjacent = before is not None and before.end == span.start and before.type == span.type
        for n in range(span.start, span.end):
            tags[n] = f"I-{span.type}"
        if scheme != "iob1" or adjacent:
            tags[span.start] = f"B-{span.type}"
        if scheme in ("bioes", "bilou"):
            last, only = "ES" if scheme == "bioes" else "LU"
            tags[span.end - 1] = f"{last}-{span.type}"
            if span.end - span.start == 1:
                tags[span.start] = f"{only}-{span.type}"
        before = span
    return tags


@st.composite
def sentences(draw):
    """A length, and spans that do not overlap but may touch."""
    length = draw(st.integers(1, 12))
    cuts = sorted(draw(st.sets(st.integers(0, length), min_size=2, max_size=8)) | {0})
    types = st.sampled_from(["PER", "LOC", "creative-work"])
    return length, [Span(a, b, draw(types)) for a, b in itertools.pairwise(cuts) if draw(st.booleans())]


@given(sentences(), st.sampled_from(["iob1", "iob2", "bioes", "bilou"]), st.sampled_from(["reject", "begin"]))
def test_every_scheme_reads_back_what_it_writes(sentence, scheme, invalid_tags):
    length, spans = sentence
    assert read(write(length, spans, scheme), scheme, invalid_tags=invalid_tags) == sorted(spans)


@pytest.mark.parametrize(("tags", "scheme", "line", "lenient"), [
    (["O", "I-A"], "iob2", 2, [Span(1, 2, "A")]),
    (["B-A", "I-B"], "iob2", 2, [Span(0, 1, "A"), Span(1, 2, "B")]),
    (["I-A", "I-A"], "iob2", 1, [Span(0, 2, "A")]),
    (["B-A"], "iob1", 1, [Span(0, 1, "A")]),
    (["I-A", "B-B"], "iob1", 2, [Span(0, 1, "A"), Span(1, 2, "B")]),
    (["B-A", "O"], "bioes", 2, [Span(0, 1, "A")]),
    (["B-A"], "bioes", 1, [Span(0, 1, "A")]),
    (["B-A", "I-A"], "bilou", 2, [Span(0, 2, "A")]),
    (["L-A", "U-A"], "bilou", 1, [Span(0, 1, "A"), Span(1, 2, "A")]),
    (["E-A", "S-A"], "bioes", 1, [Span(0, 1, "A"), Span(1, 2, "A")]),
    (["B-A", "B-A", "E-A"], "bioes", 2, [Span(0, 1, "A"), Span(1, 3, "A")]),
    (["B-A", "I-B", "E-B"], "bioes", 2, [Span(0, 1, "A"), Span(1, 3, "B")]),
])
def test_invalid_transitions_are_refused_with_their_line_or_begin_a_span(tags, scheme, line, lenient):
    with pytest.raises(InputError, match=f"in the scheme {scheme}") as caught:
        read(tags, scheme)
    assert caught.value.line == line
    assert read(tags, scheme, invalid_tags="begin") == lenient


@pytest.mark.parametrize("tag", ["A", "X-A", "B-", "B", "O-A", "E-A", "b-A", "O-"])
def test_what_is_no_tag_of_the_scheme_is_refused_even_leniently(tag):
    for invalid_tags in ("reject", "begin"):
        with pytest.raises(InputError, match="is not valid; expected O, or B-TYPE, I-TYPE"):
            read([tag], invalid_tags=invalid_tags)


def test_comments_name_sentences_and_give_attributes():
    text = "# id = s1\n# document = d1\n# read by hand\n#tag\tO\nx\tB-A\n\n\n# id = s2\ny\tO\n"
    items = Bio(scheme="iob2", comment="#").read_gold({"gold": Document("f", text.encode())})
    assert [(i.key, i.gold.tokens, dict(i.attributes), i.line) for i in items] == [
        ("s1", ("#tag", "x"), {"document": "d1"}, 4), ("s2", ("y",), {}, 9)]


def test_a_token_in_another_normal_form_is_named_as_that():
    reader = Bio(scheme="iob2")
    (gold,), (answer,) = (reader.read_answers(Document("f", f"{token}\tO\n".encode())) for token in ("é", "e\u0301"))
    assert reader.mismatch(gold.value, answer.value)[1].endswith("; only the Unicode normal form (NFC or NFD) differs")


def test_a_line_that_begins_a_document_is_no_sentence():
    """As in the files of CoNLL-2003, whose columns are parted by blanks."""
    text = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n\n\n-DOCSTART- -X- O O\n\nx NN I-NP O\n\ny NN I-NP O\n"
    reader = Bio(scheme="iob1", columns=("token", "pos", "chunk", "label"), separator="whitespace",
                 docstart="-DOCSTART-")
    items = reader.read_gold({"gold": Document("f", text.encode())})
    assert [(i.key, i.attributes) for i in items] == [
        ("1", {"document": "1"}), ("2", {"document": "2"}), ("3", {"document": "2"})]


def test_gold_and_system_may_stand_in_two_columns_of_one_file_as_conlleval_reads_them():
    """A type that changes begins a span, as conlleval has it, whatever the prefix."""
    text = "He PRP B-NP B-NP\nruns VBZ B-VP I-VP\nfast RB O B-ADVP\n"
    options = {"columns": ("token", "pos", "gold", "system"), "separator": "whitespace", "scheme": "iob2"}
    document = Document("f", text.encode())
    (item,) = Bio(label="gold", **options).read_gold({"gold": document})
    (answer,) = Bio(label="system", invalid_tags="begin", **options).read_answers(document)
    assert item.gold.spans == {Span(0, 1, "NP"), Span(1, 2, "VP")}
    assert answer.value.spans == {Span(0, 1, "NP"), Span(1, 2, "VP"), Span(2, 3, "ADVP")}


def test_blanks_other_than_spaces_and_tabs_belong_to_tokens():
    (answer,) = Bio(scheme="iob2", separator="whitespace").read_answers(Document("f", "a\u00a0b \t O\n".encode()))
    assert answer.value.tokens == ("a\u00a0b",)


def test_sentences_without_a_name_are_numbered():
    answers = Bio(scheme="iob2").read_answers(Document("f", b"\r\nx\tO\r\n\r\ny\tO\r\n"))
    assert [(a.key, a.line) for a in answers] == [("1", 2), ("2", 4)]


@pytest.mark.parametrize(("text", "says"), [
    ("x O\n", "the line has 1 column; expected 2"), ("x\tO\tO\n", "3 columns"), ("x\t\n", "the tag is empty"),
    ("\tO\n", "the token is empty"), ("# only a comment\n", "column"),
])
def test_broken_lines_are_named(text, says):
    with pytest.raises(InputError, match=says) as caught:
        Bio(scheme="iob2").read_answers(Document("f", text.encode()))
    assert caught.value.line == 1


def test_a_name_that_is_empty_is_none():
    with pytest.raises(InputError, match="the comment 'id' is empty") as caught:
        Bio(scheme="iob2", comment="#").read_answers(Document("f", b"x\tO\n\n# id =\ny\tO\n"))
    assert caught.value.line == 3


def test_the_scheme_must_be_declared():
    with pytest.raises(InputError, match="bio needs the option 'scheme'"):
        Bio.build({})


HIPE = """TOKEN\tNE-COARSE-LIT\tNE-NESTED\tMISC
# hipe:date = 1881
# hipe:document_id = p22
Ajax\tB-work\tO\tLED0.00|NoSpaceAfter
1449\tI-work\tB-scope\tEndOfSentence
#In\tO\tO\t_
# segment_iiif_link = _
Paris\tB-loc\t_\tEndOfSentence

# hipe:date = 1882
# hipe:document_id = p23
Troy\tB-loc\tO\t_
"""
GERMEVAL = """#\thttp://example.org/a\t[2009-10-17]\t
1\tSt.\tB-ORG\tO
2\tPauli\tI-ORG\tB-LOC

#\texample.org vom 01.02.2005\t[2005-02-01]
1\tHalt\tO\tO
"""
CONLL = "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\n. . O O\n\n-DOCSTART- -X- -X- O\n\nHe PRP B-NP O\n"
MULTICONER = "# id 52-39\tdomain=en\n# _ _ O\nbeatles _ _ B-GRP\n\n\n# id 9-7\tdomain=en\nhelp _ _ B-CW\n"
HIPE_OPTIONS = {"scheme": "iob2", "header": True, "token": "TOKEN", "label": "NE-COARSE-LIT", "comment": "# ",
                "comments": "anywhere", "document": "hipe:document_id"}


@pytest.mark.parametrize(("text", "options", "items"), [
    (HIPE, HIPE_OPTIONS | {"sentence_end": ["MISC", "EndOfSentence"]}, [
        ("1", ["Ajax", "1449"], "p22", [(0, 2, "work")], 4), ("2", ["#In", "Paris"], "p22", [(1, 2, "loc")], 6),
        ("3", ["Troy"], "p23", [(0, 1, "loc")], 12)]),
    (HIPE, HIPE_OPTIONS | {"item": "document"}, [
        ("p22", ["Ajax", "1449", "#In", "Paris"], "p22", [(0, 2, "work"), (3, 4, "loc")], 4),
        ("p23", ["Troy"], "p23", [(0, 1, "loc")], 12)]),
    (HIPE, HIPE_OPTIONS | {"label": "3", "outside": ["O", "_"]}, [
        ("1", ["Ajax", "1449", "#In", "Paris"], "p22", [(1, 2, "scope")], 4), ("2", ["Troy"], "p23", [], 12)]),
    (GERMEVAL, {"scheme": "iob2", "columns": [], "token": "2", "label": "-1", "comment": "#", "comments": "anywhere"}, [
        ("1", ["St.", "Pauli"], None, [(1, 2, "LOC")], 2), ("2", ["Halt"], None, [], 6)]),
    (CONLL, {"scheme": "iob1", "columns": ["token", "pos", "chunk", "label"], "separator": "whitespace",
             "docstart": "-DOCSTART-", "invalid_tags": "begin"}, [
        ("1", ["EU", "."], "1", [(0, 1, "ORG")], 3), ("2", ["He"], "2", [], 8)]),
    (CONLL, {"scheme": "iob2", "columns": [], "token": "1", "label": "-1", "separator": "whitespace",
             "docstart": "-DOCSTART-", "item": "document"}, [
        ("1", ["EU", "."], "1", [(0, 1, "ORG")], 3), ("2", ["He"], "2", [], 8)]),
    (MULTICONER, {"scheme": "iob2", "columns": ["token", "a", "b", "label"], "separator": "whitespace",
                  "comment": "#", "comments": "anywhere"}, [
        ("52-39", ["#", "beatles"], None, [(1, 2, "GRP")], 2), ("9-7", ["help"], None, [(0, 1, "CW")], 7)]),
], ids=["HIPE sentences", "HIPE documents", "HIPE nested", "GermEval", "CoNLL-2003", "by number", "MultiCoNER"])
def test_layouts_of_shared_tasks(text, options, items):
    read_items = Bio.build(options).read_gold({"gold": Document("f", text.encode())})
    assert [(i.key, list(i.gold.tokens), i.attributes.get("document"),
             [(s.start, s.end, s.type) for s in sorted(i.gold.spans)], i.line) for i in read_items] == items
    if text is HIPE:
        assert [item.attributes["hipe:date"] for item in read_items] == ["1881"] * (len(items) - 1) + ["1882"]


@given(st.lists(sentences(), min_size=1, max_size=4), st.randoms())
def test_text_that_is_cut_otherwise_is_cut_as_the_gold_is(texts, rng):
    """Whatever breaks and comments stand between spans: what is read is the gold's own, with the lines of the file."""
    gold, items, lines = [], [], []
    for number, (length, spans) in enumerate(texts):
        tags = write(length, spans, "iob2")
        gold += [*(f"w{number}-{n}\t{tag}" for n, tag in enumerate(tags)), ""]
        for n, tag in enumerate(tags):
            if not tag.startswith("I"):
                lines += rng.sample(["", "# x = y"], rng.randint(0, 2))
            lines.append(f"w{number}-{n}\t{tag}")
    items = Bio(scheme="iob2").read_gold({"gold": Document("g", "\n".join(gold).encode())})
    reader = Bio(scheme="iob2", comment="# ", comments="anywhere", boundaries="gold")
    answers = reader.assign(items, reader.read_answers(Document("f", "\n".join(lines).encode())), "f")
    assert [(answer.key, answer.value) for answer in answers] == [(item.key, item.gold) for item in items]
    assert [lines[answer.line - 1].split("\t")[0] for answer in answers] == [item.gold.tokens[0] for item in items]


def test_text_that_is_not_the_golds_or_spans_that_are_not_within_its_items_are_refused_or_divided():
    items = Bio(scheme="iob2").read_gold({"gold": Document("g", b"a\tB-X\nb\tO\n\nc\tB-X\nd\tO\n")})

    def cut(text, **options):
        reader = Bio.build({"scheme": "iob2", "boundaries": "gold", **options})
        answers = reader.assign(items, reader.read_answers(Document("f", text)), "f")
        return [sorted((s.start, s.end, s.type) for s in answer.value.spans) for answer in answers]

    with pytest.raises(InputError, match="f:2: the file has 3 tokens, but the gold has 4, and the first different "
                                         "token is here, "
                                         r"in item '1'; write one line for each token of the gold"):
        cut(b"a\tO\nc\tO\nd\tO\n")
    with pytest.raises(InputError, match="f:5: the file has 5 tokens, but the gold has 4;"):
        cut(b"a\tO\nb\tO\nc\tO\nd\tO\ne\tO\n")
    crossing = b"a\tO\nb\tB-X\nc\tI-X\nd\tI-X\n"
    with pytest.raises(InputError, match="f:2: a span of type 'X' begins in the gold's item '1' and ends after it"):
        cut(crossing)
    assert cut(crossing, invalid_tags="begin") == [[(1, 2, "X")], [(0, 2, "X")]]
    assert cut(crossing, invalid_tags="begin", rename={"X": "Y"}) == [[(1, 2, "Y")], [(0, 2, "Y")]]


def test_a_submission_may_have_tags_alone():
    items = Bio(scheme="iob2").read_gold({"gold": Document("g", b"a\tB-X\nb\tO\n\nc\tB-X\n")})
    for boundaries, text in (("own", b"B-X\nI-X\n\nO\n"), ("gold", b"B-X\nI-X\nO\n")):
        reader = Bio.build({"scheme": "iob2", "token": "", "columns": ["label"], "boundaries": boundaries})
        found = reader.assign(items, reader.read_answers(Document("f", text)), "f")
        assert [sorted(answer.value.spans) for answer in found] == [[Span(0, 2, "X")], []]
        assert all(reader.mismatch(i.gold, a.value) is None for i, a in zip(items, found, strict=True))
    with pytest.raises(InputError, match="the gold has no column of tokens"):
        reader.read_gold({"gold": Document("g", text)})


@pytest.mark.parametrize(("options", "says"), [
    ({"columns": ["token", "label"], "label": "3"}, "no column '3'"), ({"label": "-3"}, "no column '-3'"),
    ({"item": "document"}, "needs a mark of where documents begin"), ({"document": "newdoc"}, "also set the option "
                                                                                              "'comment', the text "
                                                                                              "that begins a comment"),
    ({"sentence_end": ["MISC"]}, "must be a column and the value"),
    ({"columns": [], "token": "1", "label": "tag"}, "no column 'tag'"),
])
def test_options_that_contradict_each_other_are_refused(options, says):
    with pytest.raises(InputError, match=says):
        Bio.build({"scheme": "iob2", **options})


@pytest.mark.parametrize(("text", "options", "says"), [
    (b"# a\nword\ttag\nx\tO\n", {"header": True, "comment": "#"}, "f:2: the header has no column 'label'"),
    (b"token\tlabel\n", {"header": True}, "f: the file has no sentence"),
    (b"x\tO\n", {"columns": [], "label": "3", "token": "1"}, "f:1: column '3' is not among the 2 columns"),
])
def test_columns_that_are_not_there_are_named(text, options, says):
    with pytest.raises(InputError, match=says):
        Bio.build({"scheme": "iob2", **options}).read_answers(Document("f", text))


def test_a_document_has_a_name_and_a_text_has_tokens():
    named = Bio(scheme="iob2", comment="# ", comments="anywhere", document="doc", item="document")
    with pytest.raises(InputError, match="f:2: the name of the item is empty; write a name"):
        named.read_answers(Document("f", b"# doc = \nw\tO\n"))
    problems = Problems(1)
    text = Document("f", b"TOKEN\tTAG\n", problems)
    assert Bio(scheme="iob2", header=True, columns=("TOKEN", "TAG"), token="TOKEN", label="TAG",
               boundaries="gold").read_answers(text) == []
    assert problems.found


@pytest.mark.parametrize(("options", "tags", "is_cut"), [
    ({}, ["B-loc", "I-loc", "I-loc"], True), ({"invalid_tags": "begin"}, ["B-loc", "I-loc", "I-loc"], True),
    ({}, ["B-loc", "I-loc", "B-loc"], False), ({}, ["O", "B-per", "O"], False),
    ({"scheme": "bioes"}, ["B-loc", "I-loc", "E-loc"], True), ({"scheme": "bioes"}, ["B-loc", "E-loc", "S-loc"], False),
    ({"scheme": "iob1"}, ["I-loc", "I-loc", "I-loc"], False)])
def test_a_gold_span_that_sentence_end_would_cut_is_refused(options, tags, is_cut):
    """St . Louis, with a sentence end at the full stop, was two spans."""
    notes = ["_", "EndOfSentence", "_"]
    rows = [f"w\t{tag}\t{note}" for tag, note in zip(tags, notes, strict=True)]
    gold = {"gold": Document("g", "\n".join(["TOKEN\tTAG\tMISC", *rows]).encode())}
    reader = Bio.build({"scheme": "iob2", "header": True, "token": "TOKEN", "label": "TAG",
                        "sentence_end": ["MISC", "EndOfSentence"], **options})
    if is_cut:
        with pytest.raises(InputError, match=r"g:4: the span of type 'loc' continues after the sentence end"):
            reader.read_gold(gold)
    else:
        assert len(reader.read_gold(gold)) == 2
