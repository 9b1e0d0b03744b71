"""Advice in errors names arguments of Python, and following it helps."""

import random

import pytest

import registry
from registry.direct.advice import name_arguments
from registry.errors import InputError


@pytest.mark.parametrize(("message", "advice"), [
    ('use --test permutation, or set runs = "fixed"', "use test='permutation', or runs='fixed'"),
    ('use --test "bootstrap(variant=studentized)".', "use test='bootstrap(variant=studentized)'."),
    ("use `registry compare --test permutation`", "use test='permutation'"),
    ("run `registry pairs --format json`", "run `registry pairs --format json`"),
    ('set unit = "cluster" (--unit cluster) to test', "unit='cluster' to test"),
    ('or set missing = "worst" in the manifest', "or missing='worst'"),
    ("set --resamples to 500 or more", "set resamples= to 500 or more"),
    ("add --option 'rename={ x = \"y\" }' or --in-order", "add options={'rename': {'x': 'y'}} or in_order=True"),
    ("--gold FILE names another file", "gold=FILE names another file")])
def test_settings_become_arguments(message, advice):
    assert name_arguments(message) == advice


def test_shifted_lists_are_accepted_by_the_option_of_the_advice():
    """The 51st text of 80 is missing, and the last one is made up: about 30 texts are one place too early."""
    rng = random.Random(1)
    words = [f"w{number}" for number in range(300)]
    gold = [" ".join(rng.sample(words, 9)) for _ in range(80)]
    outputs = [" ".join(word if rng.random() < 0.7 else rng.choice(words) for word in text.split()) for text in gold]
    with pytest.raises(InputError, match="shifted from about line 51") as raised:
        registry.evaluate(gold, {"x": [*outputs[:50], *outputs[51:], "w1 w2"]}, metric="chrF")
    assert str(raised.value).endswith("correct the order, or add options={'check_order': False}")
    shifted = {"x": [*outputs[:50], *outputs[51:], "w1 w2"]}
    assert registry.evaluate(gold, shifted, metric="chrF", options={"check_order": False}).scores["x"] > 0


def test_boards_and_their_messages_name_arguments():
    gold = ["x", "y"] * 30
    board = registry.evaluate(gold, {"a": gold, "b": ["x"] * 60}, test="bootstrap", resamples=1000)
    assert "use test='permutation'" in " ".join(board.messages)
    assert "--" not in repr(board) + " ".join(board.messages)
