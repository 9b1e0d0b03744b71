"""Draws: as many as decisions need, the same whatever the workers and the memory, and within strata."""

import pytest

from registry import provenance
from tests.evaluation.comparing.compared import pairs


def test_open_decisions_are_told_and_resolved_by_more_draws(many, undone):
    """The intervals of p-values must lie on one side of the level wherever the adjustment puts them."""
    options = {"test": "bootstrap(variant=studentized)", "correction": "none", "resamples": 200}
    registry = undone(many)
    registry.compare(**options)
    rows = registry.pairs
    undecided = [row for row in rows if row["p_low"] <= 0.05 < row["p_high"]]
    assert undecided
    assert [row for row in rows if not row["resolved"]] == undecided
    names = [f"{row['system_a']} and {row['system_b']}" for row in undecided]
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    told = (f"{len(undecided)} decisions depend on simulation error ({'; '.join([*names[:3], *more])}); run "
            f"`registry compare {rows[0]['task']} --resolve 2000`; for later runs, too, set resolve = 2000 under "
            "[significance] in the manifest.")
    assert told in registry.boards[0].sentences
    registry.compare(**options, resolve=1_000_000)
    resolved = registry.pairs
    assert all(row["resolved"] or row["resamples"] == 1_000_000 for row in resolved)
    assert sum(not row["resolved"] for row in resolved) < len(undecided)
    more = {row["submission_a"] + row["submission_b"]: row["resamples"] for row in resolved}
    assert {more[row["submission_a"] + row["submission_b"]] > 200 for row in undecided} == {True}
    assert {row["resamples"] for row in resolved if row not in undecided} >= {200}
    registry.compare(**options, resolve=800)
    assert {row["resamples"] for row in registry.pairs} == {200, 800}


def test_workers_and_memory_change_no_bit(many, registry, scored):
    drawn = ("--test", "bootstrap(variant=studentized)", "--resamples", "3000", "--seed", "3", "--format", "json")
    found = []
    for db, options in (("one.duckdb", ("--workers", "1", "--memory", "1M")), ("three.duckdb", ("--workers", "3"))):
        scored(many, db=db)
        board = registry("compare", *drawn, *options, "--db", db).json
        found.append((board, registry("pairs", "--db", db, "--format", "json").json))
    assert found[0] == found[1]
    assert {row["resamples"] for row in found[0][1]} == {3000}
    assert "not a size" in registry("compare", "--memory", "lots", "--db", "one.duckdb", exit_code=3).stderr


@pytest.mark.parametrize(("options", "unused"), [
    (("--dask", "tcp://nowhere:8786", "--workers", "2", "--alpha", "0.01"), "--dask"),  # threads share the exact tests
    (("--test", "sign", "--workers", "2", "--memory", "1G"), "--workers"),  # the memory bounds the database too
    (("--resolve", "1000", "--alpha", "0.01"), "--resolve"),
    (("--seed", "5", "--resamples", "500"), "--resamples, --seed"),
    (("--alpha", "0.01"), None),
    (("--test", "bootstrap", "--resamples", "500", "--seed", "5", "--workers", "2"), None),
])
def test_options_of_draws_that_had_no_effect_are_told(many, registry, scored, monkeypatch, options, unused):
    monkeypatch.setenv("REGISTRY_MEMORY", "512M")  # set once for all commands: nothing to tell
    monkeypatch.setattr(provenance, "code", lambda: provenance.Code("1", None, None))  # no uncommitted changes
    scored(many)
    told = registry("compare", *options).stderr
    info = f"info: {unused} had no effect, because no result required resampling\n"
    assert (info in told) if unused else ("info:" not in told)
    assert "info:" not in registry("compare", *options).stderr  # nothing is made


def test_run_tells_options_without_effect_too(task, registry):
    assert "--dask had no effect" in registry("run", task.write(), "--dask", "tcp://nowhere").stderr


@pytest.mark.parametrize(("options", "says"), [
    ({"correction": "max-t", "test": "bootstrap"}, ' with correction = "max-t"; increase resamples instead'),
    ({"resamples": 1000}, ", because resolve = 1000 is not larger than resamples = 1000; increase resolve"),
    ({"resamples": 500}, None),
])
def test_where_nothing_can_be_drawn_again_resolve_is_told_to_have_no_effect(many, undone, options, says):
    many.significance = {"seed": 1, "test": "bootstrap(variant=studentized)", "resamples": 200}
    found = undone(many).compare(**options, resolve=1000)
    assert found.notes == ([f"resolve has no effect{says}"] if says else [])


def test_bootstrap_within_strata(many, registry):
    """A stratum in which nothing ever differs adds no variance: the interval is that of the other stratum alone."""
    for labels in many.systems.values():
        labels |= {k: v for k, v in many.gold.items() if int(k[1:]) >= 40}
    many.test_set = {"options": {"columns": ["item", "label", "half"]}}
    many.documents = {k: "second" if int(k[1:]) >= 40 else "first" for k in many.gold}
    many.test_set |= {"cluster": "half"}
    many.significance = {"seed": 1, "test": "bootstrap", "resamples": 20_000, "strata": "half", "unit": "item"}
    board = registry("run", many.write(), "--format", "json").json
    assert "|strata:half|" in board[0]["signature"]
    stratified = pairs()
    registry("compare", "--strata", "other", exit_code=3)
    assert "bootstrap" in registry("compare", "--test", "sign", exit_code=3).stderr
    for row in stratified:
        a, b = (many.systems[row[s]] for s in ("system_a", "system_b"))
        gains = [(a[k] == v) - (b[k] == v) for k, v in many.gold.items() if int(k[1:]) < 40]
        mean = sum(gains) / 40
        deviation = (sum((g - mean) ** 2 for g in gains) / 40) ** 0.5
        if deviation:
            width = (row["ci_high"] - row["ci_low"]) / 2
            assert width == pytest.approx(1.96 * deviation / 40**0.5 / 2, rel=0.12)
    refused = registry("compare", "--unit", "cluster", "--strata", "item", exit_code=3).stderr
    assert "attribute 'item'" in refused


def test_strata_of_one_unit_are_warned_of(many, registry):
    many.documents = {k: k for k in many.gold}
    many.significance = {"seed": 1, "test": "bootstrap", "resamples": 500, "strata": "document", "correction": "min-p"}
    done = registry("run", many.write(), "--format", "json")
    assert ("small/test, acc: intervals are too narrow and p-values too small, because 80 units are alone in a stratum "
            "and cannot be resampled; use larger strata, or none") in done.stderr
    assert {(row["ci_low"], row["ci_high"]) for row in done.json} == {(None, None)}
    assert {(row["p_value"], row["significant"]) for row in pairs()} == {(None, False)}
    refused = registry("best", exit_code=3).stderr
    assert "small/test, acc: every stratum has only one unit, so nothing can be resampled; use larger strata" in refused
