"""What a user's SQL may name, in the installed version of DuckDB."""

import re

import duckdb
import pytest

from registry.errors import QueryError
from registry.query import schema
from registry.query.check import check, is_denied
from registry.query.request import Query
from registry.store.database import Database
from tests.query.refused import DENIED

# All table functions and views of DuckDB that queries may use: they compute, or describe tables.
TABLE_FUNCTIONS = """
    generate_series json_each json_tree range repeat repeat_row summary unnest test_all_types test_vector_types
    icu_calendar_names pg_timezone_names duckdb_columns duckdb_constraints duckdb_functions duckdb_indexes
    duckdb_keywords duckdb_schemas duckdb_sequences duckdb_tables duckdb_types duckdb_views pragma_storage_info
    pragma_table_info pragma_version
"""
VIEWS = """
    duckdb_columns duckdb_constraints duckdb_indexes duckdb_schemas duckdb_tables duckdb_types duckdb_views
    sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema character_sets check_constraints columns
    constraint_column_usage constraint_table_usage key_column_usage referential_constraints schemata
    table_constraints tables views pg_am pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_database
    pg_depend pg_description pg_enum pg_index pg_indexes pg_namespace pg_prepared_statements pg_proc pg_sequence
    pg_sequences pg_tables pg_tablespace pg_type pg_views
"""
# Functions that queries may call although their results do not follow from their arguments; `nextval` and `currval`
# fail on a database that is opened for reading.
NOT_PURE = """
    random setseed uuid uuidv4 uuidv7 gen_random_uuid now today current_date get_current_time get_current_timestamp
    transaction_timestamp txid_current current_connection_id current_query_id current_transaction_id current_database
    current_schema current_schemas in_search_path error stats nextval currval setval getvariable vector_type
    current_localtime current_localtimestamp
"""
# Functions that queries may call although their names look dangerous.
DANGEROUS = re.compile(
    r"(^|_)read|writ|scan|file|path|glob|sniff|parquet|pandas|arrow|python|setting|secret|env|pragma|duckdb|log|profil|"
    r"checkpoint|enable|disable|truncate|load|install|attach|import|export|copy|sql|quer|exec|substrait|prepare|plan|"
    r"sleep|wait|memory|extension|connection|http|pointer|address")
HARMLESS = """
    log log2 log10 parse_filename parse_path parse_dirpath parse_duckdb_log_message json_extract_path
    json_extract_path_text in_search_path json_serialize_sql json_deserialize_sql current_connection_id current_query_id
    variant_to_parquet_variant current_catalog pg_conf_load_time path_join
"""
# Macros of DuckDB that queries may call although they read a table function.
READING = {"format_type", "pg_get_constraintdef", "pg_get_viewdef", "get_block_size"}


@pytest.fixture(scope="module")
def driver():
    with duckdb.connect() as connection:
        yield connection


def allowed(driver, use, sql):
    return {name for (name,) in driver.execute(sql).fetchall() if not is_denied(use, name)}


def functions_where(driver, condition):
    return allowed(driver, "function", "SELECT lower(function_name) FROM duckdb_functions() WHERE internal "
                                       f"AND function_type IN ('scalar', 'aggregate', 'macro') AND ({condition})")


def test_table_functions_and_views_that_a_new_duckdb_adds_are_noticed(driver):
    assert allowed(driver, "table function", """SELECT lower(function_name) FROM duckdb_functions()
        WHERE internal AND function_type IN ('table', 'table_macro')""") <= set(TABLE_FUNCTIONS.split())
    assert allowed(driver, "table", "SELECT lower(view_name) FROM duckdb_views() WHERE internal") <= set(VIEWS.split())


def test_functions_that_do_more_than_compute_are_noticed(driver):
    assert {name for name in functions_where(driver, "true") if DANGEROUS.search(name)} <= set(HARMLESS.split())
    # Functions of dates depend on the time zone in some of their overloads only.
    consistent = "SELECT function_name FROM duckdb_functions() WHERE stability = 'CONSISTENT'"
    assert functions_where(driver, "stability = 'VOLATILE' OR has_side_effects OR stability <> 'CONSISTENT' "
                                   f"AND function_name NOT IN ({consistent})") <= set(NOT_PURE.split())
    assert functions_where(driver, r"regexp_matches(macro_definition, '\bFROM\b')") <= READING


@pytest.mark.parametrize("call", [
    "__internal_decompress_string(1::UHUGEINT)", "__internal_compress_string_hugeint('a')"])
def test_duckdb_itself_refuses_calls_of_its_internal_functions(driver, call):
    """They would read memory beyond a text."""
    with pytest.raises(duckdb.BinderException, match="internal use only"):
        driver.execute(f"SELECT {call}")


def test_nothing_of_the_registry_is_denied(tmp_path, empty_registry):
    (tmp_path / "r.duckdb").write_bytes(empty_registry)
    with Database(tmp_path / "r.duckdb").reading() as connection:
        things = schema.load_data_model(connection)
    uses = {"table": ["table"], "view": ["table"], "macro": ["function", "table function"]}
    assert len(things) > 60
    assert [thing.name for thing in things if any(is_denied(use, thing.name) for use in uses[thing.kind])] == []


@pytest.mark.parametrize("sql", DENIED)
def test_denied_names_are_found_wherever_they_are(driver, sql):
    with pytest.raises(QueryError, match="may only read the tables and views of the registry"):
        check(driver, Query(sql, {}))


@pytest.mark.parametrize("sql", [
    "WITH query AS (SELECT 1 AS read_text), secrets AS (FROM query) SELECT read_text FROM secrets",
    "SELECT 'read_csv(1)', 'a' GLOB 'a*'", "SELECT histogram(n) FROM range(9) AS t(n)",
    "SELECT a.enable_logging FROM task AS a",
    "EXPLAIN SELECT 1 -- duckdb_settings()", "DESCRIBE task", "SHOW TABLES", "SUMMARIZE task"])
def test_names_of_columns_and_of_a_query_s_own_tables_are_free(driver, sql):
    assert check(driver, Query(sql, {})).sql == sql
