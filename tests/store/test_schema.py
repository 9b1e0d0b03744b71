"""Migrations and views: the schema is complete, versioned and free of drift."""

import duckdb
import numpy as np
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from registry.errors import InputError, SchemaError
from registry.families import FAMILIES
from registry.store import schema, statistics, views
from registry.store.database import CONFIG, Database
from registry.store.upkeep.rewrite import upgrade
from tests.store.older import older

COLUMNS = """
    SELECT table_name, column_name, ordinal_position, data_type, is_nullable FROM information_schema.columns
    WHERE table_name <> 'alembic_version' AND table_name IN (SELECT table_name FROM duckdb_tables())
    ORDER BY ALL"""
WORDS = """
    SELECT table_name, column_name, c.comment, t.comment, sql
    FROM duckdb_columns() AS c JOIN duckdb_tables() AS t USING (database_oid, table_oid, table_name) ORDER BY ALL"""
KEYS = """
    SELECT table_name, constraint_type, constraint_column_names FROM duckdb_constraints()
    WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND table_name <> 'alembic_version' ORDER BY ALL"""


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "r.duckdb")
    assert database.create()
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


def test_models_and_migrations_do_not_drift(as_made, tmp_path):
    """A new registry is made from the models, in every word as the migrations make it."""
    engine = create_engine(f"duckdb:///{tmp_path / 'migrated.duckdb'}")
    with engine.connect() as migrated:
        schema.upgrade(migrated)
        for query in (COLUMNS, KEYS, WORDS, "FROM alembic_version"):
            found = as_made.execute(text(query)).all()
            assert found
            assert migrated.execute(text(query)).all() == found
    engine.dispose()


def test_alembic_finds_nothing_to_migrate(database):
    config = Config(stdout=open("/dev/null", "w"))  # noqa: SIM115
    config.set_main_option("script_location", str(schema.migrations()))
    with database.writing() as connection:
        connection.execute(text("SELECT 1"))
        views.drop(connection)
        config.attributes["connection"] = connection
        command.check(config)
        views.create(connection)
    config.stdout.close()


def test_revisions_are_named_by_their_files():
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(schema.migrations()))
    assert [s.revision for s in reversed(list(scripts.walk_revisions()))] == schema.revisions()


def test_creating_twice_changes_nothing(database):
    before = database.path.read_bytes()
    assert not database.create()
    assert database.path.read_bytes() == before


def test_an_older_schema_says_how_to_upgrade(database):
    set_revision(database, "0000")
    known = schema.revisions()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "revisions", lambda: ["0000", *known])
        with pytest.raises(SchemaError, match=rf"0000 is older .* `registry init --db {database.path}`"), \
                database.reading():
            pass


def test_a_newer_schema_says_that_the_program_is_too_old(database):
    set_revision(database, "9999")
    for enter in (database.reading, database.writing, database.querying):
        with pytest.raises(SchemaError, match="9999 is newer than this program"), enter():
            pass
    with pytest.raises(SchemaError, match="newer"):
        database.create()


def test_an_upgrade_keeps_rows_and_makes_views_anew(database):
    """The views are dropped by hand; an upgrade from an older revision brings them back and loses nothing."""
    with duckdb.connect(str(database.path), config=CONFIG) as connection:
        connection.execute("INSERT INTO track VALUES (1, 1, 'open')")
        connection.execute("DROP VIEW pairwise")
        connection.execute("CREATE VIEW outdated AS SELECT 1")
    with database.writing() as connection:
        schema.upgrade(connection)
    with database.reading() as connection:
        assert connection.execute(text("SELECT name FROM track")).scalar_one() == "open"
        found = connection.execute(text("SELECT view_name FROM duckdb_views() WHERE NOT internal")).scalars()
        assert set(found) == {view.name for view in views.load()}


def test_runs_come_to_a_database_that_knew_none(tmp_path):
    """What stood there before rests on one run each, and was compared as such."""
    database = older(tmp_path / "r.duckdb", "0002")
    with duckdb.connect(str(database.path), config=CONFIG) as connection:
        connection.execute("INSERT INTO score VALUES (1, 2, 0.5, 6, 'sha256:0', 1), (3, 2, NULL, 6, 'x', 1)")
        connection.execute("INSERT INTO standing (comparison_id, position, submission_id, wins, losses) "
                           "VALUES (1, 0, 1, 0, 0)")
    assert upgrade(database)
    with database.reading() as connection:
        assert connection.execute(text("SELECT * FROM replicate_score ORDER BY ALL")).all() == [
            (1, 2, 0, 0.5), (3, 2, 0, None)]
        assert connection.execute(text("SELECT runs, run_deviation FROM standing")).all() == [(1, None)]


def test_scores_of_counts_stay_and_others_have_no_step(tmp_path):
    """Before there were steps, families that hold other numbers than counts kept them rounded."""
    database = older(tmp_path / "r.duckdb", "0006")
    with duckdb.connect(str(database.path), config=CONFIG) as connection:
        for n, family in enumerate(FAMILIES):
            connection.execute(f"INSERT INTO metric VALUES ({n}, 'M{n}', '{family}', 'higher')")
            connection.execute(f"INSERT INTO score VALUES (1, {n}, 0.5, 6, 'sha256:0', 1)")
    assert upgrade(database)
    with database.reading() as connection:
        steps = connection.execute(text("SELECT family, step FROM score JOIN metric USING (metric_id)"))
        assert dict(map(tuple, steps)) == {name: 1 if family.integer else None for name, family in FAMILIES.items()}


def test_statistics_of_older_registries_stand_beside_whole_ones(tmp_path):
    """Whole numbers have had a table of their own since 0012; before all were in one, which is a view now."""
    database = older(tmp_path / "r.duckdb", "0010")
    with duckdb.connect(str(database.path), config=CONFIG) as connection:
        connection.execute("INSERT INTO statistics_ratio VALUES (1, 2, 0, 10, 1, 1), (1, 2, 0, 11, 0.5, 1)")
    assert upgrade(database)
    new = statistics.Block(3, 2, np.array([10, 11]), np.array([[0.0, 1.0], [1.0, 1.0]]))
    with database.writing() as connection:
        statistics.insert_statistics(connection, "ratio", [new])
        held = connection.execute(text("SELECT scoring_id, item_id, numerator FROM statistics_ratio ORDER BY ALL"))
        assert held.all() == [(1, 10, 1), (1, 11, 0.5), (3, 10, 0), (3, 11, 1)]
        loaded, present = statistics.load_statistics(connection, "ratio", 2, [3, 1], 10, 2)
    assert present.all()
    assert [of[:, 0, 0].tolist() for of in loaded] == [[0, 1], [1, 0.5]]


def test_views_that_came_since_come_to_an_older_registry(database):
    """An upgrade makes all views anew."""
    later = {"confusion", "difference_interval", "item_output", "item_text", "pair"}
    with duckdb.connect(str(database.path), config=CONFIG) as connection:
        connection.execute(";".join(f"DROP VIEW {view}" for view in later)
                           + ";DROP TABLE pair_interval; ALTER TABLE task DROP COLUMN salt")
    set_revision(database, "0016")
    with pytest.raises(SchemaError, match="0016 is older"), database.reading():
        pass
    assert upgrade(database)
    with database.reading() as connection:
        found = connection.execute(text("SELECT view_name FROM duckdb_views() WHERE NOT internal")).scalars()
        assert set(found) >= later


@pytest.mark.parametrize("view", views.load(), ids=lambda view: view.name)
def test_every_view_can_be_selected_and_says_what_it_claims(as_made, view):
    assert as_made.execute(text(f'SELECT * FROM "{view.name}"')).all() == []
    comment = as_made.execute(
        text("SELECT comment FROM duckdb_views() WHERE view_name = :name"), {"name": view.name}).scalar_one()
    assert comment == view.comment
    assert len(comment) > 60


def test_another_database_is_not_a_registry(tmp_path):
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE t (a INT)")
    other = Database(tmp_path / "other.duckdb")
    with pytest.raises(InputError, match="not a registry"):
        other.create()
    with pytest.raises(InputError, match="not a registry"), other.reading():
        pass
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("t",)]
