"""A task that is made to be planned with: real items, drawn systems, and the registry runs it."""

import errno
import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT

SYSTEMS = ("--system", "ours=0.9", "--system", "theirs=0.75")


@pytest.fixture
def stance(scored):
    scored(ROOT / "sample_data" / "stance" / "task.toml")


def outputs(path):
    return {row["item"]: row for row in map(json.loads, path.read_text().splitlines())}


def test_a_real_task_with_drawn_systems(stance, registry, tmp_path):
    made = registry("study", "synthesize", "stance", *SYSTEMS, "--correlation", "0.3", "--to", "plan", "--seed", "5",
                    "--format", "json").json
    gold = outputs(tmp_path / "plan" / "gold.jsonl")
    labels = {row["label"] for row in gold.values()}
    assert len(gold) == 400
    assert labels == {"against", "favour", "none"}
    for n, (row, rate) in enumerate(zip(made, (0.9, 0.75), strict=True), 1):
        said = outputs(tmp_path / "plan" / "systems" / f"{n}.jsonl")
        assert said.keys() == gold.keys()
        assert {one["label"] for one in said.values()} == labels
        accuracy = sum(said[item]["label"] == one["label"] for item, one in gold.items()) / 400
        assert row == {"system": ("ours", "theirs")[n - 1], "rate": rate, "accuracy": accuracy}
        assert accuracy == pytest.approx(rate, abs=4 * (rate * (1 - rate) / 400) ** 0.5)
    registry("run", "plan/task.toml")
    board = registry("board", "stance-synthesized", "--format", "json").json
    assert [row["system"] for row in board] == ["ours", "theirs"]
    assert [row["score"] for row in board] == [row["accuracy"] for row in made]
    registry("compare", "stance-synthesized", "--unit", "cluster")
    clusters = registry("pairs", "stance-synthesized", "--format", "json").json
    assert 1 < clusters[0]["n_units"] < 400  # documents come along


def test_items_are_hard_where_they_were(stance, registry, tmp_path):
    """What most real systems got wrong, drawn ones get wrong more often."""
    registry("study", "synthesize", "stance", *SYSTEMS, "--to", "plan")
    registry("run", "plan/task.toml")
    shares = registry("query", """
        WITH hits AS (SELECT task, item, avg(correct::INT) AS share FROM item_response GROUP BY ALL)
        SELECT corr(a.share, b.share) AS r FROM hits a JOIN hits b USING (item)
        WHERE a.task = 'stance' AND b.task = 'stance-synthesized'""", "--format", "json").json
    assert shares[0]["r"] > 0.3


def test_more_items_than_there_are(stance, registry, tmp_path):
    registry("study", "synthesize", "stance", *SYSTEMS, "--items", "1000", "--to", "plan", "--task", "larger")
    gold = outputs(tmp_path / "plan" / "gold.jsonl")
    assert len(gold) == 1000
    assert sum("#2" in item for item in gold) > 100
    assert len(registry("run", "plan/task.toml", "--format", "json").json) == 2


def test_pairs_that_are_otherwise_correlated(stance, registry, tmp_path):
    """Two variants of one system and another, within four standard errors of 4000 items."""
    systems = ("--system", "ours=0.8", "--system", "ours, larger=0.82", "--system", "theirs=0.77")
    registry("study", "synthesize", "stance", *systems, "--correlation", "0.3", "--pair", "ours, larger, ours=0.85",
             "--items", "4000", "--to", "plan")
    gold, *said = [outputs(path) for path in (tmp_path / "plan" / "gold.jsonl",
                                              *sorted((tmp_path / "plan" / "systems").iterdir()))]
    right = [[one[item]["label"] == gold[item]["label"] for item in gold] for one in said]
    found = np.corrcoef(right)[np.triu_indices(3, 1)]
    assert found == pytest.approx([0.85, 0.3, 0.3], abs=4 / 4000**0.5)
    assert "correlation 0.3, ours, larger with ours 0.85, seed" in (tmp_path / "plan" / "task.toml").read_text()


def test_scores_that_are_not_right_or_wrong_become_so(registry, scored, tmp_path):
    scored(ROOT / "sample_data" / "translation" / "task.toml")
    registry("study", "synthesize", "translation", *SYSTEMS, "--to", "plan", "--dry-run")
    assert not (tmp_path / "plan").exists()
    registry("study", "synthesize", "translation", *SYSTEMS, "--to", "plan")
    assert {row["label"] for row in outputs(tmp_path / "plan" / "gold.jsonl").values()} == {"right"}
    assert {row["label"] for row in outputs(tmp_path / "plan" / "systems" / "2.jsonl").values()} == {"right", "wrong"}


def test_items_without_a_score_are_neither_easy_nor_hard(registry, scored, tmp_path):
    """F1 is undefined in sentences that have no entities and get none; drawn systems are right in most of them."""
    scored(ROOT / "sample_data" / "entities" / "task.toml")
    registry("study", "synthesize", "entities", *SYSTEMS, "--metric", "span_f1", "--items", "4000", "--to", "plan")
    scores = registry("query", "SELECT item, bool_and(score IS NULL) AS undefined FROM item_score "
                      "WHERE metric = 'span_f1' GROUP BY item", "--format", "json").json
    undefined = {row["item"] for row in scores if row["undefined"]}
    said = outputs(tmp_path / "plan" / "systems" / "2.jsonl")
    right = [row["label"] == "right" for item, row in said.items() if item.partition("#")[0] in undefined]
    assert len(right) > 100
    assert np.mean(right) > 0.7


@pytest.mark.parametrize(("asked", "said"), [
    ((), "NAME=RATE"), (("--system", "a=high"), "NAME=RATE"), (("--system", "a=1"), "above 0 and below 1"),
    ((*SYSTEMS, "--correlation", "0.95"), "have a correlation between"), ((*SYSTEMS, "--items", "1"), "expected 2 to"),
    (("--system", "a/b=0.5"), "invisible characters from the name"), ((*SYSTEMS, "--pair", "ours=0.2"), "--pair A,B"),
    ((*SYSTEMS, "--pair", "ours,theirs=much"), "--pair A,B=0.8"),
    ((*SYSTEMS, "--pair", "ours,them=0.2"), "system 'them'"),
    ((*SYSTEMS, "--pair", "ours,ours=0.2"), "or is one system"),
    ((*SYSTEMS, "--pair", "ours,theirs=0.2", "--pair", "theirs,ours=0.2"), "named twice"),
    ((*SYSTEMS, "--pair", "ours,theirs=0.95"), "have a correlation between"),
    ((*SYSTEMS, "--system", "third=0.8", "--pair", "ours,theirs=-0.15", "--correlation", "0.5"),
     "cannot have these correlations together"),
    ((*SYSTEMS, "--seed", "-1"), "the seed is -1"),
    ((*SYSTEMS, "--items", str(10**20)), "expected 2 to 10000000"),
    ((*SYSTEMS, "--task", "../x"), "--task '../x' is not a valid name"),
    (("--system", "a=0.5", "--correlation", "nan"), "the correlation is nan")])
def test_what_cannot_be_drawn(stance, registry, tmp_path, asked, said):
    assert said in registry("study", "synthesize", "stance", *asked, "--to", "plan", exit_code=3).stderr
    assert not (tmp_path / "plan").exists()


def test_nothing_is_written_through_a_link_that_leads_elsewhere(stance, registry, tmp_path):
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "gold.jsonl").symlink_to(tmp_path / "elsewhere")
    refused = registry("study", "synthesize", "stance", *SYSTEMS, "--to", "plan", exit_code=3).stderr
    assert "gold.jsonl: this file already exists with other content" in refused
    assert not (tmp_path / "elsewhere").exists()
    assert [path.name for path in (tmp_path / "plan").iterdir()] == ["gold.jsonl"]


def test_a_full_disk_leaves_no_folders(stance, registry, tmp_path, monkeypatch):
    write = Path.write_bytes

    def full(path, content):
        if "systems" in path.parts:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    refused = registry("study", "synthesize", "stance", *SYSTEMS, "--to", "plan", exit_code=1).stderr
    assert "1.jsonl: cannot write the file: No space left on device" in refused
    assert not (tmp_path / "plan").exists()
