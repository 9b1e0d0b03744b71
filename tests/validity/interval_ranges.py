"""How often 95 % intervals by the metric's range hold, next to Student's intervals of the same standard errors.

    python -m tests.validity.interval_ranges [RUNS]

Prints the coverage in percent of intervals of scores and of differences, the share of test sets of which the program
warns, and the share of Student's intervals that leave the range.
"""

import sys

import numpy as np
from scipy import stats

from registry.metrics import MCC, Kappa, LabelF
from registry.significance.intervals import ClosedForm, group_by_item, influences, standard_errors
from tests.validity.populations import documents, spans, translations
from tests.validity.range_populations import (
    POSITIVES,
    absolute_errors,
    kappas,
    labels,
    rare_label,
    scores_near_one,
    words,
)

BATCH = 50
POPULATIONS = (
    labels(50, [1] * 3, (0.8, 0.75)), labels(200, [1] * 5, (0.97, 0.96)), labels(100, [1] * 5, (0.95, 0.93)),
    labels(200, [1] * 4, (0.99, 0.98)), labels(50, [1] * 4, (0.99, 0.98)),
    *(labels(n, POSITIVES, (0.97, 0.96), MCC()) for n in (200, 1000)), kappas(50), kappas(200, (0.98, 0.96)),
    *(rare_label(200, n) for n in (6, 10, 20, 40)), *(rare_label(400, n, cluster_size=10) for n in (20, 40, 80)),
    *(labels(200, [1] * 3, accuracies, metric, cluster_size=10) for metric in (LabelF(), MCC(), Kappa())
      for accuracies in ((0.95, 0.93), (0.8, 0.75))),
    *(words(n) for n in (20, 50, 200)), words(50, (0.02, 0.02)),
    *(words(n, (0.05, 0.04), lost=0.03) for n in (30, 100, 300)),
    *(translations(n, (0.72, 0.68)) for n in (20, 120)), translations(5, (0.78, 0.75)), spans(40, (0.65, 0.55)),
    *(absolute_errors(n) for n in (20, 50, 200)), *(scores_near_one(n, 0.5) for n in (20, 50, 100)),
    *(scores_near_one(n, 0.2) for n in (30, 50, 100, 200)),
    documents(20, (0.9, 0.88)), documents(50, (0.9, 0.88)), documents(200, (0.98, 0.97)))


def measure(population, runs):
    """Return [runs, 6]: score and difference by Student, both by range, warned, outside by Student.

    Differences without an interval, as no unit differs, are nan.
    """
    outcomes = []
    score, other = population.truth[:2]
    for at in range(0, runs, BATCH):
        sample = population.sample(np.random.default_rng([52, at]), BATCH)
        matrix, first = group_by_item(sample.matrix), np.arange(0, BATCH * sample.systems, sample.systems)
        closed, moved = ClosedForm(matrix), influences(matrix)
        quantile = stats.t.ppf(0.975, len(moved) - 1)
        reach = quantile * standard_errors(moved[:, first])
        observed = matrix.observed
        student = np.abs(observed[first] - score) <= reach
        difference = np.abs(observed[first] - observed[first + 1] - score + other) <= quantile * standard_errors(
            moved[:, first] - moved[:, first + 1])
        constant = np.isnan(closed.differences(first, first + 1).low)
        covers = [(low <= truth) & (truth <= high) for truth, (low, high) in (
            (score, (end[first] for end in closed.scores())),
            (matrix.difference(score, other), closed.differences(first, first + 1)))]
        low, high = matrix.score_range
        outside = (observed[first] - reach < low) | (observed[first] + reach > high)
        warned = [bool(alone.count_skewed() or alone.count_even_units()) for alone in (
            ClosedForm(matrix.select_systems([n])) for n in first.tolist())]
        outcome = np.stack([student, difference, *covers, warned, outside], axis=1).astype(float)
        outcome[np.ix_(constant, (1, 3))] = np.nan
        outcomes.append(outcome)
    return np.concatenate(outcomes)[:runs]


def main(runs=2000):
    """Print the table."""
    print("| | score: Student | score: by range | warned | warned, of misses | outside of the range: Student | "
          "difference: Student | difference: by range |\n|" + " --- |" * 8)
    for population in POPULATIONS:
        found = measure(population, runs)
        missed = found[~found[:, 2].astype(bool)]
        shares = (found[:, 0].mean(), found[:, 2].mean(), found[:, 4].mean(), missed[:, 4].mean() if len(missed) else 1,
                  found[:, 5].mean(), np.nanmean(found[:, 1]), np.nanmean(found[:, 3]))
        cells = [f"{100 * share:.1f}" for share in shares]
        print(f"| {population.name}, {population.truth[0]:.2f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
