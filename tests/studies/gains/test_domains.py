"""Gains on one domain against those on another, by hand and by simulation."""

from dataclasses import replace

import numpy as np
import pytest

from registry.errors import InputError, UnknownNameError
from registry.studies.calibration import BANDS, Domains, find_agreeing
from registry.studies.gains import Gains, measure_gains
from tests.studies.unstored import case_of, means

RNG = np.random.default_rng(3)


def test_a_pair_agrees_where_the_same_system_is_better():
    here, there = case_of(means(np.zeros((1, 3))), means(np.array([[1.0, 2.0, 2.0]]))).boards
    gains = Gains(np.array([0, 1, 2]), np.array([1, 0, 1]), np.ones(3), np.full(3, 0.1), np.ones(3))
    kept, agree = find_agreeing(gains, here, there)
    assert agree.tolist() == [False, True, False]  # level there is not better
    there.members[0].system = "another"
    kept, agree = find_agreeing(gains, here, there)
    assert (kept.better.tolist(), kept.worse.tolist(), agree.tolist()) == ([2], [1], [False])


def test_gains_carry_over_to_the_same_population_and_not_to_an_unlike_one():
    """Systems are as good on the second domain as on the first, and in the opposite order on the third."""
    good = np.linspace(0.5, 0, 8)
    drawn = [means(RNG.normal(mean, 1, (400, 8))) for mean in (good, good, good[::-1])]
    finding = Domains(tested_on="set0").run(case_of(*drawn))
    small = {row["other"]: row for row in finding.tables["bands"] if row["up_to"] == BANDS[1]}
    assert small["set1"]["share"] == 1
    assert small["set2"]["share"] == 0
    assert small["set1"]["tests"] == small["set2"]["tests"] > 5
    assert sum(row["tests"] for row in finding.tables["bands"] if row["other"] == "set1") == 28


def test_a_p_value_that_is_0_lies_in_the_lowest_band():
    """The ideal bootstrap of a quotient gives p-values below the least number: systems right in 70 % and in 30 %."""
    right = (RNG.random((4000, 3)) < [0.7, 0.3, 0.29]).astype(float)
    case = case_of(*(replace(means(right), quotient=((1, 0), (0, 1))) for _ in range(2)))
    assert np.count_nonzero(measure_gains(case.boards[0].matrix, case.settings, 0.05).p == 0) == 2
    bands = Domains(tested_on="set0").run(case).tables["bands"]
    assert (bands[0]["above"], bands[0]["tests"], bands[0]["right"]) == (0, 2, 2)
    assert sum(row["tests"] for row in bands) == 3


def test_every_domain_is_tested_in_turn_where_none_is_named():
    finding = Domains().run(case_of(*(means(RNG.random((50, 3))) for _ in range(3))))
    assert {(row["tested_on"], row["other"]) for row in finding.tables["bands"]} == {
        (f"set{a}", f"set{b}") for a in range(3) for b in range(3) if a != b}


def test_one_sentence_speaks_of_many_domains():
    """Four domains make twelve pairs; of the worst and the best system each is right about all."""
    drawn = [means(RNG.normal([0.0, 2.0], 1, (400, 2))) for _ in range(4)]
    finding = Domains().run(case_of(*drawn))
    assert finding.reading[0] == ("Of 12 tests with p up to 0.04 on one domain 100 % have the same better system on "
                                  "another, over 12 pairs of domains.")
    assert len(finding.reading) == 2


def test_domains_that_there_are_not():
    two = case_of(*(means(RNG.random((9, 2))) for _ in range(2)))
    with pytest.raises(UnknownNameError, match="unknown domain 'set3'"):
        Domains(tested_on="set3").run(two)
    with pytest.raises(InputError, match="only one test set"):
        Domains().run(case_of(means(RNG.random((9, 2)))))
    with pytest.raises(InputError, match="one unit cannot be resampled"):
        Domains().run(case_of(*(means(np.array([[1.0, 0.0]])) for _ in range(2))))
    for board in two.boards:
        board.key.facet = ("genre", "news")
    with pytest.raises(InputError, match="several test sets have items with the same genre"):
        Domains(across="genre").run(two)
