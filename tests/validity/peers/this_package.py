"""This package, asked as the other programs are."""

from itertools import combinations

import numpy as np

from registry.significance import Bootstrap, McNemar, Settings
from registry.significance.histories import find_new_bests
from registry.significance.multiple import adjust
from registry.significance.rank_sets import Influences, compute_rank_sets, correct_winner
from tests.validity.peers.programs import ALPHA


def ours(test, **options):
    """A pair test of this package."""
    def ask(test_set):
        return test.run(test_set.matrix, [(0, 1)], Settings(seed=test_set.seed, **options))[0].p_value

    return ask


def our_interval(test_set):
    asked = Settings(resamples=999, seed=test_set.seed, interval="bca")
    found = Bootstrap().run(test_set.matrix, [(0, 1)], asked)[0]
    return float(found.ci_low <= 0 <= found.ci_high)


def our_family(test_set):
    found = McNemar().run(test_set.matrix, list(combinations(range(len(test_set.scores)), 2)), Settings())
    return float((adjust(np.array([of.p_value for of in found]), "holm") <= ALPHA).any())


def _sets(test_set):
    return compute_rank_sets(test_set.matrix, Settings(resamples=1000, seed=test_set.seed))


def our_ranks(test_set):
    sets = _sets(test_set)
    return float(sets.marginal_low[0] <= len(test_set.scores) <= sets.marginal_high[0])


def our_best(test_set):
    return float(_sets(test_set).possible[0])


def our_winner(test_set):
    best = correct_winner(Influences.compute(test_set.matrix))
    return float(best.corrected_low <= test_set.truth[0] <= best.corrected_high)


def our_records(test_set):
    declared = find_new_bests(test_set.log_p, ALPHA, len(test_set.right)).declared
    return float((declared & ~test_set.is_better).any())
