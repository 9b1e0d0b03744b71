"""Snapshots of a registry: when they are written, for how long they stay, and what is shown meanwhile."""

import asyncio
import threading
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from registry.errors import RegistryError
from registry.query.request import Query
from registry.serve import snapshots, source
from registry.serve.queries import Queries
from registry.serve.snapshots import Snapshots, write_snapshot
from registry.serve.source import QueryLimits, Settings, Source
from registry.store.database import Database

DB = Path("registry.duckdb")
UNTIL = datetime(2999, 12, 1, 12)


@pytest.fixture
def path(empty_registry):
    """A registry without tasks."""
    DB.write_bytes(empty_registry)
    return DB


def numbers(snapshot):
    """The numbers of the snapshots that exist."""
    return sorted(folder.name for folder in snapshot.path.parent.parent.iterdir())


@pytest.mark.usefixtures("snapshots_here")
def test_a_snapshot_stays_as_long_as_it_is_leased(path):
    async def use():
        with closing(Source(Settings(path), Snapshots(path))) as served:
            with served.lease() as first:
                await served.renew()
                with served.lease() as second:
                    assert second.file.name != first.file.name
                assert numbers(first.file) == ["1", "2"]
                assert await first.read(lambda opened: opened.database.path) == first.file.path
            assert numbers(first.file) == ["2"]
            await served.renew()
            assert numbers(first.file) == ["3"]
        assert not first.file.path.parent.parent.exists()

    asyncio.run(use())


@pytest.mark.usefixtures("snapshots_here")
def test_a_query_leases_its_snapshot(path):
    begun, going, missing = threading.Event(), threading.Event(), []

    class Slow:
        def ask(self, question, timeout, write_bytes):
            begun.set()
            going.wait(10)
            missing.extend([] if question.path.exists() else [question.path])
            return []

        def close(self):
            pass

    async def ask():
        with closing(Source(Settings(path), Snapshots(path))) as served:
            queries = Queries(served, QueryLimits(at_once=1), Slow)
            answering = asyncio.ensure_future(queries.answer(Query("SELECT 1", {}), "json"))
            await asyncio.to_thread(begun.wait, 10)
            await served.renew()
            going.set()
            (await answering).file.close()
            queries.close()
            with served.lease() as newest:
                return numbers(newest.file)

    assert asyncio.run(ask()) == ["2"]
    assert missing == []


@pytest.mark.usefixtures("snapshots_here")
def test_what_makes_a_snapshot_due(path, monkeypatch):
    """A commit or the end of an embargo, but not before the last snapshot is as old as was said."""
    clock = [0.0, datetime(2999, 12, 1, 11)]
    monkeypatch.setattr(snapshots.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(snapshots, "now", lambda: clock[1])
    with closing(Snapshots(path, every=10)) as written:
        written.write()
        clock[0] = 9
        path.write_bytes(path.read_bytes())
        assert not written.is_due()
        clock[0] = 10
        assert written.is_due()
        monkeypatch.setattr(Snapshots, "run_child", lambda self, output: UNTIL)
        written.write()
        clock[0] = 30
        assert not written.is_due()
        Path(f"{path}.wal").touch()
        assert written.is_due(), "another program has committed, and left DuckDB's log"
        Path(f"{path}.wal").unlink()
        assert not written.is_due()
        clock[1] = UNTIL
        assert written.is_due()


@pytest.mark.usefixtures("snapshots_here")
def test_a_commit_while_a_snapshot_is_written_makes_the_next_one_due(path, monkeypatch):
    with closing(Snapshots(path, every=0)) as written:
        monkeypatch.setattr(Snapshots, "run_child", lambda self, output: path.write_bytes(path.read_bytes()) and None)
        written.write()
        assert written.is_due()


def test_an_embargo_that_ends_while_a_snapshot_is_written_is_not_missed(registry, scored, task, tmp_path, monkeypatch):
    scored(task)
    registry("hide", "small", "--scores", "--until", f"{UNTIL:%Y-%m-%dT%H:%M:%SZ}")
    monkeypatch.setattr(snapshots, "publish", lambda *_, **__: registry("reveal", "small", "--scores"))
    assert write_snapshot(DB, tmp_path / "1.duckdb", private=False, sources=False) == UNTIL
    assert write_snapshot(DB, tmp_path / "1.duckdb", private=False, sources=False) is None


def test_a_snapshot_that_cannot_be_written_leaves_the_old_one(path, monkeypatch, caplog):
    """The reason is logged once, and it is tried again."""
    tried = []

    def write(self, output):
        tried.append(output)
        output.write_text("half of it")
        if 1 < len(tried) < 5:
            raise RegistryError("no space left")

    async def follow():
        monkeypatch.setattr(source, "_POLL_SECONDS", 0.001)
        with closing(Source(Settings(path), Snapshots(path, every=0))) as served:
            path.write_bytes(path.read_bytes())
            following = asyncio.ensure_future(served.follow())
            names = []
            while len(tried) < 5:
                await asyncio.sleep(0)
                with served.lease() as newest:
                    names.append(newest.file.path.parent.name)
                    left = numbers(newest.file)
            while newest.file.path.parent.name == "1":
                await asyncio.sleep(0.001)
                with served.lease() as newest:
                    left = numbers(newest.file)
            following.cancel()
            return set(names), newest.file.path.parent.name, left

    monkeypatch.setattr(Snapshots, "run_child", write)
    assert asyncio.run(follow()) == ({"1"}, "5", ["5"])
    assert [message for message in caplog.messages if "no space left" in message] == [
        "changes of the registry are not shown until this error is fixed: no space left"]


def test_requested_answers_are_made_before_a_snapshot_is_shown(scored, task, served, monkeypatch):
    scored(task)
    client, opened, reading = served(), [], Database.reading
    standings = client.get("/api/tasks/small/boards/0/standings")
    client.get("/api/tasks")
    client.renew()
    monkeypatch.setattr(Database, "reading", lambda self, *given, **named: opened.append(self.path) or reading(
        self, *given, **named))
    again = client.get("/api/tasks/small/boards/0/standings")
    assert (again.json(), opened) == (standings.json(), [])
    assert again.headers["etag"] != standings.headers["etag"]
    client.renew()
    assert len([path for path in opened if path != DB.resolve()]) == 1, "for the one answer that was requested since"


@pytest.mark.slow
def test_a_child_process_writes_snapshots(registry, scored, task):
    scored(task)
    registry("hide", "small", "--scores", "--until", f"{UNTIL:%Y-%m-%dT%H:%M:%SZ}")
    with closing(Snapshots(DB)) as written:
        assert written.run_child(written.write().path.with_name("again.duckdb")) == UNTIL
    with closing(Snapshots(DB, private=True)) as written:
        copy = written.write().path
        assert copy.read_bytes() == DB.read_bytes()
        assert copy.parent.parent.stat().st_mode & 0o777 == 0o700
    with closing(Snapshots(Path("none.duckdb"))) as written, pytest.raises(RegistryError) as error:
        written.write()
    assert str(error.value).startswith("none.duckdb: there is no registry here (")
    assert error.value.exit_code == 3
