"""Processes that tests watch from outside."""

import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path


def stat(pid):
    """What Linux says of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@contextmanager
def holding(code, path):
    """Another process that does what the code says with a path, until it has printed `held` and is done with."""
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def interruptible():
    """What a process does before it begins that is to be interrupted: shells ignore SIGINT in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def beside(path):
    """The names of all that is in a file's folder."""
    return sorted(file.name for file in path.parent.iterdir())


def is_running(pid):
    with suppress(FileNotFoundError, ProcessLookupError):
        return stat(pid)[0] != "Z"
    return False


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not (met := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return met
