"""Releases of a small made-up task, and what is in them."""

import duckdb
from typer.testing import CliRunner

from registry.cli.app import app
from registry.publication.publish import publish_temporarily
from registry.releases.verifying import verify_release
from registry.releases.writing import write_release
from registry.significance import Execution
from registry.store.database import Database
from tests.evaluation.verifying.test_tampering import written

TOLD = """
description = "Made-up."
url = "https://example.org/small"
licence = "CC-BY-4.0"
organisers = ["Ann Example", "Ben Example"]
contact = "ann@example.org"
citation = "Example (2027)"
date = 2027-03-01
"""


def made(folder, *, gold=True):
    """A registry with one task, whose manifest withholds the gold unless `gold`."""
    path, manifest = folder / "registry.duckdb", written(folder, TOLD, facets=["document"])
    if not gold:
        with manifest.open("a") as file:
            file.write("[release]\ngold = false\n")
    done = CliRunner().invoke(app, ["run", str(manifest), "--db", str(path)])
    assert done.exit_code == 0, done.output
    return Database(path)


def release(database, folder, *, sources=False):
    """Write a release of what a registry with one task has published."""
    with publish_temporarily(database, sources=sources) as public:
        write_release(public, "small", folder, sources=sources)


def faults(folder):
    return verify_release(folder, Execution(workers=1)).faults


def contents(folder):
    """All bytes of a release, its tables unpacked."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix == ".parquet":
            with duckdb.connect() as connection:
                found.append(repr(connection.execute(f"FROM '{path}'").fetchall()).encode())
        found.append(path.read_bytes())
    return b"\n".join(found)
