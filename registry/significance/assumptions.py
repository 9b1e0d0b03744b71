"""Warnings of uses that a test's assumptions do not cover.

Where a test cannot be computed it refuses (`PairTest.refusal`). These rules warn of what can be computed and should not
be trusted: the misuses of Dror et al. 2018 (footnote 3) and the independence assumption of Yeh 2000 (section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from registry.arrays import ROUNDING, Ints
from registry.errors import counted
from registry.judged import FEW_FOR_T, FEW_WEIGHTED, is_random
from registry.significance.cautions.evidence import SystemPairs, board_warnings
from registry.significance.cautions.judges import judged_items, n_telling
from registry.significance.cautions.unlike_samples import outlying_runs
from registry.significance.cautions.weak_null import LEAST_RATIO, even_units, even_units_of_each, skewed
from registry.significance.correlations import PEARSON, PairMatrix
from registry.significance.crossed import count_levels, warn_of_broken_levels
from registry.significance.matrix import Matrix, additive
from registry.significance.pairwise.base import PairTest
from registry.significance.pairwise.bootstrap import Bootstrap
from registry.significance.pairwise.crossed import Crossed
from registry.significance.pairwise.independent import Fisher, TwoSampleT
from registry.significance.pairwise.matched import MatchedT
from registry.significance.pairwise.permutation import Permutation
from registry.significance.pairwise.prediction_powered import PredictionPowered
from registry.significance.pairwise.williams import Steiger, Williams

FEW_CROSSED = 20  # units below which the crossed test was not looked at (tests/validity)
UNEVEN_CROSSED = {"all": 40, "items": 120}  # units of equal weight below which uneven ones make it reject too often
FEW = 200  # units below which the recentred bootstrap rejects too often (tests/validity)
# units of equal weight below which units of unequal weight make it reject too often (tests/validity/uneven_units)
FEW_EVEN = {"recentred": 120, "berg-kirkpatrick-2012": 120, "studentized": 10}
FEW_OF_UNEVEN = 20  # the same of the studentized one, where they tell less than half of what as many equal ones would


def is_categorical(matrix: Matrix) -> bool:
    """Say whether units have two different scores at most, such as right and wrong."""
    scores = additive(matrix).unit_scores()
    return len(np.unique(scores[~np.isnan(scores)])) <= 2


def _independent(test: PairTest, matrix: Matrix) -> str | None:
    where, instead = (("on items that they share", "") if matrix.unequal else
                      ("on one test set", ": take permutation"))  # which takes no systems with items of their own
    return (f"{test.name} assumes that the systems' results are independent; {where} they hardly ever are, and "
            f"real differences are missed (Yeh 2000){instead}") if test.independent else None


def _t_without_a_mean(test: PairTest, matrix: Matrix) -> str | None:
    return ("t tests the mean score of units, and this metric is not that mean (Dror et al. 2018): take permutation or "
            "bootstrap") if isinstance(test, MatchedT) and not matrix.is_mean else None


def _t_on_categories(test: PairTest, matrix: Matrix) -> str | None:
    return ("t on units that are right or wrong (Dror et al. 2018): take mcnemar or permutation"
            if isinstance(test, MatchedT) and is_categorical(matrix) else None)


def _welch_on_categories(test: PairTest, matrix: Matrix) -> str | None:
    return ("units that are right or wrong vary as their rates say, and of few that are wrong, or right, each system's "
            "own variance says too little: take two-sample-t"
            ) if test == TwoSampleT(pooled=False) and is_categorical(matrix) else None


def _units_instead_of_the_score(test: PairTest, matrix: Matrix) -> str | None:
    if not test.of_unit_scores or isinstance(test, MatchedT):
        return None
    said = f"{test.name} looks at single units, and may decide otherwise than the score, which is not their mean"
    if matrix.unequal:  # no other test takes these
        scores = additive(matrix).unit_scores()
        means = np.array([of[~np.isnan(of)].mean() if (~np.isnan(of)).any() else np.nan for of in scores.T])
        return None if np.allclose(means, matrix.observed, rtol=ROUNDING, equal_nan=True) else said
    return f"{said}: take permutation or bootstrap" if not test.independent and not matrix.is_mean else None


def _bootstrap_of_few(test: PairTest, matrix: Matrix) -> str | None:
    if not isinstance(test, Bootstrap) or test.variant == "studentized" or (n := n_telling(matrix)) >= FEW:
        return None
    looked, instead = (" that people looked at", "prediction-powered") if matrix.judged else ("", "permutation")
    return ("the bootstrap rejects too often on a small test set (Dror et al. 2018), and "
            f"{counted(n, f'unit{looked} is', f'units{looked} are')} fewer than {FEW}: take {instead}")


def _bootstrap_of_uneven_units(test: PairTest, matrix: Matrix) -> str | None:
    if not isinstance(test, Bootstrap):
        return None
    least, units = FEW_EVEN[test.variant], n_telling(matrix)
    if test.variant != "studentized" and units < FEW:
        return None
    if (even := even_units(matrix)) < units / 2:
        least = max(least, FEW_OF_UNEVEN)
    if even >= least:
        return None
    instead = ("prediction-powered" if matrix.judged else "permutation" if matrix.quotient is None else
               "permutation(studentized=true)")
    if matrix.quotient is not None and np.nanmax(even_units_of_each(matrix.by_unit)) >= least:  # swaps do not mend that
        enough = test.variant != "studentized" and even >= FEW_EVEN["studentized"]
        instead = "bootstrap(variant=studentized)" if enough else "more units"
        instead += ", as some system says nothing in most of them"
    uneven = " of unequal weight" if round(even, 1) < units else ""
    return (f"{counted(units, 'unit')}{uneven} tell no more than {even:.1f} equal ones, of which {test!r} needs "
            f"{least}: take {instead}")


def _judged_of_uneven_units(test: PairTest, matrix: Matrix) -> str | None:
    if not isinstance(test, PredictionPowered) or matrix.judged is None:
        return None
    items = judged_items(matrix)
    alike = not matrix.statistics.shape[1] or is_random(items.of(0))
    least = FEW_FOR_T if alike else FEW_WEIGHTED
    if (alike and items.units is None) or (even := even_units(matrix)) >= least:
        return None
    drawn = "" if alike else " where items have probabilities of their own"
    return (f"the {counted(n_telling(matrix), 'unit')} that people looked at tell no more than {even:.1f} of equal "
            f"weight, and {test.name} has been found to keep its level from {least} on{drawn}")


def _runs_on_these_items(test: PairTest, matrix: Matrix) -> str | None:
    return ("permutation gives whole runs to the systems anew, on these very items: where systems are good at items of "
            "their own, and so differ here, they need not on others; take crossed, which speaks of other items too, "
            "also where the runs of one system are fewer and vary more"
            ) if isinstance(test, Permutation) and matrix.runs is not None else None


def _outlying_runs(test: PairTest, matrix: Matrix) -> str | None:
    return None if isinstance(test, Crossed) and test.over not in ("all", "runs") else outlying_runs(matrix)


def _broken_levels(test: PairTest, matrix: Matrix) -> str | None:
    return warn_of_broken_levels(matrix, test.over) if isinstance(test, Crossed) else None


def _two_runs(test: PairTest, matrix: Matrix) -> str | None:
    if not isinstance(test, Crossed) or test.over == "items" or 2 not in count_levels(matrix):
        return None
    return ("the error of two runs (or prompts, annotators or seeds) has one degree of freedom and counts 12.7 times "
            "at 5 %, so real differences are missed; of three it counts 4.3 times, of five 2.8")


def _crossed_of_few(test: PairTest, matrix: Matrix) -> str | None:
    if not isinstance(test, Crossed):
        return None
    even = even_units(matrix)
    least = UNEVEN_CROSSED.get(test.over, FEW_CROSSED) if even < matrix.n_units / 2 else FEW_CROSSED
    if even >= least:
        return None
    here = f"there {'is' if matrix.n_units == 1 else 'are'} {matrix.n_units} here"
    uneven = f", which tell no more than {even:.1f} of equal weight" if even < matrix.n_units else ""
    return f"crossed has been found to keep its level from {least} units on, and {here}{uneven}"


def _bootstrap_of_small_strata(test: PairTest, matrix: Matrix) -> str | None:
    strata = matrix.unit_strata
    if not isinstance(test, Bootstrap) or strata is None:
        return None
    if lone := matrix.lone_units:
        return (f"{counted(lone, 'unit is', 'units are')} alone in a stratum and cannot be resampled there, which "
                "makes intervals too narrow and p-values too small: take strata of more units, or none")
    number = len(np.unique(strata))
    shown = 1 - number / matrix.n_units  # of n units (n - 1) / n; random runs are drawn with what is missing
    return (f"{matrix.n_units} units in {counted(number, 'stratum', 'strata')} show {100 * shown:.0f} % of their "
            "variance in resamples, which makes intervals too narrow and p-values too small: take strata of more "
            "units, or none") if shown < LEAST_RATIO**2 and matrix.runs is None else None


def _williams_on_ranks(test: PairTest, matrix: Matrix) -> str | None:
    ranks = isinstance(matrix, PairMatrix) and matrix.coefficient is not PEARSON
    return (f"{test.name} is made for Pearson's correlation and rejects too often on ranks where correlations are "
            "high: take permutation") if isinstance(test, Williams | Steiger) and ranks else None


def _responses_that_share_an_item(test: PairTest, matrix: Matrix) -> str | None:
    if "response" not in test.units or matrix.answers_to is None:
        return None
    answered = matrix.answers_to[matrix.statistics[:, :, 1].any(axis=1)]
    if isinstance(test, Fisher):
        return shared_items(answered)
    items, together = np.unique(answered, return_counts=True)
    shared = int(np.count_nonzero(together > 1))
    return (f"{test.name} takes responses as independent, and {shared} of the {len(items)} items that have any have "
            'several: take unit = "item", which keeps them together') if shared else None


def _another_null(test: PairTest, matrix: Matrix) -> str | None:
    pairs = SystemPairs.every(matrix)
    cautions = test.cautions(pairs) if len(pairs.a) else ()
    return "; ".join(board_warnings(cautions, matrix.statistics.shape[1])) or None


RULES: Sequence[Callable[[PairTest, Matrix], str | None]] = (
    _independent, _t_without_a_mean, _t_on_categories, _welch_on_categories, _units_instead_of_the_score,
    _bootstrap_of_few, _bootstrap_of_uneven_units, _judged_of_uneven_units, _runs_on_these_items, _outlying_runs,
    _broken_levels, _two_runs, _crossed_of_few, _bootstrap_of_small_strata, _williams_on_ranks,
    _responses_that_share_an_item, _another_null)


def misuses(test: PairTest, matrix: Matrix) -> list[str]:
    """List what a reader of the results must be warned of, each with the test to take instead.

    Args:
        test: The test that was asked for; it does not refuse the matrix.
        matrix: By unit.
    """
    return [warning for rule in RULES if (warning := rule(test, matrix))]


def one_sided_misuses(test: PairTest, matrix: Matrix) -> list[str]:
    """The same of one-sided tests, which do not hold where differences are skewed, and at small levels least of all.

    Args:
        test: The test that was asked for; it does not refuse the matrix.
        matrix: By unit.
    """
    pairs = SystemPairs.every(matrix)
    is_skewed = len(pairs.a) and test in (Permutation(), MatchedT(), Bootstrap())
    cautions = skewed(pairs, one_sided=True) if is_skewed else ()
    return [*misuses(test, matrix), *board_warnings(cautions, matrix.statistics.shape[1])]


def shared_items(items: Ints) -> str | None:
    """Warn of Fisher's test of difference regions where several candidates share an item (Evert 2004, section 3.1).

    Args:
        items: The item of every candidate, [candidates].
    """
    shared = len(items) - len(np.unique(items))
    if not shared:
        return None
    return ("candidates share items, so the regions that Fisher's test compares are not quite independent of each "
            "other: take its p-values for approximate, or `registry compare` with permutation")
