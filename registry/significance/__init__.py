"""Significance tests over arrays: no files, no database. `TESTS` maps a test's name to its class."""

from registry.significance.base import PairResult, PairTest, Settings
from registry.significance.bootstrap import Bootstrap
from registry.significance.matrix import StatisticMatrix
from registry.significance.multiplicity import CORRECTIONS
from registry.significance.permutation import Permutation
from registry.significance.ranking import Ranking, rank
from registry.significance.sign import McNemar, Sign

TESTS: dict[str, type[PairTest]] = {test.name: test for test in (Permutation, Bootstrap, Sign, McNemar)}

__all__ = [
    "CORRECTIONS", "TESTS", "Bootstrap", "McNemar", "PairResult", "PairTest", "Permutation", "Ranking", "Settings",
    "Sign", "StatisticMatrix", "rank",
]
