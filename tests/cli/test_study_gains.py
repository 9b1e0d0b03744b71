"""`registry study threshold|curve|test-size|calibration`: gains and their confidence, as commands."""

import re

import pytest

from registry.store.database import Database
from tests.conftest import ROOT

ENTITIES = ROOT / "sample_data" / "entities" / "task.toml"


@pytest.fixture
def entities(registry, scored):
    """Make a study of the sample task, which has 28 pairs, few of them at the border."""
    scored(ENTITIES)
    return lambda *options, **more: registry("study", *options, "--resamples", 499, **more)


def test_a_threshold_that_would_rest_on_few_pairs_is_not_given(entities):
    (row, *_) = entities("threshold", "entities", "--format", "json").json
    assert (row["group"], row["pairs"], row["threshold"]) == ("all", 28, None)
    assert row["borderline"] < 10
    said = entities("threshold", "entities", "--format", "table").stdout
    assert f"needs 10 pairs with p from 0.04 to 0.06 (here {row['borderline']})" in said


def test_pairs_of_one_team_have_a_threshold_of_their_own(entities):
    """A wide window and few pairs suffice here; teams of several systems are Aspen, Birch, Cedar and Dogwood."""
    options = ("threshold", "entities", "--width", 0.99, "--enough", 2, "--format", "json")
    rows = {row["group"]: row for row in entities(*options).json}
    assert [(group, row["pairs"]) for group, row in rows.items()] == [
        ("all", 28), ("same team", 4), ("different team", 24)]
    pairs = entities(*options, "--show", "pairs").json
    for group, row in rows.items():
        at_the_border = [of for of in pairs if group in ("all", of["group"]) and 0.0005 < of["p_value"] < 0.0995]
        assert row["borderline"] == len(at_the_border)
        if len(at_the_border) >= 2:
            assert min(of["gain"] for of in at_the_border) <= row["threshold"] <= max(
                of["gain"] for of in at_the_border)


def test_a_stored_study_can_be_drawn(entities, tmp_path):
    entities("threshold", "entities")
    said = entities("threshold", "entities", "--plot", "again.pdf").stderr
    assert "already stored" in said
    assert (tmp_path / "again.pdf").read_bytes().startswith(b"%PDF")


def test_curves_of_several_test_sets_are_drawn_together(task, registry, tmp_path):
    """Pairs of both test sets are points, and of every group it is said where a gain decides."""
    task.extra = "\n".join(["[[test_set]]", 'name = "dev"', 'gold = "gold.tsv"', 'format = "labels"',
                            'options = { columns = ["item", "label", "document"] }', "[[submit]]",
                            'file = "systems/{system}.tsv"', 'test_set = "dev"'])
    task.write()
    text = task.manifest.read_text().replace('file = "systems/{system}.tsv"', 'file = "systems/{system}.tsv"\n'
                                             'test_set = "test"', 1)
    task.manifest.write_text(text)
    registry("run", task.manifest)
    study = ("study", "curve", "small", "--resamples", 100, "--unit", "item", "--plot", "f.svg", "--format", "json")
    done = registry(*study)
    assert [(row["test_set"], row["pairs"]) for row in done.json] == [("dev", 2), ("test", 2)]  # b and c are the same
    assert "drawn: f.svg" in done.stderr
    points = registry(*study, "--show", "pairs").json
    assert {(row["system_a"], row["system_b"]) for row in points} == {("a", "b"), ("a", "c")}
    assert [row["gain"] for row in points] == [pytest.approx(2 / 6)] * 4
    assert all(row["confidence"] == row["fitted"] == 1 - row["p_value"] for row in points)


def test_smaller_test_sets_of_whole_documents(entities, tmp_path):
    """The sample task resamples its 40 documents; thresholds are of them, and the last row is the whole test set."""
    options = ("test-size", "entities", "--sizes", "10:30:20", "--repetitions", 3, "--enough", 3, "--plot", "f.svg")
    rows = entities(*options, "--format", "json").json
    assert [(row["size"], row["taken"], row["sets"]) for row in rows] == [
        (10, "first", 1), (10, "random", 3), (30, "first", 1), (30, "random", 3), (40, "all", 1)]
    fitted = [row["fitted"] for row in rows if row["taken"] != "first"]
    assert fitted == sorted(fitted, reverse=True)
    assert (tmp_path / "f.svg").read_bytes().startswith(b"<?xml")
    larger = entities(*options, "--show", "larger", "--format", "json").json
    assert [row["size"] for row in larger] == [80, 160, 320]


@pytest.mark.parametrize("sizes", ["10:5:1", "0,5", "5,5", "ten", "1"])
def test_sizes_that_there_are_not(entities, sizes):
    assert "--sizes" in entities("test-size", "entities", "--sizes", sizes, exit_code=3).stderr


def test_calibration_on_test_sets_drawn_from_the_documents_at_hand(entities, tmp_path):
    options = ("calibration", "entities", "--size", 20, "--sets", 12, "--plot", "f.svg")
    about, *bands = entities(*options, "--format", "json").json
    assert (about["above"], about["up_to"]) == (pytest.approx(0.04), pytest.approx(0.06))
    assert 0.9 * 12 * 28 < sum(row["tests"] for row in bands) <= 12 * 28
    assert all(row["right"] <= row["tests"] for row in bands)
    assert (bands[0]["tests"], bands[0]["share"]) == (0, None)  # 499 resamples give no p below 0.002
    assert bands[1]["share"] == pytest.approx(1, abs=0.02)
    assert (tmp_path / "f.svg").read_bytes().startswith(b"<?xml")
    assert "12 test sets of 20 units, sampled from 40 units" in entities(*options, "--format", "table").stdout


def test_calibration_across_the_values_of_an_attribute(task, registry, tmp_path):
    """Of 20 items of each document a has 16 right, b 12, c 8, on d0 and d1; on d2 the other way round."""
    task.gold = {f"i{n:02}": "yes" for n in range(60)}
    task.documents = {key: f"d{n // 20}" for n, key in enumerate(task.gold)}
    right = {"a": (16, 16, 8), "b": (12, 12, 12), "c": (8, 8, 16)}
    task.systems = {name: {key: "yes" if n % 20 < counts[n // 20] else "no" for n, key in enumerate(task.gold)}
                    for name, counts in right.items()}
    registry("run", task.write())
    options = ("study", "calibration", "small", "--across", "document", "--unit", "item", "--resamples", 100)
    rows = registry(*options, "--plot", "f.svg", "--format", "json").json
    shares = {(row["tested_on"], row["other"]): row["share"] for row in rows}
    assert shares == {(here, there): float("d2" not in (here, there)) for here in ("d0", "d1", "d2")
                      for there in ("d0", "d1", "d2") if here != there}
    assert (tmp_path / "f.svg").exists()
    assert "1 study: no faults" in registry("verify").stderr, "also where no command has the study's name"
    for more, said in ((("--tested-on", "d9"), "unknown domain 'd9'"), (("--across", "genre"), "no attribute 'genre'"),
                       (("--size", 2), "--size sets the size of sampled test sets")):
        assert said in registry(*options, *more, exit_code=3).stderr
    assert "only one test set" in registry("study", "calibration", "small", "--domains", exit_code=3).stderr


@pytest.mark.parametrize(("options", "said"), [
    (("--by", "modle"), "unknown attribute of submissions 'modle'"), (("--width", 1), "a width between 0 and 1"),
    (("--enough", 1), "enough"), (("--show", "gains"), "unknown table of threshold 'gains'"),
])
def test_what_cannot_be_asked(entities, options, said):
    assert said in entities("threshold", "entities", *options, exit_code=3).stderr


def test_a_figure_that_cannot_be_drawn_is_refused_before_the_work(entities):
    refused = entities("curve", "entities", "--plot", "curve.gif", exit_code=3).stderr
    assert "must end in .svg, .pdf, .png or .pgf" in refused
    assert "already stored" not in entities("curve", "entities").stderr


def test_systems_that_do_not_differ_have_no_gains(task, registry):
    task.systems = {"a": dict(task.gold), "b": dict(task.gold)}
    registry("run", task.write())
    assert "no two systems differ" in registry("study", "threshold", "small", exit_code=3).stderr
    with Database("registry.duckdb").reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM study").scalar() == 0


def test_the_commands_of_the_docs_work(entities, registry):
    """Those about the sample task whose pairs have gains."""
    page = (ROOT / "docs" / "studies.md").read_text()
    studies = "threshold|curve|test-size|calibration"
    shown = re.findall(rf"^    registry study ((?:{studies}) entities.*)$", page, re.MULTILINE)
    assert len(shown) >= 5
    for command in shown:
        entities(*command.split(), "--dry-run")
