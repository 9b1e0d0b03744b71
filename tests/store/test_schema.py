"""The schema is complete, pinned to its revision, and the same by `registry init` as by alembic."""

import duckdb
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from registry.errors import InputError, SchemaError
from registry.identity import digest_json
from registry.store import definitions, models, schema
from registry.store.database import CONFIG, Database
from registry.store.log import digested_columns
from registry.store.rows import get_driver
from registry.store.session import create
from tests.conftest import ROOT

CHANGED = """
the schema (tables, views, macros or comments) has changed, and so must its revision, because registries of the old one
cannot be opened any more. Until release 0.2.0, write into registry/store/schema.py:

    REVISION = "{revision}\""""


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "r.duckdb")
    database.create()
    return database


@pytest.fixture(scope="module")
def as_made(tmp_path_factory, empty_registry):
    """A new registry that nobody writes to."""
    path = tmp_path_factory.mktemp("made") / "r.duckdb"
    path.write_bytes(empty_registry)
    with Database(path).reading() as connection:
        yield connection


def set_revision(database, revision):
    with duckdb.connect(str(database.path), config=CONFIG) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])


def alembic_config(connection, stdout):
    config = Config(stdout=stdout)
    config.set_main_option("script_location", str(ROOT / "migrations"))
    config.attributes["connection"] = connection
    return config


def described(connection):
    """Everything that a database defines, in the words of DuckDB: by kind, the rows of its catalog."""
    return {name: connection.execute(text(query)).all() for name, query in {
        "tables": "SELECT table_name, comment, sql FROM duckdb_tables() WHERE NOT internal ORDER BY ALL",
        "columns": """
            SELECT table_name, column_index, column_name, data_type, is_nullable, column_default, comment
            FROM duckdb_columns() WHERE NOT internal ORDER BY ALL""",
        "keys": """
            SELECT table_name, constraint_type, constraint_column_names FROM duckdb_constraints()
            WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') ORDER BY ALL""",
        "views": "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
        "macros": """
            SELECT function_name, parameters, comment FROM duckdb_functions()
            WHERE NOT internal AND function_type IN ('macro', 'table_macro') ORDER BY ALL""",
        "revision": "FROM alembic_version"}.items()}


def declared():
    """Everything that the program declares of the schema: DuckDB writes statements in words of its own."""
    tables = {table.name: [
        table.comment, [[column.name, str(column.type), column.nullable, column.comment] for column in table.columns],
        sorted([type(key).__name__, [column.name for column in key.columns]] for key in table.constraints),
        digested_columns(table.name)] for table in models.metadata.sorted_tables}
    return [tables, [[view.name, view.comment, dict(view.columns), view.select] for view in schema.load_views()],
            [[macro.name, macro.full_comment, macro.statement] for macro in schema.load_macros()]]


def test_a_changed_schema_has_another_revision():
    revision = digest_json(declared()).removeprefix("sha256:")[:12]
    assert revision == schema.REVISION, CHANGED.format(revision=revision)


def test_alembic_makes_what_init_makes(as_made, tmp_path):
    path = tmp_path / "migrated.duckdb"
    engine = create_engine(f"duckdb:///{path}", connect_args={"config": CONFIG})  # the format that DuckDB 1.5 reads
    with open("/dev/null", "w") as silent, engine.begin() as connection:
        command.upgrade(alembic_config(connection, silent), "head")
    engine.dispose()
    with Database(path).reading() as migrated:
        found = described(migrated)
        assert definitions.find_alterations(get_driver(migrated)) == []
    assert found == described(as_made)
    assert found["revision"] == [(schema.REVISION,)]
    assert len(found["tables"]) == len(models.metadata.tables) + 1
    assert all(found.values())


def test_alembic_finds_nothing_to_migrate(database):
    with open("/dev/null", "w") as silent, database.writing(dry_run=True) as connection:
        for view in reversed(schema.load_views()):  # which alembic would take for tables
            connection.execute(text(f'DROP VIEW "{view.name}"'))
        command.check(alembic_config(connection, silent))


def test_creating_twice_changes_nothing(database):
    before = database.path.read_bytes()
    assert not create(database)
    assert database.path.read_bytes() == before


@pytest.mark.parametrize("revision", ["0018", "9999"])
def test_a_registry_of_another_revision_is_refused(database, registry, revision):
    set_revision(database, revision)
    before = database.path.read_bytes()
    said = (f"another version of this program made this registry \\(its schema is {revision}, but evalregistry "
            f"[0-9.a-z]+ needs {schema.REVISION}\\); open it with that version, or create a new registry by `registry "
            "run MANIFEST --db NEW.duckdb`")
    for enter in (database.reading, database.writing, database.querying):
        with pytest.raises(SchemaError, match=said), enter():
            pass
    with pytest.raises(SchemaError, match=said):
        create(database)
    for arguments in (["init"], ["board"], ["verify"], ["query", "FROM task"], ["score"]):
        told = registry(*arguments, "--db", database.path, exit_code=4).stderr
        assert f"its schema is {revision}" in " ".join(told.split())
    assert database.path.read_bytes() == before


@pytest.mark.parametrize("view", schema.load_views(), ids=lambda view: view.name)
def test_every_view_can_be_selected_and_says_what_it_claims(as_made, view):
    assert as_made.execute(text(f'SELECT * FROM "{view.name}"')).all() == []
    comment = as_made.execute(
        text("SELECT comment FROM duckdb_views() WHERE view_name = :name"), {"name": view.name}).scalar_one()
    assert comment == view.comment
    assert len(comment) > 60


@pytest.mark.parametrize("tables", [
    [], ["CREATE TABLE t (a INT)"],
    ["CREATE TABLE alembic_version (version_num VARCHAR)", "INSERT INTO alembic_version VALUES ('0022')"]])
def test_another_database_is_not_a_registry(tmp_path, tables):
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        for statement in tables:
            connection.execute(statement)
    before = (tmp_path / "other.duckdb").read_bytes()
    other = Database(tmp_path / "other.duckdb")
    with pytest.raises(InputError, match="not a registry"):
        create(other)
    with pytest.raises(InputError, match="not a registry"), other.reading():
        pass
    assert (tmp_path / "other.duckdb").read_bytes() == before
