"""What a matrix tells about its numbers."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from registry.significance.matrix import common_divisor


@given(st.lists(st.integers(-30, 30), max_size=40), st.integers(1, 9), st.integers(0, 20))
def test_common_divisors_are_those_of_all_numbers(numbers, factor, zeros):
    """Also where the first ones are 0, or have a larger one."""
    numbers = [0] * zeros + [factor * number for number in numbers]
    assert common_divisor(np.array(numbers, dtype=np.int64)) == max(1, math.gcd(*numbers))
    assert common_divisor(np.array([60] * 16 + numbers)) == math.gcd(60, *numbers)
