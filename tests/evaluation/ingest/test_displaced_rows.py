"""Rows that are numbered: files that are shifted or in another order are told, systems that are only bad are not."""

import itertools
import random
from statistics import pvariance

import numpy as np
import pytest

from registry.columns import AnswerColumns, JoinedColumns
from registry.evaluation.ingest import remarks
from registry.items import Item
from registry.messages import Message
from registry.readers import Labels

READER = Labels(item="", columns=("label",))
RNG = random.Random(7)
GOLD = RNG.choices("abc", (6, 3, 1), k=400)
WEAK, GOOD = ([label if RNG.random() < share else RNG.choice("abc") for label in GOLD] for share in (0.3, 0.7))


def told(labels, gold=GOLD):
    items = [Item(str(n), label) for n, label in enumerate(gold)]
    answers = AnswerColumns.from_labels([item.key for item in items], labels, range(len(items)))
    return remarks.find_displaced_rows(items, JoinedColumns.match_items(answers, items), READER)


AFTER, BEFORE = (Message("shifted-rows", {"side": side, "is_recoded": False}) for side in ("after", "before"))


@pytest.mark.parametrize(("labels", "says"), [
    (WEAK, None), (["a"] * 400, None), (GOLD, None), (["", *WEAK[1:]], None), (["d", *WEAK[1:]], None),
    ([*GOOD[1:], "a"], AFTER),
    (["a", *GOOD[:-1]], BEFORE),
    (["", *GOOD[:-1]], BEFORE),
    (RNG.sample(GOLD, 400), Message("unordered-rows")),
    (["a", *GOLD[200:], *GOLD[:199]], Message("unordered-rows")),
])
def test_files_in_another_order_are_told(labels, says):
    assert told(labels) == says


CYCLE = ["a", "b", "c"] * 40


@pytest.mark.parametrize(("gold", "codes"), [(CYCLE, "bca"), (CYCLE, "cab"), (["a", "b"] * 60, "ba")])
def test_other_codes_are_not_told_as_a_shift_alone(gold, codes):
    """Labels that follow each other in a fixed order: a shift by a row and other codes give the same file."""
    names = dict(zip("abc", codes, strict=False))
    given = [names[label] for label in gold]
    for labels in (given, [label if n % 25 else "a" for n, label in enumerate(given)]):
        found = told(labels, gold)
        assert (found.code, found.parameters["is_recoded"]) == ("shifted-rows", True)
        assert str(found).endswith("; labels may be coded differently, or shifted")
        assert "as if a row" not in str(found)


def test_a_shift_of_labels_in_no_fixed_order_is_one():
    assert str(told([*GOLD[1:], "a"])).endswith("as if a row were missing at the start")
    assert str(told(["a", *GOLD[:-1]])).endswith("as if a row had been added at the start")


def test_the_error_of_chance_is_that_of_all_orders(monkeypatch):
    """By brute force, on the brink of what is told."""
    monkeypatch.setattr(remarks, "_FEW_ROWS", 2)
    gold, given = np.array([0.0, 0, 1, 1, 2, -1]), [0.0, 1, 1, 2, 2, 0]
    matches = [sum(int(a == b) for a, b in zip(gold, order, strict=True)) for order in itertools.permutations(given)]
    error = pvariance(matches) ** 0.5
    mean = sum(matches) / len(matches)
    for order in itertools.islice(itertools.permutations(given), 0, 720, 7):
        z = (sum(a == b for a, b in zip(gold, order, strict=True)) - mean) / error
        for brink in (z + 1e-9, z - 1e-9):
            monkeypatch.setattr(remarks, "_CHANCE", brink)
            assert remarks._is_chance(gold, np.array(order)) == (z < brink)
