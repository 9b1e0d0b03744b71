"""A command works in a copy of the database, which others read meanwhile, and which then takes its place."""

import subprocess
import sys

import duckdb
import pytest

from registry.errors import LockedError, StoreError
from registry.evaluation.comparing import compare as comparing
from registry.store import models, rows
from registry.store.database import CONFIG, Database, Patience
from registry.store.log import Journal
from registry.store.rows import insert_many
from registry.store.session import compute, writing
from tests.running import beside


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
    assert beside(database.path) == [".r.duckdb.lock", "r.duckdb"]


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
    assert beside(database.path) == (["r.duckdb"] if dry_run else [".r.duckdb.lock", "r.duckdb"])


def test_what_another_program_has_written_meanwhile_is_not_overwritten(database):
    def work(session):
        keep(session.connection, "a")
        with duckdb.connect(str(database.path), config=CONFIG) as other:
            other.execute("INSERT INTO study_part VALUES ('other', 'k', 'r')")

    with pytest.raises(StoreError, match="changed the database in the meantime, so this command stored nothing"):
        wrote(database, work)
    assert digests(database) == ["other"]


def test_a_reader_that_stays_keeps_what_it_reads_and_nobody_waits_for_it(database):
    """Another process, and this one, where DuckDB would take the new file for the old one, which has its path."""
    code = ("import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('held', flush=True); input(); "
            "print(c.execute('SELECT count(*) FROM study_part').fetchall())")
    with subprocess.Popen([sys.executable, "-c", code, str(database.path)], stdout=subprocess.PIPE,
                          stdin=subprocess.PIPE) as reader, database.reading() as before:
        assert reader.stdout.readline() == b"held\n"
        for name in "abc":
            wrote(database, lambda session, name=name: keep(session.connection, name))
            assert digests(database) == list("abc"[:"abc".index(name) + 1])
        assert before.execute(models.study_part.select()).all() == []
        assert reader.communicate(b"\n")[0] == b"[(0,)]\n"


def test_who_computes_for_long_begins_again_where_others_have_written(database):
    """At most twice: from the third time on they wait."""
    seen = []

    def work(session):
        seen.append(len(session.connection.execute(models.study_part.select()).all()))
        keep(session.connection, "mine")
        try:
            wrote(database, lambda session: keep(session.connection, f"other-{len(seen)}"))
        except LockedError:
            seen.append("waited")
        return "done"

    assert compute(database, Journal("score", {}), work) == "done"
    assert seen == [0, 1, 2, "waited"]
    assert digests(database) == ["mine", "other-1", "other-2"]


@pytest.mark.parametrize("few", [1, 10_000], ids=["arrays", "values"])
def test_a_long_comparison_keeps_nobody_waiting(task, registry, scored, monkeypatch, few):
    """A reader and a submitter come while pairs are tested: what is submitted is in the board, no pair tested twice."""
    monkeypatch.setattr(rows, "_MAX_VALUES", few)
    scored(task)
    came = []
    test_all_pairs = comparing.FamilyResults.test_all_pairs

    def interrupted(self):
        found = test_all_pairs(self)
        came.append([member.system for member in self.boards[0].board.members])
        if len(came) == 1:
            registry("board")
            registry("submit", "small", task.folder / "systems" / "b.tsv", "--system", "d", "--wait", 0)
            registry("score", "--wait", 0)
        return found

    monkeypatch.setattr(comparing.FamilyResults, "test_all_pairs", interrupted)
    told = registry("compare", "--test", "sign", "--format", "json", "--wait", 0)
    assert [sorted(systems) for systems in came] == [["a", "b", "c"], ["a", "b", "c", "d"]]
    assert {row["system"] for row in told.json} == {"a", "b", "c", "d"}
    # b, c and d answer alike: a with them is one pair of contents, and they among themselves another
    assert registry("query", "SELECT count(*) AS n FROM pair_result JOIN pair_request USING (pair_request_id) "
                    "WHERE test LIKE 'sign%'", "--format", "json").json == [{"n": 2}]
    assert "no faults" in registry("verify").stderr
