"""New files and folders: whole or not there, whoever else writes to the same place, also from another container."""

import errno
import fcntl
import os
import signal

import pytest

from registry.errors import InputError
from registry.files import new_file, new_folder, replace_file
from tests.running import beside, holding

HOLD = """
import sys, pathlib
from registry import files
with files.{what}(pathlib.Path(sys.argv[1])) as unfinished:
    (unfinished / "part" if unfinished.is_dir() else unfinished).write_text("theirs")
    print("held", flush=True)
    sys.stdin.readline()
"""
WHAT = {"new_file": new_file, "new_folder": new_folder}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def other_container(monkeypatch):
    """Let this process have the number 7 and see no other one, as in a container of its own."""
    def absent(*_):
        raise ProcessLookupError

    monkeypatch.setattr(os, "getpid", lambda: 7)
    monkeypatch.setattr(os, "kill", absent)


def write(unfinished, text):
    (unfinished / "part" if unfinished.is_dir() else unfinished).write_text(text)


def written(path):
    return (path / "part" if path.is_dir() else path).read_text()


def overtaken(path, what):
    """Begin to write, and let another process of the same number write the same meanwhile."""
    with WHAT[what](path) as first:
        write(first, "first")
        with WHAT[what](path) as second:
            assert second != first
            write(second, "second")
        assert written(first) == "first"


def failing(path, what):
    with WHAT[what](path) as unfinished:
        write(unfinished, "ours")
        raise InputError("ours")


@pytest.mark.parametrize("what", WHAT)
def test_two_processes_of_one_number_do_not_meet(path, other_container, what):
    with pytest.raises(InputError, match="already exists"):
        overtaken(path, what)
    assert written(path) == "second"
    assert beside(path) == ["out"]


@pytest.mark.parametrize("what", WHAT)
def test_what_a_process_of_another_container_writes_is_not_swept_away(path, other_container, what):
    with holding(HOLD.format(what=what), path) as process:
        with pytest.raises(InputError, match="ours"):
            failing(path, what)
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.wait(20) == 0
    assert written(path) == "theirs"
    assert beside(path) == ["out"]


@pytest.mark.parametrize("what", WHAT)
def test_what_a_killed_process_has_left_is_swept_away(path, what):
    with holding(HOLD.format(what=what), path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(beside(path)) == 1
        with WHAT[what](path) as unfinished:
            write(unfinished, "ours")
    assert beside(path) == ["out"]


@pytest.mark.parametrize("name", [".out.7.new", ".out.20270301.new", ".out.backup.new", ".other.0123456789ab.new"])
def test_what_somebody_else_has_put_beside_stays(path, name):
    path.with_name(name).mkdir()
    path.with_name(".out.0123456789ab.new").write_text("a file")
    with new_folder(path):
        pass
    assert beside(path) == sorted([".out.0123456789ab.new", name, "out"])


def test_on_a_file_system_without_locks_nothing_is_swept_away(path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    path.with_name(".out.0123456789ab.new").mkdir()
    with new_file(path) as unfinished:
        unfinished.write_text("ours")
    assert beside(path) == [".out.0123456789ab.new", "out"]


def test_a_published_folder_has_the_permissions_of_others(path):
    path.with_name("plain").mkdir()
    with new_folder(path):
        pass
    assert path.stat().st_mode == path.with_name("plain").stat().st_mode


def test_two_processes_of_one_number_replace_a_file_one_after_the_other(path, other_container, monkeypatch):
    """The second writes while the first is between writing its file and giving it the name."""
    replace, names = type(path).replace, []

    def interrupted(unfinished, to):
        names.append(unfinished)
        if len(names) == 1:
            replace_file(path, "second")
        return replace(unfinished, to)

    monkeypatch.setattr(type(path), "replace", interrupted)
    replace_file(path, "first")
    assert path.read_text() == "first"
    assert len({*names}) == 2
    assert beside(path) == ["out"]
