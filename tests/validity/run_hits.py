"""Of how many test sets have warnings of random runs, and how often tests of these runs reject at 5 %.

    python -m tests.validity.run_hits [RUNS]

Scores of runs are drawn as they are: test sets have so many items that these add nothing. Two systems, equal on
average, have runs that vary more (`find_uneven_runs`), or some of which fail (`find_outlying_runs`, on boards of four
systems of which the last never fails).
"""

import sys

import numpy as np

from registry.significance import Crossed, Permutation, Settings, StatisticMatrix
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.samples import find_outlying_runs, find_uneven_runs
from tests.validity.examinations import ALPHA, HERE
from tests.validity.populations import ACCURACY, over_one, quotient_of

NUMBERS = ((2, 10), (3, 10), (5, 10), (3, 5), (3, 6), (4, 8), (8, 10), (4, 4), (5, 5), (6, 6), (10, 10))
DEVIATIONS = (1.0, 1.5, 2.0, 3.0, 5.0, 20.0)
FAILING = ((0.0, 0.0), (0.05, 10.0), (0.1, 5.0), (0.1, 10.0), (0.2, 10.0))
SETTINGS = Settings(resamples=999, seed=1, execution=HERE)


def board(*scores):
    """Systems by the scores of their runs."""
    runs = tuple(over_one(np.rint(1e6 * np.asarray(of))[None]) for of in scores)
    return StatisticMatrix(np.stack([of.mean(axis=1) for of in runs], axis=1), quotient_of(ACCURACY),
                           quotient=ACCURACY, runs=runs)


def uneven(rng, n, m, deviation, runs):
    """How often whole runs swapped reject, `crossed` rejects, and the warning is told; n runs deviate so much."""
    matrix = board(*(scores for _ in range(runs) for scores in (
        deviation * rng.standard_normal(n), rng.standard_normal(m))))
    a = 2 * np.arange(runs)
    pairs = [(int(first), int(first) + 1) for first in a]
    told = np.any([warning.where for warning in find_uneven_runs(SystemPairs(matrix, a, a + 1))], axis=0)
    return [np.mean(Permutation().run(matrix, pairs, SETTINGS).p_value <= ALPHA),
            np.mean(Crossed(over="runs").run(matrix, pairs, SETTINGS).p_value <= ALPHA), told.mean()]


def failing(rng, n, share, depth, runs):
    """How often `crossed` rejects the first of four systems and the last, and how often the warning is told.

    It is told of all boards, and of those on which some run has failed.
    """
    rejected, told, failed = np.zeros((3, runs))
    for at in range(runs):
        fails = rng.random((3, n)) < share
        matrix = board(*(rng.standard_normal((3, n)) + depth * (share - fails)), rng.standard_normal(n))
        rejected[at] = Crossed(over="runs").run(matrix, [(0, 3)], SETTINGS).p_value[0] <= ALPHA
        told[at], failed[at] = find_outlying_runs(matrix) is not None, fails.any()
    return [rejected.mean(), told.mean(), told[failed > 0].mean() if failed.any() else np.nan]


def main(runs=2000):
    """Print both tables."""
    rng = np.random.default_rng(1)
    print("| runs | deviation of the first | `permutation` | `crossed(over=runs)` | told |\n|" + " --- |" * 5)
    for n, m in NUMBERS:
        for deviation in DEVIATIONS:
            shares = " | ".join(f"{100 * of:.1f}" for of in uneven(rng, n, m, deviation, runs))
            print(f"| {n}, {m} | {deviation:g} | {shares} |", flush=True)
    print("\n| runs | failing | by | `crossed(over=runs)` | told | told where a run failed |\n|" + " --- |" * 6)
    for n in (3, 5, 10, 20, 50):
        for share, depth in FAILING:
            shares = " | ".join(f"{100 * of:.1f}" for of in failing(rng, n, share, depth, runs))
            print(f"| {n} | {100 * share:g} % | {depth:g} | {shares} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
