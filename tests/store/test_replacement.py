"""One process replaces a registry at a time, by a new file that is whole; what was killed leaves nothing in the way."""

import os
import shutil
import subprocess
import sys
import threading
from contextlib import ExitStack

import duckdb
import pytest

from registry.errors import InputError, LockedError, StoreError
from registry.store import models, session
from registry.store.database import CONFIG, Database, Patience
from registry.store.log import Journal
from registry.store.rows import insert_many
from registry.store.session import create, working_copy, write_lock, writing
from tests.running import beside, holding

HOLD = """
import pathlib, sys
from registry.store.database import Database
from registry.store.session import working_copy, write_lock
database = Database(sys.argv[1])
with write_lock(database, "compare"), working_copy(database, create=True):
    print("held", flush=True)
    input()
"""


@pytest.fixture
def database(tmp_path, empty_registry):
    path = tmp_path / "r.duckdb"
    path.write_bytes(empty_registry)
    return Database(path, patience=Patience(0))


@pytest.fixture
def holder(database):
    """Another process that is writing to the registry."""
    with holding(HOLD, database.path) as process:
        yield process


def keep(database, name, **options):
    with writing(database, Journal("submit", {}), **options) as session:
        insert_many(session.connection, models.study_part, [{"digest": name, "key": "k", "result": "r"}])


def kept(database):
    with database.reading() as connection:
        return sorted(connection.execute(models.study_part.select()).scalars())


def test_who_writes_is_told_and_named(database, holder, monkeypatch):
    monkeypatch.setattr(session, "_SILENT_SECONDS", 0.05)
    told = []
    for patience in (Patience(0, told.append), Patience(0.3, told.append)):
        impatient = Database(database.path, patience=patience)
        named = rf"process {holder.pid} \(registry compare since ..:..:.. UTC\)"
        with pytest.raises(LockedError, match=named) as caught:
            keep(impatient, "a")
        assert (caught.value.pid, caught.value.exit_code) == (holder.pid, 5)
    (line,) = told
    assert line.startswith(f"waiting for process {holder.pid} (registry compare since ")
    assert line.endswith(f"to write to {database.path}; at most 0.3 s (--wait)")
    assert kept(database) == []


def test_writers_write_one_after_the_other(database):
    """Each finds what those before it have written."""
    patient = Database(database.path, patience=Patience(60))
    threads = [threading.Thread(target=keep, args=(patient, str(n))) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept(database) == ["0", "1", "2", "3", "4"]


def test_what_a_killed_process_has_left_is_removed_by_the_next_writer(database, holder):
    holder.kill()
    holder.wait()
    left = beside(database.path)
    assert len(left) == 4
    assert {".r.duckdb.lock", ".r.duckdb.writer", "r.duckdb"} < set(left)
    keep(database, "a")
    assert kept(database) == ["a"]
    assert beside(database.path) == [".r.duckdb.lock", "r.duckdb"]


def test_a_registry_is_created_once(tmp_path):
    path = tmp_path / "r.duckdb"
    with holding(HOLD, path) as holder:
        with pytest.raises(LockedError) as caught:
            create(Database(path, patience=Patience(0)))
        assert caught.value.pid == holder.pid
        assert not path.exists()
    assert create(Database(path))
    assert not create(Database(path))
    assert beside(path) == [".r.duckdb.lock", "r.duckdb"]


def test_a_file_that_another_program_makes_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "r.duckdb"
    with pytest.raises(InputError, match="another program has created this file in the meantime"), \
            writing(Database(path), Journal("run", {}), create=True):
        path.write_bytes(b"there")
    assert path.read_bytes() == b"there"


def test_mode_and_links_stay(database, tmp_path):
    database.path.chmod(0o640)
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.duckdb"
    link.symlink_to(database.path)
    keep(Database(link), "a")
    assert link.is_symlink()
    assert kept(database) == ["a"]
    assert database.path.stat().st_mode & 0o777 == 0o640


def test_nobody_else_reads_the_copy_of_a_private_registry(database):
    database.path.chmod(0o600)
    with working_copy(database) as copy:
        assert copy.database.path.parent.stat().st_mode & 0o777 == 0o700
        with copy.database.writing() as connection:
            connection.exec_driver_sql("INSERT INTO study_part VALUES ('a', 'k', 'r')")
        copy.publish()
    assert database.path.stat().st_mode & 0o777 == 0o600
    assert kept(database) == ["a"]


def test_of_what_was_deleted_nothing_is_left_in_a_compact_file(database):
    keep(database, "zzzzzzzz")
    assert b"zzzzzzzz" in database.path.read_bytes()

    def forget(**options):
        with writing(database, Journal("purge", {}), **options) as session:
            session.connection.execute(models.study_part.delete())

    before = shutil.copyfile(database.path, database.path.with_name("before.duckdb"))
    forget()
    assert b"zzzzzzzz" in database.path.read_bytes(), "else this test shows nothing"
    shutil.copyfile(before, database.path)
    forget(compact=True)
    assert b"zzzzzzzz" not in database.path.read_bytes()
    assert kept(database) == []
    columns = "SELECT table_name || column_name || coalesce(comment, '') FROM duckdb_columns() ORDER BY 1"
    views = "SELECT view_name || comment FROM duckdb_views() WHERE NOT internal ORDER BY 1"
    for sql in (columns, views):
        with ExitStack() as stack:
            was, now = (stack.enter_context(duckdb.connect(str(path), read_only=True, config=CONFIG)).execute(sql)
                        for path in (before, database.path))
            assert was.fetchall() == now.fetchall()


LEFT = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("INSERT INTO study_part VALUES ('other', 'k', 'r')")
os._exit(0)
"""


def test_what_another_program_left_in_its_log_is_read_and_comes_into_the_new_file(database, tmp_path):
    subprocess.run([sys.executable, "-c", LEFT, database.path], check=True)
    assert database.log.exists()
    assert kept(database) == ["other"]
    keep(database, "a")
    assert not database.log.exists()
    assert kept(Database(shutil.copyfile(database.path, tmp_path / "copy.duckdb"))) == ["a", "other"]


@pytest.mark.parametrize("fails", ["sync_folder", "rename_new", "_write_compact"])
def test_what_fails_leaves_the_old_file_and_nothing_else(database, monkeypatch, tmp_path, fails):
    before = database.path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    if fails == "rename_new":
        database = Database(tmp_path / "new.duckdb")
    monkeypatch.setattr(session.Copy if fails == "_write_compact" else session, fails, fail)
    with pytest.raises(StoreError, match=r"\.duckdb: cannot be replaced by a new file: No space left"):
        keep(database, "a", create=True, compact=True)
    if fails == "rename_new":
        assert beside(database.path) == [".new.duckdb.lock", "r.duckdb"]
    else:
        assert beside(database.path) == [".r.duckdb.lock", "r.duckdb"]
        assert (database.path.read_bytes() == before) == (fails == "_write_compact"), "the name was given before"


def test_a_folder_without_locks_is_named(database, monkeypatch):
    def refuse(*_, **__):
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(session.FileLock, "acquire", refuse)
    with pytest.raises(StoreError, match=r"r\.duckdb: cannot be locked in this folder: Operation not supported"), \
            write_lock(database, "submit"):
        pass


def test_a_copy_says_whether_the_registry_is_still_what_it_was(database):
    with working_copy(database) as copy:
        assert copy.is_current()
        assert not copy.is_changed
        keep(database, "a")
        assert not copy.is_current()
        with pytest.raises(StoreError, match="another program has changed the database in the meantime"):
            copy.publish()
    assert kept(database) == ["a"]
