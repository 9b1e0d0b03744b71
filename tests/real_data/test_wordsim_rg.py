"""Word similarity: the published Spearman correlations of seven measures with many ties, and measures that rank alike.

Rubenstein and Goodenough's 65 pairs of nouns, and Miller and Charles's 30.
"""

import csv

import numpy as np
import pytest
from scipy import stats

from registry.families import to_lattice
from registry.significance import Permutation, Settings
from registry.significance.correlated import KENDALL, PEARSON, SPEARMAN, PairMatrix
from registry.significance.williams import Steiger, Williams

PAIRS = {"rg": 65, "mc": 30}


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(params=PAIRS)
def words(request, real_data):
    """The measures' published correlations, and their scores with the gold values as ingest keeps them."""
    folder, name = real_data("wordsim-rg"), f"noun_{request.param}"
    official = {row["measure"]: row["official_spearman"] for row in table(folder / f"{name}-official.csv")}
    rows = table(folder / f"{name}.csv")
    assert len(rows) == PAIRS[request.param]
    x, y = (to_lattice(np.array([[float(row[name]) for name in names] for row in rows]))
            for names in (official, ["gold"] * len(official)))
    return official, np.stack([x, y], axis=-1)


def test_published_correlations(words):
    """All seven, to their three decimals; every measure has ties, and so has the gold."""
    official, statistics = words
    assert len(official) == 7
    assert all(len(np.unique(column)) < len(column) for column in statistics.reshape(len(statistics), -1).T)
    scores = PairMatrix(statistics, coefficient=SPEARMAN).scores()
    assert {name: f"{score:.3f}" for name, score in zip(official, scores, strict=True)} == official


def test_kendall_with_many_ties(words):
    official, statistics = words
    expected = [stats.kendalltau(*statistics[:, n].T).statistic for n in range(len(official))]
    np.testing.assert_allclose(PairMatrix(statistics, coefficient=KENDALL).scores(), expected, rtol=1e-12)


def test_measures_that_rank_alike_have_p_1(words):
    """`lch` is the logarithm of `path`: other scores and another r, the same ranks."""
    official, statistics = words
    pair = tuple(list(official).index(name) for name in ("lch", "path"))
    for coefficient, tests in ((SPEARMAN, (Permutation(), Williams(), Steiger())), (KENDALL, (Permutation(),))):
        for test in tests:
            found = test.run(PairMatrix(statistics, coefficient=coefficient), [pair], Settings(resamples=100))[0]
            assert (found.p_value, found.n_discordant) == (1.0, len(statistics))
            assert found.difference == 0
    assert Williams().run(PairMatrix(statistics, coefficient=PEARSON), [pair], Settings())[0].p_value < 1
