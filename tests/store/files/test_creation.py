"""Who creates a database, and that nobody takes away what another has written."""

import os
import signal

import pytest

from registry.errors import InputError, LockedError
from registry.files import publish, replace_file
from registry.store.database import Database
from registry.store.files.creation import Creation, sweep
from registry.store.turns import locks
from tests.running import beside, holding

pytestmark = pytest.mark.new_schema
HOLD = """
import sys, pathlib
from registry.store.files.creation import Creation
with Creation(pathlib.Path(sys.argv[1]), 0) as creation:
    creation.unfinished.write_bytes(b"half")
    print("held", flush=True)
    input()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "r.duckdb"


@pytest.fixture
def holder(path):
    """Another process that is creating the file."""
    with holding(HOLD, path) as process:
        yield process


def test_one_process_creates_and_the_others_are_told_which(path, holder):
    with pytest.raises(LockedError) as caught, Creation(path, 0.1):
        pass
    assert caught.value.pid == holder.pid
    assert beside(path) == [".r.duckdb.lock", ".r.duckdb.new"]


def test_what_a_living_process_makes_is_not_swept_away(path, holder):
    sweep(path)
    assert beside(path) == [".r.duckdb.lock", ".r.duckdb.new"]


def test_what_a_killed_process_has_left_is_swept_away(path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    Database(path).create()
    assert beside(path) == ["r.duckdb"]


def test_what_was_left_beside_a_finished_file_is_swept_away(path, holder):
    """As where a process was killed between giving the file its name and removing the lock."""
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    path.write_bytes(b"there")
    sweep(path)
    assert beside(path) == ["r.duckdb"]
    assert path.read_bytes() == b"there"


def test_who_waits_gets_the_right_when_it_is_given_up(path, holder):
    holder.stdin.write(b"\n")
    holder.stdin.flush()
    with Creation(path, 20) as creation:
        assert not creation.unfinished.exists()


def test_publishing_gives_the_right_up_at_once(path):
    with Creation(path, 0) as first:
        first.unfinished.write_bytes(b"first")
        first.publish()
        with Creation(path, 0) as second:
            second.unfinished.write_bytes(b"second")
            with pytest.raises(FileExistsError):
                second.publish()
    assert beside(path) == ["r.duckdb"]
    assert path.read_bytes() == b"first"


def test_without_locks_of_the_system(path, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    with Creation(path, 0) as creation:
        with pytest.raises(LockedError) as caught, Creation(path, 0):
            pass
        assert caught.value.pid == os.getpid()
        creation.unfinished.write_bytes(b"whole")
        creation.publish()
    assert beside(path) == ["r.duckdb"]


@pytest.mark.parametrize("there", [False, True])
def test_without_hard_links_nothing_is_replaced_either(path, monkeypatch, there):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    new = path.with_name("new")
    new.write_bytes(b"new")
    if there:
        path.write_bytes(b"there")
        with pytest.raises(FileExistsError):
            publish(new, path)
    else:
        publish(new, path)
    assert path.read_bytes() == (b"there" if there else b"new")


def test_no_page_replaces_a_database(path, empty_registry):
    path.write_bytes(empty_registry)
    with pytest.raises(InputError, match="a database, which nothing replaces"):
        replace_file(path, "<html>")
    assert path.read_bytes() == empty_registry
