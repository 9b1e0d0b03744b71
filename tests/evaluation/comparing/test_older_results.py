"""Pair results of a registry of before migration 0011 are found again, each by what was asked of it."""

import duckdb
import pytest

from registry.store.database import Database
from tests.evaluation.comparing.compared import Undone, pairs
from tests.store.older import back_to

ASKED = [
    {}, {"test": "bootstrap", "resamples": 300}, {"test": "bootstrap", "alternative": "greater", "candidate": "s3"},
    {"test": "permutation(studentized=true)", "resamples": 400, "resolve": 40_000}]
SAME = ("system_a", "system_b", "p_value", "difference", "ci_low", "method", "resamples", "note")


@pytest.mark.thorough
def test_an_upgraded_registry_tests_no_pair_again(registry, scored, many, tmp_path):
    scored(many)
    shown = []
    for asked in ASKED:
        registry("compare", *(of for name, value in asked.items() for of in (f"--{name}", value)))
        shown.append(pairs())
    with duckdb.connect(str(tmp_path / "registry.duckdb")) as connection:
        back_to(connection, "0010")
    registry("init")
    assert without_intervals(pairs()) == without_intervals(shown[-1])
    assert {row["ci_low"] for row in pairs()} == {None}, "comparisons of earlier programs have none in closed form"
    with Database("registry.duckdb").writing(dry_run=True) as connection:
        upgraded = Undone(connection)
        for asked, rows in zip(ASKED, shown, strict=True):
            assert upgraded.compare(**asked).made == 0
            assert without_intervals(upgraded.pairs) == without_intervals(rows)
            undecided = sum((row["resamples"] or 0) > 400 for row in rows)  # their first draws are shown nowhere
            again = upgraded.compare(alpha=0.0500001, **asked)
            assert (again.pairs_computed, again.pairs_found) == (undecided, 36 - undecided)
            assert [[row[key] for key in SAME] for row in upgraded.pairs] == [
                [row[key] for key in SAME] for row in rows]


def without_intervals(rows):
    return [{key: value for key, value in row.items() if not key.startswith("ci_")} for row in rows]
