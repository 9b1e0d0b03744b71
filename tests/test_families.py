"""The lattice of statistics: sums are exact and do not depend on order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.families import FAMILIES, RESOLUTION, to_lattice


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60), st.randoms(use_true_random=False))
def test_sums_do_not_depend_on_order(values, rng):
    rounded = to_lattice(np.array(values))
    shuffled = rounded.tolist()
    rng.shuffle(shuffled)
    assert sum(shuffled) == rounded.sum() == rounded[::-1].cumsum()[-1]
    assert np.abs(rounded - values).max() <= RESOLUTION / 2


def test_whole_numbers_stay_and_halves_round_to_even():
    assert to_lattice(np.array([3.0, 2.0**40, 1.5 * RESOLUTION, 2.5 * RESOLUTION])).tolist() == [
        3.0, 2.0**40, 2 * RESOLUTION, 2 * RESOLUTION]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 2.0**22 + 0.5, 2.0**52, -1e308])
def test_what_would_not_be_exact_is_refused(bad):
    with pytest.raises(ValueError, match="statistic"):
        to_lattice(np.array([1.0, bad]))


def test_families_have_the_columns_of_their_sources():
    assert len(FAMILIES["bleu"].columns) == 10  # hyp_len, ref_len, 4 correct, 4 total
    assert len(FAMILIES["chrf"].columns) == 3 * (6 + 2)
    assert len(FAMILIES["meteor"].columns) == 23
