"""Foreseen times are those of the work, not of what a program does only once."""

import time
from typing import ClassVar

import numpy as np
import pytest

from registry.significance import Settings, StatisticMatrix
from registry.significance.foresight import Family, foresee
from registry.significance.pairwise.base import PairTest
from registry.significance.results import Tails


class SlowAtFirst(PairTest):
    """A test whose first run takes long, as one that imports something; all of its pairs are long work, or none."""

    name: ClassVar[str] = "slow-at-first"
    null: ClassVar[str] = "-"
    assumes: ClassVar[str] = "-"
    citation: ClassVar[str] = "-"
    steps: float = 0.0

    def work(self, observed, settings):
        return self.steps

    def tails(self, pairs, settings):
        if not ran:
            ran.append(self)
            until = time.process_time() + 0.2
            while time.process_time() < until:
                pass
        return Tails.made(np.zeros(len(pairs)), "exact")


ran = []


@pytest.mark.parametrize("steps", [0.0, 1e9])
def test_what_is_done_once_is_not_foreseen_for_every_pair(steps):
    ran.clear()
    statistics = np.random.default_rng(1).integers(0, 2, size=(30, 6, 1)).astype(float)
    matrix = StatisticMatrix(statistics, lambda sums: sums[..., 0])
    assert foresee(SlowAtFirst(steps=steps), matrix, Settings(), Family(6, 15)).each < 0.02


@pytest.mark.parametrize(("family", "tried"), [(Family(6, 15), 4), (Family(1000, 499_500), 4 + 4 + 50 * 4)])
def test_short_work_is_not_timed_at_more_length_than_it_takes(monkeypatch, family, tried):
    """Four pairs show how all come about; of very many pairs they are timed again, and fifty times over."""
    tested = []
    monkeypatch.setattr(SlowAtFirst, "tails", lambda self, pairs, settings: tested.append(len(pairs)) or Tails.made(
        np.zeros(len(pairs)), "exact"))
    statistics = np.random.default_rng(1).integers(0, 2, size=(30, 6, 1)).astype(float)
    found = foresee(SlowAtFirst(), StatisticMatrix(statistics, lambda sums: sums[..., 0]), Settings(), family)
    assert (sum(tested), found.methods) == (tried, {"exact": 4})
