"""The sample data: what its scripts write, and the stories that they tell."""

import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

SAMPLES = ROOT / "sample_data"


@pytest.mark.parametrize(("name", "files"), [("stance", 7), ("entities", 9), ("translation", 7)])
def test_the_script_writes_what_is_there(tmp_path, name, files):
    shutil.copy(SAMPLES / name / "make.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True)
    written = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.*") if p.suffix != ".py"}
    there = {p.relative_to(SAMPLES / name): p.read_bytes() for p in (SAMPLES / name).rglob("*.*")
             if p.suffix in (".tsv", ".conll", ".txt")}
    assert written == there
    assert len(written) == files


def test_entities_a_winner_a_cluster_that_cannot_be_told_apart_and_two_nearly_the_same(registry):
    board = registry("run", SAMPLES / "entities" / "task.toml", "--format", "json").json
    clusters = {n: [r["system"] for r in board if r["cluster"] == n] for n in (1, 2, 3)}
    assert (clusters[1], len(clusters[2]), clusters[3]) == (["aspen-xl"], 4, ["dogwood-a", "dogwood-b"])
    assert len({r["team"] for r in board}) == 4
    assert {(r["method"], r["n_units"]) for r in registry("pairs", "--format", "json").json} == {("exact", 40)}


def test_translation_has_intervals_and_a_tie_in_the_middle(registry):
    board = registry("run", SAMPLES / "translation" / "task.toml", "--format", "json").json
    assert [(r["rank_low"], r["rank_high"]) for r in board] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert all(r["ci_low"] < r["score"] < r["ci_high"] for r in board)


def test_one_clear_winner_and_one_near_duplicate_pair(registry):
    board = registry("run", SAMPLES / "stance" / "task.toml", "--format", "json").json
    assert [row["system"] for row in board if row["cluster"] == 1] == ["aspen-large"]
    assert len({row["team"] for row in board}) == 3
    twins = [r for r in registry("pairs", "--format", "json").json if {r["system_a"], r["system_b"]} == {
        "cedar-1", "cedar-2"}]
    assert twins[0]["p_value"] > 0.5
    assert twins[0]["n_units"] == 40
    assert "n:400/40c" in twins[0]["signature"]
