"""SQL texts that try to print hidden names and scores.

Every family below combines a way around a check with a SELECT that would print a secret. The order of the texts is the
same in every run.
"""

import random
from dataclasses import dataclass
from itertools import cycle, product


@dataclass(frozen=True)
class Text:
    """One attack: its family and its SQL."""

    family: str
    sql: str


# Columns that hold names of the anonymous task, and numbers of the embargoed one.
NAMES = (("team", "name"), ("system", "name"), ("submission", "attributes"), ("submission_source", "name"),
         ("event", "subject"), ("event", "actor"), ("leaderboard", "team"))
NUMBERS = (("statistics_ratio", "numerator"), ("item_score", "score"), ("score", '"value"'), ("standing", "score"),
           ("pair_result", "p_value"), ("pair_result", "difference"), ("comparison_pair", "p_adjusted"),
           ("leaderboard", "score"))
COLUMNS = NAMES + NUMBERS

# A registry's own tables by their full names: {0} is the table.
QUALIFIED = (
    "registry.main.{0}", "registry.{0}", '"registry"."main"."{0}"', "REGISTRY.MAIN.{0}", '"Registry".main."{0}"',
    "registry . main . {0}", "registry/**/./* x */main.{0}", "registry--\n.main.{0}", 'U&"registry".main.{0}',
    "main.{0}", "temp.{0}", "temp.main.{0}", '"registry.main.{0}"', "'registry.main.{0}'", "system.main.{0}",
    "memory.main.{0}", "pg_catalog.{0}", "information_schema.{0}", "registry.information_schema.{0}",
    "registry.\u00a0main.{0}", "\ufeffregistry.main.{0}", "registry\u2028.main.{0}", "registry.main\u200b.{0}")

# Conditions on a column {0} that fail and print its value; DuckDB knows of some only that they can fail.
FAILING = (
    "('x' || {0})::INT = 1", "error('x' || {0}) IS NULL", "regexp_full_match('a', '(' || {0})",
    "regexp_replace('a', '(' || {0}, 'b') = 'a'", "('x' || {0})::BIT = '1'::BIT", "('x' || {0})::UUID = uuid()",
    "('x' || {0})::INT[] = [1]", "[x::INT for x in ['x' || {0}]] = [1]",
    "list_transform(['x' || {0}], lambda x: x::INT) = [1]", "date_trunc('x' || {0}, now()) = now()",
    "parse_formatted_bytes('x' || {0}) = 1", "json_extract('x' || {0}, '$.a') IS NULL", "('x' || {0})::DATE = today()",
    "strptime('x' || {0}, '%Y') = now()", "from_hex('x' || {0}) = 'a'", "format('{{:d}}', 'x' || {0}) = 'a'",
    "('x' || {0})::ENUM('a', 'b') = 'a'", "CASE WHEN {0} IS NOT NULL THEN ('x' || {0})::INT END = 1",
    "coalesce(('x' || {0})::DATE, today()) = today()", "(SELECT ('x' || {0})::INT) = 1",
    "EXISTS (SELECT 1 FROM range(1) WHERE ('x' || {0})::INT = 1)",
    "from_json_strict('\"x' || {0} || '\"', '\"INT\"') = 1",
    "bitstring('x' || {0}, 3) = '1'::BIT", "date_part('x' || {0}, now()) = 1", "('x' || {0})::DECIMAL(3, 1) = 1",
    "like_escape('a', 'b%', 'x' || {0})", "unbin('x' || {0}) = 'a'", "hamming('a', 'x' || {0}) = 1")
LONG = "if(length({0}::VARCHAR) > 8, {0}, NULL)"  # most visible numbers are short, and a failing one ends the query
# Where a condition {1} stands over a table {0}.
PLACES = (
    "SELECT count(*) FROM {0} WHERE {1}", "SELECT {1} FROM {0}", "SELECT 1 FROM {0} ORDER BY {1}",
    "SELECT count(*) FROM {0} JOIN range(3) AS r(n) ON r.n >= 0 AND {1}", "SELECT count(*) FILTER ({1}) FROM {0}",
    "SELECT 1 FROM {0} GROUP BY {1}", "SELECT count(*) FROM {0} HAVING bool_or({1})",
    "SELECT n FROM range(3) AS r(n), LATERAL (SELECT 1 FROM {0} WHERE {1})",
    "SELECT n, (SELECT count(*) FROM {0} WHERE {1}) FROM range(3) AS r(n)",
    "SELECT max({1}) OVER () FROM {0}", "WITH t AS (FROM {0} WHERE {1}) SELECT count(*) FROM t",
    "SELECT 1 FROM {0} QUALIFY row_number() OVER (ORDER BY {1}) = 1",
    "SELECT 1 FROM {0} AS a SEMI JOIN (SELECT 1 AS n) AS b ON b.n = 1 AND {1}")

# EXPLAIN before the unchecked SELECT {0}; a reader of comments that DuckDB's differs from finds another SELECT.
EXPLAIN = (
    "EXPLAIN ANALYZE {0}", "EXPLAIN {0}", "explain\tanalyze\n{0}", "EXPLAIN (FORMAT json) {0}",
    "EXPLAIN (ANALYZE, FORMAT json) {0}", "EXPLAIN (ANALYZE true) {0}", "EXPLAIN (ANALYZE, FORMAT 'json') {0}",
    "EXPLAIN ANALYZE /* a /* b */ */ {0}", "EXPLAIN ANALYZE /* /* */ SELECT 1 */ {0}",
    "EXPLAIN /* a /* b */ SELECT 1 -- */ ANALYZE {0}", "EXPLAIN ANALYZE /* /* */ SELECT 1 -- */ */ {0}",
    "EXPLAIN ANALYZE -- a\r {0} -- \n", "EXPLAIN ANALYZE -- a\r{0} --\nSELECT 1", "EXPLAIN ANALYZE --\rSELECT 1--\n{0}",
    "EXPLAIN (ANALYZE, FORMAT /* ) SELECT 1 -- */ json) {0}", "EXPLAIN (ANALYZE /* ( */, FORMAT json) {0}",
    "EXPLAIN (ANALYZE -- )SELECT 1--\n) {0}", "EXPLAIN (FORMAT '/*', ANALYZE) {0} --*/",
    "/**/EXPLAIN/**/ANALYZE/**/{0}",
    "/* /* */ EXPLAIN SELECT 1 -- */ EXPLAIN ANALYZE {0}", "-- EXPLAIN SELECT 1\rEXPLAIN ANALYZE {0}",
    "--\rEXPLAIN ANALYZE {0}--\n", "EXPLAIN ANALYZE\u00a0{0}", "\ufeffEXPLAIN ANALYZE {0}", "EXPLAIN\u2003ANALYZE {0}",
    "EXPLAIN ANALYZE ({0})", "EXPLAIN ANALYZE {0};", "EXPLAIN ANALYZE {0} -- ;", ";;EXPLAIN ANALYZE {0};;",
    "EXPLAIN ANALYZE EXPLAIN {0}", "EXPLAIN ANALYZE WITH t AS ({0}) FROM t", "FROM (EXPLAIN ANALYZE {0})",
    "EXPLAIN ANALYZE SUMMARIZE {0}", "EXPLAIN ANALYZE DESCRIBE {0}", "EXPLAIN ANALYZE CREATE TEMP TABLE t AS {0}",
    "EXPLAIN ANALYZE COPY ({0}) TO 'x.csv'", "EXPLAIN ANALYZE PREPARE p AS {0}", "EXPLAIN ANALYZE (FROM ({0}))")
# What a text may do to the parentheses that a program puts around it.
WRAPPED = (
    "SELECT 1) UNION ALL ({0}", "SELECT '1') UNION ALL ({0}) --", "SELECT '1' UNION ALL {0} --", "({0})", "(({0}));",
    "{0} /*", "{0} /* ) */", "{0} --\r", "{0};--\r", "{0}; /* ; */ ;", "SELECT 1; {0}", "{0}; SELECT 1",
    "SELECT ';' UNION ALL {0};", "SELECT $$;$$ UNION ALL {0};--", "\u00a0;{0}", "SELECT 'é;' UNION ALL {0} ;\u00a0",
    "SELECT 1) AS t, ({0}) AS u --", "SELECT 1) TO 'x.csv'; {0} --", "{0}) LIMIT 0 UNION ALL ({0}", "{0} ) --")
ENCODED = (
    "\ufeff{0}", "{0}\ufeff", "\u00a0{0}\u00a0", "\u200b{0}", "\u2028{0}", "{0}\u2029", "\r{0}\r", "\r\n{0}\r\n",
    "{0}\0",
    "\0{0}", "{0};\0", "{0}\x1a", "\u3000{0}", "\x0b{0}", "\x0c{0}", "{0}\ud800", "/*\0*/{0}", "--\u2028{0}",
    "--\u0085{0}", "--\x0b{0}", "--\x0c{0}", "\u202e{0}", "--\r{0}", "\\\n{0}", "{0}\\")
STATEMENTS = (
    "SUMMARIZE {0}", "DESCRIBE {0}", "SHOW {0}", "TABLE {0}", "FROM {0}", "FROM (SUMMARIZE {0})", "FROM (DESCRIBE {0})",
    "FROM (TABLE {0})", "PIVOT {0} ON {1} IN ('x')", "PIVOT {0} ON {1}", "UNPIVOT (SELECT {1} FROM {0}) ON {1}",
    "FROM (PIVOT {0} ON {1} IN ('x') USING min({1}))", "VALUES ((SELECT min({1}) FROM {0}))",
    "SELECT min({1}) FROM {0}", "SELECT list({1}) FROM {0}", "SELECT string_agg({1}, ',') FROM {0}",
    "SELECT histogram({1}) FROM {0}", "SELECT t FROM {0} AS t", "SELECT {0} FROM {0}", "SELECT COLUMNS(*) FROM {0}",
    "SELECT COLUMNS('.*')::VARCHAR FROM {0}", "SELECT to_json(t) FROM {0} AS t", "FROM {0} POSITIONAL JOIN range(99)",
    "SELECT max({1}) OVER () FROM {0}", "SELECT unnest((SELECT list({1}) FROM {0}))", "FROM summary((FROM {0}))",
    "FROM histogram({0}, {1})", "FROM histogram_values('{0}', {1})", "FROM query_table('{0}')",
    "FROM query('FROM {0}')", "FROM pragma_storage_info('{0}')", "PRAGMA storage_info('{0}')",
    "PRAGMA table_info('{0}')",
    "SELECT json_execute_serialized_sql(json_serialize_sql('FROM {0}'))", "FROM {0} TABLESAMPLE 100%",
    "FROM json_each((SELECT to_json(list(t)) FROM {0} AS t))", "SELECT * FROM {0} ORDER BY ALL LIMIT 3",
    "FROM {0} AS a ASOF JOIN {0} AS b ON a.{1} >= b.{1}", "CALL query_table('{0}')", "PREPARE p AS FROM {0}",
    "SET VARIABLE v = (SELECT min({1}) FROM {0})", "CREATE TEMP VIEW v AS FROM {0}", "COPY {0} TO '/dev/stdout'",
    "DELETE FROM {0} RETURNING *", "UPDATE {0} SET {1} = {1} RETURNING *", "INSERT INTO {0} FROM {0} RETURNING *",
    "MERGE INTO {0} USING {0} ON false WHEN MATCHED THEN DELETE RETURNING *", "FROM sql_auto_complete('FROM {0}')",
    "SELECT getvariable('{0}')", "SHOW TABLES FROM registry", "FROM checkpoint('registry')")
CTES = (
    "WITH {0} AS (FROM {1}) FROM {0}", "WITH registry AS (FROM {1}) FROM registry",
    "WITH t AS MATERIALIZED (FROM {1}) FROM t",
    "WITH t AS NOT MATERIALIZED (FROM {1}) FROM t", "WITH RECURSIVE t AS (FROM {1} UNION FROM t) FROM t",
    "WITH a AS (WITH b AS (FROM {1}) FROM b) FROM a", "WITH {0} AS (SELECT 1) FROM {1}",
    "WITH {0} AS (FROM {0}) SELECT * FROM {0}, {1}", "FROM (WITH {0} AS (FROM {1}) FROM {0}) AS {0}",
    "SELECT (WITH t AS (FROM {1}) SELECT min(t) FROM t)", "WITH t(a) AS (SELECT 1) FROM t, LATERAL (FROM {1})",
    "WITH RECURSIVE t AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 1) FROM t, {1}")
MACROS = (
    "FROM {0}difference_region('masked/test/Quorvath/Zyphronel', 'masked/test/Xanthopel/Kirrawind')",
    "FROM {0}n_best('masked/test/Quorvath/Zyphronel')",
    "FROM {0}contingency('sealed/test/system0', 'sealed/test/system1')",
    "FROM {0}scoring_named('sealed/test/system0/system0')", "FROM {0}scoring_named('masked/test/Quorvath/Zyphronel')",
    "FROM {0}discordant_items('sealed/test/system0/system0', 'sealed/test/system1/system1')",
    "FROM {0}responses('masked/test/Quorvath/Zyphronel')",
    "FROM {0}above((SELECT min(name) FROM registry.main.team), 1)",
    "SELECT {0}scoring_named((SELECT min(name) FROM registry.main.team))")
FILES = (
    "SELECT content FROM read_text('registry.duckdb')", "FROM read_blob('registry.duckdb')", "FROM 'registry.duckdb'",
    "FROM read_csv('tasks/scores.csv')", "FROM 'tasks/scores.csv'", "FROM glob('tasks/*')",
    "ATTACH 'registry.duckdb' AS r",
    "FROM read_duckdb('registry.duckdb', table_name => 'team')", "FROM sniff_csv('tasks/scores.csv')",
    "SET enable_external_access = true", "SELECT current_setting('allowed_paths')", "FROM duckdb_settings()",
    "FROM duckdb_temporary_files()", "FROM duckdb_logs", "FROM pragma_database_list",
    "FROM duckdb_prepared_statements()",
    "FROM duckdb_views()", "FROM duckdb_tables()", "FROM duckdb_columns()", "FROM duckdb_constraints()",
    "FROM sqlite_master",
    "FROM pg_catalog.pg_stats", "FROM duckdb_memory()", "FROM duckdb_connection_count()", "SHOW ALL TABLES",
    "FROM source", "SELECT decode(content) FROM source", "FROM study_part", "FROM tombstone", "FROM run", "FROM event",
    "FROM item_text",
    "FROM pair", "FROM pairwise",
    "FROM submission_score")
# Texts that printed a secret in version 0.1; the short form has all of them.
KNOWN = (
    "EXPLAIN ANALYZE -- a\r SELECT error(string_agg(name, ' ')) FROM registry.main.team -- \n",
    "EXPLAIN /* a /* b */ SELECT 1 -- */ ANALYZE SELECT error(string_agg(name, ' ')) FROM registry.main.team",
    "EXPLAIN (ANALYZE /* ) SELECT 1 -- */) SELECT error(string_agg(p_value, ' ')) FROM registry.main.pair_result",
    "/* /* */ EXPLAIN SELECT 1 -- */ EXPLAIN ANALYZE SELECT error(string_agg(score, ' ')) FROM registry.main.standing",
    *(f"SELECT count(*) FROM {table} WHERE {FAILING[n].format(LONG.format(column))}" for n, (table, column)
      in product((2, 4, 5, 7), (("statistics_ratio", "numerator"), ("pair_result", "p_value")))))


def _select(table, column, base="registry.main.{0}"):
    """A SELECT that fails and prints all values of a column, whatever stands around it."""
    return f"SELECT error(string_agg({column}, ' ')) FROM {base.format(table)}"


def _families():
    """The texts of each family, in all combinations."""
    yield "explain", [shape.format(_select(*column)) for shape, column in product(EXPLAIN, COLUMNS)]
    yield "wrapped", [shape.format(f"SELECT {column}::VARCHAR FROM {base.format(table)}")
                      for shape, base, (table, column)
                      in product(WRAPPED, ("{0}", "registry.main.{0}"), COLUMNS)]
    yield "encodings", [shape.format(_select(*column)) for shape, column in product(ENCODED, COLUMNS)]
    yield "qualified", [f"SELECT {column} FROM {base.format(table)}" for base, (table, column)
                        in product(QUALIFIED, COLUMNS)]
    yield "statements", [shape.format(base.format(table), column) for shape, base, (table, column)
                         in product(STATEMENTS, ("{0}", "registry.main.{0}"), COLUMNS)]
    yield "ctes", [shape.format(table, base.format(table)) for shape, base, (table, _)
                   in product(CTES, ("{0}", "registry.main.{0}"), COLUMNS)]
    yield "failing", [place.format(table, condition.format(LONG.format(column))) for condition, place, (table, column)
                      in product(FAILING, PLACES, NUMBERS)]
    yield "macros", [shape.format(schema) for shape, schema in product(MACROS, ("", "registry.main.", "main."))]
    yield "files", list(FILES)
    yield "known", list(KNOWN)


def texts(per_family=None, seed=51):
    """All texts, or as many of each family, drawn so that every shape of a way around occurs."""
    found = []
    for family, members in _families():
        chosen = members
        if per_family is not None:
            chosen = list(members)
            random.Random(seed).shuffle(chosen)
            chosen = chosen[:per_family]
        found += [Text(family, sql) for sql in chosen]
    return found


@dataclass(frozen=True)
class Leak:
    """Secrets that a text made a reader print."""

    way: str
    text: Text
    secrets: frozenset[str]


def leaks(ways, chosen, secrets, *, every_way=False):
    """Send texts in one way each, in turn, or in every way; return those whose answers hold a secret.

    A secret that the text itself holds does not count.
    """
    found, turns = [], cycle(ways.items())
    for text in chosen:
        for way, send in ways.items() if every_way else [next(turns)]:
            if printed := secrets.found(send(text.sql)) - secrets.found(text.sql):
                found.append(Leak(way, text, frozenset(printed)))
    return found
