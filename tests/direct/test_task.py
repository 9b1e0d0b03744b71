"""Python's values as a task: aligned whatever they come in, in each form scored as by hand, refused by whose fault."""

import numpy as np
import pytest

from registry.direct.task import EvaluationRequest, make_task
from registry.errors import InputError
from registry.metrics import METRICS, ConfusionMetric
from registry.readers import READERS, Document
from registry.values import build

GOLD, A, B = list("xyxyxx"), list("xyxxyx"), list("yyyyyy")
KEYS = ["i3", "i1", "i2", "i9", "i5", "i4"]
SHUFFLED = [4, 2, 0, 1, 5, 3]


def files(gold, systems, **more):
    return make_task(EvaluationRequest(gold, systems, **more)).folder.files


def scores(*given, **more):
    """The scores of a task, from its files by its reader and its metric."""
    folder = make_task(EvaluationRequest(*given, **more)).folder
    (table,), (declared,) = folder.tables["test_set"], folder.tables["metric"]
    reader = READERS[table["format"]].build(table["options"])
    metric = build("metric", METRICS, declared["name"], declared["options"])
    roles = {"gold": table["gold"], **{f"reference:{of['name']}": of["path"] for of in table.get("references", ())}}
    golds = reader.read_gold({role: Document(name, folder.files[name]) for role, name in roles.items()})
    found = []
    for entry in folder.tables["submit"]:
        answers = {of.key: of for of in reader.read_answers(Document(entry["file"], folder.files[entry["file"]]))}
        given = [answers.get(item.key) for item in golds]
        if isinstance(metric, ConfusionMetric):
            sums = class_counts([item.gold for item in golds], [of and of.value for of in given], metric.classes)
        else:
            sums = metric.corpus_statistics(golds, given).sum(axis=0)
        found.append(round(float(metric.score(sums)), 12))
    return found


def class_counts(golds, given, classes):
    """Of each class how often it is right, predicted and in the gold."""
    return np.array([(sum(a == b == label for a, b in zip(golds, given, strict=True)), given.count(label),
                      golds.count(label)) for label in classes or sorted({*golds, *filter(None, given)})]).ravel()


def test_values_are_aligned_by_key_or_position_whatever_they_come_in():
    pd, pl = pytest.importorskip("pandas", reason="pandas"), pytest.importorskip("polars", reason="polars")
    by_position = files(GOLD, {"a": A, "b/c": B})
    frame = pd.DataFrame({"gold": GOLD, "a": A, "b/c": B})
    for gold, systems in (
            (np.array(GOLD), {"a": tuple(A), "b/c": np.array(B)}), (frame["gold"], frame[["a", "b/c"]]),
            ("gold", frame), (pl.Series(GOLD), pl.DataFrame({"a": A, "b/c": B})), ("gold", pl.DataFrame(frame)),
            (GOLD, {"a": dict(enumerate(A)), "b/c": pd.Series(B)}),
            (GOLD, frame[["a", "b/c"]].iloc[SHUFFLED])):
        assert files(gold, systems) == by_position
    named = files(dict(zip(KEYS, GOLD, strict=True)), {"a": dict(zip(KEYS, A, strict=True)), "b/c": B})
    indexed = frame.set_axis(KEYS)
    assert files(indexed["gold"], indexed[["b/c", "a"]].iloc[SHUFFLED][["a", "b/c"]]) == named
    assert named != by_position
    assert make_task(EvaluationRequest(GOLD, {"b/c": B})).folder.tables["submit"] == [
        {"file": "systems/1-b_c.jsonl", "system": "c", "team": "b"}]


def test_what_is_missing_is_left_out_where_that_is_allowed():
    pd = pytest.importorskip("pandas", reason="pandas")
    whole = pd.Series([1, None, 0, 1, 1, 0])  # which pandas makes floats of
    assert files([1, 1, 0, 0, 1, 1], {"a": whole, "b": [1, pd.NA, 0, 1, 1, float("nan")]}, missing="worst") == files(
        dict(enumerate(["1", "1", "0", "0", "1", "1"])), {"a": {0: "1", 2: "0", 3: "1", 4: "1", 5: "0"},
                                                          "b": {0: "1", 2: "0", 3: "1", 4: "1"}}, missing="own")
    scored = files(None, {"a": {"i": 1, "j": 2}, "b": {"j": 3, "k": 4.5}}, missing="drop")
    assert [scored[name].count(b"\n") for name in (
        "gold.jsonl", "systems/1-a.jsonl", "systems/2-b.jsonl")] == [3, 2, 2]


TAGS = [["B-P", "I-P", "O"], ["O", "B-L"]]


@pytest.mark.parametrize(("gold", "systems", "metric", "expected"), [
    (GOLD, [A, B], None, [4 / 6, 2 / 6]),
    ([True, False], [[True, True], [0, 1]], "macro-F1", [1 / 3, 0]),  # true and 1 are different labels
    (GOLD, [A], "F1 of x", [2 * 3 / (4 + 4)]),
    (GOLD, [A], "micro-F1", [4 / 6]),
    ([1, 2.5], [[2, 2]], "MAE", [0.75]),
    (None, [[0.5, 1], [True, False]], None, [0.75, 0.5]),
    ([[(0, 2, "P")], [], [(3, 4, "L")]], [[[(0, 2, "P")], [(1, 2, "P")], []], [[], [], [(3, 4, "P")]]], "F1",
     [0.5, 0]),
    ([[(0, 2)], []], [[np.array([[0, 2]]), [{"start": 1, "end": 2}]]], "precision", [0.5]),
    (TAGS, [TAGS, [["B-P", "O", "O"], ["O", "I-L"]]], None, [1, 0.5]),  # which lenient readings take for a span
    ([["S-P", "O"]], [[["B-P", "E-P"]]], None, [0]),
    ([{"a", "b"}, {"c"}], [[["a"], ["c", "d"]]], None, [round(4 / 6, 12)]),
    ([["the cat sat", "a cat sat"]], [["a cat\nsat"]], "BLEU", None),
    ({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}, [{"q1": {"d2": 0.9, "d1": 0.5}, "q2": {"d1": 1}}], "RR", [0.75])])
def test_every_form_is_scored_as_by_hand(gold, systems, metric, expected):
    if metric == "BLEU":
        from sacrebleu import corpus_bleu

        expected = [round(corpus_bleu(["a cat sat"], [["the cat sat"], ["a cat sat"]]).score, 12)]
    if metric == "RR":
        pytest.importorskip("ir_measures", reason="ir-measures")
    named = {f"s{n}": system for n, system in enumerate(systems)}
    assert scores(gold, named, metric) == pytest.approx(expected, rel=1e-9)


def test_runs_are_those_of_one_system():
    folder = make_task(EvaluationRequest(None, {("m", 1): [1, 2], "n": [3, 4], ("m", 2): [5, 6]})).folder
    assert folder.tables["submit"] == [{"file": "systems/1-m/{run}.jsonl", "system": "m"},
                                       {"file": "systems/2-n.jsonl", "system": "n"}]
    assert {*folder.files} == {"gold.jsonl", "systems/1-m/1.jsonl", "systems/1-m/2.jsonl", "systems/2-n.jsonl"}
    folder = make_task(EvaluationRequest(None, {("模型", "1.2"): [1]})).folder
    assert {*folder.files} == {"gold.jsonl", "systems/1/1.jsonl"}


def test_clusters_are_units_unless_items_are_asked_for():
    declared = make_task(EvaluationRequest(GOLD, {"a": A}, clusters=[1, 1, 2, 2, 3, 3])).folder.tables
    assert (declared["test_set"][0]["cluster"], declared["significance"]) == ("cluster", {"seed": 1})
    given = EvaluationRequest(GOLD, {"a": A}, clusters=dict(enumerate("112233")),
                  settings={"unit": "item", "seed": 3, "alpha": None})
    assert make_task(given).folder.tables["significance"] == {"seed": 3, "unit": "item"}


@pytest.mark.parametrize(("given", "told"), [
    ({"systems": {"a": A[1:]}}, "system 'a' has 5 values for 6 items; pass one value per item"),
    ({"systems": {"a": dict.fromkeys([1, 2, 7])}}, "system 'a' has 1 value of unknown items, such as 7"),
    ({"systems": {"a": [None, *A[1:]]}},
     "system 'a' has no value for 1 item of 6, such as 0; add the values, or set missing='worst'"),
    ({"systems": {("a", 1): [None] * 6}, "missing": "drop"}, "system 'a', run '1' has no value for any item"),
    ({"systems": [A]}, "the systems have no names"), ({"systems": {}}, "there is no system to evaluate"),
    ({"systems": {"a": "xyx"}}, "system 'a': expected a list, array, dict or Series with one value per item, not "
                                "str"), ({"systems": {3: A}}, "the name of a system is 3; expected text"),
    ({"systems": {"a\u202e": A}}, r"invisible characters from the name"),
    ({"systems": {"a@1": A, "a_1": A}}, "'a@1' and 'a_1' would both get the name 'a_1'; rename one"),
    ({"systems": {"a": A, ("a", 1): A}}, "occurs both with and without a run"),
    ({"systems": {"a": [0.5] * 6}}, "system 'a': item '0': 0.5 is not a label"),
    ({"systems": {"a": ["", *A[1:]]}}, "item '0': '' is not a label; use None for a missing answer, and set missing="),
    ({"missing": "wurst"}, "did you mean 'worst'"), ({"clusters": [1]}, "clusters has 1 value for 6 items"),
    ({"gold": []}, "the gold has no item"), ({"gold": [None, "x"]}, "the gold: item '0': the value is missing"),
    ({"gold": {1: "x", "1": "y"}}, "both become the name '1'"),
    ({"gold": [0.5, 1]}, "several metrics can compare them; set metric= to 'MAE'"),
    ({"gold": ["one two", "two three"]}, "labels or texts; set a metric"),
    ({"gold": ["x\ud800"]}, r"the gold: '\\ud800' is half of a character"),
    ({"gold": np.eye(2)}, r"the array has the shape \(2, 2\)"),
    ({"gold": [object()]}, "the gold has object values"), ({"metric": "BLUE"}, "similar names are BLEX, BLEU"),
    ({"gold": [1.5] * 6, "metric": "mean"}, "pass None as the gold"), ({"settings": {"tset": "sign"}},
                                                                      "did you mean 'test'"),
    ({"settings": {"alpha": 2}}, "alpha: is 2"), ({"settings": {"unit": "cluster"}}, "needs the cluster of each item; "
                                                                                     "pass clusters="),
    ({"gold": TAGS, "systems": {"a": [["O"], ["O"]]}}, "item '0': the item has 1 tag, but the gold has 3"),
    ({"gold": [[(0, 2, "P")]], "systems": {"a": [[(0, "2", "P")]]}}, "system 'a': item '0': .* is not a span"),
    *(({"gold": [""] * 6, "metric": name}, "all 6 texts of the gold are empty") for name in ("WER", "CER", "BLEU")),
    ({"gold": [["x y", " "]] * 6, "metric": "BLEU"}, "reference 2 of the gold is empty in all 6 items; remove it"),
    ({"gold": [["", "x y"]] * 6, "metric": "chrF"}, "reference 1 of the gold is empty in all 6 items; remove it"),
    ({"gold": {" i": "x"}}, "begins or ends with a blank"), ({"systems": {("a{b}", 1): A}}, "name with braces"),
    ({"gold": {"q 1": {"d": 1}}}, "the gold: item 'q 1': the name of this query has a blank"),
    ({"gold": None, "systems": {"a": [1.5, None]}, "missing": "worst"}, r"or metric='Mean\(worst=NUMBER\)'"),
    ({"gold": {"q": {"d": 0.5}}, "systems": {"a": {"q": {"d": 1}}}, "metric": "AP"}, "'d' is 0.5; expected a whole "
                                                                                     "number"),
])
def test_what_is_wrong_is_told_in_a_sentence(given, told):
    with pytest.raises(InputError, match=told):
        make_task(EvaluationRequest(**({"gold": GOLD, "systems": {"a": A}} | given)))
