"""Sums over draws, against a plain product of counts and statistics."""

import numpy as np
import pytest

from registry.significance.matrix import CompactStatistics
from registry.significance.resampling.draws import Columns

UNITS = np.random.default_rng(0).integers(1, 30, 600)  # words of each
OTHER = np.maximum(UNITS + np.random.default_rng(1).integers(-3, 4, 600), 0)

CLASSES = np.random.default_rng(5).integers(0, 20, (6000, 3))  # of two systems, which are mostly right, and the gold
CLASSES[:, :2] = np.where(np.random.default_rng(6).random((6000, 2)) < 0.8, CLASSES[:, [2]], CLASSES[:, :2])
CLASSES = CLASSES[:, :, None] == np.arange(20)


def ngrams(words):
    """How many n-grams there are of orders 1 to 4."""
    return np.maximum(words[:, None] - np.arange(4), 0)


STATISTICS = {
    "n-grams": np.stack([ngrams(UNITS), ngrams(OTHER)], axis=1),
    "hardly any text is long": np.stack([ngrams(UNITS % 3), ngrams(OTHER % 3)], axis=1),
    "one column": UNITS[:, None, None],
    "all the same": np.full((600, 3, 2), 7),
    "constants": np.stack([np.full((600, 4), n) for n in range(3)], axis=1),
    "negative": np.stack([ngrams(UNITS) - 5, 3 - ngrams(OTHER)], axis=1),
    "no whole numbers": np.random.default_rng(2).integers(0, 99, (600, 3, 4)) / 2**30,
    "nearly too large": np.stack([ngrams(UNITS) + 80_000, ngrams(OTHER)], axis=1),
    "too large": np.stack([ngrams(UNITS) + 2**20, ngrams(OTHER)], axis=1),
    "one unit": ngrams(UNITS)[:1, None, :],
    "right, given and gold": np.stack([CLASSES[:, :2] & CLASSES[:, [2]], CLASSES[:, :2], CLASSES[:, [2, 2]]], axis=3
                                      ).reshape(6000, 2, 60),
    "many small counts": np.random.default_rng(7).integers(0, [40, 9, 5, 1000], (600, 30, 4)),
    "classes": np.eye(30)[np.random.default_rng(4).integers(0, 30, (6000, 3))],
}


def compact(statistics):
    return CompactStatistics.convert(iter(statistics.transpose(1, 0, 2)), statistics.shape[1], 2**20)


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize(("held", "memory"), [(np.asarray, 2**31), (compact, 2**31), (compact, 0)],
                         ids=["floats", "compact", "little memory"])
def test_sums_are_those_of_the_statistics(name, held, memory):
    statistics = STATISTICS[name].astype(float)
    counts = np.random.default_rng(3).multinomial(len(statistics), np.full(len(statistics), 1 / len(statistics)), 50)
    columns, expected = Columns.arrange(held(statistics), memory), np.einsum("du,usc->dsc", counts, statistics)
    assert np.array_equal(columns.lay_out(columns.compute_sums(counts.T)), expected)
    for parts in ([slice(at, at + 200) for at in range(0, len(statistics), 200)], columns.list_blocks()):
        sums = sum(columns.compute_sums(counts.T[part], part) for part in parts)
        assert np.array_equal(columns.lay_out(sums), expected)
    strata = [np.flatnonzero(np.arange(len(statistics)) % 3 == n) for n in range(3)]
    sums = sum(columns.select_units(units).compute_sums(counts.T[units]) for units in strata)
    assert np.array_equal(columns.lay_out(sums), expected)


def test_what_is_another_column_but_for_a_few_units_needs_no_product():
    columns = Columns.arrange(STATISTICS["n-grams"].astype(float))
    assert columns.stored.shape == (600, 2 + 1)  # the words of both, and ones
    assert 0 < len(columns.exceptions) < 600 / 4
    assert columns.stored.dtype == np.float32
    assert Columns.arrange(STATISTICS["too large"].astype(float)).stored.dtype == np.float64


def test_columns_take_few_bytes():
    """Those of classes are sparse, a value and its place for each that is not 0; others are as they are held."""
    classes, ngrams_ = (compact(STATISTICS[name].astype(float)) for name in ("classes", "n-grams"))
    assert Columns.arrange(classes).stored.nnz == 6000 * 3
    wrong = np.count_nonzero(CLASSES[:, :2] & ~CLASSES[:, [2]])  # each is in two classes, the system's and the gold's
    assert Columns.arrange(STATISTICS["right, given and gold"].astype(float)).stored.nnz == 6000 + 2 * wrong
    assert Columns.arrange(ngrams_, memory=0).stored.dtype == np.uint8
    assert Columns.arrange(ngrams_, memory=0).dtype == np.float32


def test_many_small_counts_are_multiplied_together():
    """Their sums are exact also where a draw takes one unit every time, which is the largest that they can be."""
    statistics = STATISTICS["many small counts"].astype(float)
    columns = Columns.arrange(statistics)
    assert columns.packing
    assert columns.stored.shape[1] <= 120 / 3
    counts = 600 * np.eye(600, dtype=int)
    assert np.array_equal(columns.lay_out(columns.compute_sums(counts)), 600 * statistics)
    assert not Columns.arrange(statistics - 1).packing
    assert not Columns.arrange(statistics[:, :4]).packing
