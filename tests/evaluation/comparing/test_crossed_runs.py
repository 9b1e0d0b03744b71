"""Runs that differ by prompts: from the pattern of a manifest to tests, studies and what is refused."""

import math
import random

import duckdb
import numpy as np
import pytest
from scipy import stats

from tests.evaluation.comparing.compared import pairs


@pytest.fixture
def prompted(task):
    """Two systems of three runs with each of two prompts, on 30 items; prompts and runs matter."""
    rng = random.Random(3)
    task.gold = {f"i{n:02}": "yes" for n in range(30)}
    task.documents, task.systems = {}, {}
    skill = {("a", "terse"): 0.9, ("a", "wordy"): 0.8, ("b", "terse"): 0.6, ("b", "wordy"): 0.2}
    task.runs = {system: {f"{prompt}.{run}": {i: "yes" if rng.random() < skill[system, prompt] + run / 20 else "no"
                                              for i in task.gold} for prompt in ("terse", "wordy") for run in range(3)}
                 for system in "ab"}
    task.significance = {"runs": "random", "test": "crossed", "seed": 1}
    return task


def patterned(task, pattern="runs/{system}.{prompt}.{run}.tsv"):
    manifest = task.write()
    manifest.write_text(manifest.read_text().replace("runs/{system}.{run}.tsv", pattern))
    return manifest


def test_prompts_cross_the_systems_and_runs_are_their_own(prompted, registry):
    manifest = patterned(prompted)
    told = registry("run", manifest).stderr
    assert "because two runs (or prompts, annotators, seeds) leave one degree of freedom; use three or more" in told
    kept = registry("query", "SELECT * FROM replicate_factor ORDER BY ALL LIMIT 2", "--format", "json").json
    assert [(r["replicate"], r["factor"], r["level"]) for r in kept] == [(0, "prompt", "terse"), (0, "run", "0")]
    a, b = (np.array([[[of[f"{prompt}.{run}"][i] == "yes" for prompt in ("terse", "wordy")] for run in range(3)]
                      for i in prompted.gold], dtype=float) for of in prompted.runs.values())
    (row,) = registry("study", "variance", "small", "--format", "json").json
    of_prompts = (a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))).var(ddof=1) / 2
    of_runs = sum(x.mean(axis=(0, 2)).var(ddof=1) / 3 for x in (a, b))
    assert row["error_prompts"] == pytest.approx(of_prompts**0.5)
    assert row["error_runs"] == pytest.approx(of_runs**0.5)
    assert row["error_all"]**2 > of_prompts + of_runs
    (all_,) = pairs()
    assert all_["p_value"] == pytest.approx(row["p_all"])
    assert row["p_prompts"] > 0.05 > row["p_items"]  # of two prompts hardly anything can be said, of 30 items much
    sources = registry("study", "variance", "small", "--show", "sources", "--format", "json").json
    assert [(r["source"], r["of"]) for r in sources][:5] == [
        ("items", ""), ("runs", "a"), ("runs", "b"), ("prompts", ""), ("items x runs", "a")]
    more = {r["more"]: r for r in registry("study", "variance", "small", "--show", "more", "--format", "json").json}
    assert more["prompts"]["error_twice"] == pytest.approx(math.sqrt(sum(
        r["squared_error"] / (2 if "prompts" in r["source"] else 1) for r in sources)))
    assert "nothing changed" in registry("run", manifest).stderr


def test_prompts_are_verified_released_and_purged(prompted, registry):
    """Where one system's prompts change places, it is compared with the other one in other pairs."""
    registry("run", patterned(prompted))
    registry("release", "small", "-o", "released")
    registry("verify", "released")
    with duckdb.connect("registry.duckdb") as there:
        there.execute("UPDATE replicate_factor SET level = if(level = 'terse', 'wordy', 'terse') "
                      "WHERE factor = 'prompt' AND submission_id = 1")
    assert "pair" in registry("verify", exit_code=4).stdout
    registry("purge", "small", "b", "--reason", "asked")
    left = registry("query", "SELECT DISTINCT submission_id FROM replicate_factor", "--format", "json").json
    assert len(left) == 1


def test_what_is_not_crossed_is_refused(prompted, registry):
    manifest = patterned(prompted)
    registry("run", manifest)
    refused = registry("compare", "--test", "permutation", exit_code=3).stderr
    assert "prompts, annotators or shared seeds distinguish the runs" in refused
    assert "use --test crossed" in refused
    assert "do not differ in the factor 'annotators'" in registry("compare", "--test", "crossed(over=annotators)",
                                                     exit_code=3).stderr
    patterned(prompted, "runs/{system}.{annotator}.{run}.tsv")
    assert "its stored runs have other prompts or annotators" in registry("run", manifest, exit_code=3).stderr
    (prompted.folder / "runs" / "b.wordy.2.tsv").unlink()
    patterned(prompted)
    (prompted.folder / "runs" / "b.wordy.2.tsv").unlink()
    refused = registry("run", manifest, "--db", "other.duckdb", exit_code=3).stderr
    assert "1 system lacks some combination of run and prompt" in refused


def test_levels_of_anonymous_submissions_are_numbers(prompted, registry):
    prompted.extra = "[board]\nanonymous = true\n"
    registry("run", patterned(prompted))
    levels = registry("query", "SELECT DISTINCT factor, level FROM replicate_factor ORDER BY ALL", "--format", "json",
                      "--public")
    assert [(r["factor"], r["level"]) for r in levels.json] == [
        ("prompt", "level 1"), ("prompt", "level 2"), ("run", "level 1"), ("run", "level 2"), ("run", "level 3")]
    (row,) = registry("study", "variance", "small", "--format", "json", "--public").json
    assert row["system_a"].startswith("System")


def test_seeds_that_systems_share_are_compared_within_each(prompted, registry):
    """As a paired t-test of the seeds' differences, by hand; runs of the same files are each system's own."""
    prompted.runs = {system: {name.removeprefix("terse."): labels for name, labels in of.items() if "terse" in name}
                     for system, of in prompted.runs.items()}
    registry("run", patterned(prompted, "runs/{system}.{seed}.tsv"))
    a, b = (np.array([[labels[i] == "yes" for i in prompted.gold] for labels in of.values()], dtype=float)
            for of in prompted.runs.values())
    board = registry("compare", "--test", "crossed(over=seeds)", "--format", "table").stdout
    assert "crossed(over=seeds) over seeds." in " ".join(board.split())
    assert "hold for other seeds, with these items and runs" in " ".join(board.split())
    (found,) = pairs()
    assert found["p_value"] == pytest.approx(stats.ttest_rel(a.mean(axis=1), b.mean(axis=1)).pvalue, rel=1e-9)
    registry("run", patterned(prompted, "runs/{system}.{run}.tsv"), "--db", "own.duckdb")
    (sources, own) = (registry("study", "variance", "small", "--show", "sources", "--db", db, "--format", "json").json
                      for db in ("registry.duckdb", "own.duckdb"))
    assert [(r["source"], r["of"]) for r in sources] == [("items", ""), ("seeds", ""), ("items x seeds", "")]
    assert [(r["source"], r["of"]) for r in own][:3] == [("items", ""), ("runs", "a"), ("runs", "b")]
    manifest = patterned(prompted, "runs/{system}.{seed}.tsv")
    (prompted.folder / "runs" / "b.2.tsv").rename(prompted.folder / "runs" / "b.3.tsv")
    refused = registry("run", manifest, "--db", "other.duckdb", exit_code=3).stderr
    assert "write {run} instead of {seed} in the pattern" in refused
