"""The pages of docs/: which there are, that their blocks are executed, and where their links lead."""

import re
from collections import Counter

import pytest

from tests.documentation.execution import FENCE, ROOT, FailedError, commands, executed, titled
from tests.documentation.pages import ABOVE, DOCS, EXECUTED, PICTURE
from tests.generated_docs import COMMANDS_PAGE, commands_page

PAGES = sorted(path for path in DOCS.rglob("*.md") if "evalregistry_toy" not in path.parts)
SITE = (ROOT / "mkdocs.yml").read_text()
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
CODE = re.compile(r"^(`{3,})(?s:.*?)^\1$|^(?: {4}|\t).*$", re.MULTILINE)


def slug(heading):
    """The anchor that GitHub and the site give a heading."""
    text = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    """The anchors of a page; of headings of one name the second is numbered."""
    seen, found = Counter(), set()
    for heading in re.findall(r"^#+ (.+)$", CODE.sub("", path.read_text()), re.MULTILINE):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def test_the_site_leads_to_every_page():
    """But for the tables of studies, to which the page of studies leads."""
    named = re.findall(r"^ +- ([\w/.-]+\.md)$", SITE.partition("\nnav:")[2], re.MULTILINE)
    there = [str(path.relative_to(DOCS)) for path in PAGES if not path.match("studies/*/*.md")]
    assert sorted(named) == sorted([*there, *ABOVE.values()])


@pytest.mark.parametrize("path", [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))],
                         ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_what_is_there(path):
    for link in LINK.findall(CODE.sub("", path.read_text())):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_is_executed_or_is_a_file(path):
    blocks = list(FENCE.finditer(path.read_text()))
    assert blocks
    assert [b["body"] for b in blocks if b["language"] not in ("console", "pycon") and not titled(b)] == []
    assert all(commands(block["body"]) for block in blocks if block["language"] == "console")
    for shown in PICTURE.findall(path.read_text()):
        assert (path.parent / shown).stat().st_size < 300_000


def test_pages_begin_lists_as_both_kinds_of_markdown_want_it():
    """A list after a line of text is none on the site."""
    found = [(path.name, line) for path in PAGES
             for line in re.findall(r"^[^\s|#>*\-\d`].*\n(- .*)$", CODE.sub("", path.read_text()), re.MULTILINE)]
    assert found == []


@pytest.mark.slow
def test_blocks_are_executed_in_turn(tmp_path):
    page = """```text title="a.txt"
one
```
```console
$ cat a.txt
two
$ registry board --db none.duckdb
error: to be told
```
```pycon
>>> x = 2
>>> x + 1
```
"""
    with pytest.raises(FailedError, match="ended with status 0"):
        executed(page.replace("two", "error: no"), tmp_path / "first")
    written = executed(page, tmp_path / "second")
    assert "$ cat a.txt\none\n$ registry board --db none.duckdb\nerror: none.duckdb" in written
    assert ">>> x = 2\n>>> x + 1\n3\n```" in written
    assert executed(written, tmp_path / "third") == written


def test_a_command_that_fails_unsaid_is_an_error(tmp_path):
    with pytest.raises(FailedError, match="status 1"):
        executed("```console\n$ cat none.txt\n```\n", tmp_path)


def test_every_term_of_a_board_is_in_the_glossary():
    """The columns and words of a board in README, and those of `registry pairs` in the tour."""
    page = (DOCS / "glossary.md").read_text()
    first_cells = re.findall(r"^\| (\*\*.+?) \|", page, re.MULTILINE)
    known = {word.lower() for cell in first_cells for word in re.findall(r"\*\*(.+?)\*\*", cell)}
    header = re.search(r"^ (rank .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)[1]
    header = header.replace("95 % CI", "CI").lower().split()
    pairs = {"difference", "discordant", "significant", "unit", "pair", "signature", "seed", "correction", "item"}
    assert {*header, *pairs} - {"team"} <= known
    assert len(known) > 50


@pytest.mark.slow
def test_the_page_of_commands_is_what_the_program_says():
    assert COMMANDS_PAGE.read_text() == commands_page(), "run `make docs`"
