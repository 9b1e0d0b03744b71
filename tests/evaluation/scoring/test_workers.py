"""Scores computed in processes are the same; what goes wrong in one is told; answers do not pile up."""

import os

import pytest

from registry.evaluation.ingest import context
from registry.evaluation.scoring import score as computing
from registry.parallel import execution

SCORES = """SELECT team, system, metric, replicate, item, score FROM item_score ORDER BY ALL"""


def end(*_):
    os._exit(1)


def scores(registry, db):
    return registry("query", SCORES, "--db", db, "--format", "json").json


@pytest.fixture
def varied(task):
    """Systems that lack items, which are left out for all, and one of two runs."""
    del task.systems["b"]["i2"]
    task.runs = {"d": {"1": dict(task.gold), "2": dict(task.systems["a"])}}
    task.submission = {"missing": "drop"}
    return task


@pytest.fixture
def in_processes(monkeypatch):
    """Every submission is large enough for a process of its own, as those are whose answers are no columns."""
    monkeypatch.setattr(computing, "MIN_SHARED_BYTES", 0)
    monkeypatch.setattr(computing, "_reads_columns", lambda *_: False)


def test_processes_give_the_same_statistics(varied, registry, request):
    registry("apply", varied.write(), "--db", "here.duckdb")
    assert "4 scores computed" in registry("score", "--db", "here.duckdb", "--workers", "1").stderr
    request.getfixturevalue("in_processes")
    registry("apply", varied.manifest, "--db", "there.duckdb")
    assert "4 scores computed" in registry("score", "--db", "there.duckdb", "--workers", "2").stderr
    assert scores(registry, "there.duckdb") == scores(registry, "here.duckdb")
    assert len(scores(registry, "here.duckdb")) == 29  # 6 items of 5 runs, less the one that b lacks


def test_small_work_starts_no_process(task, registry, monkeypatch):
    monkeypatch.setattr(execution, "_map_in_processes", None)
    assert "3 computed" in registry("run", task.write()).stderr


def test_answers_in_columns_are_computed_here(task, registry, monkeypatch):
    monkeypatch.setattr(computing, "MIN_SHARED_BYTES", 0)
    monkeypatch.setattr(execution, "_map_in_processes", None)
    assert "3 computed" in registry("run", task.write()).stderr


def test_a_process_that_is_ended_from_outside_is_told(task, registry, in_processes, monkeypatch):
    monkeypatch.setattr(computing, "_work", end)
    registry("apply", task.write())
    failed = registry("score", "--workers", "2", exit_code=1)
    assert "the system ended a worker process" in failed.stderr


def test_an_error_in_a_process_is_the_user_s(tmp_path, registry, in_processes):
    (tmp_path / "gold.jsonl").write_text('{"item": "1", "answers": ["x"]}\n')
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text('{"item": "1", "answers": ["x"]}\n')
    task = """manifest = 1
[task]
id = "t"
[[test_set]]
name = "test"
gold = "gold.jsonl"
format = "responses"
[[metric]]
name = "SetF"
[[submit]]
file = "{system}.jsonl"
[[submit]]
file = "gold.jsonl"
system = "gold"
"""
    for options in ("", "options = { best = 1 }"):  # which nobody asked for when the answers came in
        (tmp_path / "task.toml").write_text(task.replace("[[submit]]", f"{options}\n[[submit]]", 1))
        registry("apply", "task.toml")
    failed = registry("score", "--workers", "2", exit_code=3)
    assert "item '1': answer 'x' has no score" in failed.stderr


def test_answers_that_are_not_kept_are_read_again(varied, registry, scored, monkeypatch):
    scored(varied, db="all.duckdb")
    monkeypatch.setattr(context, "MAX_ANSWERS", 1)  # which are the six of one run in columns
    registry("run", varied.manifest, "--db", "one.duckdb")
    assert scores(registry, "one.duckdb") == scores(registry, "all.duckdb")


def test_how_far_it_is_is_told_after_every_submission(task, registry, monkeypatch):
    told = []
    monkeypatch.setattr("registry.cli.options.make_reporter", lambda *, quiet: lambda *how_far: told.append(how_far))
    registry("apply", task.write())
    registry("score")
    assert told == [("submissions to score", done, 3) for done in (0, 1, 2, 3)]
