"""Rows of eight submissions one after the other, by tests of the board: how often one is falsely called a new best.

Populations are submissions in the order of time. In `stairs` every other one is far better than all before, and the one
after it is as good, so that each new best hands its part of alpha on to a test that can go wrong.
"""

from dataclasses import dataclass

import numpy as np

from registry.significance import McNemar, PairTest, Permutation
from registry.significance.histories import find_new_bests
from tests.validity.bands import Rate
from tests.validity.examinations import ALPHA, settings
from tests.validity.populations import binary, documents
from tests.validity.row import Row

STAIRS = tuple(np.repeat((0.35, 0.5, 0.65, 0.8), 2))


@dataclass(frozen=True)
class FalseNewBest:
    """Whether any submission of a run is called a new best that is not better than all before it."""

    test: PairTest
    is_spent: bool = True

    def __str__(self):
        return f"new best by {self.test!r}{'' if self.is_spent else ', each at alpha'}"

    def __call__(self, sample, rng):
        n, truth = sample.systems, np.array(sample.population.truth)
        against = [(later, before) for later in range(1, n) for before in range(later)]
        pairs = [(run * n + later, run * n + before) for run in range(sample.runs) for later, before in against]
        found = self.test.run(sample.matrix, pairs, settings(rng, alternative="greater"))
        log_p = (found.log10_p * np.log(10)).reshape(sample.runs, -1)
        is_better = np.array([n > 0 and truth[n] > truth[:n].max() for n in range(n)])
        return np.array([(self._declared(_largest(of_run, against, n)) & ~is_better).any() for of_run in log_p])

    def _declared(self, log_p):
        if self.is_spent:
            return find_new_bests(log_p, ALPHA, len(log_p)).declared
        return (log_p <= np.log(ALPHA)) & (np.arange(len(log_p)) > 0)


def _largest(log_p, against, n):
    """Of every submission the logarithm of its largest p-value against those before it; of the first 0."""
    return np.array([0.0, *(np.max([p for p, (later, _) in zip(log_p, against, strict=True) if later == at])
                            for at in range(1, n))])


def eight_submissions():
    """Alpha that is spent over submissions holds, whatever the test's units, and nearly all of it can be needed."""
    held = (Rate(0.0, ALPHA, "a false new best"),)
    stairs = binary(300, STAIRS)
    yield Row("new-best-of-eight-equal", binary(300, (0.7,) * 8), FalseNewBest(McNemar()), held, 5_000, 50)
    yield Row("new-best-of-eight-stairs", stairs, FalseNewBest(McNemar()), held, 5_000, 300)
    yield Row("new-best-of-eight-documents", documents(100, STAIRS), FalseNewBest(Permutation()), held, 2_000, 20)
    # four tests of two equal systems, each at 5 %, less what discreteness leaves: up to 1 - 0.95^4
    yield Row("new-best-of-eight-unspent", stairs, FalseNewBest(McNemar(), is_spent=False), (
        Rate(0.1, 0.186, "a false new best"),), 5_000, 50)
