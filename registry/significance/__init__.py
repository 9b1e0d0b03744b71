"""Significance tests.

They take and return arrays, and use neither files nor a database. `TESTS` maps the name of a test to its class. The
modules are:

matrix          the input of tests: statistics of systems on the same units, and the function that computes scores
base            settings, observed pairs and results
units           scores of single units
distributions   p-values and intervals that scipy lacks or computes less accurately
correlations    correlations with gold values, with their resamples and permutations
intervals       closed-form intervals of scores and differences, for tests without their own intervals
overall         tests of all systems at once
crossed         the contributions of items and runs to standard errors
multiple        corrections of families of p-values
ranks           ranks and letters that follow from significant differences
rank_sets       sets of ranks and best systems, computed from joint resamples
facets          differences in facets, compared with the rest of the items
metric_agreement
                agreement of metrics with people, and tests of two metrics
effects         effect sizes and equivalence
power           power of tests, and synthetic systems
agreement       agreement of annotators, with bootstrap intervals
histories       new best scores on leaderboards that stay open

pairwise        tests of two systems, one module per family of tests
resampling      random resamples of units, and counts of resamples as extreme as the observed difference
joint           scores of systems that are estimated together, from votes or ratings
exact           p-values without simulation: exact permutation tests, and the bootstrap with infinitely many resamples
diagnostics     warnings about tests that do not fit the data, and about pairs that violate the null hypothesis
"""

from registry.parallel.execution import Execution
from registry.plugins import Catalogue
from registry.significance.base import PairResult, Settings
from registry.significance.correlations import COEFFICIENTS, PairMatrix
from registry.significance.joint.matrix import JointMatrix
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
from registry.significance.pairwise.wald import Wald
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
    Wald,
))

__all__ = [
    "COEFFICIENTS", "CORRECTIONS", "OVERALL_TESTS", "TESTS", "BinomialZ", "Bootstrap", "Bounded", "ChiSquared",
    "Crossed", "Execution", "Fisher", "JointMatrix", "MatchedT", "Matrix", "McNemar", "OverallTest", "PairMatrix",
    "PairResult", "PairTest", "Permutation", "PredictionPowered", "RankSum", "Ranks", "ResponsePermutation", "Settings",
    "Sign", "StatisticMatrix", "Steiger", "TwoSampleT", "Wald", "Wilcoxon", "Williams", "rank",
]
