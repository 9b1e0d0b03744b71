"""The doubts about a winner's interval: few units, and few that it gets wrong."""

from types import SimpleNamespace

import numpy as np
import pytest

from registry.studies.new_best import make_winner_rows
from tests.significance.matrices import of_labels


@pytest.mark.parametrize(("wrong", "told"), [(0.05, True), (0.3, False), (0.95, False)])
def test_of_a_system_that_hardly_ever_errs_the_interval_is_doubted(wrong, told):
    """Of 10 equal systems that err in 5 % of 200 items it holds in 88.7 %, in 95 % of the items in 99.7 %."""
    right = np.arange(200)[:, None] >= np.array([wrong, wrong + 0.01]) * 200
    board = SimpleNamespace(matrix=of_labels(right), members=[SimpleNamespace(system=n, name=n) for n in "ab"])
    (row,), doubts = make_winner_rows(board, 0.05)
    assert (row["system"], row["score"]) == ("a", pytest.approx(1 - wrong))
    assert [warning.code for warning in doubts] == ["winner-skewed"] * told
