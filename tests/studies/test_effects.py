"""What effect sizes are told not to be good for: few units, tails that are not normal, equivalence of skewed ones."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from registry.studies.effects import _warn
from tests.significance.effects.observed_effects import by_name
from tests.significance.matrices import in_steps, matrix

FEW, EQUIVALENT = "few-units-bootstrap", "skewed-equivalence"


def board(kind, units, shift=0.0):
    """Two systems whose differences have the quantiles of a distribution."""
    scores = kind.ppf((np.arange(units) + 0.5) / units) + shift
    return matrix(in_steps(np.stack([scores, np.zeros(units)], axis=-1)))


@pytest.mark.parametrize(("units", "kind", "margin", "told"), [
    (100, stats.expon, None, {FEW}), (100, stats.expon, 0.5, {FEW, EQUIVALENT}),
    (300, stats.expon, 0.5, {EQUIVALENT}),  # a one-sided size of 6.3 % at 5 %
    (2000, stats.expon, 0.5, set()), (300, stats.norm, 0.5, set())])
def test_what_does_not_hold_of_skewed_differences_is_said(units, kind, margin, told):
    asked = SimpleNamespace(significance=SimpleNamespace(margin=margin))
    assert {warning.code for warning in _warn(board(kind, units), np.array([[0, 1]]), asked)} == told


@pytest.mark.parametrize(("kind", "shift", "told"), [
    (stats.norm, 1.0, False), (stats.uniform, 1.0, False), (stats.t(5), 0.0, False),  # where there is no difference
    (stats.t(5), 1.3, True), (stats.laplace, 1.4, True),  # symmetric: 1 + d^2 (k - 1) / 4 against 1 + d^2 / 2
    (stats.expon, -2.0, True), (stats.expon, 0.0, False)])  # the long tail against the difference, and with it
def test_intervals_of_standardized_differences_are_doubted_where_they_are_too_narrow(kind, shift, told):
    """By the delta method: exponential ones by 1 - d s + d^2 (k - 1) / 4 with s = 2, k = 9 and d = -1 or 1."""
    effect = by_name(board(kind, 400, shift))["standardized_difference"]
    assert ("narrow-effect-interval" in effect.messages.codes) == told
