"""Holm's p-values of all pairs of systems, right or wrong on the same items, without a registry.

polars reads the file, one product counts what two systems have apart, and one vectorized call gives the p-values.

    python -m tests.benchmarks.by_hand FILE
"""

import sys
from pathlib import Path

import numpy as np
import polars
from scipy import special


def by_hand(path):
    """Of a table with a column for each system, and one of items."""
    read = polars.read_csv if path.suffix == ".csv" else polars.read_parquet
    outcomes = read(path).drop("item").to_numpy().astype(np.float32)
    n_correct, both = outcomes.sum(axis=0), outcomes.T @ outcomes
    a, b = np.triu_indices(len(both), 1)
    only_a, only_b = n_correct[a] - both[a, b], n_correct[b] - both[a, b]
    p = np.minimum(2 * special.bdtr(np.minimum(only_a, only_b), (only_a + only_b).astype(int), 0.5), 1)
    order = np.argsort(p)
    return np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)


if __name__ == "__main__":
    by_hand(Path(sys.argv[1]))
