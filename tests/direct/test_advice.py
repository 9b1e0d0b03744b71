"""Advice in errors speaks of Python values, not of files."""

import random

import pytest

import registry
from registry.errors import InputError


def test_shifted_lists_lead_to_an_index():
    """The 51st text of 80 is missing, and the last one is made up: about 30 texts are one place too early."""
    rng = random.Random(1)
    words = [f"w{number}" for number in range(300)]
    gold = [" ".join(rng.sample(words, 9)) for _ in range(80)]
    outputs = [" ".join(word if rng.random() < 0.7 else rng.choice(words) for word in text.split()) for text in gold]
    with pytest.raises(InputError, match="shifted from about line 51") as raised:
        registry.evaluate(gold, {"x": [*outputs[:50], *outputs[51:], "w1 w2"]}, metric="chrF")
    assert str(raised.value).endswith("pass dicts or Series with an index")
