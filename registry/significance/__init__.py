"""Significance tests: arrays in, arrays out, without files or a database. `TESTS` maps a test's name to its class.

shared         matrix (what tests take), base (settings, results), units (scores of single units), distributions,
               weak_null (where equal scores are less than a test's null hypothesis)
draws          resampling, correlations, resampled_scores; exact where nothing need be drawn
tests          pairwise (two systems), overall (all systems); assumptions (misuse), tried_pairs (few stand for all)
families       multiple (corrections), ranks
intervals      intervals (in closed form, for tests that give none)
effect sizes   effects
"""

from registry.parallel.execution import Execution
from registry.significance.base import PairResult, Settings
from registry.significance.correlations.matrix import COEFFICIENTS, PairMatrix
from registry.significance.matrix import Matrix, StatisticMatrix
from registry.significance.multiple import CORRECTIONS
from registry.significance.overall import OVERALL_TESTS, OverallTest
from registry.significance.pairwise.base import PairTest
from registry.significance.pairwise.bootstrap import Bootstrap
from registry.significance.pairwise.bounded import Bounded
from registry.significance.pairwise.crossed import Crossed
from registry.significance.pairwise.fisher import Fisher
from registry.significance.pairwise.independent import BinomialZ, ChiSquared, RankSum, TwoSampleT
from registry.significance.pairwise.matched import MatchedT, Wilcoxon
from registry.significance.pairwise.permutation import Permutation
from registry.significance.pairwise.prediction_powered import PredictionPowered
from registry.significance.pairwise.response_permutation import ResponsePermutation
from registry.significance.pairwise.sign import McNemar, Sign
from registry.significance.pairwise.williams import Steiger, Williams
from registry.significance.ranks import Ranks, rank

TESTS: dict[str, type[PairTest]] = {
    test.name: test for test in (
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
    )
}

__all__ = [
    "COEFFICIENTS", "CORRECTIONS", "OVERALL_TESTS", "TESTS", "BinomialZ", "Bootstrap", "Bounded", "ChiSquared",
    "Crossed", "Execution", "Fisher", "MatchedT", "Matrix", "McNemar", "OverallTest", "PairMatrix", "PairResult",
    "PairTest", "Permutation", "PredictionPowered", "RankSum", "Ranks", "ResponsePermutation", "Settings", "Sign",
    "StatisticMatrix", "Steiger", "TwoSampleT", "Wilcoxon", "Williams", "rank",
]
