"""Swaps of standardized predictions are told of where these are so alike that they reject too often."""

import numpy as np
import pytest

from registry.significance import COEFFICIENTS, PairMatrix, Permutation, Settings
from registry.significance.diagnostics.assumptions import misuses


def predictions(items, coefficient, noise):
    """Two systems that add so much noise to the same values, which have little to do with the gold."""
    rng = np.random.default_rng(1)
    shared, gold = rng.permutation(items), rng.permutation(items)
    predicted = shared[:, None] + noise * rng.permuted(np.tile(np.linspace(-1, 1, items), (2, 1)), axis=1).T
    return PairMatrix(np.stack([predicted, np.tile(gold[:, None], 2)], axis=-1), coefficient=COEFFICIENTS[coefficient])


@pytest.mark.parametrize(("items", "coefficient", "noise", "is_told"), [
    (19, "pearson", 2, True),  # rejects 5.9 to 6.5 % at 5 %
    (20, "pearson", 2, False),
    (19, "pearson", 200, False),
    (20, "spearman", 2, True),  # 7.8 to 11.6 %
    (20, "kendall", 2, True),
    (20, "spearman", 200, False),
    (200, "spearman", 40, False),
    (20, "spearman", 0, False),  # the same system twice
])
def test_predictions_that_are_alike_are_told_of(items, coefficient, noise, is_told):
    matrix = predictions(items, coefficient, noise)
    assert [said.code for said in misuses(Permutation(), matrix)] == ["similar-predictions"] * is_told
    found = Permutation().run(matrix, [(0, 1)], Settings(resamples=99))[0]
    assert ("similar-predictions" in found.messages.codes) == is_told
