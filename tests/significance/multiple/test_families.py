"""The sequentially rejective graph and gatekeeping, against published examples and the closed test by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.significance.multiple import adjust, adjust_boards
from tests.significance.multiple.sequential_graph import sequentially_rejective


def gatekeeping_graph(pairs, metrics):
    """Weights and transitions of pairs x metrics, pair by pair: down each pair's metrics, then to all other pairs."""
    weights, transitions = np.zeros(pairs * metrics), np.zeros((pairs * metrics,) * 2)
    weights[::metrics] = 1 / pairs
    for pair in range(pairs):
        for at in range(pair * metrics, (pair + 1) * metrics - 1):
            transitions[at, at + 1] = 1
        for other in set(range(pairs)) - {pair}:
            transitions[(pair + 1) * metrics - 1, other * metrics] = 1 / (pairs - 1)
    return weights, transitions


def of_intersection(weights, transitions, kept):
    """The weights of an intersection hypothesis: the others taken out one by one, in scalar arithmetic."""
    left = set(range(len(weights)))
    w, g = dict(enumerate(weights)), {(i, j): transitions[i][j] for i, j in itertools.permutations(left, 2)}
    for gone in set(w) - set(kept):
        left.remove(gone)
        new = {}
        for i, j in itertools.permutations(left, 2):
            back = g[i, gone] * g[gone, i]
            new[i, j] = (g[i, j] + g[i, gone] * g[gone, j]) / (1 - back) if back < 1 else 0
        w = {i: w[i] + w[gone] * g[gone, i] for i in left}
        g = new
    return w


def closed(p, weights, transitions):
    """Adjusted p-values of the closed test: the largest of all weighted Bonferroni tests that concern a hypothesis."""
    adjusted = [0.0] * len(p)
    for size in range(1, len(p) + 1):
        for kept in itertools.combinations(range(len(p)), size):
            w = of_intersection(weights, transitions, kept)
            local = min([1.0, *(p[i] / w[i] for i in kept if w[i] > 0)])
            adjusted = [max(old, local) if i in kept else old for i, old in enumerate(adjusted)]
    return adjusted


def test_two_doses_by_a_primary_and_a_secondary_endpoint():
    """The graph of Bretz et al. (2011), figure 1, with the p-values and results of graphicalMCP's documentation.

    By hand: H2 at 0.010 / (1/2) = 0.02, then H4 with its weight 1/2 at 0.012, then all weight is at H1 (0.018), and
    last at H3 (0.105); none is below the one before.
    """
    weights, transitions = np.array([1, 1, 0, 0]) / 2, np.array(
        [[0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0]], dtype=float)
    p = np.array([0.018, 0.010, 0.105, 0.006])
    published = [0.020, 0.020, 0.105, 0.020]
    np.testing.assert_allclose(sequentially_rejective(p, weights, transitions), published, rtol=1e-12)
    boards = adjust_boards([p[:2], p[2:]], [np.arange(2)] * 2, "gatekeeping")
    np.testing.assert_allclose(np.concatenate(boards), published, rtol=1e-12)


def test_three_hypotheses_and_their_secondary_ones():
    """The graph of Bretz et al. (2009), figure 8: three pairs by efficacy, then by safety, by hand at alpha = 0.025.

    E1 (0.004 <= 1/3), S1 (0.005 <= 1/3), whose share goes to E2 and E3; E3 (0.011 <= 1/2), but not S3 (0.02 > 1/2),
    nor E2 (0.013 > 1/2).
    """
    weights, transitions = gatekeeping_graph(3, 2)
    p = np.array([0.004, 0.005, 0.013, 0.001, 0.011, 0.02])  # E1, S1, E2, S2, E3, S3
    adjusted = sequentially_rejective(p, weights, transitions)
    np.testing.assert_allclose(adjusted, [0.012, 0.015, 0.026, 0.026, 0.022, 0.026], rtol=1e-12)
    assert (adjusted <= 0.025).tolist() == [True, True, False, False, True, False]


simple = st.integers(0, 12).map(lambda n: n / 60)  # ties are frequent


@given(st.data(), st.integers(2, 4))
@settings(max_examples=50)
def test_a_graph_is_the_closed_test_by_weighted_bonferroni_tests(data, n):
    shares = st.lists(st.integers(0, 3), min_size=n + 1, max_size=n + 1)

    def rows():
        drawn = np.array(data.draw(shares), dtype=float)
        return drawn[:n] / max(1, drawn.sum())

    weights, transitions = rows(), np.array([rows() for _ in range(n)])
    np.fill_diagonal(transitions, 0)
    p = np.array(data.draw(st.lists(simple, min_size=n, max_size=n)))
    expected = closed(p.tolist(), weights.tolist(), transitions.tolist())
    np.testing.assert_allclose(sequentially_rejective(p, weights, transitions), expected, atol=1e-12)
    np.testing.assert_array_equal(
        sequentially_rejective(np.array([[p], [p[::-1]]]), weights, transitions)[0, 0],
        sequentially_rejective(p, weights, transitions))


@pytest.mark.parametrize(("pairs", "metrics"), [(3, 2), (2, 3)])
@given(data=st.data())
@settings(max_examples=30)
def test_gatekeeping_is_the_closed_test_of_its_graph(data, pairs, metrics):
    n = pairs * metrics
    p = np.array(data.draw(st.lists(simple, min_size=n, max_size=n))).reshape(pairs, metrics)
    graph = gatekeeping_graph(pairs, metrics)
    expected = np.reshape(closed(p.ravel().tolist(), *(of.tolist() for of in graph)), p.shape)
    np.testing.assert_allclose(sequentially_rejective(p.ravel(), *graph).reshape(p.shape), expected, atol=1e-12)
    found = adjust_boards(list(p.T), [np.arange(pairs)] * metrics, "gatekeeping")
    np.testing.assert_allclose(np.transpose(found), expected, atol=1e-12)


@given(st.lists(simple, min_size=1, max_size=6))
@settings(max_examples=25)
def test_gatekeeping_of_one_metric_is_holms_correction(p):
    (found,) = adjust_boards([np.array(p)], [np.arange(len(p))], "gatekeeping")
    np.testing.assert_allclose(found, adjust(np.array(p), "holm"))


def test_boards_of_other_items_are_chains_of_their_own():
    """Two test sets, one with a second metric: three chains, of which one has two hypotheses.

    0.002 and 0.003 times 3; the chain of 0.02 is one of two that are left, and that of 0.03, by then alone.
    """
    p = [np.array([0.002, 0.02]), np.array([0.03]), np.array([0.003, np.nan])]
    found = adjust_boards(p, [np.array([0, 1]), np.array([2]), np.array([0, 1])], "gatekeeping")
    np.testing.assert_allclose(np.concatenate(found), [0.006, 0.04, 0.06, 0.009, np.nan])


def test_other_corrections_take_all_pairs_as_one_family():
    p = [np.array([0.01, 0.04]), np.array([0.03, 0.02])]
    found = adjust_boards(p, [np.arange(2)] * 2, "holm")
    np.testing.assert_allclose(np.concatenate(found), [0.04, 0.06, 0.06, 0.06])
