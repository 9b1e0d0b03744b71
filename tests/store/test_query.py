"""SQL from users: one SELECT or EXPLAIN that can change nothing and reach nothing."""

import pytest

from registry.errors import InputError
from registry.store.database import Database
from registry.store.query import query


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "r.duckdb")
    database.create()
    return database


def test_a_select_is_answered(database):
    found = query(database, "SELECT 1 AS a, 'x' AS b -- comment\n;")
    assert (found.columns, found.rows) == (["a", "b"], [(1, "x")])


def test_explain_is_answered(database):
    assert "TASK" in str(query(database, "EXPLAIN SELECT * FROM task").rows).upper()


@pytest.mark.parametrize("sql", [
    "", "SELECT 1; SELECT 2", "DELETE FROM task", "INSERT INTO track VALUES (1, 1, 'x')", "DROP TABLE task",
    "COPY (SELECT 1) TO 'f.csv'", "EXPLAIN ANALYZE COPY (SELECT 1) TO 'f.csv'", "EXPLAIN ANALYZE DELETE FROM task",
    "SELECT * FROM read_csv('secret.txt')", "SELECT * FROM 'secret.txt'", "SELECT * FROM glob('*')",
    "SELECT content FROM read_text('secret.txt')", "ATTACH 'other.duckdb'", "PRAGMA database_list; SELECT 1",
    "CALL pragma_version()", "SET threads = 1", "SET enable_external_access = true", "INSTALL httpfs", "LOAD httpfs",
    "EXPORT DATABASE 'x'", "SELECT * FROM rows", "SELECT nothing FROM task", "SELEC 1", "CHECKPOINT",
    "SELECT * FROM enable_logging(storage := 'file', storage_path := 'x')", 'FROM "enable_logging"()',
    "FROM force_checkpoint()",
])
def test_everything_else_is_refused_in_one_line(database, tmp_path, sql):
    (tmp_path / "secret.txt").write_text("secret")
    rows = [1, 2, 3]  # noqa: F841  (DuckDB could read a Python variable of that name)
    before = database.path.read_bytes(), sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(InputError) as caught:
        query(database, sql)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value).replace("secret.txt", "")
    assert (database.path.read_bytes(), sorted(p.name for p in tmp_path.iterdir())) == before
