"""Random runs: conclusions about how systems are trained, of which the runs at hand are a sample.

A system's score is that of its statistics averaged over runs, here as on boards: the p-value, the interval and the
difference that people see speak of one number, also where the mean of the runs' scores is another (F-scores, BLEU).

The permutation test gives whole runs to systems anew, so it holds for this test set. The bootstrap draws runs and
units, so it holds for other test sets as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby, islice

import numpy as np

from registry.errors import counted
from registry.identity import digest_array
from registry.significance.base import Observed, Settings, extremity
from registry.significance.matrix import Floats, Matrix, additive
from registry.significance.resampling.draws import BLOCK, LABELS, RUNS, blocks, resampled_sums, stream
from registry.significance.resampling.exceedances import ExceedanceCounter
from registry.significance.units import ROUNDING

LABELLED = 2**17  # labellings up to which each is tried


def runs_refusal(matrix: Matrix, *, studentized: bool) -> str | None:
    """Say why random runs cannot be tested, None where they can: how runs differ is known from two or more only."""
    if matrix.runs is None:
        return None
    if studentized:
        return 'a studentized test does not take random runs: set runs = "fixed", or take the plain one'
    alone, systems = sum(of_system.shape[1] < 2 for of_system in matrix.runs), f"of {len(matrix.runs)} systems"
    return None if not alone else (
        f"{counted(alone, f'{systems} has', f'{systems} have')} one run only, and random runs need two or more of "
        'each: add runs, or set runs = "fixed"')


def n_labellings(o: Observed) -> int:
    """In how many ways the runs of a pair can be given to its two systems, each as many as it has."""
    return math.comb(sum(_sizes(o)), _sizes(o)[0])


def least_of_runs(o: Observed, settings: Settings) -> str:
    """Say how small a p-value so few runs allow: two-sided, equally many can also change sides as a whole."""
    (m_a, m_b), labellings = _sizes(o), n_labellings(o)
    same = 2 if settings.alternative == "two-sided" and m_a == m_b else 1
    least = same / labellings if labellings <= LABELLED else 1 / (settings.resamples + 1)
    return f"smallest attainable p with {m_a} and {m_b} runs: {least:.3g}"


def count_relabelled(pairs: Sequence[Observed], settings: Settings) -> list[int]:
    """Count, for each pair, the ways to give its runs to the two systems that set them at least as far apart.

    Under the null that both are trained alike all C(m_a + m_b, m_a) ways are equally likely (Pitman 1937). Every one
    is tried up to `LABELLED`, and `resamples` random ones beyond. A difference within rounding of the observed one is
    a tie and counts, as an undefined one does: p can be too large by that, never too small.
    """
    counts = {o.pair: 0 for o in pairs}
    for sizes, group in groupby(sorted(pairs, key=_sizes), key=_sizes):
        members = [_Counted(o, settings) for o in group]
        for labels in _labellings(*sizes, settings):
            for member in members:
                counts[member.pair] += member.extremes(labels)
    return [counts[o.pair] for o in pairs]


class _Counted:
    """A pair by the sums of its runs, [runs, columns]: A's, then B's."""

    def __init__(self, o: Observed, settings: Settings) -> None:
        assert o.matrix.runs is not None
        self.matrix, self.pair = additive(o.matrix), o.pair
        self.sums = np.concatenate([o.matrix.runs[system].sum(axis=0) for system in o.pair])
        given = np.repeat((1.0, 0.0), _sizes(o))[None]
        bar = extremity(self._differences(given), settings.alternative)
        slack = ROUNDING * float(np.nanmax(np.abs(self._scores(np.concatenate([given, 1 - given])))))
        self.counter = ExceedanceCounter(bar - slack, settings.alternative)

    def extremes(self, labels: Floats) -> int:
        """How many labellings set the two systems at least as far apart as they are."""
        return int(self.counter(self._differences(labels)))

    def _differences(self, labels: Floats) -> Floats:
        return self.matrix.difference(self._scores(labels), self._scores(1 - labels))

    def _scores(self, labels: Floats) -> Floats:
        return self.matrix.score(_average(self.matrix, labels @ self.sums, labels.sum(axis=1, keepdims=True)))


def crossed_scores(matrix: Matrix, settings: Settings) -> Iterator[Floats]:
    """Score every system in the crossed bootstrap of runs and units (Owen 2007, "The pigeonhole bootstrap").

    Units are drawn jointly for all runs of all systems, as `draws.resampled_sums` does, and runs for each system
    apart. Of m runs m - 1 are drawn: the variance of their mean is then right on average (Rao and Wu 1988), while m
    draws make 3 runs look a third too much alike. What is peculiar to a run in a unit counts more than once, as Owen
    shows, so the test is conservative where runs differ by units rather than as a whole.

    The stream of a system's runs is known by what they are. So it is another one for every system, which one shared by
    the runs' numbers would not be, and no system changes the draws of others, whatever their order.

    Yields:
        Scores [draws, systems], a block at a time.
    """
    assert matrix.runs is not None
    contents = [int(digest_array(_plain(of_system)).partition(":")[2][:16], 16) for of_system in matrix.runs]
    ends = np.cumsum([of_system.shape[1] for of_system in matrix.runs])[:-1]
    drawn = resampled_sums(np.concatenate(matrix.runs, axis=1), settings.resamples, settings.seed, _unchanged,
                           settings.execution, matrix.strata)
    for (block, draws), sums in zip(blocks(settings.resamples), drawn, strict=True):
        averages = []
        for content, of_system in zip(contents, np.split(sums, ends, axis=1), strict=True):
            m = of_system.shape[1]
            rng = np.random.Generator(stream(settings.seed, RUNS, block, content))
            taken = rng.integers(0, m, (draws, m - 1))
            counts = (taken[:, :, None] == np.arange(m)).sum(axis=1)
            averages.append(_average(matrix, np.einsum("dr,drc->dc", counts, of_system), m - 1))
        yield additive(matrix).score(np.stack(averages, axis=1))


def _plain(runs: Floats) -> Floats:
    """The runs of a system [units, runs, columns], each column without its divisor, which depends on other systems."""
    if (runs != np.rint(runs)).any():
        return runs
    common = np.gcd.reduce(runs.astype(np.int64), axis=(0, 1))
    return np.asarray(runs / np.maximum(1, common))


def _unchanged(sums: Floats) -> Floats:
    return sums


def _average(matrix: Matrix, totals: Floats, n: Floats | int) -> Floats:
    """The average over `n` runs; for a quotient the total, which scores the same and stays whole."""
    return totals if matrix.quotient is not None else totals / n


def _sizes(o: Observed) -> tuple[int, int]:
    assert o.matrix.runs is not None
    a, b = (o.matrix.runs[system].shape[1] for system in o.pair)
    return a, b


def _labellings(m_a: int, m_b: int, settings: Settings) -> Iterator[Floats]:
    """Say which runs are called A's, [labellings, m_a + m_b] of 0 and 1, some labellings at a time."""
    if math.comb(m_a + m_b, m_a) <= LABELLED:
        every = combinations(range(m_a + m_b), m_a)
        while some := list(islice(every, BLOCK)):
            labels = np.zeros((len(some), m_a + m_b))
            np.put_along_axis(labels, np.array(some), 1, axis=1)
            yield labels
        return
    given = np.repeat((1.0, 0.0), (m_a, m_b))
    for block, draws in blocks(settings.resamples):
        rng = np.random.Generator(stream(settings.seed, LABELS, block))
        yield rng.permuted(np.tile(given, (draws, 1)), axis=1)
