"""The inner loops of resampling against brute force, and compiled ones against those in numpy."""

import itertools
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from registry.parallel.execution import Execution
from registry.significance import Bootstrap, Settings
from registry.significance.resampling import draws, loops, screening
from tests.needs import need
from tests.significance.matrices import matrix

BOTH = ["plain", "compiled"]


def of(kind):
    if kind == "plain":
        return loops.PLAIN
    need("numba", there=find_spec("numba"))
    return loops.loops(loops.ENOUGH)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("size", [1, 31, 1000, 70_001])
def test_counts_are_looked_up(kind, size):
    table, bits = np.arange(2**16, dtype=np.uint16)[::-1].copy(), np.random.default_rng(size).integers(0, 2**16, size)
    bits[::7] = 0  # where the table says that it is unclear
    found, unclear = of(kind).look_up(table, bits.astype(np.uint16))
    assert found.tolist() == [2**16 - 1 - n for n in bits.tolist()]
    assert unclear.tolist() == [place for place, n in enumerate(bits.tolist()) if n == 0]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("units", [1, 300, 2**15 + 5, 80_000])
def test_counts_are_summed_and_completed(kind, units):
    rng = np.random.default_rng(units)
    counts, many = rng.integers(0, 3, (5, units), dtype=np.uint8), np.array([0, 3, 1, 0, 40])
    drawn = rng.integers(0, units, many.sum(), dtype=np.uint32)
    expected = counts.tolist()
    assert of(kind).sums(counts).tolist() == [sum(row) for row in expected]
    for draw, unit in zip(np.repeat(range(5), many).tolist(), drawn.tolist(), strict=True):
        expected[draw][unit] += 1
    of(kind).add_ones(counts, many, drawn)
    assert counts.tolist() == expected


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("size", [1, 7, 64, 1001, 2**17 + 3])
def test_distances_and_what_is_between_two_bounds(kind, size):
    rng = np.random.default_rng(size)
    a, b = rng.integers(-(2**14), 2**14, (2, size), dtype=np.int16)
    values, places = np.empty(size, np.int16), np.empty(size, np.int32)
    for absolute in (False, True):
        expected = a.astype(int) - b
        expected = np.abs(expected) if absolute else expected
        assert of(kind).distances(a, b, absolute, values) == expected.max()
        assert values.tolist() == expected.tolist()
        windows = ((-(2**15), 2**15 - 1), (-300, 500), (expected[0], expected[0]), (2**15 - 1, 2**15 - 1), (400, 999))
        for first, second in itertools.product(windows, repeat=2):
            *above, n = of(kind).between(values, first, second, places)
            assert above == [np.count_nonzero(expected > high) for _, high in (first, second)]
            within = [(low <= expected) & (expected <= high) for low, high in (first, second)]
            assert places[:n].tolist() == np.flatnonzero(within[0] | within[1]).tolist()


@pytest.mark.parametrize("kind", BOTH)
def test_values_are_counted_in_bins(kind):
    values = np.array([-70, -64, -1, 0, 3, 3, 9, 64, 191], np.int16)
    assert of(kind).above(values, 0, 191, 0)[:-11:-1].tolist() == [9, 5, 5, 5, 3, 3, 3, 3, 3, 3]
    assert of(kind).above(values, -64, 255, 6).tolist() == [0, 1, 2, 6, 9], "what is less is in the first bin"
    assert [of(kind).reaching(values, bar) for bar in (-71, 3, 4, 192)] == [9, 5, 3, 0]


def test_a_bootstrap_is_the_same_with_compiled_loops(monkeypatch):
    rng = np.random.default_rng(1)
    m = matrix(np.stack([rng.integers(0, 9, (300, 3)), rng.integers(9, 20, (300, 3))], axis=-1))
    pairs, settings = [(0, 1), (0, 2), (1, 2)], Settings(resamples=4000, execution=Execution(workers=1))
    plain = Bootstrap().run(m, pairs, settings)
    used = []
    compiled = of("compiled")
    assert compiled is not loops.PLAIN
    monkeypatch.setattr(draws, "loops", lambda elements: used.append(elements) or compiled)
    monkeypatch.setattr(screening, "loops", lambda elements: used.append(elements) or compiled)
    assert repr(list(Bootstrap().run(m, pairs, settings))) == repr(list(plain))
    assert used == [300 * 4000] * 8 + [3 * 4000]


def test_without_numba_the_plain_loops_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    loops._best.cache_clear()
    assert loops.loops(loops.ENOUGH) is loops.PLAIN
    loops._best.cache_clear()


def test_little_work_does_not_import_numba(monkeypatch):
    monkeypatch.setattr(loops, "_best", None)
    assert loops.loops(loops.ENOUGH - 1) is loops.PLAIN
