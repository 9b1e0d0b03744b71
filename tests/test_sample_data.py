"""The sample data: what its script writes, and the story that it tells."""

import shutil
import subprocess
import sys

from tests.conftest import ROOT

STANCE = ROOT / "sample_data" / "stance"


def test_the_script_writes_what_is_there(tmp_path):
    shutil.copy(STANCE / "make.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True)
    written = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.tsv")}
    assert written == {p.relative_to(STANCE): p.read_bytes() for p in STANCE.rglob("*.tsv")}
    assert len(written) == 7


def test_one_clear_winner_and_one_near_duplicate_pair(registry):
    board = registry("run", STANCE / "task.toml", "--format", "json").json
    assert [row["system"] for row in board if row["cluster"] == 1] == ["aspen-large"]
    assert len({row["team"] for row in board}) == 3
    twins = [r for r in registry("pairs", "--format", "json").json if {r["system_a"], r["system_b"]} == {
        "cedar-1", "cedar-2"}]
    assert twins[0]["p_value"] > 0.5
    assert twins[0]["n_units"] == 40
    assert "n:400/40c" in twins[0]["signature"]
