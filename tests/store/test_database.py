"""The file: what is none, what is locked and what is full is named, and nothing is half-written."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.errors import InputError, LockedError, StoreError
from registry.store import database as module
from registry.store import files
from registry.store.database import Database
from registry.store.files import Reach, explain
from registry.store.log import Journal
from registry.store.session import create, writing
from tests.running import beside


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "r.duckdb")
    database.create()
    return database


@pytest.mark.parametrize("content", [b"", b"hello", b"hello world" * 1000])
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    for use in (lambda: create(Database(tmp_path / "f")), Database(tmp_path / "f").reading().__enter__):
        with pytest.raises(InputError, match="f: not a DuckDB database"):
            use()
    assert (tmp_path / "f").read_bytes() == content


@pytest.mark.parametrize(("path", "says"), [("absent.duckdb", "no registry here"), (".", "not a regular file")])
def test_what_is_not_there_is_named(path, says):
    with pytest.raises(InputError, match=says), Database(path).reading():
        pass


def test_no_folder_to_create_in():
    with pytest.raises(InputError, match="nowhere: this folder does not exist"):
        create(Database("nowhere/r.duckdb"))


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


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_is_named_and_leaves_nothing_half_written(task, registry, empty_registry, tmp_path, there):
    """A limit on the size of files stands in for the full disk: below the empty registry's size, and above it.

    Lines of one label each, of many kinds, make the source and the answers large enough to reach the second limit.
    """
    limit = len(empty_registry) + 250_000 if there else len(empty_registry) // 4
    if there:
        task.gold = {f"item-{n}": f"label-{n * 7919 % 100_003}" for n in range(15_000)}
        task.documents, task.systems = {}, {"a": dict(task.gold)}
    task.write()
    db = tmp_path / "r.duckdb"
    command = [sys.executable, "-c", LIMITED, str(limit), "run", str(task.manifest), "--db", str(db)]
    if there:
        registry("init", "--db", db)
    limited = subprocess.run(command, capture_output=True, text=True, check=False)
    assert limited.returncode == 1, limited.stderr
    assert "the disk is full or a size limit is reached" in limited.stderr
    assert "Traceback" not in limited.stderr
    if there:
        assert registry("query", "SELECT count(*) AS n FROM task", "--db", db, "--format", "json").json == [{"n": 0}]
    else:
        assert beside(db) == [".r.duckdb.lock", "task"]
    registry("run", task.manifest, "--db", db)
    assert registry("board", "--db", db, "--format", "json").json[0]["score"] == (1 if there else 5 / 6)


@pytest.mark.parametrize(("message", "kind"), [
    ("IO Error: Could not write file: No space left on device", StoreError),
    ("IO Error: Cannot open file: Permission denied", StoreError),
    ("Constraint Error: Duplicate key", type(None)),
])
def test_only_what_concerns_the_file_is_explained(message, kind, tmp_path):
    assert isinstance(explain(message, tmp_path / "r.duckdb"), kind)


FILL = """
import os, signal, sys
from sqlalchemy import text
from registry.store.database import Database
with Database(sys.argv[1]).writing() as connection:
    connection.execute(text("INSERT INTO run VALUES (7, 'x', '', '', now(), now(), '', '', false, '', '', '')"))
    connection.commit()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def left(tmp_path_factory, empty_registry):
    """A database, and beside it what a killed process has left, a log with a committed row."""
    database = Database(tmp_path_factory.mktemp("killed") / "r.duckdb")
    database.path.write_bytes(empty_registry)
    assert subprocess.run([sys.executable, "-c", FILL, str(database.path)], check=False).returncode == -9
    assert log_of(database).exists()
    return database


@pytest.fixture
def killed(left, tmp_path):
    database = Database(shutil.copyfile(left.path, tmp_path / "r.duckdb"))
    shutil.copyfile(log_of(left), log_of(database))
    return database


def log_of(database):
    return database.path.with_name(database.path.name + ".wal")


def runs_in(path):
    with Database(path).reading() as connection:
        return connection.execute(text("SELECT count(*) FROM run")).scalar_one()


def runs_in_a_copy(database, tmp_path):
    return runs_in(shutil.copyfile(database.path, tmp_path / "copy.duckdb"))


@pytest.mark.parametrize("use", ["reading", "querying"])
def test_what_a_killed_process_committed_is_read_from_its_log(killed, use):
    with getattr(killed, use)() as connection:
        assert connection.execute(text("SELECT count(*) FROM run")).scalar_one() == 1
    assert log_of(killed).exists()


def test_the_next_writer_brings_the_log_into_the_file(killed, tmp_path):
    with writing(killed, Journal("submit", {})):
        pass
    assert not log_of(killed).exists()
    assert runs_in_a_copy(killed, tmp_path) == 1


def test_a_log_is_read_where_another_reader_keeps_it_from_the_file(killed):
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('held', flush=True); input()"
    holder = subprocess.Popen([sys.executable, "-c", code, str(killed.path)], stdout=subprocess.PIPE,
                              stdin=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    assert runs_in(killed.path) == 1
    assert log_of(killed).exists()
    holder.communicate(b"\n")


def test_opening_it_twice_in_one_process_keeps_writers_out(database, monkeypatch):
    """The system frees a process's lock on a file when the process closes that file, whoever in it opened it."""
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.1)
    code = "import duckdb, sys; duckdb.connect(sys.argv[1])"
    with database.reading():
        with database.reading():
            pass
        other = subprocess.run([sys.executable, "-c", code, str(database.path)], capture_output=True, check=False)
        assert b"Conflicting lock is held" in other.stderr


READ_ONLY = """
import os, sys
from sqlalchemy import text
from registry.errors import RegistryError
from registry.store.database import Database
from registry.store.log import Journal
from registry.store.session import writing
def rows(database):
    with database.reading() as connection:
        return connection.execute(text("SELECT count(*) FROM run")).scalar_one()
database = Database("r.duckdb")
rows(database)  # all is imported
os.chmod(sys.argv[1], 0o555 if sys.argv[1] == "." else 0o444)
if os.geteuid() == 0:
    os.setuid(65534)
print(rows(database))
for database in (database, Database("new.duckdb")):
    try:
        with writing(database, Journal("run", {}), create=True):
            pass
    except RegistryError as error:
        print(error)
"""


@pytest.mark.parametrize("what", ["r.duckdb", "."])
def test_what_is_read_only_is_called_so_and_can_be_read(what, empty_registry):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "r.duckdb").write_bytes(empty_registry)
        told = subprocess.run([sys.executable, "-c", READ_ONLY, what], cwd=folder, capture_output=True, text=True,
                              check=True).stdout.splitlines()
    assert told[0] == "0"
    assert told[1] == ("r.duckdb: the database or its folder is read-only; copy the file to a writable folder, and "
                       "name the copy with --db")
    assert told[2] == "new.duckdb: cannot create the database, because its folder is read-only; name another " \
                      "path with --db"


def test_a_file_whose_place_is_taken_while_it_is_opened_is_opened_again(database, tmp_path, monkeypatch):
    """As by a purge, which holds the lock until the new file has the name."""
    new, looked = tmp_path / "new.duckdb", []
    shutil.copyfile(database.path, new)
    with Database(new).writing() as connection:
        connection.execute(text("INSERT INTO track VALUES (1, 1, 'open')"))
    identity = files._identify

    def replaced_after_the_first_look(path):
        if len(looked) == 1:
            new.replace(path)
        looked.append(path)
        return identity(path)

    monkeypatch.setattr(files, "_identify", replaced_after_the_first_look)
    with database.reading() as connection:
        assert connection.execute(text("SELECT name FROM track")).scalars().all() == ["open"]


def test_a_file_is_open_with_two_configurations_for_reading_only(database):
    with database.querying() as one, database.reading(reach=Reach(folders=[database.path.parent])) as other:
        for connection in (one, other):
            assert connection.exec_driver_sql("SELECT count(*) FROM task").scalar_one() == 0
        with pytest.raises(DBAPIError, match="different configuration"), database.writing():
            pass
