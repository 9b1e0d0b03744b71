"""Calibration against theory: known populations, and the closed form of normal ones."""

import numpy as np
import pytest
from scipy import stats

from registry.errors import InputError
from registry.studies.calibration import BANDS, Calibration, JudgedTests, compute_expected_share, is_inside, make_bands
from registry.studies.gains import Gains
from tests.studies.unstored import case_of, means

RNG = np.random.default_rng(4)
POPULATIONS = {
    "normal": RNG.normal((0.06, 0), 1, (4000, 2)),
    "accuracies of 62 and 59 %, one within the other": (RNG.random((4000, 1)) < (0.62, 0.59)).astype(float),
    "accuracies of 70 and 66 %, independent": (RNG.random((4000, 2)) < (0.70, 0.66)).astype(float),
}


@pytest.mark.parametrize("scores", POPULATIONS.values(), ids=POPULATIONS)
def test_bands_are_right_as_often_as_a_known_population_makes_them(scores):
    """Of one pair the test sets are independent, and z is from N(r, 1): right where it is positive.

    Within 4 binomial standard deviations of P(z in band) / P(|z| in band), and 0.01 for what is not quite normal.
    """
    size, difference = 400, scores[:, 0] - scores[:, 1]
    r = abs(difference.mean()) / (difference.std() / np.sqrt(size))
    assert 0.2 < r < 4
    finding = Calibration(size=size, sets=400).run(case_of(means(scores)))
    seen = 0
    for row in finding.tables["bands"][1:]:
        if row["tests"] >= 20 and row["up_to"] <= 0.32:
            low, high = stats.norm.isf((row["up_to"], row["above"]))
            right, wrong = (stats.norm.cdf(high, mean) - stats.norm.cdf(low, mean) for mean in (r, -r))
            share = right / (right + wrong)
            assert abs(row["share"] - share) < 4 * np.sqrt(share * (1 - share) / row["tests"]) + 0.01
            assert row["expected"] == pytest.approx(share, abs=0.02)
            seen += 1
    assert seen >= 3
    assert sum(row["tests"] for row in finding.tables["bands"][1:]) > 380  # but for a few without any gain


@pytest.mark.parametrize(("tau", "published"), [(1, 0.878), (2, 0.930)])
def test_true_differences_that_are_normal_give_the_closed_form(tau, published):
    """Phi(z tau / sqrt(tau^2 + 1)), from N(0, tau^2) standard errors."""
    ratios = np.abs(stats.norm.ppf((np.arange(4000) + 0.5) / 4000, 0, tau))
    p = np.linspace(0.001, 0.5, 30)
    limit = stats.norm.cdf(stats.norm.isf(p) * tau / np.hypot(tau, 1))
    assert compute_expected_share(p, ratios) == pytest.approx(limit, abs=2e-3)
    assert compute_expected_share(np.linspace(0.04, 0.06, 101), ratios).mean() == pytest.approx(published, abs=1e-3)


def test_systems_from_a_normal_population_are_right_as_the_closed_form_says():
    """The interval of every band that has many tests holds it."""
    rng, systems, size = np.random.default_rng(9), 24, 300
    scores = rng.normal(rng.normal(0, 0.1, systems), 1, (3000, systems))
    of = scores.mean(axis=0)
    tau = np.sqrt(((of[:, None] - of) ** 2).sum() / systems / (systems - 1)) / np.sqrt(2 / size)
    finding = Calibration(size=size, sets=40).run(case_of(means(scores)))
    many = [row for row in finding.tables["bands"] if row["tests"] > 200 and not np.isnan(row["low"])]
    assert len(many) >= 5
    for row in many:
        p = np.linspace(max(row["above"], 1e-4), min(row["up_to"], 0.5), 101)
        closed = stats.norm.cdf(stats.norm.isf(p) * tau / np.hypot(tau, 1)).mean()
        assert row["low"] - 0.02 < closed < row["high"] + 0.02


def test_systems_that_are_equally_good_are_right_half_of_the_time():
    """Differences of a hundredth of a standard error: whatever p is, the better system is anybody's guess."""
    assert compute_expected_share(np.array([1e-4, 0.05, 0.5]), np.array([0.01])) == pytest.approx(0.5, abs=0.02)
    assert compute_expected_share(np.array([1.0]), np.array([3.0]))[0] < 1e-9  # all resamples are extreme
    assert compute_expected_share(np.array([1e-5]), np.array([1000.0]))[0] == 0.5  # equally far from both


def test_tests_are_judged_by_the_whole():
    """Of three systems 0 beats 1 by 2 on the whole, and 1 and 2 are level."""
    whole = np.array([[0.0, 2, 2], [-2, 0, 0], [-2, 0, 0]])
    one = Gains(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1.0]), np.array([0.1, 0.2]), np.array([1.6, 1.6]))
    two = Gains(np.array([1]), np.array([0]), np.array([0.5]), np.array([0.3]), np.array([1.0]))
    tests = JudgedTests.judge([one, two], whole, 0.05)
    assert tests.is_correct.tolist() == [True, False]
    assert tests.test_sets.tolist() == [0, 1]
    assert tests.n_left_out == 1
    assert tests.ratios == pytest.approx([2 / (1.3 / stats.norm.isf(0.05))])
    assert is_inside(tests.pairs.p, 0.1, 0.3).tolist() == [False, True]


def test_bands_are_those_of_the_paper_and_one_about_alpha():
    assert make_bands(0.05)[0] == pytest.approx((0.04, 0.06))
    assert make_bands(0.05)[2:8] == [(0.00125, 0.0025), (0.0025, 0.005), (0.005, 0.01), (0.01, 0.02), (0.02, 0.04),
                                     (0.04, 0.08)]
    assert (BANDS[0], BANDS[-1]) == (0, 1)


def test_small_test_sets_are_warned_of():
    """The bootstrap rejects too often on fewer than 200 units, however many the population has."""
    case = case_of(means(RNG.normal((0.1, 0), 1, (900, 2))))
    assert Calibration(size=200, sets=2).run(case).warnings == []
    warning = Calibration(size=100, sets=2).run(case).warnings[0]
    assert warning.code == "few-units-bootstrap"
    assert (warning.parameters["units"], warning.parameters["least"]) == (100, 200)


def test_one_unit_is_no_population():
    with pytest.raises(InputError, match="one unit cannot be resampled"):
        Calibration(size=2).run(case_of(means(np.array([[1.0, 0.0]]))))


@pytest.mark.parametrize(("options", "scores"), [
    ({"size": 1}, RNG.random((9, 2))), ({"sets": 1}, RNG.random((9, 2))), ({}, np.ones((9, 2))),
    ({"size": 10**12}, RNG.random((9, 2))), ({"sets": 10**20}, RNG.random((9, 2)))])
def test_what_cannot_be_calibrated(options, scores):
    with pytest.raises(InputError):
        Calibration(**options).run(case_of(means(scores)))
