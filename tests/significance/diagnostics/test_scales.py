"""Percent beside fractions is reported; scores on one scale are not, however far apart they are."""

import math

import pytest

import registry
from registry.significance.diagnostics.samples import warn_of_mixed_scales


@pytest.mark.parametrize(("scores", "is_told"), [
    ([0.8469, 80.13], True), ([0.02, 1.0, 30.0], True), ([0.9, 95.0, math.nan], True), ([0.5, 2.0], False),
    ([0.5, 9.9], False), ([0.5, 101.0], False), ([0.0, 50.0], False), ([-0.5, 50.0], False), ([0.2, 0.9], False),
    ([40.0, 90.0], False), ([math.nan, 90.0], False)])
def test_only_scores_that_differ_as_percent_and_fractions_do(scores, is_told):
    assert (warn_of_mixed_scales([f"s{n}" for n in range(len(scores))], scores) is not None) == is_told


def test_it_is_told_before_the_work_and_below_the_board():
    fractions = [n / 20 for n in range(20)]
    told = "'b' seems to have scores in percent, but 'a' has fractions; give all scores on one scale"
    board = registry.evaluate(None, {"a": fractions, "b": [100 * x + 1 for x in fractions]})
    assert any(told in remark for remark in board.messages)
    assert told in str(board)
    (warning,) = [one for one in board.warnings if one.code == "mixed-scales"]
    assert (str(warning), warning.parameters) == (told, {"percent": "b", "fraction": "a"})
    alike = registry.evaluate(None, {"a": [100 * x for x in fractions], "b": [90 * x for x in fractions]})
    assert "percent" not in str(alike) + str(alike.messages)


def test_errors_of_very_different_systems_are_not():
    """A bad system may well err a hundred times as much."""
    gold = [n / 10 for n in range(20)]
    board = registry.evaluate(gold, {"a": [x + 0.1 + x / 99 for x in gold], "b": [x + 12 + x / 9 for x in gold]},
                              metric="MAE")
    assert board.scores["b"] > 20 * board.scores["a"]
    assert "percent" not in str(board) + str(board.messages)
