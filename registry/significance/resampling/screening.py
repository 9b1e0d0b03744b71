"""Fast counts and ranks of resampled differences, from scores of 16 bits.

16 bits are sufficient for nearly all of a million resamples of hundreds of pairs, and fit into the processor's cache.
Differences are doubtful if rounding may have moved them across a bar, or if they are near the value of a rank. These
are few of 100,000, and are recomputed in float64. Pairs that rounded scores do not resolve, such as pairs with
undefined scores, are sorted in float64. Several processes can share the work.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from registry.arrays import Flags, Floats, Ints
from registry.parallel.execution import Execution, submit_ahead, with_progress
from registry.parallel.processes import worker_processes
from registry.parallel.scratch_files import SharedArray, make_array, shared_array
from registry.significance.base import Alternative, Observed, ObservedPairs, Settings, extremity
from registry.significance.matrix import Matrix, are_whole
from registry.significance.resampling.draws import BLOCK, sum_permutations
from registry.significance.resampling.exceedances import tolerance, tolerances
from registry.significance.resampling.loops import Loops, Places, Shorts, Window, loops

ENOUGH = 2**29  # least number of differences for which more processes save time
_AT_ONCE = 2**26  # differences in one task
LEAST, MOST = -2**15, 2**15 - 1  # range of 16 bits
STEPS = 2**14 - 1  # largest score in steps, so that differences of two fit into 16 bits
_SAMPLE = 2**10  # minimum number of resamples for the estimate of a quantile
_BIN_BITS = 11  # at most 2^11 bins are used for the counts of values


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits that decide which rounded differences of systems are extreme.

    Resampled differences are rounded to whole steps, which is faster. All limits are numbers of steps. For a confidence
    interval, the difference with a certain rank among the sorted differences is requested as well.

    Attributes:
        pairs: Indices of the systems A and B whose difference A - B is computed, [pairs, 2].
        absolute: True if the signs of differences are ignored.
        low, high: Limits, [pairs]. A difference below `low` is not extreme, a difference above `high` is extreme, and
            others are doubtful.
        still: Largest difference that may be 0 before rounding, [pairs].
        near: Largest rounding error of the value with the requested rank, [pairs].
        rank: Requested rank, from the largest value; 0: none.
    """

    pairs: Ints
    absolute: bool
    low: Ints
    high: Ints
    still: Ints
    near: Ints
    rank: int

    def parts(self, resamples: int) -> list[Limits]:
        """Divide the pairs of systems into consecutive parts, one per task of a process."""
        many = max(1, _AT_ONCE // resamples)
        parts = [slice(start, start + many) for start in range(0, len(self.pairs), many)]
        return [Limits(self.pairs[part], self.absolute, self.low[part], self.high[part], self.still[part],
                       self.near[part], self.rank) for part in parts]


class SelectedResamples(NamedTuple):
    """Some resamples of each of several pairs of systems.

    Attributes:
        places: Indices of the resamples, for one pair after the other.
        sizes: Number of selected resamples of each pair, [pairs].
    """

    places: Places
    sizes: Ints

    @classmethod
    def join(cls, parts: Sequence[Places]) -> SelectedResamples:
        """Combine the selected resamples of several pairs of systems into one object.

        Args:
            parts: For each pair, the indices of its selected resamples.
        """
        return cls(np.concatenate(parts), np.array([len(part) for part in parts]))


class Screened(NamedTuple):
    """Counts of extreme resamples of each pair, as far as rounded differences show.

    Attributes:
        resolved: Whether rounded differences are sufficient for each pair, [pairs]. Other attributes are empty for
            pairs that are not resolved.
        extremes: Numbers of differences that are certainly extreme, [pairs].
        doubtful: Resamples that may be extreme.
        ranked: Resamples that include the value with the requested rank.
        place: Position of this value among `ranked` in ascending order, counted from the end, [pairs].
    """

    resolved: Flags
    extremes: Ints
    doubtful: SelectedResamples
    ranked: SelectedResamples
    place: Ints


def screen_pairs(rounded: Shorts, limits: Limits, execution: Execution) -> Iterator[Screened]:
    """Count the extreme resamples of each pair of systems, from rounded scores.

    Several processes share the work if this saves time.

    Args:
        rounded: Scores in whole steps, [systems, resamples]; the difference of two scores must fit into 16 bits.
        limits: Pairs of systems, and limits that define extreme differences.
        execution: Number of processes, and whether they are permitted.

    Yields:
        The counts of consecutive parts of the pairs.
    """
    parts = limits.parts(rounded.shape[1])
    workers = min(execution.threads, len(parts)) if execution.processes else 1
    differences = len(limits.pairs) * rounded.shape[1]
    many = differences >= ENOUGH and rounded.nbytes <= execution.memory // 4
    description = "parts of the pairs to look at"
    if workers < 2 or not many:
        alone = (_answer(rounded, part, differences) for part in parts)
        yield from with_progress(alone, len(parts), description, execution.progress)
        return
    with (shared_array(rounded, "give --workers 1") as shared,
          worker_processes(workers, _begin, shared, differences / workers) as pool):
        answers = submit_ahead(lambda part: pool.submit(_work, part), parts, 2 * workers)
        yield from with_progress(answers, len(parts), description, execution.progress)


_given: list[tuple[Shorts, float]] = []  # scores and amount of work, which a process receives when it starts


def _begin(shared: SharedArray, many: float) -> None:
    _given[:] = [(shared.load(), many)]


def _work(part: Limits) -> Screened:
    (rounded, many), = _given
    return _answer(rounded, part, many)


def _answer(rounded: Shorts, limits: Limits, many: float) -> Screened:
    workspace = _Workspace(rounded.shape[1], limits.absolute, limits.rank, loops(many))
    asked = zip(*(numbers.tolist() for numbers in (limits.pairs, limits.low, limits.high, limits.still,
                                                   limits.near)), strict=True)
    answers = [workspace.screen(rounded[a], rounded[b], *of_pair) for (a, b), *of_pair in asked]
    nothing = 0, np.empty(0, np.int32), np.empty(0, np.int32), 0
    extremes, doubtful, ranked, place = zip(*(pair or nothing for pair in answers), strict=True)
    return Screened(np.array([pair is not None for pair in answers]), np.array(extremes),
                    SelectedResamples.join(doubtful), SelectedResamples.join(ranked), np.array(place))


class _Workspace:
    """Counter of extreme resamples of one pair of systems after the other.

    All pairs reuse the same memory, because allocation takes more time than filling.
    """

    def __init__(self, resamples: int, absolute: bool, rank: int, loops: Loops) -> None:
        self.absolute, self.rank, self.loops = absolute, rank, loops
        self.values, self.places = np.empty(resamples, np.int16), np.empty(resamples, np.int32)

    def screen(self, a: Shorts, b: Shorts, low: int, high: int, still: int,
               near: int) -> tuple[int, Places, Places, int] | None:
        """Count the extreme resamples of one pair from rounded scores.

        Args:
            a: Scores of the first system in whole steps, [resamples].
            b: Scores of the second system in whole steps, [resamples].
            low: A difference below it is not extreme.
            high: A difference above it is extreme. Differences from `low` to `high` are doubtful.
            still: Largest difference that may be 0 before rounding.
            near: Largest rounding error of the value with the requested rank.

        Returns:
            Number of extreme differences; resamples that may be extreme; resamples that include the value with the
                requested rank, and its position among them. None if rounded scores are not precise enough.
        """
        largest = self.loops.distances(a, b, self.absolute, self.values)
        if largest <= still:
            return None
        doubt = low, high
        window = self._bracket_rank(largest, near) if self.rank else doubt
        extremes, above, n = self.loops.between(self.values, doubt, window, self.places)
        places = self.places[:n].copy()
        if not self.rank:
            return extremes, places, places[:0], 0
        values = self.values.take(places)
        ranked = self._find_rank(near, window, above, places, values)
        return ranked and (extremes, places[(values >= low) ^ (values > high)], *ranked)

    def _bracket_rank(self, largest: int, near: int) -> Window:
        """Return bounds of the value with the requested rank, estimated from a sample.

        The sample consists of the first resamples. About 1 of 10,000 values is outside of the bounds. The function
        counts all resamples above a value near the rank, to find out how far the rank is from this value.
        """
        sample = self.values[:max(_SAMPLE, len(self.values) // 8)]
        least = 0 if self.absolute else -largest  # smaller values count as this value
        bits = max(0, (largest - least).bit_length() - _BIN_BITS)
        above = self.loops.above(sample, least, largest, bits)
        share = len(sample) / len(self.values)

        def find_bin_start(rank: float) -> int:
            """Return the largest start of a bin that at least `rank` values reach or exceed."""
            return least + (max(0, len(above) - 1 - int(above.searchsorted(math.ceil(rank)))) << bits)

        middle = find_bin_start(share * self.rank)
        beyond = int(above[len(above) - 1 - ((middle - least) >> bits)])
        distance = share * (self.loops.reaching(self.values, middle) - self.rank)
        error = 4 * math.sqrt(abs(distance) * (1 - share)) + 2
        low, fewest = find_bin_start(beyond - distance + error), beyond - distance - error
        high = find_bin_start(fewest) + (1 << bits) - 1 if fewest > 0 else MOST
        return max(low - near, LEAST) if low > least else LEAST, min(high + near, MOST)

    def _find_rank(self, near: int, window: Window, above: int, places: Places,
                 values: Shorts) -> tuple[Places, int] | None:
        """Find the resamples that may have the requested rank.

        The rank is the position among all resamples, sorted by the difference of two systems. Scores are rounded, so
        several resamples may have it.

        Args:
            near: Largest difference between a rounded and the exact value.
            window: Lower and upper bound of the value with the requested rank.
            above: Number of resamples above the window.
            places: Resamples that include all in the window.
            values: Rounded values of these resamples.

        Returns:
            The resamples, and the position of the rank among them in ascending order, counted from the end. None if the
                value may be outside of the window.
        """
        low, high = window
        rank = self.rank - above + int(np.count_nonzero(values > high))
        if not 0 < rank <= len(values):
            return None
        in_order = values.copy()
        in_order.partition(len(values) - rank)
        rounded = int(in_order[len(values) - rank])
        if rounded - near < low or rounded + near > high:
            return None
        larger = values > rounded + near
        return places[(values >= rounded - near) ^ larger], int(np.count_nonzero(larger)) - rank


_FAR = 64  # systems with 64 times the median distance are not rounded, because steps would be too coarse
_ERROR = 2.0**-50  # rounding error of a difference in float64, relative to its terms: a few roundings of 2^-53
_SORTED = 64  # pairs that are sorted in one task


@dataclass(frozen=True, slots=True)
class Recentred:
    """Counts of the resampled differences of one pair, for the recentred bootstrap.

    The observed difference is subtracted from each resampled one. The extremity of the result says how strongly it
    contradicts the null hypothesis, for example its absolute value.

    Attributes:
        extremes: Number of differences at least as extreme as the observed one, including undefined differences.
        reach: The `rank`-th largest extremity, with infinity for undefined differences; infinite for rank 0.
        undefined: Number of undefined differences.
        moves: True if the differences vary between resamples.
    """

    extremes: int
    reach: float
    undefined: int = 0
    moves: bool = True


def screen_recentred(pairs: ObservedPairs, scores: Floats, rounded: Shorts, alternative: Alternative, rank: int,
              execution: Execution) -> list[Recentred]:
    """Count the extreme resamples of pairs of systems, for the recentred bootstrap.

    The observed difference is subtracted from each resampled one. The difference with a requested rank is found as
    well, for a confidence interval.

    Args:
        pairs: Pairs of systems.
        scores: Scores in the resamples, [systems, resamples].
        rounded: Memory for rounded scores, of the same shape.
        alternative: Alternative hypothesis, which defines extreme differences.
        rank: Requested rank, from the most extreme difference.
        execution: Threads and processes.
    """
    steps = Steps.round(scores, pairs.matrix.observed, rounded)
    fit = np.flatnonzero(steps.fit[pairs.a] & steps.fit[pairs.b]).tolist()
    resolved: dict[int, Recentred] = {}
    if fit:
        differences = _Differences(pairs[np.array(fit)], scores, alternative)
        start = 0
        for answer in screen_pairs(rounded, differences.compute_limits(steps, rank), execution):
            part = slice(start, start + len(answer.resolved))
            resolved_pairs = itertools.compress(fit[part], answer.resolved)
            resolved |= zip(resolved_pairs, differences.resolve(answer, part, rank), strict=True)
            start = part.stop
    rest = [n for n in range(len(pairs)) if n not in resolved]
    groups = [rest[start:start + _SORTED] for start in range(0, len(rest), _SORTED)]
    results = execution.local.map(lambda group: [_sort_pair(pairs[n], scores, alternative, rank) for n in group],
                                 groups, "groups of pairs to sort")
    for group, of_group in zip(groups, results, strict=True):
        resolved |= zip(group, of_group, strict=True)
    return [resolved[n] for n in range(len(pairs))]


def count_by_sorting(extremities: Floats, bar: float, tolerance: float, rank: int) -> Recentred:
    """Count the extreme resamples of one pair of systems, by sorting them.

    The extremity of a difference says how strongly it contradicts the null hypothesis, for example |difference|.

    Args:
        extremities: Extremities of the resampled minus observed differences, [resamples].
        bar: Observed extremity.
        tolerance: Largest rounding error between equal extremities.
        rank: Rank of the requested extremity, from the largest.
    """
    undefined = np.isnan(extremities)
    moves = bool((np.abs(extremities) > tolerance).any())  # nan compares as false
    in_order = np.sort(np.where(undefined, np.inf, extremities))
    extremes = len(in_order) - int(np.searchsorted(in_order, bar - tolerance))
    return Recentred(extremes, float(in_order[-rank]) if rank else math.inf, int(undefined.sum()), moves)


def _sort_pair(o: Observed, scores: Floats, alternative: Alternative, rank: int) -> Recentred:
    moved = o.matrix.difference(*(scores[system] for system in o.pair)) - o.difference
    return count_by_sorting(extremity(moved, alternative), extremity(o.difference, alternative), tolerance(o), rank)


@dataclass(frozen=True, eq=False)
class Steps:
    """Resampled scores, rounded to small whole numbers to compare them faster.

    A number is the distance of a resampled score from the observed score, in steps.

    Attributes:
        size: Size of a step, the same for all systems.
        fit: Whether a system can be rounded, [systems]: it has no undefined and no very distant scores.
        error: Largest rounding error of a distance in float64, [systems].
    """

    size: float
    fit: Flags
    error: Floats

    @classmethod
    def round(cls, scores: Floats, observed: Floats, rounded: Shorts) -> Steps:
        """Round the resampled scores of all systems, and write them to `rounded`.

        Args:
            scores: Scores in resamples, [systems, resamples].
            observed: Observed scores, [systems].
            rounded: Memory for the rounded scores, [systems, resamples].
        """
        with np.errstate(invalid="ignore", over="ignore"):
            largest = np.fmax(scores.max(axis=1) - observed, observed - scores.min(axis=1))
        finite = np.isfinite(largest)
        fit = finite & (largest <= _FAR * np.median(largest[finite]) if finite.any() else finite)
        size = float(largest[fit].max(initial=0)) / STEPS or 1.0
        distances = np.empty(scores.shape[1])  # reused memory
        for n in np.flatnonzero(fit):
            np.subtract(scores[n], observed[n], out=distances)
            np.divide(distances, size, out=distances)
            np.rint(distances, out=rounded[n], casting="unsafe")
        return cls(size, fit, _ERROR * (largest + np.abs(observed)))


class _Differences:
    """Resampled minus observed differences of pairs of systems.

    Most differences are compared as rounded numbers; only doubtful ones are computed exactly.
    """

    def __init__(self, pairs: ObservedPairs, scores: Floats, alternative: Alternative) -> None:
        self.matrix, self.scores, self.alternative = pairs.matrix, scores, alternative
        self.a, self.b, self.observed = pairs.a, pairs.b, pairs.difference
        self.tolerances = tolerances(pairs.matrix, pairs.a, pairs.b)
        self.bars = extremity(self.observed, alternative) - self.tolerances

    def compute_limits(self, steps: Steps, rank: int) -> Limits:
        """Return the limits that decide which rounded differences are extreme.

        The limits allow for rounding: the error of each score is at most half a step.
        """
        slack = (steps.size * (1 + 2.0**-20) + steps.error[self.a] + steps.error[self.b]
                 + _ERROR * np.abs(self.observed))
        turned = (self.alternative == "less") != self.matrix.lower_is_better
        low, high, still, near = (np.clip(bound, LEAST, MOST).astype(np.int64) for bound in (
            (self.bars - slack) // steps.size, -((-self.bars - slack) // steps.size),
            (self.tolerances + slack) // steps.size, np.ceil(2 * slack / steps.size)))
        return Limits(np.stack([self.b, self.a] if turned else [self.a, self.b], axis=1),
                      self.alternative == "two-sided", low, high, still, near, rank)

    def resolve(self, answer: Screened, part: slice, rank: int) -> list[Recentred]:
        """Complete the counts of extreme resamples, by exact differences in doubtful ones.

        A resample is doubtful if rounding could decide whether its difference is extreme.

        Args:
            answer: Counts by rounded differences, and the doubtful resamples.
            part: The pairs to which they belong.
            rank: Requested rank, from the most extreme difference.

        Returns:
            The results of the resolved pairs.
        """
        pair, values = self._exact(answer.doubtful, part)
        extremes = answer.extremes + np.bincount(pair[values >= self.bars[part][pair]], minlength=len(answer.resolved))
        reach = np.full(len(answer.resolved), np.inf)
        if rank:
            pair, values = self._exact(answer.ranked, part)
            by_value = np.argsort(values)
            pairs = pair[by_value].astype(np.min_scalar_type(len(reach)))  # 16 bits are sorted by counting
            in_order = values[by_value[np.argsort(pairs, kind="stable")]]
            ends = np.cumsum(answer.ranked.sizes)
            reach[answer.resolved] = in_order[(ends + answer.place)[answer.resolved]]
        return list(map(Recentred, extremes[answer.resolved].tolist(), reach[answer.resolved].tolist()))

    def _exact(self, pairs: SelectedResamples, part: slice) -> tuple[Ints, Floats]:
        pair = np.repeat(np.arange(len(pairs.sizes)), pairs.sizes)
        a, b = (self.scores[systems[part][pair], pairs.places] for systems in (self.a, self.b))
        return pair, extremity(self.matrix.difference(a, b) - self.observed[part][pair], self.alternative)




def have_equal_denominators(matrix: Matrix) -> bool:
    """Return True if all systems have the same denominators in their scores.

    The scores must be quotients, and sums must be exact.
    """
    if matrix.quotient is None:
        return False
    numerators, denominators = matrix.parts
    return bool((denominators == denominators[:, :1]).all() and denominators[:, 0].sum() > 0 and are_whole(numerators)
                and np.abs(numerators).sum(axis=0).max() < 2**51)


def count_swapped_means(pairs: ObservedPairs, settings: Settings) -> Ints:
    """Count the extreme permutations of each pair of systems, if scores are means.

    A permutation swaps the two systems in random items (or clusters). It is extreme if the difference of the scores is
    at least as extreme as the observed one. All systems must have the same denominators. Each permutation then needs
    only one number per system, as in the bootstrap.

    Returns:
        Counts, [pairs].
    """
    # Let z be the sum of a system's numerators in the swapped items minus the sum in the others. The difference after a
    # swap is the difference of the z of both systems, divided by the sum of the denominators.
    numerators = pairs.matrix.parts[0]
    # z of each system, [systems, permutations]
    moved = make_array((numerators.shape[1], settings.resamples), settings.execution.memory // 2, np.float64)
    sums = sum_permutations(numerators[:, :, None], settings, np.asarray)
    for start, block in zip(range(0, settings.resamples, BLOCK), sums, strict=True):
        moved[:, start:start + BLOCK] = 2 * block[:, :, 0].T - numerators.sum(axis=0)[:, None]
    size = max(float(moved.max()), -float(moved.min()), 1.0) / STEPS
    rounded = make_array(moved.shape, settings.execution.memory // 4, np.int16)
    for n, of_system in enumerate(moved):
        np.rint(of_system / size, out=rounded[n], casting="unsafe")
    turned = (settings.alternative == "less") != pairs.matrix.lower_is_better
    systems = np.stack([pairs.a, pairs.b] if turned else [pairs.b, pairs.a], axis=1)
    totals, two_sided = pairs.matrix.parts[0].sum(axis=0), settings.alternative == "two-sided"
    bars = totals[systems[:, 1]] - totals[systems[:, 0]]
    bars = extremity(bars, "two-sided") if two_sided else bars
    slack = 1 + 2.0**-20  # in steps: each of the two values has a rounding error of up to half a step
    low, high = (np.clip(bound, LEAST, MOST).astype(np.int64) for bound in (
        np.floor(bars / size - slack), np.ceil(bars / size + slack)))
    always = np.full(len(pairs), LEAST - 1)
    counts, offset = [], 0
    for answer in screen_pairs(rounded, Limits(systems, two_sided, low, high, always, always, 0), settings.execution):
        n = len(answer.extremes)
        pair = offset + np.repeat(np.arange(n), answer.doubtful.sizes)
        first, second = (moved[systems[pair, side], answer.doubtful.places] for side in (0, 1))
        reached = extremity(first - second, "two-sided" if two_sided else "greater") >= bars[pair]
        counts.append(answer.extremes + np.bincount(pair[reached] - offset, minlength=n))
        offset += n
    return np.concatenate(counts)
