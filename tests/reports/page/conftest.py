"""A browser, and pages that it opens: without a network and without a complaint."""

from pathlib import Path

import pytest

from registry.reports.page import page as html
from tests import chromium
from tests.needs import need
from tests.reports.page.contents import ITEMS, contents


@pytest.fixture(scope="package")
def browser():
    need("chromium")
    with chromium.launched() as found:
        yield found


@pytest.fixture
def open_page(browser, tmp_path):
    """Open contents, HTML or a file at a fragment; at the end, nothing was asked of a network or complained."""
    complaints, asked, contexts = [], [], []

    def opened(of, fragment="", **how):
        path = of
        if not isinstance(of, Path):
            path = tmp_path / f"page{len(contexts)}.html"
            path.write_text(of if isinstance(of, str) else html(of), "utf-8")
        context = browser.new_context(accept_downloads=True, **how)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{path.as_uri()}{fragment}")
        page.locator('main[aria-busy="false"]').wait_for()
        return page

    opened.complaints = complaints
    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []


@pytest.fixture
def page(open_page):
    return open_page(contents(items=ITEMS))
