"""Components and firm groups of systems, compared with their definitions."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from registry.significance.joint.connections import count_wins, find_components, find_firm_groups


def draw(seed):
    """Wins of a few systems, some of which have no or few votes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    wins = rng.poisson(rng.choice([0, 0.3, 2, 6], (n, n))) / 2
    np.fill_diagonal(wins, 0)
    return wins


def find_reached(wins):
    """Systems with a chain of wins from each system, itself included."""
    reached = np.eye(len(wins), dtype=bool) | (wins > 0)
    for _ in wins:
        reached = reached @ reached
    return reached


def test_wins_are_counted_with_half_ties():
    wins = count_wins(np.array([0, 0, 1, 2, 2]), np.array([1, 1, 0, 0, 2]), np.array([1, 0.5, 1, 0, 1]), 3)
    assert wins.toarray().tolist() == [[0, 1.5, 1], [1.5, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("seed", range(40))
def test_systems_of_a_component_reach_each_other(seed):
    wins = draw(seed)
    components = find_components(sparse.csr_array(wins))
    reached = find_reached(wins)
    members = components.members
    assert (members[:, None] == members).tolist() == (reached & reached.T).tolist()
    assert components.above[np.ix_(members, members)].tolist() == (reached & ~reached.T).tolist()
    assert not np.tril(components.above).any(), "later components are never above earlier ones"
    assert len(components.largest) == (reached & reached.T).sum(axis=1).max()


@pytest.mark.parametrize("seed", range(40))
def test_no_division_with_few_wins_separates_a_firm_group(seed):
    wins = draw(seed)
    n = len(wins)
    is_firm = np.ones((n, n), dtype=bool)
    for size in range(1, n):
        for side in combinations(range(n), size):
            chosen = np.isin(np.arange(n), side)
            if wins[np.ix_(chosen, ~chosen)].sum() < 5:
                is_firm[np.ix_(chosen, ~chosen)] = is_firm[np.ix_(~chosen, chosen)] = False
    groups = find_firm_groups(sparse.csr_array(wins))
    assert (groups[:, None] == groups).tolist() == is_firm.tolist()
    assert set(groups) == set(range(max(groups) + 1))
