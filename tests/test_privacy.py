"""What is stored and published names files within a task, and neither the machine nor who sat at it."""

import platform
import socket
import zlib
from pathlib import Path

import pytest
from sqlalchemy import select

from registry.store import models
from registry.store.database import Database

MARK = "zz-"  # begins every name that must not get out
SECRET = ("zz-path", "zz-account", "zz-host", "zz-kernel", "zz-build")
ACTOR = "zz-ann"
TABLE = "item,aspen,birch\ni1,1,0\ni2,0,0\ni3,1,1\n"


@pytest.fixture
def marked(tmp_path, monkeypatch, task):
    """A folder, an account and a machine with recognizable names; the task's folder is in there, and so is a table."""
    folder = tmp_path / "zz-path" / "zz-account"
    task.folder = folder / "tasks" / "small"
    task.write()
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "mine.tsv").write_text((task.folder / "systems" / "a.tsv").read_text())
    (folder / "logs").mkdir()
    (folder / "logs" / "table.csv").write_text(TABLE)
    for name in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "zz-account")
    uname = platform.uname_result("Linux", "zz-host", "zz-kernel", "zz-build", "x86_64")
    monkeypatch.setattr(platform, "uname", lambda: uname)
    monkeypatch.setattr(platform, "_platform_cache", {})
    monkeypatch.setattr(socket, "gethostname", lambda: "zz-host")
    monkeypatch.chdir(folder)
    return folder


def stored(path):
    """All that a database's tables hold, as text, also what is compressed in them."""
    with Database(path).reading() as connection:
        rows = [tuple(row) for table in models.metadata.tables.values() for row in connection.execute(select(table))]
    return "\n".join(str([zlib.decompress(value) if isinstance(value, bytes) else value for value in row])
                     for row in rows)


def where_named(folder, *names):
    """The files in a folder that hold one of the names, of databases also those whose compressed contents do.

    Whole names are looked for: three characters alone come about in compressed bytes by chance.
    """
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(name.encode() in path.read_bytes() for name in names)
            or (path.suffix == ".duckdb" and any(name in stored(path) for name in names))]


def everything(registry, at, out, *actor):
    """Bring in, compare, study and publish what lies under `at` into the folder `out`; gives what is said meanwhile.

    What is printed to be passed on is put into files there.
    """
    out.mkdir()
    task, mine = at / "tasks" / "small" / "task.toml", at / "elsewhere" / "mine.tsv"
    db = ("--db", out / "r.duckdb")
    commands = [
        ("init", *db),
        ("run", task, *db, *actor),
        ("diff", out / "r.duckdb", out / "r.duckdb", "--format", "md"),
        ("submit", "small", mine, "--system", "mine", *db, *actor),
        ("import", "wide", at / "logs" / "table.csv", "--option", "item=item", "--task", "wide", "--to",
         out / "wide", *db, *actor),
        ("score", *db, *actor),
        ("compare", *db, *actor, "--seed", "1"),
        ("study", "correlation", "small", *db, *actor, "--format", "json"),
        ("board", *db, "--format", "json"),
        ("page", "small", "-o", out / "page.html", *db),
        ("site", task, "-o", out / "site", *db, *actor, "--items", "9"),
        ("export", "small", "codabench", "--submission", "a/a", *db),
        ("export", "small", "wmt", *db),
        ("check", mine, "--task", task),
        ("task-pack", task, "-o", out / "pack"),
        ("query", "SELECT * FROM run JOIN event USING (run_id)", *db, "-o", out / "runs.parquet", "--format",
         "parquet"),
    ]
    log = ""
    for n, command in enumerate(commands):
        done = registry(*command)
        log += done.stderr
        (out / f"{n}-{command[0]}.txt").write_text(done.stdout)
    return log


def test_what_is_made_names_neither_folder_nor_account_nor_machine(registry, marked, tmp_path):
    """Whatever is typed: absolute paths do not get into any file, and with relative ones not into the log either.

    The actor is named where one is given, which also shows that a name that got in would be found.
    """
    everything(registry, marked, tmp_path / "absolute", "--actor", ACTOR)
    log = everything(registry, Path(), Path("relative"))
    assert not where_named(tmp_path / "absolute", *SECRET)
    assert not where_named(marked / "relative", *SECRET, ACTOR)
    assert MARK not in log
    assert sorted(where_named(tmp_path / "absolute", ACTOR)) == ["r.duckdb", "runs.parquet"]
    named = registry("query", "SELECT DISTINCT command, actor FROM run JOIN event USING (run_id) ORDER BY ALL", "--db",
                     tmp_path / "absolute" / "r.duckdb", "--format", "json").json
    assert {row["actor"] for row in named} == {ACTOR}
    assert [row["command"] for row in named] == ["compare", "import", "run", "score", "study", "submit"]


def test_nor_do_errors_of_the_database_name_the_folder(registry, marked):
    """DuckDB is given the absolute path, and says it."""
    registry("init")
    with open("registry.duckdb", "r+b") as file:
        file.truncate(100_000)
    told = registry("list", "tasks", exit_code=1).stderr
    assert "registry.duckdb: cannot use the file: " in told
    assert MARK not in told


def actors(registry):
    return {row["actor"] for row in registry("query", "SELECT actor FROM event", "--format", "json").json}


def test_the_settings_name_the_actor_and_the_environment_and_the_option_beat_them(registry, task, monkeypatch):
    Path("registry.toml").write_text('[registry]\nactor = "settings"\n')
    registry("apply", task.write())
    assert actors(registry) == {"settings"}
    monkeypatch.setenv("REGISTRY_ACTOR", "environment")
    registry("score")
    registry("compare", "--actor", "option")
    assert actors(registry) == {"settings", "environment", "option"}
    registry("compare", "--actor", "", "--seed", "7")
    assert None in actors(registry)


@pytest.mark.parametrize(("settings", "says"), [
    ('[registry]\nactr = "x"', "unknown key 'actr'; did you mean 'actor'?"),
    ('[registery]\nactor = "x"', "unknown key 'registery'; did you mean 'registry'?"),
    ("[registry]\nactor = 3", "registry.actor must be a name in quotes"),
    ("registry = 3", "registry must be a table: [registry]"),
])
def test_settings_that_are_none_are_refused(registry, settings, says):
    Path("registry.toml").write_text(settings)
    assert f"error: registry.toml: {says}" in registry("score", exit_code=3).stderr


def test_files_are_named_within_their_task(registry, task, tmp_path):
    """From the manifest's folder, or from the root that is given; what was submitted by hand has no folder."""
    registry("run", task.write())
    (tmp_path / "aside").mkdir()
    manifest = task.manifest.rename(tmp_path / "aside" / "other.toml")
    manifest.write_text(manifest.read_text().replace('"small"', '"other"'))
    registry("run", manifest, "--root", task.folder)
    first, second = (set(row["inputs"]) for row in registry(
        "query", "SELECT json_keys(inputs) AS inputs FROM run ORDER BY run_id", "--format", "json").json)
    files = {"gold.tsv", "systems/a.tsv", "systems/b.tsv", "systems/c.tsv"}
    assert (first, second) == ({"task.toml", *files}, {"other.toml", *files})


def test_runs_whose_files_are_called_alike_are_told_apart(registry, task, tmp_path):
    registry("run", task.write())
    for run, label in (("one", "yes"), ("two", "no")):
        (tmp_path / run).mkdir()
        (tmp_path / run / "out.tsv").write_text("".join(f"{item}\t{label}\n" for item in task.gold))
    registry("submit", "small", tmp_path / "one" / "out.tsv", tmp_path / "two" / "out.tsv", "--system", "d")
    (run,) = registry("query", "SELECT parameters ->> 'file' AS file, json_keys(inputs) AS inputs FROM run "
                      "WHERE command = 'submit'", "--format", "json").json
    assert run == {"file": "out.tsv, out.tsv", "inputs": ["out.tsv", "out.tsv (2)"]}


def test_a_manifest_with_an_absolute_path_is_refused(registry, task):
    """It would be kept as it is."""
    task.test_set = {"gold": str(task.folder / "gold.tsv")}
    told = registry("run", task.write(), exit_code=3).stderr
    assert "gold.tsv' is an absolute path; write a relative one: paths are relative to the manifest" in told
