"""Figures of studies: they show what the rows say, names are only names, and files are always the same bytes."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from matplotlib.text import Text

from registry.errors import InputError
from registry.reports.figures import studies
from registry.studies.study import Finding

PAIRS = [{"test_set": "test", "system_a": "a", "system_b": "b", "gain": gain, "p_value": 1 - confidence,
          "confidence": confidence, "group": group, "fitted": confidence}
         for gain, confidence, group in ((1.0, 0.6, "same $t_1$"), (2.0, 0.96, "same $t_1$"),
                                         (3.0, 0.97, "different $t_1$"), (40.0, 1.0, "different $t_1$"))]
THRESHOLDS = [{"group": group, "alpha": 0.05, "threshold": threshold, "fitted": fitted}
              for group, threshold, fitted in (("all", 2.5, 2.2), ("same $t_1$", None, 2.0),
                                               ("different $t_1$", 3.5, None))]
CURVES = [{"test_set": "test", "group": group, "alpha": 0.05} for group in ("same $t_1$", "different $t_1$")]
SIZES = [{"size": size, "taken": taken, "alpha": 0.05} | dict.fromkeys(
    ("threshold", "threshold_low", "threshold_high"), None) | {
        "fitted": 30 / size**0.5, "fitted_low": 25 / size**0.5, "fitted_high": None if size == 400 else 40 / size**0.5}
    for size, taken in ((100, "first"), (100, "random"), (400, "all"))]
LARGER = [{"size": size, "fitted": 30 / size**0.5, "fitted_low": 25 / size**0.5, "fitted_high": 40 / size**0.5}
          for size in (800, 1600)]
BANDS = [{"tested_on": "news", "other": "talks_$x$", "above": low, "up_to": high, "tests": n, "share": share,
          "low": share and share - 0.1, "high": share and share + 0.02, "expected": share}
         for low, high, n, share in ((0.04, 0.06, 50, 0.9), (0, 0.01, 80, 0.98), (0.01, 0.1, 9, 0.5),
                                     (0.1, 1, 0, None))]
CORRELATIONS = [{"system_a": "a", "system_b": "b", "p_adjusted": p, "p_independent": q, "missed": missed}
                for p, q, missed in ((1e-30, 1e-20, False), (0.01, 0.2, True), (0.5, 0.7, False),
                                     (None, None, False))]
UNITS = [{"system_a": "a", "system_b": "b", "p_items": p, "p_clusters": q, "changes": changes}
         for p, q, changes in ((0.01, 0.2, "lost"), (0.2, 0.04, "gained"), (0.5, 0.7, ""))]
CLAIMS = [{"better": a, "than": b, "test_sets": 3, "k_bonferroni": k}
          for a, b, k in (("a", "b_$1$", 3), ("a", "c", 0), ("c", "b_$1$", 1))]
DIFFERENCES = [{"metric": "m_$1$", "system_a": a, "system_b": b, "effect": effect, "value": value, "low": low,
                "high": high}
               for a, b, effect, value, low, high in (
                   ("a", "b_$1$", "difference", 0.2, 0.1, 0.3), ("a", "b_$1$", "d", 9, 8, 10),
                   ("b_$1$", "c", "difference", 0.1, None, None))]
PLACES = [{"metric": "m_$1$", "system": system, "may_be_best": best, "rank_low": low, "rank_high": high}
          for system, best, low, high in (("a_$1$", True, 1, 2), ("b", False, 2, 3))]
DRAWN = {
    "effects": {"effects": DIFFERENCES, "infinite": []}, "best": {"systems": PLACES},
    "correlation": {"pairs": CORRELATIONS}, "dependence": {"pairs": UNITS}, "replicability": {"pairs": CLAIMS},
    "thresholds": {"thresholds": THRESHOLDS, "pairs": PAIRS}, "curve": {"curves": CURVES, "pairs": PAIRS},
    "test sizes": {"sizes": SIZES, "larger": LARGER, "pairs": [
        row | {"size": size} for size in (100, 400) for row in PAIRS]},
    "calibration": {"bands": BANDS}, "domains": {"bands": BANDS},
}


def conducted(tables):
    return SimpleNamespace(finding=Finding(tables), subject="t/test, m_$1$; t/dev, m_$1$")


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Draw and give the figure."""
    kept, drawing = [], studies.drawing

    @contextmanager
    def keeping(path, size):
        with drawing(path, size) as figure:
            yield figure
            kept.append(figure)

    monkeypatch.setattr(studies, "drawing", keeping)

    def draw(kind):
        studies.draw(conducted(DRAWN[kind]), tmp_path / "figure.png", kind)
        return kept[-1]

    return draw


def points(axes):
    """The points of every series that has any, by its label."""
    return {line.get_label(): list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines
            if line.get_marker() not in ("None", "") and len(line.get_xdata())}


@pytest.mark.parametrize("kind", DRAWN)
def test_the_same_study_is_drawn_to_the_same_bytes_and_names_are_no_formulas(kind, drawn, tmp_path):
    figure = drawn(kind)
    assert not any(text.get_parse_math() for text in figure.findobj(Text))
    for name in ("one.svg", "two.svg"):
        studies.draw(conducted(DRAWN[kind]), tmp_path / name, kind)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_groups_have_their_own_points_and_thresholds(drawn):
    (axes,) = drawn("thresholds").axes
    assert points(axes) == {"same $t_1$": [(1.0, 0.6), (2.0, 0.96)], "different $t_1$": [(3.0, 0.97), (40.0, 1.0)]}
    upright = {(line.get_xdata()[0], line.get_linestyle()) for line in axes.lines
               if len(line.get_xdata()) == 2 and len(set(line.get_xdata())) == 1}
    assert upright == {(2.0, "--"), (3.5, "-")}
    assert axes.get_xlim() == (0, pytest.approx(1.4 * 3.0))  # the settled pair at 40 is beyond
    assert axes.get_xlabel() == "gain in m_$1$"


def test_curves_go_through_what_was_fitted(drawn):
    (axes,) = drawn("curve").axes
    assert list(points(axes)) == ["same $t_1$", "different $t_1$"]
    lines = [list(line.get_xdata()) for line in axes.lines if line.get_linestyle() == "-"]
    assert lines == [[1.0, 2.0], [3.0, 40.0]]


def test_sizes_are_shown_with_their_thresholds_and_the_extension(drawn):
    left, right = drawn("test sizes").axes
    assert list(points(left)) == ["first 100", "first 400"]
    fitted = points(right)["random units, by the fit"]
    assert [y for _, y in fitted] == [3.0, 1.5]
    extended = next(line for line in right.lines if line.get_label() == "extended")
    assert list(extended.get_xdata()) == [800, 1600]


def test_shares_of_few_tests_are_left_out(drawn):
    """The band about alpha is written instead, and 9 tests are too few; of two domains they suffice."""
    (axes,) = drawn("calibration").axes
    assert [y for _, y in points(axes)["correct decisions"]] == [98]
    assert "90.0 %" in {text.get_text() for text in axes.texts}
    (axes,) = drawn("domains").axes
    assert [y for _, y in points(axes)["news, better on talks_$x$"]] == [90, 98, 50]


def test_a_study_without_any_threshold_is_not_drawn(tmp_path):
    tables = {"sizes": [row | {"fitted": None} for row in SIZES], "larger": [], "pairs": PAIRS}
    with pytest.raises(InputError, match="nothing to draw"):
        studies.draw(conducted(tables), tmp_path / "f.png", "test sizes")


def test_decisions_that_change_are_marked(drawn):
    """P-values too small to be shown are drawn at the least that is; undefined ones are not."""
    (axes,) = drawn("correlation").axes
    assert points(axes) == {"same decision": [(1e-12, 1e-12), (0.5, 0.7)], "missed": [(0.01, 0.2)]}
    (axes,) = drawn("dependence").axes
    assert points(axes) == {"same decision": [(0.5, 0.7)], "lost": [(0.01, 0.2)], "gained": [(0.2, 0.04)]}


def test_effects_are_a_forest_of_differences(drawn):
    """Other effects are on other scales; an interval that is undefined is not drawn, the difference is."""
    (axes,) = drawn("effects").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a - b_$1$", "b_$1$ - c"]
    intervals = [list(line.get_xdata()) for line in axes.lines if line.get_linestyle() == "-"]
    assert intervals == [[0.1, 0.3]]
    assert next(list(line.get_xdata()) for line in axes.lines if line.get_marker() == "o") == [0.2, 0.1]


def test_systems_that_may_be_the_best_are_filled(drawn):
    (axes,) = drawn("best").axes
    ends = {tuple(line.get_xdata()): line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "o"}
    assert ends[2, 3] == "white" != ends[1, 2]


def test_more_lines_than_a_page_has_room_for_are_refused(tmp_path):
    with pytest.raises(InputError, match="at most 200 lines, but the result has 400"):
        studies.draw(conducted({"systems": 200 * PLACES}), tmp_path / "f.png", "best")


def test_claims_are_counted_in_a_matrix(drawn):
    axes = drawn("replicability").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a  1", "c  2", "b_$1$  3"]
    assert {(text.xy, text.get_text()) for text in axes.texts} == {((2, 0), "3"), ((1, 0), "0"), ((2, 1), "1")}
