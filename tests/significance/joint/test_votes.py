"""Strengths and win rates from votes, compared with published analyses, choix, and dense formulas."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from registry.significance.joint.votes import Votes, fit_bradley_terry
from tests.conftest import REAL_DATA
from tests.needs import need

# wins of the first, of the second, ties (Davidson 1970)
PUDDINGS = {
    (0, 1): (19, 22, 16), (0, 2): (16, 19, 12), (1, 2): (19, 19, 10), (0, 3): (18, 23, 13), (1, 3): (23, 19, 9),
    (2, 3): (19, 20, 15), (0, 4): (13, 19, 18), (1, 4): (16, 20, 12), (2, 4): (16, 15, 17), (3, 4): (17, 14, 16),
    (0, 5): (18, 21, 12), (1, 5): (22, 20, 12), (2, 5): (13, 18, 10), (3, 5): (14, 19, 18), (4, 5): (11, 21, 12)}
# citations of the journal in the row by that in the column (Stigler 1994; Agresti 2002, page 448)
CITATIONS = np.array([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]])
BASEBALL = ("Baltimore", "Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto")


def expand(counts, n_systems):
    """Votes from the numbers of wins, losses and ties of pairs."""
    numbers = np.array(list(counts.values()))
    a, b = (np.repeat([pair[side] for pair in counts], numbers.sum(axis=1)) for side in (0, 1))
    outcomes = np.concatenate([np.repeat([1.0, 0.0, 0.5][:len(row)], row) for row in numbers])
    return Votes(a, b, outcomes, n_systems)


@pytest.fixture
def games():
    path = REAL_DATA / "preferences" / "baseball.csv"
    need("real data", there=path.exists())
    with path.open() as file:
        counts = {(BASEBALL.index(row["home"]), BASEBALL.index(row["away"])): (
            int(row["home_wins"]), int(row["away_wins"])) for row in csv.DictReader(file)}
    return expand(counts, len(BASEBALL))


def test_strengths_of_baseball_teams(games):
    strengths = fit_bradley_terry(games).strengths
    assert strengths.scores.sum() == pytest.approx(0)
    assert strengths.scores - strengths.scores[0] == pytest.approx(
        [0, 1.1077, 0.6839, 1.4364, 1.5814, 1.2476, 1.2945], abs=5e-5)
    milwaukee = np.eye(7)[4] - np.eye(7)[0]
    assert np.sqrt(milwaukee @ strengths.model_covariance @ milwaukee) == pytest.approx(0.3433, abs=5e-5)


def test_home_advantage_in_baseball(games):
    fit = fit_bradley_terry(replace(games, order=np.ones(len(games), dtype=int)))
    assert fit.strengths.scores - fit.strengths.scores[0] == pytest.approx(
        [0, 1.1438, 0.7047, 1.4754, 1.6196, 1.2813, 1.3271], abs=5e-5)
    assert fit.nuisance.scores == pytest.approx([0.3023], abs=5e-5)
    assert np.sqrt(fit.nuisance.model_covariance) == pytest.approx(0.1309, abs=5e-5)


def test_strengths_of_journals():
    scores = fit_bradley_terry(expand({(int(a), int(b)): (CITATIONS[a, b],) for a, b in np.argwhere(CITATIONS)}, 4)
                               ).strengths.scores
    assert scores - scores[0] == pytest.approx([0, -2.9491, -0.4796, 0.2690], abs=5e-5)


def test_puddings_with_ties():
    fit = fit_bradley_terry(expand(PUDDINGS, 6), ties="davidson")
    worths = np.exp(fit.strengths.scores)
    assert worths / worths.sum() == pytest.approx(
        [0.1388034, 0.1730015, 0.1617474, 0.1653730, 0.1586854, 0.2023893], abs=5e-8)
    assert np.exp(fit.nuisance.scores) == pytest.approx([0.7468230], abs=5e-8)
