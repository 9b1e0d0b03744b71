"""Mutants are caught in quick mode, by the row that each names; and by which rows alone they would not be."""

from dataclasses import replace

import pytest

from tests.validity.mutants import BLIND, MUTANTS, QUICK, TABLE, told_as
from tests.validity.record import PAGE, recorded
from tests.validity.rows import ROWS

pytestmark = pytest.mark.simulation


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", QUICK.values(), ids=QUICK)
def test_the_mutant_is_caught(mutant):
    assert not all(measured.holds for measured in mutant.measure())


@pytest.mark.parametrize(("row", "test"), BLIND.values(), ids=BLIND)
def test_the_family_error_alone_would_let_it_through(row, test):
    passing = replace(ROWS[row], test=test)
    assert all(measured.holds for measured in passing.measure(passing.runs_quick))


def test_the_page_tells_of_all():
    told, _ = recorded(PAGE.read_text(), TABLE)
    assert [(name, row, why) for name, row, *_, why in told] == [
        (told_as(mutant.name), mutant.row, mutant.why) for mutant in MUTANTS.values()]
    assert all("PASSES" not in line for line in told)
