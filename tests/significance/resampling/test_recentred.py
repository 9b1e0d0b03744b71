"""Counts and quantiles of recentred differences, against sorting all of them."""

import itertools
import math
import os
from dataclasses import replace

import numpy as np
import pytest

from registry.errors import RegistryError
from registry.significance import Execution
from registry.significance.base import Observed
from registry.significance.resampling import screening
from registry.significance.resampling.exceedances import tolerance
from tests.significance.matrices import matrix

RESAMPLES = 3000


def scores(kind):
    """Three systems' scores in the resamples."""
    rng = np.random.default_rng(5)
    drawn = rng.normal((0.5, 0.4, 0.3), 0.1, (RESAMPLES, 3))
    match kind:
        case "tied":
            drawn = np.round(drawn, 1)
        case "sorted":  # the first part tells nothing of the others
            drawn = np.sort(drawn, axis=0) * (1, -1, 2)
        case "undefined":
            drawn[rng.random(drawn.shape) < 0.02] = math.nan
        case "constant":
            drawn[:] = drawn[0]
        case "far":  # one system that would make steps too coarse for the others
            drawn[:, 2] = rng.normal(0, 1e5, RESAMPLES)
        case "copies":  # much nearer to each other than either is to what it was
            drawn[:, 1:] = drawn[:, :1] - (0.1, 0.2) + rng.normal(0, 1e-4, (RESAMPLES, 2))
        case "close":  # nearer to each other than float32 tells
            drawn = 0.3 + rng.integers(0, 400, drawn.shape) * 2.0**-27
        case "tiny":  # below what float32 tells apart
            drawn *= 1e-44
        case "infinite":
            drawn[7, 1] = math.inf
    return np.ascontiguousarray(drawn.T)


def look(pairs, drawn, alternative, rank, **execution):
    return screening.screen_recentred(pairs, drawn, np.empty(drawn.shape, np.int16), alternative, rank,
                                      Execution(**execution))


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1, 2, 150, 1500, RESAMPLES])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("kind", ["continuous", "tied", "sorted", "undefined", "constant", "far", "copies", "close",
                                   "tiny", "infinite"])
@pytest.mark.parametrize("lower_is_better", [False, True])
def test_agrees_with_a_sort(kind, lower_is_better, alternative, rank, monkeypatch):
    m = matrix([[[5, 10], [4, 10], [3, 10]]] * 2)
    scale = 1e-44 if kind == "tiny" else 1
    m = replace(m, lower_is_better=lower_is_better, score=lambda sums: scale * sums[..., 0] / sums[..., 1])
    drawn = scores(kind)
    pairs = Observed.compare(m, list(itertools.permutations(range(3), 2)))
    for sample in (10, 1000, RESAMPLES):
        monkeypatch.setattr(screening, "_SAMPLE", sample)
        for o, found in zip(pairs, look(pairs, drawn, alternative, rank), strict=True):
            moved = m.difference(drawn[o.pair[0]], drawn[o.pair[1]]) - o.difference
            turn = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
            reached = np.sort(np.where(np.isnan(moved), math.inf, turn(moved)))
            assert found.extremes == sum(reached >= turn(o.difference) - tolerance(o))
            assert found.undefined == np.isnan(moved).sum()
            assert found.moves == (np.nanmax(np.abs(moved)) > tolerance(o))
            assert found.reach == (reached[-rank] if rank else math.inf)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_few_resamples(alternative):
    """Also a single one, whose value has the rank 1."""
    m = matrix([[[5, 10], [4, 10], [3, 10]]] * 2)
    pairs = Observed.compare(m, list(itertools.permutations(range(3), 2)))
    turn = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    for resamples in range(1, 6):
        drawn = np.ascontiguousarray(scores("continuous")[:, :resamples])
        for rank in range(1, resamples + 1):
            for o, found in zip(pairs, look(pairs, drawn, alternative, rank), strict=True):
                reached = sorted(turn(drawn[o.pair[0]] - drawn[o.pair[1]] - o.difference))
                assert found.extremes == sum(r >= turn(o.difference) - tolerance(o) for r in reached)
                assert found.reach == reached[-rank]


@pytest.mark.parametrize("kind", ["continuous", "copies"])
def test_sorts_only_what_steps_do_not_tell(kind, monkeypatch):
    m = matrix([[[5, 10], [4, 10], [3, 10]]] * 2)
    drawn = scores(kind)
    pairs = Observed.compare(m, [(0, 1), (0, 2)])
    monkeypatch.setattr(screening, "_sort_pair", None)
    assert len(look(pairs, drawn, "two-sided", 150)) == 2


def test_small_work_and_programs_that_do_not_allow_it_start_no_process(monkeypatch):
    m = matrix([[[5, 10], [4, 10], [3, 10]]] * 2)
    pairs, drawn = Observed.compare(m, [(0, 1), (0, 2)]), scores("continuous")
    monkeypatch.setattr(screening, "worker_processes", None)
    monkeypatch.setattr(screening, "_AT_ONCE", RESAMPLES)
    assert len(look(pairs, drawn, "two-sided", 150, workers=2, processes=True)) == 2
    monkeypatch.setattr(screening, "ENOUGH", 0)
    assert len(look(pairs, drawn, "two-sided", 150, workers=2)) == 2
    assert len(look(pairs, drawn, "two-sided", 150, workers=2, processes=True, memory=1)) == 2


def test_a_process_that_is_ended_from_outside_is_told(monkeypatch):
    m = matrix([[[5, 10], [4, 10], [3, 10]]] * 2)
    pairs, drawn = Observed.compare(m, [(0, 1), (0, 2)]), scores("continuous")
    monkeypatch.setattr(screening, "_AT_ONCE", RESAMPLES)
    monkeypatch.setattr(screening, "ENOUGH", 0)
    monkeypatch.setattr(screening, "_work", end)
    with pytest.raises(RegistryError, match="ended a worker process"):
        look(pairs, drawn, "two-sided", 150, workers=2, processes=True)


def end(*_):
    os._exit(1)
