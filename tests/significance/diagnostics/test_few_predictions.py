"""A system that says something in few units beside one that does in all: whom it is said of, and what to take."""

from dataclasses import replace

import numpy as np
import pytest

from registry.messages import Message, on_board
from registry.significance import Bootstrap, Crossed, Permutation, Settings
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.evidence import SystemPairs
from tests.significance.matrices import PRECISION, RECALL, matrix

VARIED, FEW = "few-varied-predictions", "few-predictions"


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
        assert ("few-predictions" in test.run(m, [(0, 1)], Settings(resamples=99))[0].messages.codes) is told


@pytest.mark.parametrize(("said", "wrong", "of_swaps", "of_resamples"), [
    (20, 4, VARIED, True), (20, 16, VARIED, True), (20, 0, VARIED, True), (20, 5, FEW, False),
    (100, 4, VARIED, True), (100, 9, FEW, False), (100, 10, None, False)])
def test_it_is_told_of_a_system_that_is_wrong_or_right_in_few_of_its_few_units(said, wrong, of_swaps, of_resamples):
    """Bootstrap-t, which mends swaps of few units, rejects 13 % and more where two of them are wrong."""
    m = saying(said, 300, 300, wrong=wrong)
    pairs = SystemPairs.every(m)
    warnings = Permutation(studentized=True).pair_warnings(pairs)
    found = {warning.message.code for warning in warnings if warning.has_evidence[0]}
    assert found == ({of_swaps} if of_swaps else set())
    for test in (Bootstrap(), Bootstrap("studentized")):
        varied = [warning for warning in test.pair_warnings(pairs) if warning.message.code == VARIED]
        assert [warning.has_evidence[0] for warning in varied] == [of_resamples]
    trained = replace(m, runs=tuple(np.repeat(m.statistics[:, [n]], 3, axis=1) for n in (0, 1)))
    of_trained = Crossed().pair_warnings(SystemPairs.every(trained))
    assert [warning.has_evidence[0] for warning in of_trained if warning.message.code == VARIED] == [
        min(wrong, said - wrong) < 10]


def test_no_other_warning_names_swaps_then():
    m = saying(12, 60)
    assert misuses(Permutation(), m) == misuses(Permutation(studentized=True), m) == [
        on_board(Message("few-predictions"), 1, 1)]
    assert misuses(Permutation(), saying(25, 45))[0].code == "not-exchangeable"
    few, many = saying(6, 250, 250), saying(50, 250, 250)
    assert all(any(said.parameters.get("is_silent") for said in misuses(test, few))
               for test in (Bootstrap(), Bootstrap("studentized")))
    assert misuses(Bootstrap("studentized"), many) == []
    assert misuses(Bootstrap(), many)[-1].parameters["use"] == "bootstrap(variant=studentized)"
