"""Corrections for multiple comparisons of pairs, boards and test sets.

A correction adjusts the p-values of a family, or joint resamples of its differences, and does not depend on the test.
`CORRECTIONS` maps names to corrections. `adjust_min_p` and `adjust_max_t` adjust joint resamples. Some functions warn
of families in which no difference can become significant, because there are too few units, runs or resamples.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial, reduce
from operator import or_
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from registry.arrays import Flags, Floats, Ints
from registry.messages import Message
from registry.parallel.execution import Execution
from registry.significance.base import Pair, Settings
from registry.significance.correlations import PairMatrix, compute_unswapped, swap_differences
from registry.significance.matrix import Matrix, additive
from registry.significance.resampling.draws import sum_permutations
from registry.significance.resampling.exceedances import TOLERANCE, SwappedPairs, tolerances
from registry.significance.resampling.scores import score_resamples

Combination = Literal["bonferroni", "fisher"]
Places = Ints

GATEKEEPING = "gatekeeping"  # the correction that tests the boards of a family one after the other
STEP_DOWN = ("permutation", "bootstrap")  # the tests with joint resamples of all pairs

_SMALL = 1e-100  # a p-value so small that no correction raises it to 1
_SINGLE = 1e-6  # relative to a statistic: single-precision values that are closer than this are tied
_UNDEFINED = 1e30  # replaces an undefined difference, which counts as more extreme than any defined one
_VALUES = 2**17  # resampled differences in one block


@dataclass(frozen=True)
class Correction:
    """A correction for multiple comparisons.

    Attributes:
        name: Name in manifests and commands.
        title: Name in texts.
        controls: Error rate that the correction limits: it is at most alpha if adjusted p-values up to alpha count as
            significant.
        assumes: Assumptions about the p-values.
        citation: Source of the method.
        instead: Name of the correction to use if the assumptions may not hold; empty if none is needed.
        function: Maps the defined p-values of all pairs that are corrected together to adjusted p-values. None if the
            correction adjusts joint resamples instead (`adjust_min_p`, `adjust_max_t`).
    """

    name: str
    title: str
    controls: Literal["family-wise error", "false discovery rate", "nothing"]
    assumes: str
    citation: str
    function: Callable[[Floats], Floats] | None = field(repr=False)
    instead: str = ""

    @property
    def holds_if(self) -> str:
        """Sentence that states the assumptions of this correction and an alternative.

        The sentence is empty if the correction needs no alternative, because its assumptions always hold.
        """
        return (f"{self.title} controls the {self.controls} where {self.assumes}; {self.instead} does not assume this."
                if self.instead else "")


def adjust(p: Floats, correction: str) -> Floats:
    """Adjust p-values for multiple comparisons by the correction with this name.

    An undefined p-value (nan) stays undefined, but still counts as one of the comparisons.

    Raises:
        ValueError: The correction does not apply to this number of p-values (shaffer), or adjusts joint resamples.
    """
    function = CORRECTIONS[correction].function
    if function is None:
        raise ValueError(f"{correction} adjusts joint resamples, not p-values; use holm")
    defined = np.where(np.isnan(p), 1.0, p)
    return np.where(np.isnan(p), np.nan, function(defined))


def count_required_draws(p: Floats, correction: str, alpha: float) -> int:
    """Return how many resamples simulated p-values need to become significant.

    A Monte-Carlo p-value from R resamples is at least 1 / (R + 1). So Holm's and Bonferroni's corrections of m
    simulated p-values need R >= m / alpha - 1. The function assumes that all simulated p-values are as small as
    possible, because larger ones never help.

    Args:
        p: All p-values that are corrected together; nan for each one that will be simulated, at least one.
        correction: Name of the correction.
        alpha: Significance level.
    """
    drawn, function = np.isnan(p), CORRECTIONS[correction].function

    def least(of_drawn: float, of_others: Floats | float) -> float:
        lowest = np.where(drawn, of_drawn, of_others)
        return float((lowest if function is None else function(lowest))[drawn].min())

    def can(draws: int) -> bool:
        return least(1 / (draws + 1), p) <= alpha

    factor = least(_SMALL, 0.0) / _SMALL  # the smallest factor of a simulated p-value
    too_few, step = max(0, math.floor(factor / alpha) - 3), 1
    while not can(too_few + step):
        too_few, step = too_few + step, 2 * step
    return bisect_left(range(too_few + step), True, lo=too_few + 1, key=can)


def compute_shaffer_factors(systems: int) -> Floats:
    """Return the factors by which Shaffer's procedure S1 multiplies sorted p-values.

    A hypothesis says that two systems are equal. If A equals B and B equals C, then A equals C, so only some numbers of
    hypotheses can be true together (Shaffer 1986). A factor is the largest such number that is still possible.

    Args:
        systems: Number of systems.

    Returns:
        [pairs]: at index j, the largest possible number of true hypotheses if at least j hypotheses are false.
    """
    # Equality divides the systems into groups, and all hypotheses within a group are true. Let S(k) be the set of
    # possible numbers of true hypotheses among k systems. Then S(k) is the union of g (g - 1) / 2 + S(k - g) over the
    # sizes g of one group.
    possible = [1]  # S of each number of systems, as the set bits of one integer
    for k in range(1, systems + 1):
        possible.append(reduce(or_, (possible[k - g] << math.comb(g, 2) for g in range(1, k + 1))))
    numbers = np.flatnonzero([bit == "1" for bit in reversed(f"{possible[-1]:b}")])
    left = np.arange(math.comb(systems, 2), 0, -1)
    return numbers[np.searchsorted(numbers, left, side="right") - 1].astype(np.float64)


def _shaffer(p: Floats) -> Floats:
    systems = (1 + math.isqrt(1 + 8 * len(p))) // 2
    if math.comb(systems, 2) != len(p):
        raise ValueError(f"shaffer requires the p-values of all k (k - 1) / 2 pairs of k systems, not {len(p)} "
                         "p-values; use holm")
    return multiply_step_down(p, compute_shaffer_factors(systems))


def multiply_step_down(p: Floats, factors: Floats | Ints) -> Floats:
    """Multiply sorted p-values by factors, so that the results never decrease.

    Holm's correction, for example, is such a step-down procedure. Each result is at least the result of every smaller
    p-value.

    Args:
        p: p-values in any order.
        factors: Factors in the order of ascending p-values.

    Returns:
        Adjusted p-values, at most 1, in the order of `p`.
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1)
    return adjusted


def _step_up(p: Floats, factors: Floats) -> Floats:
    """Multiply sorted p-values by factors, so that no result exceeds a later one.

    Hochberg's correction, for example, is such a step-up procedure.

    Args:
        p: p-values in any order.
        factors: Factors in the order of ascending p-values.

    Returns:
        Adjusted p-values, at most 1, in the order of `p`.
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate((p[order] * factors)[::-1])[::-1], 1)
    return adjusted


CORRECTIONS: dict[str, Correction] = {
    correction.name: correction for correction in (
        Correction("holm", "Holm's correction", "family-wise error", "nothing", "Holm 1979",
                   lambda p: multiply_step_down(p, np.arange(len(p), 0.0, -1))),
        Correction(GATEKEEPING, "gatekeeping", "family-wise error",
                   "nothing; a pair is tested by a metric only if it differs significantly by all metrics before it",
                   "Bretz, Maurer, Brannath and Posch 2009, figure 8",
                   lambda p: multiply_step_down(p, np.arange(len(p), 0.0, -1))),
        Correction("shaffer", "Shaffer's correction", "family-wise error",
                   "the family is that of all pairs of k systems, each tested two-sided, and equality is transitive: "
                   "if A = B and B = C, then A = C; true of scores, not of the null hypotheses of sign, wilcoxon, "
                   "rank-sum and fisher",
                   "Shaffer 1986, procedure S1", _shaffer),
        Correction("bonferroni", "Bonferroni's correction", "family-wise error", "nothing", "Dunn 1961",
                   lambda p: np.minimum(p * len(p), 1)),
        Correction("hochberg", "Hochberg's correction", "family-wise error",
                   "p-values are independent or positively dependent (MTP2), which is not certain for all pairs",
                   "Hochberg 1988; Sarkar 1998", lambda p: _step_up(p, np.arange(len(p), 0.0, -1)), "holm"),
        Correction("bh", "Benjamini and Hochberg's correction", "false discovery rate",
                   "p-values are independent or positively dependent (PRDS), which is not certain for all pairs",
                   "Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001",
                   lambda p: _step_up(p, len(p) / np.arange(1, len(p) + 1)), "by"),
        Correction("by", "Benjamini and Yekutieli's correction", "false discovery rate", "nothing",
                   "Benjamini and Yekutieli 2001, theorem 1.3",
                   lambda p: _step_up(p, len(p) / np.arange(1, len(p) + 1) * (1 / np.arange(1, len(p) + 1)).sum())),
        Correction("min-p", "step-down min-P correction", "family-wise error",
                   "the test is permutation, with many units if pairs share systems, or bootstrap with very many units",
                   "Westfall and Young 1993, algorithm 2.8", None),
        Correction("max-t", "step-down max-T correction", "family-wise error",
                   "the test is permutation, with many units if pairs share systems, or bootstrap with very many units",
                   "Westfall and Young 1993, algorithm 4.1", None),
        Correction("none", "no correction", "nothing", "every pair is judged alone: errors add up over the family", "",
                   np.copy),
    )
}


def adjust_boards(p: Sequence[Floats], chains: Sequence[Ints], correction: str) -> list[Floats]:
    """Adjust the p-values of several leaderboards together.

    Gatekeeping orders the hypotheses in chains. A chain has one hypothesis per metric about the same two systems on the
    same items, and begins with the primary metric. All chains begin with the same share of alpha. If a pair differs
    significantly by one metric, its share goes to the same pair by the next metric. After the last metric, the share is
    divided equally among the remaining pairs: the graph of Bretz, Maurer, Brannath and Posch (2009), figure 8. With a
    single metric this is Holm's correction. Other corrections ignore the chains.

    Args:
        p: p-values of each leaderboard, [pairs]. An undefined p-value (nan) stays undefined, but counts as a
            comparison.
        chains: Chain of each pair, numbered from 0, [pairs] for each leaderboard. Pairs in one chain compare the same
            systems on the same items, and the leaderboards are in the order of the metrics.
        correction: Name of the correction.

    Returns:
        Adjusted p-values of each leaderboard, [pairs].

    Raises:
        ValueError: The correction does not apply (see `adjust`).
    """
    ends = np.cumsum([len(of_board) for of_board in p])[:-1]
    values = np.concatenate(p)
    adjusted = _gatekeep(values, np.concatenate(chains)) if correction == GATEKEEPING else adjust(values, correction)
    return np.split(adjusted, ends)


def number_chains(boards: Sequence[tuple[str, Ints]]) -> list[Ints]:
    """Give the same number to the same pair of systems on several leaderboards.

    Pairs are the same if they have the same systems and are compared on the same items, by whatever metric.
    `adjust_boards` uses the numbers.

    Args:
        boards: For each leaderboard, an identifier of its items and the numbers of the systems in its pairs, [2,
            pairs].

    Returns:
        Numbers for each leaderboard, [pairs].
    """
    items = np.unique([identifier for identifier, _ in boards], return_inverse=True)[1]
    distinct, systems = np.unique(np.concatenate([pairs for _, pairs in boards], axis=1), return_inverse=True)
    first, second = np.sort(systems.reshape(2, -1), axis=0)
    of_items = np.repeat(items, [pairs.shape[1] for _, pairs in boards])
    numbers = np.unique((of_items * len(distinct) + first) * len(distinct) + second, return_inverse=True)[1]
    return np.split(numbers, np.cumsum([pairs.shape[1] for _, pairs in boards])[:-1])


def _gatekeep(p: Floats, chains: Ints) -> Floats:
    """Adjust p-values of several metrics by gatekeeping, which orders the hypotheses.

    A chain has one hypothesis per metric about the same two systems, and tests the next metric only if the previous one
    is significant. So an adjusted p-value is never smaller than the previous one in the chain. A finished chain passes
    its share of alpha to the unfinished chains. So a hypothesis is tested at alpha divided by the number of chains that
    are unfinished at that point.

    Args:
        p: p-values; those of one chain are in the order of the metrics.
        chains: Chain of each p-value, numbered from 0.
    """
    order = np.argsort(chains, kind="stable")
    lengths = np.bincount(chains)
    place = np.arange(len(p)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # position in the chain, in `order`
    depth = int(lengths.max(initial=0))
    by_chain = np.zeros((len(lengths), depth))  # shorter chains continue with hypotheses that are always rejected
    by_chain[chains[order], place] = np.where(np.isnan(p[order]), 1, p[order])
    running_max = np.maximum.accumulate(by_chain, axis=1)
    finished = np.sort(running_max.max(axis=1))
    of_each = np.empty(len(p))
    of_each[order] = running_max[chains[order], place]
    unfinished = len(lengths) - np.searchsorted(finished, np.sort(of_each))
    return np.where(np.isnan(p), np.nan, multiply_step_down(of_each, unfinished))


@cache
def count_required_units(family: int, correction: str, alpha: float, *, two_sided: bool) -> int:
    """Return the smallest number of items with which a pair can be significant.

    The p-value of a test that swaps two systems in n items or clusters is at least 2^-n one-sided, and 2^(1 - n)
    two-sided.

    >>> count_required_units(1, "holm", 0.05, two_sided=True), count_required_units(15, "holm", 0.05, two_sided=True)
    (6, 10)

    Args:
        family: Number of pairs that are corrected together.
        correction: Name of the correction.
        alpha: Significance level.
        two_sided: True if the tests are two-sided.
    """
    return count_required_draws(np.full(family, np.nan), correction, alpha).bit_length() + two_sided


def explain_too_few_units(units: int, needed: int, unit: str, *, two_sided: bool) -> Message:
    """Return the warning that no pair can be significant with so few items.

    >>> explain_too_few_units(6, 10, "cluster", two_sided=True).parameters["least"]
    0.03125

    Args:
        units: Number of items or clusters.
        needed: Number with which a pair can be significant.
        unit: Kind of unit, such as `item` or `cluster`.
        two_sided: True if the tests are two-sided.
    """
    least = 2.0 ** (two_sided - units)
    return Message("too-few-units", {"units": units, "needed": needed, "unit": unit, "least": least})


def explain_too_few_runs(runs: Sequence[int], family: int, correction: str, alpha: float, *,
                         two_sided: bool) -> Message | None:
    """Return the warning that no pair can be significant with so few runs.

    The result is None if a pair can be significant. The test permutes whole runs of two systems.

    >>> explain_too_few_runs((3, 3, 2), 3, "holm", 0.05, two_sided=True).parameters
    {'runs_a': 3, 'runs_b': 3, 'least': 0.1}

    Args:
        runs: Number of runs of each system; at least two systems.
        family: Number of pairs that are corrected together.
        correction: Name of the correction.
        alpha: Significance level.
        two_sided: True if the tests are two-sided.
    """
    most, second = sorted(runs, reverse=True)[:2]
    least = (2 if two_sided and most == second else 1) / math.comb(most + second, most)
    enough = 1 / least >= count_required_draws(np.full(family, np.nan), correction, alpha) + 1
    return None if enough else Message("too-few-runs", {"runs_a": most, "runs_b": second, "least": least})


def estimate_resampling_error(units: float, pairs: int, alpha: float) -> float:
    """Estimate the error rate of joint resampling of pairs if all systems are equal.

    The error rate is the probability that the largest difference is significant by its rank among joint resamples.
    Resamples treat each observed standard error as known, so their critical value is about the normal quantile of
    Bonferroni's correction. With estimated standard errors the differences follow Student's distribution, which exceeds
    that value more often.

    >>> [round(estimate_resampling_error(units, pairs, 0.05), 3) for units, pairs in ((200, 1), (200, 190), (60, 28))]
    [0.051, 0.064, 0.077]

    Args:
        units: Number of items or clusters, all with the same weight.
        pairs: Number of pairs.
        alpha: Significance level.
    """
    from scipy.special import ndtri, stdtr

    return float(pairs * 2 * stdtr(max(1.0, units - 1), float(ndtri(alpha / (2 * pairs)))))



def combine_p_values(p: Floats, combination: Combination) -> Floats:
    """Test whether a claim is true on at least u test sets, by combining p-values.

    The null hypothesis number u says that the claim is true on fewer than u test sets. If it is rejected, the claim is
    true on u or more test sets, but the test does not show on which ones. With sorted p-values p_(1), ..., p_(n),
    Bonferroni's p-value is (n - u + 1) p_(u), for any dependence between test sets. Fisher's statistic is -2 times the
    sum of log p_(u), ..., log p_(n), with 2 (n - u + 1) degrees of freedom, for independent test sets. No p-value is
    smaller than the one for u - 1. (Partial conjunction hypotheses, Benjamini and Heller 2008; Dror et al. 2017,
    section 4.)

    Args:
        p: One-sided p-values of the claim, [..., test sets]; an undefined p-value (nan) counts as 1.
        combination: Method that combines the p-values.

    Returns:
        p-values, [..., test sets]; the one for u is at index u - 1.
    """
    from scipy.special import chdtrc

    ordered = np.sort(np.where(np.isnan(p), 1.0, p), axis=-1)
    left = np.arange(p.shape[-1], 0, -1)  # n - u + 1
    if combination == "bonferroni":
        combined = np.minimum(left * ordered, 1.0)
    else:
        with np.errstate(divide="ignore"):  # a p-value of 0 makes the statistic infinite
            logs = np.log(ordered)
        combined = chdtrc(2.0 * left, -2 * np.cumsum(logs[..., ::-1], axis=-1)[..., ::-1])
    return np.maximum.accumulate(combined, axis=-1)


def estimate_k(p: Floats, combination: Combination, alpha: float) -> Ints:
    """Estimate the number of test sets on which a claim is true (Dror et al. 2017).

    The estimate is the largest u for which `combine_p_values` rejects "the claim is true on fewer than u test sets". It
    exceeds the true number with a probability of at most alpha.

    Args:
        p: One-sided p-values of the claim, [..., test sets].
        combination: Method that combines the p-values.
        alpha: Significance level.
    """
    return np.asarray(np.count_nonzero(combine_p_values(p, combination) <= alpha, axis=-1))


def list_test_sets(p: Floats, alpha: float) -> Flags:
    """Flag the test sets on which a claim is significant by Holm's correction.

    The probability that any flag is an error is at most alpha, for any dependence between test sets. The number of
    flags equals `estimate_k` with Bonferroni's method.

    Args:
        p: One-sided p-values of the claim, [test sets].
        alpha: Significance level.
    """
    return np.asarray(adjust(p, "holm") <= alpha)


@dataclass(frozen=True, eq=False)
class Draws:
    """Observed differences of pairs, and the same differences in joint resamples.

    The resamples follow the null hypothesis. Instead of a difference, its extremity is stored. This is a number that is
    larger if the difference contradicts the null hypothesis more, for example |difference| in a two-sided test.

    Attributes:
        observed: Extremities of the observed differences, [pairs]; nan if undefined.
        blocks: Extremities in blocks of resamples, [some resamples, pairs] each, `resamples` in total; an undefined
            value (nan) counts as extreme.
        resamples: Number of resamples.
        tolerance: Extremities that are closer than this are tied, [pairs].
        execution: Threads that rank the resamples.
    """

    observed: Floats
    blocks: Iterable[Floats]
    resamples: int
    tolerance: Floats
    execution: Execution = field(default=Execution())


@dataclass(frozen=True, eq=False)
class StepDown:
    """p-values of pairs from joint resamples, before and after correction.

    Each p-value is a multiple of 1 / (R + 1) for R resamples, or nan if the difference is undefined.

    Attributes:
        raw: p-values of each pair alone, (c + 1) / (R + 1) for c extreme resamples, [pairs].
        adjusted: p-values adjusted for all pairs, [pairs]; never below `raw`.
    """

    raw: Floats
    adjusted: Floats


def estimate_draw_bytes(n_pairs: int, resamples: int) -> int:
    """Return the memory of `adjust_min_p` in bytes: four per pair and resample."""
    return 4 * n_pairs * (1 + resamples)


def draw_differences(matrix: Matrix, pairs: Sequence[Pair], settings: Settings, kind: str,
                     sides: Ints | None = None) -> Draws:
    """Simulate the differences of all pairs together under the null hypothesis.

    All pairs share the resamples, so the adjustment has more power than Holm's correction if pairs are dependent. A
    permutation selects the same units (items or clusters) for all pairs, and swaps only the two systems of each pair. A
    bootstrap subtracts the observed difference from each resampled one. Differences within a small tolerance are ties.

    Args:
        matrix: Statistics of all systems.
        pairs: Pairs of systems.
        settings: Number of resamples, seed and execution.
        kind: Name of the test, one of `STEP_DOWN`.
        sides: Alternative of each pair, [pairs]: 1 if A is better, -1 if B is better, 0 if two-sided. None: all pairs
            have the alternative of the settings.
    """
    if sides is None:
        sides = np.full(len(pairs), {"two-sided": 0, "greater": 1, "less": -1}[settings.alternative])
    matrix = matrix.by_unit
    a, b = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))

    def recentre() -> Iterator[Floats]:
        scores = score_resamples(matrix, settings)
        size = max(1, _VALUES // max(1, len(a)))
        for start in range(0, len(scores), size):
            part = scores[start:start + size]
            yield _extremities(sides, matrix.difference(part[:, a], part[:, b]) - difference)

    difference = matrix.difference(matrix.observed[a], matrix.observed[b])
    tolerance = np.nan_to_num(tolerances(matrix, a, b))
    if kind == "permutation" and isinstance(matrix, PairMatrix):
        difference = np.array([compute_unswapped(matrix, pair) for pair in pairs])
        tolerance = np.full(len(pairs), TOLERANCE)
        blocks = swap_differences(matrix, pairs, settings, partial(_extremities, sides))
    elif kind == "permutation":
        swapped = partial(_permute_extremities, SwappedPairs.prepare(additive(matrix), a, b), sides)
        blocks = sum_permutations(matrix.statistics, settings, swapped)
    else:
        blocks = recentre()
    return Draws(_extremities(sides, difference), blocks, settings.resamples, tolerance, settings.execution.local)


def adjust_min_p(*of_boards: Draws) -> StepDown:
    """Adjust p-values by the smallest p-value of each resample (step-down min-P).

    This is algorithm 2.8 of Westfall and Young (1993). The most extreme pair is compared with the most extreme pair of
    each resample, the next pair with the most extreme of the remaining pairs, and so on. All pairs of several
    leaderboards are adjusted together; the leaderboards have the same items, seed and number of resamples. The p-value
    of a pair in a resample comes from its rank among R + 1 values, the observed one and the resampled ones (Ge, Dudoit
    and Speed 2003). Ties count as extreme. A pair with few possible differences cannot have small p-values, and does
    not raise the p-values of other pairs. Adjusted p-values never exceed Holm's p-values from the same resamples.

    The adjustment depends on the covariance of pairs that share systems. Permutations and resamples reproduce this
    covariance if there are many items. The p-value is nan if the difference is undefined. It is also nan if all
    resamples are equal and less extreme than the observed difference. Such a pair counts as a comparison, but is never
    significant. The iterators of blocks are consumed.

    Args:
        of_boards: Observed and resampled differences of each leaderboard.
    """
    excess, is_defined = _collect_excess(of_boards)
    draws, tolerance = of_boards[0], np.concatenate([draws.tolerance for draws in of_boards])
    ranks = excess.view(np.int32)  # overwrites its source row by row
    rows = draws.execution.map(lambda n: _rank_labellings(excess[n], float(tolerance[n])), range(len(excess)),
                               "pairs to rank")
    for n, row in enumerate(rows):
        ranks[n] = row
    adjusted = adjust_step_down(-ranks[:, 0].astype(np.float64), lambda n: -ranks[n, 1:], draws.resamples)
    raw = ranks[:, 0] / (1 + draws.resamples)
    return StepDown(np.where(is_defined, raw, np.nan), np.where(is_defined, adjusted, np.nan))


def adjust_max_t(*of_boards: Draws) -> StepDown:
    """Adjust p-values by the largest standardized difference of each resample.

    This is step-down max-T, algorithm 4.1 of Westfall and Young (1993). Differences are divided by the standard
    deviation (about 0) of the resampled differences of the same pair. With few resamples and many pairs, the p-values
    are finer than those of `adjust_min_p`. But pairs are treated less equally if their distributions differ in shape.

    Args:
        of_boards: Observed and resampled differences of each leaderboard.
    """
    excess, is_defined = _collect_excess(of_boards)
    draws, tolerances_ = of_boards[0], np.concatenate([draws.tolerance for draws in of_boards])
    centre = np.where(is_defined, np.concatenate([draws.observed for draws in of_boards]), 0)

    def read(n: int) -> Floats:
        return np.where(excess[n, 1:] == np.float32(_UNDEFINED), np.inf, excess[n, 1:] + centre[n])

    def standardize(n: int) -> Floats:
        drawn = read(n)
        return np.where(np.isinf(drawn), np.inf, 0.0) if np.isinf(deviation[n]) else drawn / deviation[n]

    deviation = np.array([_deviation(read(n), tolerance) for n, tolerance in enumerate(tolerances_)])
    observed = np.where(is_defined, centre / deviation, -np.inf)
    adjusted = adjust_step_down(observed, standardize, draws.resamples, _SINGLE * np.abs(observed))
    raw = (excess >= excess[:, :1]).sum(axis=1) / (1 + draws.resamples)
    return StepDown(np.where(is_defined, raw, np.nan), np.where(is_defined, adjusted, np.nan))


def adjust_step_down(observed: Floats, drawn: Callable[[int], NDArray[Any]], resamples: int,
                     slack: Floats | float = 0.0) -> Floats:
    """Adjust the p-values of several hypotheses by joint resamples (step-down max-T).

    The largest observed statistic is compared with the maximum of all statistics in each resample, the next one with
    the maximum of all but the first, and so on.

    Args:
        observed: Observed statistics, [hypotheses]; larger is more extreme. They must be comparable with each other.
        drawn: Function from the index of a hypothesis to its statistics in joint resamples under the null, [resamples].
        resamples: Number of resamples; the observed statistics count as one more resample.
        slack: A resampled statistic that is below the observed one by at most this much is a tie.

    Returns:
        Adjusted p-values, [hypotheses].
    """
    order = np.argsort(-observed, kind="stable")
    bars = observed - slack
    highest = np.full(resamples, -np.inf)
    adjusted = np.empty(len(observed))
    for n in order[::-1]:
        np.maximum(highest, drawn(n), out=highest)
        adjusted[n] = (1 + np.count_nonzero(highest >= bars[n])) / (1 + resamples)
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    return adjusted


def _extremities(sides: Ints, differences: Floats) -> Floats:
    # sides: 1 if A is expected to be better, -1 if B is, 0 if two-sided
    return np.where(sides, sides * differences, np.abs(differences)) if sides.any() else np.abs(differences)


def _permute_extremities(scores: SwappedPairs, sides: Ints, swapped: Floats) -> Floats:
    drawn = np.empty((len(swapped), len(scores.a)))
    for pairs, _, _, differences in scores.differences(swapped):
        drawn[:, pairs] = differences.T
    return _extremities(sides, drawn)


def _collect_excess(of_boards: Sequence[Draws]) -> tuple[NDArray[np.float32], Flags]:
    """Subtract the observed difference of each pair from its resampled ones.

    The differences are extremities: larger values contradict the null hypothesis more. An undefined observed difference
    is less extreme than all resamples. A pair also counts as undefined if its resamples are all equal and less extreme
    than the observed difference.

    Args:
        of_boards: Observed and resampled extremities of each leaderboard.

    Returns:
        Results, [pairs, 1 + resamples], with the observed value (0) in the first column; and flags of defined pairs.
    """
    # Single precision keeps the sign of a result, but can create ties far from 0.
    resamples = of_boards[0].resamples
    rows = np.empty((sum(len(draws.observed) for draws in of_boards), 1 + resamples), dtype=np.float32)
    first = 0
    for draws in of_boards:
        of_board = rows[first:(first := first + len(draws.observed))]
        bar = np.where(np.isnan(draws.observed), 0, draws.observed)
        start = 1
        for block in draws.blocks:
            excess = block - bar
            excess[np.abs(excess) <= draws.tolerance] = 0
            of_board[:, start:start + len(block)] = np.where(np.isnan(excess), _UNDEFINED, excess).T
            start += len(block)
        assert start == 1 + resamples
    is_defined, tolerance = (np.concatenate(parts) for parts in (
        [~np.isnan(draws.observed) for draws in of_boards], [draws.tolerance for draws in of_boards]))
    for n, row in enumerate(rows[:, 1:]):
        defined = row < np.float32(_UNDEFINED)
        low = float(row.min(where=defined, initial=_UNDEFINED))
        high = float(row.max(where=defined, initial=-_UNDEFINED))
        is_defined[n] &= not (
            low <= high < 0 and high - low <= 2 * (float(tolerance[n]) + float(np.spacing(np.float32(-low)))))
    rows[:, 0] = np.where(is_defined, 0, -_UNDEFINED)
    return rows, is_defined


def _rank_labellings(row: NDArray[np.float32], tolerance: float) -> NDArray[np.int32]:
    """Count, for each value of a row, the values that are at least as large.

    The value itself and tied values are included.

    Args:
        row: The values.
        tolerance: Neighbouring values are tied if they differ by at most this much.
    """
    order = np.argsort(row)
    values = row[order]
    differs = np.diff(values) > tolerance + np.spacing(np.abs(values[1:]))
    first = np.maximum.accumulate(np.concatenate([[0], np.where(differs, np.arange(1, len(row)), 0)]))
    ranks = np.empty(len(row), dtype=np.int32)
    ranks[order] = len(row) - first
    return ranks


def _deviation(drawn: Floats, tolerance: float) -> float:
    # An infinite deviation makes all standardized values 0, so that they are tied.
    defined = drawn[np.isfinite(drawn)]
    deviation = float(np.sqrt(np.square(defined).sum() / max(1, len(defined))))
    return deviation if deviation > tolerance else np.inf
