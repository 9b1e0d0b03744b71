"""SIGKILL and SIGINT in the middle of work: nothing is half-stored, and the next run completes to the same results."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from tests.conftest import ROOT

MANIFEST = ROOT / "sample_data" / "stance" / "task.toml"
COMMAND = [sys.executable, "-m", "registry", "run", str(MANIFEST), "--format", "json", "--db"]


def test_killed_at_20_random_moments(tmp_path, registry):
    start, whole = time.monotonic(), tmp_path / "whole.duckdb"
    first = subprocess.run([*COMMAND, str(whole)], capture_output=True, text=True, check=True)
    duration = time.monotonic() - start
    rng = random.Random(20)
    killed = 0
    for n in range(20):
        db = tmp_path / f"{n}.duckdb"
        start = time.monotonic()
        process = subprocess.Popen([*COMMAND, str(db)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(duration * rng.uniform(0.3, 1.0))
            duration = time.monotonic() - start  # it was faster this time
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        done = registry("run", MANIFEST, "--format", "json", "--db", db)
        assert done.stdout == first.stdout
        assert "nothing changed" in registry("run", MANIFEST, "--db", db).stderr
        assert pair_results(db) == pair_results(whole)
    assert killed >= 10


def pair_results(db):
    """All that is stored of the pairs but the numbers of rows."""
    with duckdb.connect(db, read_only=True) as connection:
        return connection.sql("SELECT * EXCLUDE (run_id, pair_result_id) FROM pair_result ORDER BY ALL").fetchall()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc")
def test_interrupted_while_drawing(tmp_path, registry, scored):
    """Ctrl-C in a comparison of many draws ends with 130 and leaves the database as it was, byte for byte."""
    db = tmp_path / "registry.duckdb"
    scored(MANIFEST, db=db)
    before = db.read_bytes()
    options = ["--test", "bootstrap", "--resamples", "100000000", "--memory", "64M", "--db", str(db)]
    process = subprocess.Popen([sys.executable, "-m", "registry", "compare", *options], stderr=subprocess.PIPE,
                               text=True)
    while cpu_seconds(process.pid) < 4:  # by then all is imported, and draws take much longer
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in told
    assert db.read_bytes() == before
    registry("compare", "--db", db)


def cpu_seconds(pid):
    """How long a process has worked: how far it is, however busy the machine."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
