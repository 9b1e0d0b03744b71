"""The 2x2 tables of all pairs: counted pair by pair here, and one that is published."""

import numpy as np
import pytest

from registry.significance.effects import count_contingencies


def packed(right):
    """Bits in words of 64, [systems, words]."""
    return np.packbits(np.pad(right, ((0, 0), (0, -right.shape[1] % 64))), axis=1).view(np.uint64)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_all_pairs_are_counted_as_one_by_one(n):
    right = np.random.default_rng(n).random((7, n)) < np.linspace(0, 1, 7)[:, None]  # the first never, the last always
    found = count_contingencies(packed(right), n)
    for a in range(7):
        for b in range(7):
            expected = [int((right[a] == in_a)[right[b] == in_b].sum()) for in_a in (1, 0) for in_b in (1, 0)]
            counts = (found.both_correct, found.only_a_correct, found.only_b_correct, found.both_incorrect)
            assert [count[a, b] for count in counts] == expected
    inner = right[1:-1]
    varied = inner.std(axis=1) > 0
    np.testing.assert_allclose(found.correlation[1:-1, 1:-1][np.ix_(varied, varied)],
                               np.corrcoef(inner[varied]).reshape(varied.sum(), varied.sum()), atol=1e-12)
    assert np.isnan(found.correlation[0]).all()
    assert np.isnan(found.correlation[-1]).all()


def test_yeh_s_two_methods():
    """Of 103 relations 19 are found by both, 28 by I only, 6 by II only; r12 = 0.34518 (Yeh 2000, section 3.3)."""
    right = np.zeros((2, 103), dtype=bool)
    right[0, :47] = right[1, :19] = right[1, 47:53] = True
    found = count_contingencies(packed(right), 103)
    counts = (found.both_correct, found.only_a_correct, found.only_b_correct, found.both_incorrect)
    assert [count[0, 1] for count in counts] == [19, 28, 6, 50]
    assert found.correlation[0, 1] == pytest.approx(0.34518, abs=5e-6)


def test_no_answers_and_no_systems():
    assert count_contingencies(np.zeros((2, 0), dtype=np.uint64), 0).both_incorrect.tolist() == [[0, 0], [0, 0]]
    assert count_contingencies(np.zeros((0, 0), dtype=np.uint64), 5).both_correct.shape == (0, 0)
