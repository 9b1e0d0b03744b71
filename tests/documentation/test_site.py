"""The documentation site: preparation of its pages, errors of the build, and search from disk."""

from importlib.util import find_spec

import pytest

from tests import chromium
from tests.documentation import site
from tests.documentation.execution import ROOT
from tests.needs import need

MKDOCS = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[0]
PAGES = {"index.md": "# First\n\nBootstrap resamples.\n", "second.md": "# Second\n\nPermutation swaps.\n"}


def test_links_to_pages_above_the_documentation_lead_to_their_copies():
    page = "[a](../CONTRIBUTING.md#add-a-metric) [b](../../CHANGELOG.md) [c](faq.md)"
    assert site.adapt_page(page, 0) == "[a](contributing.md#add-a-metric) [b](changelog.md) [c](faq.md)"
    assert site.adapt_page(page, 1) == "[a](../contributing.md#add-a-metric) [b](../changelog.md) [c](faq.md)"


def test_diagrams_and_blank_lines_of_doctest_are_plain_text():
    assert site.adapt_page("```mermaid\na --> b\n```\n", 0) == "```text\na --> b\n```\n"
    assert site.adapt_page(">>> f()\na\n<BLANKLINE>\nb\n", 0) == ">>> f()\na\n\nb\n"


def test_files_on_other_servers_are_listed(tmp_path):
    (tmp_path / "page.html").write_text('<a href="https://a.org/"></a><script src="https://b.org/x.js"></script>'
                                        '<img alt="" src=//c.org/y.png><link href="assets/z.css">')
    listed = site.list_foreign_files(tmp_path)
    assert [address in line for address, line in zip(("https://b.org/x.js", "//c.org/y.png"), listed, strict=True)] == [
        True, True]


@pytest.mark.parametrize("script", ["", 'parser:n=>Y(n,"and");parser:n=>Y(n,"and")'])
def test_an_unknown_search_script_is_an_error(tmp_path, script):
    path = tmp_path / "assets/javascripts/workers/search.1.js"
    path.parent.mkdir(parents=True)
    path.write_text(script)
    with pytest.raises(SystemExit, match="expected 1"):
        site.find_partial_matches(tmp_path)


def build_site(root, pages):
    """Build a site of a few pages with the settings of ours; return its folder."""
    docs = root / "build" / "docs"
    (docs / "assets").mkdir(parents=True)
    for path in (ROOT / "docs" / "assets").iterdir():
        (docs / "assets" / path.name).write_bytes(path.read_bytes())
    for name, text in pages.items():
        (docs / name).write_text(text)
    (root / "mkdocs.yml").write_text(MKDOCS)
    return root / "build" / "site" if site.run_zensical(root) else None


@pytest.mark.slow
def test_a_missing_page_or_anchor_stops_the_build(tmp_path):
    need("zensical", there=find_spec("zensical") is not None)
    for name, link in (("page", "third.md"), ("anchor", "second.md#third")):
        assert build_site(tmp_path / name, PAGES | {"index.md": f"# First\n\n[x]({link})\n"}) is None


@pytest.mark.slow
def test_search_works_from_disk_and_lists_partial_matches(tmp_path):
    need("zensical", there=find_spec("zensical") is not None)
    need("chromium", there=chromium.PATH is not None)
    folder = build_site(tmp_path, PAGES)
    site.find_partial_matches(folder)
    assert site.list_foreign_files(folder) == []
    requests = []
    with chromium.launched() as browser:
        page = browser.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.goto((folder / "index.html").as_uri())
        page.locator(".md-search__button").click()
        box = page.locator("input[role=combobox]")
        box.click()
        page.keyboard.type("permutation nowhere", delay=20)
        page.locator("a[role=option]").first.wait_for()
        assert box.input_value() == "permutation nowhere"
        results = page.locator("a[role=option]").evaluate_all("links => links.map(link => link.href)")
    assert len(results) == 1
    assert results[0].startswith((folder / "second.html").as_uri())
    assert all(address.startswith(("file:", "data:", "blob:")) for address in requests)
