"""What a page lets nobody do, and for whom it works: hostile names, keyboards, screen readers, phones, many systems."""

from dataclasses import replace

import numpy as np
import pytest

from registry.reports.page import page as html
from tests.needs import AXE
from tests.reports.boards import HOSTILE, leaderboard
from tests.reports.page.accessibility import violations
from tests.reports.page.contents import ITEMS, NAMES, contents, labels, speaking, translations
from tests.reports.page.shown import systems


@pytest.mark.parametrize("shown", ["", "#show=wide"])
def test_everything_is_reached_by_the_keyboard(open_page, shown):
    """Tab comes to every control, in the order of the page; of grid and plot, whose keys lead on, to one place each."""
    page = open_page(contents(items=ITEMS), shown)
    page.evaluate("document.body.focus()")
    wanted = page.evaluate("""[...document.querySelectorAll('a, button, input, select, summary, [tabindex="0"]')]
        .filter(e => e.checkVisibility() && e.tabIndex === 0 && !(e.type === 'radio' && !e.checked)).length""")
    seen = set()
    for _ in range(wanted):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("""[...document.querySelectorAll('*')].indexOf(document.activeElement)"""))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert len(seen) == wanted


def test_hostile_names_and_texts_do_nothing(open_page):
    """Every table, tip and item with them has been drawn; had one run, there were a dialog, an error or an element."""
    items = [translations(name, {"gold": name, "gold source": name}, dict.fromkeys(HOSTILE, name)) for name in HOSTILE]
    items += [labels(f"{name}!", name, dict.fromkeys(HOSTILE, name + "?")) for name in HOSTILE]
    hostile = contents(HOSTILE, items)
    hostile = replace(hostile, title=HOSTILE[0], boards=[
        replace(board, facet=HOSTILE[0], track=name, signature=name, statements=HOSTILE)
        for board in hostile.boards for name in HOSTILE[:3]])
    page = open_page(hostile, "#filter=<img src=x onerror=alert(1)>&item=<script>alert(1)</script>&sort=<b>")
    page.get_by_label("Filter").fill("")
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert systems(page) == [name.replace("\u202e", "\\u202e").replace("\x1b", "\\u001b").replace("\x07", "\\u0007")
                             for name in HOSTILE]
    for tab in page.get_by_role("tab").all():
        tab.click()
    page.get_by_role("tab", name="p-value of every pair").click()
    for cell in page.locator("#matrix tbody tr:first-child td[data-i]").all():
        cell.hover()
    for summary in page.locator("#items summary, #overview summary").all()[:14]:
        summary.click()
    page.get_by_label("View").select_option("wide")
    assert page.locator("#standings tbody tr").count() == len(HOSTILE)
    assert page.locator("script").count() == 2
    assert page.locator("img, b b, i i, iframe").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_texts_of_task_and_systems_are_shown_linked_copied_and_inert(open_page):
    """The table of facts, with a hostile text in each; the frame is HTML for other pages, so it is escaped there."""
    page = open_page(speaking(replace(contents(), title=HOSTILE[10]), HOSTILE[0]))
    assert page.locator("#about dd").nth(1).inner_text() == HOSTILE[0]
    page.locator("#about-systems summary").click()
    first = page.locator("#about-systems tbody tr").first
    assert first.locator("td").all_inner_texts() == [
        HOSTILE[0], "7B", "0.25", HOSTILE[0], *["https://example.org/a"] * 2]
    assert first.locator("a").first.get_attribute("rel") == "noopener noreferrer"
    assert page.locator("#standings tbody tr").first.locator("a.fact").all_inner_texts() == ["paper", "code"]
    page.locator("#embed summary").click()
    page.get_by_role("button", name="Copy HTML").click()
    page.locator("#embed [role=status]:not(:empty)").wait_for()
    frame = page.locator("#frame").inner_text()
    assert 'title="&#34;&#62;&#60;img src=x onerror=alert(1)&#62;: leaderboards"' in frame
    assert frame.count("<") == 2
    assert page.locator("img, iframe").count() == 0
    if AXE.exists():
        for part in ("header", "#about-systems", "footer"):
            assert violations(page, part, also_dark=False) == []


def test_what_slips_in_does_not_run(open_page):
    """The policy stops a script that somebody writes into the file, and text that is made into elements."""
    slipped = html(contents()).replace("</main>", "</main><script>document.title = 'run'</script>")
    page = open_page(slipped)
    with pytest.raises(Exception, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>x</b>'")
    assert page.title() == "A task: leaderboards"
    assert len(open_page.complaints) == 2
    assert "Content Security Policy" in open_page.complaints[0]
    assert "TrustedHTML" in open_page.complaints[1]
    open_page.complaints.clear()


@pytest.mark.parametrize("shown", ["", "#show=wide"])
def test_axe_finds_no_serious_violation(open_page, shown):
    page = open_page(contents(items=ITEMS), shown, bypass_csp=True)
    if not shown:
        page.locator("#items summary").first.click()
    assert violations(page) == []
    for tab in page.get_by_role("tab").all()[1:] if not shown else ():
        tab.click()
        assert violations(page, "#pairs") == []


@pytest.mark.parametrize("shown", ["", "#show=wide"])
def test_a_phone_scrolls_tables_and_not_the_page(open_page, shown):
    page = open_page(contents([*NAMES[:3], "x" * 300], ITEMS), shown, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_of_a_thousand_systems_there_are_pairs_of_neighbours_and_that_is_said(open_page):
    """How fast they are painted and sorted is measured by `python -m tests.benchmarks boards`."""
    few = leaderboard(NAMES)
    a, b = np.triu_indices(1000, 1)
    pairs = few.decisions.select(np.zeros(len(a), dtype=int))
    many = replace(few, decisions=replace(pairs, a=a, b=b), standings=[
        replace(few.standings[0], rank=n + 1, display_name=f"system-{n}", score=1 - n / 1000) for n in range(1000)])
    page = open_page(replace(contents(), boards=[many]))
    assert "of systems up to 20 places apart, because all 499,500 pairs" in page.locator("#left-out").inner_text()
    page.locator("#windows").get_by_label("Systems", exact=True).select_option("960")
    near, far = (page.locator(f"#matrix td[data-i='{i}'][data-j='{j}']") for i, j in ((960, 980), (960, 981)))
    assert (near.count(), far.count()) == (1, 0)
    assert page.locator("#matrix td[aria-label='not on this page']").count() == 2 * 19 * 20 // 2
