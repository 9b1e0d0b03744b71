"""How often intervals of Krippendorff's alpha hold.

    python -m tests.validity.agreement_hits [RUNS]

A nominal value is the item's own with the probability sqrt(alpha), else random by the shares of the labels; then the
true alpha is exact. An interval value is the sum of an item's value and an error. Of the ratings 20 % are missing.
"""

import math
import sys
from functools import partial

import numpy as np

from registry.significance import Settings
from registry.significance.agreement import estimate, make_alpha
from tests.significance.agreement import ratings

ANNOTATORS, MISSING, RESAMPLES = 3, 0.2, 1000


def draw_labels(shares, rng, items, alpha):
    """Labels of the annotators, [items, annotators]."""
    own = rng.choice(len(shares), (items, 1), p=shares)
    random = rng.choice(len(shares), (items, ANNOTATORS), p=shares)
    return np.where(rng.random(random.shape) < math.sqrt(alpha), own, random).astype(float)


def draw_numbers(rng, items, alpha):
    """Numbers of the annotators, [items, annotators]."""
    errors = rng.normal(size=(items, ANNOTATORS))
    return math.sqrt(alpha) * rng.normal(size=(items, 1)) + math.sqrt(1 - alpha) * errors


POPULATIONS = {
    "nominal, shares .5 .3 .2": ("nominal", partial(draw_labels, (0.5, 0.3, 0.2))),
    "nominal, shares .9 .1": ("nominal", partial(draw_labels, (0.9, 0.1))),
    "interval, normal": ("interval", draw_numbers)}


def hits(population, alpha, items, runs):
    """The shares of data sets with an interval, and of intervals that hold, are below, and are above the true alpha."""
    level, draw = POPULATIONS[population]
    found = []
    for run in range(runs):
        rng = np.random.default_rng([7, run])
        values = draw(rng, items, alpha)
        values[rng.random(values.shape) < MISSING] = np.nan
        data = ratings(values, level).drop_unpaired()
        (told,) = estimate([make_alpha(data)], data, Settings(resamples=RESAMPLES, seed=run))
        if not math.isnan(told.low):
            found.append((told.low <= alpha <= told.high, told.high < alpha, told.low > alpha))
    return len(found) / runs, *np.mean(found, axis=0)


if __name__ == "__main__":
    for name in POPULATIONS:
        for alpha in (0.5, 0.8):
            for items in (20, 50, 200):
                shares = hits(name, alpha, items, int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
                print(f"{name}; alpha {alpha}; {items} items:", *(f"{100 * share:.1f}" for share in shares), flush=True)
