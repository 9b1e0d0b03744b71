"""How often intervals in closed form hold, beside percentiles of 1,000 resamples.

    python -m tests.validity.interval_hits [RUNS]
"""

import sys

import numpy as np

from registry.significance.intervals import ClosedForm, group_by_item
from registry.significance.resampling.scores import score_resamples
from tests.validity.examinations import settings
from tests.validity.populations import binary, documents, predictions, skewed, spans, translations

BATCH = 50
POPULATIONS = (
    *(binary(n, (0.95, 0.9)) for n in (20, 100, 1000)), *(spans(n, (0.65, 0.55)) for n in (10, 40)),
    documents(20, (0.96, 0.93)), documents(40, (0.75, 0.65)), *(translations(n, (0.72, 0.68)) for n in (20, 120)),
    skewed(50, (0.2, 0.0), 0.0), predictions(20, (0.9, 0.6)))


def hits(population, runs):
    """The shares of test sets in which the first score, and the difference, lie within: closed form and percentiles."""
    found = []
    for at in range(0, runs, BATCH):
        rng = np.random.default_rng([7, at])
        sample = population.sample(rng, BATCH)
        matrix, first = group_by_item(sample.matrix), np.arange(0, BATCH * sample.systems, sample.systems)
        truths = population.truth[0], population.truth[0] - population.truth[1]
        of, drawn = ClosedForm(matrix), score_resamples(matrix, settings(rng, resamples=1000))
        closed = np.stack(of.scores())[:, first], np.stack(of.differences(first, first + 1))
        of_draws = (np.nanquantile(scores, (0.025, 0.975), axis=0) for scores in (
            drawn[:, first], drawn[:, first] - drawn[:, first + 1]))
        found.append([(low <= truth) & (truth <= high) for truth, pair in zip(truths, zip(
            closed, of_draws, strict=True), strict=True) for low, high in pair])
    return np.concatenate(found, axis=1).mean(axis=1)


if __name__ == "__main__":
    for population in POPULATIONS:
        shares = hits(population, int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
        print(population.name, population.truth, *(f"{100 * share:.1f}" for share in shares), flush=True)
