"""Warnings about leaderboards: rare if systems are exchangeable, frequent if a test errs, whatever pairs have."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from registry.messages import Message, on_board
from registry.significance import MatchedT, Permutation, Settings, Wilcoxon
from registry.significance.diagnostics.assumptions import misuses
from registry.significance.diagnostics.evidence import (
    PairWarning,
    SystemPairs,
    board_warnings,
    chance_codes,
    range_tail,
)
from tests.significance.matrices import PRECISION, matrix
from tests.validity.hits import losing, zipf_labels
from tests.validity.populations import correlated, documents, spans
from tests.validity.populations import skewed as long_tailed
from tests.validity.unlike_populations import rare_class

SYSTEMS, BOARDS = 10, 60


def share(population, test):
    """The share of simulated leaderboards that have a warning."""
    sample = population.sample(np.random.default_rng(1), BOARDS)
    boards = (sample.matrix.select_systems(range(n * SYSTEMS, (n + 1) * SYSTEMS)).by_unit for n in range(BOARDS))
    return np.mean([bool(misuses(test, board)) for board in boards])


@pytest.mark.parametrize(("population", "test"), [
    (long_tailed(50, (0.0,) * SYSTEMS), Permutation()), (long_tailed(200, (0.0,) * SYSTEMS), Permutation()),
    (long_tailed(50, (0.0,) * SYSTEMS), Wilcoxon()), (documents(50, (0.97,) * SYSTEMS), Permutation()),
    (spans(20, (0.6,) * SYSTEMS, (0.4,) * SYSTEMS), Permutation()),
    (zipf_labels(200, 10, (0.8,) * SYSTEMS), Permutation())],
    ids=["skewed-50", "skewed-200", "asymmetric", "few documents", "mixed", "rare classes"])
def test_exchangeable_systems_rarely_cause_a_warning(population, test):
    """At most 10 % are promised, and 2 to 8 % measured; single pairs without regard to the others gave 32 to 100 %."""
    assert share(population, test) <= 0.17  # of 60 boards, 10 % exceed this by chance in 2 %


@pytest.mark.parametrize(("population", "least"), [
    (losing(200, 0.05, systems=SYSTEMS), 0.75),
    (rare_class(400, 20, ((0.955, 0.955, 0.88), (0.905, 0.905, 0.98)) * (SYSTEMS // 2)), 0.9)])
def test_populations_in_which_the_test_errs_cause_a_warning(population, least):
    assert share(population, Permutation()) >= least


def answering(units, shares, accuracy=0.8, seed=0):
    """Precision of systems that answer each item with such a probability."""
    rng = np.random.default_rng(seed)
    answered = rng.random((units, len(shares))) < shares
    correct = answered & (correlated(rng, answered.shape, 0.5) < stats.norm.ppf(accuracy))
    return matrix(np.stack([correct, answered, np.ones_like(answered)], axis=-1), PRECISION)


def note(test, board, pair=(0, 1)):
    return test.run(board, [pair], Settings(resamples=99))[0].messages


@pytest.mark.parametrize("test", [Permutation(), Permutation(studentized=True)], ids=repr)
def test_a_third_system_that_seldom_answers_does_not_change_a_note(test):
    """Its few units of a precision made units seem uneven in every pair, and pairs were noted without evidence."""
    boards = [answering(30, (0.35, 0.6, 0.15), seed=seed) for seed in range(40)]
    alone, among = ([note(test, board.select_systems(systems)) for board in boards] for systems in ([0, 1], [0, 1, 2]))
    assert alone == among
    assert 0 < sum(map(bool, among)) < len(boards)


def perfect_but_one(board):
    """Replace the last system's scores in a board of means by ones over other denominators."""
    statistics = np.array(board.statistics)
    statistics[:, -1] *= np.where(np.arange(len(statistics)) % 2, 2, 1)[:, None]
    return replace(board, statistics=statistics)


@pytest.mark.parametrize("board", [
    long_tailed(50, (0.0,) * SYSTEMS).sample(np.random.default_rng(1), 1).matrix,
    perfect_but_one(long_tailed(50, (0.0,) * SYSTEMS).sample(np.random.default_rng(1), 1).matrix),
    documents(20, (0.97,) * 30).sample(np.random.default_rng(1), 1).matrix.by_unit,
    spans(20, (0.6,) * SYSTEMS, (0.4,) * SYSTEMS).sample(np.random.default_rng(1), 1).matrix,
    zipf_labels(200, 10, (0.8,) * SYSTEMS).sample(np.random.default_rng(1), 1).matrix,
], ids=["means", "one with other denominators", "documents", "spans", "rare classes"])
def test_a_note_on_a_pair_does_not_depend_on_other_systems(board):
    systems = board.statistics.shape[1]
    pairs = [(a, b) for a in range(systems) for b in range(a + 1, systems)]
    for test in (Permutation(), Permutation(studentized=True), MatchedT(), Wilcoxon()):
        if test.refusal(board) is None:
            among = [*test.pair_warnings(SystemPairs.every(board))]
            for n, pair in enumerate(pairs):
                alone = test.pair_warnings(SystemPairs.every(board.select_systems(pair)))
                codes = {of.message.code for of in among if of.has_evidence[n]}
                assert {of.message.code for of in alone if of.has_evidence[0]} == codes, pair


def test_chance_explains_more_notes_of_more_systems():
    """The largest of 45 pairs of ten exchangeable systems reaches 2.5 in 29 %, the only one of two in 1.2 %."""
    message = Message("skewed-items")
    warning = PairWarning(np.array([True, True, False]), message, np.array([2.5, 1.0, 9.0]))
    assert warning.has_evidence.tolist() == [True, False, False]
    assert board_warnings([warning], 2) == [on_board(message, 1, 3)]
    assert chance_codes([warning], 2) == []
    assert board_warnings([warning], 10) == []
    assert chance_codes([warning], 10) == ["skewed-items"]
    certain = warning._replace(scores=None)
    assert board_warnings([certain], 10) == [on_board(message, 2, 3)]
    assert board_warnings([warning._replace(scores=np.ones(3))], 2) == []


@pytest.mark.parametrize("systems", [2, 3, 10, 50])
@pytest.mark.parametrize("score", [0.5, 1.645, 3.0, 5.0])
def test_the_largest_score_has_the_distribution_of_the_studentized_range(systems, score):
    expected = stats.studentized_range.sf(np.sqrt(2) * score, systems, np.inf)
    assert range_tail(score, systems) == pytest.approx(expected, rel=1e-6, abs=1e-12)
