"""Which systems can be compared by votes: components and weak links of the graph of wins.

An edge leads from the winner of a vote to the loser; a tie counts as half a win of either system. Strengths can be
estimated if each system is connected with each other one by wins in both directions (Ford 1957). If only few wins lead
from some systems to the others, their difference depends on these few wins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from registry.arrays import Flags, Floats, Ints

LEAST_WINS = 5


@dataclass(frozen=True, eq=False)
class Components:
    """Systems that can be compared with each other.

    Attributes:
        members: Component of each system, [systems]. Components are numbered from 0 so that no component has a win over
            an earlier one.
        above: Whether the systems of the first component are better than those of the second one: there are wins, also
            through other components, and no losses or ties, [components, components]. Such an order has no error
            probability.
    """

    members: Ints
    above: Flags

    @property
    def largest(self) -> Ints:
        """Systems of the component with the most systems; the first one of equally large components."""
        return np.flatnonzero(self.members == np.bincount(self.members).argmax())


def count_wins(a: Ints, b: Ints, outcomes: Floats, n_systems: int) -> sparse.csr_array:
    """Count the wins of each system over each other one, ties as half wins; sparse, [systems, systems].

    Args:
        a: First system of each vote, [votes].
        b: Second system of each vote, [votes].
        outcomes: 1 if the first system wins, 0 if the second one wins, 0.5 for a tie, [votes].
        n_systems: Number of systems.
    """
    differs = a != b
    a, b, outcomes = a[differs], b[differs], outcomes[differs]
    values, rows, columns = np.concatenate([outcomes, 1 - outcomes]), np.concatenate([a, b]), np.concatenate([b, a])
    wins = sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(n_systems, n_systems)))
    wins.eliminate_zeros()
    return wins


def find_components(wins: sparse.csr_array) -> Components:
    """Find the components of systems, and the order of the components.

    Args:
        wins: Numbers of wins, [systems, systems].
    """
    n, labels = sparse.csgraph.connected_components(wins, connection="strong")
    rows, columns = labels[wins.nonzero()[0]], labels[wins.nonzero()[1]]
    reached = np.isfinite(sparse.csgraph.shortest_path(
        sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)), unweighted=True))
    order = np.argsort(-reached.sum(axis=1), kind="stable")  # a component reaches more than those that it reaches
    position = np.argsort(order)
    above = reached[np.ix_(order, order)] & ~np.eye(n, dtype=bool)
    return Components(position[labels].astype(np.int64), above)


def find_firm_groups(wins: sparse.csr_array, least: float = LEAST_WINS) -> Ints:
    """Divide systems into groups that are firmly connected.

    Two systems are in one group if there is no division of all systems, with the two systems on different sides, such
    that fewer than `least` wins lead from one side to the other. This is a maximum flow of at least `least` in both
    directions.

    Args:
        wins: Numbers of wins, [systems, systems].
        least: Smallest sufficient number of wins.

    Returns:
        Number of the group of each system, from 0, [systems].
    """
    labels: Ints = np.arange(wins.shape[0])
    while True:  # systems that are connected by firm edges are merged, which leaves few systems for flows
        n, merged = sparse.csgraph.connected_components(
            sparse.csr_array(wins.multiply(wins >= least)), connection="strong")
        if n == wins.shape[0]:
            return _group_by_flow(wins, least)[labels]
        labels = merged[labels].astype(np.int64)
        coo = wins.tocoo()
        rows, columns = merged[coo.row], merged[coo.col]
        differs = rows != columns
        wins = sparse.csr_array((coo.data[differs], (rows[differs], columns[differs])), shape=(n, n))


def _group_by_flow(wins: sparse.csr_array, least: float) -> Ints:
    n = wins.shape[0]
    capacities = sparse.csr_array((2 * wins).rint().astype(np.int32))
    is_lone = np.minimum(wins.sum(axis=0), wins.sum(axis=1)) < least
    groups, members = np.full(n, -1), list[int]()  # a member of each group, because firm connection is transitive

    def is_firm(source: int, sink: int) -> bool:
        return bool(sparse.csgraph.maximum_flow(capacities, source, sink).flow_value >= 2 * least)

    for system in range(n):
        candidates = [] if is_lone[system] else [
            group for group, other in enumerate(members) if not is_lone[other]]
        groups[system] = next((group for group in candidates if is_firm(system, members[group])
                               and is_firm(members[group], system)), len(members))
        if groups[system] == len(members):
            members.append(system)
    return groups
