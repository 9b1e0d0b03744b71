"""Backups: whole, consistent beside writers, never in the place of another file; damage of any block is found."""

import random
import shutil
import subprocess
import sys
from contextlib import nullcontext, suppress

import duckdb
import pytest
from sqlalchemy import text

from registry.errors import InputError
from registry.store import models
from registry.store.database import CONFIG, Database
from registry.store.session import back_up, find_unreadable
from tests.label_tasks import LabelTask
from tests.running import wait_for

WRITER = """
import sys
from sqlalchemy import text
from registry.store.database import Database
from registry.store.log import Journal
from registry.store.session import writing

for n in range(1, 200):
    with writing(Database(sys.argv[1]), Journal("write", {})) as session:
        for table in ("track", "study_part"):  # always as many rows in the one as in the other
            session.connection.execute(text(f"INSERT INTO {table} VALUES " + (f"({n}, 1, '{n}')" if table == "track"
                                    else f"('{n}', 'k', 'r')")))
    print(n, flush=True)
"""


def held(path):
    """All that a registry holds, by table."""
    with duckdb.connect(str(path), read_only=True, config=CONFIG) as connection:
        return {name: sorted(map(str, connection.execute(f'FROM "{name}"').fetchall()))
                for name in models.metadata.tables}


@pytest.fixture
def filled(scored, tmp_path):
    scored(LabelTask(tmp_path / "task", {f"i{n}": "ab"[n % 2] for n in range(40)},
                     {"one": {f"i{n}": "a" for n in range(40)}, "two": {f"i{n}": "b" for n in range(40)}}))
    return Database(tmp_path / "registry.duckdb")


def test_a_backup_is_the_registry(filled, tmp_path, registry):
    told = registry("backup", "copy.duckdb", "--db", filled.path)
    assert "every block read again" in told.stderr
    assert held(tmp_path / "copy.duckdb") == held(filled.path)
    assert sorted(path.name for path in tmp_path.glob("*duckdb*")) == ["copy.duckdb", "registry.duckdb"]


def test_a_backup_replaces_nothing(filled, tmp_path):
    (tmp_path / "copy.duckdb").write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        back_up(filled, tmp_path / "copy.duckdb")
    assert (tmp_path / "copy.duckdb").read_text() == "mine"


def test_what_is_committed_but_stands_in_the_log_is_in_the_backup(filled, tmp_path):
    """As where another program was killed."""
    left, log = tmp_path / "left.duckdb", tmp_path / "left.duckdb.wal"
    with duckdb.connect(str(filled.path), config=CONFIG) as connection:
        connection.execute("INSERT INTO track VALUES (7, 1, 'seven')")
        shutil.copyfile(filled.path, left)
        shutil.copyfile(f"{filled.path}.wal", log)
    back_up(Database(left), tmp_path / "copy.duckdb")
    assert not (tmp_path / "copy.duckdb.wal").exists()
    assert held(tmp_path / "copy.duckdb")["track"] == ["(7, 1, 'seven')"]


@pytest.mark.thorough
def test_a_backup_beside_a_writer_is_of_one_moment(filled, tmp_path):
    with subprocess.Popen([sys.executable, "-c", WRITER, filled.path], stdout=subprocess.PIPE, text=True) as writer:
        writer.stdout.readline()
        counts = []
        for n in range(5):
            back_up(filled, tmp_path / f"{n}.duckdb")
            tables = held(tmp_path / f"{n}.duckdb")
            assert len(tables["track"]) == len(tables["study_part"])
            counts.append(len(tables["track"]))
            wait_for(lambda: writer.stdout.readline())
        writer.kill()
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


@pytest.mark.thorough
def test_damage_of_any_block_is_found(filled, tmp_path):
    """A byte is changed at 20 places: it is found, or what the registry holds is what it held."""
    content, before = filled.path.read_bytes(), held(filled.path)
    rng, damaged, found = random.Random(5), tmp_path / "damaged.duckdb", 0
    for _ in range(20):
        place = rng.randrange(12 * 1024, len(content))
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1:])
        try:
            with Database(damaged).reading() as connection:
                noticed = bool(find_unreadable(connection))
        except Exception:
            noticed = True
        found += noticed
        assert noticed or held(damaged) == before
        with suppress(Exception) if noticed else nullcontext():
            back_up(Database(damaged), tmp_path / f"{place}.duckdb")
        assert (tmp_path / f"{place}.duckdb").exists() != noticed
    assert found > 4


def test_tables_can_be_read(filled):
    with filled.reading() as connection:
        assert find_unreadable(connection) == {}
        assert connection.execute(text("SELECT count(*) FROM source")).scalar_one() > 0
