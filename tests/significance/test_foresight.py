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
