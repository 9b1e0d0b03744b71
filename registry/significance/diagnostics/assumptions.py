"""Warnings about tests with assumptions that do not hold.

`PairTest.refusal` refuses tests that cannot be computed. The rules of this module warn about tests that can be
computed, but are not reliable: the misuses of Dror et al. 2018 (footnote 3) and the independence assumption of Yeh 2000
(section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from registry.arrays import ROUNDING, Ints
from registry.judged import FEW_FOR_T, FEW_WEIGHTED, is_random
from registry.messages import Message
from registry.significance.correlations import PEARSON, PairMatrix
from registry.significance.crossed import count_levels
from registry.significance.diagnostics.evidence import SystemPairs, board_warnings
from registry.significance.diagnostics.exchangeability import (
    LEAST_RATIO,
    compute_effective_units,
    compute_effective_units_by_system,
    find_skewed,
)
from registry.significance.diagnostics.judges import count_informative_units, get_judged_items
from registry.significance.diagnostics.samples import find_outlying_levels, find_outlying_runs
from registry.significance.matrix import Matrix, additive
from registry.significance.pairwise.base import PairTest
from registry.significance.pairwise.bootstrap import Bootstrap
from registry.significance.pairwise.crossed import Crossed
from registry.significance.pairwise.independent import Fisher, TwoSampleT
from registry.significance.pairwise.matched import MatchedT
from registry.significance.pairwise.permutation import Permutation
from registry.significance.pairwise.prediction_powered import PredictionPowered
from registry.significance.pairwise.williams import Steiger, Williams

FEW_CROSSED = 20  # least number of units for which the crossed test was validated (tests/validity)
UNEVEN_CROSSED = {"all": 40, "items": 120}  # effective units below which the crossed test rejects too often
FEW = 200  # units below which the recentred bootstrap rejects too often (tests/validity)
# effective units below which the bootstrap rejects too often (tests/validity/uneven_units)
FEW_EVEN = {"recentred": 120, "berg-kirkpatrick-2012": 120, "studentized": 10}
FEW_OF_UNEVEN = 20  # this limit if there are fewer than half as many effective units as units (studentized bootstrap)


def is_categorical(matrix: Matrix) -> bool:
    """Return True if single items (or clusters) have at most two distinct scores.

    For example, each item is right or wrong.
    """
    scores = additive(matrix).unit_scores()
    return len(np.unique(scores[~np.isnan(scores)])) <= 2


def _independent(test: PairTest, matrix: Matrix) -> Message | None:
    if not test.independent:
        return None
    return Message("independent-test", {"test": test.name, "is_shared": matrix.unequal})


def _t_without_a_mean(test: PairTest, matrix: Matrix) -> Message | None:
    return Message("t-not-mean") if isinstance(test, MatchedT) and not matrix.is_mean else None


def _t_on_categories(test: PairTest, matrix: Matrix) -> Message | None:
    return Message("t-on-categories") if isinstance(test, MatchedT) and is_categorical(matrix) else None


def _welch_on_categories(test: PairTest, matrix: Matrix) -> Message | None:
    is_welch = test == TwoSampleT(pooled=False)
    return Message("welch-on-categories") if is_welch and is_categorical(matrix) else None


def _units_instead_of_the_score(test: PairTest, matrix: Matrix) -> Message | None:
    if not test.of_unit_scores or isinstance(test, MatchedT):
        return None
    if matrix.unequal:  # there is no other test for different items
        scores = additive(matrix).unit_scores()
        means = np.array([column[~np.isnan(column)].mean() if (~np.isnan(column)).any() else np.nan
                          for column in scores.T])
        is_mean = np.allclose(means, matrix.observed, rtol=ROUNDING, equal_nan=True)
        return None if is_mean else Message("units-not-score", {"test": test.name})
    if test.independent or matrix.is_mean:
        return None
    return Message("units-not-score", {"test": test.name, "use": "permutation"})


def _bootstrap_of_few(test: PairTest, matrix: Matrix) -> Message | None:
    if not isinstance(test, Bootstrap) or test.variant == "studentized":
        return None
    n = count_informative_units(matrix)
    if n >= FEW:
        return None
    is_judged = matrix.judged is not None
    return Message("few-units-bootstrap", {
        "units": n, "least": FEW, "is_judged": is_judged, "use": "prediction-powered" if is_judged else "permutation"})


def _bootstrap_of_uneven_units(test: PairTest, matrix: Matrix) -> Message | None:
    if not isinstance(test, Bootstrap):
        return None
    least, units = FEW_EVEN[test.variant], count_informative_units(matrix)
    if test.variant != "studentized" and units < FEW:
        return None
    if (even := compute_effective_units(matrix)) < units / 2:
        least = max(least, FEW_OF_UNEVEN)
    if even >= least:
        return None
    instead = ("prediction-powered" if matrix.judged else "permutation" if matrix.quotient is None else
               "permutation(studentized=true)")
    # Permutation is no remedy for units in which a system has no answer.
    is_silent = (matrix.quotient is not None
                 and bool(np.nanmax(compute_effective_units_by_system(matrix.by_unit)) >= least))
    if is_silent:
        enough = test.variant != "studentized" and even >= FEW_EVEN["studentized"]
        instead = "bootstrap(variant=studentized)" if enough else "more units"
    return Message("uneven-units-bootstrap", {"units": units, "even": float(even), "least": least, "test": repr(test),
                                              "use": instead, "is_silent": is_silent})


def _judged_of_uneven_units(test: PairTest, matrix: Matrix) -> Message | None:
    if not isinstance(test, PredictionPowered) or matrix.judged is None:
        return None
    items = get_judged_items(matrix)
    alike = not matrix.statistics.shape[1] or is_random(items.get_statistics(0))
    least = FEW_FOR_T if alike else FEW_WEIGHTED
    if (alike and items.units is None) or (even := compute_effective_units(matrix)) >= least:
        return None
    return Message("uneven-units-judged", {"units": count_informative_units(matrix), "even": float(even),
                                           "least": least, "test": test.name, "is_weighted": not alike})


def _runs_on_these_items(test: PairTest, matrix: Matrix) -> Message | None:
    return Message("runs-on-fixed-items") if isinstance(test, Permutation) and matrix.runs is not None else None


def _outlying_runs(test: PairTest, matrix: Matrix) -> Message | None:
    return None if isinstance(test, Crossed) and test.over not in ("all", "runs") else find_outlying_runs(matrix)


def _outlying_levels(test: PairTest, matrix: Matrix) -> Message | None:
    return find_outlying_levels(matrix, test.over) if isinstance(test, Crossed) else None


def _two_runs(test: PairTest, matrix: Matrix) -> Message | None:
    if not isinstance(test, Crossed) or test.over == "items" or 2 not in count_levels(matrix):
        return None
    return Message("two-runs")


def _warn_of_few_crossed(test: PairTest, matrix: Matrix) -> Message | None:
    if not isinstance(test, Crossed):
        return None
    even = compute_effective_units(matrix)
    least = UNEVEN_CROSSED.get(test.over, FEW_CROSSED) if even < matrix.n_units / 2 else FEW_CROSSED
    if even >= least:
        return None
    return Message("few-units-crossed", {"units": matrix.n_units, "least": least,
                                         "even": float(even) if even < matrix.n_units else None})


def _bootstrap_of_small_strata(test: PairTest, matrix: Matrix) -> Message | None:
    strata = matrix.unit_strata
    if not isinstance(test, Bootstrap) or strata is None:
        return None
    if lone := matrix.lone_units:
        return Message("lone-units", {"units": int(lone)})
    number = len(np.unique(strata))
    shown = 1 - number / matrix.n_units  # a resample has (n - 1) / n of the variance of n units
    if shown >= LEAST_RATIO**2 or matrix.runs is not None:
        return None
    return Message("small-strata", {"units": matrix.n_units, "strata": number, "percent": 100 * shown})


def _williams_on_ranks(test: PairTest, matrix: Matrix) -> Message | None:
    ranks = isinstance(matrix, PairMatrix) and matrix.coefficient is not PEARSON
    return Message("normal-test-on-ranks", {"test": test.name}) if isinstance(test, Williams | Steiger) and ranks else (
        None)


def _responses_that_share_an_item(test: PairTest, matrix: Matrix) -> Message | None:
    if "response" not in test.units or matrix.answers_to is None:
        return None
    answered = matrix.answers_to[matrix.statistics[:, :, 1].any(axis=1)]
    if isinstance(test, Fisher):
        return warn_of_shared_candidates(answered)
    items, together = np.unique(answered, return_counts=True)
    shared = int(np.count_nonzero(together > 1))
    return Message("shared-items", {"test": test.name, "shared": shared, "items": len(items)}) if shared else None


RULES: Sequence[Callable[[PairTest, Matrix], Message | None]] = (
    _independent, _t_without_a_mean, _t_on_categories, _welch_on_categories, _units_instead_of_the_score,
    _bootstrap_of_few, _bootstrap_of_uneven_units, _judged_of_uneven_units, _runs_on_these_items, _outlying_runs,
    _outlying_levels, _two_runs, _warn_of_few_crossed, _bootstrap_of_small_strata, _williams_on_ranks,
    _responses_that_share_an_item)


def misuses(test: PairTest, matrix: Matrix) -> list[Message]:
    """Return the warnings about assumptions of a test that the data violate.

    Args:
        test: The requested test; it can be computed for these data.
        matrix: Statistics of all systems, with units (items or clusters) as rows.
    """
    pairs = SystemPairs.every(matrix)
    of_pairs = test.pair_warnings(pairs) if len(pairs.a) else ()
    return [*filter(None, (rule(test, matrix) for rule in RULES)),
            *board_warnings(of_pairs, matrix.statistics.shape[1])]


def one_sided_misuses(test: PairTest, matrix: Matrix) -> list[Message]:
    """Return warnings about assumptions of a one-sided test that the data violate.

    In addition to the warnings about a two-sided test, there is one about skewed differences.

    Args:
        test: The requested test; it can be computed for these data.
        matrix: Statistics of all systems, with units (items or clusters) as rows.
    """
    pairs = SystemPairs.every(matrix)
    is_skewed = len(pairs.a) and test in (Permutation(), MatchedT(), Bootstrap())
    of_pairs = find_skewed(pairs, one_sided=True) if is_skewed else ()
    return [*misuses(test, matrix), *board_warnings(of_pairs, matrix.statistics.shape[1])]


def warn_of_shared_candidates(items: Ints, *, has_intervals: bool = False) -> Message | None:
    """Warn if several candidates belong to one item, so that they are dependent.

    Fisher's test assumes independent candidates (Evert 2004, section 3.1).

    Args:
        items: Item of every candidate, [candidates].
        has_intervals: True if the result has confidence intervals of precision.

    Returns:
        The warning, or None if each candidate has its own item.
    """
    is_shared = len(np.unique(items)) < len(items)
    return Message("shared-candidates", {"has_intervals": has_intervals}) if is_shared else None
