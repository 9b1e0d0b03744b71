"""Tables of numbers: CSV, TSV, JSON Lines and Parquet say the same; a bad cell is named with its line."""

import math
import random

import duckdb
import pytest

from registry.errors import InputError
from registry.readers import READERS, Document, Problems, Scores, Statistics
from registry.readers.scores import LogProbabilities
from registry.values import parse


def parquet(folder, select):
    path = folder / "made.parquet"
    duckdb.sql(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path.read_bytes()


def scores(content, **options):
    content = content.encode() if isinstance(content, str) else content
    return [(a.key, a.value, a.line) for a in Scores.build(options).read_answers(Document("f", content))]


@pytest.mark.parametrize(("text", "options"), [
    ("item\tscore\nx y\t0.5\nz\t-3\n", {}),
    ('score,item,note\n.5,x y,\n-3e0,z,"a, b"\n', {"separator": "comma"}),
    ("# made by us\nx y\t?\t+0.50\nz\t?\t-3\n", {"comment": "#", "columns": ["item", "note", "score"]}),
    ('{"item": "x y", "score": 0.5}\n{"score": -3, "item": "z", "more": []}\n', {"syntax": "jsonl"}),
])
def test_one_content_in_many_forms(text, options):
    assert [(key, value) for key, value, _ in scores(text, **options)] == [("x y", 0.5), ("z", -3.0)]


def test_parquet_says_the_same(tmp_path):
    content = parquet(tmp_path, "SELECT * FROM (VALUES ('x y', 0.5, 7), ('z', -3, 8)) t(item, score, n)")
    assert scores(content, syntax="parquet") == [("x y", 0.5, 1), ("z", -3.0, 2)]
    assert scores(content, syntax="parquet", item="n") == [("7", 0.5, 1), ("8", -3.0, 2)]


def test_keys_of_several_columns_and_numbered_rows():
    text = "a,b,s\nx,1,2\nx,2,3\n"
    assert [k for k, *_ in scores(text, separator="comma", item=["a", "b"], score="s")] == ["x 1", "x 2"]
    assert [k for k, *_ in scores(text, separator="comma", item=[], score="s")] == ["1", "2"]


@pytest.mark.parametrize(("syntax", "text"), [("json", '[{"s": 1}, {"s": 2}]'), ("jsonl", '{"s": 1}\n{"s": 2}\n')])
def test_a_gold_of_numbered_rows_needs_no_column(syntax, text):
    items = Scores(item=(), syntax=syntax).read_gold({"gold": Document("f", text.encode())})
    assert [item.key for item in items] == ["1", "2"]


def test_what_is_not_scored_is_no_answer():
    text = "item\tscore\na\t\nb\tNA\nc\t1\n"
    assert [k for k, *_ in scores(text, unscored=["", "NA"])] == ["c"]
    assert scores('{"item": "a", "score": null}', syntax="jsonl") == []


@pytest.mark.parametrize("score", ["-1", "-1.0", '"-1"'])
def test_what_stands_for_no_score_can_be_a_number_of_json(score):
    text = f'{{"item": "a", "score": {score}}}\n{{"item": "b", "score": 1}}\n'
    assert scores(text, syntax="jsonl", unscored="-1") == [("b", 1.0, 2)]


def test_what_stands_for_no_score_can_be_a_number_of_parquet(tmp_path):
    for type_ in ("DOUBLE", "INTEGER", "DECIMAL(4, 1)"):
        content = parquet(tmp_path, f"SELECT unnest(['a', 'b']) AS item, unnest([-1, 1])::{type_} AS score")
        assert scores(content, syntax="parquet", unscored="-1") == [("b", 1.0, 2)]


def test_truth_values_are_scores_where_all_are(tmp_path):
    text = "".join(f'{{"item": "{item}", "score": {score}}}\n' for item, score in (
        ("a", "true"), ("b", "null"), ("c", "false")))
    assert scores(text, syntax="jsonl") == [("a", 1.0, 1), ("c", 0.0, 3)]
    content = parquet(tmp_path, "SELECT unnest(['a', 'b']) AS item, unnest([true, false]) AS score")
    assert scores(content, syntax="parquet") == [("a", 1.0, 1), ("b", 0.0, 2)]


def test_gold_items_with_numbers_and_attributes():
    (item,) = Scores(gold="right", attributes=("topic",)).read_gold({"gold": Document(
        "f", b"item\tright\ttopic\nx\t0.25\tnews\n")})
    assert (item.key, item.gold, item.attributes, item.line) == ("x", 0.25, {"topic": "news"}, 2)
    assert Scores().offers() == ()
    assert Scores(gold="right").offers() == ("gold",)


@pytest.mark.parametrize(("text", "options", "line", "says"), [
    ("item\tscore\na\t1\nb\t0,5\n", {}, 3, "item 'b': 'score' is '0,5'; expected a finite number"),
    ("item\tscore\na\tnan\n", {}, 2, "'score' is 'nan'"),
    ("item\tscore\na\t1e999\n", {}, 2, "'score' is '1e999'"),
    ("item\tscore\na\t1_0\n", {}, 2, "'1_0'"),
    ("item\tscore\na\t١\n", {}, 2, "expected a finite number"),
    ("item\tscore\n\t1\n", {}, 2, "'item' is ''; expected text"),
    ("item\tscore\na\n", {}, 2, "the line has 1 column; expected 2"),
    ("item\tf1\na\t1\n", {}, 1, "the header has no column 'score'"),
    ("item\tscore\n", {}, None, "the file has no item"),
    ("item\tscore\na\u200b\t1\n", {}, 2, "a control or invisible character"),
    ('{"item": "a", "score": "1"}', {"syntax": "jsonl"}, 1, "'score' is '1'; expected a finite number"),
    ('{"item": "a", "score": 1}\n{"item": "b", "score": true}', {"syntax": "jsonl"}, 2,
     "'score' is true, but earlier cells are numbers; write only numbers"),
    ('{"item": "a", "score": true}\n{"item": "b", "score": 0.5}', {"syntax": "jsonl"}, 2,
     "'score' is 0.5, but earlier cells are true or false; write only numbers"),
    ("item\tscore\na\tTrue\nb\t0.5\n", {}, 3, "'score' is '0.5', but earlier cells are true or false; write only "
                                              "numbers"),
    ("item\tscore\na\tyes\n", {}, 2, "'score' is 'yes'; expected a finite number"),
    ('{"item": "a", "score": 1' + "0" * 400 + "}", {"syntax": "jsonl"}, 1, "expected a finite number"),
    ('{"item": 0.5, "score": 1}', {"syntax": "jsonl"}, 1, "'item' is 0.5; expected text or a whole number"),
    ('{"item": "a", "f1": 1}', {"syntax": "jsonl"}, 1, "the key 'score' is missing"),
    ("item\tscore\n", {"syntax": "parquet"}, None, "not a Parquet file"),
    ("PAR1" + "x" * 20 + "PAR1", {"syntax": "parquet"}, None, "cannot read this Parquet file"),
])
def test_errors_name_the_line(text, options, line, says):
    with pytest.raises(InputError, match=says) as caught:
        scores(text, **options)
    assert (caught.value.path, caught.value.line) == ("f", line)


@pytest.mark.parametrize(("select", "options", "says"), [
    ("SELECT 'a' AS item, 'much' AS score", {}, "f:1: item 'a': 'score' is 'much'"),
    ("SELECT 'a' AS item, 'nan'::DOUBLE AS score", {}, "f:1: item 'a': 'score' is NaN"),
    ("SELECT 'a' AS item, 1 AS f1", {}, "no column 'score'; known: f1, item"),
    ("SELECT NULL AS item, 1 AS score", {}, "f:1: 'item' is null"),
    ("SELECT 0.5::DOUBLE AS item, 1 AS score", {}, "expected text or a whole number"),
])
def test_parquet_of_other_types_is_refused(tmp_path, select, options, says):
    with pytest.raises(InputError, match=says):
        scores(parquet(tmp_path, select), syntax="parquet", **options)


def test_there_is_no_text_to_mend_in_parquet(tmp_path):
    with pytest.raises(InputError, match="option 'repair' does not apply to Parquet files"):
        scores(parquet(tmp_path, "SELECT 'a' AS item, 1 AS score"), syntax="parquet", repair=["bom"])


@pytest.mark.slow
def test_a_parquet_file_of_very_many_rows_is_refused_before_it_is_read(tmp_path):
    content = parquet(tmp_path, "SELECT 1 AS item, 1 AS score FROM range(70_000_000)")
    assert len(content) < 2**20
    with pytest.raises(InputError, match="the file has 70,000,000 rows; at most 16,777,216 are allowed"):
        scores(content, syntax="parquet")


def test_the_folder_for_temporary_files_may_have_any_name(tmp_path, monkeypatch):
    content = parquet(tmp_path, "SELECT 'a' AS item, 1 AS score")
    odd = tmp_path / "it's [1] *"
    odd.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(odd))
    assert scores(content, syntax="parquet") == [("a", 1.0, 1)]
    assert list(odd.iterdir()) == []


def statistics(text, **options):
    return [(a.key, a.value) for a in Statistics.build({"statistics": ["tp", "pred"], "separator": "comma", **options})
            .read_answers(Document("f", text.encode()))]


def test_statistics_are_numbers_by_name():
    assert statistics("item,pred,tp,x\na,3,2,?\nb,,,?\n") == [("a", {"tp": 2.0, "pred": 3.0})]
    (item,) = Statistics(statistics=("tp",), gold=("gold",)).read_gold({"gold": Document("f", b"item\tgold\na\t4\n")})
    assert item.gold == {"gold": 4.0}


@pytest.mark.parametrize(("text", "options", "says"), [
    ("item,tp,pred\na,1,\n", {}, "f:2: item 'a': 'pred' is missing, but the item has other statistics"),
    ("item,tp,pred\na,1,x\n", {}, "'pred' is 'x'"),
    ("", {"gold": "tp"}, r"name a column twice \(tp, pred, tp\)"),
])
def test_statistics_that_are_wrong_are_refused(text, options, says):
    with pytest.raises(InputError, match=says):
        statistics(text, **options)


def logprobs(content, **options):
    content = content.encode() if isinstance(content, str) else content
    return [(a.key, a.value) for a in LogProbabilities.build({"base": "e", **options}).read_answers(
        Document("f", content))]


def test_log_probabilities_are_summed_in_nats(tmp_path):
    lists = '{"item": "a", "logprobs": [-1, -0.5]}\n{"item": "b", "logprobs": [0]}\n'
    assert logprobs(lists, syntax="jsonl") == [("a", (-1.5, 2)), ("b", (0.0, 1))]
    ((key, (total, tokens)),) = logprobs("item\tlogprobs\na\t-1 -3\n", base=2)
    assert (key, tokens) == ("a", 2)
    assert total == pytest.approx(4 * math.log(1 / 2), rel=1e-15)
    content = parquet(tmp_path, "SELECT 'a' AS item, [-1.0, -0.5]::DOUBLE[] AS logprobs")
    assert logprobs(content, syntax="parquet") == [("a", (-1.5, 2))]


@pytest.mark.parametrize(("cell", "says"), [
    ("[-1, 0.5]", r"the log-probability of token 2 is 0.5; expected a number above -2\^42 and at most 0"),
    ("[null, -1]", "token 1 is null"), ("[]", "is not a list; expected a list of log-probabilities"),
     ("-3", "is not a list; expected a list of log-probabilities"), ('["-1"]', "token 1 is '-1'"),
])
def test_log_probabilities_that_are_none_are_refused(cell, says):
    with pytest.raises(InputError, match=f"f:1: item 'a': .*{says}"):
        logprobs(f'{{"item": "a", "logprobs": {cell}}}', syntax="jsonl")


def test_the_characters_of_the_golds_texts_are_counted():
    (item,) = LogProbabilities(base="e", text="text").read_gold({"gold": Document(
        "f", "item\ttext\na\tNaïve 😀\n".encode())})
    assert item.gold == 7


@pytest.mark.parametrize(("reader", "options", "says"), [
    ("logprobs", {}, "needs the option 'base'"), ("logprobs", {"base": 3}, "expected one of e, 2, 10"),
    ("statistics", {}, "needs the option 'statistics'"), ("scores", {"item": ["a", "a"]}, "twice"),
])
def test_wrong_options_are_named(reader, options, says):
    with pytest.raises(InputError, match=says):
        READERS[reader].build(options)


def test_canonical_names_read_back():
    for value in (Scores(score="run 1", separator="comma"), LogProbabilities(base=2), Statistics(statistics=("tp",))):
        assert parse("reader", READERS, repr(value)) == value


def test_all_that_is_wrong_is_collected_where_somebody_wants_to_know():
    problems = Problems(None)
    text = b"item\tscore\na\tx\nb\n\t1\nc\t1\nd\tNaN\n"
    assert [a.key for a in Scores().read_answers(Document("f", text).collect(problems))] == ["c"]
    assert [error.line for error in problems.found] == [2, 3, 4, 6]


@pytest.mark.slow
def test_damaged_parquet_is_an_error_of_the_file_or_reads_as_it_is_written(tmp_path):
    content = parquet(tmp_path, "SELECT 'item' || range AS item, range / 7.0 AS score FROM range(300)")
    rng, refused = random.Random(0), []
    for _ in range(60):
        damaged = bytearray(content)
        for _ in range(rng.choice([1, 3, 30])):
            damaged[rng.randrange(4, len(content) - 4)] = rng.randrange(256)
        try:
            assert all(math.isfinite(value) for _, value, _ in scores(bytes(damaged), syntax="parquet"))
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert all(message.startswith("f:") for message in refused)
