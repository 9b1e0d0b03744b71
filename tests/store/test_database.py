"""The file: what is none, what is locked and what is full is named, and nothing is half-written."""

import subprocess
import sys
import time

import pytest

from registry.errors import InputError, LockedError, StoreError
from registry.store import database as module
from registry.store.database import Database
from registry.store.failures import explain


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "r.duckdb")
    database.create()
    return database


@pytest.mark.parametrize("content", [b"", b"hello", b"hello world" * 1000])
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    for use in (Database(tmp_path / "f").create, Database(tmp_path / "f").reading().__enter__):
        with pytest.raises(InputError, match="f: this file is no DuckDB database"):
            use()
    assert (tmp_path / "f").read_bytes() == content


@pytest.mark.parametrize(("path", "says"), [("absent.duckdb", "no registry here"), (".", "not a file")])
def test_what_is_not_there_is_named(path, says):
    with pytest.raises(InputError, match=says), Database(path).reading():
        pass


def test_no_folder_to_create_in():
    with pytest.raises(InputError, match="nowhere: no such folder"):
        Database("nowhere/r.duckdb").create()


def test_a_locked_file_names_the_process(database, monkeypatch):
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.2)
    code = "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('held', flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", code, str(database.path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        for enter in (database.reading, database.writing, database.querying):
            with pytest.raises(LockedError, match=f"in use by process {holder.pid}") as caught, enter():
                pass
            assert caught.value.pid == holder.pid
            assert caught.value.exit_code == 5
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_a_short_lock_is_waited_for(database):
    code = "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('held', flush=True); time.sleep(0.5)"
    holder = subprocess.Popen([sys.executable, "-c", code, str(database.path)], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    start = time.monotonic()
    with database.reading():
        assert time.monotonic() - start > 0.2
    holder.wait()
    holder.stdout.close()


def test_two_readers_at_a_time(database):
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('held', flush=True); input()"
    holder = subprocess.Popen([sys.executable, "-c", code, str(database.path)], stdout=subprocess.PIPE,
                              stdin=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    with database.reading():
        pass
    holder.communicate(b"\n")


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from registry.cli import main
sys.argv = ["registry", *sys.argv[2:]]
main()
"""


@pytest.mark.parametrize("limit", [100_000, 2_500_000])
def test_a_full_disk_is_named_and_leaves_nothing_half_written(task, registry, tmp_path, limit):
    """A limit on the size of files stands in for the full disk: below the empty registry's size, and above it.

    Lines of one label each, of many kinds, make the source and the answers large enough to reach the second limit.
    """
    task.gold = {f"item-{n}": f"label-{n * 7919 % 100_003}" for n in range(60_000)}
    task.documents, task.systems = {}, {"a": dict(task.gold)}
    task.write()
    db = tmp_path / "r.duckdb"
    command = [sys.executable, "-c", LIMITED, str(limit), "run", str(task.manifest), "--db", str(db)]
    if limit > 1_000_000:
        registry("init", "--db", db)
    limited = subprocess.run(command, capture_output=True, text=True, check=False)
    assert limited.returncode == 1, limited.stderr
    assert "the disk is full or a size limit is reached" in limited.stderr
    assert "Traceback" not in limited.stderr
    if limit > 1_000_000:
        assert registry("query", "SELECT count(*) AS n FROM task", "--db", db, "--format", "json").json == [{"n": 0}]
    else:
        assert not list(tmp_path.glob("*.duckdb*"))
        assert not list(tmp_path.glob(".*.new*"))
    registry("run", task.manifest, "--db", db)
    assert registry("board", "--db", db, "--format", "json").json[0]["score"] == 1.0


@pytest.mark.parametrize(("message", "kind"), [
    ("IO Error: Could not write file: No space left on device", StoreError),
    ("IO Error: Cannot open file: Permission denied", StoreError),
    ("Constraint Error: Duplicate key", type(None)),
])
def test_only_what_concerns_the_file_is_explained(message, kind, tmp_path):
    assert isinstance(explain(message, tmp_path / "r.duckdb"), kind)
