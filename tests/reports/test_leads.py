"""The best systems of a leaderboard, and how many others they beat."""

from dataclasses import replace

import pytest

from registry.reports.leads import Lead, find_lead
from tests.reports.boards import leaderboard


def ranked(board, *ranks):
    """The board with other ranks, None for systems without a rank."""
    return replace(board, standings=tuple(
        replace(standing, rank=rank) for standing, rank in zip(board.standings, ranks, strict=True)))


@pytest.mark.parametrize(("significant", "n_beaten", "words"), [
    (lambda a, b: True, 4, "all 4"), (lambda a, b: b - a > 2, 2, "2 of 4"), (lambda a, b: a == 1, 0, "none of 4")])
def test_the_best_system_is_compared_with_all_others(significant, n_beaten, words):
    lead = find_lead(leaderboard("abcde", significant=significant))
    assert (lead, str(lead)) == (Lead((0,), n_beaten, 4), words)


def test_systems_of_equal_rank_beat_the_systems_that_each_of_them_beats():
    board = leaderboard("abcd", [0.5, 0.5, 0.25, 0.125], significant=lambda a, b: b - a > 1)
    assert find_lead(ranked(board, 1, 1, 3, 4)) == Lead((0, 1), 1, 2), "b does not beat c"


def test_systems_without_a_rank_do_not_count():
    lead = find_lead(ranked(leaderboard("abc", significant=lambda *_: True), None, 1, 2))
    assert (lead, str(lead)) == (Lead((1,), 1, 1), "the other system")


@pytest.mark.parametrize(("names", "scores", "best"), [("a", [0.5], (0,)), ("ab", [None, None], ())])
def test_nothing_is_beaten_if_nothing_is_compared(names, scores, best):
    lead = find_lead(leaderboard(names, scores, significant=lambda *_: False))
    assert (lead.best, lead.n_beaten, str(lead)) == (best, 0, "–")
