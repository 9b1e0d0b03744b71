"""Pictures of every view of the pages of real tasks and of their site, and what a program can find wrong with them.

    python -m tests.scenarios.pages OUT [TASK ...]

Brings the real tasks (`REGISTRY_REAL_DATA`) into a registry in OUT, some of them step by step so that they have a past,
and a sample task in the states that a task can be in; writes their site, and takes a picture of every view on a desk,
in the dark, on a phone and on paper (OUT/shots/WAY/TASK.VIEW.png), to be looked at. Where OUT is there already only
the site is written anew; with ids of tasks, or `index`, only their pictures are taken, of the site as it is. Fails
where a page says something to the console, asks for anything, is wider than what it is shown on, has letters that lie
on others or are cut, or marks without a colour.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests import chromium
from tests.conftest import REAL_DATA, ROOT

ITEMS = 40
DESK = {"viewport": {"width": 1200, "height": 900}}
WAYS = {"desk": DESK, "dark": DESK | {"color_scheme": "dark"},
        "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "device_scale_factor": 2},
        "paper": {"viewport": {"width": 718, "height": 1000}}}  # A4 within its margins
PDF = {"format": "A4", "margin": dict.fromkeys(("top", "right", "bottom", "left"), "1cm")}
ON_PAPER = ("page", "matrix", "wide", "middle", "item", "index")
STEPS = {"wnut17": (3, 5), "semeval2018-arc": (8, 15)}  # how many of the files come in first
ABOUT = """
description = "News, conversations, e-commerce and social posts, from Czech into English; items are segments."
url = "https://www.statmt.org/wmt22/translation-task.html"
organisers = ["WMT"]
contact = "https://www.statmt.org/wmt22/"
citation = "Kocmi et al. 2022. Findings of the 2022 Conference on Machine Translation (WMT22)."
date = 2022-12-07
"""
TOLD = """
[[submit]]
file = "submissions/{team}.{system}.tsv"
team = "{team}"
system = "{system}"
size = {size}
cost = {cost}
licence = "MIT"
paper = "https://example.org/papers/{system}"
code = "https://example.org/code/{system}"
description = "A made-up system of the sample, with all facts that a submission can declare."
"""
VIEWS = """() => {
  const data = JSON.parse(document.getElementById("data").textContent), { details: of, boards: [board] } = data;
  const at = (column, row) => (Array.isArray(column) ? column[row] : column), last = board.n - 1, two = board.n > 1;
  const named = (team, system) => Array.from({ length: of.n }, (_, n) => n)
    .find(n => at(of.team, n) === team && at(of.system, n) === system);
  const name = place => at(of.names, named(at(board.standings.team, place), at(board.standings.system, place)));
  const pairs = chart => Boolean(board.pairs) && board.n > 2 && { chart };
  const items = [...document.querySelectorAll("#item-list details")].map(node => node.dataset.item);
  return Object.entries({
    page: [{}, "body"],
    matrix: [pairs("matrix"), "#pairs"],
    raw: [pairs("matrix") && { p: "raw" }, "#pairs"],
    front: [Object.keys(board.numbers).length && {}, "#trade-offs"],
    gains: [pairs("gains"), "#pairs"],
    wide: [data.wide.length && { show: "wide" }, "body"],
    best: [{ system: name(0) }, "body"],
    middle: [two && { system: name(last >> 1) }, "body"],
    worst: [two && { system: name(last) }, "body"],
    versus: [two && { a: name(0), b: name(1) }, "#versus"],
    item: [items.length && { item: items[0] }, "#items"],
    hard: [items.length > 4 && { item: items[4], order: "hard" }, "#items"],
    both: [items.length && two && { a: name(0), b: name(last), item: items.at(-1) }, "#items"],
  }).flatMap(([view, [changes, part]]) => (changes ? [[view, `#${new URLSearchParams(changes)}`, part]] : []));
}"""
FAULTS = """() => {
  const found = [], { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`${scrollWidth} pixels wide on ${clientWidth}`);
  const seen = node => node.checkVisibility() && node.textContent.trim();
  const told = node => `"${node.textContent.slice(0, 40)}"`;
  for (const drawing of document.querySelectorAll("svg")) {
    const frame = drawing.getBoundingClientRect();
    const texts = [...drawing.querySelectorAll("text")].filter(seen);
    const boxes = texts.map(text => text.getBoundingClientRect());
    boxes.forEach((box, n) => {
      if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.bottom > frame.bottom + 3) {
        found.push(`${told(texts[n])} leaves its drawing`);
      }
      boxes.slice(n + 1).forEach((other, k) => {
        const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        if (across > 2 && down > 4) found.push(`${told(texts[n])} lies on ${told(texts[n + 1 + k])}`);
      });
    });
  }
  for (const node of document.querySelectorAll("svg :is(circle, rect, path, text)")) {
    if (node.checkVisibility() && getComputedStyle(node).fill === "rgb(0, 0, 0)") {
      found.push(`a ${node.localName} of class ${node.getAttribute("class")} has no colour of its own`);
    }
  }
  for (const node of document.querySelectorAll("th, td, p, li, dd, button, select, summary, h1, h2, h3")) {
    const hides = getComputedStyle(node).overflowX !== "visible" && node.clientWidth > 1; // else it is for the ear
    if (hides && seen(node) && node.scrollWidth > node.clientWidth + 1) found.push(`${told(node)} is cut`);
  }
  return found;
}"""


def registry(*words, cwd):
    subprocess.run([sys.executable, "-m", "registry", *map(str, words)], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def written(folder, name, text):
    path = folder / f"{name}.toml"
    path.write_text(text, "utf-8")
    return path


def real_tasks(out):
    """Manifests with the folders of their files, in the order in which they are run."""
    texts = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "tests" / "real_data").glob("*.toml"))}
    for name, steps in STEPS.items():
        head, *files = re.split(r"(?=\n\[\[submit\]\])", texts[name])
        for n in (*steps, len(files)):
            yield written(out, f"{name}-{n}", head + "".join(files[:n])), REAL_DATA / name
    both = texts["wordalign"].replace("alignment of Hansards and Romanian news", "alignment, {}")
    for name, title, other in (("enfr", "English to French", "roen"), ("roen", "Romanian to English", "enfr")):
        parts = [part for part in both.split("\n\n") if f'"{other}"' not in part]  # tasks that share their systems
        text = "\n\n".join(parts).replace('id = "wordalign"', f'id = "wordalign-{name}"').replace("{}", title)
        yield written(out, f"wordalign-{name}", text), REAL_DATA / "wordalign"
    version = 'version = "1.0.0"\n'
    yield written(out, "wmt22", texts["wmt22-cs-en"].replace(version, version + ABOUT, 1)), REAL_DATA / "wmt22-cs-en"
    for name in ("conll2018-fro_srcmf", "krennppv"):
        yield written(out, name, texts[name]), REAL_DATA / name


def sample_tasks(out):
    """A task whose systems say what they are, the same with pseudonyms, and the same without scores."""
    folder = ROOT / "sample_data" / "stance"
    text = (folder / "task.toml").read_text("utf-8").partition("\n[[submit]]")[0]
    head = text.replace("[task]", '[task]\ncost_unit = "USD per 1,000 items"', 1)
    told = ""
    for n, path in enumerate(sorted((folder / "submissions").glob("*.tsv"))):
        team, system, _ = path.name.split(".")
        told += TOLD.format(team=team, system=system, size=10 ** (7 + n / 2), cost=0.02 * 3**n)
    yield written(out, "stance", head + told), folder
    for state, line in (("anonymous", "anonymous = true"), ("blind", "hidden = true")):
        named = head.replace('id = "stance"', f'id = "stance-{state}"').replace("sample)", f"sample), {state}")
        yield written(out, f"stance-{state}", f"{named}{told}\n[board]\n{line}\n"), folder


def prepare(out):
    """The registry with all tasks."""
    out.mkdir(parents=True)
    for manifest, folder in (*real_tasks(out), *sample_tasks(out)):
        registry("run", manifest, "--root", folder, cwd=out)
    entities = ROOT / "sample_data" / "entities"  # of which there is no comparison yet
    registry("apply", entities / "task.toml", cwd=out)
    registry("score", "entities", cwd=out)
    matrix = REAL_DATA / "trec-adhoc8-ap" / "adhoc8_ap.csv"
    registry("import", "wide", matrix, "--task", "trec8", "--option", "metric=AP", "--to", out / "trec8", cwd=out)
    registry("compare", "trec8", "--test", "t", cwd=out)


def pictures(browser, path, shots):
    """Take those of all views of a page in all ways; gives what is wrong."""
    wrong = []
    for way, how in WAYS.items():
        (shots / way).mkdir(parents=True, exist_ok=True)
        context = browser.new_context(**how)
        page = context.new_page()
        said = listen(page)
        shown(page, path)
        views = ([["index", "", "body"], ["search", "#filter=unimelb", "body"]] if path.stem == "index"
                 else page.evaluate(VIEWS))
        for view, fragment, part in views:
            if way == "paper" and view not in ON_PAPER:
                continue
            shown(page, path, fragment)
            if view in ("page", "index"):
                unfold(page)
            picture = shots / way / f"{path.stem}.{view}.png"
            if way == "paper":
                page.emulate_media(media="print")
                wrong += [f"{picture.stem} {way}: {fault}" for fault in page.evaluate(FAULTS)]
                page.pdf(path=picture.with_suffix(".pdf"), **PDF)
                if shutil.which("pdftoppm"):
                    subprocess.run(["pdftoppm", "-r", "80", "-png", picture.with_suffix(".pdf"),
                                    picture.with_suffix("")], check=True)
            else:
                wrong += [f"{picture.stem} {way}: {fault}" for fault in page.evaluate(FAULTS)]
                page.locator(part).first.screenshot(path=picture)
        wrong += [f"{path.stem} {way}: {what}" for what in said]
        context.close()
    return wrong


def listen(page):
    """What a page says and asks for, as a list that grows."""
    said = []
    page.on("console", lambda message: said.append(f"says {message.text}"))
    page.on("pageerror", lambda error: said.append(f"fails: {error}"))
    page.on("request", lambda of: None if of.url.startswith(("file:", "data:")) else said.append(f"asks for {of.url}"))
    return said


def shown(page, path, fragment=""):
    page.goto("about:blank")
    page.goto(f"{path.as_uri()}{fragment}")
    page.locator('main[aria-busy="false"]').wait_for()


def unfold(page):
    for summary in page.locator("#about-systems summary, #embed summary, #tasks summary").all():
        if summary.is_visible():
            summary.click()
    page.evaluate("scrollTo(0, 0)")


def main():
    """Print what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.scenarios.pages", description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("task", nargs="*")
    given = parser.parse_args()
    out = given.out.resolve()
    if not out.exists():
        prepare(out)
    if not given.task:
        registry("site", "-o", "site", "--items", ITEMS, cwd=out)
    paths = [out / "site" / "index.html", *sorted((out / "site" / "tasks").glob("*.html"))]
    with chromium.launched() as browser:
        wrong = [fault for path in paths if not given.task or path.stem in given.task
                 for fault in pictures(browser, path, out / "shots")]
    print(*wrong, f"{len(wrong)} things are wrong", sep="\n")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
