"""The items of a page, in a browser."""

from dataclasses import replace

from tests.reports.page.contents import contents, labels
from tests.reports.page.shown import fragment


def test_items_show_gold_and_responses_side_by_side(page):
    page.locator("summary", has_text="i1").click()
    page.locator("details[open] tbody").wait_for()
    rows = page.locator("details[open] tbody tr").all_inner_texts()
    assert ["\t".join(row.split()) for row in rows] == ["gold\t✓\tyes", "oak,\tash\t✓\tyes\t1.0000",
                                                         "elm,\tfir\t✗\tno\tmisses\tyes\t0.0000"]
    assert fragment(page) == "item=i1"
    page.get_by_label("Systems", exact=True).select_option("oak")
    page.get_by_label("and", exact=True).select_option("fir")
    assert page.locator("#item-list summary b").all_inner_texts() == ["i1"], "they say the same of i2"


def test_items_follow_the_facet_and_the_metric(open_page):
    items = [labels("i1", "yes", {"oak": "yes", "elm": "no"}), labels("i2", "yes", {"oak": "no", "elm": "yes"},
                                                                      ["domain=news"])]
    page = open_page(contents(items=items))
    assert page.locator("#item-list summary b").all_inner_texts() == ["i1", "i2"]
    page.get_by_label("Facet").select_option("domain=news")
    page.locator('main[aria-busy="false"]').wait_for()
    assert page.locator("#item-list summary b").all_inner_texts() == ["i2"]
    assert "The item of test, domain=news on which" in page.locator("#items-what").inner_text()
    page.get_by_label("Metric").select_option("p")
    page.locator("summary", has_text="i1").click()
    page.locator("details[open] tbody").wait_for()
    assert page.locator("details[open] tbody td:last-child").all_inner_texts()[1:] == ["0.5000", "0.0000"]


def test_items_follow_the_track(open_page):
    """On the open track only oak and elm take part, who say the same of i1."""
    given = {"oak": "yes", "elm": "yes", "ash": "no"}
    tracks = {"oak": "open", "elm": "open"}
    items = [labels("i1", "yes", given, tracks=tracks), labels("i2", "yes", given | {"elm": "no"}, tracks=tracks)]
    boards = contents().boards
    of = replace(contents(items=items), boards=[boards[0], replace(boards[0], track="open")])
    page = open_page(of, "#track=open")
    assert page.locator("#item-list summary b").all_inner_texts() == ["i2"]
    page.locator("summary", has_text="i2").click()
    page.locator("details[open] tbody").wait_for()
    assert page.locator("details[open] tbody th").all_inner_texts() == ["gold", "oak", "elm"]
    assert page.get_by_label("Systems", exact=True).locator("option").all_inner_texts() == ["all", "oak", "elm"]
    page.get_by_label("Track").select_option("")
    page.locator("#items").wait_for(state="hidden")
