"""Registries of strangers, whose views and macros read files of who opens them: no command shows or writes one.

Each is forged in one way: all views, all macros, tables replaced by views, or macros with the names of functions and
operators.
"""

import contextlib
import shutil
from contextlib import chdir
from pathlib import Path

import duckdb
import pytest
import typer
from typer.testing import CliRunner

from registry.cli.app import app
from registry.store import files, schema
from registry.store.completions import completions
from registry.store.files import CONFIG
from tests.label_tasks import LabelTask
from tests.thorough import keep_each

SECRET = "Quillmark-Brambleton-Ferngully"
GOLD = {f"i{n:02}": "abc"[n % 3] for n in range(12)}
COMMANDS = {  # every command, with what it is given
    "board": [(), ("--wide",)], "pairs": [()], "compare-pair": [("ann", "bob")], "gate": [("ann", "bob")],
    "diff": [()], "plot": [("small", "scores", "-o", "out.svg")],
    "export": [("small", "wmt"), ("small", "codabench", "--submission", "ann/ann"), ("small", "bibtex")],
    "page": [("small", "-o", "out.html")], "site": [("small", "-o", "out")],
    "items": [("small", "show", "i03"), ("small", "hard")], "query": [("FROM team",), ("FROM leaderboard",)],
    "show": [("small/test/ann/ann",), ("run:1",)], "list": [("tasks",), ("teams",), ("submissions",), ("runs",)],
    "effects": [("small",)], "best": [("small",)], "ranking": [("small",)], "study": [("threshold", "small")],
    "schema": [()], "release": [("small", "-o", "released", "--sources")],
    "publish": [("-o", "public.duckdb", "--sources")], "verify": [()], "backup": [("copy.duckdb",)], "init": [()],
    "run": [("task/task.toml",)], "apply": [("task/task.toml",)], "score": [("small",)], "compare": [("small",)],
    "check": [("task/systems/bob.tsv", "--task", "small")],
    "submit": [("small", "task/systems/bob.tsv", "--system", "new")],
    "withdraw": [("small/test/ann/ann", "--reason", "asked")], "restore": [("small/test/ann/ann", "--reason", "asked")],
    "amend": [("small/test/ann/ann", "--kind", "baseline", "--reason", "asked")],
    "hide": [("small",)], "reveal": [("small",)], "purge": [("small", "bob", "--reason", "asked")],
}
READING = {  # which ask the most of a registry
    "board", "pairs", "items", "query", "show", "effects", "page", "publish", "verify"}
WITHOUT = {  # they open no registry, or until they end
    "quick", "new", "import", "task-pack", "serve", "completion", "agreement"}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A folder with a registry, the task that it is of, and a secret file beside."""
    folder = tmp_path_factory.mktemp("honest")
    wrong = dict.fromkeys(GOLD, "a")
    task = LabelTask(folder / "task", GOLD, {"ann": GOLD | {"i02": "a"}, "bob": wrong}).write()
    with chdir(folder):
        for arguments in (["run", str(task)], ["effects", "small"]):
            assert CliRunner().invoke(app, arguments).exit_code == 0
    (folder / "secret.txt").write_text(SECRET)
    return folder


def _stolen(path):
    """An expression that reads a file."""
    return f"(SELECT content FROM read_text('{path}'))"


def _forged_view(name, columns, rows, path):
    texts = ", ".join(f'{_stolen(path)} AS "{column}"' for column, type_ in columns if type_ == "VARCHAR")
    return f'CREATE VIEW "{name}" AS SELECT * {texts and f"REPLACE ({texts})"} FROM ({rows})'


def forge_views(connection, path):
    for view in schema.load_views():
        columns = connection.execute(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?", [view.name]).fetchall()
        connection.execute(f'DROP VIEW "{view.name}"')
        connection.execute(_forged_view(view.name, columns, view.select, path))


def forge_macros(connection, path):
    for macro in schema.load_macros():
        connection.execute(f'DROP MACRO {"TABLE " if macro.is_table else ""}"{macro.name}"')
        parameters = ", ".join(macro.parameters)
        body = f"TABLE SELECT {_stolen(path)} AS name" if macro.is_table else _stolen(path)
        connection.execute(f'CREATE MACRO "{macro.name}"({parameters}) AS {body}')


def forge_table(table):
    def forge(connection, path):
        columns = connection.execute(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?", [table]).fetchall()
        connection.execute(f'CREATE TABLE "former_{table}" AS FROM "{table}"')
        connection.execute(f'DROP TABLE "{table}"')
        connection.execute(_forged_view(table, columns, f'FROM "former_{table}"', path))

    return forge


def forge_functions(connection, path):
    for name in ("coalesce", "concat_ws", "||", "split_part", "contains", "concat"):
        connection.execute(f'CREATE MACRO "{name}"(a, b) AS {_stolen(path)}')


def forge_tables(connection, path):
    for table in ("team", "score", "source"):
        forge_table(table)(connection, path)


FORGED = {"views": forge_views, "macros": forge_macros, "functions": forge_functions, "tables": forge_tables}
REPLACED = ("task", "team", "comparison_pair", "score", "source")


def forged(honest, folder, forge):
    """A copy of the honest folder in which the registry was forged."""
    shutil.copytree(honest, folder)
    config = {key: value for key, value in CONFIG.items() if key != "enable_external_access"}
    with duckdb.connect(str(folder / "registry.duckdb"), config=config) as connection:
        forge(connection, folder / "secret.txt")
    return folder


def outcome(folder, command, arguments):
    """All that a command prints and writes, and its exit status; a traceback is one in the test."""
    with chdir(folder):
        done = CliRunner().invoke(app, [command, *arguments], catch_exceptions=False)
    known = {"secret.txt", "registry.duckdb", "copy.duckdb"}
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in known]
    return done.output.encode() + b"".join(written), done.exit_code


def test_every_command_is_looked_at():
    assert COMMANDS.keys() | WITHOUT == set(typer.main.get_command(app).commands)
    assert not COMMANDS.keys() & WITHOUT


@pytest.mark.parametrize("how", keep_each(4, FORGED))
def test_no_command_shows_or_writes_a_file_of_who_opens_the_registry(how, honest, tmp_path):
    folder = forged(honest, tmp_path / "forged", FORGED[how])
    before = (folder / "registry.duckdb").read_bytes()
    codes = {}
    for command, given in COMMANDS.items():
        for arguments in given if how == "views" or command in READING else ():
            (folder / "registry.duckdb").write_bytes(before)
            shown, code = outcome(folder, command, arguments)
            assert SECRET.encode() not in shown, (command, shown)
            assert code in (0, 1, 3, 4), (command, shown)
            codes[command] = code
    assert (folder / "secret.txt").read_text() == SECRET
    assert codes["verify"] == 4


def test_what_is_searched_for_is_found_where_access_is_on(honest, tmp_path, monkeypatch):
    folder = forged(honest, tmp_path / "forged", forge_table("team"))
    monkeypatch.delitem(files.CONFIG, "enable_external_access")
    assert SECRET.encode() in outcome(folder, "list", ("teams",))[0]


def test_completions_read_no_file(honest, tmp_path):
    folder = forged(honest, tmp_path / "forged", forge_table("task"))
    with contextlib.suppress(duckdb.Error):
        assert completions(folder / "registry.duckdb", "task", "") == []


@pytest.mark.parametrize("table", REPLACED)
def test_a_table_replaced_by_a_view_ends_in_a_message(table, honest, tmp_path):
    folder = forged(honest, tmp_path / "forged", forge_table(table))
    shown, code = outcome(folder, "verify", ())
    assert code in (1, 4)
    assert f"missing\ttable\t{table}\t".encode() in shown or f"the table {table} is missing".encode() in shown
    shown, code = outcome(folder, "board", ())
    assert code == 0 or (code == 1 and b"is missing: every registry has it" in shown), shown


def test_a_digest_that_is_a_path_leads_nowhere(honest, tmp_path, registry):
    """Submitted files are released under their digests, which in a stranger's registry may be anything."""
    folder = tmp_path / "forged"
    shutil.copytree(honest, folder)
    with duckdb.connect(str(folder / "registry.duckdb"), config=CONFIG) as connection:
        (of,) = connection.execute("SELECT source_digest FROM submission_source LIMIT 1").fetchone()
        for table, column in (("source", "digest"), ("submission_source", "source_digest")):
            connection.execute(f"UPDATE {table} SET {column} = 'sha256:../../escaped' WHERE {column} = ?", [of])
    done = registry("release", "small", "-o", folder / "released", "--sources", "--db", folder / "registry.duckdb",
                    exit_code=4)
    assert "is not the digest of a stored file" in done.stderr
    assert not list(Path(tmp_path).rglob("escaped*"))
