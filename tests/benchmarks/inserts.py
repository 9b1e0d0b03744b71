"""Bulk inserts of statistics against raw DuckDB from the same numpy columns."""

import tempfile
from pathlib import Path

import duckdb
import numpy as np

from registry.store import statistics
from registry.store.database import Database
from tests.benchmarks.figures import Figure, paired

ROWS, SUBMISSIONS = 5_000_000, 50


def run():
    """Insert the same rows through the registry and into a plain DuckDB file, each into a new database, to the disk."""
    rng = np.random.default_rng(0)
    per = ROWS // SUBMISSIONS
    items = np.arange(1, per + 1)
    columns = [np.stack([rng.integers(0, 2, per), np.ones(per)], axis=1).astype(float) for _ in range(SUBMISSIONS)]
    raw_columns = {
        "scoring_id": np.repeat(np.arange(SUBMISSIONS, dtype=np.int32), per),
        "metric_id": np.ones(ROWS, dtype=np.int32), "replicate": np.zeros(ROWS, dtype=np.int16),
        "item_id": np.tile(items.astype(np.int32), SUBMISSIONS),
        "numerator": np.concatenate([c[:, 0] for c in columns]),
        "denominator": np.concatenate([c[:, 1] for c in columns]),
    }
    with tempfile.TemporaryDirectory() as folder:
        count = iter(range(1000))

        def ours():
            database = Database(Path(folder) / f"{next(count)}.duckdb")
            database.create()
            with database.writing() as connection:
                blocks = [statistics.Block(n, 1, items, column) for n, column in enumerate(columns)]
                statistics.insert_statistics(connection, "ratio", blocks)
            database.path.unlink()

        def peer():
            path = Path(folder) / f"{next(count)}.duckdb"
            with duckdb.connect(str(path)) as connection:
                connection.execute("CREATE TABLE statistics_ratio (scoring_id INTEGER, metric_id INTEGER, "
                                   "replicate SMALLINT, item_id INTEGER, numerator DOUBLE, denominator DOUBLE)")
                connection.execute("BEGIN")
                connection.register("columns", raw_columns)
                connection.execute("INSERT INTO statistics_ratio SELECT * FROM columns")
                connection.execute("COMMIT")
            path.unlink()

        registry_s, duckdb_s, ratio = paired(ours, peer)
    return [Figure(
        f"insert {ROWS:,} statistics of {SUBMISSIONS} submissions, database made and closed",
        f"{ROWS / registry_s / 1e6:.1f} M rows/s",
        f">= 0.5 of raw DuckDB's {ROWS / duckdb_s / 1e6:.1f} M rows/s: {1 / ratio:.2f}", ratio <= 2)]
