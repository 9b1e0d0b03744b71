"""The data model, as the database tells it: everything is there and explained."""

import re
import tomllib

import pytest
from sqlalchemy import text

from registry.errors import InputError, UnknownNameError
from registry.query.schema import FORMS, Relation, RelationColumn, load_data_model, render_schema
from registry.store import models
from registry.store.database import Database
from tests.conftest import ROOT


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "r.duckdb")
    database.create()
    return database


def load(database):
    with database.reading() as connection:
        return load_data_model(connection)


def test_every_table_and_column_is_explained(database):
    tables = {thing.name: thing for thing in load(database) if thing.kind == "table"}
    assert set(tables) == set(models.metadata.tables)
    for name, table in tables.items():
        assert len(table.comment) > 15
        assert [c.name for c in table.columns] == [c.name for c in models.metadata.tables[name].columns]
        assert all(column.comment and column.type for column in table.columns)


def test_no_comment_is_left_over():
    """Every entry of the file says something of a table or column that there is."""
    comments = tomllib.loads((ROOT / "registry" / "store" / "comments.toml").read_text())
    columns = {name: {re.sub(r"_?\d+$", "", c.name) for c in table.columns} | set(table.columns.keys())
               for name, table in models.metadata.tables.items()}
    assert comments.keys() - {"shared"} == columns.keys()
    assert comments["shared"].keys() <= set().union(*columns.values())
    assert all(comments[name].keys() - {"_"} <= columns[name] for name in columns)


def test_views_and_macros_are_found_wherever_they_come_from(database):
    with database.writing() as connection:
        for statement in ("CREATE VIEW one AS SELECT 1 AS a", "COMMENT ON VIEW one IS 'just one'",
                          "COMMENT ON COLUMN one.a IS 'is 1'", "CREATE MACRO add_up(x, y := 1) AS x + y",
                          "CREATE MACRO numbers(n) AS TABLE SELECT * FROM range(n)",
                          "COMMENT ON MACRO TABLE numbers IS 'counts\nparameter n: how far\ncolumn range: a number'"):
            connection.execute(text(statement))
    found = {thing.name: thing for thing in load(database)}
    assert found["one"].columns == (RelationColumn("a", "INTEGER", "is 1"),)
    assert (found["one"].kind, found["one"].comment) == ("view", "just one")
    assert (found["numbers"].call, found["numbers"].comment) == ("numbers(n)", "counts")
    assert found["numbers"].columns == (RelationColumn("n", "parameter", "how far"),
                                        RelationColumn("range", "column", "a number"))
    assert found["add_up"].call == "add_up(x, y)"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_shows_every_table_and_column(database, form):
    written = render_schema(load(database), None, form).replace("\\", "")
    for table in models.metadata.tables.values():
        assert re.search(rf"\b{table.name}\b", written)
        assert all(re.search(rf"\b{column.name}\b", written) for column in table.columns)


def test_one_thing_by_its_name(database):
    assert render_schema(load(database), "track", "text") == """\
table track
  Tracks of tasks. Systems are compared only within their track.
    track_id  INTEGER  id of the track
    task_id   INTEGER  the task
    name      VARCHAR  name
"""
    assert render_schema(load(database), "track", "mermaid") == """\
erDiagram
    track {
        INTEGER track_id PK "id of the track"
        INTEGER task_id FK "the task"
        VARCHAR name "name"
    }
"""
    with pytest.raises(UnknownNameError, match="did you mean 'leaderboard'"):
        render_schema(load(database), "leaderbord", "text")


def test_the_diagram_joins_tables_by_their_ids(database):
    lines = render_schema(load(database), None, "mermaid").splitlines()
    assert '    task ||--o{ test_set : ""' in lines
    assert '    item ||--o{ statistics_prf : ""' in lines
    assert not [line for line in lines if line.startswith("    team ||--o{ team")]


def test_a_macro_has_no_diagram():
    with pytest.raises(InputError, match="choose --format text or md"):
        render_schema([Relation("macro", "f", "", ())], "f", "mermaid")


def test_the_command(registry, tmp_path):
    registry("init")
    shown = registry("schema", "leaderboard", "--format", "md").stdout
    assert shown.startswith("## Views\n\n### `leaderboard`\n")
    assert "unknown table, view or macro 'boards'" in registry("schema", "boards", exit_code=3).stderr
