"""A system that says something in few units beside one that does in all: whom it is said of, and what to take."""

from dataclasses import replace

import numpy as np
import pytest

from registry.significance import Bootstrap, Crossed, Permutation, Settings
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.rare_outcomes import HARDLY_WRONG, SELDOM
from registry.significance.diagnostics.exchangeability import MIXED
from tests.significance.matrices import PRECISION, RECALL, matrix


def saying(first, second, units=60, scored=PRECISION, *, wrong=None):
    """Two systems that say something in so many units, every other time right, or in so many units wrong."""
    said = np.stack([np.arange(units) < n for n in (first, second)], axis=-1).astype(float)
    at = np.arange(units)
    right = said * (at % 2 if wrong is None else at >= wrong)[:, None]
    return matrix(np.stack([right, said, np.ones_like(said)], axis=-1), scored)


@pytest.mark.parametrize(("first", "second", "scored", "told"), [
    (12, 60, PRECISION, True), (60, 12, PRECISION, True), (25, 60, PRECISION, True), (70, 200, PRECISION, False),
    (25, 45, PRECISION, False), (6, 6, PRECISION, False), (0, 60, PRECISION, False),
    (12, 60, RECALL, False)])
def test_it_is_told_of_few_units_beside_many_whose_denominators_they_are(first, second, scored, told):
    m = saying(first, second, max(60, second), scored)
    for test in (Permutation(), Permutation(studentized=True)):
        assert (SELDOM in test.run(m, [(0, 1)], Settings(resamples=99))[0].note) is told


@pytest.mark.parametrize(("said", "wrong", "of_swaps", "of_resamples"), [
    (20, 4, HARDLY_WRONG, True), (20, 16, HARDLY_WRONG, True), (20, 0, HARDLY_WRONG, True), (20, 5, SELDOM, False),
    (100, 4, HARDLY_WRONG, True), (100, 9, SELDOM, False), (100, 10, None, False)])
def test_it_is_told_of_a_system_that_is_wrong_or_right_in_few_of_its_few_units(said, wrong, of_swaps, of_resamples):
    """Bootstrap-t, which mends swaps of few units, rejects 13 % and more where two of them are wrong."""
    m = saying(said, 300, 300, wrong=wrong)
    pairs = SystemPairs.every(m)
    found = {caution.said for caution in Permutation(studentized=True).cautions(pairs) if caution.noted[0]}
    assert found == ({of_swaps} if of_swaps else set())
    for test in (Bootstrap(), Bootstrap("studentized")):
        assert [caution.noted[0] for caution in test.cautions(pairs) if caution.said == HARDLY_WRONG] == [
            of_resamples]
    trained = replace(m, runs=tuple(np.repeat(m.statistics[:, [n]], 3, axis=1) for n in (0, 1)))
    of_trained = Crossed().cautions(SystemPairs.every(trained))
    assert [caution.noted[0] for caution in of_trained if caution.said == HARDLY_WRONG] == [
        min(wrong, said - wrong) < 10]


def test_no_other_caution_names_swaps_then():
    m = saying(12, 60)
    assert misuses(Permutation(), m) == misuses(Permutation(studentized=True), m) == [f"in the one pair {SELDOM}"]
    assert MIXED in misuses(Permutation(), saying(25, 45))[0]
    few, many = saying(6, 250, 250), saying(50, 250, 250)
    assert all(any("units, as some system says nothing" in said for said in misuses(test, few))
               for test in (Bootstrap(), Bootstrap("studentized")))
    assert misuses(Bootstrap("studentized"), many) == []
    assert "take bootstrap(variant=studentized)" in misuses(Bootstrap(), many)[-1]
