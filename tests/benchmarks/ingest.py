"""Tables of many systems brought in and scored, against polars, which reads them and takes means.

Each way is a process of its own, from the file to the database that is closed; its processor time and memory count.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np

from tests.benchmarks.figures import Figure

SYSTEMS, ITEMS = 1000, 10_000
CLOSED_FORM = 1.2  # seconds that reading by polars, one product, binomial tails and Holm take
PEER = "import sys, polars; polars.read_csv(sys.argv[1]).drop('item').mean()"
LARGEST = 25  # MB of the database
GROWTH = 1.1  # the exponent of items or systems


def run():
    """Right or wrong, from CSV and Parquet; and what twice the items and twice the systems take."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = _written(folder / "table.csv", SYSTEMS, ITEMS)
        duckdb.sql(f"COPY (FROM read_csv('{table}')) TO '{folder / 'table.parquet'}' (FORMAT parquet)")
        figures = [_imported(folder, folder / f"table.{kind}") for kind in ("csv", "parquet")]
        empty = _import(folder, _written(folder / "one.csv", 2, 2))[0]
        half = {"items": _written(folder / "items.csv", SYSTEMS, ITEMS // 2),
                "systems": _written(folder / "systems.csv", SYSTEMS // 2, ITEMS)}
        whole = _import(folder, table)[0] - empty
        for what, path in half.items():
            exponent = np.log2(whole / (_import(folder, path)[0] - empty))
            figures.append(Figure(f"import of a table by {what}, {SYSTEMS // 2:,} or {ITEMS // 2:,} and twice as many",
                                  f"exponent {exponent:.2f}", f"<= {GROWTH}; started and created in {empty:.1f} s",
                                  exponent <= GROWTH))
        return figures


def _written(path, systems, items):
    """Outcomes by the systems' ability and the items' difficulty."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=systems) - rng.normal(size=(items, 1))
    right = (rng.random((items, systems)) < 1 / (1 + np.exp(-logits))).astype(int)
    names = ",".join(f"s{n}" for n in range(systems))
    rows = (f"i{n},{','.join(map(str, row))}\n" for n, row in enumerate(right.tolist()))
    path.write_text(f"item,{names}\n" + "".join(rows))
    return path


def _imported(folder, path):
    seconds, megabytes, size = _import(folder, path)
    peer, _ = _process("-c", PEER, path) if path.suffix == ".csv" else (None, None)
    beside = f"<= {25 * CLOSED_FORM:.0f} s with compare and board, {LARGEST} MB" + (
        f"; polars reads it in {peer:.1f} s" if peer else "")
    return Figure(f"import wide, {SYSTEMS:,} systems x {ITEMS:,} items, {path.suffix[1:]}",
                  f"{seconds:.1f} s, {megabytes:.0f} MB, file {size:.1f} MB", beside,
                  seconds <= 25 * CLOSED_FORM and megabytes < 2000 and size < LARGEST)


def _import(folder, path):
    """Seconds of processors, most megabytes of memory, and megabytes of the database."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        db = Path(name) / "registry.duckdb"
        seconds, megabytes = _process("-m", "registry", "import", "wide", path, "--option", "item=item", "--task",
                                      "t", "--to", f"{name}/task", "--db", db, "--quiet")
        return seconds, megabytes, db.stat().st_size / 1e6


def _process(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *map(str, arguments)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), after.ru_maxrss / 1024
