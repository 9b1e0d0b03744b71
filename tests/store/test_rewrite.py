"""Rewriting a registry: deleted data is gone from its folder, and whatever fails leaves the file as it was.

Where a kill leaves it is in `tests/evaluation/submissions/test_purge.py`.
"""

import subprocess
import sys

import duckdb
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.errors import SchemaError, StoreError
from registry.store.database import CONFIG, Database
from registry.store.upkeep.rewrite import rewrite

DELETE = text("DELETE FROM source WHERE name LIKE 'zzzzzz%'")


@pytest.fixture
def named(tmp_path):
    """A registry with five kept files, one of which has a name that is to go."""
    database = Database(tmp_path / "r.duckdb")
    database.create()
    with duckdb.connect(str(database.path), config=CONFIG) as connection:
        for name in ("zzzzzz-team.tsv", "a.tsv", "b.tsv", "c.tsv", "d.tsv"):
            connection.execute("INSERT INTO source VALUES (?, ?, 1, 'x', now())", [name, name])
    assert b"zzzzzz" in database.path.read_bytes()
    return database


def delete(connection):
    connection.execute(DELETE)


def column(database, sql):
    with database.reading() as connection:
        return list(connection.execute(text(sql)).scalars())


def test_what_is_deleted_is_gone_to_the_last_byte_and_all_else_stays(named):
    definitions = "SELECT sql || comment FROM duckdb_tables() WHERE NOT internal ORDER BY 1"
    before = column(named, definitions)
    named.path.chmod(0o640)
    rewrite(named, "purge", delete)
    assert b"zzzzzz" not in named.path.read_bytes()
    assert column(named, "SELECT name FROM source ORDER BY name") == ["a.tsv", "b.tsv", "c.tsv", "d.tsv"]
    assert column(named, definitions) == before
    assert named.path.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in named.path.parent.iterdir()] == ["r.duckdb"]


def test_a_symbolic_link_stays_one(named, tmp_path):
    link = tmp_path / "elsewhere" / "link.duckdb"
    link.parent.mkdir()
    link.symlink_to(named.path)
    rewrite(Database(link), "purge", delete)
    assert link.is_symlink()
    assert b"zzzzzz" not in named.path.read_bytes()


@pytest.mark.parametrize("step", ["_copy", "os.fsync", "Path.replace"])
def test_what_fails_leaves_the_old_file_and_nothing_else(named, monkeypatch, step):
    before = named.path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"registry.store.upkeep.rewrite.{step}", fail)
    with pytest.raises(StoreError, match=r"r\.duckdb: cannot put a new file in its place: No space left"):
        rewrite(named, "purge", delete)
    monkeypatch.undo()
    assert named.path.read_bytes() == before
    assert [path.name for path in named.path.parent.iterdir()] == ["r.duckdb"]


def test_a_change_that_fails_leaves_the_old_file(named):
    before = named.path.read_bytes()
    with pytest.raises((StoreError, DBAPIError)):
        rewrite(named, "purge", lambda connection: connection.execute(text("DELETE FROM nothing")))
    assert named.path.read_bytes() == before
    assert [path.name for path in named.path.parent.iterdir()] == ["r.duckdb"]


def test_rows_that_stand_in_the_log_only_come_along(named):
    code = ("import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); "
            "c.execute('INSERT INTO track VALUES (1, 1, \\'open\\')'); os._exit(0)")
    subprocess.run([sys.executable, "-c", code, str(named.path)], check=True)
    assert named.path.with_name("r.duckdb.wal").exists()
    rewrite(named, "purge", delete)
    assert column(named, "SELECT name FROM track") == ["open"]
    assert not named.path.with_name("r.duckdb.wal").exists()


def test_a_damaged_file_is_not_rewritten(named):
    content = bytearray(named.path.read_bytes())
    content[content.index(b"zzzzzz-team.tsv")] ^= 1
    named.path.write_bytes(content)
    with pytest.raises(StoreError):
        rewrite(named, "purge", delete)
    assert named.path.read_bytes() == content
    assert [path.name for path in named.path.parent.iterdir()] == ["r.duckdb"]


def test_a_registry_of_another_schema_is_not_rewritten(named):
    with duckdb.connect(str(named.path), config=CONFIG) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0018'")
    before = named.path.read_bytes()
    with pytest.raises(SchemaError):
        rewrite(named, "purge", delete)
    assert named.path.read_bytes() == before
