"""What is brought in by columns is what is brought in row by row: the same database, or the same refusal."""

import dataclasses
import datetime
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from registry.errors import RegistryError
from registry.evaluation import Ingest, apply, score
from registry.evaluation.resolve import resolve
from registry.manifest import load_manifest
from registry.readers.parsing import table_columns
from registry.store.database import Database
from registry.store.journal import Journal
from registry.store.session import writing
from tests.readers.small_tables import parquet_tables, tables

MANIFEST = """manifest = 1
[task]
id = "t"
[significance]
seed = 1
[[test_set]]
name = "test"
gold = "gold.txt"
format = "scores"
options = {{ item = {item}, gold = "gold", attributes = ["kind"], {written} }}
[submission]
missing = "{missing}"
{metrics}
[[submit]]
file = "gold.txt"
system = "a"
options = {{ score = "aspen" }}
[[submit]]
file = "{others}.txt"
system = "b"
options = {{ score = "birch" }}
[[submit]]
file = "{{system}}.{{run}}.run"
options = {{ score = "birch" }}
"""
WITH_GOLD = '[[metric]]\nname = "MAE"\n[[metric]]\nname = "RMSE"\n'
METRICS = ['[[metric]]\nname = "Mean"\n', '[[metric]]\nname = "Mean"\noptions = { worst = 0.5 }\n', WITH_GOLD]


@st.composite
def tasks(draw):
    """A table of gold and systems, other files with rows of it in another order, and what a manifest says of them."""
    how, content = draw(st.one_of(tables(right=True), tables(right=True), tables(), parquet_tables(right=True)))
    written = 'syntax = "parquet"' if how == "parquet" else f'separator = "{how}"'
    other = content
    if how != "parquet":
        head, *rows = content.rstrip(b"\n").split(b"\n")
        rows = draw(st.permutations(rows))[draw(st.sampled_from([0, 0, 0, 1])):]
        other = b"\n".join([head, *rows])
    return {"written": written, "item": draw(st.sampled_from(['"item"', '"item"', "[]", '["item", "kind"]'])),
            "missing": draw(st.sampled_from(["reject", "drop", "own", "worst"])),
            "metrics": draw(st.sampled_from(METRICS)),
            "others": draw(st.sampled_from(["gold", "other"]))}, content, other


def held(database):
    """All rows of all tables in their order, but for the times, and what was said."""
    with database.reading() as connection:
        names = connection.execute(text("SELECT table_name FROM duckdb_tables() ORDER BY ALL")).scalars().all()
        return {name: [[value for value in row if not isinstance(value, datetime.datetime)] for row in
                       connection.execute(text(f"SELECT * FROM {name}"))] for name in names if name != "run"}


def brought_in(folder, enough):
    """What a database holds of the task, with what was told; or why it was refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_columns, "ENOUGH", enough)
        specification, content = load_manifest(folder / "task.toml")
        database, journal = Database(folder / f"{enough}.duckdb"), Journal("run", {})
        try:
            with writing(database, journal, create=True) as session:
                ingest = Ingest(session.connection, journal, resolve(specification, folder / "task.toml"))
                told = dataclasses.astuple(apply(ingest, content))
                score(ingest, 1)
        except RegistryError as error:
            return str(error)
        return told, held(database)


@settings(max_examples=40)
@given(tasks())
def test_both_ways_bring_in_the_same(task):
    options, content, other = task
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "gold.txt").write_bytes(content)
        (folder / "other.txt").write_bytes(other)
        for run in "12":
            (folder / f"c.{run}.run").write_bytes(content if run == "1" else other)
        (folder / "task.toml").write_text(MANIFEST.format(**options))
        assert brought_in(folder, 0) == brought_in(folder, 2**62)
