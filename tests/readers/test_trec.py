"""Judgments and runs as trec_eval reads them; what it would pass over in silence is refused with its line."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.evaluation.ingest.problems import Diagnosis
from registry.items import Response
from registry.readers import Document, Problems, Trec
from registry.readers.trec import read_metadata

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n"
RUN = "q1 Q0 d2 0 9.5 mine\nq2 Q0 d1 1 -1e0 mine\nq1 Q0 d7 1 9 mine\n"


def gold(text=QRELS):
    return Trec().read_gold({"gold": Document("f", text.encode())})


def run(text=RUN):
    return Trec().read_answers(Document("f", text.encode()))


def test_judgments_and_runs_by_query():
    assert [(i.key, i.gold, i.line) for i in gold()] == [("q1", {"d1": 2, "d2": 0}, 1), ("q2", {"d1": -1}, 3)]
    assert [(a.key, a.value, a.line) for a in run()] == [("q1", {"d2": 9.5, "d7": 9.0}, 1), ("q2", {"d1": -1.0}, 2)]


@pytest.mark.parametrize("change", [
    lambda text: text.replace(" ", "\t"), lambda text: text.replace(" ", "  \t "),
    lambda text: text.replace("\n", "\r\n"), lambda text: text.removesuffix("\n"),
    lambda text: text.replace("\n", " \n "),
])
def test_blanks_and_line_ends_of_any_kind(change):
    assert run(change(RUN)) == run()
    assert gold(change(QRELS)) == gold()


def test_blank_lines_are_passed_over_and_counted():
    assert [(a.key, a.line) for a in run("\n" + RUN.replace("\n", "\n\n"))] == [("q1", 2), ("q2", 4)]


HEADER = """# by hand, of 6 words
# ir_metadata.start
# tag: mine
# actor:
#   team: "Søren: #1"
# ir_metadata.end
#
"""


def test_a_run_may_begin_with_comments_and_say_what_it_is():
    assert [(a.key, a.value, a.line) for a in run(HEADER + RUN)] == [(a.key, a.value, a.line + 7) for a in run()]
    assert read_metadata(Document("f", (HEADER + RUN).encode())) == ["tag: mine", "actor:", '  team: "Søren: #1"']
    assert read_metadata(Document("f", RUN.encode())) == read_metadata(Document("f", b"# mine\n" + RUN.encode())) == []
    cut = HEADER.replace("# ir_metadata.end\n", "") + RUN
    assert read_metadata(Document("f", gzip.compress(cut.encode())))[-1:] == [""]
    assert [a.key for a in run("#1 Q0 d2 0 9.5 mine\n#1 Q0 d3 0 9.25 mine\n")] == ["#1"]  # a query of that name
    for bad, line in ((RUN + HEADER, 4), (HEADER, None), ("q1 Q0 d2 0 9.5 mine\n# so\n", 2)):
        with pytest.raises(InputError) as caught:
            run(bad)
        assert line in (caught.value.line, None)
    with pytest.raises(InputError):
        gold("# no comment\n" + QRELS)


def test_relevant_documents_are_the_golds_answers_and_all_that_are_returned_the_runs():
    reader = Trec()
    assert [reader.answer_set(item.gold) for item in gold()] == [[Response("d1")], []]
    assert reader.answer_set(run()[0].value) == [Response("d2", "", 9.5), Response("d7", "", 9.0)]


@pytest.mark.parametrize(("text", "options"), [
    ("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t-1\n",
     {"judgments": ["query", "document", "relevance"], "skip": 1}),
    ('{"q1": {"d1": 2,\n"d2": 0},\n\n"q2": {"d1": -1}}', {"syntax": "json"}),
])
def test_judgments_of_other_tasks(text, options):
    items = Trec.build(options).read_gold({"gold": Document("f", text.encode())})
    assert [(item.key, item.gold) for item in items] == [(item.key, item.gold) for item in gold()]
    assert [item.line for item in items] == ([2, 4] if "skip" in options else [1, 4])
    assert all(type(grade) is int for item in items for grade in item.gold.values())


@pytest.mark.parametrize(("text", "options"), [
    ("q1\t1\td2\t9.5\tmine\nq2\t1\td1\t-1e0\tmine\nq1\t2\td7\t9\tmine\n",
     {"run": ["query", "rank", "document", "score", "tag"]}),
    ("9.5 d2 q1\n-1 d1 q2\n9 d7 q1\n", {"run": ["score", "document", "query"]}),
    ('{"q1": {"d2": 9.5, "d7": 9}, "q2": {"d1": -1}}', {"syntax": "json"}),
])
def test_runs_of_other_tasks(text, options):
    answers = Trec.build(options).read_answers(Document("f", text.encode()))
    assert [(answer.key, answer.value) for answer in answers] == [(answer.key, answer.value) for answer in run()]
    assert all(type(score) is float for answer in answers for score in answer.value.values())


@pytest.mark.parametrize(("text", "options", "says"), [
    ('{"q1": {"d1": 1},\n"q2": {"d1": 0.5}}', {},
     "f:2: item 'q2': the relevance of document 'd1' is 0.5; expected a whole"),
    ('{"q1": {"d1": true}}', {}, "'d1' is true"), ('{"q1": {"d1": 1001}}', {}, "'d1' is 1001"),
    (f'{{"q1": {{"d1": {"9" * 500}}}}}', {}, "expected a whole number"), ('{"q1": {"": 1}}', {}, "document ''"),
    ('{"q1": [1]}', {}, "f:1: an entry is not a query with its documents"), ('[{"q1": 1}]', {}, "an entry is not a "
                                                                                                "query with its "
                                                                                                "documents"),
    ('{"q1": {"d1": 1, "d1": 2}}', {}, "a key occurs twice"),
    ('{"q1": {},\n"q1": {}}', {}, "f:2: item 'q1': occurs twice"),
    ("{}", {}, "the file has no query"), ("", {}, "the file is empty"),
    ("q1 d1 2\nq1 d1 1\n", {"syntax": "delimited", "judgments": ["query", "document", "relevance"]},
     "f:2: item 'q1': document 'd1' occurs twice, first in line 1"),
])
def test_what_is_wrong_in_other_layouts_is_named(text, options, says):
    with pytest.raises(InputError, match=says):
        Trec.build({"syntax": "json", **options}).read_gold({"gold": Document("f", text.encode())})


@pytest.mark.parametrize("options", [
    {"judgments": ["query", "document"]}, {"run": ["query", "document", "score", "score"]}])
def test_columns_that_are_wanted_are_named_once(options):
    with pytest.raises(InputError, match=r"name the column '(relevance|score)' exactly once"):
        Trec.build(options)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "1", "-2", "x y", "", " ", "\t", "é"]), max_size=8), max_size=6))
def test_reading_at_once_and_line_by_line_agree(lines):
    """Against the definition: every line that is not blank has four cells, the last one a small whole number."""
    text = "".join(" ".join(line) + "\n" for line in lines)
    rows = [(n, line.split()) for n, line in enumerate(text.split("\n"), 1) if line.split()]
    bad = [n for n, row in rows if len(row) != 4 or row[3] not in ("1", "-2")]
    seen = [(row[0], row[2]) for _, row in rows if len(row) == 4]
    if rows and not bad and len(set(seen)) == len(seen):
        assert {(i.key, d, r) for i in gold(text) for d, r in i.gold.items()} == {
            (row[0], row[2], int(row[3])) for _, row in rows}
    else:
        with pytest.raises(InputError) as caught:
            gold(text)
        assert not bad or caught.value.line == bad[0]


@pytest.mark.parametrize(("text", "line", "says"), [
    (RUN + "q2 Q0 d9 1 3\n", 4, "the line has 5 columns; expected 6 (query, Q0, document, rank, score, tag)"),
    ("q1 Q0 d1 1 2 mine x\nq1 Q0 d2 1 2\n", 1, "the line has 7 columns; expected 6"),
    (RUN.replace("9.5", "nan"), 1, "item 'q1': the score is 'nan'; expected a finite number"),
    (RUN.replace("-1e0", "1e999"), 2, "item 'q2': the score is '1e999'"),
    (RUN.replace("-1e0", "1_0"), 2, "the score is '1_0'"),
    (RUN.replace("9 mine", "high mine"), 3, "the score is 'high'"),
    (RUN + "q2 Q0 d2 2 1 yours\n", 4, "the tag is 'yours', but 'mine' in earlier lines"),
    (RUN + "q1 Q0 d2 2 1 mine\n", 4, "item 'q1': document 'd2' occurs twice, first in line 1; keep one"),
    (RUN.replace("d7", "d\u200b7"), 3, "item 'q1': the document has a control or invisible character"),
    (RUN.replace("q2", "q\x0b2"), 2, "the query has a control or invisible"),
    (QRELS, 1, "the line has 4 columns; expected 6"),
    ("\n", None, "the file is empty"),
])
def test_wrong_runs_are_refused_with_their_line(text, line, says):
    with pytest.raises(InputError) as caught:
        run(text)
    assert says in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(("text", "line", "says"), [
    (QRELS.replace("2\n", "0.5\n", 1), 1, "the relevance is '0.5'; expected a whole number from -1000 to 1000"),
    (QRELS.replace("-1", "1001"), 3, "the relevance is '1001'"),
    (QRELS.replace("-1", "9" * 5000), 3, "the relevance is '9999"),
    (QRELS.replace("-1", "٣"), 3, "the relevance is '٣'"),
    (QRELS + "q1 0 d2 0\n", 4, "document 'd2' occurs twice, first in line 2"),
])
def test_wrong_judgments_are_refused_with_their_line(text, line, says):
    with pytest.raises(InputError) as caught:
        gold(text)
    assert says in str(caught.value)
    assert caught.value.line == line


def test_all_that_is_wrong_is_collected_where_somebody_wants_to_know():
    problems = Problems(None)
    text = RUN.replace("-1e0", "low") + "q1 Q0 d2 2 1 mine\nq3 Q0 d1\nq3 Q0 d1 1 1 mine\n"
    found = Trec().read_answers(Document("f", text.encode()).collect(problems))
    assert [(error.line, error.category) for error in problems.found] == [
        (2, "format"), (5, "format"), (4, "duplicate")]
    assert [answer.key for answer in found] == ["q1", "q3"]


def test_the_tag_is_that_of_the_first_line_that_has_one():
    problems = Problems(None)
    Trec().read_answers(Document("f", f"q0 Q0 d 1 x y z\n{RUN}".encode()).collect(problems))
    assert [error.line for error in problems.found] == [1]


def test_a_query_that_stands_twice_in_a_file_that_breaks_off_has_no_likely_cause():
    """All that was read of the file is lost with its end."""
    problems, reader = Problems(20), Trec(syntax="json")
    document = Document("f", b'{"q1": {"d1": 1}, "q1": {"d1": 1}, ', problems)
    with pytest.raises(InputError, match="not JSON"):
        reader.read_answers(document)
    (twice,) = problems.found
    items = reader.read_gold({"gold": Document("g", b'{"q1": {"d1": 1}}')})
    diagnosis = Diagnosis(document, reader, [], {"test": items}, "test", problems.counts)
    assert (twice.category, diagnosis.cause(twice)) == ("duplicate", "")


def test_lists_in_json_are_in_the_order_of_their_ranks():
    reader = Trec(syntax="json")
    (answer,) = reader.read_answers(Document("r", b'{"q1": ["d7", 4, "d2"]}'))
    assert (answer.key, answer.value) == ("q1", {"d7": 1, "4": 1 / 2, "d2": 1 / 3})
    with pytest.raises(InputError, match="r:2: item 'q2': document 'd7' occurs twice"):
        reader.read_answers(Document("r", b'{"q1": ["d7"],\n"q2": ["d7", "d7"]}'))
    with pytest.raises(InputError, match="an entry is not a query with its documents"):
        reader.read_gold({"gold": Document("g", b'{"q1": ["d7"]}')})
