"""Makes docs/gallery/ from the real data: leaderboards in the terminal, in LaTeX, as figures, and their pages.

    python -m tests.gallery [FOLDER ...]

LaTeX is drawn where pdflatex and pdftoppm are installed, the page where playwright and chromium are.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from PIL import Image, ImageOps  # comes with matplotlib
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner

from registry.boards.choose import (
    add_score_intervals,
    load_metric_leaderboards,
    load_submission_attributes,
    select_leaderboard,
)
from registry.boards.load import load_leaderboards
from registry.cli.app import app
from registry.rendering.terminal import render_terminal
from registry.reports.boards import make_board_table, make_wide_boards, make_wide_table
from registry.reports.figures.boards import draw_gains, draw_groups, draw_pairs, draw_ranks, draw_scores
from registry.reports.paper_tables import render_latex_board
from registry.store import catalog
from registry.store.database import Database
from tests import chromium
from tests.conftest import REAL_DATA, ROOT

GALLERY = ROOT / "docs" / "gallery"
MANIFESTS = ROOT / "tests" / "real_data"
METRICS = {"semeval2018-arc": ["accuracy"], "wnut17": ["span_f1"], "wmt22-cs-en": ["bleu-B", "bleu-C"],
           "conll2018-fro_srcmf": [None]}  # None: the primary one
FIGURES = ("scores", "pairs", "gains", "groups", "ranks")
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{booktabs}
\usepackage[a4paper,margin=2.5cm]{geometry}\pagestyle{empty}
\begin{document}
%s
\end{document}
"""


def make(name):
    """Run the task in a registry of its own, and draw its leaderboards."""
    folder = GALLERY / name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        db = Path(scratch) / "registry.duckdb"
        done = CliRunner().invoke(app, ["run", str(MANIFESTS / f"{name}.toml"), "--root", str(REAL_DATA / name),
                                        "--db", str(db)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        with Database(db).reading() as connection:
            (row,) = catalog.tasks(connection)
            if len(boards := [of for of in load_leaderboards(connection, row) if of.facet is None]) > 1:
                (wide,) = make_wide_boards(boards, (), catalog.primary_metric(connection, row.task_id).alias)
                written = render_terminal(make_wide_table(wide), 120, color=True)
                (folder / "wide.svg").write_text(terminal_svg(written, f"registry board {row.slug} --wide"))
            draw_page(db, row.slug, Path(scratch), folder)
            for metric in METRICS[name]:
                suffix = f"-{metric}" if len(METRICS[name]) > 1 else ""
                draw(connection, row, metric, lambda form, s=suffix: folder / f"{form}{s}", Path(scratch))


def draw(connection, row, metric, named, scratch):
    board = select_leaderboard(load_metric_leaderboards(connection, row, metric, "bootstrap"))
    plain = select_leaderboard(load_metric_leaderboards(connection, row, metric))
    written = render_terminal(make_board_table(plain), 120, color=True)
    named("terminal").with_suffix(".svg").write_text(terminal_svg(written, f"registry board {plain.task}"))
    latex_png(render_latex_board(plain), scratch, named("latex"))
    draw_scores(add_score_intervals(connection, row, plain), named("scores").with_suffix(".png"))
    draw_pairs(plain, named("pairs").with_suffix(".png"))
    draw_gains(plain, named("gains").with_suffix(".png"), "team", load_submission_attributes(connection, plain, "team"))
    draw_groups(plain, named("groups").with_suffix(".png"))
    draw_ranks(board, named("ranks").with_suffix(".png"))
    for kind in FIGURES:
        shrink(Image.open(path := named(kind).with_suffix(".png")).convert("RGB"), path)


def draw_page(db, task, scratch, folder):
    """The page as a browser shows it."""
    if chromium.PATH is None or find_spec("playwright") is None:
        print("chromium or playwright is not installed: no picture of the page", file=sys.stderr)
        return
    path = scratch / "page.html"
    CliRunner().invoke(app, ["page", task, "--db", str(db), "-o", str(path), "--items", "200"], catch_exceptions=False)
    for way, picture in chromium.pictures(path):
        shrink(picture, folder / f"page{way}.png")


def terminal_svg(written, title):
    """What a terminal shows as a picture, without any font from the network."""
    console = Console(record=True, width=120, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text.from_ansi(written))
    code = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(title=title, code_format=code, unique_id="board")


def latex_png(written, scratch, path):
    """The table as pdflatex sets it, cut out."""
    if not (shutil.which("pdflatex") and shutil.which("pdftoppm")):
        print("pdflatex or pdftoppm is not installed: no picture of LaTeX", file=sys.stderr)
        return
    (scratch / "board.tex").write_text(DOCUMENT % written, encoding="utf-8")
    subprocess.run(["pdflatex", "-interaction=batchmode", "-halt-on-error", "board.tex"], cwd=scratch, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["pdftoppm", "-r", "110", "-png", "-gray", "-singlefile", "board.pdf", "board"], cwd=scratch,
                   check=True)
    page = Image.open(scratch / "board.png")
    box = ImageOps.invert(page).getbbox()
    shrink(page.crop((box[0] - 12, box[1] - 12, box[2] + 12, box[3] + 12)), path.with_suffix(".png"))


def shrink(picture, path):
    """Write a picture with no more colours than the eye needs."""
    picture.quantize(128).save(path, optimize=True)


def index():
    """The page that shows all pictures."""
    parts = ["# Gallery", "Leaderboards of real shared tasks, made by `make gallery` from the tasks' own submissions. "
             "[../leaderboards.md](../leaderboards.md) says what each form shows."]
    for name in METRICS:
        folder = GALLERY / name
        if not folder.is_dir():
            continue
        manifest = (MANIFESTS / f"{name}.toml").read_text()
        parts += [f"## {re.search(r'^title = .(.*).$', manifest, re.MULTILINE)[1]}"]
        parts += [f"![Terminal]({name}/{path.name})" for path in sorted(folder.glob("terminal*.svg"))]
        parts += [f"![Wide]({name}/{path.name})" for path in sorted(folder.glob("wide.svg"))]
        parts += [f"![LaTeX]({name}/{path.name})" for path in sorted(folder.glob("latex*.png"))]
        parts += [f'<img src="{name}/{path.name}" alt="{kind}" width="330">'
                  for kind in FIGURES for path in sorted(folder.glob(f"{kind}*.png"))]
        parts += [f'<img src="{name}/page{way}.png" alt="page{way}" width="{290 if way == "-phone" else 830}">'
                  for way in chromium.WAYS if (folder / f"page{way}.png").is_file()]
    (GALLERY / "README.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or METRICS:
        if (MANIFESTS / f"{chosen}.toml").is_file() and (REAL_DATA / chosen).is_dir():
            make(chosen)
        else:
            print(f"{chosen}: no manifest or no data; left as it is", file=sys.stderr)
    index()
