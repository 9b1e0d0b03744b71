"""Writers take turns: first come, first served, and a process that was ended keeps nobody waiting."""

import os
import threading
import time

import pytest

from registry.errors import LockedError, StoreError
from registry.store.turns import locks
from registry.store.turns import tickets as turns
from registry.store.turns.tickets import Patience, Turn
from tests.running import beside, holding, wait_for

HOLD = """
import sys, pathlib
from registry.store.turns.tickets import Patience, Turn
with Turn(pathlib.Path(sys.argv[1]), "compare", Patience(0)):
    print("held", flush=True)
    input()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "r.duckdb"


@pytest.fixture
def holder(path):
    """Another process whose turn it is."""
    with holding(HOLD, path) as process:
        yield process


def test_first_come_first_served(path):
    """Those who come while one has the turn get it one at a time, in the order in which they came."""
    served, inside = [], []

    def write(n):
        with Turn(path, str(n), Patience(60)):
            inside.append(n)
            assert inside == [n]
            served.append(n)
            time.sleep(0.01)
            inside.remove(n)

    waiting = []
    with Turn(path, "first", Patience(0)):
        for n in range(5):
            waiting.append(threading.Thread(target=write, args=(n,)))
            waiting[-1].start()
            wait_for(lambda n=n: f".r.duckdb.turn.{n + 2}" in beside(path))
    for thread in waiting:
        thread.join()
    assert served == [0, 1, 2, 3, 4]
    assert beside(path) == []


def test_who_has_the_turn_is_told_and_named(path, holder, monkeypatch):
    monkeypatch.setattr(turns, "_UNTOLD", 0.05)
    told = []
    for patience in (Patience(0, told.append), Patience(0.3, told.append)):
        named = rf"process {holder.pid} \(registry compare since ..:..:.. UTC\)"
        with pytest.raises(LockedError, match=named) as caught:
            Turn(path, "submit", patience).__enter__()
        assert (caught.value.pid, caught.value.exit_code) == (holder.pid, 5)
    (line,) = told
    assert line.startswith(f"waiting for process {holder.pid} (registry compare since ")
    assert line.endswith(f"to write to {path}; at most 0.3 s (--wait)")
    assert beside(path) == [".r.duckdb.queue", ".r.duckdb.turn.1"]


def test_a_killed_process_gives_its_turn_up(path, holder):
    served = threading.Event()

    def write():
        with Turn(path, "submit", Patience(60)):
            served.set()

    thread = threading.Thread(target=write)
    thread.start()
    wait_for(lambda: ".r.duckdb.turn.2" in beside(path))
    assert not served.is_set()
    holder.kill()
    thread.join(20)
    assert served.is_set()
    assert beside(path) == []


def test_without_locks_of_the_system_one_waits_for_the_other(path, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    with (Turn(path, "compare", Patience(0)), pytest.raises(LockedError, match="in use"),
          Turn(path, "submit", Patience(0.1))):
        pass
    assert beside(path) == []
    with Turn(path, "submit", Patience(0)):
        pass


def test_a_folder_without_room_for_turns_is_named(path, monkeypatch):
    def refuse(*_):
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(turns, "taken", refuse)
    with pytest.raises(StoreError, match=r"r\.duckdb: writers cannot take turns in this folder: Operation not supp"):
        Turn(path, "submit", Patience(0)).__enter__()
