"""What leaderboards of 200 systems cost, in processor time, and how soon the page of 1,000 is painted and sorted."""

import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from registry.boards.snapshot import TaskAbout, TaskBoards
from registry.manifest.spec import Task
from registry.reports.page import page
from tests import chromium
from tests.benchmarks.figures import Figure
from tests.reports.boards import leaderboard

SYSTEMS, ITEMS = 200, 500
FORMATS = ("table", "md", "latex", "tsv", "csv", "json", "jsonl")
PAINT = "performance.getEntriesByType('paint')[0].startTime"
TIMED = """() => {
    const begun = performance.now();
    %s
    document.body.offsetHeight;
    return performance.now() - begun;
}"""
SORT = TIMED % "document.querySelector('[data-key=score] button').click();"
WIDE = TIMED % """const view = document.getElementById('choose-view');
    view.value = 'wide';
    view.dispatchEvent(new Event('change'));"""
MANIFEST = """manifest = 1
[task]
id = "many"
version = "1"
[[test_set]]
name = "test"
gold = "gold.tsv"
format = "labels"
[[metric]]
name = "Accuracy"
[significance]
seed = 1
[[submit]]
file = "systems/{team}.{system}.tsv"
"""


def run():
    """Write one board in every form."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _write(folder)
        _cpu(folder, "run", "task.toml")
        figures = []
        for what, *command in _commands():
            took = _cpu(folder, *command)
            figures.append(Figure(f"{SYSTEMS} systems: {what}, processor time", f"{took:.2f} s", "< 5 s", took < 5))
        return [*figures, *_in_browser(folder)]


def _in_browser(folder):
    """The page of 1,000 systems, the best of five: a browser works in many processes, beside what else there is."""
    if chromium.PATH is None or find_spec("playwright") is None:
        return
    path, times = folder / "thousand.html", []
    (first,) = leaderboard(["first"]).standings
    board = replace(leaderboard(["first"]), standings=tuple(
        replace(first, rank=n + 1, system=f"system-{n}", display_name=f"system-{n}", score=1 - n / 2000)
        for n in range(1000)))
    path.write_text(page(TaskBoards("many", "Many systems", "1", "acc", [board, replace(board, metric="other")],
                                TaskAbout(Task(id="many")))))
    with chromium.launched() as browser:
        for _ in range(5):
            shown = browser.new_page()
            shown.goto(path.as_uri())
            shown.locator('main[aria-busy="false"]').wait_for()
            shown.wait_for_function("performance.getEntriesByType('paint').length")
            times.append((shown.evaluate(PAINT), shown.evaluate(SORT), shown.evaluate(WIDE)))
            shown.close()
    measured = zip(("first paint", "sort", "side by side"), (500, 1000, 1000), zip(*times, strict=True), strict=True)
    for what, most, column in measured:
        yield Figure(f"page of 1,000 systems: {what}", f"{min(column):.0f} ms", f"< {most} ms", min(column) < most)


def _commands():
    yield from ((f"board as {form}", "board", "many", "--format", form) for form in FORMATS)
    yield from ((f"pairs as {form}", "pairs", "many", "--format", form) for form in FORMATS)
    yield from ((f"plot {kind}", "plot", "many", kind, "-o", "figure.pdf")
                for kind in ("scores", "pairs", "gains", "groups", "ranks"))
    yield "board with resampled ranks", "board", "many", "--ranks", "bootstrap", "--format", "json"
    yield "page", "page", "many", "-o", "page.html", "--items", "200"
    yield "for WMT", "export", "many", "wmt"


def _write(folder):
    """Systems of two a team that are right on half of the items to nearly all of them."""
    rng = np.random.default_rng(7)
    gold = rng.integers(0, 2, ITEMS)
    (folder / "systems").mkdir()
    (folder / "task.toml").write_text(MANIFEST)
    _labels(folder / "gold.tsv", gold)
    for n, share in enumerate(np.linspace(0.5, 0.95, SYSTEMS)):
        labels = np.where(rng.random(ITEMS) < share, gold, 1 - gold)
        _labels(folder / "systems" / f"team-{n // 2}.system-{n}.tsv", labels)


def _labels(path, labels):
    path.write_text("".join(f"i{n}\t{label}\n" for n, label in enumerate(labels)))


def _cpu(folder, *command):
    """The processor time of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "registry", *command], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
