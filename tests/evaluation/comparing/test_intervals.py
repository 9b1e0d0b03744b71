"""Intervals of boards whose tests give none: kept, shown and verified."""

import json

import duckdb
import pytest

from registry.significance.distributions import bonett_price
from tests.conftest import ROOT

ENTITIES = ROOT / "sample_data" / "entities" / "task.toml"


def test_counts_tell_those_of_right_or_wrong_units(registry, scored, task):
    """SQL computes what numpy does; nothing is kept of them."""
    task.significance["unit"] = "item"
    scored(task)
    rows = registry("pairs", "small", "--format", "json").json
    for row in rows:
        expected = bonett_price(row["difference"], row["n_discordant"], row["n_units"], 1.959963984540054)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, rel=1e-12)
    assert registry("query", "SELECT ci_low FROM pairwise", "--format", "json").json == [
        {"ci_low": row["ci_low"]} for row in rows]
    assert registry("query", "SELECT count(*) AS n FROM pair_interval", "--format", "json").json == [{"n": 0}]
    board = registry("board", "small", "--format", "md").stdout
    assert ("The 95 % confidence intervals are over 6 items. Those of scores are Wilson score intervals. Those of "
            "differences are Bonett-Price intervals. Intervals of differences are not corrected for the number of "
            "pairs.") in board


@pytest.mark.slow
def test_others_are_kept_and_verified(registry, scored, tmp_path):
    scored(ENTITIES)
    assert "no faults" in registry("verify").stderr
    pairs = registry("pairs", "entities", "--format", "json").json
    contrary = [row for row in pairs if (row["ci_low"] > 0 or row["ci_high"] < 0) != (row["p_value"] <= 0.05)]
    assert len(contrary) == 1
    assert ("In 1 pair, the confidence interval and the uncorrected p-value lead to opposite conclusions,"
            in registry("board", "entities", "--format", "md").stdout)
    with duckdb.connect(str(tmp_path / "registry.duckdb")) as connection:
        connection.execute("UPDATE pair_interval SET low = low - 0.001 WHERE pair_result_id = 3")
    assert "interval" in registry("verify", exit_code=4).stdout
    with duckdb.connect(str(tmp_path / "registry.duckdb")) as connection:
        ((request,),) = connection.execute("SELECT request FROM comparison").fetchall()
    assert json.loads(request)["intervals"] == {"differences": ["mover"], "scores": ["share"], "n_contrary": 1}
