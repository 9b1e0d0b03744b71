"""Averages over test sets from Python: the same numbers as of the command, from values, frames and files."""

import itertools
import json

import numpy as np
import pytest

import registry as package
from registry.errors import InputError

CODE = {"a": [1, 1, 0, 1], "b": [0, 1, 0, 0]}
MATH = {"a": [1, 0, 1, 0, 1, 1], "b": [1, 1, 1, 0, 0, 1]}


def by_test_set(system):
    return {(name, n): value for name, scores in (("code", CODE), ("math", MATH))
            for n, value in enumerate(scores[system])}


VALUES = {system: by_test_set(system) for system in "ab"}


def test_averages_have_equal_weights_and_swap_items_within_test_sets():
    """The p-value counts all 2^10 swaps; the two test sets weigh the same, whatever their size."""
    board = package.evaluate(None, VALUES, average=True)
    moves = np.concatenate([np.subtract(scores["a"], scores["b"]) / len(scores["a"]) / 2 for scores in (CODE, MATH)])
    swapped = np.array([moves @ signs for signs in itertools.product((-1, 1), repeat=len(moves))])
    pair = board.pairs["a", "b"]
    assert pair.difference == pytest.approx(1 / 4)
    assert pair.p_value == pytest.approx((np.abs(swapped) >= 1 / 4 - 1e-12).mean())
    assert board.scores == {"a": pytest.approx((3 / 4 + 4 / 6) / 2), "b": pytest.approx((1 / 4 + 4 / 6) / 2)}


def test_values_frames_and_files_give_what_the_command_prints(registry, tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas")
    for (name, scores), system in itertools.product((("code", CODE), ("math", MATH)), "ab"):
        path = tmp_path / system / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps({"id": n, "correct": value}) + "\n"
                                for n, value in enumerate(scores[system])))
    files = str(tmp_path / "{model}/{benchmark}.jsonl")
    registry("quick", files, "--score", "correct:higher", "--keep", "t")
    (row,) = registry("pairs", "--wide", "--format", "json").json
    for board in (package.evaluate(None, VALUES, average=True),
                  package.evaluate(None, pd.DataFrame(VALUES), average=True),
                  package.evaluate(None, files, score="correct:higher", average=True)):
        (shown,) = board.pairs.to_pandas().to_dict("records")
        assert (shown["system_a"], shown["system_b"]) == ("a", "b")
        assert all(shown[key] == row[key] for key in ("difference", "ci_low", "ci_high", "p_value", "n_units"))
        verdict = board.gate("a", "b", margin=0.1).criteria
        assert [entry["test_set"] for entry in verdict] == ["average"]
    assert board.items.to_pandas()["test_set"].value_counts().to_dict() == {"code": 8, "math": 12}
    assert str(board.methods()).startswith("Scores are averages over the test sets code, math")
    with pytest.raises(InputError, match="pass average=True to average the scores"):
        package.evaluate(None, files, score="correct:higher")


def test_gold_labels_and_clusters_are_split_by_test_set():
    gold = {(name, n): "x" if value else "y" for name, n, value in (
        (name, n, value) for name, scores in (("code", CODE), ("math", MATH)) for n, value in enumerate(scores["a"]))}
    systems = {"same": gold, "x": dict.fromkeys(gold, "x")}
    clusters = {key: f"document {key[1] // 2}" for key in gold}
    board = package.evaluate(gold, systems, "accuracy", clusters=clusters, average=True)
    assert board.scores == {"same": 1, "x": pytest.approx((3 / 4 + 4 / 6) / 2)}
    assert board.pairs.to_pandas()[["unit", "n_units"]].values.tolist() == [["cluster", 2 + 3]]


@pytest.mark.parametrize(("systems", "message"), [
    ({"a": [1, 0, 1]}, "system 'a': average=True needs the test set of each item; name the items (test set, item)"),
    ({"a": {("code", 1): 1}}, "all items are of 'code'; remove average=True"),
    ({**VALUES, "c": {("code", n): 1 for n in range(4)}}, "system 'c': no value of 1 test set (math)"),
    ({**VALUES, "c": {**VALUES["a"], ("math", 2): None}}, "test set 'math': system 'c' has no value for 1 item of 6"),
])
def test_average_needs_every_item_of_every_test_set(systems, message):
    with pytest.raises(InputError) as error:
        package.evaluate(None, systems, average=True)
    assert message in str(error.value)


def test_pooled_test_sets_are_reported():
    (message,) = package.evaluate(None, VALUES).messages
    assert message.startswith("info: all 10 items are one test set")
    assert "2 values (code, math)" in message
    assert "average=True" in message


@pytest.mark.parametrize("index", [None, ["id"]])
def test_long_frames_are_refused_with_the_call_that_converts_them(index):
    pd = pytest.importorskip("pandas", reason="pandas")
    frame = pd.DataFrame([(name, n, system, value) for system, values in VALUES.items()
                          for (name, n), value in values.items()], columns=["benchmark", "id", "model", "correct"])
    if index:
        frame = frame.set_index(index)
    with pytest.raises(InputError, match="column 'model' names systems") as error:
        package.evaluate(None, frame)
    call = str(error.value).partition("for each system: ")[2].partition(", and average=True")[0]
    wide = eval(call, {"frame": frame})  # the advice of the message
    assert package.evaluate(None, wide, average=True).pairs["a", "b"].difference == pytest.approx(1 / 4)
    frame.pop("benchmark")
    with pytest.raises(InputError) as error:
        package.evaluate(None, frame)
    assert "average" not in str(error.value)


def test_missing_scores_of_0_and_1_count_as_the_worst():
    values = {"a": [1, None, 1, 0], "b": [True, True, False, True]}
    assert package.evaluate(None, values, missing="worst").scores == {"b": 3 / 4, "a": 2 / 4}
    assert package.evaluate(None, values, "Mean(better=lower)", missing="worst").scores == {"a": 3 / 4, "b": 3 / 4}
    with pytest.raises(InputError, match="no worst value"):
        package.evaluate(None, {**values, "b": [1, 2, 3, 4]}, missing="worst")


def test_the_advice_for_missing_costs_keeps_their_direction():
    costs = {"a": [1, 2, None, 4.5], "b": [3, 2, 1, 4]}
    with pytest.raises(InputError, match=r"metric='Mean\(better=lower, worst=NUMBER\)' with the worst possible score"):
        package.evaluate(None, costs, "Mean(better=lower)", missing="worst")
    assert package.evaluate(None, costs, "Mean(better=lower, worst=5)", missing="worst").scores == {
        "b": 10 / 4, "a": (1 + 2 + 5 + 4.5) / 4}
    with pytest.raises(InputError, match=r"worst = 0 is better than the observed score 1; .*better=lower, worst=N"):
        package.evaluate(None, costs, "Mean(better=lower, worst=0)", missing="worst")
