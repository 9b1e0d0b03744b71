"""Tables read at once say what they say when they are read row by row; what is amiss is left to that."""

import json
from contextlib import suppress

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from registry.columns import AnswerColumns
from registry.errors import InputError
from registry.evaluation.ingest.fit import digest_run
from registry.readers import Candidates, Document, Scores, Statistics
from registry.readers.parsing import fast_tables
from tests.readers.small_tables import SEPARATORS, json_tables, one_database, parquet_tables, tables

pytestmark = pytest.mark.usefixtures(one_database.__name__)
READERS = [
    (Scores, {"item": "item"}), (Scores, {"item": []}),
    (Scores, {"item": ["item", "kind"], "attributes": ["kind"], "gold": "gold"}),
    (Scores, {"item": "item", "gold": "gold", "comment": "#"}), (Scores, {"item": "item", "comment": '"'}),
    (Scores, {"item": "item", "unscored": ["", "NA", "true"]}), (Scores, {"item": "item", "unscored": ["1", "0.5"]}),
    (Scores, {"item": "item", "columns": ["item", "kind", "gold", "aspen", "birch"]}),
    (Statistics, {"item": "item", "statistics": ["birch", "aspen"]}),
    (Statistics, {"item": "item", "statistics": ["aspen"], "gold": ["gold", "birch"], "attributes": ["kind"]}),
    (Candidates, {"item": "item", "gold": "kind", "true": ["new"], "false": ["old", "o'ld", "1"]}),
    (Candidates, {"item": ["item", "kind"], "gold": "birch", "attributes": ["kind"], "unscored": ["", "NA"],
                  "order": "ascending"})]


def said(reader, content, monkeypatch, enough):
    """What is read: the gold's items, answers and their digest; or what is said to be wrong."""
    monkeypatch.setattr(fast_tables, "ENOUGH", enough)
    document = Document("f", content)
    found = []
    for read in (lambda: reader.read_gold({"gold": document}), lambda: reader.read_answers(document)):
        try:
            found.append(read())
        except InputError as error:
            found.append(str(error))
    answers = found[1]
    if not isinstance(answers, str):
        assert len(answers) == len(list(answers))
        found = [found[0], list(answers), digest_run(reader, [], answers), repr(answers[-2:])]
    return found, isinstance(answers, AnswerColumns) and isinstance(answers.rows.lines, range)


@pytest.mark.parametrize(("reader", "options"), READERS, ids=str)
@settings(max_examples=30)
@given(st.one_of(tables(), tables(), json_tables(), parquet_tables()))
@example(("comma", b'"item","kind","gold","aspen","birch"\n"a b","x","1","0.5","1"\n'))
@example(("comma", b"item,kind,gold,aspen,birch\na,x,1,0.5,1\n\n"))
@example(("whitespace", b"item kind gold aspen birch\na x 1 0.5 1"))
@example(("tab", b"item\tkind\tgold\taspen\tbirch\na\tnew\t1\t0.5\t1\nb\told\t1\t\t0\n"))
@example(("tab", b"item\tkind\tgold\taspen\tbirch\n\xef\xbb\xbfi0\tnew\t0\t0\t0"))
@example(("comma", b"item,kind,gold,aspen,birch\na,x,1,1e30,0\n"))
@example(("jsonl", b'{"item": 1, "kind": "new", "gold": 1, "aspen": 0.5, "birch": 1}\n'))
@example(("jsonl", b'{"item": "a", "kind": "new", "gold": 1, "aspen": 1, "birch": [{}\n{}]}\n{"item": "b"}, {}\n'))
def test_both_ways_say_the_same(reader, options, table):
    how, content = table
    assume(how in SEPARATORS or reader is not Candidates)
    written = {"separator": how} if how in SEPARATORS else {"syntax": how}
    if how not in SEPARATORS:
        options = {name: value for name, value in options.items() if name not in ("comment", "columns")}
    reader = reader.build({**options, **written} | ({} if reader is Statistics else {"score": "aspen"}))
    with pytest.MonkeyPatch.context() as patch:
        careful, _ = said(reader, content, patch, 2**62)
        fast, _ = said(reader, content, patch, 0)
    assert fast == careful


def deeper(content):
    """JSON Lines whose objects have all but the item in another one."""
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    for n, line in enumerate(lines):
        with suppress(ValueError, AttributeError):
            lines[n] = json.dumps({"out": json.loads(line), "item": json.loads(line).get("item")})
    return "\n".join(lines).encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(("reader", "options"), [
    (Scores, {"gold": "out.gold", "attributes": ["out.kind"], "score": "out.aspen"}),
    (Scores, {"item": ["out.item", "item"], "score": "out.birch"}),
    (Statistics, {"statistics": ["out.birch", "out.aspen"]})], ids=str)
@settings(max_examples=20)
@given(json_tables())
@example(("jsonl", b'{"item": 1, "kind": "new", "gold": 1, "aspen": 0.5, "birch": 1}\n'))
def test_both_ways_say_the_same_of_what_lies_deeper(reader, options, table):
    reader, content = reader.build({"syntax": "jsonl", **options}), deeper(table[1])
    with pytest.MonkeyPatch.context() as patch:
        assert said(reader, content, patch, 0)[0] == said(reader, content, patch, 2**62)[0]


RIGHT = b"item,kind,gold,aspen,birch\na b,x,1,0.5,\nc,y,2,-.5,1\n"


@pytest.mark.parametrize(("content", "options", "at_once"), [
    (RIGHT, {}, True), (RIGHT.replace(b"\n", b"\r\n"), {}, True), (RIGHT.replace(b"a b", b'"a b"'), {}, True),
    (RIGHT.replace(b",", b"\t"), {"separator": "tab"}, True), (RIGHT + b"\n\n", {}, True),
    (RIGHT.replace(b"a b,x,1,0.5", b"a b,x,1,?"), {}, False), (RIGHT.replace(b"c,", b'"c""",'), {}, False),
    (RIGHT.replace(b"-.5", b"-.5,"), {}, False),
    (RIGHT.replace(b",1\n", b",1,\n"), {}, False), (RIGHT.replace(b"c", b"c\xff"), {}, False),
    (b"\xef\xbb\xbf" + RIGHT, {}, False), (b"\xef\xbb\xbf" + RIGHT, {"repair": ["bom"]}, True),
    (RIGHT.replace(b"c,", b"\nc,"), {}, False), (RIGHT.replace(b"c,", b"#c,"), {"comment": "#"}, False),
])
def test_which_files_are_read_at_once(content, options, at_once, monkeypatch):
    """Nothing of the small tables above would be tested if all of them went row by row."""
    reader = Scores.build({"item": "item", "separator": "comma", "score": "aspen", **options})
    assert said(reader, content, monkeypatch, 0)[1] == at_once


@pytest.mark.parametrize("cell", [
    "1_0", "nan", "inf", "-Infinity", "0x1", " 1", "1 ", "1e", "1e999", "\uff14", "1,0", "true", "1d", "1f", "--1", "+",
    ".", "e5", "1e5.0", "4503599627370496", "4398046511104.5", "-1e300"])
def test_a_cell_that_is_no_number_is_left_to_the_careful_way(cell, monkeypatch):
    """Whatever DuckDB would take it for."""
    content = RIGHT.replace(b",-.5", f",{cell}".encode()).replace(b",", b"\t" if "," in cell else b",")
    reader = Scores.build({"item": "item", "separator": "tab" if "," in cell else "comma", "score": "aspen"})
    found, at_once = said(reader, content, monkeypatch, 0)
    assert not at_once
    assert found == said(reader, content, monkeypatch, 2**62)[0]


@pytest.mark.parametrize("reader", [
    Statistics(item=("item",), separator="comma", statistics=("gold", "aspen")),
    Candidates(item=("item",), separator="comma", gold="gold", score="aspen"),
    Scores(item=("item",), syntax="jsonl", score="aspen"), Scores(syntax="jsonl", score="out.f")], ids=repr)
def test_other_tables_are_read_at_once_too(reader, monkeypatch):
    objects = b'{"item": "a", "aspen": 1, "out": {"f": 1}}\n'
    content = objects if isinstance(reader, Scores) else RIGHT.replace(b"y,2", b"y,0")
    assert said(reader, content, monkeypatch, 0)[1]


def test_a_table_of_many_systems_is_read_once(monkeypatch):
    monkeypatch.setattr(fast_tables, "ENOUGH", 0)
    document = Document("f", RIGHT)
    aspen, birch = (Scores.build({"item": "item", "separator": "comma", "score": name}).read_answers(document)
                    for name in ("aspen", "birch"))
    assert aspen.rows is birch.rows
    assert [(answer.key, answer.value, answer.line) for answer in birch] == [("c", 1.0, 3)]
