"""A registry that is served without a network, as it is in tests of commands."""

import io
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from registry.query.sql import write_result
from registry.serve.app import make_application
from registry.serve.queries import Served
from registry.serve.snapshots import Snapshots, write_snapshot
from registry.serve.source import Settings
from registry.store.database import Database
from tests.conftest import answer_here


class Here:
    """Answers questions in this process, as `registry query` is answered in tests."""

    def ask(self, question, timeout, write_bytes):
        return answer_here(question, timeout, write_bytes)

    def close(self):
        pass


class OpenSnapshot:
    """Answers many questions on one connection, as opening it for each takes longer."""

    def __init__(self, connection):
        self._connection = connection

    def ask(self, question, timeout, write_bytes):
        written = io.StringIO()
        try:
            write_result(self._connection, question, written)
        finally:
            write_bytes(written.getvalue().encode())
        return []

    def close(self):
        pass


class Client(TestClient):
    """A client of a registry that is served.

    Attributes:
        source: What it reads.
    """

    def renew(self):
        """Have the registry shown as it is now."""
        self.portal.call(self.source.renew)


@pytest.fixture
def snapshots_here(monkeypatch):
    """Write snapshots in this process, as starting one takes a second."""
    monkeypatch.setattr(Snapshots, "run_child", lambda self, output: write_snapshot(
        self._database, output, private="--private" in self._options, sources="--sources" in self._options))


@pytest.fixture
def served(snapshots_here):
    """Serve a registry within these settings: a client of it. Changes are shown when a test says so."""
    with ExitStack() as stack:
        def client(path="registry.duckdb", start=Here, **settings):
            running = Served(Settings(Path(path).resolve(), every=3600, **settings), start)
            found = Client(make_application(running), "http://127.0.0.1", raise_server_exceptions=True)
            found.source = running.source
            return stack.enter_context(found)

        yield client


@pytest.fixture
def opened(tmp_path_factory):
    """What answers all questions about a registry on one connection: to a copy, as the registry is read beside it."""
    with ExitStack() as stack:
        def of(path):
            copy = shutil.copyfile(path, tmp_path_factory.mktemp("opened") / path.name)
            return OpenSnapshot(stack.enter_context(Database(copy).querying()))

        yield of
