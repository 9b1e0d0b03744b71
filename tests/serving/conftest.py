"""A registry that is served without a network, as it is in tests of commands."""

import io
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from registry.query.writer import write
from registry.serving.app import application
from registry.serving.served import Served
from registry.serving.settings import Settings
from registry.store.database import Database
from tests.conftest import answer_here


class Here:
    """Answers questions in this process, as `registry query` is answered in tests."""

    def ask(self, question, timeout, write_bytes):
        return answer_here(question, timeout, write_bytes)

    def close(self):
        pass


class Opened:
    """Answers many questions on one connection, as opening it for each takes longer."""

    def __init__(self, connection):
        self._connection = connection

    def ask(self, question, timeout, write_bytes):
        written = io.StringIO()
        try:
            write(self._connection, question, written)
        finally:
            write_bytes(written.getvalue().encode())
        return []

    def close(self):
        pass


@pytest.fixture
def served():
    """Serve a registry within these settings: a client of it."""
    with ExitStack() as stack:
        def client(path="registry.duckdb", begin=Here, **settings):
            app = application(Served(Settings(Path(path).resolve(), **settings), begin))
            return stack.enter_context(TestClient(app, "http://127.0.0.1", raise_server_exceptions=True))

        yield client


@pytest.fixture
def opened(tmp_path_factory):
    """What answers all questions about a registry on one connection: to a copy, as the registry is read beside it."""
    with ExitStack() as stack:
        def of(path):
            copy = shutil.copyfile(path, tmp_path_factory.mktemp("opened") / path.name)
            return Opened(stack.enter_context(Database(copy).querying()))

        yield of
