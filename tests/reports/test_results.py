"""The result of a leaderboard in one sentence."""

from dataclasses import replace

import pytest

from registry.reports.results import describe_lead, describe_result, find_lead
from tests.reports.boards import changed, leaderboard

LEVEL = " (level 5 %, Holm's correction)."


def ranked(board, *ranks):
    """The board with other ranks, None for systems without a rank."""
    return replace(board, standings=tuple(
        replace(standing, rank=rank) for standing, rank in zip(board.standings, ranks, strict=True)))


@pytest.mark.parametrize(("significant", "verdict"), [
    (True, "a is significantly better than b"), (False, "a and b do not differ significantly")])
def test_two_systems_have_difference_interval_and_p_value(significant, verdict):
    board = leaderboard("ab", [0.75, 0.5], significant=lambda *_: significant)
    figures = {"ci_low": -0.0625, "ci_high": 0.5, "p_value": 0.0125, "p_adjusted": 0.025}
    assert describe_result(changed(board, lambda _: figures)) == (
        f"{verdict}: difference in acc 0.2500, 95 % CI -0.0625 to 0.5000, p = 0.0125.")
    board.comparison.family_size = 2  # a pair of another board is in the family
    assert describe_result(changed(board, lambda _: figures)).endswith(", adjusted p = 0.0250.")
    assert describe_result(changed(board, lambda _: {"p_value": None, "p_adjusted": None})) == (
        f"{verdict}: difference in acc 0.2500, adjusted p is undefined.")


@pytest.mark.parametrize(("significant", "result", "lead"), [
    (lambda a, b: True, f"a has the best acc (1.0000) and is significantly better than all 4 other systems{LEVEL}",
     "all 4"),
    (lambda a, b: b - a > 2, "a has the best acc (1.0000) and is significantly better than 2 of 4 other systems, but "
     f"not than b and c{LEVEL}", "2 of 4"),
    (lambda a, b: a == 1, "a has the best acc (1.0000), but is significantly better than none of the 4 other "
     f"systems{LEVEL}", "none of 4"),
    (lambda a, b: False, f"a has the best acc (1.0000), but no two of the 5 systems differ significantly{LEVEL}",
     "none of 4")])
def test_the_best_of_several_is_named_with_the_systems_that_it_does_not_beat(significant, result, lead):
    board = leaderboard("abcde", significant=significant)
    assert describe_result(board) == result
    assert describe_lead(find_lead(board)) == lead


def test_systems_that_share_the_best_score_beat_what_each_of_them_beats():
    board = ranked(leaderboard("abcd", [0.5, 0.5, 0.25, 0.125], significant=lambda a, b: b - a > 1), 1, 1, 3, 4)
    assert describe_result(board) == (
        "a and b share the best acc (0.5000) and are significantly better than 1 of 2 other systems, but not than "
        f"c{LEVEL}")


def test_a_better_system_without_a_rank_is_named():
    board = ranked(leaderboard("abc", significant=lambda *_: True), None, 1, 2)
    assert describe_result(board) == ("b has the best acc (0.9900) and is significantly better than the other ranked "
                                      f"system{LEVEL} a scored better, but without a rank.")


def test_low_scores_can_be_best_and_the_correction_is_named():
    board = replace(leaderboard("abc", [0.1, 0.2, 0.3], significant=lambda *_: True), better="lower")
    assert describe_result(board).startswith("a has the lowest acc (0.1000) and is")
    board.comparison.correction = "none"
    assert describe_result(board).endswith(" (at 5 %, p-values not corrected).")
    board.comparison.correction = "bh"
    assert "(false discovery rate 5 %, " in describe_result(board)


@pytest.mark.parametrize(("names", "scores", "result", "lead"), [
    ("a", [0.5], "a is the only system, with acc 0.5000.", "–"),
    ("ab", [None, None], "No ranked system has a score.", "–")])
def test_nothing_to_compare(names, scores, result, lead):
    board = leaderboard(names, scores)
    assert (describe_result(board), describe_lead(find_lead(board))) == (result, lead)
