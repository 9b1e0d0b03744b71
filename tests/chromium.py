"""Debian's chromium, driven by Playwright, and pictures of pages as it shows them."""

import shutil
from contextlib import contextmanager

from PIL import Image  # comes with matplotlib

# the one without windows, where it is installed: it takes a third less of the processor
PATH = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WAYS = {  # how a page is shown: what stands in its address, the height of the picture, and what it is shown on
    "": ("", 1500, {"viewport": {"width": 1200, "height": 900}}),
    "-dark": ("", 1100, {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"}),
    "-wide": ("#show=wide", 900, {"viewport": {"width": 1200, "height": 900}}),
    "-phone": ("", 1000, {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 1.5, "is_mobile": True}),
}


@contextmanager
def launched():
    """A browser; playwright must be installed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PATH, args=FLAGS)
        yield browser
        browser.close()


def pictures(path):
    """What a page looks like in each of the ways that it has, from its top; yields the way's name and a picture."""
    with launched() as browser:
        for way, (fragment, height, how) in WAYS.items():
            context = browser.new_context(**how)
            page = context.new_page()
            page.goto(f"{path.as_uri()}{fragment}")
            page.locator('main[aria-busy="false"]').wait_for()
            if page.url.partition("#")[2] or not fragment:  # some pages have nothing to show side by side
                written = path.with_name(f"page{way}.png")
                page.screenshot(path=written, full_page=True)
                picture = Image.open(written).convert("RGB")
                scale = how.get("device_scale_factor", 1)
                yield way, picture.crop((0, 0, picture.width, min(picture.height, round(height * scale))))
            context.close()
