"""A browser, and pages that it opens: without a network and without a complaint."""

from collections import defaultdict
from itertools import count
from pathlib import Path

import pytest

from registry.reports.page import page as html
from tests import chromium
from tests.needs import need
from tests.reports.page.contents import ITEMS, contents

VIEWPORT = {"width": 1280, "height": 720}


@pytest.fixture(scope="package")
def browser():
    need("chromium", there=chromium.PATH is not None)
    with chromium.launched() as found:
        yield found


@pytest.fixture(scope="package")
def unused(browser):
    """Tabs that no test uses now, by how they were made: to make one takes longer than to load a page in it."""
    return defaultdict(list)


@pytest.fixture
def tab(browser, unused):
    """Give an empty tab of a window of some kind; `listeners` are events, each with what is told of it in this test."""
    used = []

    def taken(viewport=VIEWPORT, listeners=(), **how):
        kind = repr(sorted(how.items()))
        page = unused[kind].pop() if unused[kind] else browser.new_context(accept_downloads=True, **how).new_page()
        page.set_default_timeout(5000)
        page.set_viewport_size(viewport)
        for event, listener in listeners:
            page.on(event, listener)
        used.append((page, kind, listeners))
        return page

    yield taken
    for page, kind, listeners in used:
        for event, listener in listeners:
            page.remove_listener(event, listener)
        page.mouse.move(0, 0)
        page.emulate_media(color_scheme="light", media="screen")
        page.goto("about:blank")
        unused[kind].append(page)


@pytest.fixture
def open_page(tab, tmp_path):
    """Open contents, HTML or a file at a fragment; at the end, nothing was asked of a network or complained.

    With `into`, a page that was opened before, it takes that one's place.
    """
    complaints, asked, numbers = [], [], count()
    listeners = (("console", lambda message: complaints.append(message.text)),
                 ("pageerror", lambda error: complaints.append(str(error))),
                 ("dialog", lambda dialog: complaints.append(dialog.message)),
                 ("request", lambda request: asked.append(request.url)))

    def opened(of, fragment="", into=None, **how):
        path = of
        if not isinstance(of, Path):
            path = tmp_path / f"page{next(numbers)}.html"
            path.write_text(of if isinstance(of, str) else html(of), "utf-8")
        page = into or tab(listeners=listeners, **how)
        page.goto(f"{path.as_uri()}{fragment}")
        page.locator('main[aria-busy="false"]').wait_for()
        return page

    opened.complaints = complaints
    yield opened
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []


@pytest.fixture
def page(open_page):
    return open_page(contents(items=ITEMS))
