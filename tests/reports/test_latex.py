"""LaTeX tables of leaderboards, pairs and wide boards: readable in a paper, as the board says, and safe to compile."""

import re
import subprocess
from dataclasses import replace

import pytest

from registry.messages import KINDS, Message, Messages
from registry.rendering.latex import LatexColumn, LatexTable, escape_latex, render_latex, render_latex_table
from registry.rendering.table import Column, Table
from registry.reports.boards import make_wide_boards
from registry.reports.page.data import make_overview_row
from registry.reports.paper_tables import render_latex_board, render_latex_pairs, render_latex_wide
from tests.needs import need
from tests.reports.boards import HOSTILE, changed, leaderboard

# Two columns, as wide as those of papers of the ACL.
DOCUMENT = r"""\documentclass[%s,twocolumn,a4paper]{article}
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{booktabs%s}
\usepackage[textwidth=16cm,textheight=24.7cm,columnsep=0.6cm]{geometry}
\begin{document}
%s
\end{document}
"""
LONG = [f"Llama-3.1-{n}B-Instruct-finetuned-chat" for n in range(16)]
COMMANDS = re.compile(r"\bregistry |textasciigrave|(?<![-\w])-(\{\})?-(\{\})?[a-z]")


def rows(written):
    return [line.removesuffix(r" \\").split(" & ") for line in written.splitlines() if line.endswith(r" \\")][1:]


def headings(written):
    return next(line for line in written.splitlines() if line.endswith(r" \\")).removesuffix(r" \\").split(" & ")


def column(written, heading):
    """The cells below a heading."""
    return [row[headings(written).index(heading)] for row in rows(written)]


def with_intervals(board):
    return replace(board, standings=tuple(
        of if of.score is None else replace(of, ci_low=of.score - 0.0123, ci_high=of.score + 0.0123)
        for of in board.standings))


def make_wide(names, n_boards):
    boards = [replace(leaderboard(names), metric=f"metric {n}", signature=f"m{n}|task:task@1|set:test|id:{n:08}")
              for n in range(n_boards)]
    (wide,) = make_wide_boards(boards, [], boards[0].metric)
    return render_latex_wide(wide)


def test_rules_separate_clusters_and_the_best_score_is_bold():
    written = render_latex_board(leaderboard(["A", "B", "C", "D"], [0.9, 0.85, 0.8, 0.7]))
    body = written.split(r"\midrule", 1)[1]
    assert body.index("B &") < body.index(r"\midrule") < body.index("C &")
    assert body.count(r"\midrule") == 1
    assert [r"\textbf" in score for score in column(written, "acc")] == [True, False, False, False]


def test_equal_best_scores_are_all_bold():
    written = render_latex_board(leaderboard(["A", "B", "C"], [0.9, 0.9, 0.8], significant=lambda a, b: False))
    assert column(written, "acc") == [r"\textbf{0.9000}", r"\textbf{0.9000}", "0.8000"]


def test_teams_have_a_column_if_their_names_are_not_those_of_systems():
    board = leaderboard(["A", "B"])
    assert "Team" not in render_latex_board(board)
    (first, second) = board.standings
    written = render_latex_board(replace(board, standings=(replace(first, team="Oak"), second)))
    assert (column(written, "System"), column(written, "Team")) == (["A", "B"], ["Oak", "B"])


def test_superscripts_name_the_significantly_worse_systems():
    written = render_latex_board(leaderboard(list("uvwxyz")))  # each differs from those two places below and more
    assert [re.findall(r"superscript\{([-\w]+)\}", score) for score in column(written, "acc")] == [
        ["C--F"], ["D--F"], ["EF"], ["F"], [], []]
    assert column(written, "") == list("ABCDEF")
    assert "Group" not in written


def test_more_than_eight_systems_have_letters_of_groups_instead_of_superscripts():
    eight, nine = (render_latex_board(leaderboard([f"S{k}" for k in range(n)])) for n in (8, 9))
    assert ("superscript" in eight, "Group" in eight) == (True, False)
    assert ("superscript" in nine, headings(nine)[-1]) == (False, "Group")
    assert column(nine, "Group") == list("abcdefghi")
    assert "" not in headings(nine), "no letters of rows besides those of groups"


def test_columns_of_equal_cells_are_left_out():
    board = leaderboard(["A", "B", "C"], significant=lambda a, b: False)
    same = replace(board, standings=tuple(replace(of, rank_low=1, rank_high=3, letters="a") for of in board.standings))
    assert headings(render_latex_board(same)) == ["Rank", "System", "acc"]
    assert "Range" in headings(render_latex_board(board))


def test_undefined_scores_are_printed():
    written = render_latex_board(leaderboard(["A", "B"], [0.9, None]))
    assert "n/a" in rows(written)[-1]


def test_intervals_have_two_digits_of_their_width_and_no_leading_zero():
    written = render_latex_board(with_intervals(leaderboard(["A", "B"], [0.9, 0.852])))
    assert column(written, r"95~\%~CI") == [".888--.912", ".840--.864"]


def test_label_names_task_test_set_and_metric():
    board = replace(leaderboard(["A", "B"]), metric="span_f1", facet="genre=news")
    assert r"\label{tab:task-test-genre-news-span-f1}" in render_latex_board(board)
    assert r"\label{tab:task-test-genre-news-span-f1-pairs}" in render_latex_pairs(board)
    assert r"\label{tab:task-all}" in make_wide(["A", "B"], 2)


def test_tables_of_studies_have_the_question_at_the_end_of_their_label():
    written = render_latex(Table([{"a": 1}], title="How large are differences? ner/test: f1"))
    assert r"\label{tab:ner-test-f1-How-large-are-differences}" in written


def test_caption_is_short_and_notes_with_the_signature_are_below_the_table():
    written = render_latex_board(leaderboard(["A", "B", "C", "D"]))
    (caption,) = re.findall(r"\\caption\{(.*)\}", written)
    assert caption.startswith("task, test set: accuracy of 4 systems on 100 items. Bold: best score.")
    assert "What can be said" not in caption
    notes = written.partition(r"\end{tabular}")[2].partition(r"\end{minipage}")[0]
    assert r"\footnotesize" in notes
    assert r"What can be said: 100 \%." in notes
    assert "id:00" in notes


def test_captions_have_the_title_of_the_task():
    board = replace(leaderboard(["A", "B", "C"]), task_title="Names & places", test_set="dev")
    for written in (render_latex_board(board), render_latex_pairs(board)):
        assert r"\caption{Names \& places, test set dev: accuracy of 3 systems" in written
    (wide,) = make_wide_boards([board], [], "acc")
    assert r"\caption{Names \& places: scores of 3 systems on test set dev" in render_latex_wide(wide)


def test_runs_and_their_deviation_are_columns():
    board = leaderboard(["A", "B", "C"])

    def render(*runs):
        return render_latex_board(replace(board, standings=tuple(
            replace(standing, runs=n, run_sd=None if n == 1 else 0.0125)
            for standing, n in zip(board.standings, runs, strict=True))))

    written = render(3, 1, 2)
    assert column(written, "Runs") == ["3", "1", "2"]
    assert column(written, "SD~of~runs") == ["0.0125", "--", "0.0125"]
    assert "standard deviation of the scores of a system's runs" in written
    assert "accuracy of 3 systems (3 runs each) on" in render(3, 3, 3)
    assert "Runs" not in render(1, 1, 1)


def test_discordant_units_are_explained():
    board = leaderboard(["A", "B", "C"])
    board = replace(board, comparison=board.comparison._replace(unit="cluster"))
    assert "Discordant: clusters in which the results of the two systems differ." in render_latex_pairs(board)


def test_caption_and_overview_say_that_an_unranked_system_has_a_better_score():
    board = leaderboard(["late", "B", "C"])
    ranks = [None, 1, 2]
    board = replace(board, standings=tuple(replace(standing, rank=rank)
                                           for standing, rank in zip(board.standings, ranks, strict=True)))
    assert "Bold: best score of the ranked systems." in render_latex_board(board)
    assert make_overview_row(board, [board])["best"] == "B (best ranked)"
    ranked = leaderboard(["A", "B"])
    assert make_overview_row(ranked, [ranked])["best"] == "A"


def test_narrow_tables_are_as_wide_as_a_column_and_wide_ones_as_the_page():
    assert r"\begin{table}" in render_latex_board(with_intervals(leaderboard(["small", "large"])))
    assert r"\begin{table*}" in render_latex_board(with_intervals(leaderboard(LONG)))
    for width, environment in (("0" * 30, "table"), ("0" * 60, "table*"), ("$-$" * 20, "table"),
                               ("$-$" * 35, "table*")):
        written = render_latex_table(LatexTable([LatexColumn("n", right=True)], [[width]], "c", "tab:c"))
        assert rf"\begin{{{environment}}}" in written


def test_sixty_systems_are_in_two_halves_and_two_hundred_in_several_floats():
    sixty, many = (render_latex_board(leaderboard([f"S{k}" for k in range(n)])) for n in (60, 200))
    assert (sixty.count(r"\begin{table*}"), sixty.count(r"\begin{tabular}")) == (1, 2)
    assert many.count(r"\begin{table*}") == many.count("Continued.") + 1 > 2
    for written, n in ((sixty, 60), (many, 200)):
        names = [line.split(" & ")[2] for line in written.splitlines() if re.match(r"\d+ & ", line)]
        assert names == [f"S{k}" for k in range(n)]
        assert written.count(r"\label") == 1


def test_wide_boards_mark_the_best_score_and_those_that_no_system_beats():
    board = leaderboard(["A", "B", "C"], [0.9, 0.8, 0.7])
    assert [of.rank_low for of in board.standings] == [1, 1, 2]
    (wide,) = make_wide_boards([board], [], board.metric)
    assert rows(render_latex_wide(wide)) == [["A", r"\underline{\textbf{0.9000}}"], ["B", r"\underline{0.8000}"],
                                            ["C", "0.7000"]]


def test_wide_boards_have_common_fields_of_signatures_once():
    written = make_wide(["A", "B"], 8)
    assert written.count("task:task@1") == 1
    assert all(f"id:{n:08}" in written for n in range(8))


def test_significant_pairs_are_bold_and_equal_cells_are_in_a_note():
    board = changed(leaderboard(["A", "B", "C"]), lambda of: {"p_value": 1e-5 if of.b - of.a > 1 else 0.5})
    written = render_latex_pairs(board)
    assert column(written, "Adjusted~p") == ["0.0400", r"\textbf{0.0400}", "0.0400"]
    assert r"$1.0\cdot10^{-5}$" in written
    assert "In all rows, Method: exact." in written
    assert "Verdict" not in headings(written)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_message_brings_commands_or_options_into_a_paper(kind):
    message = Message(kind.code, kind.example)
    board = replace(leaderboard(["A", "B"]), statements=(message,), outdated=(message,), rank_warnings=(message,))
    table = Table([{"a": 1, "messages": Messages([message])}], title="t", captions=[str(message), message.sentence])
    (wide,) = make_wide_boards([board], [], board.metric)
    for written in (render_latex_board(board), render_latex_pairs(board), render_latex_wide(wide), render_latex(table)):
        assert not COMMANDS.search(written)
    assert str(message)[:20].split(" ")[0].lower().strip(":,") in render_latex_board(board).lower()


def test_clauses_and_sentences_with_commands_are_left_out():
    captions = ("It holds; for others run `registry study suite`. It is stable.", "Take --top 5.",
                "More: registry pairs shows which.")
    written = render_latex(Table([{"a": 1}], title="t", captions=captions))
    assert "It holds. It is stable. More.\n" in written.replace(r" \par", "")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leaves_a_command_behind(name):
    left = escape_latex(name)
    for known in (r"\textbackslash{}", r"\textasciicircum{}", r"\textasciitilde{}", r"\textless{}", r"\textgreater{}",
                  r"\textbar{}", r"\textquotedbl{}", r"\textasciigrave{}", r"\{", r"\}", r"\$", r"\&", r"\#", r"\%",
                  r"\_", "{[}", "{]}", "{}"):
        left = left.replace(known, "")
    assert not set(left) & set("\\{}$&#%_^~<>|[]")
    assert left.isprintable()


@pytest.mark.parametrize("size", ["10pt", "11pt"])
@pytest.mark.parametrize("font", ["", ",times"])
def test_no_table_is_wider_than_its_column_or_page(tmp_path, size, font):
    need("pdflatex")
    names = list(HOSTILE)
    hostile_rows = [{"a": name, "b": 1.5} for name in names]
    boards = [leaderboard(["small", "large"]), leaderboard(list("abcdefgh")), leaderboard(LONG),
              leaderboard([f"system {n}" for n in range(60)]), leaderboard([f"3f9c{n}a7" for n in range(900)]),
              leaderboard(names), replace(leaderboard(names * 5), task="x" * 100, metric="y" * 100)]
    written = [render_latex_board(with_intervals(board)) for board in boards]
    written += [render_latex_pairs(leaderboard(names)) for names in (["small", "large"], LONG, names)]
    written += [make_wide(["small", "large"], 3), make_wide(LONG, 8), make_wide(names, 8), make_wide(list("ab"), 40)]
    written += [render_latex(Table(hostile_rows, title="t", captions=names)),
                render_latex(Table(hostile_rows, [Column("a", "a b c"), Column("b", "long heading", str, right=True)],
                                   "more than a caption can hold", names * 40))]
    (tmp_path / "a.tex").write_text(DOCUMENT % (size, font, "\\clearpage\n".join(written)), encoding="utf-8")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"], cwd=tmp_path,
                          capture_output=True, timeout=100)
    log = (tmp_path / "a.log").read_text("utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert re.findall(r"Overfull \\hbox.*", log) == []
