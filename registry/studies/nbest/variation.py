"""How far precision really varies over repetitions of an experiment (Evert 2004, section 4).

Where candidates were extracted from several parts of a corpus, each part is a repetition. A threshold that accepts so
many candidates on average makes one acceptance set in each. The model says that their precisions are binomial: this
compares their deviation with the binomial one, and counts the repetitions whose interval leaves out the average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from registry.arrays import Ints
from registry.errors import InputError
from registry.metrics.sets import find_accepted
from registry.significance.distributions import clopper_pearson
from registry.studies.nbest.precision import Ranked


@dataclass(frozen=True)
class Variation:
    """One system's precision over the repetitions.

    Attributes:
        system: Its name.
        threshold: The score from which on candidates are accepted.
        repetitions: How many have accepted candidates; precision is undefined in others.
        accepted: How many candidates are accepted, on average.
        least, most: The fewest and the most in any of them; the model assumes that they are much the same.
        precision: The average of the repetitions' precisions, taken for the true one.
        deviation: The standard deviation of the precisions.
        expected: The binomial one, sqrt(precision (1 - precision) / accepted).
        p_variance: Of the chi-squared test that the variance is larger than the binomial one.
        p_kolmogorov: Of Kolmogorov's test that precisions are normal with that deviation.
        outside: Repetitions whose Clopper-Pearson interval leaves out the precision.
        p_outside: Of the binomial test that there are more of these than the confidence allows.
    """

    system: str
    threshold: float
    repetitions: int
    accepted: float
    least: int
    most: int
    precision: float
    deviation: float
    expected: float
    p_variance: float
    p_kolmogorov: float
    outside: int
    p_outside: float


def variations(ranked: Ranked, repetition: Ints, *, average: int = 100, confidence: float = 0.95) -> list[Variation]:
    """Give the variation of every system's precision.

    Args:
        ranked: All candidates of all repetitions.
        repetition: The number of each candidate's repetition, from 0, [candidates].
        average: How many candidates are accepted per repetition, on average; more where scores are tied there.
        confidence: Of the intervals.

    Raises:
        InputError: A system returns no candidate.
    """
    n = int(repetition.max()) + 1
    return [_variation(ranked, system, repetition, n, average, confidence) for system in range(len(ranked.systems))]


def _variation(ranked: Ranked, system: int, repetition: Ints, n: int, average: int, confidence: float) -> Variation:
    from scipy import stats

    scores = ranked.scores[:, system]
    returned = np.sort(scores[~np.isnan(scores)])
    if not len(returned):
        raise InputError(f"{ranked.systems[system]} returns no candidate; leave it out by --system")
    threshold = float(returned[max(len(returned) - average * n, 0)])
    taken = find_accepted(scores, threshold=threshold)
    sizes = np.bincount(repetition[taken], minlength=n)
    right = np.bincount(repetition[taken & ranked.right], minlength=n)[sizes > 0]
    sizes = sizes[sizes > 0]
    shares, n = right / sizes, len(sizes)
    precision, size = float(shares.mean()), float(sizes.mean())
    deviation = float(shares.std(ddof=1)) if n > 1 else np.nan
    expected = float(np.sqrt(precision * (1 - precision) / size))
    low, high = clopper_pearson(right, sizes, confidence)
    outside = int(((precision < low) | (precision > high)).sum())
    varies = expected > 0 and n > 1
    return Variation(
        ranked.systems[system], threshold, n, size, int(sizes.min()), int(sizes.max()), precision, deviation, expected,
        float(stats.chi2.sf((n - 1) * (deviation / expected)**2, n - 1)) if varies else np.nan,
        float(stats.kstest(shares, stats.norm(precision, expected).cdf).pvalue) if varies else np.nan,
        outside, float(stats.binom.sf(outside - 1, n, 1 - confidence)))
