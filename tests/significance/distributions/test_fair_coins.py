"""Tails of fair coins, against whole numbers and against scipy."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from registry.significance.distributions import log_sign_p, log_tail

BITS = 300  # of a whole number that are looked at: 90 digits


def error(found, ways, n):
    """How far a logarithm is from that of `ways` of 2^n, which is computed with 60 digits."""
    with localcontext(prec=60):
        more = max(0, ways.bit_length() - BITS)
        return abs(float(Decimal(float(found)) - Decimal(ways >> more).ln() - (more - n) * Decimal(2).ln()))


def all_tails(n):
    """The ways to get at least m heads of n, for m from n down to n / 2, and those to get just m."""
    way, tail = 1, 0
    for m in range(n, (n - 1) // 2, -1):
        tail += way
        yield m, tail, way
        way = way * m // (n - m + 1)


@pytest.mark.parametrize("n", [*range(1, 40), 56, 57, 58, 100, 151, 300, 1029, 2000, 10_000])
def test_tails_are_those_of_whole_numbers(n):
    """From 1 down to 1e-3000, also where the quadrature is that of a polynomial (to 56 coins) and just beyond."""
    some = [of for of in all_tails(n) if n < 400 or of[0] % 97 == 0 or of[0] == n]
    m = np.array([of[0] for of in some])
    found, halved = (log_tail(m, np.full(len(m), n), half=half) for half in (False, True))
    for log_p, mid_p, (_, tail, way) in zip(found, halved, some, strict=True):
        allowed = 1e-13 if log_p > -700 else 5e-16 * abs(log_p)
        assert error(log_p, tail, n) < allowed
        assert error(mid_p, 2 * tail - way, n + 1) < allowed


@pytest.mark.slow
@pytest.mark.parametrize("n", [99_999, 1_000_000])
def test_a_million_coins(n):
    """Whole numbers of 300 bits and more, each from the one before: a million cuts are 1e-84 of them."""
    shares = (0.5, 0.500001, 0.5001, 0.502, 0.51, 0.55, 0.6, 0.75, 0.9, 0.97, 0.999, 0.99999, 1)
    chosen = sorted({math.ceil(share * n) for share in shares}, reverse=True)
    found = dict(zip(chosen, log_tail(np.array(chosen), np.full(len(chosen), n)), strict=True))
    way, tail, cut = 1 << BITS, 0, -BITS
    for m in range(n, chosen[-1] - 1, -1):
        tail += way
        if m in found:
            assert error(found[m], tail, n - cut) < 1e-10
        way = way * m // (n - m + 1)
        if way >> 2 * BITS:
            way, tail, cut = way >> BITS, tail >> BITS, cut + BITS


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_values_are_scipys(alternative):
    """Wherever they do not underflow, up to a million coins and on both sides of the middle."""
    rng = np.random.default_rng(1)
    n = np.rint(10 ** rng.uniform(0, 6, 300)).astype(np.int64)
    for_a = np.clip(np.rint(n / 2 + rng.uniform(-30, 30, 300) * np.sqrt(n) / 2), 0, n).astype(np.int64)
    found = log_sign_p(for_a, n - for_a, alternative)
    for log_p, a, of in zip(found, for_a.tolist(), n.tolist(), strict=True):
        p = stats.binomtest(a, of, alternative=alternative).pvalue
        assert math.exp(log_p) == pytest.approx(p, rel=1e-10)


def test_p_is_never_above_1():
    """39 coins, 20 to 19: twice a half."""
    for n in range(1, 400):
        found = log_sign_p(np.array([n // 2, n - n // 2]), np.array([n - n // 2, n // 2]), "two-sided")
        assert (found <= 0).all()
        assert found == pytest.approx(0, abs=1e-12) or n % 2 == 0


@pytest.mark.parametrize("half", [False, True])
def test_no_coin_is_no_evidence_and_all_on_the_other_side_none_either(half):
    for alternative in ("two-sided", "greater", "less"):
        assert log_sign_p(np.array([0]), np.array([0]), alternative, half=half) == 0
    (found,) = log_sign_p(np.array([0]), np.array([4]), "greater", half=half)
    assert found == pytest.approx(math.log(1 - 1 / 32) if half else 0, abs=1e-15)


def test_tails_do_not_depend_on_how_many_are_integrated_at_once():
    """The last of many is that alone, to the last bit."""
    n = np.arange(1, 9000)
    m = n - n // 3
    assert log_tail(m, n)[-1] == log_tail(m[-1:], n[-1:])[0]


def test_a_pair_has_the_same_bits_wherever_it_stands_among_others():
    rng = np.random.default_rng(3)
    for_a, for_b = rng.integers(0, 200, (2, 999))
    every = log_sign_p(for_a, for_b, "two-sided")
    for _ in range(20):
        some = rng.permutation(999)[:rng.integers(1, 1000)]
        assert np.array_equal(log_sign_p(for_a[some], for_b[some], "two-sided"), every[some])
