"""Decimals keep their step: scores are those of the numbers as written, and exact tests count in whole steps."""

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from tests.evaluation.tables import manifest
from tests.thorough import keep_each

TABLES = {"metric": ['name = "Mean"'],
          "test_set": 'gold = "gold"\nformat = "scores"\noptions = { separator = "comma" }'}


def write(folder, significance="", **systems):
    """A task of scores as they are written, {system: [text]}."""
    path = manifest(folder, **TABLES, significance=significance)
    for name, scores in ({"gold": next(iter(systems.values()))} | systems).items():
        (folder / (name if name == "gold" else f"{name}.csv")).write_text("item,score\n" + "".join(
            f"i{n:03},{score}\n" for n, score in enumerate(scores)))
    return path


def columns(registry, sql):
    return [tuple(row.values()) for row in registry("query", sql, "--format", "json").json]


@pytest.fixture
def decimals():
    """Twelve scores with two to five decimals."""
    rng = np.random.default_rng(0)
    return {name: [str(Decimal(int(n)).scaleb(-places)) for n in rng.integers(0, 10**places, 12)]
            for name, places in (("two", 2), ("four", 4), ("five", 5))}


def test_scores_are_those_of_the_numbers_as_written(registry, tmp_path, decimals):
    """The nearest float to the exact mean, of items the nearest to what is written, and the step of the last place."""
    board = registry("run", write(tmp_path / "t", **decimals), "--format", "json").json
    assert {row["system"]: row["score"] for row in board} == {
        name: float(sum(map(Fraction, scores)) / 12) for name, scores in decimals.items()}
    found = columns(registry, "SELECT system, score FROM item_score ORDER BY system, item")
    assert found == [(name, float(score)) for name in sorted(decimals) for score in decimals[name]]
    steps = columns(registry, "SELECT system, step FROM score JOIN submission_score USING (scoring_id) ORDER BY step")
    assert steps == [("five", 1e-5), ("four", 1e-4), ("two", 0.01)]


def test_a_mean_between_two_printed_digits_is_printed_as_trec_eval_prints_it(registry, tmp_path):
    """Twenty topics: 0.20705 is printed as 0.2071, as the nearest float lies above it.

    The mean of the nearest multiples of 2^-30, as which scores were once kept, lies below it.
    """
    scores = ["0.01"] * 10 + ["0.4041"] * 10
    (row,) = registry("run", write(tmp_path / "t", one=scores), "--format", "json").json
    assert (row["score"], f"{row['score']:.4f}") == (0.20705, "0.2071")


def test_exact_tests_count_swaps_of_the_numbers_as_written(registry, tmp_path, decimals):
    """All 2^12 swaps of each pair, in fractions."""
    registry("run", write(tmp_path / "t", **decimals))
    pairs = registry("pairs", "t", "--format", "json").json
    assert len(pairs) == 3
    for pair in pairs:
        gains = [Fraction(a) - Fraction(b) for a, b in zip(
            decimals[pair["system_a"]], decimals[pair["system_b"]], strict=True)]
        extreme = sum(abs(sum(s * g for s, g in zip(signs, gains, strict=True))) >= abs(sum(gains))
                      for signs in product((1, -1), repeat=12))
        assert (pair["method"], pair["p_value"]) == ("exact", extreme / 2**12)


def test_a_system_with_all_digits_changes_no_other_pair(registry, tmp_path, decimals):
    """Then all are counted in finer steps; results of the others stay what they were, to the last bit."""
    path = write(tmp_path / "t", **decimals)
    registry("run", path)
    before = {(row["system_a"], row["system_b"]): row for row in registry("pairs", "t", "--format", "json").json}
    write(tmp_path / "t", **decimals, thirds=[f"{n / 30}" for n in range(12)])
    done = registry("run", path)
    assert "pairs: 3 tested, 3 already stored" in done.stderr
    after = {(row["system_a"], row["system_b"]): row for row in registry("pairs", "t", "--format", "json").json}
    for pair, row in before.items():
        for column in ("score_a", "score_b", "difference", "p_value", "method"):
            assert after[pair][column] == row[column]
    registry("run", path, "--db", "anew.duckdb")
    anew = {(row["system_a"], row["system_b"]): row for row in registry(
        "pairs", "t", "--format", "json", "--db", "anew.duckdb").json}
    for pair, row in after.items():
        assert (anew[pair]["p_value"], anew[pair]["difference"]) == (row["p_value"], row["difference"])


@pytest.mark.parametrize("test", keep_each(2, [
    "t", "sign", "wilcoxon", "permutation", "bootstrap(variant=studentized)"]))
@pytest.mark.parametrize("exponent", keep_each(2, [-9, 6]))
def test_p_values_do_not_depend_on_the_unit_of_the_scores(registry, tmp_path, test, exponent):
    """Latencies in nanoseconds, in seconds, and in femtoseconds; scipy gives t and Wilcoxon from the numbers."""
    rng = np.random.default_rng(7)
    latencies = {"aspen": rng.normal(40, 8, 40).round(3)}
    latencies["birch"] = (latencies["aspen"] + rng.normal(3, 2, 40)).round(3)
    pairs = []
    for unit in (0, exponent):
        path = write(tmp_path / f"t{unit}", f'test = "{test}"', **{
            name: [f"{Decimal(str(value)).scaleb(unit):f}" for value in values] for name, values in latencies.items()})
        registry("run", path, "--db", f"{unit}.duckdb")
        pairs += registry("pairs", "t", "--format", "json", "--db", f"{unit}.duckdb").json
    of_ones, of_unit = pairs
    assert of_unit["p_value"] == pytest.approx(of_ones["p_value"], rel=1e-9)
    assert of_unit["p_value"] < 1e-3
    assert of_unit["difference"] == pytest.approx(of_ones["difference"] * 10.0**exponent, rel=1e-12)
    if test in ("t", "wilcoxon"):
        expected = {"t": stats.ttest_rel, "wilcoxon": stats.wilcoxon}[test](latencies["aspen"], latencies["birch"])
        assert of_unit["p_value"] == pytest.approx(expected.pvalue, rel=1e-6)


def test_a_board_of_numbers_that_keep_too_few_digits_is_refused(registry, tmp_path):
    path = write(tmp_path / "t", one=[f"{n}e-200" for n in range(2, 9)], two=[f"{n}e-201" for n in range(2, 9)])
    told = registry("run", path, exit_code=3).stderr
    assert "values of Mean are too small (at most 8e-200)" in told
    assert "multiply all values by the same power of ten" in told


def test_a_tie_that_only_rounding_makes_is_reported(registry, tmp_path):
    """Scores are counted to 12 digits of the largest; 0.1 + 0.2 and 0.3 are equal anyway."""
    ones = ["1e6", *(f"0.{n}1234567" for n in range(1, 9)), "0.3"]
    twos = ["999999.5", *(f"0.{n}12345671" for n in range(1, 9)), str(0.1 + 0.2)]
    told = registry("run", write(tmp_path / "t", one=ones, two=twos)).stderr
    assert "different scores of two systems count as equal in 8 items, because scores are rounded to 1e-06" in told
    told = registry("run", write(tmp_path / "s", one=ones[1:], two=twos[1:]), "--db", "small.duckdb").stderr
    assert "count as equal" not in told
