"""Files that are the runs of one submission."""

import re

import pytest

from tests.evaluation.stored import query


@pytest.fixture
def seeded(task):
    """System r in three runs: all of a's answers, b's, and the gold's own; a stands beside it with one."""
    task.runs = {"r": {"seed1": task.systems["a"], "seed10": task.systems["b"], "seed2": task.gold}}
    task.systems = {"a": task.systems["a"]}
    return task


def test_files_that_differ_only_in_run_are_the_runs_of_one_submission(seeded, registry, tmp_path):
    """In the natural order of their names; each with its own responses, statistics and score."""
    assert "2 added" in registry("run", seeded.write()).stderr
    kept = query(registry, "SELECT replicate, source.name FROM submission_source AS source "
                           "JOIN ranked_submission USING (submission_id) WHERE system = 'r' ORDER BY replicate")
    assert [row["name"].rpartition("/")[2] for row in kept] == ["r.seed1.tsv", "r.seed2.tsv", "r.seed10.tsv"]
    right = "SELECT replicate, {} AS n FROM {} WHERE system = 'r' GROUP BY replicate ORDER BY replicate"
    expected = [{"replicate": n, "n": k} for n, k in enumerate((5, 6, 3))]
    assert query(registry, right.format("count_if(correct)", "item_response")) == expected
    assert query(registry, right.format(
        "sum(numerator)", "statistics_ratio JOIN ranked_submission USING (scoring_id)")) == expected
    assert query(registry, right.format(
        "round(6 * any_value(value))", "replicate_score JOIN ranked_submission USING (scoring_id)")) == expected
    before = (tmp_path / "registry.duckdb").read_bytes()
    assert "nothing changed" in registry("run", seeded.manifest).stderr
    assert (tmp_path / "registry.duckdb").read_bytes() == before


def test_submit_takes_runs_and_they_are_the_same_submission(seeded, registry, scored):
    scored(seeded)
    files = [seeded.folder / "runs" / f"r.seed{n}.tsv" for n in (10, 2, 1)]
    assert "nothing changed" in registry("submit", "small", *files, "--system", "r").stderr
    registry("submit", "small", *files, "--system", "s")
    digests = query(registry, "SELECT DISTINCT digest FROM submission JOIN system USING (system_id) "
                              "WHERE system.name IN ('r', 's')")
    assert len(digests) == 1
    told = registry("submit", "small", files[0], files[0], "--system", "twice").stderr
    assert "has the same bytes as" in told


def test_one_run_is_a_submission_like_any_other(task, registry, scored):
    task.runs = {"r": {"only": task.systems["a"]}}
    scored(task)
    assert query(registry, "SELECT count(DISTINCT digest) AS n FROM submission") == [{"n": 2}]  # r's is a's, c's is b's
    assert query(registry, "SELECT count(DISTINCT digest) AS n FROM score") == [{"n": 2}]


def test_one_more_run_is_other_content(seeded, registry, scored):
    scored(seeded)
    seeded.runs["r"]["seed3"] = seeded.systems["a"] | {"i5": "maybe"}
    refused = registry("run", seeded.write(), exit_code=3).stderr
    assert "r.seed3.tsv: small/test/r/r@1 is already stored with different answers (3 runs stored, 4 " in refused
    assert "to store these runs, set another version" in refused


def test_an_error_in_a_run_names_its_file(seeded, registry):
    seeded.runs["r"]["seed2"] = {k: v for k, v in seeded.gold.items() if k != "i3"}
    assert "r.seed2.tsv: item 'i3': it has no answer" in registry("run", seeded.write(), exit_code=3).stderr
    assert "r.seed2.tsv: item 'i3'" in registry("check", seeded.manifest, exit_code=3).stderr
    assert "seed10" not in registry("check", seeded.manifest, exit_code=3).stderr


def test_two_patterns_of_the_same_files_are_refused(seeded, registry):
    seeded.extra = '[[submit]]\nfile = "runs/{system}.seed{run}.tsv"\n'
    refused = registry("run", seeded.write(), exit_code=3).stderr
    assert re.search(r"files, such as runs/\S+, match two patterns: 'runs/\S+' \(r/r@1\) and 'runs/\S+' \(r/r@1\); "
                     r"remove one of the two \[\[submit\]\]\n", refused)


def test_the_line_for_files_of_two_patterns_can_be_pasted(seeded, registry):
    """It excludes the runs from the wider pattern, which keeps its other files."""
    seeded.write()
    (seeded.folder / "runs" / "b.tsv").write_text("".join(f"{item}\tno\n" for item in seeded.gold))
    seeded.extra = '[[submit]]\nfile = "runs/{system}.tsv"\n'
    refused = registry("run", seeded.write(), exit_code=3).stderr
    assert len(re.findall("^error", refused, re.MULTILINE)) == 1
    assert ("submit[2]: 3 files, such as runs/r.seed1.tsv, match two patterns: 'runs/{system}.{run}.tsv' (r/r@1) and "
            "'runs/{system}.tsv' (r.seed1/r.seed1@1); in the [[submit]] of 'runs/{system}.tsv', add the line "
            ) in refused
    seeded.extra += refused.strip().rpartition("add the line ")[2] + "\n"
    registry("run", seeded.write())
    assert {row["system"] for row in registry("board", "--format", "json").json} == {"a", "b", "r"}


@pytest.mark.parametrize(("policy", "score"), [("worst", (5 + 5 + 3) / 18), ("drop", (4 + 5 + 2) / 15)])
def test_an_item_that_one_run_lacks(seeded, registry, policy, score):
    """It is i0, which all runs that answer it get right: wrong in that run, or left out for all runs and systems."""
    seeded.runs["r"]["seed2"] = {k: v for k, v in seeded.gold.items() if k != "i0"}
    seeded.submission = {"missing": policy}
    assert "r.seed2.tsv: 1 of 6 items has no answer" in registry("run", seeded.write()).stderr
    found = {row["system"]: row["score"] for row in registry("board", "--format", "json").json}
    assert found == {"r": pytest.approx(score), "a": 5 / 6 if policy == "worst" else 4 / 5}


def test_runs_are_aligned_with_new_gold(seeded, registry, scored):
    scored(seeded)
    files = [seeded.folder / "runs" / f"r.seed{n}.tsv" for n in (1, 2, 10)]
    registry("submit", "small", *files, "--system", "s")
    seeded.gold["i0"], seeded.version = "yes", "2"
    seeded.runs["r"]["seed2"] = seeded.gold | {"i0": "no"}
    assert "scores: 3 computed" in registry("run", seeded.write()).stderr
    found = {row["system"]: row["score"] for row in registry("board", "--format", "json").json}
    assert found["r"] == found["s"] == pytest.approx((4 + 5 + 2) / 18)
