"""The exact distribution of randomly signed sums, against convolution in whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.significance.exact import lattice, swaps
from registry.significance.exact.lattice import HalfSums, TooLargeError
from registry.significance.exact.swaps import SignTail, least_work, log_sign_tail, log_subset_share


def counted_tail(weights, threshold):
    """P(sum of ±weights >= threshold) by counting every assignment of signs, in whole numbers."""
    counts = {0: 1}
    for weight in weights:
        grown = {}
        for total, count in counts.items():
            for after in (total + weight, total - weight):
                grown[after] = grown.get(after, 0) + count
        counts = grown
    return Fraction(sum(c for total, c in counts.items() if total >= threshold), 2 ** len(weights))


@given(st.lists(st.integers(-40, 40), max_size=40), st.data())
def test_equals_the_count_of_all_signs(weights, data):
    total = sum(map(abs, weights))
    threshold = data.draw(st.integers(-total - 2, total + 2))
    exact = counted_tail(weights, threshold)
    found = log_sign_tail(np.array(weights, dtype=np.int64), threshold)
    if exact == 0:
        assert found == -math.inf
    else:
        assert abs(found - (math.log(exact.numerator) - math.log(exact.denominator))) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("n", "favour"), [(1000, 550), (1000, 999), (10_000, 5150), (10_000, 7500), (100_000, 50_250)])
def test_equals_the_binomial_tail_in_whole_numbers(n, favour):
    """All weights 1: favour or more of n coins, down to probabilities far below the smallest float."""
    count = term = 1
    for k in range(1, n - favour + 1):
        term = term * (n - k + 1) // k
        count += term
    bits = count.bit_length()  # taken out first: the logarithm of the count alone is a large number
    expected = math.log(count / 2**bits) + (bits - n) * math.log(2)
    assert log_sign_tail(np.ones(n, dtype=np.int64), 2 * favour - n) == pytest.approx(expected, rel=1e-15, abs=2e-13)


class _Ramp:
    """A region whose boundary is a slanted and bent line."""

    def threshold(self, row):
        return 30 + 0.4 * row + 0.002 * row * row

    def thresholds(self, rows):
        return np.ceil(self.threshold(rows)).astype(np.int64)


@pytest.mark.parametrize("shift", [0, 40, 90])
def test_transform_and_convolution_agree_in_two_dimensions(monkeypatch, shift):
    """Two computations that share nothing: sums of positive terms only, and a tilted transform of a window."""
    rng = np.random.default_rng(shift)
    vectors = np.stack([rng.integers(-2, 4, 220), rng.integers(-3, 5, 220)], axis=1)
    region = _Ramp()
    region.thresholds = lambda rows: _Ramp().thresholds(rows) + int(vectors[:, 0].sum() / 2) + shift
    region.threshold = lambda row: _Ramp().threshold(row) + int(vectors[:, 0].sum() / 2) + shift
    convolved = lattice.log_probability(vectors, region)
    monkeypatch.setattr(lattice, "SMALL", 0)
    assert lattice.log_probability(vectors, region) == pytest.approx(convolved, abs=1e-12)


class _Arch:
    """A region whose boundary leaves the lattice in the middle and comes back: two tails, each with its own tilt."""

    def __init__(self, top, at, bend):
        self.top, self.at, self.bend = top, at, bend

    def threshold(self, row):
        return self.top - self.bend * (row - self.at) ** 2

    def thresholds(self, rows):
        return np.ceil(self.threshold(rows)).astype(np.int64)


@pytest.mark.parametrize(("at", "bend"), [(-60, 0.0045), (20, 0.004), (75, 0.004), (160, 0.004), (37, 0.005)])
def test_both_tails_of_a_concave_boundary_are_found(monkeypatch, at, bend):
    """One may be all that counts, or either: rows at `at` have no point of the region, those on both sides have."""
    rng = np.random.default_rng(1)
    vectors = np.stack([rng.integers(-1, 3, 150), rng.integers(-6, 8, 150)], axis=1)
    low, high = np.minimum(vectors, 0).sum(axis=0), np.maximum(vectors, 0).sum(axis=0)
    region = _Arch(high[0] + 40, at, bend)
    reached = region.thresholds(np.arange(low[1], high[1] + 1)) <= high[0]
    assert reached[0]
    assert reached[-1]
    assert not reached.all()
    monkeypatch.setattr(lattice, "SMALL", 2**40)
    convolved = lattice.log_probability(vectors, region)
    monkeypatch.setattr(lattice, "SMALL", 0)
    assert lattice.log_probability(vectors, region) == pytest.approx(convolved, abs=1e-12)


@pytest.mark.parametrize("share", [0, 0.05, 0.3, 0.99])
@pytest.mark.parametrize("n", [33, 60])
def test_gains_in_five_decimals_are_counted_as_whole_numbers_count_them(n, share):
    """All signs of n weights, counted in one whole number with 64 bits for each sum: a weight is a shift and a sum."""
    weights = np.random.default_rng(n).integers(1, 10_000, n)
    total = int(weights.sum())
    ways = 1
    for weight in weights.tolist():
        ways += ways << 64 * weight
    counts = np.frombuffer(ways.to_bytes(8 * (total + 1), "little"), dtype="<u8")
    start = int((1 + share) * total / 2)
    reached = sum(counts[start:].tolist())
    found = log_sign_tail(weights, 2 * start - total)
    assert found == pytest.approx(math.log(reached) - n * math.log(2), abs=1e-12)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=24), st.floats(0, 0.99))
def test_all_ways_agree_in_one_dimension(weights, share):
    """Lists of sums, counts that are added up, and a transform share nothing but the weights."""
    reach = int((1 - share) * (sum(weights) - 1) / 2)
    ways = [way(np.array(weights), reach) for way in (swaps._by_lists, log_subset_share)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "SMALL", 0)
        ways.append(swaps._by_transform(np.array(weights), reach))
    assert ways == pytest.approx([ways[0]] * 3, abs=1e-12)


@pytest.mark.parametrize(("n", "largest", "way"), [
    (500, 1, "log_tail"), (24, 10**9, "_by_lists"), (60, 1000, "log_subset_share"), (3000, 3, "_by_transform")])
def test_the_way_that_costs_least_is_taken(n, largest, way, monkeypatch):
    class TakenError(Exception):
        pass

    def taken(*_):
        raise TakenError

    weights = np.random.default_rng(1).integers(1, largest + 1, n)
    monkeypatch.setattr(swaps, way, taken)
    with pytest.raises(TakenError):
        log_sign_tail(weights, int(weights.sum() / 10))


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=3000).filter(lambda weights: len(set(weights)) > 1),
       st.floats(0, 1))
def test_no_tail_costs_less_than_the_least(weights, share):
    tail = SignTail.prepare(np.array(weights), int(share * sum(weights)))
    assert tail.reach < 0 or tail.work >= least_work(np.array(len(weights)))


@pytest.mark.parametrize("n", [200, 1100, 2000])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.98])
def test_counts_of_more_subsets_than_a_float_holds_digits_of(n, share):
    """Against one whole number that has a place of n bits for each sum: a weight is a shift and a sum."""
    weights = np.random.default_rng(n).integers(1, 4, n)
    total = int(weights.sum())
    reach = int((1 - share) * (total - 1) / 2)
    ways, low = 1, (1 << (reach + 1) * n) - 1  # larger sums are cut off
    for weight in weights.tolist():
        ways = (ways + (ways << n * weight)) & low
    place = (1 << n) - 1
    counted = sum(ways >> n * at & place for at in range(reach + 1))
    assert log_subset_share(weights, reach) == pytest.approx(logarithm(counted) - n * math.log(2), abs=1e-12, rel=1e-15)


def logarithm(count):
    """Of a whole number that may be too large for a float, with the digits that a difference to n log 2 needs."""
    bits = max(0, count.bit_length() - 60)
    return math.log(count >> bits) + bits * math.log(2)


def test_a_window_gives_what_the_whole_lattice_gives(monkeypatch):
    """Wide weights force a small window around the tail; a common factor of the weights changes nothing."""
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 300, 60)
    threshold = int(weights.sum() * 0.4)
    exact = counted_tail(weights.tolist(), threshold)
    expected = math.log(exact.numerator) - math.log(exact.denominator)
    assert log_sign_tail(weights, threshold) == pytest.approx(expected, abs=1e-12)
    assert log_sign_tail(weights * 1000, threshold * 1000) == pytest.approx(expected, abs=1e-12)


def test_a_lattice_too_large_is_refused():
    with pytest.raises(TooLargeError):
        log_sign_tail(np.random.default_rng(1).integers(1, 10**9, 60), 500)


@pytest.mark.parametrize(("weights", "threshold", "expected"), [
    ([], 0, 0.0), ([], 1, -math.inf), ([0, 0], 0, 0.0), ([3], 3, math.log(0.5)), ([3], 4, -math.inf), ([3], -3, 0.0),
    ([3], -2, math.log(0.5)), ([1, 1], 0, math.log(0.75)),
])
def test_degenerate(weights, threshold, expected):
    assert log_sign_tail(np.array(weights, dtype=np.int64), threshold) == pytest.approx(expected)


def test_a_sine_of_one_that_is_rounded_up_is_one():
    """With sides of 144 and 288 some half turn of (1, -1) has a square of 1 + 2^-51; B is (0, 0) or (1, -1)."""
    found = HalfSums(np.array([[1, -1]])).window(np.zeros(2), np.array([-10, -200]), np.array([133, 87]))
    expected = np.zeros((144, 288))
    expected[10, 200] = expected[11, 199] = 0.5
    assert found == pytest.approx(expected, abs=1e-11)
