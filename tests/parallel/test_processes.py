"""Other processes import nothing of the current folder, and leave nothing behind, however their program ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from registry.errors import RegistryError
from registry.parallel.scratch_files import make_array, shared_array
from tests.running import is_running, wait_for

PROGRAM = """
import os, time
from registry.errors import RegistryError
from registry.parallel.processes import worker_processes

if __name__ == "__main__":
    try:
        with worker_processes(1, os.getpid) as pool:
            print(pool.submit(os.getpid).result(), flush=True)
            pool.submit(time.sleep, 60).result()
    except RegistryError as error:
        print("told:", error)
"""


@pytest.fixture
def temporary():
    """A folder for temporary files with a short name, as sockets want it."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def program(tmp_path, temporary):
    """Start a program that has another process work for a minute, in a folder of its own."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "here").mkdir()
    started = []

    def start(**environment):
        started.append(subprocess.Popen(
            [sys.executable, tmp_path / "program.py"], cwd=tmp_path / "here", stdout=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(temporary), **environment}, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)))  # which nohup has ignored
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("module", ["random", "socket"])
def test_nothing_is_imported_from_the_current_folder(tmp_path, program, module):
    """Where submissions lie, whoever wrote them could name a file like that."""
    (tmp_path / "here" / f"{module}.py").write_text("import pathlib; pathlib.Path('ran').touch(); raise SystemExit")
    assert int(program().stdout.readline())
    assert not (tmp_path / "here" / "ran").exists()


@pytest.mark.parametrize(("sent", "to"), [(signal.SIGKILL, os.kill), (signal.SIGTERM, os.kill),
                                          (signal.SIGHUP, os.killpg)])
def test_a_program_that_is_ended_leaves_no_process_and_no_file(temporary, program, sent, to):
    """Killed, told to end, or, with all that it started, told that the terminal is closed."""
    process = program()
    worker = int(process.stdout.readline())
    assert any(temporary.iterdir())
    to(process.pid, sent)
    assert process.wait(10) == -sent
    wait_for(lambda: not any(temporary.iterdir()) and not is_running(worker), seconds=10)


def test_where_no_process_can_be_started_what_needs_none_is_told(tmp_path, program):
    folder = tmp_path / ("long" * 30)  # no socket can have so long a name
    folder.mkdir()
    told = program(TMPDIR=str(folder)).stdout.readline()
    assert told.startswith("told: no other process can be started:")
    assert "--workers 1 needs none" in told


def test_a_temporary_file_that_has_no_room_is_refused_before_it_is_written_to():
    resource = pytest.importorskip("resource", reason="limits of processes")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, limits[1]))
    try:
        with shared_array(np.ones(2**20, np.uint8), "give more") as shared:
            assert shared.load().sum() == 2**20
        with pytest.raises(RegistryError, match=r"2 MiB cannot.*TMPDIR.*, or give more"), \
                shared_array(np.ones(2**21, np.uint8), "give more"):
            pass
        assert not shared.path.exists()
        with pytest.raises(RegistryError, match=r"2 MiB cannot.*TMPDIR.*, or increase --memory"):
            make_array((2**21,), 2**20, np.uint8)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
