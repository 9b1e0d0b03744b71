"""`registry.compute_agreement`: dictionaries, data frames and files; errors name its arguments."""

import numpy as np
import pytest

import registry as package
from registry.errors import InputError
from tests.significance.agreement import KRIPPENDORFF

COLUMNS = {name: [None if value != value else int(value) for value in column]
           for name, column in zip("ABCD", KRIPPENDORFF.T.tolist(), strict=True)}


def test_a_dictionary_has_a_column_for_each_annotator():
    agreement = package.compute_agreement(COLUMNS, annotators="A,B,C,D", level="interval")
    assert round(agreement.alpha, 3) == 0.849
    low, high = agreement.interval
    assert low < agreement.alpha < high
    assert repr(agreement).startswith("Krippendorff's alpha (interval) is 0.849, 95 % CI ")
    assert "<td" in agreement._repr_html_()
    assert agreement.messages.codes == ("few-units-agreement", "unpaired-items", "incomplete-ratings")


def test_items_of_dictionaries_are_joined_by_key():
    keyed = {name: {f"u{n}": value for n, value in enumerate(values) if value is not None}
             for name, values in COLUMNS.items()}
    turned = {name: dict(reversed(values.items())) for name, values in keyed.items()}
    first, other = (package.compute_agreement(data, annotators="A,B,C,D", level="ordinal") for data in (keyed, turned))
    assert first.rows == other.rows
    assert round(first.alpha, 3) == 0.815


def test_data_frames_are_long_or_wide(registry, tmp_path):
    pd, pl = pytest.importorskip("pandas", reason="pandas"), pytest.importorskip("polars", reason="polars")
    expected = package.compute_agreement(COLUMNS, annotators=list("ABCD"), level="ratio").rows
    wide = pd.DataFrame(COLUMNS, index=range(1, 13))
    assert wide["A"].isna().sum() == 3
    long = wide.rename_axis("item").reset_index().melt("item", var_name="coder", value_name="value")
    for frame in (wide, pl.DataFrame(COLUMNS)):
        assert package.compute_agreement(frame, annotators=list("ABCD"), level="ratio").rows == expected
    for frame in (long, pl.DataFrame(long.dropna().to_dict("list"))):
        assert package.compute_agreement(frame, level="ratio").rows == expected
    long.to_csv(tmp_path / "a.csv", index=False)
    assert package.compute_agreement(tmp_path / "a.csv", level="ratio").rows == expected
    assert registry("agreement", tmp_path / "a.csv", "--level", "ratio", "--format", "json").json == expected


def test_numbers_and_truths_are_values():
    rng = np.random.default_rng(1)
    own = rng.random(60) < 0.5
    columns = {name: own ^ (rng.random(60) < 0.2) for name in "ab"}
    truths = package.compute_agreement(columns, annotators=["a", "b"])
    assert truths.alpha == package.compute_agreement(
        {name: column.astype(float) for name, column in columns.items()}, annotators=["a", "b"], level="ratio").alpha
    assert truths.rows[1]["value"] == pytest.approx((columns["a"] == columns["b"]).mean())


def test_whole_numbers_are_equal_in_both_types():
    """A column with a missing number has floats."""
    whole, other = (package.compute_agreement({"a": ["1", "2", "2"], "b": column}, annotators=["a", "b"]).rows
                    for column in (["1", "2", ""], ["1.0", "2.0", None]))
    assert whole == other


@pytest.mark.parametrize(("data", "options", "message"), [
    (COLUMNS, {}, "annotators='A,B,C,D'"),
    (COLUMNS, {"annotators": "A,B,C,D"}, "unclear. Add one of these options: level='nominal'; level='ordinal'"),
    (COLUMNS, {"annotators": "A,B,C,D", "level": "interval", "by": "category"}, "use level='nominal' or level="),
    ({"A": ["NA", "x"], "B": ["x", "y"]}, {"annotators": ["A", "B"], "level": "interval"}, "missing='NA' treats"),
    ({"A": [1, 2], "B": [1]}, {"annotators": ["A", "B"]}, "different numbers of values: 'A' has 2, 'B' has 1"),
    ([1, 2], {}, "expected the path of a file, a data frame"),
    ({"A": [1, 2], "B": [1, 2]}, {"annotators": ["A", "B"], "resamples": -1}, "resamples"),
    ({"A": [1, 2], "B": [1, 2]}, {"annotators": ["A", "C"]}, "unknown column 'C'")])
def test_errors_name_arguments(data, options, message):
    with pytest.raises(InputError) as error:
        package.compute_agreement(data, **options)
    assert message in str(error.value)
    assert "--" not in str(error.value)


def test_notes_name_arguments():
    data = {"A": ["NA", "x", "y", "y"], "B": ["x", "x", "y", "y"]}
    (note,) = package.compute_agreement(data, annotators=["A", "B"]).notes
    assert note == "'NA' counts as a value of 1 rating; missing='NA' treats it as missing"
    assert package.compute_agreement(data, annotators=["A", "B"], missing="NA").rows[0]["items"] == 3
