"""Corrections for multiple comparisons: of p-values, of joint draws, of several boards and over several test sets.

A correction adjusts a family of p-values or draws and needs no knowledge of the test. `CORRECTIONS` maps names to
corrections of p-values; `adjust_min_p` and `adjust_max_t` adjust joint draws. The functions on few units
report families in which no difference can become significant.
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

GATEKEEPING = "gatekeeping"  # the correction that tests the boards of a family in turn
STEP_DOWN = ("permutation", "bootstrap")  # the tests that have joint draws

_SMALL = 1e-100  # a p-value that no correction raises to 1
_SINGLE = 1e-6  # relative to a statistic: values in single precision that are closer may be equal
_UNDEFINED = 1e30  # replaces an undefined difference, which is more extreme than any other
_VALUES = 2**17  # differences of resamples in memory


@dataclass(frozen=True)
class Correction:
    """A correction for multiple comparisons.

    Attributes:
        name: Its name in manifests and commands.
        title: Its name for people.
        controls: The error rate that is at most alpha if adjusted p-values up to alpha are significant.
        assumes: Assumptions about the p-values.
        citation: The source of the method.
        instead: The correction to use if these assumptions may not hold; empty if none is needed.
        function: Maps defined p-values [family] to adjusted ones; None if joint draws are adjusted instead
            (`adjust_min_p`, `adjust_max_t`).
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
        """A sentence with the conditions of its error rate; empty if it always holds, or by design."""
        return (f"{self.title} controls the {self.controls} where {self.assumes}; {self.instead} needs nothing of that."
                if self.instead else "")


def adjust(p: Floats, correction: str) -> Floats:
    """Adjust the p-values of a family by the `correction` of that name.

    An undefined p-value (nan) stays undefined and counts in the family as one that rejects nothing.

    Raises:
        ValueError: The correction does not apply to a family of this size (shaffer), or adjusts draws.
    """
    function = CORRECTIONS[correction].function
    if function is None:
        raise ValueError(f"{correction} adjusts joint draws, not p-values")
    defined = np.where(np.isnan(p), 1.0, p)
    return np.where(np.isnan(p), np.nan, function(defined))


def count_required_draws(p: Floats, correction: str, alpha: float) -> int:
    """Return the smallest number of draws with which a simulated pair of a family can be significant.

    A Monte-Carlo p-value is at least 1 / (R + 1), so Holm's and Bonferroni's corrections of m simulated pairs need
    R >= m / alpha - 1. It is enough to give all simulated pairs the smallest p-value, because adjusted p-values never
    fall when a p-value rises.

    Args:
        p: [family]; nan for each pair that will be simulated, at least one.
        correction: Its name.
        alpha: The level of significance.
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
    """Return the possible numbers of true hypotheses "two systems are equal", for Shaffer's procedure S1.

    Equality divides the systems into groups, and all hypotheses within a group are true: S(k), the possible numbers of
    true hypotheses among k systems, is the union over the size g of one group of g (g - 1) / 2 + S(k - g) (Shaffer
    1986).

    Returns:
        [pairs]: at j, the largest number of true hypotheses if at least j are false, from j = 0.
    """
    possible = [1]  # S of each number of systems, as the set bits of one integer
    for k in range(1, systems + 1):
        possible.append(reduce(or_, (possible[k - g] << math.comb(g, 2) for g in range(1, k + 1))))
    numbers = np.flatnonzero([bit == "1" for bit in reversed(f"{possible[-1]:b}")])
    left = np.arange(math.comb(systems, 2), 0, -1)
    return numbers[np.searchsorted(numbers, left, side="right") - 1].astype(np.float64)


def _shaffer(p: Floats) -> Floats:
    systems = (1 + math.isqrt(1 + 8 * len(p))) // 2
    if math.comb(systems, 2) != len(p):
        raise ValueError(f"shaffer takes the family of all pairs of k systems, k (k - 1) / 2 of them, and not "
                         f"{len(p)} p-values; take holm")
    return multiply_step_down(p, compute_shaffer_factors(systems))


def multiply_step_down(p: Floats, factors: Floats | Ints) -> Floats:
    """Multiply the p-values in ascending order by the factors; no result is below the one before."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1)
    return adjusted


def _step_up(p: Floats, factors: Floats) -> Floats:
    """Multiply the p-values in ascending order by the factors; no result is above a later one."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate((p[order] * factors)[::-1])[::-1], 1)
    return adjusted


CORRECTIONS: dict[str, Correction] = {
    correction.name: correction for correction in (
        Correction("holm", "Holm's correction", "family-wise error", "nothing", "Holm 1979",
                   lambda p: multiply_step_down(p, np.arange(len(p), 0.0, -1))),
        Correction(GATEKEEPING, "gatekeeping", "family-wise error",
                   "nothing; over several metrics a pair is tested by one where it differs by all metrics before",
                   "Bretz, Maurer, Brannath and Posch 2009, figure 8",
                   lambda p: multiply_step_down(p, np.arange(len(p), 0.0, -1))),
        Correction("shaffer", "Shaffer's correction", "family-wise error",
                   "the family is that of all pairs of k systems, each tested two-sided, and equality is transitive: "
                   "if A = B and B = C, then A = C, as of scores, and not of what sign, wilcoxon, rank-sum and fisher "
                   "test",
                   "Shaffer 1986, procedure S1", _shaffer),
        Correction("bonferroni", "Bonferroni's correction", "family-wise error", "nothing", "Dunn 1961",
                   lambda p: np.minimum(p * len(p), 1)),
        Correction("hochberg", "Hochberg's correction", "family-wise error",
                   "p-values are independent or positively dependent (MTP2), which those of all pairs need not be",
                   "Hochberg 1988; Sarkar 1998", lambda p: _step_up(p, np.arange(len(p), 0.0, -1)), "holm"),
        Correction("bh", "Benjamini and Hochberg's correction", "false discovery rate",
                   "p-values are independent or positively dependent (PRDS), which those of all pairs need not be",
                   "Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001",
                   lambda p: _step_up(p, len(p) / np.arange(1, len(p) + 1)), "by"),
        Correction("by", "Benjamini and Yekutieli's correction", "false discovery rate", "nothing",
                   "Benjamini and Yekutieli 2001, theorem 1.3",
                   lambda p: _step_up(p, len(p) / np.arange(1, len(p) + 1) * (1 / np.arange(1, len(p) + 1)).sum())),
        Correction("min-p", "step-down min-P correction", "family-wise error",
                   "the test is permutation, and units are many where pairs share systems, or bootstrap of very many "
                   "units",
                   "Westfall and Young 1993, algorithm 2.8", None),
        Correction("max-t", "step-down max-T correction", "family-wise error",
                   "the test is permutation, and units are many where pairs share systems, or bootstrap of very many "
                   "units",
                   "Westfall and Young 1993, algorithm 4.1", None),
        Correction("none", "no correction", "nothing", "every pair is judged alone: errors add up over the family", "",
                   np.copy),
    )
}


def adjust_boards(p: Sequence[Floats], chains: Sequence[Ints], correction: str) -> list[Floats]:
    """Adjust the p-values of several boards as one family.

    Under gatekeeping, a pair of systems on the same items is a chain of hypotheses, one for each metric, the primary
    metric first. All chains begin with the same share of alpha. If a pair differs significantly by one metric, its
    share goes to the same pair by the next metric. After the last metric, the share is divided equally among the
    remaining pairs: the graph of Bretz, Maurer, Brannath and Posch (2009), figure 8. With a single metric that is
    Holm's correction.

    Args:
        p: Of each board, [pairs]; an undefined one (nan) stays undefined and counts as one that rejects nothing.
        chains: Of each board, the chain of each pair, numbered from 0, [pairs]. Pairs in one chain compare the same
            systems on the same items, and the boards are in the order of the metrics.
        correction: Its name.

    Returns:
        Adjusted p-values of each board, [pairs].

    Raises:
        ValueError: As `adjust` does.
    """
    ends = np.cumsum([len(of_board) for of_board in p])[:-1]
    values = np.concatenate(p)
    adjusted = _gatekeep(values, np.concatenate(chains)) if correction == GATEKEEPING else adjust(values, correction)
    return np.split(adjusted, ends)


def number_chains(boards: Sequence[tuple[str, Ints]]) -> list[Ints]:
    """Number the pairs of each board, [pairs]: the same systems on the same items have the same number.

    Args:
        boards: An identifier of each board's items, and the systems of its pairs by number, [2, pairs].
    """
    items = np.unique([identifier for identifier, _ in boards], return_inverse=True)[1]
    distinct, systems = np.unique(np.concatenate([pairs for _, pairs in boards], axis=1), return_inverse=True)
    first, second = np.sort(systems.reshape(2, -1), axis=0)
    of_items = np.repeat(items, [pairs.shape[1] for _, pairs in boards])
    numbers = np.unique((of_items * len(distinct) + first) * len(distinct) + second, return_inverse=True)[1]
    return np.split(numbers, np.cumsum([pairs.shape[1] for _, pairs in boards])[:-1])


def _gatekeep(p: Floats, chains: Ints) -> Floats:
    """Adjust p-values by gatekeeping along chains; those of one chain are in its order.

    Within a chain the graph hands the whole weight on, so that no p-value is below the one before. A finished chain
    hands its weight to the unfinished ones. So a hypothesis is tested at alpha over the number of chains that are
    unfinished at that point.
    """
    order = np.argsort(chains, kind="stable")
    lengths = np.bincount(chains)
    place = np.arange(len(p)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # the place in its chain, in `order`
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
    """Return the fewest units with which a pair can be significant.

    A p-value that counts the ways to swap two systems in n units is at least 2^-n, or 2^(1 - n) two-sided.

    >>> count_required_units(1, "holm", 0.05, two_sided=True), count_required_units(15, "holm", 0.05, two_sided=True)
    (6, 10)

    Args:
        family: The number of pairs.
        correction: Its name.
        alpha: The level of significance.
        two_sided: Whether the tests are.
    """
    return count_required_draws(np.full(family, np.nan), correction, alpha).bit_length() + two_sided


def explain_too_few_units(units: int, needed: int, unit: str, *, two_sided: bool) -> Message:
    """Return the warning that so few units allow no p-value small enough, and how many would.

    >>> explain_too_few_units(6, 10, "cluster", two_sided=True).parameters["least"]
    0.03125
    """
    least = 2.0 ** (two_sided - units)
    return Message("too-few-units", {"units": units, "needed": needed, "unit": unit, "least": least})


def explain_too_few_runs(runs: Sequence[int], family: int, correction: str, alpha: float, *,
                         two_sided: bool) -> Message | None:
    """Return a warning if permutations of whole runs allow no p-value small enough, because runs are so few.

    >>> explain_too_few_runs((3, 3, 2), 3, "holm", 0.05, two_sided=True).parameters
    {'runs_a': 3, 'runs_b': 3, 'least': 0.1}

    Args:
        runs: Of each system, two systems at least.
        family: How many pairs there are.
        correction: Its name.
        alpha: The level of significance.
        two_sided: Whether the tests are.
    """
    most, second = sorted(runs, reverse=True)[:2]
    least = (2 if two_sided and most == second else 1) / math.comb(most + second, most)
    enough = 1 / least >= count_required_draws(np.full(family, np.nan), correction, alpha) + 1
    return None if enough else Message("too-few-runs", {"runs_a": most, "runs_b": second, "least": least})


def estimate_resampling_error(units: float, pairs: int, alpha: float) -> float:
    """Return how often the largest difference of equal systems is significant by its place among joint resamples.

    Every difference varies by its observed standard error, as if this error were known. The bar of so many pairs is
    about z of Bonferroni; by Student's distribution, as of estimated errors, more lies beyond it.

    >>> [round(estimate_resampling_error(units, pairs, 0.05), 3) for units, pairs in ((200, 1), (200, 190), (60, 28))]
    [0.051, 0.064, 0.077]

    Args:
        units: The number of units, all of equal weight.
        pairs: Number of pairs; the largest difference is tested.
        alpha: The level of significance.
    """
    from scipy.special import ndtri, stdtr

    return float(pairs * 2 * stdtr(max(1.0, units - 1), float(ndtri(alpha / (2 * pairs)))))



def combine_p_values(p: Floats, combination: Combination) -> Floats:
    """Return the p-values of the partial conjunction nulls (Benjamini and Heller 2008; Dror et al. 2017, section 4).

    The null hypothesis of u says that a claim holds on fewer than u of the test sets. Its rejection means that the
    claim holds on u or more of them, but not on which. With ordered p-values, that of u is (n - u + 1) p_(u) by
    Bonferroni, whatever the dependence between test sets, or that of Fisher's -2 sum of log p_(u), ..., log p_(n) with
    2 (n - u + 1) degrees of freedom, for independent test sets; none is smaller than that of u - 1.

    Args:
        p: One-sided p-values of the claim, [..., test sets]; an undefined one (nan) rejects nothing.
        combination: How p-values are combined.

    Returns:
        At u - 1 the p-value of u, [..., test sets].
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
    """Estimate on how many test sets the claim holds: the largest u whose null is rejected (Dror et al. 2017).

    The estimate exceeds the true number with a probability of at most alpha. Arguments as in `combine_p_values`.
    """
    return np.asarray(np.count_nonzero(combine_p_values(p, combination) <= alpha, axis=-1))


def list_test_sets(p: Floats, alpha: float) -> Flags:
    """Return the test sets on which the claim is significant by Holm's correction, [test sets].

    The list contains a test set without the claim with a probability of at most alpha, whatever the dependence. It is
    as long as Bonferroni's `estimate_k`.
    """
    return np.asarray(adjust(p, "holm") <= alpha)


@dataclass(frozen=True, eq=False)
class Draws:
    """Extremities of pairs: observed, and in joint draws under the null hypothesis.

    Attributes:
        observed: [pairs]; nan if undefined.
        blocks: [draws, pairs] each, `resamples` draws in all; undefined ones (nan) count as extreme.
        resamples: The number of draws.
        tolerance: [pairs]; extremities closer than this are tied.
        execution: The threads that rank the draws.
    """

    observed: Floats
    blocks: Iterable[Floats]
    resamples: int
    tolerance: Floats
    execution: Execution = field(default=Execution())


@dataclass(frozen=True, eq=False)
class StepDown:
    """P-values of pairs from joint draws, each a multiple of 1 / (R + 1); nan if the difference is undefined.

    Attributes:
        raw: [pairs], of each pair alone: (c + 1) / (R + 1).
        adjusted: [pairs], for the family; never below `raw`.
    """

    raw: Floats
    adjusted: Floats


def estimate_draw_bytes(n_pairs: int, resamples: int) -> int:
    """Return the memory of an adjustment: four bytes per pair and draw."""
    return 4 * n_pairs * (1 + resamples)


def draw_differences(matrix: Matrix, pairs: Sequence[Pair], settings: Settings, kind: str,
                     sides: Ints | None = None) -> Draws:
    """Draw the differences of all pairs under the null hypothesis, with the draws of the test `kind`.

    All pairs share the draws, so the adjustment has more power than Holm's correction if pairs are dependent. A
    permutation swaps the same units in all pairs, and in each pair only its two systems. Differences in a bootstrap are
    recentred by the observed one. Differences within the tests' tolerance are ties; quotients are not compared as
    fractions, so different F-scores that are that close are tied as well.

    Args:
        matrix: The matrix of all systems.
        pairs: The pairs.
        settings: The settings of the draws.
        kind: The name of the test, one of `STEP_DOWN`.
        sides: [pairs]; the alternative: 1 if A is better, -1 if B is, 0 for two-sided. None: `settings.alternative`.
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
        swapped = partial(_permute_extremities, SwappedPairs.of(additive(matrix), a, b), sides)
        blocks = sum_permutations(matrix.statistics, settings, swapped)
    else:
        blocks = recentre()
    return Draws(_extremities(sides, difference), blocks, settings.resamples, tolerance, settings.execution.local)


def adjust_min_p(*of_boards: Draws) -> StepDown:
    """Adjust by the smallest p-value of each draw (Westfall and Young 1993, algorithm 2.8).

    The most extreme pair is compared with the most extreme pair of each draw, the next one with the most extreme of the
    others, and so on. All pairs of several boards are one family, in their order; the boards have the same units, seed
    and number of draws. The p-values of a draw come from its rank among the R + 1 labellings, the observed one and the
    draws (Ge, Dudoit and Speed 2003); ties count. A pair with few possible differences, whose p-values cannot be small,
    does not raise the others' p-values. Adjusted p-values never exceed Holm's from the same draws.

    The adjustment relies on the covariance of pairs that share systems, which swaps and resamples reproduce in the
    limit of many units. The p-value is nan if the difference is undefined, and if all draws are equal and less extreme
    than the observed difference; the pair then counts in the family as one that rejects nothing. The draws are
    consumed.
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
    """Adjust by the largest extremity of each draw, in standard deviations (Westfall and Young 1993, algorithm 4.1).

    The standard deviation of a pair is estimated from its resamples about 0, for every alternative. P-values are finer
    than those of `adjust_min_p` if R is small for the number of pairs, and less balanced if the draws of pairs differ
    in shape. Undefined differences and boards are as in `adjust_min_p`. The draws are consumed.
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
    """Adjust p-values by successive maxima of comparable statistics.

    Args:
        observed: [hypotheses]; larger is more extreme.
        drawn: Returns the statistics of a hypothesis in joint draws under the null, [resamples].
        resamples: The number of draws; the observed statistics count as another draw.
        slack: Draws that are below the observed statistic by at most this much are ties.

    Returns:
        Adjusted p-values [hypotheses].
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
    """Return how extreme differences [..., pairs] are, each on its pair's side."""
    return np.where(sides, sides * differences, np.abs(differences)) if sides.any() else np.abs(differences)


def _permute_extremities(scores: SwappedPairs, sides: Ints, swapped: Floats) -> Floats:
    """Return the extremities [draws, pairs] of draws in which the sums [draws, systems, columns] change sides."""
    drawn = np.empty((len(swapped), len(scores.a)))
    for pairs, _, _, differences in scores.differences(swapped):
        drawn[:, pairs] = differences.T
    return _extremities(sides, drawn)


def _collect_excess(of_boards: Sequence[Draws]) -> tuple[NDArray[np.float32], Flags]:
    """Return the excess of each labelling over the observed one, [pairs, 1 + resamples], and which pairs are defined.

    The first labelling is the observed one. Single precision keeps the sign, and the order up to ties far from the
    observed value. An undefined observed difference is less extreme than all draws. The p-value of a pair is undefined
    too if its defined draws are all equal and less extreme than the observed one.
    """
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
    """Count for each labelling how many are at least as extreme, with ties and itself."""
    order = np.argsort(row)
    values = row[order]
    differs = np.diff(values) > tolerance + np.spacing(np.abs(values[1:]))
    first = np.maximum.accumulate(np.concatenate([[0], np.where(differs, np.arange(1, len(row)), 0)]))
    ranks = np.empty(len(row), dtype=np.int32)
    ranks[order] = len(row) - first
    return ranks


def _deviation(drawn: Floats, tolerance: float) -> float:
    """Return the standard deviation of the defined draws about 0; infinite if all are 0, which ties all statistics."""
    defined = drawn[np.isfinite(drawn)]
    deviation = float(np.sqrt(np.square(defined).sum() / max(1, len(defined))))
    return deviation if deviation > tolerance else np.inf
