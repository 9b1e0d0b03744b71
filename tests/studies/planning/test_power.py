"""Power as a command: of a task as it is, and before anybody has submitted."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from registry.rendering.render import render
from registry.reports.studies import study_table
from registry.significance.power import ExactMcNemar, MatchedTDesign
from registry.studies.power import Power, _warn_of_skewed
from registry.studies.run import StudyResult
from tests.conftest import ROOT
from tests.significance.matrices import in_steps, matrix


def test_a_task_s_own_discordance(task, registry, scored):
    """100 items of which only a gets 20 right, only b 8; c is a: no pair without a difference is planned."""
    task.documents, task.gold = {}, {f"i{n:03}": "yes" for n in range(100)}
    right = {"a": range(92), "b": range(20, 100)}
    task.systems = {name: {item: "yes" if n in of else "no" for n, item in enumerate(task.gold)}
                    for name, of in right.items()}
    task.systems["c"] = dict(task.systems["a"])
    scored(task)
    rows = registry("study", "power", "small", "--difference", "0.1", "--format", "json").json
    assert {(r["system_a"], r["system_b"]) for r in rows} == {("a", "b"), ("c", "b")}
    design = ExactMcNemar(0.05, 0.28)
    for row in rows:
        assert (row["test"], row["units"], row["observed"]) == ("mcnemar", 100, pytest.approx(0.12))
        assert row["power"] == pytest.approx(design.compute_power(0.1, 100).power)
        assert row["needed"] == design.find_units(0.1, 0.8)
        assert design.compute_power(row["detectable"], 100).power == pytest.approx(0.8, abs=1e-4)


def test_means_of_graded_scores(registry, tmp_path):
    """By t."""
    rng = np.random.default_rng(1)
    lines = ["a,b", *(f"{x:.3f},{y:.3f}" for x, y in rng.random((80, 2)))]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    registry("import", "wide", tmp_path / "scores.csv", "--task", "graded")
    (row,) = registry("study", "power", "graded", "--power", "0.9", "--items", "200", "--format", "json").json
    x, y = np.array([line.split(",") for line in lines[1:]], dtype=float).T
    assert (row["test"], row["units"]) == ("t", 200)
    design = MatchedTDesign(0.05, np.std(x - y, ddof=1))
    assert row["detectable"] == pytest.approx(design.find_detectable(200, 0.9), rel=1e-6)


@pytest.mark.parametrize(("kind", "units", "told"), [
    (stats.expon, 200, 1), (stats.expon, 2000, 0), (stats.norm, 200, 0)])
def test_means_that_are_not_normal_are_told(kind, units, told):
    """Of 200 exponential differences type S errors of 10 % are 4 or 23 %."""
    scores = kind.ppf((np.arange(units) + 0.5) / units)
    assert len([*_warn_of_skewed(matrix(in_steps(np.stack([scores, np.zeros(units)], axis=-1))))]) == told


def test_scores_that_are_no_means(registry, scored):
    """BLEU by the board's own draws, which agree with its standard error."""
    scored(ROOT / "sample_data" / "translation" / "task.toml")
    found = registry("study", "power", "translation", "--resamples", "20000", "--format", "json")
    assert "the bootstrap rejects too often on 12 units (fewer than 200" in found.stderr  # documents
    rows = found.json
    pairs = {(r["system_a"], r["system_b"]): r for r in registry("pairs", "translation", "--format", "json").json}
    for row in rows:  # of a normal difference 1.96 + 0.84 standard errors, where its interval is 1.96 to either side
        pair = pairs[row["system_a"], row["system_b"]]
        reach = (pair["ci_high"] - pair["ci_low"]) / 2
        assert row["test"] == "bootstrap"
        assert row["detectable"] == pytest.approx(reach * (1 + stats.norm.ppf(0.8) / 1.96), rel=0.05)


def test_before_any_submission(registry):
    """No database, no task: two rates and a correlation, or a deviation; two rates declare their difference."""
    (row,) = registry("study", "power", "--rate", "0.8", "--rate", "0.75", "--correlation", "0.5", "--items", "1000",
                      "--format", "json").json
    spread = math.sqrt(0.8 * 0.2 * 0.75 * 0.25)
    apart = 0.8 + 0.75 - 2 * (0.8 * 0.75 + 0.5 * spread)
    assert row["difference"] == 0.05
    assert row["power"] == pytest.approx(ExactMcNemar(0.05, apart).compute_power(0.05, 1000).power)
    several = registry("study", "power", "--rate", "0.8", "--items", "500", "--items", "2000", "--format", "json").json
    assert [(r["r12"], r["units"]) for r in several] == [(r, n) for r in (0, 0.25, 0.5, 0.75) for n in (500, 2000)]
    detected = {(r["r12"], r["units"]): r["detectable"] for r in several}
    assert detected[0.5, 2000] < detected[0.5, 500] < detected[0, 500]
    (graded,) = registry("study", "power", "--deviation", "0.3", "--correlation", "0.6", "--items", "200", "--family",
                         "10", "--format", "json").json
    expected = MatchedTDesign(0.005, 0.3 * math.sqrt(0.8)).find_detectable(200, 0.8)
    assert graded["detectable"] == pytest.approx(expected)
    family = registry("study", "power", "--deviation", "1", "--items", "50", "--family", "10", "--format", "table")
    assert "at 5 % divided by 10 comparisons" in family.stdout


def test_a_difference_without_items_is_planned_with_the_items_that_it_needs(registry):
    """They have the power, one item less has not; two rates declare their difference."""
    done = registry("study", "power", "--rate", "0.85", "--rate", "0.84", "--correlation", "0.5", "--format", "table")
    spread = math.sqrt(0.85 * 0.15 * 0.84 * 0.16)
    design = ExactMcNemar(0.05, 0.85 + 0.84 - 2 * (0.85 * 0.84 + 0.5 * spread))
    lines = done.stdout.splitlines()
    needed = int(re.search(r"You need about ([\d,]+) items to detect a true difference of 0.01 with 80 % power at 5 %",
                           " ".join(lines))[1].replace(",", ""))
    assert design.compute_power(0.01, needed).power >= 0.8 > design.compute_power(0.01, needed - 1).power
    several = registry("study", "power", "--rate", "0.85", "--difference", "0.01", "--format", "json").json
    assert [row["units"] for row in several] == [row["needed"] for row in several]
    assert "needs more than 100,000,000 items" in registry(
        "study", "power", "--rate", "0.85", "--difference", "0.000001", exit_code=3).stderr


def test_a_wide_table_repeats_what_identifies_its_rows():
    """The correlation is a number, and the first of the columns."""
    _, finding = Power(rates=(0.85,), difference=0.01, items=(1000, 2000)).run_without_task(None)
    shown = render([study_table(StudyResult(Power(), "", "x", finding, "", is_new=True))], "table", width=70)
    headings = [line.split() for line in shown.splitlines() if "r12" in line]
    assert len(headings) > 1
    assert all(words[:2] == ["r12", "units"] for words in headings)
    assert headings[0][2] == "needed"


def test_units_on_which_nothing_can_be_significant(registry):
    """Of 5 coins none falls so seldom that two-sided p is 0.05 or less: 2 / 2^5."""
    said = registry("study", "power", "--rate", "0.8", "--rate", "0.7", "--items", "5", "--format", "table").stdout
    said = " ".join(said.split())
    assert "On 5 items a test at 5 % detects no true difference with a power of 80 %" in said
    assert "detected with a power of 0 %. No result can be significant on so few units." in said


def test_a_level_that_few_resamples_lie_beyond_is_warned_of(registry, scored):
    """A 100th of 0.05 is that of every 2000th resample, and 20 are to lie beyond it."""
    scored(ROOT / "sample_data" / "translation" / "task.toml")
    asked = ("study", "power", "translation", "--resamples", "999", "--family")
    assert "set --resamples to 40000 or more" in " ".join(registry(*asked, "100").stderr.split())
    assert "set --resamples" not in registry(*asked, "1").stderr


def test_the_curve_and_the_sizes_are_tables_of_their_own(registry):
    asked = ("study", "power", "--rate", "0.6", "--correlation", "0.4", "--items", "400", "--format", "json", "--show")
    curve = registry(*asked, "curve").json
    assert [row["difference"] for row in curve] == sorted(row["difference"] for row in curve)
    assert [row["power"] for row in curve] == sorted(row["power"] for row in curve)
    assert curve[-1]["power"] > 0.95
    assert curve[0]["type_m"] > 5 > 1.2 > curve[-1]["type_m"] > 1
    sizes = {row["units"]: row["detectable"] for row in registry(*asked, "sizes").json}
    assert sizes[400] / sizes[1600] == pytest.approx(2, rel=0.03)  # with the root of the size


def test_both_sentences_are_of_one_middle_pair():
    """Of four pairs the third one by what it detects, and not that with the third least power."""
    rows = [{"units": 50, "detectable": detectable, "power": power, "type_m": 1.5, "type_s": 0.01, "needed": needed}
            for detectable, power, needed in ((0.3, 0.4, 1500), (0.1, 0.9, 40), (float("nan"), 0.1, None),
                                              (0.2, 0.6, 90))]
    needs, first, second, _ = Power(difference=0.15).describe(rows, 4, "pair", 0.05, "item")
    assert needs.startswith("You need about 1,500 items to detect a true difference of 0.15 with 80 % power at 5 %, ")
    assert "80 % is 0.3, for the median of 4 pairs (from 0.1 to none)" in first
    assert "detected with a power of 40 %" in second


def test_figures(task, registry, scored, tmp_path):
    """Of declared rates, and of a task, from the study that is kept."""
    declared = ("study", "power", "--rate", "0.6", "--items", "400")
    assert "drawn: a.svg" in registry(*declared, "--plot", "a.svg").stderr
    scored(task)
    registry("study", "power", "small")
    assert "drawn: b.svg" in registry("study", "power", "small", "--plot", "b.svg").stderr
    for asked in (declared, ("study", "power", "small")):
        assert "would be drawn: c.svg" in registry(*asked, "--plot", "c.svg", "--dry-run").stderr
    assert not (tmp_path / "c.svg").exists()
    for name, words in (("a.svg", 2), ("b.svg", 2)):
        assert (tmp_path / name).read_text().count('id="axes_') == words


@pytest.mark.parametrize(("asked", "said"), [
    (("--rate", "0.8"), "--items"),
    (("--items", "100"), "--rate"),
    (("--items", "100", "--rate", "1.2"), "above 0 and below 1"),
    (("--items", "1", "--rate", "0.5"), "expected 2 to 1000000"),
    (("--items", "1000000000", "--rate", "0.5"), "expected 2 to 1000000"),
    (("--items", "100", "--rate", "0.5", "--metric", "acc", "--seed", "1"), "--metric, --seed: requires a task"),
    (("--items", "100", "--rate", "0.9", "--rate", "0.5", "--correlation", "0.9"),
     "the correlation of systems with the accuracies 0.9 and 0.5 is from"),
    (("--items", "100", "--rate", "0.5", "--power", "1"), "the power is 1.0"),
    (("--items", "100", "--rate", "0.5", "--difference", "2"), "can differ by at most 1; on a scale of 100, 2 is 0.02"),
    (("--items", "100", "--rate", "0.5", "--difference", "1"), "can differ by at most 1; on a scale of 100, 1 is 0.01"),
    (("--items", "100", "--deviation", "0"), "above 0"),
    (("--items", "100", "--deviation", "1", "--family", "0"), "expected 1 or more"),
    (("--items", "100", "--rate", "0.5", "--alpha", "0"), "alpha is 0.0"),
    (("--items", "100", "--deviation", "1", "--alpha", "nan"), "alpha is nan"),
])
def test_what_cannot_be_planned(registry, asked, said):
    assert said in registry("study", "power", *asked, exit_code=3).stderr


def test_a_difference_beyond_all_measure_is_found(registry):
    far = registry("study", "power", "--items", "9", "--deviation", "1", "--difference", "1e300", "--format", "json")
    assert [row["type_m"] for row in far.json] == [pytest.approx(1)] * 4


def test_answers_are_no_units(registry, scored):
    scored(ROOT / "sample_data" / "collocations" / "task.toml")
    asked = ("study", "power", "collocations", "--unit")
    assert "use --unit item" in registry(*asked, "response", exit_code=3).stderr
    assert {row["test"] for row in registry(*asked, "item", "--format", "json").json} == {"bootstrap"}


def test_a_task_tells_its_own_rates(task, registry, scored):
    scored(task)
    refused = registry("study", "power", "small", "--rate", "0.5", exit_code=3).stderr
    assert "--rate, --deviation and --correlation are for planning without a task" in refused
    task.systems, task.folder = {n: dict(task.gold) for n in "ab"}, task.folder.with_name("same")
    registry("run", task.write(), "--db", "same.duckdb")
    assert "no two systems differ" in registry("study", "power", "small", "--db", "same.duckdb", exit_code=3).stderr
