"""How often tests of equal systems err if votes of a voter and votes on a prompt are dependent."""

import numpy as np
import pytest

from tests.validity.votes import POPULATIONS, RULES, count_errors


@pytest.mark.simulation
def test_crossed_errors_are_large_enough():
    rng, runs = np.random.default_rng(3), 60
    errors = np.array([list(count_errors(POPULATIONS[0], rng)) for _ in range(runs)])
    rates = dict(zip(RULES, errors[:, :, 0].mean(axis=0), strict=True))
    standard_error = errors[:, 2, 0].std() / np.sqrt(runs)
    assert rates["crossed"] < 0.05 + 3 * standard_error
    assert rates["votes"] > 0.12
    assert errors[:, 2, 2].mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
