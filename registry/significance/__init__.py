"""Significance tests: arrays in, arrays out, without files or a database. `TESTS` maps a test's name to its class.

matrix          what tests take: statistics of systems on the same units, and the function that scores their sums
base            settings, observed pairs and results
units           scores of single units
distributions   p-values and intervals that scipy lacks or computes too coarsely
correlations    correlations with gold values, resampled and swapped
intervals       closed-form intervals of scores and differences, for tests without their own
overall         tests of all systems at once
crossed         the contributions of items and runs to standard errors
multiple        corrections of families of p-values
ranks           ranks and letters from decisions
rank_sets       sets of ranks and best systems from joint resamples
effects         effect sizes and equivalence
power           power of tests, and synthetic systems
histories       new bests of leaderboards that stay open

pairwise        tests of two systems, one module per family of tests
resampling      random draws of units, and counts of draws as extreme as the observed difference
exact           p-values without draws: sums on a lattice, and the bootstrap of infinitely many resamples
diagnostics     warnings about tests that do not fit, and about pairs for which a test is not one of equal scores
"""

from registry.parallel.execution import Execution
from registry.plugins import Catalogue
from registry.significance.base import PairResult, Settings
from registry.significance.correlations import COEFFICIENTS, PairMatrix
from registry.significance.matrix import Matrix, StatisticMatrix
from registry.significance.multiple import CORRECTIONS
from registry.significance.overall import OVERALL_TESTS, OverallTest
from registry.significance.pairwise.base import PairTest
from registry.significance.pairwise.bootstrap import Bootstrap
from registry.significance.pairwise.crossed import Crossed
from registry.significance.pairwise.independent import BinomialZ, ChiSquared, Fisher, RankSum, TwoSampleT
from registry.significance.pairwise.matched import Bounded, MatchedT, McNemar, Sign, Wilcoxon
from registry.significance.pairwise.permutation import Permutation, ResponsePermutation
from registry.significance.pairwise.prediction_powered import PredictionPowered
from registry.significance.pairwise.williams import Steiger, Williams
from registry.significance.ranks import Ranks, rank

TESTS: Catalogue[PairTest] = Catalogue("test", PairTest, (
    Permutation,
    Bootstrap,
    Sign,
    McNemar,
    Wilcoxon,
    MatchedT,
    Fisher,
    TwoSampleT,
    BinomialZ,
    ChiSquared,
    RankSum,
    Williams,
    Steiger,
    ResponsePermutation,
    Crossed,
    PredictionPowered,
    Bounded,
))

__all__ = [
    "COEFFICIENTS", "CORRECTIONS", "OVERALL_TESTS", "TESTS", "BinomialZ", "Bootstrap", "Bounded", "ChiSquared",
    "Crossed", "Execution", "Fisher", "MatchedT", "Matrix", "McNemar", "OverallTest", "PairMatrix", "PairResult",
    "PairTest", "Permutation", "PredictionPowered", "RankSum", "Ranks", "ResponsePermutation", "Settings", "Sign",
    "StatisticMatrix", "Steiger", "TwoSampleT", "Wilcoxon", "Williams", "rank",
]
