"""Processes that tests watch from outside."""

import time
from contextlib import suppress
from pathlib import Path


def stat(pid):
    """What Linux says of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


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
