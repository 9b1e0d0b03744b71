"""All pairs of a system of a large leaderboard, in a browser: from a disk and from a server, and what goes wrong."""

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from registry.files import replace_files
from registry.reports.page import page as html
from registry.reports.page import pair_files
from tests.reports.page.accessibility import violations
from tests.reports.page.contents import contents
from tests.reports.page.large import NAMES, N, large
from tests.reports.page.shown import fragment


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page with its files, and one that has those of another state of the leaderboard."""
    here = tmp_path_factory.mktemp("site")
    of = replace(contents(), boards=[large()])
    replace_files(here / "task.pairs", "[0-9]*/[0-9]*.js", pair_files(of.primary_first))
    (here / "task.html").write_text(html(of, folder="task.pairs"), "utf-8")
    later = replace(contents(), boards=[replace(large(), signature="later")])
    (here / "later.html").write_text(html(later, folder="task.pairs"), "utf-8")
    return here


@contextmanager
def serving(folder):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/task.html"
        server.shutdown()
        thread.join()


def opponents(page, n=N - 1):
    """What the rows of all others say beside what is drawn."""
    page.locator("#opponents tbody tr").nth(n - 1).wait_for(state="attached")
    return [[cell for cell in row.split("\t") if cell.strip()]
            for row in page.locator("#opponents tbody tr").all_inner_texts()]


def test_a_system_that_is_chosen_is_shown_against_all_others(open_page, folder):
    """System 2 wins from 30 places on; adjusted p-values are five times the raw ones."""
    page = open_page(folder / "task.html")
    assert "Differences shows all pairs of a system that you choose" in page.locator("#left-out").inner_text()
    near = opponents(page, 95)
    assert [row[1] for row in near] == NAMES[1:96], "20,000 pairs, of 210 systems up to 95 places apart"
    assert near[1] == ["3", "system-2", "+0.0020", "0.0100", "0.0500", "undecided"]
    page.get_by_label("Differences to").select_option("system-2")
    rows = opponents(page)
    assert len(rows) == N - 1
    assert rows[0] == ["1", "system-0", "−0.0020", "0.0100", "0.0500", "undecided"]
    assert rows[2] == ["4", "system-3", "+0.0010", "0.1000", "0.5000", "undecided"]
    assert rows[-1] == [str(N), f"system-{N - 1}", "+0.2070", "1.0e-207", "5.0e-207", "win"]
    assert [row[-1] for row in rows].count("win") == N - 1 - 2 - 29
    assert fragment(page) == "of=system-2"
    page.get_by_label("Differences to").select_option(NAMES[-1])
    page.get_by_text(f"in favour of {NAMES[-1]}").wait_for()
    assert opponents(page)[2] == ["3", "system-2", "−0.2070", "1.0e-207", "5.0e-207", "loss"]
    page.locator("#standings").get_by_role("link", name="system-2", exact=True).click()
    page.locator("#system-pairs tbody").first.wait_for()
    assert page.locator("#system-pairs tbody tr:not(.group)").count() == N - 1
    page.get_by_role("link", name="Back to the leaderboard").click()
    page.locator('main[aria-busy="false"]').wait_for()
    page.get_by_label("Differences to").select_option("the first, system-0")
    page.get_by_text("places apart; differences above 0 are in favour of system-0").wait_for()


def test_a_link_opens_the_system_again_and_raw_p_values_decide_where_they_are_chosen(open_page, folder):
    page = open_page(folder / "task.html", "#of=system-0&p=raw")
    assert [row[-1] for row in opponents(page)].count("win") == N - 2
    page.get_by_label("adjusted").check()
    page.get_by_text("win", exact=True).nth(N - 30).wait_for(state="detached")
    assert [row[-1] for row in opponents(page)].count("win") == N - 30


def test_files_of_another_state_and_files_that_are_not_there_are_told(open_page, folder):
    page = open_page(folder / "later.html", "#of=system-1")
    page.get_by_text("another version of the leaderboard").wait_for()
    assert page.locator("#opponents tr").count() == 0
    alone = open_page((folder / "task.html").read_text("utf-8"), "#of=system-1")
    alone.get_by_text("The pairs of this system are not available").wait_for()
    assert all("ERR_FILE_NOT_FOUND" in told for told in open_page.complaints)
    open_page.complaints.clear()


def test_a_server_gives_the_files_too(tab, folder):
    with serving(folder) as address:
        page = tab()
        page.goto(f"{address}#of=system-5")
        assert len(opponents(page)) == N - 1


def test_no_other_script_is_loaded(open_page, folder):
    """Neither one that somebody writes into the file, nor one at an address that is not of a file of pairs."""
    (folder / "evil.js").write_text("document.title = 'run'")
    written = (folder / "task.html").read_text("utf-8").replace("</main>", '</main><script src="evil.js"></script>')
    (folder / "slipped.html").write_text(written, "utf-8")
    page = open_page(folder / "slipped.html")
    with pytest.raises(Exception, match="TrustedScriptURL"):
        page.evaluate("document.head.append(Object.assign(document.createElement('script'), {src: 'evil.js'}))")
    page.get_by_label("Differences to").select_option("system-2")
    assert len(opponents(page)) == N - 1
    with pytest.raises(Exception, match="already exists"):
        page.evaluate("trustedTypes.createPolicy('pairs', {createScriptURL: url => url})")
    assert page.title() == "A task: leaderboards"
    assert len(open_page.complaints) == 3
    open_page.complaints.clear()


def test_axe_finds_no_violation_in_the_pairs_of_a_system(open_page, folder):
    page = open_page(folder / "task.html", "#of=system-2", bypass_csp=True)
    opponents(page)
    page.evaluate("document.querySelectorAll('#opponents tbody tr:nth-child(n + 40)').forEach(row => row.remove())")
    assert violations(page, "#differences") == []  # of 209 similar rows some are enough


def test_a_phone_scrolls_the_pairs_and_not_the_page(open_page, folder):
    page = open_page(folder / "task.html", "#of=system-2", viewport={"width": 360, "height": 740})
    opponents(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
