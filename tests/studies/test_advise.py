"""Advice on tests: the tree of Dror et al. walked with the facts of a board."""

from dataclasses import replace

import numpy as np
import pytest

from registry.messages import Message
from registry.significance import TESTS, Bootstrap, Bounded, Permutation, Settings
from registry.studies.advise import _explain_permutation, judge_test, list_preferred
from tests.conftest import ROOT
from tests.real_data.test_wordalign import MANIFEST as WORDALIGN
from tests.validity.few_clusters import UNEVEN, opposed_in_clusters, right_in_clusters
from tests.validity.populations import binary, graded, lopsided, spans, unequal_f1


@pytest.fixture
def advice(registry):
    """Advise on a task: the rows of one of its tables."""
    def run(task, *asked, shown="tests"):
        rows = registry("study", "advise", task, "--show", shown, "--format", "json", *asked).json
        return {row["test"]: row for row in rows} if shown == "tests" else rows

    return run


def taken(tests):
    return [name for name, row in tests.items() if row["recommended"]]


def test_right_and_wrong(task, scored, advice):
    scored(task)
    tests = advice("small", "--unit", "item")
    assert taken(tests) == ["permutation"]
    verdicts = {name: row["verdict"] for name, row in tests.items()}
    assert TESTS.keys() <= verdicts.keys()
    assert [verdicts[name] for name in ("permutation", "mcnemar", "sign")] == ["valid"] * 3
    assert verdicts["t"] == "warning"  # footnote 3: t on categories
    assert verdicts["bootstrap"] == "warning"  # and the bootstrap on few
    assert "the bootstrap rejects too often on 6 units (fewer than 200" in tests["bootstrap"]["why"]
    known, small, *_ = advice("small", "--unit", "item", shown="steps")
    assert (known["answer"], small["answer"]) == ("yes", "yes")
    assert "binomial" in known["because"]
    assert {row["fact"]: row["value"] for row in advice("small", "--unit", "item", shown="facts")}["clusters"] == (
        "by document")
    refused = advice("small", "--unit", "cluster")["mcnemar"]
    assert (refused["verdict"], refused["why"]) == ("refused", "mcnemar needs items as units")


def test_a_misuse_that_the_task_declares_is_told(task, registry):
    task.significance |= {"test": "t", "unit": "item"}
    said = registry("run", task.write()).stderr
    assert str(Message("t-on-categories")) in said  # `compare` warns too
    said = registry("study", "advise", "small", "--unit", "item", "--format", "table").stdout
    assert f"t, is misused: {Message('t-on-categories')}." in " ".join(said.split())
    assert "registry study dependence" in said


def test_means_of_graded_scores(registry, advice, tmp_path):
    """40 units: their mean is nearly normal; half of the pair's gains are ties, and none of it is normal."""
    scores = np.random.default_rng(1).random(40).round(3)
    rows = [f"{x:.3f},{x + (0.1 if n % 2 else 0):.3f}" for n, x in enumerate(scores)]
    (tmp_path / "scores.csv").write_text("\n".join(["a,b", *rows]) + "\n")
    registry("import", "wide", tmp_path / "scores.csv", "--task", "graded")
    tests = advice("graded")
    assert taken(tests) == ["permutation"]
    assert tests["t"]["verdict"] == tests["wilcoxon"]["verdict"] == "valid"
    assert advice("graded", shown="steps")[0]["answer"] == "nearly"
    facts = {row["fact"]: row["value"] for row in advice("graded", shown="facts")}
    assert facts["ties of neighbours' unit scores"] == "0.5"
    assert facts["normality of differences: shapiro-wilk"] == "rejected at 5 % for 1 of 1 neighbours"


@pytest.mark.parametrize(("options", "expected", "said"), [
    ("low=0, high=1, better=higher", ["bounded"], "bounded is valid for every number of units"),
    ("better=higher", [], "scores with a declared lower and upper bound can be tested by bounded")])
def test_skewed_differences_of_few_units(registry, advice, tmp_path, options, expected, said):
    """Three large losses and 37 small gains: the other tests would reject equal means too often."""
    rows = [f"0.9,{0.1 if n in (3, 17, 31) else 0.95 + n / 1000:.3f}" for n in range(40)]
    (tmp_path / "scores.csv").write_text("\n".join(["a,b", *rows]) + "\n")
    registry("quick", tmp_path / "scores.csv", "--metric", f"Mean({options})", "--option", "better=higher",
             "--keep", "kept")
    registry("run", "kept/task.toml")
    assert taken(advice("kept")) == expected
    reading = registry("study", "advise", "kept", "--format", "table").stdout
    assert said in " ".join(reading.split())
    assert ("fewer than 7.2 % of units" in " ".join(reading.split())) == (not expected)


def test_translations(scored, advice):
    """BLEU is no mean and has no exact test; 120 segments are few, so permutation, and the bootstrap is a misuse."""
    scored(ROOT / "sample_data" / "translation" / "task.toml")
    tests = advice("translation")
    assert taken(tests) == ["permutation"]
    assert tests["t"]["verdict"] == tests["bootstrap"]["verdict"] == "warning"
    assert [row["answer"] for row in advice("translation", shown="steps")] == ["no", "yes", "no", "permutation"]


def test_single_responses(scored, advice):
    """Candidates that were judged once each are compared by Fisher's test."""
    scored(ROOT / "sample_data" / "collocations" / "task.toml")
    assert taken(advice("collocations", "--test", "fisher", "--unit", "response")) == ["fisher"]
    assert taken(advice("collocations", "--test", "permutation", "--unit", "item")) == ["permutation"]


def advised(population, unit="item"):
    """What is taken for a simulated test set; None if no test holds."""
    matrix = population.sample(np.random.default_rng(3), 1).matrix.by_unit
    tests = list_preferred(matrix, unit)
    return next((test for test in tests if judge_test(test, matrix, unit).status == "valid"), None)


def test_the_test_that_holds_its_level_in_simulation_is_taken():
    """As docs/validity.md measures it, in the rows `unequal-f1-*`, `bounded-*` and `clusters-*`."""
    studentized = Permutation(studentized=True)
    assert advised(spans(120)) == advised(graded(120)) == advised(binary(12)) == Permutation()
    assert advised(unequal_f1(120)) == studentized
    assert advised(lopsided(20)) is None
    assert advised(replace(lopsided(20), score_range=(0, 20))) == Bounded()
    assert advised(right_in_clusters(12), "cluster") == advised(right_in_clusters(8, UNEVEN), "cluster") == studentized
    assert advised(right_in_clusters(40), "cluster") == Permutation()
    assert advised(opposed_in_clusters(40), "cluster") == studentized
    uneven = right_in_clusters(8, UNEVEN).sample(np.random.default_rng(3), 1).matrix.by_unit
    reason = judge_test(Bootstrap("studentized"), uneven, "cluster").reason
    assert 'use --test "permutation(studentized=true)"' in reason


def test_swaps_are_called_counted_only_where_they_are():
    """Of few decimals they are; of nine, as nDCG has, they take too many values."""
    def said(population):
        matrix = population.sample(np.random.default_rng(3), 1).matrix.by_unit
        return _explain_permutation(matrix, Settings(seed=1))

    assert said(spans(50)).startswith("permutation p-values are exact here")
    assert said(graded(50)).startswith("permutation p-values are simulated")
    tied = graded(50, (0.0, 0.0, 0.0)).sample(np.random.default_rng(3), 1).matrix
    tied.statistics[:, 1] = tied.statistics[:, 0]
    tied.statistics[:10, 1, 0] += 1
    assert "1 of 2 neighbours are simulated" in _explain_permutation(tied, Settings(seed=1))


def test_explanations(task, registry, scored, advice):
    said = {row["about"]: row["text"] for row in registry("study", "advise", "--explain", "t", "--format", "json").json}
    assert said["null hypothesis"] == TESTS["t"].null
    assert said["assumes"] == TESTS["t"].assumes
    assert "here" not in said
    scored(task)
    here = registry("study", "advise", "small", "--unit", "item", "--explain", "t", "--format", "json").json[-1]
    assert here["about"] == "here"
    assert here["text"] == f"warning: {Message('t-on-categories')}"
    assert "--explain" in registry("study", "advise", exit_code=3).stderr
    assert "unknown test 'tea'" in registry("study", "advise", "small", "--explain", "tea", exit_code=3).stderr


def test_real_word_alignment(scored, real_data, advice):
    """Some systems align more words and others align them better, so that swaps take differences for too sure."""
    scored(WORDALIGN, "--root", real_data("wordalign"))
    tests = advice("wordalign", "--test-set", "enfr")
    assert taken(tests) == ["permutation(studentized=true)"]
    assert "pairs, the p-value may be too small" in tests["permutation"]["why"]
    assert tests["bootstrap"]["verdict"] == "valid"


def test_macro_f1_of_many_items_has_the_test_that_quick_takes(registry, tmp_path):
    """Rows unequal-macro-f1-* and unequal-bleu-*: with many items the bootstrap is no better than permutations."""
    rng = np.random.default_rng(4)
    gold = rng.choice(["x", "y", "z"], 300)
    for name, share in (("gold", 1), ("a", 0.8), ("b", 0.7)):
        labels = np.where(rng.random(300) < share, gold, rng.choice(["x", "y", "z"], 300))
        (tmp_path / f"{name}.tsv").write_text("id\tlabel\n" + "".join(f"{n}\t{x}\n" for n, x in enumerate(labels)))
    db = "--db", "k.duckdb"
    registry("quick", "--gold", "gold.tsv", "a.tsv", "b.tsv", "--metric", "macro-F1", "--keep", "kept", *db)
    done = registry("study", "advise", "kept", *db, "--format", "json")
    assert [row["test"] for row in done.json if row["recommended"]] == ["permutation"]
    assert "test:permutation" in registry("board", "kept", *db, "--format", "json").json[0]["signature"]
