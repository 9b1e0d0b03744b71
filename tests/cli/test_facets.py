"""`--facet` and `--no-facets` select leaderboards alike for all commands that print them."""

import re

import pytest

FACETS = [None, "document=d0", "document=d1", "document=d2"]


@pytest.fixture
def faceted(task, scored):
    task.test_set = {"facets": ["document"]}
    scored(task)


@pytest.mark.parametrize("command", ["board", "pairs"])
@pytest.mark.parametrize(("options", "facets"), [
    ((), FACETS), (("--no-facets",), FACETS[:1]), (("--facet", "document=d1"), ["document=d1"])])
def test_boards_and_pairs(command, options, facets, faceted, registry):
    rows = registry(command, *options, "--format", "json").json
    assert list(dict.fromkeys(row["facet"] for row in rows)) == facets


@pytest.mark.parametrize("options", [(), ("--facet", "document=d1")])
def test_compare_pair_is_about_the_whole_test_set_or_a_facet(options, faceted, registry):
    (row,) = registry("compare-pair", "a", "b", *options, "--format", "json").json
    assert row["facet"] == (options[1] if options else None)


def test_compare_pair_refuses_an_unknown_facet(faceted, registry):
    assert "unknown facet 'document=d7'" in registry(
        "compare-pair", "a", "b", "--facet", "document=d7", exit_code=3).stderr


@pytest.mark.parametrize(("options", "facets"), [(("--no-facets",), set()), (("--facet", "document=d1"), {"d1"})])
def test_latex_wide_boards_and_pages(options, facets, faceted, registry, tmp_path):
    registry("page", "small", *options, "-o", tmp_path / "page.html")
    for text in (registry("board", *options, "--format", "latex").stdout,
                 registry("board", "--wide", *options, "--format", "csv").stdout, (tmp_path / "page.html").read_text()):
        assert set(re.findall(r"document=(d\d)", text.replace("\\", "").replace("&#61;", "="))) == facets


@pytest.mark.parametrize("command", [("board",), ("pairs",), ("page", "small", "-o", "page.html")])
@pytest.mark.parametrize(("options", "message"), [
    (("--facet", "document=d7"), "unknown facet 'document=d7'; did you mean "),
    (("--facet", "document=d1", "--no-facets"), "--facet and --no-facets cannot be combined; remove one")])
def test_what_is_refused(command, options, message, faceted, registry):
    assert message in registry(*command, *options, exit_code=3).stderr
