"""Significance tests over arrays: no files, no database. `TESTS` maps a test's name to its class.

what all share   matrix (statistics), base (pairs, tests, results), units, normal; assumptions (misuse)
how it is drawn  draws (streams, swaps, resamples), execution (threads, dask, memory), lattice (exact tails)
tests of pairs   permutation, studentized, bootstrap, ideal, runs; sign, matched, fisher, responses, independent;
correlation, swapped, correlated, williams
of all systems   overall
families         multiplicity, stepdown; ranking, best
beside p         effects, clusters, normality, proportion
"""

from registry.significance.base import PairResult, PairTest, Settings
from registry.significance.bootstrap import Bootstrap
from registry.significance.correlated import COEFFICIENTS, PairMatrix
from registry.significance.execution import Execution
from registry.significance.fisher import Fisher
from registry.significance.independent import BinomialZ, ChiSquared, RankSum, TwoSampleT
from registry.significance.matched import MatchedT, Wilcoxon
from registry.significance.matrix import StatisticMatrix
from registry.significance.multiplicity import CORRECTIONS
from registry.significance.overall import OVERALL_TESTS, OverallTest
from registry.significance.permutation import Permutation
from registry.significance.ranking import Ranking, rank
from registry.significance.responses import ResponsePermutation
from registry.significance.sign import McNemar, Sign
from registry.significance.williams import Steiger, Williams

TESTS: dict[str, type[PairTest]] = {
    test.name: test for test in (
        Permutation, Bootstrap, Sign, McNemar, Wilcoxon, MatchedT, Fisher, TwoSampleT, BinomialZ, ChiSquared, RankSum,
        Williams, Steiger, ResponsePermutation)
}

__all__ = [
    "COEFFICIENTS", "CORRECTIONS", "OVERALL_TESTS", "TESTS", "BinomialZ", "Bootstrap", "ChiSquared", "Execution",
    "Fisher", "MatchedT", "McNemar", "OverallTest", "PairMatrix", "PairResult", "PairTest", "Permutation", "RankSum",
    "Ranking", "ResponsePermutation", "Settings", "Sign", "StatisticMatrix", "Steiger", "TwoSampleT", "Wilcoxon",
    "Williams", "rank",
]
