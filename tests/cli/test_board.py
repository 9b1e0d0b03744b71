"""Leaderboards by every convention of ranks and in every format, from one comparison."""

import json

import pytest

from tests.conftest import ROOT

MANIFEST = ROOT / "sample_data" / "entities" / "task.toml"


@pytest.fixture
def board(registry, scored):
    scored(MANIFEST)
    return lambda *options, **more: registry("board", *options, **more)


def test_two_systems_share_a_letter_just_if_they_do_not_differ(board, registry):
    letters = {row["submission"]: set(row["letters"]) for row in board("--format", "json").json}
    pairs = registry("pairs", "--format", "json").json
    assert len(pairs) == 28
    for pair in pairs:
        assert (not letters[pair["submission_a"]] & letters[pair["submission_b"]]) == pair["significant"]


def test_resampled_ranks_come_with_the_frequency_of_being_first(board):
    rows = board("--ranks", "bootstrap", "--format", "json").json
    assert rows[0]["share_best"] > 0.99
    assert sum(row["share_best"] for row in rows) == pytest.approx(1)
    assert all(row["bootstrap_low"] <= row["rank"] <= row["bootstrap_high"] for row in rows)
    shown = board("--ranks", "bootstrap", "--format", "table").stdout
    assert "resampled" in shown
    assert "100.0 %" in shown


def test_simultaneous_ranks_are_those_of_best(board, registry):
    shown = board("--ranks", "simultaneous", "--format", "json").json
    best = {row["system"]: row for row in registry("best", "--metric", shown[0]["metric"], "--format", "json").json}
    assert {row["rank"] for row in shown} != {None}
    for row in shown:
        assert (row["simultaneous_low"], row["simultaneous_high"]) == tuple(
            best[row["system"]][end] for end in ("rank_low", "rank_high"))
    assert "simultaneous" in board("--ranks", "simultaneous", "--format", "table").stdout


def test_a_task_declares_its_ranks(task, registry):
    task.extra = "[board]\nranks = 'neighbour'"
    assert "neighbours" in registry("run", task.write(), "--format", "table").stdout


def test_latex_and_markdown_print_the_same_figures_in_the_same_order(board):
    scores = [f"{row['score']:.4f}" for row in json.loads(board("--format", "json").stdout)]
    markdown = [line.split(" | ") for line in board("--format", "md").stdout.splitlines() if line.startswith("| ")]
    latex = [line.split(" & ") for line in board("--format", "latex").stdout.splitlines() if line.endswith(r" \\")]
    assert [row[markdown[0].index("score")] for row in markdown[2:]] == scores  # below the heading and its rule
    shown = latex[0].index(r"span\_f1")
    assert [row[shown].replace(r"\textbf{", "")[:6] for row in latex[1:]] == scores


def test_methods_are_a_paragraph_with_references_in_four_formats(board, registry):
    text = board("--methods").stdout
    title, paragraph, results, heading, works = text.split("\n\n")
    assert (title, heading) == ("entities/test: span_f1 = F1", "References")
    assert paragraph.startswith("The 8 systems are scored by F1 (van Rijsbergen 1979) on the 600 items in 40 clusters")
    assert "\nAlexander Yeh. 2000. More accurate tests" in works
    assert board("--methods", "--format", "table").stdout == text
    (row,) = board("--methods", "--format", "json").json
    assert (row["task"], row["metric"], row["text"]) == ("entities", "span_f1", paragraph)
    assert results == row["results"]
    assert results.startswith("On 600 items in 40 clusters, aspen-xl has the best score of 8 systems: 0.9592 (F1).")
    assert [f"{work['text']} {work['link']}".strip() for work in row["references"]] == works.splitlines()
    latex = board("--methods", "--format", "latex").stdout
    assert all("% " + line in latex for work in row["references"] for line in work["bibtex"].splitlines())
    markdown = board("--methods", "--format", "md").stdout
    assert markdown.count("\n- ") == len(row["references"])
    assert "has the formats table, md, latex, bibtex and json, not csv" in board(
        "--methods", "--format", "csv", exit_code=3).stderr
    keys = [line.partition("{")[2].rstrip(",") for line in board(
        "--methods", "--format", "bibtex").stdout.splitlines() if line.startswith("@")]
    assert keys == [work["key"] for work in row["references"]]
    assert "add --methods" in board("--format", "bibtex", exit_code=3).stderr
    assert "leave out --wide" in board("--methods", "--wide", exit_code=3).stderr
    assert "over all pairs in 1,000 bootstrap resamples (seed " in board("--methods", "--ranks", "simultaneous").stdout
    signature = registry("board", "--format", "json").json[0]["signature"]
    assert board("--methods", "--at", signature).stdout == text


@pytest.fixture
def tied(task):
    """Of 60 items best has 58 right, one and two 40 each, and worst 6; the baseline, which is not ranked, has 50."""
    task.documents, task.gold = {}, {f"i{n:02}": "x" for n in range(60)}
    right = {"best": range(58), "one": range(40), "two": range(20, 60), "worst": range(6), "base": range(50)}
    task.systems = {name: {k: "x" if n in of else "y" for n, k in enumerate(task.gold)} for name, of in right.items()}
    task.extra = ("[board]\nrank_baselines = false\n"
                  "[[submit]]\nfile = 'systems/base.tsv'\nsystem = 'base'\nkind = 'baseline'\n")
    return task.write()


def test_ties_and_systems_without_a_rank_are_told_as_the_table_shows_them(tied, registry):
    shown = registry("run", tied, "--format", "md").stdout
    ranks = [line.split(" | ")[0].strip("| ") for line in shown.splitlines() if line.startswith("| ")]
    assert ranks == ["rank", "---:", "1", "-", "2", "2", "4"]
    assert "8 of 10 differences are significant" in shown
    assert "best is significantly better than all other ranked systems." in shown


def test_titles_say_what_is_averaged_and_names_leave_out_the_only_version(task, registry, scored):
    """Two teams have a system a; b comes in its second version."""
    task.extra = ('[[metric]]\nid = "macro_f1"\nname = "LabelF"\n[[metric]]\nid = "mean"\nname = "LabelR"\n'
                  "[[submit]]\nfile = 'systems/c.tsv'\nteam = 'other'\nsystem = 'a'\n")
    scored(task)
    again = task.folder / "systems" / "a.tsv"
    registry("submit", "small", again, "--system", "b", "--team", "b", "--version", "2")
    registry("score", "small")
    registry("compare", "small")
    shown = registry("board", "--format", "md").stdout
    titles = [line.strip("*") for line in shown.splitlines() if line.startswith("**")]
    assert titles == [r"small/test: acc = accuracy", "small/test: macro-F1", "small/test: mean = macro-recall"]
    rows = [line.split(" | ") for line in shown.splitlines() if line.startswith("| ")]
    named = {row[rows[0].index("system")] for row in rows}
    assert {"a/a", "other/a", "b@2"} <= named


def test_late_submissions_are_marked(task, registry):
    task.extra = "[[submit]]\nfile = 'systems/a.tsv'\nsystem = 'again'\nlate = true"
    shown = registry("run", task.write(), "--format", "table").stdout
    assert "again*" in shown
    assert "* came late." in shown


def test_a_board_is_best_first_whatever_other_tasks_there_are(board, registry, task):
    manifest = task.write()
    declared = manifest.read_text()
    for n in range(8):
        manifest.write_text(declared.replace('"small"', f'"other-{n}"'))
        registry("run", manifest)
        if n % 2:
            assert [row["rank"] for row in board("entities", "--format", "json").json] == list(range(1, 9))
