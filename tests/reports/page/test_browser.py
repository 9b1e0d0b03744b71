"""The page in a browser: Debian's chromium, driven by Playwright, without a network and without a complaint.

Each test opens its page anew, in a tab that is empty; the browser is one for the package. `npm ci` at the root of the
checkout (`.ci/run` does) lets the test of accessibility run too.
"""

import csv
import io
import json
from dataclasses import replace

from tests.conftest import ROOT
from tests.reports.boards import leaderboard
from tests.reports.page.contents import ITEMS, NAMES, contents
from tests.reports.page.shown import fragment, number, systems


def test_columns_sort_and_undefined_scores_stay_last(page):
    assert systems(page) == list(NAMES)
    assert page.locator("#standings [aria-sort]").all_inner_texts() == ["rank"]
    score = page.get_by_role("button", name="acc")
    score.click()
    assert systems(page) == ["oak", "elm", "ash", "fir"]
    assert page.locator("th", has=score).get_attribute("aria-sort") == "descending"
    score.click()
    assert systems(page) == ["ash", "elm", "oak", "fir"]
    assert page.locator("th", has=score).get_attribute("aria-sort") == "ascending"
    assert fragment(page) == "sort=score"
    page.get_by_role("button", name="system").press("Enter")
    assert systems(page) == ["ash", "elm", "fir", "oak"]


def test_the_filter_narrows_the_table_and_says_to_how_many(page):
    page.get_by_label("Filter").fill("A")
    assert systems(page) == ["oak", "ash"]
    assert page.locator("#found[role=status]").inner_text() == "2 of 4 systems"


def test_metric_and_facet_are_switched_and_a_link_restores_all(page, open_page):
    page.get_by_label("Metric").select_option("p")
    assert systems(page) == list(NAMES[::-1])
    assert page.locator("#signature").inner_text() == "p|task"
    page.get_by_label("Facet").select_option("domain=news")
    assert page.locator("#signature").inner_text() == "acc|facet:domain=news", "precision has no such facet"
    page.get_by_label("Filter").fill("a")
    page.get_by_role("button", name="acc").click()
    page.get_by_label("raw").check()
    other = open_page(contents(items=ITEMS), "#" + fragment(page))
    assert other.locator("#signature").inner_text() == "acc|facet:domain=news"
    assert (systems(other), other.get_by_label("Filter").input_value()) == (["oak", "ash"], "a")
    assert other.locator("#standings th[aria-sort=descending]").inner_text() == "acc"
    assert other.get_by_label("raw").is_checked()


def test_side_by_side_has_a_row_for_each_system_and_a_column_for_each_board(page, open_page):
    """Rows follow the first column, by which fir has no score; by precision it is the best of all."""
    page.get_by_label("View").select_option("wide")
    heads = page.locator("#standings thead th")
    assert heads.all_inner_texts() == ["system", "acc", "domain=news acc", "p"]
    assert page.locator("#standings [aria-sort=descending]").inner_text() == "acc"
    rows = [row.split("\t") for row in page.locator("#standings tbody tr").all_inner_texts()]
    assert rows[0] == ["oak", "0.9000 (1-2)", "0.9000 (1-2)", "0.9700 (3-4)"]
    assert [row[0] for row in rows] == list(NAMES)
    assert rows[3][1] == "n/a (3-4)"
    assert page.locator("#standings tbody b").all_inner_texts() == ["0.9000", "0.9000", "1.0000"]
    assert page.locator("#differences, #pairs").filter(visible=True).count() == 0
    assert page.get_by_label("Metric").count() == 0, "all are shown"
    page.get_by_label("Filter").fill("a")
    page.locator('[data-key="by p"] button').click()
    assert systems(page) == ["ash", "oak"]
    other = open_page(contents(), "#" + fragment(page))
    assert (systems(other), fragment(other)) == (["ash", "oak"], fragment(page))
    assert other.get_by_label("View").input_value() == "wide"


def test_side_by_side_leads_to_each_leaderboard_and_back(page):
    page.get_by_label("View").select_option("wide")
    page.locator("#sentences").get_by_role("link", name="p", exact=True).click()
    page.locator("#pairs").wait_for()
    assert page.locator("#signature").inner_text() == "p|task"
    assert page.get_by_label("View").input_value() == ""
    page.go_back()
    page.locator("#pairs").wait_for(state="hidden")
    assert page.locator("#standings thead th").count() == 4


def test_a_change_of_the_view_keeps_the_focus(page):
    page.get_by_label("View").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#differences, #pairs").filter(visible=True).count() == 0
    assert page.evaluate("document.activeElement.id") == "choose-view"


def test_a_pair_has_a_tooltip_under_the_pointer_and_the_focus(page):
    """0.9 against 0.7: significant at 0.04 after correction, and 2 items differ; the other way round it is a loss."""
    cell, tip = page.locator('#matrix td[data-i="0"][data-j="2"]'), page.get_by_role("tooltip")
    cell.hover()
    assert tip.inner_text().split("\n") == [
        "oak against ash", "Difference +0.2000", "p = 0.0100, adjusted 0.0400 (exact)", "2 items differ", "Significant"]
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.locator('#matrix td[tabindex="0"]').focus()
    for key in ("ArrowDown", "ArrowDown", "Home"):
        page.keyboard.press(key)
    assert tip.inner_text().split("\n")[:2] == ["ash against oak", "Difference −0.2000"]
    assert page.locator("#matrix td:focus").get_attribute("aria-describedby") == tip.get_attribute("id")
    assert cell.inner_text() == ".040"
    page.get_by_label("raw").check()
    assert page.locator('#matrix td[data-i="0"][data-j="2"]').inner_text() == ".010"


def test_keys_move_through_the_plot_and_the_pointer_shows_tooltips(page):
    page.get_by_role("tab", name="p-values and differences").click()
    slider = page.get_by_role("slider")
    slider.press("End")
    assert slider.get_attribute("aria-valuetext").startswith("oak against fir. Difference +0.9000. ")
    assert page.get_by_role("tooltip").inner_text().startswith("oak against fir")
    slider.press("Home")
    assert slider.get_attribute("aria-valuenow") == "1"
    page.locator("#plot-help").hover()
    assert page.locator("#plot path.filled").get_attribute("d").count("M") == 3


def test_pairs_of_one_team_are_marked(open_page):
    board = leaderboard(NAMES)
    teams = [replace(of, team="wood" if of.system in ("oak", "fir") else of.team) for of in board.standings]
    page = open_page(replace(contents(), boards=[replace(board, standings=teams)]), "#chart=gains")
    assert page.locator("#plot path.teams").get_attribute("d").count("M") == 1
    page.get_by_role("tab", name="p-value of every pair").click()
    page.locator('#matrix td[data-i="3"][data-j="0"]').hover()
    assert page.get_by_role("tooltip").inner_text().endswith("Both systems are of one team")


def test_downloads_are_the_leaderboard_of_the_command_line(registry, scored, open_page, tmp_path):
    scored(ROOT / "sample_data" / "translation" / "task.toml")
    registry("page", "translation", "-o", "board.html")
    page = open_page((tmp_path / "board.html").read_text())
    written = {}
    for name in ("CSV", "JSON", "LaTeX"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        written[name] = download.value.path().read_text()
        assert download.value.suggested_filename.startswith("translation.test.bleu.")
    assert json.loads(written["JSON"]) == registry("board", "--format", "json").json
    expected = registry("board", "--format", "csv").stdout
    assert [list(map(number, row)) for row in csv.reader(io.StringIO(written["CSV"]))] == [
        list(map(number, row)) for row in csv.reader(io.StringIO(expected))]
    assert written["LaTeX"] == registry("board", "--format", "latex").stdout


def test_side_by_side_downloads_are_the_wide_board_of_the_command_line(registry, task, open_page, tmp_path):
    """Two test sets, on one of which a system is missing; the macro-average has an interval."""
    task.extra = ("[[test_set]]\nname = 'dev'\ngold = 'gold.tsv'\nformat = 'labels'\n"
                  "options = { columns = ['item', 'label', 'document'] }\n"
                  "[[submit]]\nfile = 'systems/b.tsv'\nsystem = 'a'\ntest_set = 'dev'")
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace('{system}.tsv"', '{system}.tsv"\ntest_set = "test"', 1))
    registry("run", manifest)
    registry("page", "small", "-o", "board.html")
    page = open_page((tmp_path / "board.html").read_text(), "#show=wide")
    expected = registry("board", "--wide", "--format", "json").json
    assert [row["dev acc"] for row in expected] == [1 / 2, None]
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    assert json.loads(download.value.path().read_text()) == expected
    assert download.value.suggested_filename == "small.wide.json"
    with page.expect_download() as download:
        page.get_by_role("button", name="LaTeX").click()
    assert download.value.path().read_text() == registry("board", "--wide", "--format", "latex").stdout
    cells = page.locator("#standings tbody tr").first.locator("td").all_inner_texts()
    shown = registry("board", "--wide", "--format", "md").stdout.splitlines()
    assert cells == [cell.strip() for cell in shown[4].split("|")[2:-1]]
