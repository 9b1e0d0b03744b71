"""Marks of tests that `make test` leaves out and `make thorough` runs."""

import pytest


def keep_each(n, values):
    """Mark all values of a parametrized test as thorough but the first, the n-th after it, and so on."""
    return [value if k % n == 0 else pytest.param(value, marks=pytest.mark.thorough) for k, value in enumerate(values)]
