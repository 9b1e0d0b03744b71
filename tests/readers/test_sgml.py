"""SGML of translation tasks: sets by their tags in any case, entities, what is not closed."""

import pytest

from registry.errors import InputError
from registry.readers import Document, Sgml

REFERENCES = """<!DOCTYPE mteval SYSTEM "mteval-xml-1.3.dtd">
<REFSET setid="newstest" srclang="any" trglang="en">
<DOC docid="a.1" sysid=ref genre="news" origlang="cs">
<hl>
<seg id="1">Fish &amp; chips &lt;1&gt; a < b</seg>
</hl>
<p>
<seg id=2> Two
lines </seg>
</p>
</DOC>
</REFSET>
"""
SYSTEM = ('<tstset setid="x" srclang="cs" trglang="en">\n<doc sysid="uedin" docid="a.1"><seg id="1">x</seg>'
          '<seg id="2"></seg></doc>\n</tstset>\n')


def document(text):
    return Document("f.sgm", text.encode())


def test_references_and_documents_are_read():
    (first, second) = Sgml().read_gold({"gold": document(REFERENCES)})
    assert (first.key, first.gold, first.line) == ("a.1/1", {"gold": "Fish & chips <1> a < b"}, 5)
    assert first.attributes == {"document": "a.1", "genre": "news", "origlang": "cs"}
    assert (second.key, second.gold, second.line) == ("a.1/2", {"gold": "Two lines"}, 8)


def test_a_system_is_read_without_its_blank_segments():
    assert [(a.key, a.value) for a in Sgml().read_answers(document(SYSTEM))] == [("a.1/1", "x")]


def test_further_references_stand_in_files_of_their_own():
    items = Sgml().read_gold({"gold": document(REFERENCES),
                              "reference:B": document(REFERENCES.replace("Fish", "Cod").replace("ref", "ref2"))})
    assert items[0].gold == {"gold": "Fish & chips <1> a < b", "B": "Cod & chips <1> a < b"}


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("</seg>\n</hl>", "\n</hl>", 8, "is within the segment of line 5"),
    (" </seg>", "", 11, "is within the segment of line 8"),
    ("<seg id=2>", "<seg>", 8, "has no id"),
    ("<DOC docid", "<DOC", 3, "has no docid, or is outside of a set"),
    ("<REFSET", "<OTHER", 3, "is outside of a set"),
    ("<seg id=2>", "<seg id=1>", 8, "item 'a.1/1': occurs twice, first in line 5"),
])
def test_what_is_not_of_the_format_is_named_with_its_line(old, new, line, says):
    with pytest.raises(InputError, match=says) as caught:
        Sgml().read_gold({"gold": document(REFERENCES.replace(old, new))})
    assert caught.value.line == line


def test_a_file_of_another_side_is_named():
    with pytest.raises(InputError, match="the file has no system"):
        Sgml().read_answers(document(REFERENCES))
    with pytest.raises(InputError, match="remove the option 'attributes'"):
        Sgml().read_gold({"gold": document(REFERENCES), "attributes": document("d")})
