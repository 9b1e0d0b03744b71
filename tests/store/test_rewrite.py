"""Upgrades: into a new file that holds nothing of what is no more, beside the old one, of which nothing is lost."""

import json
import re
import shutil
import subprocess
import sys

import duckdb
import pytest
from sqlalchemy import text

from registry.errors import StoreError
from registry.store import schema, views
from registry.store.database import CONFIG, Database
from registry.store.upkeep.rewrite import upgrade
from tests.store.older import older

PLATFORMS = {  # of platform.platform(), by what is kept
    "Linux-6.8.0-zzzzzz-kernel-x86_64-with-glibc2.36": "Linux x86_64",
    "macOS-14.4.1-arm64-arm-64bit": "Darwin arm64",
    "Windows-10-10.0.19041-SP0": "Windows",
}


@pytest.fixture(scope="module")
def with_names(tmp_path_factory):
    """An older database with paths and accounts: a run of a manifest, a submission by hand, and an import."""
    database = older(tmp_path_factory.mktemp("named") / "r.duckdb")
    runs = [
        ("run", {"manifest": "/zzzzzz/task/task.toml"},
         {"/zzzzzz/task/task.toml": "1", "/zzzzzz/task/gold/a.tsv": "2"}),
        ("submit", {"task": "t", "file": "/zzzzzz/one/out.tsv, ../zzzzzz-two/out.tsv"},
         {"/zzzzzz/one/out.tsv": "3", "../zzzzzz-two/out.tsv": "4"}),
        ("import", {"kind": "lm-eval", "path": "zzzzzz/logs"}, {"zzzzzz/logs/m/samples.jsonl": "5"}),
    ]
    with duckdb.connect(str(database.path), config=CONFIG) as connection:
        for n, ((name, parameters, inputs), machine) in enumerate(zip(runs, PLATFORMS, strict=True)):
            connection.execute(
                "INSERT INTO run (run_id, command, parameters, inputs, started_at, code_version, environment) "
                "VALUES (?, ?, ?, ?, now(), '0', ?)",
                [n, name, *map(json.dumps, (parameters, inputs, {"python": "3", "platform": machine}))])
            connection.execute("INSERT INTO event VALUES (?, ?, now(), 'zzzzzz-account', 'task', 't', '{}')", [n, n])
            for path, digest in inputs.items():
                connection.execute("INSERT INTO source VALUES (?, ?, 1, 'x', now())", [digest, path])
                connection.execute("INSERT INTO submission_source VALUES (?, 0, ?, ?)", [int(digest), digest, path])
    return database.path


@pytest.fixture
def named(with_names, tmp_path):
    """The older database, to be upgraded."""
    return Database(shutil.copyfile(with_names, tmp_path / "r.duckdb"))


@pytest.fixture(scope="module")
def upgraded(with_names, tmp_path_factory):
    """The older database in a folder of its own, upgraded, and where the old one is kept; tests only read them."""
    database = Database(shutil.copyfile(with_names, tmp_path_factory.mktemp("upgraded") / "r.duckdb"))
    return database, upgrade(database)


def column(database, sql):
    with database.reading() as connection:
        return list(connection.execute(text(sql)).scalars())


def test_old_names_are_gone_from_the_new_file_to_the_last_byte(with_names, upgraded):
    new, kept = upgraded
    before = with_names.read_bytes()
    assert b"zzzzzz" in before
    assert kept == new.path.with_name("r.old.duckdb")
    assert kept.read_bytes() == before
    assert b"zzzzzz" not in new.path.read_bytes()
    assert sorted(path.name for path in new.path.parent.iterdir()) == ["r.duckdb", "r.old.duckdb"]


def test_files_are_then_named_within_their_task(upgraded):
    new, _ = upgraded
    names = ["task.toml", "gold/a.tsv", "out.tsv", "out.tsv", "m/samples.jsonl"]
    assert column(new, "SELECT name FROM source ORDER BY digest") == names
    assert column(new, "SELECT name FROM submission_source ORDER BY submission_id") == names
    assert list(map(json.loads, column(new, "SELECT parameters FROM run ORDER BY run_id"))) == [
        {"manifest": "task.toml"}, {"task": "t", "file": "out.tsv, out.tsv"}, {"kind": "lm-eval", "path": "logs"}]
    assert list(map(json.loads, column(new, "SELECT inputs FROM run ORDER BY run_id"))) == [
        {"task.toml": "1", "gold/a.tsv": "2"}, {"out.tsv": "3", "out.tsv (2)": "4"}, {"m/samples.jsonl": "5"}]
    assert [json.loads(one)["platform"] for one in column(new, "SELECT environment FROM run ORDER BY run_id")] == [
        *PLATFORMS.values()]
    assert column(new, "SELECT DISTINCT actor FROM event") == [None]


def test_an_upgraded_database_is_as_a_new_one(upgraded, tmp_path):
    """Tables, keys, views and macros, with their comments."""
    new = Database(tmp_path / "new.duckdb")
    new.create()
    for sql in ("SELECT sql || comment FROM duckdb_tables() WHERE NOT internal ORDER BY 1",
                "SELECT table_name || column_name || comment FROM duckdb_columns() WHERE NOT internal ORDER BY 1",
                "SELECT sql || comment FROM duckdb_views() WHERE NOT internal ORDER BY 1",
                "SELECT function_name || macro_definition || comment FROM duckdb_functions() WHERE NOT internal "
                "AND function_type LIKE '%macro' ORDER BY 1"):
        assert column(upgraded[0], sql) == column(new, sql)
    assert not upgrade(new)


def test_a_second_upgrade_does_nothing_and_a_second_old_file_gets_a_number(upgraded, named):
    new, kept = upgraded
    before = new.path.read_bytes()
    assert upgrade(new) is None
    assert new.path.read_bytes() == before
    shutil.copyfile(kept, named.path.with_name("r.old.duckdb"))
    assert upgrade(named).name == "r.old2.duckdb"


@pytest.mark.parametrize("step", ["_copy", "_keep", "schema.upgrade"])
def test_what_fails_leaves_the_old_file_and_nothing_else(named, monkeypatch, step):
    before = named.path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"registry.store.upkeep.rewrite.{step}", fail)
    with pytest.raises(StoreError, match=r"r\.duckdb: cannot put a new file in its place: No space left"):
        upgrade(named)
    assert named.path.read_bytes() == before
    assert [path.name for path in named.path.parent.iterdir()] == ["r.duckdb"]


KILLED = """
import os, sys
from pathlib import Path
from registry.store.upkeep import rewrite
from registry.store.database import Database
import alembic.config

for step, path in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    if not (child := os.fork()):
        target = Path if step == "replace" else rewrite
        done = getattr(target, step)
        setattr(target, step, lambda *given: (done(*given), os._exit(9)))
        try:
            rewrite.upgrade(Database(path))
        finally:
            os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.thorough
def test_whenever_it_is_killed_the_name_leads_to_all_rows(with_names, tmp_path):
    """Right after the copy, after the old file has its second name, and after the new one has its first."""
    found = {step: Database(tmp_path / step / "r.duckdb") for step in ("_copy", "_keep", "replace")}
    for database in found.values():
        database.path.parent.mkdir()
        shutil.copyfile(with_names, database.path)
    arguments = [of for step, database in found.items() for of in (step, str(database.path))]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["9", "9", "9"], done.stderr
    for step, database in found.items():
        assert (upgrade(database) is None) == (step == "replace")
        assert column(database, "SELECT count(*) FROM source") == [5]
        assert b"zzzzzz" not in database.path.read_bytes()
        names = {path.name for path in database.path.parent.iterdir()}
        assert names - {".r.duckdb.upgrade", ".r.duckdb.queue", ".r.duckdb.turn.1"} == {"r.duckdb", "r.old.duckdb"}


def test_rows_that_stand_in_the_log_only_come_along(named):
    code = ("import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); "
            "c.execute('INSERT INTO track VALUES (1, 1, \\'open\\')'); os._exit(0)")
    subprocess.run([sys.executable, "-c", code, str(named.path)], check=True)
    assert named.path.with_name("r.duckdb.wal").exists()
    upgrade(named)
    assert column(named, "SELECT name FROM track") == ["open"]
    assert not named.path.with_name("r.duckdb.wal").exists()


@pytest.mark.parametrize(("damage", "said"), [
    ("DELETE FROM source WHERE digest = '1'", "would change table source (5 rows, then 4)"),
    ("UPDATE source SET n_bytes = 2 WHERE digest = '1'", "would change table source (5 rows, then 5)"),
    ("ALTER TABLE track RENAME COLUMN name TO called", "would lose column name of table track"),
])
def test_a_new_file_that_does_not_hold_the_same_takes_no_name(named, monkeypatch, damage, said):
    before, migrated = named.path.read_bytes(), schema.upgrade

    def wrong(connection):
        migrated(connection)
        connection.commit()
        views.drop(connection)
        connection.exec_driver_sql(damage)

    monkeypatch.setattr(schema, "upgrade", wrong)
    with pytest.raises(StoreError, match=re.escape(said)):
        upgrade(named)
    assert named.path.read_bytes() == before
    assert [path.name for path in named.path.parent.iterdir()] == ["r.duckdb"]


def test_a_damaged_file_is_not_upgraded(named):
    content = bytearray(named.path.read_bytes())
    content[content.index(b"/zzzzzz/task/task.toml")] ^= 1
    named.path.write_bytes(content)
    with pytest.raises(StoreError, match=r"cannot be read: .*; restore a backup"):
        upgrade(named)
    assert named.path.read_bytes() == content
