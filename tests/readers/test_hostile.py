"""Files made to do harm: bounded, named, refused. The bomb that unfolds is in test_document."""

import os
import shutil
import time

import pytest

from registry.errors import InputError
from registry.readers import (
    READERS,
    Bio,
    Candidates,
    Conllu,
    Document,
    Labels,
    Mtme,
    NBest,
    Problems,
    Responses,
    Scores,
    Sgml,
)
from registry.readers.parsing import document, json_values
from tests.conftest import ROOT
from tests.fuzz.seeds import seeds

SUBMISSIONS = {name: next(seed for seed in found if not seed.role) for name, found in seeds(real=False).items()}


def refused(read, content, *says, seconds=30):
    """Expect a refusal that names the line, in time and in few words, whether or not problems are collected."""
    begun = time.monotonic()
    with pytest.raises(InputError) as caught:
        read(Document("f", content))
    assert len(str(caught.value)) < 2500
    for part in says:
        assert part in str(caught.value)
    problems = Problems(10)
    try:
        read(Document("f", content, problems))
    except InputError as error:
        problems.add(error)
    assert str(problems.found[0]) == str(caught.value)
    assert time.monotonic() - begun < seconds
    return caught.value.line


@pytest.mark.parametrize("name", READERS)
def test_a_line_that_does_not_end(name, monkeypatch):
    monkeypatch.setattr(document, "MAX_LINE", 20_000)
    seed = SUBMISSIONS[name]
    assert refused(seed.read, seed.content + b"x" * 20_001, "the line has 20,001 characters") == (
        seed.content.count(b"\n") + 1)


@pytest.mark.parametrize("name", READERS)
def test_lines_without_end(name, monkeypatch):
    monkeypatch.setattr(document, "MAX_LINES", 1000)
    seed = SUBMISSIONS[name]
    assert refused(seed.read, seed.content + b"\n" * 1001, "lines; at most 1,000 are allowed") == 1001


@pytest.mark.parametrize("name", READERS)
def test_null_bytes(name):
    seed = SUBMISSIONS[name]
    head, tail = seed.content.split(b"\n", 1)
    assert refused(seed.read, head + b"\n" + b"\0" * 100_000 + tail, "a NUL character") == 2


@pytest.mark.parametrize("reader", [Labels(), Bio(scheme="iob2"), Candidates(item=("a",), score="b")],
                         ids=lambda reader: reader.name)
def test_a_million_columns(reader):
    assert refused(reader.read_answers, b"a\tb\nx\t" + b"\t".join([b"y"] * 10**6), "8,193 c") in (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("separator", ["tab", "whitespace", "comma"])
def test_a_header_of_a_million_columns(separator):
    mark = {"tab": "\t", "whitespace": " ", "comma": ","}[separator]
    says = ("the line has 1,000,000 cells; at most 8,192 are allowed" if separator == "comma" else
            "the header has no column")
    header = mark.join(f"c{n}" for n in range(10**6)).encode()
    for reader in (Labels(header=True, separator=separator), Candidates(item=("a",), score="b", separator=separator)):
        assert refused(reader.read_answers, header + b"\n", says) == 1


def test_a_header_that_names_a_column_twice_among_many():
    header = ",".join(f"c{n}" for n in range(4_000)).encode() + b",c1\n"
    assert refused(Candidates(item=("c1",), score="c2", separator="comma").read_answers, header,
                   "the column 'c1' twice") == 1


@pytest.mark.parametrize("reader", [Labels(syntax="jsonl"), Responses()], ids=lambda reader: reader.name)
@pytest.mark.parametrize(("nested", "says"), [
    (b"[" * 10**6, "not JSON: "), (b'{"item":' * 10**6, "the line has 1,000,000 keys; at most 262,144 are allowed"),
    (b'{"item":' * 10**5, "not JSON: "), (b'{"item": "x", "label": ' + b"[" * 10**6, "not JSON: ")])
def test_deeply_nested_json(reader, nested, says):
    assert refused(reader.read_answers, nested, says) == 1


LONG = 10**6  # of which the square is hours


@pytest.mark.parametrize("cell", ["1" * LONG + "x", "1." + "0" * LONG + "x", "." + "1" * LONG + "e"])
def test_a_number_without_end_that_is_none(cell):
    for reader, text in ((Scores(), "item\tscore\na\t{}\n"), (Candidates(item=("item",), score="score"),
                         "item\tscore\na\t{}\n"), (Mtme(), "a 1\na {}\n")):
        assert refused_shortly(reader.read_answers, text.format(cell).encode()) == 2
    assert refused_shortly(NBest(pick="score").read_answers, f"0 ||| a ||| ||| {cell}\n".encode()) == 1


def refused_shortly(read, content):
    begun = time.monotonic()
    with pytest.raises(InputError) as caught:
        read(Document("f", content))
    assert time.monotonic() - begun < 30
    return caught.value.line


@pytest.mark.parametrize(("reader", "content", "read"), [
    (Bio(scheme="iob2", comment="#"), f"# id = a{' ' * LONG}b\nx\tO\n", lambda item: item.key),
    (Bio(scheme="iob2", comment="#"), f"#{' ' * LONG}id = s\nx\tO\n", lambda item: item.key),
    (Conllu(), f"# newdoc id{' ' * LONG}x = d\n# sent_id = s\n1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n\n",
     lambda item: item.key),
    (Sgml(), f'<refset><doc docid="d" {"a" * LONG}><seg id="1">a\n{" " * LONG}b\n</seg></doc></refset>\n',
     lambda item: item.gold["gold"]),
], ids=["value", "name", "conllu", "sgml"])
def test_blanks_and_names_without_end_take_no_time(reader, content, read):
    begun = time.monotonic()
    (item,) = reader.read_gold({"gold": Document("f", content.encode())})
    assert time.monotonic() - begun < 30
    assert read(item) in ("s", "a b", f"a{' ' * LONG}b")


def test_a_label_of_a_million_characters():
    reader = Labels(labels=("favour", "against"))
    assert refused(reader.read_answers, b"i\t" + b"ab" * 500_000, "is not a declared label") == 1


def test_links_that_lead_out_of_the_folder(registry, tmp_path):
    """The files of a manifest stay in its folder, those of a pack are not written through links."""
    shutil.copytree(ROOT / "sample_data" / "stance", tmp_path / "stance")
    (tmp_path / "secret").write_text("d01-01\tnone\n")
    (tmp_path / "stance" / "submissions" / "x.y.tsv").symlink_to(tmp_path / "secret")
    told = registry("check", "stance/task.toml", exit_code=3).stderr
    assert "'submissions/x.y.tsv' is outside the task folder" in told
    os.unlink(tmp_path / "stance" / "submissions" / "x.y.tsv")
    registry("task-pack", "stance/task.toml", "-o", "pack")
    (tmp_path / "pack" / "test.items.jsonl").unlink()
    (tmp_path / "pack" / "test.items.jsonl").symlink_to(tmp_path / "secret")
    assert "'test.items.jsonl' is outside the task folder" in registry("check", "pack/task.toml", exit_code=3).stderr
    (tmp_path / "secret").unlink()
    told = registry("task-pack", "stance/task.toml", "-o", "pack", exit_code=3).stderr
    assert "items.jsonl: exists with other content" in told
    assert not (tmp_path / "secret").exists()


@pytest.mark.slow
def test_a_formula_in_a_label_or_item_is_text_in_every_table(registry, task):
    """What a spreadsheet would compute is written with an apostrophe before it, as all that is untrusted."""
    formulas, numbers = {"=1+1", "@x", "-a", "=cmd|'/c calc'!A0"}, {"+1", "-1"}
    task.gold |= {label: label for label in (*formulas, *numbers)}
    task.documents |= dict.fromkeys((*formulas, *numbers), "d9")
    task.systems = {"a": task.gold}
    registry("run", task.write())
    for query in ("SELECT key FROM item", "SELECT DISTINCT answer FROM item_response"):
        cells = registry("query", query, "--format", "csv").stdout.splitlines()
        assert {f"'{label}" for label in formulas} | numbers <= set(cells)
        assert not formulas & set(cells)
    (task.folder / "systems" / "a.tsv").write_text("=1+1+1\tyes\n")
    assert ",'=1+1+1," in registry("check", task.manifest, "--format", "csv", exit_code=3).stdout


def test_a_line_of_very_many_keys(monkeypatch):
    """As many as are nested in it count; double quotes within texts do not."""
    monkeypatch.setattr(json_values, "MAX_KEYS", 100)
    read = Labels(syntax="jsonl").read_answers
    keys = ",".join(f'"k{n}": {{"a" :1}}' for n in range(50)).encode()
    assert refused(read, b'{"item": "a", "label": "b", ' + keys + b"}", "the line has 102 keys; at most 100 are "
                                                                        "allowed") == 1
    text = r'{"item": "a", "label": "b", "t": "' + r"x\": " * 200 + '"}'
    assert len(read(Document("f", text.encode()))) == 1
