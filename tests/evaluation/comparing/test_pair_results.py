"""The order in which results are inserted."""

import numpy as np

from registry.evaluation.comparing.pair_results import order_for_storage


def test_pairs_with_equal_differences_are_neighbours_where_differences_repeat():
    difference = np.array([0.2, -0.1, 0.2, -0.1, 0.2, 0.2, np.nan])
    n_discordant = np.array([9, 4, 3, 5, 6, 7, 0])
    assert order_for_storage(difference, n_discordant).tolist() == [1, 3, 2, 4, 5, 0, 6]


def test_pairs_whose_differences_are_their_own_keep_their_order():
    assert order_for_storage(np.array([0.3, -0.1, 0.2, 0.2]), np.array([1, 2, 3, 4])).tolist() == [0, 1, 2, 3]
