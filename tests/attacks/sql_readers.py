"""Ways to send SQL to a database; each returns everything that it prints: rows, notes, messages and excerpts."""

import io
from contextlib import ExitStack

import pyarrow.parquet
from starlette.testclient import TestClient

from registry.errors import RegistryError
from registry.query import sql
from registry.query.request import Query, QueryRequest
from registry.query.sql import write_result
from registry.serve.app import make_application
from registry.serve.queries import Served
from registry.serve.source import Settings
from registry.store.database import Database
from registry.store.rows import get_driver
from tests.attacks.hidden import Secrets

_P_VALUES = "SELECT p_value FROM pair_result UNION SELECT p_adjusted FROM comparison_pair"


class Reader:
    """Answers many texts on one connection, because making a connection takes longer than most answers.

    Args:
        path: A database, private or public. The texts call it `registry`, so it should be `registry.duckdb`.

    Attributes:
        ways: Functions from a SQL text to everything that is printed, by name.
    """

    def __init__(self, path):
        self.path, self._stack = path, ExitStack()
        self._parquet = path.with_suffix(".parquet")
        self.ways = {"csv": self.csv, "table": self.table, "parquet": self.parquet, "count": self.count,
                     "columns": self.columns, "http": self.http}

    def __enter__(self):
        database = Database(self.path)
        self._connection = self._stack.enter_context(database.querying(output=self._parquet))
        self._cursor = get_driver(self._connection).duplicate()
        self._stack.callback(self._cursor.close)
        served = Served(Settings(self.path, private=True), lambda: self)
        self._client = self._stack.enter_context(TestClient(make_application(served), "http://127.0.0.1"))
        return self

    def __exit__(self, *error):
        self._stack.close()

    def csv(self, text):
        return self._written(text, "csv")

    def table(self, text):
        return self._written(text, "table")

    def parquet(self, text):
        printed = self._written(text, "parquet", self._parquet)
        if printed:
            return printed
        return str(pyarrow.parquet.read_table(self._parquet).to_pylist())

    def count(self, text):
        return self._printed(lambda: str(sql.count_rows(self._cursor, Query(text, {}))))

    def columns(self, text):
        return self._printed(lambda: str(sql.describe_columns(self._cursor, Query(text, {}))))

    def http(self, text):
        try:
            content = text.encode()
        except UnicodeEncodeError:
            return ""
        answer = self._client.post("/sql", content=content, headers={"Content-Type": "text/plain"})
        return answer.text + str(answer.headers)

    def ask(self, question, timeout, write_bytes):
        """Answer what the server sends to a process."""
        written = io.StringIO()
        try:
            return write_result(self._connection, question, written)
        finally:
            write_bytes(written.getvalue().encode())

    def close(self):
        """End the process that answers the server, of which there is none."""

    def _written(self, text, form, output=None):
        written = io.StringIO()
        return self._printed(lambda: " ".join(write_result(self._connection, QueryRequest(
            self.path, Query(text, {}), form, 2**30, 10_000, output), written))) + written.getvalue()

    def _printed(self, run):
        try:
            return run()
        except RegistryError as error:
            return f"{error}\n{error.excerpt}"
        except MemoryError as error:
            return str(error)


def secrets_of(private):
    """Return the secrets of the private registry that a reader has, with its p-values."""
    _, *p_values = private.csv(_P_VALUES).split()
    return Secrets(map(float, p_values))
