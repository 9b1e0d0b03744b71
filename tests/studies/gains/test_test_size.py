"""Thresholds and power by size against theory: normal scores, whose thresholds fall with the root of the size."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from registry.errors import InputError
from registry.significance import StatisticMatrix
from registry.studies.gains import Gains
from registry.studies.threshold import Sizes, _measure_power, fit_power_law, order_units
from tests.studies.unstored import case_of, means


def normal(items=800, systems=16, seed=1):
    """Independent systems, whose items score with variance 1."""
    rng = np.random.default_rng(seed)
    return means(rng.normal(np.sort(rng.normal(0, 0.1, systems))[::-1], 1, (items, systems)))


@pytest.fixture(scope="module")
def finding():
    return Sizes(sizes=(50, 200), repetitions=10).run(case_of(normal()))


def test_thresholds_are_the_critical_differences_of_their_sizes(finding):
    """z times the standard error, whose sample variance is chi-squared: of it the 95th percentile."""
    for row in finding.tables["sizes"]:
        if row["taken"] != "first":
            error = np.sqrt(2 / row["size"] * stats.chi2.isf(0.05, row["size"] - 1) / row["size"])
            assert row["fitted"] == pytest.approx(stats.norm.isf(0.05) * error, rel=0.06)
    assert [(row["size"], row["taken"], row["sets"]) for row in finding.tables["sizes"]] == [
        (50, "first", 1), (50, "random", 10), (200, "first", 1), (200, "random", 10), (800, "all", 1)]


def test_larger_sizes_go_on_with_the_root_of_the_size(finding):
    thresholds = [row["fitted"] for row in finding.tables["larger"]]
    assert [row["size"] for row in finding.tables["larger"]] == [1600, 3200, 6400]
    assert thresholds == pytest.approx([stats.norm.isf(0.05) * np.sqrt(2 / n) for n in (1600, 3200, 6400)], rel=0.2)
    for row in finding.tables["larger"]:
        assert row["fitted_low"] < row["fitted"] < row["fitted_high"]


def test_power_grows_with_the_size_and_errors_of_sign_fall(finding):
    power = [row["power"] for row in finding.tables["sizes"] if row["taken"] != "first"]
    assert power == sorted(power)
    wrong = [row["wrong"] for row in finding.tables["sizes"] if row["taken"] != "first"]
    assert wrong[-1] == 0
    assert max(wrong) < 0.05  # of those without any gain, 5 % are significant the wrong way


def test_a_power_of_the_size_is_found_and_extended():
    sizes = np.array([100, 300, 900])
    thresholds = 3 * sizes[:, None] ** -0.4
    exponent, at_1000, at_2000 = fit_power_law(np.log(sizes), np.log(thresholds), np.array([1000, 2000]))
    assert (exponent[0], at_1000[0], at_2000[0]) == pytest.approx((-0.4, 3 * 1000**-0.4, 3 * 2000**-0.4))


def test_power_by_hand():
    """Systems 0, 1, 2 score 3, 2, 0; of two test sets 0 beats 1 on one, 1 beats 0 on the other, 0 beats 2 on both."""
    def significant(*pairs):
        better, worse = np.array(pairs).T
        return Gains(better, worse, np.ones(len(pairs)), np.full(len(pairs), 0.01), np.ones(len(pairs)))

    matrix = StatisticMatrix(np.array([[[3.0], [2.0], [0.0]]]), lambda sums: sums[..., 0])
    row = _measure_power([significant((0, 1), (0, 2)), significant((1, 0), (0, 2))], matrix, 0.05)
    assert row == {"power": pytest.approx((0.5 + 1 + 0) / 3), "wrong": pytest.approx(0.5 / 3), "detected": 3}
    level = StatisticMatrix(np.zeros((1, 2, 1)), lambda sums: sums[..., 0])
    assert np.isnan(_measure_power([significant((0, 1))], level, 0.05)["power"])


def test_units_come_in_the_order_of_the_gold():
    """Items in the order of their keys are the gold's 2nd, 0th, 1st; clusters begin with their first items."""
    board = SimpleNamespace(items=np.array([2, 0, 1]), matrix=StatisticMatrix(np.zeros((3, 1, 1)), lambda s: s[..., 0]))
    assert order_units(SimpleNamespace(board=board)).tolist() == [1, 2, 0]
    board.matrix = StatisticMatrix(np.zeros((3, 1, 1)), lambda s: s[..., 0], units=np.array([1, 0, 1]))
    assert order_units(SimpleNamespace(board=board)).tolist() == [0, 1]
    board.matrix = StatisticMatrix(np.zeros((3, 1, 1)), lambda s: s[..., 0], units=np.array([0, 1, 1]))
    assert order_units(SimpleNamespace(board=board)).tolist() == [1, 0]


@pytest.mark.parametrize("options", [{"sizes": (1,)}, {"sizes": (801,)}, {"repetitions": 0}, {"repetitions": 10**9},
                                     {"width": 1.0}])
def test_options_out_of_range(options):
    with pytest.raises(InputError):
        Sizes(**options).run(case_of(normal()))


def test_systems_that_do_not_differ_have_no_thresholds():
    with pytest.raises(InputError, match="no two systems differ"):
        Sizes().run(case_of(means(np.ones((50, 3)))))


def test_sizes_double_where_none_are_given():
    assert Sizes()._choose_sizes(1927) == [100, 200, 400, 800, 1600, 1927]
    assert Sizes()._choose_sizes(120) == [25, 50, 100, 120]
    assert Sizes(sizes=(10, 30))._choose_sizes(30) == [10, 30]
