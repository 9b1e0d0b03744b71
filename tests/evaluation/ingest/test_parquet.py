"""Parquet from the manifest to the board: every reader of tables takes the same rows as from JSON Lines."""

import json

import duckdb
import pytest

from registry.errors import InputError
from registry.readers import Document, Labels

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


@pytest.mark.parametrize(("item", "says"), [
    ("1.50::DECIMAL(4, 2)", "'item' is \"Decimal 1.50\"; expected text"),
    ("DATE '2027-05-01'", "'item' is \"date 2027-05-01\"; expected text"),
    ("NULL", "'item' is null; expected text"),
    ("'a' AS \"Item\", 1", "no column 'item'; did you mean 'Item'?"),
    ("'6f1c0c1e-0f0b-4d52-9a8a-3f1f0a2b7c11'::UUID", None),
])
def test_what_a_column_of_labels_may_hold(item, says, tmp_path):
    name = "other" if "Item" in item else "item"
    duckdb.sql(f"COPY (SELECT {item} AS {name}, 'x' AS label) TO '{tmp_path}/x.parquet'")
    read = Labels(syntax="parquet").read_answers
    document = Document("x", (tmp_path / "x.parquet").read_bytes())
    if says is None:
        assert [answer.key for answer in read(document)] == ["6f1c0c1e-0f0b-4d52-9a8a-3f1f0a2b7c11"]
    else:
        with pytest.raises(InputError) as caught:
            read(document)
        assert caught.value.line == 1
        assert says in str(caught.value)
