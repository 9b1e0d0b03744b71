"""TREC-8 ad hoc: runs 125 and 126 by every test that has published p-values for them."""

import csv
import math

import numpy as np
import pytest
from scipy import stats

from registry.significance import MatchedT, Permutation, Settings, Sign, Wilcoxon
from tests.significance.matrices import in_steps, matrix


@pytest.fixture
def runs(real_data):
    """Run 126 against run 125 (columns counted from 1): average precision of 50 topics."""
    with (real_data("trec-adhoc8-ap") / "adhoc8_ap.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    values = np.array([[float(row[125]), float(row[124])] for row in rows])
    assert len(values) == 50
    return matrix(in_steps(values, 4))


def both(test, m):
    """One-sided (126 better) and two-sided."""
    found = [test.run(m, [(0, 1)], Settings(alternative))[0] for alternative in ("greater", "two-sided")]
    assert all(f.method in ("exact", "asymptotic") for f in found)
    return tuple(f.p_value for f in found)


def test_published_p_values(runs):
    """To all digits of data/README.md."""
    assert both(MatchedT(), runs) == (pytest.approx(0.0006596986, abs=5e-11), pytest.approx(0.0013193972, abs=5e-11))
    assert both(Permutation(), runs) == (
        pytest.approx(0.000595746, abs=5e-10), pytest.approx(0.001191492, abs=5e-10))
    assert both(Sign(0.01), runs) == (pytest.approx(0.004779939, abs=5e-10), pytest.approx(0.009559879, abs=5e-10))
    assert both(Sign(), runs) == (pytest.approx(0.007673339, abs=5e-10), pytest.approx(0.015346678, abs=5e-10))
    assert both(Wilcoxon("normal"), runs) == (
        pytest.approx(0.001695971, abs=5e-10), pytest.approx(0.003391943, abs=5e-10))
    assert Permutation().run(runs, [(0, 1)], Settings())[0].method == "exact"


def test_wilcoxon_respects_a_tie_that_floats_split(runs):
    """Two topics differ by 0.0312 each; taking them apart gives the published 0.001722594 and 0.003445188."""
    gains = runs.statistics[:, 0, 0] - runs.statistics[:, 1, 0]
    tied = np.flatnonzero(np.abs(gains) == 312)
    assert len(tied) == 2
    apart = 100 * runs.statistics
    apart[tied[0], 0, 0] += math.copysign(1, gains[tied[0]])
    split = [both(Wilcoxon("normal"), matrix(s)) for s in (apart, 200 * runs.statistics - apart)]
    assert any(p == (pytest.approx(0.001722594, abs=5e-10), pytest.approx(0.003445188, abs=5e-10)) for p in split)


def test_exact_wilcoxon_counts_the_signs_of_the_tied_ranks(runs):
    """The exact two-sided 0.002896310 of data/README.md is that of 50 untied ranks at a rounded statistic.

    Scipy gives it so. With the tie as it is, all signs of the ranks (two of them the same) give another number, here
    counted by whole numbers.
    """
    gains = runs.statistics[:, 0, 0] - runs.statistics[:, 1, 0]
    doubled = [int(r) for r in 2 * stats.rankdata(np.abs(gains))]
    ways = [1] + [0] * sum(doubled)
    for rank in doubled:
        ways = [n + (ways[at - rank] if at >= rank else 0) for at, n in enumerate(ways)]
    above = sum(r for r, gain in zip(doubled, gains, strict=True) if gain > 0)
    greater = sum(ways[above:]) / 2**50
    assert both(Wilcoxon(), runs) == (pytest.approx(greater, rel=1e-12), pytest.approx(2 * greater, rel=1e-12))
    assert round(2 * greater, 4) == 0.0028
    assert stats.wilcoxon(gains, method="exact").pvalue == pytest.approx(0.002896310, abs=5e-10)


def test_published_p_values_by_commands(real_data, registry):
    """The same numbers from the table of runs to the pairs, without a line of Python; one-sided for run126."""
    registry("import", "wide", real_data("trec-adhoc8-ap") / "adhoc8_ap.csv", "--task", "trec8",
             "--option", 'systems=["run125", "run126"]', "--option", "metric=ap")
    published = {
        "t": (0.0006596986, 0.0013193972), "permutation": (0.000595746, 0.001191492),
        "sign(tie=0.01)": (0.004779939, 0.009559879), "sign": (0.007673339, 0.015346678),
        "wilcoxon(variant=normal)": (0.001695971, 0.003391943)}
    for test, expected in published.items():
        for alternative, p_value in zip(("greater", "two-sided"), expected, strict=True):
            declared = () if alternative == "two-sided" else ("--candidate", "run126")
            registry("compare", "trec8", "--test", test, "--alternative", alternative, *declared)
            (pair,) = registry("pairs", "trec8", "--format", "json").json
            assert (pair["system_a"], pair["n_units"]) == ("run126", 50)
            assert pair["p_value"] == pytest.approx(p_value, abs=5e-10), (test, alternative)


def test_all_129_runs_are_one_board(real_data, registry):
    """Every run's mean average precision is the mean of its column."""
    path = real_data("trec-adhoc8-ap") / "adhoc8_ap.csv"
    registry("import", "wide", path, "--task", "trec8")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    found = registry("query", "SELECT system, score FROM submission_score", "--format", "json").json
    assert {row["system"]: pytest.approx(row["score"], abs=1e-9) for row in found} == {
        name: np.mean([float(row[name]) for row in rows]) for name in rows[0]}
    assert len(found) == 129
