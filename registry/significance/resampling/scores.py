"""Scores of all systems in resamples of the units, and tests with random runs.

If runs are random, the runs of a system are a sample, and conclusions are about the way in which it is trained. The
score of a system is computed from statistics that are averaged over its runs, as on boards. For F-scores and BLEU this
is not the mean of the scores of the runs. The permutation test relabels whole runs, so its conclusions are about this
test set. The bootstrap resamples runs and units, so its conclusions are also about other test sets; it needs five runs
of each system (`LEAST_DRAWN`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, groupby, islice
from typing import TypeVar

import numpy as np

from registry.arrays import ROUNDING, Floats
from registry.identity import digest_array
from registry.messages import Message, Messages
from registry.parallel.scratch_files import make_array
from registry.significance.base import Observed, ObservedPairs, Settings, Tail, Tails, extremity
from registry.significance.correlations import PairMatrix, resample_correlations
from registry.significance.exact.ideal_bootstrap import MOST_UNDEFINED
from registry.significance.matrix import Matrix, Resampled, additive
from registry.significance.resampling.draws import BLOCK, LABELS, RUNS, blocks, stream, sum_resamples
from registry.significance.resampling.exceedances import count_reaching, monte_carlo_tail

M = TypeVar("M", bound=Matrix)


def resampling_refusal(matrix: Matrix) -> Message | None:
    """Return the reason why the data cannot be resampled; None if they can.

    If there is only one item (or cluster), or one in each stratum, every resample equals the data.
    """
    if matrix.lone_units < matrix.n_units:
        return None
    return Message("one-unit" if matrix.strata is None else "one-unit-strata")


def share_resamples(matrix: M, settings: Settings) -> M:
    """Return a copy of the statistics with resamples that all tests will share.

    The resamples are computed when a test first needs them.

    Args:
        matrix: Statistics of all systems; its rows are items or clusters.
        settings: Number of resamples, seed, workers and memory.
    """
    shared = Resampled(settings.resamples, settings.seed, partial(_draw_scores, matrix, settings))
    return replace(matrix, resampled=shared)


def score_resamples(matrix: Matrix, settings: Settings) -> Floats:
    """Return the score of every system in every resample, [resamples, systems].

    Items or clusters are resampled, and also the runs if they are random. If the matrix has shared scores with the same
    number of resamples and the same seed, these are returned. Scores are stored in a temporary file if they need more
    than half of the memory.
    """
    if matrix.resampled is not None and shares_resamples(matrix, settings):
        return matrix.resampled.scores
    return _draw_scores(matrix, settings)


def shares_resamples(matrix: Matrix, settings: Settings) -> bool:
    """Return True if the matrix has resampled scores for these settings.

    The number of resamples and the seed must be equal.
    """
    shared = matrix.resampled
    return shared is not None and (shared.resamples, shared.seed) == (settings.resamples, settings.seed)


def _draw_scores(matrix: Matrix, settings: Settings) -> Floats:
    matrix = matrix.by_unit
    if matrix.runs is not None:
        blocks = score_crossed_resamples(matrix, settings)
    elif isinstance(matrix, PairMatrix):
        blocks = resample_correlations(matrix, settings)
    else:
        blocks = sum_resamples(matrix.statistics, settings, additive(matrix).score, matrix.strata)
    scores = make_array((matrix.statistics.shape[1], settings.resamples), settings.execution.memory // 2, np.float64)
    for start, block in zip(range(0, settings.resamples, BLOCK), blocks, strict=True):
        scores[:, start:start + BLOCK] = block.T  # the scores of a system are contiguous
    return scores.T


def percentiles(resampled: Floats, confidence: float) -> Floats:
    """Return percentile bootstrap intervals of scores, [systems, 2].

    An interval is nan if too many scores are undefined.

    Args:
        resampled: Scores in resamples, [resamples, systems].
        confidence: Confidence level.
    """
    outside = (1 - confidence) / 2
    intervals = np.full((resampled.shape[1], 2), np.nan)
    for n, column in enumerate(resampled.T):
        defined = column[~np.isnan(column)]
        if len(defined) >= (1 - MOST_UNDEFINED) * len(column):
            intervals[n] = np.quantile(defined, (outside, 1 - outside))
    return intervals


LABELLED = 2**17  # largest number of labellings for which all are tried
LEAST_DRAWN = 5  # least number of runs of a system for which runs can be resampled


def runs_refusal(matrix: Matrix, *, studentized: bool = False) -> Message | None:
    """Return the reason why the runs of systems cannot be permuted; None if they can.

    If runs are random, each system needs at least two. Fixed runs can always be tested.

    Args:
        matrix: Statistics of all systems.
        studentized: True for a studentized test, which refuses random runs and scores that are not quotients.
    """
    if studentized and matrix.quotient is None:
        return Message("studentized-needs-quotient")
    if matrix.runs is None:
        return None
    if matrix.factors is not None:
        return Message("crossed-runs")
    if studentized:
        return Message("studentized-random-runs")
    alone = sum(of_system.shape[1] < 2 for of_system in matrix.runs)
    return Message("single-runs", {"systems": alone, "of_systems": len(matrix.runs)}) if alone else None


def explain_run_refusal(matrix: Matrix, *, studentized: bool = False) -> Message | None:
    """Return the reason why runs of systems cannot be resampled; None if they can.

    If runs are random, each system needs at least `LEAST_DRAWN` runs.

    Args:
        matrix: Statistics of all systems.
        studentized: True for a studentized test, which refuses random runs and scores that are not quotients.
    """
    if (reason := runs_refusal(matrix, studentized=studentized)) or matrix.runs is None:
        return reason
    few = sum(of_system.shape[1] < LEAST_DRAWN for of_system in matrix.runs)
    return Message("few-runs", {"systems": few, "least": LEAST_DRAWN}) if few else None


def relabel_runs(pairs: ObservedPairs, settings: Settings) -> Tails:
    """Test pairs of systems by permuting whole runs between the two systems.

    Each system keeps its number of runs. If both systems are trained in the same way, all C(m_a + m_b, m_a) labellings
    of the runs are equally likely (Pitman 1937). If there are at most `LABELLED` labellings, all are tried and the
    p-value is exact; otherwise `resamples` random labellings are tried. A difference counts as extreme if it equals the
    observed one up to rounding, or if it is undefined.
    """
    counts = {o.pair: 0 for o in pairs}
    for sizes, group in groupby(sorted(pairs, key=_count_runs), key=_count_runs):
        counters = [(o.pair, _make_counter(o, settings)) for o in group]
        for labels in _list_labellings(*sizes, settings):
            for pair, count in counters:
                counts[pair] += count(labels)
    tails = []
    for o in pairs:
        m_a, m_b = _count_runs(o)
        labellings = math.comb(m_a + m_b, m_a)
        if labellings <= LABELLED:
            p = counts[o.pair] / labellings
            tail = Tail(math.log(p), "exact", p=p)
            least = (2 if settings.alternative == "two-sided" and m_a == m_b else 1) / labellings
        else:
            tail = monte_carlo_tail(counts[o.pair], settings.resamples)
            least = 1 / (settings.resamples + 1)
        tails.append(replace(tail, messages=Messages.make("smallest-p-value", runs_a=m_a, runs_b=m_b, least=least)))
    return Tails.collect(tails)


def _make_counter(o: Observed, settings: Settings) -> Callable[[Floats], int]:
    """Return a function that counts extreme permutations of the runs of two systems.

    A permutation, or labelling, assigns all runs of both systems to A and B. It is extreme if its difference is at
    least as extreme as the observed one.
    """
    assert o.matrix.runs is not None
    matrix = additive(o.matrix)
    sums = np.concatenate([o.matrix.runs[system].sum(axis=0) for system in o.pair])  # [runs, columns]: A's, then B's

    def scores(labels: Floats) -> Floats:
        return matrix.score(_average(matrix, labels @ sums, labels.sum(axis=1, keepdims=True)))

    def differences(labels: Floats) -> Floats:
        return matrix.difference(scores(labels), scores(1 - labels))

    given = np.repeat((1.0, 0.0), _count_runs(o))[None]
    slack = ROUNDING * float(np.nanmax(np.abs(scores(np.concatenate([given, 1 - given])))))
    bar, alternative = extremity(differences(given), settings.alternative) - slack, settings.alternative
    return lambda labels: int(count_reaching(bar, alternative, differences(labels)))


def score_crossed_resamples(matrix: Matrix, settings: Settings) -> Iterator[Floats]:
    """Compute the scores of all systems in resamples of both runs and items.

    This is the pigeonhole bootstrap of Owen (2007). All systems share the resampled items or clusters; runs are
    resampled for each system separately. The test is conservative if runs differ by items rather than as a whole.

    The variance of few runs or items is hardly known. So their deviations are stretched from a normal distribution to
    Student's distribution. Without this the test rejects in 9 % at 5 % for 5 runs (docs/validity.md).

    Yields:
        Scores of each block, [resamples, systems].
    """
    # Of m runs, m - 1 are drawn, so that the variance of their mean is unbiased (Rao and Wu 1988); with m draws the
    # variance of 3 runs would be a third too small. The interaction of runs and items is counted more than once.
    # Stretched deviations of runs and items have, as a sum, the Behrens-Fisher distribution (Robinson 1976). The random
    # stream of a system's runs depends on the content of the runs, so it differs between systems and does not depend on
    # their order.
    assert matrix.runs is not None
    contents = [int(digest_array(_remove_divisor(runs)).partition(":")[2][:16], 16) for runs in matrix.runs]
    ends = np.cumsum([of_system.shape[1] for of_system in matrix.runs])[:-1]
    drawn = sum_resamples(np.concatenate(matrix.runs, axis=1), settings, np.asarray, matrix.strata)
    shared = matrix.multiple if matrix.quotient is not None else 1  # a quotient has the same score for any multiple
    observed = [of_system.sum(axis=0).mean(axis=0) / shared for of_system in matrix.runs]
    n, strata = matrix.n_units, 1 if matrix.unit_strata is None else len(np.unique(matrix.unit_strata))
    for (block, draws), sums in zip(blocks(settings.resamples), drawn, strict=True):
        of_units = _draw_stretch(np.random.Generator(stream(settings.seed, RUNS, block)), n - strata, draws)
        of_units *= math.sqrt(n / (n - strata))  # a resample has (n - 1) / n of the variance of n units
        averages = []
        for content, given, of_runs in zip(contents, observed, np.split(sums / shared, ends, axis=1), strict=True):
            m = of_runs.shape[1]
            rng = np.random.Generator(stream(settings.seed, RUNS, block, content))
            chosen = rng.integers(0, m, (draws, m - 1))
            counts = (chosen[:, :, None] == np.arange(m)).sum(axis=1)
            moved = np.einsum("dr,drc->dc", counts / (m - 1) - 1 / m, of_runs)
            moved_by_units = of_units * (of_runs.mean(axis=1) - given)
            averages.append(given + moved_by_units + _draw_stretch(rng, m - 1, draws) * moved)
        yield additive(matrix).score(np.stack(averages, axis=1))


def _draw_stretch(rng: np.random.Generator, degrees: int, draws: int) -> Floats:
    # factors that turn normal values into Student's t
    return np.asarray(np.sqrt(degrees / rng.chisquare(degrees, (draws, 1))))


def score_without_runs(matrix: Matrix) -> Iterator[Floats]:
    """Compute the scores of each system without each of its runs in turn.

    If runs are fixed, nothing is yielded.

    Yields:
        Scores of one system, [runs].
    """
    for of_system in matrix.runs or ():
        sums = of_system.sum(axis=0)
        yield additive(matrix).score(_average(matrix, sums.sum(axis=0) - sums, len(sums) - 1))


def _remove_divisor(runs: Floats) -> Floats:
    # the stored multiples depend on other systems, the result does not
    if (runs != np.rint(runs)).any():
        return runs
    common = np.gcd.reduce(runs.astype(np.int64), axis=(0, 1))
    return np.asarray(runs / np.maximum(1, common))


def _average(matrix: Matrix, totals: Floats, n: Floats | int) -> Floats:
    # quotients have the same score for sums and averages, and sums are whole numbers
    return totals if matrix.quotient is not None else totals / n


def _count_runs(o: Observed) -> tuple[int, int]:
    assert o.matrix.runs is not None
    a, b = (o.matrix.runs[system].shape[1] for system in o.pair)
    return a, b


def _list_labellings(m_a: int, m_b: int, settings: Settings) -> Iterator[Floats]:
    """Yield assignments of runs to systems A and B, in blocks.

    All assignments are listed if they are few, otherwise random ones.

    Args:
        m_a: Number of runs of A.
        m_b: Number of runs of B.
        settings: Number of random assignments, and seed.

    Yields:
        Labels, [assignments, m_a + m_b]: 1 for a run of A and 0 for a run of B.
    """
    if math.comb(m_a + m_b, m_a) <= LABELLED:
        every = combinations(range(m_a + m_b), m_a)
        while labellings_block := list(islice(every, BLOCK)):
            labels = np.zeros((len(labellings_block), m_a + m_b))
            np.put_along_axis(labels, np.array(labellings_block), 1, axis=1)
            yield labels
        return
    given = np.repeat((1.0, 0.0), (m_a, m_b))
    for block, draws in blocks(settings.resamples):
        rng = np.random.Generator(stream(settings.seed, LABELS, block))
        yield rng.permuted(np.tile(given, (draws, 1)), axis=1)
