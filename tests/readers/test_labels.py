"""The reader of labels: delimited columns and JSON Lines."""

import json

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.items import Item
from registry.readers import Document, Labels, Problems


def answers(text, **options):
    return [(a.key, a.value) for a in Labels.build(options).read_answers(Document("f", text.encode()))]


@pytest.mark.parametrize(("text", "options"), [
    ("a\tx y\nb\tz\n", {}),
    ('a,"x y"\nb,z\n', {"separator": "comma"}),
    ("label\titem\nx y\ta\n\nz\tb\n", {"header": True}),
    ("# made by us\nx y\t?\ta\nz\t?\tb\n", {"comment": "#", "columns": ["label", "score", "item"]}),
    ('{"item": "a", "label": "x y", "confidence": 0.5}\n{"label": "z", "item": "b"}\n', {"syntax": "jsonl"}),
    ('{"id": "a", "stance": "x y"}\n{"id": "b", "stance": "z"}\n',
     {"syntax": "jsonl", "item": "id", "label": "stance"}),
    ('{"meta": {"id": "a"}, "out": [0, {"best": "x y"}]}\n{"out": [1, {"best": "z"}], "meta": {"id": "b"}}\n',
     {"syntax": "jsonl", "item": "meta.id", "label": "out.1.best"}),
    ('{"id.x": "a", "id": {"x": "no"}, "label": "x y"}\n{"id.x": "b", "label": "z"}',
     {"syntax": "jsonl", "item": "id.x"}),
    ('[{"item": "a", "label": "x y"},\n {"item": "b",\n"label": "z"}\n]\n', {"syntax": "json"}),
    ('{"a": "x y", "b": "z"}', {"syntax": "json"}),
    ('{"a": {"label": "x y"},\n"b": {"item": "b", "label": "z"}}', {"syntax": "json"}),
])
def test_one_content_in_many_forms(text, options):
    assert answers(text, **options) == [("a", "x y"), ("b", "z")]


def test_white_space_of_any_length_separates():
    assert answers("a  x\nb\t y\n", separator="whitespace") == [("a", "x"), ("b", "y")]


def test_json_numbers_and_truth_values_are_text():
    assert answers('{"item": 7, "label": true}', syntax="jsonl") == [("7", "true")]


def test_csv_quotes_as_in_rfc_4180():
    assert answers('a,"x, ""y"""\n', separator="comma") == [("a", 'x, "y"')]


def test_further_gold_columns_are_attributes():
    (item,) = Labels(columns=("document", "item", "label")).read_gold({"gold": Document("f", b"d1\ta\tx\n")})
    assert (item.key, item.gold, item.attributes, item.line) == ("a", "x", {"document": "d1"}, 1)


def test_attributes_are_those_that_are_named_and_nothing_else_is_looked_at():
    options = {"attributes": ["doc"], "columns": ["item", "text", "doc", "label"]}
    for text, more in (("a\tsh\u00ady\td1\tx\n", {}), ("item\ttext\tdoc\tlabel\na\t\u200d\td1\tx\n", {"header": True}),
                       ("#\na\t\u200d\td1\tx\n", {"comment": "#"}),
                       ('{"item": "a", "text": "\\u200d", "m": {"doc": "d1"}, "label": "x"}',
                        {"syntax": "jsonl", "attributes": ["m.doc"]})):
        reader = Labels.build({**options, **more})
        (item,) = reader.read_gold({"gold": Document("f", text.encode())})
        assert (item.key, item.gold, list(item.attributes.values())) == ("a", "x", ["d1"])
        (answer,) = reader.read_answers(Document("f", text.encode()))
        assert (answer.key, answer.value) == ("a", "x")
    with pytest.raises(InputError, match="needs the column 'doc'"):
        Labels(attributes=("doc",)).read_gold({"gold": Document("f", b"a\tx\n")})
    assert answers("a\tx\n", attributes=["doc"]) == [("a", "x")]


@pytest.mark.parametrize(("text", "options"), [
    ("d1\t1\tx\nd1\t2\ty\nd2\t1\tz\n", {"columns": ["doc", "item", "label"]}),
    ("#\nd1\t1\tx\nd1\t2\ty\nd2\t1\tz\n", {"columns": ["doc", "item", "label"], "comment": "#"}),
    ("item,label,doc\n1,x,d1\n2,y,d1\n1,z,d2\n", {"header": True, "separator": "comma"}),
    ("".join(json.dumps({"doc": doc, "item": n, "label": label}) + "\n" for doc, n, label in [
        ("d1", 1, "x"), ("d1", 2, "y"), ("d2", 1, "z")]), {"syntax": "jsonl"})])
def test_items_named_within_others(text, options):
    """Line by line and at once; the gold's further columns are attributes, by which items can be grouped."""
    for more in ({}, {"attributes": ["doc"]}):
        reader = Labels.build({**options, **more, "within": ["doc"]})
        items = reader.read_gold({"gold": Document("f", text.encode())})
        assert [(item.key, item.gold, item.attributes) for item in items] == [
            ("d1 1", "x", {"doc": "d1"}), ("d1 2", "y", {"doc": "d1"}), ("d2 1", "z", {"doc": "d2"})]
    assert answers(text, **options, within=["doc"]) == [("d1 1", "x"), ("d1 2", "y"), ("d2 1", "z")]


@pytest.mark.parametrize(("text", "options", "line", "says"), [
    ("\t1\tx\n", {"columns": ["doc", "item", "label"], "within": ["doc"]}, 1, "item is empty"),
    ("a\tx\nb\n", {}, 2, "the line has 1 column; expected 2"),
    ("a\tx\nb\ty\tz\n", {}, 2, "the line has 3 columns; expected 2"),
    ("a x\n", {}, 1, "separator tab"),
    ("a\t\n", {}, 1, "label is empty"),
    ("\tx\n", {}, 1, "item is empty"),
    ("a\tx\nb\ty\n", {"labels": ["x", "z"]}, 2, "not a declared label"),
    ("id\tlabel\na\tx\n", {"header": True}, 1, "the header has no column 'item'"),
    ("item\tlabel\n", {"header": True}, None, "no item"),
    ('a,"x\nb,y\n', {"separator": "comma"}, 1, "not CSV|end of the line"),
    ('a,"x"y\n', {"separator": "comma"}, 1, "not CSV"),
    ('{"item": "a"}', {"syntax": "jsonl"}, 1, "the key 'label' is missing"),
    ('{"item": "a", "label": "x"}\n{"item"', {"syntax": "jsonl"}, 2, "not JSON"),
    ('{"item": "a", "item": "b", "label": "x"}', {"syntax": "jsonl"}, 1, "twice"),
    ('["a", "x"]', {"syntax": "jsonl"}, 1, "not a JSON object"),
    ('{"item": "a", "label": 0.5}', {"syntax": "jsonl"}, 1, "whole number"),
    ('{"item": "a", "label": NaN}', {"syntax": "jsonl"}, 1, "NaN"),
    ("[" * 100_000, {"syntax": "jsonl"}, 1, "not JSON"),
    ('{"item": "a\\u0000", "label": "x"}', {"syntax": "jsonl"}, 1, "control"),
    ("a\ta\u00adb\n", {}, 1, r"column 'label' has a control or invisible character, U\+00AD \(SOFT HYPHEN\); "
                              r'remove it, or set repair = \["invisible"\]'),
    ("item\tlabel\ttext\na\tx\ty\u00ad\n", {"header": True}, 2,
     r"column 'text' has .*; set attributes = \[\] to ignore"),
    ('{"item": "a", "out": {"lable": "x"}}', {"syntax": "jsonl", "label": "out.label"}, 1,
     "the key 'out.label' is missing; did you mean 'out.lable'"),
    ('[{"item": "a", "label": "x"},\n{"item": "b"}]', {"syntax": "json"}, 2, "the key 'label' is missing"),
    ('[{"item": "a", "label": "x"},\n["b", "x"]]', {"syntax": "json"}, 2, "an entry of the list is not a JSON object"),
    ('[{"item": "a", "label": "x"}\n{"item": "b"}]', {"syntax": "json"}, 2, "expected ','"),
    ('[{"item": "a", "label": "x"}],\n7', {"syntax": "json"}, 1, "unexpected text after the end"),
    ('\n{"a": "x",\n"b": 0.5}', {"syntax": "json"}, 3, "whole number"),
    ('{"a": "x",\n"b": {"item": "c", "label": "x"}}', {"syntax": "json"}, 2, "has another name in its own key 'item'"),
    ('{"a": "x",\n"b": ' + "[" * 100_000, {"syntax": "json"}, 2, "nested too deeply"),
    ('{"a": "x",\n"b": {"label": 1, "label": 2}}', {"syntax": "json"}, 2, "a key occurs twice"),
    ('{"a": NaN}', {"syntax": "json"}, 1, "NaN is not JSON"),
    ('{"a": "x", 7: "y"}', {"syntax": "json"}, 1, "name of an item"),
    ('"a"', {"syntax": "json"}, 1, "expected a list of objects, or an object of items"),
    ("[]", {"syntax": "json"}, None, "the file has no item"),
    ('{"a": "x"', {"syntax": "json"}, 1, "not JSON"),
    ("a\tx\n", {"item": "", "columns": ["label"]}, 1, "the line has 2 columns; expected 1"),
])
def test_errors_name_the_line(text, options, line, says):
    with pytest.raises(InputError, match=says) as caught:
        answers(text, **options)
    assert caught.value.line == line
    assert caught.value.path == "f"


@pytest.mark.parametrize(("options", "says"), [
    ({"separator": "pipe"}, "expected one of tab, comma, semicolon, whitespace"),
    ({"seperator": "tab"}, "did you mean 'separator'"),
    ({"columns": ["id", "label"]}, "needs the column 'item'"),
    ({"columns": ["item", "item", "label"]}, "twice"),
    ({"item": "label"}, "same column"),
    ({"item": "", "columns": ["text"]}, "needs the column 'label'"),
    ({"skip": -1}, "a number of lines, 0 or more"),
])
def test_wrong_options_are_named(options, says):
    with pytest.raises(InputError, match=says):
        Labels.build(options)


cells = st.sampled_from(["a", "b", "item", "label", "x y", "", " ", "\t", "{", "#", "é", "\u200b", "\r", "d"])


@given(st.lists(st.lists(cells, max_size=4).map("\t".join) | st.sampled_from(["a\tb", "c\tx"]), max_size=6),
       st.sampled_from([{}, {"separator": "whitespace"}, {"header": True}, {"comment": "#"}, {"labels": ("b", "x")},
                        {"columns": ("doc", "label", "item")}, {"item": ""}, {"item": "", "columns": ("label",)},
                        {"attributes": ("doc",), "columns": ("doc", "label", "item", "x")}, {"attributes": ()},
                        {"item": "", "header": True, "separator": "comma"}, {"skip": 1, "header": True}]),
       st.booleans())
def test_reading_at_once_and_line_by_line_say_the_same(rows, options, is_gold):
    reader, document = Labels.build(options), Document("f", "\n".join(rows).encode())

    def read():
        try:
            return list(reader.read_gold({"gold": document}) if is_gold else reader.read_answers(document))
        except InputError as error:
            return str(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Labels, "_read_fast", lambda self, document: None)
        line_by_line = read()
    assert read() == line_by_line


json_cells = st.sampled_from(["a", "b", "", " ", 7, True, None, 0.5, {"b": "x"}, {"b": {"c": "y"}}, {}, ["z"], []])


@given(st.lists(st.fixed_dictionaries({"item": json_cells, "a": json_cells}, optional={"a.b": json_cells}),
                min_size=1, max_size=4), st.sampled_from(["item", ""]), st.sampled_from(["a", "a.b", "a.b.c", "a.0"]),
       st.booleans())
def test_paths_say_the_same_at_once_and_line_by_line(rows, item, label, is_gold):
    test_reading_at_once_and_line_by_line_say_the_same.hypothesis.inner_test(
        [json.dumps(row) for row in rows], {"syntax": "jsonl", "item": item, "label": label}, is_gold)


def test_numbered_rows_are_the_golds_items_in_their_order():
    items = [Item(key, "x") for key in ("s7", "s2", "s9")]

    def assigned(text, **options):
        reader = Labels.build({"item": "", "columns": ["label"], **options})
        answers = reader.assign(items, reader.read_answers(Document("f", text.encode())), "f")
        return [(answer.key, answer.value, answer.line) for answer in answers]

    for options, text, skipped in (
            ({}, "x\n\ny\n", 0), ({}, "x\n \ny\n\n\n", 0), ({"separator": "comma"}, '"x"\n""\ny', 0),
            ({"separator": "whitespace", "comment": "#"}, "x\n\n#\ny\n", None), ({"skip": 2}, "a\nb\nx\n\ny\n", 2),
            ({"header": True}, "label\nx\n\ny\n", 1), ({"columns": ["text", "label"]}, "so\tx\nso\t\nso\ty", 0),
            ({"syntax": "jsonl"}, '{"label": "x"}\n{"label": null}\n{"label": "y"}', 0),
            ({"syntax": "json"}, '[{"label": "x"},\n{"label": ""},\n{"label": "y"}]', 0)):
        lines = (1, 4) if skipped is None else (1 + skipped, 3 + skipped)
        assert assigned(text, **options) == [("s7", "x", lines[0]), ("s9", "y", lines[1])]
    assert assigned("X\n\n\n", rename={"X": "x"}) == [("s7", "x", 1)]
    for text, n in (("x\ny\n", 2), ("x\ny\nz\nx\n", 4), ("x\n\n\nx\n\n", 4)):
        with pytest.raises(InputError, match=f"f:{n}: the file has {n} rows, but the gold has 3 items; write one row "
                                             "per item"):
            assigned(text)
    with pytest.raises(InputError, match=r"f:2: item '2': the label is empty; write a label$"):
        Labels(item="", columns=("label",)).read_gold({"gold": Document("f", b"x\n\ny\n")})


def test_a_plain_file_is_read_at_once():
    for options, text in (({"item": "", "columns": ["label"]}, "x\n\ny\n"), ({}, "a\tx\nb\ty\n"),
                          ({"header": True, "separator": "whitespace"}, "label  item\nx a \n")):
        assert Labels.build({"blank": "missing", **options})._read_fast(Document("f", text.encode())) is not None


def test_parquet_says_the_same(tmp_path):
    duckdb.sql(f"""COPY (SELECT * FROM (VALUES (7, 'yes', 'd1', 0.5, DATE '2027-01-01'), (8, 'no', 'd2', 0.25, NULL))
        t(item, label, document, score, day)) TO '{tmp_path / "f"}' (FORMAT parquet)""")
    document, reader = Document.load(tmp_path / "f"), Labels(syntax="parquet")
    assert [(a.key, a.value, a.line) for a in reader.read_answers(document)] == [("7", "yes", 1), ("8", "no", 2)]
    assert [i.attributes for i in reader.read_gold({"gold": document})] == [{"document": "d1"}, {"document": "d2"}]
    with pytest.raises(InputError, match=r"f:1: 'score' is .*; expected text, a whole number"):
        Labels(syntax="parquet", label="score").read_answers(document)


def test_rows_with_the_same_attributes_share_them():
    """Else most of the memory that a gold takes would be the same document's name again and again."""
    reader = Labels(columns=("item", "label", "document", "domain"))
    text = "".join(f"i{n}\tyes\td{n // 3}\t{'new' if n % 2 else 'old'}\n" for n in range(9))
    items = reader.read_gold({"gold": Document("f", text.encode())})
    assert [item.attributes for item in items] == [
        {"document": f"d{n // 3}", "domain": "new" if n % 2 else "old"} for n in range(9)]
    assert items[0].attributes is items[2].attributes
    assert items[0].attributes is not items[1].attributes
    plain = Labels().read_gold({"gold": Document("f", b"a\tx\nb\ty\n")})
    assert [item.attributes for item in plain] == [{}, {}]


def test_a_quote_that_is_not_closed_spoils_its_own_line_only():
    problems = Problems(None)
    read = Labels(separator="comma").read_answers(Document("f", b'a,"x\nb,"y ""z"""\nc,"x"y\n"d, 1",x\n', problems))
    assert [(answer.key, answer.value) for answer in read] == [("b", 'y "z"'), ("d, 1", "x")]
    assert [error.line for error in problems.found if "not CSV: a cell that begins with" in error.message] == [1, 3]


def test_a_quoted_cell_may_be_as_long_as_a_line():
    long = "x, y" * 100_000
    (read,) = Labels(separator="comma").read_answers(Document("f", f'a,"{long}"\n'.encode()))
    assert read.value == long
