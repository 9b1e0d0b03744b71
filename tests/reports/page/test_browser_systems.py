"""Pages of single systems, two side by side and the history of the best, in a browser."""

from dataclasses import replace

import pytest

from tests.reports.boards import HOSTILE
from tests.reports.page.accessibility import violations
from tests.reports.page.contents import ITEMS, contents, detailed
from tests.reports.page.shown import fragment, systems


def cells(page, table):
    return [row.split("\t") for row in page.locator(f"{table} tbody tr").all_inner_texts()]


def test_a_system_has_a_page_that_rows_lead_to_and_that_leads_back(open_page):
    """Of oak, elm, ash and fir with 0.9, 0.8, 0.7 and none: those next to each other do not differ significantly."""
    page = open_page(detailed(contents(items=ITEMS)), "#sort=-score")
    page.locator("#standings").get_by_role("link", name="oak").click()
    page.get_by_role("heading", name="oak", exact=True).wait_for()
    assert page.evaluate("document.activeElement.id") == "system-heading"
    assert (page.title(), fragment(page)) == ("oak: A task: leaderboards", "sort=-score&system=oak")
    assert page.locator("#standings").is_hidden()
    rows = cells(page, "#system-pairs")
    assert [row[0] if len(row) == 1 else row[1] for row in rows] == [
        "Better than 2", "ash", "fir", "Not significantly different from 1", "elm"]
    assert rows[1][2:5] == ["+0.2000", "0.0100", "0.0400"]
    assert [row[:6] for row in cells(page, "#strengths")] == [
        ["all items", "acc", "0.9000", "1", "2 of 3", "0.8000"],
        ["domain=news", "acc", "0.9000", "1", "2 of 3", "0.8000"],
        ["all items", "p", "0.9700", "4", "0 of 3", "0.9850"]]
    assert cells(page, "#runs") == [
        ["yes", "0.8000"], ["run 2", "1.0000"], ["mean", "0.9000"], ["SD of runs", "0.1414"]]
    assert cells(page, "#versions") == [["2", "2026-03-09", "0.9000", "came late"], ["1", "2026-03-01", "0.7500", ""]]
    assert cells(page, ".confusion") == [["yes", "5", "1", "0", "83.3\u00a0%"], ["no", "0", "3", "1", "75.0\u00a0%"]]
    page.locator("#system-items").get_by_role("link", name="i1").click()
    page.locator("details[open] tbody").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.go_back()
    page.get_by_label("Metric").select_option("p")
    assert "rank 4 of 4" in page.locator("#system-body").inner_text()
    page.get_by_role("link", name="Back to the leaderboard").click()
    page.locator("#standings").wait_for()
    assert (page.title(), systems(page)) == ("A task: leaderboards", ["fir", "ash", "elm", "oak"])


def test_two_systems_are_compared_with_each_other(open_page):
    """By accuracy oak leads by 0.1 and by precision elm by 0.01; they answer the first item differently."""
    page = open_page(detailed(contents(items=ITEMS)), "#system=elm")
    page.get_by_role("link", name="side by side with oak").click()
    page.locator("#versus-metrics").wait_for()
    assert fragment(page) == "a=elm&b=oak"
    assert [row[1:5] for row in cells(page, "#versus-metrics")] == [
        ["acc", "0.8000", "0.9000", "−0.1000"], ["acc", "0.8000", "0.9000", "−0.1000"],
        ["p", "0.9800", "0.9700", "+0.0100"]]
    assert [row[:5] for row in cells(page, "#regions")] == [
        ["only elm (D1)", "6", "2", "4", "33.3\u00a0%"], ["only oak (D2)", "4", "3", "1", "75.0\u00a0%"],
        ["both", "5.5", "5", "0.5", "90.9\u00a0%"]]
    assert "They answer 2 of 2 items below differently" in page.locator("#versus-body").inner_text()
    page.get_by_label("First system").focus()
    page.get_by_label("First system").select_option("ash")
    assert page.evaluate("document.activeElement.id") == "choose-first-system"
    assert page.get_by_label("System A", exact=True).input_value() == "ash"
    assert "They answer 0 of 2 items below differently" in page.locator("#versus-body").inner_text()
    assert "only for systems next to each other" in page.locator("#versus-body").inner_text()


def test_the_history_of_the_best_says_what_was_significant(open_page):
    page = open_page(detailed(contents()))
    assert cells(page, "#bests") == [["2026-03-01", "elm and 1 more", "0.8000", "", "", "", ""],
                                     ["2026-03-09", "oak", "0.9000", "+0.1000", "yes", "0.0030", "yes"]]
    assert page.locator("#past circle.filled title").text_content() == "2026-03-09: oak, 0.9000"
    assert page.locator("#past circle.hollow").count() == 1
    page.get_by_label("Metric").select_option("p")
    page.locator('main[aria-busy="false"]').wait_for()
    assert page.locator("#past").is_hidden()


@pytest.mark.parametrize("shown", ["#system=oak", "#a=oak&b=elm"])
def test_pages_of_systems_are_for_everybody(open_page, shown):
    """In light and dark axe finds nothing, and on a phone only tables scroll."""
    page = open_page(detailed(contents(items=ITEMS)), shown, bypass_csp=True)
    assert violations(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")  # as it is resized
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_hostile_names_have_pages_and_equal_names_two(open_page):
    """Each name's page is drawn; of two systems called the same the team tells which is meant."""
    hostile = contents(HOSTILE)
    page = open_page(detailed(hostile, "<img src=x onerror=alert(1)>"))
    for name in HOSTILE:
        page.evaluate("name => { location.hash = new URLSearchParams({ system: name, a: name }) }", name)
        page.locator("#system-body p").first.wait_for()
        assert page.locator("#system-pairs tbody tr").count() >= len(HOSTILE) - 1
    assert page.locator("script").count() == 2
    assert page.locator("img, b b, iframe").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    board = contents().boards[0]
    twins = replace(contents(), boards=[replace(board, standings=[
        replace(of, system="same", display_name=f"{of.team}/same") for of in board.standings])])
    open_page(twins, "#system=elm/same", page)
    assert page.locator("#system-heading").inner_text() == "elm/same"
    assert "0.8000, rank 2 of 4" in page.locator("#system-body").inner_text()
