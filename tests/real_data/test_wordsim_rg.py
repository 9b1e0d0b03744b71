"""Word similarity: the published Spearman correlations of seven measures with many ties, and measures that rank alike.

Rubenstein and Goodenough's 65 pairs of nouns, and Miller and Charles's 30.
"""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from registry.significance import Permutation, Settings
from registry.significance.correlations import KENDALL, PEARSON, SPEARMAN, PairMatrix
from registry.significance.pairwise.williams import Steiger, Williams

MANIFEST = Path(__file__).parent / "wordsim-rg.toml"
PAIRS = {"rg": 65, "mc": 30}


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(params=PAIRS)
def words(request, real_data):
    """The measures' published correlations, and their scores with the gold values."""
    folder, name = real_data("wordsim-rg"), f"noun_{request.param}"
    official = {row["measure"]: row["official_spearman"] for row in table(folder / f"{name}-official.csv")}
    rows = table(folder / f"{name}.csv")
    assert len(rows) == PAIRS[request.param]
    x, y = (np.array([[float(row[name]) for name in names] for row in rows])
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


@pytest.fixture
def run(scored, real_data, tmp_path):
    """The boards of both test sets by all three coefficients, with few swaps, as no test asks for them; the folder."""
    folder, manifest = real_data("wordsim-rg"), tmp_path / "task.toml"
    manifest.write_text(MANIFEST.read_text().replace("resamples = 10_000", "resamples = 100"))
    return scored(manifest, "--root", folder).json, folder


def test_the_published_correlations_are_those_of_the_boards(run):
    rows, folder = run
    for name in PAIRS:
        official = {row["measure"]: row["official_spearman"] for row in table(folder / f"noun_{name}-official.csv")}
        assert {row["system"]: f"{row['score']:.3f}" for row in rows
                if (row["test_set"], row["metric"]) == (name, "rho")} == official


def test_pearson_and_kendall_are_scipys(run):
    rows, folder = run
    peers = {"r": stats.pearsonr, "tau": stats.kendalltau}
    for row in rows:
        if peer := peers.get(row["metric"]):
            columns = [[float(line[name]) for line in table(folder / f"noun_{row['test_set']}.csv")]
                       for name in (row["system"], "gold")]
            assert row["score"] == pytest.approx(peer(*columns).statistic, abs=1e-9)


@pytest.mark.parametrize(("test", "n_pairs"), [("bootstrap", 126), ("williams", 84)])
def test_other_tests_compare_correlations_end_to_end(run, registry, test, n_pairs):
    """Williams' test knows no distribution of tau."""
    for metric in ["rho", "r"] if test == "williams" else ["rho", "r", "tau"]:
        registry("compare", "wordsim", "--test", test, "--resamples", 500, "--metric", metric)
    pairs = [row for row in registry("pairs", "--format", "json").json if row["test"] == test]
    assert len(pairs) == n_pairs
    alike = [row for row in pairs if {row["system_a"], row["system_b"]} == {"lch", "path"} and row["metric"] != "r"]
    assert {row["p_value"] for row in alike} == {1.0}
    assert all(row["ci_low"] is not None for row in pairs if test == "bootstrap" or row["p_value"] < 1)
    board = [row for row in registry("board", "--format", "json").json if row["metric"] == "rho"]
    assert all(row["ci_low"] < row["score"] < row["ci_high"] for row in board)


def test_effects_of_correlations_are_differences_and_equivalence(run, registry):
    """Items have no correlation of their own, so there is no effect per item."""
    rows = registry("effects", "wordsim", "--metric", "r", "--margin", 0.5, "--format", "json").json
    assert len(rows) == 84
    assert {row["effect"] for row in rows} == {"difference", "equivalence"}


def test_williams_refuses_kendall_and_sums_have_no_say(run, registry):
    assert "supports only Pearson's and Spearman's" in registry(
        "compare", "wordsim", "--metric", "tau", "--test", "williams", exit_code=3).stderr
    assert "does not support correlations" in registry(
        "compare", "wordsim", "--metric", "rho", "--test", "wilcoxon", exit_code=3).stderr
