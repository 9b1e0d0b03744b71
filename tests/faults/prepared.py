"""Registries that faults are tried on: each in a state in which some command has work to do."""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import duckdb
from typer.testing import CliRunner

import registry.cli
from tests.label_tasks import LabelTask

ITEMS = [f"i{n:02}" for n in range(60)]
GOLD = {item: "abc"[n % 3] for n, item in enumerate(ITEMS)}
OF_TIME = {"created_at", "started_at", "ended_at", "at"}  # columns that are others each time
_OF_LOG = {"salt", "digest", "hash"}
DRAWN = {"event": _OF_LOG, "run": _OF_LOG, "tombstone": {"salt", "names"}}  # at random, or with what rests on it
AS = {("event", "details"): "if(action IN ('purge', 'end'), '', details)"}  # which have salted digests and times


def answers(every):
    """Those of a system that is wrong about every so many items."""
    return GOLD | {item: "a" if GOLD[item] != "a" else "b" for item in ITEMS[::every]}


def prepare(folder):
    """Make registries: `scored` with a board, `submitted` with one more system, `rescored` with that one scored too."""
    folder.mkdir()
    systems = {f"s{n}": answers(n) for n in (2, 3, 5, 8)}
    task = LabelTask(folder / "task", GOLD, systems, {item: f"d{n // 5}" for n, item in enumerate(ITEMS)})
    more = LabelTask(folder / "more", GOLD, systems | {"new": answers(7)}, task.documents)
    (folder / "late.tsv").write_text("".join(f"{item}\t{label}\n" for item, label in answers(4).items()))
    task.write()
    more.write()
    _run("run", task.manifest, db=folder / "scored.duckdb")
    for name, before, command in (("submitted", "scored", ("apply", more.manifest)),
                                  ("rescored", "submitted", ("score",))):
        db = shutil.copyfile(folder / f"{before}.duckdb", folder / f"{name}.duckdb")
        _run(*command, db=db)


def _run(*arguments, db):
    done = CliRunner().invoke(registry.cli.app, [*map(str, arguments), "--db", str(db)], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def remove(path):
    """Remove a file, or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def content(path):
    """What all tables of a registry hold, but times: by table, how many rows there are and the sum of their hashes."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        copy = Path(folder) / "copy.duckdb"
        shutil.copyfile(path, copy)
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{path}.wal", f"{copy}.wal")
        with duckdb.connect(str(copy), config={"threads": 1}) as connection:  # threads do not survive a fork
            return held(connection)


def held(connection):
    """What all tables hold that a connection leads to, as `content` gives it."""
    tables = {}
    for table, column in connection.execute("""
            SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, table_name)
            ORDER BY table_name, column_index""").fetchall():
        left_out = OF_TIME | DRAWN.get(table, set())
        value = AS.get((table, column), f'"{column}"')
        tables.setdefault(table, []).extend([value] if column not in left_out else [])
    return {table: connection.execute(
        f"SELECT count(*), sum(hash({', '.join(columns)})::HUGEINT) FROM {table}").fetchone()
        for table, columns in tables.items()}
