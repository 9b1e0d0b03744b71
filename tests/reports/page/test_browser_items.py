"""The items of a page, in a browser."""

from dataclasses import replace

import pytest

from registry.boards.items import KnownAnswer as Known
from tests.reports.boards import HOSTILE
from tests.reports.page.accessibility import violations
from tests.reports.page.contents import contents, item, labels, sets, translations
from tests.reports.page.shown import fragment


def test_items_show_gold_and_responses_side_by_side(page):
    assert page.locator(".snippet").all_inner_texts() == [
        "“yes” by 2, “no” by 2; gold “yes”", "“no” by 3, “yes” by 1; gold “no”"]
    page.locator("#items summary", has_text="i1").click()
    page.locator("details[open] tbody").wait_for()
    rows = page.locator("details[open] tbody tr").all_inner_texts()
    assert ["\t".join(row.split()) for row in rows] == ["gold\t✓\tyes", "oak,\tash\t✓\tyes\t1.0000",
                                                         "elm,\tfir\t✗\tno\t0.0000"]
    assert fragment(page) == "item=i1"
    page.get_by_label("System A", exact=True).select_option("oak")
    page.get_by_label("System B", exact=True).select_option("fir")
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
    page.locator("#items summary", has_text="i1").click()
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
    page.locator("#items summary", has_text="i2").click()
    page.locator("details[open] tbody").wait_for()
    assert page.locator("details[open] tbody th").all_inner_texts() == ["gold", "oak", "elm"]
    assert page.get_by_label("System A", exact=True).locator("option").all_inner_texts() == ["all", "oak", "elm"]
    page.get_by_label("Track").select_option("")
    page.locator("#items").wait_for(state="hidden")


def opened(page, name):
    """The rows of an item's table, as text, once it is open."""
    page.locator(f'details[data-item="{name}"] > summary').click()
    page.locator(f'details[data-item="{name}"] table').wait_for()
    return page.locator(f'details[data-item="{name}"] tbody tr')


def test_spans_stand_in_the_text(open_page):
    """A right one, one that overlaps the one that it misses, and folded words; each is told in words too."""
    words = [f"w{n}" for n in range(1, 61)]
    known = [Known("2-2", "PER", in_gold=True), Known("4-6", "ORG", in_gold=True), Known("5-7", "ORG")]
    spans = sets("i1", "span", known, {"oak": [0, 1], "elm": [0, 2], "ash": []}, tokens=words)
    unknown = sets("i2", "span", known, {"oak": [0, 1], "elm": [0, 2], "ash": []})  # whose words are not known
    page = open_page(contents(items=[spans, unknown]))
    _, oak, elm, _ = opened(page, "i1").all()
    marks = elm.locator(".running span[class^=span]").evaluate_all(
        "all => all.map(node => [node.className.split(' ')[0], node.textContent])")
    assert marks == [["span-right", "w2✓ PER"], ["span-missed", "w4 "], ["span-wrong", "w5 w6missed ORG "],
                     ["span-missed", "w5 w6missed ORG"], ["span-wrong", "w7✗ ORG"]]
    assert elm.locator(".unseen").inner_text() == (
        "PER “w2” in the gold; ORG “w4 w5 w6” missed; ORG “w5 w6 w7” not in the gold")
    assert "w15" in oak.inner_text()
    assert "w16" not in oak.inner_text()
    oak.get_by_label("show 45 more words").click()
    assert "w60" in oak.inner_text()
    elm = opened(page, "i2").nth(2)
    assert elm.locator("svg rect").evaluate_all("all => all.map(rect => rect.getAttribute('class'))") == [
        "right", "wrong", "missed"]
    assert elm.locator("li").all_inner_texts() == ["✓ PER 2-2", "✗ ORG 5-7"]


def test_trees_are_a_table_of_what_differs(open_page):
    """Word 2 has another head at elm and another relation at ash, word 3 none at elm, which has a word of its own."""
    known = [Known("2>1", "det", in_gold=True), Known("3>2", "nsubj", in_gold=True), Known("0>3", "root", in_gold=True),
             Known("1>2", "nsubj"), Known("3>2", "obj"), Known("?>+3", "dep")]
    given = {"oak": [0, 1, 2], "elm": [0, 3, 5], "ash": [0, 4, 2]}
    page = open_page(contents(items=[sets("i1", "tree", known, given, tokens=("the", "dog", "barks"))]))
    rows = opened(page, "i1")
    assert page.locator("details[open] thead th").all_inner_texts() == ["by", "acc", "dog2", "barks3", "other words"]
    assert [row.locator("td").all_inner_texts() for row in rows.all()] == [
        ["", "nsubj ← barks3", "root ← root", ""], ["1.0000", *["·\nas the gold"] * 2, ""],
        ["0.8000", "✗ ← the1", "no such word", "1"], ["0.6000", "✗ obj", "·\nas the gold", ""]]
    page.get_by_label("draw the tree of elm").click()
    assert page.locator("figure.tree .arc").count() == 2 + 3
    assert page.locator("figure.tree .differs").count() == 1 + 2
    assert "2 of 3 words differ" in page.locator("figcaption").inner_text()
    page.emulate_media(media="print")
    assert page.locator("figure.tree svg").is_visible()


@pytest.mark.slow
def test_a_tree_that_is_too_wide_for_paper_is_printed_as_a_list(open_page):
    """Sixty words in a row, each the head of the next one; elm has another relation at word 2."""
    known = [Known(f"{n - 1}>{n}", "dep" if n > 1 else "root", in_gold=True) for n in range(1, 61)]
    given = {"oak": [*range(60)], "elm": [0, 60, *range(2, 60)], "ash": [*range(59)]}
    page = open_page(contents(items=[sets(
        "i1", "tree", [*known, Known("1>2", "obj")], given, tokens=[f"word{n}" for n in range(1, 61)])]))
    opened(page, "i1")
    page.get_by_label("draw the tree of elm").click()
    drawing, words = page.locator("figure.tree svg"), page.locator(".tree-list li")
    assert (drawing.is_visible(), words.first.is_visible()) == (True, False)
    page.emulate_media(media="print")
    assert (drawing.is_visible(), words.count()) == (False, 60)
    assert words.all_inner_texts()[:3] == [
        "word1 root ← root", "word2 ✗ obj ← word11 (gold: dep ← word11)", "word3 dep ← word22"]
    assert page.locator("figcaption").inner_text() == "elm: 1 of 60 words differ."


def test_links_are_a_grid(open_page):
    known = [Known("1-1", in_gold=True), Known("2-2", in_gold=True), Known("2-3", in_gold=True, possible=True),
             Known("3-1")]
    page = open_page(contents(items=[sets("i1", "alignment", known, {"oak": [0, 2], "elm": [1, 3], "ash": [0, 1]})]))
    rows = [row.locator("td").first.inner_text() for row in opened(page, "i1").all()]
    assert [row.replace("\u2011", "-") for row in rows] == [
        "2 sure, 1 possible", "1 of 2 sure, 1 of 1 possible, none incorrect; misses 2-2",
        "1 of 2 sure, 0 of 1 possible, ✗ 3-1; misses 1-1", "2 of 2 sure, 0 of 1 possible, none incorrect"]
    marks = {name: page.locator(f"svg.links {name}").count() for name in (".sure", ".possible", ".first", ".second")}
    assert marks == {".sure": 2, ".possible": 1, ".first": 2, ".second": 2}
    page.get_by_label("✕ cross:").select_option("elm")
    assert page.locator("svg.links title").all_text_contents() == [
        "1-1: sure; oak", "2-2: sure; elm", "2-3: possible; oak", "3-1: not in the gold; elm"]


def test_texts_have_their_differences(open_page):
    """Words where there are blanks, and characters where there are none; against a reference or another system."""
    items = [translations("i1", {"gold": "the old dog barks .", "gold source": "x"}, {
        "oak": "the dog barks loudly .", "elm": "the dog barks .", "ash": None}),
        translations("i2", {"gold": "今日は良い"}, {"oak": "今日も良い", "elm": "今日は", "ash": None})]
    page = open_page(contents(items=items))
    edited = "nodes => nodes.map(node => [node.tagName, node.textContent])"
    rows = opened(page, "i1")
    assert rows.locator("th").all_inner_texts() == ["source", "gold", "oak", "elm", "ash"]
    assert rows.nth(2).locator("ins, del").evaluate_all(edited) == [["DEL", "old"], ["INS", "loudly"]]
    assert rows.nth(2).locator("td").first.inner_text() == "the old dog barks loudly ."
    assert rows.nth(4).locator("td").first.inner_text() == "no response"
    assert opened(page, "i2").nth(1).locator("ins, del").evaluate_all(edited) == [["DEL", "は"], ["INS", "も"]]
    page.get_by_label("System A", exact=True).select_option("elm")
    page.get_by_label("System B", exact=True).select_option("oak")
    page.get_by_label("Changes from").select_option("first")
    rows = page.locator('details[data-item="i2"] tbody tr')
    rows.first.wait_for()
    assert [row.locator("ins, del").evaluate_all(edited) for row in rows.all()] == [
        [], [["DEL", "は"], ["INS", "も良い"]], []]


def test_numbers_and_rankings(open_page):
    numbers = item("i1", "number", [("gold", {"numbers": {"": 2.0}})], {
        "oak": {"numbers": {"": 2.5}}, "elm": {"numbers": {"judge": -1.0, "human": 0.25}}, "ash": {}})
    page = open_page(contents(items=[numbers]))
    assert [row.locator("td").first.inner_text() for row in opened(page, "i1").all()] == [
        "2", "2.5", "judge −1, human 0.25", "no response"]
    known = [Known("d1", in_gold=True, relevance=2), Known("d2", relevance=0), *(Known(f"d{n}") for n in range(3, 13))]
    given = {"oak": {"said": list(range(12)), "returned": 1000, "found": 1}, "elm": {"said": [1], "returned": 1}}
    ranked = item("q1", "ranking", [("gold", {"said": [0]})], given, known=known)
    open_page(contents(items=[ranked]), into=page)
    oak = opened(page, "q1").nth(1)
    assert oak.locator("p").inner_text() == "1 of 1 relevant among 1,000"
    assert oak.locator("li").first.inner_text() == "✓ d1 (2)"
    assert oak.locator("li").count() == 10
    oak.get_by_label("show 2 more documents").click()
    assert oak.locator("li").all_inner_texts()[-1].split() == ["?", "d12"]
    assert page.get_by_label("not relevant", exact=True).count() == 2


def test_items_are_found_put_in_order_and_turned(open_page):
    """i3 is the hardest; n opens the next one and closes the last, and the address names it."""
    items = [labels(name, "yes", given, facets=[f"domain={domain}"]) for name, domain, given in (
        ("i1", "web", {"oak": "yes", "elm": "no", "ash": "yes"}),
        ("i2", "news", {"oak": "yes", "elm": "maybe", "ash": "no"}),
        ("i3", "news", {"oak": "no", "elm": "never", "ash": "no"}))]
    items = [replace(of, place=place) for of, place in zip(items, (7, 5, 6), strict=True)]
    page = open_page(contents(items=items), "#order=hard&item=i2")
    listed = page.locator("#item-list summary b")
    assert listed.all_inner_texts() == ["i3", "i2", "i1"]
    page.locator('details[data-item="i2"] > summary').focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.wait_for_url(lambda url: "item=i1" in url)
    assert page.locator("details[open] > summary b").all_inner_texts() == ["i1"]
    assert page.evaluate("document.activeElement.innerText").startswith("i1")
    page.get_by_label("Order").select_option("place")
    assert listed.all_inner_texts() == ["i2", "i3", "i1"]
    page.get_by_label("Items on").select_option("domain=news")
    page.get_by_label("Find").fill("Maybe")
    assert listed.all_inner_texts() == ["i2"]
    assert page.locator("#items-found").inner_text() == "1 of 3 items"
    assert "find=Maybe" in fragment(page)


def test_hostile_items_are_inert_accessible_and_fit_a_phone(open_page):
    """Whatever kind they are of: no element comes of them, none is wider than the screen, and axe finds nothing."""
    words, n = tuple(HOSTILE), len(HOSTILE)
    arcs = [Known(f"{k}>{k + 1}", name, in_gold=True) for k, name in enumerate(HOSTILE)]
    of_kinds = {
        "span": sets("i", "span", [Known(f"1-{k}", name, in_gold=k % 2 > 0) for k, name in enumerate(HOSTILE, 1)],
                     {"oak": range(n), "elm": [1]}, tokens=words),
        "tree": sets("i", "tree", [*arcs, *(Known(f"{n}>{k}", words[k]) for k in range(1, n))],
                     {"oak": range(n), "elm": [0, *range(n, 2 * n - 1)]}, tokens=words),
        "ranking": item("i", "ranking", [("gold", {"said": []})], {
            "oak": {"said": range(n), "returned": n}, "elm": {}}, known=[*map(Known, HOSTILE)]),
        "alignment": sets("i", "alignment", [Known("1-1", in_gold=True), Known("99-9999999")],
                          {"oak": [0], "elm": [1]}),
        "answer": sets("i", "answer", [Known(name, name) for name in HOSTILE], {"oak": range(n), "elm": []})}
    page = None
    for kind, hostile in of_kinds.items():
        page = open_page(contents(items=[hostile]), "#item=i", page, viewport={"width": 390, "height": 800},
                         bypass_csp=True)
        page.locator("details[open] table").wait_for()
        if kind == "tree":
            page.get_by_label("draw the tree of elm").click()
        assert page.locator("details img, details script").count() == 0
        assert "\u202e" not in page.locator("#items").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == 390, kind
        if kind not in ("span", "tree", "alignment"):  # others are made of what labels are made of
            continue
        assert violations(page, "#items", also_dark=False) == [], kind
