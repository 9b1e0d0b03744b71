"""What comes first on a page, in a browser: forest plot, trade-offs, robust scales, a head that stays in sight."""

from dataclasses import replace

from tests.reports.boards import changed, leaderboard
from tests.reports.page.contents import NAMES, contents
from tests.reports.page.shown import fragment, systems


def one(board):
    return replace(contents(), boards=[board])


def given(board, **columns):
    """The board with other values in its standings, in their order."""
    return replace(board, standings=tuple(
        replace(of, **{key: values[n] for key, values in columns.items()}) for n, of in enumerate(board.standings)))


def forest(page):
    return [[cell for cell in row.split("\t") if cell.strip()]
            for row in page.locator("#opponents tbody tr").all_inner_texts()]


def test_one_system_stands_against_all_others_in_its_favour(open_page):
    """oak has 0.9, elm 0.8, ash 0.7, fir 0.6; those two places apart differ significantly."""
    board = changed(leaderboard(NAMES, [0.9, 0.8, 0.7, 0.6]), lambda of: {
        "ci_low": of.difference - 0.05, "ci_high": of.difference + 0.15})
    page = open_page(one(board))
    assert [(row[1], row[2], row[-1]) for row in forest(page)] == [
        ("elm", "+0.1000", "undecided"), ("ash", "+0.2000", "win"), ("fir", "+0.3000", "win")]
    page.get_by_label("Differences to").select_option("ash")
    rows = forest(page)
    assert rows[0][1:5] == ["oak", "−0.2000", "−0.3500 to −0.1500", "0.0100"]
    assert rows[2][1:4] == ["fir", "+0.1000", "+0.0500 to +0.2500".replace("+", "")]
    assert [row[-1] for row in rows] == ["loss", "undecided", "undecided"]
    drawn = page.locator("#opponents .interval")
    assert [drawn.nth(n).locator("circle").get_attribute("class") for n in range(3)] == ["filled", "hollow", "hollow"]
    x = {at: [float(drawn.nth(n).locator(of).get_attribute(at)) for n in range(3)]
         for at, of in (("cx", "circle"), ("x1", ".span"), ("x2", ".span"))}
    zero = float(drawn.first.locator(".zero").get_attribute("x1"))
    unit = (x["cx"][2] - x["cx"][0]) / 0.3
    for n, difference in enumerate((-0.2, -0.1, 0.1)):
        turned = sorted((difference - 0.05, difference + 0.15)) if n == 2 else (difference - 0.15, difference + 0.05)
        assert [round((x[at][n] - zero) / unit, 6) for at in ("cx", "x1", "x2")] == [
            round(value, 6) for value in (difference, *turned)]
    assert page.locator("#significant").inner_text() == "significant: adjusted p ≤ 0.05"
    page.get_by_label("raw").check()
    assert [row[-1] for row in forest(page)] == ["loss", "loss", "win"], "all raw p-values are 0.01"
    assert "without the correction that the leaderboard uses" in page.locator("#significant").inner_text()


def test_keys_move_between_tabs_and_a_link_restores_the_chart(open_page):
    board = given(leaderboard(NAMES, [0.9, 0.8, 0.7, 0.6]), attributes=[
        {"cost": 500.0, "kind": "x", "public": True}, {"cost": "20"}, {"cost": 90}, {"cost": 1, "other": 1}])
    page = open_page(one(board))
    tabs = page.get_by_role("tab")
    assert tabs.all_inner_texts() == ["p-value of every pair", "p-values and differences"]
    tabs.first.focus()
    page.keyboard.press("ArrowLeft")
    assert page.get_by_role("tabpanel").get_attribute("id") == "chart-gains"
    assert page.evaluate("document.activeElement.id") == "tab-gains"
    assert fragment(page) == "chart=gains"
    other = open_page(one(board), "#" + fragment(page))
    assert other.get_by_role("tab", selected=True).inner_text() == "p-values and differences"


def test_trade_offs_show_scores_against_a_number_of_the_systems(open_page):
    board = given(leaderboard(NAMES, [0.9, 0.8, 0.7, 0.6]), attributes=[
        {"cost": 500.0, "kind": "x", "public": True}, {"cost": "20"}, {"cost": 90}, {"cost": 1, "other": 1}])
    page = open_page(one(board))
    assert page.get_by_label("Score against").locator("option").all_inner_texts() == ["cost"], "numbers that differ"
    front = page.locator("#front-note")
    assert front.inner_text().startswith("On the front, where no system is as good in both and better in one: fir, elm")
    page.locator("#front").get_by_role("slider").press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tooltip").inner_text().split("\n") == ["ash", "acc 0.7000", "cost 90",
        "Not on the front: elm is as good in both, and better in one"]
    assert ", logarithmic" in page.locator("#front svg").text_content()
    page.get_by_label("Better is").select_option("more")
    assert ": oak. It depends" in front.inner_text()
    assert open_page(one(board), "#" + fragment(page)).locator("#front-note").inner_text() == front.inner_text()


def test_an_outlier_does_not_rule_the_scale_and_no_interval_is_drawn_where_there_is_none(open_page):
    """The quartiles of the 15 scores and ends are 0.865 and 0.89, the fences 0.8275 and 0.9275: all of e is beyond."""
    scores = [0.90, 0.89, 0.88, 0.87, 0.1, None]
    names = ("a", "b", "c", "d", "e", "f")
    low = [None if n in (1, 5) else score - 0.01 for n, score in enumerate(scores)]
    high = [None if n in (1, 5) else score + 0.01 for n, score in enumerate(scores)]
    page = open_page(one(given(leaderboard(names, scores), ci_low=low, ci_high=high)))
    drawn = page.locator("#standings .interval")
    assert drawn.count() == 5, "none without a score"
    assert [drawn.nth(n).locator(".span").count() for n in range(5)] == [1, 0, 1, 1, 0]
    assert drawn.nth(1).get_attribute("aria-label") == "no interval"
    ends = [float(drawn.nth(n).locator(".span").get_attribute(at)) for n, at in ((3, "x1"), (0, "x2"))]
    assert ends == [10, 158], "from the lowest to the highest end within"
    assert drawn.nth(4).text_content() == "0.0900 to 0.11000.1000", "its title and its value beside the arrow"
    assert drawn.nth(4).locator("path, circle").count() == 1
    assert "ends at Tukey's fences" in page.locator("#sentences").inner_text()


def test_the_head_stays_in_sight_and_names_with_scores_come_first_on_a_phone(open_page):
    board = leaderboard([f"system-{n}" for n in range(60)], significant=lambda a, b: b - a > 30)
    top = "document.querySelector('#standings thead th').getBoundingClientRect().top"
    page = open_page(one(board))
    assert len(systems(page)) == 60
    page.locator("#standings tbody tr").nth(50).scroll_into_view_if_needed()
    assert page.evaluate(top) == 0
    assert page.locator("#systems").get_attribute("tabindex") is None
    phone = open_page(one(board), viewport={"width": 390, "height": 844})
    region = phone.locator("#systems")
    assert region.get_attribute("tabindex") == "0"
    region.evaluate("of => { of.scrollTop = 900; of.scrollIntoView(); }")
    assert phone.evaluate(f"{top} - document.querySelector('#systems').getBoundingClientRect().top") < 2
    score = phone.locator('#standings [data-key="score"]').bounding_box()
    assert score["x"] + score["width"] < 390
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
