"""Tables as text: complete where machines read them, and untrusted names stay inert everywhere."""

import csv
import io
import json
import math
import re
from dataclasses import replace

import pytest

from registry.rendering.render import escape_markdown, render
from registry.rendering.table import Column, Table, make_number_format
from registry.reports.boards import make_pair_table
from tests.reports.boards import changed, leaderboard

EVIL = '=HYPERLINK("x")|[red]*b*\x1b[31m\t\n<b>'
TABLE = Table([{"system": EVIL, "score": 0.123456789, "rank": None, "low": math.nan, "ok": True}],
              [Column("system", "system"), Column("score", "score", make_number_format(3), right=True)], title="board",
              captions=("c",))


def test_json_is_complete_and_has_no_nan():
    assert json.loads(render([TABLE], "json")) == [
        {"system": EVIL, "score": 0.123456789, "rank": None, "low": None, "ok": True}]


def read_back(text, form):
    """The rows as a program reads them: TSV by its tabs, CSV by RFC 4180."""
    if form == "tsv":
        return [line.split("\t") for line in text.splitlines()]
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("form", ["tsv", "csv"])
@pytest.mark.parametrize("formula", [
    "=1+1", "+A1", "-A1", "@SUM(A1)", '=HYPERLINK("x")', '"=1+1"', '"""@x', "-0.5-cmd|' /C calc'!A0", "+1+1", "-", "=",
    "-1e", "-0x1", "-٣"])
def test_texts_that_a_spreadsheet_would_compute_are_guarded(form, formula):
    """Also in the header, which a query names, and in the first of several values of a cell."""
    rows = [{"system": formula, formula: (formula, "b")}]
    assert read_back(render([Table(rows)], form), form) == [
        ["system", f"'{formula}"], [f"'{formula}", f"'{formula}; b"]]


def test_a_tab_or_line_end_before_a_formula_is_guarded():
    table = Table([{"a": "\t=1", "b": "\r=1", "c": "x\r=1"}])
    rows = list(csv.reader(io.StringIO(render([table], "csv"), newline="")))
    assert rows == [["a", "b", "c"], ["'\t=1", "'\r=1", "x\r=1"]]
    assert render([table], "tsv").splitlines()[1].split("\t") == [r"'\t=1", r"'\r=1", r"x\r=1"]


@pytest.mark.parametrize("form", ["tsv", "csv"])
@pytest.mark.parametrize("value", [
    -0.5, -3, -1e-300, "-0.5", "-1", "+3", "-1e-5", "-.5", "3-4", "a=b", "Aspen", "'x", "", " =1", "Team 07"])
def test_numbers_and_plain_texts_are_written_as_they_are(form, value):
    assert read_back(render([Table([{"k": "x", "a": value}])], form), form)[1] == ["x", str(value)]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_json_guards_nothing(form):
    assert "'" not in render([Table([{"=a": "=1+1"}])], form)


def test_tsv_has_one_line_per_row():
    lines = render([TABLE], "tsv").splitlines()
    assert lines[0].split("\t") == ["system", "score", "rank", "low", "ok"]
    assert [len(line.split("\t")) for line in lines] == [5, 5]
    assert lines[1].split("\t")[1:] == ["0.123456789", "", "", "true"]


@pytest.mark.parametrize("format_", ["table", "md", "tsv"])
def test_control_characters_do_not_get_out(format_):
    written = render([TABLE], format_)
    assert "\x1b" not in written
    assert "\\x1b[31m" in written.replace("\\\\", "\\").replace("\\[", "[")


def test_markdown_escapes_what_means_something():
    line = render([TABLE], "md").splitlines()[4]
    assert line.startswith('| =HYPERLINK("x")\\|\\[red\\]\\*b\\*')
    assert line.endswith("\\<b\\> | 0.123 |")
    assert escape_markdown("$x_1$") == "\\$x\\_1\\$"  # no formula on GitHub


def test_rich_markup_in_names_is_text():
    assert "[red]" in render([TABLE], "table")


def test_nothing_to_show():
    empty = Table([], keys=("a", "b"))
    assert render([empty], "tsv") == "a\tb\n"
    assert json.loads(render([empty], "json")) == []
    assert render([], "json") == "[]\n"


def test_pairs_of_one_team_are_marked_in_every_format():
    board = leaderboard(["oak", "elm", "ash"])
    assert "team" not in render([make_pair_table(board)], "table")
    marked = changed(board, lambda of: {"same_team": (of.a, of.b) == (0, 2)})
    for format_ in ("table", "md", "latex"):
        (line,) = [line for line in render([make_pair_table(marked)], format_).splitlines() if "same" in line]
        assert "oak" in line
        assert "ash" in line
    rows = json.loads(render([make_pair_table(marked)], "json"))
    assert [row["same_team"] for row in rows] == [False, True, False]


def scored(n, systems):
    """A table of `systems` with n scores of ten characters each."""
    names = [f"score {k}" for k in range(n)]
    columns = [Column("rank", "rank", str, right=True), Column("system", "system"),
               *(Column(name, name, make_number_format(8), right=True) for name in names)]
    return Table([{"rank": k, "system": system} | dict.fromkeys(names, 1 / 7) for k, system in enumerate(systems)],
                 columns)


@pytest.mark.parametrize("width", [24, 40, 60, 100])
def test_a_narrow_terminal_cuts_no_number_and_no_name(width):
    """What has no room beside the rest comes below it, with the systems once more."""
    systems = ("oak", "elm", "a-name-that-is-longer-than-the-others")
    lines = render([scored(12, systems)], "table", width=width).splitlines()
    assert all(len(line) <= width for line in lines)
    assert sum(line.count("0.14285714") for line in lines) == 3 * 12
    blocks = sum(line.lstrip().startswith(("rank", "system")) for line in lines)
    assert "".join(lines).count("oak") == blocks
    assert [f"score {k}" in "".join(lines) for k in range(12)] == [True] * 12


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_number_is_broken_wherever_it_stands(width):
    """In columns of numbers without a declared form, in texts, in captions; and nothing is left out."""
    row = {"a long name of a system": "the/name-of-team/and-of-system", "missing": None, "n": 7654321,
           "why": "p=0.000123456 (from 0.8123 to 0.98765), 12,345 items; 3.2e-117", "score": 0.123456789012,
           "x": -0.5, "more": "nothing but words and words and words again"}
    lines = render([Table([row, row | {"n": None}], captions=["so 0.123456 of 0.654321 differ by 0.530865 at 0.05 "
                                                             "after 1,000,000 draws, where 0.999999 are alike"])],
                   "table", width=width).splitlines()
    assert all(len(line) <= width for line in lines)
    for number_, times in (("7654321", 1), ("0.123456789012", 2), ("0.000123456", 2), ("0.8123", 2), ("0.98765", 2),
                           ("12,345", 2), ("3.2e-117", 2), ("-0.5", 2), ("1,000,000", 1), ("0.654321", 1)):
        assert sum(line.count(number_) for line in lines) == times, number_
    words = "".join("".join(lines).split())
    assert all(sum(words.count(part) for part in heading.split()) for heading in row)


def test_colours_add_nothing_but_themselves():
    board = leaderboard(["oak", "elm", "ash"])
    plain, colored = (render([make_pair_table(board)], "table", width=60, color=color) for color in (False, True))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain
    for decision in board.decisions:
        assert decision.row["significant"] == ("\x1b[1;36m" in render(
            [make_pair_table(replace(board, decisions=(decision,)))], "table", color=True))


def test_texts_are_folded_before_a_table_is_parted():
    lines = render([scored(2, ["x" * 50])], "table", width=60).splitlines()
    assert sum("system" in line for line in lines) == 1
    assert "".join(lines).count("x") == 50


def test_tables_of_different_columns_are_one_with_all_of_them():
    """As those of tasks with different metrics, side by side."""
    tables = [Table([{"task": "a", "f1": 0.5}]), Table([{"task": "b", "bleu": 30.0}])]
    assert render(tables, "tsv") == "task\tf1\tbleu\na\t0.5\t\nb\t\t30.0\n"
    assert json.loads(render(tables, "json")) == [{"task": "a", "f1": 0.5, "bleu": None},
                                                 {"task": "b", "f1": None, "bleu": 30.0}]


NAMED = Table([
    {"name": f"{'x' * 30}-{n}", "score": 0.5, "more": "some text", "least": "other text"} for n in range(2)], [
    Column("name", "name", is_name=True), Column("score", "score", right=True),
    Column("more", "more", optional=1), Column("least", "least", optional=2)])


@pytest.mark.parametrize(("width", "headings"), [
    (100, ["name", "score", "more", "least"]), (60, ["name", "score", "more", "least"]),
    (50, ["name", "score", "more"]), (30, ["name", "score"]), (20, ["name", "score"]),
])
def test_a_narrow_terminal_shortens_names_and_leaves_out_columns(width, headings):
    lines = render([NAMED], "table", width=width).splitlines()
    assert lines[1].split() == headings
    assert len(lines[1]) <= width
    assert lines[3].split()[0][:5] == "x" * 5
    assert "…" in lines[3] or width == 100
    assert all(len(line) <= width for line in lines)
    assert lines[3].split()[0].endswith("-0")


def test_names_that_would_become_equal_are_not_shortened():
    rows = [{"name": f"{'x' * 20}{n}{'y' * 20}"} for n in range(2)]
    lines = render([Table(rows, [Column("name", "name", is_name=True)])], "table", width=20)
    assert "…" not in lines
    assert {"0", "1"} <= set(lines)


def test_a_terminal_shows_two_notes():
    table = Table([{"a": 1}], title="t", captions=["result"], notes=["first", "second", "third", "fourth"])
    shown = render([table], "table", width=80).splitlines()
    assert shown[-4:] == ["result", "first", "second", "2 more notes: --notes"]
    assert render([table], "table", width=80, all_notes=True).splitlines()[-2:] == ["third", "fourth"]
    assert render([table], "table").splitlines()[-2:] == ["third", "fourth"]
    assert "fourth" in render([table], "md")
