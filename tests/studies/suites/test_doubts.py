"""Warnings of tests on several test sets name those that they are about, unless it is all of them."""

import numpy as np
import pytest
from scipy import stats

from registry.significance import Bootstrap, Permutation
from registry.significance.diagnostics.assumptions import misuses, one_sided_misuses
from registry.studies.suites import warn_by_set
from tests.significance.matrices import in_steps, matrix


def matrices(*kinds):
    return [matrix(in_steps(np.stack([kind.ppf((np.arange(units) + 0.5) / units), np.zeros(units)], axis=-1)))
            for kind, units in kinds]


@pytest.mark.parametrize(("units", "test_sets"), [
    ((30, 400), [["a"]]), ((30, 30), [None]), ((400, 400), [])])
def test_of_which_sets_it_is_said(units, test_sets):
    found = warn_by_set(matrices(*((stats.norm, n) for n in units)), "ab", lambda of: misuses(Bootstrap(), of))
    assert [(warning.code, warning.parameters.get("test_sets")) for warning in found] == [
        ("few-units-bootstrap", names) for names in test_sets]
    for warning, names in zip(found, test_sets, strict=True):
        assert str(warning).startswith(f"{'' if names is None else 'a: '}the bootstrap rejects")


def test_one_sided_tests_are_doubted_with_fewer_skewed_differences_than_two_sided_ones():
    """Of 300 exponential ones one-sided tests err in 6.3 % at 5 %, two-sided ones in less than 6 %."""
    both = matrices((stats.expon, 300), (stats.norm, 300))
    assert not warn_by_set(both, "ab", lambda of: misuses(Permutation(), of))
    (said,) = warn_by_set(both, "ab", lambda of: one_sided_misuses(Permutation(), of))
    assert str(said).startswith("a: in the only pair, the one-sided p-value may be wrong")
