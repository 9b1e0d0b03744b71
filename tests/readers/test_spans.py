"""Tables of spans: one content in every form and counting, refused with line and remedy where a row is wrong."""

import csv
import json

import duckdb
import pytest

from registry.errors import InputError
from registry.items import Span, Tagged
from registry.readers import READERS, Bio, Document, Problems, Spans
from tests.conftest import ROOT

COLUMNS = "item\tstart\tend\ttype\n"


def document(text):
    return Document("f", text if isinstance(text, bytes) else text.encode())


def read(text, **options):
    return {a.key: {(s.start, s.end, s.type, s.score) for s in a.value.spans}
            for a in Spans.build(options).read_answers(document(text))}


EXPECTED = {"d 1": {(0, 4, "PER", None), (9, 12, "LOC", None)}, "d2": set()}


@pytest.mark.parametrize(("text", "options"), [
    (f"{COLUMNS}d 1\t0\t4\tPER\nd 1\t9\t12\tLOC\nd2\t\t\t\n", {}),
    ("end,what,x,start,item\n4,PER,?,0,d 1\n-,-,?,-,d2\n12,LOC,?,9,d 1\n",
     {"separator": "comma", "type": "what", "unscored": "-"}),
    ("d 1\tPER\t1\t4\nd 1\tLOC\t10\t12\nd2\t\t\t\n",
     {"columns": ["item", "type", "start", "end"], "offset": 1, "inclusive": True}),
    ("d 1\t1\t5\tPER\nd 1\t10\t13\tLOC\nd2\t\t\t\n", {"columns": ["item", "start", "end", "type"], "offset": 1}),
    ('{"item": "d 1", "start": 0, "end": 4, "type": "PER"}\n{"item": "d 1", "start": 9.0, "end": 12, "type": "LOC"}\n'
     '{"item": "d2", "start": null, "end": null, "type": null}\n', {"syntax": "jsonl"}),
    ('{"item": "d 1", "e": [{"start": 0, "end": 4, "type": "PER"}, {"start": 9, "end": 12, "type": "LOC"}]}\n'
     '{"item": "d2", "e": null}\n', {"syntax": "jsonl", "spans": "e"}),
    ('{"d 1": [[0, 4, "PER"], [9, 12, "LOC"]], "d2": []}',
     {"syntax": "json", "spans": "e", "start": "0", "end": "1", "type": "2"}),
    (json.dumps([{"item": item, "done": [{"of": [{"at": {"from": a, "to": b, "of": [type_]}} for a, b, type_ in of]}]}
                 for item, of in (("d 1", [(9, 12, "LOC"), (0, 4, "PER")]), ("d2", []))]),
     {"syntax": "json", "spans": "done.0.of", "start": "at.from", "end": "at.to", "type": "at.of.0"}),
])
def test_one_content_in_many_forms(text, options):
    assert read(text, **options) == EXPECTED


def test_parquet_says_the_same_with_positions_that_nulls_have_made_floating(tmp_path):
    duckdb.sql("COPY (SELECT * FROM (VALUES ('d 1', 0.0::DOUBLE, 4::DOUBLE, 'PER'), ('d 1', 9.0, 12.0, 'LOC'), "
               f"('d2', NULL, NULL, NULL)) t(item, start, \"end\", type)) TO '{tmp_path}/f.parquet' (FORMAT parquet)")
    assert read((tmp_path / "f.parquet").read_bytes(), syntax="parquet") == EXPECTED


def test_types_may_be_left_out_and_scores_read_which_do_not_make_another_span():
    assert read("item\tstart\tend\nd\t0\t4\n", type="") == {"d": {(0, 4, "", None)}}
    text = "item\tstart\tend\ttype\tp\nd\t0\t4\tA\t0.25\nd\t5\t6\tA\t\n"
    assert read(text, score="p") == {"d": {(0, 4, "A", 0.25), (5, 6, "A", None)}}
    assert Span(0, 4, "A", 0.25) == Span(0, 4, "A")
    (answer,) = Spans(score="p").read_answers(document(text))
    assert [tuple(r) for r in Spans().answer_set(answer.value)] == [("1-4", "A", 0.25), ("6-6", "A", None)]


def test_the_items_of_the_gold_have_the_attributes_that_all_their_rows_give():
    text = "item\tstart\tend\ttype\ttopic\nd\t0\t4\tA\tnews\ne\t\t\t\tnews\nd\t6\t7\tA\tnews\n"
    first, second = Spans(attributes=("topic",)).read_gold({"gold": document(text)})
    assert (first.key, first.gold, first.line) == ("d", Tagged((), frozenset({Span(0, 4, "A"), Span(6, 7, "A")})), 2)
    assert (second.key, second.gold, second.attributes) == ("e", Tagged((), frozenset()), {"topic": "news"})
    with pytest.raises(InputError, match="f:4: item 'd': 'topic' is 'web', but 'news' in line 2; write the same value "
                                         "in all rows"):
        Spans(attributes=("topic",)).read_gold({"gold": document(text[:-5] + "web\n")})


@pytest.mark.parametrize(("rows", "options", "line", "says"), [
    ("d\t-1\t4\tA", {}, 2, "item 'd': 'start' is '-1'; expected a whole number from 0 to 999999999"),
    ("d\t0\t4\tA", {"offset": 1}, 2, "'start' is '0'; expected a whole number from 1"),
    ("d\t0\t4.0\tA", {}, 2, "'end' is '4.0'; expected a whole number"),
    ("d\t0\t1e3\tA", {}, 2, "'end' is '1e3'"),
    ("d\t0\t4000000000\tA", {}, 2, "'end' is '4000000000'"),
    ("d\t\u0661\t4\tA", {}, 2, "expected a whole number"),
    ("d\t7\t3\tA", {}, 2, "the span from '7' to '3' ends before it starts"),
    ("d\t7\t6\tA", {"inclusive": True}, 2, "ends before it starts"),
    ("d\t7\t7\tA", {}, 2, "is empty; the end must be the position after the last one, or set inclusive = true"),
    ("d\t0\t4\t", {}, 2, "'type' is ''; expected text"),
    ("d\t0\t4\tA\u200b", {}, 2, "'type' has a control or invisible character"),
    ("d\t\t4\tA", {}, 2, "'start' is ''"),
    ("d\t0\t4\tA\nd\t0\t4\tA", {}, 3, "span 0-4 of type 'A' occurs twice, first in line 2; keep one"),
    ("d\t1\t4\tA\nd\t1\t4\tA", {"offset": 1, "inclusive": True}, 3, "span 1-4 of type 'A' occurs twice"),
    ("d\t5\t9\tB\nd\t0\t6\tA", {}, 3, "span 0-6 overlaps 5-9 in line 2; correct the file, or set overlaps"),
    ("d\t0\t9\tA\nd\t1\t2\tA\nd\t9\t10\tA", {}, 3, "span 1-2 overlaps 0-9 in line 2"),
    ("d\t0\t4\tA\nd\t\t\t", {}, 3, "the row says that this item has no span, but line 2 has a span; remove one of the "
                                   "two rows"),
    ("d\t\t\t\nd\t0\t4\tA", {}, 3, "this item has a span, but line 2 says that it has none; remove one of the two "
                                   "rows"),
    ("d\t\t\t\nd\t\t\t", {}, 3, "line 2 says that it has none"),
])
def test_wrong_rows_are_refused_with_line_and_remedy(rows, options, line, says):
    with pytest.raises(InputError) as caught:
        read(f"{COLUMNS}{rows}\n", **options)
    assert says in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(("spans", "says"), [
    ("3", "'e' is 3; expected a list of spans"), ("[3]", "the span 3 is not valid: it has no element 'start'"),
    ('[{"start": 1, "type": "A"}]', "the span {\"start\": 1, \"type\": \"A\"} is not valid: the key 'end' is missing"),
    ('[{"start": null, "end": null, "type": null}]', "write an empty list if the item has no span"),
    ('[{"start": 1, "end": 1, "type": "A"}]', "or set inclusive = true"),
    ('[]}\n{"item": "d", "e": []', "f:2: item 'd': occurs twice, first in line 1; write all its spans in one list")])
def test_wrong_lists_are_refused(spans, says):
    with pytest.raises(InputError) as caught:
        read(f'{{"item": "d", "e": {spans}}}', syntax="jsonl", spans="e")
    assert says in str(caught.value)


@pytest.mark.parametrize("cell", ["true", '"4"', "0.5", "-1", "NaN", "1e400", "null", "[4]"])
def test_positions_in_json_are_whole_numbers(cell):
    with pytest.raises(InputError, match="f:1: "):
        read(f'{{"item": "d", "start": {cell}, "end": 9, "type": "A"}}', syntax="jsonl")


def test_overlapping_spans_are_read_where_they_are_allowed():
    text = f"{COLUMNS}d\t0\t9\tA\nd\t0\t9\tB\nd\t2\t4\tA\n"
    assert read(text, overlaps="allow") == {"d": {(0, 9, "A", None), (0, 9, "B", None), (2, 4, "A", None)}}


def test_every_span_that_overlaps_is_told_where_somebody_wants_to_know():
    problems = Problems(None)
    Spans().read_answers(document(f"{COLUMNS}d\t0\t9\tA\nd\t1\t2\tA\nd\t3\t4\tA\nd\t9\t11\tA\n").collect(problems))
    assert [error.line for error in problems.found] == [3, 4]


def test_tags_do_not_go_with_a_gold_of_spans_alone():
    (gold,) = Spans().read_gold({"gold": document(f"{COLUMNS}1\t0\t1\tA\n")})
    (answer,) = Bio(scheme="iob2").read_answers(document("x\tB-A\n"))
    assert "has spans without tokens" in Bio(scheme="iob2").incomparable(gold.gold, answer.value)


def test_an_item_needs_a_name():
    with pytest.raises(InputError, match="option 'item' of spans must name one column or more"):
        READERS["spans"].build({"item": []})


@pytest.mark.slow
def test_spans_of_tokens_are_those_that_tags_write(registry, scored, tmp_path):
    """The sample task with its tags written as a table: the same boards, and tables go with a gold of tags."""
    bio, folder = Bio(scheme="iob2", comment="#"), tmp_path / "task"
    (folder / "submissions").mkdir(parents=True)
    sample = ROOT / "sample_data" / "entities"
    for path in [sample / "gold.conll", *sorted(sample.glob("submissions/*.conll"))[:3]]:
        with open(folder / path.relative_to(sample), "w", newline="") as file:
            table = csv.writer(file, delimiter="\t", lineterminator="\n")
            table.writerow(["item", "start", "end", "type", "document"])
            for item in bio.read_gold({"gold": Document.load(path)}):
                rows = [(s.start, s.end, s.type) for s in sorted(item.gold.spans)] or [("", "", "")]
                table.writerows([item.key, *row, item.attributes.get("document", "")] for row in rows)
    manifest = (sample / "task.toml").read_text()
    head, tail = manifest.split('format = "bio"')
    options = 'options = { attributes = ["document"] }'
    spans = f'{head}format = "spans"\n{options}\n' + tail.partition("\n")[2].partition("\n")[2]
    (folder / "task.toml").write_text(spans)
    mixed = manifest.replace("[submission]", '[submission]\nformat = "spans"', 1)
    (folder / "mixed.toml").write_text(mixed.replace('gold = "gold.conll"', 'gold = "tags.conll"'))
    (folder / "tags.conll").write_bytes((sample / "gold.conll").read_bytes())

    def scores(name):
        db = tmp_path / f"{name}.duckdb"
        board = registry("run", folder / f"{name}.toml", "--db", db, "--format", "json").json
        wrong = registry("query", "SELECT item, answer, type FROM item_response WHERE NOT correct ORDER BY ALL",
                         "--db", db, "--format", "json").stdout
        return {(row["system"], row["score"], row["ci_low"]) for row in board}, json.loads(wrong)

    of_spans = scores("task")
    assert of_spans == scores("mixed")
    scored(sample / "task.toml", db=tmp_path / "bio.duckdb")
    expected = registry("board", "entities", "--db", tmp_path / "bio.duckdb", "--format", "json").json
    assert {(row["system"], row["score"]) for row in expected} > {pair[:2] for pair in of_spans[0]}


def test_spans_beyond_the_golds_tokens_are_refused():
    reader, gold = Spans(offset=1, inclusive=True), Tagged(("a", "b"), frozenset())
    assert reader.incomparable(gold, Tagged((), frozenset({Span(0, 2, "A")}))) is None
    says = reader.incomparable(gold, Tagged((), frozenset({Span(1, 3, "A")})))
    assert says == "span 2-3 ends after the last token; the gold has 2 tokens"


def test_a_pack_gives_no_span_away():
    text = Spans().task_text(Tagged((), frozenset({Span(0, 1, "A")})))
    assert Spans().make_unanswered(text) == Tagged((), frozenset())
