"""`verify` makes every number in a release again, or names what is wrong.

Several alterations are made in one release here. `python -m tests.releases.test_altered` makes each alone.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import duckdb
import pytest

from registry.releases import writing
from tests.releases.released import faults, made, release


def rewritten(table, select):
    """Write a table of a release anew, as the SELECT over `it` has it."""
    def alter(folder):
        path = folder / "data" / f"{table}.parquet"
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE it AS FROM '{path}'")
            connection.execute(f"COPY ({select}) TO '{path}'")
    return alter


def submitted(folder):
    """The first of the submitted files."""
    return min((folder / "submitted").iterdir())


def replaced(name, old, new):
    def alter(folder):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))
    return alter


def rows_of_boards(folder, change):
    path = folder / "boards/boards.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


ALTERED = {  # what is altered, with checksums made anew, and of what kind of thing `verify` says so
    "a statistic": (rewritten("statistics_ratio", "SELECT * REPLACE (if(item = 'i05', 1 - numerator, numerator) AS "
                                                  "numerator) FROM it"), "statistics"),
    "a label": (rewritten("statistics_confusion", "SELECT * REPLACE (if(item = 'i05', 'b', predicted) AS predicted) "
                                                  "FROM it"), "statistics"),
    "an item": (rewritten("items", "SELECT * REPLACE (replace(item, 'i05', 'i99') AS item) FROM it"), "statistics"),
    "a cluster": (rewritten("item_attributes", "SELECT * REPLACE (if(item = 'i05', 'd0', value) AS value) FROM it"),
                  "pair"),
    "a score": (rewritten("scores", "SELECT * REPLACE (score / 2 AS score) FROM it"), "score"),
    "the score of a run": (rewritten("run_scores", "SELECT * REPLACE (score / 2 AS score) FROM it"), "score"),
    "a p-value": (rewritten("pairs", "SELECT * REPLACE (p_value / 2 AS p_value) FROM it"), "pair"),
    "a decision": (rewritten("pairs", "SELECT * REPLACE (NOT is_significant AS is_significant) FROM it"), "pair"),
    "a pair that is gone": (rewritten("pairs", "FROM it WHERE position <> 3"), "pair"),
    "a rank": (rewritten("standings", "SELECT * REPLACE (rank + 1 AS rank) FROM it"), "standing"),
    "a test of all systems": (rewritten("overall", "SELECT * REPLACE (p_value / 2 AS p_value) FROM it"),
                              "overall result"),
    "what was asked": (rewritten("boards", "SELECT * REPLACE (replace(request, '\"seed\":3', '\"seed\":4') AS request) "
                                           "FROM it"), "comparison"),
    "a kind": (rewritten("standings", "SELECT * REPLACE ('baseline' AS kind) FROM it"), "comparison"),
    "a board": (replaced("boards/boards.json", '"rank": 1', '"rank": 2'), "board"),
    "a row of it without its keys": (lambda folder: rows_of_boards(folder, lambda rows: [{}, *rows[1:]]), "board"),
    "a board that is no list": (lambda folder: rows_of_boards(folder, len), "board"),
    "a column of another form": (replaced("boards/boards.tsv", "\tscore\t", "\tscore2\t"), "board"),
    "the page": (replaced("page.html", "<title>", "<title>Other "), "description"),
    "the README": (replaced("README.md", "Leaderboards", "Other boards"), "description"),
    "Croissant": (replaced("croissant.json", "Leaderboards", "Other boards"), "description"),
    "Croissant Tasks": (replaced("croissant-tasks.json", "#solution-1", "#solution-2"), "description"),
    "whom to cite": (replaced("CITATION.cff", "Ann Example", "Nan Example"), "description"),
    "RO-Crate": (replaced("ro-crate-metadata.json", "Leaderboards", "Other boards"), "description"),
    "which task it is": (replaced("release.json", '"small"', '"other"'), "release"),
    "another form of it": (replaced("boards/boards.tsv", "\tann\t", "\tann2\t"), "board"),
    "a signature": (replaced("boards/signatures.txt", "small", "other"), "board"),
    "a submitted file": (lambda folder: submitted(folder).write_text("i00\tb\n"), "file"),
    "a submitted file that is gone": (lambda folder: submitted(folder).unlink(), "file"),
    "one file more": (lambda folder: (folder / "submitted" / "other.tsv").write_text("i00\tb\n"), "file"),
    "whose a file is": (rewritten("submitted_files", "FROM it WHERE run = 0 AND submission NOT LIKE 'ann%'"),
                        "submission"),
    "no table": (lambda folder: (folder / "data" / "boards.parquet").unlink(), "release"),
    "a manifest": (replaced("manifest.toml", "alpha", "alfa"), "release"),
}


OF_HELD = {
    "a total": (rewritten("totals", "SELECT * REPLACE (total - 1 AS total) FROM it"), "score"),
    "a score": (rewritten("scores", "SELECT * REPLACE (score / 2 AS score) FROM it"), "score"),
    "an adjusted p-value": (rewritten("pairs", "SELECT * REPLACE (p_adjusted / 2 AS p_adjusted) FROM it"), "pair"),
    "a decision": (rewritten("pairs", "SELECT * REPLACE (NOT is_significant AS is_significant) FROM it"), "pair"),
    "a rank": (rewritten("standings", "SELECT * REPLACE (rank_high + 1 AS rank_high) FROM it"), "standing"),
    "totals that are gone": (lambda folder: (folder / "data" / "totals.parquet").unlink(), "totals"),
    "wins": (rewritten("standings", "SELECT * REPLACE (wins + 1 AS wins) FROM it"), "standing"),
}


def found(release, alterations, to):
    """The kinds of things that `verify` finds wrong with an altered copy of a release, checksums made anew."""
    shutil.copytree(release, to)
    for alter, _ in alterations:
        alter(to)
    writing.write_checksums(to)
    return {fault.of for fault in faults(to)}


TOGETHER = (
    ("whole", ["a statistic", "a test of all systems", "the score of a run", "a rank", "a p-value", "a board",
               "one file more", "whose a file is"]),
    ("held", ["a row of it without its keys"]),
    ("held", ["a column of another form"]),
    ("held", ["totals that are gone", "an adjusted p-value", "wins"]),
)


@pytest.mark.parametrize(("release", "names"), TOGETHER)
def test_what_is_altered_is_found_also_where_checksums_are_made_anew(release, names, request, tmp_path):
    known = ALTERED if release == "whole" else ALTERED | OF_HELD
    altered = [known[name] for name in names]
    assert {of for _, of in altered} <= found(request.getfixturevalue(release), altered, tmp_path / "altered")


def test_the_name_of_the_folder_is_no_pattern(held, tmp_path):
    """A release in `a[1]` is not the one in `a1` beside it, and `total=9` is no column."""
    shutil.copytree(held, tmp_path / "a1")
    assert "score" in found(held, [OF_HELD["a total"]], tmp_path / "a[1]")
    assert faults(shutil.copytree(held, tmp_path / "total=9")) == []


def test_checksums_name_every_file_that_is_not_as_it_was(whole, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "small")
    (folder / "README.md").write_text("other")
    (folder / "page.html").unlink()
    (folder / "more.txt").write_text("more")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "data" / "x\" AS SELECT 1; DROP TABLE task; --.parquet").write_text("not SQL")
    assert {(fault.kind, fault.name) for fault in faults(folder)} == {
        ("altered", "README.md"), ("missing", "page.html"), ("surplus", "more.txt"), ("surplus", "link"),
        ("surplus", "data/x\" AS SELECT 1; DROP TABLE task; --.parquet")}


def test_descriptions_that_do_not_follow_are_named_and_no_pipe_is_waited_for(held, tmp_path):
    folder = shutil.copytree(held, tmp_path / "small")
    for name in ("the page", "the README", "Croissant", "Croissant Tasks", "whom to cite", "RO-Crate",
                 "which task it is"):
        ALTERED[name][0](folder)
    writing.write_checksums(folder)
    assert {(fault.kind, fault.name) for fault in faults(folder)} == {("altered", name) for name in (
        "page.html", "README.md", "croissant.json", "croissant-tasks.json", "CITATION.cff", "ro-crate-metadata.json",
        "release.json")}
    with (folder / writing.CHECKSUMS).open("a") as sums:
        sums.write(f"{'0' * 64}  /etc/passwd\n")
    os.mkfifo(folder / "pipe")
    assert [(fault.kind, fault.name) for fault in faults(folder)][:2] == [
        ("damaged", writing.CHECKSUMS), ("surplus", "pipe")]


@pytest.mark.parametrize(("name", "content", "said"), [
    ("release.json", "[" * 200_000, "this folder is not a release: its brackets are nested too deeply"),
    ("data/pairs.parquet", "no Parquet", "data/pairs.parquet: damaged, or not a Parquet file"),
])
def test_a_broken_file_is_named_in_words_of_the_registry(name, content, said, held, tmp_path):
    folder = shutil.copytree(held, tmp_path / "small")
    (folder / name).write_text(content)
    told = [fault.message for fault in faults(folder) if fault.kind == "damaged"]
    assert len(told) == 1
    assert said in told[0]
    assert "Exception" not in told[0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for held_back, known in ((False, ALTERED), (True, OF_HELD)):
            base = Path(folder) / ("held" if held_back else "whole")
            base.with_suffix(".of").mkdir()
            release(made(base.with_suffix(".of"), gold=not held_back), base, sources=not held_back)
            for name, alteration in known.items():
                kinds = found(base, [alteration], Path(folder) / f"{base.name} {name}")
                print(f"{base.name}: {name}: {'found' if alteration[1] in kinds else 'NOT FOUND'}: "
                      f"{', '.join(sorted(kinds))}", flush=True)
