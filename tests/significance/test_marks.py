"""Units that two systems both have marked, and those that only one of them has."""

import numpy as np

from registry.significance import matrix
from registry.significance.matrix import count_shared, count_unshared


def test_marks_of_two_systems_do_not_depend_on_how_many_are_multiplied_at_once(monkeypatch):
    marks = np.random.default_rng(1).random((50, 6)) < 0.4
    expected = [[int((a & b).sum()) for b in marks.T] for a in marks.T]
    assert count_shared(marks).tolist() == expected
    monkeypatch.setattr(matrix, "_MARKS", 13)
    assert count_shared(marks).tolist() == expected
    a, b = np.array([0, 3]), np.array([2, 1])
    of_pair = [[int((marks[:, m] & ~marks[:, n]).sum()) for m, n in ((x, y), (y, x))] for x, y in ((0, 2), (3, 1))]
    assert np.transpose(count_unshared(count_shared(marks), a, b)).tolist() == of_pair
