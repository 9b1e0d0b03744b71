"""Exchange registries between two versions of DuckDB: each reads, verifies and extends what the other wrote.

    pip install --no-deps --target /tmp/other duckdb==2.0.1
    python -m tests.scenarios.duckdb_versions /tmp/other
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import ROOT
from tests.scenarios.same_numbers import apart

TASKS = ("entities", "translation", "relations")


def run(folder, packages, *arguments):
    """Run the program with the DuckDB in `packages`, or with the installed one if that is None."""
    environment = {**os.environ, **({} if packages is None else {"PYTHONPATH": str(packages)})}
    process = subprocess.run([sys.executable, "-m", "registry", *arguments], cwd=folder, env=environment, check=False,
                             capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"{' '.join(arguments)} with {packages or 'the installed DuckDB'}:\n{process.stderr}")
    return process.stdout


def exchange(folder, first, second):
    """Write with one version, extend with the other, and compare what both print."""
    manifests = [str(ROOT / "sample_data" / task / "task.toml") for task in TASKS]
    run(folder, first, "run", manifests[0])
    run(folder, second, "verify")
    run(folder, second, "run", manifests[1])
    run(folder, first, "verify")
    run(folder, first, "run", manifests[2])
    run(folder, second, "publish", "-o", "public.duckdb")
    run(folder, first, "verify", "--db", "public.duckdb")
    for table in ("leaderboard", "pairwise", "pair_contingency", "item_difficulty"):
        one, two = (json.loads(run(folder, version, "query", f"FROM {table} ORDER BY ALL", "--format", "json"))
                    for version in (first, second))
        if max(apart(one, two)) > 1e-12:  # the last bits of sums in SQL depend on the version
            sys.exit(f"the versions print different rows of {table}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", type=Path, help="folder with the other version of duckdb")
    other = parser.parse_args().packages.resolve()
    for first, second in ((None, other), (other, None)):
        with TemporaryDirectory() as folder:
            exchange(folder, first, second)
    print("both versions read, verify and extend the registries of the other")


if __name__ == "__main__":
    main()
