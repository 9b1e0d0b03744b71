"""Curves against scikit-learn's isotonic regression, and what they leave open by hand."""

from dataclasses import replace

import numpy as np
from sklearn.isotonic import IsotonicRegression

from registry.messages import Message
from registry.studies.threshold import Curve, _summarize_curve, fit_rising_curve
from tests.studies.unstored import case_of, means


def test_the_rising_curve_is_scikit_learn_s_also_with_equal_gains():
    rng = np.random.default_rng(0)
    gain = np.sort(np.round(rng.random(80), 1))
    confidence = np.clip(gain + rng.normal(0, 0.2, 80), 0, 1)
    theirs = IsotonicRegression().fit(gain, confidence).predict(gain)
    assert np.allclose(fit_rising_curve(gain, confidence), theirs, atol=1e-12)
    assert (np.diff(fit_rising_curve(gain, confidence)) >= 0).all()


def test_gains_between_the_least_significant_and_the_largest_other_decide_nothing():
    rows = [{"gain": gain, "p_value": p} for gain, p in ((1, 0.3), (2, 0.05), (3, 0.06), (4, 0.01))]
    row = _summarize_curve("test", "all", rows, 0.05)
    assert (row["significant"], row["least_significant"], row["largest_other"], row["undecided"]) == (2, 2, 3, 2)
    clear = _summarize_curve("test", "all", rows[::3], 0.05)
    assert (clear["least_significant"], clear["largest_other"], clear["undecided"]) == (4, 1, 0)
    assert _summarize_curve("test", "all", rows[:1], 0.05)["least_significant"] is None


def test_systems_of_the_same_name_are_told_apart_by_their_teams():
    case = case_of(means(np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.5]])))
    for member in case.board.members:
        member.system = "baseline"
    (pair,) = Curve().run(case).tables["pairs"]
    assert (pair["system_a"], pair["system_b"]) == ("t1/baseline", "t0/baseline")


def test_pairs_that_nothing_tells_apart():
    """Every system is a team of its own."""
    finding = Curve().run(case_of(means(np.random.default_rng(1).random((60, 4)))))
    assert "All pairs belong to one group by team." in finding.reading


def test_pairs_that_resampling_cannot_test_are_told():
    """The best gains 9 or 11 on the second in every unit, and 11 on the last one; those differ by 2 or 0."""
    scores = np.array([[20, 11, 9], [20, 9, 9]] * 30, dtype=float)
    finding = Curve().run(case_of(replace(means(scores), quotient=((1, 0), (0, 1)))))
    assert [(pair["system_a"], pair["system_b"]) for pair in finding.tables["pairs"]] == [("s1", "s2")]
    assert Message("pairs-left-out", {"n": 2}) in finding.warnings
