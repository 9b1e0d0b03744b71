"""Every table and column is published by a decision, and what nobody decided on is left out."""

import duckdb
import pytest
from sqlalchemy import Column, MetaData, String, Table

from registry.publication.publish import _make_select, publish
from registry.publication.tables import OTHERS, REFERENCES, TABLES
from registry.store import models
from registry.store.database import Database
from registry.store.log import Journal


def undecided():
    """Return the tables and columns of the schema that `registry/publication/tables.py` does not list."""
    found = models.metadata.tables.keys() ^ {*TABLES, *OTHERS}
    for name, table in TABLES.items():
        columns = set(models.metadata.tables[name].columns.keys())
        numbered = {column for column in columns
                    if REFERENCES.get(column, column.removesuffix("_id")) in TABLES.keys() - {column}}
        found |= {f"{name}.{column}" for column in columns ^ {*numbered, *table.columns.split(), *table.changed}}
    return found


def test_every_table_and_column_is_listed():
    assert undecided() == set()
    assert not TABLES.keys() & set(OTHERS)
    assert not [name for name, table in TABLES.items() if table.changed.keys() & set(table.columns.split())]


def test_a_new_column_or_table_is_undecided_and_a_new_column_stops_publishing(monkeypatch):
    metadata = MetaData()
    for table in models.metadata.tables.values():
        table.to_metadata(metadata)
    metadata.tables["team"].append_column(Column("address", String))
    Table("gossip", metadata, Column("text", String))
    monkeypatch.setattr(models, "metadata", metadata)
    assert undecided() == {"team.address", "gossip"}
    with pytest.raises(AssertionError, match=r"does not say whether team\.address is published"):
        _make_select("team", TABLES["team"])


def test_actions_and_details_of_the_log_that_are_not_listed_are_left_out(registry, task, tmp_path):
    registry("run", task.write())
    with Database("registry.duckdb").writing() as connection:
        journal = Journal("gossip", {}, actor="zqwhispers")
        journal.begin(connection)
        journal.event(connection, "gossip", "small", text="zqwhispers")
        journal.event(connection, "hide", "small", anonymous_until=None, reason="zqwhispers")
        journal.close(connection)
    publish(Database("registry.duckdb"), tmp_path / "public.duckdb")
    with duckdb.connect(str(tmp_path / "public.duckdb"), read_only=True) as connection:
        entries = connection.execute("SELECT action, details, actor, hash FROM event ORDER BY event_id").fetchall()
    assert entries[-1] == ("hide", '{"anonymous_until":null}', None, "")
    assert not [entry for entry in entries if "gossip" in entry or "zqwhispers" in str(entry)]
