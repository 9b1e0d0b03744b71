"""Parquet from the manifest to the board: every reader of tables takes the same rows as from JSON Lines."""

import json

import duckdb
import pytest

TASKS = {
    "labels": ("Accuracy", {}, {},
               [{"item": "a", "label": "x"}, {"item": "b", "label": "y"}],
               [{"item": "a", "label": "x"}, {"item": "b", "label": "x"}], 1 / 2),
    "scores": ("MAE", {"gold": "score"}, {},
               [{"item": 1, "score": 0.5}, {"item": 2, "score": 2}],
               [{"item": 1, "score": 1.0}, {"item": 2, "score": 1}], 3 / 4),
    "spans": ("SpanF", {}, {},
              [{"item": "a", "start": 0, "end": 4, "type": "PER"}, {"item": "b", "start": 2, "end": 3, "type": "LOC"}],
              [{"item": "a", "start": 0, "end": 4, "type": "PER"}, {"item": "b", "start": 2, "end": 4, "type": "LOC"}],
              1 / 2),
    "statistics": ("Formula", {"statistics": ["tp"], "gold": ["n"]}, {"formula": "tp / n"},
                   [{"item": "a", "n": 3}, {"item": "b", "n": 5}],
                   [{"item": "a", "tp": 2}, {"item": "b", "tp": 4}], 6 / 8),
    "logprobs": ("Perplexity", {"base": 2}, {},
                 [{"item": "a"}, {"item": "b"}],
                 [{"item": "a", "logprobs": [-1.0, -3.0]}, {"item": "b", "logprobs": [-2.0]}], 2**2),
}


def toml(options):
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in options.items()) + "}"


def written(path, rows):
    lines = path.with_suffix(".jsonl")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    duckdb.sql(f"COPY (FROM '{lines}') TO '{path}'")


@pytest.mark.parametrize("reader", TASKS)
def test_a_table_in_parquet_is_checked_scored_and_ranked(reader, registry, tmp_path):
    metric, of_reader, of_metric, gold, answers, score = TASKS[reader]
    written(tmp_path / "gold.parquet", gold)
    written(tmp_path / "x.parquet", answers)
    (tmp_path / "task.toml").write_text(f"""manifest = 1
[task]
id = "t"
[[test_set]]
name = "test"
gold = "gold.parquet"
format = "{reader}"
options = {toml({"syntax": "parquet"} | of_reader)}
[[metric]]
name = "{metric}"
options = {toml(of_metric)}
[[submit]]
file = "x.parquet"
system = "x"
""")
    registry("task-pack", "task.toml", "-o", "pack")
    for manifest in ("task.toml", "pack/task.toml"):
        assert registry("check", "x.parquet", "--task", manifest, "--format", "json").json == []
    (row,) = registry("run", "task.toml", "--format", "json").json
    assert row["score"] == pytest.approx(score, abs=1e-8)
    assert "nothing" in registry("run", "task.toml").stderr
