"""Records of Every Eval Ever: they validate, hide what is hidden, and come back as the same boards."""

import json
import re
from pathlib import Path

import pytest
import yaml

from registry.errors import HiddenError, InputError
from registry.importers import EveryEvalEver
from registry.publication.publish import publish_temporarily
from registry.releases import eval_records
from registry.releases.eval_records import write_records, write_results
from registry.reports.exports import choose_dataset
from registry.store.database import Database
from tests.conftest import ROOT
from tests.needs import need
from tests.scenarios.every_eval_ever import HERE, check_records, run, there_and_back


def same(task, db, most=None):
    """Write, validate and read back; all that boards and pairs say is the same."""
    need("real data", there=HERE.is_dir())
    written, before, after = there_and_back(task, db, most)
    assert before == after
    assert all(map(len, before))
    return written


def test_facets_clusters_runs_and_measures_by_class_come_back_in_the_same_bytes(registry_of_all):
    records, samples = same("small", registry_of_all.path, most=20)
    assert records
    assert samples
    write_records(registry_of_all, "small", Path("again"))
    one, two = ({path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*.json*")}
                for folder in ("records", "again"))
    assert one == two
    with pytest.raises(InputError, match="already exists"):
        write_records(registry_of_all, "small", Path("again"))


DECIMALS = """
[[metric]]
id = "error"
name = "RMSE"
[[metric]]
id = "mean"
name = "Mean"
options = { better = "lower" }
"""
SEVERAL = """manifest = 1
[task]
id = "several"
version = "2.0"
url = "https://example.org/several"
[[test_set]]
name = "test"
gold = "gold.jsonl"
format = "scores"
options = { syntax = "jsonl", gold = "right", attributes = ["genre"] }
cluster = "genre"
[significance]
seed = 3
test = "bootstrap"
resamples = 100
family = ["several/test, error", "mean"]
[board]
rank_late = false
""" + DECIMALS + """
[[submit]]
file = "a.{prompt}.{seed}.jsonl"
system = "a"
team = "Ä b"
track = "open"
attributes = { size = 7.5, open = true }
[[submit]]
file = "b.jsonl"
system = "b"
team = "con"
version = "v 2"
track = "open"
late = true
[[submit]]
file = "c.jsonl"
system = "c"
kind = "baseline"
track = "open"
missing = "drop"
"""


def test_decimals_two_metrics_teams_tracks_and_named_runs_come_back(tmp_path):
    """Floats of all digits, a metric that is no mean, an item that is dropped, and names that no folder may have."""
    for name, shift, items in (("gold", 0, range(12)), ("a.p1.s1", 0.1, range(12)), ("a.p1.s2", 0.3, range(12)),
                               ("a.p2.s1", 1 / 3, range(12)), ("b", -2 / 7, range(12)), ("c", 1e-9 / 3, range(1, 12))):
        key = "right" if name == "gold" else "score"
        Path(f"{name}.jsonl").write_text("".join(json.dumps(
            {"item": f"i {n}\u00e9", key: n * n / 7 + shift * (-1) ** n, "genre": "news" if n < 5 else "blog"}) + "\n"
            for n in items))
    Path("task.toml").write_text(SEVERAL)
    run("run", "task.toml", "--db", "own.duckdb")
    assert same("several", "own.duckdb", most=20) == (3, 5 * 2 * 12 - 2)
    folders = sorted(str(path.parent.relative_to("records")) for path in Path("records").rglob("*.json"))
    assert folders == ["data/several/_con/b@v_2", "data/several/b/a", "data/several/c/c"]
    (record,) = [json.loads(path.read_text()) for path in Path("records/data/several/b").rglob("*.json")]
    assert (record["model_info"]["id"], record["model_info"]["developer"]) == ("Ä b/a", "Ä b")
    result = record["evaluation_results"][0]
    assert result["metric_config"]["lower_is_better"] is True
    assert result["score_details"]["uncertainty"]["confidence_interval"]["confidence_level"] == 0.95
    assert "|test:bootstrap" in result["score_details"]["details"]["signature"]


def test_tests_of_single_answers_come_back(scored):
    scored(ROOT / "sample_data" / "relations" / "task.toml")
    assert same("relations", "registry.duckdb", most=20) == (2, 2 * 3 * 160)


def test_what_is_hidden_or_held_back_is_in_no_record(task, registry, scored, tmp_path, monkeypatch):
    task.extra = "[release]\ngold = false\n"
    scored(task)
    database = Database("registry.duckdb")
    with publish_temporarily(database) as public:
        written = write_records(public, "small", tmp_path / "held")
    assert (written.records, written.samples) == (3, 0)
    assert [path.suffix for path in (tmp_path / "held").rglob("*.*")] == [".json"] * 3
    assert b"i0" not in b"".join(path.read_bytes() for path in (tmp_path / "held").rglob("*.json"))
    with pytest.raises(InputError, match="no record has samples"):
        EveryEvalEver().read(tmp_path / "held")
    monkeypatch.setattr(eval_records, "make_aggregate_record", lambda *of: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_records(database, "small", tmp_path / "broken")
    assert not list(tmp_path.glob("*broken*"))
    registry("hide", "small", "--scores", "--until", "2999-01-01T00:00:00Z")
    with publish_temporarily(database) as public, pytest.raises(HiddenError, match="scores and ranks are hidden"):
        write_records(public, "small", tmp_path / "hidden")


def test_models_get_a_file_of_results_for_the_hub(registry_of_all, tmp_path):
    """As YAML 1.1 reads it, with the keys that the Hub's documentation names; undefined scores are left out."""
    with registry_of_all.reading() as connection:
        stored = {tuple(row) for row in connection.exec_driver_sql(
            "SELECT team || '/' || system, test_set, score FROM leaderboard WHERE metric = 'f1' AND facet IS NULL "
            "AND score IS NOT NULL")}
    assert write_results(registry_of_all, "small", tmp_path / "hub", metric="f1", dataset="acme/small") == len(
        {model for model, *_ in stored})
    found = set()
    for path in (tmp_path / "hub").rglob("*"):
        if path.is_file():
            for entry in yaml.safe_load(path.read_text("utf-8")):
                assert entry.keys() == {"dataset", "value", "date", "source", "notes"}
                assert entry["dataset"]["id"] == "acme/small"
                assert entry["source"] == {"url": "https://example.org/small", "name": "small"}
                assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"])
                found.add((path.parts[-4] + "/" + path.parts[-3], entry["dataset"]["task_id"], entry["value"]))
    assert found == stored
    for dataset, says in ((None, "set --dataset ORGANISATION/NAME"), ("small", "'small' is not the name of a data set"),
                          ("a/b\n", "is not the name of a data set")):
        with pytest.raises(InputError, match=says):
            write_results(registry_of_all, "small", tmp_path / "none", dataset=dataset)
    assert choose_dataset(None, "https://huggingface.co/datasets/acme/other") == "acme/other"


def test_the_command_says_what_it_wrote(registry, scored, task):
    scored(task)
    assert "records: written, 3 records with 18 samples" in registry(
        "export", "small", "every-eval-ever", "-o", "records").stderr
    refused = registry("export", "small", "every-eval-ever", exit_code=3).stderr
    assert "name a new file or folder with --output" in refused
    assert "leave out --output" in registry("export", "small", "wmt", "-o", "x", exit_code=3).stderr
    assert "the form 'every-eval-ever' accepts --output; leave out --metric" in registry(
        "export", "small", "every-eval-ever", "-o", "x", "--metric", "acc", exit_code=3).stderr
    assert "hub: written, 3 files" in registry(
        "export", "small", "huggingface", "-o", "hub", "--dataset", "acme/small", "--metric", "acc").stderr
    assert "leave out --dataset" in registry("export", "small", "wmt", "--dataset", "a/b", exit_code=3).stderr
    need("real data", there=HERE.is_dir())
    assert check_records(Path("records")) == (3, 18)
