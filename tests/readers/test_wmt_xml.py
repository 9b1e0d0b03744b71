"""WMT's XML: references by translator, hypotheses by system, documents; nothing but the file itself is read."""

import socket

import pytest

from registry.errors import InputError
from registry.readers import Document, WmtXml

FILE = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="wmt27.cs-en">
  <collection id="general">
    <doc id="idnes.1" origlang="cs" domain="news">
      <src lang="cs"><p><seg id="1">Jedna &amp; dvě</seg></p><p><seg id="2">Tři</seg></p></src>
      <ref lang="en" translator="A"><p><seg id="1">One &amp; two</seg></p><p><seg id="2">Three</seg></p></ref>
      <ref lang="en" translator="B"><p><seg id="1">1 &lt; 2</seg></p><p><seg id="2"> 3
        three </seg></p></ref>
      <hyp lang="en" system="X"><p><seg id="1">one and two</seg></p><p><seg id="2"></seg></p></hyp>
      <hyp lang="en" system="Y"><p><seg id="1">a</seg><seg id="2">b</seg></p></hyp>
    </doc>
  </collection>
  <doc id="suite.1" origlang="cs" testsuite="idioms">
    <src lang="cs"><seg id="1">Ať</seg></src><hyp lang="en" system="Y"><seg id="1">Let</seg></hyp>
  </doc>
</dataset>
"""


def document(text=FILE):
    return Document("f.xml", text.encode())


def test_references_are_chosen_by_translator_and_documents_are_attributes():
    reader = WmtXml(reference="A")
    items = reader.read_gold({"gold": document(), "reference:B": document()})
    attributes = {"document": "idnes.1", "origlang": "cs", "domain": "news", "collection": "general"}
    assert [(i.key, i.gold, i.attributes, i.line) for i in items] == [
        ("idnes.1/1", {"gold": "One & two", "B": "1 < 2"}, attributes, 6),
        ("idnes.1/2", {"gold": "Three", "B": "3 three"}, attributes, 6)]


def test_the_source_can_be_read_along_and_is_what_systems_were_given():
    first, _ = WmtXml(reference="A").read_gold({"gold": document(), "source": document()})
    assert first.gold == {"gold": "One & two", "source": "Jedna & dvě"}
    assert WmtXml().task_text(first.gold) == "Jedna & dvě"


def test_the_system_is_chosen_and_a_blank_segment_is_no_answer():
    assert [(a.key, a.value, a.line) for a in WmtXml(system="X").read_answers(document())] == [
        ("idnes.1/1", "one and two", 9)]
    assert [a.key for a in WmtXml(system="Y").read_answers(document())] == ["idnes.1/1", "idnes.1/2", "suite.1/1"]


def test_testsuites_and_collections_can_be_passed_over():
    for reader in (WmtXml(system="Y", testsuites=False), WmtXml(system="Y", collections=("general",))):
        assert [a.key for a in reader.read_answers(document())] == ["idnes.1/1", "idnes.1/2"]


def test_the_only_reference_of_another_file_needs_no_name():
    other = document(FILE.replace(' translator="B"', "").replace('<ref lang="en" translator="A">', "<hyp system='Z'>")
                     .replace("Three</seg></p></ref>", "Three</seg></p></hyp>"))
    items = WmtXml(reference="A").read_gold({"gold": document(), "reference:C": other})
    assert items[1].gold == {"gold": "Three", "C": "3 three"}


@pytest.mark.parametrize(("reader", "says"), [
    (WmtXml(), r"the file has 2 references \(A, B\); name one with the option 'reference'"),
    (WmtXml(reference="C"), "unknown reference 'C'"),
])
def test_a_reference_that_is_not_chosen_is_asked_for(reader, says):
    with pytest.raises(InputError, match=says):
        reader.read_gold({"gold": document()})


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("</doc>", "</dic>", 11, "not XML: mismatched tag"),
    ('<seg id="2">Tři</seg>', "Tři", 5, "the text 'Tři' is outside of <seg>"),
    ('<seg id="2">Tři</seg>', "<seg>Tři</seg>", 5, "<seg> has no id"),
    ('<seg id="2">Tři</seg>', '<seg id="2"><b>Tři</b></seg>', 5, "unknown element <b>"),
    ('<seg id="2">Tři</seg>', '<seg id="2"><seg id="3"/></seg>', 5, "<seg> cannot be in <seg>"),
    ("utf-8", "iso-8859-2", 1, "declares the encoding iso-8859-2"),
    ('<seg id="2">b', '<seg id="1">b', 10, "item 'idnes.1/1': occurs twice, first in line 10"),
    ("Three", " ", 6, "the reference is blank"),
])
def test_what_is_not_of_the_format_is_named_with_its_line(old, new, line, says):
    broken = document(FILE.replace(old, new))

    def read():
        return WmtXml(system="Y").read_answers(broken), WmtXml(reference="A").read_gold({"gold": broken})

    with pytest.raises(InputError, match=says) as caught:
        read()
    assert caught.value.line == line


def test_a_reference_that_lacks_a_segment_is_named():
    lacking = document(FILE.replace('<seg id="1">1 &lt; 2</seg>', ""))
    with pytest.raises(InputError, match=r"item 'idnes\.1/1': the reference of this segment is missing"):
        WmtXml(reference="A").read_gold({"gold": lacking, "reference:B": lacking})


LAUGHS = '<!DOCTYPE dataset [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize("doctype", [
    LAUGHS, '<!DOCTYPE dataset [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE dataset [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
    '<!DOCTYPE dataset SYSTEM "http://127.0.0.1:9/x.dtd">',
])
def test_entities_are_refused_and_nothing_is_fetched(doctype, monkeypatch):
    def no_network(*_):
        raise AssertionError("the network is not to be used")

    monkeypatch.setattr(socket, "socket", no_network)
    hostile = FILE.replace("<dataset", f"{doctype}<dataset", 1).replace("one and two", "&a;")
    with pytest.raises(InputError, match="the file declares or uses an XML entity"):
        WmtXml(system="X").read_answers(document(hostile))


def test_deep_nesting_is_refused_at_once():
    with pytest.raises(InputError, match="<collection> cannot be in <collection>"):
        WmtXml().read_answers(document("<dataset>" + "<collection>" * 10**6))
