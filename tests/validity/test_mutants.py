"""Mutants are caught in quick mode, by the row that each names; and by which rows alone they would not be."""

from dataclasses import replace

import pytest

from tests.validity.mutants import BLIND, QUICK
from tests.validity.rows import ROWS

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize("mutant", QUICK.values(), ids=QUICK)
def test_the_mutant_is_caught(mutant):
    assert not all(measured.holds for measured in mutant.measure())


@pytest.mark.parametrize(("row", "test"), BLIND.values(), ids=BLIND)
def test_the_family_error_alone_would_let_it_through(row, test):
    passing = replace(ROWS[row], test=test)
    assert all(measured.holds for measured in passing.measure(passing.runs_quick))
