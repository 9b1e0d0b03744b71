"""Families of several boards: corrected together, by stored p-values, and said so under every board."""


import numpy as np
import pytest

from registry.significance.multiple.corrections import adjust
from tests.evaluation.comparing.compared import pairs, raw

F1 = '[[metric]]\nid = "f1"\nname = "BalancedAccuracy"\n'


@pytest.fixture
def two(many, scored):
    """Nine systems by two metrics, of which the first is the primary one."""
    many.systems = {name: answers for name, answers in many.systems.items() if name in ("s0", "s3", "s6", "s8")}
    many.extra = F1
    scored(many)
    return many


def by_board(rows):
    """The pairs of each board by its metric, in the order of the systems' names."""
    return {metric: sorted((row for row in rows if row["metric"] == metric),
                           key=lambda row: sorted((row["submission_a"], row["submission_b"])))
            for metric in ("acc", "f1")}


def p_values(rows, key="p_value"):
    return [np.array([row[key] for row in of], dtype=float) for of in by_board(rows).values()]


def test_boards_of_a_task_are_one_family(two, registry):
    alone, before = pairs(registry), raw(registry)
    assert "each of the 2 boards of the task has one of its own" in registry("board", "--format", "table").stdout
    told = registry("compare", "--family", "task", "--metric", "f1")  # a family is compared as a whole
    assert "comparisons: 2 made; pairs: 0 tested, 12 known" in told.stderr
    assert raw(registry) == before
    found = pairs(registry)
    assert np.concatenate(p_values(found, "p_adjusted")) == pytest.approx(
        adjust(np.concatenate(p_values(alone)), "holm"), rel=1e-12)
    assert {row["family_size"] for row in found} == {12}
    assert all("|corr:holm/12/2b|" in row["signature"] for row in found)
    board = " ".join(registry("board", "--format", "table").stdout.split())
    assert board.count("The family-wise error of 0.05 holds over the 12 pairs of 2 boards (test, acc; test, f1).") == 2
    assert "nothing changed" in registry("compare", "--family", "task").stderr
    assert "all is well" in registry("verify").stderr
    assert "family was task, and is board." in " ".join(
        (registry("compare"), registry("diff", "--format", "table"))[1].stdout.split())
