"""Of how many test sets it is told that people saw too few errors of the judge, and how often tests err untold.

    python -m tests.validity.judge_error_hits [RUNS]

Two systems of which half of the answers are right, to people; the judge says yes to some of one's wrong answers.
"""

import sys

import numpy as np

from registry.significance import PredictionPowered
from registry.significance.diagnostics.evidence import SystemPairs
from registry.significance.diagnostics.judges import find_rare_errors
from tests.validity.examinations import ALPHA, CoversScore, PValues
from tests.validity.judged_rows import judged_items

BATCH = 50
YES = (0.06, 0.12, 0.3)  # to wrong answers, so half as often to all
LOOKED = ((300, 20), (300, 60), (2000, 20), (2000, 60), (2000, 200), (20_000, 60), (20_000, 200))


def shares(units, looked, yes, runs):
    """Told, significant, significant and not told, and intervals of the first score that hold; shares of test sets."""
    null, rng, found = judged_items(units, ((1.0, yes), (1.0, 0.0)), (looked, looked)), np.random.default_rng(1), []
    for _ in range(runs // BATCH):
        sample = null.sample(rng, BATCH)
        told = find_rare_errors(SystemPairs(sample.matrix, *np.array(sample.pairs()).T)).where
        wrong = PValues(PredictionPowered())(sample, rng) <= ALPHA
        found.append(np.stack([told, wrong, wrong & ~told, CoversScore(PredictionPowered())(sample, rng)], axis=1))
    return np.concatenate(found).mean(axis=0)


def main(runs=2000):
    """Print the table."""
    print("| items | looked at | errs in | told | p <= 0.05 | untold | score's interval |\n" + "| --- " * 7 + "|")
    for units, looked in LOOKED:
        for yes in YES:
            found = " | ".join(f"{100 * share:.1f} %" for share in shares(units, looked, yes, runs))
            print(f"| {units:,} | {looked} | {50 * yes:g} % | {found} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
