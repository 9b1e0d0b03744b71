"""`evaluate` takes the name that the user gives a system for the candidate of one-sided tests."""

import pytest

from registry import evaluate
from registry.errors import UnknownNameError


def test_evaluate_takes_a_candidate_by_the_users_name():
    gold = ["yes", "no"] * 8
    systems = {"my/best@1": gold, "bad": ["yes"] * 16, "worst": ["no"] * 15 + ["yes"]}
    board = evaluate(gold, systems, metric="accuracy", alternative="greater", candidate="my/best@1")
    assert board.pairs["my/best@1", "bad"].p_value == 2**-8
    with pytest.raises(UnknownNameError, match="bset"):
        evaluate(gold, systems, metric="accuracy", alternative="greater", candidate="bset")
