"""Columns of leaderboards and pairs: a heading stands in one place, and scripts know columns by their JSON names."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from registry.boards.states import BoardDifference, StandingChange
from registry.rendering.render import render
from registry.reports import columns
from registry.reports.boards import make_board_table, make_pair_table
from registry.reports.differences import make_difference_tables
from registry.reports.page.html import make_page_data
from registry.reports.paper_tables import render_latex_board, render_latex_pairs
from tests.conftest import PACKAGE
from tests.reports.boards import leaderboard
from tests.reports.page.contents import contents


@pytest.fixture
def renamed(monkeypatch):
    """Give a column another heading."""
    def rename(fields, name, heading):
        monkeypatch.setitem(fields, name, replace(fields[name], heading=heading))

    return rename


def test_a_heading_of_a_board_is_changed_in_one_place(renamed):
    renamed(columns._BOARD, "system", "participant")
    renamed(columns._BOARD, "rank", "position")
    board = leaderboard("abc")
    for written in (render([make_board_table(board)], "table"), render([make_board_table(board)], "md")):
        assert "participant" in written
        assert "position" in written
        assert not re.search(r"\b(system|rank)\b", written.partition("\n a ")[0])
    assert r"Position & Range & Participant & " in render_latex_board(board)
    assert make_page_data(contents())["columns"]["board"]["system"]["heading"] == "participant"


def test_a_heading_of_pairs_is_changed_in_one_place(renamed):
    renamed(columns._PAIRS, "p_adjusted", "corrected p")
    assert "corrected p" in render([make_pair_table(leaderboard("ab"))], "table")
    assert make_page_data(contents())["columns"]["pairs"]["p_adjusted"]["heading"] == "corrected p"


def test_the_heading_of_differences_is_true_if_lower_scores_are_better():
    """Differences are positive if A is better, so they are B - A then."""
    higher = leaderboard("ab")
    lower = replace(higher, better="lower")
    for board, heading, other in ((higher, "A - B", "A better by"), (lower, "A better by", "A - B")):
        latex = render_latex_pairs(board).replace("$-$", " - ").replace("~", " ")
        text = render([make_pair_table(board)], "table") + latex
        assert text.count(heading) == 2
        assert other not in text


def test_a_board_without_letters_has_no_column_of_groups():
    """Boards with more than 702 groups have no letters."""
    board = leaderboard("abc")
    assert "group" in [column.heading for column in make_board_table(board).columns]
    board = replace(board, standings=tuple(replace(standing, letters="") for standing in board.standings))
    assert "group" not in [column.heading for column in make_board_table(board).columns]


def test_tables_of_differences_have_the_headings_of_leaderboards(renamed):
    renamed(columns._BOARD, "cluster", "group of ranks")
    state = SimpleNamespace(title="board", decimals=4, systems={}, pairs={}, signature="s")
    change = StandingChange("a", None, leaderboard("abc").standings[0], "new")
    (table,) = make_difference_tables(BoardDifference(state, state, (), (change,), ()))
    assert [column.heading for column in table.columns] == ["system", "rank", "range", "group of ranks", "score", "why"]


def test_tooltips_of_the_page_are_explanations_of_the_columns(renamed):
    tooltips = {name: column["about"] for name, column in make_page_data(contents())["columns"]["board"].items()}
    assert tooltips["letters"] == columns._BOARD["letters"].about != ""


def test_columns_that_forms_show_are_listed_and_have_headings():
    for form in columns.SHOWN.values():
        assert all(columns._BOARD[name].heading for name in form)
    assert all(columns._PAIRS[name].heading for name in columns._PAIRS_SHOWN)


def test_no_script_spells_a_heading_of_several_words():
    """Words such as `rank` are also JSON names; these headings are not."""
    headings = [one.heading for one in (*columns.BOARD, *columns.PAIRS) if " " in one.heading]
    for path in sorted((PACKAGE / "reports" / "page" / "scripts").glob("*.js")):
        spelled = [heading for heading in headings if f'"{heading}"' in path.read_text("utf-8")]
        assert not spelled, path.name


def test_80_characters_have_the_sd_of_runs_and_name_what_is_left_out():
    board = leaderboard("abc")
    standings = tuple(replace(standing, runs=3, run_sd=0.0123, ci_low=0.9, ci_high=0.99)
                      for standing in board.standings)
    table = make_board_table(replace(board, standings=standings))
    shown = render([table], "table", width=80)
    assert "SD of runs" in shown
    assert "0.0123" in shown
    assert "Left out at a width of 80: cluster." in shown
    assert "cluster" in (wide := render([table], "table", width=120))
    assert "Left out" not in wide


def test_boards_of_one_output_have_the_same_columns():
    """Scores of 12 decimals leave no room for a column that the first board alone would show."""
    board = leaderboard("abc")
    board = replace(board, standings=tuple(replace(standing, team="Team", ci_low=0.9, ci_high=0.99)
                                           for standing in board.standings))
    tables = [make_board_table(board), make_board_table(replace(board, decimals=12))]
    alone, together = render(tables[:1], "table", width=80), render(tables, "table", width=80)
    assert "team" in alone
    headings = [line.split() for line in together.splitlines() if line.startswith(" rank")]
    assert headings[0] == headings[1]
    assert "team" not in headings[0]
    assert together.count("Left out at a width of 80: ") == 2
