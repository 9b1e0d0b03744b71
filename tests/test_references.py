"""References: every work that the program cites has an entry, and every entry is cited."""

import ast
import re

import pytest

from registry.cli.citation import list_citations
from registry.references import find_references, load_references, shorten_citation
from tests.conftest import ROOT

CITATION = re.compile(r"(?:\b[A-Z][\w'’-]+(?: et al\.)?) \(?(?:18|19|20)\d\d(?!\d)")
FIELDS = {
    "article": {"author", "title", "journal", "volume", "pages", "year"},
    "book": {"author", "title", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"}, "misc": {"author", "title", "url"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"}}


def list_texts():
    """All texts in the code except docstrings."""
    for path in sorted((ROOT / "registry").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        yield from ((path.name, node.value) for node in ast.walk(tree)
                    if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings)


def find_unknown(text):
    """The citations of a text that are left over without those of known works."""
    for work in find_references(text):
        for citation in sorted(work.citations, key=len, reverse=True):
            text = re.sub(re.escape(citation).replace(r"\ ", r" \(?"), "", text)
    return CITATION.findall(text)


def test_every_citation_of_the_program_has_an_entry():
    assert find_unknown("Yeh 2000; as Newcombe (1998) says, or Doe (1999), and Doe et al. 2001") == [
        "Doe (1999", "Doe et al. 2001"]
    assert [(name, text) for name, text in list_texts() if find_unknown(text)] == []
    for kind, name, citation in list_citations():
        for part in filter(None, citation.split("; ")):
            assert find_references(part) or part.startswith("that of") or kind == "ranks", (kind, name, part)


def test_every_entry_is_cited():
    cited = find_references(*(citation for _, _, citation in list_citations()))
    assert {work.key for work in load_references()} - {work.key for work in cited} == set()


def test_entries_are_complete_and_in_order():
    works, text = load_references(), (ROOT / "registry" / "references.bib").read_text("utf-8")
    assert len(works) == text.count("\n@")
    assert [work.key for work in works] == sorted({work.key for work in works})
    for work in works:
        kind = re.match(r"@(\w+)", work.bibtex)[1]
        assert work.fields.keys() >= FIELDS[kind], work.key
        assert work.bibtex.count("{") == work.bibtex.count("}")
        assert not work.link or re.fullmatch(r"https://[\w./:;()%-]+", work.link)
        assert re.search(r"-\d{4}-|-eval$", work.key)
        assert work.fields.get("year", "") in work.key
        assert set("{}$\\`") & set(str(work)) == set()


def test_a_citation_names_one_work():
    """Of two works of the same first author and year, `et al.` is the one with more authors."""
    ambiguous = [citation for work in load_references() for citation in work.citations
                 if find_references(citation) != (work,)]
    assert ambiguous == ["Angelopoulos et al. 2023"]
    assert [len(work.authors) for work in find_references(*ambiguous)] == [5]


@pytest.mark.parametrize(("citation", "keys"), [
    ("Yeh 2000; Koehn 2004", ["yeh-2000-accurate"]),
    ("as Efron and Tibshirani (1993), chapter 16, say", ["efron-tibshirani-1993-introduction"]),
    ("Clopper and Pearson 1934", ["clopper-pearson-1934-use"]),
    ("Berg-Kirkpatrick, Burkett and Klein 2012", ["berg-kirkpatrick-etal-2012-empirical"]),
    ("Smith and Yeh 2000; Yeh 20001; McYeh 2000; that of the scores; -", []),
])
def test_a_citation_has_its_entries(citation, keys):
    assert [work.key for work in find_references(citation)] == keys


def test_a_work_is_described_as_in_a_list_of_references():
    """The entry of the ACL Anthology, and a book."""
    (yeh,), (harnett,) = find_references("Yeh 2000"), find_references("Harnett 1982")
    assert str(yeh) == (
        "Alexander Yeh. 2000. More accurate tests for the statistical significance of result differences. In COLING "
        "2000 Volume 2: The 18th International Conference on Computational Linguistics, pages 947–953. "
        "https://aclanthology.org/C00-2137/")
    assert str(harnett) == "Donald L. Harnett. 1982. Statistical Methods, 3rd edition. Addison-Wesley."
    (tango,) = find_references("Tango 1998")
    assert tango.link.endswith("17:8%3C891::AID-SIM780%3E3.0.CO;2-B"), "characters that end a link are encoded"


def test_a_short_citation_keeps_works_of_others():
    assert shorten_citation("Gaudette and Japkowicz 2009, section 2; Yeh 2000, section 4; -") == (
        "Gaudette and Japkowicz 2009, section 2; Yeh 2000")
