"""The ten items, in databases."""

import duckdb
import pytest
from typer.testing import CliRunner

from registry.cli.app import app
from registry.store.database import CONFIG
from tests.label_tasks import LabelTask
from tests.store.ten_items import GOLD, NAMES, SCORES, A, B, C


@pytest.fixture(scope="package")
def database(tmp_path_factory):
    """The ten items in a database."""
    folder = tmp_path_factory.mktemp("ten")
    manifest = LabelTask(folder, GOLD, {"a": A, "b": B, "c": C}).write()
    path = folder / "registry.duckdb"
    CliRunner().invoke(app, ["run", str(manifest), "--db", str(path)], catch_exceptions=False)
    with duckdb.connect(str(path), config=CONFIG) as connection:
        for item, score in SCORES.items():
            connection.execute("""
                UPDATE response SET score = ? WHERE scoring_id = scoring_named(?) AND answer_id IN (
                    SELECT answer_id FROM answer JOIN item USING (item_id) WHERE item.key = ?)""",
                [score, NAMES["a"], item])
    return path


@pytest.fixture(scope="module")
def connection(database):
    """To the ten items; what a test writes, it rolls back."""
    with duckdb.connect(str(database), config=CONFIG) as connection:
        yield connection


@pytest.fixture
def query(connection):
    """Answer SQL over the ten items."""
    return lambda sql: connection.execute(sql).fetchall()
