"""`registry agreement`: tables that are long or wide, columns by their names, formats, questions and errors."""

import json

import pytest

from tests.conftest import ROOT
from tests.significance.agreement import KRIPPENDORFF

ANSWER = "Krippendorff's alpha (nominal) is 0.743, 95 % CI "


def long_rows(values=KRIPPENDORFF, names="ABCD"):
    """Item, annotator and value of each rating."""
    return [(f"u{item}", name, int(value)) for item, row in enumerate(values.tolist(), 1)
            for name, value in zip(names, row, strict=True) if value == value]


def write(path, header, rows, mark=","):
    lines = [mark.join(map(str, row)) for row in [header, *rows]]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def long(tmp_path):
    return write(tmp_path / "long.csv", ("id", "rater", "label"), long_rows())


@pytest.fixture
def wide(tmp_path):
    rows = [[f"u{n}", *("" if value != value else int(value) for value in row)]
            for n, row in enumerate(KRIPPENDORFF.tolist(), 1)]
    return write(tmp_path / "wide.tsv", ("id", *"ABCD"), rows, "\t")


def test_the_first_line_is_the_answer(long, registry):
    done = registry("agreement", long, "--level", "nominal", "--format", "table")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(ANSWER)
    assert lines[0].endswith(": 11 items, 4 annotators")
    assert [line.split()[:3] for line in lines[4:6]] == [["Krippendorff's", "alpha", "0.743"],
                                                         ["percent", "agreement", "0.818"]]
    assert done.stderr == "read as: --item id --annotator rater --value label --level nominal\n"
    for text in ("Krippendorff (2004) requires at least .800", "with these annotators",
                 "only 11 items; rate at least 50", "1 item has fewer than two ratings", "Fleiss' kappa is left out"):
        assert text in done.stdout


def test_the_page_shows_what_is_printed(tmp_path, registry):
    path = write(tmp_path / "units.csv", ("id", "annotator", "label"), long_rows())
    printed = registry("agreement", path, "--level", "ordinal", "--format", "table").stdout
    page = (ROOT / "docs" / "agreement.md").read_text()
    assert "\n".join(f"    {line}".rstrip() for line in printed.splitlines()) in page


def test_all_forms_of_a_table_have_the_same_result(long, wide, tmp_path, registry):
    """CSV, JSON Lines, JSON, Parquet, other names of columns, and a column for each annotator."""
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow")
    pa = pytest.importorskip("pyarrow", reason="pyarrow")
    rows = [dict(zip(("worker_id", "sample", "rating"), (name, item, value), strict=True))
            for item, name, value in long_rows()]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "a.json").write_text(json.dumps(rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    write(tmp_path / "numbered.csv", ("annotator_1", "annotator_2", "annotator_3", "annotator_4"), [
        ["" if value != value else int(value) for value in row] for row in KRIPPENDORFF.tolist()])
    told = [registry("agreement", *arguments, "--level", "ordinal", "--format", "json").json for arguments in (
        [long], [tmp_path / "a.jsonl"], [tmp_path / "a.json"], [tmp_path / "a.parquet"], [tmp_path / "numbered.csv"],
        [wide, "--annotators", "A,B,C,D"], [long, "--item", "id", "--annotator", "rater", "--value", "label"])]
    assert round(told[0][0]["value"], 3) == 0.815
    assert all(rows == told[0] for rows in told)


def test_options_are_read_back(long, registry):
    done = registry("agreement", long, "--level", "ratio", "--option", "separator=comma", "--missing", "5")
    options = done.stderr.splitlines()[0].removeprefix("read as: ").split()
    again = registry("agreement", long, *options)
    assert (again.stdout, again.stderr) == (done.stdout, done.stderr)


def test_further_rows(long, registry):
    rows = {by: registry("agreement", long, "--level", "nominal", "--by", by, "--format", "json").json[2:]
            for by in ("annotator", "pair", "category")}
    assert [(row["annotator"], row["annotators"]) for row in rows["annotator"]] == [(name, 3) for name in "ABCD"]
    assert [(row["annotator"], row["other_annotator"]) for row in rows["pair"]] == [
        (a, b) for n, a in enumerate("ABCD") for b in "ABCD"[n + 1:]]
    assert [row["category"] for row in rows["category"]] == ["1", "2", "3", "4", "5"]
    assert registry("agreement", long, "--level", "nominal", "--by", "pair", "--format", "table").stdout.count(
        "alpha of the pair") == 6


def test_pairs_that_share_few_items_have_no_row(tmp_path, registry):
    rows = [row for row in long_rows() if row[1] in "AB" or row[0] in ("u1", "u2", "u3", "u4")]
    path = write(tmp_path / "a.csv", ("id", "rater", "label"), rows)
    done = registry("agreement", path, "--level", "ordinal", "--by", "pair", "--format", "json")
    assert [(row["annotator"], row["other_annotator"]) for row in done.json[2:]] == [("A", "B")]
    assert "5 pairs of annotators have no row" in done.stderr


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "md", "latex", "json", "jsonl"])
def test_every_format_has_the_answer(form, long, registry):
    done = registry("agreement", long, "--level", "nominal", "--format", form)
    assert "0.743" in done.stdout
    is_prose = form in ("table", "md", "latex")
    assert ("alpha (nominal) is" in done.stdout.replace("\\", ""), ANSWER in done.stderr) == (is_prose, not is_prose)


def test_numbers_and_confidence_depend_on_options(long, registry):
    def interval(*options):
        row = registry("agreement", long, "--level", "nominal", "--format", "json", *options).json[0]
        return row["ci_low"], row["ci_high"], row["confidence"], row["resamples"], row["seed"]

    assert interval()[2:] == (0.95, 10_000, 1)
    assert interval() == interval("--seed", 1, "--resamples", 10_000, "--confidence", 0.95)
    assert interval("--seed", 2)[0] != interval()[0]
    assert interval("--confidence", 0.5)[0] > interval()[0]


def test_texts_have_an_order(tmp_path, registry):
    names = {1: "low", 2: "mid", 3: "high", 4: "top", 5: "best"}
    path = write(tmp_path / "a.csv", ("id", "rater", "label"), [(i, a, names[v]) for i, a, v in long_rows()])
    (alpha, *_) = registry("agreement", path, "--order", "low,mid,high,top,best", "--format", "json").json
    assert (alpha["level"], round(alpha["value"], 3)) == ("ordinal", 0.815)
    nominal = registry("agreement", path, "--format", "json").json[0]
    assert (nominal["level"], round(nominal["value"], 3)) == ("nominal", 0.743)
    for options, message in ((("--order", "low,mid,high,top"), "'best' is not in --order"),
                             (("--level", "ordinal"), "name the categories with --order"),
                             (("--level", "interval"), "use --level nominal"),
                             (("--level", "nominal", "--order", "low,mid"), "--order is for --level ordinal")):
        assert message in registry("agreement", path, *options, exit_code=3).stderr


def test_marks_of_missing_values_are_reported(tmp_path, registry):
    path = write(tmp_path / "a.csv", ("id", "rater", "label"), [
        ("x", "A", "yes"), ("x", "B", "NA"), ("y", "A", "no"), ("y", "B", "no"), ("z", "A", "yes"), ("z", "B", "yes")])
    assert "'NA' counts as a value of 1 rating; --missing NA treats it as missing" in registry("agreement", path).stderr
    done = registry("agreement", path, "--missing", "NA", "--format", "json")
    assert done.json[0]["items"] == 2
    assert "'NA'" not in done.stderr


def test_systems_divide_items(tmp_path, registry):
    """An item of two systems is two items, which `--cluster` can resample together."""
    path = write(tmp_path / "a.csv", ("item", "system", "annotator", "score"), [
        (f"i{n}", system, name, (n * 7 + 3 * (system == "s") + (name == "B" and n == 2)) % 4)
        for n in range(8) for system in "st" for name in "AB"])
    done = registry("agreement", path, "--level", "ordinal", "--format", "json")
    assert "--item item --item system --annotator annotator --value score" in done.stderr
    clustered = registry("agreement", path, "--level", "ordinal", "--cluster", "item", "--format", "json")
    assert done.json[0]["items"] == clustered.json[0]["items"] == 16
    assert done.json[0]["value"] == clustered.json[0]["value"]
    assert done.json[0]["ci_low"] != clustered.json[0]["ci_low"]
    assert "only 8 clusters" in clustered.stderr
    refused = registry("agreement", path, "--level", "ordinal", "--item", "item", "--item", "system", "--cluster",
                       "annotator", exit_code=3)
    assert "is in two clusters" in refused.stderr


def test_questions_name_the_options(long, wide, tmp_path, registry):
    levels = registry("agreement", long, exit_code=3).stderr
    assert "the level of measurement is unclear" in levels
    assert "\n  --level interval " in levels
    assert "--annotators A,B,C,D " in registry("agreement", wide, exit_code=3).stderr
    two = write(tmp_path / "b.csv", ("id", "rater", "label", "score"), [("x", "A", "a", 1), ("x", "B", "b", 2)])
    assert "\n  --value label\n  --value score" in registry("agreement", two, exit_code=3).stderr
    none = write(tmp_path / "c.csv", ("thing", "rater", "label"), [("x", "A", "a"), ("x", "B", "b")])
    assert "\n  --item thing" in registry("agreement", none, exit_code=3).stderr


@pytest.mark.parametrize(("rows", "options", "message"), [
    ([("x", "A", "a"), ("y", "A", "b")], (), "there is only one annotator"),
    ([("x", "A", "a"), ("y", "B", "b")], (), "no item has ratings of two annotators"),
    ([("x", "A", "a"), ("x", "B", "a")], (), "alpha is undefined"),
    ([("x", "A", "a"), ("x", "A", "b"), ("x", "B", "b")], (), "a.csv:3: annotator 'A' rated item 'x' twice (first in "
                                                              "line 2)"),
    ([("x", "", "a"), ("x", "B", "b")], (), "a.csv:2: the annotator of item 'x' is missing"),
    ([("x", "A", ""), ("x", "B", "")], (), "there is no rating"),
    ([("x", "A", "a"), ("x", "B", "b")], ("--value", "lable"), "did you mean 'label'?"),
    ([("x", "A", "a"), ("x", "B", "b")], ("--annotators", "rater,label", "--value", "label"), "leave out --annotator"),
    ([("x", "A", "a"), ("x", "B", "b")], ("--annotators", "rater,rater"), "names a column twice"),
    ([("x", "A", "a"), ("x", "B", "b")], ("--by", "annotator"), "needs three or more"),
    ([("x", "A", 1), ("x", "B", 2)], ("--by", "category", "--level", "interval"), "the level is interval"),
    ([("x", "A", 1), ("x", "B", -2)], ("--level", "ratio"), "the smallest value is -2"),
    ([("x", "A", "a"), ("x", "B", "b")], ("--resamples", "0"), "resamples"),
    ([("x", "A", "a"), ("x", "B", "b")], ("--confidence", "95"), "confidence")])
def test_errors_say_what_to_do(rows, options, message, tmp_path, registry):
    path = write(tmp_path / "a.csv", ("id", "rater", "label"), rows)
    assert message in registry("agreement", path, *options, exit_code=3).stderr


def test_repeated_items_of_a_wide_table_are_refused(tmp_path, registry):
    path = write(tmp_path / "a.csv", ("id", "A", "B"), [("x", "a", "b"), ("x", "b", "b")])
    assert "item 'x' occurs twice (first in line 2)" in registry(
        "agreement", path, "--annotators", "A,B", "--item", "id", exit_code=3).stderr


def test_text_that_is_no_table_is_refused(tmp_path, registry):
    (tmp_path / "a.txt").write_text("<?xml version='1.0'?>\n<a/>\n")
    assert "this is no table with columns" in registry("agreement", tmp_path / "a.txt", exit_code=3).stderr


def test_names_are_escaped(tmp_path, registry):
    path = write(tmp_path / "a.csv", ("id", "rater", "label"), [
        (n, name, label) for n in range(9) for name, label in (("\x1b[1m", "a|b"), ("\u202eB", "ab"[n % 2]))])
    for form in ("table", "md", "latex", "tsv"):
        text = registry("agreement", path, "--by", "pair", "--format", form).stdout
        assert "\x1b" not in text
        assert "\u202e" not in text
