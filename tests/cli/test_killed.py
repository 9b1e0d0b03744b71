"""SIGKILL and SIGINT in the middle of work: nothing is half-stored, and the next run completes to the same results.

`pytest tests/cli/test_killed.py --hypothesis-profile thorough` kills at 100 moments, as `make durability` does.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from hypothesis import settings

from tests.conftest import ROOT
from tests.running import interruptible

MANIFEST = ROOT / "sample_data" / "stance" / "task.toml"
MOMENTS = 100 if settings.default.max_examples > 100 else 5  # and 3 of tests.faults


@pytest.mark.thorough
@pytest.mark.slow
def test_killed_at_random_moments(tmp_path, task, registry, scored):
    """One moment in each of so many equal parts of the time that a whole run takes."""
    whole = scored(task, db="whole.duckdb")
    expected = pair_results("whole.duckdb")
    rng = random.Random(20)
    killed = 0
    with forks(tmp_path) as run:
        status, duration = run(["run", task.manifest, "--db", tmp_path / "second.duckdb"])
        assert status == 0
        for n in range(MOMENTS):
            db = tmp_path / f"{n}.duckdb"
            status, seconds = run(["run", task.manifest, "--db", db], duration * (n + rng.random()) / MOMENTS)
            if status == 0:
                duration = seconds  # it was faster this time
            killed += status == -signal.SIGKILL
            done = registry("run", task.manifest, "--format", "json", "--db", db)
            assert done.stdout == whole.stdout
            assert "nothing changed" in registry("run", task.manifest, "--db", db).stderr
            assert pair_results(db) == expected
    assert killed >= MOMENTS / 2


@contextmanager
def forks(folder):
    """Gives what runs a command in a process that begins at once, and tells its exit status and seconds."""
    with subprocess.Popen([sys.executable, "-m", "tests.durability.forked", folder], text=True, cwd=ROOT,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        def run(arguments, kill_after=None):
            print(json.dumps([list(map(str, arguments)), kill_after]), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield run


def pair_results(db):
    """All that is stored of the pairs but the numbers of rows."""
    with duckdb.connect(db, read_only=True) as connection:
        return connection.sql("SELECT * EXCLUDE (run_id, pair_result_id) FROM pair_result ORDER BY ALL").fetchall()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc")
@pytest.mark.parametrize(("sent", "status", "word"), [
    (signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, -signal.SIGTERM, "terminated")])
def test_interrupted_while_drawing(tmp_path, registry, scored, sent, status, word):
    """A comparison of many draws leaves the database as it was, byte for byte, and says so."""
    db = tmp_path / "registry.duckdb"
    scored(MANIFEST, db=db)
    before = db.read_bytes()
    options = ["--test", "bootstrap", "--resamples", "100000000", "--memory", "64M", "--db", str(db)]
    told = interrupt_drawing(["compare", *options], sent, status)
    assert told.endswith(f"{word}: nothing was stored; run the command again to start over\n")
    assert db.read_bytes() == before
    registry("compare", "--db", db)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc")
def test_an_interrupted_run_says_what_it_has_stored(tmp_path):
    """Data and scores are stored before a long comparison begins."""
    manifest, db = tmp_path / "task.toml", tmp_path / "registry.duckdb"
    options = 'test = "bootstrap"\nresamples = 200_000_000'
    manifest.write_text(MANIFEST.read_text().replace('test = "permutation"', options))
    told = interrupt_drawing(["run", manifest, "--root", MANIFEST.parent, "--db", db], signal.SIGINT, 130)
    assert told.endswith("interrupted: gold, submissions and scores are stored; run the command again for the "
                         "comparisons\n")
    with duckdb.connect(db, read_only=True) as connection:
        assert connection.execute("SELECT count(*) > 0 FROM score").fetchone() == (True,)
        assert connection.execute("SELECT count(*) FROM comparison").fetchone() == (0,)


def interrupt_drawing(arguments, sent, status):
    """Send a signal to a command in its resampling, and return what it printed on stderr after its plan."""
    process = subprocess.Popen([sys.executable, "-m", "registry", *map(str, arguments)], stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True, preexec_fn=interruptible)
    assert any(line.startswith("plan: ") for line in process.stderr)
    planned = cpu_seconds(process.pid)
    while cpu_seconds(process.pid) < planned + 1:  # draws take much longer
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(sent)
    _, told = process.communicate(timeout=60)
    assert process.returncode == status
    return told


def cpu_seconds(pid):
    """How long a process has worked: how far it is, however busy the machine."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
