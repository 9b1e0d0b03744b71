"""Tables in papers: complete, aligned with what the board says, and safe to compile."""

import re
import subprocess
from dataclasses import replace

import pytest

from registry.rendering.render import escape_latex, render_latex
from registry.rendering.table import Table
from registry.reports.papers import render_latex_board
from tests.needs import need
from tests.reports.boards import HOSTILE, leaderboard

DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{booktabs,longtable}
\begin{document}
%s
\end{document}
"""


def rows(written):
    return [line.removesuffix(r" \\").split(" & ") for line in written.splitlines() if line.endswith(r" \\")][1:]


def test_rules_part_the_clusters_and_the_best_is_bold():
    written = render_latex_board(leaderboard(["A", "B", "C", "D"], [0.9, 0.85, 0.8, 0.7]))
    body = written.split(r"\midrule", 1)[1]
    assert body.index("B &") < body.index(r"\midrule") < body.index("C &")
    assert body.count(r"\midrule") == 1
    assert [r"\textbf" in row[4] for row in rows(written)] == [True, False, False, False]


def test_equal_best_scores_are_all_bold():
    written = render_latex_board(leaderboard(["A", "B", "C"], [0.9, 0.9, 0.8], significant=lambda a, b: False))
    assert [row[4] for row in rows(written)] == [r"\textbf{0.9000}", r"\textbf{0.9000}", "0.8000"]


def test_teams_have_a_column_where_they_are_not_called_as_the_systems_are():
    board = leaderboard(["A", "B"])
    assert "Team" not in render_latex_board(board)
    (first, second) = board.standings
    written = render_latex_board(replace(board, standings=(replace(first, team="Oak"), second)))
    assert [row[3:5] for row in rows(written)] == [["A", "Oak"], ["B", "B"]]


def test_superscripts_name_the_systems_that_are_beaten():
    written = render_latex_board(leaderboard(["A", "B", "C", "D"]))  # each differs from those two places below and more
    assert [re.findall(r"superscript\{(\w+)\}", row[4]) for row in rows(written)] == [["cd"], ["d"], [], []]
    assert [row[0] for row in rows(written)] == ["a", "b", "c", "d"]


def test_undefined_scores_and_long_boards():
    written = render_latex_board(leaderboard([f"S{n}" for n in range(60)], [*(1 - n / 100 for n in range(59)), None]))
    assert "n/a" in rows(written)[-1]
    assert "superscript" not in written  # letters for so many would not be read
    assert r"\begin{longtable}" in written


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leaves_a_command_behind(name):
    left = escape_latex(name)
    for known in (r"\textbackslash{}", r"\textasciicircum{}", r"\textasciitilde{}", r"\textless{}", r"\textgreater{}",
                  r"\textbar{}", r"\textquotedbl{}", r"\textasciigrave{}", r"\{", r"\}", r"\$", r"\&", r"\#", r"\%",
                  r"\_", "{[}", "{]}", "{}"):
        left = left.replace(known, "")
    assert not set(left) & set("\\{}$&#%_^~<>|[]")
    assert left.isprintable()


def test_what_is_written_compiles(tmp_path):
    need("pdflatex")
    names = list(HOSTILE)
    rows = [{"a": name, "b": 1.5} for name in names]
    written = "\n".join([render_latex_board(leaderboard(names)), render_latex_board(leaderboard(names * 5)),
                         render_latex(Table(rows, title="t", captions=names)),
                         render_latex(Table(rows, title="more than a caption can hold", captions=names * 40))])
    (tmp_path / "a.tex").write_text(DOCUMENT % written, encoding="utf-8")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"], cwd=tmp_path,
                          capture_output=True, timeout=100)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-3000:]
