"""Who may only read a registry, neither write its file nor into its folder, can use the commands that read."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.needs import need

# root may write whatever the permissions say, unless it gives that right up
WITHOUT_RIGHTS = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
KILLED = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("SET wal_autocheckpoint = '1TB'; UPDATE task SET title = 'Kept in the log'")
os._exit(0)
"""
READING = """
import sys
from pathlib import Path
from typer.testing import CliRunner
from registry.cli.app import app

db, made = sys.argv[1:]
try:
    Path(db).parent.joinpath("probe").touch()
    sys.exit("the folder can be written")
except PermissionError:
    pass
for arguments in (["board"], ["query", "SELECT title FROM task"], ["backup", f"{made}/backup.duckdb"]):
    done = CliRunner().invoke(app, [*arguments, "--db", db])
    assert done.exit_code == 0, (arguments, done.output, done.exception)
    assert arguments[0] != "query" or "Kept in the log" in done.output
"""


def test_a_reader_needs_no_right_to_write(task, scored, tmp_path):
    need("setpriv", there=not WITHOUT_RIGHTS or shutil.which("setpriv") is not None)
    scored(task)
    folder, made = tmp_path / "held", tmp_path / "made"
    folder.mkdir()
    made.mkdir()
    db = shutil.copy("registry.duckdb", folder)
    subprocess.run([sys.executable, "-c", KILLED, db], check=True)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert before.keys() == {"registry.duckdb", "registry.duckdb.wal"}
    for path in (*folder.iterdir(), folder):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        done = subprocess.run([*WITHOUT_RIGHTS, sys.executable, "-c", READING, db, made], capture_output=True,
                              text=True)
    finally:
        folder.chmod(0o755)
    if "setpriv" in done.stderr and done.returncode:
        pytest.skip(f"this user cannot give rights up: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
