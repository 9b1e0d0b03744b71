"""A command computes in a copy of the database, which others read and write meanwhile, and holds it for its commit."""

import subprocess
import sys

import duckdb
import numpy as np
import pytest
from sqlalchemy import select

from registry.errors import LockedError, StoreError
from registry.evaluation.comparing import compare as comparing
from registry.store import models, rows
from registry.store.database import CONFIG, Database
from registry.store.log.journal import Journal
from registry.store.rows import Coded, insert_bulk, insert_many, next_id
from registry.store.statistics import fetch_columns
from registry.store.turns.tickets import Patience
from registry.store.working import recording
from registry.store.working.session import computed, keeping, writing


@pytest.fixture
def database(tmp_path, empty_registry):
    path = tmp_path / "r.duckdb"
    path.write_bytes(empty_registry)
    return Database(path, patience=Patience(0))


def parts(database):
    with database.reading() as connection:
        return connection.execute(models.study_part.select().order_by(models.study_part.c.digest)).all()


def keep(connection, digest):
    insert_many(connection, models.study_part, [{"digest": digest, "key": "k", "result": "r"}])


def wrote(database, work, **options):
    with writing(database, Journal("submit", {}), **options) as session:
        work(session)


def digests(database):
    return [row.digest for row in parts(database)]


def test_others_read_while_a_command_works(database):
    before = database.path.read_bytes()
    with writing(database, Journal("apply", {})) as session:
        keep(session.connection, "a")
        assert digests(database) == []
        assert database.path.read_bytes() == before
        with pytest.raises(LockedError, match=r"\(registry apply since "), writing(database, Journal("submit", {})):
            pass
    assert digests(database) == ["a"]
    assert [path.name for path in database.path.parent.iterdir()] == ["r.duckdb"]


@pytest.mark.parametrize("dry_run", [False, True])
def test_what_fails_or_is_rehearsed_leaves_nothing(database, dry_run):
    before = database.path.read_bytes()
    wrote(database, lambda session: keep(session.connection, "a"), dry_run=True)

    def work(session):
        keep(session.connection, "a")
        raise KeyError

    with pytest.raises(KeyError):
        wrote(database, work, dry_run=dry_run)
    assert database.path.read_bytes() == before
    assert [path.name for path in database.path.parent.iterdir()] == ["r.duckdb"]


@pytest.mark.parametrize("many", [100, 10_000], ids=["postponed", "at once"])
def test_what_is_written_is_what_the_copy_held(database, monkeypatch, many):
    """Columns of every kind, in bulk and few, changes and deletions: as they are written without a copy."""
    monkeypatch.setattr(recording, "_MANY", many)

    def write(connection):
        n = 1000
        insert_bulk(connection, models.pair_result, {
            **{column.name: np.arange(n) for column in models.pair_result.columns},
            "p_value": np.where(np.arange(n) % 3, np.nan, 0.25), "resamples": np.ma.masked_less(np.arange(n), 500),
            "method": Coded(np.arange(n, dtype=np.uint8) % 2, ["exact", "it's"]), "note": np.array(["é"] * n),
            "favours": 1})
        for name in "abc":
            keep(connection, name)
        table = models.study_part
        connection.execute(table.update().where(table.c.digest == "b").values(result="changed"))
        connection.execute(table.delete().where(table.c.digest == "a"))

    def held():
        with duckdb.connect(str(database.path), read_only=True, config=CONFIG) as connection:
            return [connection.execute(f"FROM {table}").fetchall() for table in ("pair_result", "study_part")]

    empty = database.path.read_bytes()
    with keeping(database, Journal("apply", {})) as connection:
        write(connection)
    directly = held()
    database.path.write_bytes(empty)
    with writing(database, Journal("apply", {})) as session:
        write(session.connection)
    assert repr(held()) == repr(directly)  # nan is not itself
    assert len(directly[0]) == 1000


@pytest.mark.parametrize("reads", [
    lambda connection: len(fetch_columns(connection, select(models.pair_result))["pair_result_id"]) == 500,
    lambda connection: next_id(connection, models.pair_result) == 501,
    lambda connection: connection.exec_driver_sql("FROM pairwise").all() == []])  # a view: of pairs of boards
def test_what_is_postponed_is_there_when_it_is_read(database, monkeypatch, reads):
    monkeypatch.setattr(recording, "_MANY", 100)
    with writing(database, Journal("apply", {})) as session:
        assert not session.is_shown_later
        insert_bulk(session.connection, models.pair_result, {
            column.name: np.arange(1, 501) for column in models.pair_result.columns} | {
            "method": np.array(["exact"] * 500), "note": np.array([""] * 500), "favours": 1})
        keep(session.connection, "a")
        assert session.is_shown_later
        assert reads(session.connection)
        assert not session.is_shown_later
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM pair_result").scalar_one() == 500


def test_what_another_program_has_written_meanwhile_is_not_overwritten(database):
    def work(session):
        keep(session.connection, "a")
        with duckdb.connect(str(database.path), config=CONFIG) as other:
            other.execute("INSERT INTO study_part VALUES ('other', 'k', 'r')")

    with pytest.raises(StoreError, match="another program has written to the database meanwhile; nothing of this"):
        wrote(database, work)
    assert digests(database) == ["other"]


def test_a_reader_that_stays_is_named_and_others_read_on(database):
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('held', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code, str(database.path)], stdout=subprocess.PIPE,
                          stdin=subprocess.PIPE) as reader:
        assert reader.stdout.readline() == b"held\n"
        with pytest.raises(LockedError, match=f"in use by process {reader.pid}"):
            wrote(database, lambda session: keep(session.connection, "a"))
        assert digests(database) == []
        reader.communicate(b"\n")


def test_who_computes_for_long_begins_again_where_others_have_written(database, monkeypatch):
    """At most twice: from the third time on they wait."""
    monkeypatch.setattr("registry.store.working.session._SHORT", 0)
    seen = []

    def work(session):
        seen.append(len(session.connection.execute(models.study_part.select()).all()))
        keep(session.connection, "mine")
        try:
            with keeping(database, Journal("submit", {})) as connection:
                keep(connection, f"other-{len(seen)}")
        except LockedError:
            seen.append("waited")
        return "done"

    assert computed(database, Journal("score", {}), work) == "done"
    assert seen == [0, 1, 2, "waited"]
    assert digests(database) == ["mine", "other-1", "other-2"]


@pytest.mark.parametrize("many", [1, 10_000], ids=["postponed", "at once"])
def test_a_long_comparison_keeps_nobody_waiting(task, registry, scored, monkeypatch, many):
    """A reader and a submitter come while pairs are tested: what is submitted is in the board, no pair tested twice."""
    monkeypatch.setattr(recording, "_MANY", many)
    monkeypatch.setattr(rows, "_FEW", many)
    scored(task)
    came = []
    of_all_pairs = comparing.FamilyResults.of_all_pairs

    def interrupted(self):
        found = of_all_pairs(self)
        came.append([member.system for member in self.boards[0].board.members])
        if len(came) == 1:
            registry("board")
            registry("submit", "small", task.folder / "systems" / "b.tsv", "--system", "d", "--wait", 0)
            registry("score", "--wait", 0)
        return found

    monkeypatch.setattr("registry.store.working.session._SHORT", 0)
    monkeypatch.setattr(comparing.FamilyResults, "of_all_pairs", interrupted)
    told = registry("compare", "--test", "sign", "--format", "json", "--wait", 0)
    assert [sorted(systems) for systems in came] == [["a", "b", "c"], ["a", "b", "c", "d"]]
    assert {row["system"] for row in told.json} == {"a", "b", "c", "d"}
    # b, c and d answer alike: a with them is one pair of contents, and they among themselves another
    assert registry("query", "SELECT count(*) AS n FROM pair_result JOIN pair_request USING (pair_request_id) "
                    "WHERE test LIKE 'sign%'", "--format", "json").json == [{"n": 2}]
    assert "all is well" in registry("verify").stderr
