"""SIGKILL at random moments of `run`: the next run opens the file and completes to the same results."""

import random
import signal
import subprocess
import sys
import time
from contextlib import suppress

from tests.conftest import ROOT

MANIFEST = ROOT / "sample_data" / "stance" / "task.toml"
COMMAND = [sys.executable, "-m", "registry", "run", str(MANIFEST), "--format", "json", "--db"]


def test_killed_at_20_random_moments(tmp_path, registry):
    start = time.monotonic()
    first = subprocess.run([*COMMAND, str(tmp_path / "whole.duckdb")], capture_output=True, text=True, check=True)
    duration = time.monotonic() - start
    rng = random.Random(20)
    killed = 0
    for n in range(20):
        db = tmp_path / f"{n}.duckdb"
        process = subprocess.Popen([*COMMAND, str(db)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(duration * rng.uniform(0.3, 1.0))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        done = registry("run", MANIFEST, "--format", "json", "--db", db)
        assert done.stdout == first.stdout
        assert "nothing changed" in registry("run", MANIFEST, "--db", db).stderr
        pairs = "SELECT * EXCLUDE (run_id, pair_result_id) FROM pair_result ORDER BY digest"
        assert registry("query", pairs, "--db", db).stdout == registry(
            "query", pairs, "--db", tmp_path / "whole.duckdb").stdout
    assert killed >= 10
