"""The answer comes first: the first screen of a page, the order of its parts, its words, and its address."""

import re
from dataclasses import replace

import pytest

from registry.boards.results import describe_result
from registry.messages import KINDS, Message, Messages
from tests.reports.boards import changed, leaderboard
from tests.reports.page.contents import ITEMS, NAMES, contents, detailed, labels, translations
from tests.reports.page.shown import fragment, systems

SCREENS = ({"width": 1280, "height": 800}, {"width": 390, "height": 844})
COMMANDS = re.compile(r"registry [a-z]+|--[a-z]|`|; (?:use|add|set|run|increase) ")
LONG = "Sentiment of reviews in several domains and languages, shared task 2026"


def boards_of(n, systems):
    """All items and n - 1 facets, with pairs of neighbours that do not differ significantly."""
    board = changed(leaderboard(systems), lambda _: {"ci_low": -0.1, "ci_high": 0.2, "alternative": "two-sided"})
    board = replace(board, result=describe_result(board))
    return [board, *(replace(board, facet=f"genre=g{k}", signature=f"g{k}") for k in range(1, n))]


@pytest.mark.parametrize(("n_boards", "n_systems"), [(1, 1), (1, 2), (1, 16), (3, 2), (8, 16), (41, 16)])
def test_the_first_screen_has_title_result_and_the_first_systems(open_page, n_boards, n_systems):
    names = [f"alder-{n}-long-context-retrieval" for n in range(n_systems)]
    of = replace(contents(), title=LONG, boards=boards_of(n_boards, names))
    for screen in SCREENS:
        page = open_page(of, viewport=screen)
        rows = page.locator("#standings tbody tr")
        for part in (page.locator("h1"), page.locator("#result"), *rows.all()[:2]):
            box = part.bounding_box()
            assert box["y"] + box["height"] <= screen["height"]
        assert page.locator("#overview").count() == (n_boards > 1)


def test_sections_have_an_order_and_the_empty_ones_are_absent(open_page):
    def links(of):
        page = open_page(of)
        assert page.locator("h2:visible").count() == page.locator("#contents a").count() + page.locator(
            "#overview h2").count()
        return page.locator("#contents a").all_inner_texts()

    assert links(detailed(contents(items=ITEMS))) == [
        "Leaderboard", "Differences", "Pairs", "Two systems", "Items", "History", "Methods", "Downloads", "About"]
    assert links(replace(contents(), boards=[leaderboard(["oak", "elm"])])) == [
        "Leaderboard", "Differences", "Two systems", "Methods", "Downloads", "About"]
    assert links(replace(contents(), boards=[leaderboard(["oak"])])) == [
        "Leaderboard", "Methods", "Downloads", "About"]


def test_links_to_sections_keep_the_view(page):
    page.get_by_role("button", name="system").click()
    page.locator("#contents").get_by_role("link", name="Methods").click()
    assert page.evaluate("document.activeElement.id") == "methods-heading"
    assert fragment(page) == "sort=system"
    page.reload()
    page.locator('main[aria-busy="false"]').wait_for()
    assert systems(page) == sorted(NAMES)


def test_the_overview_has_a_row_for_each_leaderboard_that_links_to_it(page):
    """By accuracy oak beats ash and fir, and so does fir by precision oak and elm."""
    rows = [row.split("\t") for row in page.locator("#overview tbody tr").all_inner_texts()]
    assert rows == [["acc", "oak", "0.9000", "4", "2 of 3"], ["acc, domain=news", "oak", "0.9000", "4", "2 of 3"],
                    ["p", "fir", "1.0000", "4", "2 of 3"]]
    assert page.locator("#overview [aria-current]").all_inner_texts() == ["acc"]
    page.locator("#overview").get_by_role("link", name="p", exact=True).click()
    page.get_by_text("By p, no single winner: fir and ash of the 4 systems may be first").wait_for()
    page.locator('main[aria-busy="false"]').wait_for()
    assert page.evaluate("document.activeElement.id") == "leaderboard"
    assert systems(page) == list(NAMES[::-1])
    assert page.locator("#overview [aria-current]").all_inner_texts() == ["p"]
    page.go_back()
    page.get_by_text("By acc, no single winner: oak and elm of the 4 systems may be first").wait_for()


def test_many_facets_are_folded(open_page):
    page = open_page(replace(contents(), boards=boards_of(41, NAMES)))
    assert page.locator("#overview tbody tr:visible").count() == 1
    page.locator("#overview summary").click()
    page.locator("#overview").get_by_role("link", name="genre=g40").click()
    page.get_by_text("By acc (genre=g40), ").wait_for()


def test_the_address_has_hidden_columns_order_and_filter(page, open_page):
    page.get_by_label("range", exact=True).uncheck()
    page.get_by_label("cluster", exact=True).uncheck()
    assert page.evaluate("document.activeElement.id").startswith("column-")
    page.get_by_role("button", name="system").click()
    page.get_by_label("Filter").fill("a")
    heads = page.locator("#standings thead th").all_inner_texts()
    assert not {"range", "cluster"} & set(heads)
    other = open_page(contents(items=ITEMS), "#" + fragment(page))
    for again in (other, page):
        again.reload()
        again.locator('main[aria-busy="false"]').wait_for()
        assert again.locator("#standings thead th").all_inner_texts() == heads
        assert systems(again) == ["ash", "oak"]
        assert not again.get_by_label("range", exact=True).is_checked()


def test_items_are_selected_by_the_systems_that_are_correct(open_page):
    given = {"i1": ("yes", "no"), "i2": ("no", "yes"), "i3": ("yes", "yes"), "i4": ("no", "maybe"), "i5": ("no", "no")}
    items = [labels(name, "yes", {"oak": oak, "elm": elm, "ash": "never"}) for name, (oak, elm) in given.items()]
    page = open_page(contents(items=items), "#a=oak&b=elm&correct=first")
    listed = page.locator("#item-list summary b")
    found = {"first": listed.all_inner_texts()}
    for value in ("", "second", "both", "neither", "better", "worse"):
        page.get_by_label("Show", exact=True).select_option(value)
        found[value] = listed.all_inner_texts()
    assert found == {"": ["i1", "i2", "i4"], "first": ["i1"], "second": ["i2"], "both": ["i3"],
                     "neither": ["i4", "i5"], "better": ["i1"], "worse": ["i2"]}
    assert fragment(page) == "a=oak&b=elm&correct=worse"
    page.get_by_label("System B", exact=True).select_option("")
    page.get_by_label("Show", exact=True).select_option("first")
    assert listed.all_inner_texts() == ["i1", "i3"]


def test_two_systems_are_chosen_without_a_choice(open_page):
    """Both answer i1 and i2 differently; a single pair needs no correction."""
    items = [labels("i1", "yes", {"oak": "yes", "elm": "no"}), labels("i2", "yes", {"oak": "no", "elm": "yes"})]
    page = open_page(replace(contents(items=items), boards=[leaderboard(["oak", "elm"])]))
    assert page.locator("#versus-metrics tbody tr").count() == 1
    assert "They answer 2 of 2 items below differently" in page.locator("#versus-body").inner_text()
    assert page.get_by_label("System A", exact=True).input_value() == "oak"
    page.get_by_label("Show", exact=True).select_option("second")
    assert page.locator("#item-list summary b").all_inner_texts() == ["i2"]
    assert page.locator("#p-values").is_hidden()


def test_texts_are_only_better_or_worse(open_page):
    items = [translations("i1", {"gold": "x"}, {"oak": "x", "elm": "y"})]
    page = open_page(contents(items=[*items, replace(items[0], item="i2")]), "#a=oak&b=elm&correct=first")
    assert page.get_by_label("Show", exact=True).locator("option").all_inner_texts() == [
        "different answers", "a higher score of A", "a higher score of B"]
    assert page.locator("#item-list summary").count() == 2, "texts are not correct, so this choice has no effect"


def test_no_sentence_of_a_page_speaks_of_commands(open_page):
    """Neither messages about boards, pairs and submissions, nor notes about data that are left out."""
    messages = tuple(Message(kind.code, kind.example) for kind in KINDS.values())
    board = changed(leaderboard(NAMES), lambda _: {"messages": Messages(messages)})
    standings = tuple(replace(standing, messages=Messages(messages)) for standing in board.standings)
    board = replace(board, statements=messages, outdated=messages,
                    rank_warnings=messages, standings=standings)
    of, page = detailed(replace(contents(items=ITEMS), boards=[board, *contents().boards[1:]])), None
    for view in ("", "#chart=gains", "#system=oak", "#a=elm&b=fir", "#show=wide"):
        page = open_page(of, view, page)
        text = page.locator("body").inner_text()
        assert len(text) > 1000
        assert COMMANDS.findall(text) == [], view
