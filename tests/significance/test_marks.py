"""Units that two systems both have marked, and those that only one of them has."""

import numpy as np

from registry.significance import marks as marked
from registry.significance.marks import apart, in_both


def test_marks_of_two_systems_do_not_depend_on_how_many_are_multiplied_at_once(monkeypatch):
    marks = np.random.default_rng(1).random((50, 6)) < 0.4
    expected = [[int((a & b).sum()) for b in marks.T] for a in marks.T]
    assert in_both(marks).tolist() == expected
    monkeypatch.setattr(marked, "_AT_ONCE", 13)
    assert in_both(marks).tolist() == expected
    a, b = np.array([0, 3]), np.array([2, 1])
    of_pair = [[int((marks[:, m] & ~marks[:, n]).sum()) for m, n in ((x, y), (y, x))] for x, y in ((0, 2), (3, 1))]
    assert np.transpose(apart(in_both(marks), a, b)).tolist() == of_pair
