"""Pair results of a registry of before migration 0011 are found again, each by what was asked of it."""

import duckdb
import pytest

from tests.store.older import back_to


@pytest.mark.parametrize("asked", [
    [], ["--test", "bootstrap", "--resamples", "300"], ["--test", "bootstrap", "--alternative", "less"],
    ["--test", "permutation(studentized=true)", "--resamples", "400", "--resolve", "40000"]])
def test_an_upgraded_registry_tests_no_pair_again(registry, scored, many, tmp_path, asked):
    scored(many)
    registry("compare", *asked)
    shown = registry("pairs", "--format", "json").json
    with duckdb.connect(str(tmp_path / "registry.duckdb")) as connection:
        back_to(connection, "0010")
    registry("init")
    assert registry("pairs", "--format", "json").json == shown
    undecided = sum((row["resamples"] or 0) > 400 for row in shown)  # their first draws are shown nowhere
    again = registry("compare", "--alpha", "0.0500001", *asked)
    assert f"pairs: {undecided} tested, {36 - undecided} known" in again.stderr
    same = ("system_a", "system_b", "p_value", "difference", "ci_low", "method", "resamples", "note")
    assert [[row[key] for key in same] for row in registry("pairs", "--format", "json").json] == [
        [row[key] for key in same] for row in shown]
