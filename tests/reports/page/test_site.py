"""A site's index and its feed, from contents that are made up: what they say is counted by hand."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from registry.boards.details import NewBest
from registry.boards.site import (
    Change,
    Changes,
    NewGold,
    NewLeader,
    NewSystems,
    WithdrawnSubmissions,
    find_first_board,
    make_overview,
)
from registry.boards.snapshot import TaskAbout, TaskBoards
from registry.evaluation.comparing.leaderboard_key import LeaderboardKey
from registry.manifest.spec import Task
from registry.messages import Message
from registry.reports.page import card, feed, site, site_index
from registry.reports.page.data import make_board_link
from registry.reports.page.site import draw_skyline, make_task_entry, select_searchable_names
from tests.reports.boards import HOSTILE, leaderboard
from tests.reports.page.accessibility import violations
from tests.reports.page.contents import contents, speaking

ATOM = "{http://www.w3.org/2005/Atom}"
NOON = datetime(2026, 5, 1, 12)


def placed(names, ranks, lows, task="task", **more):
    """A task with one board, whose systems have these ranks and least places; higher ranks have lower scores."""
    board = leaderboard(names, [1 - rank / 10 for rank in ranks])
    return TaskBoards(task, f"Title of {task}", "1", "acc", [replace(board, task=task, standings=tuple(
        replace(of, rank=rank, rank_low=low, rank_high=max(low, len(names)), wins=rank == 1, losses=rank > 1)
        for of, rank, low in zip(board.standings, ranks, lows, strict=True)), **more)], TaskAbout(Task(id=task)))


def test_a_task_has_the_result_of_its_first_board_and_a_row_for_each():
    """By accuracy oak beats ash and fir, and so does fir by precision oak and elm."""
    entry = make_task_entry("tasks/task.html", contents())
    assert entry["result"] == ("By acc, no single winner: oak and elm of the 4 systems may be first; oak has the best "
                               "score.")
    assert [(row["title"], row["best"], row["score"], row["n"], row["better_than"], row["link"])
            for row in entry["boards"]] == [
        ("acc", "oak", "0.9000", 4, "2 of 3", "tasks/task.html#metric=acc&set=test"),
        ("acc, domain=news", "oak", "0.9000", 4, "2 of 3", "tasks/task.html#metric=acc&set=test&facet=domain%3Dnews"),
        ("p", "fir", "1.0000", 4, "2 of 3", "tasks/task.html#metric=p&set=test")]


def test_outdated_boards_are_noted_without_commands():
    of = contents()
    outdated = replace(of.boards[0], outdated=(Message("board-outdated"),))
    (note,) = make_task_entry("x", replace(of, boards=[outdated]))["notes"]
    assert note == "Submissions or gold have changed since the last comparison."


def test_scores_are_printed_as_on_the_board_and_links_lead_to_each_board():
    of = contents()
    of = replace(of, boards=[replace(of.boards[0], decimals=1), *of.boards[1:]])
    index = site_index([card("tasks/task.html", of)])
    assert ">0.9</td>" in index
    assert "Best score: 0.9." in index
    assert "tasks/task.html#metric=acc&amp;set=test&amp;facet=domain%3Dnews" in index
    assert make_board_link("x", replace(of.boards[0], track="a&b")) == "x#metric=acc&set=test&track=a%26b"


def test_charts_have_the_better_scores_above_and_outliers_below():
    """The scale of 84 pixels leaves 8 on either side; 0.9 to 0.5 are 68 pixels, so that 0.8 is 17 below 0.9."""
    board = placed("abc", (1, 2, 5), (1, 1, 3)).boards[0]
    chart = draw_skyline(board)
    assert (chart.first, chart.others) == ("M61.0 8.0h0M79.0 25.0h0", "M97.0 76.0h0")
    assert (chart.top, chart.bottom, chart.spans) == ("0.90", "0.50", "")
    turned = draw_skyline(replace(board, better="lower"))
    assert (turned.first, turned.others, turned.top) == ("M61.0 76.0h0M79.0 59.0h0", "M97.0 8.0h0", "0.50")
    standings = [replace(of, ci_low=of.score - 0.1, ci_high=None) for of in board.standings]
    assert draw_skyline(replace(board, standings=tuple(standings))).spans.startswith("M61.0 21.6V8.0")
    scores = [0.9, 0.89, 0.88, 0.87, 0.86, -9]  # the fences are 0.835 and 0.915
    below = draw_skyline(leaderboard("abcdef", scores))
    assert (below.bottom, below.beyond.count("z"), below.n) == ("0.860", 1, 6)
    assert not draw_skyline(leaderboard("abcdef", [99, *scores[:5]])).beyond, "the best is always on it"
    assert draw_skyline(leaderboard("a", [None])).n == 0
    assert draw_skyline(leaderboard("ab", [0.5, 0.5])).top == ""


def test_systems_over_tasks_have_the_means_of_their_ranks():
    """On the first task a is before b and c, which tie; on the second b is before a; d and e are on one task each."""
    tasks = [placed("abcd", (1, 2, 2, 4), (1, 1, 2, 4), "one"), placed("bae", (1, 2, 3), (1, 1, 3), "two"),
             placed("ac", (1, 2), (1, 2), "three")]
    found = make_overview(list(map(find_first_board, tasks)))
    assert found.tasks == ("one", "two", "three")
    assert [(of.system, len(of.places), of.mean_rank, of.may_be_first) for of in found.systems] == [
        ("a", 3, 4 / 3, 3), ("b", 2, 3 / 2, 2), ("c", 2, 2, 0)]
    a, b, c = found.systems
    assert a.mean_above == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert b.mean_above == pytest.approx(((1 + 1 / 2) / 3 + 1) / 2), "beside c, above d; above both"
    assert (a.wins, a.losses, c.losses) == (2, 1, 2)
    assert "1 of them is on all 3 tasks" in " ".join(found.sentences)
    hidden = replace(tasks[1], about=TaskAbout(Task(id="two"), anonymous=True))
    one, two, three, nameless = map(find_first_board, (*tasks, hidden))
    assert make_overview([one, two]) is not None
    assert make_overview([one, nameless]) is None, "pseudonyms are of one task alone"
    assert "left out: two" in make_overview([one, three, nameless]).sentences[-1]


def test_a_leaderboard_of_a_facet_does_not_stand_for_its_task():
    one, two = placed("ab", (1, 2), (1, 2), "one"), placed("ab", (1, 2), (1, 2), "two")
    (whole,) = two.boards
    facet = replace(whole, facet="domain=news", standings=whole.standings[::-1])
    assert make_overview([find_first_board(one), find_first_board(replace(two, boards=[facet, whole]))]) == (
        make_overview([find_first_board(one), find_first_board(two)]))
    partial = find_first_board(replace(two, boards=[facet]))
    assert make_overview([find_first_board(one), partial]) is None
    three = find_first_board(placed("ab", (1, 2), (1, 2), "three"))
    assert make_overview([find_first_board(one), partial, three]).sentences[-1].endswith("left out: two.")


def test_names_that_are_searched_have_a_bound(monkeypatch):
    monkeypatch.setattr(site, "SEARCHED", 5)
    entries = [make_task_entry("x", placed(names, range(1, len(names) + 1), [1] * len(names), names))
               for names in ("abcd", "ab")]
    assert select_searchable_names(entries) == {"names": {"ab": ("a", "b")}, "left_out": 1}


def changes(name="oak"):
    key = LeaderboardKey("task", "test", None, None, "acc")
    best, before = (NewBest(NOON, of, of, of, 0, score, True, 0.003) for of, score in ((name, 0.91), ("elm", 0.9)))
    whats = [NewLeader(key, "accuracy", 2, best, before), NewSystems((name, "elm"), ("fir",)), NewSystems((name,), ()),
             WithdrawnSubmissions((f"{name}/{name}",)), NewGold("test", 2, 100), NewGold("test", 1, 1)]
    return Changes("sha256:1", tuple(Change(f"k{n}", NOON - n * timedelta(hours=1), "task", name, (name,), what)
                                     for n, what in enumerate(whats)))


def test_the_feed_has_what_rfc_4287_asks_for_and_ids_stay():
    root = ET.fromstring(feed(changes()))
    for of in (root, *root.iter(f"{ATOM}entry")):
        assert [len(of.findall(ATOM + name)) for name in ("id", "title", "updated")] == [1, 1, 1]
    entries = root.findall(f"{ATOM}entry")
    assert [of.findtext(f"{ATOM}title") for of in entries] == [
        "oak: new best, oak", "oak: 2 new systems and 1 new version", "oak: new system oak",
        "oak: oak/oak withdrawn", "oak: corrected gold of test", "oak: new test set test"]
    assert entries[0].findtext(f"{ATOM}content") == (
        "oak is first on test, with accuracy 0.91; before, it was elm, with 0.90. The difference between the two is "
        "significant (adjusted p 0.0030).")
    assert entries[0].find(f"{ATOM}link").get("href") == "tasks/task.html#metric=acc&set=test"
    assert 'href="https://example.org/a/tasks/task.html#' in feed(changes(), "https://example.org/a/")
    assert root.findtext(f"{ATOM}updated") == entries[0].findtext(f"{ATOM}updated") == "2026-05-01T12:00:00Z"
    ids = [of.text for of in root.iter(f"{ATOM}id")]
    assert len(set(ids)) == len(ids) == 7
    assert ids == [of.text for of in ET.fromstring(feed(changes("ash"))).iter(f"{ATOM}id")], "whatever names are shown"
    assert ET.fromstring(feed(Changes("", ()))).findtext(f"{ATOM}updated") == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("name", HOSTILE)
def test_names_make_no_elements_in_the_feed(name):
    written = feed(changes(name))
    assert [of.tag for of in ET.fromstring(written).iter()] == [of.tag for of in ET.fromstring(feed(changes())).iter()]
    assert not set(written) & set("\x1b\x07\u202e")


def test_the_index_is_searched_put_in_order_and_walked(open_page):
    """By texts and by systems, whose links lead to their pages; axe finds nothing, also in the dark and on a phone."""
    tasks = [placed(("oak", '"><b>', "x&y"), (1, 2, 3), (1, 1, 3), "one"),
             placed(("oak", "elm"), (1, 2), (1, 2), "two")]
    index = site_index([card(f"tasks/{of.task}.html", of) for of in (*tasks, speaking(contents(HOSTILE), HOSTILE[0]))],
                       [f"three: {HOSTILE[0]}"])
    page = open_page(index)
    shown = page.locator("#tasks > li:visible h3")
    assert page.locator("#over-tasks tbody th").all_inner_texts() == ["oak"]
    page.get_by_label("Search").fill("TITLE two")
    assert shown.all_inner_texts() == ["Title of two"]
    page.get_by_label("Search").fill("x&y")
    assert (shown.all_inner_texts(), page.get_by_role("status").inner_text()) == (["Title of one"], "1 of 3 tasks")
    assert page.locator(".has a:visible").get_attribute("href") == "tasks/one.html#system=x%26y"
    page.get_by_label("Search").fill("")
    page.get_by_label("Order").select_option("systems")
    assert shown.all_inner_texts()[1:] == ["Title of one", "Title of two"], "13, 3 and 2 systems"
    page.get_by_label("Search").fill("elm")
    again = open_page(index, page.evaluate("location.hash"))
    assert again.locator("#tasks > li:visible h3").all_inner_texts() == ["Title of two"]
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Title of two"
    plain = open_page(index, java_script_enabled=False)
    assert plain.locator("#tasks > li").count() == 3
    assert not plain.locator("#controls").is_visible()
    for how in ({}, {"viewport": {"width": 390, "height": 844}, "is_mobile": True}):
        page = open_page(index, bypass_csp=True, **how)
        assert violations(page, also_dark=not how) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
