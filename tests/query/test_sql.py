"""SQL from users: one SELECT or EXPLAIN that can change nothing and reach nothing."""

import re

import pytest

from registry.errors import LimitError, QueryError
from registry.query.request import Query
from registry.query.sql import count_rows, describe_columns, run_query, write_parquet
from registry.store.database import Database
from registry.store.rows import get_driver
from tests.query.refused import REFUSED


def one_caret(error):
    """Return the excerpt of an error; DuckDB 2 underlines the whole token, DuckDB 1.5 its first character."""
    return re.sub(r"\^+$", "^", error.excerpt)


@pytest.fixture
def database(tmp_path, empty_registry):
    (tmp_path / "r.duckdb").write_bytes(empty_registry)
    return Database(tmp_path / "r.duckdb")


@pytest.fixture(scope="module")
def opened(tmp_path_factory, empty_registry):
    """A database and a connection to it for all questions: each is answered on one of its own, as closed as this."""
    path = tmp_path_factory.mktemp("opened") / "r.duckdb"
    path.write_bytes(empty_registry)
    with Database(path).querying() as connection:
        yield path, connection


def ask(database, sql, **parameters):
    with database.querying() as connection:
        return asked(connection, sql, **parameters)


def asked(connection, sql, **parameters):
    found = run_query(connection, Query(sql, parameters))
    return found.columns, [row for batch in found.batches for row in batch]


@pytest.mark.parametrize("sql", [
    "SELECT 1 AS a, 'x' AS b -- comment\n;", "WITH t AS (SELECT 1 AS a, 'x' AS b) SELECT * FROM t",
    "FROM (VALUES (1, 'x')) AS t(a, b)", "SELECT t.a, 'x' AS b FROM range(1, 2) AS t(a)",
])
def test_a_select_is_answered(database, sql):
    assert ask(database, sql) == (["a", "b"], [(1, "x")])


def test_explain_and_describe_are_answered(database):
    assert "TASK" in str(ask(database, "EXPLAIN (FORMAT json) SELECT * FROM task")).upper()
    assert "TASK" in str(ask(database, "/* how long? */ EXPLAIN ANALYZE SELECT * FROM task")).upper()
    assert ("slug", "VARCHAR") in [row[:2] for row in ask(database, "DESCRIBE task")[1]]


@pytest.mark.parametrize("sql", [
    "EXPLAIN /* a /* b */ SELECT 1 -- */ ANALYZE SELECT 1", "EXPLAIN (ANALYZE /* ) SELECT 1 -- */) SELECT 1",
    "EXPLAIN (ANALYZE, FORMAT 'json') SELECT 1", "EXPLAIN ANALYZE PREPARE p AS SELECT 1", "EXPLAIN PRAGMA version"])
def test_an_explain_is_refused_unless_its_select_is_found_for_certain(opened, sql):
    _, connection = opened
    with pytest.raises(QueryError, match=r"only EXPLAIN, .* can explain a SELECT|must be exactly one SELECT"):
        asked(connection, sql)


@pytest.mark.parametrize("explain", [
    "EXPLAIN", "explain analyze", "EXPLAIN (FORMAT json)", "-- é\n/* why /* */ so */ EXPLAIN ANALYZE", "EXPLAIN -- a\r",
    "EXPLAIN\u00a0", "-- a\rEXPLAIN"])
def test_an_explain_is_answered_and_its_errors_show_the_line(opened, explain):
    _, connection = opened
    assert asked(connection, f"{explain} SELECT slug FROM task")[0] == ["explain_key", "explain_value"]
    with pytest.raises(QueryError) as caught:
        asked(connection, f"{explain}\nSELECT no_such\nFROM task")
    line = 2 + explain.count("\n")
    assert str(caught.value).startswith(f"SQL:{line}: ")
    assert one_caret(caught.value) == "  SELECT no_such\n         ^"


def test_text_that_no_unicode_text_can_hold_is_refused(opened):
    _, connection = opened
    with pytest.raises(QueryError, match="must be Unicode text"):
        asked(connection, "SELECT '\ud800'")


@pytest.mark.parametrize("sql", ["SELECT 1 AS a\u00a0;", "\ufeffSELECT ';é' AS a; -- ;", "SELECT 1 AS a --\r"])
def test_rows_are_counted_whatever_blanks_and_comments_end_a_query(opened, sql):
    _, connection = opened
    cursor = get_driver(connection).duplicate()
    assert (describe_columns(cursor, Query(sql, {})), count_rows(cursor, Query(sql, {}))) == (["a"], 1)


def test_parameters_are_bound_and_never_spliced(database):
    evil = "'; DROP TABLE task; --"
    assert ask(database, "SELECT $a AS a, $b + 1 AS b", a=evil, b=2)[1] == [(evil, 3)]
    with pytest.raises(QueryError, match=r"the parameter b has no value; add --param NAME=VALUE, or name=value in"):
        ask(database, "SELECT $a, $b", a=1)
    with pytest.raises(QueryError, match=r"the query has no parameter \$b"):
        ask(database, "SELECT $a", a=1, b=2)


def test_rows_come_as_they_are_asked_for(database):
    """Of a result that nobody could keep, the first rows are there at once."""
    with database.querying() as connection:
        found = run_query(connection, Query("SELECT range AS n FROM range(1000000000000)", {}))
        assert next(found.batches)[:2] == [(0,), (1,)]


@pytest.mark.parametrize(("sql", "place", "excerpt"), [
    ("SELECT nothing\nFROM task", "SQL:1:", "  SELECT nothing\n         ^"),
    ("SELECT slug\nFROM task WERE slug = 1", "SQL:2:", "  FROM task WERE slug = 1\n                 ^"),
    ("SELECT 'äö',\n  no_such(1)", "SQL:2:", "    no_such(1)\n    ^"),
    ("SELECT 'x'::INT", "SQL:1:", "  SELECT 'x'::INT\n            ^"),
])
def test_errors_show_the_line(database, sql, place, excerpt):
    with pytest.raises(QueryError) as caught:
        ask(database, sql)
    assert str(caught.value).startswith(place)
    assert one_caret(caught.value) == excerpt


@pytest.mark.parametrize("sql", REFUSED)
def test_everything_else_is_refused_in_one_line(opened, tmp_path, sql):
    path, connection = opened
    for name in ("secret.txt", "secret.csv"):
        (tmp_path / name).write_text("hidden")
    rows = [1, 2, 3]  # noqa: F841  (DuckDB could read a Python variable of that name)
    before = path.read_bytes(), sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(QueryError) as caught:
        asked(connection, sql)
    assert "\n" not in str(caught.value)
    assert "hidden" not in str(caught.value) + caught.value.excerpt
    assert (path.read_bytes(), sorted(p.name for p in tmp_path.iterdir())) == before


@pytest.mark.parametrize(("sql", "value"), [
    ("SELECT count(*) FILTER (WHERE n > 1) FROM range(4) t(n)", 2),
    ("SELECT sum(n) OVER (ORDER BY n) FROM range(3) t(n) ORDER BY n DESC", 3),
    ("SELECT row_number() OVER (), rank() OVER (ORDER BY n) FROM range(1) t(n)", 1),
    ("SELECT coalesce(NULL, if(true, 'a' || 'b', 'c'))", "ab"),
    ("SELECT list_sum([x * 2 for x in [1, 2] if x > 1])", 4), ("SELECT [1, 2, 3][2]", 2),
    ("SELECT ({'a': 1}).a + map {'k': 2}['k']", 3), ("SELECT '{\"a\": \"x\"}' ->> '$.a'", "x"),
    ("SELECT regexp_replace('abc', 'b.', 'x')", "ax"), ("SELECT 'abc' LIKE 'a%' AND 'abc' SIMILAR TO 'a.c'", True),
    ("SELECT extract(year FROM DATE '2020-02-01' + INTERVAL 1 YEAR)", 2021),
    ("SELECT typeof(current_date) || typeof(now())", "DATETIMESTAMP WITH TIME ZONE"),
    ("SELECT string_agg(s, ',' ORDER BY s) FROM (VALUES ('b'), ('a')) t(s)", "a,b"),
    ("SELECT n FROM (SELECT unnest([3]) AS n) GROUP BY CUBE (n) HAVING grouping(n) = 0", 3),
    ("SELECT quantile_cont(n, 0.5)::INT FROM range(3) t(n)", 1), ("SELECT format('{:.2f}', 1.5)", "1.50"),
    ("SELECT count(*) > 5 FROM information_schema.tables", True), ("SELECT a FROM (VALUES (1)) AS pg(a)", 1),
    ("SELECT count(*) FROM duckdb_views WHERE view_name = 'leaderboard'", 1),
])
def test_everyday_sql_is_answered(opened, sql, value):
    _, connection = opened
    assert asked(connection, sql)[1][0][0] == value


def test_what_does_not_fit_into_memory_goes_to_no_disk(database, tmp_path):
    with database.querying(memory=50_000_000) as connection, pytest.raises(MemoryError, match="more memory"):
        next(run_query(connection, Query("SELECT range FROM range(100000000) ORDER BY hash(range)", {})).batches)
    assert [path.name for path in tmp_path.iterdir()] == ["r.duckdb"]


@pytest.mark.parametrize("sql", [
    "SELECT $n AS n, 'x;' AS s FROM range(3)", "SELECT $n AS n, 'x;' AS s FROM range(3) ; -- done;\n;",
    "WITH t AS (SELECT $n AS n, 'x;' AS s FROM range(3)) FROM t -- ;",
])
def test_parquet_is_written_to_the_allowed_file_only(database, tmp_path, sql):
    file, other = tmp_path / "it's.parquet", tmp_path / "other.parquet"
    query = Query(sql, {"n": 2})
    with database.querying(output=file) as connection:
        write_parquet(connection, query, file)
        with pytest.raises(QueryError, match="file system operations are disabled"):
            write_parquet(connection, query, other)
        with pytest.raises(QueryError, match="queries may not use"):
            run_query(connection, Query(f"FROM read_parquet('{other}')", {}))
        with pytest.raises(LimitError, match="more than 2 rows"):
            write_parquet(connection, query, file, max_rows=2)
        with pytest.raises(QueryError, match="EXPLAIN has no rows"):
            write_parquet(connection, Query("EXPLAIN SELECT 1", {}), file)
        with pytest.raises(QueryError, match=r"^SQL:2: .*nothing") as caught:
            write_parquet(connection, Query("SELECT 1 AS a,\n nothing", {}), file)
        assert one_caret(caught.value) == "   nothing\n   ^"
    assert not other.exists()
