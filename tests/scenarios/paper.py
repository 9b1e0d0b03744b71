r"""A paper in two columns of 7.7 cm with figures and a board of 30 systems, one of them an outlier, set by LaTeX.

    python -m tests.scenarios.paper [--folder FOLDER]

Drawn are the scores (PDF), all else (PGF) and a board (LaTeX); `pdflatex` sets them, and what it says of
boxes that are too wide, of the fonts that the PDF embeds and of the size of its smallest letters is printed. With
`pdftoppm` the pages become pictures, to be looked at.
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REGISTRY = [sys.executable, "-m", "registry"]
ITEMS, SYSTEMS = 400, 30
NAMES = ["transformer-large", "BiLSTM_CRF", "50% & more", "prompted $x^2$", "ünïcode-naïve", r"\input{x}"]
MANIFEST = """manifest = 1
task.id = "stance"
test_set = [{ name = "test", gold = "gold.tsv", format = "labels" }]
metric = [{ name = "Accuracy" }]
"""
PAPER = r"""\documentclass[10pt,a4paper,twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{times}
\usepackage{graphicx,pgf,booktabs}
\usepackage[textwidth=16cm,textheight=24.7cm,columnsep=0.6cm]{geometry}
\begin{document}
\title{Thirty systems}\author{Nobody}\maketitle
\typeout{COLUMN \the\columnwidth}
Text of the usual size stands beside the figures, so that it can be seen how large the letters in these are.
\begin{figure}[t]\includegraphics{scores.pdf}\caption{Scores, from a PDF.}\end{figure}
\begin{figure}[t]\input{pairs.pgf}\caption{Pairs, from PGF.}\end{figure}
\begin{figure}[t]\input{gains.pgf}\caption{Gains, from PGF.}\end{figure}
\begin{figure}[t]\input{groups.pgf}\caption{Who is told apart, from PGF.}\end{figure}
\begin{figure}[t]\input{ranks.pgf}\caption{Resampled ranks, from PGF.}\end{figure}
\input{board.tex}
\end{document}
"""


def main():
    """Write the task, draw it, set the paper."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=None)
    folder = parser.parse_args().folder or Path(tempfile.mkdtemp(prefix="paper-"))
    folder.mkdir(parents=True, exist_ok=True)
    write_task(folder)
    for command in (["run", "task.toml"], ["plot", "stance", "scores", "-o", "scores.pdf"],
                    ["plot", "stance", "ranks", "-o", "ranks.pgf", "--palette", "grey"],
                    *(["plot", "stance", kind, "-o", f"{kind}.pgf"] for kind in ("pairs", "gains", "groups"))):
        subprocess.run([*REGISTRY, *command, "--db", "paper.duckdb"], cwd=folder, check=True, capture_output=True)
    board = subprocess.run([*REGISTRY, "board", "stance", "--format", "latex", "--db", "paper.duckdb"], cwd=folder,
                           check=True, capture_output=True, text=True)
    (folder / "board.tex").write_text(board.stdout, "utf-8")
    (folder / "paper.tex").write_text(PAPER, "utf-8")
    latex = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    for _ in range(2):
        set_by_latex = subprocess.run(latex, cwd=folder, check=False, capture_output=True, text=True, errors="replace")
        if set_by_latex.returncode:
            sys.exit(set_by_latex.stdout[-2000:])
    report(folder, set_by_latex.stdout)


def write_task(folder):
    """Systems that are right ever less often, and the last one hardly ever."""
    rng = random.Random(1)
    gold = {f"i{n}": rng.choice("ab") for n in range(ITEMS)}
    (folder / "systems").mkdir(exist_ok=True)
    written = "".join(f"{item}\t{label}\n" for item, label in gold.items())
    (folder / "gold.tsv").write_text(written)
    submissions = []
    for n in range(SYSTEMS):
        wrong = 0.9 if n == SYSTEMS - 1 else 0.12 + 0.005 * n
        labels = {item: "ba"["ab".index(label)] if rng.random() < wrong else label for item, label in gold.items()}
        (folder / "systems" / f"{n}.tsv").write_text("".join(f"{item}\t{label}\n" for item, label in labels.items()))
        name = NAMES[n] if n < len(NAMES) else f"system-{n}"
        submissions.append(f"[[submit]]\nfile = \"systems/{n}.tsv\"\nsystem = '{name}'\nteam = 'team-{n % 7}'\n")
    (folder / "task.toml").write_text(MANIFEST + "".join(submissions), "utf-8")


def report(folder, said):
    """Say what LaTeX complained of, which fonts are in the PDF, and how large its letters are."""
    print("columns:", re.search(r"COLUMN (\S+)", said)[1])
    boxes = re.findall(r"Overfull \\hbox \((\S+) too wide\)", said)
    print("boxes that are too wide:", ", ".join(boxes) or "none")
    pdf = folder / "paper.pdf"
    if shutil.which("pdffonts"):
        fonts = subprocess.run(["pdffonts", pdf], check=True, capture_output=True, text=True).stdout
        rows = [line.split() for line in fonts.splitlines()[2:]]
        print("fonts:", len(rows), "of which embedded:", sum(row[-5] == "yes" for row in rows))
    if shutil.which("pdftoppm"):
        subprocess.run(["pdftoppm", "-r", "150", "-png", pdf, folder / "page"], check=True)
        print("pages:", *sorted(map(str, folder.glob("page*.png"))))


if __name__ == "__main__":
    main()
